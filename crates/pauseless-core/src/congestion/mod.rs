//! End-to-end congestion control, each scheme as up to three parts.
//!
//! - The [`CongestionPoint`] sits in a switch, one per (egress, class): it marks packets that leave,
//!   or makes [`Feedback`] of its own for packets that arrive.
//! - The [`NotificationPoint`] sits at a flow's target: it turns marks and arrivals into feedback.
//! - The [`ReactionPoint`] sits at a flow's source: it turns feedback into a rate.
//!
//! To add a scheme: one file here with its parts, and one arm in [`CongestionControl`] and in the
//! `Any*` of each part that it has. In another crate it takes no arm, see [`outside`].

pub mod dcqcn;
pub mod dcqcn_nic;
pub mod dctcp;
pub mod dither;
pub mod hpcc;
pub mod marking;
pub mod outside;
pub mod pcn;
pub mod qcn;
pub mod telemetry;
pub mod timely;

use alloc::boxed::Box;

use crate::outside::{Outside, aside};
use crate::unit::{Bytes, Rate, Span, Time};
use outside::{BoxedCongestionPoint, BoxedNotificationPoint, BoxedReactionPoint, CongestionScheme};
use telemetry::{Echo, Hop};

/// A message about congestion or arrival to the source of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// The target has received the packet of this number and all before it that were not lost.
    Ack {
        /// The number of the packet that is acknowledged.
        sequence: Sequence,
        /// Whether that packet was marked on its way.
        is_marked: bool,
        /// The telemetry that the packet has collected.
        echo: Echo,
    },
    /// The target has received all packets before this number, but not this one.
    Nack {
        /// The number of the missing packet.
        expected: Sequence,
        /// Whether the packet that arrived instead was marked.
        is_marked: bool,
        /// The telemetry that the packet that arrived instead has collected.
        echo: Echo,
    },
    /// DCQCN: a marked packet has arrived at the target.
    Cnp,
    /// PCN: whether the flow is congested, and the rate at which it arrives.
    Receiving {
        /// The ECN field of the notification: at least 95 % of the packets were marked.
        is_congested: bool,
        /// The 32-bit field RecRate, in units of 1 Mb/s.
        rate_mbps: u32,
    },
    /// QCN: a switch's quantised measure of the congestion, from 1 to 63.
    Congestion {
        /// The six bits of the notification.
        psi: u8,
    },
    /// The private message of a scheme of another crate. No frame on real wires carries it.
    Outside([u8; 8]),
}

impl Feedback {
    /// Frame bytes of an acknowledgement: Ethernet 14, IPv4 20, UDP 8, BTH 12, AETH 4, ICRC 4, FCS 4.
    pub const ACK_SIZE: Bytes = Bytes::new(66);
    /// Frame bytes of a CNP: as above, with 16 reserved octets instead of the AETH.
    //= ib-a17 17.9.3
    pub const CNP_SIZE: Bytes = Bytes::new(78);
    /// Frame bytes of QCN's congestion notification message, without the encapsulated frame.
    pub const CNM_SIZE: Bytes = Bytes::new(64);

    /// The handle of the telemetry that comes back with this feedback.
    #[inline]
    pub fn echo(self) -> Echo {
        match self {
            Feedback::Ack { echo, .. } | Feedback::Nack { echo, .. } => echo,
            _ => Echo::NONE,
        }
    }

    /// This feedback with another handle of its telemetry.
    #[must_use]
    pub fn echoing(mut self, other: Echo) -> Feedback {
        if let Feedback::Ack { echo, .. } | Feedback::Nack { echo, .. } = &mut self {
            *echo = other;
        }
        self
    }
}

/// The number of a packet in its flow, modulo 2^24 as in RoCE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sequence(pub u32);

impl Sequence {
    /// The width of the number.
    pub const BITS: u32 = 24;
    /// The highest number, behind which numbers begin anew.
    pub const MAX: Sequence = Sequence((1 << Sequence::BITS) - 1);

    /// The number before this one.
    #[must_use]
    pub const fn previous(self) -> Sequence {
        Sequence(self.0.wrapping_sub(1) & ((1 << Sequence::BITS) - 1))
    }

    /// The number after this one.
    #[must_use]
    pub const fn next(self) -> Sequence {
        Sequence((self.0 + 1) & ((1 << Sequence::BITS) - 1))
    }

