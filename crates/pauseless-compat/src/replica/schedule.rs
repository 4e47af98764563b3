//! The events to come, in the order of time, and of insertion at equal times.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::slots::{NONE, Slots};

/// Something that is to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A frame arrives at a port with its last bit.
    Arrive(u32),
    /// A port has sent its frame.
    Free(u32),
    /// A flow of a host's port may send by now.
    Wake(u32),
    /// A timer of a flow expires.
    Timer(Timer, u32),
    /// The next rows of the flow file are read.
    Rows,
    /// A flow was read and is about to start.
    Prepare(u32),
    /// A flow starts to send.
    Start(u32),
    /// All queues are looked at.
    Sample,
    /// The run ends at this instant.
    Stop,
}

/// The timers that a flow has under DCQCN. All timers of a kind last equally long, except for the
/// first look of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// The estimate alpha is updated.
    Alpha,
    /// The rate is cut if a mark has come back since the last look.
    Look,
    /// The rate of the flow rises.
    Raise,
}

/// When an event is due, and its number in the order of insertion, which decides between equal
/// times.
pub type Due = (u64, u64);

const NEVER: Due = (u64::MAX, u64::MAX);

/// Events that are due within so many nanoseconds have a list for each nanosecond.
const WINDOW: usize = 1 << 14;
const WORDS: usize = WINDOW / 64;
const GROUPS: usize = WORDS / 64;

/// The events of one nanosecond, in the order of insertion.
#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

/// Events to come.
///
/// Nearly all are due within [`WINDOW`]: they go to the end of a list, where insertion has them in
/// order without a comparison. Timers that last equally long expire in the order in which they were
/// set, so each kind has one queue. A heap has the rest.
#[derive(Debug)]
pub struct Schedule {
    /// When the current event was due.
    current: Due,
    /// The number of the event that is inserted next.
    inserted: u64,
    /// By time modulo [`WINDOW`].
    lists: Vec<List>,
    /// A bit for each list that is not empty.
    words: [u64; WORDS],
    /// A bit for each of `words` that is not 0.
    groups: [u64; GROUPS],
    timers: [VecDeque<(Due, u32)>; 3],
    /// Slots of events that are due later.
    far: BinaryHeap<Reverse<(Due, u32)>>,
    /// The first of `timers` and `far`.
    outside: Due,
}

impl Schedule {
    /// Nothing is to come, and no time has passed.
    pub fn new() -> Schedule {
        Schedule {
            current: (0, 0),
            inserted: 1,
            lists: vec![List { first: NONE, last: NONE }; WINDOW],
            words: [0; WORDS],
            groups: [0; GROUPS],
            timers: Default::default(),
            far: BinaryHeap::new(),
            outside: NEVER,
        }
    }

    /// The time of the current event, in nanoseconds.
    pub fn now(&self) -> u64 {
        self.current.0
    }

    /// When the current event was due.
    pub fn current(&self) -> Due {
        self.current
    }

    /// Inserts an event that is due so many nanoseconds from now; when it is due.
    pub fn insert(&mut self, slots: &mut Slots, delay: u64, event: Event) -> Due {
        let place = slots.add();
        self.insert_at(slots, place, delay, event)
    }

    /// Inserts an event in a slot that is in no list.
    pub fn insert_at(&mut self, slots: &mut Slots, place: u32, delay: u64, event: Event) -> Due {
        let due = self.due(delay);
        slots[place].event = event;
        slots[place].number = due.1;
        if delay < WINDOW as u64 {
            self.append(slots, due.0, place);
        } else {
            self.far.push(Reverse((due, place)));
            self.outside = self.outside.min(due);
        }
        due
    }

    /// Inserts an event that has had its time and number for long, from [`Schedule::due`].
    pub fn insert_late(&mut self, slots: &mut Slots, place: u32, due: Due, event: Event) {
        slots[place].event = event;
        self.far.push(Reverse((due, place)));
        self.outside = self.outside.min(due);
    }

    /// Sets a timer of a flow; its number.
    pub fn set(&mut self, slots: &mut Slots, timer: Timer, delay: u64, flow: u32) -> u64 {
        let queue = &mut self.timers[timer as usize];
        if queue.back().is_some_and(|last| last.0.0 > self.current.0.saturating_add(delay)) {
            return self.insert(slots, delay, Event::Timer(timer, flow)).1;
        }
        let due = self.due(delay);
        self.timers[timer as usize].push_back((due, flow));
        self.outside = self.outside.min(due);
        due.1
    }

