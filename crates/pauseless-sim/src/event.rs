//! The event queue: a wheel of buckets that are sorted when their turn comes.
//!
//! The order of events is a fact of the simulation: time first, then the [`Kind`] in the order in
//! which it is declared, then the number of the port or flow. No two live events share all three,
//! so the order of insertion cannot matter.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pauseless_core::unit::{Span, Time};

/// The kinds of event. Simultaneous events are handled in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Kind {
    /// A control frame takes effect at a port.
    Signal,
    /// The first frame on a wire has fully arrived at a port.
    Arrive,
    /// As [`Kind::Signal`], where arrivals come first, see [`crate::config::Ties`].
    LateSignal,
    /// The last bit of a frame has left a port.
    Transmitted,
    /// A host takes a packet out of its ingress buffer.
    Consume,
    /// A port has a timeout: a gate opens, or a periodic message is due.
    Timeout,
    /// A deadlock that was found some time ago is broken.
    Recover,
    /// A flow starts to send.
    FlowStart,
    /// A flow stops although it is not finished.
    FlowStop,
    /// The probes take a sample.
    Sample,
    /// The state of all ports is recorded.
    Snapshot,
    /// It is checked whether the state is steady.
    Look,
    /// No link is held any more, so that the run may be over.
    Calm,
}

impl Kind {
    /// The kind with this number; the numbers are those of the declaration, so that no table is read.
    #[inline]
    fn from_number(number: u32) -> Kind {
        match number {
            0 => Kind::Signal,
            1 => Kind::Arrive,
            2 => Kind::LateSignal,
            3 => Kind::Transmitted,
            4 => Kind::Consume,
            5 => Kind::Timeout,
            6 => Kind::Recover,
            7 => Kind::FlowStart,
            8 => Kind::FlowStop,
            9 => Kind::Sample,
            10 => Kind::Snapshot,
            11 => Kind::Look,
            _ => Kind::Calm,
        }
    }
}

/// The number of bits for the port or flow of an event.
const INDEX_BITS: u32 = 28;

/// An event: its instant, its kind, and its port or flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Event {
    time: u64,
    /// The kind above the number, in 32 bits, so that four pending events share a cache line.
    key: u32,
}

impl Event {
    /// The upper limit of the number of ports, and of flows.
    pub(crate) const INDEX_MAX: usize = 1 << INDEX_BITS;

    #[inline]
    pub(crate) fn new(time: Time, kind: Kind, index: u32) -> Event {
        debug_assert!(index < 1 << INDEX_BITS);
        Event { time: time.as_ps(), key: (kind as u32) << INDEX_BITS | index }
    }

    /// An event before all others at `time`, and after all that are earlier.
    pub(crate) fn first_at(time: Time) -> Event {
        Event::new(time, Kind::Signal, 0)
    }

    /// The event as two words, for atomics.
    pub(crate) fn words(self) -> (u64, u64) {
        (self.time, u64::from(self.key))
    }

    pub(crate) fn from_words(time: u64, key: u64) -> Event {
        Event { time, key: key as u32 }
    }

    /// The order of events as one number, which is compared without branches.
    #[inline]
    fn order(self) -> u128 {
        u128::from(self.time) << 32 | u128::from(self.key)
    }

    pub(crate) fn time(self) -> Time {
        Time::from_ps(self.time)
    }

    pub(crate) fn kind(self) -> Kind {
        Kind::from_number(self.key >> INDEX_BITS)
    }

    pub(crate) fn index(self) -> usize {
        (self.key & ((1 << INDEX_BITS) - 1)) as usize
    }
}

const BUCKETS: usize = 8_192;
const WORDS: usize = BUCKETS / 64;

const NIL: u32 = u32::MAX;

/// An event in the list of its bucket.
#[derive(Clone, Copy, Debug)]
struct Node {
    time: u64,
    key: u32,
    next: u32,
}

impl Node {
    #[inline]
    fn event(&self) -> Event {
        let Node { time, key, .. } = *self;
        Event { time, key }
    }
}

