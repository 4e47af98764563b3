//! `range`, `seeds` and `random`: values by rule.

use std::collections::BTreeSet;

use pauseless_fabric::rng::{Purpose, Stream, hash_name};
use toml::Value;

use super::axis::POINTS_MAX;
use crate::threshold::Scale;
use pauseless_scenario::vary::{Amount, Unit};
use pauseless_text::declare::{Declared, FileValue, Kind};
use pauseless_text::problem::{Problem, Sink};
use pauseless_text::reader::{At, Item};
use pauseless_text::section;

section! {
    /// Evenly spaced values; `from` and `count`, `from`, `to` and `count`, or `from`, `to` and `step`.
    pub(super) struct Range {
        /// The first value of the range.
        from: Amount, required "0";
        /// The last value, which is included.
        to: Amount;
        /// How many values there are.
        count: u64, within 1..=POINTS_MAX;
        /// How far values are apart.
        step: Amount, derived "`1`, or what `to` and `count` make it";
        /// Whether values are apart by the same difference (`"linear"`) or the same factor (`"log"`).
        scale: Scale, default Scale::Linear;
    }
}

section! {
    /// Values that are drawn once from the seed and the axis' name, in ascending order.
    pub(super) struct Random {
        /// The least value that may be drawn.
        from: Amount, required "\"20 KB\"";
        /// The largest value that may be drawn.
        to: Amount, required "\"200 KB\"";
        /// How many values there are.
        count: u64, within 1..=POINTS_MAX, required "20";
        /// Whether values are drawn evenly (`"linear"`) or by their logarithm (`"log"`).
        scale: Scale, default Scale::Linear;
        /// What the draw depends on.
        seed: u64, default 1;
    }
}

section! {
    /// Seeds that follow each other.
    pub(super) struct SeedRange {
        /// The first of the seeds.
        first: u64, within 0..=u64::from(u32::MAX), default 1;
        /// How many seeds there are.
        count: u64, within 1..=POINTS_MAX, required "100";
    }
}

/// `100` seeds from 1 on, or `{ first = 7, count = 100 }`.
#[derive(Clone, Debug)]
pub(super) struct Seeds {
    first: u64,
    count: u64,
}

impl FileValue for Seeds {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<Seeds>> {
        let place = item.place.clone();
        let (first, count) = if item.is_table() {
            let range = SeedRange::take(item, &())?.value;
            (range.first.value, range.count.copied()?)
        } else {
            (1, item.integer(1..=POINTS_MAX)?.value)
        };
        let value = Seeds { first, count };
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        let count = u64::kind(&(1..=POINTS_MAX).into());
        Kind::Either(vec![count, Kind::Table(Box::new(SeedRange::info()))])
    }

    fn show(&self) -> String {
        format!("{{ first = {}, count = {} }}", self.first, self.count)
    }
}

impl Seeds {
    /// All seeds in ascending order.
    pub(super) fn values(&self) -> Vec<Value> {
        let seeds = self.first..self.first + self.count;
        seeds.map(|seed| Value::Integer(seed as i64)).collect()
    }
}

/// The values between two amounts of the same unit.
struct Between {
    from: Amount,
    to: Amount,
    scale: Scale,
}

impl Range {
    /// All values of the range; `None` if something was reported.
    pub(super) fn values(&self, sink: &Sink) -> Option<Vec<Value>> {
        if self.count.is_written {
            // What is wrong with it was reported.
            self.count.get()?;
        }
        let amounts = self.amounts(self.from.given.as_ref()?);
        let amounts = amounts.map_err(|problem| sink.push(problem)).ok()?;
        let distinct = BTreeSet::from_iter(&amounts).len();
        if distinct < amounts.len() {
            let message = format!("only {distinct} different values lie there");
            sink.push(self.place.problem(message).help(WIDER));
            return None;
        }
        Some(amounts.into_iter().map(value).collect())
    }

