//! `range`, `seeds` and `random`: values by rule.

use std::collections::BTreeSet;

use pauseless_fabric::rng::{Purpose, Stream, hash_name};
use toml::Value;

use super::axis::POINTS_MAX;
use crate::scenario::reader::{At, Item, Section};
use crate::scenario::vary::{Amount, Unit};

/// How values lie between two others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    Linear,
    Log,
}

/// What lies between two amounts of the same.
struct Between {
    from: Amount,
    to: Amount,
    scale: Scale,
}

/// `seeds = 100`, or `{ first = 7, count = 100 }`.
pub(super) fn seeds(section: &mut Section<'_>) -> Option<At<Vec<Value>>> {
    let item = section.take("seeds")?;
    let place = item.place.clone();
    let (first, count) = if item.is_table() {
        let mut section = item.table()?;
        let first = section.integer("first", 0..=u64::from(u32::MAX));
        let has_count = section.has("count");
        let count = section.integer("count", 1..=POINTS_MAX);
        if !has_count {
            section.missing("count", "100");
        }
        section.finish();
        (first.map_or(1, |first| first.value), count?.value)
    } else {
        (1, item.integer(1..=POINTS_MAX)?.value)
    };
    let seeds = (first..first + count).map(|seed| Value::Integer(seed as i64));
    let value = seeds.collect();
    Some(At { value, place })
}

/// `{ from = 0, count = 10, step = 2 }`, or from one value to another, which is included.
pub(super) fn range(mut section: Section<'_>) -> Option<At<Vec<Value>>> {
    let range = read_range(&mut section);
    // Whatever is wrong, it may come of a key that is not spelt right.
    section.finish();
    range
}

fn read_range(section: &mut Section<'_>) -> Option<At<Vec<Value>>> {
    let place = section.place.clone();
    let from = amount(section, "from");
    let to = amount(section, "to");
    let has_count = section.has("count");
    let count = section.integer("count", 1..=POINTS_MAX);
    let step = amount(section, "step");
    let scale = read_scale(section);
    if from.is_none() {
        section.missing("from", "0");
    }
    if has_count {
        // What is wrong with it was reported.
        count.as_ref()?;
    }
    let amounts = match (from?, to, count.map(|it| it.value), step) {
        (from, Some(to), Some(count), None) => {
            let between = between(section, (&from, &to), scale)?;
            Some(between.even(count))
        }
        (from, None, Some(count), step) if scale == Scale::Linear => {
            let one = from.value.of(match from.value.unit {
                Unit::Billionth => 1_000_000_000,
                _ => 1,
            });
            let step = step.map_or(one, |step| step.value.like(from.value));
            steps(section, (from.value, step), count)
        }
        (from, Some(to), None, Some(step)) if scale == Scale::Linear => {
            let between = between(section, (&from, &to), scale)?;
            let step = step.value.like(between.from);
            let way = between.to.base - between.from.base;
            let count = way / step.base.max(1) + 1;
            let is_fine = count <= POINTS_MAX;
            match is_fine {
                true => steps(section, (between.from, step), count),
                false => {
                    let problem = place.problem(format!("{count} values"));
                    section.report(problem.expected(format!("at most {POINTS_MAX}")));
                    None
                }
            }
        }
        _ => {
            let problem = place.problem("it does not say how many values there are");
            let help = "write from and count, from, to and count, or from, to and step";
            section.report(problem.help(help));
            None
        }
    };
    let amounts = amounts?;
    let distinct = BTreeSet::from_iter(&amounts).len();
    if distinct < amounts.len() {
        let message = format!("only {distinct} different values lie there");
        section.report(
            place
                .problem(message)
                .help("a smaller count, or a wider range"),
        );
        return None;
    }
    let value = amounts.into_iter().map(value).collect();
    Some(At { value, place })
}

/// `{ from = .., to = .., count = 20, scale = "log", seed = 1 }`: what the seed and the name of the
/// axis decide, in ascending order.
pub(super) fn random(mut section: Section<'_>, name: &str) -> Option<At<Vec<Value>>> {
    let random = read_random(&mut section, name);
    section.finish();
    random
}

