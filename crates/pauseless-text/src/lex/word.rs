//! Words with their places, and what they may stand for.

use std::ops::{Range, RangeInclusive};

use super::Text;
use crate::problem::{FileId, Problem};
use crate::reader::{Place, did_you_mean};

/// A piece of a text and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<'t> {
    /// The characters of the word.
    pub text: &'t str,
    /// Its first byte in the text of the file.
    pub start: usize,
    /// Which of the files that are read together it is from.
    pub file: FileId,
}

/// The words between white space, one after the other.
#[derive(Clone, Debug)]
pub struct Words<'t> {
    text: Text<'t>,
    next: usize,
    end: usize,
}

impl<'t> Words<'t> {
    /// All words of `text`, whatever lines they are on.
    pub fn new(text: impl Into<Text<'t>>) -> Words<'t> {
        let text = text.into();
        Words::within(text, 0..text.text.len())
    }

    /// The words of a part of `text`.
    pub(super) fn within(text: Text<'t>, part: Range<usize>) -> Words<'t> {
        Words { text, next: part.start, end: part.end }
    }

    /// The next one, if it stands on the same line as the last.
    pub fn next_on_line(&mut self) -> Option<Word<'t>> {
        let mut ahead = self.clone();
        let word = ahead.next()?;
        if self.text.text[self.next..word.start].contains('\n') {
            return None;
        }
        *self = ahead;
        Some(word)
    }
}

impl<'t> Iterator for Words<'t> {
    type Item = Word<'t>;

    fn next(&mut self) -> Option<Word<'t>> {
        let bytes = &self.text.text.as_bytes()[..self.end];
        let rest = &bytes[self.next..];
        let start = rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let start = self.next + start;
        let rest = bytes[start..].iter();
        let length = rest.clone().position(|byte| byte.is_ascii_whitespace());
        self.next = start + length.unwrap_or(rest.len());
        Some(self.text.word(start..self.next))
    }
}

impl<'t> Word<'t> {
    /// The place of the word in the text, in bytes.
    pub fn at(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// Its place as the value of `key`.
    pub fn place(&self, key: &str) -> Place {
        Place { file: self.file, key: key.to_string(), span: self.at() }
    }

    /// A problem with this word.
    pub fn problem(&self, message: impl Into<String>) -> Problem {
        Problem::new(self.at(), message).in_file(self.file)
    }

    /// It is none of the words that may stand here.
    pub fn unknown<'k>(
        &self,
        message: impl Into<String>,
        known: impl IntoIterator<Item = &'k str>,
    ) -> Problem {
        self.problem(message).help(did_you_mean(self.text, known))
    }

    /// What it stands for, of `known` words; what is wrong is `quoted` and this.
    pub fn keyword<T: Copy>(&self, known: &[(&str, T)], wrong: &str) -> Result<T, Problem> {
        let found = known.iter().find(|(word, _)| *word == self.text);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let words = Vec::from_iter(known.iter().map(|(word, _)| *word));
            let expected = match &words[..] {
                [one] => one.to_string(),
                [first @ .., last] => format!("{} or {last}", first.join(", ")),
                [] => String::new(),
            };
            self.problem(format!("{} {wrong}", quoted(self.text))).expected(expected)
        })
    }

    /// A whole number in `range`.
    pub fn integer(&self, range: RangeInclusive<u64>) -> Result<u64, Problem> {
        let number = self.text.parse::<u64>().ok();
        number.filter(|it| range.contains(it)).ok_or_else(|| {
            let (low, high) = range.into_inner();
            self.misplaced(format!("a whole number from {low} to {high}"))
        })
    }

    /// A number that is neither negative nor beyond all bounds.
    pub fn number(&self) -> Result<f64, Problem> {
        let number = self.text.parse::<f64>().ok();
        let number = number.filter(|number| number.is_finite() && *number >= 0.0);
        number.ok_or_else(|| self.misplaced("a number, 0 or more"))
    }

    fn misplaced(&self, expected: impl Into<String>) -> Problem {
        self.problem(format!("{:?} is out of place", self.text)).expected(expected)
    }

    /// A number in decimal digits, at most `max`; `what` is a noun with its article.
    pub fn decimal(&self, max: u64, what: &str) -> Result<u64, Problem> {
        self.digits(10, max).map_err(|wrong| {
            let expected = format!("{what}: decimal digits, at most {max}");
            self.not_a_number(wrong, what).expected(expected)
        })
    }

    /// A number in hexadecimal digits without a prefix, at most `max`.
    pub fn hex(&self, max: u64, what: &str) -> Result<u64, Problem> {
        self.digits(16, max).map_err(|wrong| {
            let expected = format!("{what}: hexadecimal digits, at most {max:X}");
            self.not_a_number(wrong, what).expected(expected)
        })
    }

    /// A number in hexadecimal digits with the prefix `0x`, at most `max`.
    pub fn prefixed_hex(&self, max: u64, what: &str) -> Result<u64, Problem> {
        let number = match self.text.strip_prefix("0x") {
            None if self.text.is_empty() => Err(Wrong::Missing),
            None => Err(Wrong::Digits),
            Some(_) => self.part(2..self.text.len()).digits(16, max),
        };
        number.map_err(|wrong| {
            let expected = format!("{what}: `0x` and hexadecimal digits, at most {max:#X}");
            self.not_a_number(wrong, what).expected(expected.replace("0X", "0x"))
        })
    }

    /// Some of its bytes, as a word of their own.
    pub fn part(&self, bytes: Range<usize>) -> Word<'t> {
        Word { start: self.start + bytes.start, text: &self.text[bytes], file: self.file }
    }

    fn digits(&self, radix: u32, max: u64) -> Result<u64, Wrong> {
        if self.text.is_empty() {
            return Err(Wrong::Missing);
        }
        let mut number: u64 = 0;
        let mut in_range = true;
        for byte in self.text.bytes() {
            let digit = (byte as char).to_digit(radix).ok_or(Wrong::Digits)?;
            let next = number
                .checked_mul(u64::from(radix))
                .and_then(|shifted| shifted.checked_add(u64::from(digit)));
            match next {
                Some(next) => number = next,
                None => in_range = false,
            }
        }
        if in_range && number <= max { Ok(number) } else { Err(Wrong::TooLarge) }
    }

    fn not_a_number(&self, wrong: Wrong, what: &str) -> Problem {
        let text = quoted(self.text);
        let message = match wrong {
            Wrong::Missing => format!("{what} is missing"),
            Wrong::Digits => format!("{text} is not {what}"),
            Wrong::TooLarge => format!("{text} is too large for {what}"),
        };
        self.problem(message)
    }
}

enum Wrong {
    Missing,
    Digits,
    TooLarge,
}

/// `text` between backquotes, cut to a length that fits a message.
pub fn quoted(text: &str) -> String {
    const LENGTH_MAX: usize = 40;
    match text.char_indices().nth(LENGTH_MAX) {
        None => format!("`{text}`"),
        Some((end, _)) => format!("`{}..`", &text[..end]),
    }
}
