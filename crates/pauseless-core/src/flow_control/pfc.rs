//! Priority flow control.
//!
//! **Models** XOFF/XON thresholds on one ingress counter, pause times in quanta that expire,
//! refresh frames while the counter stays high, eight independent classes.
//!
//! **Source** IEEE 802.1Qbb (802.1Q clause 36), 802.3 annex 31B.
//!
//! **Deviates** A frame carries one class; the standard allows several in one frame.
//!
//! **States** of the downstream half, with the frame sent on each edge:
//! ```text
//!            held > xoff: PAUSE(quanta)
//!   Running ---------------------------> Pausing --.  every quanta/2: PAUSE(quanta)
//!           <---------------------------          <'
//!            held < xon: PAUSE(0)
//! ```
//!
//! With `xon` = [`NO_RESUME`] the second edge has no frame: a pause ends when its time has run out, and is
//! prolonged by every packet that arrives above XOFF and every half of its time while more is held.
//!
//! Where ports share their memory, that decides instead of the thresholds; see [`crate::memory`].
//!
//! **Lost messages** A lost RESUME costs the sender what is left of its pause, which then runs out. A lost
//! PAUSE is repeated after half its time; until then the sender goes on, by up to C times that more than
//! the headroom was made for.
//!
//! **Not modelled** 802.3x link-level PAUSE, asymmetric PFC. The watchdog is in
//! [`crate::switch::watchdog`].

use super::{Downstream, Gate, Signal, Upstream};
use crate::unit::{Bytes, Rate, Span, Time};

/// Thresholds of one (ingress port, class).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The sender is paused when more than this is held.
    pub xoff: Bytes,
    /// The sender is resumed when less than this is held; [`NO_RESUME`] if it never is, so that pauses
    /// run out.
    pub xon: Bytes,
    /// The pause time of a PAUSE, in quanta; [`UNTIL_RESUMED`] for pauses that never expire and are
    /// not refreshed, as in public simulators.
    pub quanta: u16,
}

impl Config {
    /// Parameters without thresholds: a shared memory decides when to pause, see [`crate::memory`].
    pub const fn commanded(quanta: u16) -> Config {
        Config { xoff: Bytes::MAX, xon: Bytes::ZERO, quanta }
    }

    /// Whether a shared memory decides when to pause.
    pub fn is_commanded(&self) -> bool {
        *self == Config::commanded(self.quanta)
    }
}

/// One quantum is the time of 512 bits on the link.
//= 802.1Q-2022 36.1.3 quantum
pub const QUANTUM: Bytes = Bytes::new(64);

/// The span of `quanta` on a link of rate `line`.
pub fn pause_span(quanta: u16, line: Rate) -> Span {
    line.tx_span(QUANTUM * u64::from(quanta))
}

/// The receiver's half, which sends PAUSE and RESUME.
#[derive(Clone, Debug)]
pub struct PfcDownstream {
    xoff: Bytes,
    /// Above XOFF if pauses run out instead of being ended by a RESUME: they are no longer prolonged
    /// below this.
    xon: Bytes,
    quanta: u16,
    pausing: bool,
    /// Whether the last message to the sender was a PAUSE, and no other PAUSE is due.
    announced: bool,
    refresh: Span,
    refresh_at: Time,
    resumes: u32,
    resumed_at: Time,
}

impl PfcDownstream {
    /// The half of an empty buffer, which has paused nobody.
    pub fn new(config: &Config, line: Rate) -> PfcDownstream {
        let is_timed = config.xon == NO_RESUME && !config.is_commanded();
        PfcDownstream {
            xoff: config.xoff,
            xon: if is_timed { config.xoff + Bytes::new(1) } else { config.xon },
            quanta: match config.quanta {
                UNTIL_RESUMED => QUANTA_MAX,
                quanta => quanta,
            },
            pausing: false,
            announced: false,
            // The refresh arrives well before the last PAUSE expires.
            refresh: match config.quanta {
                UNTIL_RESUMED => Span::MAX,
                quanta => pause_span(quanta, line) / 2,
            },
            refresh_at: Time::MAX,
            resumes: 0,
            resumed_at: Time::ZERO,
        }
    }
}

impl PfcDownstream {
    /// The counts between the thresholds that matter next, see [`super::AnyDownstream::quiet`].
    #[inline]
    pub(super) fn quiet(&self) -> (Bytes, Bytes) {
        match (self.pausing, self.announced) {
            (false, false) => (Bytes::ZERO, self.xoff),
            (true, true) if !self.is_timed() => (self.xon, Bytes::MAX),
            _ => super::AnyDownstream::LOUD,
        }
    }

    /// Whether pauses run out instead of being ended by a RESUME.
    fn is_timed(&self) -> bool {
        self.xon > self.xoff
    }

    /// Pauses or resumes as a shared memory has decided.
    pub fn set_pausing(&mut self, is_pausing: bool) {
        self.pausing = is_pausing;
    }
}

