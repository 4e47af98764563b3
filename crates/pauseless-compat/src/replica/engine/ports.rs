//! What a port is while a run is under way.

use super::super::clock;
use super::super::schedule::Due;
use super::super::slots::Slots;
use super::super::source::Hop;
use super::{Marking, Port};

/// The first and the last frame of a queue that is not empty.
#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    first: u32,
    last: u32,
}

/// A port with its queues.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct PortState {
    pub node: u32,
    pub interface: u32,
    pub peer: u32,
    pub loss: Option<u32>,
    /// When it is free again, or when it was the last time.
    pub free: Due,
    pub delay: u64,
    pub is_switch: bool,
    /// Whether there is an event for when it is free again.
    pub is_awaited: bool,
    /// A bit for each group that may not send.
    pub paused: u8,
    /// A bit for each queue that is not empty.
    occupied: u8,
    /// The queue whose turn it was last.
    turn: u8,
    /// The code of its rate in records.
    pub line: u8,
    /// The bytes of all frames that wait.
    pub waiting: u64,
    /// The bytes that a switch has sent here.
    pub sent: u64,
    /// By group; hosts have their answers in the first.
    queues: [Queue; 8],
    rate: u64,
    /// The last size that was sent, and how long it took.
    last_span: (u32, u64),
    pub marking: Marking,
    /// The looks at its queues that have been counted.
    pub seen: u64,
}

impl PortState {
    /// A port that sends nothing and has no frames.
    pub fn new(port: &Port, is_switch: bool) -> PortState {
        PortState {
            node: port.node,
            interface: port.interface,
            peer: port.peer,
            loss: port.loss.map(|loss| loss as u32),
            delay: port.delay,
            is_switch,
            is_awaited: false,
            free: (0, 0),
            paused: 0,
            occupied: 0,
            turn: 0,
            line: Hop::line_code(port.rate),
            waiting: 0,
            sent: 0,
            queues: Default::default(),
            rate: port.rate,
            last_span: (0, 0),
            marking: port.marking,
            seen: 0,
        }
    }

    /// How long so many bytes take.
    pub fn sending(&mut self, size: u32) -> u64 {
        if self.last_span.0 != size {
            self.last_span = (size, clock::sending(size, self.rate));
        }
        self.last_span.1
    }

    /// Whether frames wait to be sent.
    pub fn is_occupied(&self) -> bool {
        self.occupied != 0
    }

    /// The queue that sends next: the first one whenever it can, the others in turn.
    pub fn next_queue(&mut self) -> Option<usize> {
        if self.occupied & 1 == 1 {
            return Some(0);
        }
        let ready = self.occupied & !self.paused;
        if ready == 0 {
            return None;
        }
        let first = u32::from(self.turn) + 1;
        let queue = (first + ready.rotate_right(first).trailing_zeros()) % 8;
        self.turn = queue as u8;
        Some(queue as usize)
    }

    /// Adds a frame to a queue.
    pub fn push(&mut self, queue: usize, place: u32, slots: &mut Slots) {
        self.waiting += u64::from(slots[place].frame.size);
        let list = &mut self.queues[queue];
        if self.occupied >> queue & 1 == 0 {
            self.occupied |= 1 << queue;
            list.first = place;
        } else {
            slots[list.last].next = place;
        }
        list.last = place;
    }

    /// Takes the first frame of a queue, if there is one.
    pub fn pop(&mut self, queue: usize, slots: &Slots) -> Option<u32> {
        if self.occupied >> queue & 1 == 0 {
            return None;
        }
        let list = &mut self.queues[queue];
        let place = list.first;
        self.waiting -= u64::from(slots[place].frame.size);
        if place == list.last {
            self.occupied &= !(1 << queue);
        } else {
            list.first = slots[place].next;
        }
        Some(place)
    }
}
