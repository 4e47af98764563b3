//! Hop-by-hop flow control, each scheme as two halves around one (link, class).
//!
//! The [`Downstream`] half watches one ingress counter and emits [`Signal`]s;
//! the [`Upstream`] half at the other end of the link gates one egress queue.
//! To add a scheme: one file here with its two halves, and one arm in [`FlowControl`],
//! [`AnyUpstream`] and [`AnyDownstream`]. In another crate it takes no arm, see [`outside`].

pub mod cbfc;
pub mod gfc;
pub mod limiter;
pub mod outside;
pub mod pfc;

use alloc::boxed::Box;

use crate::id::Class;
use crate::outside::{Outside, aside};
use crate::unit::{Bytes, Rate, Span, Time};
use outside::{BoxedDownstream, BoxedUpstream, FlowControlScheme};

/// Whether a frame may start now, and if not, when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// A frame may start now.
    Open,
    /// A frame may start at this instant, unless a signal changes that.
    At(Time),
    /// No frame may start before a signal says so.
    Closed,
}

impl Gate {
    /// Open if both gates are; otherwise this one if it is shut, else the other.
    #[must_use]
    pub fn and(self, other: Gate) -> Gate {
        match self {
            Gate::Open => other,
            shut => shut,
        }
    }
}

/// A message of a receiver to its sender about one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// PFC: stop for this many quanta of 512 bit times; 0 resumes.
    Pause {
        /// The `Time[class]` field of the frame.
        quanta: u16,
    },
    /// InfiniBand link packet: the blocks that the sender of this packet has sent, and those that
    /// it grants.
    Credit {
        /// The blocks sent in the packet's own direction since the link came up.
        fctbs: u32,
        /// The credit limit granted for the opposite direction.
        fccl: u32,
    },
    /// Buffer-based GFC: the stage that the queue has entered, in the `Time[class]` field.
    Stage(u16),
    /// Time-based GFC: the free bytes of the ingress buffer when the message was made.
    Free(Bytes),
    /// Conceptual GFC: the bytes in the ingress buffer, reported continuously and at no cost in
    /// bandwidth.
    Level(Bytes),
    /// The private message of a scheme of another crate. No frame on real wires carries it.
    Outside([u8; 8]),
}

impl Signal {
    /// This signal with the sender's count of blocks, if it is a link packet.
    fn counting(self, fctbs: u32) -> Signal {
        match self {
            Signal::Credit { fccl, .. } => Signal::Credit { fctbs, fccl },
            other => other,
        }
    }
}

/// A control frame: a signal and the class that it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// The class that it is about.
    pub class: Class,
    /// The message of the scheme, such as a PAUSE or a credit limit.
    pub signal: Signal,
}

impl Control {
    /// Every control frame is one minimum Ethernet frame.
    pub const SIZE: Bytes = Bytes::new(64);
}

/// The sender's half of a (link, class), at an egress.
pub trait Upstream {
    /// Handles a signal of the receiver that takes effect now.
    fn on_signal(&mut self, now: Time, signal: Signal);
    /// Accounts for a frame of `size` bytes that starts now.
    fn on_transmit(&mut self, _now: Time, _size: Bytes) {}
    /// Whether a frame of `size` bytes may start.
    fn gate(&self, now: Time, size: Bytes) -> Gate;
    /// Whether the receiver has stopped this sender from sending a frame of `size` bytes. A sender
    /// that only waits for its own pace is not stopped: the deadlock detector considers only queues
    /// that are stopped.
    fn is_stopped(&self, now: Time, size: Bytes) -> bool;
    /// The rate at which this half may send in the long run; `None` while it may not send at all.
    fn rate(&self, now: Time) -> Option<Rate>;
    /// How many of the messages that [`Downstream::resumes`] counts have taken effect here; 0 if it
    /// counts none.
    fn resumes(&self) -> u32;
    /// Whether sending can close the gate by itself, and for large frames earlier than for small
    /// ones, as where credits are spent.
    fn spends_credit(&self) -> bool {
        false
    }
    /// Adds to a signal that the receiver's half of the same port is about to send what only this
    /// half knows: an InfiniBand link packet carries both the blocks sent and the limit granted.
    fn complete(&self, signal: Signal) -> Signal {
        signal
    }
}

