//! Scheduling: which class an egress serves next, and which ingress within a class.

use alloc::boxed::Box;

use crate::congestion::dither::Dither;
use crate::id::{Class, PortId};
use crate::unit::Bytes;

/// How an egress chooses between classes whose gates are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// The highest class goes first.
    Strict,
    /// Each class gets bytes in proportion to its weight (deficit round robin).
    Weighted([u16; Class::COUNT_MAX]),
    /// Each class with the same probability; where an egress serves several ingresses, these are
    /// drawn at random too.
    Random,
    /// One frame of each class in turn.
    RoundRobin {
        /// Classes that go before all others, the highest first, a bit each.
        express: u8,
    },
}

/// The scheduler with its counters, for all ports of a node.
#[derive(Clone, Debug)]
pub struct ClassScheduler {
    scheduler: Scheduler,
    class_count: usize,
    /// Bytes that a class may still send in its turn, per (port, class); only when weighted.
    deficit: Box<[u64]>,
    /// The class whose turn it is when weighted, or that was served last in a round robin, per
    /// port.
    turn: Box<[u8]>,
    /// The random sequence of each port; only when random.
    dice: Box<[Dither]>,
}

/// Bytes per unit of weight and round: one frame, so that a round serves every class.
const QUANTUM: u64 = 1_500;

impl ClassScheduler {
    /// A scheduler for this many ports and classes that has served none of them.
    pub fn new(
        scheduler: Scheduler,
        port_count: usize,
        class_count: usize,
        seed: u64,
    ) -> ClassScheduler {
        let (weighted, turns, random) = match scheduler {
            Scheduler::Strict => (0, 0, 0),
            Scheduler::Weighted(_) => (port_count, port_count, 0),
            Scheduler::Random => (0, 0, port_count),
            Scheduler::RoundRobin { .. } => (0, port_count, 0),
        };
        ClassScheduler {
            scheduler,
            class_count,
            deficit: alloc::vec![0; weighted * class_count].into(),
            turn: alloc::vec![0; turns].into(),
            dice: dice(random, seed),
        }
    }

    /// Whether the highest class always goes first.
    #[inline]
    pub(crate) fn is_strict(&self) -> bool {
        matches!(self.scheduler, Scheduler::Strict)
    }

    /// The class that sends next at `port`, out of those with a bit in `open`; `heads` has the
    /// lengths of their next frames.
    pub fn choose(&mut self, port: PortId, open: u8, heads: &[Bytes; 8]) -> Option<Class> {
        if open == 0 {
            return None;
        }
        let weights = match self.scheduler {
            Scheduler::Strict => return Some(Class(7 - open.leading_zeros() as u8)),
            Scheduler::Random => return Some(self.draw(port, open)),
            Scheduler::RoundRobin { express } => return Some(self.in_turn(port, open, express)),
            Scheduler::Weighted(weights) => weights,
        };
        if open.is_power_of_two() {
            return Some(Class(open.trailing_zeros() as u8));
        }
        let base = port.index() * self.class_count;
        loop {
            let class = usize::from(self.turn[port.index()]);
            if open & (1 << class) != 0 && self.deficit[base + class] >= heads[class].get() {
                return Some(Class(class as u8));
            }
            if open & (1 << class) == 0 {
                // A class that has nothing to send does not accumulate a deficit.
                self.deficit[base + class] = 0;
            }
            let next = (class + 1) % self.class_count;
            self.turn[port.index()] = next as u8;
            if open & (1 << next) != 0 {
                self.deficit[base + next] += u64::from(weights[next].max(1)) * QUANTUM;
            }
        }
    }

    /// The next class after the last one that was served.
    fn in_turn(&mut self, port: PortId, open: u8, express: u8) -> Class {
        if open & express != 0 {
            return Class(7 - (open & express).leading_zeros() as u8);
        }
        let last = self.turn[port.index()];
        let above = match last {
            7.. => 0,
            _ => open & (u8::MAX << (last + 1)),
        };
        let class = match above {
            0 => open.trailing_zeros(),
            _ => above.trailing_zeros(),
        };
        self.turn[port.index()] = class as u8;
        Class(class as u8)
    }

    /// A random one of the classes with a bit in `open`.
    fn draw(&mut self, port: PortId, open: u8) -> Class {
        let die = &mut self.dice[port.index()];
        let mut rest = open;
        for _ in 0..die.choice(open.count_ones()) {
            rest &= rest - 1;
        }
        die.advance();
        Class(rest.trailing_zeros() as u8)
    }

    /// Accounts for a frame of `class` that starts at `port`.
    #[inline]
    pub fn on_transmit(&mut self, port: PortId, class: Class, size: Bytes) {
        if let Scheduler::Weighted(_) = self.scheduler {
            let deficit = &mut self.deficit[port.index() * self.class_count + class.index()];
            *deficit = deficit.saturating_sub(size.get());
        }
    }
}

