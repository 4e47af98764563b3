//! Values with the places where they were written.

use std::ops::{Range, RangeInclusive};

use super::whole_numbers;
use crate::problem::{FileId, Problem, Sink};
use crate::unit::Quantity;

/// Where something was written: the file, the key path and the bytes of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file; the first, unless several are read together.
    pub file: FileId,
    /// The path of the key, such as `flow[2].source`; empty for the whole file.
    pub key: String,
    /// The bytes of the text.
    pub span: Range<usize>,
}

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At<T> {
    /// The value as it was read.
    pub value: T,
    /// The place at which it was written.
    pub place: Place,
}

impl<T> At<T> {
    /// A value that was never written.
    pub fn of(value: T) -> At<T> {
        let place = Place::default();
        At { value, place }
    }
}

impl At<String> {
    /// The name of a node, and which of parallel links to it is meant if it is written `NODE#2`;
    /// `None` and a report if what follows the mark is no number.
    pub fn split_link(&self, sink: &Sink) -> Option<(At<String>, Option<usize>)> {
        let (name, link) = match self.value.split_once('#') {
            None => (self.value.as_str(), None),
            Some((name, number)) => match number.parse() {
                Ok(link) if link > 0 => (name, Some(link)),
                _ => {
                    let message = format!("{number:?} is no number of a link");
                    let help = "the second of parallel links to NODE is \"NODE#2\"";
                    sink.push(self.place.problem(message).help(help));
                    return None;
                }
            },
        };
        let name = At { value: name.to_string(), place: self.place.clone() };
        Some((name, link))
    }
}

impl<Q: Quantity> At<Q> {
    /// Whether it lies within `range`; reports it if not.
    pub fn is_within(&self, range: &RangeInclusive<Q>, sink: &Sink) -> bool {
        let (low, high) = (range.start(), range.end());
        if (low.to_base()..=high.to_base()).contains(&self.value.to_base()) {
            return true;
        }
        let message = format!("{} is out of range", self.value.exact());
        let range = format!("{} from {} to {}", Q::NOUN, low.exact(), high.exact());
        sink.push(self.place.problem(message).expected(range));
        false
    }
}

impl Place {
    /// These bytes of the text of a file that is read alone.
    pub fn new(key: impl Into<String>, span: Range<usize>) -> Place {
        Place::default().beside(key, span)
    }

    /// Another place of the same file.
    pub fn beside(&self, key: impl Into<String>, span: Range<usize>) -> Place {
        let (file, key) = (self.file, key.into());
        Place { file, key, span }
    }

    /// From here to the byte before `end`.
    pub fn to_end(mut self, end: usize) -> Place {
        self.span.end = end;
        self
    }

    /// Where `key` would stand in the section that begins here.
    pub fn inner(&self, key: &str) -> Place {
        self.beside(self.path_of(key), self.span.clone())
    }

    /// The path of `key` in the section that begins here.
    pub(super) fn path_of(&self, key: &str) -> String {
        match self.key.as_str() {
            "" => key.to_string(),
            section => [section, ".", key].concat(),
        }
    }

    /// The element with this number of the list that stands here.
    pub(super) fn element(&self, index: usize, span: Range<usize>) -> Place {
        self.beside([&self.key, "[", &index.to_string(), "]"].concat(), span)
    }

    /// Whether a whole number that stands here lies within `range`; reports it if not.
    pub fn has_within(&self, number: u64, range: &RangeInclusive<u64>, sink: &Sink) -> bool {
        if !range.contains(&number) {
            let problem = self.problem(format!("{number} is out of range"));
            sink.push(problem.expected(whole_numbers(range)));
        }
        range.contains(&number)
    }

    /// A problem at this place.
    pub fn problem(&self, message: impl Into<String>) -> Problem {
        Problem {
            file: self.file,
            key: self.key.clone(),
            ..Problem::new(self.span.clone(), message)
        }
    }

    /// The problem that `key` is missing in the section that begins here.
    pub fn missing(&self, key: &str, example: &str) -> Problem {
        self.inner(key).problem("missing").help(format!("add {key} = {example}"))
    }
}
