//! What stands in the column of an axis.

use toml::Value;

use crate::sweep::campaign::Label;
use crate::sweep::row;
use pauseless_scenario::vary::{Amount, Unit};

/// The labels of the values of an axis, and their unit: numbers if all of them are numbers of the
/// same, and else texts.
pub(super) fn all(values: &[Value]) -> (&'static str, Vec<Label>) {
    let numbers = Vec::from_iter(values.iter().map_while(number));
    let same = |pair: &[(Of, f64)]| pair[0].0 == pair[1].0;
    if numbers.len() == values.len() && numbers.windows(2).all(same) {
        let unit = numbers.first().map_or("", |(of, _)| of.unit());
        let labels = numbers.into_iter().map(|(_, number)| Label::Number(number));
        return (unit, labels.collect());
    }
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let labels = values.iter().map(|value| Label::Text(text(value)));
    ("", labels.collect())
}

/// The name of a column, with its unit.
pub(super) fn column(name: &str, unit: &str) -> String {
    let name = row::column(name);
    let is_there = name == unit || name.ends_with(&format!("_{unit}"));
    if unit.is_empty() || is_there { name } else { format!("{name}_{unit}") }
}

/// The quantity that a number measures.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Nothing,
    Share,
    Seconds,
    Bps,
    Bytes,
}

impl Of {
    fn unit(self) -> &'static str {
        match self {
            Of::Nothing | Of::Share => "",
            Of::Seconds => "s",
            Of::Bps => "bps",
            Of::Bytes => "bytes",
        }
    }
}

fn number(value: &Value) -> Option<(Of, f64)> {
    match value {
        Value::Integer(number) => Some((Of::Nothing, *number as f64)),
        Value::Float(number) => Some((Of::Nothing, *number)),
        Value::String(text) => {
            let amount = Amount::parse(text).ok()?;
            let base = amount.base as f64;
            match amount.unit {
                // A name such as "16" is no number where quantities have units.
                Unit::Count | Unit::Billionth => None,
                Unit::Time => Some((Of::Seconds, base / 1e12)),
                Unit::Rate => Some((Of::Bps, base)),
                Unit::Bytes => Some((Of::Bytes, base)),
                Unit::Share => Some((Of::Share, base / 1e6)),
            }
        }
        _ => None,
    }
}
