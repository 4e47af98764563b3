//! How many pairs of end nodes each link carries, and how many have no route.

use std::collections::BTreeMap;

use pauseless_core::id::{GroupId, NodeId, PortId};

use crate::dependency::{Network, Traffic};

/// What the routes of a network make of its pairs. A pair is an end node that sends and an address
/// that it sends to, so that a target with several addresses counts several times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Load {
    /// How many pairs there are.
    pub pairs: u64,
    /// How many of them have no route, or one that does not arrive.
    pub lost: u64,
    /// The largest number of pairs over one direction of a link between switches. Where a switch
    /// has several next hops, each carries an equal share.
    pub largest: f64,
    /// The port by which these pairs leave; `None` where no link between switches is used.
    pub busiest: Option<(NodeId, PortId)>,
    /// The mean number of pairs over the directions of links between switches, used or not.
    pub mean: f64,
}

impl Load {
    /// Follows every pair of `network` whose ends are not marked in `left_out`, which is by node.
    /// The cost grows with addresses times switches.
    pub fn of(network: Network<'_>, left_out: &[bool]) -> Load {
        let mut tally = Tally::new(network);
        match network.traffic {
            Traffic::AllPairs(_) => {
                let mut sources = vec![0.0; tally.switches.len()];
                for &host in network.topology.hosts() {
                    if let Some(at) = tally.entrance(host).filter(|_| !left_out[host.index()]) {
                        sources[at] += 1.0;
                    }
                }
                for (groups, own) in tally.alike(left_out) {
                    let count = groups.len() as f64;
                    for (amount, source) in tally.amounts.iter_mut().zip(&sources) {
                        *amount = source * count;
                    }
                    // Nobody sends to itself.
                    tally.amounts[own] -= count;
                    tally.follow(groups[0]);
                }
            }
            Traffic::Demands(demands) => {
                let mut demands = Vec::from_iter(demands.iter().filter(|demand| {
                    let target = network.routes.groups.target(demand.group);
                    !left_out[demand.source.index()] && !left_out[target.index()]
                }));
                demands.sort_unstable();
                for chunk in demands.chunk_by(|a, b| a.group == b.group) {
                    tally.amounts.fill(0.0);
                    for demand in chunk {
                        match tally.entrance(demand.source) {
                            Some(at) => tally.amounts[at] += 1.0,
                            None => {
                                tally.load.pairs += 1;
                                tally.load.lost += 1;
                            }
                        }
                    }
                    tally.follow(chunk[0].group);
                }
            }
        }
        tally.finish()
    }
}

/// Pairs per port while groups are followed one after the other.
struct Tally<'n> {
    network: Network<'n>,
    switches: &'n [NodeId],
    /// The position in `switches` of each node; `NONE` for a host.
    rows: Vec<u32>,
    /// The first port of each switch among all ports of switches.
    starts: Vec<usize>,
    /// The pairs that leave by each port.
    by_port: Vec<f64>,
    /// The pairs of the present group at each switch.
    amounts: Vec<f64>,
    /// How many switches still have to hand on their pairs to each switch.
    waiting: Vec<u32>,
    ready: Vec<u32>,
    load: Load,
}

