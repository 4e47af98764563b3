//! `.fdbs` of opensm and ibdiagnet: forwarding tables with the number of hops.
//!
//! LIDs are hexadecimal, ports decimal. opensm writes a row for every LID up to the largest.

use std::ops::Range;

use super::cabling::{LID_MAX, PORT_MAX};
use super::guid::guid;
use super::lft::{Lft, NO_PORT, Row, Sections, Table, holes_allowed};
use pauseless_text::lex::{Line, Lines, Word, nothing, quoted};
use pauseless_text::problem::Problem;

/// Whether the first line that is no comment is the header of a table.
pub fn looks_like(text: &str) -> bool {
    let mut lines = Lines::new(text).map(|line| line.rest().trim());
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| HEADERS.iter().any(|header| line.starts_with(header)))
}

/// Reads all tables, in the order of the file.
pub fn parse(text: &str) -> Result<Vec<Lft>, Problem> {
    let sections = Sections { mark: "ucast_routes: Switch", starts: &HEADERS, read: read_part };
    let tables = sections.parse(text)?;
    let Some((last, others)) = tables.split_last() else {
        return Err(nothing("forwarding table", "opensm writes it as opensm.fdbs"));
    };
    // All tables end with the largest LID of the subnet: a last one that ends earlier was cut.
    let longest = others.iter().map(|table| table.ports.len()).max();
    if longest.is_some_and(|longest| longest > last.ports.len()) {
        let (has, longest) = (last.ports.len() - 1, longest.unwrap_or(0) - 1);
        let message =
            format!("the last table ends with LID {has:#06x}, but another with {longest:#06x}",);
        return Err(Problem::new(last.row(text, has as u16), message)
            .expected(format!("rows up to LID {longest:#06x}"))
            .help("is the file cut off?"));
    }
    Ok(tables)
}

fn read_part(text: &str, part: Range<usize>) -> Result<Vec<Lft>, Problem> {
    let mut reader =
        Reader { tables: Vec::new(), open: None, end: part.start, holes: holes_allowed(&part) };
    let mut lines = Lines::within(text, part);
    loop {
        if let Some(ports) = reader.open.as_mut().and_then(Table::in_order) {
            let length = take_rows(lines.unread(), ports);
            lines.pass(length);
            if length > 0 {
                reader.end = lines.at() - 1;
            }
        }
        match lines.next() {
            Some(line) => reader.line(line)?,
            None => break,
        }
    }
    reader.close()?;
    Ok(reader.tables)
}

/// Appends the rows at the start of `bytes` that are in the usual layout and in order of LID, and
/// returns how many bytes they have. Anything else is left for [`Reader::line`], which also knows
/// what is wrong with it.
fn take_rows(bytes: &[u8], ports: &mut Vec<u8>) -> usize {
    let mut at = 0;
    while let Some(head) = bytes[at..].first_chunk::<9>() {
        let [b'0', b'x', a, b, c, d, b' ', b':', b' '] = *head else {
            break;
        };
        let digits = [a, b, c, d].map(|digit| HEX[usize::from(digit)]);
        let invalid = digits.iter().fold(0, |all, digit| all | digit) & 0xF0;
        let lid = digits.iter().fold(0, |lid, digit| lid << 4 | usize::from(*digit));
        if invalid != 0 || lid != ports.len() || lid > usize::from(LID_MAX) {
            break;
        }
        let rest = &bytes[at + 9..];
        let (port, length) = if let Some(port) = rest.first_chunk().and_then(usual_row) {
            (port, USUAL.len())
        } else if rest.starts_with(UNREACHABLE) {
            (NO_PORT, UNREACHABLE.len())
        } else {
            break;
        };
        let line_end = match rest[length..] {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => break,
        };
        ports.push(port);
        at += 9 + length + line_end;
    }
    at
}

/// The port of a row like [`USUAL`].
#[inline]
fn usual_row(row: &[u8; USUAL.len()]) -> Option<u8> {
    let digit = |index: usize| row[index].wrapping_sub(b'0');
    let digits = [digit(0), digit(1), digit(2), digit(7), digit(8)];
    let port = u16::from(digits[0]) * 100 + u16::from(digits[1]) * 10 + u16::from(digits[2]);
    let is_usual = row[3..7] == USUAL[3..7]
        && row[9..] == USUAL[9..]
        && digits.iter().all(|digit| *digit <= 9)
        && port <= u16::from(PORT_MAX);
    is_usual.then_some(port as u8)
}

struct Reader {
    tables: Vec<Lft>,
    open: Option<Table>,
    /// Where the open table's last row ends.
    end: usize,
    holes: usize,
}

