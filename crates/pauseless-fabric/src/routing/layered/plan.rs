//! The paths of all destinations in their layers, and the loads that they make.

use super::dependencies::{Dependencies, Turn};
use super::escape::Escape;
use super::net::{NONE, Net};
use pauseless_core::id::GroupId;

use super::tree::{Grower, Known, Length};

/// The paths to all targets in a number of layers.
#[derive(Clone, Debug)]
pub(super) struct Plan<'n> {
    net: &'n Net,
    targets: &'n [Target],
    distances: &'n Distances,
    layers: Vec<Dependencies>,
    grower: Grower,
    /// The layer of each target.
    layer_of: Vec<u8>,
    /// Per target and switch, the place among the switch's channels of the one that packets take.
    places: Vec<u16>,
    /// The pairs of a host and a target whose path takes each channel.
    loads: Vec<u64>,
    /// The lengths of the paths to each target.
    lengths: Vec<Length>,
    /// The number of trees that were grown so far.
    grown: u64,
}

/// An address that hosts send to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    /// The group of packets for it.
    pub group: GroupId,
    /// The switch that its host is on.
    pub switch: u32,
    /// The first address of the same host, by its place among the targets: all have one layer. An
    /// address that is its own leader and has followers keeps its first layer.
    pub leader: u32,
    /// Whether the host has several addresses.
    pub is_one_of_several: bool,
}

/// The channels that paths may depend on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Freedom<'e> {
    /// Any, even if that makes cycles: a measure of what avoiding them costs.
    Cycles,
    /// Those that make no cycle in one of so many layers, each of which has these escape paths.
    Layers(u8, &'e Escape),
}

/// The paths and layers without what is needed to change them.
#[derive(Clone, Debug)]
pub(super) struct Picture {
    /// The layer of each target.
    pub layer_of: Vec<u8>,
    /// Per target and switch, the place among the switch's channels of the one that packets take.
    pub places: Vec<u16>,
    /// The pairs of a host and a target whose path takes each channel.
    pub loads: Vec<u64>,
    /// The hops of all pairs together.
    pub hops: u64,
    /// The hops of the longest path.
    pub hops_max: u32,
    /// The pairs that have a path.
    pub pairs: u64,
}

/// How good a state is, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Score {
    /// The largest number of pairs over one direction of a link.
    pub load_max: u64,
    /// The hops of all pairs together.
    pub hops: u64,
}

impl Picture {
    pub(super) fn load_max(&self) -> u64 {
        self.loads.iter().max().copied().unwrap_or(0)
    }

    /// How good it is, the best first: by the largest load, then by the hops.
    pub(super) fn score(&self) -> Score {
        Score { load_max: self.load_max(), hops: self.hops }
    }

    /// The number of layers that are used.
    pub(super) fn layers(&self) -> u8 {
        self.layer_of.iter().max().map_or(1, |layer| layer + 1)
    }
}

/// The number of hops between any two switches.
#[derive(Clone, Debug)]
pub(super) struct Distances {
    rows: Vec<Vec<u32>>,
}

impl Distances {
    pub(super) fn new(net: &Net) -> Distances {
        let mut queue = Vec::new();
        let switches = 0..net.switch_count() as u32;
        Distances { rows: switches.map(|switch| net.distances(switch, &mut queue)).collect() }
    }

    /// The hops between `switch` and each other one; `NONE` where there is no way.
    pub(super) fn from(&self, switch: u32) -> &[u32] {
        &self.rows[switch as usize]
    }
}

