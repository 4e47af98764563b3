//! Claims against what was measured.

use pauseless_core::switch::Discipline;

use super::Scale;
use super::file::{Asks, AtFull, Claim, Experiment, Met, Paper};
use super::judge::Tried;
use super::reading::Origin;
use crate::repro::data::Values;
use pauseless_run::metrics::bias::Doubt;
use pauseless_text::declare::{Filled, Key};
use pauseless_text::named;
use pauseless_text::problem::Problem;
use pauseless_text::reader::At;

/// A claim and what came of it.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The claim as the file has it.
    pub claim: Claim,
    /// What was measured: once, or once in each discipline.
    pub findings: Vec<Finding>,
    /// What was measured under its readings.
    pub readings: Vec<Tried>,
    /// What was computed for what the paper says against it; empty if that is words alone.
    pub computed: Vec<Finding>,
    /// How that compares with where the claim is marked as met.
    pub verdict: Verdict,
}

/// What was measured for a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The queueing discipline, if the claim was tried in several.
    pub discipline: Option<Discipline>,
    /// The values, in the order of the claim; `None` for what could not be measured.
    pub measured: Vec<Option<f64>>,
    /// Whether the claim holds here.
    pub holds: bool,
    /// What is to be said of flows that did not finish, if the claim is about completion times and
    /// there are any.
    pub doubt: Option<Doubt>,
}

impl Judged {
    /// Takes it that the runs had other parameters than the file says, so that it need not be as
    /// it is marked, and that the reasons in the file are of other runs.
    pub(super) fn vary(&mut self) {
        if matches!(self.verdict, Verdict::Broken | Verdict::Unmarked) {
            self.verdict = Verdict::OtherParameters;
        }
        self.claim.reason = Filled::new(String::new());
        for tried in &mut self.readings {
            tried.judged.vary();
        }
    }

    /// The best source of the readings under which it is met; `None` unless that is what it counts as.
    pub fn source(&self) -> Option<Origin> {
        let wanted = match self.verdict {
            Verdict::Sourced => Verdict::Met,
            Verdict::SourcedPartly => Verdict::Partly,
            _ => return None,
        };
        let readings = self.readings.iter().filter(|it| it.judged.verdict == wanted);
        readings.map(|it| *it.reading.source).min()
    }
}

named! {
    /// A claim compared with how it is marked.
    pub enum Verdict {
        /// It holds, as it is marked.
        Met = "met",
        /// It holds in some disciplines, and those are the ones that are marked.
        Partly = "partly met",
        /// It does not hold as the experiment is written, and does under a reading that has a source.
        Sourced = "met under a sourced reading",
        /// As before, in some disciplines.
        SourcedPartly = "partly met under a sourced reading",
        /// It holds only under a reading whose values were tried until it did.
        Fitted = "met only if fitted",
        /// It does not hold, and the paper itself says why it cannot.
        Contradicted = "contradicted by the paper",
        /// It does not hold, as it is marked.
        NotMet = "not met",
        /// It is marked as met where it does not hold: something has broken.
        Broken = "BROKEN",
        /// It holds where it is marked as not met: the file is out of date.
        Unmarked = "met, unmarked",
        /// It is not as it is marked, in runs with other parameters than the paper's: that is an
        /// answer and nothing broken.
        OtherParameters = "other parameters",
        /// It is judged at another scale only.
        OtherScale = "other scale",
    }
}

/// What a claim asks of its values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Criterion {
    Within(f64, f64),
    Rising { slack: f64 },
}

impl Claim {
    /// The claim with where it is marked as met at this scale, and why not elsewhere.
    fn at(&self, scale: Scale) -> Claim {
        match self.full.get().filter(|_| scale == Scale::Full) {
            Some(AtFull { met, reason, .. }) => Claim {
                met: met.clone(),
                reason: reason.clone(),
                full: Key::default(),
                ..self.clone()
            },
            None => self.clone(),
        }
    }

