//! A flow at its source: what is left of it, its pace and its reaction point.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use super::Outgoing;
use crate::congestion::telemetry::Hop;
use crate::congestion::{AnyReactionPoint, Feedback, Reacted, ReactionPoint, Sent, Sequence};
use crate::entropy::{Entropy, EntropySource, PathNews};
use crate::flow_control::Gate;
use crate::id::{Class, FlowId};
use crate::transport::{Pacing, Receiver, Recovery, Transport, Window, packet_count, sequence_of};
use crate::unit::{Bytes, Rate, Span, Time};

/// The on-off pattern of a flow: it sends for a while, pauses for a while, and so on from its
/// start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duty {
    /// How long the flow sends at a time.
    pub on: Span,
    /// How long the flow is silent in between.
    pub off: Span,
}

impl Duty {
    /// A flow that is never silent.
    pub const ALWAYS: Duty = Duty { on: Span::MAX, off: Span::ZERO };

    /// Whether a flow that started at `start` is silent at `now`, and until when.
    fn gate(self, start: Time, now: Time) -> Gate {
        if self.off == Span::ZERO {
            return Gate::Open;
        }
        let cycle = self.on.as_ps() + self.off.as_ps();
        let since = now.saturating_since(start).as_ps();
        if since % cycle < self.on.as_ps() {
            Gate::Open
        } else {
            Gate::At(start + Span::ps((since / cycle + 1) * cycle))
        }
    }
}

/// A flow that a host sends.
#[derive(Clone, Debug)]
pub struct Sender {
    /// The flow that the packets belong to.
    pub flow: FlowId,
    /// The class of its packets.
    pub class: Class,
    /// Frame bytes of a full packet.
    pub packet: Bytes,
    /// The pace of the flow: frames start no closer together than this rate allows.
    pub pace: Rate,
    /// Frame bytes to send; [`Bytes::MAX`] for a flow without end.
    pub size: Bytes,
    /// The earliest start of the first frame.
    pub start: Time,
    /// No frame starts at or after this instant.
    pub stop: Time,
    /// The on-off pattern of the application.
    pub duty: Duty,
    /// The congestion control's part at the source.
    pub control: AnyReactionPoint,
    /// How the flow is paced and how losses are recovered.
    pub transport: Transport,
    /// The most bytes that may be unacknowledged, rounded up to a packet, where
    /// [`Transport::window`] sets a limit.
    pub window: Bytes,
}

impl Sender {
    /// The frame bytes of the smallest and of the largest packet.
    pub(super) fn sizes(&self) -> (Bytes, Bytes) {
        let rest = match self.size {
            Bytes::MAX => 0,
            size => size.get() % self.packet.get(),
        };
        let last = if rest == 0 { self.packet } else { Bytes::new(rest) };
        (last, self.packet.min(self.size))
    }
}

/// A flow that has started and is not complete.
///
/// The order in memory is that below: what every packet needs comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Sending {
    next: Time,
    left: Bytes,
    /// Frame bytes of a full packet.
    packet: Bytes,
    /// How long after a full packet the next one starts, at the present rate.
    span: Span,
    /// The number of the packet that is sent next.
    number: u64,
    /// How many packets were sent at least once.
    reached: u64,
    /// The earliest pending timer of the reaction point or of a retransmission.
    armed: Time,
    /// When all unacknowledged packets are sent again; never without a retransmission timeout.
    resend_at: Time,
    /// When the reaction point wants to be called.
    react_at: Time,
    /// The lower one of the pace and the rate of the reaction point.
    rate: Rate,
    flow: FlowId,
    class: Class,
    pacing: Pacing,
    /// Whether the last packet has to be acknowledged.
    is_awaiting: bool,
    /// Whether the flow has an on-off pattern.
    is_on_off: bool,
    /// How many packets are acknowledged.
    acknowledged: u64,
    /// How many packets have arrived in whatever order, where each is acknowledged as it does; less if
    /// acknowledgements were lost.
    arrived: u64,
    /// Frame bytes of the packet that was sent last.
    last_size: Bytes,
    /// The entropies of its packets, if they may take several paths.
    spraying: Option<Box<Spraying>>,
    sender: Sender,
}

