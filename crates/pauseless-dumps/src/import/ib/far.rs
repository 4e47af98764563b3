//! `.far` of ibdiagnet: the ports among which switches choose by load (adaptive routing).
//!
//! For each switch there are groups of ports, and a row for each LID with its fixed port, its state
//! and its group. No sample of the file was at hand: this follows two public programs that read it,
//! so what is unexpected is refused rather than guessed.

use std::collections::BTreeMap;
use std::ops::Range;

use super::cabling::{LID_MAX, PORT_MAX};
use super::guid::guid;
use super::lft::{Lft, NO_PORT, Row, Table, holes_allowed};
use pauseless_text::lex::{Line, Lines, nothing, quoted};
use pauseless_text::problem::Problem;

/// The forwarding table of a switch with adaptive routing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdaptiveTable {
    /// The fixed port of each LID.
    pub fixed: Lft,
    /// The ports of each group.
    groups: BTreeMap<u16, Vec<u8>>,
    /// The group of each LID, from LID 0, where its packets may take any port of it.
    group_of: Vec<Option<u16>>,
}

impl AdaptiveTable {
    /// The ports that packets for `lid` may take besides the fixed one.
    pub fn ports(&self, lid: u16) -> &[u8] {
        let group = self.group_of.get(usize::from(lid)).copied().flatten();
        group.and_then(|group| self.groups.get(&group)).map_or(&[], |ports| &ports[..])
    }
}

/// Whether the first lines that are no comments are those of this format.
pub fn looks_like(text: &str) -> bool {
    let lines = Lines::new(text).map(|line| line.rest().trim());
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let first = lines.next();
    first.is_some_and(|line| {
        let head = if line.starts_with("File version:") { lines.next() } else { Some(line) };
        head.is_some_and(|head| head.starts_with("Switch 0x"))
            && lines.take(HEADER_MAX).any(|line| line.starts_with(GROUPS))
    })
}

/// Reads the tables of all switches, in the order of the file.
pub fn parse(text: &str) -> Result<Vec<AdaptiveTable>, Problem> {
    let mut reader =
        Reader { tables: Vec::new(), open: None, holes: holes_allowed(&(0..text.len())), end: 0 };
    for line in Lines::new(text) {
        reader.line(line)?;
    }
    reader.close()?;
    if reader.tables.is_empty() {
        return Err(nothing("table of a switch", "ibdiagnet writes it as ibdiagnet2.far"));
    }
    Ok(reader.tables)
}

struct Reader {
    tables: Vec<AdaptiveTable>,
    open: Option<Open>,
    holes: usize,
    /// Where the last row ends.
    end: usize,
}

/// The switch whose lines are read.
struct Open {
    header: Range<usize>,
    table: Table,
    part: Part,
    groups: BTreeMap<u16, Vec<u8>>,
    group_of: Vec<Option<u16>>,
    /// The number of the table of ports; a switch may have several, chosen by what is in a packet.
    private: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Header,
    Groups,
    Lids,
}

