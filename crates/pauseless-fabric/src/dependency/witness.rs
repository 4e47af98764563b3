//! The witness of a cycle: which hosts send what through it, and the fewest flows that close it.

use std::collections::{BTreeMap, BTreeSet};

use pauseless_core::id::{GroupId, NodeId, PortId};

use super::channel::Channels;
use super::graph::{Checker, Graph};
use super::knot::{PortChoice, follow_trapped};
use super::walk::{Stream, Streams, Visitor, Walker};
use super::{Buffer, Lane, Network, component};

/// Buffers that can all wait for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// All buffers of the component, in order.
    pub buffers: Vec<Buffer>,
    /// The number of pairs of them of which one can wait for the other.
    pub dependency_count: usize,
    /// A shortest cycle of the component.
    pub cycle: Cycle,
}

/// Buffers that can wait for each other in a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The buffers of the cycle: each waits for the next, and the last for the first.
    pub hops: Vec<Hop>,
    /// A few flows that close it. A single one means that its packets travel in a circle.
    pub flows: Vec<ClosingFlow>,
    /// Whether fewer flows certainly do not close it.
    pub is_fewest: bool,
}

/// One buffer of a cycle, and why it can wait for the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The buffer that waits for the next one.
    pub buffer: Buffer,
    /// The port towards the next buffer.
    pub egress: PortId,
    /// The hosts to which packets go from this buffer to the next, in order.
    pub targets: Vec<NodeId>,
    /// The hosts that send these packets, in order.
    pub sources: Vec<NodeId>,
}

/// Some consecutive dependencies of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Arc {
    /// The first dependency: from this hop to the next.
    first: usize,
    /// How many dependencies follow each other.
    count: usize,
}

/// A flow that makes a part of a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosingFlow {
    /// The host that sends.
    pub source: NodeId,
    /// The group by which its packets are forwarded.
    pub group: GroupId,
    /// The label and class in which they enter.
    pub lane: Lane,
    /// The egress ports that they pass, from that of the source on. Where tables leave a choice, it
    /// is the one that leads through the cycle.
    pub path: Vec<(NodeId, PortId)>,
    /// The dependencies of the cycle that it was chosen for: from each of these hops to the next.
    pub hops: Vec<usize>,
}

impl Checker {
    /// The cyclic components of `graph`, which must be that of `network` and `left_out`, at most
    /// `count_max` of them, the largest first.
    pub fn explain(
        &mut self,
        network: Network<'_>,
        graph: &Graph,
        left_out: &[bool],
        count_max: usize,
    ) -> Vec<Component> {
        let channels = self.shared_channels();
        let streams = Streams::new(network, &channels, left_out);
        let knot = match self.choice() {
            PortChoice::WhenQueued => None,
            PortChoice::AtHead => Some(graph.waiting()),
        };
        let explained = component::strong(graph).into_iter().take(count_max).map(|vertices| {
            let mut investigation = Investigation {
                network,
                channels: &channels,
                streams: &streams,
                walker: self.walker(),
                knot: knot.as_deref(),
                cycle: component::shortest_cycle(graph, &vertices),
            };
            let is_inside = |vertex: &&u32| vertices.binary_search(vertex).is_ok();
            let successors = vertices.iter().map(|vertex| graph.successors(*vertex));
            Component {
                dependency_count: successors.flatten().filter(is_inside).count(),
                cycle: investigation.explain(),
                buffers: vertices.iter().map(|v| channels.buffer(*v)).collect(),
            }
        });
        explained.collect()
    }
}

/// Determines which streams make the dependencies of one cycle.
struct Investigation<'i> {
    network: Network<'i>,
    channels: &'i Channels,
    streams: &'i Streams<'i>,
    walker: &'i mut Walker,
    /// The vertices of the knot that the cycle is in, marked; `None` where any cycle can last.
    knot: Option<&'i [bool]>,
    cycle: Vec<u32>,
}

/// A stream that makes some dependencies of the cycle.
struct Involved {
    stream: Stream,
    /// Whether it makes the dependency from each hop to the next.
    uses: Vec<bool>,
}

