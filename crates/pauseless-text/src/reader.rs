//! Takes typed values out of a TOML table; a key that was not taken is unknown.

mod item;
mod place;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use toml::de::{DeTable, DeValue};

pub use item::Item;
pub use place::{At, Place};

use super::file::quote;
use crate::declare::{Entry, Node};
use crate::problem::{Problem, Sink};

/// A table that is being read.
#[derive(Debug)]
pub struct Section<'s> {
    /// The place at which the table begins.
    pub place: Place,
    sink: &'s Sink,
    entries: BTreeMap<Cow<'s, str>, Stored<'s>>,
    /// Every key that was asked for, in the order of asking.
    known: Vec<&'static str>,
    /// Keys that are none here, whoever asks for them.
    withheld: Vec<&'static str>,
    /// What the set of keys depends on, for messages.
    context: String,
    /// Whether required keys may be left out.
    is_lenient: bool,
}

/// What stands behind a key, before anybody has taken it.
#[derive(Debug)]
struct Stored<'s> {
    place: Place,
    key_span: Range<usize>,
    value: Raw<'s>,
}

/// A value as it was found.
#[derive(Debug)]
enum Raw<'s> {
    /// In the text of a file.
    Text(DeValue<'s>),
    /// In a section that a program filled in.
    Filled(&'s Node),
}

impl<'s> Section<'s> {
    /// The table of a whole document.
    pub fn root(sink: &'s Sink, table: DeTable<'s>) -> Section<'s> {
        Section::new(sink, Place::default(), table)
    }

    /// A table without keys.
    pub fn empty(sink: &'s Sink) -> Section<'s> {
        Section::root(sink, DeTable::new())
    }

    /// Whether exactly this text stands behind a key that was not taken yet.
    pub fn has_text(&self, key: &str, text: &str) -> bool {
        match self.entries.get(key).map(|stored| &stored.value) {
            Some(Raw::Text(value)) => value.as_str() == Some(text),
            Some(Raw::Filled(Node::Plain(value))) => *value == quote(text),
            _ => false,
        }
    }

    fn new(sink: &'s Sink, place: Place, table: DeTable<'s>) -> Section<'s> {
        let entries = table.into_iter().map(|(key, value)| {
            let key_span = key.span();
            let key = key.into_inner();
            let stored = Stored {
                place: place.beside(place.path_of(&key), value.span()),
                key_span,
                value: Raw::Text(value.into_inner()),
            };
            (key, stored)
        });
        let entries = entries.collect();
        Section::with(sink, place, entries)
    }

    /// A section that a program filled in. Values without a place get that of the section.
    pub fn filled(sink: &'s Sink, place: Place, entries: &'s [Entry]) -> Section<'s> {
        let entries = entries.iter().map(|entry| {
            let inner = || place.inner(&entry.key);
            let place = entry.place.clone().unwrap_or_else(inner);
            let stored =
                Stored { key_span: place.span.clone(), place, value: Raw::Filled(&entry.node) };
            (Cow::Borrowed(&*entry.key), stored)
        });
        let entries = entries.collect();
        Section::with(sink, place, entries)
    }

    fn with(
        sink: &'s Sink,
        place: Place,
        entries: BTreeMap<Cow<'s, str>, Stored<'s>>,
    ) -> Section<'s> {
        Section {
            place,
            sink,
            entries,
            known: Vec::new(),
            withheld: Vec::new(),
            context: String::new(),
            is_lenient: false,
        }
    }

    /// Adds a problem to those of the file.
    pub fn report(&self, problem: Problem) {
        self.sink.push(problem);
    }

    /// Where problems are put.
    pub fn sink(&self) -> &'s Sink {
        self.sink
    }

    /// Says what the set of keys depends on, such as `with kind = "pfc"`.
    pub fn set_context(&mut self, context: String) {
        self.context = context;
    }

    /// What the set of keys depends on, for the tables inside.
    pub fn context(&self) -> String {
        self.context.clone()
    }

    /// Whether nothing has been reported so far.
    pub fn is_sound(&self) -> bool {
        self.sink.is_empty()
    }

    /// Whether the key was written and not taken yet.
    pub fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// What `read` takes out of this section, in which `keys` are unknown to it.
    pub fn without<T>(
        &mut self,
        keys: &[&'static str],
        read: impl FnOnce(&mut Section<'s>) -> T,
    ) -> T {
        let before = self.withheld.len();
        self.withheld.extend(keys);
        let found = read(self);
        self.withheld.truncate(before);
        found
    }

    /// Takes whatever is written for `key`.
    pub fn take(&mut self, key: &'static str) -> Option<Item<'s>> {
        if self.withheld.contains(&key) {
            return None;
        }
        self.known.push(key);
        let stored = self.entries.remove(key)?;
        Some(Item::new(stored, self.sink))
    }

    /// Takes all that is left, each with its key: for tables whose keys are names.
    pub fn entries(&mut self) -> Vec<(At<String>, Item<'s>)> {
        let named = std::mem::take(&mut self.entries).into_iter().map(|(name, stored)| {
            let place = &stored.place;
            let place = place.beside(place.key.clone(), stored.key_span.clone());
            let name = At { value: name.into_owned(), place };
            (name, Item::new(stored, self.sink))
        });
        named.collect()
    }

    /// The subsection behind a key, if it was written.
    pub fn table(&mut self, key: &'static str) -> Option<Section<'s>> {
        self.take(key)?.table()
    }

    /// The tables of `[[key]]`, one for each time that it was written.
    pub fn tables(&mut self, key: &'static str) -> impl Iterator<Item = Section<'s>> + use<'s> {
        self.take(key).into_iter().flat_map(Item::tables)
    }

    /// The sections `[[key]]`, or a single `[key]`.
    pub fn tables_or_one(&mut self, key: &'static str) -> Vec<Section<'s>> {
        self.take(key).map_or(Vec::new(), Item::tables_or_one)
    }

    /// Reads something of which required keys may be left out.
    pub fn leniently<T>(&mut self, read: impl FnOnce(&mut Section<'s>) -> T) -> T {
        self.is_lenient = true;
        let found = read(self);
        self.is_lenient = false;
        found
    }

    /// Reports that `key`, which was asked for already, must be written.
    pub fn missing(&self, key: &str, example: &str) {
        if self.is_lenient {
            return;
        }
        let mut problem = self.place.missing(key, example);
        problem.message.push_str(&self.context);
        self.report(problem);
    }

    /// Reports that the section `key`, which was asked for already, must be written.
    pub fn missing_section(&self, key: &str) {
        let problem = self.place.inner(key).problem("this section is missing");
        self.report(problem.help(format!("add a section [{key}]")));
    }

    /// Reports every key that was not taken as unknown.
    pub fn finish(self) {
        for (key, Stored { place, key_span, .. }) in &self.entries {
            let place = place.beside(place.key.clone(), key_span.clone());
            let context = &self.context;
            let problem = place.problem(format!("unknown key{context}"));
            let mut known = self.known.clone();
            known.sort_unstable();
            known.dedup();
            let problem = problem.expected(format!("one of {}", known.join(", ")));
            self.report(problem.help(did_you_mean(key, known)));
        }
    }

    /// Forgets the rest of the keys, because what they should be is not known.
    pub fn discard(&mut self) {
        self.entries.clear();
    }
}

/// So many letters at the beginning of a name say which is meant.
const BEGINNING_MIN: usize = 4;

/// The most similar of `names`, or the only one that begins so, as a question; empty when there is
/// none.
pub fn did_you_mean<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    // A word of a megabyte resembles nothing, and comparing is quadratic.
    if word.len() > 64 {
        return String::new();
    }
    let lower = word.to_lowercase();
    let names = Vec::from_iter(names);
    let distances = names.iter().map(|name| {
        let distance = strsim::osa_distance(&lower, &name.to_lowercase());
        (distance, *name)
    });
    let near = distances.min().filter(|(distance, _)| *distance <= 1 + word.len() / 4);
    // Whoever writes [congestion] means [congestion_control].
    let begins =
        |name: &&&str| word.len() >= BEGINNING_MIN && name.to_lowercase().starts_with(&lower);
    let near = near.map(|(_, name)| name).or_else(|| {
        let mut longer = names.iter().filter(begins);
        longer.next().filter(|_| longer.next().is_none()).copied()
    });
    near.map_or(String::new(), |name| format!("did you mean {name}?"))
}

/// What is expected where a whole number within `range` is.
pub fn whole_numbers(range: &RangeInclusive<u64>) -> String {
    match (*range.start(), *range.end()) {
        (low, high) if low == high => format!("{low}, the only possible value"),
        (low, u64::MAX) => format!("a whole number from {low} on"),
        (low, high) => format!("a whole number from {low} to {high}"),
    }
}

/// Words with quotation marks and commas.
pub fn quoted(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
    quoted.join(", ")
}
