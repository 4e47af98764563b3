//! Linear forwarding tables, and what the dumps of them have in common.
//!
//! A dump of a large fabric has millions of lines, hence the care: parts of the text are read by
//! threads, lines in the usual layout are taken by their columns, and a table is one array.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::thread;

use memchr::memmem;

use super::cabling::LID_MAX;
use super::rows::{Keyed, without_repetition};
use pauseless_text::lex::{Lines, line_number};
use pauseless_text::problem::Problem;

/// The forwarding table of one switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lft {
    /// The GUID of the switch.
    pub guid: u64,
    /// The egress port for each LID, from LID 0; [`NO_PORT`] where there is none. LIDs beyond
    /// the end have none either.
    pub ports: Vec<u8>,
    /// The place of its section: the header and all rows.
    pub at: Range<usize>,
}

impl Lft {
    /// The egress port for `lid`, if it has one.
    pub fn port(&self, lid: u16) -> Option<u8> {
        let port = self.ports.get(usize::from(lid)).copied();
        port.filter(|port| *port != NO_PORT)
    }

    /// The row for `lid` in the text from which this table was read, for messages that point at
    /// it; the header where there is none. Takes time proportional to the section.
    pub fn row(&self, text: &str, lid: u16) -> Range<usize> {
        let mut lines = Lines::within(text, self.at.clone());
        let header = lines.next().map_or(self.at.clone(), |line| line.range());
        let is_row = |line: &mut pauseless_text::lex::Line<'_>| {
            line.word().prefixed_hex(u64::MAX, "") == Ok(u64::from(lid))
        };
        let mut rows = lines.map(|mut line| (is_row(&mut line), line.range()));
        rows.find(|(found, _)| *found).map_or(header, |row| row.1)
    }
}

impl Keyed for Lft {
    type Key = u64;

    fn key(&self) -> u64 {
        self.guid
    }

    fn agrees(&self, other: &Self) -> bool {
        first_difference(self, other).is_none()
    }

    fn contradiction(&self, before: &Self, text: &str) -> Problem {
        let lid = first_difference(before, self).unwrap_or(0);
        let port = |table: &Lft| port_name(table.port(lid).unwrap_or(NO_PORT));
        let message = format!(
            "LID {lid:#06x} of switch {:#018x} leads to {} here, but to {} in line {}",
            self.guid,
            port(self),
            port(before),
            line_number(text, before.row(text, lid).start),
        );
        Problem::new(self.row(text, lid), message)
            .expected("one table per switch")
            .help("two dumps in one file? keep the newer one")
    }
}

/// What a table has for a LID that it does not forward.
pub const NO_PORT: u8 = 255;

/// A table that is being read.
pub(super) struct Table {
    guid: u64,
    ports: Vec<u8>,
    /// Which LIDs have had a row, in bits; `None` as long as rows came in order without a hole,
    /// so that the answer is all of them.
    seen: Option<Vec<u64>>,
    start: usize,
}

impl Table {
    /// An empty table, whose section begins at `start`.
    pub(super) fn new(guid: u64, start: usize) -> Table {
        Table { guid, ports: vec![NO_PORT], seen: None, start }
    }

    pub(super) fn guid(&self) -> u64 {
        self.guid
    }

    /// The ports, if the next row may simply be appended when its LID is the next one.
    #[inline]
    pub(super) fn in_order(&mut self) -> Option<&mut Vec<u8>> {
        match self.seen {
            None => Some(&mut self.ports),
            Some(_) => None,
        }
    }

    /// Adds any row, or changes nothing. `holes` is how many entries without a row may still be made.
    #[inline]
    pub(super) fn set(&mut self, row: Row, holes: &mut usize) -> Result<(), Problem> {
        let index = usize::from(row.lid);
        if index == self.ports.len() && self.seen.is_none() && row.lid <= LID_MAX {
            self.ports.push(row.port);
            return Ok(());
        }
        self.set_any(row, holes)
    }

    fn set_any(&mut self, row: Row, holes: &mut usize) -> Result<(), Problem> {
        let index = usize::from(row.lid);
        if row.lid > LID_MAX || (row.lid == 0 && row.port != NO_PORT) {
            let message = format!("LID {:#06x} is not a unicast LID", row.lid);
            return Err(Problem::new(row.at, message).expected("a LID from 0x0001 to 0xBFFF"));
        }
        if row.lid == 0 {
            return Ok(());
        }
        let length = self.ports.len();
        let seen = self.seen.get_or_insert_with(|| all_seen(length));
        if index >= length {
            let gap = index - length;
            if gap > *holes {
                let message = format!("LID {:#06x} leaves too many LIDs without a row", row.lid);
                return Err(Problem::new(row.at, message)
                    .expected(format!("a row for LID {length:#06x} first"))
                    .help("is this number right? tables this sparse are not read"));
            }
            *holes -= gap;
            self.ports.resize(index, NO_PORT);
            self.ports.push(row.port);
            seen.resize(index / 64 + 1, 0);
        } else if seen[index / 64] & (1 << (index % 64)) == 0 {
            self.ports[index] = row.port;
        } else if self.ports[index] != row.port {
            let message = format!(
                "LID {:#06x} of switch {:#018x} leads to {} here, but to {} above",
                row.lid,
                self.guid,
                port_name(row.port),
                port_name(self.ports[index]),
            );
            return Err(Problem::new(row.at, message).expected("one row per LID"));
        }
        seen[index / 64] |= 1 << (index % 64);
        Ok(())
    }

