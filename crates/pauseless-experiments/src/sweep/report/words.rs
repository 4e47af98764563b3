//! Names and values of axes as people read them.

use super::super::campaign::Label;
use pauseless_run::results::column_unit;
use pauseless_scenario::vary::{Amount, Unit};
use pauseless_text::quantity;

/// A value of an axis, in the largest unit that it has at least one of.
pub(super) fn label(label: &Label, unit: &str) -> String {
    match label {
        Label::Text(text) => text.clone(),
        Label::Number(value) => {
            let (scale, unit) = scale(unit, value.abs());
            let text = quantity::digits(value / scale);
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

/// The most values that are listed: more nobody reads.
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
    fn names_have_their_unit_in_brackets() {
        assert_eq!(measured("fct_mean_us"), "fct mean (us)");
        assert_eq!(measured("rate_min"), "rate min (Gb/s)");
        assert_eq!(measured("flows_per_s"), "flows (1/s)");
        assert_eq!(measured("fct_p99_us_S"), "fct p99 S (us)");
        assert_eq!(measured("queue_max_S1:S2"), "queue max S1:S2 (KB)");
        assert_eq!(measured("deadlock"), "deadlock");
    }
}
