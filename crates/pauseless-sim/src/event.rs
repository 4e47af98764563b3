//! The event queue: a tree of minima for each node, and one over the nodes.
//!
//! The order of events is a fact of the simulation: time first, then the [`Kind`] in the order in
//! which it is declared, then the node, then the number of its port or of the flow. No two live events
//! share all of these, so the order of insertion cannot matter.
//!
//! A port has four events at most: the arrival of a frame, the end of a transmission, the effect of a
//! control frame and a timeout. Each has a leaf in a tree of its node, with time, kind and port in one
//! number, so the root of a tree is its next event. To change a leaf takes one minimum per level and no
//! branch.

mod opened;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pauseless_core::id::{NodeId, PortId};
use pauseless_core::unit::Time;

pub(crate) use opened::{Due, Opened, OpenedHost};

/// The kinds of event. Simultaneous events are handled in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Kind {
    /// A control frame takes effect at a port.
    Signal,
    /// The first frame on a wire has fully arrived at a port.
    Arrive,
    /// As [`Kind::Signal`], where arrivals come first, see [`crate::config::Ties`].
    LateSignal,
    /// The last bit of a frame has left a port.
    Transmitted,
    /// A host takes a packet out of its ingress buffer.
    Consume,
    /// A port has a timeout: a gate opens, or a periodic message is due.
    Timeout,
    /// A deadlock that was found some time ago is broken.
    Recover,
    /// Something happens to the network.
    Change,
    /// A flow starts to send.
    FlowStart,
    /// A flow stops although it is not finished.
    FlowStop,
    /// The probes take a sample.
    Sample,
    /// The state of all ports is recorded.
    Snapshot,
    /// It is checked whether the state is steady.
    Look,
    /// No link is held any more, so that the run may be over.
    Calm,
}

impl Kind {
    /// The kind with this number; the numbers are those of the declaration, so that no table is read.
    #[inline]
    fn from_number(number: u32) -> Kind {
        match number {
            0 => Kind::Signal,
            1 => Kind::Arrive,
            2 => Kind::LateSignal,
            3 => Kind::Transmitted,
            4 => Kind::Consume,
            5 => Kind::Timeout,
            6 => Kind::Recover,
            7 => Kind::Change,
            8 => Kind::FlowStart,
            9 => Kind::FlowStop,
            10 => Kind::Sample,
            11 => Kind::Snapshot,
            12 => Kind::Look,
            _ => Kind::Calm,
        }
    }
}

/// The number of bits for the port or flow of an event.
const INDEX_BITS: u32 = 28;

/// The number of bits for the kind of an event.
const KIND_BITS: u32 = 32 - INDEX_BITS;

/// An event: its instant, its kind, and its port or flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Event {
    time: u64,
    /// The kind above the number.
    key: u32,
}

impl Event {
    /// The upper limit of the number of ports, and of flows.
    pub(crate) const INDEX_MAX: usize = 1 << INDEX_BITS;

    #[inline]
    pub(crate) fn new(time: Time, kind: Kind, index: u32) -> Event {
        debug_assert!(index < 1 << INDEX_BITS);
        Event { time: time.as_ps(), key: (kind as u32) << INDEX_BITS | index }
    }

    /// An event before all others at `time`, and after all that are earlier.
    pub(crate) fn first_at(time: Time) -> Event {
        Event::new(time, Kind::Signal, 0)
    }

    /// The event as two words, for atomics.
    pub(crate) fn words(self) -> (u64, u64) {
        (self.time, u64::from(self.key))
    }

    pub(crate) fn from_words(time: u64, key: u64) -> Event {
        Event { time, key: key as u32 }
    }

    /// Its time and kind in one number, in the order of events.
    #[inline]
    fn rank(self) -> u64 {
        self.time.min(u64::MAX >> KIND_BITS) << KIND_BITS | u64::from(self.key >> INDEX_BITS)
    }

    pub(crate) fn time(self) -> Time {
        Time::from_ps(self.time)
    }

    /// Whether it is of this kind.
    #[inline(always)]
    pub(crate) fn is(self, kind: Kind) -> bool {
        self.key >> INDEX_BITS == kind as u32
    }

    pub(crate) fn kind(self) -> Kind {
        Kind::from_number(self.key >> INDEX_BITS)
    }

    pub(crate) fn index(self) -> usize {
        (self.key & ((1 << INDEX_BITS) - 1)) as usize
    }
}