    /// Judges it by what was measured in `disciplines`.
    pub fn judge(&self, values: &Values, disciplines: &[Discipline], scale: Scale) -> Judged {
        let claim = self.at(scale);
        let judged = |findings, verdict| {
            let (readings, computed) = (Vec::new(), Vec::new());
            Judged { claim: claim.clone(), findings, readings, computed, verdict }
        };
        if self.scale.copied().is_some_and(|only| only != scale) {
            return judged(Vec::new(), Verdict::OtherScale);
        }
        let places: Vec<Option<Discipline>> = if self.hangs_on_discipline() {
            disciplines.iter().copied().map(Some).collect()
        } else {
            vec![None]
        };
        let find = |place: &Option<Discipline>| self.find(values, *place);
        let findings: Vec<Finding> = places.iter().map(find).collect();
        let verdict = claim.compare(&findings);
        judged(findings, verdict)
    }

    /// Checks how the claim is written.
    pub fn check(&self, experiment: &Experiment) -> Result<(), Problem> {
        let wrong = |message: &str| Err(self.place.problem(message));
        self.criterion().map_err(|message| self.place.problem(message))?;
        let is_sure = *self.met == Met::Always(true);
        if !is_sure && self.reason.is_empty() {
            return wrong("a claim that is not met everywhere needs a reason");
        }
        if self.names().is_empty() {
            return wrong("neither value nor order");
        }
        if !self.asks.order.is_empty() && !self.asks.value.0.is_empty() {
            return wrong("both value and order");
        }
        if self.asks.order.is_empty() && self.asks.slack_percent.is_written {
            return wrong("slack_percent without order");
        }
        for At { value, place } in self.names() {
            for name in value.split(" : ") {
                let over = name.rsplit_once('@').map_or("median", |(_, over)| over);
                if !OVER_SEEDS.contains(&over.trim()) {
                    let known = OVER_SEEDS.join(", ");
                    return Err(place.problem(format!("{name}: @{over} is none of {known}")));
                }
            }
        }
        if self.hangs_on_discipline() && experiment.disciplines.is_empty() {
            return wrong("{d} without disciplines");
        }
        if matches!(*self.met, Met::In(_)) && !self.hangs_on_discipline() {
            return wrong("met in disciplines, but no value has {d}");
        }
        if self.contradicted.is_written && *self.met != Met::Always(false) {
            return wrong("contradicted, but met");
        }
        if let Some(contradiction) = self.contradiction() {
            contradiction.check(experiment)?;
        }
        if let Some(full) = self.full.get() {
            if self.scale.is_written {
                return Err(full.place.problem("full, but judged at one scale only"));
            }
            let claim = Claim { contradicted: Key::default(), ..self.at(Scale::Full) };
            claim.check(experiment)?;
        }
        Ok(())
    }

