//! Numbers that only finished flows have, with what unfinished ones could make of them.

use super::{Number, Of, Reference, Value};
use crate::metrics::bias::Case;
use crate::metrics::censored::Bounded;
use crate::metrics::completion::Group;
use crate::metrics::distribution::Percentile;
use pauseless_text::named;

named! {
    /// What a flow has once it has finished, and until then at least its best case.
    pub enum Measure {
        /// The time from the start of a flow until its target has received everything.
        Fct = "completion time",
        /// The completion time as a multiple of that in an empty network.
        Slowdown = "slowdown",
    }
}

impl Measure {
    fn mean(self, group: &Group) -> Option<Bounded<Value>> {
        let mean = match self {
            Measure::Fct => group.fct.mean(),
            Measure::Slowdown => group.slowdown.mean(),
        };
        Some(mean?.map(Value::Real))
    }

    fn at(self, group: &Group, p: Percentile) -> Option<Bounded<Value>> {
        match self {
            Measure::Fct => Some(group.fct.at(p)?.map(Value::Whole)),
            Measure::Slowdown => Some(group.slowdown.at(p)?.map(Value::Real)),
        }
    }
}

named! {
    /// A number beside a statistic over flows of which some may not have finished.
    pub enum Bound {
        /// The least that it can be, whatever becomes of unfinished flows.
        Best = "best",
        /// The most that it can be.
        Worst = "worst",
        /// The lower end of the 95 % confidence interval of a percentile.
        From = "from",
        /// The upper end of that interval.
        To = "to",
    }
}

impl Bound {
    /// What the bound is, in one sentence.
    pub fn says(self) -> &'static str {
        match self {
            Bound::Best => {
                "The least that the statistic can be with the flows that have not finished; absent if \
                 all have."
            }
            Bound::Worst => {
                "The most that the statistic can be with the flows that have not finished, null \
                 without a bound; absent if all have."
            }
            Bound::From => {
                "The lower end of the 95 % confidence interval of the percentile, null without a bound."
            }
            Bound::To => {
                "The upper end of the 95 % confidence interval of the percentile, null without a bound."
            }
        }
    }

    /// This bound of a statistic; `None` if it has none.
    pub fn of<T: Copy>(self, bounded: &Bounded<T>) -> Option<T> {
        match self {
            Bound::Best => Some(bounded.best),
            Bound::Worst => bounded.worst,
            Bound::From => bounded.interval[0],
            Bound::To => bounded.interval[1],
        }
    }
}

impl Number {
    /// The statistic of a group of flows with its bounds; `None` for a number that needs none, and
    /// without flows. A percentile needs to know which.
    pub fn bounded(&self, group: &Group, p: Option<Percentile>) -> Option<Bounded<Value>> {
        match self.of {
            Of::Mean(measure) => measure.mean(group),
            Of::Percentile(measure) => measure.at(group, p?),
            _ => None,
        }
    }

    /// The statistics over flows that it has in tables: a mean, or the percentiles with names; none
    /// for a number of another kind.
    pub fn statistics(&self) -> Vec<(String, Option<Percentile>)> {
        self.statistics_as(if self.spelt.is_empty() { self.name } else { self.spelt })
    }

    /// The same with other names, in which `{}` stands for the percentile.
    pub(super) fn statistics_as(&self, name: &str) -> Vec<(String, Option<Percentile>)> {
        let at = |(word, p): (&str, Percentile)| (name.replace("{}", word), Some(p));
        match self.of {
            Of::Mean(_) => vec![(name.to_string(), None)],
            Of::Percentile(_) => Percentile::NAMED.map(at).to_vec(),
            _ => Vec::new(),
        }
    }

    /// The bounds that it has; none for a number that needs none.
    pub fn bounds(&self) -> &'static [Bound] {
        match self.of {
            Of::Mean(_) => &[Bound::Best, Bound::Worst],
            Of::Percentile(_) => &Bound::ALL,
            _ => &[],
        }
    }
}

/// The numbers without which a statistic over finished flows misleads: they are of the same flows.
#[derive(Clone, Debug)]
pub struct Beside {
    /// How many flows have finished.
    pub finished: Reference,
    /// How many have started and not finished.
    pub unfinished: Reference,
    /// The least that the statistic can be.
    pub best: Reference,
    /// The most that it can be.
    pub worst: Reference,
}

impl Beside {
    /// All of them, in the order of columns.
    pub fn all(&self) -> [&Reference; 4] {
        [&self.finished, &self.unfinished, &self.best, &self.worst]
    }

    /// The case of one run whose statistic is `value`, from the numbers of that run. `None` if no
    /// flow has started.
    pub fn case(
        &self,
        value: Option<f64>,
        number: impl Fn(&Reference) -> Option<f64>,
    ) -> Option<Case> {
        let worst = number(&self.worst);
        Some(Case {
            name: String::new(),
            value,
            best: number(&self.best)?,
            worst: worst.unwrap_or(f64::INFINITY),
            finished: number(&self.finished)? as u64,
            unfinished: number(&self.unfinished)? as u64,
        })
    }
}
