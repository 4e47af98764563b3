//! The text of a list of flows: a header line that names the columns, and a row for each flow.
//!
//! Words stand between spaces or tabs. A line that begins with `#` is a comment, and `-` stands
//! for nothing. Text in, rows or flaws out: no file, no network, no other section.

use std::collections::BTreeMap;
use std::ops::Range;

use pauseless_core::unit::{Bytes, Span};

use super::super::super::flows::{SIZES, TIMES};
use super::super::super::unit::{self, Quantity};
use super::super::FLOWS_MAX;
use crate::problem::Problem;
use crate::text::{Lines, Word};

/// All rows, in the order of the text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Rows {
    pub list: Vec<Row>,
    /// The names of sources and targets, each once.
    pub hosts: Vec<String>,
}

/// One flow.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
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

/// What a column has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Source,
    Target,
    Size,
    Start,
    Class,
    Name,
    After,
    Delay,
    Path,
    ReturnPath,
}

const FIELDS: [(&str, Field); 10] = [
    ("source", Field::Source),
    ("target", Field::Target),
    ("size", Field::Size),
    ("start", Field::Start),
    ("class", Field::Class),
    ("name", Field::Name),
    ("after", Field::After),
    ("delay", Field::Delay),
    ("path", Field::Path),
    ("return_path", Field::ReturnPath),
];

/// What stands behind the `_` of a column, and the unit that its numbers are in then.
const SIZE_UNITS: [(&str, &str); 3] = [("bytes", "B"), ("kb", "KB"), ("mb", "MB")];
const TIME_UNITS: [(&str, &str); 5] = [
    ("ps", "ps"),
    ("ns", "ns"),
    ("us", "us"),
    ("ms", "ms"),
    ("s", "s"),
];

/// A column: what it has, and the unit of its numbers; empty where each value has its own.
#[derive(Clone, Copy, Debug)]
struct Column {
    field: Field,
    unit: &'static str,
}

impl Field {
    fn units(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Field::Size => &SIZE_UNITS,
            Field::Start | Field::Delay => &TIME_UNITS,
            _ => &[],
        }
    }

    fn name(self) -> &'static str {
        let named = FIELDS.iter().find(|(_, field)| *field == self);
        named.map_or("", |(name, _)| name)
    }
}

impl Column {
    /// The column called `word`.
    fn named(word: &str) -> Option<Column> {
        if let Some((_, field)) = FIELDS.iter().find(|(name, _)| *name == word) {
            return Some(Column {
                field: *field,
                unit: "",
            });
        }
        let (name, suffix) = word.rsplit_once('_')?;
        let (_, field) = FIELDS.iter().find(|(field, _)| *field == name)?;
        let (_, unit) = field.units().iter().find(|(name, _)| *name == suffix)?;
        Some(Column {
            field: *field,
            unit,
        })
    }

    /// What this column is called.
    fn title(self) -> String {
        let name = self.field.name();
        let units = self.field.units();
        match units.iter().find(|(_, unit)| *unit == self.unit) {
            Some((suffix, _)) => format!("{name}_{suffix}"),
            None => name.to_string(),
        }
    }
}

/// All columns that there could be, with the units that suit most.
fn titles() -> [&'static str; 10] {
    [
        "source",
        "target",
        "size_bytes",
        "start_ns",
        "class",
        "name",
        "after",
        "delay_ns",
        "path",
        "return_path",
    ]
}

fn header_help() -> String {
    let example = titles()[..4].join(" ");
    format!("the first line names the columns, for example {example:?}")
}

/// More flaws than this nobody reads.
const FLAWS_MAX: usize = 50;

impl Rows {
    /// Reads `text`; classes are below `class_count`.
    pub(super) fn parse(text: &str, class_count: u8) -> Result<Rows, Vec<Problem>> {
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
}

struct Parser<'t> {
    class_count: u8,
    line: u32,
    rows: Rows,
    hosts: BTreeMap<&'t str, u32>,
    /// Their places are those in the text of the rows.
    flaws: Vec<Problem>,
}

