//! One value of a scenario file, set to others: what `threshold` bisects.
//!
//! The value is replaced in the text, so that whatever is wrong with the scenario that results is
//! shown in the file that the user knows, at the line that was changed.

mod amount;
mod path;

use std::ops::Range;
use std::path::Path;

use toml::de::DeTable;

pub use amount::{Amount, Unit};

use self::path::{Found, Reach};
use super::{FILE_MAX, Overrides, Scenario, parse_file, parse_table};
use pauseless_text::file::quote;
use pauseless_text::foreign;
use pauseless_text::problem::{FileId, Problem, Problems};
use pauseless_text::reader::Place;
use pauseless_text::source::Source;

/// A scenario file in which one value can be set.
#[derive(Clone, Debug)]
pub struct Knob {
    file: String,
    name: String,
    key: String,
    reach: Reach,
    before: String,
    /// What stands in the file, if anything does.
    written: Option<String>,
    after: String,
}

impl Knob {
    /// Finds `key`, such as `flow_control.xoff` or `flow.F1.rate`, in the file at `path`.
    pub fn read(path: &Path, key: &str) -> Result<Knob, Problems> {
        let source = Source::read_within(path, FILE_MAX)?;
        foreign::refuse(&source.file, &source.text)?;
        Knob::find(&source, &source.stem(), key, Reach::Values)
    }

    /// Finds `key` in `text`, which messages call `name`.
    pub fn parse(name: &str, text: &str, key: &str) -> Result<Knob, Problems> {
        let source = Source { file: name.to_string(), text: text.to_string() };
        Knob::find(&source, name, key, Reach::Values)
    }

    fn find(source: &Source, name: &str, key: &str, reach: Reach) -> Result<Knob, Problems> {
        let Source { file, text } = source;
        let refuse = |list: Vec<Problem>| Problems::new(file, text, list);
        let table = parse_table(text).map_err(refuse)?;
        let found = path::find(text, &table, key, reach);
        let found = found.map_err(|problem| refuse(vec![problem]))?;
        let (before, written, after) = match found {
            Found::Value(span) => (
                text[..span.start].to_string(),
                Some(text[span.clone()].to_string()),
                text[span.end..].to_string(),
            ),
            Found::Missing { before, after } => (before, None, after),
        };
        let knob = Knob {
            file: file.to_string(),
            name: name.to_string(),
            key: key.to_string(),
            reach,
            before,
            written,
            after,
        };
        if knob.is_where_it_should_be() {
            return Ok(knob);
        }
        // A section that only its sub-sections make, as [switch.memory] makes switch.
        let headed = knob.with_header(text).filter(Knob::is_where_it_should_be);
        match headed.or_else(|| knob.with_path(text, &table)) {
            Some(headed) => Ok(headed),
            None => {
                let place = Place::new(key, 0..0);
                let problem = place.problem("there is no place where this key could be added");
                Err(refuse(vec![
                    problem.help("write it into the file, in the section that it belongs to"),
                ]))
            }
        }
    }

    /// The key under a header of its own at the end of the file.
    fn with_header(&self, text: &str) -> Option<Knob> {
        let (section, key) = self.key.rsplit_once('.')?;
        Some(Knob {
            before: format!("{text}\n[{section}]\n{key} = "),
            written: None,
            after: "\n".to_string(),
            ..self.clone()
        })
    }

    /// The key as a path of several in a section further out, as `memory.total` in `[switch]`.
    fn with_path(&self, text: &str, table: &DeTable<'_>) -> Option<Knob> {
        if self.reach == Reach::Values {
            return None;
        }
        let mut knobs = self.key.match_indices('.').map(|(at, _)| at).filter_map(|at| {
            let (section, path) = (&self.key[..at], &self.key[at + 1..]);
            let Found::Missing { before, after } = path::add(text, table, section, path)? else {
                return None;
            };
            Some(Knob { before, after, ..self.clone() })
        });
        knobs.find(Knob::is_where_it_should_be)
    }

