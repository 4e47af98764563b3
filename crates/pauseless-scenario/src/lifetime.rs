//! Flows whose packets come to their end before they arrive.

use pauseless_core::class_map::{Carried, ClassMap, Passage};
use pauseless_core::id::NodeId;
use pauseless_fabric::trace::{Header, trace};
use pauseless_sim::Config;
pub use pauseless_sim::config::Flow;

/// The most flows that are looked at: their warnings are enough.
const FLOWS_MAX: usize = 10_000;
const WARNINGS_MAX: usize = 4;

/// A line for each of the first flows that never arrive although they do not circle.
pub(crate) fn warnings(config: &Config) -> Vec<String> {
    let is_mortal = |flow: &&Flow| flow.ttl < Flow::TTL_NONE || config.classes != ClassMap::Same;
    let flows = config.flows.iter().take(FLOWS_MAX).filter(is_mortal);
    let ended = flows.filter_map(|flow| Some((flow, end(config, flow)?)));
    let lines = ended.map(|(flow, (node, why))| {
        let at = &config.topology.node(node).name;
        format!("flow {}: its packets end at {at}, {why}", flow.name)
    });
    lines.take(WARNINGS_MAX).collect()
}

/// The switch that drops the packets of a flow, and why.
fn end(config: &Config, flow: &Flow) -> Option<(NodeId, &'static str)> {
    let topology = &config.topology;
    let header = Header { source: flow.source, group: flow.group, hash: flow.hash };
    let path = trace(topology, &config.table, header).ok()?;
    let mut class = flow.class;
    for (hops, pair) in path.windows(2).enumerate() {
        let [(before, out), (node, egress)] = [pair[0], pair[1]];
        if hops + 1 >= usize::from(flow.ttl) {
            return Some((node, "where their TTL has run out"));
        }
        let passage = Passage { node, ingress: topology.port(before, out).peer_port, egress };
        let carried = Carried { label: flow.label, class, hops: hops.min(255) as u8 };
        let next = if topology.is_host(topology.port(node, egress).peer) {
            config.classes.last(passage, carried)
        } else {
            config.classes.next(passage, carried)
        };
        match next {
            Some(next) => class = next,
            None => return Some((node, "where [classes] has no class for their next hop")),
        }
    }
    None
}
