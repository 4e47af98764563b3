//! What a terminal shows: aligned tables, colours that say how good or bad something is, and nothing
//! that the terminal would obey.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether escape sequences may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Text without escape sequences.
    Plain,
    /// Colours for a terminal.
    Ansi,
}

/// The judgement that a colour stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// There is no finding.
    Good,
    /// There is a finding, such as a deadlock.
    Bad,
    /// It is worse than it should be, such as starvation.
    Poor,
    /// It is a heading, without judgement.
    Strong,
}

impl Paint {
    /// `text` in the colour of `mood`.
    pub fn paint(self, mood: Mood, text: &str) -> String {
        let code = match mood {
            Mood::Good => "32",
            Mood::Bad => "1;31",
            Mood::Poor => "33",
            Mood::Strong => "1",
        };
        match self {
            Paint::Plain => text.to_string(),
            Paint::Ansi => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}

/// `text` as a terminal may have it: control characters of names, titles and files, which a terminal
/// would obey, and those that reverse text are shown as JSON and TOML write them, such as `\u001b`.
/// Lines, tabs and, where there is paint, colours stay.
pub fn printable(text: &str, paint: Paint) -> Cow<'_, str> {
    let Some(first) = text.find(is_obeyed) else {
        return Cow::Borrowed(text);
    };
    let mut shown = String::with_capacity(text.len() + 16);
    shown.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(char) = rest.chars().next() {
        let colour = if paint == Paint::Ansi { colour_at(rest) } else { None };
        let length = colour.unwrap_or(char.len_utf8());
        if colour.is_none() && is_obeyed(char) {
            write!(shown, "\\u{:04x}", u32::from(char)).expect("writing to a String never fails");
        } else {
            shown.push_str(&rest[..length]);
        }
        rest = &rest[length..];
    }
    Cow::Owned(shown)
}

fn is_obeyed(char: char) -> bool {
    let reverses = matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (char.is_control() && char != '\n' && char != '\t') || reverses
}

/// How long the sequence is with which `text` begins, if it is one that sets a colour or weight. Others,
/// such as those that hide text, are none.
fn colour_at(text: &str) -> Option<usize> {
    let codes = text.strip_prefix("\x1b[")?;
    let codes = &codes[..codes.find('m')?];
    let is_colour =
        |code: &str| matches!(code.parse(), Ok(0..=5 | 22 | 30..=39 | 90..=97)) || code.is_empty();
    let is_from_palette =
        |codes: &str| codes.strip_prefix("38;5;").is_some_and(|code| code.parse::<u8>().is_ok());
    (codes.split(';').all(is_colour) || is_from_palette(codes)).then_some(codes.len() + 3)
}

/// The spaces that make `cell` so many characters wide. Widths in format strings end at 65,535.
pub fn padding(cell: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(cell.chars().count()))
}

/// Columns that are as wide as their widest cell.
#[derive(Clone, Debug)]
pub struct Table {
    heads: Vec<String>,
    to_the_right: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these heads, separated by spaces. A head that begins with `<` aligns its
    /// column to the right, and `-` in a head stands for a space.
    pub fn new(heads: &str) -> Table {
        let heads = Vec::from_iter(heads.split(' '));
        Table {
            to_the_right: heads.iter().map(|head| head.starts_with('<')).collect(),
            heads: heads
                .iter()
                .map(|head| head.trim_start_matches('<').replace('-', " "))
                .collect(),
            rows: Vec::new(),
        }
    }

