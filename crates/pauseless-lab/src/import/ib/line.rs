//! One line of a dump, taken apart from left to right, with a place for every complaint.

use std::ops::Range;

use memchr::memchr;

use crate::problem::Problem;

/// The lines of a text, without their ends; a carriage return before the end belongs to the end.
pub(super) struct Lines<'t> {
    text: &'t str,
    at: usize,
    end: usize,
}

impl<'t> Lines<'t> {
    /// All lines of `text`.
    pub(super) fn new(text: &'t str) -> Lines<'t> {
        Lines::within(text, 0..text.len())
    }

    /// The lines of a part of `text` that begins and ends between lines.
    pub(super) fn within(text: &'t str, part: Range<usize>) -> Lines<'t> {
        Lines {
            text,
            at: part.start,
            end: part.end,
        }
    }

    /// What has not been read yet, for readers that know a faster way through it.
    pub(super) fn unread(&self) -> &'t [u8] {
        &self.text.as_bytes()[self.at..self.end]
    }

    /// Passes over `length` bytes, which must end with the end of a line.
    pub(super) fn pass(&mut self, length: usize) {
        self.at += length;
    }

    /// Where the unread lines begin.
    pub(super) fn at(&self) -> usize {
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

/// What is left of a line.
#[derive(Clone)]
pub(super) struct Line<'t> {
    text: &'t str,
    start: usize,
    at: usize,
    end: usize,
}

impl<'t> Line<'t> {
    /// The bytes of the whole line.
    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The bytes of what is left.
    pub(super) fn here(&self) -> Range<usize> {
        self.at..self.end
    }

    /// What is left.
    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..self.end]
    }

    /// Skips blanks and says whether nothing is left.
    pub(super) fn is_done(&mut self) -> bool {
        self.skip_blanks();
        self.at == self.end
    }

    /// Skips `literal` if it comes next, after any blanks.
    pub(super) fn eat(&mut self, literal: &str) -> bool {
        self.skip_blanks();
        let found = self.rest().starts_with(literal);
        if found {
            self.at += literal.len();
        }
        found
    }