    /// A name that nothing measured could have, if there is one: a slip of the pen.
    pub(super) fn unknown<'v>(
        &self,
        experiment: &Experiment,
        values: &'v Values,
        prefixes: &[String],
    ) -> Option<String> {
        let is_metric = |metric: &str| {
            let ends = |(name, _): (&'v str, _)| name.ends_with(&format!("/{metric}"));
            let number = experiment.reference(metric);
            number.is_ok_and(|it| it.number.may_be_missing) || values.iter().any(ends)
        };
        let is_known = |name: &str| {
            let name = name.trim();
            let name = name.rsplit_once('@').map_or(name, |(name, _)| name);
            let metric = prefixes
                .iter()
                .find_map(|prefix| name.strip_prefix(prefix.as_str())?.strip_prefix('/'));
            values.get(name).is_some() || metric.is_some_and(is_metric)
        };
        let names = self.names().iter().flat_map(|name| name.value.split(" : "));
        let mut names = names.flat_map(|name| {
            if name.contains("{d}") {
                Discipline::ALL.map(|it| name.replace("{d}", it.name())).to_vec()
            } else {
                vec![name.to_string()]
            }
        });
        // A claim in all disciplines may know a name in some only.
        let hangs = self.hangs_on_discipline();
        if hangs {
            let names: Vec<String> = names.collect();
            let is_any = names.iter().any(|name| is_known(name));
            names.into_iter().next().filter(|_| !is_any)
        } else {
            names.find(|name| !is_known(name))
        }
    }

    /// Whether the paper says nothing of it.
    pub fn is_ours(&self) -> bool {
        *self.paper == Paper::Words(NOT_IN_THE_PAPER.to_string())
    }

    /// Whether it is a number that is compared.
    pub fn is_numeric(&self) -> bool {
        matches!(*self.paper, Paper::Number(_))
    }

    /// The values that it speaks of.
    pub fn names(&self) -> &[At<String>] {
        self.asks.names()
    }

    /// What is asked of the values, in words.
    pub fn asked(&self) -> String {
        self.asks.text(&self.unit)
    }

    fn hangs_on_discipline(&self) -> bool {
        self.names().iter().any(|name| name.value.contains("{d}"))
    }

    pub(super) fn criterion(&self) -> Result<Criterion, String> {
        self.asks.criterion(&self.paper)
    }

    fn find(&self, values: &Values, discipline: Option<Discipline>) -> Finding {
        let names = self.names().iter().map(|name| match discipline {
            Some(discipline) => name.value.replace("{d}", discipline.name()),
            None => name.value.clone(),
        });
        let names: Vec<String> = names.collect();
        let measured: Vec<Option<f64>> = names.iter().map(|name| values.evaluate(name)).collect();
        let known: Option<Vec<f64>> = measured.iter().copied().collect();
        let holds = match (known, self.criterion()) {
            (Some(known), Ok(Criterion::Within(low, high))) => {
                known.iter().all(|value| (low..=high).contains(value))
            }
            (Some(known), Ok(Criterion::Rising { slack })) => {
                known.windows(2).all(|pair| match slack {
                    0.0 => pair[0] < pair[1],
                    slack => pair[0] <= pair[1] * (1.0 + slack),
                })
            }
            _ => false,
        };
        let doubt = self.doubt(values, &names, holds);
        Finding { discipline, measured, holds, doubt }
    }

    fn compare(&self, findings: &[Finding]) -> Verdict {
        let is_marked = |finding: &Finding| self.met.is_in(finding.discipline);
        if findings.iter().any(|it| is_marked(it) && !it.holds) {
            return Verdict::Broken;
        }
        if findings.iter().any(|it| !is_marked(it) && it.holds) {
            return Verdict::Unmarked;
        }
        let count = findings.iter().filter(|it| it.holds).count();
        match count {
            0 => Verdict::NotMet,
            all if all == findings.len() => Verdict::Met,
            _ => Verdict::Partly,
        }
    }
}

impl Asks {
    /// The values that are judged.
    pub(super) fn names(&self) -> &[At<String>] {
        if self.order.is_empty() { &self.value.0 } else { &self.order }
    }

    /// Whether anything is asked of the values.
    pub(super) fn has_criterion(&self) -> bool {
        let bounds = [&self.within, &self.within_percent, &self.factor, &self.at_most];
        let is_bounded = bounds.into_iter().chain([&self.at_least]).any(|it| it.is_written);
        is_bounded || self.between.is_written || !self.order.is_empty()
    }

    /// What is asked of the values, in words.
    fn text(&self, unit: &str) -> String {
        let unit = match unit {
            "" => String::new(),
            unit => format!(" {unit}"),
        };
        let percent = self.within_percent.copied();
        match (self.within.copied(), percent, self.factor.copied()) {
            (Some(within), _, _) => return format!("within {within}{unit}"),
            (_, Some(percent), _) => return format!("within {percent} %"),
            (_, _, Some(factor)) => return format!("within a factor of {factor}"),
            _ => {}
        }
        let (most, least) = (self.at_most.copied(), self.at_least.copied());
        match (most, least, self.between.copied()) {
            (Some(most), _, _) => format!("at most {most}{unit}"),
            (_, Some(least), _) => format!("at least {least}{unit}"),
            (_, _, Some([low, high])) => format!("{low} to {high}{unit}"),
            _ => match self.slack_percent.copied() {
                Some(slack) => format!("in this order, within {slack} %"),
                None => "in this order".to_string(),
            },
        }
    }