    /// Whether this is `other` or comes after it, by less than half of the number space.
    pub const fn is_from(self, other: Sequence) -> bool {
        self.0.wrapping_sub(other.0) & (1 << (Sequence::BITS - 1)) == 0
    }
}

/// The state of a queue as its congestion point sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueState {
    /// The packets that wait, without the one that is leaving.
    pub packets: u32,
    /// The frame bytes of those packets.
    pub bytes: Bytes,
    /// Whether the far end holds this queue back: PFC and credits stop it, GFC slows it down.
    pub is_held: bool,
}

/// A packet as it leaves its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The length of the frame.
    pub size: Bytes,
    /// The number of the packet in its flow.
    pub sequence: Sequence,
}

/// A packet as it arrives at its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// The length of the frame.
    pub size: Bytes,
    /// The number of the packet in its flow.
    pub sequence: Sequence,
    /// Whether a switch has marked it.
    pub is_marked: bool,
    /// The handle of the telemetry that switches have written into it.
    pub echo: Echo,
}

/// The source of a flow, for which a reaction point is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The rate of the source's link.
    pub line: Rate,
    /// The rate at which the flow starts.
    pub initial: Rate,
    /// The round-trip time without queues; [`Span::ZERO`] if it is unknown.
    pub round_trip: Span,
}

impl Source {
    /// A source that starts at line rate, with an unknown round-trip time.
    pub const fn at_line(line: Rate) -> Source {
        Source { line, initial: line, round_trip: Span::ZERO }
    }
}

/// The reaction of a congestion point to a packet that joins its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joining {
    /// The packet waits unmarked and its source hears nothing.
    Silent,
    /// The packet gets an ECN mark.
    Marked,
    /// The switch itself sends feedback to the packet's source.
    Notify(Feedback),
}

/// The part in a switch, one per (egress, class).
pub trait CongestionPoint {
    /// Handles a packet of `size` bytes that has joined the queue, which includes it already.
    fn on_enqueue(&mut self, _now: Time, _size: Bytes, _queue: QueueState) -> Joining {
        Joining::Silent
    }
    /// Handles a packet of `size` bytes that starts to leave; returns whether to mark it.
    fn on_dequeue(&mut self, _now: Time, _size: Bytes, _queue: QueueState) -> bool {
        false
    }
    /// Handles the instant at which the far end no longer holds the queue back.
    fn on_release(&mut self, _now: Time, _queue: QueueState) {}
}

/// The part at a flow's target.
pub trait NotificationPoint {
    /// Handles a packet that has arrived; returns feedback to send at once.
    fn on_packet(&mut self, now: Time, packet: Received) -> Option<Feedback>;
    /// When [`NotificationPoint::handle_timeout`] wants to be called; [`Time::MAX`] for never.
    fn poll_timeout(&self) -> Time {
        Time::MAX
    }
    /// Handles a timeout; returns feedback to send. A call that comes too early has no effect.
    fn handle_timeout(&mut self, _now: Time) -> Option<Feedback> {
        None
    }
}

/// The part at a flow's source.
pub trait ReactionPoint {
    /// Handles a packet that starts to leave.
    fn on_send(&mut self, _now: Time, _packet: Sent) {}
    /// Handles feedback. Feedback of other schemes is ignored.
    fn on_feedback(&mut self, now: Time, feedback: Feedback);
    /// Handles feedback with the telemetry of the acknowledged packet, which most schemes ignore.
    fn on_telemetry(&mut self, now: Time, feedback: Feedback, hops: &[Hop]) {
        let _ = hops;
        self.on_feedback(now, feedback);
    }
    /// The rate at which the flow may send.
    fn rate(&self) -> Rate;
    /// When [`ReactionPoint::handle_timeout`] wants to be called; [`Time::MAX`] for never.
    fn poll_timeout(&self) -> Time {
        Time::MAX
    }
    /// Handles a timeout. A call that comes too early has no effect; one that comes late makes up
    /// for everything that was due.
    fn handle_timeout(&mut self, _now: Time) {}
}

/// The range of rates of a reaction point. The schemes compute in bit/s.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    min: f64,
    line: f64,
}

