//! The dependency graph once more, by sending every packet wherever it can go: slow, and too
//! plain to be wrong. It shares no code with the analyser beyond the tables that both read.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use pauseless_core::class_map::{Carried, ClassMap, Passage};
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_fabric::dependency::{Buffer, Demand, Network, Traffic};

/// One buffer waits for another.
pub type Edge = (Buffer, Buffer);

/// What every packet does.
pub struct Oracle {
    /// The dependencies that each makes.
    pub packets: BTreeMap<Demand, BTreeSet<Edge>>,
    /// Those of all packets.
    pub edges: BTreeSet<Edge>,
}

impl Oracle {
    pub fn new(network: &Network<'_>, left_out: &[bool]) -> Oracle {
        let packets = packets(network, left_out).into_iter();
        let packets: BTreeMap<_, _> =
            packets.map(|packet| (packet, follow(network, packet))).collect();
        let edges = packets.values().flatten().copied().collect();
        Oracle { packets, edges }
    }

    pub fn successors(&self, buffer: Buffer) -> BTreeSet<Buffer> {
        let lowest = Buffer { node: NodeId(0), port: PortId(0), class: Class(0) };
        let from = self.edges.range((buffer, lowest)..);
        from.take_while(|(from, _)| *from == buffer).map(|(_, to)| *to).collect()
    }

    /// The packets that make this dependency.
    pub fn makers(&self, edge: Edge) -> impl Iterator<Item = Demand> + '_ {
        let makers = self.packets.iter();
        makers.filter(move |(_, edges)| edges.contains(&edge)).map(|(packet, _)| *packet)
    }

    /// How far it is from each buffer to each other, and back to itself, where there is a way.
    pub fn distances(&self) -> BTreeMap<Edge, usize> {
        let mut distances = BTreeMap::new();
        let starts: BTreeSet<Buffer> = self.edges.iter().map(|(from, _)| *from).collect();
        for start in starts {
            let mut queue = VecDeque::from([(start, 0)]);
            while let Some((at, distance)) = queue.pop_front() {
                for next in self.successors(at) {
                    if let Entry::Vacant(entry) = distances.entry((start, next)) {
                        entry.insert(distance + 1);
                        queue.push_back((next, distance + 1));
                    }
                }
            }
        }
        distances
    }
}

/// The sets of buffers that reach each other and themselves.
pub fn components(distances: &BTreeMap<Edge, usize>) -> BTreeSet<BTreeSet<Buffer>> {
    let on_cycles = distances.keys().filter(|(from, to)| from == to);
    let component = |(buffer, _): &Edge| {
        let reached = distances.keys().filter(|(from, _)| from == buffer);
        let back = reached.filter(|(_, to)| distances.contains_key(&(*to, *buffer)));
        back.map(|(_, to)| *to).collect()
    };
    on_cycles.map(component).collect()
}

/// The fewest arcs that cover a cycle, trying every set of first hops. `longest` is, by hop, how many
/// consecutive dependencies some packet makes from there on.
pub fn cover_min(longest: &[usize]) -> usize {
    let count = longest.len();
    let arc = |first: usize| {
        let covered = (0..longest[first]).map(|n| (first + n) % count);
        covered.fold(0u32, |mask, hop| mask | 1 << hop)
    };
    let arcs = Vec::from_iter((0..count).map(arc));
    let full = (1u32 << count) - 1;
    let sets = 1..1u32 << count;
    let covers = sets.filter(|set| {
        let chosen = (0..count).filter(|first| set & 1 << first != 0);
        chosen.fold(0, |mask, first| mask | arcs[first]) == full
    });
    let fewest = covers.map(u32::count_ones).min();
    fewest.expect("all packets together close it") as usize
}

