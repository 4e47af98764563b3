//! The text of a list of flows: a header line that names the columns, and a row for each flow.
//!
//! Words stand between spaces or tabs. A line that begins with `#` is a comment, and `-` stands
//! for nothing. Text in, rows or problems out: no file, no network, no other section.

use std::collections::HashMap;
use std::ops::Range;

use pauseless_core::unit::{Bytes, Span};

use super::super::scene::FLOWS_MAX;
use super::columns::{COLUMNS, Cell, Column, Titled, header_help, titles};
use pauseless_text::lex::{Lines, Word};
use pauseless_text::problem::Problem;
use pauseless_text::unit::{self, Quantity};

/// All rows, in the order of the text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// The flows in this order.
    pub list: Vec<Row>,
    /// The names of sources and targets, each once.
    pub hosts: Vec<String>,
}

/// One flow of a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The line, from 1.
    pub line: u32,
    /// Where the row begins and ends in the text.
    pub at: (u32, u32),
    /// The position of the source in [`Rows::hosts`].
    pub source: u32,
    /// The position of the target in [`Rows::hosts`].
    pub target: u32,
    /// The bytes to send; without them, the flow has no end.
    pub size: Option<Bytes>,
    /// When it starts, counted from the start of the section.
    pub start: Span,
    /// The class of its packets, unless it is that of the section.
    pub class: Option<u8>,
    /// The name by which other rows wait for it.
    pub name: Option<Box<str>>,
    /// The names of the rows that it waits for, with commas between them.
    pub after: Option<Box<str>>,
    /// How long it waits after the end of the last flow of `after`.
    pub delay: Span,
    /// The nodes of its path, with commas between them.
    pub path: Option<Box<str>>,
    /// The path from target to source, for acknowledgements and notifications.
    pub return_path: Option<Box<str>>,
}

/// The most problems that are reported.
const PROBLEMS_MAX: usize = 50;

impl Rows {
    /// Reads `text`; classes are below `class_count`.
    pub(super) fn parse(text: &str, class_count: u8) -> Result<Rows, Vec<Problem>> {
        let mut parser = Parser {
            class_count,
            line: 0,
            rows: Rows::default(),
            hosts: HashMap::new(),
            problems: Vec::new(),
        };
        parser.read(text);
        if parser.problems.is_empty() { Ok(parser.rows) } else { Err(parser.problems) }
    }

    /// The rows as they are written, with the columns that any of them needs.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        let is_needed = |titled: &Titled| {
            let column = titled.column;
            column.is_required || self.list.iter().any(column.is_needed)
        };
        let columns = Vec::from_iter(COLUMNS.iter().map(Titled::exactly).filter(is_needed));
        let titles = Vec::from_iter(columns.iter().map(|titled| titled.title())).join(" ");
        let lines = self.list.iter().map(move |row| {
            Vec::from_iter(columns.iter().map(|titled| (titled.column.show)(self, row))).join(" ")
        });
        std::iter::once(titles).chain(lines)
    }
}

pub struct Parser<'t> {
    /// Classes are below this.
    pub class_count: u8,
    line: u32,
    rows: Rows,
    hosts: HashMap<&'t str, u32>,
    problems: Vec<Problem>,
}

