//! A flow at its target: its notification point, and its acknowledgements.

use alloc::vec::Vec;

use super::index::FlowIndex;
use crate::arrivals::Arrivals;
use crate::congestion::telemetry::Echo;
use crate::congestion::{AnyNotificationPoint, Feedback, NotificationPoint, Received, Sequence};
use crate::id::{Class, FlowId};
use crate::transport::{GoBackN, Receiver, Recovery, Transport, packet_count, sequence_of};
use crate::unit::{Bytes, Span, Time};

/// A flow at its target, which sends feedback about its packets to the source.
#[derive(Clone, Debug)]
pub struct Listener {
    /// The flow that arrives here.
    pub flow: FlowId,
    /// The class of the feedback packets.
    pub class: Class,
    /// Every how many packets an acknowledgement is sent; 0 for never.
    pub ack_every: u32,
    /// The congestion control's part at the target.
    pub point: AnyNotificationPoint,
    /// How losses are recovered and when the flow is finished.
    pub transport: Transport,
    /// Frame bytes of the whole flow; [`Bytes::MAX`] for one without end.
    pub size: Bytes,
    /// Frame bytes of a full packet.
    pub packet: Bytes,
}

impl Listener {
    /// The acknowledgement to repeat for a completed flow, in case the source never received it;
    /// `None` without a retransmission timeout.
    pub fn last_ack(&self) -> Option<Feedback> {
        let Recovery::GoBackN(config) = self.transport.recovery else {
            return None;
        };
        (config.timeout != Span::MAX).then(|| Feedback::Ack {
            sequence: self.last(),
            is_marked: false,
            echo: Echo::NONE,
        })
    }

    /// The number of the last packet.
    fn last(&self) -> Sequence {
        sequence_of(packet_count(self.size, self.packet)).previous()
    }
}

/// What became of a packet at its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Whether it was accepted; if not, it is a duplicate or a packet before it is missing.
    pub is_new: bool,
    /// Whether its telemetry goes back to the source with an acknowledgement.
    pub is_echoed: bool,
    /// The frame bytes that the application gets with it: its own, none if it is held back, and those
    /// of others if they were held back for its sake.
    pub delivered: Bytes,
}

/// A flow that is being received.
#[derive(Clone, Debug)]
pub(super) struct Listening {
    listener: Listener,
    /// Packets since the last acknowledgement.
    unacknowledged: u32,
    /// Frame bytes that were accepted.
    received: Bytes,
    /// Go-back-N: the number of the packet that comes next.
    expected: Sequence,
    /// Go-back-N: the packet that the last NACK asked for, and the earliest instant of another NACK
    /// for it.
    asked: Option<(Sequence, Time)>,
    /// When the notification point wants to be called.
    due: Time,
    /// The earliest pending timer of the notification point.
    armed: Time,
    /// Whether the source waits for acknowledgements.
    is_awaited: bool,
    /// The packets that have arrived, where they may in any order.
    arrivals: Arrivals,
    /// Frame bytes that are held back until earlier packets arrive.
    held: Bytes,
}

/// The flows that a host receives.
#[derive(Clone, Debug)]
pub(super) struct Listeners {
    all: Vec<Listening>,
    /// The position of every flow in `all`.
    index: FlowIndex,
}

impl Listeners {
    pub(super) fn new() -> Listeners {
        Listeners { all: Vec::new(), index: FlowIndex::new() }
    }

    pub(super) fn insert(&mut self, listener: Listener) {
        let was_there = self.index.insert(listener.flow, self.all.len() as u32);
        assert!(was_there.is_none(), "a flow is listened to once");
        self.all.push(Listening::new(listener));
    }

    #[inline]
    pub(super) fn get_mut(&mut self, flow: FlowId) -> Option<&mut Listening> {
        Some(&mut self.all[self.index.get(flow)? as usize])
    }

    pub(super) fn remove(&mut self, flow: FlowId) {
        let Some(position) = self.index.remove(flow) else {
            return;
        };
        self.all.swap_remove(position as usize);
        if let Some(moved) = self.all.get(position as usize) {
            self.index.insert(moved.listener.flow, position);
        }
    }
}

/// The effect of a packet at its target.
pub(super) struct Effect {
    /// The feedback to send to the source at once.
    pub feedback: [Option<Feedback>; 2],
    pub is_new: bool,
    pub delivered: Bytes,
}

impl Listening {
    pub(super) fn new(listener: Listener) -> Listening {
        Listening {
            unacknowledged: 0,
            received: Bytes::ZERO,
            expected: Sequence::default(),
            asked: None,
            due: listener.point.poll_timeout(),
            armed: Time::MAX,
            is_awaited: listener.transport.awaits(),
            arrivals: Arrivals::default(),
            held: Bytes::ZERO,
            listener,
        }
    }

    pub(super) fn class(&self) -> Class {
        self.listener.class
    }

