//! Deadlock-free routing over any fabric, in few layers.
//!
//! **Models** routes that a subnet manager can load: one next hop per switch and address, and one
//! layer per address, the virtual lane of all packets for it.
//! In no layer is there a cycle of dependencies between channels, so none can deadlock (Dally and
//! Seitz 1987).
//!
//! **Source** The parts are known; their combination is ours.
//! The paths to an address are a tree that grows from its target hop by hop and takes no dependency
//! that would close a cycle, as in Nue (Domke et al. 2016).
//! Of several ways a switch takes the one with the least load, as in DFSSSP (Domke et al. 2011).
//! A small tree in each layer keeps an escape path for every pair of hosts, so that every pair is
//! routed with a single layer, too.
//! When all addresses are routed each is routed again, now that the loads of all others are known,
//! and keeps its old paths if there are no others; the best state is the result.
//!
//! **Deviates** Nue distributes targets over its layers before it routes them; here a target goes to
//! the lowest layer that has shortest paths for it, else to that with the fewest hops.
//!
//! **Not modelled** What switches themselves send: next hops for it are there, but it is
//! no part of the dependencies, as in the check and in ibdmchk.

mod dependencies;
mod escape;
mod net;
mod plan;
mod tree;

use std::collections::BTreeMap;

use pauseless_core::id::{GroupId, NodeId};
use pauseless_core::table::ForwardingTable;

use super::search::View;
use super::{Groups, Routes};
use crate::rng::{Purpose, Stream};
use crate::topology::Topology;
use escape::Escape;
use net::{NONE, Net};
use plan::{Distances, Freedom, NOWHERE, Picture, Plan, Score, Target};

/// What layered routing may use, and how long it may look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The most layers, from 1 to 16. Fewer are used if they balance the load nearly as well.
    pub layers: u8,
    /// How often everything is routed again to balance the load.
    pub passes: u32,
}

impl Default for Options {
    /// Up to eight layers, as many as adapters and switches usually have lanes.
    fn default() -> Options {
        Options { layers: 8, passes: 4 }
    }
}

/// Routes with a layer for every address.
#[derive(Clone, Debug, PartialEq)]
pub struct Layered {
    /// One next hop per switch and address, wherever there is a way.
    pub routes: Routes,
    /// The layer of the packets of each group, by its number.
    pub layer_of: Vec<u8>,
    /// The number of layers in use: layers 0 to one less.
    pub layers: u8,
    /// What the routes cost.
    pub figures: Figures,
}

/// Numbers of routes. A pair is a host and an address of another host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// The pairs that have a path.
    pub pairs: u64,
    /// The largest number of pairs over one direction of a link between switches.
    pub load_max: u64,
    /// The mean of that number over both directions of all links between switches.
    pub load_mean: f64,
    /// The links between switches on the longest path.
    pub hops_max: u32,
    /// The mean number of links between switches over all pairs.
    pub hops_mean: f64,
    /// The mean number if all paths were shortest ones.
    pub hops_least: f64,
    /// The largest load if every pair had one of its shortest paths, without regard to cycles, as
    /// well balanced as this algorithm can.
    pub load_free: u64,
}

impl Layered {
    /// The groups whose packets travel in `layer`.
    pub fn groups_in(&self, layer: u8) -> impl Iterator<Item = GroupId> + '_ {
        let groups = self.routes.groups.addresses();
        groups.filter(move |group| self.layer_of[group.index()] == layer)
    }

    /// The routes with the addresses of one layer only: their dependency graph, with every host
    /// sending to every address in one lane, is that of the layer.
    pub fn layer(&self, layer: u8) -> Routes {
        let mut routes = self.routes.clone();
        routes.groups.keep_addresses(|group| self.layer_of[group.index()] == layer);
        routes
    }
}