impl Bounds {
    /// The range from `rate_min` to `line`; on a link slower than `rate_min` only its own rate.
    fn new(rate_min: Rate, line: Rate) -> Bounds {
        Bounds { min: rate_min.min(line).as_bps() as f64, line: line.as_bps() as f64 }
    }

    /// The nearest rate within the bounds.
    fn limit(self, bps: f64) -> f64 {
        // Unlike `clamp`, this turns NaN into a rate.
        bps.max(self.min).min(self.line)
    }

    /// A rate within the bounds for the pacer, rounded to the nearest bit/s.
    fn rate(self, bps: f64) -> Rate {
        Rate::bps((self.limit(bps) + 0.5) as u64)
    }
}

/// The value of `step` on a link of rate `line` in bit/s, if it is given for a link of rate
/// `reference`.
pub fn scaled(step: Rate, line: Rate, reference: Option<Rate>) -> f64 {
    let reference = reference.unwrap_or(line);
    step.as_bps() as f64 * line.as_bps() as f64 / reference.as_bps() as f64
}

/// A scheme with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CongestionControl {
    /// Every flow sends at its pace; only flow control holds it back.
    None,
    /// PCN, photonic congestion notification; see [`pcn`].
    Pcn(pcn::Config),
    /// QCN, IEEE 802.1Qau; see [`qcn`].
    Qcn(qcn::Config),
    /// DCQCN: ECN marks, CNPs, and a sender similar to QCN's; see [`dcqcn`].
    Dcqcn(dcqcn::Config),
    /// TIMELY: round-trip times and their gradient; see [`timely`].
    Timely(timely::Config),
    /// HPCC: telemetry that switches write into packets; see [`hpcc`].
    Hpcc(hpcc::Config),
    /// DCTCP: the share of marked packets; see [`dctcp`].
    Dctcp(dctcp::Config),
    /// A scheme of another crate.
    Outside(Outside<dyn CongestionScheme>),
}

/// Any congestion point, dispatched by `match`.
#[derive(Clone, Debug)]
pub enum AnyCongestionPoint {
    /// Switches do not take part.
    None,
    /// PCN's marking of packets that no pause has delayed.
    Pcn(pcn::CongestionPoint),
    /// QCN's sampling of the queue.
    Qcn(qcn::CongestionPoint),
    /// ECN marking by queue length, for DCQCN and DCTCP.
    Marker(marking::Marker),
    /// Counts bytes and marks nothing, for [`telemetry`].
    Counter,
    /// The congestion point of an outside scheme.
    Outside(Box<dyn BoxedCongestionPoint>),
}

/// Any notification point, dispatched by `match`.
#[derive(Clone, Debug)]
pub enum AnyNotificationPoint {
    /// Targets do not take part.
    None,
    /// PCN's periodic report of the receiving rate.
    Pcn(pcn::NotificationPoint),
    /// DCQCN's congestion notification packets.
    Dcqcn(dcqcn::NotificationPoint),
    /// The notification point of an outside scheme.
    Outside(Box<dyn BoxedNotificationPoint>),
}

/// Any reaction point, dispatched by `match`.
#[derive(Clone, Debug)]
pub enum AnyReactionPoint {
    /// A source without congestion control.
    None {
        /// The rate at which the flow sends.
        rate: Rate,
    },
    /// The sender of PCN.
    Pcn(pcn::ReactionPoint),
    /// The sender of QCN.
    Qcn(qcn::ReactionPoint),
    /// The sender of DCQCN as in the paper.
    Dcqcn(dcqcn::ReactionPoint),
    /// The sender of DCQCN as in NICs.
    DcqcnNic(dcqcn_nic::ReactionPoint),
    /// The sender of TIMELY.
    Timely(timely::ReactionPoint),
    /// The sender of HPCC.
    Hpcc(hpcc::ReactionPoint),
    /// The sender of DCTCP.
    Dctcp(dctcp::ReactionPoint),
    /// The reaction point of an outside scheme.
    Outside(Box<dyn BoxedReactionPoint>),
}

impl CongestionControl {
    /// A scheme of another crate, whose parameters stay in memory for good: see [`Outside`].
    pub fn outside(scheme: impl CongestionScheme) -> CongestionControl {
        CongestionControl::Outside(Outside::leak(Box::new(scheme)))
    }

