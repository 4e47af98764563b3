//! Layers of a fabric: those that its generator knows, or else by the distance from end nodes.

use std::collections::VecDeque;

use pauseless_core::id::NodeId;
use pauseless_fabric::topology::Topology;

/// The layer of each node, from 1 for switches; `None` if the fabric is not made of layers.
pub(super) fn heights(topology: &Topology) -> Option<Vec<usize>> {
    let known = Vec::from_iter(topology.nodes().iter().map(|node| usize::from(node.layer)));
    let is_known = topology.switches().windows(2).any(|pair| {
        let [a, b] = [pair[0], pair[1]];
        known[a.index()] != known[b.index()]
    });
    let heights = if is_known { known } else { distances(topology)? };
    // Some links within a layer, such as those between a pair of leaves, do no harm.
    let between = |node: &NodeId| !topology.is_host(*node);
    let links = topology.links().iter();
    let links = Vec::from_iter(links.filter(|link| between(&link.a) && between(&link.b)));
    let is_level = |a: NodeId, b: NodeId| heights[a.index()] == heights[b.index()];
    let level = links.iter().filter(|link| is_level(link.a, link.b)).count();
    (level * 10 <= links.len()).then_some(heights)
}

/// How far each switch is from one that has many end nodes; some have a few because that is where
/// the managers are.
fn distances(topology: &Topology) -> Option<Vec<usize>> {
    let host_count = |switch: &NodeId| {
        let peers = topology.ports(*switch).iter().map(|port| port.peer);
        peers.filter(|peer| topology.is_host(*peer)).count()
    };
    let most = topology.switches().iter().map(host_count).max()?;
    let has_many = |switch: &&NodeId| host_count(switch) > most / 4;
    let mut heights = vec![0; topology.nodes().len()];
    let mut queue = VecDeque::new();
    for switch in topology.switches().iter().filter(has_many) {
        heights[switch.index()] = 1;
        queue.push_back(*switch);
    }
    while let Some(switch) = queue.pop_front() {
        for port in topology.ports(switch) {
            let peer = port.peer;
            if !topology.is_host(peer) && heights[peer.index()] == 0 {
                heights[peer.index()] = heights[switch.index()] + 1;
                queue.push_back(peer);
            }
        }
    }
    let highest = heights.iter().max()?;
    (*highest > 1).then_some(heights)
}
