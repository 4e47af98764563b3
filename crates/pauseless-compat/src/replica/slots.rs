//! Frames and events of a run, in slots that are used again.

use std::ops::{Index, IndexMut};

use super::schedule::Event;
use super::source::Trail;

/// No slot: the end of a list.
pub const NONE: u32 = u32::MAX;

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A packet of a flow.
    Data,
    /// All data up to here has arrived.
    Ack,
    /// Data up to here has arrived, and other data since.
    Nack,
    /// A group is to wait.
    Pause,
    /// A group may go on.
    Resume,
}

/// A frame in a queue or on a wire.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// The kind of the frame.
    pub what: What,
    /// The priority group that it belongs to or is about.
    pub group: u8,
    /// Whether a switch has marked it.
    pub is_marked: bool,
    /// The length of the frame.
    pub size: u32,
    /// The flow of data and answers.
    pub flow: u32,
    /// The first byte of data, or the one that a target expects.
    pub sequence: u32,
    /// The bytes of its payload.
    pub payload: u32,
    /// The interface at which it came to its switch, from 0 on.
    pub ingress: u32,
    /// Where its next switch is in the [`Ways`].
    ///
    /// [`Ways`]: super::ways::Ways
    pub way: u32,
}

impl Frame {
    /// A frame with what all kinds have.
    pub fn new(what: What, size: u32, group: u8) -> Frame {
        Frame {
            what,
            group,
            is_marked: false,
            size,
            flow: 0,
            sequence: 0,
            payload: 0,
            ingress: 0,
            way: 0,
        }
    }
}

/// A frame with its arrival, so that both come into the cache at once, or another event.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// The frame; events without one have any.
    pub frame: Frame,
    /// What happens to it, if it is in the schedule.
    pub event: Event,
    /// The number of the event in the order of insertion.
    pub number: u64,
    /// The one behind it in its queue, in the list of its nanosecond, or among the unused.
    pub next: u32,
}

/// All slots. Those of the same number as a port are for its [`Event::Free`].
#[derive(Clone, Debug)]
pub struct Slots {
    slots: Vec<Slot>,
    /// What frames have collected, by the number of their slot, if they collect anything.
    trails: Option<Vec<Trail>>,
    unused: u32,
}

impl Slots {
    /// Slots for so many ports.
    pub fn new(ports: usize, has_trails: bool) -> Slots {
        let frame = Frame::new(What::Data, 0, 0);
        let slot = Slot { frame, event: Event::Stop, number: 0, next: NONE };
        let trails = has_trails.then(|| vec![Trail::default(); ports]);
        Slots { slots: vec![slot; ports], trails, unused: NONE }
    }

    /// A slot that nobody uses.
    pub fn add(&mut self) -> u32 {
        let place = self.unused;
        if let Some(slot) = self.slots.get(place as usize) {
            self.unused = slot.next;
            return place;
        }
        let frame = Frame::new(What::Data, 0, 0);
        self.slots.push(Slot { frame, event: Event::Stop, number: 0, next: NONE });
        if let Some(trails) = &mut self.trails {
            trails.push(Trail::default());
        }
        self.slots.len() as u32 - 1
    }

    /// A slot with a frame.
    pub fn add_frame(&mut self, frame: Frame) -> u32 {
        let place = self.add();
        self[place].frame = frame;
        place
    }

    /// A slot can be used again.
    pub fn remove(&mut self, place: u32) {
        self[place].next = std::mem::replace(&mut self.unused, place);
    }

    /// What a frame has collected, if frames do.
    pub fn trail(&mut self, place: u32) -> Option<&mut Trail> {
        self.trails.as_mut().map(|trails| &mut trails[place as usize])
    }
}

impl Index<u32> for Slots {
    type Output = Slot;
    fn index(&self, place: u32) -> &Slot {
        &self.slots[place as usize]
    }
}

impl IndexMut<u32> for Slots {
    fn index_mut(&mut self, place: u32) -> &mut Slot {
        &mut self.slots[place as usize]
    }
}