impl<'n> Tally<'n> {
    fn new(network: Network<'n>) -> Tally<'n> {
        let topology = network.topology;
        let switches = topology.switches();
        let mut rows = vec![NONE; topology.nodes().len()];
        let mut starts = Vec::with_capacity(switches.len());
        let mut count = 0;
        for (row, switch) in (0..).zip(switches) {
            rows[switch.index()] = row;
            starts.push(count);
            count += topology.ports(*switch).len();
        }
        Tally {
            network,
            switches,
            rows,
            starts,
            by_port: vec![0.0; count],
            amounts: vec![0.0; switches.len()],
            waiting: vec![0; switches.len()],
            ready: Vec::new(),
            load: Load::default(),
        }
    }

    /// The addresses of hosts that are not left out, those together that share all of their way, with
    /// the row of their switch.
    fn alike(&self, left_out: &[bool]) -> Vec<(Vec<GroupId>, usize)> {
        let Network { routes, .. } = self.network;
        let mut alike: BTreeMap<_, (Vec<GroupId>, usize)> = BTreeMap::new();
        for group in routes.groups.addresses() {
            let target = routes.groups.target(group);
            let Some(own) = self.entrance(target).filter(|_| !left_out[target.index()]) else {
                continue;
            };
            // Without an exit the way leads to the host itself.
            let exit = routes.table.exit(group).map(|(switch, _)| switch);
            let own_way = exit.is_none().then_some(group);
            let key = (routes.table.way(group), exit, own_way);
            alike.entry(key).or_insert_with(|| (Vec::new(), own)).0.push(group);
        }
        alike.into_values().collect()
    }

    /// The row of the switch at which packets of `host` enter.
    fn entrance(&self, host: NodeId) -> Option<usize> {
        let port = self.network.topology.ports(host).first()?;
        let row = self.rows[port.peer.index()];
        (row != NONE).then_some(row as usize)
    }

    /// Hands on `amounts` from switch to switch until they arrive at the target of `group`.
    fn follow(&mut self, group: GroupId) {
        let Network { topology, routes, .. } = self.network;
        let target = routes.groups.target(group);
        let total: f64 = self.amounts.iter().sum();
        self.waiting.fill(0);
        for &switch in self.switches {
            for port in routes.table.next_hops(switch, group) {
                let row = self.rows[topology.port(switch, *port).peer.index()];
                if row != NONE {
                    self.waiting[row as usize] += 1;
                }
            }
        }
        let free = (0..self.switches.len() as u32).filter(|row| self.waiting[*row as usize] == 0);
        self.ready.extend(free);
        let mut arrived = 0.0;
        while let Some(row) = self.ready.pop() {
            let row = row as usize;
            let switch = self.switches[row];
            let hops = routes.table.next_hops(switch, group);
            let share = self.amounts[row] / hops.len().max(1) as f64;
            for port in hops {
                let peer = topology.port(switch, *port).peer;
                let next = self.rows[peer.index()];
                if next == NONE {
                    arrived += if peer == target { share } else { 0.0 };
                    continue;
                }
                self.by_port[self.starts[row] + port.index()] += share;
                let next = next as usize;
                self.amounts[next] += share;
                self.waiting[next] -= 1;
                if self.waiting[next] == 0 {
                    self.ready.push(next as u32);
                }
            }
        }
        // Pairs in a circle never leave it, so they have not arrived either.
        self.load.pairs += total.round() as u64;
        self.load.lost += (total - arrived).max(0.0).round() as u64;
    }

    fn finish(mut self) -> Load {
        let topology = self.network.topology;
        let (mut sum, mut count) = (0.0, 0u64);
        for (row, &switch) in self.switches.iter().enumerate() {
            for (number, port) in topology.ports(switch).iter().enumerate() {
                if topology.is_host(port.peer) {
                    continue;
                }
                let pairs = self.by_port[self.starts[row] + number];
                sum += pairs;
                count += 1;
                if pairs > self.load.largest {
                    self.load.largest = pairs;
                    self.load.busiest = Some((switch, PortId(number as u16)));
                }
            }
        }
        self.load.mean = sum / count.max(1) as f64;
        self.load
    }
}

const NONE: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dependency::{Lane, Lossy};
    use crate::generate::{FatTree, LinkSpecs, Shape};
    use crate::routing::{Multipath, RouteBuilder, TieBreak};
    use crate::topology::LinkSpec;
    use pauseless_core::class_map::ClassMap;
    use pauseless_core::unit::{Rate, Span};

    /// Pairs per port, counted one pair after the other.
    fn naive(network: Network<'_>) -> (u64, u64) {
        let Network { topology, routes, .. } = network;
        let mut by_port = std::collections::BTreeMap::new();
        let mut lost = 0;
        for group in routes.groups.addresses() {
            let target = routes.groups.target(group);
            for &source in topology.hosts().iter().filter(|source| **source != target) {
                let mut at = topology.ports(source)[0].peer;
                let mut steps = 0;
                while at != target {
                    let hop = routes.table.next_hops(at, group).first();
                    let Some(port) = hop.filter(|_| steps < 100) else {
                        lost += 1;
                        break;
                    };
                    steps += 1;
                    let next = topology.port(at, *port).peer;
                    if !topology.is_host(next) {
                        *by_port.entry((at, *port)).or_insert(0u64) += 1;
                    }
                    at = next;
                }
            }
        }
        (by_port.values().copied().max().unwrap_or(0), lost)
    }

    #[test]
    fn pairs_are_those_of_a_naive_count() {
        let spec = LinkSpec { rate: Rate::gbps(10), delay: Span::us(1) };
        let topology = FatTree { k: 4 }.build(LinkSpecs::same(spec)).unwrap();
        let traffic = Traffic::AllPairs(vec![Lane::ONLY]);
        for (seed, hole) in [(1, false), (2, true), (3, true)] {
            let rule = Multipath::Single { tie_break: TieBreak::Seeded(seed) };
            let mut routes = RouteBuilder::new(&topology, rule).build();
            if hole {
                let group = routes.groups.of_host(topology.hosts()[3]);
                routes.table.set(topology.switches()[0], group, &[]);
            }
            let network = Network {
                topology: &topology,
                routes: &routes,
                classes: &ClassMap::Same,
                traffic: &traffic,
                lossy: &Lossy::nothing(),
            };
            let load = Load::of(network, &vec![false; topology.nodes().len()]);
            let (largest, lost) = naive(network);
            assert_eq!((load.largest as u64, load.lost), (largest, lost), "seed {seed}");
            assert_eq!(load.pairs, 16 * 15);
            assert_eq!(load.lost > 0, hole);
        }
    }
}
