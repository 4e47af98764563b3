//! The sections `[topology]` and `[routing]`.

mod failures;
mod shape;

use std::ops::RangeInclusive;

use pauseless_core::id::NodeId;
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::failure::Failures;
use pauseless_fabric::generate::{LinkSpecs, Shape};
use pauseless_fabric::routing::{Multipath, TieBreak};
use pauseless_fabric::topology::Topology;

use super::reader::{At, Place, Section, did_you_mean};
use crate::problem::Sink;

pub(crate) use shape::written as written_shape;

/// A byte lasts at least 5 ps, so that times stay exact; see [`pauseless_core::unit`].
pub(crate) const RATES: RangeInclusive<Rate> = Rate::mbps(1)..=Rate::gbps(1_600);
/// Long enough for any cable, short enough that no sum of delays overflows.
pub(crate) const DELAYS: RangeInclusive<Span> = Span::ZERO..=Span::s(1);
/// Table entries, or pairs of ports, above which a run would not fit the memory of a workstation.
const CELLS_MAX: u64 = 1 << 28;

/// The fabric of a scenario, and what it was made from.
#[derive(Clone, Debug)]
pub(crate) struct Fabric {
    /// What is left after the failures.
    pub topology: Topology,
    /// Before the failures.
    pub healthy: Topology,
    /// The generator and its links; `None` for a custom fabric.
    pub shape: Option<(Shape, LinkSpecs)>,
    /// The links of the healthy fabric that are down.
    pub failed: Failures,
    /// Where the section begins.
    pub place: Place,
}

impl Fabric {
    /// Reads `[topology]`.
    pub(crate) fn read(root: &mut Section<'_>, sink: &Sink) -> Option<Fabric> {
        let is_written = root.has("topology");
        let Some(mut section) = root.table("topology") else {
            if !is_written {
                root.missing_section("topology");
            }
            return None;
        };
        let place = section.place.clone();
        let healthy = shape::read_healthy(&mut section);
        let failures = failures::Written::read(&mut section);
        section.finish();
        let (healthy, shape) = healthy?;
        let failed = failures.resolve(&healthy, sink);
        Some(Fabric {
            topology: failed.apply(&healthy),
            healthy,
            shape,
            failed,
            place,
        })
    }

    /// Reports and returns `None` if `classes` and `groups` make the run too large for memory.
    pub(crate) fn check_size(&self, sink: &Sink, group_count: usize, classes: u64) -> Option<()> {
        let nodes = self.topology.nodes().len() as u64;
        let entries = nodes * group_count as u64;
        let switches = self.topology.switches().iter();
        let pairs = switches.map(|switch| (self.topology.ports(*switch).len() as u64).pow(2));
        let pairs = pairs.sum::<u64>() * classes;
        let cells = entries.max(pairs);
        if cells <= CELLS_MAX {
            return Some(());
        }
        let problem = self.place.problem(format!(
            "too large: {nodes} nodes with {group_count} destinations need {cells} table cells"
        ));
        let problem = problem.expected(format!("at most {CELLS_MAX}"));
        sink.push(problem.help("make the fabric smaller"));
        None
    }

    /// The node called `name`, or a report.
    pub(crate) fn node(&self, sink: &Sink, name: &At<String>) -> Option<NodeId> {
        find_node(&self.topology, sink, name)
    }

    /// The host called `name`, or a report.
    pub(crate) fn host(&self, sink: &Sink, name: &At<String>) -> Option<NodeId> {
        let node = self.node(sink, name)?;
        if self.topology.is_host(node) {
            return Some(node);
        }
        let problem = name.place.problem(format!("{} is a switch", name.value));
        sink.push(problem.expected("a host"));
        None
    }
}

/// The node of `topology` called `name`, or a report.
fn find_node(topology: &Topology, sink: &Sink, name: &At<String>) -> Option<NodeId> {
    let found = topology.node_named(&name.value);
    if found.is_none() {
        let problem = name
            .place
            .problem(format!("there is no node {:?}", name.value));
        let names = topology.nodes().iter().map(|node| node.name.as_str());
        sink.push(problem.help(did_you_mean(&name.value, names)));
    }
    found
}

/// Whether a link between the two is down.
pub(crate) fn has_failed(fabric: &Fabric, a: &str, b: &str) -> bool {
    let mut ends = fabric.failed.ends(&fabric.healthy);
    ends.any(|(ends, _)| ends == [a, b] || ends == [b, a])
}

/// Reads `[routing]`.
pub(crate) fn read_routing(root: &mut Section<'_>, seed: u64) -> Multipath {
    let mut tie_break = TieBreak::Lowest;
    let mut is_ecmp = false;
    if let Some(mut section) = root.table("routing") {
        let kind = section.choice("kind", &[("shortest", false), ("ecmp", true)]);
        is_ecmp = kind.is_some_and(|kind| kind.value);
        if is_ecmp {
            section.set_context(" with kind = \"ecmp\"".to_string());
        } else {
            let choices = [
                ("lowest", TieBreak::Lowest),
                ("seeded", TieBreak::Seeded(seed)),
            ];
            let choice = section.choice("tie_break", &choices);
            tie_break = choice.map_or(TieBreak::Lowest, |choice| choice.value);
        }
        section.finish();
    }
    if is_ecmp {
        Multipath::Ecmp
    } else {
        Multipath::Single { tie_break }
    }
}