impl Downstream for PfcDownstream {
    #[inline]
    fn on_enqueue(&mut self, _now: Time, _size: Bytes, held: Bytes) {
        //= protocols pfc-thresholds
        if held > self.xoff {
            self.pausing = true;
            self.announced &= !self.is_timed();
        }
    }

    #[inline]
    fn on_dequeue(&mut self, _now: Time, _size: Bytes, held: Bytes) {
        if held < self.xon {
            self.pausing = false;
            if self.is_timed() {
                self.announced = false;
                self.refresh_at = Time::MAX;
            }
        }
    }

    #[inline]
    fn has_signal(&self, now: Time) -> bool {
        self.pausing != self.announced || now >= self.refresh_at
    }

    fn poll_signal(&mut self, now: Time) -> Option<Signal> {
        if !self.has_signal(now) {
            return None;
        }
        if self.announced && !self.pausing {
            self.resumes = self.resumes.wrapping_add(1);
            self.resumed_at = now;
        }
        self.announced = self.pausing;
        if self.pausing {
            self.refresh_at = now.saturating_add(self.refresh);
            return Some(Signal::Pause { quanta: self.quanta });
        }
        self.refresh_at = Time::MAX;
        Some(Signal::Pause { quanta: 0 })
    }

    fn poll_timeout(&self) -> Option<Time> {
        (self.refresh_at != Time::MAX).then_some(self.refresh_at)
    }

    fn keeps_blocked(&self, kept: Bytes, _head: Bytes) -> bool {
        // Without RESUME a PAUSE that is due prolongs the one that has stopped the sender.
        self.pausing && (self.announced || self.is_timed()) && kept >= self.xon
    }

    fn resumes(&self) -> u32 {
        self.resumes
    }

    fn resumed_at(&self) -> Time {
        self.resumed_at
    }
}

/// The sender's half, which is paused.
#[derive(Clone, Debug)]
pub struct PfcUpstream {
    line: Rate,
    until: Time,
    resumes: u32,
    /// Whether the last frame that arrived was a PAUSE, expired or not.
    is_last_pause: bool,
    /// Whether pauses expire by themselves.
    expires: bool,
}

impl PfcUpstream {
    /// The half of a sender that is not paused.
    pub fn new(line: Rate) -> PfcUpstream {
        PfcUpstream { line, until: Time::ZERO, resumes: 0, is_last_pause: false, expires: true }
    }

    /// The end of the pause that was asked for last.
    #[inline]
    pub(super) fn until(&self) -> Time {
        self.until
    }

    /// The half of a sender whose far end is configured with `config`.
    pub fn facing(config: &Config, line: Rate) -> PfcUpstream {
        PfcUpstream { expires: config.quanta != UNTIL_RESUMED, ..PfcUpstream::new(line) }
    }
}

impl Upstream for PfcUpstream {
    fn on_signal(&mut self, now: Time, signal: Signal) {
        let Signal::Pause { quanta } = signal else {
            return;
        };
        if quanta == 0 && self.is_last_pause {
            self.resumes = self.resumes.wrapping_add(1);
        }
        self.is_last_pause = quanta > 0;
        // The new pause time replaces what is left of the old one.
        //= 802.1Q-2022 36.1.3 timer
        self.until = if quanta > 0 && !self.expires {
            Time::MAX
        } else {
            now + pause_span(quanta, self.line)
        };
    }

    #[inline]
    fn gate(&self, now: Time, _size: Bytes) -> Gate {
        if now >= self.until {
            Gate::Open
        } else if self.until == Time::MAX {
            Gate::Closed
        } else {
            Gate::At(self.until)
        }
    }

    #[inline]
    fn is_stopped(&self, now: Time, _size: Bytes) -> bool {
        now < self.until
    }

    fn rate(&self, now: Time) -> Option<Rate> {
        (now >= self.until).then_some(self.line)
    }

    /// The number of RESUMEs that each came after a PAUSE: a duplicate counts once, and one whose
    /// PAUSE was lost does not count.
    fn resumes(&self) -> u32 {
        self.resumes
    }
}

/// The pause time of pauses that only a RESUME ends.
pub const UNTIL_RESUMED: u16 = 0;

/// The XON of a port that never sends RESUME.
pub const NO_RESUME: Bytes = Bytes::ZERO;

/// The longest pause time, which stands for "until further notice" and is refreshed at half its
/// length.
pub const QUANTA_MAX: u16 = u16::MAX;

