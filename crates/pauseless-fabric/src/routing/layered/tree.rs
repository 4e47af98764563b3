//! The paths from all switches to one target: a tree that grows from the target hop by hop.

use super::dependencies::{Dependencies, Turn};
use super::escape::Escape;
use super::net::{NONE, Net};

/// Grows trees, one after the other, with the memory of the last.
#[derive(Clone, Debug)]
pub(super) struct Grower {
    /// The channel that each switch takes towards the target; `NONE` at the target and where no
    /// way is known yet.
    pub next: Vec<u32>,
    /// The number of hops from each switch; `NONE` where no way is known yet.
    pub hops: Vec<u32>,
    /// The load of the path from each switch.
    costs: Vec<u64>,
    /// The number of hosts that reach the target by way of each switch.
    pub weights: Vec<u32>,
    /// The switches by their number of hops.
    levels: Vec<Vec<u32>>,
    /// The dependencies that this tree has added.
    made: Vec<Turn>,
    candidates: Vec<Candidate>,
    /// The switches next to those of the present level, and the best way of each by that level.
    waiting: Vec<u32>,
    best: Vec<Candidate>,
}

/// A path that a switch may take, the one with the least load first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    /// The load of the path.
    cost: u64,
    /// The channel that it begins with.
    channel: u32,
}

impl Candidate {
    /// The candidate of a switch that has none yet.
    const NOBODY: Candidate = Candidate { cost: 0, channel: NONE };
}

/// What a tree grows by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'k> {
    /// The pairs whose path takes each channel.
    pub loads: &'k [u64],
    /// The hops between the target and each switch.
    pub distances: &'k [u32],
    /// The paths to take where there are no others.
    pub escape: Option<&'k Escape>,
}

/// How long the paths of a tree are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Length {
    /// The hops of the paths from all hosts together.
    pub hops: u64,
    /// The loads of all these paths together.
    pub cost: u128,
    /// The hops of the longest of them.
    pub hops_max: u32,
}

impl Grower {
    pub(super) fn new(net: &Net) -> Grower {
        let count = net.switch_count();
        Grower {
            next: vec![NONE; count],
            hops: vec![NONE; count],
            costs: vec![0; count],
            weights: vec![0; count],
            levels: Vec::new(),
            made: Vec::new(),
            candidates: Vec::new(),
            waiting: Vec::new(),
            best: vec![Candidate::NOBODY; count],
        }
    }

    /// Grows the tree to `target`, and adds its dependencies. A switch that finds no way without a
    /// cycle takes its escape path, if there are such.
    ///
    /// Returns `None`, and adds nothing, if a switch with hosts found no way though there is one.
    pub(super) fn grow(
        &mut self,
        net: &Net,
        dependencies: &mut Dependencies,
        target: u32,
        known: Known<'_>,
    ) -> Option<Length> {
        let mut seeds: Vec<u32> = Vec::new();
        loop {
            self.begin(net, dependencies, target, &seeds);
            self.spread(net, dependencies, known.loads);
            let is_lost = |switch: &u32| {
                let switch = *switch as usize;
                net.hosts[switch] > 0
                    && self.hops[switch] == NONE
                    && known.distances[switch] != NONE
            };
            let lost = (0..net.switch_count() as u32).filter(is_lost);
            let lost = Vec::from_iter(lost);
            if lost.is_empty() {
                break;
            }
            self.undo(net, dependencies);
            let escape = known.escape?;
            for switch in lost {
                seeds.extend(escape.path(net, switch, target));
            }
        }
        self.weigh(net);
        self.prune(net, dependencies);
        self.complete(net);
        Some(self.length(net))
    }

    /// Removes the dependencies of the tree again.
    pub(super) fn undo(&mut self, net: &Net, dependencies: &mut Dependencies) {
        for turn in self.made.drain(..) {
            dependencies.remove(net, turn);
        }
    }

    /// Starts with the target alone, and the paths of these channels.
    fn begin(&mut self, net: &Net, dependencies: &mut Dependencies, target: u32, seeds: &[u32]) {
        self.next.fill(NONE);
        self.hops.fill(NONE);
        self.made.clear();
        for level in &mut self.levels {
            level.clear();
        }
        self.hops[target as usize] = 0;
        self.costs[target as usize] = 0;
        self.settle(target, 0);
        for &channel in seeds {
            self.next[net.from[channel as usize] as usize] = channel;
        }
        for &channel in seeds {
            let start = net.from[channel as usize];
            let mut path = Vec::new();
            let mut at = start;
            while self.hops[at as usize] == NONE {
                path.push(at);
                at = net.to[self.next[at as usize] as usize];
            }
            for switch in path.into_iter().rev() {
                let channel = self.next[switch as usize];
                let below = net.to[channel as usize];
                self.hops[switch as usize] = self.hops[below as usize] + 1;
                self.costs[switch as usize] = self.costs[below as usize];
                if let Some(turn) = self.turn(channel, below) {
                    dependencies.add_again(net, turn);
                    self.made.push(turn);
                }
                self.settle(switch, self.hops[switch as usize]);
            }
        }
    }

