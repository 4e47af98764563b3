//! `dump_lfts` (which runs ibroute for every switch) and `opensm-lfts.dump`.
//!
//! Both have a header, rows for the LIDs that have a port, and a last line with a number: of rows
//! in ibroute, the largest LID in opensm.

use std::ops::Range;

use memchr::memchr;

use super::fdbs::lid_of;
use super::guid::guid;
use super::lft::{Lft, Row, Sections, Table, holes_allowed};
use pauseless_text::lex::{Line, Lines, Word, nothing, quoted};
use pauseless_text::problem::Problem;

/// Whether the first line with anything on it is the header of a table.
pub fn looks_like(text: &str) -> bool {
    let mut lines = Lines::new(text).map(|line| line.rest().trim());
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(WARNING));
    first.is_some_and(|line| line.starts_with(HEADER))
}

/// Reads all tables, in the order of the file.
pub fn parse(text: &str) -> Result<Vec<Lft>, Problem> {
    let sections = Sections { mark: HEADER, starts: &[HEADER], read: read_part };
    let tables = sections.parse(text)?;
    if tables.is_empty() {
        Err(nothing("forwarding table", "dump_lfts prints them, opensm writes opensm-lfts.dump"))
    } else {
        Ok(tables)
    }
}

fn read_part(text: &str, part: Range<usize>) -> Result<Vec<Lft>, Problem> {
    let mut reader = Reader { tables: Vec::new(), open: None, holes: holes_allowed(&part) };
    let mut lines = Lines::within(text, part);
    loop {
        if let Some(open) = &mut reader.open {
            let length = open.take_rows(lines.unread(), &mut reader.holes);
            lines.pass(length);
        }
        match lines.next() {
            Some(line) => reader.line(line)?,
            None => break,
        }
    }
    match reader.open {
        None => Ok(reader.tables),
        Some(open) => Err(open.unfinished()),
    }
}

struct Reader {
    tables: Vec<Lft>,
    open: Option<Open>,
    holes: usize,
}

/// A table of which the last line has not been read.
struct Open {
    table: Table,
    lid_max: u16,
    rows: u64,
    header: Range<usize>,
}

impl Reader {
    fn line(&mut self, mut line: Line<'_>) -> Result<(), Problem> {
        let range = line.range();
        if line.is_done() || line.rest().starts_with(WARNING) {
            return Ok(());
        }
        if line.rest().starts_with(HEADER) {
            if let Some(open) = self.open.take() {
                return Err(open.unfinished());
            }
            self.open = Some(parse_header(&mut line)?);
            return Ok(());
        }
        let Some(open) = &mut self.open else {
            return Err(Problem::new(range, "a line outside of any table")
                .expected("`Unicast lids [0x0-0x8] of switch ..`")
                .help("does the file begin in the middle?"));
        };
        if line.rest().starts_with("0x") {
            return open.row(&mut line, &mut self.holes);
        }
        let words = line.rest().split_whitespace();
        if TITLES.iter().any(|title| words.clone().eq(title.iter().copied())) {
            return Ok(());
        }
        open.last_line(&mut line)?;
        if let Some(open) = self.open.take() {
            self.tables.push(open.table.finish(range.end));
        }
        Ok(())
    }
}

impl Open {
    fn row(&mut self, line: &mut Line<'_>, holes: &mut usize) -> Result<(), Problem> {
        let at = line.range();
        let lid = lid_of(line.word())?;
        let port = line.word();
        let port = port.decimal(u8::MAX.into(), "a port")? as u8;
        // opensm follows the port with a comment, ibroute with what it knows of the target.
        if !line.eat("#") {
            line.expect(":").map_err(|problem| problem.expected("`:` or `#`"))?;
        }
        if lid > self.lid_max {
            let message = format!("LID {lid:#06x} is not among those of the header");
            let expected = format!("a LID up to {:#06x}", self.lid_max);
            return Err(Problem::new(at, message).expected(expected));
        }
        self.rows += 1;
        self.table.set(Row { lid, port, at }, holes)
    }

