//! TIMELY: rates from round-trip times and their gradient.
//!
//! **Models** the source that computes a new rate from every acknowledgement, in the manner of the
//! authors' snippet for pacing per packet, and the patched middle branch; or once per round trip.
//!
//! **Source** timely15 section 4 and its authors' snippet, which differ in their parameters
//! (docs/protocols.md#timely-defaults); timely16 for the patched version.
//!
//! **Deviates** The first round-trip time has no predecessor: its difference is zero, and it
//! counts as a full round trip since the last change. Where the patched version divides by T_low
//! and that is zero, it measures from the smallest round-trip time instead.
//!
//! **States** none by name: the last round-trip time, the average of their differences, and how
//! many of these were negative in a row. The branch is taken anew for each acknowledgement:
//! ```text
//!   rtt < T_low: + delta | rtt > T_high: * (1 - beta (1 - T_high / rtt))
//!   in between: gradient <= 0: + delta, or + N delta | gradient > 0: * (1 - beta gradient)
//! ```
//!
//! **Not modelled** segments of several packets with one completion, acknowledgements that wait
//! behind data on their way back other than in the round-trip time itself.

use alloc::collections::VecDeque;

use super::{Bounds, Feedback, Sent, Sequence, scaled};
use crate::unit::{Rate, Span, Time};

/// The parameters of TIMELY, which only sources need.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The weight of a new difference in the moving average.
    pub ewma_weight: f64,
    /// The factor of a decrease.
    pub beta: f64,
    /// The round-trip time below which the rate grows.
    pub t_low: Span,
    /// The round-trip time above which the rate falls.
    pub t_high: Span,
    /// The additive step, for a link of the reference speed.
    pub delta: Rate,
    /// The link speed for which the step is given, if it is scaled with the speed of the link.
    pub reference: Option<Rate>,
    /// The smallest round-trip time of the network, the unit of gradients.
    pub min_rtt: Span,
    /// The number of negative differences in a row after which the step is `hai_factor` times as
    /// large.
    pub hai_threshold: u32,
    /// The factor of the step in hyper-active increase; see `hai_threshold`.
    pub hai_factor: f64,
    /// The rate below which no sample brings a flow.
    pub rate_min: Rate,
    /// Whether the middle branch is that of the patched version.
    pub is_patched: bool,
    /// How often the rate changes.
    pub update: Update,
}

/// How often the rate changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Update {
    /// The rate changes with every acknowledgement.
    #[default]
    PerAck,
    /// The rate changes once per round trip, as in the HPCC authors' simulator: when a packet is
    /// acknowledged that was sent after the last change. Steps are never scaled, `hai_threshold`
    /// counts increases of any kind, and a round trip begins with the packet's first bit.
    PerRoundTrip,
}

impl Config {
    /// The parameters of the authors' snippet for pacing per packet, in a network with this
    /// smallest round-trip time.
    //= timely15 snippet defaults
    pub fn per_packet(min_rtt: Span) -> Config {
        Config {
            ewma_weight: 0.02,
            beta: 0.8,
            t_low: Span::ZERO,
            t_high: Span::ms(1),
            delta: Rate::mbps(10),
            reference: Some(Rate::gbps(10)),
            min_rtt,
            hai_threshold: 5,
            hai_factor: 5.0,
            rate_min: Rate::mbps(10),
            is_patched: false,
            update: Update::PerAck,
        }
    }
}

/// The most unacknowledged packets that a flow remembers: 65 MB of 1000 B each, which 400 Gb/s send
/// in 1.3 ms. Beyond that, the newest are not measured.
const OUTSTANDING_MAX: usize = 1 << 16;

/// The sender's half: measures round-trip times and follows their gradient.
#[derive(Clone, Debug)]
pub struct ReactionPoint {
    config: Config,
    bounds: Bounds,
    line: Rate,
    delta: f64,
    rate: f64,
    /// The unacknowledged packets in order, and when the last bit of each left.
    outstanding: VecDeque<(Sequence, Time)>,
    /// The last round-trip time in picoseconds, and when it was measured.
    last: Option<(f64, Time)>,
    /// The moving average of the differences, in picoseconds.
    ewma: f64,
    /// The number of negative differences in a row, or of increases.
    negative: u32,
    /// The number of the packet that is sent next.
    next: Sequence,
    /// Per round trip, the packet from which on acknowledgements change the rate; `None` before the
    /// first one.
    update_from: Option<Sequence>,
}

/// The measurement of one acknowledgement.
struct Sample {
    /// The round-trip time in picoseconds.
    rtt: f64,
    /// The gradient in units of the smallest round-trip time.
    gradient: f64,
    /// The share of a smallest round-trip time that has passed since the last sample, at most 1.
    share: f64,
}

impl ReactionPoint {
    /// A source on a link of rate `line` that starts at `initial`. Panics if the smallest
    /// round-trip time is zero.
    pub fn new(config: &Config, line: Rate, initial: Rate) -> ReactionPoint {
        assert!(config.min_rtt > Span::ZERO, "the smallest round-trip time is zero");
        let bounds = Bounds::new(config.rate_min, line);
        ReactionPoint {
            config: *config,
            bounds,
            line,
            delta: scaled(config.delta, line, config.reference),
            rate: bounds.limit(initial.as_bps() as f64),
            outstanding: VecDeque::new(),
            last: None,
            ewma: 0.0,
            negative: 0,
            next: Sequence::default(),
            update_from: None,
        }
    }

