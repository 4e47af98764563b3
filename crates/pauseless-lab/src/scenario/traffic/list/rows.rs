//! The text of a list of flows: a header line that names the columns, and a row for each flow.
//!
//! Words stand between spaces or tabs. A line that begins with `#` is a comment, and `-` stands
//! for nothing. Text in, rows or flaws out: no file, no network, no other section.

use std::collections::BTreeMap;
use std::ops::Range;

use pauseless_core::unit::{Bytes, Span};

use super::super::super::reader::did_you_mean;
use super::super::super::unit::{self, Quantity};
use super::super::scene::FLOWS_MAX;
use super::columns::{COLUMNS, Cell, Titled, header_help, titles};

/// All rows, in the order of the text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rows {
    pub list: Vec<Row>,
    /// The names of sources and targets, each once.
    pub hosts: Vec<String>,
}

/// One flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Row {
    /// The line, from 1.
    pub line: u32,
    /// Where the row begins and ends in the text.
    pub at: (u32, u32),
    /// Places in [`Rows::hosts`].
    pub source: u32,
    pub target: u32,
    pub size: Option<Bytes>,
    pub start: Span,
    pub class: Option<u8>,
    pub name: Option<Box<str>>,
    /// The names of the rows that it waits for, with commas between them.
    pub after: Option<Box<str>>,
    pub delay: Span,
    /// The nodes of its path, with commas between them.
    pub path: Option<Box<str>>,
    /// The same for what its source is told.
    pub return_path: Option<Box<str>>,
}

/// Something wrong with the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flaw {
    pub line: u32,
    pub at: Range<usize>,
    pub message: String,
    pub expected: String,
    pub help: String,
}

/// A word and where it stands in the text.
#[derive(Clone, Copy)]
pub(super) struct Word<'t> {
    pub text: &'t str,
    start: usize,
}

impl Word<'_> {
    pub fn at(self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }
}

/// More flaws than this nobody reads.
const FLAWS_MAX: usize = 50;

impl Rows {
    /// Reads `text`; classes are below `class_count`.
    pub(super) fn parse(text: &str, class_count: u8) -> Result<Rows, Vec<Flaw>> {
        let mut parser = Parser {
            class_count,
            line: 0,
            rows: Rows::default(),
            hosts: BTreeMap::new(),
            flaws: Vec::new(),
        };
        parser.read(text);
        match parser.flaws.is_empty() {
            true => Ok(parser.rows),
            false => Err(parser.flaws),
        }
    }

    /// The rows as they are written, with the columns that any of them needs.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        let is_needed = |titled: &Titled| {
            let column = titled.column;
            column.is_required || self.list.iter().any(column.is_needed)
        };
        let all = COLUMNS.iter().map(Titled::exactly);
        let columns = Vec::from_iter(all.filter(is_needed));
        let titles = Vec::from_iter(columns.iter().map(|titled| titled.title())).join(" ");
        let lines = self.list.iter().map(move |row| {
            let cells = columns.iter().map(|titled| (titled.column.show)(self, row));
            Vec::from_iter(cells).join(" ")
        });
        std::iter::once(titles).chain(lines)
    }
}

/// Reads rows.
pub(super) struct Parser<'t> {
    /// Classes are below this.
    pub class_count: u8,
    line: u32,
    rows: Rows,
    hosts: BTreeMap<&'t str, u32>,
    flaws: Vec<Flaw>,
}

