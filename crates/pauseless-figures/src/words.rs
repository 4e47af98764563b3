//! How wide texts are, and how they become short enough.

use std::borrow::Cow;

/// The width of `text` at a size, both in points, in the font of the pictures.
pub fn width(text: &str, size: f64) -> f64 {
    let hundredths: u32 = text.chars().map(advance).sum();
    f64::from(hundredths) / 100.0 * size
}

/// `text` in lines that are at most `room` wide, broken after these characters only.
pub(super) fn wrap(text: &str, breaks: &[char], room: f64, size: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in text.split_inclusive(breaks) {
        match lines.last_mut() {
            Some(line) if width(&format!("{line}{}", part.trim_end()), size) <= room => {
                line.push_str(part);
            }
            _ => lines.push(part.to_string()),
        }
    }
    lines.iter().map(|line| line.trim().to_string()).filter(|line| !line.is_empty()).collect()
}

/// `text` in at most so many letters: what tells names apart stands at either end, and at the last
/// rather than at the first.
pub fn shorten(text: &str, letters: usize) -> Cow<'_, str> {
    let count = text.chars().count();
    if count <= letters {
        return Cow::Borrowed(text);
    }
    let kept = letters.saturating_sub(1);
    let tail = kept - kept * 2 / 5;
    let head = text.chars().take(kept - tail);
    let tail = text.chars().skip(count - tail);
    Cow::Owned(head.chain(['…']).chain(tail).collect())
}

/// The advance of a character in hundredths of its size.
fn advance(char: char) -> u32 {
    let place = (char as usize).checked_sub(32);
    match place.and_then(|place| ADVANCES.get(place)) {
        Some(advance) => u32::from(*advance),
        None if ('⁰'..='⁻').contains(&char) || "¹²³".contains(char) => 38,
        None => 70,
    }
}

/// The characters after which a line of a name may end.
pub(super) const SYLLABLES: &[char] = &[' ', '-'];

/// The advances in DejaVu Sans Condensed from space to tilde.
#[rustfmt::skip]
const ADVANCES: [u8; 95] = [
    29, 36, 41, 75, 57, 85, 70, 25, 35, 35, 45, 75, 29, 32, 29, 30, 57, 57, 57, 57, 57, 57, 57, 57,
    57, 57, 30, 30, 75, 75, 75, 48, 90, 62, 62, 63, 69, 57, 52, 70, 68, 27, 27, 59, 50, 78, 67, 71,
    54, 71, 62, 57, 55, 66, 62, 89, 62, 55, 62, 35, 30, 35, 75, 45, 45, 55, 57, 49, 57, 55, 32, 57,
    57, 25, 25, 52, 25, 88, 57, 55, 57, 57, 37, 47, 35, 57, 53, 74, 53, 53, 47, 57, 30, 57, 75,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_both_ends() {
        assert_eq!(shorten("leaf1", 5), "leaf1");
        assert_eq!(shorten("B10-P1-IBSPINE-07", 9), "B10…NE-07");
        assert_eq!(shorten("éééé", 2), "…é");
        assert_eq!(shorten("abc", 0), "…");
    }

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(wrap("one two three", SYLLABLES, 40.0, 8.0), ["one two", "three"]);
        assert_eq!(wrap("unbreakable", SYLLABLES, 1.0, 8.0), ["unbreakable"]);
        assert_eq!(wrap("time-based GFC", SYLLABLES, 40.0, 8.0), ["time-", "based GFC"]);
        let title = wrap("time-based GFC", &[' '], 40.0, 8.0);
        assert_eq!(title, ["time-based", "GFC"]);
        assert!(wrap("", SYLLABLES, 40.0, 8.0).is_empty());
    }
}
