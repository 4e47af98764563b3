//! The lines of a text, each taken apart from left to right, with a place for every complaint.

use std::ops::Range;

use memchr::memchr;

use super::Text;
use super::word::{Word, Words, quoted};
use crate::problem::Problem;

/// The lines of a text, without their ends; a carriage return before the end belongs to the end.
pub struct Lines<'t> {
    text: Text<'t>,
    at: usize,
    end: usize,
}

impl<'t> Lines<'t> {
    /// All lines of `text`.
    pub fn new(text: impl Into<Text<'t>>) -> Lines<'t> {
        let text = text.into();
        Lines::within(text, 0..text.text.len())
    }

    /// The lines of a part of `text` that begins and ends between lines.
    pub fn within(text: impl Into<Text<'t>>, part: Range<usize>) -> Lines<'t> {
        Lines { text: text.into(), at: part.start, end: part.end }
    }

    /// What has not been read yet, for readers that know a faster way through it.
    pub fn unread(&self) -> &'t [u8] {
        &self.text.text.as_bytes()[self.at..self.end]
    }

    /// Passes over `length` bytes, which must end with the end of a line.
    pub fn pass(&mut self, length: usize) {
        self.at += length;
    }

    /// Where the unread lines begin.
    pub fn at(&self) -> usize {
        self.at
    }
}

impl<'t> Iterator for Lines<'t> {
    type Item = Line<'t>;

    fn next(&mut self) -> Option<Line<'t>> {
        if self.at >= self.end {
            return None;
        }
        let bytes = self.unread();
        let (length, next) = match memchr(b'\n', bytes) {
            Some(length) => (length, length + 1),
            None => (bytes.len(), bytes.len()),
        };
        let carriage_return = usize::from(bytes[..length].ends_with(b"\r"));
        let line = Line {
            text: self.text,
            start: self.at,
            at: self.at,
            end: self.at + length - carriage_return,
        };
        self.at += next;
        Some(line)
    }
}

/// The part of a line that is not read yet.
#[derive(Clone, Debug)]
pub struct Line<'t> {
    text: Text<'t>,
    start: usize,
    at: usize,
    end: usize,
}

impl<'t> Line<'t> {
    /// The bytes of the whole line.
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The bytes of what is left.
    pub fn here(&self) -> Range<usize> {
        self.at..self.end
    }

    /// The part of the line that was not read yet.
    pub fn rest(&self) -> &'t str {
        &self.text.text[self.at..self.end]
    }

    /// The words that are not read yet.
    pub fn words(&self) -> Words<'t> {
        Words::within(self.text, self.here())
    }

    /// The line up to a `mark`, behind which a comment stands.
    pub fn before(&self, mark: u8) -> Line<'t> {
        let length = memchr(mark, self.rest().as_bytes());
        Line { end: length.map_or(self.end, |length| self.at + length), ..*self }
    }

    /// A problem with the whole line.
    pub fn problem(&self, message: impl Into<String>) -> Problem {
        self.text.problem(self.range(), message)
    }

    /// Skips blanks and says whether nothing is left.
    pub fn is_done(&mut self) -> bool {
        self.skip_blanks();
        self.at == self.end
    }

    /// Skips `literal` if it comes next, after any blanks.
    pub fn eat(&mut self, literal: &str) -> bool {
        self.skip_blanks();
        let found = self.rest().starts_with(literal);
        if found {
            self.at += literal.len();
        }
        found
    }

    /// Skips `literal`, which must come next, after any blanks.
    pub fn expect(&mut self, literal: &str) -> Result<(), Problem> {
        if self.eat(literal) { Ok(()) } else { Err(self.unexpected(&format!("`{literal}`"))) }
    }

    /// Refuses anything but blanks behind what was read.
    pub fn expect_end(&mut self) -> Result<(), Problem> {
        if self.is_done() { Ok(()) } else { Err(self.unexpected("the end of the line")) }
    }

    /// The characters up to the next blank, after any blanks; empty at the end of the line.
    pub fn word(&mut self) -> Word<'t> {
        self.skip_blanks();
        self.until(is_blank)
    }

    /// The characters up to the first byte that satisfies `stop`, which must be ASCII.
    pub fn until(&mut self, stop: impl Fn(u8) -> bool) -> Word<'t> {
        let rest = self.rest();
        let length = rest.bytes().position(stop).unwrap_or(rest.len());
        self.take(length)
    }

    /// The text up to `mark`, which is skipped too; `None` where there is no `mark`.
    pub fn up_to(&mut self, mark: &str) -> Option<Word<'t>> {
        let length = self.rest().find(mark)?;
        let word = self.take(length);
        self.at += mark.len();
        Some(word)
    }

    /// The text up to the last `mark` of the line, which is skipped too.
    pub fn up_to_last(&mut self, mark: &str) -> Option<Word<'t>> {
        let length = self.rest().rfind(mark)?;
        let word = self.take(length);
        self.at += mark.len();
        Some(word)
    }

    /// A complaint about what comes next.
    pub fn unexpected(&self, expected: &str) -> Problem {
        let rest = self.rest().trim_end();
        let problem = match rest.split_whitespace().next() {
            None => {
                let message = format!("the line ends where {expected} should be");
                let problem = self.text.problem(self.here(), message);
                return problem.expected(expected).help("is the file cut off?");
            }
            Some(word) => {
                let message = format!("{} where {expected} should be", quoted(word));
                self.text.problem(self.at..self.at + rest.len(), message)
            }
        };
        problem.expected(expected)
    }

    fn take(&mut self, length: usize) -> Word<'t> {
        let start = self.at;
        self.at += length;
        self.text.word(start..self.at)
    }

    /// Goes past spaces and tabs.
    pub fn skip_blanks(&mut self) {
        let bytes = self.rest().as_bytes();
        let blanks = bytes.iter().position(|byte| !is_blank(*byte));
        self.at += blanks.unwrap_or(bytes.len());
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}
