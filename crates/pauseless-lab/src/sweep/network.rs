//! The network of a scenario, as the filter of a campaign sees it.

use pauseless_fabric::dependency::Checker;
use toml::Table;

use super::campaign::{Campaign, Filter};
use crate::check::unrouted_pairs;
use crate::fabric::toml::read;
use crate::import::source::Source;

/// The parts of a scenario that decide its network.
pub(super) const SECTIONS: [&str; 4] = ["seed", "topology", "routing", "classes"];

/// What the filter asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    /// Whether buffers can wait for each other in a circle, whoever sends to whom.
    pub is_cyclic: bool,
    /// Whether every host reaches every other.
    pub is_connected: bool,
}

impl Facts {
    /// What the network of `scenario` is like; `None` if it cannot be read.
    pub(super) fn of(scenario: &Table) -> Option<Facts> {
        let parts = SECTIONS.into_iter().filter_map(|key| {
            let value = scenario.get(key)?;
            Some((key.to_string(), value.clone()))
        });
        let text = toml::to_string(&Table::from_iter(parts)).ok()?;
        let file = "network.toml".to_string();
        let fabric = read(&Source { file, text }).ok()?;
        let network = fabric.network();
        let nobody = fabric.marks(&[]);
        Some(Facts {
            is_cyclic: Checker::of(&network).graph(network, &nobody).is_cyclic(),
            is_connected: unrouted_pairs(network, &nobody) == 0,
        })
    }
}

impl Filter {
    /// Whether a network gets through: one that cannot be read does, so that its runs can say why.
    pub(super) fn lets(&self, facts: Option<Facts>) -> bool {
        facts.is_none_or(|facts| {
            self.cyclic.is_none_or(|it| it == facts.is_cyclic)
                && self.connected.is_none_or(|it| it == facts.is_connected)
        })
    }
}

impl Campaign {
    /// The axes that decide the network, in order.
    pub(super) fn network_axes(&self) -> Vec<usize> {
        let follows_seed = self.follows_seed();
        let decides = |path: &str| match path.split('.').next() {
            Some("seed") => follows_seed,
            Some(section) => SECTIONS.contains(&section),
            None => false,
        };
        let axes = self.axes.iter().enumerate();
        let axes = axes.filter(|(_, axis)| {
            let mut set = axis.points.iter().flat_map(|point| &point.set);
            set.any(|(path, _)| decides(path))
        });
        axes.map(|(number, _)| number).collect()
    }

    /// Whether routes may follow the general seed: not if they have one of their own.
    fn follows_seed(&self) -> bool {
        let has_own = |table: &Table| table.get("seed").is_some();
        let routing = self.base.get("routing").and_then(toml::Value::as_table);
        let mut points = self.axes.iter().flat_map(|axis| &axis.points);
        let is_set = points.any(|it| it.set.iter().any(|(path, _)| path == "routing.seed"));
        !is_set && !routing.is_some_and(has_own)
    }
}
