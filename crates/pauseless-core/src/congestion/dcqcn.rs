//! Data center quantized congestion notification.
//!
//! **Models** the notification point that answers marked packets with CNPs, at most one per flow
//! and interval, at once or whenever it looks at what has come since, and the reaction point with its estimate alpha, two timers and a byte counter.
//! The congestion point is [`marking`].
//!
//! **Source** dcqcn15 section 3.1; R_HAI and the least rate, which it does not state, are those of
//! public code (docs/protocols.md#dcqcn-defaults).
//!
//! **Deviates** The target rate never exceeds the line rate, as in public code. In hyper increase
//! the first step is one R_HAI, the second two, and so on. A flow that starts below the line rate
//! recovers from its first packet on, as if a CNP had just brought it there.
//!
//! **States** of the reaction point, where each counter has a stage since the last CNP:
//! ```text
//!   unlimited --CNP--> fast recovery ------> additive increase -----> hyper increase
//!                       both stages < F  >= F                    > F   both stages > F
//!                            ^_______________|_____CNP_______________|
//! ```
//! alpha falls at every expiry of its timer and rises with every CNP.
//!
//! **Not modelled** notification points that answer every packet, byte counters and timers that run
//! before the first CNP at the line rate.

use super::{Bounds, Feedback, Received, Sent, marking, scaled};
use crate::unit::{Bytes, Rate, Span, Time};

/// When a CNP makes the target rate follow the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clamp {
    /// On every CNP, as in the paper.
    Always,
    /// Only if any stage has advanced since the last cut.
    AfterStage,
    /// Only if the byte counter has advanced since the last cut, as in QCN.
    AfterByteStage,
}

/// When the target looks whether a packet of a flow was marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CnpCheck {
    /// At each packet, as in the paper: a marked one is answered at once, unless the last CNP is not
    /// an interval old.
    #[default]
    OnMark,
    /// At the flow's first packet and once per interval from then on, as in the public simulator: a
    /// CNP tells of all packets since the last look.
    Periodic,
}

/// The two published forms of DCQCN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// The paper's form: targets send CNPs, and each of them cuts the rate.
    #[default]
    Paper,
    /// The form of NICs, see [`dcqcn_nic`](super::dcqcn_nic).
    Nic,
}

/// The parameters of DCQCN, for all three of its parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Which form of DCQCN sources and targets follow.
    pub style: Style,
    /// When switches mark packets (the congestion point).
    pub marking: marking::Config,
    /// N, the least time between two CNPs of a flow.
    pub cnp_interval: Span,
    /// When the target looks whether a packet was marked.
    pub cnp_check: CnpCheck,
    /// K, the time without a CNP after which alpha decays.
    pub alpha_timer: Span,
    /// The value of alpha at the start.
    pub alpha_initial: f64,
    /// g, the gain of alpha.
    pub g: f64,
    /// T, the time of one stage.
    pub increase_timer: Span,
    /// B, the bytes sent in one stage.
    pub byte_counter: Bytes,
    /// F, the number of stages of fast recovery.
    pub threshold: u32,
    /// R_AI, the step of the target rate in additive increase.
    pub rate_ai: Rate,
    /// R_HAI, the step of the target rate in hyper increase.
    pub rate_hai: Rate,
    /// The rate below which no CNP brings a flow.
    pub rate_min: Rate,
    /// When a CNP makes the target rate follow the current one.
    pub clamp: Clamp,
    /// The link speed for which R_AI and R_HAI are given, if they are scaled with the speed of the
    /// link.
    pub reference: Option<Rate>,
}

