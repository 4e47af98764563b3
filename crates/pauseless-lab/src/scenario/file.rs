//! Writing TOML.

use std::fmt::{Display, Write};

use super::unit::Quantity;

/// A file in the making.
#[derive(Default)]
pub(crate) struct File {
    pub text: String,
}

impl File {
    pub(crate) fn line(&mut self, line: impl Display) {
        writeln!(self.text, "{line}").expect("a string takes everything");
    }

    pub(crate) fn section(&mut self, header: &str) {
        self.line("");
        self.line(header);
    }

    pub(crate) fn plain(&mut self, key: &str, value: impl Display) {
        self.line(format_args!("{key} = {value}"));
    }

    pub(crate) fn text(&mut self, key: &str, value: &str) {
        self.plain(key, quote(value));
    }

    /// A plain number, with decimals in any case.
    pub(crate) fn number(&mut self, key: &str, value: f64) {
        self.plain(key, format_args!("{value:?}"));
    }

    pub(crate) fn quantity<Q: Quantity>(&mut self, key: &str, value: Q) {
        self.text(key, &value.exact());
    }

    pub(crate) fn texts(&mut self, key: &str, values: impl IntoIterator<Item = String>) {
        let quoted: Vec<String> = values.into_iter().map(|value| quote(&value)).collect();
        self.plain(key, format_args!("[{}]", quoted.join(", ")));
    }

    /// The same, in as many lines as it takes.
    pub(crate) fn texts_wrapped(&mut self, key: &str, values: impl IntoIterator<Item = String>) {
        const WIDTH: usize = 100;
        let quoted = Vec::from_iter(values.into_iter().map(|value| quote(&value)));
        let width: usize = quoted.iter().map(|value| value.chars().count() + 2).sum();
        if key.len() + width < WIDTH {
            return self.plain(key, format_args!("[{}]", quoted.join(", ")));
        }
        self.line(format_args!("{key} = ["));
        let mut line = String::new();
        for value in quoted {
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
}

/// A name as a key of TOML: bare where that is possible.
pub(crate) fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    match !name.is_empty() && name.chars().all(is_bare) {
        true => name.to_string(),
        false => quote(name),
    }
}

/// A basic string of TOML.
pub(crate) fn quote(text: &str) -> String {
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