/// All pending events. Pushing into the past is a bug and panics.
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// A bucket is `2^shift` picoseconds wide.
    shift: u32,
    /// The bucket that is being served, counted from time zero.
    cursor: u64,
    /// The rest of that bucket, latest first.
    current: Vec<Event>,
    /// The first node of every bucket's list, in no order: a bucket is sorted when its turn comes.
    heads: Box<[u32; BUCKETS]>,
    /// All lists in one pool, so that the node freed last, which is in the cache, is used next.
    nodes: Vec<Node>,
    free: u32,
    occupied: [u64; WORDS],
    near: usize,
    /// What lies beyond the wheel.
    far: BinaryHeap<Reverse<Event>>,
    /// The bucket of the first of those, so that the heap is left alone until its turn comes.
    far_bucket: u64,
    now: u64,
}

impl EventQueue {
    /// A queue for about `pending` events that lie within `horizon` of each other.
    pub(crate) fn new(horizon: Span, pending: usize) -> EventQueue {
        // About one event per bucket, but the wheel must reach well beyond the horizon.
        let ideal = horizon.as_ps() / pending.max(1) as u64;
        let least = 4 * horizon.as_ps() / BUCKETS as u64;
        EventQueue {
            shift: ideal.max(least).clamp(64, 1 << 24).ilog2(),
            cursor: 0,
            current: Vec::new(),
            heads: Box::new([NIL; BUCKETS]),
            nodes: Vec::new(),
            free: NIL,
            occupied: [0; WORDS],
            near: 0,
            far: BinaryHeap::new(),
            far_bucket: u64::MAX,
            now: 0,
        }
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.current.len() + self.near + self.far.len()
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, event: Event) {
        assert!(self.now <= event.time, "an event in the past");
        let bucket = event.time >> self.shift;
        // Zero or less is the current bucket: one comparison finds what is on the wheel.
        if bucket.wrapping_sub(self.cursor + 1) < BUCKETS as u64 - 1 {
            self.file(bucket, event);
        } else {
            self.push_aside(bucket, event);
        }
    }

