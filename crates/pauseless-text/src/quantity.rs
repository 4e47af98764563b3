//! Numbers as people read them: a few digits and a unit.

use std::ops::RangeInclusive;

use pauseless_core::unit::{Bytes, Rate, Span, Time};

use crate::unit;

/// A length of time as scenario files write it, such as `52.4 us`; else what is wrong with it.
pub fn parse_span(text: &str) -> Result<Span, String> {
    match parse(text)? {
        Span::ZERO => Err("a run must last longer than nothing".to_string()),
        span if span > SPAN_MAX => Err(format!("at most {SPAN_MAX} can be simulated")),
        span => Ok(span),
    }
}

/// A round trip, which takes some time.
pub fn parse_round_trip(text: &str) -> Result<Span, String> {
    match parse_delay(text) {
        Ok(Span::ZERO) => Err("a round trip must take longer than nothing".to_string()),
        other => other,
    }
}

/// A delay, which may be none at all.
pub fn parse_delay(text: &str) -> Result<Span, String> {
    match parse(text)? {
        span if span > DELAY_MAX => Err(format!("at most {DELAY_MAX} make sense")),
        span => Ok(span),
    }
}

/// An amount of data as scenario files write it, such as `32 MB`; else what is wrong with it.
pub fn parse_bytes(text: &str) -> Result<Bytes, String> {
    match parse(text)? {
        Bytes::ZERO => Err("it must be more than nothing".to_string()),
        bytes if bytes > BYTES_MAX => Err(format!("at most {BYTES_MAX} make sense")),
        bytes => Ok(bytes),
    }
}

/// The rate of a link as scenario files write it, such as `100 Gbps`; else what is wrong with it.
pub fn parse_rate(text: &str) -> Result<Rate, String> {
    let (least, most) = (RATES.start(), RATES.end());
    match parse(text)? {
        rate if !RATES.contains(&rate) => Err(format!("a link has from {least} to {most}")),
        rate => Ok(rate),
    }
}

fn parse<T: unit::Quantity>(text: &str) -> Result<T, String> {
    unit::parse(text)
        .map_err(|wrong| format!("{}; {} ({})", wrong.message, wrong.help, unit::unit_list::<T>()))
}

/// A rate: `5.00 Gb/s`, `152 kb/s`.
pub fn rate(bps: f64) -> String {
    let units = [(1e12, "Tb/s"), (1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s")];
    scaled(bps, &units, "b/s")
}

/// An amount of data in units of 1000: `812 KB`.
pub fn bytes(bytes: Bytes) -> String {
    let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "KB")];
    scaled(bytes.get() as f64, &units, "B")
}

/// A length of time: `3.41 ms`.
pub fn span(span: Span) -> String {
    time(Time::ZERO + span)
}

/// An instant since the start of the run: `3.41 ms`.
pub fn time(time: Time) -> String {
    let units = [(1e12, "s"), (1e9, "ms"), (1e6, "us"), (1e3, "ns")];
    scaled(time.as_ps() as f64, &units, "ps")
}

/// An instant in a run whose first flow starts at `start`: to the nanosecond where three digits
/// would hide how much later it is.
pub fn instant(at: Time, start: Time) -> String {
    let since = at.saturating_since(start).as_ps();
    let ps = at.as_ps();
    if since == 0 || since >= ps / 10 || ps < 1_000_000 {
        return time(at);
    }
    let (scale, digits, unit) = match ps {
        1_000_000_000_000.. => (1_000_000_000, 9, "s"),
        1_000_000_000.. => (1_000_000, 6, "ms"),
        _ => (1_000, 3, "us"),
    };
    let ns = (ps + 500) / 1_000;
    let (whole, part) = (ns / scale, ns % scale);
    format!("{whole}.{part:0digits$} {unit}")
}

/// A share in percent, with the digits that small shares need.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        0.0 => "0 %".to_string(),
        p if p < 0.001 => "<0.001 %".to_string(),
        p if p < 1.0 => format!("{p:.3} %"),
        p => format!("{p:.1} %"),
    }
}

/// A share in percent, without the sign: `20.0`.
pub fn percents(share: f64) -> String {
    match share * 100.0 {
        0.0 => "0".to_string(),
        100.0 => "100".to_string(),
        percent if percent < 0.1 => format!("{percent:.2}"),
        percent => format!("{percent:.1}"),
    }
}

/// A number without a unit, with three digits: `1.25`, `31.4`, `0.042`.
pub fn number(value: f64) -> String {
    match value {
        0.0 => "0".to_string(),
        n if n < 0.000_5 => "<0.001".to_string(),
        n if n < 0.999_5 => format!("{n:.3}"),
        n if n < 9.995 => format!("{n:.2}"),
        n if n < 99.95 => format!("{n:.1}"),
        n => count(n.round() as u64),
    }
}

