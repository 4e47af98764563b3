//! The dependencies between the channels of one layer, which never have a cycle.
//!
//! They are kept in a topological order that changes as dependencies are added. A dependency along
//! the order costs nothing; one against it reorders the channels in between, or is refused if they
//! already lead back (Pearce and Kelly 2006).

use super::net::Net;

/// The dependencies of one layer.
#[derive(Clone, Debug)]
pub(super) struct Dependencies {
    /// Whether cycles are allowed.
    is_free: bool,
    /// The place in the topological order of each channel.
    order: Vec<u32>,
    /// The index in `counts` of the dependencies of each channel: one for every channel that leaves
    /// the switch it leads to.
    starts: Vec<u32>,
    /// How many paths have each dependency.
    counts: Vec<u32>,
    /// The dependencies that were refused since the last `forgive`.
    refused: Vec<bool>,
    /// The channels that some path goes on to from each channel, in no order.
    after: Vec<Vec<u32>>,
    /// The channels from which some path goes on to each channel.
    before: Vec<Vec<u32>>,
    search: Search,
    /// The channels looked at in searches for cycles so far.
    pub steps: u64,
}

/// Working memory of the search for cycles.
#[derive(Clone, Debug, Default)]
struct Search {
    seen: Vec<bool>,
    stack: Vec<u32>,
    /// The channels that can be reached from the later end, and those that reach the earlier one.
    ahead: Vec<u32>,
    behind: Vec<u32>,
    places: Vec<u32>,
}

/// A dependency: a channel, and the index of the dependency on the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub channel: u32,
    pub next: u32,
}

impl Dependencies {
    /// No dependencies. `order` is the place of each channel in the first topological order.
    pub(super) fn new(net: &Net, order: Vec<u32>) -> Dependencies {
        let mut starts = vec![0];
        for channel in 0..net.channel_count() {
            let count = net.leaving(net.to[channel]).len() as u32;
            starts.push(starts[channel] + count);
        }
        let total = starts[net.channel_count()] as usize;
        Dependencies {
            is_free: false,
            order,
            starts,
            counts: vec![0; total],
            refused: vec![false; total],
            after: vec![Vec::new(); net.channel_count()],
            before: vec![Vec::new(); net.channel_count()],
            search: Search { seen: vec![false; net.channel_count()], ..Search::default() },
            steps: 0,
        }
    }

    /// No dependencies, and no care about cycles.
    pub(super) fn with_cycles(net: &Net) -> Dependencies {
        let order = (0..net.channel_count() as u32).collect();
        Dependencies { is_free: true, ..Dependencies::new(net, order) }
    }

    #[inline]
    fn index(&self, net: &Net, turn: Turn) -> usize {
        (self.starts[turn.channel as usize] + net.place(turn.next)) as usize
    }

    /// Adds a path with this dependency, unless that would close a cycle.
    pub(super) fn add(&mut self, net: &Net, turn: Turn) -> bool {
        let index = self.index(net, turn);
        if self.counts[index] > 0 {
            self.counts[index] += 1;
            return true;
        }
        if self.refused[index] {
            return false;
        }
        let Turn { channel, next } = turn;
        let is_behind = self.order[channel as usize] > self.order[next as usize];
        if is_behind && !self.is_free && !self.reorder(channel, next) {
            self.refused[index] = true;
            return false;
        }
        self.counts[index] = 1;
        self.after[channel as usize].push(next);
        self.before[next as usize].push(channel);
        true
    }

    /// Removes a path with this dependency.
    pub(super) fn remove(&mut self, net: &Net, turn: Turn) {
        let index = self.index(net, turn);
        assert!(self.counts[index] > 0, "a path is removed once");
        self.counts[index] -= 1;
        if self.counts[index] == 0 {
            take(&mut self.after[turn.channel as usize], turn.next);
            take(&mut self.before[turn.next as usize], turn.channel);
        }
    }

    /// Lets dependencies be tried again that were refused: others may be gone by now.
    pub(super) fn forgive(&mut self) {
        self.refused.fill(false);
    }

    /// Adds a path with a dependency that cannot close a cycle, even if it was refused before.
    pub(super) fn add_again(&mut self, net: &Net, turn: Turn) {
        let index = self.index(net, turn);
        self.refused[index] = false;
        assert!(self.add(net, turn), "what was possible is possible again");
    }

    /// Changes the order so that `channel` comes before `next`, which it does not now. Fails if
    /// `next` leads to `channel`.
    fn reorder(&mut self, channel: u32, next: u32) -> bool {
        let (low, high) = (self.order[next as usize], self.order[channel as usize]);
        let Dependencies { order, after, before, search, steps, .. } = self;
        let reaches = search.collect_ahead(next, channel, after, |c| order[c as usize] <= high);
        *steps += search.ahead.len() as u64;
        if reaches {
            search.clear();
            return false;
        }
        search.collect_behind(channel, before, |c| order[c as usize] >= low);
        *steps += search.behind.len() as u64;
        search.ahead.sort_unstable_by_key(|c| order[*c as usize]);
        search.behind.sort_unstable_by_key(|c| order[*c as usize]);
        let moved = || search.behind.iter().chain(&search.ahead);
        let mut places = std::mem::take(&mut search.places);
        places.extend(moved().map(|c| order[*c as usize]));
        places.sort_unstable();
        for (&channel, &place) in moved().zip(&places) {
            order[channel as usize] = place;
        }
        places.clear();
        search.places = places;
        search.clear();
        true
    }
}

impl Search {
    /// Collects what can be reached from `start` among channels that `is_near`; stops and returns
    /// true if `goal` is.
    fn collect_ahead(
        &mut self,
        start: u32,
        goal: u32,
        after: &[Vec<u32>],
        is_near: impl Fn(u32) -> bool,
    ) -> bool {
        self.stack.push(start);
        self.seen[start as usize] = true;
        self.ahead.push(start);
        while let Some(channel) = self.stack.pop() {
            for &next in &after[channel as usize] {
                if next == goal {
                    return true;
                }
                if !self.seen[next as usize] && is_near(next) {
                    self.seen[next as usize] = true;
                    self.ahead.push(next);
                    self.stack.push(next);
                }
            }
        }
        false
    }

    /// Collects what reaches `end` among channels that `is_near`.
    fn collect_behind(&mut self, end: u32, before: &[Vec<u32>], is_near: impl Fn(u32) -> bool) {
        self.stack.push(end);
        self.seen[end as usize] = true;
        self.behind.push(end);
        while let Some(channel) = self.stack.pop() {
            for &previous in &before[channel as usize] {
                if !self.seen[previous as usize] && is_near(previous) {
                    self.seen[previous as usize] = true;
                    self.behind.push(previous);
                    self.stack.push(previous);
                }
            }
        }
    }

    fn clear(&mut self) {
        self.stack.clear();
        for channel in self.ahead.drain(..).chain(self.behind.drain(..)) {
            self.seen[channel as usize] = false;
        }
    }
}

fn take(list: &mut Vec<u32>, value: u32) {
    let at = list.iter().position(|listed| *listed == value);
    list.swap_remove(at.expect("both ends know of a dependency"));
}
