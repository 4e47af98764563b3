//! Which pairs of end nodes have no route.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use pauseless_core::id::{GroupId, NodeId};
use pauseless_core::table::WayId;
use pauseless_fabric::dependency::{Network, Traffic};
use pauseless_fabric::fabric::RouteEvidence;

/// Pairs of end nodes without a route whose packets enter at one switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unroutable {
    /// The switch at which their packets enter.
    pub switch: NodeId,
    /// How many pairs there are.
    pub pairs: u64,
    /// How many end nodes they are for.
    pub target_count: usize,
    /// The first of these end nodes.
    pub targets: Vec<NodeId>,
}

/// How many pairs of end nodes have no route from the one to the other, by any of equal ways. What
/// goes where `evidence` ends counts as routed.
pub fn unrouted_pairs(
    network: Network<'_>,
    evidence: Option<&RouteEvidence>,
    left_out: &[bool],
) -> u64 {
    unroutable(network, evidence, left_out).iter().map(|from| from.pairs).sum()
}

/// The pairs of end nodes without a route, by the switch at which they enter, most of them first.
pub fn unroutable(
    network: Network<'_>,
    evidence: Option<&RouteEvidence>,
    left_out: &[bool],
) -> Vec<Unroutable> {
    let Network { topology, routes, .. } = network;
    let is_in = |host: &NodeId| topology.is_host(*host) && !left_out[host.index()];
    let switch_of = |host: NodeId| topology.ports(host).first().map(|port| port.peer);
    let mut hosts_at = vec![0u64; topology.nodes().len()];
    for host in topology.hosts().iter().filter(|host| is_in(host)) {
        if let Some(switch) = switch_of(*host) {
            hosts_at[switch.index()] += 1;
        }
    }
    let switches = topology.switches().iter().copied();
    let mut reach = Reach {
        network,
        evidence,
        entrances: switches.filter(|s| hosts_at[s.index()] > 0).collect(),
        last: None,
        reached: vec![false; topology.nodes().len()],
    };
    let mut lost = Lost::default();
    if let Traffic::Demands(demands) = network.traffic {
        let target = |group| routes.groups.target(group);
        let wanted = demands.iter();
        let wanted = wanted.filter(|demand| is_in(&demand.source) && is_in(&target(demand.group)));
        for demand in wanted {
            let switch = switch_of(demand.source);
            if !switch.is_some_and(|switch| reach.of(demand.group)[switch.index()]) {
                lost.add(switch.unwrap_or(demand.source), target(demand.group), 1);
            }
        }
        return lost.finish();
    }
    for &host in topology.hosts().iter().filter(|host| is_in(host)) {
        let own = switch_of(host);
        reach.of(routes.groups.of_host(host));
        for switch in reach.entrances.iter().filter(|s| !reach.reached[s.index()]) {
            // Nobody sends to itself.
            let pairs = hosts_at[switch.index()] - u64::from(own == Some(*switch));
            lost.add(*switch, host, pairs);
        }
    }
    lost.finish()
}

/// Pairs without a route while they are counted.
#[derive(Default)]
struct Lost {
    by_switch: BTreeMap<NodeId, (u64, BTreeSet<NodeId>)>,
}

impl Lost {
    fn add(&mut self, switch: NodeId, target: NodeId, pairs: u64) {
        if pairs > 0 {
            let (count, targets) = self.by_switch.entry(switch).or_default();
            *count += pairs;
            targets.insert(target);
        }
    }

    fn finish(self) -> Vec<Unroutable> {
        let found = self.by_switch.into_iter().map(|(switch, (pairs, targets))| Unroutable {
            switch,
            pairs,
            target_count: targets.len(),
            targets: targets.into_iter().take(TARGETS_SHOWN).collect(),
        });
        let mut found = Vec::from_iter(found);
        found.sort_by_key(|from| (Reverse(from.pairs), from.switch));
        found
    }
}

/// The end nodes that are named for each switch.
const TARGETS_SHOWN: usize = 3;

/// From which entrances a group is reached. It keeps the last answer, because hosts of one switch
/// share a way.
struct Reach<'n> {
    network: Network<'n>,
    evidence: Option<&'n RouteEvidence>,
    /// The switches that have end nodes.
    entrances: Vec<NodeId>,
    last: Option<(WayId, NodeId)>,
    /// Whether each node was reached, in the order of the nodes.
    reached: Vec<bool>,
}

impl Reach<'_> {
    /// By node: whether some of the next hops there lead to the target of `group`. It is right for
    /// entrances only.
    pub fn of(&mut self, group: GroupId) -> &[bool] {
        let table = &self.network.routes.table;
        let shared = table.exit(group).map(|(switch, _)| (table.way(group), switch));
        if shared.is_none() || self.last != shared {
            self.last = shared;
            self.reached.fill(false);
            if !self.follow(group) {
                self.search(group);
            }
        }
        &self.reached
    }

    /// Follows the first of equal ways from every entrance, and says whether all arrive: mostly
    /// they do, and then there is nothing to search for.
    fn follow(&mut self, group: GroupId) -> bool {
        let Network { topology, routes, .. } = self.network;
        let target = routes.groups.target(group);
        let mut path = Vec::new();
        let mut is_all = true;
        for &entrance in &self.entrances {
            let mut at = entrance;
            path.clear();
            while at != target && !self.reached[at.index()] {
                if self.is_end(at, group) {
                    path.push(at);
                    break;
                }
                let hop = routes.table.next_hops(at, group).first();
                let Some(port) = hop.filter(|_| path.len() < topology.switches().len()) else {
                    is_all = false;
                    path.clear();
                    break;
                };
                path.push(at);
                at = topology.port(at, *port).peer;
            }
            for switch in &path {
                self.reached[switch.index()] = true;
            }
        }
        is_all
    }

    /// Whether nobody can say what becomes of packets of `group` at `switch`.
    fn is_end(&self, switch: NodeId, group: GroupId) -> bool {
        let way = self.network.routes.table.way(group);
        self.evidence.is_some_and(|evidence| evidence.is_end(switch, way))
    }

    /// Looks at every next hop, backwards from the target.
    fn search(&mut self, group: GroupId) {
        let Network { topology, routes, .. } = self.network;
        let target = routes.groups.target(group);
        let mut before: Vec<Vec<NodeId>> = vec![Vec::new(); self.reached.len()];
        for &switch in topology.switches() {
            for port in routes.table.next_hops(switch, group) {
                before[topology.port(switch, *port).peer.index()].push(switch);
            }
        }
        self.reached.fill(false);
        let mut found = std::mem::take(&mut before[target.index()]);
        let switches = topology.switches().iter().copied();
        found.extend(switches.filter(|switch| self.is_end(*switch, group)));
        while let Some(switch) = found.pop() {
            if !std::mem::replace(&mut self.reached[switch.index()], true) {
                found.append(&mut before[switch.index()]);
            }
        }
    }
}
