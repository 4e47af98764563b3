//! The sections `[topology]` and `[routing]`.

mod failures;
mod shape;

use std::ops::RangeInclusive;

use pauseless_core::id::NodeId;
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::failure::Failures;
use pauseless_fabric::generate::{LinkSpecs, Shape};
use pauseless_fabric::topology::Topology;

use super::Aim;
use super::reader::{At, Place, Section, did_you_mean};
use crate::fabric::{Device, Names};
use crate::problem::Sink;

pub(crate) use shape::{lead_key, written as written_shape};

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
    /// What its own tools call its nodes, and their ports before the failures.
    pub names: Names,
    /// Where the section begins.
    pub place: Place,
    aim: Aim,
}

impl Fabric {
    /// Reads `[topology]`.
    pub(crate) fn read(root: &mut Section<'_>, sink: &Sink, aim: Aim) -> Option<Fabric> {
        let is_written = root.has("topology");
        let Some(mut section) = root.table("topology") else {
            if !is_written {
                root.missing_section("topology");
            }
            return None;
        };
        let place = section.place.clone();
        let healthy = shape::read_healthy(&mut section, aim);
        let failures = failures::Written::read(&mut section);
        section.finish();
        let shape::Healthy {
            topology: healthy,
            names,
            shape,
        } = healthy?;
        let failed = failures.resolve(&healthy, sink);
        Some(Fabric {
            topology: failed.apply(&healthy),
            names,
            healthy,
            shape,
            failed,
            place,
            aim,
        })
    }

    /// What its own tools call the nodes and ports that are left: ports are numbered anew when
    /// links fail.
    pub(crate) fn names_left(&self) -> Names {
        let nodes = (0..self.healthy.nodes().len()).map(|node| NodeId(node as u32));
        let devices = nodes.filter_map(|node| {
            let device = self.names.device(node)?;
            let ports = device.ports.iter().zip(self.healthy.ports(node));
            let left = ports.filter(|(_, port)| !self.failed.contains(port.link));
            Some(Device {
                ports: left.map(|(name, _)| name.clone()).collect(),
                ..device.clone()
            })
        });
        Names::new(devices.collect())
    }

    /// Reports and returns `None` if `classes` and `groups` make the run too large for memory.
    pub(crate) fn check_size(&self, sink: &Sink, group_count: usize, classes: u64) -> Option<()> {
        let nodes = self.topology.nodes().len() as u64;
        let entries = nodes * group_count as u64;
        let switches = self.topology.switches().iter();
        let pairs = switches.map(|switch| (self.topology.ports(*switch).len() as u64).pow(2));
        let pairs = pairs.sum::<u64>() * classes;
        let cells = match self.aim {
            Aim::Run => entries.max(pairs),
            // Ways are shared where routes are, and nothing is kept per pair of ports.
            Aim::Check => 0,
        };
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