    /// The name in scenario files and reports.
    pub fn name(&self) -> &'static str {
        match self {
            CongestionControl::None => "none",
            CongestionControl::Pcn(_) => "pcn",
            CongestionControl::Qcn(_) => "qcn",
            CongestionControl::Dcqcn(_) => "dcqcn",
            CongestionControl::Timely(_) => "timely",
            CongestionControl::Hpcc(_) => "hpcc",
            CongestionControl::Dctcp(_) => "dctcp",
            CongestionControl::Outside(scheme) => scheme.name(),
        }
    }

    /// Whether switches write telemetry into the packets of this scheme.
    pub fn has_telemetry(&self) -> bool {
        match self {
            CongestionControl::Hpcc(_) => true,
            CongestionControl::Outside(scheme) => scheme.has_telemetry(),
            _ => false,
        }
    }

    /// Whether sources have a window that follows their rate, unless a scenario says otherwise.
    pub fn has_window(&self) -> bool {
        match self {
            CongestionControl::Hpcc(_) | CongestionControl::Dctcp(_) => true,
            CongestionControl::Outside(scheme) => scheme.has_window(),
            _ => false,
        }
    }

    /// The longest time between two steps in which a source corrects its rate, beyond its round-trip
    /// time; zero for a scheme that only follows acknowledgements.
    pub fn period(&self) -> Span {
        match self {
            CongestionControl::None | CongestionControl::Dctcp(_) => Span::ZERO,
            CongestionControl::Pcn(config) => config.period,
            CongestionControl::Qcn(config) => config.time_reset,
            CongestionControl::Dcqcn(config) => config.alpha_timer.max(config.increase_timer),
            CongestionControl::Timely(config) => config.min_rtt,
            CongestionControl::Hpcc(config) => config.base_rtt,
            CongestionControl::Outside(scheme) => scheme.period(),
        }
    }

    /// Whether congestion points send notifications to sources.
    pub fn notifies(&self) -> bool {
        matches!(self, CongestionControl::Qcn(_) | CongestionControl::Outside(_))
    }

    /// Whether congestion points ask whether the far end holds their queue back; to know that costs
    /// a tenth of the time of a hop.
    pub fn watches_release(&self) -> bool {
        matches!(self, CongestionControl::Pcn(_) | CongestionControl::Outside(_))
    }

    /// Every how many packets the target must acknowledge for the scheme to work; 0 for never.
    pub fn ack_every(&self) -> u32 {
        match self {
            CongestionControl::Timely(_)
            | CongestionControl::Hpcc(_)
            | CongestionControl::Dctcp(_) => 1,
            CongestionControl::Dcqcn(config) if config.style == dcqcn::Style::Nic => 1,
            CongestionControl::Outside(scheme) => scheme.ack_every(),
            _ => 0,
        }
    }

    /// The part in a switch, for an egress of rate `line`; `seed` begins its random sequence.
    pub fn congestion_point(&self, line: Rate, seed: u64) -> AnyCongestionPoint {
        match self {
            CongestionControl::None | CongestionControl::Timely(_) => AnyCongestionPoint::None,
            CongestionControl::Pcn(_) => AnyCongestionPoint::Pcn(pcn::CongestionPoint::new()),
            CongestionControl::Qcn(config) => {
                AnyCongestionPoint::Qcn(qcn::CongestionPoint::new(config, seed))
            }
            CongestionControl::Dcqcn(config) => {
                AnyCongestionPoint::Marker(marking::Marker::new(&config.marking, line, seed))
            }
            CongestionControl::Hpcc(_) => AnyCongestionPoint::Counter,
            CongestionControl::Dctcp(config) => {
                AnyCongestionPoint::Marker(marking::Marker::new(&config.marking(), line, seed))
            }
            CongestionControl::Outside(scheme) => match scheme.congestion_point(line, seed) {
                Some(point) => AnyCongestionPoint::Outside(point),
                None => AnyCongestionPoint::Counter,
            },
        }
    }

    /// The part at a flow's target.
    pub fn notification_point(&self) -> AnyNotificationPoint {
        match self {
            CongestionControl::None
            | CongestionControl::Qcn(_)
            | CongestionControl::Timely(_)
            | CongestionControl::Hpcc(_)
            | CongestionControl::Dctcp(_) => AnyNotificationPoint::None,
            // Acknowledgements say whether their packet was marked.
            CongestionControl::Dcqcn(config) if config.style == dcqcn::Style::Nic => {
                AnyNotificationPoint::None
            }
            CongestionControl::Pcn(config) => {
                AnyNotificationPoint::Pcn(pcn::NotificationPoint::new(config))
            }
            CongestionControl::Dcqcn(config) => {
                AnyNotificationPoint::Dcqcn(dcqcn::NotificationPoint::new(config))
            }
            CongestionControl::Outside(scheme) => match scheme.notification_point() {
                Some(point) => AnyNotificationPoint::Outside(point),
                None => AnyNotificationPoint::None,
            },
        }
    }

    /// The part at a flow's source.
    pub fn reaction_point(&self, source: Source) -> AnyReactionPoint {
        let Source { line, initial, round_trip } = source;
        match self {
            // Without congestion control nothing would ever raise a lower rate.
            CongestionControl::None => AnyReactionPoint::None { rate: line },
            CongestionControl::Pcn(config) => {
                AnyReactionPoint::Pcn(pcn::ReactionPoint::new(config, line, initial))
            }
            CongestionControl::Qcn(config) => {
                AnyReactionPoint::Qcn(qcn::ReactionPoint::new(config, line, initial))
            }
            CongestionControl::Dcqcn(config) if config.style == dcqcn::Style::Nic => {
                AnyReactionPoint::DcqcnNic(dcqcn_nic::ReactionPoint::new(config, line, initial))
            }
            CongestionControl::Dcqcn(config) => {
                AnyReactionPoint::Dcqcn(dcqcn::ReactionPoint::new(config, line, initial))
            }
            CongestionControl::Timely(config) => {
                AnyReactionPoint::Timely(timely::ReactionPoint::new(config, line, initial))
            }
            CongestionControl::Hpcc(config) => {
                let config = config.for_round_trip(round_trip);
                AnyReactionPoint::Hpcc(hpcc::ReactionPoint::new(&config, line, initial))
            }
            CongestionControl::Dctcp(config) => {
                AnyReactionPoint::Dctcp(dctcp::ReactionPoint::new(config, source))
            }
            CongestionControl::Outside(scheme) => {
                AnyReactionPoint::Outside(scheme.reaction_point(source))
            }
        }
    }
}

