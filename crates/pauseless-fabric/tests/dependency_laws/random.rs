//! Random small networks: any fabric, any tables, any classes, any traffic.

use pauseless_core::class_map::{Beyond, ClassMap, ClassTable, Hops, Key, LANE_COUNT, Passage};
use pauseless_core::id::{Class, GroupId, NodeId, PortId};
use pauseless_core::table::ForwardingTable;
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::builder::TopologyBuilder;
use pauseless_fabric::dependency::{Demand, Lane, Lossy, Network, Traffic};
use pauseless_fabric::rng::{Purpose, Stream};
use pauseless_fabric::routing::{
    Algorithm, Groups, Multipath, RouteBuilder, Routes, Routing, TieBreak, port_counts,
};
use pauseless_fabric::topology::{LinkIndex, LinkSpec, Topology};

pub const SPEC: LinkSpec = LinkSpec { rate: Rate::gbps(10), delay: Span::us(1) };

/// Everything that a [`Network`] borrows.
#[derive(Clone)]
pub struct Case {
    pub topology: Topology,
    pub routes: Routes,
    pub classes: ClassMap,
    pub traffic: Traffic,
    pub lossy: Lossy,
    pub left_out: Vec<bool>,
}

impl Case {
    pub fn network(&self) -> Network<'_> {
        Network {
            topology: &self.topology,
            routes: &self.routes,
            classes: &self.classes,
            traffic: &self.traffic,
            lossy: &self.lossy,
        }
    }

    /// A case from `seed` alone.
    pub fn new(seed: u64) -> Case {
        let mut random = Stream::new(seed, Purpose::Workload, 0);
        let topology = fabric(&mut random);
        Case::of(&mut random, topology)
    }

    /// Any tables, classes and traffic in this fabric.
    pub fn of(random: &mut Stream, topology: Topology) -> Case {
        let routes = routes(random, &topology);
        let classes = classes(random, &topology);
        let lanes = lanes(random);
        let traffic = match random.below(2) {
            0 => Traffic::AllPairs(lanes),
            _ => Traffic::Demands(demands(random, &routes, &lanes)),
        };
        let lossy = match random.below(3) {
            0 => lossy(random, &topology),
            _ => Lossy::nothing(),
        };
        let leaves_out = random.below(3) == 0;
        let left_out = topology.nodes().iter();
        let left_out = left_out.map(|_| leaves_out && random.below(5) == 0);
        Case { left_out: left_out.collect(), topology, routes, classes, traffic, lossy }
    }
}

/// A few switches that hang together at first, some joined more than once, and a few hosts; then
/// some links fail, so that some are cut off.
pub fn fabric(random: &mut Stream) -> Topology {
    let mut builder = TopologyBuilder::new();
    let count = 2 + random.below(6);
    let switches = Vec::from_iter((0..count).map(|n| builder.add_switch(format!("S{n}"))));
    let pick = |random: &mut Stream, below: u64| switches[random.below(below) as usize];
    match random.below(3) {
        0 => {
            for n in 1..count {
                builder.connect(switches[n as usize], pick(random, n), SPEC);
            }
        }
        // Rings, because they have the most cycles.
        _ => {
            for n in 0..count - u64::from(count == 2) {
                let next = switches[((n + 1) % count) as usize];
                builder.connect(switches[n as usize], next, SPEC);
            }
        }
    }
    for _ in 0..random.below(4) {
        let (a, b) = (pick(random, count), pick(random, count));
        if a != b {
            builder.connect(a, b, SPEC);
        }
    }
    for number in 0..2 + random.below(2 * count) {
        let host = builder.add_host(format!("H{number}"));
        builder.connect(pick(random, count), host, SPEC);
    }
    let topology = builder.build().expect("a valid fabric");
    match random.below(3) {
        0 => without_some(random, &topology),
        _ => topology,
    }
}

/// Three switches in a ring with so many links between each two that a switch has more next buffers than a
/// machine word has bits, and two hosts each.
pub fn wide_fabric(random: &mut Stream) -> Topology {
    let mut builder = TopologyBuilder::new();
    let switches = ["S0", "S1", "S2"].map(|name| builder.add_switch(name.to_string()));
    for at in 0..3 {
        for _ in 0..20 + random.below(30) {
            builder.connect(switches[at], switches[(at + 1) % 3], SPEC);
        }
    }
    for number in 0..6 {
        let host = builder.add_host(format!("H{number}"));
        builder.connect(switches[number / 2], host, SPEC);
    }
    builder.build().expect("a valid fabric")
}

/// The fabric after one to three links, of hosts too, have failed.
pub fn without_some(random: &mut Stream, topology: &Topology) -> Topology {
    let links = topology.links().len() as u64;
    let count = (1 + random.below(3)).min(links);
    let failed = (0..count).map(|_| LinkIndex(random.below(links) as u32));
    topology.without_links(&Vec::from_iter(failed))
}

/// By some algorithm, or by tables that mean nothing and may send packets in circles.
fn routes(random: &mut Stream, topology: &Topology) -> Routes {
    let algorithm = match random.below(3) {
        0 => return scribbled(random, topology),
        1 => Algorithm::UpDown,
        _ => Algorithm::Shortest,
    };
    let multipath = multipath(random);
    let mut builder = RouteBuilder::new(topology, Routing { algorithm, multipath });
    for _ in 0..random.below(4) {
        if let Some(path) = walk(random, topology) {
            builder.add_path(&path).expect("a path");
        }
    }
    let mut routes = builder.build();
    if random.below(3) == 0 {
        // A second address of some host, which is reached as another host of its switch is.
        let host = GroupId(random.below(topology.host_count() as u64) as u32);
        let (way, exit) = (routes.table.way(host), routes.table.exit(host));
        routes.table.add_group(way, exit);
        let target = routes.groups.target(host);
        routes.groups.add_address(target);
    }
    routes
}