/// The entropies of a flow.
#[derive(Clone, Debug)]
struct Spraying {
    source: EntropySource,
    /// The entropy with which each unacknowledged packet was sent last, where acknowledgements are
    /// awaited.
    unacknowledged: VecDeque<Entropy>,
}

impl Sending {
    pub(super) fn new(sender: Sender) -> Sending {
        let rate = sender.pace.min(sender.control.rate());
        let mut sending = Sending {
            next: sender.start,
            left: sender.size,
            packet: sender.packet,
            span: Span::ZERO,
            number: 0,
            reached: 0,
            armed: Time::MAX,
            resend_at: Time::MAX,
            react_at: sender.control.poll_timeout(),
            rate,
            flow: sender.flow,
            class: sender.class,
            pacing: sender.transport.pacing,
            is_awaiting: sender.transport.awaits(),
            is_on_off: sender.duty.off > Span::ZERO,
            acknowledged: 0,
            arrived: 0,
            last_size: Bytes::ZERO,
            spraying: EntropySource::new(&sender.transport.entropy)
                .map(|source| Box::new(Spraying { source, unacknowledged: VecDeque::new() })),
            sender,
        };
        sending.span = sending.pacing_rate().tx_span(sending.packet);
        sending
    }

    pub(super) fn flow(&self) -> FlowId {
        self.flow
    }

    #[inline]
    pub(super) fn class(&self) -> Class {
        self.class
    }

    pub(super) fn stop(&self) -> Time {
        self.sender.stop
    }

    pub(super) fn rate(&self) -> Rate {
        self.rate
    }

    /// The earliest start of the next packet.
    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// Frame bytes of the next packet.
    #[inline]
    pub(super) fn size(&self) -> Bytes {
        self.packet.min(self.left)
    }

    /// Whether the flow is complete: everything is sent and, where that is awaited, acknowledged.
    #[inline]
    pub(super) fn is_complete(&self) -> bool {
        // What is acknowledged was sent.
        self.left == Bytes::ZERO
            && (!self.is_awaiting
                || self.acknowledged == packet_count(self.sender.size, self.packet))
    }

    /// Whether there is nothing to send unless a loss is reported.
    #[inline]
    pub(super) fn has_sent_all(&self) -> bool {
        self.left == Bytes::ZERO
    }

    /// The instant at which the flow is to be asked whether it may send, unless something happens to it;
    /// [`Time::MAX`] if it may not until then.
    #[inline]
    pub(super) fn due(&self, now: Time) -> Time {
        if self.left == Bytes::ZERO || self.is_window_full() || self.sender.stop <= now {
            return Time::MAX;
        }
        self.next
    }

    /// The instant at which the on-off pattern lets the next packet start; `None` if it does now.
    #[inline]
    pub(super) fn silent_until(&self, now: Time) -> Option<Time> {
        if !self.is_on_off {
            return None;
        }
        match self.sender.duty.gate(self.sender.start, now) {
            Gate::At(time) => Some(time),
            _ => None,
        }
    }

    /// Whether the pace, the on-off pattern and the window let the next packet start.
    pub(super) fn gate(&self, now: Time) -> Gate {
        if self.left == Bytes::ZERO || self.is_window_full() || self.sender.stop <= now {
            return Gate::Closed;
        }
        if now < self.next {
            return Gate::At(self.next);
        }
        self.sender.duty.gate(self.sender.start, now)
    }

