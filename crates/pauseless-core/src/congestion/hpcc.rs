//! High precision congestion control: rates from what switches write into packets.
//!
//! **Models** the source that computes, from two records of the same egress, how busy each link of
//! its way is, and the window that goes with the rate (see
//! [`Window::FollowsRate`](crate::transport::Window::FollowsRate)).
//!
//! **Source** hpcc19 algorithm 1; the HPCC authors' public simulator, mode 3, for what the paper
//! leaves open: rates instead of windows, a rate per hop.
//!
//! **Deviates** Records do not wrap around. An acknowledgement whose records are not newer than
//! the last ones changes nothing, where that simulator divides by zero.
//!
//! **States** the reference rate with its number of additive steps, and the last records:
//! ```text
//!   first acknowledgement: remember its records
//!   of a packet sent after the last update: U >= eta or enough steps: Rc = Rc / (U / eta) + AI
//!                                           else: Rc = Rc + AI, one step more
//!   any other: the same rate from the old Rc, which stays
//! ```
//!
//! **Not modelled** sampling by PINT, more switches than [`HOPS_MAX`].

use super::telemetry::{HOPS_MAX, Hop};
use super::{Bounds, Feedback, Sent, Sequence};
use crate::unit::{Bytes, Rate, Span, Time};

/// The parameters of HPCC; switches only write telemetry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// eta, the target utilisation of links.
    pub eta: f64,
    /// maxStage, the number of additive steps before a multiplicative one; 0 for none.
    pub stage_max: u32,
    /// The additive step: W_AI over the base round-trip time.
    pub rate_ai: Rate,
    /// The rate below which no update brings a flow.
    pub rate_min: Rate,
    /// T, the round-trip time without queues; zero to use that of each flow.
    pub base_rtt: Span,
    /// Whether acknowledgements between two updates change the rate as well.
    pub is_fast_reacting: bool,
    /// Whether each hop has a rate of its own, the lowest of which counts.
    pub is_per_hop: bool,
    /// Whether a fast reaction ignores hops without a queue.
    pub is_sampling: bool,
}

impl Config {
    /// These parameters with the round-trip time without queues of a flow, unless one is given.
    #[must_use]
    pub fn for_round_trip(mut self, round_trip: Span) -> Config {
        if self.base_rtt == Span::ZERO {
            self.base_rtt = round_trip;
        }
        self
    }
}

impl Default for Config {
    //= hpcc19 5.1 defaults
    fn default() -> Config {
        Config {
            eta: 0.95,
            stage_max: 5,
            rate_ai: Rate::mbps(50),
            rate_min: Rate::mbps(100),
            base_rtt: Span::ZERO,
            is_fast_reacting: true,
            is_per_hop: false,
            is_sampling: false,
        }
    }
}

/// A reference rate, from which the sending rate is computed, and the load of its links.
#[derive(Clone, Copy, Debug)]
struct Reference {
    /// Rc, the rate that the last full update has set, in bit/s.
    rate: f64,
    /// U, the moving average of the utilisation.
    busy: f64,
    /// incStage, the additive steps since the last multiplicative update.
    steps: u32,
}

/// How busy a link was, as a share of its capacity, over how many seconds.
#[derive(Clone, Copy, Debug)]
struct Load {
    busy: f64,
    seconds: f64,
}

/// The sender's half: follows the busiest link of its path.
#[derive(Clone, Debug)]
pub struct ReactionPoint {
    config: Config,
    bounds: Bounds,
    /// T, in seconds, as the formulas want it.
    base_rtt: f64,
    rate: f64,
    /// The reference of the whole path, or of each hop.
    references: [Reference; HOPS_MAX],
    last: [Option<Hop>; HOPS_MAX],
    /// The number of the packet that is sent next.
    next: Sequence,
    /// The packet from which on acknowledgements update the reference rate; `None` before the first
    /// one.
    update_from: Option<Sequence>,
}

impl ReactionPoint {
    /// A source on a link of rate `line` that starts at `initial`. Panics if the round-trip time is
    /// zero.
    pub fn new(config: &Config, line: Rate, initial: Rate) -> ReactionPoint {
        assert!(config.base_rtt > Span::ZERO, "the round-trip time is zero");
        let bounds = Bounds::new(config.rate_min, line);
        let rate = bounds.limit(initial.as_bps() as f64);
        let reference = Reference { rate, busy: 1.0, steps: 0 };
        ReactionPoint {
            config: *config,
            bounds,
            base_rtt: config.base_rtt.as_ps() as f64 * 1e-12,
            rate,
            references: [reference; HOPS_MAX],
            last: [None; HOPS_MAX],
            next: Sequence::default(),
            update_from: None,
        }
    }