/// The key of a leaf where nothing is due.
const NEVER: u64 = u64::MAX;

/// All pending events, see the [module](self).
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// The bits of a port in a key.
    port_bits: u32,
    /// Whether the run is so long that ports do not fit into keys: then they are searched for.
    is_long: bool,
    /// The instant from which on events have no number. No run is so long, so they are dropped.
    horizon: Time,
    nodes: Box<[NodeEvents]>,
    /// All trees, one after the other.
    keys: Box<[u64]>,
    /// The tree over the nodes: time and kind of the first event of each. A node that is being
    /// handled may have a later one.
    firsts: Box<[u64]>,
    /// The levels of that tree below its root.
    levels: u32,
    /// What happens to a node and to none of its ports: flows that start and stop, packets that a
    /// slow host takes.
    agendas: Box<[BinaryHeap<Reverse<Event>>]>,
    /// What happens to the whole network.
    whole: BinaryHeap<Reverse<Event>>,
}

/// The events of a node, in a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct NodeEvents {
    /// The first arrival or departure, the first control frame or timeout, the first of the agenda.
    roots: [u64; 3],
    /// The trees of the first two.
    trees: [Tree; 2],
    /// The number of its ports, and that of the first one.
    ports: u32,
    first_end: u32,
}

/// A binary tree of minima: the root would be at 1, the children of n are at 2 n and 2 n + 1, and the
/// leaves come last.
#[derive(Clone, Copy, Debug)]
struct Tree {
    base: u32,
    /// The number of leaves, a power of two, which is also the place of the first one.
    leaves: u32,
    /// The logarithm of that number to the base 2.
    levels: u32,
}

/// The number before which the keys of a node are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit(u64);

impl Limit {
    /// Before which everything is that ever happens.
    pub(crate) const NONE: Limit = Limit(NEVER);
}

/// A port of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub node: NodeId,
    pub port: PortId,
}

/// Whether a node is in this part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    Here,
    Elsewhere,
}

impl Tree {
    /// A tree at the end of `keys`.
    fn new(keys: &mut Vec<u64>, leaves: usize) -> Tree {
        let (base, leaves) = (keys.len() as u32, leaves.next_power_of_two());
        keys.resize(keys.len() + 2 * leaves, NEVER);
        Tree { base, leaves: leaves as u32, levels: leaves.ilog2() }
    }

    /// Sets a leaf, and returns the root.
    // Not inlined, since what handles events is too large for the cache otherwise.
    #[inline(never)]
    fn climb(self, keys: &mut [u64], leaf: u32, key: u64) -> u64 {
        let tree = &mut keys[self.base as usize..];
        // The sizes of common switches and networks, and of hosts, take no loop and no check of bounds.
        match self.levels {
            1 => climb::<4>(tree, leaf, key),
            2 => climb::<8>(tree, leaf, key),
            3 => climb::<16>(tree, leaf, key),
            4 => climb::<32>(tree, leaf, key),
            5 => climb::<64>(tree, leaf, key),
            6 => climb::<128>(tree, leaf, key),
            7 => climb::<256>(tree, leaf, key),
            8 => climb::<512>(tree, leaf, key),
            9 => climb::<1024>(tree, leaf, key),
            10 => climb::<2048>(tree, leaf, key),
            11 => climb::<4096>(tree, leaf, key),
            _ => {
                let (mut at, mut least) = ((self.leaves + leaf) as usize, key);
                while at > 1 {
                    tree[at] = least;
                    least = least.min(tree[at ^ 1]);
                    at /= 2;
                }
                least
            }
        }
    }

    #[inline(always)]
    fn get(self, keys: &[u64], leaf: u32) -> u64 {
        keys[(self.base + self.leaves + leaf) as usize]
    }

    /// The first leaf with this key, which there is.
    fn search(self, keys: &[u64], key: u64) -> u32 {
        let leaves = &keys[(self.base + self.leaves) as usize..][..self.leaves as usize];
        leaves.iter().position(|it| *it == key).unwrap_or(0) as u32
    }

    /// The keys of the tree, in order of their place.
    fn of(self, keys: &mut [u64]) -> &mut [u64] {
        &mut keys[self.base as usize..][..2 * self.leaves as usize]
    }
}