    #[inline]
    fn is_window_full(&self) -> bool {
        let window = match self.sender.transport.window {
            Window::None => return false,
            Window::Fixed => u128::from(self.sender.window.get()),
            Window::FollowsRate => {
                let scaled = u128::from(self.sender.window.get()) * u128::from(self.rate.as_bps());
                (scaled / u128::from(self.sender.pace.as_bps())).max(1)
            }
        };
        // What has arrived out of order is not in the network any more.
        let gone = self.acknowledged.max(self.arrived);
        let in_flight = u128::from(self.number.saturating_sub(gone));
        in_flight * u128::from(self.packet.get()) >= window
    }

    /// Accounts for a packet that starts to leave.
    #[inline]
    pub(super) fn on_send(&mut self, now: Time, size: Bytes) -> Outgoing {
        if self.left != Bytes::MAX {
            self.left -= size;
        }
        let sequence = sequence_of(self.number);
        let entropy = if self.spraying.is_some() { self.spray(now) } else { Entropy::default() };
        self.number += 1;
        self.reached = self.reached.max(self.number);
        self.last_size = size;
        let span = if size == self.packet { self.span } else { self.pacing_rate().tx_span(size) };
        self.next = match self.pacing {
            // A frame that other frames have delayed catches up, but at most by one frame.
            Pacing::CatchUp => {
                let earliest = Time::from_ps(now.as_ps().saturating_sub(span.as_ps()));
                self.next.max(earliest) + span
            }
            Pacing::Strict | Pacing::Pace => now + span,
        };
        if self.is_awaiting && self.resend_at == Time::MAX {
            self.await_again(now);
        }
        if !matches!(self.sender.control, AnyReactionPoint::None { .. }) {
            let reacted = self.sender.control.send(now, Sent { size, sequence });
            self.adopt(now, reacted);
        }
        Outgoing::Data { flow: self.flow, sequence, entropy }
    }

    /// The entropy of the packet that is sent next.
    #[inline(never)]
    fn spray(&mut self, now: Time) -> Entropy {
        let Some(spraying) = &mut self.spraying else {
            return Entropy::default();
        };
        let entropy = spraying.source.on_send(now);
        if self.is_awaiting {
            let place = (self.number - self.acknowledged) as usize;
            match spraying.unacknowledged.get_mut(place) {
                Some(last) => *last = entropy,
                None => spraying.unacknowledged.push_back(entropy),
            }
        }
        entropy
    }

    /// Handles the news of the path that a packet of this entropy has taken.
    pub(super) fn on_path(&mut self, now: Time, entropy: Entropy, news: PathNews) {
        if let Some(spraying) = &mut self.spraying {
            spraying.source.on_news(now, entropy, news);
        }
    }

    /// Handles the news that the first unacknowledged packet is missing.
    fn blame_first(&mut self, now: Time, news: PathNews) {
        if let Some(spraying) = &mut self.spraying
            && let Some(entropy) = spraying.unacknowledged.front()
        {
            spraying.source.on_news(now, *entropy, news);
        }
    }

    /// Handles feedback, with the telemetry that the acknowledged packet has collected.
    #[inline]
    pub(super) fn on_feedback(&mut self, now: Time, feedback: Feedback, hops: &[Hop]) {
        if self.is_awaiting {
            match feedback {
                Feedback::Ack { sequence, .. } => {
                    if self.sender.transport.receiver != Receiver::InOrder {
                        self.arrived = (self.arrived + 1).min(self.reached);
                    }
                    self.acknowledge(now, sequence.next());
                }
                Feedback::Nack { expected, .. } => {
                    self.acknowledge(now, expected);
                    self.blame_first(now, PathNews::Missing);
                    self.go_back();
                }
                _ => {}
            }
        }
        let reacted = self.sender.control.react(now, feedback, hops);
        self.adopt(now, reacted);
    }

