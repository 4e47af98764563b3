//! The dependency graph: filled way by way as bits, read as lists.

use std::ops::Range;
use std::sync::Arc;

use super::channel::Channels;
use super::component;
use super::knot::{PortChoice, follow_trapped, untangle};
use super::walk::{Streams, Visitor, Walker};
use super::{Buffer, Network};
use crate::topology::Topology;
use pauseless_core::id::NodeId;

/// Builds dependency graphs of one fabric, for different routes and traffic. It keeps its memory
/// from one to the next, which makes thousands of them cheap.
#[derive(Clone, Debug)]
pub struct Checker {
    channels: Arc<Channels>,
    walker: Walker,
    /// The index in `bits` of the row of each vertex; it ends where the next one begins.
    rows: Vec<u32>,
    bits: Vec<u64>,
    choice: PortChoice,
}

impl Checker {
    /// A checker for all networks of this fabric with up to `class_count` classes.
    pub fn new(topology: &Topology, class_count: usize) -> Checker {
        let channels = Arc::new(Channels::new(topology, class_count));
        let mut rows = vec![0];
        let mut total = 0;
        for vertex in 0..channels.vertex_count() as u32 {
            let (node, _) = channels.end(channels.channel(vertex));
            let bits = channels.from(node).len() << channels.class_bits;
            total += bits.div_ceil(64);
            rows.push(total as u32);
        }
        Checker {
            walker: Walker::new(&channels),
            channels,
            rows,
            bits: vec![0; total],
            choice: PortChoice::default(),
        }
    }

    /// A checker sized for this network.
    pub fn of(network: &Network<'_>) -> Checker {
        Checker::new(network.topology, Channels::class_count(network))
    }

    /// The same for switches that choose among several ports at this time.
    pub fn choosing(mut self, choice: PortChoice) -> Checker {
        self.choice = choice;
        self
    }

    /// When switches choose among several ports.
    pub fn choice(&self) -> PortChoice {
        self.choice
    }

    /// The dependency graph of `network`. Hosts whose mark in `left_out`, by node, is set neither
    /// send nor receive.
    ///
    /// Where ports are chosen [at the head](PortChoice::AtHead) it has the dependencies of the largest
    /// knot only, those of packets that are trapped in it: none if there is no knot.
    pub fn graph(&mut self, network: Network<'_>, left_out: &[bool]) -> Graph {
        assert!(Channels::class_count(&network) <= self.channels.class_count);
        let channels = self.shared_channels();
        let streams = Streams::new(network, &channels, left_out);
        let union = self.union(&network, &streams);
        match self.choice {
            PortChoice::WhenQueued => union,
            PortChoice::AtHead => self.knot(&network, &streams, &union),
        }
    }

    /// All dependencies of these streams.
    pub(crate) fn union(&mut self, network: &Network<'_>, streams: &Streams<'_>) -> Graph {
        self.mark(network, |walker, marks| {
            for stream in &streams.list {
                walker.follow(streams, *stream, marks);
            }
        })
    }

    /// The dependencies of packets that are trapped in the largest knot, where `union` has all of
    /// these streams.
    fn knot(&mut self, network: &Network<'_>, streams: &Streams<'_>, union: &Graph) -> Graph {
        let (inside, trapped) = untangle(&mut self.walker, streams, component::reach_cycles(union));
        self.mark(network, |walker, marks| {
            for stream in trapped {
                follow_trapped(walker, streams, stream, &inside, marks);
            }
        })
    }

    /// The graph of the dependencies that `fill` marks.
    fn mark(
        &mut self,
        network: &Network<'_>,
        fill: impl FnOnce(&mut Walker, &mut Marks<'_>),
    ) -> Graph {
        self.bits.fill(0);
        let mut marks = Marks {
            channels: &self.channels,
            rows: &self.rows,
            bits: &mut self.bits,
            masks: vec![Mask::default(); network.topology.nodes().len()],
            words: Vec::new(),
            stream: 0,
            lossy: LossyVertices::new(network, &self.channels),
        };
        fill(&mut self.walker, &mut marks);
        self.read()
    }

    /// The channels, for who keeps them while the checker works.
    pub(crate) fn shared_channels(&self) -> Arc<Channels> {
        Arc::clone(&self.channels)
    }

    pub(crate) fn channels(&self) -> &Channels {
        &self.channels
    }

    pub(crate) fn walker(&mut self) -> &mut Walker {
        &mut self.walker
    }

    fn read(&self) -> Graph {
        let bits = self.channels.class_bits;
        let mut starts = Vec::with_capacity(self.channels.vertex_count() + 1);
        let mut targets = Vec::new();
        for vertex in 0..self.channels.vertex_count() {
            starts.push(targets.len() as u32);
            let (node, _) = self.channels.end(self.channels.channel(vertex as u32));
            let first = self.channels.from(node).start << bits;
            let row = self.rows[vertex] as usize..self.rows[vertex + 1] as usize;
            for (number, word) in (0..).zip(&self.bits[row]) {
                let mut word = *word;
                while word != 0 {
                    targets.push(first + number * 64 + word.trailing_zeros());
                    word &= word - 1;
                }
            }
        }
        starts.push(targets.len() as u32);
        Graph { channels: Arc::clone(&self.channels), starts, targets }
    }
}

/// The dependency graph: which buffer can wait for which.
#[derive(Clone, Debug)]
pub struct Graph {
    channels: Arc<Channels>,
    /// The index in `targets` of the successors of each vertex.
    starts: Vec<u32>,
    targets: Vec<u32>,
}

impl Graph {
    /// The number of ingress buffers that face switches.
    pub fn buffer_count(&self) -> usize {
        self.channels.channel_count() * self.channels.class_count
    }