    fn criterion(&self, paper: &Paper) -> Result<Criterion, String> {
        let paper = || match *paper {
            Paper::Number(number) => Ok(number),
            Paper::Words(_) => Err("the paper gives no number to be near to".to_string()),
        };
        let mut found = Vec::new();
        if let Some(within) = self.within.copied() {
            let paper = paper()?;
            found.push(Criterion::Within(paper - within, paper + within));
        }
        if let Some(percent) = self.within_percent.copied() {
            let paper = paper()?;
            let within = paper.abs() * percent / 100.0;
            found.push(Criterion::Within(paper - within, paper + within));
        }
        if let Some(factor) = self.factor.copied() {
            let paper = paper()?;
            found.push(Criterion::Within(paper / factor, paper * factor));
        }
        let (most, least) = (self.at_most.copied(), self.at_least.copied());
        found.extend(most.map(|most| Criterion::Within(f64::NEG_INFINITY, most)));
        found.extend(least.map(|least| Criterion::Within(least, f64::INFINITY)));
        let between = self.between.copied();
        found.extend(between.map(|[low, high]| Criterion::Within(low, high)));
        if self.order.len() > 1 {
            let slack = self.slack_percent.or(0.0) / 100.0;
            found.push(Criterion::Rising { slack });
        }
        match found[..] {
            [one] => Ok(one),
            [] => Err(
                "no criterion: within, within_percent, factor, at_most, at_least, between or order"
                    .to_string(),
            ),
            _ => Err("more than one criterion".to_string()),
        }
    }
}

impl Values {
    /// A value such as `PFC/deadlock@sum`: the median over seeds unless it says otherwise. With
    /// ` : ` between two of them, their ratio.
    pub fn evaluate(&self, name: &str) -> Option<f64> {
        if let Some((above, below)) = name.split_once(" : ") {
            let ratio = self.evaluate(above)? / self.evaluate(below)?;
            return ratio.is_finite().then_some(ratio);
        }
        let (name, over) = name.trim().rsplit_once('@').unwrap_or((name.trim(), "median"));
        over_seeds(self.get(name)?, over)
    }
}

/// A run without the number, such as one that does not deadlock, has it later than all others: it
/// counts in a median, and leaves no greatest one and no mean.
pub(super) fn over_seeds(values: &[Option<f64>], over: &str) -> Option<f64> {
    let mut sorted: Vec<f64> = values.iter().flatten().copied().collect();
    sorted.sort_by(f64::total_cmp);
    let all = || (sorted.len() == values.len() && !sorted.is_empty()).then_some(&sorted[..]);
    let above_zero = || sorted.iter().filter(|value| **value > 0.0).count();
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    match over {
        "median" => {
            let middle = values.len() / 2;
            match values.len() % 2 {
                1 => sorted.get(middle).copied(),
                _ => {
                    let below = sorted.get(middle.checked_sub(1)?)?;
                    Some(f64::midpoint(*below, *sorted.get(middle)?))
                }
            }
        }
        "mean" => all().map(mean),
        "min" => sorted.first().copied(),
        "max" => all()?.last().copied(),
        "sum" => Some(sorted.iter().sum()),
        "count" => Some(sorted.len() as f64),
        "above" => Some(above_zero() as f64),
        "percent" => all().map(|all| 100.0 * (above_zero() as f64) / all.len() as f64),
        "std" => {
            let all = all()?;
            let mean = mean(all);
            let squares = all.iter().map(|value| (value - mean).powi(2));
            Some((squares.sum::<f64>() / all.len() as f64).sqrt())
        }
        _ => None,
    }
}

/// What stands for the paper's words in a claim of our own.
const NOT_IN_THE_PAPER: &str = "not in the paper";

/// The ways to make one number of those of all seeds.
const OVER_SEEDS: [&str; 9] =
    ["median", "mean", "min", "max", "sum", "count", "above", "percent", "std"];

#[cfg(test)]
mod tests {
    use super::*;
    pub use pauseless_scenario::parse_table;
    use pauseless_text::declare::{Declared, Section, Sink};

    fn claim(text: &str) -> Claim {
        let text = format!("text = \"t\"\n{text}");
        let sink = Sink::default();
        let mut root = Section::root(&sink, parse_table(&text).expect("TOML"));
        let claim = Claim::read(&mut root);
        root.finish();
        assert!(sink.is_empty(), "{:?}", sink.into_list());
        claim
    }

