//! Who appears in a drawing, and how loudly.

use std::collections::BTreeSet;

use pauseless_core::id::{NodeId, PortId};
use pauseless_fabric::dependency::{ClosingFlow, Cycle};
use pauseless_fabric::topology::Topology;

use super::words::natural;
use pauseless_fabric::fabric::Fabric;

/// The part that a node plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// A switch of the cycle.
    Cycle,
    /// A switch that flows pass on their way.
    Passed,
    /// A switch that has nothing to do with it.
    Idle,
    /// An end of a flow.
    Host,
}

/// Everything that appears.
#[derive(Debug)]
pub(super) struct Cast<'f> {
    pub(super) fabric: &'f Fabric,
    pub(super) cycle: Option<&'f Cycle>,
    /// The flows that are drawn.
    pub(super) flows: &'f [ClosingFlow],
    /// The switches of the cycle, each once, in its order.
    pub(super) ring: Vec<NodeId>,
    /// All switches that are drawn, in the order of their names.
    pub(super) switches: Vec<(NodeId, Role)>,
    /// The ends of the flows, in the order of their names.
    pub(super) hosts: Vec<NodeId>,
}

impl<'f> Cast<'f> {
    pub fn new(fabric: &'f Fabric, cycle: Option<&'f Cycle>) -> Cast<'f> {
        let topology = &fabric.topology;
        let flows = cycle.map_or(&[][..], |cycle| &cycle.flows);
        let flows = &flows[..flows.len().min(FLOWS_MAX)];
        let mut ring = Vec::new();
        for hop in cycle.iter().flat_map(|cycle| &cycle.hops) {
            if !ring.contains(&hop.buffer.node) {
                ring.push(hop.buffer.node);
            }
        }
        let steps = flows.iter().flat_map(|flow| steps(topology, flow));
        let passed = BTreeSet::from_iter(steps.flat_map(|step| [step.from, step.to]));
        let is_large = topology.switches().len() > SWITCHES_MAX;
        let role = |switch: NodeId| {
            if ring.contains(&switch) {
                Some(Role::Cycle)
            } else if passed.contains(&switch) {
                Some(Role::Passed)
            } else {
                (!is_large).then_some(Role::Idle)
            }
        };
        let switches = topology.switches().iter();
        let switches = switches.filter_map(|switch| Some((*switch, role(*switch)?)));
        let mut switches = Vec::from_iter(switches);
        switches.sort_by_cached_key(|(switch, _)| natural(&topology.node(*switch).name));
        let hosts = passed.iter().filter(|node| topology.is_host(**node));
        let mut hosts = Vec::from_iter(hosts.copied());
        hosts.sort_by_cached_key(|host| natural(&topology.node(*host).name));
        Cast { fabric, cycle, flows, ring, switches, hosts }
    }

    pub(super) fn topology(&self) -> &'f Topology {
        &self.fabric.topology
    }

    pub(super) fn name(&self, node: NodeId) -> &'f str {
        &self.topology().node(node).name
    }

    /// How many switches are not drawn.
    pub(super) fn hidden(&self) -> usize {
        self.topology().switches().len() - self.switches.len()
    }

    /// The ends of flows on this switch.
    pub(super) fn hosts_on(&self, switch: NodeId) -> Vec<NodeId> {
        let is_here = |host: &&NodeId| self.home(**host) == Some(switch);
        self.hosts.iter().filter(is_here).copied().collect()
    }

    /// The switch of a host: the first, if it has several.
    pub(super) fn home(&self, host: NodeId) -> Option<NodeId> {
        let ports = self.topology().ports(host);
        ports.first().map(|port| port.peer)
    }

    /// How many end nodes of a switch are not drawn.
    pub(super) fn others_on(&self, switch: NodeId) -> usize {
        let neighbours = self.topology().neighbours(switch).into_iter();
        let is_other = |node: &NodeId| self.topology().is_host(*node) && !self.hosts.contains(node);
        neighbours.filter(is_other).count()
    }
}

/// A link in the direction in which packets take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Step {
    pub(super) from: NodeId,
    pub(super) port: PortId,
    pub(super) to: NodeId,
}

impl Step {
    pub fn new(topology: &Topology, (from, port): (NodeId, PortId)) -> Step {
        let to = topology.port(from, port).peer;
        Step { from, port, to }
    }
}

/// The links that the packets of a flow take.
pub(super) fn steps(topology: &Topology, flow: &ClosingFlow) -> Vec<Step> {
    let path = flow.path.iter();
    path.map(|at| Step::new(topology, *at)).collect()
}

/// Of larger fabrics only the switches that have to do with the cycle are drawn.
const SWITCHES_MAX: usize = 60;
/// More lines than this nobody tells apart.
pub(super) const FLOWS_MAX: usize = 10;
