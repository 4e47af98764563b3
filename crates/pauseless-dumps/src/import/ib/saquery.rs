//! What `saquery` and `smpquery` print of service levels: `PathRecord`s, `SL2VLTableRecord`s, and
//! `smpquery sl2vl`.
//!
//! They call ports by their LIDs. Outputs of several calls may follow each other in one file.

use std::ops::Range;

use super::cabling::{LID_MAX, PORT_MAX};
use super::path_sl::{PathSl, Sender};
use super::rows::without_repetition;
use super::sl2vl::{GuidOwner, SlVlRow};
use pauseless_text::lex::{Line, Lines, Word, nothing, quoted};
use pauseless_text::problem::Problem;

/// The service levels of paths: `saquery -p`.
pub mod paths {
    use super::*;

    /// Whether the first line with anything on it begins a record of a path.
    pub fn looks_like(text: &str) -> bool {
        first_line(text).starts_with(PATH)
    }

    /// Reads all records, in their order.
    pub fn parse(text: &str) -> Result<Vec<PathSl>, Problem> {
        let mut paths = Vec::new();
        let mut open: Option<Record> = None;
        for mut line in Lines::new(text) {
            if line.is_done() || line.rest().starts_with('#') {
                continue;
            }
            if line.rest().trim() == PATH {
                paths.extend(open.take().map(Record::finish).transpose()?);
                open = Some(Record { at: line.range(), slid: None, dlid: None, sl: None });
                continue;
            }
            let Some(record) = &mut open else {
                return Err(line.unexpected("`PathRecord dump:`"));
            };
            record.field(line)?;
        }
        paths.extend(open.take().map(Record::finish).transpose()?);
        if paths.is_empty() {
            return Err(nothing("path", "`saquery -p --slid 7` prints the paths from LID 7"));
        }
        without_repetition(text, paths)
    }

    struct Record {
        at: Range<usize>,
        slid: Option<u16>,
        dlid: Option<u16>,
        sl: Option<u8>,
    }

    impl Record {
        fn field(&mut self, line: Line<'_>) -> Result<(), Problem> {
            let (name, value) = field(line)?;
            match name.text {
                "slid" => self.slid = Some(lid(value)?),
                "dlid" => self.dlid = Some(lid(value)?),
                "sl" => self.sl = Some(number(value, 15, "a service level")? as u8),
                _ => {}
            }
            Ok(())
        }

        fn finish(self) -> Result<PathSl, Problem> {
            match (self.slid, self.dlid, self.sl) {
                (Some(slid), Some(dlid), Some(sl)) => {
                    Ok(PathSl { sender: Sender::Lid(slid), dlid, sl, at: self.at })
                }
                _ => Err(Problem::new(self.at, "a path without slid, dlid or sl")
                    .expected("all three of them")
                    .help("is the file cut off?")),
            }
        }
    }

    const PATH: &str = "PathRecord dump:";
}

/// Service level to virtual lane: `saquery SL2VL` and `smpquery sl2vl LID`.
pub mod lanes {
    use super::*;

    /// Whether the first line with anything on it begins such a table.
    pub fn looks_like(text: &str) -> bool {
        let first = first_line(text);
        first == RECORD || first.starts_with(TABLE)
    }

    /// Reads all rows, in their order.
    pub fn parse(text: &str) -> Result<Vec<SlVlRow>, Problem> {
        let mut reader = Reader { rows: Vec::new(), lid: None, ports: [None; 2], open: None };
        for line in Lines::new(text) {
            reader.line(line)?;
        }
        if let Some(at) = reader.open {
            return Err(cut(at));
        }
        if reader.rows.is_empty() {
            return Err(nothing("table", "`smpquery sl2vl 7` prints that of LID 7"));
        }
        without_repetition(text, reader.rows)
    }

    struct Reader {
        rows: Vec<SlVlRow>,
        /// The LID whose table is read.
        lid: Option<u16>,
        /// The ports of the record, where a record is a row.
        ports: [Option<u8>; 2],
        /// The place of a record that has no lanes yet.
        open: Option<Range<usize>>,
    }

