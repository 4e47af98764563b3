//! The flows of a host, which send in turn.

use super::schedule::Due;

/// What decides when a flow has its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The priority group of its packets.
    pub group: u8,
    /// When its next packet may start, if it has any left.
    pub waiting: Option<u64>,
    /// Whether its window has room for that packet.
    pub has_room: bool,
    /// Whether everything has arrived.
    pub is_done: bool,
}

/// The flows of a host's port in the order of their starts, as leaves of a tree.
///
/// Flows that are done stay until a search for the next one comes past them, as in that simulator,
/// where the turn is a position in the list that does not follow when others leave.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    /// By leaf; flows that have left are [`NONE`].
    flows: Vec<u32>,
    /// The root is at 1, the children of `n` at `2 n` and `2 n + 1`, and the leaves at the end.
    nodes: Vec<Node>,
    /// For each group the same tree, with the first time at which a flow of it may send.
    ready: [Vec<u64>; 8],
    /// How many flows that are still here come before the one whose turn it was.
    turn: usize,
    /// When the host's pending call is due, or when the last one was.
    pub wake: Option<Due>,
}

/// What a part of the flows has in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    /// The first time at which a packet that is left may start, windows and pauses aside.
    waiting: u64,
    /// How many there are.
    count: u32,
    /// How many of them are done.
    done: u32,
}

const NOBODY: Node = Node { waiting: u64::MAX, count: 0, done: 0 };
/// A flow that has left.
pub const NONE: u32 = u32::MAX;

impl Turns {
    /// When the first packet that is left may start.
    pub fn earliest(&self) -> Option<u64> {
        let root = self.nodes.get(1)?;
        (root.waiting < u64::MAX).then_some(root.waiting)
    }

    /// Adds a flow behind all others; its leaf. All leaves change if there was no place for it,
    /// which `moved` is told of.
    pub fn add(&mut self, flow: u32, mut moved: impl FnMut(u32, u32)) -> u32 {
        if self.flows.len() == self.leaves() {
            self.rebuild(&mut moved);
        }
        self.flows.push(flow);
        self.flows.len() as u32 - 1
    }

    /// The flow at `leaf` has changed.
    pub fn set(&mut self, leaf: u32, standing: Standing) {
        let waiting = standing.waiting.map_or(u64::MAX, |time| time.min(u64::MAX - 1));
        let ready = if standing.has_room { waiting } else { u64::MAX };
        let node = Node { waiting, count: 1, done: u32::from(standing.is_done) };
        self.change(leaf as usize, standing.group, node, ready);
    }

    /// The flow that sends now, if one may; `paused` has a bit for each group that may not. Flows
    /// that are done leave if the search comes past one; `left` is told of them.
    pub fn next(&mut self, now: u64, paused: u8, left: impl FnMut(u32)) -> Option<u32> {
        let count = self.nodes.get(1)?.count as usize;
        if count == 0 {
            return None;
        }
        let start = self.select((1 + self.turn) % count);
        let found = self.first_ready(now, paused, start);
        let flow = found.map(|leaf| self.flows[leaf]);
        if self.nodes[1].done > 0 {
            self.leave(start, found, paused, left);
        }
        let leaf = found?;
        // It may have left itself.
        self.turn = if self.flows[leaf] == NONE { 0 } else { self.position(leaf) };
        flow
    }

    fn leaves(&self) -> usize {
        self.nodes.len() / 2
    }

    /// Gives all flows that are here new leaves, and as many free ones.
    fn rebuild(&mut self, moved: &mut impl FnMut(u32, u32)) {
        let (flows, nodes) = (std::mem::take(&mut self.flows), std::mem::take(&mut self.nodes));
        let ready = std::mem::take(&mut self.ready);
        let old = nodes.len() / 2;
        let count = nodes.get(1).map_or(0, |root| root.count as usize);
        let leaves = (2 * count).next_power_of_two();
        self.nodes = vec![NOBODY; 2 * leaves];
        for (leaf, flow) in flows.into_iter().enumerate().filter(|(_, flow)| *flow != NONE) {
            let place = leaves + self.flows.len();
            self.nodes[place] = nodes[old + leaf];
            for (tree, ready) in self.ready.iter_mut().zip(&ready) {
                if ready.get(old + leaf).is_some_and(|time| *time < u64::MAX) {
                    tree.resize(2 * leaves, u64::MAX);
                    tree[place] = ready[old + leaf];
                }
            }
            moved(flow, self.flows.len() as u32);
            self.flows.push(flow);
        }
        for node in (1..leaves).rev() {
            self.nodes[node] = self.nodes[2 * node].with(self.nodes[2 * node + 1]);
            for tree in self.ready.iter_mut().filter(|tree| !tree.is_empty()) {
                tree[node] = tree[2 * node].min(tree[2 * node + 1]);
            }
        }
    }