    /// Adds the rows at the start of `bytes` that are in the usual layout, and returns how many
    /// bytes they have. Anything else is left for [`Open::row`], which also knows what is wrong
    /// with it.
    fn take_rows(&mut self, bytes: &[u8], holes: &mut usize) -> usize {
        let mut at = 0;
        while let Some(head) = bytes[at..].first_chunk::<12>() {
            let [b'0', b'x', a, b, c, d, b' ', e, f, g, b' ', b':' | b'#'] = *head else {
                break;
            };
            let lid = number([a, b, c, d], 16);
            let port = number([b'0', e, f, g], 10);
            let (Some(lid), Some(port @ ..=255)) = (lid, port) else {
                break;
            };
            let Some(length) = memchr(b'\n', &bytes[at + 12..]) else {
                break;
            };
            let row = Row { lid, port: port as u8, at: 0..0 };
            // A row that is refused changes nothing and is refused again with its place.
            if lid > self.lid_max || self.table.set(row, holes).is_err() {
                break;
            }
            self.rows += 1;
            at += 12 + length + 1;
        }
        at
    }

    /// `8 valid lids dumped`, or what else the line is.
    fn last_line(&self, line: &mut Line<'_>) -> Result<(), Problem> {
        let number = line.word();
        let number_at = number.at();
        let Ok(count) = number.decimal(u64::MAX, "a number of rows") else {
            let message = format!("{} begins no line of a table", quoted(number.text));
            let expected = "a row, or `8 valid lids dumped` as the last line";
            return Err(line.problem(message).expected(expected));
        };
        let of_valid = line.eat("valid");
        line.expect("lids dumped")?;
        line.expect_end()?;
        let is_lid_max = !of_valid && count == u64::from(self.lid_max);
        if count == self.rows || is_lid_max {
            return Ok(());
        }
        let guid = self.table.guid();
        let message = format!("{count} LIDs, but switch {guid:#018x} has {} rows", self.rows);
        Err(Problem::new(number_at, message)
            .expected("the number of rows")
            .help("are lines missing, or there twice?"))
    }

    fn unfinished(&self) -> Problem {
        let guid = self.table.guid();
        let rows = self.rows;
        let message = format!(
            "the table of switch {guid:#018x} ends after {rows} rows without its last line"
        );
        Problem::new(self.header.clone(), message)
            .expected("`lids dumped` at the end of the table")
            .help("is the file cut off?")
    }
}

/// `Unicast lids [0x0-0x8] of switch Lid 3 guid 0x00aa (name):`.
fn parse_header(line: &mut Line<'_>) -> Result<Open, Problem> {
    let header = line.range();
    line.expect(HEADER)?;
    let first = line.until(|byte| matches!(byte, b'-' | b']'));
    parse_lid(first)?;
    line.expect("-")?;
    let lid_max = line.until(|byte| byte == b']');
    let lid_max = parse_lid(lid_max)?;
    line.expect("] of switch")?;
    // What comes before the GUID is a LID or a directed route; the name comes after it.
    if line.up_to(" guid ").is_none() {
        return Err(line.unexpected("`guid 0x..`"));
    }
    let guid = guid(line.word())?;
    if !line.rest().trim_end().ends_with("):") {
        let problem = Problem::new(line.here(), "the header has no end");
        return Err(problem.expected("a name in parentheses and a colon"));
    }
    Ok(Open { table: Table::new(guid, header.start), lid_max, rows: 0, header })
}

/// A LID of a header: decimal in opensm, hexadecimal with a prefix in ibroute.
fn parse_lid(word: Word<'_>) -> Result<u16, Problem> {
    let lid = if word.text.starts_with("0x") {
        word.prefixed_hex(u16::MAX.into(), "a LID")?
    } else {
        word.decimal(u16::MAX.into(), "a LID")?
    };
    Ok(lid as u16)
}

#[inline]
fn number(digits: [u8; 4], radix: u32) -> Option<u16> {
    let mut number = 0;
    for digit in digits {
        number = number * radix + (digit as char).to_digit(radix)?;
    }
    u16::try_from(number).ok()
}

const HEADER: &str = "Unicast lids [";
/// dump_lfts prints this at the end.
const WARNING: &str = "*** WARNING ***";
const TITLES: [&[&str]; 2] = [&["Lid", "Out", "Destination"], &["Port", "Info"]];
