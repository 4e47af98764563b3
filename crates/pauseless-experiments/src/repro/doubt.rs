//! What flows that did not finish leave open of a claim and of a figure.

use super::claim::{Criterion, over_seeds};
use super::data::Values;
use super::file::Claim;
use pauseless_run::metrics::bias::{Case, Doubt, range};

/// What a value can be, whatever becomes of unfinished flows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bounds {
    /// The least that it can be.
    pub best: f64,
    /// The most that it can be; infinite without a bound.
    pub worst: f64,
    /// The cases that it is computed from, over all seeds.
    pub cases: Vec<Case>,
}

impl Values {
    /// The bounds of a value as claims write it, such as `PFC/fct_mean_us@max` or a ratio. `None` if
    /// nothing was measured.
    pub(super) fn bounds(&self, name: &str) -> Option<Bounds> {
        if let Some((above, below)) = name.split_once(" : ") {
            let (above, below) = (self.bounds(above)?, self.bounds(below)?);
            return Some(Bounds {
                best: above.best / below.worst,
                worst: above.worst / below.best,
                cases: [above.cases, below.cases].concat(),
            });
        }
        let (metric, over) = name.trim().rsplit_once('@').unwrap_or((name.trim(), "median"));
        let cases = self.cases(metric);
        if cases.is_empty() {
            let value = self.evaluate(name)?;
            return Some(Bounds { best: value, worst: value, cases: Vec::new() });
        }
        let end = |of: fn(&Case) -> f64| {
            let values = Vec::from_iter(cases.iter().map(|case| Some(of(case))));
            RISING.contains(&over).then(|| over_seeds(&values, over))?
        };
        let (best, worst) = (end(|it| it.best), end(|it| it.worst));
        let (best, worst) = (best.unwrap_or(0.0), worst.unwrap_or(f64::INFINITY));
        let whose = metric.rsplit_once('/').map_or(metric, |(whose, _)| whose);
        let together = Case {
            name: whose.to_string(),
            value: self.evaluate(name),
            best,
            worst,
            finished: cases.iter().map(|case| case.finished).sum(),
            unfinished: cases.iter().map(|case| case.unfinished).sum(),
        };
        Some(Bounds { best, worst, cases: vec![together] })
    }
}

impl Claim {
    /// What flows that did not finish leave open of these values, by which the claim was judged.
    pub(super) fn doubt(&self, values: &Values, names: &[String], holds: bool) -> Option<Doubt> {
        let bounds: Vec<Bounds> = names.iter().filter_map(|name| values.bounds(name)).collect();
        let cases: Vec<Case> = bounds.iter().flat_map(|it| it.cases.clone()).collect();
        let verdict = self.criterion().ok().and_then(|it| it.verdict(&bounds));
        let mut doubt = Doubt::of(&cases, verdict == Some(holds))?;
        let ranges = bounds.iter().map(|it| range(it.best, it.worst));
        doubt.with_them = Vec::from_iter(ranges).join(", ");
        match verdict {
            Some(true) if !holds => doubt.with_them += ", so that it holds",
            Some(false) if holds => doubt.with_them += ", so that it does not hold",
            _ => {}
        }
        Some(doubt)
    }
}

impl Criterion {
    /// Whether values are as asked for wherever they lie inside their bounds; `None` if that hangs
    /// on where.
    fn verdict(self, bounds: &[Bounds]) -> Option<bool> {
        let all: Vec<Option<bool>> = match self {
            Criterion::Within(low, high) => {
                let one = |it: &Bounds| match it {
                    it if it.worst < low || it.best > high => Some(false),
                    it if it.best >= low && it.worst <= high => Some(true),
                    _ => None,
                };
                bounds.iter().map(one).collect()
            }
            Criterion::Rising { slack } => {
                let is_below = |low: f64, high: f64| match slack {
                    0.0 => low < high,
                    slack => low <= high * (1.0 + slack),
                };
                let pair = |pair: &[Bounds]| match pair {
                    [a, b] if is_below(a.worst, b.best) => Some(true),
                    [a, b] if !is_below(a.best, b.worst) => Some(false),
                    _ => None,
                };
                bounds.windows(2).map(pair).collect()
            }
        };
        if all.contains(&Some(false)) {
            return Some(false);
        }
        all.iter().all(|it| *it == Some(true)).then_some(true)
    }
}

/// The ways to make one number of those of all seeds that never fall when one of them grows.
const RISING: [&str; 5] = ["median", "mean", "min", "max", "sum"];
