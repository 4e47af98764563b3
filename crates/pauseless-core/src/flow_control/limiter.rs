//! The rate limiter of GFC, one per (egress port, class).
//!
//! **Models** the three registers R_l (transmission time of the last frame), R_r (assigned rate)
//! and R_c (countdown), the smallest rate unit of commodity hardware.
//!
//! **Source** gfc19 section 5.3.
//!
//! **Deviates** When the rate changes, what is left of the countdown is rescaled to the new rate.
//! The paper is silent; without it, one frame sent at 152 kb/s blocks the port for 79 ms after the
//! congestion has gone. The frames sent in any span then never exceed the integral of the assigned
//! rate by more than one frame, which is what the guard band is derived from.
//!
//! **States** counting (R_c > 0: no frame may start) and ready.
//!
//! **Not modelled** the 1.2 ns clock of the paper's countdown; ours is exact to a picosecond. What this
//! clock does at the full rate, where the countdown is over when it begins, is [`TICK`].

use crate::unit::{Bytes, Rate, Span, Time};

/// The smallest step in which commodity hardware sets rates.
//= gfc19 5.3 unit
pub const RATE_UNIT: Rate = Rate::bps(8_000);

/// A tick of the countdown, at the 833 MHz of a port of 10 Gb/s: the least time from the end of a frame to
/// the next decision of an egress with a rate limiter, which sees that a countdown is over at its next
/// tick. See [`crate::port::LaneConfig::tick`].
//= gfc19 5.3 countdown
pub const TICK: Span = Span::ps(1_200);

/// The rate limiter with its registers R_l, R_r and R_c.
#[derive(Clone, Debug)]
pub struct Limiter {
    line: Rate,
    unit: Rate,
    /// R_r, the rate that the far end has assigned.
    assigned: Rate,
    /// R_l, the time that the last frame took at line rate.
    last: Span,
    /// When the last bit of the last frame leaves: the countdown starts here.
    end: Time,
    /// When R_c reaches zero.
    ready: Time,
}

impl Limiter {
    /// A limiter that lets everything pass at `line` rate.
    pub fn new(line: Rate, unit: Rate) -> Limiter {
        Limiter { line, unit, assigned: line, last: Span::ZERO, end: Time::ZERO, ready: Time::ZERO }
    }

    /// The rate that the far end has assigned.
    pub fn rate(&self) -> Rate {
        self.assigned
    }

    /// The earliest instant at which the next frame may start.
    #[inline]
    pub fn ready(&self) -> Time {
        self.ready
    }

    /// Accounts for a frame of `size` bytes that starts at `now`.
    #[inline]
    pub fn on_transmit(&mut self, now: Time, size: Bytes) {
        self.last = self.line.tx_span(size);
        self.end = now + self.last;
        self.ready = self.end.saturating_add(self.countdown());
    }

    /// Assigns a rate, rounded down to the unit but never below one unit; the line's rate or more is
    /// exactly the line's.
    pub fn assign(&mut self, now: Time, rate: Rate) {
        let unit = self.unit.as_bps();
        let rounded = (rate.as_bps() / unit * unit).max(unit).min(self.line.as_bps());
        // The full rate needs no countdown, whether it is a whole number of units or not.
        let rate = if rate >= self.line { self.line } else { Rate::bps(rounded) };
        let old = core::mem::replace(&mut self.assigned, rate);
        if now < self.end {
            // The countdown has not started yet: it will start with the new rate.
            self.ready = self.end.saturating_add(self.countdown());
        } else {
            let left = self.ready.saturating_since(now);
            self.ready = now.saturating_add(left.scale_up(old.as_bps(), rate.as_nonzero()));
        }
    }

    /// The length of the countdown, R_c = R_l (C - R_r) / R_r.
    //= gfc19 5.3 countdown
    fn countdown(&self) -> Span {
        if self.assigned == self.line {
            return Span::ZERO;
        }
        let missing = self.line.as_bps() - self.assigned.as_bps();
        self.last.scale_up(missing, self.assigned.as_nonzero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: Rate = Rate::gbps(10);
    const FRAME: Bytes = Bytes::new(1_500);

    /// Worked out by hand from the definition.
    //= gfc19 5.3 countdown type=test
    #[test]
    fn a_quarter_of_the_line_waits_three_frames() {
        let mut limiter = Limiter::new(LINE, RATE_UNIT);
        limiter.assign(Time::ZERO, Rate::mbps(2_500));
        limiter.on_transmit(Time::ZERO, FRAME);
        assert_eq!(limiter.last, Span::ns(1_200));
        assert_eq!(limiter.ready() - limiter.end, Span::ns(3_600));
    }

    #[test]
    fn a_change_of_rate_rescales_what_is_left() {
        let mut limiter = Limiter::new(LINE, RATE_UNIT);
        limiter.assign(Time::ZERO, Rate::mbps(2_500));
        limiter.on_transmit(Time::ZERO, FRAME);
        // 1.2 us into the countdown, 2.4 us are left; at twice the rate that is 1.2 us.
        let now = Time::ZERO + Span::ns(2_400);
        limiter.assign(now, Rate::mbps(5_000));
        assert_eq!(limiter.ready(), now + Span::ns(1_200));
        // Back again, half way through: 0.6 us left become 1.2 us.
        let now = now + Span::ns(600);
        limiter.assign(now, Rate::mbps(2_500));
        assert_eq!(limiter.ready(), now + Span::ns(1_200));
    }

    #[test]
    fn a_change_during_the_frame_counts_from_its_end() {
        let mut limiter = Limiter::new(LINE, RATE_UNIT);
        limiter.on_transmit(Time::ZERO, FRAME);
        limiter.assign(Time::ZERO + Span::ns(300), Rate::mbps(5_000));
        assert_eq!(limiter.ready(), Time::ZERO + Span::ns(2_400));
        limiter.assign(Time::ZERO + Span::ns(600), LINE);
        assert_eq!(limiter.ready(), Time::ZERO + Span::ns(1_200));
    }

    //= gfc19 5.3 unit type=test
    #[test]
    fn rates_are_whole_units_and_never_zero() {
        let mut limiter = Limiter::new(LINE, RATE_UNIT);
        limiter.assign(Time::ZERO, Rate::bps(152_587));
        assert_eq!(limiter.rate(), Rate::bps(152_000));
        limiter.assign(Time::ZERO, Rate::bps(1));
        assert_eq!(limiter.rate(), RATE_UNIT);
        limiter.assign(Time::ZERO, Rate::gbps(40));
        assert_eq!(limiter.rate(), LINE);
        let odd = LINE.deviating(77);
        let mut limiter = Limiter::new(odd, RATE_UNIT);
        limiter.assign(Time::ZERO, odd);
        assert_eq!(limiter.rate(), odd);
    }
}