    /// Handles the news that the target has all packets before `expected`.
    fn acknowledge(&mut self, now: Time, expected: Sequence) {
        let mask = (1 << Sequence::BITS) - 1;
        let known = sequence_of(self.acknowledged);
        let more = u64::from(expected.0.wrapping_sub(known.0) & mask);
        // Old acknowledgements, and those of packets never sent, say nothing.
        if more == 0 || self.acknowledged + more > self.reached {
            return;
        }
        self.acknowledged += more;
        if let Some(spraying) = &mut self.spraying {
            let known = spraying.unacknowledged.len();
            spraying.unacknowledged.drain(..known.min(more as usize));
        }
        if self.number < self.acknowledged {
            self.go_back();
        }
        self.resend_at = Time::MAX;
        if self.acknowledged < self.reached {
            self.await_again(now);
        }
    }

    /// Continues with the first packet that is not acknowledged.
    fn go_back(&mut self) {
        self.number = self.acknowledged;
        self.arrived = self.acknowledged;
        if self.left != Bytes::MAX {
            let done = self.packet.get().saturating_mul(self.number);
            self.left = Bytes::new(self.sender.size.get().saturating_sub(done));
        }
    }

    /// Starts the retransmission timeout anew.
    fn await_again(&mut self, now: Time) {
        if let Recovery::GoBackN(config) = self.sender.transport.recovery
            && config.timeout != Span::MAX
        {
            self.resend_at = now.saturating_add(config.timeout);
        }
    }

    /// Handles a timer that was set for `due`; nothing happens if another timer has replaced it.
    pub(super) fn handle_timeout(&mut self, now: Time, due: Time) {
        if due != self.armed {
            return;
        }
        self.armed = Time::MAX;
        if self.resend_at <= now {
            self.blame_first(now, PathNews::TimedOut);
            self.go_back();
            self.resend_at = Time::MAX;
        }
        if self.react_at <= now {
            let control = &mut self.sender.control;
            control.handle_timeout(now);
            let reacted = Reacted { rate: control.rate(), timeout: control.poll_timeout() };
            self.adopt(now, reacted);
        }
    }

    /// The instant for which a new timer must be set, if it is earlier than the pending one.
    #[inline]
    pub(super) fn poll_armed(&mut self) -> Option<Time> {
        let due = self.react_at.min(self.resend_at);
        (due < self.armed).then(|| {
            self.armed = due;
            due
        })
    }

    /// The rate that decides when the next packet starts.
    #[inline]
    fn pacing_rate(&self) -> Rate {
        match self.pacing {
            Pacing::CatchUp | Pacing::Strict => self.rate,
            Pacing::Pace => self.sender.pace,
        }
    }

    /// Takes over the timer and the rate of the reaction point.
    #[inline]
    fn adopt(&mut self, now: Time, reacted: Reacted) {
        self.react_at = reacted.timeout;
        let rate = self.sender.pace.min(reacted.rate);
        if rate != self.rate {
            self.change_rate(now, rate);
        }
    }

    fn change_rate(&mut self, now: Time, rate: Rate) {
        let old = core::mem::replace(&mut self.rate, rate);
        self.span = self.pacing_rate().tx_span(self.packet);
        match self.pacing {
            // The rest of the wait for the next packet is rescaled, lest one packet sent at a low
            // rate delays all that follow at a high one.
            Pacing::CatchUp => {
                let left = self.next.saturating_since(now);
                if left > Span::ZERO {
                    let left = left.scale_up(old.as_bps(), rate.as_nonzero());
                    self.next = now.saturating_add(left);
                }
            }
            // HPCC's source behaves as if the last packet had been sent at the new rate.
            Pacing::Strict => {
                if matches!(self.sender.control, AnyReactionPoint::Hpcc(_)) {
                    let size = self.last_size;
                    let (old, new) = (old.tx_span(size), rate.tx_span(size));
                    let next = self.next.as_ps().saturating_add(new.as_ps());
                    self.next = Time::from_ps(next.saturating_sub(old.as_ps()));
                }
            }
            Pacing::Pace => {}
        }
    }
}