impl<'t> Parser<'t> {
    fn read(&mut self, text: &'t str) {
        let mut columns: Option<Vec<Titled>> = None;
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
                let problem = first.problem("more rows than a run can have");
                return self.report(problem.expected(format!("at most {FLOWS_MAX}")));
            }
            self.row(columns, &words);
            if self.problems.len() >= PROBLEMS_MAX {
                return;
            }
        }
        if self.rows.list.is_empty() && self.problems.is_empty() {
            let problem = Problem::new(0..text.len().min(1), "no rows: no flow is listed");
            self.report(problem.help(header_help()));
        }
    }

    /// Adds something that is wrong.
    pub fn report(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// The columns that a header names.
    fn header(&mut self, words: &[Word<'t>]) -> Option<Vec<Titled>> {
        let mut columns: Vec<Titled> = Vec::new();
        let some = || format!("some of {}", titles().join(", "));
        if words.iter().all(|word| Titled::named(word.text).is_none()) {
            let problem = words[0].problem("this line names no columns");
            self.report(problem.expected(some()).help(header_help()));
            return None;
        }
        for word in words {
            let Some(column) = Titled::named(word.text) else {
                let message = format!("no column is called {:?}", word.text);
                let problem = word.unknown(message, titles().iter().map(String::as_str));
                self.report(problem.expected(some()));
                continue;
            };
            let name = column.column.name;
            if columns.iter().any(|other| other.column.name == name) {
                let problem = word.problem(format!("a second column {name}"));
                self.report(problem.help("leave one of them out"));
            }
            columns.push(column);
        }
        for Column { name, .. } in COLUMNS.iter().filter(|column| column.is_required) {
            let is_there = columns.iter().any(|titled| titled.column.name == *name);
            if !is_there && self.problems.is_empty() {
                let problem = words[0].problem(format!("the header has no column {name}"));
                self.report(problem.help(header_help()));
            }
        }
        self.problems.is_empty().then_some(columns)
    }

    fn row(&mut self, columns: &[Titled], words: &[Word<'t>]) {
        let at = words[0].start..words[words.len() - 1].at().end;
        if words.len() != columns.len() {
            let (found, wanted) = (words.len(), columns.len());
            let last = words.get(wanted).unwrap_or(&words[found - 1]);
            let problem = last.problem(format!("{found} words in {wanted} columns"));
            let titles = Vec::from_iter(columns.iter().map(|column| column.title()));
            let problem = problem.expected(titles.join(" "));
            return self.report(problem.help("write - for what is not there"));
        }
        let mut row = Row {
            line: self.line,
            at: (at.start as u32, at.end as u32),
            source: u32::MAX,
            target: u32::MAX,
            ..Row::default()
        };
        let before = self.problems.len();
        for (titled, word) in columns.iter().zip(words) {
            let (titled, word) = (*titled, *word);
            if word.text != "-" || titled.column.is_required {
                (titled.column.fill)(self, &mut row, Cell { titled, word });
            }
        }
        if self.problems.len() == before {
            self.check(&row, at);
            self.rows.list.push(row);
        }
    }

    /// What no single word shows.
    fn check(&mut self, row: &Row, at: Range<usize>) {
        if row.source == row.target {
            let problem = Problem::new(at, "source and target are the same host");
            self.report(problem.help("choose another target"));
        } else if row.after.is_none() && row.delay != Span::ZERO {
            let problem = Problem::new(at, "a delay after what?");
            self.report(problem.help("name a row in column after, or write a start instead"));
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
        let title = || titled.title();
        let refused = match written {
            Ok(value) if (low.to_base()..=high.to_base()).contains(&value.to_base()) => {
                return Some(value);
            }
            Ok(_) => {
                let problem = word.problem(format!("{}: {} is out of range", title(), word.text));
                self.report(problem.expected(format!("from {} to {}", low.exact(), high.exact())));
                return None;
            }
            Err(refused) => refused,
        };
        match titled.unit {
            "" => {
                let is_plain = word.text.parse::<f64>().is_ok();
                let problem = word.problem(format!("{}: {}", title(), refused.message));
                let problem = problem.expected(unit::unit_list::<Q>());
                let header = format!("{}_{} in the header", title(), titled.column.numbers.usual());
                self.report(if is_plain {
                    problem.help(format!("write the unit behind the number, or {header}"))
                } else {
                    problem.help(refused.help)
                });
            }
            unit => {
                let problem = word.problem(format!("{}: {:?} is no number", title(), word.text));
                let exact = format!("a number of {unit}, exact to {}", Q::UNITS[0].0);
                self.report(problem.expected(exact));
            }
        }
        None
    }
}
