//! Up*/down* routing: a total order of the switches, and no way that goes up after having gone down.
//!
//! Dependencies then follow the order, first towards the top and then away from it, so there is no
//! cycle (Autonet, Schroeder et al. 1991).

use std::collections::VecDeque;

use pauseless_core::id::NodeId;

use super::search::View;

/// The order of switches from the roots down.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// The rank of each node: 0 for the roots; smaller is higher.
    ranks: Vec<u32>,
    /// All switches, the highest first.
    descending: Vec<NodeId>,
}

impl Order {
    /// Makes every switch that is farthest from the hosts a root. This is the natural order of a
    /// tree, but where links have failed it may leave pairs without a legal path.
    pub(crate) fn of_many_roots(view: &View<'_>) -> Order {
        let heights = distances(view, &leaves(view));
        let switches = view.topology.switches();
        let height = |switch: &NodeId| heights[switch.index()];
        let top = switches.iter().filter(|s| height(s) != UNREACHED).map(height).max().unwrap_or(0);
        let roots = Vec::from_iter(switches.iter().copied().filter(|s| height(s) == top));
        match top {
            // All switches are at the same distance.
            0 => Order::of_one_root(view),
            _ => Order::below(view, &roots),
        }
    }

    /// Makes one switch the root in each connected part of the fabric. Every pair then has a legal
    /// path: up to the root and down.
    pub(crate) fn of_one_root(view: &View<'_>) -> Order {
        let heights = distances(view, &leaves(view));
        let mut candidates = view.topology.switches().to_vec();
        // A switch that is not connected to a leaf is useless as a root.
        let merit = |s: &NodeId| match heights[s.index()] {
            UNREACHED => (0, 0),
            height => (height + 1, view.trunks(*s).len()),
        };
        candidates.sort_by_key(|s| (std::cmp::Reverse(merit(s)), *s));
        let mut roots: Vec<NodeId> = Vec::new();
        let mut covered = vec![false; view.topology.nodes().len()];
        for candidate in candidates {
            if covered[candidate.index()] {
                continue;
            }
            roots.push(candidate);
            let reached = distances(view, &[candidate]);
            for (covered, distance) in covered.iter_mut().zip(reached) {
                *covered |= distance != UNREACHED;
            }
        }
        Order::below(view, &roots)
    }

    fn below(view: &View<'_>, roots: &[NodeId]) -> Order {
        let ranks = distances(view, roots);
        let mut descending = view.topology.switches().to_vec();
        descending.sort_by_key(|switch| (ranks[switch.index()], *switch));
        Order { ranks, descending }
    }

    /// All switches, the highest first.
    pub(crate) fn descending(&self) -> &[NodeId] {
        &self.descending
    }

    /// Whether the move from one switch to its neighbour goes up.
    pub(crate) fn is_up(&self, from: NodeId, to: NodeId) -> bool {
        (self.ranks[to.index()], to) < (self.ranks[from.index()], from)
    }
}

/// The switches with many hosts: a few on a spine, such as those that aggregate in the network, do
/// not make it a leaf.
fn leaves(view: &View<'_>) -> Vec<NodeId> {
    let counts = view.topology.switches().iter();
    let counts = Vec::from_iter(counts.map(|switch| (view.hosts(*switch).count(), *switch)));
    let most = counts.iter().map(|(count, _)| *count).max().unwrap_or(0);
    let enough = most.div_ceil(4).max(1);
    let leaves = counts.into_iter().filter(|(count, _)| *count >= enough);
    leaves.map(|(_, switch)| switch).collect()
}

/// The distance of each node from the nearest of `starts`.
fn distances(view: &View<'_>, starts: &[NodeId]) -> Vec<u32> {
    let mut distances = vec![UNREACHED; view.topology.nodes().len()];
    for start in starts {
        distances[start.index()] = 0;
    }
    let mut queue = VecDeque::from(starts.to_vec());
    while let Some(switch) = queue.pop_front() {
        for (_, peer) in view.trunks(switch) {
            if distances[peer.index()] == UNREACHED {
                distances[peer.index()] = distances[switch.index()] + 1;
                queue.push_back(*peer);
            }
        }
    }
    distances
}

const UNREACHED: u32 = u32::MAX;
