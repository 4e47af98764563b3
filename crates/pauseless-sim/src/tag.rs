//! The handle by which the simulator knows a packet.

use pauseless_core::congestion::telemetry::{HOPS_MAX, Hop};
use pauseless_core::congestion::{Feedback, Sequence};
use pauseless_core::entropy::Entropy;
use pauseless_core::id::FlowId;
use pauseless_core::unit::{Bytes, Rate, Time};

/// The handle of a packet in eight bytes, since queues and wires are made of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag {
    /// The flow, and bits: whether this is a feedback packet, whether it was marked, whether
    /// switches write telemetry into it.
    flow: u32,
    /// The number of switches that it has passed, and the sequence number of data, the index of
    /// feedback in [`Answers`] or that of data with telemetry in [`Trails`].
    note: u32,
}

const ANSWER: u32 = 1 << 31;
const MARK: u32 = 1 << 30;
const TRAIL: u32 = 1 << 29;
const NUMBER_BITS: u32 = 24;
const NUMBER: u32 = (1 << NUMBER_BITS) - 1;
const HOP: u32 = 1 << NUMBER_BITS;

const _: () = assert!(Sequence::BITS == NUMBER_BITS);

/// The kind of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Data {
        sequence: Sequence,
        is_marked: bool,
    },
    /// Data that switches write telemetry into; its sequence number is there, too.
    Trailed {
        place: u32,
        is_marked: bool,
    },
    Answer {
        place: u32,
    },
}

impl Tag {
    /// The tag of what is no packet.
    pub(crate) const CONTROL: Tag = Tag { flow: 0, note: 0 };

    pub(crate) fn data(flow: FlowId, sequence: Sequence) -> Tag {
        debug_assert!(flow.0 < TRAIL);
        Tag { flow: flow.0, note: sequence.0 }
    }

    pub(crate) fn trailed(flow: FlowId, place: u32) -> Tag {
        assert!(place <= NUMBER, "more than 16 million packets are on their way");
        Tag { flow: flow.0 | TRAIL, note: place }
    }

    pub(crate) fn answer(flow: FlowId, place: u32) -> Tag {
        assert!(place <= NUMBER, "more than 16 million feedback packets are on their way");
        Tag { flow: flow.0 | ANSWER, note: place }
    }

    /// The same feedback packet, whose contents are stored at another index.
    pub(crate) fn moved(self, place: u32) -> Tag {
        assert!(place <= NUMBER, "more than 16 million packets are on their way");
        Tag { note: place | self.note & !NUMBER, ..self }
    }

    /// The flow of a data packet, or whose source a feedback packet is for.
    #[inline]
    pub(crate) fn flow(self) -> FlowId {
        FlowId(self.flow & !(ANSWER | MARK | TRAIL))
    }

    #[inline]
    pub(crate) fn is_answer(self) -> bool {
        self.flow & ANSWER != 0
    }

    /// The same packet, marked; feedback packets are never marked.
    #[inline]
    pub(crate) fn marked(self) -> Tag {
        if self.is_answer() { self } else { Tag { flow: self.flow | MARK, ..self } }
    }

    /// The number of switches that it has passed, at most 255.
    #[inline]
    pub(crate) fn hops(self) -> u8 {
        (self.note >> NUMBER_BITS) as u8
    }

    /// The same packet behind one more switch.
    #[inline]
    pub(crate) fn passed(self) -> Tag {
        Tag { note: self.note.checked_add(HOP).unwrap_or(self.note), ..self }
    }

    pub(crate) fn content(self) -> Content {
        let note = self.note & NUMBER;
        let is_marked = self.flow & MARK != 0;
        match (self.is_answer(), self.flow & TRAIL != 0) {
            (true, _) => Content::Answer { place: note },
            (false, true) => Content::Trailed { place: note, is_marked },
            (false, false) => Content::Data { sequence: Sequence(note), is_marked },
        }
    }
}

/// The contents of all feedback packets on their way.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    slots: Vec<Feedback>,
    free: Vec<u32>,
}

impl Answers {
    pub(crate) fn insert(&mut self, feedback: Feedback) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.slots[place as usize] = feedback;
                place
            }
            None => {
                self.slots.push(feedback);
                self.slots.len() as u32 - 1
            }
        }
    }

    /// The feedback stored at `place`.
    pub(crate) fn get(&self, place: u32) -> Feedback {
        self.slots[place as usize]
    }

    pub(crate) fn remove(&mut self, place: u32) -> Feedback {
        self.free.push(place);
        self.slots[place as usize]
    }
}