/// Sets a leaf of a tree of `SIZE` numbers, and returns the root.
#[inline(always)]
fn climb<const SIZE: usize>(tree: &mut [u64], leaf: u32, key: u64) -> u64 {
    let Some(tree) = tree.first_chunk_mut::<SIZE>() else {
        unreachable!("the tree has as many numbers");
    };
    let (mut at, mut least) = (SIZE / 2 + leaf as usize % (SIZE / 2), key);
    for _ in 0..SIZE.ilog2() - 1 {
        tree[at] = least;
        least = least.min(tree[at ^ 1]);
        at /= 2;
    }
    least
}

impl EventQueue {
    /// A queue for nodes with so many ports each, of which some are in another part of the run, until
    /// `end`.
    pub(crate) fn new(nodes: impl Iterator<Item = (usize, Where)>, end: Time) -> EventQueue {
        let (mut all, mut keys, mut first_end, mut most) = (Vec::new(), Vec::new(), 0, 1);
        for (ports, place) in nodes {
            let leaves = if place == Where::Here { 2 * ports } else { 1 };
            let trees = [(); 2].map(|()| Tree::new(&mut keys, leaves));
            let ports = ports as u32;
            all.push(NodeEvents { roots: [NEVER; 3], trees, ports, first_end });
            first_end += ports;
            most = most.max(ports);
        }
        let count = all.len();
        let needed = most.next_power_of_two().ilog2();
        let is_long = end.as_ps() >> (64 - KIND_BITS - needed) > 0;
        let port_bits = if is_long { 0 } else { needed };
        let horizon = Time::from_ps(1 << (64 - KIND_BITS - port_bits));
        assert!(end < horizon, "a run of {end}");
        EventQueue {
            port_bits,
            is_long,
            horizon,
            nodes: all.into(),
            keys: keys.into(),
            firsts: vec![NEVER; 2 * count.next_power_of_two()].into(),
            levels: count.next_power_of_two().ilog2(),
            agendas: vec![BinaryHeap::new(); count].into(),
            whole: BinaryHeap::new(),
        }
    }

    /// Takes over the events of a node.
    pub(crate) fn take_node(&mut self, other: &mut EventQueue, node: NodeId) {
        let from = &mut other.nodes[node.index()];
        let to = &mut self.nodes[node.index()];
        for (here, there) in to.trees.into_iter().zip(from.trees) {
            here.of(&mut self.keys).swap_with_slice(there.of(&mut other.keys));
        }
        std::mem::swap(&mut to.roots, &mut from.roots);
        std::mem::swap(&mut self.agendas[node.index()], &mut other.agendas[node.index()]);
        self.leave(node);
        other.leave(node);
    }

    /// Schedules an event of a port, in the place of one of that kind that it may have.
    #[inline(always)]
    pub(crate) fn push(&mut self, place: Place, kind: Kind, time: Time) {
        let first = self.push_here(place, kind, time);
        self.note(place.node, first);
    }

    /// As [`EventQueue::push`], for the node whose events are being handled: [`EventQueue::leave`] makes
    /// it known. Returns the first event of the same sort.
    #[inline(always)]
    pub(crate) fn push_here(&mut self, place: Place, kind: Kind, time: Time) -> u64 {
        let rank = time.as_ps() << KIND_BITS | kind as u64;
        let key = self.key(rank, u32::from(place.port.0));
        let key = if time < self.horizon { key } else { NEVER };
        self.set(place, kind, key)
    }

    /// Removes an event of a port, of the node whose events are being handled.
    #[inline(always)]
    pub(crate) fn clear(&mut self, place: Place, kind: Kind) {
        self.set(place, kind, NEVER);
    }

    /// Whether the run is so long that ports do not fit into keys.
    pub(crate) fn is_long(&self) -> bool {
        self.is_long
    }

    /// Sets a leaf, and returns the root of its tree.
    #[inline(always)]
    fn set(&mut self, place: Place, kind: Kind, key: u64) -> u64 {
        let node = &mut self.nodes[place.node.index()];
        let (tree, leaf) = node.leaf(u32::from(place.port.0), kind);
        let root = node.trees[tree].climb(&mut self.keys, leaf, key);
        node.roots[tree] = root;
        root
    }

    /// Schedules an event that happens to a node and to none of its ports.
    #[cold]
    pub(crate) fn push_at(&mut self, node: NodeId, event: Event) {
        if event.time() < self.horizon {
            self.agendas[node.index()].push(Reverse(event));
            let first = self.attend(node);
            self.note(node, first);
        }
    }

