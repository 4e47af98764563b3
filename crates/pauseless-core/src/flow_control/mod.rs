//! Hop-by-hop flow control, each scheme as two halves around one (link, class).
//!
//! The [`Downstream`] half watches one ingress counter and emits [`Signal`]s;
//! the [`Upstream`] half at the other end of the link gates one egress queue.
//! To add a scheme: one file here with its two halves, and one arm in [`FlowControl`],
//! [`AnyUpstream`] and [`AnyDownstream`].

pub mod cbfc;
pub mod gfc;
pub mod limiter;
pub mod pfc;

use alloc::boxed::Box;

use crate::id::Class;
use crate::unit::{Bytes, Rate, Span, Time};

/// May a frame start now?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Yes.
    Open,
    /// Not before this instant, unless a signal changes that.
    At(Time),
    /// Not before a signal says so.
    Closed,
}

impl Gate {
    /// Open when both are; otherwise when the first one that must open does.
    #[must_use]
    pub fn and(self, other: Gate) -> Gate {
        match self {
            Gate::Open => other,
            shut => shut,
        }
    }
}

/// What a downstream half tells its upstream half about one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// PFC: stop for so many quanta of 512 bit times; 0 resumes.
    Pause {
        /// The `Time[class]` field of the frame.
        quanta: u16,
    },
    /// InfiniBand link packet: what the sender of this packet has sent and what it grants.
    Credit {
        /// Blocks sent in the packet's own direction since the link came up.
        fctbs: u32,
        /// Credit limit granted for the opposite direction.
        fccl: u32,
    },
    /// Buffer-based GFC: the stage that the queue has entered, in the `Time[class]` field.
    Stage(u16),
    /// Time-based GFC: free bytes of the ingress buffer when the message was made.
    Free(Bytes),
    /// Conceptual GFC: bytes in the ingress buffer, continuously and at no cost in bandwidth.
    Level(Bytes),
}

/// A control frame: a signal and the class that it speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// Whose queue it speaks of.
    pub class: Class,
    /// What it says.
    pub signal: Signal,
}

impl Control {
    /// Every control frame is one minimum Ethernet frame.
    pub const SIZE: Bytes = Bytes::new(64);
}

/// The egress side of a (link, class).
pub trait Upstream {
    /// A signal of the other half has taken effect.
    fn on_signal(&mut self, now: Time, signal: Signal);
    /// A frame of `size` bytes starts.
    fn on_transmit(&mut self, now: Time, size: Bytes);
    /// Whether a frame of `size` bytes may start.
    fn gate(&self, now: Time, size: Bytes) -> Gate;
    /// Whether the other half has stopped this one from sending a frame of `size` bytes.
    /// A half that only waits for its own pace is not stopped.
    fn is_stopped(&self, now: Time, size: Bytes) -> bool;
    /// The rate at which this half may send on the long run: `None` while it may not at all.
    fn rate(&self, now: Time) -> Option<Rate>;
}

/// The ingress side of a (link, class).
pub trait Downstream {
    /// A packet charged with `size` bytes was added; `held` counts it already.
    fn on_enqueue(&mut self, now: Time, size: Bytes, held: Bytes);
    /// A packet charged with `size` bytes has left; `held` no longer counts it.
    fn on_dequeue(&mut self, now: Time, size: Bytes, held: Bytes);
    /// Whether [`Downstream::poll_signal`] would return something.
    fn has_signal(&self, now: Time) -> bool;
    /// The newest thing to say. Signals that were overtaken before they could leave are not sent.
    fn poll_signal(&mut self, now: Time) -> Option<Signal>;
    /// When to ask again although nothing was enqueued or dequeued.
    fn poll_timeout(&self) -> Option<Time>;
    /// Whether the upstream half, blocked now with a head frame of `head` bytes, stays blocked
    /// for ever if `kept` bytes of this buffer never leave and everything else does.
    fn keeps_blocked(&self, kept: Bytes, head: Bytes) -> bool;
    /// How often this half has told its peer to go on after it told it to stop.
    /// The deadlock detector compares it with what the peer has heard, which is never more: a message
    /// that was lost is missing there for good.
    fn resumes(&self) -> u32;
    /// When it did so last; [`Time::ZERO`] if never.
    fn resumed_at(&self) -> Time;
}

