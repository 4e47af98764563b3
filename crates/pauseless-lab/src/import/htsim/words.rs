//! Lines of words with their places, as htsim reads its files.

use std::ops::Range;

use crate::problem::{Problem, Sink};

/// A word and where it stands in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'t> {
    pub text: &'t str,
    pub start: usize,
}

impl Word<'_> {
    /// The bytes that it takes.
    pub(super) fn at(self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// Something wrong with it.
    pub(super) fn problem(self, message: impl Into<String>) -> Problem {
        Problem::new(self.at(), message)
    }

    /// A whole number from `low` to `high`.
    pub(super) fn integer(self, (low, high): (u64, u64), sink: &Sink) -> Option<u64> {
        let number = self.text.parse::<u64>().ok();
        let number = number.filter(|number| (low..=high).contains(number));
        if number.is_none() {
            let problem = self.problem(format!("{:?} is out of place", self.text));
            sink.push(problem.expected(format!("a whole number from {low} to {high}")));
        }
        number
    }
}

/// The words of every line that has any and is no comment.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Vec<Word<'_>>> {
    let mut start = 0;
    let lines = text.split_inclusive('\n').map(move |line| {
        let from = start;
        start += line.len();
        let words = line.split_ascii_whitespace().map(|word| Word {
            text: word,
            start: from + (word.as_ptr() as usize - line.as_ptr() as usize),
        });
        Vec::from_iter(words)
    });
    lines.filter(|words| {
        words
            .first()
            .is_some_and(|word| !word.text.starts_with('#'))
    })
}

/// The place behind all words, to point at when something is missing.
pub(super) fn end(text: &str) -> Range<usize> {
    let end = text.trim_end().len();
    end..end
}
