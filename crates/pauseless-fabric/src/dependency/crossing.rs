//! How packets get into the buffers of a cycle: which ports feed them, and how far packets stay.
//!
//! What thresholds can do about a cycle depends on both. See `docs/cycle-aware.md`.

use std::collections::{BTreeMap, BTreeSet};

use pauseless_core::id::{NodeId, PortId};

use super::channel::Channels;
use super::graph::{Checker, Graph};
use super::walk::{Stream, Streams, Visitor};
use super::{Buffer, Network, component};

/// Buffers that can all wait for each other, and what feeds them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Crossing {
    /// The egresses that lead to these buffers, in the order of the buffers.
    pub junctions: Vec<Junction>,
    /// The most of these buffers that a packet lies in one after the other; `None` where packets
    /// travel in a circle.
    pub stretch: Option<usize>,
}

/// An egress through which packets get into a buffer of a cycle.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Junction {
    /// The buffer at the far end of the link.
    pub buffer: Buffer,
    /// The switch that sends to it.
    pub node: NodeId,
    /// The port by which it sends.
    pub egress: PortId,
    /// The ingress buffers of that switch from which packets go there and which are in the same
    /// component, in order.
    pub inside: Vec<Buffer>,
    /// All other buffers from which packets go there, those that face hosts included, in order.
    pub entering: Vec<Buffer>,
}

impl Checker {
    /// The ports that feed the cyclic components of `graph`, which must be that of `network` and
    /// `left_out`; in the order of [`Graph::components`].
    pub fn crossings(
        &mut self,
        network: Network<'_>,
        graph: &Graph,
        left_out: &[bool],
    ) -> Vec<Crossing> {
        let components = component::strong(graph);
        if components.is_empty() {
            return Vec::new();
        }
        let channels = self.channels().clone();
        let streams = Streams::new(network, &channels, left_out);
        let mut survey = Survey {
            network,
            channels: &channels,
            homes: BTreeMap::new(),
            inside: BTreeSet::new(),
            entering: BTreeSet::new(),
            stretches: vec![Some(1); components.len()],
        };
        for (number, vertices) in components.iter().enumerate() {
            survey.homes.extend(vertices.iter().map(|v| (*v, number)));
        }
        for &stream in &streams.list {
            let mut trace = Trace::new(&survey.homes);
            self.walker().follow(&streams, stream, &mut trace);
            let Trace { entries, edges, .. } = trace;
            survey.take_entries(&streams, stream, entries);
            survey.take_edges(edges);
        }
        let crossings = components.iter().enumerate();
        crossings.map(|(number, vertices)| survey.crossing(number, vertices)).collect()
    }
}

/// What one stream does at the buffers of cycles.
struct Trace<'h> {
    homes: &'h BTreeMap<u32, usize>,
    entries: BTreeSet<(NodeId, u32)>,
    /// The dependencies on vertices of cycles, from any vertex.
    edges: BTreeSet<(u32, u32)>,
}

impl<'h> Trace<'h> {
    fn new(homes: &'h BTreeMap<u32, usize>) -> Trace<'h> {
        Trace { homes, entries: BTreeSet::new(), edges: BTreeSet::new() }
    }
}

impl Visitor for Trace<'_> {
    fn enter(&mut self, switch: NodeId, vertex: u32) {
        if self.homes.contains_key(&vertex) {
            self.entries.insert((switch, vertex));
        }
    }

    fn depend(&mut self, from: u32, to: u32) {
        if self.homes.contains_key(&to) {
            self.edges.insert((from, to));
        }
    }
}

/// What all streams do at the buffers of cycles.
struct Survey<'s> {
    network: Network<'s>,
    channels: &'s Channels,
    /// The component of each vertex that lies in one.
    homes: BTreeMap<u32, usize>,
    /// The buffers of the same component, by the vertex that their packets go to.
    inside: BTreeSet<(u32, Buffer)>,
    entering: BTreeSet<(u32, Buffer)>,
    stretches: Vec<Option<usize>>,
}