/// Routes packets for every address of `groups` from all switches.
///
/// The result has the fewest layers with which the largest load comes near to that of routes
/// that need not care about cycles, or else those of up to `options.layers` layers whose largest
/// load is least.
/// All addresses of a host have the same layer: a subnet manager gives service levels to ports.
/// The result depends on the arguments alone. Hosts that are not connected to each other stay so.
pub fn route(topology: &Topology, groups: &Groups, options: Options) -> Layered {
    assert!((1..=16).contains(&options.layers), "there are 1 to 16 layers");
    let failed = vec![false; topology.links().len()];
    let net = Net::new(&View::new(topology, &failed));
    let orders = orders(topology, groups, &net);
    let distances = Distances::new(&net);
    let mut search = Search {
        roots: centres(&net, &distances),
        net: &net,
        distances: &distances,
        passes: options.passes,
        work: 0,
    };
    let free = search.best_of(Plan::new(&net, &orders[0], &distances, Freedom::Cycles));
    let enough = free.load_max() + free.load_max() * TOLERANCE_PERCENT / 100;
    let mut best: Option<(Picture, usize)> = None;
    for layers in 1..=options.layers {
        let (found, order) = search.best_with(layers, &orders, free.score());
        let is_all = found.load_max() <= enough || search.work > WORK_MAX;
        if best.as_ref().is_none_or(|(best, _)| found.score() < best.score()) {
            best = Some((found, order));
        }
        if is_all {
            break;
        }
    }
    let (best, order) = best.expect("there is at least one layer");
    let mut result = compile(topology, groups, &net, &orders[order], &best);
    result.figures.load_free = free.load_max();
    result.figures.hops_least = mean(free.hops, result.figures.pairs);
    result
}

/// The search for good plans, which counts its work.
struct Search<'n> {
    net: &'n Net,
    distances: &'n Distances,
    /// The switches that may be roots of escape trees, the best first.
    roots: Vec<u32>,
    passes: u32,
    work: u64,
}

impl Search<'_> {
    /// The best plan with so many layers, and the number of its order of targets. Another root and
    /// order are tried as long as that is little work and there is something to gain.
    fn best_with(&mut self, layers: u8, orders: &[Vec<Target>], goal: Score) -> (Picture, usize) {
        let until = self.work + WORK_OF_ATTEMPTS;
        let mut best: Option<(Picture, usize)> = None;
        for attempt in 0..ATTEMPTS_MAX {
            let order = attempt % orders.len();
            let root = self.roots[attempt % self.roots.len()];
            let escape = Escape::below(self.net, root);
            let freedom = Freedom::Layers(layers, &escape);
            let plan = Plan::new(self.net, &orders[order], self.distances, freedom);
            let found = self.best_of(plan);
            if best.as_ref().is_none_or(|(best, _)| found.score() < best.score()) {
                best = Some((found, order));
            }
            let is_good = best.as_ref().is_some_and(|(best, _)| best.score() <= goal);
            if is_good || self.work > until {
                break;
            }
        }
        best.expect("there is at least one attempt")
    }

    /// The best state of a plan, at first and after each pass.
    fn best_of(&mut self, mut plan: Plan<'_>) -> Picture {
        let mut best = plan.picture();
        let mut last = best.score();
        for _ in 0..self.passes {
            plan.improve();
            let score = plan.score();
            if score < best.score() {
                best = plan.picture();
            }
            if score == last {
                break;
            }
            last = score;
            if self.work + plan.work() > WORK_MAX {
                break;
            }
        }
        self.work += plan.work();
        best
    }
}

/// All switches, those that are nearest to the hosts first: by the farthest host, then on average.
fn centres(net: &Net, distances: &Distances) -> Vec<u32> {
    let merit = |switch: &u32| {
        let with_hosts = distances.from(*switch).iter().zip(&net.hosts);
        let reached = with_hosts.filter(|(distance, hosts)| **distance != NONE && **hosts > 0);
        let (mut count, mut farthest, mut sum) = (0, 0, 0);
        for (&distance, &hosts) in reached {
            count += hosts;
            farthest = farthest.max(distance);
            sum += u64::from(hosts) * u64::from(distance);
        }
        (std::cmp::Reverse(count), farthest, sum, *switch)
    };
    let mut switches = Vec::from_iter(0..net.switch_count() as u32);
    switches.sort_by_cached_key(merit);
    switches
}

