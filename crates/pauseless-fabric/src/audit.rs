//! What packets meet on their way: circles, dead ends, valleys, and other classes.
//!
//! A cycle of buffers needs several flows; what is found here befalls a single one. Only the
//! routes of the switches themselves are looked at, as a rule makes no such mistakes; classes are
//! looked at on any routes. The cost is that of following each way once through the fabric, and
//! once per lane where classes differ.

mod classes;
mod routes;

use std::collections::BTreeMap;

use crate::dependency::{Lane, Traffic};
use crate::fabric::Fabric;
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::table::WayId;

/// Something that befalls packets on their way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What happens to them.
    pub kind: FaultKind,
    /// The destinations of the packets, each once; for classes the label of the packets.
    pub destinations: Vec<String>,
    /// The nodes that show it, in the order in which packets pass them.
    pub path: Vec<NodeId>,
    /// The route that does it: a file and a line.
    pub place: Option<(String, u32)>,
}

/// What happens to packets on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// They go in a circle: the last node of the path sends them to the first.
    Loop,
    /// The last node of the path has no route for them, or one that drops them.
    BlackHole,
    /// They come down to the middle node of the path and go up again.
    Valley,
    /// They are charged to another class at the last node of the path.
    ClassChange(Step),
    /// They come into a buffer that drops.
    Lossy(Step),
    /// They do not stop when the next switch tells them to.
    Deaf(Step),
}

/// A packet on its way from one ingress buffer to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    /// The egress by which it leaves the first node of the path.
    pub egress: PortId,
    /// The ingress by which it comes to the last one.
    pub ingress: PortId,
    /// The class of the packet before.
    pub from: Class,
    /// The class that it is charged to at the last node.
    pub to: Class,
}

impl FaultKind {
    /// The word for it in documents and options.
    pub fn word(self) -> &'static str {
        match self {
            FaultKind::Loop => "loop",
            FaultKind::BlackHole => "black-hole",
            FaultKind::Valley => "valley",
            FaultKind::ClassChange(_) => "class-change",
            FaultKind::Lossy(_) | FaultKind::Deaf(_) => "lossy",
        }
    }

    /// The words of all kinds, each once.
    pub const WORDS: [&'static str; 5] = ["loop", "black-hole", "valley", "class-change", "lossy"];
}

/// All faults of packets between end nodes whose mark in `left_out`, by node, is not set: those
/// of routes first, each kind in the order of the nodes that show it.
pub fn audit(fabric: &Fabric, left_out: &[bool]) -> Vec<Fault> {
    if fabric.evidence.routes.is_none() && fabric.evidence.labels.is_empty() {
        return Vec::new();
    }
    let plan = Plan::new(fabric, left_out);
    let mut faults = routes::faults(fabric, &plan);
    faults.extend(classes::faults(fabric, &plan));
    faults.sort_by(|a, b| (a.kind, &a.path).cmp(&(b.kind, &b.path)));
    faults
}

/// Who sends what along each way.
struct Plan {
    /// By way, the switches at which packets enter and the port by which they come.
    entrances: Vec<Vec<(NodeId, PortId)>>,
    /// By way, the switches at which packets leave it for their host.
    exits: Vec<Vec<NodeId>>,
    /// The lanes that are used.
    lanes: Vec<Lane>,
}

impl Plan {
    fn new(fabric: &Fabric, left_out: &[bool]) -> Plan {
        let Fabric { topology, routes, .. } = fabric;
        let count = routes.table.way_count();
        let mut plan = Plan {
            entrances: vec![Vec::new(); count],
            exits: vec![Vec::new(); count],
            lanes: Vec::new(),
        };
        let is_in = |host: NodeId| !left_out[host.index()];
        let entrance = |host: NodeId| {
            let port = topology.ports(host).first().filter(|_| is_in(host));
            port.map(|port| (port.peer, port.peer_port))
        };
        let all = topology.hosts().iter().filter_map(|host| entrance(*host));
        let all = Vec::from_iter(all.collect::<BTreeMap<NodeId, PortId>>());
        let mut lanes = match &fabric.traffic {
            Traffic::AllPairs(lanes) => lanes.clone(),
            Traffic::Demands(demands) => demands.iter().map(|demand| demand.lane).collect(),
        };
        lanes.sort_unstable();
        lanes.dedup();
        plan.lanes = lanes;
        for group in routes.groups.addresses().filter(|it| is_in(routes.groups.target(*it))) {
            let way = routes.table.way(group).index();
            plan.exits[way].extend(routes.table.exit(group).map(|(switch, _)| switch));
            if matches!(fabric.traffic, Traffic::AllPairs(_)) {
                plan.entrances[way].clone_from(&all);
            }
        }
        if let Traffic::Demands(demands) = &fabric.traffic {
            for demand in demands.iter().filter(|it| is_in(routes.groups.target(it.group))) {
                let way = routes.table.way(demand.group).index();
                plan.entrances[way].extend(entrance(demand.source));
            }
        }
        for exits in &mut plan.exits {
            exits.sort_unstable();
            exits.dedup();
        }
        plan
    }

    /// The ways that somebody sends along.
    fn ways(&self) -> impl Iterator<Item = WayId> + '_ {
        let ways = (0..).map(WayId).zip(&self.entrances);
        ways.filter(|(_, entrances)| !entrances.is_empty()).map(|(way, _)| way)
    }
}
