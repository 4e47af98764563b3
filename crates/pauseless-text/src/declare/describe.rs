//! What a declaration says about itself: for documents, schemas, `explain` and messages.

use std::ops::RangeInclusive;

use crate::reader::{Place, Section};
use crate::unit::Quantity;

/// A section that [`section!`](crate::section) declared.
pub trait Declared: Sized {
    /// What the section is, in one sentence.
    fn about() -> String;

    /// Its keys, in the order of the declaration.
    fn keys() -> Vec<KeyInfo>;

    /// Takes its keys out of `section`; what is wrong is reported there.
    fn read(section: &mut Section<'_>) -> Self;

    /// Reads the keys over values that are known before, as [`Declared::read`] does without.
    fn fill(&mut self, section: &mut Section<'_>) {
        *self = Self::read(section);
    }

    /// The keys whose condition does not hold.
    fn absent(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// The description of the section with all its keys.
    fn info() -> Info {
        Info { about: Self::about(), keys: Self::keys(), variants: None }
    }

    /// The description without the keys whose condition does not hold.
    fn info_here(&self) -> Info {
        let absent = self.absent();
        let mut info = Self::info();
        info.keys.retain(|key| !absent.contains(&key.name));
        info
    }
}

/// A section that can stand for a part of the network, over one that stands for all of it.
pub trait Overlay: Declared {
    /// This section, with the keys of `base` where they are left out here.
    fn over(&self, base: &Self) -> Self;

    /// Where the value of `key` was written.
    fn place_of(&self, key: &str) -> Option<&Place>;
}

/// A section as documents and schemas show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Info {
    /// What the section is, in one sentence.
    pub about: String,
    /// The keys that it always has.
    pub keys: Vec<KeyInfo>,
    /// The key that the rest depends on, mostly `kind`, and what it can be.
    pub variants: Option<Variants>,
}

/// The keys that depend on the value of one key.
#[derive(Clone, Debug, PartialEq)]
pub struct Variants {
    /// The key, mostly `kind`.
    pub key: &'static str,
    /// What it is if it is left out; `None` where it must be written.
    pub default: Option<&'static str>,
    /// Its values, each with its sentence and its own keys.
    pub list: Vec<(&'static str, Info)>,
}

/// A key of a section.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyInfo {
    /// The name of the key in files.
    pub name: &'static str,
    /// A sentence that says what the key means.
    pub about: String,
    /// The values that can be written behind the key.
    pub kind: Kind,
    /// What holds if it is left out.
    pub fallback: Fallback,
    /// Where the default comes from, such as a clause of a paper; may be empty.
    pub source: &'static str,
}

/// What holds if a key is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// It must be written, for example so.
    Required(&'static str),
    /// This value, as it would be written.
    Value(String),
    /// A value that this sentence or formula describes.
    Derived(&'static str),
    /// Without a value, nothing happens.
    Absent,
}

/// What can be written behind a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A number with a unit, within a range if there is one.
    Quantity {
        /// What it is, such as `a time`.
        noun: &'static str,
        /// The units, smallest first.
        units: Vec<&'static str>,
        /// The least and the largest value, as they would be written.
        range: Option<[String; 2]>,
    },
    /// A whole number within bounds.
    Integer {
        /// The least value that is accepted.
        low: u64,
        /// The largest value that is accepted.
        high: u64,
    },
    /// A number, with or without decimals.
    Number {
        /// The least value that is accepted.
        low: f64,
        /// The largest value that is accepted.
        high: f64,
    },
    /// A value that is true or false.
    Flag,
    /// A text, of which this says what it is.
    Text(&'static str),
    /// A text of lines, of which the first names some of these columns.
    Rows(Vec<KeyInfo>),
    /// A text that is one of these words.
    Word(Vec<&'static str>),
    /// A list whose elements are all of one kind.
    List {
        /// The kind of each element.
        of: Box<Kind>,
        /// How many there are at least.
        least: usize,
        /// How many there are at most.
        most: Option<usize>,
    },
    /// One of several kinds.
    Either(Vec<Kind>),
    /// A section of its own.
    Table(Box<Info>),
    /// Sections that may be written several times.
    Tables(Box<Info>),
    /// Any number of sections `[[key]]`, or a single `[key]`.
    TablesOrOne(Box<Info>),
    /// A table whose keys are names.
    Map(Box<Kind>),
    /// Whatever another program wrote there.
    Any,
}

impl Kind {
    /// Whether it is a section of its own.
    pub fn is_section(&self) -> bool {
        matches!(self, Kind::Table(_) | Kind::Tables(_) | Kind::TablesOrOne(_))
    }

    /// The section that stands behind the key, be it one of several or one behind each of many names.
    pub fn table(&self) -> Option<&Info> {
        match self {
            Kind::Table(info) | Kind::Tables(info) | Kind::TablesOrOne(info) => Some(info),
            Kind::Map(of) => of.table(),
            _ => None,
        }
    }

    /// A number with the units of `Q`.
    pub fn quantity<Q: Quantity>(range: &Option<RangeInclusive<Q>>) -> Kind {
        let ends = |range: &RangeInclusive<Q>| [range.start().exact(), range.end().exact()];
        Kind::Quantity {
            noun: Q::NOUN,
            units: Q::UNITS.iter().map(|(unit, _)| *unit).collect(),
            range: range.as_ref().map(ends),
        }
    }
}

impl Info {
    /// A kind that has no keys of its own.
    pub fn without_keys(about: &str) -> Info {
        Info { about: about.to_string(), keys: Vec::new(), variants: None }
    }

    /// Whether it has this key, be it of one of its kinds.
    pub fn has(&self, name: &str) -> bool {
        let variants = self.variants.iter().flat_map(|variants| &variants.list);
        self.keys.iter().any(|key| key.name == name)
            || variants.into_iter().any(|(_, info)| info.has(name))
    }

    /// The description with the keys of `other` behind its own.
    pub fn with(mut self, other: Info) -> Info {
        self.keys.extend(other.keys);
        self
    }
}

impl KeyInfo {
    /// A section of a file.
    pub fn section(name: &'static str, kind: Kind) -> KeyInfo {
        let about = match &kind {
            Kind::Table(info) | Kind::Tables(info) | Kind::TablesOrOne(info) => info.about.clone(),
            _ => String::new(),
        };
        KeyInfo { name, about, kind, fallback: Fallback::Absent, source: "" }
    }

    /// The key, where it must be written.
    pub fn required(self) -> KeyInfo {
        KeyInfo { fallback: Fallback::Required(""), ..self }
    }

    /// Whether a file without the key is refused.
    pub fn is_required(&self) -> bool {
        matches!(self.fallback, Fallback::Required(_))
    }

    /// What it means, as far as the first semicolon or full stop.
    pub fn brief(&self) -> &str {
        let end = ["; ", ". "].map(|mark| self.about.find(mark)).into_iter().flatten().min();
        let brief = &self.about[..end.unwrap_or(self.about.len())];
        brief.trim_end_matches('.')
    }
}

/// The lines of a doc comment as one text.
pub fn about(lines: &[&str]) -> String {
    Vec::from_iter(lines.iter().map(|line| line.trim())).join(" ").trim().to_string()
}
