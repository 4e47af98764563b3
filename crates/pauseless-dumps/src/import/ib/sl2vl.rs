//! Service level to virtual lane: `opensm-sl2vl.dump`, and `slvl` as `ibdmchk -d` reads it.

use std::fmt;
use std::ops::Range;

use super::cabling::PORT_MAX;
use super::guid::guid;
use super::rows::{self, Keyed, without_repetition};
use pauseless_text::lex::{Line, Lines, line_number, nothing, quoted};
use pauseless_text::problem::Problem;

/// The virtual lanes for one way through a switch, or out of an adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlVlRow {
    /// The GUID of the switch or port; its LID, if the owner says so.
    pub guid: u64,
    /// What the GUID is one of.
    pub owner: GuidOwner,
    /// The port by which packets come; 0 for the switch's own and on adapters.
    pub ingress: u8,
    /// The port by which packets leave; 0 on adapters.
    pub egress: u8,
    /// The virtual lane of each service level; 15 means that packets are dropped.
    pub vls: [u8; 16],
    /// The place of its line.
    pub at: Range<usize>,
}

/// What a GUID in a table is one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GuidOwner {
    /// The GUID of a switch.
    Switch,
    /// The GUID of a port of an adapter: opensm does not write that of the adapter.
    AdapterPort,
    /// The GUID of a node; the file does not say whether of
    /// switches or channel adapters.
    Node,
    /// A switch or port that is named by its LID instead of a GUID.
    Lid,
}

impl fmt::Display for GuidOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GuidOwner::Switch => "switch",
            GuidOwner::AdapterPort => "adapter port",
            GuidOwner::Node => "node",
            GuidOwner::Lid => "the owner of LID",
        })
    }
}

impl Keyed for SlVlRow {
    type Key = (u64, u8, u8);

    fn key(&self) -> Self::Key {
        (self.guid, self.ingress, self.egress)
    }

    fn agrees(&self, other: &Self) -> bool {
        self.vls == other.vls && self.owner == other.owner
    }

    fn contradiction(&self, before: &Self, text: &str) -> Problem {
        let SlVlRow { owner, guid, ingress, egress, .. } = self;
        let lanes = |row: &Self| row.vls.map(|vl| vl.to_string()).join(" ");
        let guid = match owner {
            GuidOwner::Lid => guid.to_string(),
            _ => format!("{guid:#018x}"),
        };
        let message = format!(
            "{owner} {guid} from port {ingress} to {egress} has the lanes {} here, but the \
             lanes {} in line {}",
            lanes(self),
            lanes(before),
            line_number(text, before.at.start),
        );
        Problem::new(self.at.clone(), message).help("two dumps in one file? keep one")
    }
}

/// Reads the file `opensm-sl2vl.dump`.
pub mod opensm {
    use super::*;

    /// Whether the first line with anything on it is the header of a table.
    pub fn looks_like(text: &str) -> bool {
        let mut lines = Lines::new(text).filter(|line| !line.rest().trim().is_empty());
        lines.next().is_some_and(|mut line| {
            OWNERS.iter().any(|(name, _)| line.eat(name))
                && line.word().text.starts_with("0x")
                && line.eat("base LID")
        })
    }

    /// Reads the tables of all switches and adapters, a row per ingress and egress, in their order.
    pub fn parse(text: &str) -> Result<Vec<SlVlRow>, Problem> {
        let mut reader = Reader { rows: Vec::new(), section: None };
        for line in Lines::new(text) {
            reader.line(line)?;
        }
        reader.close()?;
        if reader.rows.is_empty() {
            return Err(nothing("row of a table", "opensm writes it as opensm-sl2vl.dump"));
        }
        without_repetition(text, reader.rows)
    }

    struct Reader {
        rows: Vec<SlVlRow>,
        section: Option<Section>,
    }

    struct Section {
        guid: u64,
        owner: GuidOwner,
        /// Rules of dashes so far: one is before the rows and one after.
        rules: u8,
        at: Range<usize>,
    }

