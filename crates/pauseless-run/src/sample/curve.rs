//! Numbers taken from the recorded curves of a run.

use std::ops::RangeInclusive;

use pauseless_core::unit::{Span, Time};

use crate::Run;
use crate::results::curves;
use pauseless_text::declare::{At, FileValue, Item, Kind};
use pauseless_text::section;

section! {
    /// A number that is taken from a recorded curve of every run.
    pub struct Measure {
        /// The name of the metric.
        name: String, required "\"peak\"", default String::new();
        /// The curve, such as `queue.S1:H1`, or several with ` + ` between them.
        series: String, required "\"queue.S1:H1\"", default String::new();
        /// The instant from which on the curve counts.
        from: Span, within INSTANTS, derived "the beginning";
        /// Until when the curve counts.
        to: Span, within INSTANTS, derived "the end";
        /// What is taken; `mean`, `min`, `max`, `last`, `std`, `below X` or `above X` (milliseconds spent
        /// there), `first below X` or `first above X` (milliseconds after `from`).
        take: Take, required "\"mean\"", default Take::Mean;
    }
}

/// The instants of a run that a curve can begin and end at.
pub const INSTANTS: RangeInclusive<Span> = Span::ZERO..=Span::s(1_000);

/// What is taken from a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Take {
    /// The mean of all values.
    Mean,
    /// The least of all values.
    Min,
    /// The greatest of all values.
    Max,
    /// The value at the last instant.
    Last,
    /// The standard deviation of all values.
    Std,
    /// The milliseconds spent below a value.
    Below(f64),
    /// The milliseconds spent above a value.
    Above(f64),
    /// The milliseconds until the curve is below a value.
    FirstBelow(f64),
    /// The milliseconds until the curve is above a value.
    FirstAbove(f64),
}

impl Take {
    fn parse(text: &str) -> Option<Take> {
        let words = Vec::from_iter(text.split(' '));
        let limit = words.last()?.parse::<f64>();
        Some(match words[..] {
            ["mean"] => Take::Mean,
            ["min"] => Take::Min,
            ["max"] => Take::Max,
            ["last"] => Take::Last,
            ["std"] => Take::Std,
            ["below", _] => Take::Below(limit.ok()?),
            ["above", _] => Take::Above(limit.ok()?),
            ["first", "below", _] => Take::FirstBelow(limit.ok()?),
            ["first", "above", _] => Take::FirstAbove(limit.ok()?),
            _ => return None,
        })
    }
}

impl FileValue for Take {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<Take>> {
        let sink = item.sink();
        let At { value: text, place } = item.string()?;
        let Some(value) = Take::parse(&text) else {
            sink.push(place.problem(format!("{text:?} cannot be taken")).expected(TAKES));
            return None;
        };
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        Kind::Text(TAKES)
    }

    fn show(&self) -> String {
        let shown = match self {
            Take::Mean => "mean".to_string(),
            Take::Min => "min".to_string(),
            Take::Max => "max".to_string(),
            Take::Last => "last".to_string(),
            Take::Std => "std".to_string(),
            Take::Below(limit) => format!("below {limit}"),
            Take::Above(limit) => format!("above {limit}"),
            Take::FirstBelow(limit) => format!("first below {limit}"),
            Take::FirstAbove(limit) => format!("first above {limit}"),
        };
        shown.show()
    }
}

const TAKES: &str = "mean, min, max, last, std, below X, above X, first below X or first above X";

/// The number that `measure` takes from a run, if there is one.
pub fn take(run: &Run, measure: &Measure) -> Result<Option<f64>, String> {
    let curve = curves::sum(run, &measure.series)?;
    let from = Time::ZERO + measure.from.or(Span::ZERO);
    let to = measure.to.copied().map_or(run.outcome.end, |span| Time::ZERO + span);
    let times = &run.outcome.series.times;
    let points = times.iter().copied().zip(curve);
    // A sample is the mean since the one before: the first that counts lies after `from`.
    let window: Vec<(Time, f64)> = points.filter(|(time, _)| *time > from && *time <= to).collect();
    if window.is_empty() {
        return Ok(None);
    }
    let taker = Taker { window, from };
    Ok(taker.take(measure.take.value))
}

struct Taker {
    window: Vec<(Time, f64)>,
    from: Time,
}

impl Taker {
    fn values(&self) -> impl Iterator<Item = f64> + Clone {
        self.window.iter().map(|(_, value)| *value)
    }

    fn take(&self, take: Take) -> Option<f64> {
        let values = self.values();
        let count = self.window.len() as f64;
        let mean = values.clone().sum::<f64>() / count;
        match take {
            Take::Mean => Some(mean),
            Take::Min => Some(values.fold(f64::INFINITY, f64::min)),
            Take::Max => Some(values.fold(f64::NEG_INFINITY, f64::max)),
            Take::Last => self.values().last(),
            Take::Std => {
                let squares = values.map(|value| (value - mean).powi(2));
                Some((squares.sum::<f64>() / count).sqrt())
            }
            Take::Below(limit) => Some(self.spent(|value| value < limit)),
            Take::Above(limit) => Some(self.spent(|value| value > limit)),
            Take::FirstBelow(limit) => self.first(|value| value < limit),
            Take::FirstAbove(limit) => self.first(|value| value > limit),
        }
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
