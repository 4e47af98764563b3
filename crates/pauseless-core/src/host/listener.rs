//! A flow at its target: its notification point, and its acknowledgements.

use crate::congestion::{AnyNotificationPoint, Feedback, NotificationPoint, Received};
use crate::id::{Class, FlowId};
use crate::unit::Time;

/// A flow whose source is to be told about its packets.
#[derive(Clone, Debug)]
pub struct Listener {
    /// Which flow.
    pub flow: FlowId,
    /// The class in which its source is told.
    pub class: Class,
    /// Every so many packets are acknowledged; 0 for none.
    pub ack_every: u32,
    /// What congestion control makes of them.
    pub point: AnyNotificationPoint,
}

/// A flow that is being listened to.
#[derive(Clone, Debug)]
pub(super) struct Listening {
    listener: Listener,
    /// Packets since the last acknowledgement.
    unacknowledged: u32,
    /// The earliest timer that is pending for the notification point.
    armed: Time,
}

impl Listening {
    pub(super) fn new(listener: Listener) -> Listening {
        Listening {
            listener,
            unacknowledged: 0,
            armed: Time::MAX,
        }
    }

    pub(super) fn flow(&self) -> FlowId {
        self.listener.flow
    }

    pub(super) fn class(&self) -> Class {
        self.listener.class
    }

    /// A packet has arrived: what to tell its source at once.
    pub(super) fn on_packet(&mut self, now: Time, packet: Received) -> [Option<Feedback>; 2] {
        self.unacknowledged += 1;
        let is_due = self.unacknowledged == self.listener.ack_every;
        let ack = is_due.then(|| {
            self.unacknowledged = 0;
            Feedback::Ack {
                sequence: packet.sequence,
                is_marked: packet.is_marked,
            }
        });
        [ack, self.listener.point.on_packet(now, packet)]
    }

    /// A timer has come that was set for `due`; nothing happens if it was replaced by another.
    pub(super) fn handle_timeout(&mut self, now: Time, due: Time) -> Option<Feedback> {
        if due != self.armed {
            return None;
        }
        self.armed = Time::MAX;
        match self.listener.point.poll_timeout() <= now {
            true => self.listener.point.handle_timeout(now),
            false => None,
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
