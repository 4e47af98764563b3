//! One value of a scenario file, set to others: what `threshold` bisects.
//!
//! The value is replaced in the text, so that whatever is wrong with the scenario that results is
//! shown in the file that the user knows, at the line that was changed.

mod amount;
mod path;

use std::path::Path;

pub use amount::{Amount, Unit};

use self::path::Found;
use super::file::quote;
use super::reader::Place;
use super::{FILE_MAX, Overrides, Scenario, parse_file, parse_table};
use crate::import::source::Source;
use crate::problem::{Problem, Problems};

/// A scenario file in which one value can be set.
#[derive(Clone, Debug)]
pub struct Knob {
    file: String,
    name: String,
    key: String,
    before: String,
    /// What stands in the file, if anything does.
    written: Option<String>,
    after: String,
}

impl Knob {
    /// Finds `key`, such as `flow_control.xoff` or `flow.F1.rate`, in the file at `path`.
    pub fn read(path: &Path, key: &str) -> Result<Knob, Problems> {
        let source = Source::read_within(path, FILE_MAX)?;
        Knob::find(&source.file, &source.text, (&source.stem(), key))
    }

    /// The same in `text`, which messages call `name`.
    pub fn parse(name: &str, text: &str, key: &str) -> Result<Knob, Problems> {
        Knob::find(name, text, (name, key))
    }

    fn find(file: &str, text: &str, (name, key): (&str, &str)) -> Result<Knob, Problems> {
        let refuse = |list: Vec<Problem>| Problems::new(file, text, list);
        let table = parse_table(text).map_err(refuse)?;
        let found = path::find(text, &table, key).map_err(|problem| refuse(vec![problem]))?;
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
            before,
            written,
            after,
        };
        if knob.is_where_it_should_be() {
            return Ok(knob);
        }
        // A section that only its sub-sections make, as [switch.memory] makes switch.
        let headed = knob.with_header(text);
        match headed.filter(Knob::is_where_it_should_be) {
            Some(headed) => Ok(headed),
            None => {
                let place = Place::new(key, 0..0);
                let problem = place.problem("there is no place where this key could be added");
                Err(refuse(vec![problem.help(
                    "write it into the file, in the section that it belongs to",
                )]))
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

    /// Whether the key is found again once something was written there.
    fn is_where_it_should_be(&self) -> bool {
        let text = self.with("0");
        let start = self.before.len();
        let Ok(table) = parse_table(&text) else {
            return false;
        };
        matches!(path::find(&text, &table, &self.key), Ok(Found::Value(span)) if span == (start..start + 1))
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
        parse_file(&self.file, &self.name, (&self.text(amount), overrides))
    }

    fn with(&self, value: &str) -> String {
        format!("{}{value}{}", self.before, self.after)
    }
}

/// The file with `key` set to `value`, as a command line has them: a value that is not TOML is a
/// text, so that `switch.buffer=1 MB` needs no quotation marks of its own.
pub fn set(source: &Source, key: &str, value: &str) -> Result<Source, Problems> {
    let knob = Knob::find(&source.file, &source.text, (&source.file, key))?;
    let is_toml = toml::from_str::<toml::Table>(&format!("value = {value}")).is_ok();
    let value = if is_toml {
        value.to_string()
    } else {
        quote(value)
    };
    Ok(Source {
        file: source.file.clone(),
        text: knob.with(&value),
    })
}

#[cfg(test)]
mod tests;
