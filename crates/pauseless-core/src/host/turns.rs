//! The round robin between the flows of a host.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::sender::{Sender, Sending};
use crate::id::FlowId;
use crate::unit::Time;

/// All flows that a host sends, served round robin. A new flow is served after all others.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    /// The state of each flow, which stays in its slot until the flow ends.
    slots: Vec<Option<Box<Sending>>>,
    free: Vec<u32>,
    /// The slot of every flow, sorted by flow id.
    places: Vec<(FlowId, u32)>,
    /// The slots in round-robin order.
    ring: Vec<u32>,
    /// The index in `ring` of the flow to serve next.
    cursor: usize,
    /// The earliest instant at which a flow stops.
    stop: Time,
}

impl Turns {
    pub(super) fn new() -> Turns {
        Turns {
            slots: Vec::new(),
            free: Vec::new(),
            places: Vec::new(),
            ring: Vec::new(),
            cursor: 0,
            stop: Time::MAX,
        }
    }

    pub(super) fn start(&mut self, sender: Sender) {
        self.stop = self.stop.min(sender.stop);
        let place = self.place(sender.flow).expect_err("a flow starts once");
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() as u32 - 1
        });
        self.places.insert(place, (sender.flow, slot));
        self.slots[slot as usize] = Some(Box::new(Sending::new(sender)));
        self.ring.insert(self.cursor, slot);
        self.cursor += 1;
    }

    pub(super) fn get(&self, flow: FlowId) -> Option<&Sending> {
        let (_, slot) = self.places[self.place(flow).ok()?];
        self.slots[slot as usize].as_deref()
    }

    pub(super) fn get_mut(&mut self, flow: FlowId) -> Option<&mut Sending> {
        let (_, slot) = self.places[self.place(flow).ok()?];
        self.slots[slot as usize].as_deref_mut()
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.ring.len()
    }

    /// The flow whose turn comes `step` turns from now.
    #[inline]
    pub(super) fn ahead(&mut self, step: usize) -> &mut Sending {
        let slot = self.ring[self.at(step)] as usize;
        self.slots[slot].as_deref_mut().expect("a slot in the ring has a flow")
    }

    /// Moves the turn past that flow, and removes the flow if it is complete.
    pub(super) fn pass(&mut self, step: usize) {
        let at = self.at(step);
        self.cursor = at + 1;
        let slot = self.ring[at];
        let sending = self.slots[slot as usize].as_deref().expect("a slot in the ring has a flow");
        if sending.is_complete() {
            self.remove_at(at);
        }
    }

    /// Removes a flow, whether it is its turn or not.
    pub(super) fn remove(&mut self, flow: FlowId) {
        let Ok(place) = self.place(flow) else {
            return;
        };
        let (_, slot) = self.places[place];
        let at = self.ring.iter().position(|other| *other == slot);
        self.remove_at(at.expect("a slot in the ring has a flow"));
    }

    fn remove_at(&mut self, at: usize) {
        let slot = self.ring.remove(at);
        let sending = self.slots[slot as usize].take().expect("a slot in the ring has a flow");
        let place = self.place(sending.flow()).expect("every flow has a place");
        self.places.remove(place);
        self.free.push(slot);
        // The flow that was next stays next.
        if at < self.cursor {
            self.cursor -= 1;
        }
    }

    /// Drops flows that were stopped.
    #[inline]
    pub(super) fn retire(&mut self, now: Time) {
        if self.stop <= now {
            self.drop_stopped(now);
        }
    }

    fn drop_stopped(&mut self, now: Time) {
        let Turns { slots, free, ring, .. } = self;
        self.stop = Time::MAX;
        let stop = &mut self.stop;
        // The next flow among those that remain keeps the turn.
        let cursor = self.cursor;
        let mut before = 0;
        let mut index = 0;
        ring.retain(|slot| {
            let sending = slots[*slot as usize].as_deref().expect("a slot in the ring has a flow");
            let is_early = now < sending.stop();
            // A flow that has sent everything waits for the last acknowledgement.
            let stays = is_early || sending.has_sent_all();
            if is_early {
                *stop = sending.stop().min(*stop);
            }
            if stays {
                before += usize::from(index < cursor);
            } else {
                slots[*slot as usize] = None;
                free.push(*slot);
            }
            index += 1;
            stays
        });
        self.cursor = before;
        self.places.retain(|(_, slot)| self.slots[*slot as usize].is_some());
    }

    #[inline]
    fn at(&self, step: usize) -> usize {
        (self.cursor + step) % self.ring.len()
    }

    fn place(&self, flow: FlowId) -> Result<usize, usize> {
        self.places.binary_search_by_key(&flow, |(flow, _)| *flow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::AnyReactionPoint;
    use crate::host::Duty;
    use crate::id::Class;
    use crate::unit::{Bytes, Rate, Span};

    fn sender(flow: u32, packets: u64, stop: Time) -> Sender {
        let rate = Rate::gbps(10);
        Sender {
            flow: FlowId(flow),
            class: Class(0),
            packet: Bytes::new(1_000),
            pace: rate,
            size: Bytes::new(1_000 * packets),
            start: Time::ZERO,
            stop,
            duty: Duty::ALWAYS,
            control: AnyReactionPoint::None { rate },
            transport: crate::transport::Transport::default(),
            window: Bytes::MAX,
        }
    }

    /// Sends one packet of whoever has the turn.
    fn serve(turns: &mut Turns) -> u32 {
        let sending = turns.ahead(0);
        let flow = sending.flow();
        sending.on_send(Time::ZERO, Bytes::new(1_000));
        turns.pass(0);
        flow.0
    }

    #[test]
    fn everybody_has_a_turn_before_a_newcomer() {
        let mut turns = Turns::new();
        for flow in [7, 3, 5] {
            turns.start(sender(flow, 9, Time::MAX));
        }
        assert_eq!([(); 4].map(|()| serve(&mut turns)), [7, 3, 5, 7]);
        turns.start(sender(4, 1, Time::MAX));
        assert_eq!([(); 4].map(|()| serve(&mut turns)), [3, 5, 7, 4]);
        assert_eq!([(); 3].map(|()| serve(&mut turns)), [3, 5, 7]);
        assert!(turns.get(FlowId(4)).is_none(), "it was complete");
    }

    /// A long flow has its turn in every round although a new short one comes for each packet; were
    /// newcomers served first, it would have one turn in all.
    #[test]
    fn newcomers_do_not_overtake() {
        let mut turns = Turns::new();
        turns.start(sender(0, 1_000, Time::MAX));
        let mut served = 0;
        for flow in 1..=100 {
            turns.start(sender(flow, 1, Time::MAX));
            served += u32::from(serve(&mut turns) == 0);
        }
        assert!(served >= 10, "{served}");
    }

    #[test]
    fn who_was_stopped_has_no_turn_and_the_next_one_keeps_its_own() {
        let soon = Time::ZERO + Span::us(1);
        let mut turns = Turns::new();
        for (flow, stop) in [(1, soon), (2, Time::MAX), (3, soon), (4, Time::MAX)] {
            turns.start(sender(flow, 9, stop));
        }
        assert_eq!([(); 2].map(|()| serve(&mut turns)), [1, 2]);
        turns.retire(Time::ZERO);
        assert_eq!(turns.len(), 4);
        turns.retire(soon);
        assert_eq!([(); 3].map(|()| serve(&mut turns)), [4, 2, 4]);
        assert!(turns.get(FlowId(3)).is_none());
        turns.start(sender(9, 1, Time::MAX));
        assert_eq!([(); 3].map(|()| serve(&mut turns)), [2, 4, 9]);
    }
}