    fn values(pairs: &[(&str, &[f64])]) -> Values {
        let mut values = Values::default();
        for (name, all) in pairs {
            all.iter().for_each(|value| values.push(*name, *value));
        }
        values
    }

    fn verdict(text: &str, pairs: &[(&str, &[f64])]) -> Verdict {
        claim(text).judge(&values(pairs), &Discipline::ALL[..2], Scale::Quick).verdict
    }

    #[test]
    fn a_number_is_near_enough_or_not() {
        let met = |criterion: &str, value: f64| {
            let text = format!("paper = 10\nvalue = \"a\"\nmet = true\n{criterion}");
            verdict(&text, &[("a", &[value])]) == Verdict::Met
        };
        for (criterion, good, bad) in [
            ("within = 0.5", 10.5, 10.6),
            ("within_percent = 5", 9.5, 9.4),
            ("factor = 2", 5.0, 4.9),
            ("factor = 2", 20.0, 20.1),
            ("at_most = 11", 11.0, 11.1),
            ("at_least = 9", 9.0, 8.9),
            ("between = [9, 12]", 12.0, 12.1),
        ] {
            assert!(met(criterion, good), "{criterion} {good}");
            assert!(!met(criterion, bad), "{criterion} {bad}");
        }
    }

    #[test]
    fn an_order_is_strict_unless_there_is_slack() {
        let order = "paper = \"a < b\"\norder = [\"a\", \"b\"]\nmet = true\n";
        let with = |a: f64, b: f64, more: &str| {
            verdict(&format!("{order}{more}"), &[("a", &[a]), ("b", &[b])])
        };
        assert_eq!(with(1.0, 2.0, ""), Verdict::Met);
        assert_eq!(with(2.0, 2.0, ""), Verdict::Broken);
        assert_eq!(with(2.0, 2.0, "slack_percent = 5"), Verdict::Met);
        assert_eq!(with(2.2, 2.0, "slack_percent = 5"), Verdict::Broken);
    }

    #[test]
    fn what_was_not_measured_meets_nothing() {
        let text = "paper = \"none\"\nvalue = \"a\"\nat_most = 0\nmet = true";
        assert_eq!(verdict(text, &[]), Verdict::Broken);
        let ratio = "paper = 2\nvalue = \"a : b\"\nwithin = 9\nmet = true";
        assert_eq!(verdict(ratio, &[("a", &[1.0]), ("b", &[0.0])]), Verdict::Broken);
        assert_eq!(verdict(ratio, &[("a", &[4.0]), ("b", &[2.0])]), Verdict::Met);
    }

    #[test]
    fn a_claim_is_compared_with_where_it_is_marked() {
        let with = |met: &str, first: f64, second: f64| {
            let text = format!(
                "paper = \"deadlock\"\nvalue = \"PFC/{{d}}/deadlock\"\nat_least = 1\nmet = {met}"
            );
            let names = Discipline::ALL.map(|it| format!("PFC/{}/deadlock", it.name()));
            verdict(&text, &[(&names[0], &[first]), (&names[1], &[second])])
        };
        assert_eq!(with("true", 1.0, 1.0), Verdict::Met);
        assert_eq!(with("true", 1.0, 0.0), Verdict::Broken);
        assert_eq!(with("false", 0.0, 0.0), Verdict::NotMet);
        assert_eq!(with("false", 0.0, 1.0), Verdict::Unmarked);
        assert_eq!(with("[\"output-queued\"]", 1.0, 0.0), Verdict::Partly);
        assert_eq!(with("[\"output-queued\"]", 1.0, 1.0), Verdict::Unmarked);
        assert_eq!(with("[\"output-queued\"]", 0.0, 1.0), Verdict::Broken);
    }

