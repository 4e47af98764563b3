//! `check`: can this fabric deadlock, because of whom, and what would help.

pub mod confirm;
pub mod json;
pub mod sarif;
pub mod svg;
pub mod sweep;
pub mod text;

use std::collections::BTreeSet;

use pauseless_core::class_map::ClassMap;
use pauseless_core::id::{GroupId, NodeId};
use pauseless_core::table::WayId;
use pauseless_fabric::dependency::{Blame, Checker, Component, Lane, Network, Traffic};
use pauseless_fabric::routing::{Algorithm, Multipath, RouteBuilder, Routes, Routing, TieBreak};
use pauseless_fabric::topology::Topology;

use crate::fabric::{Fabric, Origin};

/// What was found.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// How many ingress buffers face switches.
    pub buffer_count: usize,
    /// How many pairs of them have one waiting for the other.
    pub dependency_count: usize,
    /// How many groups of buffers can all wait for each other.
    pub component_count: usize,
    /// The largest of these, each with a shortest cycle.
    pub components: Vec<Component>,
    /// The end nodes without which there would be no cycle.
    pub blame: Option<Blame>,
    /// Whether up*/down* routing over the same cables has no cycle; `None` if it was not tried.
    pub up_down_helps: Option<bool>,
    /// Pairs of end nodes between which there is no route.
    pub unrouted_pairs: u64,
    /// End nodes that were not looked at.
    pub left_out: Vec<NodeId>,
    /// What part of the traffic was looked at, in words; empty for all of it.
    pub scope: Vec<String>,
}

impl Verdict {
    /// Whether buffers can wait for each other in a circle.
    pub fn is_cyclic(&self) -> bool {
        self.component_count > 0
    }
}

/// Checks `fabric` without the end nodes of `left_out`.
pub fn check(fabric: &Fabric, left_out: &[NodeId]) -> Verdict {
    let marks = fabric.marks(left_out);
    let network = fabric.network();
    let mut checker = Checker::of(&network);
    let graph = checker.graph(network, &marks);
    let component_count = match graph.is_cyclic() {
        true => graph.components().len(),
        false => 0,
    };
    let components = checker.explain(network, (&graph, &marks), COMPONENTS_MAX);
    let mut verdict = Verdict {
        buffer_count: graph.buffer_count(),
        dependency_count: graph.dependency_count(),
        component_count,
        components,
        blame: None,
        up_down_helps: None,
        unrouted_pairs: unrouted_pairs(fabric, &fabric.routes, &marks),
        left_out: left_out.to_vec(),
        scope: match left_out.len() {
            0 => Vec::new(),
            1 => vec!["1 end node left out".to_string()],
            count => vec![format!("{count} end nodes left out")],
        },
    };
    if verdict.is_cyclic() {
        if left_out.is_empty() {
            verdict.blame = checker.blame(network, &fabric.suspects());
        }
        verdict.up_down_helps = up_down_helps(fabric, &marks);
    }
    verdict
}

/// Whether up*/down* routing over the same cables has no cycle.
fn up_down_helps(fabric: &Fabric, left_out: &[bool]) -> Option<bool> {
    let is_up_down = |routing: Routing| routing.algorithm == Algorithm::UpDown;
    if matches!(fabric.origin, Origin::Rule(routing) if is_up_down(routing)) {
        return None;
    }
    let routing = Routing {
        algorithm: Algorithm::UpDown,
        multipath: Multipath::Single {
            tie_break: TieBreak::Lowest,
        },
    };
    let routes = RouteBuilder::new(&fabric.topology, routing).build();
    let lanes = match &fabric.traffic {
        Traffic::AllPairs(lanes) => lanes.clone(),
        Traffic::Demands(demands) => {
            let lanes: BTreeSet<Lane> = demands.iter().map(|demand| demand.lane).collect();
            Vec::from_iter(lanes)
        }
    };
    // The rule is for a fabric that leaves classes as they are.
    let network = Network {
        routes: &routes,
        classes: &ClassMap::Same,
        traffic: &Traffic::AllPairs(lanes),
        ..fabric.network()
    };
    let graph = Checker::of(&network).graph(network, left_out);
    Some(!graph.is_cyclic())
}