macro_rules! each_congestion_point {
    ($self:expr, $point:ident => $call:expr, none => $none:expr) => {
        match $self {
            AnyCongestionPoint::None | AnyCongestionPoint::Counter => $none,
            AnyCongestionPoint::Pcn($point) => $call,
            AnyCongestionPoint::Qcn($point) => $call,
            AnyCongestionPoint::Marker($point) => $call,
            AnyCongestionPoint::Outside($point) => aside(move || $call),
        }
    };
}

impl AnyCongestionPoint {
    /// The bytes of a queue below which packets that come and go change nothing here, whatever marks
    /// them.
    pub(crate) fn loud_from(&self) -> u32 {
        match self {
            AnyCongestionPoint::None | AnyCongestionPoint::Counter => u32::MAX,
            AnyCongestionPoint::Marker(marker) => marker.loud_from(),
            _ => 0,
        }
    }
}

impl CongestionPoint for AnyCongestionPoint {
    #[inline(always)]
    fn on_enqueue(&mut self, now: Time, size: Bytes, queue: QueueState) -> Joining {
        each_congestion_point!(self, point => point.on_enqueue(now, size, queue), none => Joining::Silent)
    }

    #[inline(always)]
    fn on_dequeue(&mut self, now: Time, size: Bytes, queue: QueueState) -> bool {
        each_congestion_point!(self, point => point.on_dequeue(now, size, queue), none => false)
    }

    #[inline]
    fn on_release(&mut self, now: Time, queue: QueueState) {
        each_congestion_point!(self, point => point.on_release(now, queue), none => ());
    }
}

macro_rules! each_notification_point {
    ($self:expr, $point:ident => $call:expr, none => $none:expr) => {
        match $self {
            AnyNotificationPoint::None => $none,
            AnyNotificationPoint::Pcn($point) => $call,
            AnyNotificationPoint::Dcqcn($point) => $call,
            AnyNotificationPoint::Outside($point) => aside(move || $call),
        }
    };
}

