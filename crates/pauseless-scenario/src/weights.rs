//! `[[ecmp_weight]]`: next hops that get more than others.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use pauseless_core::id::{NodeId, PortId};
use pauseless_core::table::{ForwardingTable, WayId};
use pauseless_fabric::topology::Topology;
use pauseless_sim::change::Changes;

use super::pattern;
use pauseless_text::declare::{Declared, List};
use pauseless_text::file::File;
use pauseless_text::problem::Sink;
use pauseless_text::reader::Section;
use pauseless_text::section;

/// The name of the section.
pub(crate) const SECTION: &str = "ecmp_weight";

/// A set of next hops has each of them as often as its weight says.
const WEIGHTS: RangeInclusive<u64> = 1..=64;

section! {
    /// Next hops with more weight than others, whose weight is 1: the hash of flows, and load balancing at
    /// random and in rounds, choose them so much more often; later ones win.
    pub struct WeightedPorts {
        /// Port names with `*`, such as `["L0:S1", "L*:S0"]`.
        ports: List<String>, within "a list of strings", required "[\"L0:S1\"]";
        /// The weight among the next hops of a set that has several.
        weight: u16, within WEIGHTS, required "2";
    }
}

/// All sections, as they were written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Setting {
    all: Vec<WeightedPorts>,
}

/// The weights of the ports that are named.
pub(crate) type Weights = BTreeMap<NodeId, BTreeMap<PortId, u16>>;

impl Setting {
    pub(crate) fn read(root: &mut Section<'_>) -> Setting {
        let all = root.tables(SECTION).map(|mut section| {
            let keys = WeightedPorts::read(&mut section);
            section.finish();
            keys
        });
        Setting { all: all.collect() }
    }

    pub(crate) fn resolve(&self, topology: &Topology, sink: &Sink) -> Weights {
        let mut weights = Weights::new();
        for keys in &self.all {
            if let (Some(ports), Some(weight)) = (keys.ports.get(), keys.weight.copied()) {
                for (node, port) in pattern::ports(topology, ports, sink) {
                    weights.entry(node).or_default().insert(port, weight);
                }
            }
        }
        weights
    }

    pub(crate) fn write(&self, file: &mut File) {
        for keys in &self.all {
            file.one_of(SECTION, keys);
        }
    }
}

/// Lets the weighted ports stand in the table as often as their weights say.
pub(crate) fn apply(weights: &Weights, table: &mut ForwardingTable) {
    for (node, ports) in weights {
        for way in (0..table.way_count()).map(|way| WayId(way as u32)) {
            // A table of an event may have the weights of the one that it was made of.
            let mut set = table.next_hops_of_way(*node, way).to_vec();
            set.dedup();
            let weight = |port: &PortId| ports.get(port).copied().unwrap_or(1);
            if set.len() < 2 || set.iter().all(|port| weight(port) == 1) {
                continue;
            }
            let repeat = |port| std::iter::repeat_n(port, usize::from(weight(&port)));
            let repeated = Vec::from_iter(set.into_iter().flat_map(repeat));
            table.set_way(*node, way, &repeated);
        }
    }
}

/// The same for the tables that switches change to during the run.
pub(crate) fn apply_to_changes(weights: &Weights, changes: &mut Changes) {
    for table in changes.tables.iter_mut().filter(|_| !weights.is_empty()) {
        apply(weights, Arc::make_mut(table));
    }
}
