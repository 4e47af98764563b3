//! Lines and words with their places: what every format reads with that consists of lines.
//!
//! A place is a range of bytes in one of the files that are read together, so that whatever is wrong
//! later can be shown where it was written.

mod line;
mod word;

use std::ops::Range;

pub use line::{Line, Lines};
pub use word::{Word, Words, quoted};

use crate::problem::{FileId, Problem};

/// What is in one of the files that are read together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<'t> {
    /// The characters of the text.
    pub text: &'t str,
    /// Which of the files that are read together it is from.
    pub file: FileId,
}

/// A file that is read alone.
impl<'t> From<&'t str> for Text<'t> {
    fn from(text: &'t str) -> Text<'t> {
        Text { text, file: FileId::default() }
    }
}

impl<'t> Text<'t> {
    /// A problem at these bytes.
    pub fn problem(self, at: Range<usize>, message: impl Into<String>) -> Problem {
        Problem::new(at, message).in_file(self.file)
    }

    /// Something is missing behind all that is there.
    pub fn problem_at_end(self, message: impl Into<String>) -> Problem {
        let end = self.text.trim_end().len();
        self.problem(end..end, message)
    }

    /// The words of every line that has any and is no comment.
    pub fn rows(self) -> impl Iterator<Item = Vec<Word<'t>>> {
        let rows = Lines::new(self).map(|line| Vec::from_iter(line.words()));
        rows.filter(|row| row.first().is_some_and(|word| !word.text.starts_with('#')))
    }

    fn word(self, bytes: Range<usize>) -> Word<'t> {
        Word { start: bytes.start, text: &self.text[bytes], file: self.file }
    }
}

/// The number of the line, from 1, in which a byte lies; for messages that name a second place.
pub fn line_number(text: &str, at: usize) -> usize {
    memchr::memchr_iter(b'\n', &text.as_bytes()[..at.min(text.len())]).count() + 1
}

/// Refuses a text whose last line has no end: its last number may have lost digits.
pub fn expect_last_line_end(text: &str) -> Result<(), Problem> {
    if text.is_empty() || text.ends_with('\n') {
        return Ok(());
    }
    let start = text.rfind('\n').map_or(0, |newline| newline + 1);
    Err(Problem::new(start..text.len(), "the last line has no line end")
        .expected("a whole line")
        .help("is the file cut off? if it is complete, end the line"))
}

/// A complaint about a text in which there is nothing to read.
pub fn nothing(what: &str, help: &str) -> Problem {
    Problem::new(0..0, format!("there is no {what} in this file")).expected(what).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# a comment\r\n  one two # rest\n\n\tthree\u{e9} 0x1F";

    #[test]
    fn lines_and_words_have_their_places() {
        let lines = Vec::from_iter(Lines::new(TEXT).map(|line| &TEXT[line.range()]));
        assert_eq!(lines, ["# a comment", "  one two # rest", "", "\tthree\u{e9} 0x1F"]);
        for word in Words::new(TEXT) {
            assert_eq!(&TEXT[word.at()], word.text);
        }
        let of_lines = Lines::new(TEXT).flat_map(|line| line.words());
        assert!(of_lines.eq(Words::new(TEXT)));
        let rows = Vec::from_iter(Text::from(TEXT).rows().map(|row| row.len()));
        assert_eq!(rows, [4, 2]);
        let bare = Lines::new(TEXT).flat_map(|line| line.before(b'#').words());
        let bare = Vec::from_iter(bare.map(|word| word.text));
        assert_eq!(bare, ["one", "two", "three\u{e9}", "0x1F"]);
        assert_eq!(line_number(TEXT, TEXT.len()), 4);
    }

    #[test]
    fn a_line_ends_the_words_on_it() {
        let mut words = Words::new("1 2\r\n3");
        assert_eq!(words.next_on_line().map(|word| word.text), Some("1"));
        assert_eq!(words.next_on_line().map(|word| word.text), Some("2"));
        assert_eq!(words.next_on_line(), None);
        assert_eq!(words.next().map(|word| word.start), Some(5));
        assert_eq!(words.next(), None);
    }

    #[test]
    fn what_is_no_number_is_shown_in_its_file() {
        let text = Text { text: "seven -1 8 0x1G 1F nan", file: FileId(2) };
        let words = Vec::from_iter(Words::new(text));
        for word in &words {
            let problem = word.integer(0..=7).expect_err("none of them");
            assert_eq!(problem.message, format!("{:?} is out of place", word.text));
            assert_eq!(problem.expected, "a whole number from 0 to 7");
            assert_eq!((problem.file, problem.at), (FileId(2), Some(word.at())));
        }
        assert_eq!(words[2].integer(0..=8), Ok(8));
        assert_eq!(words[4].hex(0xFF, "a byte"), Ok(0x1F));
        assert!(words[5].number().is_err());
        let message = |found: Result<u64, Problem>| found.expect_err("no number").message;
        assert_eq!(message(words[3].prefixed_hex(9, "a port")), "`0x1G` is not a port");
        assert_eq!(message(words[2].decimal(7, "a port")), "`8` is too large for a port");
        let kinds = [("one", 1), ("two", 2), ("three", 3)];
        let problem = words[0].keyword(&kinds, "is no number").expect_err("none");
        assert_eq!(problem.message, "`seven` is no number");
        assert_eq!(problem.expected, "one, two or three");
    }
}