/// Orders in which the targets may be routed. In each there is one of each switch first, then
/// another of each, and so on, so that no switch is routed last.
fn orders(topology: &Topology, groups: &Groups, net: &Net) -> Vec<Vec<Target>> {
    let mut of_switch = vec![Vec::new(); net.switch_count()];
    for group in groups.addresses() {
        let host = groups.target(group);
        if let Some(port) = topology.ports(host).first() {
            of_switch[net.switch_of[port.peer.index()] as usize].push(group);
        }
    }
    let natural = Vec::from_iter(0..net.switch_count());
    let mut orders = vec![natural];
    for number in 1..ORDERS {
        let mut shuffled = orders[0].clone();
        let mut stream = Stream::new(number, Purpose::TieBreak, 0);
        for at in (1..shuffled.len()).rev() {
            shuffled.swap(at, stream.below(at as u64 + 1) as usize);
        }
        orders.push(shuffled);
    }
    orders.iter().map(|switches| order(switches, &of_switch, groups)).collect()
}

/// The targets in turns of these switches.
fn order(switches: &[usize], of_switch: &[Vec<GroupId>], groups: &Groups) -> Vec<Target> {
    let rounds = of_switch.iter().map(Vec::len).max().unwrap_or(0);
    let mut order: Vec<Target> = Vec::new();
    let mut leaders: BTreeMap<NodeId, u32> = BTreeMap::new();
    for round in 0..rounds {
        for &switch in switches {
            let Some(&group) = of_switch[switch].get(round) else { continue };
            let place = order.len() as u32;
            let leader = *leaders.entry(groups.target(group)).or_insert(place);
            let is_one_of_several = leader != place;
            order.push(Target { group, switch: switch as u32, leader, is_one_of_several });
            order[leader as usize].is_one_of_several |= is_one_of_several;
        }
    }
    order
}

/// The forwarding table of what was found, with its numbers.
fn compile(
    topology: &Topology,
    groups: &Groups,
    net: &Net,
    order: &[Target],
    found: &Picture,
) -> Layered {
    let mut table = ForwardingTable::new(topology.nodes().len(), topology.switches());
    for _ in 0..groups.count() {
        let way = table.add_way();
        table.add_group(way, None);
    }
    let mut layer_of = vec![0; groups.count()];
    let rows = found.places.chunks(net.switch_count());
    for ((target, layer), row) in order.iter().zip(&found.layer_of).zip(rows) {
        let Target { group, switch, .. } = *target;
        layer_of[group.index()] = *layer;
        let way = table.way(group);
        for (number, place) in row.iter().enumerate().filter(|(_, place)| **place != NOWHERE) {
            let channel = net.leaving(number as u32).start + u32::from(*place);
            table.set_way(net.nodes[number], way, &[net.ports[channel as usize]]);
        }
        let exit = topology.ports(groups.target(group))[0].peer_port;
        table.set_way(net.nodes[switch as usize], way, &[exit]);
    }
    let pairs = found.pairs;
    let total: u64 = found.loads.iter().sum();
    let figures = Figures {
        pairs,
        load_max: found.load_max(),
        load_mean: mean(total, net.channel_count() as u64),
        hops_max: found.hops_max,
        hops_mean: mean(found.hops, pairs),
        hops_least: 0.0,
        load_free: 0,
    };
    let routes = Routes { table, groups: groups.clone() };
    Layered { routes, layer_of, layers: found.layers(), figures }
}

fn mean(total: u64, count: u64) -> f64 {
    if count == 0 { 0.0 } else { total as f64 / count as f64 }
}

/// How much larger the largest load may be than without regard to cycles, before another layer is
/// tried.
const TOLERANCE_PERCENT: u64 = 25;
/// The most attempts with other roots and orders of targets, and the orders that are tried in turn.
const ATTEMPTS_MAX: usize = 24;
const ORDERS: u64 = 5;
/// The work, in channels looked at, after which no further attempt is made, and after which no pass or
/// further layer is tried: about half a second and half a minute.
const WORK_OF_ATTEMPTS: u64 = 100_000_000;
const WORK_MAX: u64 = 7_000_000_000;
