//! Quantized congestion notification.
//!
//! **Models** the congestion point that samples arriving packets and sends the source of a sample
//! a measure of the congestion, and the reaction point with its byte counter and timer: fast
//! recovery, active increase, hyper-active increase.
//!
//! **Source** IEEE 802.1Qau (802.1Q clauses 30 to 33); parameters from its MIB. The text of the
//! clauses was not at hand: sampling and states follow public code (docs/protocols.md#qcn).
//!
//! **Deviates** One rate limiter per flow. A limiter that has reached the line rate goes away at
//! once, whether or not packets wait for it. A flow that starts below the line rate has a limiter
//! from its first packet on, with that rate as its target, as if a CNM had just brought it there.
//!
//! **States** of the reaction point, where each counter has a stage since the last CNM:
//! ```text
//!   no limiter --CNM--> fast recovery -----> active increase -----> hyper-active increase
//!       ^                a stage < F    >= F   one stage < F   >= F   both stages >= F
//!       |                     ^________________|_____CNM______________|
//!       `---- the rate has reached that of the line, in any of the three
//! ```
//!
//! **Not modelled** priority-based CNM tags and the defence modes of clause 31, CNMs that are lost,
//! the conference version's halving of the counters in active increase and its jitter of them.

use super::dither::Dither;
use super::{Bounds, Feedback, Joining, QueueState, Sent, scaled};
use crate::unit::{Bytes, Rate, Span, Time};

/// The parameters of QCN, for switches and sources.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Q_eq, the queue length that the congestion point aims at.
    pub queue_set_point: Bytes,
    /// w, the weight of the queue's growth.
    pub weight: f64,
    /// The bytes between two samples when there is no congestion.
    pub sample_base: Bytes,
    /// Gd, the gain of a decrease per unit of feedback.
    pub gd: f64,
    /// The smallest factor of one decrease.
    pub decrease_factor_min: f64,
    /// BC, the bytes sent in one stage.
    pub byte_reset: Bytes,
    /// T_rp, the time of one stage.
    pub time_reset: Span,
    /// F, the number of stages of fast recovery.
    pub threshold: u32,
    /// R_AI, the step of the target rate in active increase.
    pub rate_ai: Rate,
    /// R_HAI, the step of the target rate in hyper-active increase.
    pub rate_hai: Rate,
    /// The rate below which no notification brings a flow.
    pub rate_min: Rate,
    /// The link speed for which R_AI and R_HAI are given, if they are scaled with the speed of the
    /// link.
    pub reference: Option<Rate>,
}

impl Default for Config {
    //= ieee8021-cn-mib defaults
    fn default() -> Config {
        Config {
            queue_set_point: Bytes::new(26_000),
            weight: 2.0,
            sample_base: Bytes::new(150_000),
            gd: 1.0 / 128.0,
            decrease_factor_min: 0.5,
            byte_reset: Bytes::new(150_000),
            time_reset: Span::ms(15),
            threshold: 5,
            rate_ai: Rate::mbps(5),
            rate_hai: Rate::mbps(50),
            rate_min: Rate::mbps(5),
            reference: None,
        }
    }
}

/// The largest measure of congestion that six bits can hold.
const PSI_MAX: u8 = 63;

/// The congestion point: samples the packets that join a queue.
#[derive(Clone, Debug)]
pub struct CongestionPoint {
    set_point: f64,
    weight: f64,
    sample_base: f64,
    /// q_old, the queue length at the last sample.
    old: Bytes,
    /// The bytes up to the next sample.
    to_sample: Bytes,
    dither: Dither,
}

impl CongestionPoint {
    /// The congestion point of an empty queue; `seed` begins its random sequence.
    pub fn new(config: &Config, seed: u64) -> CongestionPoint {
        let mut point = CongestionPoint {
            set_point: config.queue_set_point.get() as f64,
            weight: config.weight,
            sample_base: config.sample_base.get() as f64,
            old: Bytes::ZERO,
            to_sample: Bytes::ZERO,
            dither: Dither::new(seed),
        };
        point.to_sample = point.jittered(point.interval(0));
        point
    }

