//! Transport beside congestion control: windows, recovery of lost packets, and pacing.
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
//! A target that tolerates or holds packets out of order takes a later one, too, up to its number of
//! bits; it acknowledges all before the first that is missing.

//!
//! **Not modelled** selective acknowledgements, retries that give up.

use crate::congestion::{Feedback, Sequence};
use crate::entropy::EntropyConfig;
use crate::unit::{Bytes, Span};

/// How flows are transported. By default a source sends without waiting for acknowledgements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transport {
    /// How lost packets are recovered.
    pub recovery: Recovery,
    /// How many bytes a source may have unacknowledged.
    pub window: Window,
    /// When a flow counts as finished.
    pub finish: Finish,
    /// When the next packet of a flow may start.
    pub pacing: Pacing,
    /// The lengths of feedback packets.
    pub sizes: AnswerSizes,
    /// What a target does with packets that overtake earlier ones.
    pub receiver: Receiver,
    /// How a source chooses the entropy of its packets, and so their paths.
    pub entropy: EntropyConfig,
}

impl Transport {
    /// Whether a source waits until its last packet is acknowledged.
    pub fn awaits(&self) -> bool {
        self.recovery != Recovery::None
            || self.window != Window::None
            || self.finish == Finish::Source
    }
}

/// How lost packets are recovered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// They are not: a flow that has lost a packet never finishes.
    #[default]
    None,
    /// The source sends again from the first missing packet on.
    GoBackN(GoBackN),
}

/// What a target does with packets that overtake earlier ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Receiver {
    /// With go-back-N it throws them away; otherwise it does not look at the order at all.
    #[default]
    InOrder,
    /// It takes them, where each belongs in the memory of the application.
    Tolerant {
        /// How many packets from the first missing one on it has bits for: what is beyond is thrown
        /// away.
        bits: u32,
    },
    /// It keeps them until those before them are there, and hands them on in order.
    Hold {
        /// How many packets from the first missing one on it has room for, as for `Tolerant`.
        bits: u32,
    },
}

impl Receiver {
    /// The most packets that a target can have bits for: beyond that, numbers of packets would be taken
    /// for those of earlier ones.
    pub const BITS_MAX: u32 = 1 << (Sequence::BITS - 2);

    /// How many packets from the first missing one on are taken; `None` for one that takes no other.
    pub fn bits(self) -> Option<u32> {
        match self {
            Receiver::InOrder => None,
            Receiver::Tolerant { bits } | Receiver::Hold { bits } => Some(bits),
        }
    }
}

/// The parameters of go-back-N retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoBackN {
    /// The least time between two NACKs for the same packet.
    pub nack_interval: Span,
    /// The source resends all unacknowledged packets when no acknowledgement of new data has come
    /// for this long; [`Span::MAX`] for never, so that a flow whose last packets were lost does not
    /// finish.
    pub timeout: Span,
}

impl Default for GoBackN {
    /// The parameters of the HPCC authors' simulator.
    fn default() -> GoBackN {
        GoBackN { nack_interval: Span::us(500), timeout: Span::MAX }
    }
}

/// How many bytes a source may have unacknowledged; the number is that of each flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Window {
    /// The source does not wait for acknowledgements.
    #[default]
    None,
    /// No packet starts while as many bytes or more are unacknowledged.
    Fixed,
    /// As `Fixed`, with a window that shrinks in proportion to the rate; the given one is for the
    /// line rate.
    FollowsRate,
}

/// When a flow counts as finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Finish {
    /// When its target has received the last byte.
    #[default]
    Target,
    /// When its source knows that all bytes have arrived.
    Source,
}

/// When the next packet of a flow may start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pacing {
    /// A frame that other frames have delayed catches up, but at most by one frame, and the rest of
    /// a wait is rescaled when the rate changes.
    #[default]
    CatchUp,
    /// The next frame starts no earlier than this one's length at its rate after its start.
    Strict,
    /// As `Strict`, with the pace of the flow instead of the rate of congestion control, which then
    /// acts on the window only.
    Pace,
}

/// The frame lengths of feedback packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerSizes {
    /// The length of an acknowledgement or a NACK.
    pub ack: Bytes,
    /// The length of a target's congestion notification, and of the feedback of an outside scheme.
    pub cnp: Bytes,
}

impl AnswerSizes {
    /// The length of the frame that carries `feedback`.
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
    /// The lengths of the frames as they are on real wires.
    fn default() -> AnswerSizes {
        AnswerSizes { ack: Feedback::ACK_SIZE, cnp: Feedback::CNP_SIZE }
    }
}

/// The number of packets of a flow; `u64::MAX` for one without end.
pub fn packet_count(size: Bytes, packet: Bytes) -> u64 {
    match size {
        Bytes::MAX => u64::MAX,
        size => size.get().div_ceil(packet.get()),
    }
}

/// The sequence number of the packet with `count` packets before it.
pub fn sequence_of(count: u64) -> Sequence {
    Sequence((count & ((1 << Sequence::BITS) - 1)) as u32)
}