    /// Keeps an event that is not for the wheel: it is due in the current bucket, or far away. Whoever
    /// has many for the current bucket pushes the latest first, which moves no other.
    #[inline(never)]
    fn push_aside(&mut self, bucket: u64, event: Event) {
        if bucket <= self.cursor {
            let at = self.current.partition_point(|other| *other > event);
            self.current.insert(at, event);
        } else {
            self.far.push(Reverse(event));
            self.far_bucket = self.far_bucket.min(bucket);
        }
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Event> {
        if self.current.is_empty() && !self.advance() {
            return None;
        }
        let event = self.current.pop()?;
        self.now = event.time;
        Some(event)
    }

    /// The first event if it comes before `limit`. What may still be pushed lies behind the limit of
    /// a part of a run, so the wheel does not turn beyond it either.
    #[inline]
    pub(crate) fn pop_before(&mut self, limit: Event) -> Option<Event> {
        if self.current.is_empty() {
            let bound = limit.time >> self.shift;
            if self.next_bucket().is_none_or(|bucket| bucket > bound) || !self.advance() {
                return None;
            }
        }
        if *self.current.last()? >= limit {
            return None;
        }
        let event = self.current.pop()?;
        self.now = event.time;
        Some(event)
    }

    /// The first event, which stays where it is.
    pub(crate) fn peek(&self) -> Option<Event> {
        if let Some(event) = self.current.last() {
            return Some(*event);
        }
        let far = self.far.peek().map(|Reverse(event)| *event);
        if self.near == 0 {
            return far;
        }
        let mut first = far;
        let mut at = self.heads[self.next_occupied()];
        while at != NIL {
            let node = &self.nodes[at as usize];
            first = Some(first.map_or(node.event(), |first| first.min(node.event())));
            at = node.next;
        }
        first
    }

    /// The first event, if it may be due in this very instant; later ones are mostly left out.
    #[inline]
    pub(crate) fn peek_now(&self) -> Option<Event> {
        // All events of an instant are in one bucket.
        self.current.last().copied()
    }

    /// The bucket of the first event, given that nothing is left in the current one.
    fn next_bucket(&self) -> Option<u64> {
        let far = (self.far_bucket < u64::MAX).then_some(self.far_bucket);
        if self.near == 0 {
            return far;
        }
        let ahead = self.next_occupied() + BUCKETS - self.cursor as usize % BUCKETS;
        let near = self.cursor + (ahead % BUCKETS) as u64;
        Some(far.map_or(near, |far| far.min(near)))
    }

    #[inline(always)]
    fn file(&mut self, bucket: u64, event: Event) {
        let index = bucket as usize % BUCKETS;
        let Event { time, key } = event;
        let next = self.heads[index];
        let node = Node { time, key, next };
        if let Some(slot) = self.nodes.get_mut(self.free as usize) {
            self.heads[index] = self.free;
            self.free = slot.next;
            *slot = node;
        } else {
            self.heads[index] = self.nodes.len() as u32;
            self.grow(node);
        }
        self.occupied[index / 64] |= 1 << (index % 64);
        self.near += 1;
    }

    #[cold]
    fn grow(&mut self, node: Node) {
        self.nodes.push(node);
    }

    /// Makes the next bucket that holds something the current one.
    fn advance(&mut self) -> bool {
        self.fetch_far();
        if self.near == 0 {
            let Some(Reverse(first)) = self.far.peek() else {
                return false;
            };
            // Everything pending is far away: move the wheel there.
            self.cursor = (first.time >> self.shift) - 1;
            self.fetch_far();
        }
        let index = self.next_occupied();
        let ahead = (index + BUCKETS - self.cursor as usize % BUCKETS) % BUCKETS;
        self.cursor += ahead as u64;
        let mut at = std::mem::replace(&mut self.heads[index], NIL);
        while at != NIL {
            let node = &mut self.nodes[at as usize];
            self.current.push(node.event());
            let next = std::mem::replace(&mut node.next, self.free);
            self.free = std::mem::replace(&mut at, next);
        }
        self.occupied[index / 64] &= !(1 << (index % 64));
        self.near -= self.current.len();
        if self.current.len() > 1 {
            self.current.sort_unstable_by_key(|event| Reverse(event.order()));
        }
        true
    }

    /// Moves what the wheel has come to cover from the heap into the wheel.
    #[inline]
    fn fetch_far(&mut self) {
        while self.far_bucket - self.cursor < BUCKETS as u64 {
            self.fetch_first();
        }
    }

    /// Moves the first event of the heap into the wheel.
    #[inline(never)]
    fn fetch_first(&mut self) {
        let Reverse(event) = self.far.pop().expect("the heap has an event for the wheel");
        self.file(event.time >> self.shift, event);
        let next = self.far.peek();
        self.far_bucket = next.map_or(u64::MAX, |Reverse(event)| event.time >> self.shift);
    }

    /// The first occupied bucket after the cursor, around the wheel.
    fn next_occupied(&self) -> usize {
        let start = (self.cursor as usize + 1) % BUCKETS;
        let (word, bit) = (start / 64, start % 64);
        let masked = self.occupied[word] & (u64::MAX << bit);
        if masked != 0 {
            return word * 64 + masked.trailing_zeros() as usize;
        }
        let mut at = (word + 1) % WORDS;
        while self.occupied[at] == 0 {
            at = (at + 1) % WORDS;
        }
        at * 64 + self.occupied[at].trailing_zeros() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a sorted list: any mix of pushes and pops, near and far, comes out in order.
        #[test]
        fn pops_in_total_order(
            operations in prop::collection::vec((0u64..1 << 40, 0u32..50, any::<bool>()), 1..400),
            horizon in 1u64..1 << 30,
        ) {
            let mut queue = EventQueue::new(Span::ps(horizon), 20);
            let mut model: Vec<Event> = Vec::new();
            let mut now = 0;
            for (ahead, index, pop) in operations {
                let near = ahead >> (index % 41);
                let kind = Kind::from_number(index % 13);
                let event = Event::new(Time::from_ps(now + near), kind, index);
                queue.push(event);
                model.push(event);
                if pop {
                    model.sort_by(|a, b| b.cmp(a));
                    let expected = model.pop().unwrap();
                    prop_assert_eq!(queue.pop(), Some(expected));
                    now = expected.time;
                }
                prop_assert_eq!(queue.len(), model.len());
            }
            model.sort();
            for expected in model {
                prop_assert_eq!(queue.pop(), Some(expected));
            }
            prop_assert_eq!(queue.pop(), None);
        }
    }

    #[test]
    fn simultaneous_events_follow_kind_and_index() {
        let mut queue = EventQueue::new(Span::us(1), 10);
        let time = Time::from_ps(500);
        let order = [(Kind::Signal, 9), (Kind::Arrive, 3), (Kind::Arrive, 4), (Kind::Look, 0)];
        for (kind, index) in order.into_iter().rev() {
            queue.push(Event::new(time, kind, index));
        }
        for (kind, index) in order {
            let event = queue.pop().unwrap();
            assert_eq!((event.kind(), event.index()), (kind, index as usize));
        }
    }
}