impl Survey<'_> {
    fn take_entries(
        &mut self,
        streams: &Streams<'_>,
        stream: Stream,
        entries: BTreeSet<(NodeId, u32)>,
    ) {
        let topology = self.network.topology;
        for (switch, vertex) in entries {
            let sources = streams.sources_at(stream, switch, vertex);
            for (host, lane) in sources {
                let buffer = Buffer {
                    node: switch,
                    port: topology.ports(host)[0].peer_port,
                    class: lane.class,
                };
                self.entering.insert((vertex, buffer));
            }
        }
    }

    /// Adds the dependencies of one stream.
    fn take_edges(&mut self, edges: BTreeSet<(u32, u32)>) {
        let mut nexts: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (from, to) in edges {
            let buffer = self.channels.buffer(from);
            let home = self.homes[&to];
            if self.homes.get(&from) == Some(&home) {
                self.inside.insert((to, buffer));
                nexts.entry(from).or_default().push(to);
            } else {
                self.entering.insert((to, buffer));
            }
        }
        let mut known = BTreeMap::new();
        for &from in nexts.keys() {
            let found = stretch(from, &nexts, &mut known);
            let stretch = &mut self.stretches[self.homes[&from]];
            *stretch = match (*stretch, found) {
                (Some(most), Some(found)) => Some(most.max(found)),
                _ => None,
            };
        }
    }

    fn crossing(&self, number: usize, vertices: &[u32]) -> Crossing {
        let topology = self.network.topology;
        let of = |set: &BTreeSet<(u32, Buffer)>, vertex: u32| {
            Vec::from_iter(set.iter().filter(|(to, _)| *to == vertex).map(|(_, buffer)| *buffer))
        };
        let junctions = vertices.iter().map(|vertex| {
            let buffer = self.channels.buffer(*vertex);
            let port = topology.port(buffer.node, buffer.port);
            Junction {
                buffer,
                node: port.peer,
                egress: port.peer_port,
                inside: of(&self.inside, *vertex),
                entering: of(&self.entering, *vertex),
            }
        });
        Crossing { junctions: junctions.collect(), stretch: self.stretches[number] }
    }
}

/// The most vertices on a path from `start` on; `None` if it leads in a circle. A vertex that is
/// still being visited has 0 in `known`.
fn stretch(
    start: u32,
    nexts: &BTreeMap<u32, Vec<u32>>,
    known: &mut BTreeMap<u32, Option<usize>>,
) -> Option<usize> {
    // Paths are short and circles are found at their second visit, so recursion stays shallow.
    if let Some(found) = known.get(&start) {
        return found.filter(|count| *count > 0);
    }
    known.insert(start, Some(0));
    let mut most = Some(0);
    for &next in nexts.get(&start).into_iter().flatten() {
        let found = stretch(next, nexts, known);
        most = match (most, found) {
            (Some(most), Some(found)) => Some(most.max(found)),
            _ => None,
        };
    }
    let found = most.map(|most| most + 1);
    known.insert(start, found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dependency::{Demand, Lane, Lossy, Traffic};
    use crate::generate::{LinkSpecs, Ring, Shape};
    use crate::routing::{Algorithm, Multipath, RouteBuilder, Routing, TieBreak};
    use crate::topology::LinkSpec;
    use pauseless_core::class_map::ClassMap;
    use pauseless_core::id::Class;
    use pauseless_core::unit::{Rate, Span};

    const SPEC: LinkSpec = LinkSpec { rate: Rate::gbps(10), delay: Span::us(1) };

    /// In a ring of `switches` with `hosts` each, every host sends to the one `length` links
    /// further on.
    fn crossings(switches: usize, hosts: usize, length: usize) -> Vec<Crossing> {
        let shape = Ring { switches: switches as u32, hosts_per_switch: hosts as u32 };
        let topology = shape.build(LinkSpecs::same(SPEC)).unwrap();
        let routing = Routing {
            algorithm: Algorithm::Shortest,
            multipath: Multipath::Single { tie_break: TieBreak::Lowest },
        };
        let mut builder = RouteBuilder::new(&topology, routing);
        let mut demands = Vec::new();
        for switch in 0..switches {
            for host in 0..hosts {
                let source = topology.hosts()[switch * hosts + host];
                let target = topology.hosts()[(switch + length) % switches * hosts + host];
                let ring = (0..=length).map(|n| topology.switches()[(switch + n) % switches]);
                let nodes = std::iter::once(source).chain(ring).chain([target]);
                let path: Vec<NodeId> = nodes.collect();
                let group = builder.add_path(&path).unwrap();
                demands.push(Demand { group, lane: Lane::ONLY, source });
            }
        }
        let routes = builder.build();
        let network = Network {
            topology: &topology,
            routes: &routes,
            classes: &ClassMap::Same,
            traffic: &Traffic::Demands(demands),
            lossy: &Lossy::nothing(),
        };
        let left_out = vec![false; topology.nodes().len()];
        let mut checker = Checker::of(&network);
        let graph = checker.graph(network, &left_out);
        checker.crossings(network, &graph, &left_out)
    }

    #[test]
    fn a_ring_is_fed_by_its_hosts_and_packets_stay_as_long_as_their_way() {
        for (switches, hosts, length) in [(3, 1, 2), (6, 3, 2), (6, 2, 4), (8, 1, 7)] {
            let found = crossings(switches, hosts, length);
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].stretch, Some(length));
            assert_eq!(found[0].junctions.len(), switches);
            for junction in &found[0].junctions {
                assert_eq!(junction.inside.len(), 1);
                assert_eq!(junction.entering.len(), hosts);
                assert!(
                    junction
                        .entering
                        .iter()
                        .all(|buffer| { (buffer.node, buffer.class) == (junction.node, Class(0)) })
                );
            }
        }
        assert!(crossings(4, 1, 1).is_empty(), "one link each is no cycle");
    }
}