impl<'t> Parser<'t> {
    fn read(&mut self, text: &'t str) {
        let mut columns: Option<Vec<Titled>> = None;
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            self.line += 1;
            let words = words(line, start);
            let line_start = start;
            start += line.len();
            let Some(first) = words.first() else { continue };
            if first.text.starts_with('#') {
                continue;
            }
            let Some(columns) = &columns else {
                match self.header(&words) {
                    Some(found) => columns = Some(found),
                    // Without a header nothing below it means anything.
                    None => return,
                }
                continue;
            };
            if self.rows.list.len() == FLOWS_MAX {
                let flaw = self.flaw(first.at(), "more rows than a run can have");
                flaw.expected = format!("at most {FLOWS_MAX}");
                return;
            }
            self.row(columns, &words, (line_start, line.trim_end().len()));
            if self.flaws.len() >= FLAWS_MAX {
                return;
            }
        }
        if self.rows.list.is_empty() && self.flaws.is_empty() {
            let flaw = self.flaw(0..text.len().min(1), "no rows: no flow is listed");
            flaw.help = header_help();
        }
    }

    /// Adds a flaw of the line that is being read.
    pub fn flaw(&mut self, at: Range<usize>, message: impl Into<String>) -> &mut Flaw {
        self.flaws.push(Flaw {
            line: self.line.max(1),
            at,
            message: message.into(),
            expected: String::new(),
            help: String::new(),
        });
        let last = self.flaws.len() - 1;
        &mut self.flaws[last]
    }

    /// The columns that a header names.
    fn header(&mut self, words: &[Word<'t>]) -> Option<Vec<Titled>> {
        let mut columns: Vec<Titled> = Vec::new();
        if words.iter().all(|word| Titled::named(word.text).is_none()) {
            let flaw = self.flaw(words[0].at(), "this line names no columns");
            flaw.expected = format!("some of {}", titles().join(", "));
            flaw.help = header_help();
            return None;
        }
        for word in words {
            let Some(column) = Titled::named(word.text) else {
                let message = format!("no column is called {:?}", word.text);
                let flaw = self.flaw(word.at(), message);
                flaw.expected = format!("some of {}", titles().join(", "));
                flaw.help = did_you_mean(word.text, titles().iter().map(String::as_str));
                continue;
            };
            if columns
                .iter()
                .any(|other| other.column.name == column.column.name)
            {
                let message = format!("a second column {}", column.column.name);
                self.flaw(word.at(), message).help = "leave one of them out".to_string();
            }
            columns.push(column);
        }
        for required in COLUMNS.iter().filter(|column| column.is_required) {
            let is_there = columns
                .iter()
                .any(|titled| titled.column.name == required.name);
            if !is_there && self.flaws.is_empty() {
                let message = format!("the header has no column {}", required.name);
                let flaw = self.flaw(words[0].at(), message);
                flaw.help = header_help();
            }
        }
        self.flaws.is_empty().then_some(columns)
    }

    fn row(&mut self, columns: &[Titled], words: &[Word<'t>], (start, length): (usize, usize)) {
        if words.len() != columns.len() {
            let (found, wanted) = (words.len(), columns.len());
            let at = words.get(wanted).or(words.last()).map(|word| word.at());
            let message = format!("{found} words in {wanted} columns");
            let flaw = self.flaw(at.unwrap_or(start..start + length), message);
            let titles = Vec::from_iter(columns.iter().map(|column| column.title()));
            flaw.expected = titles.join(" ");
            flaw.help = "write - for what is not there".to_string();
            return;
        }
        let mut row = Row {
            line: self.line,
            at: (start as u32, (start + length) as u32),
            source: u32::MAX,
            target: u32::MAX,
            size: None,
            start: Span::ZERO,
            class: None,
            name: None,
            after: None,
            delay: Span::ZERO,
            path: None,
            return_path: None,
        };
        let before = self.flaws.len();
        for (titled, word) in columns.iter().zip(words) {
            let (titled, word) = (*titled, *word);
            if word.text != "-" || titled.column.is_required {
                (titled.column.fill)(self, &mut row, Cell { titled, word });
            }
        }
        if self.flaws.len() == before {
            self.check(&row, words);
            self.rows.list.push(row);
        }
    }

    /// What no single word shows.
    fn check(&mut self, row: &Row, words: &[Word<'t>]) {
        let at = words[0].start..words[words.len() - 1].at().end;
        if row.source == row.target {
            let flaw = self.flaw(at, "source and target are the same host");
            flaw.help = "choose another target".to_string();
        } else if row.after.is_none() && row.delay != Span::ZERO {
            let flaw = self.flaw(at, "a delay after what?");
            flaw.help = "name a row in column after, or write a start instead".to_string();
        }
    }

    /// The number of a host.
    pub fn host(&mut self, name: &'t str) -> u32 {
        let next = self.hosts.len() as u32;
        let number = *self.hosts.entry(name).or_insert(next);
        if number == next && self.rows.hosts.len() == next as usize {
            self.rows.hosts.push(name.to_string());
        }
        number
    }

    /// A number with its unit, or with that of its column.
    pub fn quantity<Q: Quantity>(
        &mut self,
        cell: Cell<'t>,
        range: std::ops::RangeInclusive<Q>,
    ) -> Option<Q> {
        let Cell { titled, word } = cell;
        let written = match titled.unit {
            "" => unit::parse::<Q>(word.text),
            unit => unit::parse::<Q>(&format!("{}{unit}", word.text)),
        };
        let (low, high) = (range.start(), range.end());
        let title = titled.title();
        let refused = match written {
            Ok(value) if (low.to_base()..=high.to_base()).contains(&value.to_base()) => {
                return Some(value);
            }
            Ok(_) => {
                let flaw = self.flaw(word.at(), format!("{title}: {} is out of range", word.text));
                flaw.expected = format!("from {} to {}", low.exact(), high.exact());
                return None;
            }
            Err(refused) => refused,
        };
        match titled.unit {
            "" => {
                let is_plain = word.text.parse::<f64>().is_ok();
                let flaw = self.flaw(word.at(), format!("{title}: {}", refused.message));
                flaw.expected = unit::unit_list::<Q>();
                flaw.help = match titled.column.numbers.usual() {
                    Some((suffix, _)) if is_plain => {
                        format!(
                            "write the unit behind the number, or {title}_{suffix} in the header"
                        )
                    }
                    _ => refused.help,
                };
            }
            unit => {
                let message = format!("{title}: {:?} is no number", word.text);
                let flaw = self.flaw(word.at(), message);
                flaw.expected = format!("a number of {unit}, exact to {}", Q::UNITS[0].0);
            }
        }
        None
    }
}

/// The words of a line that begins at `start`.
fn words(line: &str, start: usize) -> Vec<Word<'_>> {
    let words = line.split_ascii_whitespace().map(|text| Word {
        text,
        start: start + (text.as_ptr() as usize - line.as_ptr() as usize),
    });
    words.collect()
}