    impl Reader {
        fn line(&mut self, mut line: Line<'_>) -> Result<(), Problem> {
            if line.is_done() {
                return Ok(());
            }
            let start = line.rest().trim();
            if start.starts_with(TABLE) {
                line.expect(TABLE)?;
                if !line.eat("Lid") {
                    let expected = "`Lid` and a number: a directed route does not say whose it is";
                    return Err(line.unexpected(expected));
                }
                self.lid = Some(lid(line.word())?);
            } else if start == RECORD {
                if let Some(at) = self.open.take() {
                    return Err(cut(at));
                }
                (self.lid, self.ports, self.open) = (None, [None; 2], Some(line.range()));
            } else if start.starts_with("ports:") {
                self.row(line)?;
            } else if start.starts_with("VL:") {
                self.lanes(line)?;
            } else if self.open.is_some() && !start.starts_with("SL:") {
                let (name, value) = field(line)?;
                match name.text {
                    "LID" => self.lid = Some(lid(value)?),
                    "InPort" => self.ports[0] = Some(number(value, PORT_MAX, "a port")? as u8),
                    "OutPort" => self.ports[1] = Some(number(value, PORT_MAX, "a port")? as u8),
                    _ => {}
                }
            } else if !start.starts_with('#') && !start.starts_with("SL:") {
                return Err(line.unexpected("`ports:`, or the next table"));
            }
            Ok(())
        }

        /// `ports: in  1, out  2: | 0| 1| ..`.
        fn row(&mut self, mut line: Line<'_>) -> Result<(), Problem> {
            let at = line.range();
            let Some(lid) = self.lid else {
                return Err(Problem::new(at, "a row outside of any table")
                    .expected("`# SL2VL table: Lid 7` above it"));
            };
            line.expect("ports: in")?;
            line.skip_blanks();
            let ingress = line.until(|byte| byte == b',').decimal(PORT_MAX.into(), "a port")? as u8;
            line.expect(", out")?;
            line.skip_blanks();
            let egress = line.until(|byte| byte == b':').decimal(PORT_MAX.into(), "a port")? as u8;
            line.expect(":")?;
            line.expect("|")?;
            let vls = vls(&mut line)?;
            self.rows.push(SlVlRow {
                guid: lid.into(),
                owner: GuidOwner::Lid,
                ingress,
                egress,
                vls,
                at,
            });
            Ok(())
        }

        /// `VL: 0| 1| ..`, the last line of a record.
        fn lanes(&mut self, mut line: Line<'_>) -> Result<(), Problem> {
            line.skip_blanks();
            line.expect("VL:")?;
            let vls = vls(&mut line)?;
            let (Some(at), Some(lid), [Some(ingress), Some(egress)]) =
                (self.open.take(), self.lid, self.ports)
            else {
                return Err(line.problem("lanes without LID, InPort or OutPort"));
            };
            self.rows.push(SlVlRow {
                guid: lid.into(),
                owner: GuidOwner::Lid,
                ingress,
                egress,
                vls,
                at,
            });
            Ok(())
        }
    }

    fn vls(line: &mut Line<'_>) -> Result<[u8; 16], Problem> {
        let mut vls = [0; 16];
        for vl in &mut vls {
            line.skip_blanks();
            let word = line.until(|byte| byte == b'|');
            *vl = word.decimal(15, "a virtual lane")? as u8;
            line.expect("|")?;
        }
        line.expect_end()?;
        Ok(vls)
    }

    fn cut(at: Range<usize>) -> Problem {
        let problem = Problem::new(at, "a record without its virtual lanes");
        problem.expected("`VL:` and 16 lanes").help("is the file cut off?")
    }

    const RECORD: &str = "SL2VLTableRecord dump:";
    const TABLE: &str = "# SL2VL table:";
}

fn first_line(text: &str) -> &str {
    Lines::new(text).map(|line| line.rest().trim()).find(|line| !line.is_empty()).unwrap_or("")
}

/// Splits a line such as `dlid......7` into the name of a field and its value.
fn field<'t>(mut line: Line<'t>) -> Result<(Word<'t>, Word<'t>), Problem> {
    line.skip_blanks();
    let name = line.until(|byte| byte == b'.');
    if !line.eat(".") {
        let message = format!("{} is no field of a record", quoted(name.text.trim()));
        return Err(name.problem(message).expected("a name, dots and a value"));
    }
    while line.eat(".") {}
    Ok((name, line.word()))
}

/// A LID, in either form of numbers: versions differ.
fn lid(word: Word<'_>) -> Result<u16, Problem> {
    match number_up_to(word, LID_MAX.into(), "a LID")? as u16 {
        0 => Err(word
            .problem("LID 0 is nobody's")
            .expected("a LID from 1 to 49151")
            .help("was the answer cut off? ask for one source at a time, or for one pair")),
        lid => Ok(lid),
    }
}

fn number(word: Word<'_>, max: u8, what: &str) -> Result<u64, Problem> {
    number_up_to(word, max.into(), what)
}

fn number_up_to(word: Word<'_>, max: u64, what: &str) -> Result<u64, Problem> {
    if word.text.starts_with("0x") { word.prefixed_hex(max, what) } else { word.decimal(max, what) }
}