    impl Reader {
        fn line(&mut self, mut line: Line<'_>) -> Result<(), Problem> {
            if line.is_done() {
                return Ok(());
            }
            if line.rest().starts_with('#') {
                let is_rule = line.rest().starts_with("#--");
                if let Some(section) = self.section.as_mut().filter(|_| is_rule) {
                    section.rules = section.rules.saturating_add(1);
                }
                return Ok(());
            }
            if line.rest().starts_with(|c: char| c.is_ascii_digit()) {
                let row = self.row(&mut line)?;
                self.rows.push(row);
                return Ok(());
            }
            let start = line.clone();
            let owner = OWNERS.iter().find(|(name, _)| line.eat(name));
            let Some(&(_, owner)) = owner else {
                let expected = "`Switch 0x..`, `Channel Adapter 0x..` or a row of numbers";
                return Err(start.unexpected(expected));
            };
            self.close()?;
            line.skip_blanks();
            let guid = guid(line.until(|byte| matches!(byte, b',' | b' ')))?;
            line.expect(",")?;
            line.expect("base LID")?;
            line.skip_blanks();
            let lid = line.until(|byte| matches!(byte, b',' | b' '));
            lid.decimal(u16::MAX.into(), "a LID")?;
            line.expect(",")?;
            line.expect("\"")?;
            if line.up_to_last("\"").is_none() {
                return Err(line.unexpected("a name and a quote"));
            }
            line.expect_end()?;
            self.section = Some(Section { guid, owner, rules: 0, at: start.range() });
            Ok(())
        }

        fn row(&self, line: &mut Line<'_>) -> Result<SlVlRow, Problem> {
            let at = line.range();
            let Some(section) = self.section.as_ref().filter(|section| section.rules == 1) else {
                return Err(Problem::new(at, "a row outside of any table")
                    .expected("the header, the title and a rule above it")
                    .help("does the file begin in the middle?"));
            };
            let ingress = line.word().decimal(PORT_MAX.into(), "a port")? as u8;
            let egress = line.word().decimal(PORT_MAX.into(), "a port")? as u8;
            line.expect(":")?;
            let mut vls = [0; 16];
            for vl in &mut vls {
                *vl = line.word().decimal(15, "a virtual lane")? as u8;
            }
            line.expect_end()?;
            Ok(SlVlRow { guid: section.guid, owner: section.owner, ingress, egress, vls, at })
        }

        /// The open table, if there is one, must be complete.
        fn close(&mut self) -> Result<(), Problem> {
            match self.section.take() {
                Some(section) if section.rules != 2 => {
                    let (owner, guid) = (section.owner, section.guid);
                    let message = format!("the table of {owner} {guid:#018x} is not complete");
                    Err(Problem::new(section.at, message)
                        .expected("a rule of dashes before the rows and one after them")
                        .help("is the file cut off?"))
                }
                _ => Ok(()),
            }
        }
    }

    const OWNERS: [(&str, GuidOwner); 3] = [
        ("Switch ", GuidOwner::Switch),
        ("Channel Adapter ", GuidOwner::AdapterPort),
        ("Router ", GuidOwner::AdapterPort),
    ];
}

/// `slvl`: `0x<guid> <ingress> <egress>` and eight bytes with two lanes each.
pub mod ibdmchk {
    use super::*;

    /// Whether the first line with anything on it is a row.
    pub fn looks_like(text: &str) -> bool {
        let mut lines = Lines::new(text).filter(|line| !line.rest().trim().is_empty());
        lines.find(|line| !line.rest().trim_start().starts_with('#')).is_some_and(|line| {
            let words: Vec<&str> = line.rest().split_whitespace().take(12).collect();
            let is_byte = |word: &&str| word.starts_with("0x") && word.len() == 4;
            words.len() == 11 && words[0].starts_with("0x") && words[3..].iter().all(is_byte)
        })
    }

    /// Reads all rows, in their order. Their GUIDs are of nodes; the file does not say of which kind.
    pub fn parse(text: &str) -> Result<Vec<SlVlRow>, Problem> {
        let rows = rows::read(text, parse_row)?;
        if rows.is_empty() {
            let help = "a row is `0x<guid> <ingress> <egress>` and eight bytes";
            return Err(nothing("row of a table", help));
        }
        without_repetition(text, rows)
    }

    fn parse_row(line: &mut Line<'_>) -> Result<SlVlRow, Problem> {
        let at = line.range();
        let guid = guid(line.word())?;
        let ingress = line.word().decimal(PORT_MAX.into(), "a port")? as u8;
        let egress = line.word().decimal(PORT_MAX.into(), "a port")? as u8;
        let mut vls = [0; 16];
        for pair in vls.chunks_exact_mut(2) {
            let word = line.word();
            let byte = word.prefixed_hex(u8::MAX.into(), "a pair of virtual lanes")? as u8;
            // A byte that lost a digit would be two other lanes.
            if word.text.len() != 4 {
                let message = format!("{} is not a pair of virtual lanes", quoted(word.text));
                let expected = "`0x` and two digits, one for each lane";
                return Err(word.problem(message).expected(expected));
            }
            pair.copy_from_slice(&[byte >> 4, byte & 0xF]);
        }
        line.expect_end()?;
        Ok(SlVlRow { guid, owner: GuidOwner::Node, ingress, egress, vls, at })
    }
}
