//! What sources and targets do beside congestion control: how far a source may run ahead of its
//! acknowledgements, what is done about a packet that is missing, and how sources are paced.
//!
//! **Models** the reliable transport of RoCE NICs: cumulative acknowledgements, a window, and
//! go-back-N, where a target takes packets in order only and asks for the first that is missing.
//!
//! **Source** ib-a17 for acknowledgements; the HPCC authors' public simulator for the interval
//! between two negative acknowledgements and for pacing that makes up for nothing.
//!
//! **Deviates** A source that learns more than it has sent again goes on behind what is
//! acknowledged, where that simulator would send it once more.
//!
//! **States** of a target with go-back-N, by the number of the packet that arrives:
//! ```text
//!   expected: taken, acknowledged | later: thrown away, a NACK now and then | earlier: thrown away
//! ```
//!
//! **Not modelled** selective acknowledgements, retries that give up.

use crate::congestion::{Feedback, Sequence};
use crate::unit::{Bytes, Span};

/// How all flows are carried. By default a source sends and forgets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transport {
    /// What is done about packets that are missing.
    pub recovery: Recovery,
    /// Whether sources run ahead of their acknowledgements as far as they like.
    pub window: Window,
    /// When a flow counts as finished.
    pub finish: Finish,
    /// When the next packet of a flow may start.
    pub pacing: Pacing,
    /// Frame bytes of what sources are told.
    pub sizes: AnswerSizes,
}

impl Transport {
    /// Whether a source stays until its last packet is acknowledged.
    pub fn awaits(&self) -> bool {
        self.recovery != Recovery::None
            || self.window != Window::None
            || self.finish == Finish::Source
    }
}

/// What is done about packets that are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// Nothing: the flow never finishes.
    #[default]
    None,
    /// The source sends again from the first that is missing.
    GoBackN(GoBackN),
}

/// The parameters of go-back-N retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoBackN {
    /// At most one NACK for the same packet in this time.
    pub nack_interval: Span,
    /// A source that has heard nothing new for so long sends again what is not acknowledged;
    /// [`Span::MAX`] for never, so that a flow whose last packets were lost does not finish.
    pub timeout: Span,
}

impl Default for GoBackN {
    /// That of the HPCC authors' simulator.
    fn default() -> GoBackN {
        GoBackN { nack_interval: Span::us(500), timeout: Span::MAX }
    }
}

/// How far sources run ahead. How many bytes that are is a matter of each flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Window {
    /// As far as they like.
    #[default]
    None,
    /// No packet starts while so many bytes or more are unacknowledged.
    Fixed,
    /// The same, where the window shrinks with the rate: it is what was given at the line rate.
    FollowsRate,
}

/// When a flow counts as finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Finish {
    /// When its target has its last byte.
    #[default]
    Target,
    /// When its source knows that.
    Source,
}

/// When the next packet of a flow may start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pacing {
    /// A frame that had to wait its turn makes up for that, but for one frame at the most, and
    /// what is left of a wait is rescaled when the rate changes.
    #[default]
    CatchUp,
    /// A frame takes its time at the rate that it was sent with, from the instant when it started.
    Strict,
    /// The same at the flow's own pace, whatever congestion control says: that rules windows only.
    Pace,
}

/// Frame bytes of what sources are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerSizes {
    /// An acknowledgement, of either kind.
    pub ack: Bytes,
    /// A congestion notification of a target, and whatever an outside scheme says.
    pub cnp: Bytes,
}

impl AnswerSizes {
    /// Frame bytes of the packet that carries `feedback`.
    #[inline]
    pub fn of(&self, feedback: Feedback) -> Bytes {
        match feedback {
            Feedback::Ack { .. } | Feedback::Nack { .. } => self.ack,
            Feedback::Cnp | Feedback::Receiving { .. } | Feedback::Outside(_) => self.cnp,
            Feedback::Congestion { .. } => Feedback::CNM_SIZE,
        }
    }
}

impl Default for AnswerSizes {
    /// As they are on the wire.
    fn default() -> AnswerSizes {
        AnswerSizes { ack: Feedback::ACK_SIZE, cnp: Feedback::CNP_SIZE }
    }
}

/// How many packets a flow has; `u64::MAX` for one without end.
pub fn packet_count(size: Bytes, packet: Bytes) -> u64 {
    match size {
        Bytes::MAX => u64::MAX,
        size => size.get().div_ceil(packet.get()),
    }
}

/// The number of the packet that has so many before it.
pub fn sequence_of(count: u64) -> Sequence {
    Sequence((count & ((1 << Sequence::BITS) - 1)) as u32)
}
