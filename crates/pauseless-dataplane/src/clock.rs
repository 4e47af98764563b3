//! What time it is for a node.

use std::time::{Duration, Instant};

use pauseless_core::unit::{Span, Time};

/// How the time of a node passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As on the wall.
    Real,
    /// As on the wall, but by no more than this from one look to the next: a machine that stalls slows
    /// the experiment down and never breaks it.
    Elastic(Span),
}

impl Pace {
    /// The tick of an elastic clock if nobody says otherwise.
    pub const TICK: Span = Span::us(20);
}

/// The clock of a node, or of several that share it.
#[derive(Clone, Debug)]
pub struct Clock {
    pace: Pace,
    /// The instant that is [`Time::ZERO`] plus what was left out.
    last: Instant,
    now: Time,
    stalled: Span,
}

/// Shows the time of a clock of [`Pace::Real`] that has started at `start`, without being its owner.
pub fn watch(start: Instant) -> impl Fn() -> Time + Send {
    move || Time::ZERO + span(start.elapsed())
}

/// As much of it as there is time for.
fn span(passed: Duration) -> Span {
    let ps = passed.as_nanos().saturating_mul(1_000);
    Span::ps(ps.min(u128::from(u64::MAX)) as u64)
}

impl Clock {
    /// When time ends: it is counted in picoseconds, and what is planned must fit behind it. Whoever drives
    /// a node stops it by then.
    pub const END: Time = Time::from_ps(200 * 86_400 * 1_000_000_000_000);

    /// A clock that shows zero at `start`, which may lie ahead: until then it shows zero.
    pub fn new(pace: Pace, start: Instant) -> Clock {
        Clock { pace, last: start, now: Time::ZERO, stalled: Span::ZERO }
    }

    /// Looks at the wall and says what time it is.
    pub fn look(&mut self) -> Time {
        let wall = Instant::now();
        let passed = wall.saturating_duration_since(self.last);
        if !passed.is_zero() {
            self.last = wall;
        }
        self.pass(span(passed))
    }

    /// How much of the wall's time was left out because the machine stalled.
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