    /// Handles a packet of the flow.
    pub(super) fn on_packet(&mut self, now: Time, packet: Received) -> Effect {
        let (point, due) = self.listener.point.notice(now, packet);
        self.due = due;
        let Transport { recovery, receiver, .. } = self.listener.transport;
        if let Some(bits) = receiver.bits() {
            let (delivered, answer) = self.place(now, packet, bits);
            let feedback = [answer, point];
            return Effect {
                feedback,
                is_new: delivered.is_some(),
                delivered: delivered.unwrap_or_default(),
            };
        }
        let (is_new, answer) = match recovery {
            Recovery::GoBackN(config) if packet.sequence != self.expected => {
                (false, self.refuse(now, packet, config))
            }
            _ => (true, self.take(packet)),
        };
        let delivered = if is_new { packet.size } else { Bytes::ZERO };
        Effect { feedback: [answer, point], is_new, delivered }
    }

    /// Takes a packet in whatever order it comes, if it is new and there is a bit for it; returns what
    /// the application gets, `None` if it was thrown away, and the answer.
    fn place(
        &mut self,
        now: Time,
        packet: Received,
        bits: u32,
    ) -> (Option<Bytes>, Option<Feedback>) {
        let ahead = packet.sequence.0.wrapping_sub(self.expected.0) & Sequence::MAX.0;
        let number = self.arrivals.next() + u64::from(ahead);
        let is_beyond = ahead >= bits && packet.sequence.is_from(self.expected);
        let is_known = !packet.sequence.is_from(self.expected);
        if is_beyond || is_known || !self.arrivals.insert(number) {
            let answer = match self.listener.transport.recovery {
                Recovery::GoBackN(config) if is_beyond => self.refuse(now, packet, config),
                Recovery::GoBackN(config) => self.repeat(packet, config),
                Recovery::None => None,
            };
            return (None, answer);
        }
        self.received += packet.size;
        self.expected = sequence_of(self.arrivals.next());
        let delivered = self.hand_on(packet.size, number);
        self.unacknowledged += 1;
        let is_whole = self.is_awaited && self.received == self.listener.size;
        let is_due = self.unacknowledged == self.listener.ack_every || is_whole;
        let answer = is_due.then(|| {
            self.unacknowledged = 0;
            Feedback::Ack {
                sequence: self.expected.previous(),
                is_marked: packet.is_marked,
                echo: packet.echo,
            }
        });
        (Some(delivered), answer)
    }

    /// The frame bytes of what has arrived behind the first missing packet.
    fn held_behind_gap(&self) -> Bytes {
        let (next, end) = (self.arrivals.next(), self.arrivals.end());
        if next == end {
            return Bytes::ZERO;
        }
        let Listener { size, packet, .. } = self.listener;
        let all = Bytes::new(packet.get() * self.arrivals.count_above(next));
        // Only the last packet of a flow may be smaller than the others.
        let short =
            if end == packet_count(size, packet) { packet.get() * end - size.get() } else { 0 };
        all - Bytes::new(short)
    }

    /// What the application gets with a packet that was taken.
    fn hand_on(&mut self, size: Bytes, number: u64) -> Bytes {
        if !matches!(self.listener.transport.receiver, Receiver::Hold { .. }) {
            return size;
        }
        self.held += size;
        if self.arrivals.next() <= number {
            return Bytes::ZERO;
        }
        let left = self.held_behind_gap();
        let delivered = self.held - left;
        self.held = left;
        delivered
    }

    /// Accepts a packet: the expected one, or any one where nothing is recovered.
    fn take(&mut self, packet: Received) -> Option<Feedback> {
        let Listener { ack_every, size, .. } = self.listener;
        self.expected = packet.sequence.next();
        self.unacknowledged += 1;
        let mut is_due = self.unacknowledged == ack_every;
        let mut sequence = packet.sequence;
        if self.is_awaited {
            self.received += packet.size;
            let is_whole = self.received == size;
            // Acknowledging the last packet means that all have arrived. Numbers repeat in a long
            // flow, so the number of the last packet identifies it only near the end.
            let left = size.saturating_sub(self.received);
            let is_late = left.get() < self.listener.packet.get() << (Sequence::BITS - 1);
            let is_hollow = !is_whole && is_late && packet.sequence == self.listener.last();
            is_due = (is_due || is_whole) && !is_hollow;
            if is_whole {
                // The last one to arrive need not be the last one that was sent.
                sequence = self.listener.last();
            }
        }
        is_due.then(|| {
            self.unacknowledged = 0;
            Feedback::Ack { sequence, is_marked: packet.is_marked, echo: packet.echo }
        })
    }

