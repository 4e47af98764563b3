//! Which pairs of end nodes have no route.

use pauseless_core::id::{GroupId, NodeId};
use pauseless_core::table::WayId;
use pauseless_fabric::dependency::{Network, Traffic};
use pauseless_fabric::fabric::RouteEvidence;

/// How many pairs of end nodes have no route from the one to the other, by any of equal ways. What
/// goes where `evidence` ends counts as routed.
pub fn unrouted_pairs(
    network: Network<'_>,
    evidence: Option<&RouteEvidence>,
    left_out: &[bool],
) -> u64 {
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
    if let Traffic::Demands(demands) = network.traffic {
        let target = |group| routes.groups.target(group);
        let wanted = demands.iter();
        let wanted = wanted.filter(|demand| is_in(&demand.source) && is_in(&target(demand.group)));
        let lost = wanted.filter(|demand| {
            let switch = switch_of(demand.source);
            !switch.is_some_and(|switch| reach.of(demand.group)[switch.index()])
        });
        return lost.count() as u64;
    }
    let mut unrouted = 0;
    for &host in topology.hosts().iter().filter(|host| is_in(host)) {
        let own = switch_of(host);
        reach.of(routes.groups.of_host(host));
        for switch in reach.entrances.iter().filter(|s| !reach.reached[s.index()]) {
            // Nobody sends to itself.
            unrouted += hosts_at[switch.index()] - u64::from(own == Some(*switch));
        }
    }
    unrouted
}

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