/// The receiver's half of a (link, class), at an ingress.
pub trait Downstream {
    /// Accounts for a packet charged with `size` bytes, which `held` includes already.
    fn on_enqueue(&mut self, now: Time, size: Bytes, held: Bytes);
    /// Accounts for the departure of a packet charged with `size` bytes, which `held` no longer
    /// includes.
    fn on_dequeue(&mut self, now: Time, size: Bytes, held: Bytes);
    /// Whether [`Downstream::poll_signal`] would return something.
    fn has_signal(&self, now: Time) -> bool;
    /// The newest message. Messages that were overtaken before they could leave are not sent.
    fn poll_signal(&mut self, now: Time) -> Option<Signal>;
    /// When to ask again if nothing is enqueued or dequeued.
    fn poll_timeout(&self) -> Option<Time>;
    /// Handles the instant that [`Downstream::poll_timeout`] named; whether there is a message then is
    /// asked afterwards.
    fn handle_timeout(&mut self, _now: Time) {}
    /// Whether the upstream half, blocked now with a head frame of `head` bytes, stays blocked
    /// for ever if `kept` bytes of this buffer never leave and everything else does.
    ///
    /// The verdict of the deadlock detector is as exact as this answer. Where it is `false` although
    /// the sender would stay blocked, deadlocks are missed; where it is `true` although the sender would
    /// be let go on, deadlocks are reported that are none. With more bytes kept it must not turn false.
    fn keeps_blocked(&self, kept: Bytes, head: Bytes) -> bool;
    /// How often this half has resumed its peer after stopping it; 0 for schemes in which every
    /// message is complete in itself, so that [`Downstream::keeps_blocked`] need not know what is on its
    /// way.
    ///
    /// The deadlock detector compares it with what the peer has heard, which is never more: a message
    /// that was lost is missing there for good. While they differ, a message that opens the gate is on
    /// its way and the peer is not blocked.
    fn resumes(&self) -> u32;
    /// When it last did so; [`Time::ZERO`] if never.
    fn resumed_at(&self) -> Time;
    /// Handles a signal that has arrived for the sender's half of the same port, where it takes
    /// effect later. What it says about the peer itself, such as its count of blocks, holds from
    /// now on, in the order of the wire. See [`Upstream::complete`].
    fn on_peer_signal(&mut self, _signal: Signal) {}
    /// Accounts for a packet charged with `size` bytes that was dropped on purpose before it took
    /// any buffer: its sender gets the credits back.
    fn on_discard(&mut self, _size: Bytes) {}
}

/// A scheme with its parameters, as configured for one (ingress port, class).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FlowControl {
    /// Nothing holds the sender back; a full buffer drops.
    None,
    /// PFC, IEEE 802.1Qbb; see [`pfc`].
    Pfc(pfc::Config),
    /// CBFC, InfiniBand's credits; see [`cbfc`].
    Cbfc(cbfc::Config),
    /// Buffer-based GFC, with a message at every stage crossing; see [`gfc`].
    GfcBuffer(gfc::BufferConfig),
    /// Time-based GFC, with a message every period; see [`gfc`].
    GfcTime(gfc::TimeConfig),
    /// Conceptual GFC, with continuous feedback; see [`gfc`].
    GfcConceptual(gfc::ConceptualConfig),
    /// A scheme of another crate.
    Outside(Outside<dyn FlowControlScheme>),
}

/// Any sender's half, dispatched by `match`.
#[derive(Clone, Debug)]
pub enum AnyUpstream {
    /// A sender that nothing holds back.
    None {
        /// The rate of the link.
        line: Rate,
    },
    /// The sender's half of PFC, which obeys PAUSE frames.
    Pfc(pfc::PfcUpstream),
    /// The sender's half of CBFC, which spends credits.
    Cbfc(cbfc::CbfcUpstream),
    /// The sender's half of GFC, boxed so that ports without a rate limiter stay small.
    Gfc(Box<gfc::GfcUpstream>),
    /// The sender's half of an outside scheme.
    Outside(Box<dyn BoxedUpstream>),
}