    /// Handles the records of the acknowledgement of packet `sequence`.
    fn on_records(&mut self, sequence: Sequence, hops: &[Hop]) {
        let Some(update_from) = self.update_from else {
            for (last, hop) in self.last.iter_mut().zip(hops) {
                *last = Some(*hop);
            }
            self.update_from = Some(self.next);
            return;
        };
        let is_full = sequence.is_from(update_from);
        if is_full || self.config.is_fast_reacting {
            if self.config.is_per_hop {
                self.update_each(hops, is_full)
            } else {
                self.update_all(hops, is_full)
            }
        }
        if is_full && self.next.is_from(update_from) {
            self.update_from = Some(self.next);
        }
    }

    /// The load of the link behind a hop since its last record.
    //= hpcc19 algorithm 1 measure
    fn measure(&mut self, index: usize, hop: &Hop, is_full: bool) -> Option<Load> {
        if self.config.is_sampling && !is_full && hop.queue == Bytes::ZERO {
            return None;
        }
        let last = self.last[index].replace(*hop)?;
        let span = hop.time.saturating_since(last.time);
        if span == Span::ZERO {
            return None;
        }
        let seconds = span.as_ps() as f64 * 1e-12;
        let line = hop.line.as_bps() as f64;
        let sent = hop.sent.get().saturating_sub(last.sent.get()) as f64 * 8.0;
        let queue = hop.queue.min(last.queue).get() as f64 * 8.0;
        let busy = sent / seconds / line + queue / (line * self.base_rtt);
        Some(Load { busy, seconds })
    }

    /// Updates the rate from the busiest hop of the path.
    fn update_all(&mut self, hops: &[Hop], is_full: bool) {
        let mut busiest: Option<Load> = None;
        for (index, hop) in hops.iter().take(HOPS_MAX).enumerate() {
            if let Some(load) = self.measure(index, hop, is_full)
                && busiest.is_none_or(|most| load.busy > most.busy)
            {
                busiest = Some(load);
            }
        }
        if let Some(load) = busiest {
            let reference = self.advanced(0, load);
            self.references[0].busy = reference.busy;
            self.rate = reference.rate;
            if is_full {
                self.references[0] = reference;
            }
        }
    }

    /// Updates the rates of all hops; the lowest one counts.
    fn update_each(&mut self, hops: &[Hop], is_full: bool) {
        let mut lowest = self.bounds.line;
        let mut is_any = false;
        for (index, hop) in hops.iter().take(HOPS_MAX).enumerate() {
            let mut rate = self.references[index].rate;
            if let Some(load) = self.measure(index, hop, is_full) {
                let reference = self.advanced(index, load);
                self.references[index].busy = reference.busy;
                rate = reference.rate;
                is_any = true;
                if is_full {
                    self.references[index] = reference;
                }
            }
            lowest = lowest.min(rate);
        }
        if is_any {
            self.rate = lowest;
        }
    }

    /// The reference rate of a hop after this load.
    //= hpcc19 algorithm 1 compute
    fn advanced(&self, index: usize, Load { busy, seconds }: Load) -> Reference {
        let reference = self.references[index];
        let seconds = seconds.min(self.base_rtt);
        let kept = reference.busy * (self.base_rtt - seconds);
        let busy = (kept + busy * seconds) / self.base_rtt;
        let excess = busy / self.config.eta;
        let step = self.config.rate_ai.as_bps() as f64;
        let is_full = excess >= 1.0 || reference.steps >= self.config.stage_max;
        let (rate, steps) = if is_full {
            (reference.rate / excess + step, 0)
        } else {
            (reference.rate + step, reference.steps + 1)
        };
        Reference { rate: self.bounds.limit(rate), busy, steps }
    }
}

impl super::ReactionPoint for ReactionPoint {
    #[inline]
    fn on_send(&mut self, _now: Time, packet: Sent) {
        self.next = packet.sequence.next();
    }

    fn on_feedback(&mut self, _now: Time, _feedback: Feedback) {}

    fn on_telemetry(&mut self, _now: Time, feedback: Feedback, hops: &[Hop]) {
        match feedback {
            Feedback::Ack { sequence, .. } => self.on_records(sequence, hops),
            Feedback::Nack { expected, .. } => self.on_records(expected.previous(), hops),
            _ => {}
        }
    }

    #[inline]
    fn rate(&self) -> Rate {
        self.bounds.rate(self.rate)
    }
}

#[cfg(test)]
mod tests;
