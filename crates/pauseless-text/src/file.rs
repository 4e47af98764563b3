//! Writes scenario files as TOML, key by key.

use std::fmt::{Display, Write};

use crate::declare::{Entry, Node, Table, Written};

/// A TOML file in the making.
#[derive(Default)]
pub struct File {
    /// The text that was written so far.
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
    /// Writes a line of text.
    pub fn line(&mut self, line: impl Display) {
        writeln!(self.text, "{line}").expect("writing to a String never fails");
    }

    /// Begins a section; `header` has its brackets.
    pub fn section(&mut self, header: &str) {
        self.line("");
        self.line(header);
        self.path = header.trim_matches(['[', ']']).to_string();
    }

    /// Writes the section `[name]` with these keys.
    pub fn table(&mut self, name: &str, keys: &impl Written) {
        self.section(&format!("[{name}]"));
        keys.write(self);
    }

    /// Writes one of the sections `[[name]]` with these keys.
    pub fn one_of(&mut self, name: &str, keys: &impl Written) {
        self.section(&format!("[[{name}]]"));
        keys.write(self);
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

    /// Writes a key with a list of values that are TOML already, in as many lines as it takes.
    pub fn wrapped(&mut self, key: &str, values: &[String]) {
        const WIDTH: usize = 100;
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
            line.push_str(value);
            line.push(',');
        }
        self.line(line);
        self.line("]");
    }

    /// Writes keys with their values: first the plain ones, then the sections inside this one.
    pub fn entries(&mut self, entries: &[Entry]) {
        let (sections, plain): (Vec<&Entry>, Vec<&Entry>) =
            entries.iter().partition(|entry| entry.node.is_section());
        for entry in plain {
            let name = key(&entry.key);
            match &entry.node {
                Node::Wrapped(values) => self.wrapped(&name, values),
                Node::Own(own) => self.plain(&name, own.text()),
                Node::Plain(text) => self.plain(&name, text),
                Node::Table(_) | Node::Names(_) | Node::Tables(_) => {}
            }
        }
        // The next section inside this one stands beside it, not in it.
        let path = self.path.clone();
        for entry in sections {
            self.inner(entry);
            self.path.clone_from(&path);
        }
    }

    /// Writes a section, or several, inside the one that is being written.
    fn inner(&mut self, Entry { key: name, node, .. }: &Entry) {
        let path = self.inner_path(&key(name));
        match node {
            Node::Table(entries) => {
                self.section(&format!("[{path}]"));
                self.entries(entries);
            }
            Node::Names(entries) => {
                if entries.iter().all(|entry| entry.node.is_section()) && !entries.is_empty() {
                    self.path = path;
                } else {
                    self.section(&format!("[{path}]"));
                }
                self.entries(entries);
            }
            Node::Tables(tables) if self.tables == TableStyle::Inline => {
                self.inline_tables(name, tables);
            }
            Node::Tables(tables) => {
                for table in tables {
                    self.section(&format!("[[{path}]]"));
                    self.entries(&table.entries);
                }
            }
            Node::Plain(_) | Node::Wrapped(_) | Node::Own(_) => {}
        }
    }

    /// Writes a key with a list of tables, each with its keys on a line.
    fn inline_tables(&mut self, key: &str, tables: &[Table]) {
        self.line(format_args!("{key} = ["));
        for table in tables {
            let entries = table.entries.iter();
            let keys =
                entries.filter_map(|entry| Some(format!("{} = {}", entry.key, entry.line()?)));
            let keys = Vec::from_iter(keys).join(", ");
            self.line(format_args!("    {{ {keys} }},"));
        }
        self.line("]");
    }
}

/// A name as a key of TOML: bare where that is possible.
pub fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    if !name.is_empty() && name.chars().all(is_bare) { name.to_string() } else { quote(name) }
}

/// A basic string of TOML.
pub fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if c.is_control() => {
                write!(quoted, "\\u{:04X}", u32::from(c)).expect("writing to a String never fails");
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
