//! The division of the nodes of a run into parts.

use std::collections::BinaryHeap;
use std::sync::Arc;

use pauseless_core::id::NodeId;
use pauseless_core::unit::{Span, Time};
use pauseless_fabric::trace::{Header, trace};

use crate::config::{Config, Flow, Follow};

/// The division of the nodes of a run into parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Partition {
    /// The part of every node.
    pub owner: Arc<[u16]>,
    /// The number of parts.
    pub count: usize,
    /// An estimate of what there is to do, by which threads are shared out.
    pub load: Load,
    /// The least delay of a wire between two parts: the events of one do not affect the others for
    /// as long.
    pub lookahead: Span,
    /// The least delay of any wire: the events of one node do not affect the others for as long. Zero
    /// if they may at once.
    pub window: Span,
}

/// An estimate of what there is to do in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Load {
    /// The packet-hops of the run: what flows have to send, but no more than wires carry.
    pub hops: u64,
    /// How long that takes: as long as the busiest wire takes, and from the start of the first flow to
    /// that of the last one, but not longer than the run.
    pub span: Span,
}

impl Load {
    /// The packet-hops in so much time, on average.
    pub(super) fn hops_in(&self, span: Span) -> u64 {
        share(self.hops, span, self.span)
    }
}

/// The part of `count` things that fall into `part` of the time `whole`.
fn share(count: u64, part: Span, whole: Span) -> u64 {
    let parts = u128::from(count) * u128::from(part.min(whole).as_ps());
    (parts / u128::from(whole.as_ps()).max(1)) as u64
}

impl Partition {
    /// All nodes in one part.
    pub(super) fn whole(config: &Config) -> Partition {
        /// The windows of nodes after which there is time for the whole network.
        const WINDOWS: u64 = 16;
        let window = window(config);
        Partition {
            owner: vec![0; config.topology.nodes().len()].into(),
            count: 1,
            load: Load::default(),
            lookahead: if window == Span::ZERO { Span::us(10) } else { window * WINDOWS },
            window,
        }
    }
}

/// For how long the events of a node do not affect the others.
fn window(config: &Config) -> Span {
    // A flow that starts when one ends elsewhere does so at once.
    let is_local = |follow: &Follow| {
        let [first, then] = [follow.first, follow.then].map(|flow| &config.flows[flow.index()]);
        config.end_of(first) == then.source
    };
    if !config.follows.iter().all(is_local) {
        return Span::ZERO;
    }
    wires(config).map(|(_, _, delay)| delay).min().unwrap_or(config.duration)
}

/// Divides a network into `wanted` parts or fewer; `None` if it cannot be cut. Hosts stay with their
/// switch, a wire without delay is never cut, and a flow that starts when another one ends does so in
/// the part where that ends.
pub(super) fn partition(config: &Config, wanted: usize) -> Option<Partition> {
    if wanted < 2 {
        return None;
    }
    let wanted = wanted.min(usize::from(u16::MAX) - 1);
    let (weights, load) = weights(config);
    let total: u64 = weights.iter().sum();
    let mut delays = Vec::from_iter(wires(config).map(|(_, _, delay)| delay));
    delays.retain(|delay| *delay > Span::ZERO);
    delays.sort();
    delays.dedup();
    // The longer the wires that are cut, the longer a part can run alone, as long as no piece gets
    // too heavy.
    let bearable = total / wanted as u64 + total / (4 * wanted as u64);
    let heaviest = |delay: &Span| Pieces::new(config, &weights, *delay).weights.into_iter().max();
    let first_unbearable = delays.partition_point(|delay| heaviest(delay) <= Some(bearable));
    let lookahead = delays.get(first_unbearable.saturating_sub(1))?;
    let pieces = Pieces::new(config, &weights, *lookahead);
    let (owner_of_piece, count) = pieces.gather(config, wanted);
    let owner = pieces.of_node.iter().map(|piece| owner_of_piece[*piece]);
    let owner = Arc::from_iter(owner);
    let is_cut = |(from, to, _): &(NodeId, NodeId, Span)| owner[from.index()] != owner[to.index()];
    let lookahead = wires(config).filter(is_cut).map(|(_, _, delay)| delay).min();
    Some(Partition {
        count,
        load,
        // Parts without wires between them never affect each other.
        lookahead: lookahead.unwrap_or(config.duration).max(Span::ps(1)),
        window: window(config),
        owner,
    })
    .filter(|partition| partition.count > 1)
}

/// Every wire in both directions.
fn wires(config: &Config) -> impl Iterator<Item = (NodeId, NodeId, Span)> + '_ {
    let nodes = (0..config.topology.nodes().len()).map(|node| NodeId(node as u32));
    nodes.flat_map(|node| {
        config.topology.ports(node).iter().map(move |port| (node, port.peer, port.delay))
    })
}

