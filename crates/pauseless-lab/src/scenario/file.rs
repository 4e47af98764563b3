//! Writing TOML.

use std::fmt::{Display, Write};

use super::unit::Quantity;

/// A TOML file in the making.
#[derive(Default)]
pub struct File {
    /// What was written so far.
    pub text: String,
    /// The section that is being written, such as `switch.memory`.
    pub path: String,
    /// How lists of tables are written.
    pub tables: TableStyle,
}

/// How a list of tables is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableStyle {
    /// Each as a section `[[key]]`.
    #[default]
    Sections,
    /// As a list with a line for each.
    Inline,
}

impl File {
    /// Writes a line.
    pub fn line(&mut self, line: impl Display) {
        writeln!(self.text, "{line}").expect("a string takes everything");
    }

    /// Begins a section; `header` has its brackets.
    pub fn section(&mut self, header: &str) {
        self.line("");
        self.line(header);
        self.path = header.trim_matches(['[', ']']).to_string();
    }

    /// Begins the section `key` of the section that is being written.
    pub fn inner_section(&mut self, key: &str) {
        let path = self.inner_path(key);
        self.section(&format!("[{path}]"));
    }

    /// Begins another of the sections `[[key]]` of the section at `path`, or of the file.
    pub fn inner_tables(&mut self, path: &str, key: &str) {
        self.path = path.to_string();
        let path = self.inner_path(key);
        self.section(&format!("[[{path}]]"));
    }

    /// The path of `key` in the section that is being written.
    pub fn inner_path(&self, key: &str) -> String {
        match self.path.as_str() {
            "" => key.to_string(),
            path => format!("{path}.{key}"),
        }
    }

    /// Writes a key with a value that is TOML already.
    pub fn plain(&mut self, key: &str, value: impl Display) {
        self.line(format_args!("{key} = {value}"));
    }

    /// Writes a key with a text.
    pub fn text(&mut self, key: &str, value: &str) {
        self.plain(key, quote(value));
    }

    /// A plain number, with decimals in any case.
    pub fn number(&mut self, key: &str, value: f64) {
        self.plain(key, format_args!("{value:?}"));
    }

    /// Writes a key with a quantity and its unit.
    pub fn quantity<Q: Quantity>(&mut self, key: &str, value: Q) {
        self.text(key, &value.exact());
    }

    /// Writes a key with a list of texts.
    pub fn texts(&mut self, key: &str, values: impl IntoIterator<Item = String>) {
        let quoted: Vec<String> = values.into_iter().map(|value| quote(&value)).collect();
        self.plain(key, format_args!("[{}]", quoted.join(", ")));
    }

    /// The same, in as many lines as it takes.
    pub fn texts_wrapped(&mut self, key: &str, values: impl IntoIterator<Item = String>) {
        self.wrapped(key, values.into_iter().map(|value| quote(&value)));
    }

    /// Writes a key with a list of values that are TOML already, in as many lines as it takes.
    pub fn wrapped(&mut self, key: &str, values: impl IntoIterator<Item = String>) {
        const WIDTH: usize = 100;
        let values = Vec::from_iter(values);
        let width: usize = values.iter().map(|value| value.chars().count() + 2).sum();
        if key.len() + width < WIDTH {
            return self.plain(key, format_args!("[{}]", values.join(", ")));
        }
        self.line(format_args!("{key} = ["));
        let mut line = String::new();
        for value in values {
            if !line.is_empty() && line.len() + value.len() > WIDTH {
                self.line(std::mem::take(&mut line));
            }
            line.push_str(if line.is_empty() { "    " } else { " " });
            line.push_str(&value);
            line.push(',');
        }
        self.line(line);
        self.line("]");
    }

    /// Writes a key with a list of tables, each with its keys on a line.
    pub fn inline_tables<'k>(
        &mut self,
        key: &str,
        tables: impl Iterator<Item = Vec<(&'k str, String)>>,
    ) {
        self.line(format_args!("{key} = ["));
        for keys in tables {
            let keys = keys.iter().map(|(key, value)| format!("{key} = {value}"));
            let keys = Vec::from_iter(keys).join(", ");
            self.line(format_args!("    {{ {keys} }},"));
        }
        self.line("]");
    }
}

/// A name as a key of TOML: bare where that is possible.
pub fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    match !name.is_empty() && name.chars().all(is_bare) {
        true => name.to_string(),
        false => quote(name),
    }
}

/// A basic string of TOML.
pub fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if c.is_control() => {
                write!(quoted, "\\u{:04X}", u32::from(c)).expect("a string takes everything");
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
