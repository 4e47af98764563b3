//! The round robin between the flows of a host.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use super::Outgoing;
use super::index::FlowIndex;
use super::minima::Minima;
use super::sender::{Sender, Sending};
use crate::id::{Class, FlowId};
use crate::unit::{Bytes, Time};

/// All flows that a host sends, served round robin. A new flow is served after all others.
///
/// The flows have places in the order of their turns, with vacancies in between for new ones, and each
/// class has a tree of minima over all places. So whose turn it is takes a step per level of a tree,
/// however many flows there are.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    /// A power of two of places.
    places: Vec<Option<Box<Sending>>>,
    /// The place at which the search for the flow to serve next begins. A new flow comes right before it.
    cursor: usize,
    /// The place of every flow.
    index: FlowIndex,
    /// One element per class, up to the highest that a flow has.
    lanes: Vec<Lane>,
    /// The earliest instant at which a flow stops.
    stop: Time,
}

/// The flows of one class.
#[derive(Clone, Debug)]
struct Lane {
    /// For each place, the earliest instant at which its flow may send as far as the flow knows, or an
    /// earlier one at which it has to be asked; [`Time::MAX`] if it waits for an acknowledgement or has
    /// sent everything, and for the places of other classes.
    due: Minima,
    /// How many flows have not sent everything.
    unsent: usize,
    /// The least and the most that a packet of any flow so far has had.
    sizes: (Bytes, Bytes),
}

/// A packet that starts to leave.
pub(super) struct Departure {
    pub packet: Outgoing,
    pub flow: FlowId,
    pub class: Class,
    pub size: Bytes,
    /// The instant for which the flow sets a timer.
    pub timer: Option<Time>,
}

impl Turns {
    pub(super) fn new() -> Turns {
        Turns {
            places: Vec::from([None]),
            cursor: 0,
            index: FlowIndex::new(),
            lanes: Vec::new(),
            stop: Time::MAX,
        }
    }

    pub(super) fn start(&mut self, sender: Sender) {
        self.stop = self.stop.min(sender.stop);
        let (flow, class) = (sender.flow, sender.class);
        let (least, most) = sender.sizes();
        let sending = Sending::new(sender);
        let (places, lanes) = (self.places.len(), self.lanes.len().max(class.index() + 1));
        self.lanes.resize_with(lanes, || Lane {
            due: Minima::new(places),
            unsent: 0,
            sizes: (Bytes::MAX, Bytes::ZERO),
        });
        let place = self.make_room();
        let was_there = self.index.insert(flow, place as u32);
        assert!(was_there.is_none(), "a flow starts once");
        let lane = &mut self.lanes[class.index()];
        lane.unsent += usize::from(!sending.has_sent_all());
        lane.sizes = (lane.sizes.0.min(least), lane.sizes.1.max(most));
        // A flow that stops before it starts is removed before it is asked.
        lane.due.set(place, sending.due(Time::ZERO));
        self.places[place] = Some(Box::new(sending));
    }

    pub(super) fn get(&self, flow: FlowId) -> Option<&Sending> {
        self.places[self.find(flow)?].as_deref()
    }

    /// The place of a flow.
    #[inline]
    pub(super) fn find(&self, flow: FlowId) -> Option<usize> {
        Some(self.index.get(flow)? as usize)
    }

    /// Lets `change` do something to the flow in a place; it may send earlier, later or again afterwards.
    #[inline]
    pub(super) fn update<R>(
        &mut self,
        now: Time,
        place: usize,
        change: impl FnOnce(&mut Sending) -> R,
    ) -> R {
        let sending = self.places[place].as_deref_mut().expect("there is a flow in the place");
        let lane = &mut self.lanes[sending.class().index()];
        lane.unsent -= usize::from(!sending.has_sent_all());
        let result = change(sending);
        lane.unsent += usize::from(!sending.has_sent_all());
        lane.due.set(place, sending.due(now));
        result
    }

    /// One more than the highest class that a flow has.
    #[inline]
    pub(super) fn class_count(&self) -> usize {
        self.lanes.len()
    }

    /// The least and the most that a packet of `class` can have; `None` if all flows have sent everything.
    #[inline]
    pub(super) fn sizes(&self, class: Class) -> Option<(Bytes, Bytes)> {
        let lane = &self.lanes[class.index()];
        (lane.unsent > 0).then_some(lane.sizes)
    }

    /// The place of the flow of `class` whose turn is next among those that may send, or the instant at
    /// which one may.
    #[inline]
    pub(super) fn next(&mut self, now: Time, class: Class) -> Result<usize, Time> {
        loop {
            let due = &mut self.lanes[class.index()].due;
            let Some(place) = due.first_due(self.cursor, now) else {
                return Err(due.earliest());
            };
            let sending = self.places[place].as_deref().expect("there is a flow in the place");
            match sending.silent_until(now) {
                None => return Ok(place),
                Some(time) => due.set(place, time),
            }
        }
    }

    /// How many places after the one where the search begins a place is.
    #[inline]
    pub(super) fn distance(&self, place: usize) -> usize {
        place.wrapping_sub(self.cursor) & (self.places.len() - 1)
    }

