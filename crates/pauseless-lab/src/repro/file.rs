//! A claims file: an experiment of a paper, what it says came out, and how we look.

use std::collections::BTreeSet;

use pauseless_core::switch::Discipline;
use serde::{Deserialize, Deserializer};

use super::Scale;
use crate::results::Reference;
use crate::sample::Asked;
use crate::sample::curve::Measure;

/// An experiment as its file has it. `docs/repro.md` is the reference of the format.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// What it shows, in one line.
    pub title: String,
    /// Where in the paper it stands.
    pub cites: String,
    /// The scenario file, `none`, or by default the one with the same name.
    pub scenario: Option<String>,
    /// The function that measures what cases alone cannot.
    pub compute: Option<String>,
    /// The function that adds metrics to each run.
    pub per_run: Option<String>,
    /// How packets wait: every case is run in each of these.
    #[serde(default, deserialize_with = "disciplines")]
    pub disciplines: Vec<Discipline>,
    /// How long it takes.
    pub seconds: Seconds,
    /// How it is changed for a quick run.
    #[serde(default)]
    pub quick: Resize,
    /// How it is changed for a full run.
    #[serde(default)]
    pub full: Resize,
    /// What the paper leaves open.
    #[serde(default, rename = "choice")]
    pub choices: Vec<Choice>,
    /// What is run.
    #[serde(default, rename = "case")]
    pub cases: Vec<Case>,
    /// Flows whose completion is measured by itself.
    #[serde(default, rename = "group")]
    pub groups: Vec<Group>,
    /// Numbers taken from curves.
    #[serde(default, rename = "measure")]
    pub measures: Vec<Measure>,
    /// What the paper says.
    #[serde(default, rename = "claim")]
    pub claims: Vec<Claim>,
    /// What is drawn.
    #[serde(default, rename = "figure")]
    pub figures: Vec<FigureFile>,
}

/// The time of one core that an experiment takes, in seconds.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seconds {
    /// In a quick run.
    pub quick: f64,
    /// At the paper's scale.
    pub full: f64,
}

/// What one scale has that the scenario file has not.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resize {
    /// What differs, in words.
    #[serde(default)]
    pub note: String,
    /// What is set in every case.
    #[serde(default)]
    pub set: toml::Table,
}

/// A parameter that the paper leaves open.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The parameter.
    pub what: String,
    /// What we have chosen.
    pub ours: String,
    /// Why.
    pub why: String,
}

/// A variant of the scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Its name in values and figures.
    pub name: String,
    /// How many seeds a quick run tries.
    #[serde(default = "one")]
    pub seeds: u64,
    /// How many seeds a full run tries.
    pub seeds_full: Option<u64>,
    /// Values of the scenario by their paths.
    #[serde(default)]
    pub set: toml::Table,
    /// The place on the axis of a figure of lines.
    pub x: Option<f64>,
    /// The curve in a figure of lines.
    pub series: Option<String>,
    /// Instead of the experiment's.
    #[serde(default, deserialize_with = "disciplines")]
    pub disciplines: Vec<Discipline>,
}

impl Case {
    /// The seeds that are tried.
    pub fn seeds(&self, scale: Scale) -> std::ops::RangeInclusive<u64> {
        match scale {
            Scale::Quick => 1..=self.seeds,
            Scale::Full => 1..=self.seeds_full.unwrap_or(self.seeds),
        }
    }
}

/// The flows from some hosts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Its name in metrics.
    pub name: String,
    /// The hosts, such as `H2..H15`.
    pub sources: Vec<String>,
}

/// Something that the paper says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// What it says.
    pub text: String,
    /// Where.
    pub cites: Option<String>,
    /// The paper's number, or its words.
    pub paper: Paper,
    /// The unit of the number.
    #[serde(default)]
    pub unit: String,
    /// The values that are judged, each by itself.
    #[serde(default)]
    pub value: OneOrMany,
    /// Values that rise from each to the next.
    #[serde(default)]
    pub order: Vec<String>,
    /// How far an order may be violated.
    pub slack_percent: Option<f64>,
    /// At most so far from the paper's number.
    pub within: Option<f64>,
    /// At most so much of the paper's number away from it.
    pub within_percent: Option<f64>,
    /// Between the paper's number divided and multiplied by this.
    pub factor: Option<f64>,
    /// At most this.
    pub at_most: Option<f64>,
    /// At least this.
    pub at_least: Option<f64>,
    /// Between these two.
    pub between: Option<(f64, f64)>,
    /// Where we meet it.
    pub met: Met,
    /// Why not, or why not everywhere.
    #[serde(default)]
    pub reason: String,
    /// The only scale at which it is judged.
    pub scale: Option<Scale>,
}

/// What a paper gives.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Paper {
    /// A number.
    Number(f64),
    /// An order, or what happens.
    Words(String),
}

/// One text or a list of them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl Default for OneOrMany {
    fn default() -> OneOrMany {
        OneOrMany::Many(Vec::new())
    }
}

impl OneOrMany {
    /// All of them.
    pub fn as_slice(&self) -> &[String] {
        match self {
            OneOrMany::One(one) => std::slice::from_ref(one),
            OneOrMany::Many(many) => many,
        }
    }
}

/// Where a claim is marked as met.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Met {
    /// Everywhere or nowhere.
    Always(bool),
    /// In these disciplines and no others.
    #[serde(deserialize_with = "disciplines")]
    In(Vec<Discipline>),
}