impl Default for Config {
    /// Parameters for links of 40 Gb/s, scaled to others.
    //= dcqcn15 3.1 defaults
    fn default() -> Config {
        let reference = Some(Rate::gbps(40));
        Config {
            style: Style::Paper,
            marking: marking::Config {
                kmin: Bytes::kb(5),
                kmax: Bytes::kb(200),
                pmax: 0.01,
                reference,
                phantom: None,
                mark_at: marking::MarkAt::Departure,
                levels: Default::default(),
            },
            cnp_interval: Span::us(50),
            cnp_check: CnpCheck::OnMark,
            alpha_timer: Span::us(55),
            alpha_initial: 1.0,
            g: 1.0 / 256.0,
            increase_timer: Span::us(55),
            byte_counter: Bytes::mb(10),
            threshold: 5,
            rate_ai: Rate::mbps(40),
            rate_hai: Rate::mbps(200),
            rate_min: Rate::mbps(100),
            clamp: Clamp::Always,
            reference,
        }
    }
}

/// The receiver's half: answers marked packets with CNPs, at most one per interval.
#[derive(Clone, Debug)]
pub struct NotificationPoint {
    interval: Span,
    check: CnpCheck,
    /// On marks the earliest instant of the next CNP, after the first one. By period the instant of
    /// the first packet, from which looks are counted.
    since: Option<Time>,
    /// The next look that will find a mark.
    look: Time,
}

impl NotificationPoint {
    /// A notification point that has seen no packet. Panics if the interval is zero.
    pub fn new(config: &Config) -> NotificationPoint {
        assert!(config.cnp_interval > Span::ZERO, "the interval between CNPs is zero");
        NotificationPoint {
            interval: config.cnp_interval,
            check: config.cnp_check,
            since: None,
            look: Time::MAX,
        }
    }

    fn answer(&mut self, now: Time, is_marked: bool) -> Option<Feedback> {
        //= dcqcn15 3.1 cnp
        if !is_marked || self.since.is_some_and(|ready| now < ready) {
            return None;
        }
        self.since = Some(now.saturating_add(self.interval));
        Some(Feedback::Cnp)
    }

    /// Looks between marks would find nothing, so only the one after a mark is waited for.
    fn count(&mut self, now: Time, is_marked: bool) -> Option<Feedback> {
        let feedback = super::NotificationPoint::handle_timeout(self, now);
        let Some(first) = self.since else {
            self.since = Some(now);
            return is_marked.then_some(Feedback::Cnp);
        };
        if is_marked && self.look == Time::MAX {
            let passed = now.saturating_since(first).as_ps() / self.interval.as_ps();
            self.look = first.saturating_add(self.interval * (passed + 1));
        }
        feedback
    }
}

impl super::NotificationPoint for NotificationPoint {
    /// Handles a packet. By period, one that arrives at the instant of a look counts for the next.
    #[inline]
    fn on_packet(&mut self, now: Time, packet: Received) -> Option<Feedback> {
        match self.check {
            CnpCheck::OnMark => self.answer(now, packet.is_marked),
            CnpCheck::Periodic => self.count(now, packet.is_marked),
        }
    }

    fn poll_timeout(&self) -> Time {
        self.look
    }

    fn handle_timeout(&mut self, now: Time) -> Option<Feedback> {
        if now < self.look {
            return None;
        }
        self.look = Time::MAX;
        Some(Feedback::Cnp)
    }
}

/// The sender's half: cuts the rate by alpha / 2 with each CNP, and recovers by bytes sent and by
/// time.
#[derive(Clone, Debug)]
pub struct ReactionPoint {
    config: Config,
    bounds: Bounds,
    rate_ai: f64,
    rate_hai: f64,
    /// RC, the rate at which the flow sends, in bit/s.
    current: f64,
    /// RT, the rate that recovery aims at, in bit/s.
    target: f64,
    alpha: f64,
    byte_stage: u32,
    time_stage: u32,
    /// The bytes up to the next byte stage: from the first CNP on, or from the start of a flow that
    /// starts below the line rate.
    bytes_left: Option<Bytes>,
    /// When the next time stage begins: not before the first packet.
    increase_at: Time,
    /// When alpha decays next, unless a CNP comes first.
    alpha_at: Time,
}