impl<'t> Parser<'t> {
    fn read(&mut self, text: &'t str) {
        let mut columns: Option<Vec<Column>> = None;
        for line in Lines::new(text) {
            self.line += 1;
            let words = Vec::from_iter(line.words());
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
                let flaw = first.problem("more rows than a run can have");
                self.flaws
                    .push(flaw.expected(format!("at most {FLOWS_MAX}")));
                return;
            }
            self.row(columns, &words, line.range());
            if self.flaws.len() >= FLAWS_MAX {
                return;
            }
        }
        if self.rows.list.is_empty() && self.flaws.is_empty() {
            let flaw = Problem::new(0..text.len().min(1), "no rows: no flow is listed");
            self.flaws.push(flaw.help(header_help()));
        }
    }

    /// The columns that a header names.
    fn header(&mut self, words: &[Word<'t>]) -> Option<Vec<Column>> {
        let mut columns: Vec<Column> = Vec::new();
        if words.iter().all(|word| Column::named(word.text).is_none()) {
            let flaw = words[0].problem("this line names no columns");
            let flaw = flaw.expected(format!("some of {}", titles().join(", ")));
            self.flaws.push(flaw.help(header_help()));
            return None;
        }
        for word in words {
            let Some(column) = Column::named(word.text) else {
                let message = format!("no column is called {:?}", word.text);
                let flaw = word.unknown(message, titles());
                let expected = format!("some of {}", titles().join(", "));
                self.flaws.push(flaw.expected(expected));
                continue;
            };
            if columns.iter().any(|other| other.field == column.field) {
                let flaw = word.problem(format!("a second column {}", column.field.name()));
                self.flaws.push(flaw.help("leave one of them out"));
            }
            columns.push(column);
        }
        for field in [Field::Source, Field::Target] {
            let is_there = columns.iter().any(|column| column.field == field);
            if !is_there && self.flaws.is_empty() {
                let flaw = words[0].problem(format!("the header has no column {}", field.name()));
                self.flaws.push(flaw.help(header_help()));
            }
        }
        self.flaws.is_empty().then_some(columns)
    }

    fn row(&mut self, columns: &[Column], words: &[Word<'t>], line: Range<usize>) {
        if words.len() != columns.len() {
            let (found, wanted) = (words.len(), columns.len());
            let at = words.get(wanted).or(words.last()).map(|word| word.at());
            let message = format!("{found} words in {wanted} columns");
            let titles = Vec::from_iter(columns.iter().map(|column| column.title()));
            let flaw = Problem::new(at.unwrap_or(line), message).expected(titles.join(" "));
            self.flaws.push(flaw.help("write - for what is not there"));
            return;
        }
        let mut row = Row {
            line: self.line,
            at: (line.start as u32, line.end as u32),
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
        for (column, word) in columns.iter().zip(words) {
            self.fill(&mut row, *column, *word);
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
            let flaw = Problem::new(at, "source and target are the same host");
            self.flaws.push(flaw.help("choose another target"));
        } else if row.after.is_none() && row.delay != Span::ZERO {
            let flaw = Problem::new(at, "a delay after what?");
            let help = "name a row in column after, or write a start instead";
            self.flaws.push(flaw.help(help));
        }
    }

    fn fill(&mut self, row: &mut Row, column: Column, word: Word<'t>) {
        let is_end = matches!(column.field, Field::Source | Field::Target);
        if word.text == "-" && !is_end {
            return;
        }
        let text = || Some(Box::from(word.text));
        match column.field {
            Field::Source => row.source = self.host(word.text),
            Field::Target => row.target = self.host(word.text),
            Field::Size => row.size = self.quantity(column, word, SIZES),
            Field::Start => {
                row.start = self.quantity(column, word, TIMES).unwrap_or(Span::ZERO);
            }
            Field::Delay => {
                row.delay = self.quantity(column, word, TIMES).unwrap_or(Span::ZERO);
            }
            Field::Class => match word.text.parse::<u8>() {
                Ok(class) if class < self.class_count => row.class = Some(class),
                _ => {
                    let most = self.class_count.saturating_sub(1);
                    let flaw = word.problem(format!("class: {:?} is no class", word.text));
                    let expected = format!("a whole number from 0 to {most}");
                    self.flaws.push(flaw.expected(expected));
                }
            },
            Field::Name => {
                row.name = text();
                if word.text.contains([',', '\u{7f}']) || word.text.contains(char::is_control) {
                    let flaw = word.problem("name: it has a comma or a control character");
                    self.flaws.push(flaw.help("choose another name"));
                }
            }
            Field::After => row.after = text(),
            Field::Path => row.path = text(),
            Field::ReturnPath => row.return_path = text(),
        }
    }

    fn host(&mut self, name: &'t str) -> u32 {
        let next = self.hosts.len() as u32;
        let number = *self.hosts.entry(name).or_insert(next);
        if number == next && self.rows.hosts.len() == next as usize {
            self.rows.hosts.push(name.to_string());
        }
        number
    }

    fn quantity<Q: Quantity>(
        &mut self,
        column: Column,
        word: Word<'t>,
        range: std::ops::RangeInclusive<Q>,
    ) -> Option<Q> {
        let written = match column.unit {
            "" => unit::parse::<Q>(word.text),
            unit => unit::parse::<Q>(&format!("{}{unit}", word.text)),
        };
        let (low, high) = (range.start(), range.end());
        let title = column.title();
        let refused = match written {
            Ok(value) if (low.to_base()..=high.to_base()).contains(&value.to_base()) => {
                return Some(value);
            }
            Ok(_) => {
                let flaw = word.problem(format!("{title}: {} is out of range", word.text));
                let expected = format!("from {} to {}", low.exact(), high.exact());
                self.flaws.push(flaw.expected(expected));
                return None;
            }
            Err(refused) => refused,
        };
        match column.unit {
            "" => {
                let is_plain = word.text.parse::<f64>().is_ok();
                let flaw = word.problem(format!("{title}: {}", refused.message));
                let help = match column
                    .field
                    .units()
                    .get(usize::from(column.field != Field::Size))
                {
                    Some((suffix, _)) if is_plain => {
                        format!(
                            "write the unit behind the number, or {title}_{suffix} in the header"
                        )
                    }
                    _ => refused.help,
                };
                self.flaws
                    .push(flaw.expected(unit::unit_list::<Q>()).help(help));
            }
            unit => {
                let flaw = word.problem(format!("{title}: {:?} is no number", word.text));
                let expected = format!("a number of {unit}, exact to {}", Q::UNITS[0].0);
                self.flaws.push(flaw.expected(expected));
            }
        }
        None
    }
}