/// Any receiver's half, dispatched by `match`.
#[derive(Clone, Debug)]
pub enum AnyDownstream {
    /// A receiver that sends no messages.
    None,
    /// The receiver's half of PFC, which sends PAUSE frames.
    Pfc(pfc::PfcDownstream),
    /// The receiver's half of CBFC, which grants credits.
    Cbfc(cbfc::CbfcDownstream),
    /// The receiver's half of buffer-based GFC.
    GfcBuffer(gfc::BufferDownstream),
    /// The receiver's half of time-based GFC.
    GfcTime(gfc::TimeDownstream),
    /// The receiver's half of conceptual GFC.
    GfcConceptual(gfc::ConceptualDownstream),
    /// The receiver's half of an outside scheme.
    Outside(Box<dyn BoxedDownstream>),
}

impl FlowControl {
    /// A scheme of another crate, whose parameters stay in memory for good: see [`Outside`].
    pub fn outside(scheme: impl FlowControlScheme) -> FlowControl {
        FlowControl::Outside(Outside::leak(Box::new(scheme)))
    }

    /// The sender's half for a link of rate `line` whose far end is configured like this.
    pub fn upstream(&self, line: Rate) -> AnyUpstream {
        match self {
            FlowControl::None => AnyUpstream::None { line },
            FlowControl::Pfc(config) => AnyUpstream::Pfc(pfc::PfcUpstream::facing(config, line)),
            FlowControl::Cbfc(config) => AnyUpstream::Cbfc(cbfc::CbfcUpstream::new(config, line)),
            FlowControl::GfcBuffer(config) => {
                AnyUpstream::Gfc(Box::new(gfc::GfcUpstream::buffer(config, line)))
            }
            FlowControl::GfcTime(config) => {
                AnyUpstream::Gfc(Box::new(gfc::GfcUpstream::time(config, line)))
            }
            FlowControl::GfcConceptual(config) => {
                AnyUpstream::Gfc(Box::new(gfc::GfcUpstream::conceptual(config, line)))
            }
            FlowControl::Outside(scheme) => AnyUpstream::Outside(scheme.upstream(line)),
        }
    }

    /// The receiver's half for a link of rate `line`. Periodic schemes send their first message
    /// after `phase`.
    pub fn downstream(&self, line: Rate, phase: Span) -> AnyDownstream {
        match self {
            FlowControl::None => AnyDownstream::None,
            FlowControl::Pfc(config) => AnyDownstream::Pfc(pfc::PfcDownstream::new(config, line)),
            FlowControl::Cbfc(config) => {
                AnyDownstream::Cbfc(cbfc::CbfcDownstream::new(config, phase))
            }
            FlowControl::GfcBuffer(config) => {
                AnyDownstream::GfcBuffer(gfc::BufferDownstream::new(config))
            }
            FlowControl::GfcTime(config) => {
                AnyDownstream::GfcTime(gfc::TimeDownstream::new(config, phase))
            }
            FlowControl::GfcConceptual(config) => {
                AnyDownstream::GfcConceptual(gfc::ConceptualDownstream::new(config))
            }
            FlowControl::Outside(scheme) => AnyDownstream::Outside(scheme.downstream(line, phase)),
        }
    }

    /// The period of its messages; `None` for schemes without one.
    pub fn period(&self) -> Option<Span> {
        match self {
            FlowControl::Cbfc(config) => Some(config.period),
            FlowControl::GfcTime(config) => Some(config.period),
            FlowControl::Outside(scheme) => scheme.period(),
            _ => None,
        }
    }

    /// The unit in which the buffer is counted: blocks for credits, one byte for everything else.
    pub fn cell(&self) -> Bytes {
        match self {
            FlowControl::Cbfc(_) => cbfc::BLOCK,
            FlowControl::Outside(scheme) => scheme.cell(),
            _ => Bytes::new(1),
        }
    }

    /// The bytes that a frame of `size` bytes takes of the buffer.
    pub fn charge(&self, size: Bytes) -> Bytes {
        Bytes::new(size.get().next_multiple_of(self.cell().get()))
    }

    /// Whether its senders have a rate limiter, see [`limiter`].
    pub fn has_limiter(&self) -> bool {
        use FlowControl::{GfcBuffer, GfcConceptual, GfcTime};
        matches!(self, GfcBuffer(_) | GfcTime(_) | GfcConceptual(_))
    }

    /// Whether its messages have frames of their own on real wires, see `pauseless_wire::control`.
    pub fn has_frames(&self) -> bool {
        !matches!(self, FlowControl::GfcConceptual(_) | FlowControl::Outside(_))
    }