/// A number of an axis whose ticks are `step` apart and end at `top`: `1.5×10⁶`.
pub fn tick(value: f64, step: f64, top: f64) -> String {
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

/// A power of ten: `0.01`, `10⁹`.
pub fn decade(power: i32) -> String {
    match power {
        -3..=4 => tick(10f64.powi(power), 10f64.powi(power), 1.0),
        _ => format!("10{}", raised(power)),
    }
}

/// A number with three digits that count, as it stands above a bar: `0.123`, `−2.5×10⁸`.
pub fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".to_string();
    }
    let power = value.abs().log10().floor() as i32;
    if !(-3..6).contains(&power) {
        let text = format!("{:.1}", value / 10f64.powi(power));
        return minus(&format!("{}×10{}", trimmed(&text), raised(power)));
    }
    // A half goes up, as in tables.
    let value = if power >= 2 { value.round() } else { value };
    minus(trimmed(&with_digits(value, 3)))
}

/// A number with at most six digits that count, as it stands at an axis: `1.23457`.
pub fn digits(value: f64) -> String {
    let power = value.abs().log10().floor();
    if value == 0.0 || !value.is_finite() {
        value.to_string()
    } else if (-6.0..15.0).contains(&power) {
        trimmed(&with_digits(value, 6)).to_string()
    } else {
        format!("{value:e}")
    }
}

/// A number with three digits that count, or all of a whole one: `2.00`, `12,346`, `5.00e-7`.
pub fn significant(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if value == 0.0 => "0".to_string(),
        _ if value < 0.0 => format!("-{}", significant(size)),
        _ if size.fract() == 0.0 && size < 1e15 => count(size as u64),
        _ if (99.95..1e15).contains(&size) => count(size.round() as u64),
        _ if (1e-3..1e15).contains(&size) => with_digits(value, 3),
        _ => format!("{value:.2e}"),
    }
}

/// A count as a count, any other number with three digits: `12`, `-0.042`.
pub fn measured(value: f64) -> String {
    match value {
        value if value < 0.0 => format!("-{}", measured(-value)),
        value if value.fract() == 0.0 => count(value as u64),
        value => number(value),
    }
}