    #[test]
    fn seeds_are_summed_up_as_the_name_says() {
        let values = values(&[("a", &[4.0, 1.0, 1.0, 2.0]), ("b", &[0.0, 7.0, 0.0, 0.0])]);
        let all = [
            ("a", 1.5),
            ("a@mean", 2.0),
            ("a@min", 1.0),
            ("a@max", 4.0),
            ("a@sum", 8.0),
            ("a@count", 4.0),
            ("a@above", 4.0),
            ("b@above", 1.0),
            ("b@percent", 25.0),
            ("a@sum : a@count", 2.0),
        ];
        for (name, expected) in all {
            assert_eq!(values.evaluate(name), Some(expected), "{name}");
        }
        let deviation = values.evaluate("a@std").expect("known");
        assert!((deviation - 1.5f64.sqrt()).abs() < 1e-12);
        assert_eq!(values.evaluate("a@other"), None);
    }

    #[test]
    fn a_run_without_a_deadlock_deadlocks_later_than_all_others() {
        let mut values = Values::default();
        for value in [Some(1.0), None, Some(3.0), None] {
            values.push_if("a", value);
            values.push_if("b", value.or(Some(9.0)).filter(|value| *value > 1.0));
        }
        assert_eq!(values.evaluate("a"), None, "between 3 and never");
        assert_eq!(values.evaluate("b"), Some(9.0), "3, 9, 9 and never");
        assert_eq!(values.evaluate("a@max"), None);
        assert_eq!(values.evaluate("a@mean"), None);
        assert_eq!(values.evaluate("a@min"), Some(1.0));
        assert_eq!(values.evaluate("a@count"), Some(2.0));
    }

    #[test]
    fn slips_of_the_pen_are_found() {
        let values = values(&[("PFC/pauses", &[1.0]), ("GFC/pauses", &[1.0])]);
        let prefixes = ["PFC".to_string(), "GFC".to_string()];
        let unknown = |name: &str| {
            let text = format!("paper = 1\nvalue = \"{name}\"\nwithin = 1\nmet = true");
            let file = "title = \"t\"\ncites = \"c\"\nseconds = { quick = 1, full = 1 }";
            let experiment = Experiment::parse("f.claims.toml", file).expect("a claims file");
            claim(&text).unknown(&experiment, &values, &prefixes)
        };
        assert_eq!(unknown("PFC/pauses@max"), None);
        assert_eq!(unknown("PFC/deadlock_ms"), None, "nothing has deadlocked");
        assert_eq!(unknown("PFC/pausse").as_deref(), Some("PFC/pausse"));
        assert_eq!(unknown("PCF/pauses").as_deref(), Some("PCF/pauses"));
        let ratio = unknown("PFC/pauses : GCF/pauses");
        assert_eq!(ratio.as_deref(), Some("GCF/pauses"));
    }

    #[test]
    fn a_claim_at_another_scale_is_not_judged() {
        let text = "paper = 1\nvalue = \"a\"\nwithin = 0\nmet = true\nscale = \"full\"";
        assert_eq!(verdict(text, &[]), Verdict::OtherScale);
    }

    #[test]
    fn careless_claims_are_refused() {
        let refused = |text: &str| {
            let file = format!(
                "title = \"t\"\ncites = \"c\"\nseconds = {{ quick = 1, full = 1 }}\n[[claim]]\ntext = \"t\"\n{text}"
            );
            Experiment::parse("f.claims.toml", &file).expect_err(text).to_string()
        };
        for (text, message) in [
            ("paper = 1\nvalue = \"a\"\nmet = true", "no criterion"),
            ("paper = 1\nvalue = \"a\"\nmet = true\nwithin = 1\nat_most = 2", "more than one"),
            ("paper = \"x\"\nvalue = \"a\"\nmet = true\nwithin = 1", "no number"),
            ("paper = 1\nvalue = \"a\"\nmet = false\nwithin = 1", "a reason"),
            ("paper = 1\nvalue = \"a/{d}/b\"\nmet = true\nwithin = 1", "without disciplines"),
            ("paper = 1\nmet = true\nwithin = 1", "neither value nor order"),
            ("paper = 1\nvalue = \"a\"\nmet = true\nwithni = 1", "did you mean within?"),
        ] {
            let wrong = refused(text);
            assert!(wrong.contains(message), "{text}: {wrong}");
        }
    }
}