/// The telemetry that switches have written into a packet, and how it was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trail {
    /// The number of the packet.
    pub sequence: Sequence,
    /// What switches hash together with the flow.
    pub entropy: Entropy,
    /// The number of its transmission, where packets may overtake each other.
    pub sending: u64,
    count: u8,
    hops: [Hop; HOPS_MAX],
}

impl Trail {
    pub(crate) fn hops(&self) -> &[Hop] {
        &self.hops[..usize::from(self.count)]
    }
}

/// The telemetry of all packets on their way, and of their acknowledgements.
#[derive(Debug, Default)]
pub(crate) struct Trails {
    slots: Vec<Trail>,
    free: Vec<u32>,
}

impl Trails {
    pub(crate) fn insert(&mut self, sequence: Sequence) -> u32 {
        self.insert_sent(sequence, Entropy::default(), 0)
    }

    /// As [`Trails::insert`], where packets may overtake each other.
    pub(crate) fn insert_sent(
        &mut self,
        sequence: Sequence,
        entropy: Entropy,
        sending: u64,
    ) -> u32 {
        const NOWHERE: Hop =
            Hop { time: Time::ZERO, sent: Bytes::ZERO, queue: Bytes::ZERO, line: Rate::bps(1) };
        let trail = Trail { sequence, entropy, sending, count: 0, hops: [NOWHERE; HOPS_MAX] };
        self.keep(trail)
    }

    pub(crate) fn keep(&mut self, trail: Trail) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.slots[place as usize] = trail;
                place
            }
            None => {
                self.slots.push(trail);
                self.slots.len() as u32 - 1
            }
        }
    }

    pub(crate) fn get(&self, place: u32) -> &Trail {
        &self.slots[place as usize]
    }

    /// Adds the record of one more switch, if there is room.
    pub(crate) fn push(&mut self, place: u32, hop: Hop) {
        let trail = &mut self.slots[place as usize];
        if let Some(slot) = trail.hops.get_mut(usize::from(trail.count)) {
            *slot = hop;
            trail.count += 1;
        }
    }

    pub(crate) fn remove(&mut self, place: u32) -> Trail {
        self.free.push(place);
        self.slots[place as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_keep_what_they_are_given() {
        let sequence = Sequence((1 << 24) - 1);
        let data = Tag::data(FlowId(7), sequence);
        let content = |is_marked| Content::Data { sequence, is_marked };
        assert_eq!((data.flow(), data.content()), (FlowId(7), content(false)));
        assert_eq!(data.marked().content(), content(true));
        assert_eq!(data.marked().marked().content(), content(true));
        let answer = Tag::answer(FlowId(7), 9);
        assert_eq!(answer.flow(), FlowId(7));
        assert_eq!(answer.marked().content(), Content::Answer { place: 9 });
    }

    #[test]
    fn hops_are_counted_up_to_255_and_change_nothing_else() {
        let sequence = Sequence((1 << 24) - 1);
        let data = Tag::data(FlowId((1 << 29) - 1), sequence).marked();
        for tag in [data, Tag::answer(FlowId(7), 9), Tag::trailed(FlowId(8), 3)] {
            let mut passed = tag;
            for hops in 0..300 {
                assert_eq!(u32::from(passed.hops()), hops.min(255));
                assert_eq!((passed.flow(), passed.content()), (tag.flow(), tag.content()));
                if passed.is_answer() {
                    let moved = passed.moved(10);
                    assert_eq!(moved.content(), Content::Answer { place: 10 });
                    assert_eq!(moved.moved(9), passed);
                }
                passed = passed.passed();
            }
        }
    }

    #[test]
    fn places_are_used_again() {
        let mut answers = Answers::default();
        let (first, second) = (answers.insert(Feedback::Cnp), answers.insert(Feedback::Cnp));
        assert_ne!(first, second);
        assert_eq!(answers.remove(first), Feedback::Cnp);
        let third = Feedback::Congestion { psi: 3 };
        assert_eq!(answers.insert(third), first);
        assert_eq!(answers.remove(first), third);
    }
}
