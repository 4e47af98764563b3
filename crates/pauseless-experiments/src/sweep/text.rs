//! The scenarios of tasks as text, fast: of millions of them most parts are the same.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use toml::{Table, Value};

use super::campaign::Campaign;

/// The seed of a scenario that has none written.
const SEED: u64 = 1;
/// The most texts of a section that are kept in memory.
const KEPT_MAX: usize = 200_000;

/// The sections of scenarios.
#[derive(Clone, Debug)]
pub(super) struct Texts {
    /// The sections that no axis changes, with their texts.
    fixed: Vec<(String, String)>,
    varied: Vec<Varied>,
    seed: u64,
}

/// A section that some axes change.
#[derive(Clone, Debug)]
struct Varied {
    section: String,
    /// The places of the axes that change the section.
    axes: Vec<usize>,
    /// The text for each combination of their values; empty if there are too many.
    kept: Vec<OnceLock<Vec<(String, String)>>>,
}

/// The text of a scenario, and the seed in it.
pub(super) struct ScenarioText {
    pub text: String,
    pub seed: u64,
}

impl Texts {
    /// Prepares the texts of a campaign.
    pub fn of(campaign: &Campaign) -> Texts {
        let base = campaign.scenario(&[], |_, _| {});
        let seed = seed(&base).unwrap_or(SEED);
        let mut changed: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for (number, axis) in campaign.axes.iter().enumerate() {
            for (path, _) in axis.points.iter().flat_map(|point| &point.set) {
                changed.entry(root(path)).or_default().insert(number);
            }
        }
        let fixed = sections(base).filter(|(key, _)| !changed.contains_key(key.as_str())).collect();
        let varied = changed.iter().map(|(section, axes)| Varied {
            section: section.to_string(),
            axes: axes.iter().copied().collect(),
            kept: {
                let counts = axes.iter().map(|axis| campaign.axes[*axis].points.len());
                let count = counts.fold(1, usize::saturating_mul);
                vec![OnceLock::new(); if count > KEPT_MAX { 0 } else { count }]
            },
        });
        Texts { varied: varied.collect(), fixed, seed }
    }

    /// The scenario with these values, one of each axis. What cannot be set is an unknown key in it,
    /// and so an error of its run.
    pub(super) fn scenario(&self, campaign: &Campaign, points: &[usize]) -> ScenarioText {
        let varied = Vec::from_iter(self.varied.iter().map(|it| it.texts(campaign, points)));
        let mut all = Vec::from_iter(varied.iter().flat_map(|it| it.iter()).chain(&self.fixed));
        // Plain values come before all sections, or they would be part of one.
        all.sort_unstable_by_key(|(key, text)| (text.starts_with('['), key));
        let text = all.into_iter().map(|(_, text)| text.as_str()).collect();
        let axes = campaign.axes.iter().zip(points).rev();
        let mut set = axes.flat_map(|(axis, point)| axis.points[*point].set.iter().rev());
        let seed = set.find_map(|(path, value)| (path == "seed").then(|| value.as_integer()));
        let seed = seed.flatten().map_or(self.seed, |seed| seed as u64);
        ScenarioText { text, seed }
    }
}

impl Varied {
    /// The section with these values, and what stands in its place if one cannot be set.
    fn texts(&self, campaign: &Campaign, points: &[usize]) -> Cow<'_, [(String, String)]> {
        let make = || Vec::from_iter(sections(campaign.section(&self.section, points)));
        if self.kept.is_empty() {
            return Cow::Owned(make());
        }
        let place = self
            .axes
            .iter()
            .fold(0, |place, axis| place * campaign.axes[*axis].points.len() + points[*axis]);
        Cow::Borrowed(self.kept[place].get_or_init(make))
    }
}

/// The section that a path leads into.
pub(super) fn root(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

fn sections(table: Table) -> impl Iterator<Item = (String, String)> {
    table.into_iter().map(|(key, value)| {
        let alone = Table::from_iter([(key.clone(), value)]);
        let text = toml::to_string(&alone).expect("it was read from a file");
        (key, text)
    })
}

fn seed(table: &Table) -> Option<u64> {
    let seed = table.get("seed").and_then(Value::as_integer);
    seed.map(|seed| seed as u64)
}