impl Reader {
    fn line(&mut self, mut line: Line<'_>) -> Result<(), Problem> {
        let range = line.range();
        if line.is_done() || line.rest().starts_with('#') {
            return Ok(());
        }
        if line.rest().starts_with("LID ") {
            return self.title(line);
        }
        if line.rest().starts_with("0x") {
            let row = parse_row(&mut line)?;
            let Some(table) = &mut self.open else {
                return Err(Problem::new(range, "a row before the first header")
                    .expected("`dump_ucast_routes: Switch 0x..`")
                    .help("does the file begin in the middle?"));
            };
            self.end = range.end;
            return table.set(row, &mut self.holes);
        }
        if let Some(header) = HEADERS.iter().find(|header| line.rest().starts_with(**header)) {
            line.expect(header)?;
            let guid = guid(line.word())?;
            line.expect_end()?;
            self.close()?;
            self.open = Some(Table::new(guid, range.start));
            self.end = range.end;
            return Ok(());
        }
        if line.eat("PLFT_NUM:") {
            return private_table(line);
        }
        let message = format!("{} begins no line of this format", quoted(line.word().text));
        let expected = "`0x0001 : 001  : 01   : yes`, a header or a title";
        Err(Problem::new(range, message).expected(expected))
    }

    fn title(&mut self, mut line: Line<'_>) -> Result<(), Problem> {
        let words = [(); 7].map(|()| line.word().text);
        if words == ["LID", ":", "Port", ":", "Hops", ":", "Optimal"] {
            return line.expect_end();
        }
        Err(line.problem("not the title of a table").expected("`LID    : Port : Hops : Optimal`"))
    }

    fn close(&mut self) -> Result<(), Problem> {
        let Some(table) = self.open.take() else {
            return Ok(());
        };
        let table = table.finish(self.end);
        if table.ports.len() == 1 {
            let message = format!("the table of switch {:#018x} has no rows", table.guid);
            return Err(Problem::new(table.at, message)
                .expected("`0x0001 : 001  : 01   : yes` and so on")
                .help("is the file cut off?"));
        }
        self.tables.push(table);
        Ok(())
    }
}

/// Adaptive routing has several tables per switch; only the first is the linear one.
fn private_table(mut line: Line<'_>) -> Result<(), Problem> {
    let number = line.word();
    match number.decimal(u64::MAX, "the number of a table")? {
        0 => line.expect_end(),
        _ => Err(line
            .problem("a private forwarding table")
            .expected("`PLFT_NUM: 0`")
            .help("private tables are not supported: dump the linear ones with opensm")),
    }
}

/// `0x0007 : 001  : 01   : yes` in any spacing, and the rarer forms.
fn parse_row(line: &mut Line<'_>) -> Result<Row, Problem> {
    let at = line.range();
    let lid = lid_of(line.word())?;
    line.expect(":")?;
    let port = line.word();
    if port.text == "UNREACHABLE" {
        line.expect_end()?;
        return Ok(Row { lid, port: NO_PORT, at });
    }
    let port = port
        .decimal(PORT_MAX.into(), "a port")
        .map_err(|problem| problem.expected("a port from 000 to 254, or UNREACHABLE"))?
        as u8;
    line.expect(":")?;
    let row = Row { lid, port, at };
    if line.eat("HOPS UNKNOWN") {
        line.expect_end()?;
        return Ok(row);
    }
    line.word().decimal(u8::MAX.into(), "a number of hops")?;
    line.expect(":")?;
    if line.eat("yes") {
        line.expect_end()?;
        return Ok(row);
    }
    line.expect("No").map_err(|problem| problem.expected("`yes` or `No`"))?;
    line.word().decimal(u8::MAX.into(), "a number of hops")?;
    line.expect("hop path possible via port")?;
    line.until(|byte| byte == b'!');
    line.expect("!")?;
    line.expect_end()?;
    Ok(row)
}

/// The LID at the start of a row, of any forwarding table.
pub(super) fn lid_of(word: Word<'_>) -> Result<u16, Problem> {
    let lid = word.prefixed_hex(u16::MAX.into(), "a LID")?;
    Ok(lid as u16)
}

const HEADERS: [&str; 3] = [
    "dump_ucast_routes: Switch",
    "osm_ucast_mgr_dump_ucast_routes: Switch",
    "__osm_ucast_mgr_dump_ucast_routes: Switch",
];

/// What follows `0x0001 : ` in most rows; the digits are those of the port and of the hops.
const USUAL: &[u8; 17] = b"000  : 00   : yes";
const UNREACHABLE: &[u8] = b"UNREACHABLE";

/// The value of each hexadecimal digit, 0xFF for other bytes.
const HEX: [u8; 256] = {
    let mut values = [0xFF; 256];
    let mut digit = 0;
    while digit < 16 {
        values[b"0123456789abcdef"[digit] as usize] = digit as u8;
        values[b"0123456789ABCDEF"[digit] as usize] = digit as u8;
        digit += 1;
    }
    values
};