/// An estimate of the packets that every node handles, and of the whole run, from the paths of the
/// flows; with very many flows, from a sample of them.
fn weights(config: &Config) -> (Vec<u64>, Load) {
    const FLOWS_MAX: usize = 20_000;
    let nodes = (0..config.topology.nodes().len()).map(|node| NodeId(node as u32));
    let ports = nodes.map(|node| config.topology.ports(node));
    let mut weights = Vec::from_iter(ports.clone().map(|ports| ports.len() as u64));
    // The packets for each wire, and how long it takes for them, in picoseconds.
    let mut wires = Vec::from_iter(ports.map(|ports| vec![(0u64, 0u64); ports.len()]));
    let (mut first, mut last) = (Time::MAX, Time::ZERO);
    let step = config.flows.len().div_ceil(FLOWS_MAX).max(1);
    for flow in config.flows.iter().step_by(step) {
        let header = Header { source: flow.source, group: flow.group, hash: flow.hash };
        // A flow that travels in a circle is not counted.
        let path = trace(&config.topology, &config.table, header).unwrap_or_default();
        let packets = packets(config, flow).saturating_mul(step as u64);
        for (node, port) in path {
            weights[node.index()] += packets;
            let frame = config.topology.ports(node)[port.index()].rate.tx_span(flow.packet);
            let (count, busy) = &mut wires[node.index()][port.index()];
            *count += packets;
            *busy = busy.saturating_add(frame.as_ps().saturating_mul(packets));
        }
        weights[flow.target.index()] += packets;
        (first, last) = (first.min(flow.start), last.max(flow.start));
    }
    let wires = wires.into_iter().flatten().map(|(count, busy)| (count, Span::ps(busy)));
    let longest = wires.clone().map(|(_, busy)| busy).max().unwrap_or(Span::ZERO);
    let load = Load {
        hops: wires.map(|(count, busy)| share(count, config.duration, busy)).sum(),
        span: longest.max(last.saturating_since(first)).min(config.duration),
    };
    (weights, load)
}

/// An upper bound of the packets that a flow sends.
fn packets(config: &Config, flow: &Flow) -> u64 {
    let end = flow.stop.min(Time::ZERO + config.duration);
    let sent = flow.pace.bytes_in(end.saturating_since(flow.start));
    sent.min(flow.size).get() / flow.packet.get().max(1) + 1
}

/// Groups of nodes that must be in the same part.
struct Pieces {
    of_node: Vec<usize>,
    /// The weight of each piece.
    weights: Vec<u64>,
}

impl Pieces {
    /// The pieces that remain together when all wires of `delay` and more are cut.
    fn new(config: &Config, weights: &[u64], delay: Span) -> Pieces {
        let topology = &config.topology;
        let mut roots = Vec::from_iter(0..weights.len());
        for (from, to, wire) in wires(config) {
            if wire < delay || topology.is_host(from) {
                unite(&mut roots, from, to);
            }
        }
        for follow in &config.follows {
            let first = &config.flows[follow.first.index()];
            let then = &config.flows[follow.then.index()];
            unite(&mut roots, config.end_of(first), then.source);
        }
        // A stopped flow is settled at its target, and perhaps where it finishes, too.
        let end = Time::ZERO + config.duration;
        for flow in &config.flows {
            if config.stop.done && flow.stop < end {
                unite(&mut roots, config.end_of(flow), flow.target);
            }
        }
        let mut number = vec![usize::MAX; roots.len()];
        let mut pieces = Pieces { of_node: Vec::new(), weights: Vec::new() };
        for (node, weight) in weights.iter().enumerate() {
            let root = find(&mut roots, node);
            if number[root] == usize::MAX {
                number[root] = pieces.weights.len();
                pieces.weights.push(0);
            }
            pieces.of_node.push(number[root]);
            pieces.weights[number[root]] += weight;
        }
        pieces
    }

    /// Combines pieces to at most `wanted` parts of about equal weight, neighbours with each other;
    /// returns the part of each piece, and the number of parts.
    fn gather(&self, config: &Config, wanted: usize) -> (Vec<u16>, usize) {
        const NONE: u16 = u16::MAX;
        let mut neighbours = vec![Vec::new(); self.weights.len()];
        for (from, to, _) in wires(config) {
            let (from, to) = (self.of_node[from.index()], self.of_node[to.index()]);
            if from != to {
                neighbours[from].push(to);
            }
        }
        let mut owner = vec![NONE; self.weights.len()];
        let mut left: u64 = self.weights.iter().sum();
        let mut seed = 0;
        let mut part = 0;
        while let Some(free) = owner[seed..].iter().position(|owner| *owner == NONE) {
            seed += free;
            let target = left / (wanted as u64 - part).max(1);
            let is_last = part + 1 == wanted as u64;
            let mut weight = 0;
            // The wires of each piece to this part; those with most of their wires here come first.
            let mut joined = vec![0u64; self.weights.len()];
            let mut next = BinaryHeap::from([(0, usize::MAX - seed)]);
            loop {
                let found = next.pop().map(|(_, place)| usize::MAX - place);
                let found = match found {
                    Some(piece) => piece,
                    // No remaining piece is connected to this part.
                    None => match owner.iter().position(|owner| *owner == NONE) {
                        Some(piece) => piece,
                        None => break,
                    },
                };
                if owner[found] != NONE {
                    continue;
                }
                let grown = weight + self.weights[found];
                if weight > 0 && !is_last && weight + self.weights[found] / 2 > target {
                    break;
                }
                weight = grown;
                owner[found] = part as u16;
                for other in &neighbours[found] {
                    joined[*other] += 1;
                    let share = joined[*other] * 1_000 / neighbours[*other].len().max(1) as u64;
                    next.push((share, usize::MAX - other));
                }
            }
            left -= weight;
            part += 1;
        }
        (owner, part as usize)
    }
}

fn find(roots: &mut [usize], mut at: usize) -> usize {
    while roots[at] != at {
        roots[at] = roots[roots[at]];
        at = roots[at];
    }
    at
}

fn unite(roots: &mut [usize], one: NodeId, other: NodeId) {
    let (one, other) = (find(roots, one.index()), find(roots, other.index()));
    // The lower number is the root, so that pieces are numbered by their first node.
    roots[one.max(other)] = one.min(other);
}
