//! Names and numbers as they stand in a drawing.

use std::borrow::Cow;
use std::fmt::Write;

use crate::report::html::escape;

/// A piece of text and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'w> {
    /// What it says.
    pub(super) text: &'w str,
    /// The foot of its first letter, or of its middle.
    pub(super) at: (f64, f64),
    /// The height of its letters.
    pub(super) size: f64,
    /// The most room that it may take.
    pub(super) room: f64,
    /// Colour, anchor and whatever else is to be said of it, as attributes.
    pub(super) manner: &'w str,
}

impl Words<'_> {
    /// Writes the element. What does not fit is shortened, and then a tooltip has all of it.
    pub(super) fn write(&self, out: &mut String) {
        let letters = (self.room / (LETTER * self.size)) as usize;
        let shown = shorten(self.text, letters.max(2));
        // Writing to a string cannot fail.
        let _ = write!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{}\" {}>{}",
            self.at.0,
            self.at.1,
            self.size,
            self.manner,
            clean(&shown)
        );
        if shown != self.text {
            let _ = write!(out, "<title>{}</title>", clean(self.text));
        }
        out.push_str("</text>\n");
    }
}

/// About how wide a text is.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * LETTER
}

/// `text` in at most so many letters: what tells names apart stands at either end, and at the last
/// rather than at the first.
pub(super) fn shorten(text: &str, letters: usize) -> Cow<'_, str> {
    let count = text.chars().count();
    if count <= letters {
        return Cow::Borrowed(text);
    }
    let kept = letters.saturating_sub(1);
    let tail = kept - kept * 2 / 5;
    let head = text.chars().take(kept - tail);
    let tail = text.chars().skip(count - tail);
    Cow::Owned(head.chain(['\u{2026}']).chain(tail).collect())
}

/// `text` as XML may hold it: neither marks that mean something nor letters that it forbids.
pub(super) fn clean(text: &str) -> String {
    let is_legal = |c: char| {
        let is_forbidden = matches!(c, '\u{7f}' | '\u{fffe}' | '\u{ffff}');
        (c >= ' ' || "\t\n\r".contains(c)) && !is_forbidden
    };
    let legal = text.chars().map(|c| if is_legal(c) { c } else { '\u{fffd}' });
    escape(&String::from_iter(legal))
}

/// Orders names as people do: `leaf2` before `leaf10`.
pub(super) fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts = vec![(String::new(), 0u64)];
    let mut in_number = false;
    for c in name.chars() {
        match (c.to_digit(10), in_number) {
            (None, true) => parts.push((c.to_string(), 0)),
            (None, false) => last(&mut parts).0.push(c),
            (Some(digit), _) => {
                let number = &mut last(&mut parts).1;
                *number = number.saturating_mul(10).saturating_add(u64::from(digit));
            }
        }
        in_number = c.is_ascii_digit();
    }
    parts
}

fn last<T>(parts: &mut [T]) -> &mut T {
    parts.last_mut().expect("it begins with one")
}

/// `1 switch` or `2 switches`.
pub(in crate::check) fn count(number: usize, (one, many): (&str, &str)) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {many}"),
    }
}

/// The width of a letter, in heights: that of Helvetica on the average of names, which have many
/// capitals and digits.
const LETTER: f64 = 0.57;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_both_ends() {
        assert_eq!(shorten("leaf1", 5), "leaf1");
        assert_eq!(shorten("B10-P1-IBSPINE-07", 9), "B10\u{2026}NE-07");
        assert_eq!(shorten("\u{e9}\u{e9}\u{e9}\u{e9}", 2), "\u{2026}\u{e9}");
        assert_eq!(shorten("abc", 0), "\u{2026}");
    }

    #[test]
    fn numbers_in_names_count() {
        let mut names = ["leaf10", "leaf2", "S1_10", "S1_9", "leaf", "7"];
        names.sort_by_key(|name| natural(name));
        assert_eq!(names, ["7", "S1_9", "S1_10", "leaf", "leaf2", "leaf10"]);
    }

    #[test]
    fn what_xml_forbids_is_replaced() {
        assert_eq!(clean("a\u{0}<\u{1b}&"), "a\u{fffd}&lt;\u{fffd}&amp;");
    }
}
