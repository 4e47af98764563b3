//! The nodes that appear in a drawing, and how loudly.

use std::collections::BTreeSet;

use pauseless_core::id::{NodeId, PortId};
use pauseless_fabric::dependency::{ClosingFlow, Cycle};
use pauseless_fabric::topology::Topology;

use super::layers::heights;
use pauseless_fabric::fabric::Fabric;
use pauseless_figures::network::{Arrow, Network, Node, Role, Sizes};
use pauseless_text::quantity::counted;

/// Everything that appears in a drawing.
#[derive(Debug)]
pub(super) struct Cast<'f> {
    pub(super) fabric: &'f Fabric,
    pub(super) cycle: Option<&'f Cycle>,
    /// The flows that are drawn.
    pub(super) flows: &'f [ClosingFlow],
    /// The nodes that are drawn: switches, then hosts, each in the order of their names.
    nodes: Vec<(NodeId, Role)>,
}

impl<'f> Cast<'f> {
    pub fn new(fabric: &'f Fabric, cycle: Option<&'f Cycle>) -> Cast<'f> {
        let topology = &fabric.topology;
        let flows = cycle.map_or(&[][..], |cycle| &cycle.flows);
        let flows = &flows[..flows.len().min(FLOWS_MAX)];
        let hops = cycle.iter().flat_map(|cycle| &cycle.hops);
        let ring = BTreeSet::from_iter(hops.map(|hop| hop.buffer.node));
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
        let hosts = passed.iter().filter(|node| topology.is_host(**node));
        let hosts = hosts.map(|host| (*host, Role::Host));
        let mut nodes = Vec::from_iter(switches.chain(hosts));
        nodes.sort_by_cached_key(|(node, role)| {
            (*role == Role::Host, natural(&topology.node(*node).name))
        });
        Cast { fabric, cycle, flows, nodes }
    }

    pub(super) fn topology(&self) -> &'f Topology {
        &self.fabric.topology
    }

    pub(super) fn name(&self, node: NodeId) -> &'f str {
        &self.topology().node(node).name
    }

    /// How many switches are drawn.
    pub(super) fn switch_count(&self) -> usize {
        self.nodes.iter().filter(|(_, role)| *role != Role::Host).count()
    }

    /// What is to be drawn.
    pub(super) fn network(&self) -> Network {
        let topology = self.topology();
        let position = |wanted: NodeId| self.nodes.iter().position(|(node, _)| *node == wanted);
        let both = |a: NodeId, b: NodeId| Some([position(a)?, position(b)?]);
        let layers = heights(topology);
        let nodes = self.nodes.iter().map(|(node, role)| Node {
            name: self.name(*node).to_string(),
            tooltip: self.tooltip(*node),
            role: *role,
            layer: layers.as_ref().map(|layers| layers[node.index()]),
            home: topology.ports(*node).first().and_then(|port| position(port.peer)),
            notes: if *role == Role::Host { Vec::new() } else { self.notes(*node) },
        });
        // One line for parallel links.
        let pairs = topology.links().iter().map(|link| (link.a.min(link.b), link.a.max(link.b)));
        let pairs = BTreeSet::from_iter(pairs);
        let hops = self.cycle.map_or(&[][..], |cycle| &cycle.hops);
        let mut ring = Vec::new();
        for node in hops.iter().filter_map(|hop| position(hop.buffer.node)) {
            if !ring.contains(&node) {
                ring.push(node);
            }
        }
        let arrows = (0..hops.len()).filter_map(|number| {
            let step = Step::new(topology, hops[number].buffer.node, hops[number].egress);
            Some(self.arrow(both(step.from, step.to)?, step, (number + 1) % hops.len()))
        });
        let routes = self.flows.iter().map(|flow| {
            steps(topology, flow).into_iter().filter_map(|step| both(step.from, step.to)).collect()
        });
        Network {
            nodes: nodes.collect(),
            links: pairs.into_iter().filter_map(|(a, b)| both(a, b)).collect(),
            ring,
            arrows: arrows.collect(),
            routes: routes.collect(),
            sizes: Sizes::SHEET,
        }
    }

    /// The arrow of a hop to the buffer at position `next` of the cycle, which it waits for.
    fn arrow(&self, [from, to]: [usize; 2], step: Step, next: usize) -> Arrow {
        let buffer = self.cycle.map(|cycle| cycle.hops[next].buffer);
        let names = &self.fabric.names;
        let label = buffer.map(|buffer| {
            let ingress = match names.port(buffer.node, buffer.port) {
                Some(port) => port.to_string(),
                None => self.topology().port_name(buffer.node, buffer.port),
            };
            let class = format!("{} {}", self.fabric.medium.class_name(), buffer.class.0);
            vec![format!("in {ingress}"), class]
        });
        // A port that is named after its peer says nothing that the arrow does not. The number
        // says which arrow is meant where there is room only beside another cable.
        let egress = names.port(step.from, step.port);
        Arrow {
            from,
            to,
            badge: (next + 1).to_string(),
            label: label.unwrap_or_default(),
            start: egress.map(|egress| format!("to {}: out {egress}", next + 1)),
        }
    }

    /// How many end nodes of a switch are not drawn, in a long and in a short form.
    fn notes(&self, switch: NodeId) -> Vec<String> {
        let is_drawn = |wanted: NodeId| self.nodes.iter().any(|(node, _)| *node == wanted);
        let neighbours = self.topology().neighbours(switch).into_iter();
        let is_other = |node: &NodeId| self.topology().is_host(*node) && !is_drawn(*node);
        match neighbours.filter(is_other).count() {
            0 => Vec::new(),
            others => vec![format!("+ {}", counted(others, "end node")), format!("+{others}")],
        }
    }

    /// The whole name, and what the device calls itself if that is something else.
    fn tooltip(&self, node: NodeId) -> String {
        let name = self.name(node);
        let device = self.fabric.names.device(node);
        let description = device.map(|device| device.description.as_str());
        match description.filter(|text| !text.is_empty() && *text != name) {
            Some(description) => format!("{name} ({description})"),
            None => name.to_string(),
        }
    }
}

/// A link in the direction in which packets take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) from: NodeId,
    port: PortId,
    pub(super) to: NodeId,
}

impl Step {
    fn new(topology: &Topology, from: NodeId, port: PortId) -> Step {
        let to = topology.port(from, port).peer;
        Step { from, port, to }
    }
}

/// The links that the packets of a flow take.
pub(super) fn steps(topology: &Topology, flow: &ClosingFlow) -> Vec<Step> {
    flow.path.iter().map(|(node, port)| Step::new(topology, *node, *port)).collect()
}

/// Orders names as people do: `leaf2` before `leaf10`.
fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = name;
    loop {
        let digits = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (word, tail) = rest.split_at(digits);
        let end = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
        let (number, tail) = tail.split_at(end);
        // A number that is too long for a machine is greater than all others.
        let number = if number.is_empty() { 0 } else { number.parse().unwrap_or(u64::MAX) };
        parts.push((word.to_string(), number));
        rest = tail;
        if rest.is_empty() {
            return parts;
        }
    }
}

/// The most switches of a fabric that is drawn whole; of larger ones only those are drawn that
/// have to do with the cycle.
const SWITCHES_MAX: usize = 60;
/// The most flows that are drawn: more lines nobody tells apart.
pub(super) const FLOWS_MAX: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count() {
        let mut names = ["leaf10", "leaf2", "S1_10", "S1_9", "leaf", "7"];
        names.sort_by_key(|name| natural(name));
        assert_eq!(names, ["7", "S1_9", "S1_10", "leaf", "leaf2", "leaf10"]);
    }
}