impl<'n> Plan<'n> {
    /// A plan in which every target is routed once.
    pub(super) fn new(
        net: &'n Net,
        targets: &'n [Target],
        distances: &'n Distances,
        freedom: Freedom<'_>,
    ) -> Plan<'n> {
        let layers = match freedom {
            Freedom::Cycles => vec![Dependencies::with_cycles(net)],
            Freedom::Layers(count, escape) => {
                let mut empty = Dependencies::new(net, escape.order(net));
                escape.reserve(net, &mut empty);
                vec![empty; usize::from(count)]
            }
        };
        let mut plan = Plan {
            net,
            targets,
            distances,
            layers,
            grower: Grower::new(net),
            layer_of: vec![0; targets.len()],
            places: vec![NOWHERE; targets.len() * net.switch_count()],
            loads: vec![0; net.channel_count()],
            lengths: vec![Length::default(); targets.len()],
            grown: 0,
        };
        let escape = match freedom {
            Freedom::Cycles => None,
            Freedom::Layers(_, escape) => Some(escape),
        };
        for target in 0..targets.len() {
            plan.route(target, escape);
        }
        if let Some(escape) = escape {
            for layer in &mut plan.layers {
                escape.release(net, layer);
            }
        }
        plan
    }

    /// Routes every target once more, now that the loads of all others are known.
    pub(super) fn improve(&mut self) {
        for layer in &mut self.layers {
            layer.forgive();
        }
        for target in 0..self.targets.len() {
            self.lift(target);
            self.route(target, None);
        }
    }

    /// How much work it was so far, in channels that were looked at.
    pub(super) fn work(&self) -> u64 {
        let searches: u64 = self.layers.iter().map(|layer| layer.steps).sum();
        self.grown * self.net.channel_count() as u64 + searches * STEP_COST
    }

    /// How good the present state is, the best first.
    pub(super) fn score(&self) -> Score {
        let load_max = self.loads.iter().max().copied().unwrap_or(0);
        Score { load_max, hops: self.lengths.iter().map(|length| length.hops).sum() }
    }

    pub(super) fn picture(&self) -> Picture {
        let pairs = self.targets.iter().map(|target| {
            let hosts = self.net.hosts.iter().zip(self.distances.from(target.switch));
            let reached = hosts.filter(|(_, distance)| **distance != NONE);
            reached.map(|(hosts, _)| u64::from(*hosts)).sum::<u64>() - 1
        });
        Picture {
            layer_of: self.layer_of.clone(),
            places: self.places.clone(),
            loads: self.loads.clone(),
            hops: self.score().hops,
            hops_max: self.lengths.iter().map(|length| length.hops_max).max().unwrap_or(0),
            pairs: pairs.sum(),
        }
    }

    fn row(&self, target: usize) -> std::ops::Range<usize> {
        let count = self.net.switch_count();
        target * count..(target + 1) * count
    }

    /// Finds a tree for `target` and enters it: at first in the lowest layer that has a tree of
    /// shortest paths, which leaves the others free for what does not fit; later, or if there is
    /// none, in the layer with the shortest, and of those as short the one with the least load.
    /// Without escape paths the present tree may have to stay.
    fn route(&mut self, target: usize, escape: Option<&Escape>) {
        let count = self.layers.len();
        let Target { leader, is_one_of_several, .. } = self.targets[target];
        let is_fixed = leader as usize != target || is_one_of_several && escape.is_none();
        let (present, choices) = match escape {
            _ if is_fixed => (usize::from(self.layer_of[leader as usize]), 1),
            Some(_) => (count - 1, count),
            None => (usize::from(self.layer_of[target]), count),
        };
        let least = self.least_hops(target);
        let mut best: Option<(Length, usize)> = None;
        // The present layer comes last: if it is the best, as usual, its tree is there already.
        let first = present + count + 1 - choices;
        for layer in (first..=present + count).map(|layer| layer % count) {
            let Some(found) = self.grow(layer, target, escape) else {
                continue;
            };
            let is_better =
                best.is_none_or(|(best, _)| (found.hops, found.cost) <= (best.hops, best.cost));
            let is_good = escape.is_some() && found.hops == least;
            if is_good || is_better && layer == present {
                return self.enter(target, layer, found);
            }
            self.grower.undo(self.net, &mut self.layers[layer]);
            if is_better {
                best = Some((found, layer));
            }
        }
        let Some((_, layer)) = best else {
            return self.restore(target);
        };
        let again = self.grow(layer, target, escape);
        self.enter(target, layer, again.expect("what was possible is possible again"));
    }

    fn grow(&mut self, layer: usize, target: usize, escape: Option<&Escape>) -> Option<Length> {
        self.grown += 1;
        let switch = self.targets[target].switch;
        let known = Known { loads: &self.loads, distances: self.distances.from(switch), escape };
        self.grower.grow(self.net, &mut self.layers[layer], switch, known)
    }

    /// The hops of the paths to a target if all are shortest ones.
    fn least_hops(&self, target: usize) -> u64 {
        let distances = self.distances.from(self.targets[target].switch);
        let hosts = self.net.hosts.iter().zip(distances);
        let reached = hosts.filter(|(_, distance)| **distance != NONE);
        reached.map(|(hosts, distance)| u64::from(*hosts) * u64::from(*distance)).sum()
    }

    /// Takes over the tree that was grown last.
    fn enter(&mut self, target: usize, layer: usize, length: Length) {
        self.layer_of[target] = layer as u8;
        self.lengths[target] = length;
        let row = self.row(target);
        for (switch, place) in self.places[row].iter_mut().enumerate() {
            let channel = self.grower.next[switch];
            *place = if channel == NONE { NOWHERE } else { self.net.place(channel) as u16 };
            if channel != NONE {
                self.loads[channel as usize] += u64::from(self.grower.weights[switch]);
            }
        }
    }

    /// Removes the loads and dependencies of a target's paths, but not the paths.
    fn lift(&mut self, target: usize) {
        let weights = self.read(target);
        let layer = usize::from(self.layer_of[target]);
        for (switch, weight) in weights.into_iter().enumerate().filter(|(_, weight)| *weight > 0) {
            let channel = self.grower.next[switch];
            if channel == NONE {
                continue;
            }
            self.loads[channel as usize] -= u64::from(weight);
            let next = self.grower.next[self.net.to[channel as usize] as usize];
            if next != NONE {
                self.layers[layer].remove(self.net, Turn { channel, next });
            }
        }
    }

    /// Enters again what `lift` has removed.
    fn restore(&mut self, target: usize) {
        let weights = self.read(target);
        let layer = usize::from(self.layer_of[target]);
        for (switch, weight) in weights.into_iter().enumerate().filter(|(_, weight)| *weight > 0) {
            let channel = self.grower.next[switch];
            if channel == NONE {
                continue;
            }
            self.loads[channel as usize] += u64::from(weight);
            let next = self.grower.next[self.net.to[channel as usize] as usize];
            if next != NONE {
                self.layers[layer].add_again(self.net, Turn { channel, next });
            }
        }
    }

    /// Reads the next channels of a target into the grower; returns the hosts behind each switch.
    fn read(&mut self, target: usize) -> Vec<u32> {
        let row = self.row(target);
        for (switch, place) in self.places[row].iter().enumerate() {
            self.grower.next[switch] = match *place {
                NOWHERE => NONE,
                place => self.net.leaving(switch as u32).start + u32::from(place),
            };
        }
        self.net.weights(&self.grower.next)
    }
}

/// The work of a step in a search for cycles, beside that of looking at a channel of a tree.
const STEP_COST: u64 = 64;
/// The place of no channel.
pub(super) const NOWHERE: u16 = u16::MAX;