    fn settle(&mut self, switch: u32, hops: u32) {
        while self.levels.len() <= hops as usize {
            self.levels.push(Vec::new());
        }
        self.levels[hops as usize].push(switch);
    }

    /// The dependency of a path that comes to `switch` by `channel`.
    fn turn(&self, channel: u32, switch: u32) -> Option<Turn> {
        let next = self.next[switch as usize];
        (next != NONE).then_some(Turn { channel, next })
    }

    /// Lets the switches next to those of each level join it, by the path with the least load.
    fn spread(&mut self, net: &Net, dependencies: &mut Dependencies, loads: &[u64]) {
        let mut level = 0;
        while level < self.levels.len() {
            let mut waiting = std::mem::take(&mut self.waiting);
            for &switch in &self.levels[level] {
                let cost = self.costs[switch as usize];
                for channel in net.leaving(switch) {
                    let peer = net.to[channel as usize] as usize;
                    if self.hops[peer] != NONE {
                        continue;
                    }
                    let channel = net.reverse[channel as usize];
                    let candidate = Candidate { cost: cost + loads[channel as usize], channel };
                    let best = &mut self.best[peer];
                    if best.channel == NONE {
                        waiting.push(peer as u32);
                        *best = candidate;
                    }
                    *best = candidate.min(*best);
                }
            }
            for switch in waiting.drain(..) {
                let best = std::mem::replace(&mut self.best[switch as usize], Candidate::NOBODY);
                if !self.join(net, dependencies, best) {
                    self.join_by_another(net, dependencies, loads, best.channel);
                }
            }
            self.waiting = waiting;
            level += 1;
        }
    }

    /// Lets a switch take a path, unless that makes a cycle.
    fn join(&mut self, net: &Net, dependencies: &mut Dependencies, candidate: Candidate) -> bool {
        let Candidate { cost, channel } = candidate;
        let switch = net.from[channel as usize];
        let below = net.to[channel as usize];
        let turn = self.turn(channel, below);
        if turn.is_some_and(|turn| !dependencies.add(net, turn)) {
            return false;
        }
        self.made.extend(turn);
        self.next[switch as usize] = channel;
        self.costs[switch as usize] = cost;
        self.hops[switch as usize] = self.hops[below as usize] + 1;
        self.settle(switch, self.hops[switch as usize]);
        true
    }

    /// Lets a switch whose channel was refused take another to the same level, the one with the least
    /// load of those that make no cycle, if there is one.
    fn join_by_another(
        &mut self,
        net: &Net,
        dependencies: &mut Dependencies,
        loads: &[u64],
        refused: u32,
    ) {
        let switch = net.from[refused as usize];
        let level = self.hops[net.to[refused as usize] as usize];
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        for channel in net.leaving(switch) {
            let below = net.to[channel as usize] as usize;
            if self.hops[below] == level {
                let cost = self.costs[below] + loads[channel as usize];
                candidates.push(Candidate { cost, channel });
            }
        }
        candidates.sort_unstable();
        let _ = candidates.iter().any(|candidate| self.join(net, dependencies, *candidate));
        self.candidates = candidates;
    }

    /// Counts the hosts behind each switch, the farthest first.
    fn weigh(&mut self, net: &Net) {
        self.weights.copy_from_slice(&net.hosts);
        for level in self.levels.iter().rev() {
            for &switch in level {
                let channel = self.next[switch as usize];
                if channel != NONE {
                    self.weights[net.to[channel as usize] as usize] +=
                        self.weights[switch as usize];
                }
            }
        }
    }

    /// Removes the dependencies of switches that no host sends by way of.
    fn prune(&mut self, net: &Net, dependencies: &mut Dependencies) {
        let weights = &self.weights;
        self.made.retain(|turn| {
            let is_used = weights[net.from[turn.channel as usize] as usize] > 0;
            if !is_used {
                dependencies.remove(net, *turn);
            }
            is_used
        });
    }

    /// Gives a way to the switches that have none yet: no host sends by way of them, so that it
    /// needs no dependency.
    fn complete(&mut self, net: &Net) {
        if self.levels.iter().map(Vec::len).sum::<usize>() == net.switch_count() {
            return;
        }
        let mut level = 0;
        while level < self.levels.len() {
            for at in 0..self.levels[level].len() {
                let switch = self.levels[level][at];
                for channel in net.leaving(switch) {
                    let peer = net.to[channel as usize];
                    if self.hops[peer as usize] == NONE {
                        self.next[peer as usize] = net.reverse[channel as usize];
                        self.hops[peer as usize] = level as u32 + 1;
                        self.settle(peer, level as u32 + 1);
                    }
                }
            }
            level += 1;
        }
    }

    fn length(&self, net: &Net) -> Length {
        let mut length = Length::default();
        let paths = self.hops.iter().zip(&self.costs);
        for (&hosts, (&hops, &cost)) in net.hosts.iter().zip(paths) {
            if hosts > 0 && hops != NONE {
                length.hops += u64::from(hosts) * u64::from(hops);
                length.cost += u128::from(hosts) * u128::from(cost);
                length.hops_max = length.hops_max.max(hops);
            }
        }
        length
    }
}
