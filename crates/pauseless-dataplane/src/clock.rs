//! The clock of a node.

use std::time::{Duration, Instant};

use pauseless_core::unit::{Span, Time};

/// How the time of a node passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As in real time.
    Real,
    /// As in real time, but at most this much from one reading to the next: a machine that stalls
    /// slows the experiment down and never breaks it.
    Elastic(Span),
}

impl Pace {
    /// The default tick of an elastic clock.
    pub const TICK: Span = Span::us(20);
}

/// The clock of a node, or of several that share it.
#[derive(Clone, Debug)]
pub struct Clock {
    pace: Pace,
    /// The real time of the last reading.
    last: Instant,
    now: Time,
    stalled: Span,
}

/// Reads a clock of [`Pace::Real`] that has started at `start`, without owning it.
pub fn watch(start: Instant) -> impl Fn() -> Time + Send {
    move || Time::ZERO + span(start.elapsed())
}

/// The duration as a span, as far as it fits.
fn span(passed: Duration) -> Span {
    let ps = passed.as_nanos().saturating_mul(1_000);
    Span::ps(ps.min(u128::from(u64::MAX)) as u64)
}

impl Clock {
    /// The end of time: it is counted in picoseconds, and later tasks must fit behind it. The
    /// driver stops a node by then.
    pub const END: Time = Time::from_ps(200 * 86_400 * 1_000_000_000_000);

    /// A clock that shows zero at `start`, which may lie ahead: until then it shows zero.
    pub fn new(pace: Pace, start: Instant) -> Clock {
        Clock { pace, last: start, now: Time::ZERO, stalled: Span::ZERO }
    }

    /// Reads the real time and says what time it is for the node.
    pub fn look(&mut self) -> Time {
        let wall = Instant::now();
        let passed = wall.saturating_duration_since(self.last);
        if !passed.is_zero() {
            self.last = wall;
        }
        self.pass(span(passed))
    }

    /// The real time that was left out because the machine stalled.
    pub fn stalled(&self) -> Span {
        self.stalled
    }

    fn pass(&mut self, passed: Span) -> Time {
        let step = match self.pace {
            Pace::Real => passed,
            Pace::Elastic(tick) => passed.min(tick),
        };
        self.stalled = self.stalled + Span::ps(passed.as_ps() - step.as_ps());
        self.now = self.now.saturating_add(step);
        self.now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_elastic_clock_leaves_out_stalls_and_a_real_one_does_not() {
        let mut elastic = Clock::new(Pace::Elastic(Span::us(20)), Instant::now());
        let mut real = Clock::new(Pace::Real, Instant::now());
        for passed in [Span::us(5), Span::ms(4), Span::us(20)] {
            elastic.pass(passed);
            real.pass(passed);
        }
        assert_eq!(elastic.now, Time::ZERO + Span::us(45));
        assert_eq!(elastic.stalled(), Span::us(3_980));
        assert_eq!(real.now, Time::ZERO + Span::us(4_025));
        assert_eq!(real.stalled(), Span::ZERO);
    }

    #[test]
    fn a_clock_stands_still_until_its_start() {
        let ahead = Instant::now() + std::time::Duration::from_secs(3_600);
        let mut clock = Clock::new(Pace::Real, ahead);
        assert_eq!(clock.look(), Time::ZERO);
        assert_eq!(clock.look(), Time::ZERO);
    }
}
