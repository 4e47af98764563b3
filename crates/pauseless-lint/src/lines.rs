//! Lines and columns of many places in a few files.

use pauseless_text::source::Source;

use crate::json::Span;

/// A position as editors count it: both from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1.
    pub column: usize,
}

/// Where the lines of every file begin.
#[derive(Debug)]
pub struct Lines<'s> {
    files: Vec<FileLines<'s>>,
}

#[derive(Debug)]
struct FileLines<'s> {
    source: &'s Source,
    starts: Vec<usize>,
}

/// A part of a line, to be shown with a mark below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The text that is shown.
    pub text: String,
    /// How many characters stand before the mark.
    pub before: usize,
    /// How many characters are marked.
    pub marked: usize,
}

impl<'s> Lines<'s> {
    /// The lines of these files.
    pub fn new(sources: &'s [Source]) -> Lines<'s> {
        let lines = |source: &'s Source| {
            let newlines = source.text.match_indices('\n').map(|(at, _)| at + 1);
            FileLines { source, starts: [0].into_iter().chain(newlines).collect() }
        };
        Lines { files: sources.iter().map(lines).collect() }
    }

    /// The name of a file, as the user gave it.
    pub fn name(&self, file: usize) -> &'s str {
        &self.files[file].source.file
    }

    /// Where a byte of a file stands.
    pub fn position(&self, file: usize, byte: u32) -> Position {
        let FileLines { source, starts } = &self.files[file];
        let byte = floor(&source.text, byte as usize);
        let line = starts.partition_point(|start| *start <= byte).max(1);
        let column = source.text[starts[line - 1]..byte].chars().count() + 1;
        Position { line, column }
    }

    /// The line around a place, cut where it is long: a database may be one line.
    pub fn excerpt(&self, file: usize, at: Span) -> Excerpt {
        let text = &self.files[file].source.text;
        let start = floor(text, at.start as usize);
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
        let from = floor(text, line_start.max(start.saturating_sub(WIDTH / 2)));
        let to = floor(text, line_end.min(from + WIDTH)).max(start);
        let end = floor(text, (at.end as usize).clamp(start, to));
        let clean = |part: &str| part.replace(|c: char| c.is_control(), " ");
        let before = clean(text[from..start].trim_start());
        let marked = clean(&text[start..end]);
        let rest = clean(&text[end..to]);
        Excerpt {
            before: before.chars().count(),
            marked: marked.chars().count().max(1),
            text: (before + &marked + &rest).trim_end().to_string(),
        }
    }
}

/// The largest boundary between characters that is not above `index`.
fn floor(text: &str, index: usize) -> usize {
    let mut floor = index.min(text.len());
    while !text.is_char_boundary(floor) {
        floor -= 1;
    }
    floor
}

/// The most bytes of a line that are shown.
const WIDTH: usize = 110;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let text = "a\n  \u{e9}\u{e9}b \"x\"\n".to_string();
        let sources = [Source { file: "f".to_string(), text }];
        let lines = Lines::new(&sources);
        let start = sources[0].text.find('x').unwrap() as u32;
        assert_eq!(lines.position(0, start), Position { line: 2, column: 8 });
        let excerpt = lines.excerpt(0, Span { start, end: start + 1 });
        assert_eq!((excerpt.before, excerpt.marked), (5, 1));
        assert_eq!(excerpt.text, "\u{e9}\u{e9}b \"x\"");
        assert_eq!(lines.position(0, 0), Position { line: 1, column: 1 });
        assert_eq!(lines.position(0, 9_999), Position { line: 3, column: 1 });
    }
}
