//! Numbers taken from the recorded curves of a run.

use pauseless_core::unit::{Span, Time};
use serde::Deserialize;

use crate::report::quantity::parse_delay;
use crate::results::curves;
use crate::run::Run;

/// A number taken from a curve.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// The name of the metric.
    pub name: String,
    /// The curve, or several with ` + ` between them.
    pub series: String,
    /// From when; by default from the beginning.
    pub from: Option<String>,
    /// Until when; by default to the end.
    pub to: Option<String>,
    /// What is taken, such as `mean` or `first above 35`.
    pub take: String,
}

/// The number that `measure` takes from a run, if there is one.
pub fn take(run: &Run, measure: &Measure) -> Result<Option<f64>, String> {
    let curve = curves::sum(run, &measure.series)?;
    let instant = |text: &Option<String>, otherwise: Time| match text {
        None => Ok(otherwise),
        Some(text) => parse_delay(text).map(|span| Time::ZERO + span),
    };
    let from = instant(&measure.from, Time::ZERO)?;
    let to = instant(&measure.to, run.outcome.end)?;
    let times = &run.outcome.series.times;
    let points = times.iter().copied().zip(curve);
    // A sample is the mean since the one before: the first that counts lies after `from`.
    let window: Vec<(Time, f64)> = points
        .filter(|(time, _)| *time > from && *time <= to)
        .collect();
    if window.is_empty() {
        return Ok(None);
    }
    let taker = Taker { window, from };
    let words: Vec<&str> = measure.take.split(' ').collect();
    let limit = || {
        let last = words.last().and_then(|word| word.parse::<f64>().ok());
        last.ok_or_else(|| unknown(&measure.take))
    };
    match words[..] {
        [name] => taker.number(name).map(Some),
        ["below", _] => limit().map(|limit| Some(taker.spent(|value| value < limit))),
        ["above", _] => limit().map(|limit| Some(taker.spent(|value| value > limit))),
        ["first", "below", _] => limit().map(|limit| taker.first(|value| value < limit)),
        ["first", "above", _] => limit().map(|limit| taker.first(|value| value > limit)),
        _ => Err(unknown(&measure.take)),
    }
}

struct Taker {
    window: Vec<(Time, f64)>,
    from: Time,
}

impl Taker {
    fn values(&self) -> impl Iterator<Item = f64> + Clone {
        self.window.iter().map(|(_, value)| *value)
    }

    fn number(&self, name: &str) -> Result<f64, String> {
        let values = self.values();
        let count = self.window.len() as f64;
        let mean = values.clone().sum::<f64>() / count;
        Ok(match name {
            "mean" => mean,
            "min" => values.fold(f64::INFINITY, f64::min),
            "max" => values.fold(f64::NEG_INFINITY, f64::max),
            "last" => values.last().unwrap_or(mean),
            "std" => {
                let squares = values.map(|value| (value - mean).powi(2));
                (squares.sum::<f64>() / count).sqrt()
            }
            other => return Err(unknown(other)),
        })
    }

    /// Milliseconds during which `is` holds.
    fn spent(&self, is: impl Fn(f64) -> bool) -> f64 {
        let mut spent = Span::ZERO;
        let mut before = self.from;
        for (time, value) in &self.window {
            if is(*value) {
                spent = spent + (*time - before);
            }
            before = *time;
        }
        spent.as_secs_f64() * 1e3
    }

    /// Milliseconds until `is` holds for the first time.
    fn first(&self, is: impl Fn(f64) -> bool) -> Option<f64> {
        let found = self.window.iter().find(|(_, value)| is(*value));
        found.map(|(time, _)| (*time - self.from).as_secs_f64() * 1e3)
    }
}

fn unknown(take: &str) -> String {
    format!(
        "{take:?} cannot be taken: mean, min, max, last, std, below X, above X, first below X, first above X"
    )
}