    /// The places of all flows that have not sent everything, the one whose turn is next first.
    pub(super) fn round(&self) -> impl Iterator<Item = usize> {
        let all = (self.cursor..self.places.len()).chain(0..self.cursor);
        all.filter(|place| self.places[*place].as_ref().is_some_and(|it| !it.has_sent_all()))
    }

    /// The flow in a place.
    #[inline]
    pub(super) fn at(&self, place: usize) -> &Sending {
        self.places[place].as_deref().expect("there is a flow in the place")
    }

    /// Sends the next packet of the flow in a place, and moves the turn past it. A flow that is complete then
    /// is removed.
    #[inline]
    pub(super) fn send(&mut self, now: Time, place: usize) -> Departure {
        self.cursor = (place + 1) & (self.places.len() - 1);
        let sending = self.places[place].as_deref_mut().expect("there is a flow in the place");
        let (class, size) = (sending.class(), sending.size());
        let packet = sending.on_send(now, size);
        let timer = sending.poll_armed();
        let departure = Departure { packet, flow: sending.flow(), class, size, timer };
        let lane = &mut self.lanes[class.index()];
        lane.due.set(place, sending.due(now));
        if sending.has_sent_all() {
            lane.unsent -= 1;
            if sending.is_complete() {
                self.remove(place);
            }
        }
        departure
    }

    /// Removes a flow, whether it is its turn or not.
    pub(super) fn remove(&mut self, place: usize) {
        let sending = self.places[place].take().expect("there is a flow in the place");
        let lane = &mut self.lanes[sending.class().index()];
        lane.unsent -= usize::from(!sending.has_sent_all());
        lane.due.set(place, Time::MAX);
        self.index.remove(sending.flow());
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
        for place in 0..self.places.len() {
            let Some(sending) = &self.places[place] else {
                continue;
            };
            if now < sending.stop() {
                self.stop = sending.stop().min(self.stop);
            } else if !sending.has_sent_all() {
                // One that has sent everything waits for the last acknowledgement.
                self.remove(place);
            }
        }
    }

    /// A vacant place right before the cursor.
    fn make_room(&mut self) -> usize {
        let mask = self.places.len() - 1;
        if self.places[self.cursor].is_none() {
            let place = self.cursor;
            self.cursor = (place + 1) & mask;
            return place;
        }
        let before = self.cursor.wrapping_sub(1) & mask;
        if self.places[before].is_none() {
            return before;
        }
        let levels = self.places.len().ilog2() as usize;
        for level in 1..=levels {
            let start = self.cursor >> level << level;
            let window = start..start + (1 << level);
            let count = 1 + self.places[window.clone()].iter().flatten().count();
            // A small window may be almost full, all places by three quarters. Thus, after a window was spread,
            // its halves have so many vacancies that the next time is worth the work that it costs.
            if count * 4 * levels <= window.len() * (4 * levels - level) {
                return self.spread(window);
            }
        }
        self.double();
        self.cursor.wrapping_sub(1) & (self.places.len() - 1)
    }

    /// Spreads the flows in a window around the cursor evenly, with a vacant place right before the cursor,
    /// and returns that place.
    fn spread(&mut self, window: Range<usize>) -> usize {
        let (mut moved, mut rank) = (Vec::new(), 0);
        for place in window.clone() {
            if place == self.cursor {
                rank = moved.len();
            }
            if let Some(sending) = self.places[place].take() {
                let due = &mut self.lanes[sending.class().index()].due;
                moved.push((sending, due.get(place)));
                due.set(place, Time::MAX);
            }
        }
        let count = moved.len() + 1;
        let place_of = |rank| window.start + rank * window.len() / count;
        for (number, (sending, time)) in moved.into_iter().enumerate() {
            let place = place_of(number + usize::from(number >= rank));
            self.lanes[sending.class().index()].due.set(place, time);
            self.index.insert(sending.flow(), place as u32);
            self.places[place] = Some(sending);
        }
        self.cursor = (place_of(rank) + 1) & (self.places.len() - 1);
        place_of(rank)
    }

    /// Doubles the number of places: there is a vacancy behind each old one.
    fn double(&mut self) {
        let old = core::mem::take(&mut self.places);
        self.places.resize_with(2 * old.len(), || None);
        self.cursor *= 2;
        for lane in &mut self.lanes {
            lane.due = lane.due.doubled();
        }
        for (place, sending) in old.into_iter().enumerate() {
            if let Some(sending) = &sending {
                self.index.insert(sending.flow(), 2 * place as u32);
            }
            self.places[2 * place] = sending;
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
        let first = turns.round().next().expect("somebody has something to send");
        let flow = turns.at(first).flow();
        turns.send(Time::ZERO, first);
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
        assert_eq!(turns.round().count(), 4);
        turns.retire(soon);
        assert_eq!([(); 3].map(|()| serve(&mut turns)), [4, 2, 4]);
        assert!(turns.get(FlowId(3)).is_none());
        turns.start(sender(9, 1, Time::MAX));
        assert_eq!([(); 3].map(|()| serve(&mut turns)), [2, 4, 9]);
    }
}
