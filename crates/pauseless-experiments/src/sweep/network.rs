//! The network of a scenario, as the filter of a campaign sees it.

use pauseless_fabric::dependency::Checker;
use toml::{Table, Value};

use super::campaign::{Campaign, Filter};
use pauseless_check::unrouted_pairs;
pub use pauseless_scenario::fabric_file::read;
use pauseless_text::source::Source;

/// The parts of a scenario that decide its network.
pub(super) const SECTIONS: [&str; 4] = ["seed", "topology", "routing", "classes"];

/// What the filter says of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The filter lets the network through.
    Through,
    /// `cyclic` leaves it out.
    ByCyclic,
    /// `connected` leaves it out, and `cyclic` does not.
    ByConnected,
}

impl Filter {
    /// What it says of the network of `scenario`. One that cannot be read gets through, so that its
    /// runs can say why.
    pub(super) fn judge(&self, scenario: &Table) -> Answer {
        self.judge_readable(scenario).unwrap_or(Answer::Through)
    }

    fn judge_readable(&self, scenario: &Table) -> Option<Answer> {
        let parts = SECTIONS.into_iter().filter_map(|key| {
            let value = scenario.get(key)?;
            Some((key.to_string(), value.clone()))
        });
        let text = toml::to_string(&Table::from_iter(parts)).ok()?;
        let file = "network.toml".to_string();
        let fabric = read(&Source { file, text }).ok()?;
        let network = fabric.network();
        let nobody = fabric.marks(&[]);
        // Of many networks few have a cycle, and each question costs about the same.
        if let Some(wanted) = self.cyclic {
            let is_cyclic = Checker::of(&network).graph(network, &nobody).is_cyclic();
            if is_cyclic != wanted {
                return Some(Answer::ByCyclic);
            }
        }
        if let Some(wanted) = self.connected {
            let is_connected = unrouted_pairs(network, None, &nobody) == 0;
            if is_connected != wanted {
                return Some(Answer::ByConnected);
            }
        }
        Some(Answer::Through)
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
        let axes = self.axes.iter().enumerate().filter(|(_, axis)| {
            axis.points.iter().flat_map(|point| &point.set).any(|(path, _)| decides(path))
        });
        axes.map(|(number, _)| number).collect()
    }

    /// Whether routes may follow the general seed: not if ties are nowhere broken by a seed, or if
    /// it is always one of their own.
    fn follows_seed(&self) -> bool {
        let routing = self.base.get("routing");
        let mut set = self.axes.iter().flat_map(|axis| &axis.points).flat_map(|it| &it.set);
        let is_seeded = |ties: Option<&Value>| ties.is_some_and(|it| it.as_str() == Some(SEEDED));
        let is_drawn = is_seeded(routing.and_then(|it| it.get("tie_break")))
            || set.any(|(path, value)| match path.as_str() {
                "routing" => is_seeded(value.get("tie_break")),
                "routing.tie_break" => is_seeded(Some(value)),
                _ => false,
            });
        let mut has_own = routing.is_some_and(|it| it.get("seed").is_some());
        for axis in &self.axes {
            let mut points = axis.points.iter();
            has_own = points.all(|point| {
                point.set.iter().fold(has_own, |has_own, (path, value)| match path.as_str() {
                    "routing" => value.get("seed").is_some(),
                    "routing.seed" => true,
                    _ => has_own,
                })
            });
        }
        is_drawn && !has_own
    }
}

/// How `routing.tie_break` says that ties are broken by a seed.
const SEEDED: &str = "seeded";
