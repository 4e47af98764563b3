//! Sections whose keys depend on the value of one key, mostly `kind`.

use std::sync::{PoisonError, RwLock};

use super::describe::{Info, Variants};
use super::entry::{Entry, Written};
use crate::reader::{At, Place, Section, did_you_mean, quoted};

/// One of the kinds of a section: a congestion control, a topology, a kind of traffic.
///
/// `T` is what the section is read into.
pub struct Variant<T> {
    /// The word that stands behind `kind` in files.
    pub name: &'static str,
    /// The sentence and the own keys of the kind.
    pub info: fn() -> Info,
    /// Takes its own keys; `None` if something necessary is wrong, which is reported.
    pub read: fn(&mut Section<'_>) -> Option<T>,
    /// The keys of a value of this kind; `None` for a value of another one.
    pub keys_of: fn(&T) -> Option<Box<dyn Written + '_>>,
}

/// Declares a kind whose keys are a section by themselves, `"name": Arm[Section]`, or that has none,
/// `"name": Arm, "What it is."`.
#[macro_export]
macro_rules! variant {
    ($name:literal: $arm:path[$keys:ty]) => {
        $crate::declare::Variant {
            name: $name,
            info: <$keys as $crate::declare::Declared>::info,
            read: |section| Some($arm(<$keys as $crate::declare::Declared>::read(section))),
            keys_of: |value| match value {
                $arm(keys) => Some(Box::new(keys.clone())),
                _ => None,
            },
        }
    };
    ($name:literal: $arm:path, $about:literal) => {
        $crate::declare::Variant {
            name: $name,
            info: || $crate::declare::Info::without_keys($about),
            read: |_| Some($arm),
            keys_of: |value| match value {
                $arm => Some(Box::new(())),
                _ => None,
            },
        }
    };
}
/// Keys that fill a configuration that exists, as [`section!`](crate::section) declares them.
pub trait Fills: Written + Sized {
    /// The configuration that the keys fill.
    type Config;

    /// The configuration in which every key has its default.
    fn base() -> Self::Config;

    /// The keys that say what `config` is.
    fn of(config: &Self::Config) -> Self;

    /// Takes the keys out of `section` and puts them into `config`.
    fn fill(section: &mut Section<'_>, config: &mut Self::Config) -> Self;

    /// What the keys are, with the defaults of the configuration.
    fn info() -> Info;

    /// Whether all that is required is there, and nothing that was written is wrong.
    fn is_complete(&self) -> bool;

    /// The place at which each key was written.
    fn places(&self) -> Vec<(&'static str, Place)>;
}

/// The kinds that a section can be of.
pub struct Choice<T: 'static> {
    /// The key, mostly `kind`.
    pub key: &'static str,
    /// What it is if it is left out; `None` where it must be written.
    pub default: Option<&'static str>,
    /// The kinds, in the order of the documents.
    pub variants: Vec<&'static Variant<T>>,
}

impl<T: 'static> Choice<T> {
    /// The kind that `section` names. Where it names none that there is, that is reported and the
    /// rest of the section is not looked at.
    pub fn take(&self, section: &mut Section<'_>) -> Option<At<&'static Variant<T>>> {
        let is_written = section.has(self.key);
        let place = section.place.clone();
        let item = section.take(self.key);
        let word = match (item, self.default) {
            (Some(item), _) => item.string(),
            (None, Some(default)) => Some(At { value: default.to_string(), place }),
            (None, None) => None,
        };
        let found = word.and_then(|word| self.find(section, word));
        if found.is_none() {
            if !is_written {
                section.missing(self.key, &self.alternatives());
            }
            section.discard();
        }
        found
    }

    /// The kind called `name`.
    pub fn named(&self, name: &str) -> Option<&'static Variant<T>> {
        self.variants.iter().find(|variant| variant.name == name).copied()
    }

    /// The kind of a value, and its keys.
    pub fn keys_of<'v>(&self, value: &'v T) -> Option<(&'static str, Box<dyn Written + 'v>)> {
        self.variants.iter().find_map(|variant| Some((variant.name, (variant.keys_of)(value)?)))
    }

    /// The kind of a value, and its keys, as they are written; nothing for a value of no kind.
    pub fn entries(&self, value: &T) -> Vec<Entry> {
        self.keys_of(value).map_or(Vec::new(), |(name, keys)| {
            let kind = Entry::text(self.key, name);
            [vec![kind], keys.entries()].concat()
        })
    }

    /// The kinds with their keys, for documents and schemas.
    pub fn describe(&self) -> Variants {
        let list = self.variants.iter();
        Variants {
            key: self.key,
            default: self.default,
            list: list.map(|variant| (variant.name, (variant.info)())).collect(),
        }
    }

    /// The key with this kind, as `place` says it.
    pub fn kind(&self, variant: &Variant<T>, place: &Place) -> Entry {
        Entry {
            place: Some(place.clone()).filter(|place| *place != Place::default()),
            ..Entry::text(self.key, variant.name)
        }
    }

    /// The names of all kinds.
    pub fn names(&self) -> Vec<&'static str> {
        self.variants.iter().map(|variant| variant.name).collect()
    }

    fn find(&self, section: &mut Section<'_>, word: At<String>) -> Option<At<&'static Variant<T>>> {
        let At { value: word, place } = word;
        let Some(value) = self.named(&word) else {
            let names = self.names();
            let problem = place.problem(format!("unknown value {word:?}"));
            let problem = problem.expected(format!("one of {}", quoted(&names)));
            section.report(problem.help(did_you_mean(&word, names)));
            return None;
        };
        section.set_context(format!(" with {} = {word:?}", self.key));
        Some(At { value, place })
    }

    /// `"a", "b" or "c"`.
    fn alternatives(&self) -> String {
        match &self.names()[..] {
            [] => String::new(),
            [only] => format!("{only:?}"),
            [others @ .., last] => format!("{} or {last:?}", quoted(others)),
        }
    }
}

/// Kinds that other crates bring.
///
/// A program registers its own before it reads the first file; they have keys, messages, schema and
/// documentation like those that are built in.
pub struct Registry<T: 'static> {
    outside: RwLock<Vec<&'static Variant<T>>>,
}

impl<T: 'static> Registry<T> {
    /// A registry without any.
    pub const fn new() -> Registry<T> {
        Registry { outside: RwLock::new(Vec::new()) }
    }

    /// Adds a kind; the last one of a name counts. A name that is built in is a mistake of the program,
    /// which [`Registry::with`] refuses.
    pub fn register(&self, variant: &'static Variant<T>) {
        let mut outside = self.outside.write().unwrap_or_else(PoisonError::into_inner);
        outside.retain(|other| other.name != variant.name);
        outside.push(variant);
    }

    /// The kinds that are built in, and behind them those of other crates. Panics if another crate
    /// has registered a name that is built in.
    pub fn with(&self, inside: &[&'static Variant<T>]) -> Vec<&'static Variant<T>> {
        let outside = self.outside.read().unwrap_or_else(PoisonError::into_inner);
        for variant in outside.iter() {
            let is_taken = inside.iter().any(|other| other.name == variant.name);
            assert!(!is_taken, "the kind {:?} is built in", variant.name);
        }
        inside.iter().chain(outside.iter()).copied().collect()
    }
}

impl<T: 'static> Default for Registry<T> {
    fn default() -> Registry<T> {
        Registry::new()
    }
}