impl Involved {
    /// The number of consecutive dependencies that it makes from `first` on.
    fn run(&self, first: usize) -> usize {
        let count = self.uses.len();
        let run = (0..count).take_while(|n| self.uses[(first + n) % count]);
        run.count()
    }

    /// The number of separate runs of dependencies that it makes.
    fn run_count(&self) -> usize {
        let count = self.uses.len();
        let is_first = |at: &usize| self.uses[*at] && !self.uses[(at + count - 1) % count];
        (0..count).filter(is_first).count()
    }
}

impl Investigation<'_> {
    fn explain(&mut self) -> Cycle {
        let count = self.cycle.len();
        let node_count = self.network.topology.nodes().len();
        let mut sources = vec![vec![false; node_count]; count];
        let mut targets = vec![vec![false; node_count]; count];
        let mut involved = Vec::new();
        for &stream in &self.streams.list {
            let trace = self.trace(stream);
            let uses = match self.knot {
                None => trace.uses(&self.cycle),
                Some(inside) => self.trapped(stream, inside).uses(&self.cycle),
            };
            if !uses.contains(&true) {
                continue;
            }
            self.mark_sources(stream, &trace, &uses, &mut sources);
            for at in (0..count).filter(|at| uses[*at]) {
                for group in self.streams.groups(stream) {
                    targets[at][self.network.routes.groups.target(*group).index()] = true;
                }
            }
            involved.push(Involved { stream, uses });
        }
        let marked = |marks: &[bool]| {
            let nodes = (0..).map(NodeId).zip(marks);
            nodes.filter(|(_, mark)| **mark).map(|(n, _)| n).collect()
        };
        let hops = (0..count).map(|at| {
            let next = self.channels.buffer(self.cycle[(at + 1) % count]);
            Hop {
                buffer: self.channels.buffer(self.cycle[at]),
                egress: self.network.topology.port(next.node, next.port).peer_port,
                targets: marked(&targets[at]),
                sources: marked(&sources[at]),
            }
        });
        let hops = hops.collect();
        let flows = self.close(&involved);
        // Arcs are chosen as if a flow made only one; a flow that leaves the cycle and comes back
        // may make two.
        let is_fewest = involved.iter().all(|one| one.run_count() <= 1);
        Cycle { hops, flows, is_fewest }
    }

    /// Marks the sources of a stream at every hop that it uses. They only grow along consecutive
    /// hops, so the search continues from where the hop before left off.
    fn mark_sources(
        &self,
        stream: Stream,
        trace: &Trace,
        uses: &[bool],
        sources: &mut [Vec<bool>],
    ) {
        let (mut known, mut hosts) = (BTreeSet::new(), Vec::new());
        for (at, is_used) in uses.iter().enumerate() {
            if !is_used {
                known.clear();
                hosts.clear();
                continue;
            }
            for (vertex, _) in trace.search(self.cycle[at], &mut known) {
                let entering = self.entering(stream, trace, vertex);
                hosts.extend(entering.into_iter().map(|(host, _)| host));
            }
            for host in &hosts {
                sources[at][host.index()] = true;
            }
        }
    }

    /// The fewest flows that make all dependencies of the cycle.
    ///
    /// A packet that goes on from some hop as far as another goes on as far from any hop between,
    /// so from a given first hop the longest arc is always the best; only the first hop is tried.
    fn close(&mut self, involved: &[Involved]) -> Vec<ClosingFlow> {
        let count = self.cycle.len();
        let longest = |first| involved.iter().map(|one| one.run(first)).max();
        let longest = Vec::from_iter((0..count).map(|first| longest(first).unwrap_or(0)));
        let cover = |first: usize| {
            let (mut arcs, mut covered) = (Vec::new(), 0);
            while covered < count {
                let at = (first + covered) % count;
                let arc = Arc { first: at, count: longest[at] };
                assert!(arc.count > 0, "some stream makes every dependency");
                covered += arc.count;
                arcs.push(arc);
            }
            arcs
        };
        let covers = (0..count).map(cover);
        let arcs = covers.min_by_key(Vec::len).unwrap_or_default();
        let mut flows: Vec<ClosingFlow> = Vec::new();
        for arc in arcs {
            let covered = Vec::from_iter((0..arc.count).map(|n| (arc.first + n) % count));
            if let Some(flow) = flows.iter_mut().find(|flow| self.makes(flow, &covered)) {
                flow.hops.extend(covered);
                continue;
            }
            let able = involved.iter().filter(|one| one.run(arc.first) >= arc.count);
            // Flows without a common host can all send at their full rate.
            let flow = able
                .take(CHOICES_MAX)
                .map(|one| self.flow(one.stream, arc, &flows))
                .min_by_key(|(shared, _)| *shared);
            flows.extend(flow.map(|(_, flow)| flow));
        }
        flows
    }

    /// Whether the path of a flow makes these dependencies as well.
    fn makes(&self, flow: &ClosingFlow, hops: &[usize]) -> bool {
        let topology = self.network.topology;
        let passes = |at: usize| {
            let wanted = [at, (at + 1) % self.cycle.len()].map(|at| {
                let buffer = self.channels.buffer(self.cycle[at]);
                let port = topology.port(buffer.node, buffer.port);
                (port.peer, port.peer_port)
            });
            // A path does not show classes, so this is certain only where there is one.
            self.channels.class_count == 1 && flow.path.windows(2).any(|pair| pair == wanted)
        };
        hops.iter().all(|at| passes(*at))
    }

    /// A flow of `stream` that covers `arc`, and how many hosts it shares with `others`.
    fn flow(&mut self, stream: Stream, arc: Arc, others: &[ClosingFlow]) -> (usize, ClosingFlow) {
        let groups = &self.network.routes.groups;
        let trace = self.trace(stream);
        let first = self.cycle[arc.first];
        let is_taken = |host: NodeId| {
            let hosts = others.iter().flat_map(|flow| [flow.source, groups.target(flow.group)]);
            usize::from(hosts.into_iter().any(|other| other == host))
        };
        let choices = self.streams.groups(stream).iter().copied();
        let group = choices.min_by_key(|group| is_taken(groups.target(*group)));
        let group = group.expect("a stream has at least one group");
        let target = groups.target(group);
        let sources = self.upstream(stream, &trace, first).into_iter();
        let (source, (lane, entrance)) = sources
            .min_by_key(|(host, _)| (*host == target, is_taken(*host)))
            .expect("packets in a buffer have a source");
        let mut vertices = trace.path(entrance, first);
        let count = self.cycle.len();
        let covered = (1..=arc.count).map(|n| self.cycle[(arc.first + n) % count]);
        vertices.extend(covered);
        let flow = ClosingFlow {
            source,
            group,
            lane,
            path: self.ports(source, group, &vertices),
            hops: (0..arc.count).map(|n| (arc.first + n) % count).collect(),
        };
        (is_taken(source) + is_taken(target), flow)
    }

    /// The egress ports from `source` through `vertices`, and on to the end.
    fn ports(&self, source: NodeId, group: GroupId, vertices: &[u32]) -> Vec<(NodeId, PortId)> {
        let topology = self.network.topology;
        let mut path = vec![(source, PortId(0))];
        for vertex in vertices {
            let buffer = self.channels.buffer(*vertex);
            let port = topology.port(buffer.node, buffer.port);
            path.push((port.peer, port.peer_port));
        }
        let mut at = self.channels.buffer(vertices[vertices.len() - 1]).node;
        let table = &self.network.routes.table;
        // A packet that travels in a circle never arrives.
        let length_max = vertices.len() + topology.switches().len();
        while !topology.is_host(at) && path.len() <= length_max {
            let Some(&port) = table.next_hops(at, group).first() else {
                break;
            };
            path.push((at, port));
            at = topology.port(at, port).peer;
        }
        path
    }

    fn trace(&mut self, stream: Stream) -> Trace {
        let mut trace = Trace::default();
        self.walker.follow(self.streams, stream, &mut trace);
        trace.sort();
        trace
    }

    /// What packets of `stream` do while they are trapped in a knot.
    fn trapped(&mut self, stream: Stream, inside: &[bool]) -> Trace {
        let mut trace = Trace::default();
        follow_trapped(self.walker, self.streams, stream, inside, &mut trace);
        trace.sort();
        trace
    }

    /// The hosts whose packets of `stream` can get into `vertex`, the nearest first, with how
    /// they enter and the vertex that they enter by.
    fn upstream(&self, stream: Stream, trace: &Trace, vertex: u32) -> Vec<(NodeId, (Lane, u32))> {
        let reached = trace.search(vertex, &mut BTreeSet::new());
        reached.into_iter().flat_map(|(vertex, _)| self.entering(stream, trace, vertex)).collect()
    }

    /// The hosts whose packets of `stream` enter the fabric by going to `vertex`.
    fn entering(&self, stream: Stream, trace: &Trace, vertex: u32) -> Vec<(NodeId, (Lane, u32))> {
        let mut hosts = Vec::new();
        for (switch, entry) in trace.entries_at(vertex) {
            let sources = self.streams.sources_at(stream, *switch, *entry);
            hosts.extend(sources.into_iter().map(|(host, lane)| (host, (lane, *entry))));
        }
        hosts
    }
}