    /// The answer to a packet out of order: the last acknowledgement again for a duplicate, a NACK for
    /// a gap, at most one in each `nack_interval`.
    fn refuse(&mut self, now: Time, packet: Received, config: GoBackN) -> Option<Feedback> {
        let Received { is_marked, echo, .. } = packet;
        if !packet.sequence.is_from(self.expected) {
            return self.repeat(packet, config);
        }
        let is_asked = |(asked, until)| asked == self.expected && now < until;
        if self.asked.is_some_and(is_asked) {
            return None;
        }
        let until = now.saturating_add(config.nack_interval);
        self.asked = Some((self.expected, until));
        Some(Feedback::Nack { expected: self.expected, is_marked, echo })
    }

    /// The answer to a duplicate: its source resends what was accepted only if an acknowledgement came
    /// late or was lost, which it notices by a timeout.
    fn repeat(&self, packet: Received, config: GoBackN) -> Option<Feedback> {
        let Received { is_marked, echo, .. } = packet;
        let sequence = self.expected.previous();
        (config.timeout != Span::MAX).then_some(Feedback::Ack { sequence, is_marked, echo })
    }

    /// Handles a timer that was set for `due`; nothing happens if another timer has replaced it.
    pub(super) fn handle_timeout(&mut self, now: Time, due: Time) -> Option<Feedback> {
        if due != self.armed {
            return None;
        }
        self.armed = Time::MAX;
        if now < self.due {
            return None;
        }
        let feedback = self.listener.point.handle_timeout(now);
        self.due = self.listener.point.poll_timeout();
        feedback
    }

    /// The instant for which a new timer must be set, if it is earlier than the pending one.
    #[inline]
    pub(super) fn poll_armed(&mut self) -> Option<Time> {
        let due = self.due;
        (due < self.armed).then(|| {
            self.armed = due;
            due
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Bytes = Bytes::new(1_000);

    /// A target of five packets, the last of which has 400 B.
    fn listening(receiver: Receiver, recovery: Recovery) -> Listening {
        Listening::new(Listener {
            flow: FlowId(0),
            class: Class(0),
            ack_every: 1,
            point: AnyNotificationPoint::None,
            transport: Transport { receiver, recovery, ..Transport::default() },
            size: Bytes::new(4_400),
            packet: PACKET,
        })
    }

    /// What a packet does: the bytes handed on, if it is new, and the answer as a signed number: all
    /// before it are acknowledged, or, below zero, that one is asked for.
    fn take(listening: &mut Listening, number: u32) -> (Option<u64>, Option<i64>) {
        let size = if number == 4 { Bytes::new(400) } else { PACKET };
        let sequence = Sequence(number);
        let packet = Received { size, sequence, is_marked: false, echo: Echo::NONE };
        let Effect { feedback, is_new, delivered } = listening.on_packet(Time::ZERO, packet);
        let answer = feedback[0].map(|feedback| match feedback {
            Feedback::Ack { sequence, .. } => i64::from(sequence.next().0),
            Feedback::Nack { expected, .. } => -i64::from(expected.0),
            other => panic!("{other:?}"),
        });
        (is_new.then_some(delivered.get()), answer)
    }

    fn going_back(timeout: Span) -> Recovery {
        Recovery::GoBackN(GoBackN { nack_interval: Span::us(1), timeout })
    }

    #[test]
    fn a_tolerant_target_acknowledges_all_before_the_gap() {
        let mut target = listening(Receiver::Tolerant { bits: 8 }, Recovery::None);
        let taken = [1, 0, 0, 4, 3, 2].map(|number| take(&mut target, number));
        let whole = Some(1_000);
        let expected = [
            (whole, Some(0)),
            (whole, Some(2)),
            (None, None),
            (Some(400), Some(2)),
            (whole, Some(2)),
            (whole, Some(5)),
        ];
        assert_eq!(taken, expected);
    }

    #[test]
    fn a_target_that_holds_hands_on_in_order() {
        let mut target = listening(Receiver::Hold { bits: 8 }, Recovery::None);
        let taken = [1, 4, 0, 3, 2].map(|number| take(&mut target, number).0);
        assert_eq!(taken, [Some(0), Some(0), Some(2_000), Some(0), Some(2_400)]);
        assert_eq!(target.held, Bytes::ZERO);
    }

    #[test]
    fn what_has_no_bit_is_asked_for_once() {
        let mut target = listening(Receiver::Tolerant { bits: 2 }, going_back(Span::MAX));
        let taken = [0, 2, 3, 4, 1].map(|number| take(&mut target, number));
        let whole = Some(1_000);
        // Packet 2 is the second from the gap on; 3 and 4 are beyond.
        let expected =
            [(whole, Some(1)), (whole, Some(1)), (None, Some(-1)), (None, None), (whole, Some(3))];
        assert_eq!(taken, expected);
    }

    #[test]
    fn a_duplicate_is_acknowledged_where_sources_have_a_timeout() {
        let mut target = listening(Receiver::Tolerant { bits: 8 }, going_back(Span::us(50)));
        take(&mut target, 0);
        take(&mut target, 2);
        assert_eq!(take(&mut target, 0), (None, Some(1)));
        assert_eq!(take(&mut target, 2), (None, Some(1)));
    }
}