    /// The scheme's name in scenario files and reports.
    pub fn name(&self) -> &'static str {
        match self {
            FlowControl::None => "none",
            FlowControl::Pfc(_) => "pfc",
            FlowControl::Cbfc(_) => "cbfc",
            FlowControl::GfcBuffer(_) => "gfc-buffer",
            FlowControl::GfcTime(_) => "gfc-time",
            FlowControl::GfcConceptual(_) => "gfc-conceptual",
            FlowControl::Outside(scheme) => scheme.name(),
        }
    }
}

macro_rules! each_upstream {
    ($self:expr, $half:ident => $call:expr, $line:pat => $none:expr) => {
        match $self {
            AnyUpstream::None { line: $line } => $none,
            AnyUpstream::Pfc($half) => $call,
            AnyUpstream::Cbfc($half) => $call,
            AnyUpstream::Gfc($half) => $call,
            AnyUpstream::Outside($half) => aside(move || $call),
        }
    };
}

impl Upstream for AnyUpstream {
    fn on_signal(&mut self, now: Time, signal: Signal) {
        each_upstream!(self, half => half.on_signal(now, signal), _ => ());
    }

    #[inline]
    fn on_transmit(&mut self, now: Time, size: Bytes) {
        each_upstream!(self, half => half.on_transmit(now, size), _ => ());
    }

    #[inline]
    fn gate(&self, now: Time, size: Bytes) -> Gate {
        each_upstream!(self, half => half.gate(now, size), _ => Gate::Open)
    }

    #[inline]
    fn is_stopped(&self, now: Time, size: Bytes) -> bool {
        each_upstream!(self, half => half.is_stopped(now, size), _ => false)
    }

    fn rate(&self, now: Time) -> Option<Rate> {
        each_upstream!(self, half => half.rate(now), line => Some(*line))
    }

    fn resumes(&self) -> u32 {
        each_upstream!(self, half => half.resumes(), _ => 0)
    }

    #[inline]
    fn spends_credit(&self) -> bool {
        each_upstream!(self, half => half.spends_credit(), _ => false)
    }

    fn complete(&self, signal: Signal) -> Signal {
        each_upstream!(self, half => half.complete(signal), _ => signal)
    }
}

macro_rules! each_downstream {
    ($self:expr, $half:ident => $call:expr, none => $none:expr) => {
        match $self {
            AnyDownstream::None => $none,
            AnyDownstream::Pfc($half) => $call,
            AnyDownstream::Cbfc($half) => $call,
            AnyDownstream::GfcBuffer($half) => $call,
            AnyDownstream::GfcTime($half) => $call,
            AnyDownstream::GfcConceptual($half) => $call,
            AnyDownstream::Outside($half) => aside(move || $call),
        }
    };
}

impl Downstream for AnyDownstream {
    #[inline]
    fn on_enqueue(&mut self, now: Time, size: Bytes, held: Bytes) {
        each_downstream!(self, half => half.on_enqueue(now, size, held), none => ());
    }

    #[inline]
    fn on_dequeue(&mut self, now: Time, size: Bytes, held: Bytes) {
        each_downstream!(self, half => half.on_dequeue(now, size, held), none => ());
    }

    #[inline]
    fn has_signal(&self, now: Time) -> bool {
        each_downstream!(self, half => half.has_signal(now), none => false)
    }

    fn poll_signal(&mut self, now: Time) -> Option<Signal> {
        each_downstream!(self, half => half.poll_signal(now), none => None)
    }

    fn poll_timeout(&self) -> Option<Time> {
        each_downstream!(self, half => half.poll_timeout(), none => None)
    }

    fn handle_timeout(&mut self, now: Time) {
        each_downstream!(self, half => half.handle_timeout(now), none => ());
    }

    fn keeps_blocked(&self, kept: Bytes, head: Bytes) -> bool {
        each_downstream!(self, half => half.keeps_blocked(kept, head), none => false)
    }

    fn resumes(&self) -> u32 {
        each_downstream!(self, half => half.resumes(), none => 0)
    }

    fn resumed_at(&self) -> Time {
        each_downstream!(self, half => half.resumed_at(), none => Time::ZERO)
    }

    fn on_peer_signal(&mut self, signal: Signal) {
        each_downstream!(self, half => half.on_peer_signal(signal), none => ());
    }

    fn on_discard(&mut self, size: Bytes) {
        each_downstream!(self, half => half.on_discard(size), none => ());
    }
}