/// XON lies two frames below XOFF unless the scenario says otherwise.
//= protocols pfc-xon
pub fn default_xon(xoff: Bytes, mtu: Bytes) -> Bytes {
    xoff.saturating_sub(mtu * 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: Rate = Rate::gbps(10);

    fn config() -> Config {
        Config { xoff: Bytes::kb(80), xon: Bytes::kb(77), quanta: QUANTA_MAX }
    }

    //= 802.1Q-2022 36.1.3 quantum type=test
    #[test]
    fn the_longest_pause_lasts_what_the_standard_says() {
        assert_eq!(pause_span(65_535, Rate::gbps(10)), Span::ps(3_355_392_000));
        assert_eq!(pause_span(65_535, Rate::gbps(40)), Span::ps(838_848_000));
        assert_eq!(pause_span(65_535, Rate::gbps(100)), Span::ps(335_539_200));
    }

    //= protocols pfc-thresholds type=test
    #[test]
    fn pauses_above_xoff_and_resumes_below_xon_only() {
        let mut down = PfcDownstream::new(&config(), LINE);
        let (now, size) = (Time::ZERO, Bytes::new(1_500));
        down.on_enqueue(now, size, Bytes::kb(80));
        assert_eq!(down.poll_signal(now), None, "XOFF itself is not above XOFF");
        down.on_enqueue(now, size, Bytes::new(80_001));
        assert_eq!(down.poll_signal(now), Some(Signal::Pause { quanta: 65_535 }));
        assert_eq!(down.poll_signal(now), None, "said once");
        down.on_dequeue(now, size, Bytes::kb(77));
        assert_eq!(down.poll_signal(now), None, "XON itself is not below XON");
        down.on_dequeue(now, size, Bytes::new(76_999));
        assert_eq!(down.poll_signal(now), Some(Signal::Pause { quanta: 0 }));
        assert_eq!(down.resumes(), 1);
    }

    #[test]
    fn a_pause_that_was_overtaken_by_its_resume_is_never_sent() {
        let mut down = PfcDownstream::new(&config(), LINE);
        let size = Bytes::new(1_500);
        down.on_enqueue(Time::ZERO, size, Bytes::kb(90));
        down.on_dequeue(Time::ZERO, size, Bytes::kb(70));
        assert_eq!(down.poll_signal(Time::ZERO), None);
        assert_eq!(down.resumes(), 0);
    }

    #[test]
    fn refreshes_at_half_time_for_as_long_as_it_pauses() {
        let mut down = PfcDownstream::new(&config(), LINE);
        down.on_enqueue(Time::ZERO, Bytes::new(1_500), Bytes::kb(90));
        assert!(down.poll_signal(Time::ZERO).is_some());
        let half = Time::ZERO + pause_span(65_535, LINE) / 2;
        assert_eq!(down.poll_timeout(), Some(half));
        assert_eq!(down.poll_signal(half), Some(Signal::Pause { quanta: 65_535 }));
        down.on_dequeue(half, Bytes::new(1_500), Bytes::kb(10));
        assert_eq!(down.poll_signal(half), Some(Signal::Pause { quanta: 0 }));
        assert_eq!(down.poll_timeout(), None);
    }

    #[test]
    fn without_resume_a_pause_is_prolonged_above_xoff_and_runs_out_below() {
        let config = Config { xon: NO_RESUME, quanta: 390, ..config() };
        let (size, pause) = (Bytes::new(1_500), Some(Signal::Pause { quanta: 390 }));
        let mut down = PfcDownstream::new(&config, LINE);
        let at = |quanta| Time::ZERO + pause_span(quanta, LINE);
        for (now, held) in [(at(0), 80_001), (at(10), 81_501)] {
            down.on_enqueue(now, size, Bytes::new(held));
            assert_eq!(down.poll_signal(now), pause, "a packet above XOFF");
        }
        assert_eq!(down.poll_timeout(), Some(at(205)), "half a pause after the last one");
        assert_eq!(down.poll_signal(at(205)), pause);
        assert!(down.keeps_blocked(Bytes::new(80_001), size));
        assert!(!down.keeps_blocked(Bytes::kb(80), size), "XOFF itself is not above XOFF");
        down.on_dequeue(at(300), size, Bytes::kb(80));
        assert_eq!(down.poll_signal(at(600)), None, "no RESUME and no PAUSE");
        assert_eq!((down.poll_timeout(), down.resumes()), (None, 0));
        down.on_enqueue(at(700), size, Bytes::new(80_001));
        assert_eq!(down.poll_signal(at(700)), pause);
    }

    //= 802.1Q-2022 36.1.3 timer type=test
    #[test]
    fn the_pause_expires_by_itself_and_is_overwritten_not_added() {
        let mut up = PfcUpstream::new(LINE);
        up.on_signal(Time::ZERO, Signal::Pause { quanta: 10 });
        let first = Time::ZERO + pause_span(10, LINE);
        assert_eq!(up.gate(Time::ZERO, Bytes::new(64)), Gate::At(first));
        assert_eq!(up.gate(first, Bytes::new(64)), Gate::Open);
        let later = Time::ZERO + pause_span(4, LINE);
        up.on_signal(later, Signal::Pause { quanta: 2 });
        assert_eq!(up.gate(later, Bytes::new(64)), Gate::At(later + pause_span(2, LINE)));
        up.on_signal(later, Signal::Pause { quanta: 0 });
        assert_eq!(up.gate(later, Bytes::new(64)), Gate::Open);
        assert_eq!(up.resumes(), 1);
    }

    //= protocols pfc-xon type=test
    #[test]
    fn the_default_xon_is_two_frames_below() {
        assert_eq!(default_xon(Bytes::kb(80), Bytes::new(1_500)), Bytes::kb(77));
    }
}
