//! The scenarios of tasks as text, fast: of millions of them most parts are the same.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use super::campaign::Campaign;

/// The seed of a scenario that has none written.
const SEED: u64 = 1;

/// The sections of the scenario that all runs begin with.
#[derive(Clone, Debug)]
pub(super) struct Texts {
    sections: BTreeMap<String, String>,
    seed: u64,
}

/// A scenario that was written.
pub(super) struct Written {
    pub text: String,
    pub seed: u64,
}

impl Texts {
    /// Those of `campaign`.
    pub(super) fn of(campaign: &Campaign) -> Texts {
        let base = campaign.scenario(&[], |_, _| {});
        let seed = seed(&base).unwrap_or(SEED);
        let sections = sections(base).collect();
        Texts { sections, seed }
    }

    /// The scenario with these values, one of each axis. What cannot be set is an unknown key in it,
    /// and so an error of its run.
    pub(super) fn scenario(&self, campaign: &Campaign, points: &[usize]) -> Written {
        let axes = campaign.axes.iter().zip(points);
        let set = axes.flat_map(|(axis, point)| &axis.points[*point].set);
        let roots = set.filter_map(|(path, _)| path.split('.').next());
        let roots = BTreeSet::from_iter(roots);
        let changed = campaign.part(&roots, points, |_, _| {});
        let seed = seed(&changed).unwrap_or(self.seed);
        let changed = BTreeMap::from_iter(sections(changed));
        let others = self
            .sections
            .iter()
            .filter(|(key, _)| !changed.contains_key(*key));
        let mut all = Vec::from_iter(changed.iter().chain(others));
        // Plain values come before all sections, or they would be part of one.
        all.sort_unstable_by_key(|(key, text)| (text.starts_with('['), *key));
        let texts = all.into_iter().map(|(_, text)| text.as_str());
        let text = texts.collect();
        Written { text, seed }
    }
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