impl ReactionPoint {
    /// A source on a link of rate `line` that starts at `initial`. Panics if a timer is zero.
    pub fn new(config: &Config, line: Rate, initial: Rate) -> ReactionPoint {
        assert!(config.increase_timer > Span::ZERO, "the increase timer is zero");
        assert!(config.alpha_timer > Span::ZERO, "the alpha timer is zero");
        let bounds = Bounds::new(config.rate_min, line);
        let initial = bounds.limit(initial.as_bps() as f64);
        ReactionPoint {
            config: *config,
            bounds,
            rate_ai: scaled(config.rate_ai, line, config.reference),
            rate_hai: scaled(config.rate_hai, line, config.reference),
            current: initial,
            target: initial,
            alpha: config.alpha_initial,
            byte_stage: 0,
            time_stage: 0,
            bytes_left: (initial < bounds.line).then_some(config.byte_counter),
            increase_at: Time::MAX,
            alpha_at: Time::MAX,
        }
    }

    /// The estimate of the congestion, from 0 to 1.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Whether a CNP makes the target rate follow the current one.
    fn clamps(&self) -> bool {
        match self.config.clamp {
            Clamp::Always => true,
            Clamp::AfterStage => self.byte_stage > 0 || self.time_stage > 0,
            Clamp::AfterByteStage => self.byte_stage > 0,
        }
    }

    /// Begins a stage: raises the target rate, and the current rate half way towards it.
    fn increase(&mut self) {
        let threshold = self.config.threshold;
        let lower = self.byte_stage.min(self.time_stage);
        let increase = if self.byte_stage.max(self.time_stage) < threshold {
            //= dcqcn15 3.1 eq 3
            0.0
        } else if lower > threshold {
            //= dcqcn15 3.1 hyper-increase
            f64::from(lower - threshold) * self.rate_hai
        } else {
            //= dcqcn15 3.1 eq 4
            self.rate_ai
        };
        self.target = self.bounds.limit(self.target + increase);
        self.current = self.bounds.limit((self.current + self.target) / 2.0);
    }
}

impl super::ReactionPoint for ReactionPoint {
    #[inline]
    fn on_send(&mut self, now: Time, packet: Sent) {
        let Some(bytes_left) = &mut self.bytes_left else {
            return;
        };
        if self.increase_at == Time::MAX {
            self.increase_at = now.saturating_add(self.config.increase_timer);
            self.alpha_at = now.saturating_add(self.config.alpha_timer);
        }
        if packet.size < *bytes_left {
            *bytes_left -= packet.size;
            return;
        }
        *bytes_left = self.config.byte_counter;
        self.byte_stage = self.byte_stage.saturating_add(1);
        self.increase();
    }

    fn on_feedback(&mut self, now: Time, feedback: Feedback) {
        if feedback != Feedback::Cnp {
            return;
        }
        // The cut uses the old alpha: the paper updates alpha afterwards.
        //= dcqcn15 3.1 eq 1
        if self.clamps() {
            self.target = self.current;
        }
        self.current = self.bounds.limit(self.current * (1.0 - self.alpha / 2.0));
        self.alpha = (1.0 - self.config.g) * self.alpha + self.config.g;
        self.byte_stage = 0;
        self.time_stage = 0;
        self.bytes_left = Some(self.config.byte_counter);
        self.increase_at = now.saturating_add(self.config.increase_timer);
        self.alpha_at = now.saturating_add(self.config.alpha_timer);
    }

    #[inline]
    fn rate(&self) -> Rate {
        self.bounds.rate(self.current)
    }

    fn poll_timeout(&self) -> Time {
        self.increase_at.min(self.alpha_at)
    }

    fn handle_timeout(&mut self, now: Time) {
        // The two timers do not depend on each other's effect, so their order does not matter.
        while self.alpha_at <= now {
            //= dcqcn15 3.1 eq 2
            self.alpha *= 1.0 - self.config.g;
            self.alpha_at = self.alpha_at.saturating_add(self.config.alpha_timer);
        }
        while self.increase_at <= now {
            self.increase_at = self.increase_at.saturating_add(self.config.increase_timer);
            self.time_stage = self.time_stage.saturating_add(1);
            self.increase();
        }
    }
}

#[cfg(test)]
mod tests;