/// A scheme with its parameters, as configured for one (ingress port, class).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FlowControl {
    /// Nothing holds the sender back; a full buffer drops.
    None,
    /// IEEE 802.1Qbb.
    Pfc(pfc::Config),
    /// InfiniBand credits.
    Cbfc(cbfc::Config),
    /// GFC with a message on every stage crossing.
    GfcBuffer(gfc::BufferConfig),
    /// GFC with a message every period.
    GfcTime(gfc::TimeConfig),
    /// GFC with continuous feedback.
    GfcConceptual(gfc::ConceptualConfig),
}

/// Any upstream half, dispatched by `match`.
#[derive(Clone, Debug)]
pub enum AnyUpstream {
    /// Never held back.
    None {
        /// The link's rate.
        line: Rate,
    },
    /// See [`pfc`].
    Pfc(pfc::PfcUpstream),
    /// See [`cbfc`].
    Cbfc(cbfc::CbfcUpstream),
    /// See [`gfc`]. Boxed, so that ports without a rate limiter stay small.
    Gfc(Box<gfc::GfcUpstream>),
}

/// Any downstream half, dispatched by `match`.
#[derive(Clone, Debug)]
pub enum AnyDownstream {
    /// Says nothing.
    None,
    /// See [`pfc`].
    Pfc(pfc::PfcDownstream),
    /// See [`cbfc`].
    Cbfc(cbfc::CbfcDownstream),
    /// See [`gfc`].
    GfcBuffer(gfc::BufferDownstream),
    /// See [`gfc`].
    GfcTime(gfc::TimeDownstream),
    /// See [`gfc`].
    GfcConceptual(gfc::ConceptualDownstream),
}

impl FlowControl {
    /// The upstream half for a link of rate `line` whose far end is configured like this.
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
        }
    }

    /// The downstream half for the receiving end of a link of rate `line`.
    /// Periodic schemes send their first message after `phase`.
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
        }
    }

    /// The period of its messages, for schemes that have one.
    pub fn period(&self) -> Option<Span> {
        match self {
            FlowControl::Cbfc(config) => Some(config.period),
            FlowControl::GfcTime(config) => Some(config.period),
            _ => None,
        }
    }

    /// What a frame of `size` bytes takes of the buffer: credits are counted in whole blocks.
    #[inline]
    pub fn charge(&self, size: Bytes) -> Bytes {
        match self {
            FlowControl::Cbfc(_) => cbfc::BLOCK * cbfc::blocks(size),
            _ => size,
        }
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
        }
    }
}

impl Upstream for AnyUpstream {
    fn on_signal(&mut self, now: Time, signal: Signal) {
        match self {
            AnyUpstream::None { .. } => {}
            AnyUpstream::Pfc(half) => half.on_signal(now, signal),
            AnyUpstream::Cbfc(half) => half.on_signal(now, signal),
            AnyUpstream::Gfc(half) => half.on_signal(now, signal),
        }
    }

    #[inline]
    fn on_transmit(&mut self, now: Time, size: Bytes) {
        match self {
            AnyUpstream::None { .. } | AnyUpstream::Pfc(_) => {}
            AnyUpstream::Cbfc(half) => half.on_transmit(now, size),
            AnyUpstream::Gfc(half) => half.on_transmit(now, size),
        }
    }

    #[inline]
    fn gate(&self, now: Time, size: Bytes) -> Gate {
        match self {
            AnyUpstream::None { .. } => Gate::Open,
            AnyUpstream::Pfc(half) => half.gate(now, size),
            AnyUpstream::Cbfc(half) => half.gate(now, size),
            AnyUpstream::Gfc(half) => half.gate(now, size),
        }
    }

