//! A flow at its target: its notification point, and its acknowledgements.

use crate::congestion::telemetry::Echo;
use crate::congestion::{AnyNotificationPoint, Feedback, NotificationPoint, Received, Sequence};
use crate::id::{Class, FlowId};
use crate::transport::{GoBackN, Recovery, Transport, packet_count, sequence_of};
use crate::unit::{Bytes, Span, Time};

/// A flow whose source is to be told about its packets.
#[derive(Clone, Debug)]
pub struct Listener {
    /// The flow that arrives here.
    pub flow: FlowId,
    /// The class in which its source is told.
    pub class: Class,
    /// Every so many packets are acknowledged; 0 for none.
    pub ack_every: u32,
    /// What congestion control makes of them.
    pub point: AnyNotificationPoint,
    /// How the flow is carried.
    pub transport: Transport,
    /// Frame bytes of the whole flow; [`Bytes::MAX`] for one without end.
    pub size: Bytes,
    /// Frame bytes of a full packet.
    pub packet: Bytes,
}

impl Listener {
    /// What the source of a flow is told again that is complete, if it may not know that yet.
    pub fn farewell(&self) -> Option<Feedback> {
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
    /// Whether it is part of the flow now; if not, it came twice or too early.
    pub is_new: bool,
    /// Whether what it has collected goes back to its source.
    pub is_echoed: bool,
}

/// A flow that is being listened to.
#[derive(Clone, Debug)]
pub(super) struct Listening {
    listener: Listener,
    /// Packets since the last acknowledgement.
    unacknowledged: u32,
    /// Frame bytes that are part of the flow.
    received: Bytes,
    /// Go-back-N: the packet that comes next.
    expected: Sequence,
    /// Go-back-N: which packet was asked for, and before when it is not asked for again.
    asked: Option<(Sequence, Time)>,
    /// The earliest timer that is pending for the notification point.
    armed: Time,
}

/// What a target makes of a packet.
pub(super) struct Heard {
    /// What to tell its source at once.
    pub feedback: [Option<Feedback>; 2],
    pub is_new: bool,
}

impl Listening {
    pub(super) fn new(listener: Listener) -> Listening {
        Listening {
            listener,
            unacknowledged: 0,
            received: Bytes::ZERO,
            expected: Sequence::default(),
            asked: None,
            armed: Time::MAX,
        }
    }

    pub(super) fn flow(&self) -> FlowId {
        self.listener.flow
    }

    pub(super) fn class(&self) -> Class {
        self.listener.class
    }

    /// A packet has arrived.
    pub(super) fn on_packet(&mut self, now: Time, packet: Received) -> Heard {
        let point = self.listener.point.on_packet(now, packet);
        let (is_new, answer) = match self.listener.transport.recovery {
            Recovery::GoBackN(config) if packet.sequence != self.expected => {
                (false, self.refuse(now, packet, config))
            }
            _ => (true, self.take(packet)),
        };
        Heard { feedback: [answer, point], is_new }
    }

    /// A packet is the next one, or anyone will do.
    fn take(&mut self, packet: Received) -> Option<Feedback> {
        let Listener { ack_every, transport, size, .. } = self.listener;
        self.expected = packet.sequence.next();
        self.unacknowledged += 1;
        let mut is_due = self.unacknowledged == ack_every;
        if transport.awaits() {
            self.received += packet.size;
            let is_whole = self.received == size;
            // To acknowledge the last packet is to say that all have come. Numbers come again in a
            // flow that is long enough, so they tell only where not much is left.
            let left = size.saturating_sub(self.received);
            let is_late = left.get() < self.listener.packet.get() << (Sequence::BITS - 1);
            let is_hollow = !is_whole && is_late && packet.sequence == self.listener.last();
            is_due = (is_due || is_whole) && !is_hollow;
        }
        is_due.then(|| {
            self.unacknowledged = 0;
            Feedback::Ack {
                sequence: packet.sequence,
                is_marked: packet.is_marked,
                echo: packet.echo,
            }
        })
    }

    /// A packet is not the one that comes next.
    fn refuse(&mut self, now: Time, packet: Received, config: GoBackN) -> Option<Feedback> {
        let Received { is_marked, echo, .. } = packet;
        if !packet.sequence.is_from(self.expected) {
            // It has been here before. Its source has missed that only if it had to wait for long.
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

    /// A timer has come that was set for `due`; nothing happens if it was replaced by another.
    pub(super) fn handle_timeout(&mut self, now: Time, due: Time) -> Option<Feedback> {
        if due != self.armed {
            return None;
        }
        self.armed = Time::MAX;
        if self.listener.point.poll_timeout() <= now {
            self.listener.point.handle_timeout(now)
        } else {
            None
        }
    }

    /// When a timer has to be set that is earlier than the one that is pending.
    pub(super) fn poll_armed(&mut self) -> Option<Time> {
        let due = self.listener.point.poll_timeout();
        (due < self.armed).then(|| {
            self.armed = due;
            due
        })
    }
}
