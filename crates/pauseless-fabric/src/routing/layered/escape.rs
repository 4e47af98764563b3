//! Escape paths: those of a tree, which are there for every pair of hosts and have no cycle.

use super::dependencies::{Dependencies, Turn};
use super::net::{NONE, Net};

/// A tree in each connected part of the fabric, which spans the switches that have hosts.
#[derive(Clone, Debug)]
pub(super) struct Escape {
    /// The channel from each switch to the one above it; `NONE` for roots.
    up: Vec<u32>,
    /// The number of hops to the root of each switch.
    depth: Vec<u32>,
    /// All switches, roots first, those above before those below.
    descending: Vec<u32>,
    /// Whether a switch has hosts, or one below it has.
    is_needed: Vec<bool>,
}

impl Escape {
    /// The breadth-first tree below `root`, and below the lowest switch of each other part.
    pub(super) fn below(net: &Net, root: u32) -> Escape {
        let count = net.switch_count();
        let mut escape = Escape {
            up: vec![NONE; count],
            depth: vec![NONE; count],
            descending: Vec::new(),
            is_needed: net.hosts.iter().map(|hosts| *hosts > 0).collect(),
        };
        for start in std::iter::once(root).chain(0..count as u32) {
            if escape.depth[start as usize] != NONE {
                continue;
            }
            escape.depth[start as usize] = 0;
            let mut at = escape.descending.len();
            escape.descending.push(start);
            while let Some(&switch) = escape.descending.get(at) {
                at += 1;
                for channel in net.leaving(switch) {
                    let below = net.to[channel as usize];
                    if escape.depth[below as usize] == NONE {
                        escape.depth[below as usize] = escape.depth[switch as usize] + 1;
                        escape.up[below as usize] = net.reverse[channel as usize];
                        escape.descending.push(below);
                    }
                }
            }
        }
        for &switch in escape.descending.iter().rev() {
            let channel = escape.up[switch as usize];
            if escape.is_needed[switch as usize] && channel != NONE {
                escape.is_needed[net.to[channel as usize] as usize] = true;
            }
        }
        escape
    }

    /// The place of each channel in an order in which packets go up first and then down.
    pub(super) fn order(&self, net: &Net) -> Vec<u32> {
        let mut places = vec![0; net.switch_count()];
        for (place, switch) in (0..).zip(&self.descending) {
            places[*switch as usize] = place;
        }
        let place = |switch: u32| (self.depth[switch as usize], places[switch as usize]);
        let mut channels = Vec::from_iter(0..net.channel_count() as u32);
        channels.sort_by_key(|channel| {
            let (from, to) = (place(net.from[*channel as usize]), place(net.to[*channel as usize]));
            let is_down = to > from;
            // The lowest first on the way up, the highest first on the way down.
            let height = if is_down { from } else { (NONE - from.0, NONE - from.1) };
            (is_down, height, *channel)
        });
        let mut order = vec![0; channels.len()];
        for (place, channel) in (0..).zip(channels) {
            order[channel as usize] = place;
        }
        order
    }

    /// All dependencies of paths in the tree.
    pub(super) fn turns(&self, net: &Net) -> Vec<Turn> {
        let mut turns = Vec::new();
        let is_of_tree = |channel: u32| {
            let (from, to) = (net.from[channel as usize], net.to[channel as usize]);
            self.is_needed[from as usize]
                && self.is_needed[to as usize]
                && (self.up[from as usize] == channel
                    || self.up[to as usize] == net.reverse[channel as usize])
        };
        for channel in (0..net.channel_count() as u32).filter(|channel| is_of_tree(*channel)) {
            let nexts = net.leaving(net.to[channel as usize]);
            let nexts = nexts.filter(|next| *next != net.reverse[channel as usize]);
            turns.extend(nexts.filter(|next| is_of_tree(*next)).map(|next| Turn { channel, next }));
        }
        turns
    }

    /// Keeps the paths of the tree possible, whatever else is added.
    pub(super) fn reserve(&self, net: &Net, dependencies: &mut Dependencies) {
        for turn in self.turns(net) {
            assert!(dependencies.add(net, turn), "a tree has no cycle");
        }
    }

    /// Ends what `reserve` began.
    pub(super) fn release(&self, net: &Net, dependencies: &mut Dependencies) {
        for turn in self.turns(net) {
            dependencies.remove(net, turn);
        }
    }

    /// The channels of the path from `from` to `target` in the tree; empty if there is none.
    pub(super) fn path(&self, net: &Net, from: u32, target: u32) -> Vec<u32> {
        let (mut a, mut b) = (from, target);
        let (mut up, mut down) = (Vec::new(), Vec::new());
        while a != b {
            if self.depth[a as usize] >= self.depth[b as usize] {
                let channel = self.up[a as usize];
                if channel == NONE {
                    return Vec::new();
                }
                up.push(channel);
                a = net.to[channel as usize];
            } else {
                let channel = self.up[b as usize];
                down.push(net.reverse[channel as usize]);
                b = net.to[channel as usize];
            }
        }
        up.extend(down.into_iter().rev());
        up
    }
}