impl AnyUpstream {
    /// The instant from which on a frame of any size may start, and sending changes nothing, until the
    /// next signal; [`Time::MAX`] if every frame matters.
    #[inline]
    pub(crate) fn opens_at(&self) -> Time {
        match self {
            AnyUpstream::None { .. } => Time::ZERO,
            AnyUpstream::Pfc(half) => half.until(),
            AnyUpstream::Cbfc(_) | AnyUpstream::Gfc(_) | AnyUpstream::Outside(_) => Time::MAX,
        }
    }

    /// Whether credits are counted here, and cover a frame of `size` bytes.
    #[inline(always)]
    pub(crate) fn has_credit(&self, size: Bytes) -> bool {
        matches!(self, AnyUpstream::Cbfc(half) if half.covers(size))
    }
}

impl AnyDownstream {
    /// The bounds of a half that has to know of every packet.
    pub(crate) const LOUD: (Bytes, Bytes) = (Bytes::MAX, Bytes::ZERO);

    /// Whether there are packets that it need not know of.
    #[inline]
    pub(crate) fn may_be_quiet(&self) -> bool {
        matches!(self, AnyDownstream::None | AnyDownstream::Pfc(_) | AnyDownstream::GfcBuffer(_))
    }

    /// The least and the most that the counter may show such that a packet that comes or goes changes
    /// nothing here, before the next timeout.
    #[inline]
    pub(crate) fn quiet(&self) -> (Bytes, Bytes) {
        match self {
            AnyDownstream::None => (Bytes::ZERO, Bytes::MAX),
            AnyDownstream::Pfc(half) => half.quiet(),
            AnyDownstream::GfcBuffer(half) => half.quiet(),
            _ => AnyDownstream::LOUD,
        }
    }

    /// [`Downstream::on_enqueue`], and whether there is a message then.
    #[inline(always)]
    pub(crate) fn enqueue(&mut self, now: Time, size: Bytes, held: Bytes) -> bool {
        each_downstream!(self, half => {
            half.on_enqueue(now, size, held);
            half.has_signal(now)
        }, none => false)
    }

    /// [`Downstream::on_dequeue`], and whether there is a message then.
    #[inline(always)]
    pub(crate) fn dequeue(&mut self, now: Time, size: Bytes, held: Bytes) -> bool {
        each_downstream!(self, half => {
            half.on_dequeue(now, size, held);
            half.has_signal(now)
        }, none => false)
    }

    /// Whether a message that resumes `peer` may still be on its way. Messages sent before
    /// `settled` have arrived or were lost; [`Time::ZERO`] where none is ever lost.
    pub fn is_resume_on_its_way(&self, peer: &AnyUpstream, settled: Time) -> bool {
        peer.resumes() != self.resumes() && self.resumed_at() >= settled
    }

    /// Forgets how much has arrived, where that is counted, because the link has come up anew: what is
    /// held stays.
    pub(crate) fn forget_arrivals(&mut self) {
        if matches!(self, AnyDownstream::Cbfc(_) | AnyDownstream::GfcTime(_)) {
            self.on_peer_signal(Signal::Credit { fctbs: 0, fccl: 0 });
        }
    }

    /// What this half says while the link comes up, before any frame, from where on its period counts.
    /// PFC, and schemes of others, say nothing then.
    pub(crate) fn introduce(&mut self, now: Time) -> Option<Signal> {
        match self {
            AnyDownstream::None | AnyDownstream::Pfc(_) | AnyDownstream::Outside(_) => return None,
            AnyDownstream::Cbfc(half) => half.restart(now),
            AnyDownstream::GfcTime(half) => half.restart(now),
            AnyDownstream::GfcBuffer(_) | AnyDownstream::GfcConceptual(_) => {}
        }
        self.poll_signal(now)
    }

    /// Takes over the decision of a shared memory; only PFC follows it, see
    /// [`pfc::Config::commanded`].
    pub fn set_pausing(&mut self, is_pausing: bool) {
        if let AnyDownstream::Pfc(half) = self {
            half.set_pausing(is_pausing);
        }
    }
}

// Ports without a boxed half pay for it neither in time nor in memory.
const _: () = assert!(size_of::<AnyUpstream>() == 32);
const _: () = assert!(size_of::<AnyDownstream>() == 64);
const _: () = assert!(size_of::<Signal>() == 16);