    /// psi for a queue of `queue` bytes: Fb of the standard, clipped and in 63rds of its range.
    //= 802.1Q-2022 30.2.1 feedback
    fn psi(&self, queue: Bytes) -> u8 {
        let queue = queue.get() as f64;
        let old = self.old.get() as f64;
        let excess = (queue - self.set_point) + self.weight * (queue - old);
        let range = (2.0 * self.weight + 1.0) * self.set_point;
        let excess = excess.max(0.0).min(range);
        // The cast rounds down; 63 * 1 stays 63.
        ((f64::from(PSI_MAX) * excess / range) as u8).min(PSI_MAX)
    }

    /// The bytes to the next sample, before jitter: the fewer, the worse the congestion.
    //= 802.1Q-2022 30.2.1 sampling
    fn interval(&self, psi: u8) -> f64 {
        self.sample_base / f64::from(1 + psi / 8)
    }

    /// `bytes` times a random number between 0.85 and 1.15, so that flows cannot hide between
    /// samples.
    //= 802.1Q-2022 30.2.1 jitter
    fn jittered(&mut self, bytes: f64) -> Bytes {
        let factor = 0.85 + 0.3 * self.dither.share();
        Bytes::new((bytes * factor + 0.5) as u64)
    }
}

impl super::CongestionPoint for CongestionPoint {
    #[inline]
    fn on_enqueue(&mut self, _now: Time, size: Bytes, queue: QueueState) -> Joining {
        if size < self.to_sample {
            self.to_sample -= size;
            return Joining::Silent;
        }
        let psi = self.psi(queue.bytes);
        self.old = queue.bytes;
        self.to_sample = self.jittered(self.interval(psi));
        match psi {
            0 => Joining::Silent,
            psi => Joining::Notify(Feedback::Congestion { psi }),
        }
    }
}

/// A rate limiter that falls with each CNM and recovers by bytes sent and by time.
#[derive(Clone, Debug)]
pub struct ReactionPoint {
    config: Config,
    bounds: Bounds,
    rate_ai: f64,
    rate_hai: f64,
    /// CR, the rate at which the flow sends, in bit/s.
    current: f64,
    /// The state of a flow that a CNM has slowed down; `None` at the line rate.
    limiter: Option<Limiter>,
}

/// The state of a rate limiter beside the current rate.
#[derive(Clone, Copy, Debug)]
struct Limiter {
    /// TR, the rate that recovery aims at, in bit/s.
    target: f64,
    byte_stage: u32,
    time_stage: u32,
    /// The bytes up to the next byte stage.
    bytes_left: Bytes,
    /// When the next time stage begins: not before the first packet.
    timer: Time,
}

/// The effect of a stage on the target rate, and on the counter that has begun it.
struct Step {
    increase: f64,
    /// The divisor of the reset value that the counter restarts from.
    divisor: u64,
}

impl ReactionPoint {
    /// A source on a link of rate `line` that starts at `initial`. Panics if T_rp is zero.
    pub fn new(config: &Config, line: Rate, initial: Rate) -> ReactionPoint {
        assert!(config.time_reset > Span::ZERO, "T_rp is zero");
        let bounds = Bounds::new(config.rate_min, line);
        let current = bounds.limit(initial.as_bps() as f64);
        let waiting = Limiter {
            target: current,
            byte_stage: 0,
            time_stage: 0,
            bytes_left: config.byte_reset,
            timer: Time::MAX,
        };
        ReactionPoint {
            config: *config,
            bounds,
            rate_ai: scaled(config.rate_ai, line, config.reference),
            rate_hai: scaled(config.rate_hai, line, config.reference),
            current,
            limiter: (current < bounds.line).then_some(waiting),
        }
    }

