//! What the simulator knows a packet by.

use pauseless_core::congestion::{Feedback, Sequence};
use pauseless_core::id::FlowId;

/// Eight bytes, since queues and wires are made of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag {
    /// The flow, whether this is an answer, and whether it was marked.
    flow: u32,
    /// The switches that it has passed, and the number of data or the place of an answer in
    /// [`Answers`].
    note: u32,
}

const ANSWER: u32 = 1 << 31;
const MARK: u32 = 1 << 30;
const NUMBER_BITS: u32 = 24;
const NUMBER: u32 = (1 << NUMBER_BITS) - 1;
const HOP: u32 = 1 << NUMBER_BITS;

const _: () = assert!(Sequence::BITS == NUMBER_BITS);

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Data { sequence: Sequence, is_marked: bool },
    Answer { place: u32 },
}

impl Tag {
    pub(crate) fn data(flow: FlowId, sequence: Sequence) -> Tag {
        debug_assert!(flow.0 < MARK);
        Tag {
            flow: flow.0,
            note: sequence.0,
        }
    }

    pub(crate) fn answer(flow: FlowId, place: u32) -> Tag {
        assert!(place <= NUMBER, "16 million answers are on their way");
        Tag {
            flow: flow.0 | ANSWER,
            note: place,
        }
    }

    /// The same answer with what it says in another place.
    pub(crate) fn moved(self, place: u32) -> Tag {
        let answer = Tag::answer(self.flow(), place);
        Tag {
            note: answer.note | self.note & !NUMBER,
            ..self
        }
    }

    /// The flow, or the one whose source is told something.
    #[inline]
    pub(crate) fn flow(self) -> FlowId {
        FlowId(self.flow & !(ANSWER | MARK))
    }

    #[inline]
    pub(crate) fn is_answer(self) -> bool {
        self.flow & ANSWER != 0
    }

    /// The same packet, marked; answers have nothing to mark.
    #[inline]
    pub(crate) fn marked(self) -> Tag {
        match self.is_answer() {
            true => self,
            false => Tag {
                flow: self.flow | MARK,
                ..self
            },
        }
    }

    /// The switches that it has passed; beyond 255 they are not counted.
    #[inline]
    pub(crate) fn hops(self) -> u8 {
        (self.note >> NUMBER_BITS) as u8
    }

    /// The same packet behind one more switch.
    #[inline]
    pub(crate) fn passed(self) -> Tag {
        Tag {
            note: self.note.checked_add(HOP).unwrap_or(self.note),
            ..self
        }
    }

    pub(crate) fn content(self) -> Content {
        match self.is_answer() {
            true => Content::Answer {
                place: self.note & NUMBER,
            },
            false => Content::Data {
                sequence: Sequence(self.note & NUMBER),
                is_marked: self.flow & MARK != 0,
            },
        }
    }
}

/// What the answers that are on their way say.
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

    /// What the answer at `place` says.
    pub(crate) fn get(&self, place: u32) -> Feedback {
        self.slots[place as usize]
    }

    pub(crate) fn remove(&mut self, place: u32) -> Feedback {
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
        let content = |is_marked| Content::Data {
            sequence,
            is_marked,
        };
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
        let data = Tag::data(FlowId((1 << 30) - 1), sequence).marked();
        for tag in [data, Tag::answer(FlowId(7), 9)] {
            let mut passed = tag;
            for hops in 0..300 {
                assert_eq!(u32::from(passed.hops()), hops.min(255));
                assert_eq!(
                    (passed.flow(), passed.content()),
                    (tag.flow(), tag.content())
                );
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