    /// Removes the first event of that sort from the node whose events are being handled.
    #[cold]
    pub(crate) fn pop_at(&mut self, node: NodeId) -> Event {
        let event = self.agendas[node.index()].pop();
        self.attend(node);
        let Reverse(event) = event.expect("only called for an event of the agenda");
        event
    }

    /// Looks up the first event of an agenda, and returns its key.
    fn attend(&mut self, node: NodeId) -> u64 {
        let first = self.agendas[node.index()].peek();
        let key = first.map_or(NEVER, |Reverse(event)| event.rank() << self.port_bits);
        self.nodes[node.index()].roots[2] = key;
        key
    }

    /// Schedules an event of the whole network.
    #[cold]
    pub(crate) fn push_whole(&mut self, event: Event) {
        self.whole.push(Reverse(event));
    }

    /// The first event of the whole network.
    #[inline]
    pub(crate) fn peek_whole(&self) -> Option<Event> {
        self.whole.peek().map(|Reverse(event)| *event)
    }

    /// Removes the first event of the whole network.
    #[cold]
    pub(crate) fn pop_whole(&mut self) -> Option<Event> {
        self.whole.pop().map(|Reverse(event)| event)
    }

    /// Whether nothing is pending.
    pub(crate) fn is_empty(&self) -> bool {
        self.firsts[1] == NEVER && self.whole.is_empty()
    }

    /// The instant of the first event of all nodes; [`Time::MAX`] if there is none.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        match self.firsts[1] {
            NEVER => Time::MAX,
            first => Time::from_ps(first >> KIND_BITS),
        }
    }

    /// The node with the first event of all nodes, if that comes before `limit`.
    #[inline]
    pub(crate) fn first_node(&self, limit: Event) -> Option<NodeId> {
        let (leaves, least) = (self.firsts.len() / 2, self.firsts[1]);
        if least >= limit.rank() {
            return None;
        }
        let mut at = 1;
        while at < leaves {
            at *= 2;
            at += usize::from(self.firsts[at] != least);
        }
        Some(NodeId((at - leaves) as u32))
    }

    /// The first event of a node, if it comes before `limit`. It stays until its handler puts another
    /// one in its place or removes it, or until [`EventQueue::retire`].
    #[inline(always)]
    pub(crate) fn first_of(&self, node: NodeId, limit: Limit) -> Option<Event> {
        let NodeEvents { roots, first_end, .. } = &self.nodes[node.index()];
        let key = roots[0].min(roots[1]).min(roots[2]);
        if key >= limit.0 {
            return None;
        }
        let rank = key >> self.port_bits;
        let mut port = key as u32 & ((1 << self.port_bits) - 1);
        if self.is_long {
            port = self.nodes[node.index()].search(&self.keys, key);
        }
        let kind = rank as u32 & ((1 << KIND_BITS) - 1);
        Some(Event { time: rank >> KIND_BITS, key: kind << INDEX_BITS | (first_end + port) })
    }

    /// The events of a node before `event`.
    #[inline]
    pub(crate) fn before(&self, event: Event) -> Limit {
        let beyond = u64::MAX >> self.port_bits;
        Limit(event.rank().min(beyond) << self.port_bits)
    }

    /// Removes an event of a port that was handled, unless there is another one in its place.
    #[inline(always)]
    pub(crate) fn retire(&mut self, node: NodeId, event: Event) {
        let port = event.index() as u32 - self.nodes[node.index()].first_end;
        let key = self.key(event.rank(), port);
        let node = &mut self.nodes[node.index()];
        let (tree, leaf) = node.leaf(port, event.kind());
        if node.trees[tree].get(&self.keys, leaf) == key {
            node.roots[tree] = node.trees[tree].climb(&mut self.keys, leaf, NEVER);
        }
    }

    /// Makes known when a node comes next, after some of its events were handled.
    #[inline]
    pub(crate) fn leave(&mut self, node: NodeId) {
        let roots = self.nodes[node.index()].roots;
        let first = self.rank(roots[0].min(roots[1]).min(roots[2]));
        let (leaves, levels) = (self.firsts.len() / 2, self.levels);
        let tree = Tree { base: 0, leaves: leaves as u32, levels };
        self.firsts[1] = tree.climb(&mut self.firsts, node.0, first);
    }

    /// The key of an event of a port.
    #[inline(always)]
    fn key(&self, rank: u64, port: u32) -> u64 {
        rank << self.port_bits | u64::from(port & ((1 << self.port_bits) - 1))
    }

    /// Time and kind of a key.
    #[inline(always)]
    fn rank(&self, key: u64) -> u64 {
        if key == NEVER { NEVER } else { key >> self.port_bits }
    }

    /// Makes known that the first event of a node is `key`, unless it has an earlier one.
    #[inline(always)]
    fn note(&mut self, node: NodeId, key: u64) {
        let rank = self.rank(key);
        let mut at = self.firsts.len() / 2 + node.index();
        while at > 0 && rank < self.firsts[at] {
            self.firsts[at] = rank;
            at /= 2;
        }
    }
}

