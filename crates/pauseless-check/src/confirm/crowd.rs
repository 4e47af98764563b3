//! One flow for every hop of a cycle, where the fewest that close it do not fill it.
//!
//! The fewest flows share few links: in a ring of six switches three close the cycle, each is held
//! to half its rate by the one whose way it enters, and no buffer fills. A flow that enters at
//! every hop and stays as long as it can leaves no link of the cycle without a quarrel.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use pauseless_core::id::{GroupId, NodeId, PortId};
use pauseless_fabric::dependency::{ClosingFlow, Component, Demand, Traffic};

use pauseless_fabric::fabric::Fabric;

/// Finds flows by following the tables.
pub(super) struct Crowd<'c> {
    pub fabric: &'c Fabric,
    pub component: &'c Component,
}

impl Crowd<'_> {
    /// A flow for each hop that `is_good`; `None` if some hop has none.
    pub(super) fn flows(&self, is_good: impl Fn(&ClosingFlow) -> bool) -> Option<Vec<ClosingFlow>> {
        let mut flows: Vec<ClosingFlow> = Vec::new();
        for hop in 0..self.component.cycle.hops.len() {
            let able = self.demands(hop).into_iter().filter_map(|demand| self.flow(hop, demand));
            let best = able.filter(&is_good).take(CHOICES_MAX).min_by_key(|flow| {
                let target = self.target(flow.group);
                let is_source = flows.iter().any(|other| other.source == flow.source);
                let is_target = flows.iter().any(|other| self.target(other.group) == target);
                (is_source, Reverse(flow.hops.len()), is_target)
            });
            flows.push(best?);
        }
        Some(flows)
    }

    /// Who may send packets that wait at `hop` for the next one; those that enter there first.
    fn demands(&self, hop: usize) -> Vec<Demand> {
        let hop = &self.component.cycle.hops[hop];
        let topology = &self.fabric.topology;
        let groups = &self.fabric.routes.groups;
        let is_meant = |demand: &Demand| {
            let target = groups.target(demand.group);
            let is_between = hop.sources.binary_search(&demand.source).is_ok()
                && hop.targets.binary_search(&target).is_ok();
            is_between && demand.source != target
        };
        let before = topology.port(hop.buffer.node, hop.buffer.port).peer;
        let is_far = |host: &NodeId| topology.ports(*host)[0].peer != before;
        if let Traffic::Demands(demands) = &self.fabric.traffic {
            let mut meant = Vec::from_iter(demands.iter().copied().filter(is_meant));
            meant.sort_by_key(|demand| is_far(&demand.source));
            meant.truncate(DEMANDS_MAX);
            return meant;
        }
        let Traffic::AllPairs(lanes) = &self.fabric.traffic else {
            return Vec::new();
        };
        let mut sources = hop.sources.clone();
        sources.sort_by_key(is_far);
        let addresses = groups.addresses();
        let addresses = addresses.filter(|group| hop.targets.contains(&groups.target(*group)));
        let addresses = Vec::from_iter(addresses);
        let pairs = sources.iter().flat_map(|source| {
            let groups = addresses.iter().map(move |group| (*source, *group));
            groups.flat_map(|pair| lanes.iter().map(move |lane| (pair, *lane)))
        });
        let demands = pairs.map(|((source, group), lane)| Demand { group, lane, source });
        demands.filter(is_meant).take(DEMANDS_MAX).collect()
    }

    /// The way of a packet through `hop` and on along the cycle, if the tables have one.
    fn flow(&self, hop: usize, demand: Demand) -> Option<ClosingFlow> {
        let hops = &self.component.cycle.hops;
        let topology = &self.fabric.topology;
        let buffer = hops[hop].buffer;
        let into = topology.port(buffer.node, buffer.port);
        let Demand { group, lane, source } = demand;
        let mut path = vec![(source, PortId(0))];
        path.extend(self.way(topology.ports(source)[0].peer, into.peer, group)?);
        let (mut node, mut port) = (into.peer, into.peer_port);
        path.push((node, port));
        let mut count = 0;
        while self.leads(node, port, group) && count < hops.len() {
            let hop = &hops[(hop + count) % hops.len()];
            if !self.leads(hop.buffer.node, hop.egress, group) {
                break;
            }
            (node, port) = (hop.buffer.node, hop.egress);
            path.push((node, port));
            count += 1;
        }
        if count == 0 {
            return None;
        }
        path.extend(self.rest(topology.port(node, port).peer, group)?);
        Some(ClosingFlow {
            source,
            group,
            lane,
            path,
            hops: (0..count).map(|n| (hop + n) % self.component.cycle.hops.len()).collect(),
        })
    }

    /// Whether the switch may send packets of `group` out of this port.
    fn leads(&self, node: NodeId, port: PortId, group: GroupId) -> bool {
        let table = &self.fabric.routes.table;
        table.next_hops(node, group).contains(&port)
    }

    /// The egress ports of a shortest way by the tables between two switches.
    fn way(&self, from: NodeId, to: NodeId, group: GroupId) -> Option<Vec<(NodeId, PortId)>> {
        let Fabric { topology, routes, .. } = self.fabric;
        let mut known: BTreeMap<NodeId, Option<(NodeId, PortId)>> = BTreeMap::from([(from, None)]);
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front().filter(|at| *at != to) {
            for &port in routes.table.next_hops(at, group) {
                let peer = topology.port(at, port).peer;
                if !topology.is_host(peer) && !known.contains_key(&peer) {
                    known.insert(peer, Some((at, port)));
                    queue.push_back(peer);
                }
            }
        }
        let mut way = Vec::new();
        let mut at = *known.get(&to)?;
        while let Some((node, port)) = at {
            way.push((node, port));
            at = known[&node];
        }
        way.reverse();
        Some(way)
    }

    /// The egress ports from `at` on, where the cycle no longer matters; `None` if they lead
    /// nowhere.
    fn rest(&self, mut at: NodeId, group: GroupId) -> Option<Vec<(NodeId, PortId)>> {
        let Fabric { topology, routes, .. } = self.fabric;
        let mut rest = Vec::new();
        let mut seen = BTreeSet::new();
        while !topology.is_host(at) {
            if !seen.insert(at) {
                return None;
            }
            let port = *routes.table.next_hops(at, group).first()?;
            rest.push((at, port));
            at = topology.port(at, port).peer;
        }
        Some(rest)
    }

    fn target(&self, group: GroupId) -> NodeId {
        self.fabric.routes.groups.target(group)
    }
}

/// Enough to find flows that share no host.
const CHOICES_MAX: usize = 64;

/// Enough to find a way through the cycle where the tables leave a choice.
const DEMANDS_MAX: usize = 4_096;