    /// Skips `literal`, which must come next, after any blanks.
    pub(super) fn expect(&mut self, literal: &str) -> Result<(), Problem> {
        match self.eat(literal) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{literal}`"))),
        }
    }

    /// Nothing but blanks may be left.
    pub(super) fn expect_end(&mut self) -> Result<(), Problem> {
        match self.is_done() {
            true => Ok(()),
            false => Err(self.unexpected("the end of the line")),
        }
    }

    /// The characters up to the next blank, after any blanks; empty at the end of the line.
    pub(super) fn word(&mut self) -> Word<'t> {
        self.skip_blanks();
        self.until(is_blank)
    }

    /// The characters up to the first byte that satisfies `stop`, which must be ASCII.
    pub(super) fn until(&mut self, stop: impl Fn(u8) -> bool) -> Word<'t> {
        let rest = self.rest();
        let length = rest.bytes().position(stop).unwrap_or(rest.len());
        self.take(length)
    }

    /// The text up to `mark`, which is skipped too; `None` where there is no `mark`.
    pub(super) fn up_to(&mut self, mark: &str) -> Option<Word<'t>> {
        let length = self.rest().find(mark)?;
        let word = self.take(length);
        self.at += mark.len();
        Some(word)
    }

    /// The text up to the last `mark` of the line, which is skipped too.
    pub(super) fn up_to_last(&mut self, mark: &str) -> Option<Word<'t>> {
        let length = self.rest().rfind(mark)?;
        let word = self.take(length);
        self.at += mark.len();
        Some(word)
    }

    /// A complaint about what comes next.
    pub(super) fn unexpected(&self, expected: &str) -> Problem {
        let rest = self.rest().trim_end();
        let problem = match rest.split_whitespace().next() {
            None => {
                let message = format!("the line ends where {expected} should be");
                return Problem::new(self.at..self.end, message)
                    .expected(expected)
                    .help("is the file cut off?");
            }
            Some(word) => Problem::new(
                self.at..self.at + rest.len(),
                format!("{} where {expected} should be", quoted(word)),
            ),
        };
        problem.expected(expected)
    }

    fn take(&mut self, length: usize) -> Word<'t> {
        let at = self.at;
        self.at += length;
        Word {
            text: &self.text[at..self.at],
            at,
        }
    }

    pub(super) fn skip_blanks(&mut self) {
        let bytes = self.rest().as_bytes();
        let blanks = bytes.iter().position(|byte| !is_blank(*byte));
        self.at += blanks.unwrap_or(bytes.len());
    }
}

/// A piece of a line and its place.
#[derive(Clone, Copy)]
pub(super) struct Word<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
}

impl Word<'_> {
    /// Its bytes.
    pub(super) fn range(&self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }

    /// A number in decimal digits, at most `max`; `what` is a noun with its article.
    pub(super) fn decimal(&self, max: u64, what: &str) -> Result<u64, Problem> {
        self.number(10, max).map_err(|wrong| {
            let expected = format!("{what}: decimal digits, at most {max}");
            self.not_a_number(wrong, what).expected(expected)
        })
    }

    /// A number in hexadecimal digits without a prefix, at most `max`.
    pub(super) fn hex(&self, max: u64, what: &str) -> Result<u64, Problem> {
        self.number(16, max).map_err(|wrong| {
            let expected = format!("{what}: hexadecimal digits, at most {max:X}");
            self.not_a_number(wrong, what).expected(expected)
        })
    }

    /// A number in hexadecimal digits with the prefix `0x`, at most `max`.
    pub(super) fn prefixed_hex(&self, max: u64, what: &str) -> Result<u64, Problem> {
        let number = match self.text.strip_prefix("0x") {
            None if self.text.is_empty() => Err(Wrong::Missing),
            None => Err(Wrong::Digits),
            Some(digits) => Word {
                text: digits,
                at: self.at + 2,
            }
            .number(16, max),
        };
        number.map_err(|wrong| {
            let expected = format!("{what}: `0x` and hexadecimal digits, at most {max:#X}");
            self.not_a_number(wrong, what)
                .expected(expected.replace("0X", "0x"))
        })
    }

    /// A GUID with the prefix `0x`.
    pub(super) fn guid(&self) -> Result<u64, Problem> {
        let guid = self.prefixed_hex(u64::MAX, "a GUID").map_err(|problem| {
            problem.expected("a GUID: `0x` and at most 16 hexadecimal digits")
        })?;
        self.valid_guid(guid)
    }

    /// A GUID without a prefix.
    pub(super) fn bare_guid(&self) -> Result<u64, Problem> {
        let guid = self
            .hex(u64::MAX, "a GUID")
            .map_err(|problem| problem.expected("a GUID: at most 16 hexadecimal digits"))?;
        self.valid_guid(guid)
    }

    fn valid_guid(&self, guid: u64) -> Result<u64, Problem> {
        match guid {
            0 => Err(Problem::new(self.range(), "a GUID of zero")
                .expected("a GUID")
                .help("no device has this GUID: was it read before the device answered?")),
            guid => Ok(guid),
        }
    }

    fn number(&self, radix: u32, max: u64) -> Result<u64, Wrong> {
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
        match in_range && number <= max {
            true => Ok(number),
            false => Err(Wrong::TooLarge),
        }
    }

    fn not_a_number(&self, wrong: Wrong, what: &str) -> Problem {
        let text = quoted(self.text);
        let message = match wrong {
            Wrong::Missing => format!("{what} is missing"),
            Wrong::Digits => format!("{text} is not {what}"),
            Wrong::TooLarge => format!("{text} is too large for {what}"),
        };
        Problem::new(self.range(), message)
    }
}

enum Wrong {
    Missing,
    Digits,
    TooLarge,
}

/// `text` between backquotes, cut where nobody would read on.
pub(super) fn quoted(text: &str) -> String {
    const LENGTH_MAX: usize = 40;
    match text.char_indices().nth(LENGTH_MAX) {
        None => format!("`{text}`"),
        Some((end, _)) => format!("`{}..`", &text[..end]),
    }
}

/// The number of the line, from 1, in which a byte lies; for messages that name a second place.
pub(super) fn line_number(text: &str, at: usize) -> usize {
    memchr::memchr_iter(b'\n', &text.as_bytes()[..at.min(text.len())]).count() + 1
}

/// Refuses a text whose last line has no end: its last number may have lost digits.
pub(super) fn expect_last_line_end(text: &str) -> Result<(), Problem> {
    if text.is_empty() || text.ends_with('\n') {
        return Ok(());
    }
    let start = text.rfind('\n').map_or(0, |newline| newline + 1);
    Err(
        Problem::new(start..text.len(), "the last line has no line end")
            .expected("a whole line")
            .help("is the file cut off? if it is complete, end the line"),
    )
}

/// A complaint about a text in which there is nothing to read.
pub(super) fn nothing(what: &str, help: &str) -> Problem {
    Problem::new(0..0, format!("there is no {what} in this file"))
        .expected(what)
        .help(help)
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}