impl AnyNotificationPoint {
    /// [`NotificationPoint::on_packet`], and [`NotificationPoint::poll_timeout`] afterwards.
    #[inline]
    pub(crate) fn notice(&mut self, now: Time, packet: Received) -> (Option<Feedback>, Time) {
        each_notification_point!(self, point => {
            let feedback = point.on_packet(now, packet);
            (feedback, point.poll_timeout())
        }, none => (None, Time::MAX))
    }
}

impl NotificationPoint for AnyNotificationPoint {
    #[inline]
    fn on_packet(&mut self, now: Time, packet: Received) -> Option<Feedback> {
        each_notification_point!(self, point => point.on_packet(now, packet), none => None)
    }

    fn poll_timeout(&self) -> Time {
        each_notification_point!(self, point => point.poll_timeout(), none => Time::MAX)
    }

    fn handle_timeout(&mut self, now: Time) -> Option<Feedback> {
        each_notification_point!(self, point => point.handle_timeout(now), none => None)
    }
}

macro_rules! each_reaction_point {
    ($self:expr, $point:ident => $call:expr, $rate:pat => $none:expr) => {
        match $self {
            AnyReactionPoint::None { rate: $rate } => $none,
            AnyReactionPoint::Pcn($point) => $call,
            AnyReactionPoint::Qcn($point) => $call,
            AnyReactionPoint::Dcqcn($point) => $call,
            AnyReactionPoint::DcqcnNic($point) => $call,
            AnyReactionPoint::Timely($point) => $call,
            AnyReactionPoint::Hpcc($point) => $call,
            AnyReactionPoint::Dctcp($point) => $call,
            AnyReactionPoint::Outside($point) => aside(move || $call),
        }
    };
}

/// The state of a reaction point after a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reacted {
    /// The rate at which the flow may send, see [`ReactionPoint::rate`].
    pub rate: Rate,
    /// When the point wants to be called, see [`ReactionPoint::poll_timeout`].
    pub timeout: Time,
}

/// What packets and feedback need of a point, with one question of which scheme it is.
impl AnyReactionPoint {
    /// [`ReactionPoint::on_send`], and the state afterwards.
    #[inline]
    pub(crate) fn send(&mut self, now: Time, packet: Sent) -> Reacted {
        each_reaction_point!(self, point => {
            point.on_send(now, packet);
            Reacted { rate: point.rate(), timeout: point.poll_timeout() }
        }, rate => Reacted { rate: *rate, timeout: Time::MAX })
    }

    /// [`ReactionPoint::on_telemetry`], and the state afterwards.
    #[inline]
    pub(crate) fn react(&mut self, now: Time, feedback: Feedback, hops: &[Hop]) -> Reacted {
        each_reaction_point!(self, point => {
            point.on_telemetry(now, feedback, hops);
            Reacted { rate: point.rate(), timeout: point.poll_timeout() }
        }, rate => Reacted { rate: *rate, timeout: Time::MAX })
    }
}

impl ReactionPoint for AnyReactionPoint {
    #[inline]
    fn on_send(&mut self, now: Time, packet: Sent) {
        each_reaction_point!(self, point => point.on_send(now, packet), _ => ());
    }

    fn on_feedback(&mut self, now: Time, feedback: Feedback) {
        each_reaction_point!(self, point => point.on_feedback(now, feedback), _ => ());
    }

    fn on_telemetry(&mut self, now: Time, feedback: Feedback, hops: &[Hop]) {
        each_reaction_point!(self, point => point.on_telemetry(now, feedback, hops), _ => ());
    }

    #[inline]
    fn rate(&self) -> Rate {
        each_reaction_point!(self, point => point.rate(), rate => *rate)
    }

    fn poll_timeout(&self) -> Time {
        each_reaction_point!(self, point => point.poll_timeout(), _ => Time::MAX)
    }

    fn handle_timeout(&mut self, now: Time) {
        each_reaction_point!(self, point => point.handle_timeout(now), _ => ());
    }
}

// Networks without a boxed part pay for it neither in time nor in memory.
const _: () = assert!(size_of::<AnyCongestionPoint>() == 56);
const _: () = assert!(size_of::<AnyNotificationPoint>() == 64);
const _: () = assert!(size_of::<AnyReactionPoint>() == 536);
const _: () = assert!(size_of::<Feedback>() == 12);

#[cfg(test)]
mod tests;
