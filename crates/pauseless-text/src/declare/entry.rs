//! Sections as data: every key that has a value, with that value and where it was written.
//!
//! This is what a section that is filled in by a program has in common with one that is read from a
//! file. It is printed by [`File`](super::File), and it can be read by a
//! [`Section`](super::Section) as if it were a file.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::field::Field;
use super::value::FileValue;
use crate::file::File;
use crate::reader::Place;

/// A key with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The name of the key.
    pub key: Cow<'static, str>,
    /// The value behind it.
    pub node: Node,
    /// The place at which the value was written; `None` for a value that a program set.
    pub place: Option<Place>,
}

/// The value of a key, as a program fills it in.
#[derive(Clone, Debug)]
pub enum Node {
    /// A value on one line, as TOML has it.
    Plain(String),
    /// A list in as many lines as it takes, each element as TOML has it.
    Wrapped(Vec<String>),
    /// A value that is large, or whose parts have places of their own.
    Own(Arc<dyn Own>),
    /// One section `[key]` with its entries.
    Table(Vec<Entry>),
    /// A section whose keys are names. It needs no header of its own if it has sections only.
    Names(Vec<Entry>),
    /// Any number of sections `[[key]]`.
    Tables(Vec<Table>),
}

/// One of several sections `[[key]]`.
#[derive(Clone, Debug)]
pub struct Table {
    /// The place at which it begins; `None` for one that a program made.
    pub place: Option<Place>,
    /// The keys of the section with their values.
    pub entries: Vec<Entry>,
}

impl Table {
    /// The section with these keys.
    pub fn of(keys: &impl Written) -> Table {
        let place = keys.place().filter(|place| **place != Place::default());
        Table { place: place.cloned(), entries: keys.entries() }
    }
}

/// A value that is handed on as it is, instead of as text.
pub trait Own: Any + fmt::Debug + Send + Sync {
    /// The value as TOML has it.
    fn text(&self) -> String;
}

impl Entry {
    /// A key that a program sets, without a place.
    pub fn new(key: &'static str, node: Node) -> Entry {
        Entry { key: key.into(), node, place: None }
    }

    /// A key that a program sets to a word or another text, without a place.
    pub fn text(key: &'static str, text: &str) -> Entry {
        Entry::new(key, Node::Plain(text.to_string().show()))
    }

    /// The value of a field under this key, unless it is left out.
    pub fn of<F: Field>(key: &'static str, field: &F) -> Option<Entry> {
        let place = field.place().filter(|place| **place != Place::default());
        Some(Entry { key: key.into(), node: field.value()?.node(), place: place.cloned() })
    }

    /// The value as it would stand on one line; `None` for sections.
    pub fn line(&self) -> Option<String> {
        match &self.node {
            Node::Plain(text) => Some(text.clone()),
            Node::Wrapped(values) => Some(format!("[{}]", values.join(", "))),
            Node::Own(own) => Some(own.text()),
            Node::Table(_) | Node::Names(_) | Node::Tables(_) => None,
        }
    }
}

impl Node {
    /// Whether it is a section of its own, which stands behind all plain keys.
    pub fn is_section(&self) -> bool {
        matches!(self, Node::Table(_) | Node::Names(_) | Node::Tables(_))
    }
}

/// Keys with their values.
pub trait Written {
    /// Every key that has a value, in the order of the declaration.
    fn entries(&self) -> Vec<Entry>;

    /// Where the section begins, if anybody knows.
    fn place(&self) -> Option<&Place> {
        None
    }

    /// Writes the entries to a scenario file.
    fn write(&self, file: &mut File) {
        file.entries(&self.entries());
    }
}

impl<W: Written + ?Sized> Written for &W {
    fn entries(&self) -> Vec<Entry> {
        (**self).entries()
    }
}

impl<W: Written + ?Sized> Written for Box<W> {
    fn entries(&self) -> Vec<Entry> {
        (**self).entries()
    }
}

impl Written for Vec<Entry> {
    fn entries(&self) -> Vec<Entry> {
        self.clone()
    }
}

/// The keys of a kind that has none.
impl Written for () {
    fn entries(&self) -> Vec<Entry> {
        Vec::new()
    }
}

/// The keys of two sections that are written as one.
impl<A: Written, B: Written> Written for (A, B) {
    fn entries(&self) -> Vec<Entry> {
        [self.0.entries(), self.1.entries()].concat()
    }
}