pub fn multipath(random: &mut Stream) -> Multipath {
    let tie_break = match random.below(3) {
        0 => return Multipath::Ecmp,
        1 => TieBreak::Lowest,
        _ => TieBreak::Seeded(random.next_u64()),
    };
    Multipath::Single { tie_break }
}

/// A walk from a host over switches, none twice, to another host; `None` if it got stuck.
fn walk(random: &mut Stream, topology: &Topology) -> Option<Vec<NodeId>> {
    let hosts = topology.hosts();
    let source = hosts[random.below(hosts.len() as u64) as usize];
    let mut path = vec![source, topology.ports(source).first()?.peer];
    for _ in 0..2 + random.below(6) {
        let here = path[path.len() - 1];
        let ports = topology.ports(here);
        let next = ports[random.below(ports.len() as u64) as usize].peer;
        if path.contains(&next) {
            continue;
        }
        path.push(next);
        if topology.is_host(next) {
            return Some(path);
        }
    }
    None
}

/// Next hops drawn at random. The hosts of a switch share a way, as they do in real tables.
fn scribbled(random: &mut Stream, topology: &Topology) -> Routes {
    let mut table = ForwardingTable::new(topology.nodes().len(), topology.switches());
    let mut ways = vec![None; topology.nodes().len()];
    for &host in topology.hosts() {
        let link = topology.ports(host).first();
        let edge = link.map(|port| port.peer);
        let shared = edge.and_then(|edge| ways[edge.index()]);
        let way = shared.unwrap_or_else(|| table.add_way());
        table.add_group(way, link.map(|port| (port.peer, port.peer_port)));
        if let Some(edge) = edge.filter(|_| random.below(3) > 0) {
            ways[edge.index()] = Some(way);
        }
        // Nobody sends to a host that has lost its link.
        if shared.is_some() || link.is_none() {
            continue;
        }
        for &switch in topology.switches().iter().filter(|s| Some(**s) != edge) {
            let ports = (0..).map(PortId).zip(topology.ports(switch));
            let trunks = ports.filter(|(_, port)| !topology.is_host(port.peer));
            let chosen = trunks.filter(|_| random.below(5) < 2).map(|(port, _)| port);
            table.set_way(switch, way, &Vec::from_iter(chosen));
        }
    }
    let groups = Groups::of_hosts(topology);
    Routes { table, groups }
}

fn classes(random: &mut Stream, topology: &Topology) -> ClassMap {
    let key = match random.below(6) {
        0..3 => return ClassMap::Same,
        3 => {
            let count = 2 + random.below(5) as u8;
            // Tests that ask nothing of witnesses make it wider.
            let width = 1;
            let beyond = [Beyond::Drop, Beyond::Stay][random.below(2) as usize];
            return ClassMap::Hops(Hops { count, width, beyond });
        }
        4 => Key::Label,
        _ => Key::Class,
    };
    let mut table = ClassTable::new(key, port_counts(topology));
    for &node in topology.switches() {
        let count = topology.ports(node).len() as u16;
        for pair in 0..count * count {
            let passage =
                Passage { node, ingress: PortId(pair / count), egress: PortId(pair % count) };
            let row = [(); LANE_COUNT].map(|()| match random.below(12) {
                0 => ClassTable::DROP,
                // Most packets stay low, so that there are cycles.
                1..4 => random.below(3) as u8,
                _ => 0,
            });
            if random.below(4) > 0 {
                table.set(passage, row);
            }
        }
    }
    ClassMap::Table(table)
}

fn lanes(random: &mut Stream) -> Vec<Lane> {
    let count = 1 + random.below(3);
    let lane = |_| Lane { label: random.below(3) as u8, class: Class(random.below(2) as u8) };
    (0..count).map(lane).collect()
}

/// Some of all pairs, explicit paths among them; the same demand may be there twice.
fn demands(random: &mut Stream, routes: &Routes, lanes: &[Lane]) -> Vec<Demand> {
    let hosts = Vec::from_iter(routes.groups.addresses().map(|g| routes.groups.target(g)));
    let pick = |random: &mut Stream, count: usize| random.below(count as u64) as usize;
    let mut demands = Vec::new();
    for _ in 0..1 + random.below(12) {
        let demand = Demand {
            source: hosts[pick(random, hosts.len())],
            group: GroupId(pick(random, routes.groups.count()) as u32),
            lane: lanes[pick(random, lanes.len())],
        };
        // Nobody sends to itself over the network.
        if routes.groups.target(demand.group) != demand.source {
            demands.push(demand);
        }
    }
    demands
}

fn lossy(random: &mut Stream, topology: &Topology) -> Lossy {
    let mut lossy = Lossy::nothing();
    for _ in 0..1 + random.below(3) {
        let switches = topology.switches();
        let node = switches[random.below(switches.len() as u64) as usize];
        let ports = topology.ports(node).len() as u64;
        if ports > 0 {
            lossy.add(node, PortId(random.below(ports) as u16), random.next_u64() as u16);
        }
    }
    lossy
}