    /// Forgets the packets up to `sequence`: when the last bit of that one left, if it is known.
    ///
    /// Packets before it were lost or are acknowledged along with it. What is not outstanding
    /// is a duplicate, or was never measured.
    fn acknowledge(&mut self, sequence: Sequence) -> Option<Time> {
        let is_before = |(other, _): &(Sequence, Time)| !other.is_from(sequence);
        let index = self.outstanding.partition_point(is_before);
        self.outstanding.drain(..index);
        let &(found, left) = self.outstanding.front()?;
        if found != sequence {
            return None;
        }
        self.outstanding.pop_front();
        Some(left)
    }

    /// Adds a round-trip time to the moving average.
    fn measure(&mut self, now: Time, rtt: Span) -> Sample {
        let rtt = rtt.as_ps() as f64;
        let min_rtt = self.config.min_rtt.as_ps() as f64;
        let (difference, passed) = match self.last {
            Some((last, at)) => (rtt - last, now.saturating_since(at).as_ps() as f64),
            None => (0.0, min_rtt),
        };
        self.last = Some((rtt, now));
        //= timely15 4.3 gradient
        let weight = self.config.ewma_weight;
        self.ewma = (1.0 - weight) * self.ewma + weight * difference;
        self.negative = if difference < 0.0 { self.negative.saturating_add(1) } else { 0 };
        Sample { rtt, gradient: self.ewma / min_rtt, share: (passed / min_rtt).min(1.0) }
    }

    /// The rate that follows from a sample, before bounds.
    fn asked(&self, sample: &Sample) -> f64 {
        let Config { beta, t_low, t_high, .. } = self.config;
        let (t_low, t_high) = (t_low.as_ps() as f64, t_high.as_ps() as f64);
        let step = self.delta * sample.share;
        let hyper = if self.negative >= self.config.hai_threshold {
            self.config.hai_factor * step
        } else {
            step
        };
        //= timely15 4.3 low
        if sample.rtt < t_low {
            return match self.config.update {
                Update::PerAck => self.rate + step,
                Update::PerRoundTrip => self.rate + hyper,
            };
        }
        //= timely15 4.3 high
        if sample.rtt > t_high {
            return self.rate * (1.0 - sample.share * beta * (1.0 - t_high / sample.rtt));
        }
        if self.config.is_patched {
            return self.patched(sample);
        }
        if sample.gradient > 0.0 {
            // Unlike the other branches, this one does not use the share, as in the authors'
            // snippet.
            //= timely15 4.3 gradient-decrease
            return self.rate * (1.0 - beta * sample.gradient);
        }
        //= timely15 4.3 hyper-active
        self.rate + hyper
    }

    /// The middle branch whose fixed point is fair: a blend of increase and decrease.
    //= timely16 algorithm 2
    fn patched(&self, sample: &Sample) -> f64 {
        let reference = match self.config.t_low {
            Span::ZERO => self.config.min_rtt,
            t_low => t_low,
        };
        let reference = reference.as_ps() as f64;
        let weight = (2.0 * sample.gradient + 0.5).clamp(0.0, 1.0);
        let error = (sample.rtt - reference) / reference;
        let kept = self.rate * (1.0 - self.config.beta * weight * error);
        self.delta * (1.0 - weight) + kept
    }
}

impl ReactionPoint {
    /// Handles an acknowledgement after `rtt`, where only one per round trip counts.
    fn on_round_trip(&mut self, now: Time, sequence: Sequence, rtt: Span) {
        let Some(update_from) = self.update_from else {
            self.last = Some((rtt.as_ps() as f64, now));
            self.update_from = Some(self.next);
            return;
        };
        if !sequence.is_from(update_from) {
            return;
        }
        let increases = self.negative;
        let sample = Sample { share: 1.0, ..self.measure(now, rtt) };
        self.negative = increases;
        let asked = self.asked(&sample).max(0.0);
        self.negative = if asked > self.rate { increases.saturating_add(1) } else { 0 };
        self.rate = self.bounds.limit(asked);
        self.update_from = Some(self.next);
    }
}

impl super::ReactionPoint for ReactionPoint {
    fn on_send(&mut self, now: Time, packet: Sent) {
        self.next = packet.sequence.next();
        // After going back to an earlier packet, all packets from there on are sent again.
        while let Some((newest, _)) = self.outstanding.back()
            && newest.is_from(packet.sequence)
        {
            self.outstanding.pop_back();
        }
        if self.outstanding.len() < OUTSTANDING_MAX {
            // A round-trip time does not include the packet's own time on the wire.
            //= timely15 4.1 rtt
            let left = match self.config.update {
                Update::PerAck => now.saturating_add(self.line.tx_span(packet.size)),
                Update::PerRoundTrip => now,
            };
            self.outstanding.push_back((packet.sequence, left));
        }
    }

    fn on_feedback(&mut self, now: Time, feedback: Feedback) {
        let Feedback::Ack { sequence, .. } = feedback else {
            return;
        };
        let Some(left) = self.acknowledge(sequence) else {
            return;
        };
        let rtt = now.saturating_since(left);
        if self.config.update == Update::PerRoundTrip {
            return self.on_round_trip(now, sequence, rtt);
        }
        let sample = self.measure(now, rtt);
        // One acknowledgement takes at most half of the rate.
        //= timely15 snippet half
        let asked = self.asked(&sample).max(self.rate / 2.0);
        self.rate = self.bounds.limit(asked);
    }

    #[inline]
    fn rate(&self) -> Rate {
        self.bounds.rate(self.rate)
    }
}

#[cfg(test)]
mod tests;