    /// The finished table, whose section ends at `end`.
    pub(super) fn finish(self, end: usize) -> Lft {
        Lft { guid: self.guid, ports: self.ports, at: self.start..end }
    }
}

/// A row of a table.
pub(super) struct Row {
    pub(super) lid: u16,
    pub(super) port: u8,
    pub(super) at: Range<usize>,
}

fn all_seen(length: usize) -> Vec<u64> {
    let mut seen = vec![u64::MAX; length / 64];
    seen.push((1 << (length % 64)) - 1);
    seen
}

/// How messages call a port.
fn port_name(port: u8) -> String {
    match port {
        NO_PORT => "no port".to_string(),
        port => format!("port {port}"),
    }
}

/// How to find the sections of a format and to read a run of them.
pub(super) struct Sections {
    /// Something that every first line of a section has in it.
    pub(super) mark: &'static str,
    /// What such a line may begin with.
    pub(super) starts: &'static [&'static str],
    /// Reads the sections in a part of the text.
    pub(super) read: fn(&str, Range<usize>) -> Result<Vec<Lft>, Problem>,
}

impl Sections {
    /// Reads all tables of `text`; parts of it at the same time where that is worth it.
    pub(super) fn parse(&self, text: &str) -> Result<Vec<Lft>, Problem> {
        let parts = self.split(text);
        let mut tables = Vec::new();
        // The first problem in the text is the one to report, whichever thread is first.
        for part in self.read_parts(text, parts) {
            tables.append(&mut part?);
        }
        without_repetition(text, tables)
    }

    fn read_parts(&self, text: &str, parts: Vec<Range<usize>>) -> Vec<Result<Vec<Lft>, Problem>> {
        let read = self.read;
        thread::scope(|scope| {
            let spawn = |part| scope.spawn(move || read(text, part));
            let threads = Vec::from_iter(parts.into_iter().map(spawn));
            let join = |thread: thread::ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect()
        })
    }

    /// Parts that begin with a section, as many as there are cores, but none too small.
    fn split(&self, text: &str) -> Vec<Range<usize>> {
        let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let count = cores.min(text.len() / PART_MIN).clamp(1, PARTS_MAX);
        let mut parts = Vec::with_capacity(count);
        let mut start = 0;
        for index in 1..count {
            let wanted = (text.len() / count * index).max(start + 1);
            match self.next_section(text, wanted) {
                Some(end) => {
                    parts.push(start..end);
                    start = end;
                }
                None => break,
            }
        }
        parts.push(start..text.len());
        parts
    }

    /// The first section that begins at `from` or later.
    fn next_section(&self, text: &str, from: usize) -> Option<usize> {
        let bytes = text.as_bytes();
        let marks = memmem::find_iter(bytes.get(from..)?, self.mark.as_bytes());
        let starts = marks.filter_map(|mark| {
            // Only as far back as the longest start, or a line without end costs too much.
            let mark = from + mark;
            let is_start = |start: &&&str| {
                let at = (mark + self.mark.len()).checked_sub(start.len());
                at.is_some_and(|at| {
                    at >= from
                        && bytes[at..].starts_with(start.as_bytes())
                        && is_line_start(bytes, at)
                })
            };
            let start = self.starts.iter().find(is_start)?;
            Some(mark + self.mark.len() - start.len())
        });
        starts.into_iter().next()
    }
}

fn is_line_start(bytes: &[u8], at: usize) -> bool {
    at == 0 || bytes[at - 1] == b'\n'
}

pub(crate) fn first_difference(a: &Lft, b: &Lft) -> Option<u16> {
    (0..=LID_MAX).take(a.ports.len().max(b.ports.len())).find(|lid| a.port(*lid) != b.port(*lid))
}

/// How many entries without a row the tables in a part of a text may have together: memory must
/// follow from the length of the text, not from the numbers in it.
pub(super) fn holes_allowed(part: &Range<usize>) -> usize {
    part.len().saturating_mul(16).saturating_add(1 << 20)
}

/// Below this a thread costs more than it saves.
const PART_MIN: usize = 2 << 20;
const PARTS_MAX: usize = 64;
