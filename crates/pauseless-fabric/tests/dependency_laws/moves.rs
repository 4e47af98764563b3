//! A network without time: buffers of a few packets, and packets that move one at a time in a random
//! order, by the choice of ports that its switches make. It asks the detector after every move, and
//! holds it to its word.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use pauseless_core::knot::{Waits, stuck};
use pauseless_fabric::dependency::{Buffer, Demand};
use pauseless_fabric::rng::Stream;

use crate::knots::State;

/// When switches choose a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// On arrival; a packet then waits for its one port, and others pass it.
    WhenQueued,
    /// Whenever a packet is at the head of its buffer; nobody passes it.
    AtHead,
}

/// A packet in a buffer: what it is, and the place in `ways` that it has chosen.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    packet: Demand,
    chosen: Option<usize>,
}

/// Where a packet may go from a buffer.
#[derive(Clone, Debug)]
struct Ways {
    /// The numbers of the next buffers.
    nexts: Vec<u32>,
    may_leave: bool,
}

/// Buffers with packets in them.
pub struct Moves {
    choice: Choice,
    ways: BTreeMap<(u32, Demand), Ways>,
    /// The buffers by which packets of each kind enter.
    entries: Vec<(Demand, u32)>,
    buffers: Vec<VecDeque<Waiting>>,
}

impl Moves {
    /// An empty network with these places for packets, which they enter by `entries`.
    pub fn new(states: &BTreeSet<State>, entries: &[(Demand, Buffer)], choice: Choice) -> Moves {
        let places = states.iter().map(|state| state.buffer);
        let places: BTreeSet<Buffer> = places.collect();
        let numbers: BTreeMap<Buffer, u32> = places.into_iter().zip(0..).collect();
        let ways = states.iter().map(|state| {
            let nexts = state.nexts.iter().map(|next| numbers[next]).collect();
            let ways = Ways { nexts, may_leave: state.may_leave };
            ((numbers[&state.buffer], state.packet), ways)
        });
        let entries = entries.iter().map(|(packet, buffer)| (*packet, numbers[buffer]));
        Moves {
            choice,
            ways: ways.collect(),
            entries: entries.collect(),
            buffers: vec![VecDeque::new(); numbers.len()],
        }
    }

    /// Lets packets in and moves them, then lets no more in and moves them on; returns whether some
    /// are stuck.
    pub fn run(&mut self, random: &mut Stream) -> bool {
        if self.entries.is_empty() {
            return false;
        }
        let mut stuck_before = vec![false; self.buffers.len()];
        for _ in 0..STEPS {
            if random.below(2) == 0 {
                self.enter(random);
            }
            self.step(random, &stuck_before);
            let is_stuck = self.detect();
            // Nobody who was stuck is free again.
            assert!(stuck_before.iter().zip(&is_stuck).all(|(before, now)| before <= now));
            stuck_before = is_stuck;
        }
        // Packets in a routing loop may move for ever.
        let is_over = (0..STEPS_AFTER).any(|_| !self.step(random, &stuck_before));
        let is_any_stuck = self.detect().contains(&true);
        let is_any_left = self.buffers.iter().any(|buffer| !buffer.is_empty());
        // Where nothing moves any more, what is left hangs on full buffers that are stuck.
        assert!(!is_over || is_any_stuck == is_any_left);
        is_any_stuck
    }

    fn enter(&mut self, random: &mut Stream) {
        let (packet, at) = self.entries[random.below(self.entries.len() as u64) as usize];
        if self.buffers[at as usize].len() < ROOM {
            self.put(random, packet, at);
        }
    }

    fn put(&mut self, random: &mut Stream, packet: Demand, at: u32) {
        let ways = &self.ways[&(at, packet)];
        let count = ways.nexts.len() + usize::from(ways.may_leave);
        let chosen = match self.choice {
            Choice::WhenQueued => Some(random.below(count as u64) as usize),
            Choice::AtHead => None,
        };
        self.buffers[at as usize].push_back(Waiting { packet, chosen });
    }

    /// Moves one packet that can move; returns whether there was one.
    fn step(&mut self, random: &mut Stream, stuck: &[bool]) -> bool {
        let mut able = Vec::new();
        for at in 0..self.buffers.len() {
            for place in self.places(at) {
                let nexts = self.nexts(at as u32, self.buffers[at][place]);
                able.extend(nexts.into_iter().map(|next| (at, place, next)));
            }
        }
        let has_room =
            |next: &Option<u32>| next.is_none_or(|next| self.buffers[next as usize].len() < ROOM);
        able.retain(|(_, _, next)| has_room(next));
        if able.is_empty() {
            return false;
        }
        let (at, place, next) = able[random.below(able.len() as u64) as usize];
        assert!(!stuck[at], "a packet has left a buffer that was stuck");
        let waiting = self.buffers[at].remove(place).expect("a place of a packet");
        if let Some(next) = next {
            self.put(random, waiting.packet, next);
        }
        true
    }

    /// The places in a buffer from which packets may leave.
    fn places(&self, at: usize) -> std::ops::Range<usize> {
        match self.choice {
            Choice::WhenQueued => 0..self.buffers[at].len(),
            Choice::AtHead => 0..self.buffers[at].len().min(1),
        }
    }

    /// Where a packet would go: a buffer, or out.
    fn nexts(&self, at: u32, waiting: Waiting) -> Vec<Option<u32>> {
        let ways = &self.ways[&(at, waiting.packet)];
        let all = ways.nexts.iter().map(|next| Some(*next)).chain(ways.may_leave.then_some(None));
        match waiting.chosen {
            None => all.collect(),
            Some(chosen) => all.skip(chosen).take(1).collect(),
        }
    }

    /// The buffers from which no packet leaves again.
    fn detect(&self) -> Vec<bool> {
        let awaited = Vec::from_iter((0..self.buffers.len()).map(|at| {
            let places = self.places(at);
            let nexts = places.flat_map(|place| self.nexts(at as u32, self.buffers[at][place]));
            let nexts: Option<Vec<u32>> = nexts.collect();
            // Who has room, or a packet that may go out, waits for nothing.
            nexts.filter(|_| self.buffers[at].len() == ROOM)
        }));
        let waits = awaited.iter().map(|awaited| match awaited {
            None => Waits::ForNothing,
            Some(awaited) => Waits::ForAnyOf(awaited),
        });
        stuck(&Vec::from_iter(waits))
    }
}

/// How many packets a buffer holds.
const ROOM: usize = 2;
/// How often a packet may enter.
const STEPS: usize = 150;
/// How often packets move after that, at most.
const STEPS_AFTER: usize = 600;
