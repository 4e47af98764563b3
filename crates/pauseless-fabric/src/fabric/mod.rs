//! A fabric as an operator has it: topology and routes with the names that its own tools use.

mod evidence;
mod graph;
mod names;
mod restrict;

use std::collections::{BTreeSet, VecDeque};

use crate::dependency::{Lossy, Network, Suspects, Traffic};
use crate::routing::{RouteBuilder, Routes, Routing};
use crate::topology::Topology;
use pauseless_core::class_map::ClassMap;
use pauseless_core::id::{NodeId, PortId};

pub use evidence::{Addresses, Evidence, LaneEvidence, Place, RouteEvidence};
pub use graph::GraphError;
pub use names::{Device, Namer, Names};

/// Everything that is known of a fabric.
#[derive(Clone, Debug)]
pub struct Fabric {
    /// Where it comes from: the files, or the name of a shape.
    pub name: String,
    /// The medium, which decides which flow control its links have.
    pub medium: Medium,
    /// The nodes and the links between them.
    pub topology: Topology,
    /// What its own tools call nodes and ports.
    pub names: Names,
    /// The forwarding tables: where each switch sends each packet.
    pub routes: Routes,
    /// The source of the routes.
    pub origin: Origin,
    /// The class of each packet on its next link.
    pub classes: ClassMap,
    /// The packets that there can be.
    pub traffic: Traffic,
    /// Which buffers drop rather than make anybody wait.
    pub lossy: Lossy,
    /// What the reader of a verdict should know about the input.
    pub notes: Vec<String>,
    /// What the files say beyond all this, by which findings are told.
    pub evidence: Evidence,
}

/// Which flow control the links of a fabric have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// Ethernet, with PFC per priority.
    Ethernet,
    /// InfiniBand, with credits per virtual lane.
    InfiniBand,
}

impl Medium {
    /// The name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Medium::Ethernet => "ethernet",
            Medium::InfiniBand => "infiniband",
        }
    }

    /// The name of a traffic class on this medium.
    pub fn class_name(self) -> &'static str {
        match self {
            Medium::Ethernet => "priority",
            Medium::InfiniBand => "VL",
        }
    }
}

/// The source of the routes of a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The switches' own tables.
    Tables,
    /// Flows with their own paths; what else there is follows a rule.
    Flows,
    /// A routing rule that gives every path.
    Rule(Routing),
}