    /// A table with these heads as they are, each with whether its column is aligned to the right.
    pub fn with(heads: Vec<(String, bool)>) -> Table {
        let (heads, to_the_right) = heads.into_iter().unzip();
        Table { heads, to_the_right, rows: Vec::new() }
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The heads of its columns.
    pub fn heads(&self) -> &[String] {
        &self.heads
    }

    /// Its rows, with a cell for every head.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// Adds a row, which has a cell for every head.
    pub fn push(&mut self, row: Vec<String>) {
        assert_eq!(row.len(), self.heads.len(), "a cell for every head");
        self.rows.push(row);
    }

    /// The rows, each on a line that is indented by two; painted by `paint`, which is given
    /// the cell's row, its column and its text after alignment.
    pub fn render(&self, paint: impl Fn(usize, usize, &str) -> String) -> String {
        let mut widths: Vec<usize> = self.heads.iter().map(|head| head.chars().count()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        let align = |column: usize, cell: &str| {
            let spaces = padding(cell, widths[column]);
            if self.to_the_right[column] { spaces + cell } else { format!("{cell}{spaces}") }
        };
        let heads = self.heads.iter().enumerate();
        let mut lines = vec![Vec::from_iter(heads.map(|(column, cell)| align(column, cell)))];
        for (index, row) in self.rows.iter().enumerate() {
            let cells = row.iter().enumerate();
            let cells = cells.map(|(column, cell)| paint(index, column, &align(column, cell)));
            lines.push(cells.collect());
        }
        let lines = lines.iter().map(|line| {
            let line = line.join("  ");
            format!("  {}\n", line.trim_end())
        });
        lines.collect()
    }

    /// All of `rows`, or the first few of more than [`ROWS_MAX`] and a line that says so. No text
    /// at all for no rows.
    pub fn extend(&mut self, rows: impl Iterator<Item = Vec<String>>, count: usize) -> String {
        let shown = if count > ROWS_MAX { ROWS_FEW } else { count };
        for row in rows.take(shown) {
            self.push(row);
        }
        if self.rows.is_empty() {
            return String::new();
        }
        let mut text = self.render(|_, _, cell| cell.to_string());
        if count > shown {
            let more = count - shown;
            text.push_str(&format!("  .. and {more} more; --json lists all of them\n"));
        }
        text
    }
}

/// A longer table is a file, not a report.
pub const ROWS_MAX: usize = 40;
/// So many rows show what a longer table is like.
const ROWS_FEW: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_and_lines_end_without_spaces() {
        let mut table = Table::new("flow <late-goodput finish");
        table.push(vec!["F1".into(), "5.00 Gb/s".into(), "-".into()]);
        table.push(vec!["longest".into(), "8 kb/s".into(), "1.00 ms".into()]);
        let text = table.render(|_, _, cell| cell.to_string());
        let expected = "  flow     late goodput  finish\n  \
                        F1          5.00 Gb/s  -\n  \
                        longest        8 kb/s  1.00 ms\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn long_tables_say_what_they_leave_out() {
        let rows = (0..ROWS_MAX + 2).map(|n| vec![n.to_string()]);
        let text = Table::new("n").extend(rows, ROWS_MAX + 2);
        assert_eq!(text.lines().count(), 1 + ROWS_FEW + 1);
        assert!(text.ends_with("  .. and 32 more; --json lists all of them\n"));
        let rows = (0..ROWS_MAX).map(|n| vec![n.to_string()]);
        let text = Table::new("n").extend(rows, ROWS_MAX);
        assert_eq!(text.lines().count(), 1 + ROWS_MAX);
    }

    #[test]
    fn a_cell_may_be_longer_than_format_strings_can_pad() {
        let mut table = Table::new("flow <rate");
        table.push(vec!["x".repeat(70_000), "1".into()]);
        table.push(vec!["F2".into(), "y".repeat(70_000)]);
        let text = table.render(|_, _, cell| cell.to_string());
        assert!(text.lines().skip(1).all(|line| line.len() == 140_004));
    }

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        let hostile = "a\tb\n\x1b]0;title\x07\x1b[8mhidden\u{9b}2J\u{202e}\r\x7f";
        let shown = "a\tb\n\\u001b]0;title\\u0007\\u001b[8mhidden\\u009b2J\\u202e\\u000d\\u007f";
        for paint in [Paint::Plain, Paint::Ansi] {
            assert_eq!(printable(hostile, paint), shown);
            assert_eq!(printable("F\u{fc}\u{df}e", paint), "F\u{fc}\u{df}e");
        }
        let red = "\x1b[1;31mx\x1b[0m \x1b[38;5;9m";
        assert_eq!(printable(red, Paint::Ansi), red);
        assert!(!printable(red, Paint::Plain).contains('\x1b'));
    }

    #[test]
    fn paint_is_only_for_terminals() {
        assert_eq!(Paint::Plain.paint(Mood::Bad, "x"), "x");
        assert_eq!(Paint::Ansi.paint(Mood::Good, "x"), "\x1b[32mx\x1b[0m");
    }
}