    fn amounts(&self, from: &At<Amount>) -> Result<Vec<Amount>, Problem> {
        let is_linear = self.scale.value == Scale::Linear;
        let to = self.to.given.as_ref();
        match (to, self.count.copied(), self.step.copied()) {
            (Some(to), Some(count), None) => {
                Ok(Between::new(from, to, self.scale.value)?.even(count))
            }
            (None, Some(count), step) if is_linear => {
                let one = from.value.of(match from.value.unit {
                    Unit::Billionth => 1_000_000_000,
                    _ => 1,
                });
                let step = step.map_or(one, |step| step.like(from.value));
                self.steps(from.value, step, count)
            }
            (Some(to), None, Some(step)) if is_linear => {
                let between = Between::new(from, to, self.scale.value)?;
                let step = step.like(between.from);
                let way = between.to.base - between.from.base;
                let count = way / step.base.max(1) + 1;
                if count > POINTS_MAX {
                    let problem = self.place.problem(format!("{count} values"));
                    return Err(problem.expected(format!("at most {POINTS_MAX}")));
                }
                self.steps(between.from, step, count)
            }
            _ => {
                let problem = self.place.problem("it does not say how many values there are");
                Err(problem.help("write from and count, from, to and count, or from, to and step"))
            }
        }
    }

    /// `count` values from `from` on, each `step` above the one before.
    fn steps(&self, from: Amount, step: Amount, count: u64) -> Result<Vec<Amount>, Problem> {
        let from = from.like(step);
        let last = step.base.checked_mul(count - 1).and_then(|way| way.checked_add(from.base));
        let fits = last.is_some_and(|last| last <= i64::MAX as u64);
        if from.unit != step.unit || !fits || (step.base == 0 && count > 1) {
            let message = format!("{} is no step from {}", step.exact(), from.exact());
            return Err(self.place.problem(message).help("write a step of the same unit, above 0"));
        }
        let values = (0..count).map(|number| from.of(from.base + number * step.base));
        Ok(values.collect())
    }
}

impl Random {
    /// The values that are drawn from the seed and the name of the axis, in ascending order.
    pub(super) fn values(&self, name: &str, sink: &Sink) -> Option<Vec<Value>> {
        let (from, to) = (self.from.given.as_ref()?, self.to.given.as_ref()?);
        let between = Between::new(from, to, self.scale.value);
        let between = between.map_err(|problem| sink.push(problem)).ok()?;
        let count = self.count.copied()?;
        let mut stream = Stream::new(self.seed.value, Purpose::Axis, hash_name(name));
        let mut drawn = BTreeSet::new();
        for _ in 0..count.saturating_mul(100) {
            // 53 bits, as many as a double has.
            let share = (stream.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
            drawn.insert(between.at(share));
            if drawn.len() as u64 == count {
                return Some(drawn.into_iter().map(value).collect());
            }
        }
        let message = format!("{count} different values are hard to find there");
        sink.push(self.place.problem(message).help(WIDER));
        None
    }
}

impl Between {
    pub fn new(from: &At<Amount>, to: &At<Amount>, scale: Scale) -> Result<Between, Problem> {
        let (low, high) = (from.value.like(to.value), to.value.like(from.value));
        if low.unit != high.unit {
            let message = format!("{} is not of the kind of {}", high.exact(), low.exact());
            return Err(to.place.problem(message).help("use the same unit in both"));
        }
        if low > high {
            let message = format!("{} lies above {}", low.exact(), high.exact());
            return Err(from.place.problem(message).help("from is the smaller one"));
        }
        if scale == Scale::Log && low.base == 0 {
            let problem = from.place.problem("a logarithmic scale has no zero");
            return Err(problem.help("begin above 0, or leave out scale = \"log\""));
        }
        let (from, to) = (low, high);
        Ok(Between { from, to, scale })
    }

    /// `count` evenly spaced values, with both ends.
    fn even(&self, count: u64) -> Vec<Amount> {
        let last = (count - 1).max(1) as f64;
        let values = (0..count).map(|number| match number {
            0 => self.from,
            _ if number == count - 1 => self.to,
            _ => self.at(number as f64 / last),
        });
        values.collect()
    }

    /// The value at this share of the way from one end to the other.
    fn at(&self, share: f64) -> Amount {
        let (from, to) = (self.from.base as f64, self.to.base as f64);
        let base = match self.scale {
            Scale::Linear => from + (to - from) * share,
            Scale::Log => from * (to / from).powf(share),
        };
        let base = base.round() as u64;
        self.from.of(base.clamp(self.from.base, self.to.base))
    }
}

/// The amount as a value of a scenario file.
fn value(amount: Amount) -> Value {
    match amount.unit {
        Unit::Count => Value::Integer(amount.base as i64),
        Unit::Billionth => Value::Float(amount.base as f64 / 1e9),
        _ => Value::String(amount.exact()),
    }
}

/// The help for ranges that do not have enough values.
const WIDER: &str = "a smaller count, or a wider range";