impl Fabric {
    /// The graph and the routes as the analyser takes them.
    pub fn network(&self) -> Network<'_> {
        Network {
            topology: &self.topology,
            routes: &self.routes,
            classes: &self.classes,
            traffic: &self.traffic,
            lossy: &self.lossy,
        }
    }

    /// Replaces the routes by those of a rule. Flows keep their sources and targets, not their
    /// paths.
    pub fn route_by(&mut self, routing: Routing) {
        let routes = RouteBuilder::new(&self.topology, routing).build();
        if let Traffic::Demands(demands) = &mut self.traffic {
            for demand in demands {
                let target = self.routes.groups.target(demand.group);
                demand.group = routes.groups.of_host(target);
            }
        }
        self.routes = routes;
        self.origin = Origin::Rule(routing);
        self.evidence.routes = None;
        self.evidence.lanes = LaneEvidence::Known;
    }

    /// Whether each node is one of these end nodes, in the order of the nodes.
    pub fn marks(&self, nodes: &[NodeId]) -> Vec<bool> {
        let mut marks = vec![false; self.topology.nodes().len()];
        for node in nodes {
            marks[node.index()] = true;
        }
        marks
    }

    /// What a port is called, such as `leaf1 P12`, or `S1:S2` where its tools have no name for it.
    pub fn port_name(&self, node: NodeId, port: PortId) -> String {
        match self.names.port(node, port) {
            Some(label) => format!("{} {label}", self.topology.node(node).name),
            None => self.topology.port_name(node, port),
        }
    }

    /// End nodes on switches above the leaves, such as managers, storage and aggregation nodes: those
    /// that an operator moves, or gives a class of their own, more easily than all others.
    ///
    /// Leaves are the switches with many end nodes. A switch with few is above them if it is nearer
    /// to them, on average, than they are to each other, or if all its neighbours are leaves with twice as many.
    fn service_nodes(&self) -> Vec<NodeId> {
        let topology = &self.topology;
        let ports = |switch: NodeId| topology.ports(switch).iter();
        let hosts = |switch: NodeId| ports(switch).filter(|it| topology.is_host(it.peer)).count();
        let switches = topology.switches().iter().copied();
        let most = switches.clone().map(hosts).max().unwrap_or(0);
        let is_leaf = |switch: NodeId| hosts(switch) > 0 && hosts(switch) * 4 >= most;
        let leaves = Vec::from_iter(switches.clone().filter(|switch| is_leaf(*switch)));
        let distance = |switch: NodeId| self.mean_distance(switch, &leaves);
        let sampled = leaves.iter().take(LEAVES_SAMPLED).map(|leaf| distance(*leaf));
        let usual = sampled.fold(f64::INFINITY, f64::min);
        let is_above = |switch: &NodeId| {
            let (own, mut peers) = (hosts(*switch), ports(*switch).map(|port| port.peer));
            let is_below = |peer: NodeId| topology.is_host(peer) || hosts(peer) >= 2 * own;
            let is_few = own > 0 && own * 2 <= most;
            is_few && (peers.all(is_below) || !is_leaf(*switch) && distance(*switch) < usual)
        };
        let above = switches.filter(is_above);
        let peers = above.flat_map(|switch| ports(switch).map(|port| port.peer));
        let mut nodes = Vec::from_iter(peers.filter(|peer| topology.is_host(*peer)));
        nodes.sort_unstable();
        nodes
    }

    /// How many links away from `start` the others of `targets` are on average, as far as they can be
    /// reached.
    fn mean_distance(&self, start: NodeId, targets: &[NodeId]) -> f64 {
        let mut distances = vec![None; self.topology.nodes().len()];
        distances[start.index()] = Some(0u32);
        let mut queue = VecDeque::from([start]);
        while let Some(switch) = queue.pop_front() {
            let next = distances[switch.index()].map(|distance| distance + 1);
            for port in self.topology.ports(switch) {
                if !self.topology.is_host(port.peer) && distances[port.peer.index()].is_none() {
                    distances[port.peer.index()] = next;
                    queue.push_back(port.peer);
                }
            }
        }
        let others = targets.iter().filter(|target| **target != start);
        let others = others.filter_map(|target| distances[target.index()]);
        let others = Vec::from_iter(others);
        f64::from(others.iter().sum::<u32>()) / others.len().max(1) as f64
    }

    /// Groups of end nodes that may be to blame together: those above the leaves, first of each
    /// such switch alone, then those that call themselves alike, those on switches that have few,
    /// and those of one switch.
    pub fn suspects(&self) -> Vec<Suspects> {
        let mut suspects = Vec::new();
        let service = self.service_nodes();
        if service.len() <= SERVICE_ALONE_MAX {
            suspects.extend(service.iter().map(|node| Suspects {
                name: format!("end node {}", self.topology.node(*node).name),
                hosts: vec![*node],
            }));
        }
        let descriptions = service.iter().filter_map(|node| self.names.device(*node));
        let descriptions = BTreeSet::from_iter(descriptions.map(|device| &device.description));
        let called = match (descriptions.len(), descriptions.first()) {
            (1, Some(only)) if !only.is_empty() => format!(", called {only:?}"),
            _ => String::new(),
        };
        suspects.push(Suspects {
            name: format!("end nodes on switches above the leaves{called}"),
            hosts: service,
        });
        suspects.extend(self.names.kinds(&self.topology));
        let of_switch = |switch: &NodeId| {
            let peers = self.topology.ports(*switch).iter().map(|port| port.peer);
            Vec::from_iter(peers.filter(|peer| self.topology.is_host(*peer)))
        };
        let switches = self.topology.switches();
        let by_switch = Vec::from_iter(switches.iter().map(|switch| (*switch, of_switch(switch))));
        let few = by_switch.iter().map(|(_, hosts)| hosts.len()).max().unwrap_or(0) / 4;
        let sparse = by_switch.iter().filter(|(_, hosts)| hosts.len() <= few);
        let hosts = Vec::from_iter(sparse.flat_map(|(_, hosts)| hosts.iter().copied()));
        suspects.push(Suspects {
            name: "end nodes on switches that have few of them".to_string(),
            hosts,
        });
        suspects.extend(by_switch.into_iter().map(|(switch, hosts)| Suspects {
            name: format!("end nodes on {}", self.topology.node(switch).name),
            hosts,
        }));
        suspects.retain(|suspects| !suspects.hosts.is_empty());
        suspects
    }
}

/// Up to so many end nodes above the leaves are suspected one by one.
const SERVICE_ALONE_MAX: usize = 4;
/// How many leaves are asked how far they are from the others.
const LEAVES_SAMPLED: usize = 16;
