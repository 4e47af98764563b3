//! A fabric as an operator has it: topology and routes with the names that its own tools use.

mod evidence;
mod graph;
mod names;
mod restrict;

use crate::dependency::{Lossy, Network, Suspects, Traffic};
use crate::routing::{RouteBuilder, Routes, Routing};
use crate::topology::Topology;
use pauseless_core::class_map::ClassMap;
use pauseless_core::id::{NodeId, PortId};

pub use evidence::{Evidence, LaneEvidence, Place, RouteEvidence};
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

    /// Groups of end nodes that may be to blame together: those that call themselves alike, those
    /// on switches that have few, and those of one switch.
    pub fn suspects(&self) -> Vec<Suspects> {
        let mut suspects = self.names.kinds(&self.topology);
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
