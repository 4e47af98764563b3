//! The switches of a fabric and the channels between them, numbered without gaps.

use pauseless_core::id::{NodeId, PortId};

use crate::routing::search::View;

/// The graph of switches. A channel is one direction of a link between two switches; those that
/// leave one switch have consecutive numbers, in the order of its ports.
#[derive(Clone, Debug)]
pub(super) struct Net {
    /// The node of each switch.
    pub nodes: Vec<NodeId>,
    /// The switch of each node; `NONE` for hosts.
    pub switch_of: Vec<u32>,
    /// The first channel that leaves each switch; they end where those of the next switch begin.
    firsts: Vec<u32>,
    /// The switch that each channel leaves.
    pub from: Vec<u32>,
    /// The switch that each channel leads to.
    pub to: Vec<u32>,
    /// The port by which each channel leaves its switch.
    pub ports: Vec<PortId>,
    /// The other direction of the same link.
    pub reverse: Vec<u32>,
    /// The number of hosts on each switch.
    pub hosts: Vec<u32>,
}

impl Net {
    pub(super) fn new(view: &View<'_>) -> Net {
        let topology = view.topology;
        let nodes = topology.switches().to_vec();
        let mut switch_of = vec![NONE; topology.nodes().len()];
        for (number, node) in (0..).zip(&nodes) {
            switch_of[node.index()] = number;
        }
        let mut net = Net {
            hosts: nodes.iter().map(|node| view.hosts(*node).count() as u32).collect(),
            nodes,
            switch_of,
            firsts: vec![0],
            from: Vec::new(),
            to: Vec::new(),
            ports: Vec::new(),
            reverse: Vec::new(),
        };
        // The channel that leaves each end of each link: first that of the lower switch.
        let mut of_link = vec![[NONE; 2]; topology.links().len()];
        for (from, node) in (0..).zip(net.nodes.clone()) {
            for &(port, peer) in view.trunks(node) {
                let channel = net.to.len() as u32;
                net.from.push(from);
                net.to.push(net.switch_of[peer.index()]);
                net.ports.push(port);
                let link = topology.port(node, port).link.0 as usize;
                let place = usize::from(of_link[link][0] != NONE);
                of_link[link][place] = channel;
            }
            net.firsts.push(net.to.len() as u32);
        }
        net.reverse = vec![NONE; net.to.len()];
        for [a, b] in of_link.into_iter().filter(|[a, _]| *a != NONE) {
            net.reverse[a as usize] = b;
            net.reverse[b as usize] = a;
        }
        net
    }

    pub(super) fn switch_count(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn channel_count(&self) -> usize {
        self.to.len()
    }

    /// The channels that leave `switch`.
    #[inline]
    pub(super) fn leaving(&self, switch: u32) -> std::ops::Range<u32> {
        self.firsts[switch as usize]..self.firsts[switch as usize + 1]
    }

    /// The position of `channel` among those that leave its switch.
    #[inline]
    pub(super) fn place(&self, channel: u32) -> u32 {
        channel - self.firsts[self.from[channel as usize] as usize]
    }

    /// The number of hops from every switch to `target`; `NONE` for those that have no way there.
    pub(super) fn distances(&self, target: u32, queue: &mut Vec<u32>) -> Vec<u32> {
        let mut distances = vec![NONE; self.switch_count()];
        queue.clear();
        queue.push(target);
        distances[target as usize] = 0;
        let mut at = 0;
        while let Some(&switch) = queue.get(at) {
            at += 1;
            for channel in self.leaving(switch) {
                let next = self.to[channel as usize] as usize;
                if distances[next] == NONE {
                    distances[next] = distances[switch as usize] + 1;
                    queue.push(next as u32);
                }
            }
        }
        distances
    }

    /// The number of hosts that send by way of each switch, its own included, if each switch sends
    /// by its channel in `next`.
    pub(super) fn weights(&self, next: &[u32]) -> Vec<u32> {
        let mut below = vec![0u32; self.switch_count()];
        for &channel in next.iter().filter(|channel| **channel != NONE) {
            below[self.to[channel as usize] as usize] += 1;
        }
        let mut weights = self.hosts.clone();
        let switches = 0..self.switch_count() as u32;
        let mut free = Vec::from_iter(switches.filter(|switch| below[*switch as usize] == 0));
        while let Some(switch) = free.pop() {
            let channel = next[switch as usize];
            if channel == NONE {
                continue;
            }
            let to = self.to[channel as usize] as usize;
            weights[to] += weights[switch as usize];
            below[to] -= 1;
            if below[to] == 0 {
                free.push(to as u32);
            }
        }
        weights
    }
}

/// No switch, no channel, or no distance.
pub(super) const NONE: u32 = u32::MAX;
