//! How wide words are, and numbers as words.

/// The width of `text` at a size, both in points, in the font of the pictures.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let hundredths: u32 = text.chars().map(advance).sum();
    f64::from(hundredths) / 100.0 * size
}

/// `text` in lines that are at most so wide, broken at spaces and hyphens; a syllable stays whole.
pub(super) fn wrap(text: &str, room: (f64, f64)) -> Vec<String> {
    lines(syllables(text), room)
}

/// The same, broken at spaces only.
pub(super) fn wrap_words(text: &str, room: (f64, f64)) -> Vec<String> {
    lines(text.split_inclusive(' '), room)
}

fn lines<'a>(parts: impl Iterator<Item = &'a str>, (room, size): (f64, f64)) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if width(&format!("{line}{}", part.trim_end()), size) <= room => {
                line.push_str(part);
            }
            _ => lines.push(part.to_string()),
        }
    }
    let trim = |line: String| line.trim().to_string();
    let lines = lines.into_iter().map(trim);
    lines.filter(|line| !line.is_empty()).collect()
}

/// The parts between which a line may end.
pub(super) fn syllables(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive([' ', '-'])
}

/// A number of an axis whose ticks are `step` apart and end at `top`.
pub(super) fn tick(value: f64, (step, top): (f64, f64)) -> String {
    if value.abs() < step * 1e-6 {
        return "0".to_string();
    }
    if PLAIN.contains(&top.abs()) {
        let digits = (-step.log10() - 1e-9).ceil().max(0.0) as usize;
        return minus(&format!("{value:.digits$}"));
    }
    let power = (top.abs().log10() + 1e-9).floor() as i32;
    let unit = 10f64.powi(power);
    let digits = (-(step / unit).log10() - 1e-9).ceil().max(0.0) as usize;
    let digits = format!("{:.digits$}", value / unit);
    minus(&format!("{digits}×10{}", raised(power)))
}

/// A power of ten.
pub(super) fn decade(power: i32) -> String {
    match power {
        -3..=4 => tick(10f64.powi(power), (10f64.powi(power), 1.0)),
        _ => format!("10{}", raised(power)),
    }
}

/// A number with three digits that count, as it stands above a bar.
pub(super) fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".to_string();
    }
    let power = value.abs().log10().floor() as i32;
    if !(-3..6).contains(&power) {
        let text = format!("{:.1}", value / 10f64.powi(power));
        return minus(&format!("{}×10{}", trimmed(&text), raised(power)));
    }
    let digits = usize::try_from(2 - power).unwrap_or(0);
    // A half goes up, as in tables.
    let value = if digits == 0 { value.round() } else { value };
    minus(trimmed(&format!("{value:.digits$}")))
}

fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

fn minus(text: &str) -> String {
    text.replace('-', "−")
}

fn raised(power: i32) -> String {
    let raise = |char| match char {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32(u32::from(digit) - u32::from('0') + 0x2070).unwrap_or(digit),
    };
    power.to_string().chars().map(raise).collect()
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

/// What is written without a power of ten.
const PLAIN: std::ops::Range<f64> = 1e-3..1e5;

/// DejaVu Sans Condensed from space to tilde.
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
    fn ticks_have_the_digits_of_their_step() {
        assert_eq!(tick(2.0, (0.5, 3.0)), "2.0");
        assert_eq!(tick(150.0, (50.0, 200.0)), "150");
        assert_eq!(tick(-1.0, (1.0, 2.0)), "−1");
        assert_eq!(tick(0.0, (0.1, 2.0)), "0");
        assert_eq!(tick(1.5e6, (5e5, 2e6)), "1.5×10⁶");
        assert_eq!(tick(2e-5, (1e-5, 4e-5)), "2×10⁻⁵");
        assert_eq!([decade(-2), decade(4), decade(9)], ["0.01", "10000", "10⁹"]);
    }

    #[test]
    fn short_numbers_have_three_digits() {
        // As in tables, where a half goes up.
        assert_eq!([3_522.5, -122.5].map(short), ["3523", "−123"]);
        let texts = [0.0, 28.0, 0.12345, 1234.5, 5e-7, -2.5e8].map(short);
        assert_eq!(texts, ["0", "28", "0.123", "1235", "5×10⁻⁷", "−2.5×10⁸"]);
    }

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(wrap("one two three", (40.0, 8.0)), ["one two", "three"]);
        assert_eq!(wrap("unbreakable", (1.0, 8.0)), ["unbreakable"]);
        assert_eq!(wrap("time-based GFC", (40.0, 8.0)), ["time-", "based GFC"]);
        let title = wrap_words("time-based GFC", (40.0, 8.0));
        assert_eq!(title, ["time-based", "GFC"]);
        assert!(wrap("", (40.0, 8.0)).is_empty());
    }
}
