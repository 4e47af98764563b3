//! A flow at its target: its notification point, and its acknowledgements.

use alloc::vec::Vec;

use super::index::FlowIndex;
use crate::congestion::telemetry::Echo;
use crate::congestion::{AnyNotificationPoint, Feedback, NotificationPoint, Received, Sequence};
use crate::id::{Class, FlowId};
use crate::transport::{GoBackN, Recovery, Transport, packet_count, sequence_of};
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
        let (is_new, answer) = match self.listener.transport.recovery {
            Recovery::GoBackN(config) if packet.sequence != self.expected => {
                (false, self.refuse(now, packet, config))
            }
            _ => (true, self.take(packet)),
        };
        Effect { feedback: [answer, point], is_new }
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
            // A duplicate: its source resends what was accepted only if an acknowledgement came
            // late or was lost, which it notices by a timeout.
            let sequence = self.expected.previous();
            return (config.timeout != Span::MAX).then_some(Feedback::Ack {
                sequence,
                is_marked,
                echo,
            });
        }
        let is_asked = |(asked, until)| asked == self.expected && now < until;
        if self.asked.is_some_and(is_asked) {
            return None;
        }
        let until = now.saturating_add(config.nack_interval);
        self.asked = Some((self.expected, until));
        Some(Feedback::Nack { expected: self.expected, is_marked, echo })
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