/// `count` random sequences that are independent of each other.
fn dice(count: usize, seed: u64) -> Box<[Dither]> {
    let mut seeds = Dither::new(seed);
    let mut next = || {
        // A seed is a position in one cycle of 2^64 numbers, so seeds are drawn far apart.
        let bits = seeds.share().to_bits();
        bits ^ seeds.share().to_bits() << 12
    };
    (0..count).map(|_| Dither::new(next())).collect()
}

/// Sets of ingress ports, one per queue, each served round robin or at random.
#[derive(Clone, Debug)]
pub struct Rotation {
    words_per_set: usize,
    words: Box<[u64]>,
    /// The ingress that was served last, per set.
    last: Box<[u16]>,
    /// The ingress whose turn it stays until it is served, per set; `u16::MAX` for none.
    pinned: Box<[u16]>,
    /// The random sequence of each set; only when the turn is random.
    dice: Box<[Dither]>,
}

impl Rotation {
    /// `set_count` empty sets of ports below `port_count`.
    pub fn new(set_count: usize, port_count: usize) -> Rotation {
        let words_per_set = port_count.div_ceil(64).max(1);
        Rotation {
            words_per_set,
            words: alloc::vec![0; set_count * words_per_set].into(),
            last: alloc::vec![u16::MAX; set_count].into(),
            pinned: alloc::vec![u16::MAX; set_count].into(),
            dice: Box::default(),
        }
    }

    /// `set_count` empty sets whose members are served at random.
    pub fn random(set_count: usize, port_count: usize, seed: u64) -> Rotation {
        Rotation { dice: dice(set_count, !seed), ..Rotation::new(set_count, port_count) }
    }

    /// Adds `port` to `set`.
    pub fn insert(&mut self, set: usize, port: PortId) {
        self.words[set * self.words_per_set + port.index() / 64] |= 1 << (port.index() % 64);
    }

    /// Removes `port` from `set`.
    pub fn remove(&mut self, set: usize, port: PortId) {
        self.words[set * self.words_per_set + port.index() / 64] &= !(1 << (port.index() % 64));
    }

    /// Keeps the turn at the present member until it is served, whoever joins in between.
    pub fn pin(&mut self, set: usize) {
        self.pinned[set] = self.peek(set).map_or(u16::MAX, |port| port.0);
    }

    /// Keeps the turn at `port` until it is served.
    pub fn pin_to(&mut self, set: usize, port: PortId) {
        self.pinned[set] = port.0;
    }

    /// Lets the turn go on; returns the member that it was kept at, if it was.
    pub fn unpin(&mut self, set: usize) -> Option<PortId> {
        let pinned = core::mem::replace(&mut self.pinned[set], u16::MAX);
        (pinned != u16::MAX).then_some(PortId(pinned))
    }

    /// The member of `set` whose turn it is.
    #[inline]
    pub fn peek(&self, set: usize) -> Option<PortId> {
        if self.pinned[set] != u16::MAX {
            return Some(PortId(self.pinned[set]));
        }
        if self.words_per_set > 1 || !self.dice.is_empty() {
            return self.peek_far(set);
        }
        let (bits, start) = (self.words[set], self.last[set].wrapping_add(1));
        let above = bits & u64::MAX.checked_shl(u32::from(start)).unwrap_or(0);
        let rest = if above != 0 { above } else { bits };
        (rest != 0).then(|| PortId(rest.trailing_zeros() as u16))
    }

    /// As [`Rotation::peek`], in sets of more than 64 ports or at random.
    #[inline(never)]
    fn peek_far(&self, set: usize) -> Option<PortId> {
        let words = &self.words[set * self.words_per_set..][..self.words_per_set];
        if let Some(die) = self.dice.get(set) {
            return draw(words, die);
        }
        let start = self.last[set].wrapping_add(1) as usize;
        let (word, bit) = (start / 64, start % 64);
        let first_at = |index: usize, mask: u64| {
            let bits = words[index] & mask;
            (bits != 0).then(|| PortId((index * 64) as u16 + bits.trailing_zeros() as u16))
        };
        if word < words.len() {
            let rest = first_at(word, u64::MAX << bit)
                .or_else(|| (word + 1..words.len()).find_map(|at| first_at(at, u64::MAX)));
            if rest.is_some() {
                return rest;
            }
        }
        (0..words.len()).find_map(|at| first_at(at, u64::MAX))
    }

    /// Serves the member of `set` whose turn it is, and moves the turn on.
    pub fn next(&mut self, set: usize) -> Option<PortId> {
        let port = self.peek(set)?;
        self.last[set] = port.0;
        self.pinned[set] = u16::MAX;
        if let Some(die) = self.dice.get_mut(set) {
            die.advance();
        }
        Some(port)
    }
}

