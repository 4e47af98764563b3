//! What a declaration says about itself: for documents, schemas, `explain` and messages.

use crate::scenario::file::File;
use crate::scenario::reader::Section;

/// A section that [`section!`](crate::section) declared.
pub trait Declared: Sized {
    /// What the section is, in one sentence.
    fn about() -> String;

    /// Its keys, in the order of the declaration.
    fn keys() -> Vec<KeyInfo>;

    /// Takes its keys out of `section`; what is wrong is reported there.
    fn read(section: &mut Section<'_>) -> Self;

    /// Writes every key that has a value.
    fn write(&self, file: &mut File);

    /// The whole description.
    fn info() -> Info {
        Info {
            about: Self::about(),
            keys: Self::keys(),
            variants: None,
        }
    }
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

impl Info {
    /// A kind without keys of its own.
    pub fn without_keys(about: &str) -> Info {
        Info {
            about: about.to_string(),
            keys: Vec::new(),
            variants: None,
        }
    }

    /// Whether it has this key, be it of one of its kinds.
    pub fn has(&self, name: &str) -> bool {
        let variants = self.variants.iter().flat_map(|variants| &variants.list);
        self.keys.iter().any(|key| key.name == name)
            || variants.into_iter().any(|(_, info)| info.has(name))
    }
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
    /// Its name in files.
    pub name: &'static str,
    /// What it means, in one sentence.
    pub about: String,
    /// What can be written.
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
    /// What this sentence or formula says.
    Derived(&'static str),
    /// Nothing in particular.
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
    /// A whole number.
    Integer {
        /// The least.
        low: u64,
        /// The largest.
        high: u64,
    },
    /// A number, with or without decimals.
    Number {
        /// The least.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// True or false.
    Flag,
    /// A text, of which this says what it is.
    Text(&'static str),
    /// One of these words.
    Word(Vec<&'static str>),
    /// A list.
    List {
        /// What each element is.
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
    /// The same, or one alone.
    TablesOrOne(Box<Info>),
    /// A table whose keys are names.
    Map(Box<Kind>),
    /// Whatever another program wrote there.
    Any,
}

impl KeyInfo {
    /// Whether it must be written.
    pub fn is_required(&self) -> bool {
        matches!(self.fallback, Fallback::Required(_))
    }

    /// What it means, as far as the first semicolon or full stop.
    pub fn brief(&self) -> &str {
        let ends = ["; ", ". "].map(|mark| self.about.find(mark));
        let end = ends.into_iter().flatten().min();
        let brief = &self.about[..end.unwrap_or(self.about.len())];
        brief.trim_end_matches('.')
    }
}

/// The lines of a doc comment as one text.
pub fn about(lines: &[&str]) -> String {
    let lines = lines.iter().map(|line| line.trim());
    Vec::from_iter(lines).join(" ").trim().to_string()
}