    #[inline]
    fn is_stopped(&self, now: Time, size: Bytes) -> bool {
        match self {
            AnyUpstream::None { .. } => false,
            AnyUpstream::Pfc(half) => half.is_stopped(now, size),
            AnyUpstream::Cbfc(half) => half.is_stopped(now, size),
            AnyUpstream::Gfc(half) => half.is_stopped(now, size),
        }
    }

    fn rate(&self, now: Time) -> Option<Rate> {
        match self {
            AnyUpstream::None { line } => Some(*line),
            AnyUpstream::Pfc(half) => half.rate(now),
            AnyUpstream::Cbfc(half) => half.rate(now),
            AnyUpstream::Gfc(half) => half.rate(now),
        }
    }
}

impl AnyUpstream {
    /// How many resumes have taken effect here; see [`Downstream::resumes`].
    pub fn resumes(&self) -> u32 {
        match self {
            AnyUpstream::None { .. } | AnyUpstream::Cbfc(_) => 0,
            AnyUpstream::Pfc(half) => half.resumes(),
            AnyUpstream::Gfc(half) => half.resumes(),
        }
    }

    /// Whether sending can close the gate by itself, and for large frames earlier than for small.
    #[inline]
    pub fn spends_credit(&self) -> bool {
        matches!(self, AnyUpstream::Cbfc(_))
    }

    /// How many credit blocks this half has used, for the peer's link packet.
    fn fctbs(&self) -> u32 {
        match self {
            AnyUpstream::Cbfc(half) => half.fctbs(),
            AnyUpstream::Gfc(half) => half.fctbs(),
            _ => 0,
        }
    }

    /// Completes a signal that is about to leave with what only the upstream half of the same
    /// port knows: a link packet tells both what was sent and what is granted.
    pub fn complete(&self, signal: Signal) -> Signal {
        match signal {
            Signal::Credit { fccl, .. } => Signal::Credit {
                fctbs: self.fctbs(),
                fccl,
            },
            other => other,
        }
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

    fn keeps_blocked(&self, kept: Bytes, head: Bytes) -> bool {
        each_downstream!(self, half => half.keeps_blocked(kept, head), none => false)
    }

    fn resumes(&self) -> u32 {
        each_downstream!(self, half => half.resumes(), none => 0)
    }

    fn resumed_at(&self) -> Time {
        each_downstream!(self, half => half.resumed_at(), none => Time::ZERO)
    }
}

impl AnyDownstream {
    /// Whether a message that lets `peer` go on may still be on its way to it. What was said before
    /// `settled` has been heard or is lost; [`Time::ZERO`] where nothing is ever lost.
    pub fn is_resume_on_its_way(&self, peer: &AnyUpstream, settled: Time) -> bool {
        peer.resumes() != self.resumes() && self.resumed_at() >= settled
    }

    /// A shared memory has decided; only PFC obeys, see [`pfc::Config::commanded`].
    pub fn set_pausing(&mut self, is_pausing: bool) {
        if let AnyDownstream::Pfc(half) = self {
            half.set_pausing(is_pausing);
        }
    }

    /// A link packet has arrived: its `fctbs` is the true count of what the peer has sent, so the
    /// receiver takes it over at once, in the order of the wire, before the packet is processed.
    pub fn handle_peer_count(&mut self, fctbs: u32) {
        match self {
            AnyDownstream::Cbfc(half) => half.resynchronise(fctbs),
            AnyDownstream::GfcTime(half) => half.resynchronise(fctbs),
            _ => {}
        }
    }

    /// A packet charged with `size` bytes has arrived and was dropped on aim, before it took any
    /// buffer: what its sender has spent on it can be spent again.
    pub fn handle_discard(&mut self, size: Bytes) {
        match self {
            AnyDownstream::Cbfc(half) => half.discard(size),
            AnyDownstream::GfcTime(half) => half.discard(size),
            _ => {}
        }
    }
}