/// The member that a random number selects.
fn draw(words: &[u64], die: &Dither) -> Option<PortId> {
    let count = words.iter().map(|word| word.count_ones()).sum();
    let mut skipped = die.choice(count);
    for (index, word) in words.iter().enumerate() {
        let mut rest = *word;
        if skipped >= rest.count_ones() {
            skipped -= rest.count_ones();
            continue;
        }
        for _ in 0..skipped {
            rest &= rest - 1;
        }
        return Some(PortId((index * 64) as u16 + rest.trailing_zeros() as u16));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const FRAME: [Bytes; 8] = [Bytes::new(1_000); 8];

    #[test]
    fn strict_serves_the_highest_open_class() {
        let mut scheduler = ClassScheduler::new(Scheduler::Strict, 1, 8, 0);
        assert_eq!(scheduler.choose(PortId(0), 0b0000_1011, &FRAME), Some(Class(3)));
        assert_eq!(scheduler.choose(PortId(0), 0b1000_0000, &FRAME), Some(Class(7)));
        assert_eq!(scheduler.choose(PortId(0), 0, &FRAME), None);
    }

    #[test]
    fn weighted_shares_bytes_by_weight_whatever_the_frame_sizes() {
        let weights = [1, 2, 5, 0, 0, 0, 0, 0];
        let mut scheduler = ClassScheduler::new(Scheduler::Weighted(weights), 2, 3, 0);
        let mut heads = FRAME;
        heads[0] = Bytes::new(9_000);
        heads[1] = Bytes::new(64);
        let mut sent = [0u64; 3];
        for _ in 0..200_000 {
            let class = scheduler.choose(PortId(1), 0b111, &heads).unwrap();
            scheduler.on_transmit(PortId(1), class, heads[class.index()]);
            sent[class.index()] += heads[class.index()].get();
        }
        let total = sent.iter().sum::<u64>() as f64;
        for (class, share) in [(0, 0.125), (1, 0.25), (2, 0.625)] {
            assert!((sent[class] as f64 / total - share).abs() < 0.01, "{sent:?}");
        }
    }

    #[test]
    fn a_class_that_is_closed_gets_no_turn_and_saves_none_up() {
        let weights = [1, 1, 0, 0, 0, 0, 0, 0];
        let mut scheduler = ClassScheduler::new(Scheduler::Weighted(weights), 1, 2, 0);
        for _ in 0..1_000 {
            let class = scheduler.choose(PortId(0), 0b01, &FRAME).unwrap();
            assert_eq!(class, Class(0));
            scheduler.on_transmit(PortId(0), class, FRAME[0]);
        }
        let mut run = 0;
        while scheduler.choose(PortId(0), 0b11, &FRAME) == Some(Class(1)) {
            scheduler.on_transmit(PortId(0), Class(1), FRAME[0]);
            run += 1;
        }
        assert!(run <= 2, "{run} frames in a row");
    }

    #[test]
    fn random_serves_every_open_class_and_every_member_alike() {
        let mut scheduler = ClassScheduler::new(Scheduler::Random, 2, 8, 5);
        let mut rotation = Rotation::random(2, 130, 5);
        let members = [0, 63, 64, 129].map(PortId);
        assert_eq!(rotation.peek(1), None);
        for member in members {
            rotation.insert(1, member);
        }
        let (mut classes, mut served) = ([0; 8], [0; 130]);
        for _ in 0..8_000 {
            let class = scheduler.choose(PortId(1), 0b1001_0110, &FRAME).unwrap();
            classes[class.index()] += 1;
            let next = rotation.peek(1);
            assert_eq!(rotation.next(1), next);
            served[next.unwrap().index()] += 1;
        }
        // 2000 expected of each, standard deviation 39.
        let is_fair = |count: &i32| (1_840..=2_160).contains(count);
        assert!([1, 2, 4, 7].iter().all(|class| is_fair(&classes[*class])));
        assert!(members.iter().all(|member| is_fair(&served[member.index()])));
        assert_eq!(classes.iter().sum::<i32>(), 8_000);
        rotation.pin(1);
        let pinned = rotation.peek(1);
        rotation.insert(1, PortId(7));
        assert_eq!(rotation.next(1), pinned, "the turn was pinned");
    }

    #[test]
    fn rotation_visits_every_member_in_turn_over_word_borders() {
        let mut rotation = Rotation::new(2, 130);
        let members = [0, 1, 63, 64, 65, 127, 128, 129].map(PortId);
        for member in members {
            rotation.insert(1, member);
        }
        assert_eq!(rotation.peek(0), None);
        for _ in 0..3 {
            let seen: Vec<PortId> = (0..8).map(|_| rotation.next(1).unwrap()).collect();
            assert_eq!(seen, members);
        }
        rotation.remove(1, PortId(0));
        assert_eq!(rotation.next(1), Some(PortId(1)));
        assert_eq!(rotation.peek(1), Some(PortId(63)));
        rotation.pin(1);
        rotation.insert(1, PortId(2));
        assert_eq!(rotation.next(1), Some(PortId(63)), "the turn was pinned");
        assert_eq!(rotation.next(1), Some(PortId(64)));
    }
}
