//! Claims against what was measured.

use pauseless_core::switch::Discipline;

use super::Scale;
use super::data::Values;
use super::file::{Claim, Experiment, Met, Paper};

/// A claim and what came of it.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The claim.
    pub claim: Claim,
    /// What was measured: once, or once in each discipline.
    pub findings: Vec<Finding>,
    /// How that compares with where the claim is marked as met.
    pub verdict: Verdict,
}

/// What was measured for a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// In which discipline, if the claim was tried in several.
    pub discipline: Option<Discipline>,
    /// The values, in the order of the claim; `None` for what could not be measured.
    pub measured: Vec<Option<f64>>,
    /// Whether the claim holds.
    pub holds: bool,
}

/// A claim compared with how it is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds, as it is marked.
    Met,
    /// It holds in some disciplines, and those are the ones that are marked.
    Partly,
    /// It does not hold, as it is marked.
    NotMet,
    /// It is marked as met where it does not hold: something has broken.
    Broken,
    /// It holds where it is marked as not met: the file is out of date.
    Unmarked,
    /// It is judged at another scale only.
    OtherScale,
}

impl Verdict {
    /// The word in tables.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Met => "met",
            Verdict::Partly => "partly met",
            Verdict::NotMet => "not met",
            Verdict::Broken => "BROKEN",
            Verdict::Unmarked => "met, unmarked",
            Verdict::OtherScale => "other scale",
        }
    }
}

/// What a claim asks of its values.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Criterion {
    Within(f64, f64),
    Rising { slack: f64 },
}

impl Claim {
    /// Judges it by what was measured in `disciplines`.
    pub fn judge(&self, values: &Values, (disciplines, scale): (&[Discipline], Scale)) -> Judged {
        let judged = |findings, verdict| Judged {
            claim: self.clone(),
            findings,
            verdict,
        };
        if self.scale.is_some_and(|only| only != scale) {
            return judged(Vec::new(), Verdict::OtherScale);
        }
        let places: Vec<Option<Discipline>> = match self.hangs_on_discipline() {
            true => disciplines.iter().copied().map(Some).collect(),
            false => vec![None],
        };
        let find = |place: &Option<Discipline>| self.find(values, *place);
        let findings: Vec<Finding> = places.iter().map(find).collect();
        let verdict = self.compare(&findings);
        judged(findings, verdict)
    }

    /// What is wrong with how it is written.
    pub(super) fn check(&self, experiment: &Experiment) -> Result<(), String> {
        self.criterion()?;
        let is_sure = self.met == Met::Always(true);
        if !is_sure && self.reason.is_empty() {
            return Err("a claim that is not met everywhere needs a reason".to_string());
        }
        if self.names().is_empty() {
            return Err("neither value nor order".to_string());
        }
        if self.hangs_on_discipline() && experiment.disciplines.is_empty() {
            return Err("{d} without disciplines".to_string());
        }
        if matches!(self.met, Met::In(_)) && !self.hangs_on_discipline() {
            return Err("met in disciplines, but no value has {d}".to_string());
        }
        Ok(())
    }

    /// Whether it is a number that is compared.
    pub fn is_numeric(&self) -> bool {
        matches!(self.paper, Paper::Number(_))
    }

    /// The values that it speaks of.
    pub fn names(&self) -> &[String] {
        match self.order.is_empty() {
            true => self.value.as_slice(),
            false => &self.order,
        }
    }

    /// What is asked of the values, in words.
    pub fn asks(&self) -> String {
        let unit = match self.unit.as_str() {
            "" => String::new(),
            unit => format!(" {unit}"),
        };
        match (self.within, self.within_percent, self.factor) {
            (Some(within), _, _) => return format!("within {within}{unit}"),
            (_, Some(percent), _) => return format!("within {percent} %"),
            (_, _, Some(factor)) => return format!("within a factor of {factor}"),
            _ => {}
        }
        match (self.at_most, self.at_least, self.between) {
            (Some(most), _, _) => format!("at most {most}{unit}"),
            (_, Some(least), _) => format!("at least {least}{unit}"),
            (_, _, Some((low, high))) => format!("{low} to {high}{unit}"),
            _ => match self.slack_percent {
                Some(slack) => format!("in this order, within {slack} %"),
                None => "in this order".to_string(),
            },
        }
    }

    fn hangs_on_discipline(&self) -> bool {
        self.names().iter().any(|name| name.contains("{d}"))
    }

    fn criterion(&self) -> Result<Criterion, String> {
        let paper = || match self.paper {
            Paper::Number(number) => Ok(number),
            Paper::Words(_) => Err("the paper gives no number to be near to".to_string()),
        };
        let mut found = Vec::new();
        if let Some(within) = self.within {
            let paper = paper()?;
            found.push(Criterion::Within(paper - within, paper + within));
        }
        if let Some(percent) = self.within_percent {
            let paper = paper()?;
            let within = paper.abs() * percent / 100.0;
            found.push(Criterion::Within(paper - within, paper + within));
        }
        if let Some(factor) = self.factor {
            let paper = paper()?;
            found.push(Criterion::Within(paper / factor, paper * factor));
        }
        found.extend(
            self.at_most
                .map(|most| Criterion::Within(f64::NEG_INFINITY, most)),
        );
        found.extend(
            self.at_least
                .map(|least| Criterion::Within(least, f64::INFINITY)),
        );
        found.extend(self.between.map(|(low, high)| Criterion::Within(low, high)));
        if self.order.len() > 1 {
            let slack = self.slack_percent.unwrap_or(0.0) / 100.0;
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

    fn find(&self, values: &Values, discipline: Option<Discipline>) -> Finding {
        let names = self.names().iter().map(|name| match discipline {
            Some(discipline) => name.replace("{d}", discipline.name()),
            None => name.clone(),
        });
        let measured: Vec<Option<f64>> = names.map(|name| values.evaluate(&name)).collect();
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
        Finding {
            discipline,
            measured,
            holds,
        }
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

impl Values {
    /// A value such as `PFC/deadlock@sum`: the median over seeds unless it says otherwise. With
    /// ` : ` between two of them, their ratio.
    pub fn evaluate(&self, name: &str) -> Option<f64> {
        if let Some((above, below)) = name.split_once(" : ") {
            let ratio = self.evaluate(above)? / self.evaluate(below)?;
            return ratio.is_finite().then_some(ratio);
        }
        let (name, over) = name
            .trim()
            .rsplit_once('@')
            .unwrap_or((name.trim(), "median"));
        over_seeds(self.get(name)?, over)
    }
}

fn over_seeds(values: &[f64], over: &str) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    match over {
        "median" => {
            let mut sorted = values.to_vec();
            sorted.sort_by(f64::total_cmp);
            let middle = sorted.len() / 2;
            match sorted.len() % 2 {
                1 => Some(sorted[middle]),
                _ => Some(f64::midpoint(
                    *sorted.get(middle.checked_sub(1)?)?,
                    sorted[middle],
                )),
            }
        }
        "mean" => Some(mean),
        "min" => values.iter().copied().reduce(f64::min),
        "max" => values.iter().copied().reduce(f64::max),
        "sum" => Some(values.iter().sum()),
        "count" => Some(count),
        "std" => {
            let squares = values.iter().map(|value| (value - mean).powi(2));
            Some((squares.sum::<f64>() / count).sqrt())
        }
        _ => None,
    }
}