    /// The first event, which becomes the current one, and its slot.
    pub fn pop(&mut self, slots: &mut Slots) -> Option<(Event, u32)> {
        if let Some(list) = self.first_list() {
            let place = self.lists[list].first;
            let slot = &slots[place];
            let due = (self.time_of(list), slot.number);
            if due < self.outside {
                self.current = due;
                self.remove_first(list, slot.next);
                return Some((slot.event, place));
            }
        }
        self.pop_outside(slots)
    }

    /// Nothing is to come any more.
    pub fn clear(&mut self) {
        let current = self.current;
        *self = Schedule { current, ..Schedule::new() };
    }

    /// The time of the first event.
    pub fn next_time(&self) -> Option<u64> {
        let near = self.first_list().map_or(u64::MAX, |index| self.time_of(index));
        let time = near.min(self.outside.0);
        (time < u64::MAX).then_some(time)
    }

    /// When an event is due that would be inserted now; it may be inserted later.
    pub fn due(&mut self, delay: u64) -> Due {
        self.inserted += 1;
        (self.current.0.saturating_add(delay), self.inserted - 1)
    }

    fn append(&mut self, slots: &mut Slots, time: u64, place: u32) {
        slots[place].next = NONE;
        let index = time as usize % WINDOW;
        let list = &mut self.lists[index];
        let last = std::mem::replace(&mut list.last, place);
        if last == NONE {
            list.first = place;
            self.words[index / 64] |= 1 << (index % 64);
            self.groups[index / 4096] |= 1 << (index / 64 % 64);
        } else {
            slots[last].next = place;
        }
    }

    fn remove_first(&mut self, index: usize, next: u32) {
        let list = &mut self.lists[index];
        list.first = next;
        if next == NONE {
            list.last = NONE;
            let word = &mut self.words[index / 64];
            *word &= !(1 << (index % 64));
            if *word == 0 {
                self.groups[index / 4096] &= !(1 << (index / 64 % 64));
            }
        }
    }

    fn pop_outside(&mut self, slots: &Slots) -> Option<(Event, u32)> {
        if self.outside == NEVER {
            return None;
        }
        let timers = [Timer::Alpha, Timer::Look, Timer::Raise];
        let is_first = |queue: &VecDeque<(Due, u32)>| {
            queue.front().is_some_and(|(due, _)| *due == self.outside)
        };
        let timer = timers.into_iter().find(|timer| is_first(&self.timers[*timer as usize]));
        let popped = match timer {
            Some(timer) => {
                let front = self.timers[timer as usize].pop_front();
                front.map(|(_, flow)| (Event::Timer(timer, flow), NONE))
            }
            None => self.far.pop().map(|Reverse((_, place))| (slots[place].event, place)),
        };
        self.current = self.outside;
        let fronts = self.timers.iter().filter_map(VecDeque::front).map(|(due, _)| *due);
        let far = self.far.peek().map(|Reverse((due, _))| *due);
        self.outside = fronts.chain(far).min().unwrap_or(NEVER);
        popped
    }

    /// The time of a list.
    fn time_of(&self, index: usize) -> u64 {
        let now = self.current.0;
        now + (index as u64).wrapping_sub(now) % WINDOW as u64
    }

    /// The first list from now on that is not empty.
    fn first_list(&self) -> Option<usize> {
        let from = self.current.0 as usize % WINDOW;
        let bits = self.words[from / 64] & u64::MAX << (from % 64);
        if bits != 0 {
            return Some(from / 64 * 64 + bits.trailing_zeros() as usize);
        }
        let word = (from / 64 + 1) % WORDS;
        let mut group = word / 64;
        let mut bits = self.groups[group] & u64::MAX << (word % 64);
        for _ in 0..GROUPS {
            if bits != 0 {
                break;
            }
            group = (group + 1) % GROUPS;
            bits = self.groups[group];
        }
        if bits == 0 {
            return None;
        }
        let word = group * 64 + bits.trailing_zeros() as usize;
        Some(word * 64 + self.words[word].trailing_zeros() as usize)
    }
}