    fn change(&mut self, leaf: usize, group: u8, node: Node, ready: u64) {
        let leaves = self.leaves();
        let mut at = leaves + leaf;
        let mut value = node;
        while self.nodes[at] != value {
            self.nodes[at] = value;
            at /= 2;
            if at == 0 {
                break;
            }
            value = self.nodes[2 * at].with(self.nodes[2 * at + 1]);
        }
        let tree = &mut self.ready[usize::from(group)];
        if tree.is_empty() {
            tree.resize(2 * leaves, u64::MAX);
        }
        let mut at = leaves + leaf;
        let mut value = ready;
        while tree[at] != value {
            tree[at] = value;
            at /= 2;
            if at == 0 {
                break;
            }
            value = tree[2 * at].min(tree[2 * at + 1]);
        }
    }

    /// The first leaf from `start` on, and then from the first on, of which a flow may send.
    fn first_ready(&self, now: u64, paused: u8, start: usize) -> Option<usize> {
        let open =
            self.ready.iter().enumerate().filter(|(group, tree)| {
                !tree.is_empty() && tree[1] <= now && paused >> group & 1 == 0
            });
        let found = open.filter_map(|(_, tree)| {
            let is_ready = |node: usize| tree[node] <= now;
            self.first(start, is_ready).or_else(|| self.first(0, is_ready))
        });
        found.min_by_key(|leaf| (*leaf < start, *leaf))
    }

    /// Flows that are done leave, from the first on that lies between `start` and `found`.
    fn leave(&mut self, start: usize, found: Option<usize>, paused: u8, left: impl FnMut(u32)) {
        let leaves = self.leaves();
        let first = match found {
            Some(found) if found >= start => self.first_done(start, found, paused),
            _ => {
                let end = found.unwrap_or(leaves);
                let first = self.first_done(0, end, paused);
                first.or_else(|| self.first_done(start, leaves, paused))
            }
        };
        if let Some(first) = first {
            self.remove_done(first, left);
        }
    }

    /// The first flow that is done in a part of the list, if the search takes it for done. It does
    /// not while the flow may send: that is so without a window if it went back and everything had
    /// arrived nevertheless.
    fn first_done(&self, start: usize, end: usize, paused: u8) -> Option<usize> {
        let mut from = start;
        loop {
            let leaf = self.first(from, |node| self.nodes[node].done > 0)?;
            if leaf >= end {
                return None;
            }
            let may_send = self.ready.iter().enumerate().any(|(group, tree)| {
                paused >> group & 1 == 0
                    && tree.get(self.leaves() + leaf).is_some_and(|time| *time < u64::MAX)
            });
            if !may_send {
                return Some(leaf);
            }
            from = leaf + 1;
        }
    }

    fn remove_done(&mut self, first: usize, mut left: impl FnMut(u32)) {
        let mut from = first;
        while let Some(leaf) = self.first(from, |node| self.nodes[node].done > 0) {
            left(std::mem::replace(&mut self.flows[leaf], NONE));
            let at = self.leaves() + leaf;
            let is_at = |tree: &Vec<u64>| tree.get(at).is_some_and(|time| *time < u64::MAX);
            let group = self.ready.iter().position(is_at).unwrap_or(0);
            self.change(leaf, group as u8, NOBODY, u64::MAX);
            from = leaf + 1;
        }
    }

    /// The first leaf from `from` on for which `holds`, which holds for a node if it does for a
    /// leaf below.
    fn first(&self, from: usize, holds: impl Fn(usize) -> bool) -> Option<usize> {
        let leaves = self.leaves();
        let mut node = leaves + from;
        if from >= leaves {
            return None;
        }
        while !holds(node) {
            // Up from right children, then to the neighbour.
            node >>= node.trailing_ones();
            if node == 0 {
                return None;
            }
            node += 1;
        }
        while node < leaves {
            node *= 2;
            node += usize::from(!holds(node));
        }
        Some(node - leaves)
    }

    /// The leaf before which there are so many flows.
    fn select(&self, position: usize) -> usize {
        let (mut node, mut rest) = (1, position as u32);
        while node < self.leaves() {
            node *= 2;
            let before = self.nodes[node].count;
            if rest >= before {
                rest -= before;
                node += 1;
            }
        }
        node - self.leaves()
    }

    /// How many flows there are before a leaf.
    fn position(&self, leaf: usize) -> usize {
        let mut node = self.leaves() + leaf;
        let mut before = 0;
        while node > 1 {
            if node % 2 == 1 {
                before += self.nodes[node - 1].count;
            }
            node /= 2;
        }
        before as usize
    }
}

impl Node {
    fn with(self, other: Node) -> Node {
        Node {
            waiting: self.waiting.min(other.waiting),
            count: self.count + other.count,
            done: self.done + other.done,
        }
    }
}
