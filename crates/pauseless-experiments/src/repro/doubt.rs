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
        let mut ranges = Vec::from_iter(bounds.iter().map(|it| range(it.best, it.worst)));
        // The ratio of two means of which neither has a bound, in a claim on several.
        ranges.dedup();
        doubt.with_them = ranges.join(", ");
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repro::Scale;
    use pauseless_run::metrics::bias::Mark;
    use pauseless_text::declare::{Declared, Section, Sink};

    fn claim(text: &str) -> Claim {
        let text = format!("text = \"t\"\npaper = \"p\"\n{text}");
        let sink = Sink::default();
        let table = pauseless_scenario::parse_table(&text).expect("TOML");
        let mut root = Section::root(&sink, table);
        let claim = Claim::read(&mut root);
        root.finish();
        assert!(sink.is_empty(), "{:?}", sink.into_list());
        claim
    }

    /// Two seeds each of a case that finishes, one of which a part is left, and one of which as
    /// large a part is left.
    fn values() -> Values {
        let mut values = Values::default();
        let mut add = |name: &str, value: f64, best: f64, worst: f64, unfinished: u64| {
            let name = format!("{name}/fct_mean_us");
            for _ in 0..2 {
                values.push(name.clone(), value);
                let case = Case {
                    name: String::new(),
                    value: Some(value),
                    best,
                    worst,
                    finished: 100 - unfinished,
                    unfinished,
                };
                values.push_case(name.clone(), Some(case));
            }
        };
        add("whole", 10.0, 10.0, 10.0, 0);
        add("cut", 5.0, 8.0, f64::INFINITY, 20);
        add("slow", 20.0, 30.0, f64::INFINITY, 20);
        values.push("other/pauses", 4.0);
        values
    }

    fn doubt(text: &str) -> Option<Doubt> {
        let judged = claim(text).judge(&values(), &[], Scale::Quick);
        judged.findings[0].doubt.clone()
    }

    #[test]
    fn a_claim_between_shares_that_differ_is_biased_and_has_bounds() {
        let found =
            doubt("value = \"whole/fct_mean_us : cut/fct_mean_us\"\nat_least = 1.5\nmet = true");
        let found = found.expect("flows are unfinished");
        assert_eq!(found.mark, Some(Mark::Biased));
        // 10 over 8 and more.
        let with = "0 to 1.25, so that it does not hold";
        assert_eq!(
            found.brief(),
            format!("biased: 0 % (whole) to 20.0 % (cut) unfinished; with them {with}")
        );
        let order = "order = [\"whole/fct_mean_us\", \"slow/fct_mean_us\"]\nmet = true";
        let found = doubt(order).expect("flows are unfinished");
        assert_eq!(found.mark, Some(Mark::Biased));
        assert_eq!(found.with_them, "10, 30 and more");
    }

    #[test]
    fn a_claim_that_unfinished_flows_could_turn_is_open() {
        let order = "order = [\"cut/fct_mean_us\", \"slow/fct_mean_us\"]\nmet = true";
        let found = doubt(order).expect("flows are unfinished");
        assert_eq!((found.mark, found.shares.as_str()), (Some(Mark::Open), "20.0 %"));
        let sure = doubt("value = \"slow/fct_mean_us@min\"\nat_least = 15\nmet = true");
        assert_eq!(sure.expect("flows are unfinished").mark, None);
        let open = doubt("value = \"slow/fct_mean_us\"\nat_most = 40\nmet = true");
        assert_eq!(open.expect("flows are unfinished").mark, Some(Mark::Open));
        assert_eq!(doubt("value = \"whole/fct_mean_us\"\nat_most = 40\nmet = true"), None);
        assert_eq!(doubt("value = \"other/pauses\"\nat_most = 40\nmet = true"), None);
    }
}