    /// Whether the key is found again once something was written there.
    fn is_where_it_should_be(&self) -> bool {
        let text = self.with("0");
        let start = self.before.len();
        let Ok(table) = parse_table(&text) else {
            return false;
        };
        matches!(path::find(&text, &table, &self.key, self.reach), Ok(Found::Value(span)) if span == (start..start + 1))
    }

    /// The key, as it was asked for.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The name of the scenario.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What stands in the file, if anything does.
    pub fn written(&self) -> Option<&str> {
        self.written.as_deref()
    }

    /// The file with another value.
    pub fn text(&self, amount: Amount) -> String {
        self.with(&amount.toml())
    }

    /// The scenario with another value.
    pub fn scenario(&self, amount: Amount, overrides: &Overrides) -> Result<Scenario, Problems> {
        parse_file(&self.file, &self.name, &self.text(amount), overrides)
    }

    fn with(&self, value: &str) -> String {
        format!("{}{value}{}", self.before, self.after)
    }
}

/// A file in which a command line has set some keys.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The file with all of them.
    pub source: Source,
    original: Source,
    edits: Vec<Edit>,
}

/// One setting, and what it did to the text.
#[derive(Clone, Debug)]
struct Edit {
    setting: String,
    /// What it wrote, in the text right after it.
    written: Range<usize>,
    /// How long what stood there before was.
    length: usize,
}

impl Changed {
    /// The file as it is.
    pub fn new(source: Source) -> Changed {
        Changed { original: source.clone(), source, edits: Vec::new() }
    }

    /// Sets `key` to `value`, as a command line has them: a value that is not TOML is a text, so that
    /// `switch.buffer=1 MB` needs no quotation marks of its own.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), Problems> {
        let Source { file, text: before } = &self.source;
        if let Some(whose) = foreign::simulator_of(before) {
            let help = "--set is for scenarios: make one with `pauseless convert --to scenario`";
            return Err(Problems::of_file(file, format!("this is {whose}"), help));
        }
        let knob = Knob::find(&self.source, file, key, Reach::Anything)?;
        let is_toml = toml::from_str::<toml::Table>(&format!("value = {value}")).is_ok();
        let after = if is_toml { knob.with(value) } else { knob.with(&quote(value)) };
        // What follows the value is the end of the text as it was, and perhaps something before that.
        let ends = before.bytes().rev().zip(knob.after.bytes().rev());
        let end = ends.take_while(|(old, new)| old == new).count();
        let start = knob.before.len().min(before.len() - end);
        self.edits.push(Edit {
            setting: format!("{key}={value}"),
            written: start..after.len() - end,
            length: before.len() - end - start,
        });
        self.source.text = after;
        Ok(())
    }

    /// What is wrong with the changed file, shown in the file that the user knows, or in the setting
    /// that is to blame.
    pub fn refuse(&self, problems: Problems) -> Problems {
        if self.edits.is_empty() {
            return problems;
        }
        let (_, mut list) = problems.into_parts();
        for problem in &mut list {
            let Some(at) = problem.at.clone() else {
                continue;
            };
            match self.trace(at.start) {
                Ok(start) => {
                    let end = self.trace(at.end).unwrap_or(start).max(start);
                    problem.at = Some(start..end);
                }
                Err(edit) => {
                    problem.file = FileId(edit as u16 + 1);
                    problem.at = Some(0..self.edits[edit].setting.len());
                }
            }
        }
        let settings = self
            .edits
            .iter()
            .map(|edit| Source { file: "--set".to_string(), text: edit.setting.clone() });
        let sources = [self.original.clone()].into_iter().chain(settings);
        Problems::of_sources(sources.collect(), list)
    }

    /// Where a byte of the changed text stood in the original, or the setting that wrote it.
    fn trace(&self, mut at: usize) -> Result<usize, usize> {
        for (number, Edit { written, length, .. }) in self.edits.iter().enumerate().rev() {
            if written.contains(&at) {
                return Err(number);
            }
            if at >= written.end {
                at = at - written.len() + length;
            }
        }
        Ok(at)
    }
}

#[cfg(test)]
mod tests;