/// The walk of one stream.
#[derive(Default)]
struct Trace {
    /// The switches and vertices at which packets enter, in order of the vertex.
    entries: Vec<(NodeId, u32)>,
    /// The dependencies, in order of the second vertex.
    edges: Vec<(u32, u32)>,
}

impl Visitor for Trace {
    fn enter(&mut self, switch: NodeId, vertex: u32) {
        self.entries.push((switch, vertex));
    }

    fn depend(&mut self, from: u32, to: u32) {
        self.edges.push((from, to));
    }
}

impl Trace {
    fn sort(&mut self) {
        self.entries.sort_unstable_by_key(|(switch, vertex)| (*vertex, *switch));
        // All demands of one switch enter alike.
        self.entries.dedup();
        self.edges.sort_unstable_by_key(|(_, to)| *to);
    }

    /// Whether the dependency from each hop of the cycle to the next is made.
    fn uses(&self, cycle: &[u32]) -> Vec<bool> {
        let next = |at: usize| cycle[(at + 1) % cycle.len()];
        let is_used =
            |at: usize| self.edges_to(next(at)).iter().any(|(from, _)| *from == cycle[at]);
        (0..cycle.len()).map(is_used).collect()
    }

    fn entries_at(&self, vertex: u32) -> &[(NodeId, u32)] {
        let from = self.entries.partition_point(|(_, entry)| *entry < vertex);
        let to = self.entries.partition_point(|(_, entry)| *entry <= vertex);
        &self.entries[from..to]
    }