/// The fewest packets that together make all of `edges`, whichever parts each of them makes.
pub fn packets_min(oracle: &Oracle, edges: &[Edge]) -> usize {
    let makes = |made: &BTreeSet<Edge>| {
        let hops = (0..edges.len()).filter(|at| made.contains(&edges[*at]));
        hops.fold(0u32, |mask, at| mask | 1 << at)
    };
    let masks: BTreeSet<u32> = oracle.packets.values().map(makes).collect();
    let full = (1u32 << edges.len()) - 1;
    let mut reached = BTreeSet::from([0]);
    let mut count = 0;
    while !reached.contains(&full) {
        count += 1;
        reached = reached.iter().flat_map(|mask| masks.iter().map(move |it| mask | it)).collect();
        assert!(count <= edges.len(), "all packets together close it");
    }
    count
}

/// Every host to every other in each lane, or the demands, less those who are left out.
pub fn packets(network: &Network<'_>, left_out: &[bool]) -> Vec<Demand> {
    let target = |group| network.routes.groups.target(group);
    let is_in = |host: NodeId| !left_out[host.index()];
    let packets = match network.traffic {
        Traffic::Demands(demands) => demands.clone(),
        Traffic::AllPairs(lanes) => {
            let mut packets = Vec::new();
            for &source in network.topology.hosts() {
                for group in network.routes.groups.addresses() {
                    packets.extend(lanes.iter().map(|&lane| Demand { group, lane, source }));
                }
            }
            packets.retain(|packet| packet.source != target(packet.group));
            packets
        }
    };
    let packets = packets.into_iter();
    let packets = packets.filter(|packet| is_in(packet.source) && is_in(target(packet.group)));
    packets.collect()
}

/// Depth first over all buffers that the packet can get into, whichever next hops are chosen.
fn follow(network: &Network<'_>, packet: Demand) -> BTreeSet<Edge> {
    let topology = network.topology;
    let mut edges = BTreeSet::new();
    let Some(link) = topology.ports(packet.source).first() else {
        return edges;
    };
    let at_first = Buffer { node: link.peer, port: link.peer_port, class: packet.lane.class };
    // How many switches it has passed tells apart what is in one buffer, if a class lasts longer
    // than a hop; all classes are used up after this many.
    const HOPS_MAX: u8 = 64;
    let mut known = BTreeSet::from([(at_first, 0)]);
    let mut open = vec![(at_first, 0u8)];
    while let Some((here, hops)) = open.pop() {
        for &egress in network.routes.table.next_hops(here.node, packet.group) {
            let passage = Passage { node: here.node, ingress: here.port, egress };
            let port = topology.port(here.node, egress);
            let carried = Carried { label: packet.lane.label, class: here.class, hops };
            let class = network.classes.next(passage, carried);
            let Some(class) = class.filter(|_| !topology.is_host(port.peer)) else {
                continue;
            };
            let next = Buffer { node: port.peer, port: port.peer_port, class };
            let makes_wait =
                here != at_first && ![here, next].iter().any(|b| is_lossy(network, *b));
            if makes_wait {
                edges.insert((here, next));
            }
            let hops = match network.classes {
                ClassMap::Hops(_) => (hops + 1).min(HOPS_MAX),
                _ => 0,
            };
            if known.insert((next, hops)) {
                open.push((next, hops));
            }
        }
    }
    edges
}

pub fn is_lossy(network: &Network<'_>, buffer: Buffer) -> bool {
    network.lossy.at(buffer.node, buffer.port) & 1 << buffer.class.0 != 0
}

/// All buffers that face switches, with classes below `class_count`.
pub fn buffers(network: &Network<'_>, class_count: u8) -> Vec<Buffer> {
    let topology = network.topology;
    let mut buffers = Vec::new();
    for &node in topology.switches() {
        for (number, port) in topology.ports(node).iter().enumerate() {
            let port_id = PortId(number as u16);
            let classes = (0..class_count).filter(|_| !topology.is_host(port.peer));
            buffers.extend(classes.map(|class| Buffer {
                node,
                port: port_id,
                class: Class(class),
            }));
        }
    }
    buffers
}