impl Met {
    /// Whether it is marked as met there.
    pub fn is_in(&self, discipline: Option<Discipline>) -> bool {
        match self {
            Met::Always(met) => *met,
            Met::In(list) => discipline.is_some_and(|discipline| list.contains(&discipline)),
        }
    }
}

/// A figure as its file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureFile {
    /// The stem of its files.
    pub name: String,
    /// What it shows.
    pub caption: String,
    /// What kind of figure it is.
    pub kind: FigureKind,
    /// What the horizontal axis measures.
    #[serde(default)]
    pub x: String,
    /// What the vertical axis measures.
    #[serde(default)]
    pub y: String,
    /// Whether the horizontal axis has powers of ten.
    #[serde(default)]
    pub x_log: bool,
    /// Whether the vertical axis has powers of ten.
    #[serde(default)]
    pub y_log: bool,
    /// The curves of a figure over time.
    #[serde(default)]
    pub series: Vec<String>,
    /// The only cases in it.
    #[serde(default)]
    pub cases: Vec<String>,
    /// The only disciplines in it.
    #[serde(default, deserialize_with = "disciplines")]
    pub disciplines: Vec<Discipline>,
    /// The end of a time axis.
    pub to: Option<String>,
    /// The bars.
    #[serde(default)]
    pub bars: Vec<Bar>,
    /// The metric of lines, or `fct` or `slowdown` of a distribution.
    #[serde(default)]
    pub metric: String,
    /// The paper's curves, by name.
    #[serde(default)]
    pub paper: std::collections::BTreeMap<String, Vec<(f64, f64)>>,
}

/// A kind of figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FigureKind {
    /// Curves over time, a panel for each case.
    Time,
    /// Bars, with the paper's beside ours.
    Bars,
    /// A metric against a number of the case.
    Lines,
    /// Distributions of completion times.
    Cdf,
}

/// A bar.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bar {
    /// What stands below it.
    pub label: String,
    /// The group that it is in.
    pub group: Option<String>,
    /// The value.
    pub value: String,
    /// The paper's.
    pub paper: Option<f64>,
}

impl Experiment {
    /// Reads a claims file; else what is wrong with it.
    pub fn parse(text: &str) -> Result<Experiment, String> {
        let experiment: Experiment = toml::from_str(text).map_err(|error| error.to_string())?;
        for claim in &experiment.claims {
            claim
                .check(&experiment)
                .map_err(|wrong| format!("claim {:?}: {wrong}", claim.text))?;
        }
        for name in experiment.value_names() {
            let metric = experiment.metric(name).filter(|it| it.contains('{'));
            if let Some(Err(wrong)) = metric.map(|metric| experiment.reference(metric)) {
                return Err(format!("{name}: no run has such a number: {wrong}"));
            }
        }
        for case in &experiment.cases {
            if case.name.contains(['/', '@']) {
                return Err(format!("case {:?}: no / or @ in a name", case.name));
            }
        }
        Ok(experiment)
    }

    /// The numbers that claims and figures ask for by their names in the registry of results.
    pub fn asked(&self) -> Vec<Asked> {
        let metrics = self.value_names().filter_map(|name| self.metric(name));
        let lines = self.figures.iter().map(|figure| figure.metric.as_str());
        let metrics: BTreeSet<&str> = metrics.chain(lines).collect();
        let asked = metrics.into_iter().filter_map(|metric| {
            let reference = self.reference(metric).ok()?;
            let name = metric.to_string();
            Some(Asked { name, reference })
        });
        asked.collect()
    }

    /// The values that claims and bars speak of, such as `PFC/{d}/rate.min@max`.
    fn value_names(&self) -> impl Iterator<Item = &str> {
        let claims = self.claims.iter().flat_map(|claim| claim.names());
        let bars = self.figures.iter().flat_map(|figure| &figure.bars);
        let names = claims.chain(bars.map(|bar| &bar.value));
        names.flat_map(|name| name.split(" : ")).map(str::trim)
    }

    /// The metric of a value, if it is that of a case: `rate.min`.
    fn metric<'n>(&self, name: &'n str) -> Option<&'n str> {
        let name = name.rsplit_once('@').map_or(name, |(name, _)| name);
        let rest = self.cases.iter().find_map(|case| {
            let rest = name.strip_prefix(case.name.as_str())?;
            rest.strip_prefix('/')
        })?;
        let disciplines = Discipline::ALL.map(Discipline::name).into_iter();
        let mut places = disciplines.chain(["{d}"]);
        let behind = places.find_map(|place| rest.strip_prefix(place)?.strip_prefix('/'));
        Some(behind.unwrap_or(rest))
    }

    /// The number that a name means in this experiment.
    pub(super) fn reference(&self, metric: &str) -> Result<Reference, String> {
        let groups = Vec::from_iter(self.groups.iter().map(|group| group.name.as_str()));
        Reference::with_groups(metric, &groups)
    }

    /// What is set in every case at this scale.
    pub fn resize(&self, scale: Scale) -> &Resize {
        match scale {
            Scale::Quick => &self.quick,
            Scale::Full => &self.full,
        }
    }
}

fn one() -> u64 {
    1
}

fn disciplines<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Discipline>, D::Error> {
    let names = Vec::<String>::deserialize(from)?;
    let find = |name: &String| Discipline::ALL.into_iter().find(|it| it.name() == name);
    let unknown = |name: &String| serde::de::Error::custom(format!("no discipline {name:?}"));
    let all = names
        .iter()
        .map(|name| find(name).ok_or_else(|| unknown(name)));
    all.collect()
}