    /// The effect of the expiry of a counter that is at `stage`.
    //= 802.1Q-2022 30.2.2 stages
    fn step(&self, limiter: &Limiter, stage: u32) -> Step {
        let threshold = self.config.threshold;
        let lower = limiter.byte_stage.min(limiter.time_stage);
        let (increase, divisor) = if stage < threshold {
            (0.0, 1)
        } else if lower < threshold {
            (self.rate_ai, 1)
        } else {
            let times = f64::from(lower - threshold) + 1.0;
            (times * self.rate_hai, 2)
        };
        Step { increase, divisor }
    }

    /// Raises the target rate by `increase`, and the current rate half way towards it.
    fn adjust_rates(&mut self, mut limiter: Limiter, increase: f64) {
        // A target from before several cuts in a row is too high to return to.
        //= 802.1Q-2022 30.2.2 extra-fast-recovery
        let is_first = limiter.byte_stage == 1 || limiter.time_stage == 1;
        if is_first && limiter.target > 10.0 * self.current {
            limiter.target /= 8.0;
        } else {
            limiter.target += increase;
        }
        //= 802.1Q-2022 30.2.2 recovery
        self.current = self.bounds.limit((self.current + limiter.target) / 2.0);
        // At the line rate there is nothing to limit: the next CNM makes a new limiter.
        //= 802.1Q-2022 32.14 termination
        self.limiter = (self.current < self.bounds.line).then_some(limiter);
    }
}

impl super::ReactionPoint for ReactionPoint {
    #[inline]
    fn on_send(&mut self, now: Time, packet: Sent) {
        let Some(limiter) = &mut self.limiter else {
            return;
        };
        if limiter.timer == Time::MAX {
            limiter.timer = now.saturating_add(self.config.time_reset);
        }
        if packet.size < limiter.bytes_left {
            limiter.bytes_left -= packet.size;
            return;
        }
        let mut limiter = *limiter;
        limiter.byte_stage = limiter.byte_stage.saturating_add(1);
        let step = self.step(&limiter, limiter.byte_stage);
        limiter.bytes_left = Bytes::new(self.config.byte_reset.get() / step.divisor);
        self.adjust_rates(limiter, step.increase);
    }

    fn on_feedback(&mut self, now: Time, feedback: Feedback) {
        let Feedback::Congestion { psi } = feedback else {
            return;
        };
        if psi == 0 {
            return;
        }
        let fresh = Limiter {
            target: self.current,
            byte_stage: 0,
            time_stage: 0,
            bytes_left: self.config.byte_reset,
            timer: now.saturating_add(self.config.time_reset),
        };
        // Of CNMs with less than a byte stage between them, the first sets the target.
        //= 802.1Q-2022 30.2.2 target
        self.limiter = match self.limiter {
            Some(limiter) if limiter.byte_stage == 0 => {
                Some(Limiter { target: limiter.target, bytes_left: limiter.bytes_left, ..fresh })
            }
            _ => Some(fresh),
        };
        //= 802.1Q-2022 30.2.2 decrease
        let factor = 1.0 - self.config.gd * f64::from(psi.min(PSI_MAX));
        let factor = factor.max(self.config.decrease_factor_min);
        self.current = self.bounds.limit(self.current * factor);
    }

    #[inline]
    fn rate(&self) -> Rate {
        self.bounds.rate(self.current)
    }

    fn poll_timeout(&self) -> Time {
        self.limiter.map_or(Time::MAX, |limiter| limiter.timer)
    }

    fn handle_timeout(&mut self, now: Time) {
        while let Some(mut limiter) = self.limiter
            && limiter.timer <= now
        {
            limiter.time_stage = limiter.time_stage.saturating_add(1);
            let step = self.step(&limiter, limiter.time_stage);
            let span = (self.config.time_reset / step.divisor).max(Span::ps(1));
            limiter.timer = limiter.timer.saturating_add(span);
            self.adjust_rates(limiter, step.increase);
        }
    }
}

#[cfg(test)]
mod tests;
