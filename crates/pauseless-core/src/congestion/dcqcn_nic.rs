//! DCQCN as NICs do it: the reaction point of [`dcqcn`](super::dcqcn) with
//! [`Style::Nic`](super::dcqcn::Style::Nic).
//!
//! **Models** a source whose acknowledgements say whether their packets were marked. It never cuts
//! its rate at once: it looks at regular instants whether a mark has come back since the last one.
//!
//! **Source** the HPCC authors' public simulator, mode 1, which says that it follows a vendor's
//! NIC; docs/protocols.md#dcqcn-defaults has its parameters beside those of the paper.
//!
//! **Deviates** Rates are numbers of bit/s with a fraction, where that simulator has whole ones.
//!
//! **States** from the first marked packet on, the instant t: alpha is 1 then, and at
//! t + k [`alpha_timer`] it rises if a mark has come back since the last time, and falls if not.
//! At t + 1 ns + k [`cnp_interval`] the rate is cut if one has, and the stages begin anew.
//! ```text
//!   unlimited --mark--> fast recovery --> additive increase --> hyper increase --> ...
//!                        stage < F         stage = F             stage > F
//!                            ^_________________|_______cut___________|
//! ```
//! A stage begins every [`increase_timer`] after a cut.
//!
//! [`alpha_timer`]: super::dcqcn::Config::alpha_timer
//! [`cnp_interval`]: super::dcqcn::Config::cnp_interval
//! [`increase_timer`]: super::dcqcn::Config::increase_timer
//!
//! **Not modelled** the byte counter, which that simulator does not have either, and CNPs as
//! packets of their own.

use super::dcqcn::{Clamp, Config};
use super::{Bounds, Feedback, scaled};
use crate::unit::{Rate, Span, Time};

/// The sender's half: checks at regular instants whether acknowledgements of marked packets have
/// come.
#[derive(Clone, Debug)]
pub struct ReactionPoint {
    config: Config,
    bounds: Bounds,
    rate_ai: f64,
    rate_hai: f64,
    current: f64,
    target: f64,
    alpha: f64,
    stage: u32,
    /// Whether a mark has come back since the last change of alpha.
    is_alpha_marked: bool,
    /// When alpha changes next; never before the first mark.
    alpha_at: Time,
    /// Whether a mark has come back since the rate was last checked.
    is_rate_marked: bool,
    /// When the rate is checked next.
    look_at: Time,
    /// When the next stage begins.
    increase_at: Time,
}

impl ReactionPoint {
    /// A source on a link of rate `line` that starts at `initial`. Panics if a timer is zero.
    pub fn new(config: &Config, line: Rate, initial: Rate) -> ReactionPoint {
        assert!(config.increase_timer > Span::ZERO, "the increase timer is zero");
        assert!(config.alpha_timer > Span::ZERO, "the alpha timer is zero");
        assert!(config.cnp_interval > Span::ZERO, "the CNP interval is zero");
        let bounds = Bounds::new(config.rate_min, line);
        let initial = bounds.limit(initial.as_bps() as f64);
        ReactionPoint {
            config: *config,
            bounds,
            rate_ai: scaled(config.rate_ai, line, config.reference),
            rate_hai: scaled(config.rate_hai, line, config.reference),
            current: initial,
            target: initial,
            alpha: 1.0,
            stage: 0,
            is_alpha_marked: false,
            alpha_at: Time::MAX,
            is_rate_marked: false,
            look_at: Time::MAX,
            increase_at: Time::MAX,
        }
    }

    /// The estimate of the congestion, from 0 to 1, as of the last event that needed it.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    fn on_mark(&mut self, now: Time) {
        self.is_rate_marked = true;
        if self.alpha_at == Time::MAX {
            self.alpha = 1.0;
            self.alpha_at = now.saturating_add(self.config.alpha_timer);
            // One nanosecond later, so that alpha changes before the rate is checked.
            self.look_at = now.saturating_add(self.config.cnp_interval + Span::ns(1));
            return;
        }
        self.advance_alpha(now);
        self.advance_look(now);
        self.is_alpha_marked = true;
    }

    /// Makes up for all changes of alpha that were due. Only a cut reads alpha, so it needs no
    /// timer.
    fn advance_alpha(&mut self, now: Time) {
        if now < self.alpha_at {
            return;
        }
        let timer = self.config.alpha_timer;
        let count = 1 + (now - self.alpha_at).as_ps() / timer.as_ps();
        let g = self.config.g;
        self.alpha *= power(1.0 - g, count);
        if self.is_alpha_marked {
            // The mark counted at the first of these instants, and has decayed at the others.
            self.alpha += g * power(1.0 - g, count - 1);
        }
        self.is_alpha_marked = false;
        self.alpha_at = self.alpha_at.saturating_add(timer * count);
    }

    /// Moves the next check of the rate beyond `now`. A check without a mark has no effect, so past
    /// ones are skipped.
    fn advance_look(&mut self, now: Time) {
        let interval = self.config.cnp_interval;
        if self.look_at <= now {
            let count = 1 + (now - self.look_at).as_ps() / interval.as_ps();
            self.look_at = self.look_at.saturating_add(interval * count);
        }
    }

    /// Cuts the rate at the check of instant `at`, before which a mark has come back.
    fn cut(&mut self, at: Time) {
        self.advance_alpha(at);
        self.look_at = at.saturating_add(self.config.cnp_interval);
        if self.config.clamp == Clamp::Always || self.stage > 0 {
            self.target = self.current;
        }
        self.current = self.bounds.limit(self.current * (1.0 - self.alpha / 2.0));
        self.stage = 0;
        self.is_rate_marked = false;
        self.increase_at = at.saturating_add(self.config.increase_timer);
    }

    fn increase(&mut self, at: Time) {
        self.increase_at = at.saturating_add(self.config.increase_timer);
        let threshold = self.config.threshold;
        let increase = match self.stage.cmp(&threshold) {
            core::cmp::Ordering::Less => 0.0,
            core::cmp::Ordering::Equal => self.rate_ai,
            core::cmp::Ordering::Greater => self.rate_hai,
        };
        self.target = self.bounds.limit(self.target + increase);
        self.current = self.bounds.limit((self.current + self.target) / 2.0);
        self.stage = self.stage.saturating_add(1);
    }

    /// When the rate will be cut; never without a mark.
    fn cut_at(&self) -> Time {
        if self.is_rate_marked { self.look_at } else { Time::MAX }
    }
}

impl super::ReactionPoint for ReactionPoint {
    fn on_feedback(&mut self, now: Time, feedback: Feedback) {
        if let Feedback::Ack { is_marked, .. } | Feedback::Nack { is_marked, .. } = feedback
            && is_marked
        {
            self.handle_timeout(now);
            self.on_mark(now);
        }
    }

    #[inline]
    fn rate(&self) -> Rate {
        self.bounds.rate(self.current)
    }

    fn poll_timeout(&self) -> Time {
        self.increase_at.min(self.cut_at())
    }

    fn handle_timeout(&mut self, now: Time) {
        // Of two timers that expire together the longer one was set first, and goes first.
        let is_increase_first = self.config.increase_timer > self.config.cnp_interval;
        loop {
            let (cut_at, increase_at) = (self.cut_at(), self.increase_at);
            let next = cut_at.min(increase_at);
            if next > now || next == Time::MAX {
                return;
            }
            if increase_at < cut_at || (increase_at == cut_at && is_increase_first) {
                self.increase(next);
            } else {
                self.cut(next);
            }
        }
    }
}

/// `base` to the power of `exponent`, by squares.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests;
