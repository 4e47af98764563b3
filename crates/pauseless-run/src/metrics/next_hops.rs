//! How evenly switches used the next hops among which they could choose.

use std::collections::BTreeSet;

use pauseless_core::id::{NodeId, PortId};
use pauseless_sim::{Config, Outcome};

/// The use of all sets of several next hops by which anything was sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NextHops {
    /// The largest ratio of what a next hop carried to its share of what its set carried: 1 is even.
    pub load_max: f64,
    /// The share of the next hops that carried nothing.
    pub idle: f64,
}

impl NextHops {
    /// The use of the sets of those switches that have any for the targets of the flows; `None` if none
    /// of them carried anything. What a port carried to other targets counts as well.
    pub fn of(config: &Config, outcome: &Outcome) -> Option<NextHops> {
        let (mut load_max, mut idle, mut count) = (0.0f64, 0, 0);
        for (switch, set) in sets(config) {
            let sent = |port: PortId| {
                let at =
                    outcome.ports.binary_search_by_key(&(switch, port), |it| (it.node, it.port));
                at.map_or(0, |at| outcome.ports[at].sent.get()) as f64
            };
            let ports = BTreeSet::from_iter(set.iter().copied());
            let total: f64 = ports.iter().map(|port| sent(*port)).sum();
            if total == 0.0 {
                continue;
            }
            for port in ports {
                let weight = set.iter().filter(|it| **it == port).count();
                let share = total * weight as f64 / set.len() as f64;
                load_max = load_max.max(sent(port) / share);
                idle += usize::from(sent(port) == 0.0);
                count += 1;
            }
        }
        (count > 0).then(|| NextHops { load_max, idle: idle as f64 / count as f64 })
    }
}

/// Every set of several next hops that a switch has for the target of a flow, once.
fn sets(config: &Config) -> BTreeSet<(NodeId, &[PortId])> {
    let table = &config.table;
    let ways = BTreeSet::from_iter(config.flows.iter().map(|flow| table.way(flow.group)));
    let switches = config.topology.switches().iter();
    let sets = switches
        .flat_map(|switch| ways.iter().map(|way| (*switch, table.next_hops_of_way(*switch, *way))));
    sets.filter(|(_, set)| set.iter().any(|port| *port != set[0])).collect()
}
