//! `psl`: the service level of each path, as `ibdmchk -c` reads it.

use std::fmt;
use std::ops::Range;

use super::cabling::LID_MAX;
use super::guid::guid;
use super::rows::{self, Keyed, without_repetition};
use pauseless_text::lex::{Line, Lines, expect_last_line_end, line_number, nothing};
use pauseless_text::problem::Problem;

/// The service level with which a node sends to a LID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathSl {
    /// The node that sends, as the file names it.
    pub sender: Sender,
    /// The LID of the target.
    pub dlid: u16,
    /// The service level, 0 to 15.
    pub sl: u8,
    /// The place of its line.
    pub at: Range<usize>,
}

/// What a list of paths calls a source by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sender {
    /// The GUID of an adapter, or of one of its ports.
    Guid(u64),
    /// The LID of a port.
    Lid(u16),
}

impl fmt::Display for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sender::Guid(guid) => write!(f, "{guid:#018x}"),
            Sender::Lid(lid) => write!(f, "LID {lid}"),
        }
    }
}

impl Keyed for PathSl {
    type Key = (Sender, u16);

    fn key(&self) -> Self::Key {
        (self.sender, self.dlid)
    }

    fn agrees(&self, other: &Self) -> bool {
        self.sl == other.sl
    }

    fn contradiction(&self, before: &Self, text: &str) -> Problem {
        let PathSl { sender, dlid, sl, .. } = self;
        let (other, line) = (before.sl, line_number(text, before.at.start));
        let message = format!(
            "the path from {sender} to LID {dlid} has service level {sl} here, but service level \
             {other} in line {line}"
        );
        Problem::new(self.at.clone(), message).help("two dumps in one file? keep one")
    }
}

/// Whether the first line with anything on it is a row.
pub fn looks_like(text: &str) -> bool {
    let mut lines = Lines::new(text).filter(|line| !line.rest().trim().is_empty());
    let first = lines.find(|line| !line.rest().trim_start().starts_with('#'));
    first.is_some_and(|mut line| parse_row(&mut line).is_ok())
}

/// Reads all rows, in the order of the file.
pub fn parse(text: &str) -> Result<Vec<PathSl>, Problem> {
    expect_last_line_end(text)?;
    let rows = rows::read(text, parse_row)?;
    if rows.is_empty() {
        return Err(nothing("path", "a row is `0x<source guid> <target lid> <service level>`"));
    }
    without_repetition(text, rows)
}

fn parse_row(line: &mut Line<'_>) -> Result<PathSl, Problem> {
    let at = line.range();
    let guid = guid(line.word())?;
    let dlid = line.word();
    let number = if dlid.text.starts_with("0x") {
        dlid.prefixed_hex(LID_MAX.into(), "a LID")?
    } else {
        dlid.decimal(LID_MAX.into(), "a LID")?
    };
    if number == 0 {
        return Err(dlid.problem("LID 0 is nobody's").expected("a LID from 1 to 49151"));
    }
    let sl = line.word().decimal(15, "a service level")?;
    line.expect_end()?;
    Ok(PathSl { sender: Sender::Guid(guid), dlid: number as u16, sl: sl as u8, at })
}
