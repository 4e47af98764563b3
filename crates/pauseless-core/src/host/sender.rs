//! A flow at its source: what is left of it, its pace and its reaction point.

use super::Outgoing;
use crate::congestion::{AnyReactionPoint, Feedback, ReactionPoint, Sent, Sequence};
use crate::flow_control::Gate;
use crate::id::{Class, FlowId};
use crate::unit::{Bytes, Rate, Span, Time};

/// A flow's own rhythm: it sends for a while, is silent for a while, and so on from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duty {
    /// How long it sends.
    pub on: Span,
    /// How long it is silent.
    pub off: Span,
}

impl Duty {
    /// Never silent.
    pub const ALWAYS: Duty = Duty {
        on: Span::MAX,
        off: Span::ZERO,
    };

    /// Whether a flow that started at `start` is silent at `now`, and until when.
    fn gate(self, start: Time, now: Time) -> Gate {
        if self.off == Span::ZERO {
            return Gate::Open;
        }
        let cycle = self.on.as_ps() + self.off.as_ps();
        let since = now.saturating_since(start).as_ps();
        match since % cycle < self.on.as_ps() {
            true => Gate::Open,
            false => Gate::At(start + Span::ps((since / cycle + 1) * cycle)),
        }
    }
}

/// A flow that a host sends.
#[derive(Clone, Debug)]
pub struct Sender {
    /// Whose packets these are.
    pub flow: FlowId,
    /// The class that they travel in.
    pub class: Class,
    /// Frame bytes of a full packet.
    pub packet: Bytes,
    /// The pace: frames start no closer together than this rate allows.
    pub pace: Rate,
    /// Frame bytes to be sent; [`Bytes::MAX`] for a flow without end.
    pub size: Bytes,
    /// The first frame starts no earlier.
    pub start: Time,
    /// No frame starts at or after this instant.
    pub stop: Time,
    /// When it is silent by itself.
    pub duty: Duty,
    /// What congestion control makes of it.
    pub control: AnyReactionPoint,
}

/// A flow that has started.
#[derive(Clone, Debug)]
pub(super) struct Sending {
    sender: Sender,
    /// The lower of the pace and what the reaction point allows.
    rate: Rate,
    left: Bytes,
    next: Time,
    sequence: Sequence,
    /// The earliest timer that is pending for the reaction point.
    armed: Time,
}

impl Sending {
    pub(super) fn new(sender: Sender) -> Sending {
        Sending {
            rate: sender.pace.min(sender.control.rate()),
            left: sender.size,
            next: sender.start,
            sequence: Sequence::default(),
            armed: Time::MAX,
            sender,
        }
    }

    pub(super) fn flow(&self) -> FlowId {
        self.sender.flow
    }

    pub(super) fn class(&self) -> Class {
        self.sender.class
    }

    pub(super) fn stop(&self) -> Time {
        self.sender.stop
    }

    pub(super) fn rate(&self) -> Rate {
        self.rate
    }

    /// The next packet starts no earlier.
    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// Frame bytes of the next packet.
    pub(super) fn size(&self) -> Bytes {
        self.sender.packet.min(self.left)
    }

    pub(super) fn is_complete(&self) -> bool {
        self.left == Bytes::ZERO
    }

    /// Whether its own pace and rhythm let the next packet start.
    #[inline]
    pub(super) fn gate(&self, now: Time) -> Gate {
        if now < self.next {
            return Gate::At(self.next);
        }
        self.sender.duty.gate(self.sender.start, now)
    }

    /// The next packet starts.
    pub(super) fn on_send(&mut self, now: Time, size: Bytes) -> Outgoing {
        if self.left != Bytes::MAX {
            self.left -= size;
        }
        let sequence = self.sequence;
        self.sequence = sequence.next();
        let rate = self.rate;
        self.sender.control.on_send(now, Sent { size, sequence });
        let span = rate.tx_span(size);
        // A frame that had to wait its turn makes up for that, but for one frame at the most.
        let earliest = Time::from_ps(now.as_ps().saturating_sub(span.as_ps()));
        self.next = self.next.max(earliest) + span;
        self.adopt(now);
        Outgoing::Data {
            flow: self.sender.flow,
            sequence,
        }
    }

    pub(super) fn on_feedback(&mut self, now: Time, feedback: Feedback) {
        self.sender.control.on_feedback(now, feedback);
        self.adopt(now);
    }

    /// A timer has come that was set for `due`; nothing happens if it was replaced by another.
    pub(super) fn handle_timeout(&mut self, now: Time, due: Time) {
        if due != self.armed {
            return;
        }
        self.armed = Time::MAX;
        if self.sender.control.poll_timeout() <= now {
            self.sender.control.handle_timeout(now);
            self.adopt(now);
        }
    }

    /// When a timer has to be set that is earlier than the one that is pending.
    pub(super) fn poll_armed(&mut self) -> Option<Time> {
        let due = self.sender.control.poll_timeout();
        (due < self.armed).then(|| {
            self.armed = due;
            due
        })
    }

    /// Takes over the rate of the reaction point. What is left of the wait for the next packet is
    /// rescaled, lest one packet sent at a low rate delays all that follow at a high one.
    fn adopt(&mut self, now: Time) {
        let rate = self.sender.pace.min(self.sender.control.rate());
        if rate == self.rate {
            return;
        }
        let left = self.next.saturating_since(now);
        if left > Span::ZERO {
            let left = left.scale_up(self.rate.as_bps(), rate.as_nonzero());
            self.next = now.saturating_add(left);
        }
        self.rate = rate;
    }
}