/// How many pairs of end nodes have no route from the one to the other, not by any of equal ways.
fn unrouted_pairs(fabric: &Fabric, routes: &Routes, left_out: &[bool]) -> u64 {
    let topology = &fabric.topology;
    let is_in = |host: &NodeId| topology.is_host(*host) && !left_out[host.index()];
    let switch_of = |host: NodeId| topology.ports(host).first().map(|port| port.peer);
    let mut reach = Reach::new(topology, routes);
    if let Traffic::Demands(demands) = &fabric.traffic {
        let wanted = demands.iter().filter(|demand| {
            is_in(&demand.source) && is_in(&fabric.routes.groups.target(demand.group))
        });
        let lost = wanted.filter(|demand| {
            let group = match demand.group.index() < routes.groups.count() {
                true => demand.group,
                false => routes
                    .groups
                    .of_host(fabric.routes.groups.target(demand.group)),
            };
            !switch_of(demand.source).is_some_and(|switch| reach.get(group)[switch.index()])
        });
        return lost.count() as u64;
    }
    let mut hosts_at = vec![0; topology.nodes().len()];
    for switch in topology.hosts().iter().filter(|host| is_in(host)) {
        if let Some(switch) = switch_of(*switch) {
            hosts_at[switch.index()] += 1;
        }
    }
    let entrances = topology.switches().iter().copied();
    let entrances = Vec::from_iter(entrances.filter(|switch| hosts_at[switch.index()] > 0));
    let mut unrouted = 0;
    for &host in topology.hosts().iter().filter(|host| is_in(host)) {
        let own = switch_of(host);
        let reached = reach.get(routes.groups.of_host(host));
        for switch in entrances.iter().filter(|switch| !reached[switch.index()]) {
            // Nobody sends to itself.
            unrouted += hosts_at[switch.index()] - u64::from(own == Some(*switch));
        }
    }
    unrouted
}

/// From which switches a group is reached. It keeps the last answer, because hosts of one switch
/// share a way.
struct Reach<'r> {
    topology: &'r Topology,
    routes: &'r Routes,
    last: Option<(WayId, Option<NodeId>)>,
    reached: Vec<bool>,
}

impl<'r> Reach<'r> {
    fn new(topology: &'r Topology, routes: &'r Routes) -> Reach<'r> {
        Reach {
            topology,
            routes,
            last: None,
            reached: vec![false; topology.nodes().len()],
        }
    }

    /// By node: whether some of the next hops there lead to the target of `group`.
    fn get(&mut self, group: GroupId) -> &[bool] {
        let table = &self.routes.table;
        let exit = table.exit(group).map(|(switch, _)| switch);
        let key = (table.way(group), exit);
        if self.last == Some(key) && exit.is_some() {
            return &self.reached;
        }
        self.last = Some(key);
        self.reached.fill(false);
        let target = self.routes.groups.target(group);
        let mut before: Vec<Vec<NodeId>> = vec![Vec::new(); self.reached.len()];
        let mut found = Vec::new();
        for &switch in self.topology.switches() {
            for port in table.next_hops(switch, group) {
                let peer = self.topology.port(switch, *port).peer;
                match peer == target {
                    true => found.push(switch),
                    false => before[peer.index()].push(switch),
                }
            }
        }
        while let Some(switch) = found.pop() {
            if !std::mem::replace(&mut self.reached[switch.index()], true) {
                found.append(&mut before[switch.index()]);
            }
        }
        &self.reached
    }
}

/// More cycles than this nobody reads.
const COMPONENTS_MAX: usize = 8;