    /// The dependencies on `vertex`.
    fn edges_to(&self, vertex: u32) -> &[(u32, u32)] {
        let from = self.edges.partition_point(|(_, to)| *to < vertex);
        let to = self.edges.partition_point(|(_, to)| *to <= vertex);
        &self.edges[from..to]
    }

    /// A shortest path from `start` to `end`, both included.
    fn path(&self, start: u32, end: u32) -> Vec<u32> {
        let found = self.search(end, &mut BTreeSet::new());
        let after: BTreeMap<u32, u32> = found.into_iter().collect();
        let mut path = vec![start];
        while path[path.len() - 1] != end {
            path.push(after[&path[path.len() - 1]]);
        }
        path
    }

    /// The vertices from which `end` is reached other than through those already `known`, the
    /// nearest first, itself included, each with the next one on a shortest path to it.
    fn search(&self, end: u32, known: &mut BTreeSet<u32>) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        if known.insert(end) {
            found.push((end, end));
        }
        let mut at = 0;
        while let Some(&(vertex, _)) = found.get(at) {
            for (from, _) in self.edges_to(vertex) {
                if known.insert(*from) {
                    found.push((*from, vertex));
                }
            }
            at += 1;
        }
        found
    }
}

/// Enough streams to find one that shares no host with those already chosen.
const CHOICES_MAX: usize = 16;
