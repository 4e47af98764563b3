//! The round robin between the flows of a host.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::sender::{Sender, Sending};
use crate::id::FlowId;
use crate::unit::Time;

/// All flows that a host sends, served round robin. A new flow is served after all others. Whatever is
/// done to one flow takes no longer if there are many, but for the search for one that may send.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    /// The state of each flow, which stays in its slot until the flow ends.
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// The slot of every flow.
    places: BTreeMap<FlowId, u32>,
    /// The slot of the flow to serve next; meaningless if there are no flows.
    cursor: u32,
    /// How many flows have not sent everything.
    unsent: usize,
    /// The earliest instant at which a flow stops.
    stop: Time,
}

/// A flow between its neighbours in the round.
#[derive(Clone, Debug)]
struct Slot {
    sending: Option<Box<Sending>>,
    before: u32,
    after: u32,
}

impl Turns {
    pub(super) fn new() -> Turns {
        Turns {
            slots: Vec::new(),
            free: Vec::new(),
            places: BTreeMap::new(),
            cursor: 0,
            unsent: 0,
            stop: Time::MAX,
        }
    }

    pub(super) fn start(&mut self, sender: Sender) {
        self.stop = self.stop.min(sender.stop);
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
        let was_there = self.places.insert(sender.flow, slot);
        assert!(was_there.is_none(), "a flow starts once");
        let sending = Sending::new(sender);
        self.unsent += usize::from(!sending.has_sent_all());
        if self.places.len() == 1 {
            self.cursor = slot;
        }
        // The last one is before the one that is next; a flow that is alone is its own neighbour.
        let after = self.cursor;
        let before = if after == slot { slot } else { self.slots[after as usize].before };
        let new = Slot { sending: Some(Box::new(sending)), before, after };
        match self.slots.get_mut(slot as usize) {
            Some(old) => *old = new,
            None => self.slots.push(new),
        }
        self.slots[before as usize].after = slot;
        self.slots[after as usize].before = slot;
    }

    pub(super) fn get(&self, flow: FlowId) -> Option<&Sending> {
        let slot = *self.places.get(&flow)?;
        self.slots[slot as usize].sending.as_deref()
    }

    /// Lets `change` do something to a flow, which may have more to send afterwards; `None` if there is
    /// no such flow.
    pub(super) fn update<R>(
        &mut self,
        flow: FlowId,
        change: impl FnOnce(&mut Sending) -> R,
    ) -> Option<R> {
        let slot = *self.places.get(&flow)?;
        let sending = self.slots[slot as usize].sending.as_deref_mut()?;
        self.unsent -= usize::from(!sending.has_sent_all());
        let result = change(sending);
        self.unsent += usize::from(!sending.has_sent_all());
        Some(result)
    }

    /// How many flows have not sent everything.
    #[inline]
    pub(super) fn unsent(&self) -> usize {
        self.unsent
    }

    /// The slot of the flow whose turn is next. There must be one.
    #[inline]
    pub(super) fn first(&self) -> u32 {
        self.cursor
    }

    /// The slot of the flow whose turn comes after that of another.
    #[inline]
    pub(super) fn after(&self, slot: u32) -> u32 {
        self.slots[slot as usize].after
    }

    /// The flow in a slot.
    #[inline]
    pub(super) fn at(&mut self, slot: u32) -> &mut Sending {
        let sending = self.slots[slot as usize].sending.as_deref_mut();
        sending.expect("a slot in the round has a flow")
    }

    /// Moves the turn past a flow that has just sent a packet, and removes the flow if it is complete.
    pub(super) fn pass(&mut self, slot: u32) {
        self.cursor = self.after(slot);
        let sending = self.at(slot);
        let (has_sent_all, is_complete) = (sending.has_sent_all(), sending.is_complete());
        self.unsent -= usize::from(has_sent_all);
        if is_complete {
            self.remove_at(slot);
        }
    }

    /// Removes a flow, whether it is its turn or not.
    pub(super) fn remove(&mut self, flow: FlowId) {
        if let Some(slot) = self.places.get(&flow) {
            self.remove_at(*slot);
        }
    }

    fn remove_at(&mut self, slot: u32) {
        let Slot { sending, before, after } = &mut self.slots[slot as usize];
        let (before, after) = (*before, *after);
        let sending = sending.take().expect("a slot in the round has a flow");
        self.unsent -= usize::from(!sending.has_sent_all());
        self.slots[before as usize].after = after;
        self.slots[after as usize].before = before;
        self.places.remove(&sending.flow());
        self.free.push(slot);
        if self.cursor == slot {
            self.cursor = after;
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
        self.stop = Time::MAX;
        let mut stopped = Vec::new();
        for slot in self.places.values().copied() {
            let sending = self.slots[slot as usize].sending.as_deref();
            let sending = sending.expect("a slot in the round has a flow");
            if now < sending.stop() {
                self.stop = sending.stop().min(self.stop);
            } else if !sending.has_sent_all() {
                // One that has sent everything waits for the last acknowledgement.
                stopped.push(slot);
            }
        }
        for slot in stopped {
            self.remove_at(slot);
        }
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
        let first = turns.first();
        let sending = turns.at(first);
        let flow = sending.flow();
        sending.on_send(Time::ZERO, Bytes::new(1_000));
        turns.pass(first);
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
        assert_eq!(turns.unsent(), 4);
        turns.retire(soon);
        assert_eq!([(); 3].map(|()| serve(&mut turns)), [4, 2, 4]);
        assert!(turns.get(FlowId(3)).is_none());
        turns.start(sender(9, 1, Time::MAX));
        assert_eq!([(); 3].map(|()| serve(&mut turns)), [2, 4, 9]);
    }
}