fn read_random(section: &mut Section<'_>, name: &str) -> Option<At<Vec<Value>>> {
    let place = section.place.clone();
    let from = amount(section, "from");
    let to = amount(section, "to");
    let has_count = section.has("count");
    let count = section.integer("count", 1..=POINTS_MAX);
    let scale = read_scale(section);
    let seed = section.integer("seed", 0..=u64::MAX);
    for (is_there, key, example) in [
        (from.is_some(), "from", "\"20 KB\""),
        (to.is_some(), "to", "\"200 KB\""),
        (has_count, "count", "20"),
    ] {
        if !is_there {
            section.missing(key, example);
        }
    }
    let between = between(section, (&from?, &to?), scale)?;
    let count = count?.value;
    let seed = seed.map_or(1, |seed| seed.value);
    let mut stream = Stream::new(seed, Purpose::Axis, hash_name(name));
    let mut drawn = BTreeSet::new();
    for _ in 0..count.saturating_mul(100) {
        // 53 bits, as many as a double has.
        let share = (stream.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        drawn.insert(between.at(share));
        if drawn.len() as u64 == count {
            let value = drawn.into_iter().map(value).collect();
            return Some(At { value, place });
        }
    }
    let message = format!("{count} different values are hard to find there");
    section.report(
        place
            .problem(message)
            .help("a smaller count, or a wider range"),
    );
    None
}

impl Between {
    /// So many values from the one to the other.
    fn even(&self, count: u64) -> Vec<Amount> {
        let last = (count - 1).max(1) as f64;
        let values = (0..count).map(|number| match number {
            0 => self.from,
            _ if number == count - 1 => self.to,
            _ => self.at(number as f64 / last),
        });
        values.collect()
    }

    /// What lies at this share of the way.
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

fn between(
    section: &Section<'_>,
    (from, to): (&At<Amount>, &At<Amount>),
    scale: Scale,
) -> Option<Between> {
    let (low, high) = (from.value.like(to.value), to.value.like(from.value));
    let problem = if low.unit != high.unit {
        let message = format!("{} is not of the kind of {}", high.exact(), low.exact());
        to.place.problem(message).help("use the same unit in both")
    } else if low > high {
        let message = format!("{} lies above {}", low.exact(), high.exact());
        from.place.problem(message).help("from is the smaller one")
    } else if scale == Scale::Log && low.base == 0 {
        let problem = from.place.problem("a logarithmic scale has no zero");
        problem.help("begin above 0, or leave out scale = \"log\"")
    } else {
        let (from, to) = (low, high);
        return Some(Between { from, to, scale });
    };
    section.report(problem);
    None
}

/// So many values, each by `step` above the one before.
fn steps(section: &Section<'_>, (from, step): (Amount, Amount), count: u64) -> Option<Vec<Amount>> {
    let from = from.like(step);
    let last = step.base.checked_mul(count - 1);
    let last = last.and_then(|way| way.checked_add(from.base));
    let fits = last.is_some_and(|last| last <= i64::MAX as u64);
    if from.unit != step.unit || !fits || (step.base == 0 && count > 1) {
        let message = format!("{} is no step from {}", step.exact(), from.exact());
        let problem = section.place.problem(message);
        section.report(problem.help("write a step of the same unit, above 0"));
        return None;
    }
    let values = (0..count).map(|number| from.of(from.base + number * step.base));
    Some(values.collect())
}

fn read_scale(section: &mut Section<'_>) -> Scale {
    let words = [("linear", Scale::Linear), ("log", Scale::Log)];
    let scale = section.choice("scale", &words);
    scale.map_or(Scale::Linear, |scale| scale.value)
}

/// A number, or a text with a unit.
fn amount(section: &mut Section<'_>, key: &'static str) -> Option<At<Amount>> {
    let item: Item<'_> = section.take(key)?;
    let At { value, place } = item.value()?;
    let text = match &value {
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::String(text) => text.clone(),
        _ => {
            let problem = place.problem("neither a number nor a text with a unit");
            section.report(problem.expected("for example 16 or \"10 KB\""));
            return None;
        }
    };
    match Amount::parse(&text) {
        Ok(value) => Some(At { value, place }),
        Err(message) => {
            section.report(place.problem(message));
            None
        }
    }
}

/// As a scenario has it.
fn value(amount: Amount) -> Value {
    match amount.unit {
        Unit::Count => Value::Integer(amount.base as i64),
        Unit::Billionth => Value::Float(amount.base as f64 / 1e9),
        _ => Value::String(amount.exact()),
    }
}