    /// The number of pairs of buffers of which one can wait for the other.
    pub fn dependency_count(&self) -> usize {
        self.targets.len()
    }

    /// Whether some buffers can wait for each other in a circle.
    pub fn is_cyclic(&self) -> bool {
        component::is_cyclic(self)
    }

    /// The strongly connected components that have a cycle: the largest first, each with its
    /// buffers in order.
    pub fn components(&self) -> Vec<Vec<Buffer>> {
        let components = component::strong(self).into_iter();
        let buffers = |vertices: Vec<u32>| {
            vertices.into_iter().map(|vertex| self.channels.buffer(vertex)).collect()
        };
        components.map(buffers).collect()
    }

    /// The buffers that `buffer` can wait for. Panics on one that faces a host.
    pub fn waits_for(&self, topology: &Topology, buffer: Buffer) -> Vec<Buffer> {
        let port = topology.port(buffer.node, buffer.port);
        let channel = self.channels.leaving(port.peer, port.peer_port);
        let channel = channel.expect("the buffer faces a switch");
        let vertex = self.channels.vertex(channel, buffer.class);
        self.successors(vertex).iter().map(|next| self.channels.buffer(*next)).collect()
    }

    /// The number of vertices; some stand for classes that are not used.
    pub(crate) fn vertex_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The vertices that can wait for another one, marked.
    pub(crate) fn waiting(&self) -> Vec<bool> {
        self.starts.windows(2).map(|bounds| bounds[0] < bounds[1]).collect()
    }

    pub(crate) fn successors(&self, vertex: u32) -> &[u32] {
        let vertex = vertex as usize;
        &self.targets[self.starts[vertex] as usize..self.starts[vertex + 1] as usize]
    }
}

/// A visitor that marks dependencies.
struct Marks<'c> {
    channels: &'c Channels,
    rows: &'c [u32],
    bits: &'c mut [u64],
    /// The next vertices of the present stream per node, as words of a row.
    masks: Vec<Mask>,
    words: Vec<u64>,
    stream: u32,
    lossy: LossyVertices,
}

#[derive(Clone, Copy, Debug, Default)]
struct Mask {
    stream: u32,
    first_next: u32,
    start: u32,
}

impl Marks<'_> {
    /// The range of words of the row of a vertex.
    #[inline]
    fn row(&self, vertex: u32) -> Range<usize> {
        let rows = &self.rows[vertex as usize..vertex as usize + 2];
        rows[0] as usize..rows[1] as usize
    }

    /// The vertex of the first bit of all rows of `node`.
    #[inline]
    fn first(&self, node: NodeId) -> u32 {
        self.channels.from(node).start << self.channels.class_bits
    }

    /// Writes `nexts`, at least one, as words of a row of `node`.
    fn write_mask(&mut self, node: NodeId, words: usize, nexts: &[u32]) -> Mask {
        let first = self.first(node);
        let start = self.words.len();
        self.words.resize(start + words, 0);
        for next in nexts {
            let bit = (next - first) as usize;
            self.words[start + bit / 64] |= 1 << (bit % 64);
        }
        let mask = Mask { stream: self.stream, first_next: nexts[0], start: start as u32 };
        self.masks[node.index()] = mask;
        mask
    }
}

impl Visitor for Marks<'_> {
    fn enter(&mut self, _: NodeId, _: u32) {}

    #[inline]
    fn depend(&mut self, from: u32, to: u32) {
        if self.lossy.has(from) || self.lossy.has(to) {
            return;
        }
        let (node, _) = self.channels.end(self.channels.channel(from));
        let bit = (to - self.first(node)) as usize;
        self.bits[self.rows[from as usize] as usize + bit / 64] |= 1 << (bit % 64);
    }

    fn begin(&mut self) {
        self.stream += 1;
        self.words.clear();
    }

    #[inline]
    fn depend_all(&mut self, from: u32, node: NodeId, nexts: &[u32]) {
        match nexts {
            [] => return,
            [only] => return self.depend(from, *only),
            _ if !self.lossy.is_empty() => {
                return nexts.iter().for_each(|next| self.depend(from, *next));
            }
            _ => {}
        }
        let row = self.row(from);
        let mut mask = self.masks[node.index()];
        // Another class of the same stream has other vertices.
        if mask.stream != self.stream || mask.first_next != nexts[0] {
            mask = self.write_mask(node, row.len(), nexts);
        }
        let mask = &self.words[mask.start as usize..][..row.len()];
        for (word, mask) in self.bits[row].iter_mut().zip(mask) {
            *word |= mask;
        }
    }
}

/// The vertices that never make anything wait, because they drop.
#[derive(Clone, Debug)]
pub(crate) struct LossyVertices {
    /// Whether each vertex is lossy; empty if none is.
    marks: Vec<bool>,
}

impl LossyVertices {
    pub(crate) fn new(network: &Network<'_>, channels: &Channels) -> LossyVertices {
        let is_lossy = |vertex| {
            let Buffer { node, port, class } = channels.buffer(vertex);
            network.lossy.at(node, port) & 1 << class.0 != 0
        };
        let marks = if network.lossy.classes.is_empty() {
            Vec::new()
        } else {
            (0..channels.vertex_count() as u32).map(is_lossy).collect()
        };
        LossyVertices { marks }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    #[inline]
    pub(crate) fn has(&self, vertex: u32) -> bool {
        !self.marks.is_empty() && self.marks[vertex as usize]
    }
}