/// A number that is not zero with so many digits that count, or all digits before the point.
fn with_digits(value: f64, digits: i32) -> String {
    let power = value.abs().log10().floor() as i32;
    let places = usize::try_from(digits - 1 - power).unwrap_or(0);
    format!("{value:.places$}")
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

/// A count with its digits in groups of three.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The first few of some names, and how many more there are: `a, b and 3 more`.
pub fn some<S: AsRef<str>>(names: impl ExactSizeIterator<Item = S>, most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let shown = Vec::from_iter(names.take(most));
    let shown = Vec::from_iter(shown.iter().map(AsRef::as_ref)).join(", ");
    match more {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// A count with its noun, digits in groups of three: `1 packet`, `2,000 packets`, `3 classes`.
pub fn plural(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{} {}", count(n), plural_of(noun)) }
}

/// A number of things, with its digits together: `1 switch`, `1000 switches`.
pub fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {}", plural_of(noun)) }
}

/// The plural of a noun: `networks`, `switches`. What ends like a plural is taken for one.
pub fn plural_of(noun: &str) -> String {
    let is_hissing = ["ss", "x", "z", "ch", "sh"].iter().any(|it| noun.ends_with(it));
    match noun.strip_suffix('y') {
        Some(rest) if !rest.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{rest}ies"),
        _ if is_hissing => format!("{noun}es"),
        _ if noun.ends_with('s') => noun.to_string(),
        _ => format!("{noun}s"),
    }
}

/// Three significant digits in the largest unit that fits.
fn scaled(value: f64, units: &[(f64, &str)], base: &str) -> String {
    // What would be written as 1000 of a unit is written as 1 of the next.
    let fits = |(scale, _): &&(f64, &str)| value >= scale * 0.9995;
    let Some((scale, unit)) = units.iter().find(fits) else {
        return format!("{} {base}", value.round());
    };
    let number = value / scale;
    match number {
        n if n < 9.995 => format!("{n:.2} {unit}"),
        n if n < 99.95 => format!("{n:.1} {unit}"),
        n => format!("{n:.0} {unit}"),
    }
}

/// A byte lasts at least 5 ps, so that times stay exact; see [`pauseless_core::unit`].
pub const RATES: RangeInclusive<Rate> = Rate::mbps(1)..=Rate::gbps(1_600);
/// The range of numbers on axes that are written without a power of ten.
const PLAIN: std::ops::Range<f64> = 1e-3..1e5;
/// The longest delay, as in scenarios.
const DELAY_MAX: Span = Span::s(1);
/// The largest buffer: more than any switch has.
const BYTES_MAX: Bytes = Bytes::mb(1_000_000);
/// The longest time span, one day: far more than anybody waits for, far less than 64 bits of
/// picoseconds hold.
const SPAN_MAX: Span = Span::s(86_400);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_three_digits_and_a_unit() {
        assert_eq!(rate(4_998_000_000.0), "5.00 Gb/s");
        assert_eq!(rate(152_400.0), "152 kb/s");
        assert_eq!(rate(0.0), "0 b/s");
        assert_eq!(rate(999_960_000.0), "1.00 Gb/s");
        assert_eq!(bytes(Bytes::new(746_100)), "746 KB");
        assert_eq!(bytes(Bytes::new(1_012_000)), "1.01 MB");
        assert_eq!(time(Time::from_ps(3_412_000_000)), "3.41 ms");
        assert_eq!(time(Time::from_ps(41_250_000_000)), "41.2 ms");
    }

    #[test]
    fn instants_are_told_from_the_first_start() {
        let at =
            |ns: u64, start: u64| instant(Time::from_ps(ns * 1_000), Time::from_ps(start * 1_000));
        assert_eq!(at(2_000_092_251, 2_000_000_000), "2.000092251 s");
        assert_eq!(at(2_000_000_000, 2_000_000_000), "2.00 s");
        assert_eq!(at(5_000_100, 5_000_000), "5.000100 ms");
        assert_eq!(at(20_040, 20_000), "20.040 us");
        assert_eq!(at(2_800_123, 12), "2.80 ms");
        assert_eq!(at(2_500_000_000, 2_000_000_000), "2.50 s");
    }

    #[test]
    fn spans_are_read_with_their_unit() {
        assert_eq!(parse_span("52.4 us"), Ok(Span::ns(52_400)));
        assert_eq!(parse_span("1s"), Ok(Span::s(1)));
        for wrong in ["", "5", "0 ms", "5 KB", "-1 ms", "2000000 s", "999999999999999 s"] {
            assert!(parse_span(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn ticks_have_the_digits_of_their_step() {
        assert_eq!(tick(2.0, 0.5, 3.0), "2.0");
        assert_eq!(tick(150.0, 50.0, 200.0), "150");
        assert_eq!(tick(-1.0, 1.0, 2.0), "−1");
        assert_eq!(tick(0.0, 0.1, 2.0), "0");
        assert_eq!(tick(1.5e6, 5e5, 2e6), "1.5×10⁶");
        assert_eq!(tick(2e-5, 1e-5, 4e-5), "2×10⁻⁵");
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
    fn numbers_have_the_digits_that_count() {
        let texts = [0.0, 12.0, -0.123_4, 1.999, 12_345.6, 5e-7].map(significant);
        assert_eq!(texts, ["0", "12", "-0.123", "2.00", "12,346", "5.00e-7"]);
        assert_eq!([0.0, 1.234_567, 10_000.0, 1e-9].map(digits), ["0", "1.23457", "10000", "1e-9"]);
        assert_eq!([-3.0, 0.042, 12_345.0].map(measured), ["-3", "0.042", "12,345"]);
        assert_eq!([0.0, 0.2, 0.0004, 1.0].map(percents), ["0", "20.0", "0.04", "100"]);
    }

    #[test]
    fn nouns_have_a_right_plural() {
        let nouns = ["network", "thresholds", "topology", "delay", "class", "mix"];
        let plurals = ["networks", "thresholds", "topologies", "delays", "classes", "mixes"];
        assert_eq!(nouns.map(plural_of), plurals);
        assert_eq!(counted(1, "switch"), "1 switch");
        assert_eq!(counted(2_000, "dependency"), "2000 dependencies");
    }

    #[test]
    fn shares_and_counts() {
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.000_977), "0.098 %");
        assert_eq!(percent(0.5), "50.0 %");
        assert_eq!(percent(1e-9), "<0.001 %");
        assert_eq!(number(0.0), "0");
        assert_eq!(number(0.042), "0.042");
        assert_eq!(number(0.999_9), "1.00");
        assert_eq!(number(31.41), "31.4");
        assert_eq!(number(12_345.6), "12,346");
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(plural(1, "packet"), "1 packet");
        assert_eq!(plural(2_000, "packet"), "2,000 packets");
    }
}