impl Reader {
    fn line(&mut self, mut line: Line<'_>) -> Result<(), Problem> {
        let at = line.range();
        let start = line.rest().trim_start();
        if start.is_empty() || start.starts_with(['#', '-']) || start.starts_with("File version:") {
            return Ok(());
        }
        if start.starts_with("Switch 0x") {
            self.close()?;
            line.expect("Switch")?;
            line.skip_blanks();
            let guid = guid(line.until(|byte| !byte.is_ascii_alphanumeric()))?;
            self.open = Some(Open {
                table: Table::new(guid, at.start),
                header: at,
                part: Part::Header,
                groups: BTreeMap::new(),
                group_of: Vec::new(),
                private: None,
            });
            return Ok(());
        }
        self.end = at.end;
        let Some(open) = &mut self.open else {
            return Err(Problem::new(at, "a line before the first switch")
                .expected("`Switch 0x..`")
                .help("does the file begin in the middle?"));
        };
        if start.starts_with(GROUPS) {
            open.part = Part::Groups;
        } else if start.starts_with(LIDS) {
            open.part = Part::Lids;
        } else if start.starts_with("PLFT_NUM:") {
            open.choose_table(&mut line)?;
        } else if start.starts_with(|c: char| c.is_ascii_digit()) && open.part != Part::Header {
            match open.part {
                Part::Groups => open.group(&mut line)?,
                _ => open.lid(&mut line, &mut self.holes)?,
            }
        } else if open.part != Part::Header && !TITLES.iter().any(|title| start.starts_with(title))
        {
            let message = format!("{} begins no line of a table", quoted(line.word().text));
            return Err(line.problem(message).expected("a row, or the next switch"));
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), Problem> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        let guid = open.table.guid();
        if open.part == Part::Groups {
            let message = format!("switch {guid:#018x} has groups of ports, but no rows for LIDs");
            return Err(Problem::new(open.header, message)
                .expected(LIDS)
                .help("is the file cut off?"));
        }
        let known = |group: &u16| open.groups.contains_key(group);
        if let Some(group) = open.group_of.iter().flatten().find(|group| !known(group)) {
            let message =
                format!("switch {guid:#018x} has no group {group}, but a LID that uses it");
            return Err(Problem::new(open.header, message).help("is the file complete?"));
        }
        if open.part == Part::Lids {
            self.tables.push(AdaptiveTable {
                fixed: open.table.finish(self.end),
                groups: open.groups,
                group_of: open.group_of,
            });
        }
        Ok(())
    }
}

impl Open {
    /// `PLFT_NUM: 0, top: 0x1f`.
    fn choose_table(&mut self, line: &mut Line<'_>) -> Result<(), Problem> {
        let at = line.range();
        line.expect("PLFT_NUM:")?;
        line.skip_blanks();
        let number = line.until(|byte| matches!(byte, b',' | b' ')).decimal(255, "a table")?;
        if self.private.is_some_and(|before| before != number) {
            let message = "several private forwarding tables on one switch";
            return Err(Problem::new(at, message)
                .expected("one table per switch")
                .help("they cannot be read yet: please send us a sample of the file"));
        }
        self.private = Some(number);
        Ok(())
    }

    /// Group, sub-group, a weight, and the ports of both.
    fn group(&mut self, line: &mut Line<'_>) -> Result<(), Problem> {
        let group = line.word().decimal(u64::from(u16::MAX), "a group")? as u16;
        line.word().decimal(u64::from(u16::MAX), "a sub-group")?;
        line.word().decimal(u64::from(u16::MAX), "a number")?;
        let ports = self.groups.entry(group).or_default();
        while !line.is_done() {
            line.skip_blanks();
            let port = line.until(|byte| matches!(byte, b',' | b' ' | b'\t'));
            let port = port.decimal(PORT_MAX.into(), "a port")? as u8;
            if !ports.contains(&port) {
                ports.push(port);
            }
            line.eat(",");
        }
        Ok(())
    }

    /// `0x0005 12 Free 3`.
    fn lid(&mut self, line: &mut Line<'_>, holes: &mut usize) -> Result<(), Problem> {
        let at = line.range();
        let lid = line.word().prefixed_hex(LID_MAX.into(), "a LID")? as u16;
        let port = line.word().decimal(u8::MAX.into(), "a port")? as u8;
        let state = line.word();
        let is_adaptive = state.keyword(&STATES, "is not the state of a LID")?;
        let group = if line.is_done() {
            None
        } else {
            Some(line.word().decimal(u64::from(u16::MAX), "a group")? as u16)
        };
        line.expect_end()?;
        let port = if port > PORT_MAX { NO_PORT } else { port };
        self.table.set(Row { lid, port, at }, holes)?;
        if is_adaptive {
            let Some(group) = group else {
                return Err(line.unexpected("a group of ports"));
            };
            let index = usize::from(lid);
            if self.group_of.len() <= index {
                self.group_of.resize(index + 1, None);
            }
            self.group_of[index] = Some(group);
        }
        Ok(())
    }
}

const GROUPS: &str = "Groups Definition:";
const LIDS: &str = "LFT Definition:";
const TITLES: [&str; 2] = ["Group ", "LID "];
/// Whether packets may take any port of the group.
const STATES: [(&str, bool); 4] =
    [("Static", false), ("Free", true), ("HBF", true), ("Bounded", true)];
/// How many lines a switch may have before its groups.
const HEADER_MAX: usize = 40;
