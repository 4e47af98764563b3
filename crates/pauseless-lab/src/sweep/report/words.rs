//! Values of axes, shares and numbers as people read them.

use super::super::campaign::Label;
use crate::report::quantity;
use crate::results::column_unit;
use crate::scenario::vary::{Amount, Unit};

/// A value of an axis, in the largest unit that it has at least one of.
pub(super) fn label(label: &Label, unit: &str) -> String {
    match label {
        Label::Text(text) => text.clone(),
        Label::Number(value) => {
            let (scale, unit) = scale(unit, value.abs());
            let text = digits(value / scale);
            match unit {
                "" => text,
                unit => format!("{text} {unit}"),
            }
        }
    }
}

/// How many of `unit` the unit has in which `greatest` is best written, and its name.
pub(super) fn scale(unit: &str, greatest: f64) -> (f64, &'static str) {
    let units: &[(f64, &'static str)] = match unit {
        "bytes" => &[(1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1.0, "B")],
        "bps" => &[(1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s")],
        "s" => &[(1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")],
        _ => return (1.0, ""),
    };
    // What is written as 1000 of a unit is 1 of the next.
    let fits = |it: &&(f64, &str)| greatest >= it.0 * (1.0 - 1e-9);
    let found = units.iter().find(fits);
    *found.unwrap_or(&units[units.len() - 1])
}

/// A quantity in the unit of an axis, if it is one.
pub(super) fn parse(text: &str, unit: &str) -> Option<f64> {
    let amount = Amount::parse(text).ok()?;
    let base = amount.base as f64;
    match (amount.unit, unit) {
        (Unit::Bytes, "bytes") | (Unit::Rate, "bps") => Some(base),
        (Unit::Time, "s") => Some(base / 1e12),
        _ => None,
    }
}

/// The name of a number that is kept, with its unit behind it in brackets: `fct mean (us)`.
pub(super) fn measured(name: &str) -> String {
    let (bare, unit) = match column_unit(name) {
        Some((bare, unit)) => (bare, unit.name()),
        None => (name.to_string(), ""),
    };
    with_unit(&bare.replace('_', " "), unit)
}

/// The name of an axis without its unit.
pub(super) fn axis(name: &str, unit: &str) -> String {
    let ending = format!("_{unit}");
    let name = match unit {
        "" => name,
        _ => name.strip_suffix(&ending).unwrap_or(name),
    };
    name.replace('_', " ")
}

/// More than one of what an axis counts: `networks`. What ends like a plural is taken for one.
pub(super) fn plural(noun: &str) -> String {
    let is_hissing = ["ss", "x", "z", "ch", "sh"].iter().into_iter().any(|it| noun.ends_with(it));
    match noun.strip_suffix('y') {
        Some(rest) if !rest.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{rest}ies"),
        _ if is_hissing => format!("{noun}es"),
        _ if noun.ends_with('s') => noun.to_string(),
        _ => format!("{noun}s"),
    }
}

/// A name with its unit behind it in brackets.
pub(super) fn with_unit(name: &str, unit: &str) -> String {
    match unit {
        "" => name.to_string(),
        unit => format!("{name} ({unit})"),
    }
}

/// The first few of a list.
pub(super) fn some(all: &[String]) -> String {
    quantity::some(all.iter(), SOME)
}

/// A share in percent, without the sign.
pub(super) fn percent(share: f64) -> String {
    match share * 100.0 {
        0.0 => "0".to_string(),
        100.0 => "100".to_string(),
        percent if percent < 0.1 => format!("{percent:.2}"),
        percent => format!("{percent:.1}"),
    }
}

/// A number with three digits that count, or all of a whole one.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if value == 0.0 => "0".to_string(),
        _ if value < 0.0 => format!("-{}", number(size)),
        _ if size.fract() == 0.0 && size < 1e15 => quantity::count(size as u64),
        _ if (99.95..1e15).contains(&size) => quantity::count(size.round() as u64),
        _ if (1e-3..1e15).contains(&size) => {
            let power = size.log10().floor() as i32;
            let places = usize::try_from(2 - power).unwrap_or(0);
            format!("{value:.places$}")
        }
        _ => format!("{value:.2e}"),
    }
}

/// A number with at most six digits that count.
fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let power = value.abs().log10().floor() as i32;
    if !(-6..15).contains(&power) {
        return format!("{value:e}");
    }
    let places = usize::try_from(5 - power).unwrap_or(0);
    let text = format!("{value:.places$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

/// More values than this are a list that nobody reads.
const SOME: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_axes_have_units_that_fit() {
        let write = |value: f64, unit: &str| label(&Label::Number(value), unit);
        assert_eq!(write(280_000.0, "bytes"), "280 KB");
        assert_eq!(write(1e6, "bytes"), "1 MB");
        assert_eq!(write(1_234_567.0, "bytes"), "1.23457 MB");
        assert_eq!(write(2.5e9, "bps"), "2.5 Gb/s");
        assert_eq!(write(5e-6, "s"), "5 us");
        assert_eq!(write(0.25, ""), "0.25");
        assert_eq!(write(10_000.0, ""), "10000");
        assert_eq!(parse("5 us", "s"), Some(5e-6));
        assert_eq!(parse("280 KB", "bytes"), Some(280_000.0));
        assert_eq!(parse("280 KB", "s"), None);
    }

    #[test]
    fn what_is_counted_has_a_right_plural() {
        let nouns = ["network", "thresholds", "topology", "delay", "class", "mix"];
        let plurals = ["networks", "thresholds", "topologies", "delays", "classes", "mixes"];
        assert_eq!(nouns.map(plural), plurals);
    }

    #[test]
    fn numbers_have_three_digits_that_count() {
        let texts = [0.0, 12.0, -0.123_4, 1.999, 12_345.6, 5e-7].map(number);
        assert_eq!(texts, ["0", "12", "-0.123", "2.00", "12,346", "5.00e-7"]);
        assert_eq!(measured("fct_mean_us"), "fct mean (us)");
        assert_eq!(measured("rate_min"), "rate min (Gb/s)");
        assert_eq!(measured("flows_per_s"), "flows (1/s)");
        assert_eq!(measured("fct_p99_us_S"), "fct p99 S (us)");
        assert_eq!(measured("queue_max_S1:S2"), "queue max S1:S2 (KB)");
        assert_eq!(measured("deadlock"), "deadlock");
        assert_eq!([0.0, 0.2, 0.0004, 1.0].map(percent), ["0", "20.0", "0.04", "100"]);
    }
}