impl NodeEvents {
    /// The tree and the leaf of an event of a port.
    #[inline(always)]
    fn leaf(&self, port: u32, kind: Kind) -> (usize, u32) {
        match kind {
            Kind::Arrive => (0, port),
            Kind::Transmitted => (0, self.ports + port),
            Kind::Signal | Kind::LateSignal => (1, port),
            _ => (1, self.ports + port),
        }
    }

    /// The port whose event has this key, the lowest of several.
    #[cold]
    fn search(&self, keys: &[u64], key: u64) -> u32 {
        let tree = (0..2).find(|tree| self.roots[*tree] == key);
        tree.map_or(0, |tree| self.trees[tree].search(keys, key) % self.ports)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Handles everything in order.
    fn drain(queue: &mut EventQueue) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(node) = queue.first_node(Event::first_at(Time::MAX)) {
            let limit = queue.before(Event::first_at(Time::MAX));
            let event = queue.first_of(node, limit).expect("it is first");
            events.push(match event.kind() {
                Kind::FlowStart => queue.pop_at(node),
                _ => event,
            });
            queue.retire(node, event);
            queue.leave(node);
        }
        events
    }

    proptest! {
        /// Against a sorted list: whatever is pushed, in whatever order, comes out in order.
        #[test]
        fn events_come_in_total_order(
            pushes in prop::collection::vec((0u64..50, 0usize..4, 0usize..9), 1..200),
            end in prop_oneof![Just(100), Just(1u64 << 59)],
        ) {
            const PORTS: [usize; 3] = [1, 5, 3];
            let kinds = [Kind::Signal, Kind::Arrive, Kind::Transmitted, Kind::Timeout];
            let mut queue = EventQueue::new(PORTS.map(|it| (it, Where::Here)).into_iter(), Time::from_ps(end));
            let mut model = std::collections::BTreeMap::new();
            for (time, kind, end) in pushes {
                let (node, port) = match end {
                    0 => (0, 0),
                    1..6 => (1, end - 1),
                    _ => (2, end - 6),
                };
                let place = Place { node: NodeId(node), port: PortId(port as u16) };
                let (time, kind) = (Time::from_ps(time), kinds[kind]);
                queue.push(place, kind, time);
                model.insert((kind, end), Event::new(time, kind, end as u32));
                let start = Event::new(time, Kind::FlowStart, model.len() as u32);
                queue.push_at(NodeId(0), start);
                model.insert((Kind::FlowStart, 100 + model.len()), start);
                // A later event in the place of an earlier one is known when its node was left.
                queue.leave(place.node);
            }
            let mut expected = Vec::from_iter(model.into_values());
            expected.sort();
            prop_assert_eq!(drain(&mut queue), expected);
        }
    }

    #[test]
    fn simultaneous_events_follow_kind_and_index() {
        let mut queue =
            EventQueue::new([1, 5].map(|it| (it, Where::Here)).into_iter(), Time::from_ps(1_000));
        let time = Time::from_ps(500);
        let order = [(Kind::Signal, 5), (Kind::Arrive, 0), (Kind::Arrive, 4), (Kind::Timeout, 1)];
        for (kind, end) in order.into_iter().rev() {
            let (node, port) = if end == 0 { (0, 0) } else { (1, end - 1) };
            queue.push(Place { node: NodeId(node), port: PortId(port) }, kind, time);
        }
        let events = drain(&mut queue).into_iter();
        let found = Vec::from_iter(events.map(|event| (event.kind(), event.index() as u16)));
        assert_eq!(found, order);
    }
}
