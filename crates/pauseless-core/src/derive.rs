//! Parameters of every flow control, derived from the link, and the check of given ones.
//!
//! The theorems of the GFC paper are about a fluid, packets are indivisible. What that costs, for
//! a sender whose limiter exceeds the integral of its rate by at most one frame of M bytes:
//!
//! * **Overshoot.** Let t_k be the moment the queue reaches B_k; it is then below B_k + M. The rate
//!   R_k is in force by t_k + tau. Until then at most R_(k-1) tau + M arrive, and in the fluid
//!   B_(k+1) - B_k = R_(k-1) tau, so the queue is below B_(k+1) + 2M. The bound does not
//!   accumulate over stages, because thresholds are absolute: when the last stage's rate is in force
//!   the queue is below B_m + 2M. The linear mappings err in the same way, by the same 2M.
//! * **Slop.** Equation 6 leaves out the 64 bytes of the message itself, and those of other
//!   classes that wait before it: less than one M.
//! * **No floor is safe for ever.** A rate that stays above zero fills any buffer if the drain is
//!   zero for long enough: one more frame every M / R_N. So the sender must be held somewhere:
//!   at `hold`, not below B_m + 3M. After that at most 2M arrive (the frame that crosses `hold` and
//!   one that had started when the message came).
//!
//! Hence 5 M of guard band above B_m make GFC overflow-free under a drain of zero for any length of
//! time, and each M beyond that buys M / R_N of standstill before a sender is held.
//! `tests/laws.rs` and `tests/guard.rs` prove both halves by experiment.

mod violation;

pub use violation::Violation;

use crate::flow_control::{Control, FlowControl, cbfc, gfc, limiter, pfc};
use crate::unit::{Bytes, Rate, Span};
use violation::Given;

/// The least guard band of any configuration, in frames of the largest size.
pub const GUARD_FRAMES_MIN: u64 = 5;

/// The default guard band: the minimum, and three frames that may arrive at the lowest rate.
pub const GUARD_FRAMES: u64 = 8;

/// The frames of the guard band that lie above `hold`.
pub const HOLD_FRAMES: u64 = 2;

/// The parts of the feedback latency of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// The length of the largest frame.
    pub mtu: Bytes,
    /// C, the rate of the link.
    pub line: Rate,
    /// t_w, the propagation delay one way.
    pub wire: Span,
    /// t_r, the time from the arrival of a message to its effect.
    pub processing: Span,
    /// How many classes may have a message waiting at once.
    pub classes: u8,
    /// How much `wire` and `processing`, which are upper bounds, may vary from frame to frame.
    pub jitter: Span,
    /// The bytes that every frame occupies on the wire beyond its size, such as preamble and gap.
    pub overhead: Bytes,
    /// How far the clocks of both ends may be from `line`, in parts per billion.
    pub clock_ppb: u32,
}

impl Latency {
    /// tau, the time from the making of a message to the change of the input rate.
    //= gfc19 5.4 eq 6
    pub fn tau(&self) -> Span {
        self.slowest().tx_span((self.mtu + self.overhead) * 2) + self.wire * 2 + self.processing
    }

    /// C tau, rounded up.
    pub fn c_tau(&self) -> Bytes {
        self.fastest().bytes_in_up(self.tau())
    }

    /// The bytes that may still arrive after a PAUSE has become due: C tau, the frame that crossed
    /// the threshold, and the messages of all classes.
    pub fn pfc_headroom(&self) -> Bytes {
        self.c_tau() + self.mtu + self.messages()
    }

    /// The rate by the fastest clock that an end may have.
    pub fn fastest(&self) -> Rate {
        self.line.deviating(self.clock_ppb.into())
    }

    /// The rate by the slowest clock that an end may have.
    pub fn slowest(&self) -> Rate {
        self.line.deviating(-i64::from(self.clock_ppb))
    }

    /// The bytes of one message of every class on the wire.
    fn messages(&self) -> Bytes {
        (Control::SIZE + self.overhead) * u64::from(self.classes)
    }
}

/// The least B_m - B_0 of conceptual GFC, from where senders slow down to where they stop: 4 C tau,
/// rounded up.
//= gfc19 4.1 theorem 4.1
pub fn conceptual_width(latency: &Latency) -> Bytes {
    latency.fastest().bytes_in_up(latency.tau() * 4)
}

/// B_m - B_1 of buffer-based GFC: 2 C tau.
//= gfc19 5.4 b1
pub fn buffer_width(latency: &Latency) -> Bytes {
    latency.fastest().bytes_in_up(latency.tau() * 2)
}

/// The bytes that a line carries at least for every two messages of buffer-based GFC: 64 B in 9,250 B
/// are the 0.69 % of the paper's example.
//= gfc19 4.2 messages
pub const HOLD_OFF_BYTES: Bytes = Bytes::new(2 * 9_250);

/// The hold-off of buffer-based GFC: a faster stage is told once no message has left for so long.
///
/// With 2 tau there is at most one message per tau, whatever the drain does (docs/gfc-guard.md). On a
/// long or fast link the paper's 0.69 % need less than that. The queue falls for up to tau and the
/// hold-off before the faster rate arrives, so it is less where B_1 is small: a queue that drains at C
/// must not run empty for want of a message.
pub fn hold_off(latency: &Latency, b1: Bytes) -> Span {
    let tau = latency.tau();
    let longest = (tau * 2).min(latency.line.tx_span(HOLD_OFF_BYTES));
    latency.line.tx_span(b1).saturating_sub(tau).min(longest)
}

/// B_m - B_0 of time-based GFC by the paper: (sqrt(tau/T) + 1)^2 C T = C (tau + T + 2 sqrt(tau T)).
/// Its proof assumes tau < T; see [`time_width`].
//= gfc19 5.2 theorem 5.1
pub fn time_width_of_theorem(latency: &Latency, period: Span) -> Bytes {
    let (tau, period) = (latency.tau(), period);
    let product = u128::from(tau.as_ps()) * u128::from(period.as_ps()) * 4;
    let floor = product.isqrt();
    let root = if floor * floor < product { floor + 1 } else { floor };
    let root = Span::ps(u64::try_from(root).unwrap_or(u64::MAX));
    latency.fastest().bytes_in_up(tau + period + root)
}

/// B_m - B_0 of time-based GFC that is safe for any tau.
///
/// Theorem 5.1 tends to C tau as T falls, where even continuous feedback needs more; with tau = 80 T
/// its buffer overflows by a thousand frames (`tests/guard.rs`). Beyond its premise the
/// feedback is one of delay tau + T at the most, and x' = -(C / width) x(t - delay) stays above
/// zero if width >= e C delay.
pub fn time_width(latency: &Latency, period: Span) -> Bytes {
    let theorem = time_width_of_theorem(latency, period);
    if latency.tau() < period {
        return theorem;
    }
    const E_MILLIONTHS: u64 = 2_718_282;
    let delay = latency.tau() + period;
    let million = core::num::NonZeroU64::new(1_000_000).expect("a million is not zero");
    latency.fastest().bytes_in_up(delay.scale_up(E_MILLIONTHS, million)).max(theorem)
}

/// N of buffer-based GFC: the last stage that is longer than the byte in which buffers count.
//= gfc19 4.2 n
pub fn stage_count(width: Bytes) -> u16 {
    assert!(width > Bytes::ZERO, "B_1 lies below B_m");
    let ceil_log2 = u64::BITS - (width.get() - 1).leading_zeros();
    1 + ceil_log2 as u16
}

/// The lowest rate of the linear mappings, which they assign to the last byte.
pub fn rate_floor(line: Rate, width: Bytes, unit: Rate) -> Rate {
    let bps = line.as_bps() / width.get().max(1);
    Rate::bps(bps.max(unit.as_bps()).min(line.as_bps()))
}

/// The parameters that are derived when a scenario gives only the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Derivation {
    /// The link and its latency.
    pub latency: Latency,
    /// The physical buffer of one (ingress port, class).
    pub buffer: Bytes,
    /// The guard band between B_m and the buffer, in frames.
    pub guard_frames: u64,
    /// The limiter's rate unit.
    pub unit: Rate,
}

impl Derivation {
    /// A derivation with the default guard band and rate unit.
    pub fn new(latency: Latency, buffer: Bytes) -> Derivation {
        Derivation { latency, buffer, guard_frames: GUARD_FRAMES, unit: limiter::RATE_UNIT }
    }

    /// The guard band in bytes.
    pub fn guard(&self) -> Bytes {
        self.latency.mtu * self.guard_frames
    }

    /// The largest B_m that leaves the guard band free.
    pub fn bm(&self) -> Bytes {
        self.buffer.saturating_sub(self.guard())
    }

    /// The queue length above which a sender is held.
    pub fn hold(&self) -> Bytes {
        self.buffer.saturating_sub(self.latency.mtu * HOLD_FRAMES)
    }

    /// The parameters of PFC with the largest safe XOFF.
    pub fn pfc(&self) -> pfc::Config {
        let xoff = self.buffer.saturating_sub(self.latency.pfc_headroom());
        let xon = pfc::default_xon(xoff, self.latency.mtu);
        pfc::Config { xoff, xon, quanta: pfc::QUANTA_MAX }
    }

    /// The parameters of CBFC with credits for the whole buffer.
    pub fn cbfc(&self) -> cbfc::Config {
        cbfc::Config {
            capacity: self.buffer,
            period: cbfc::default_period(self.latency.line),
            counters: cbfc::Counters::Wide,
        }
    }

    /// The parameters of buffer-based GFC with B_1 as given, or the largest safe one.
    pub fn gfc_buffer(&self, bm: Option<Bytes>, b1: Option<Bytes>) -> gfc::BufferConfig {
        let bm = bm.unwrap_or(self.bm());
        let b1 = b1.unwrap_or(bm.saturating_sub(buffer_width(&self.latency)));
        let stages = stage_count(bm.saturating_sub(b1).max(Bytes::new(1)));
        let config = gfc::BufferConfig {
            bm,
            b1,
            stages,
            hold: self.hold(),
            unit: self.unit,
            refresh: None,
            hold_off: Span::ZERO,
            prompt_stage: 0,
        };
        self.with_hold_off(config, hold_off(&self.latency, b1))
    }

    /// The same parameters with a hold-off of `span`, for the stages in which a sender has more than a
    /// frame in that time.
    pub fn with_hold_off(&self, config: gfc::BufferConfig, span: Span) -> gfc::BufferConfig {
        let Latency { line, mtu, .. } = self.latency;
        let is_held_off = |stage: &u16| config.rate(*stage, line).bytes_in(span) > mtu;
        let prompt_stage = (0..=config.stages).take_while(is_held_off).count() as u16;
        gfc::BufferConfig { hold_off: span, prompt_stage, ..config }
    }

    /// The parameters of time-based GFC with B_0 as given, or the largest safe one.
    pub fn gfc_time(
        &self,
        bm: Option<Bytes>,
        b0: Option<Bytes>,
        period: Option<Span>,
    ) -> gfc::TimeConfig {
        let period = period.unwrap_or(cbfc::default_period(self.latency.line));
        gfc::TimeConfig {
            mapping: self.mapping(bm, b0, time_width(&self.latency, period)),
            period,
            measure: gfc::Measure::Message,
            capacity: self.buffer,
        }
    }

    /// The parameters of conceptual GFC with B_0 as given, or the largest safe one.
    pub fn gfc_conceptual(&self, bm: Option<Bytes>, b0: Option<Bytes>) -> gfc::ConceptualConfig {
        let tau = self.latency.tau();
        gfc::ConceptualConfig {
            mapping: self.mapping(bm, b0, conceptual_width(&self.latency)),
            // The change still has to travel down the wire before the receiver sees it.
            delay: tau.saturating_sub(self.latency.wire),
        }
    }

    fn mapping(&self, bm: Option<Bytes>, b0: Option<Bytes>, width: Bytes) -> gfc::Mapping {
        let bm = bm.unwrap_or(self.bm());
        let b0 = b0.unwrap_or(bm.saturating_sub(width));
        let floor = rate_floor(self.latency.line, bm.saturating_sub(b0), self.unit);
        gfc::Mapping { bm, b0, hold: self.hold(), floor, unit: self.unit }
    }

    /// Refuses parameters with which the scheme could lose packets or stop for good on this link.
    pub fn check(&self, control: &FlowControl) -> Result<(), Violation> {
        match control {
            FlowControl::None => Ok(()),
            FlowControl::Pfc(config) => self.check_pfc(config),
            FlowControl::Cbfc(config) => self.check_cbfc(config),
            FlowControl::GfcBuffer(config) => {
                self.check_guard(config.bm, config.hold)?;
                let width = buffer_width(&self.latency);
                let rule = "B_m - 2 C tau (gfc19 5.4)";
                Given { name: "b1", value: config.b1, rule }.at_most(config.bm, width)
            }
            FlowControl::GfcTime(config) => {
                self.check_guard(config.mapping.bm, config.mapping.hold)?;
                let width = time_width(&self.latency, config.period);
                let rule = if self.latency.tau() < config.period {
                    "B_m - (sqrt(tau/T) + 1)^2 C T (gfc19 theorem 5.1)"
                } else {
                    "B_m - e C (tau + T) (theorem 5.1 needs tau < T)"
                };
                let mapping = &config.mapping;
                Given { name: "b0", value: mapping.b0, rule }.at_most(mapping.bm, width)
            }
            FlowControl::GfcConceptual(config) => {
                self.check_guard(config.mapping.bm, config.mapping.hold)?;
                let width = conceptual_width(&self.latency);
                let rule = "B_m - 4 C tau (gfc19 theorem 4.1)";
                let mapping = &config.mapping;
                Given { name: "b0", value: mapping.b0, rule }.at_most(mapping.bm, width)
            }
            FlowControl::Outside(scheme) => scheme.check(self),
        }
    }

    fn check_pfc(&self, config: &pfc::Config) -> Result<(), Violation> {
        let rule = "buffer - (C tau + MTU + 64 B per class)";
        let xoff = Given { name: "xoff", value: config.xoff, rule };
        xoff.at_most(self.buffer, self.latency.pfc_headroom())?;
        Given { name: "xon", value: config.xon, rule: "xoff" }.at_most(config.xoff, Bytes::ZERO)?;
        if config.xon != pfc::NO_RESUME || config.quanta == pfc::UNTIL_RESUMED {
            let rule = "one byte, or the sender never resumes";
            Given { name: "xon", value: config.xon, rule }.at_least(Bytes::new(1))?;
        }
        self.check_quanta(config.quanta)
    }

    /// Refuses a pause that can expire before its refresh arrives.
    pub fn check_quanta(&self, quanta: u16) -> Result<(), Violation> {
        // A refresh leaves after half the pause, at worst behind one frame and all other classes,
        // and may take longer on its way than the PAUSE before it.
        let latency = &self.latency;
        let ahead = latency.mtu + latency.overhead + latency.messages();
        let worst = ahead + latency.fastest().bytes_in_up(latency.jitter);
        // With an error of e the sender counts the whole pause in Q / (1 + e), the receiver half of
        // it in Q / 2 (1 - e): what is left for the refresh is above (1 - 4e) Q / 2.
        let drift = worst.get() * 5 * u64::from(latency.clock_ppb);
        let worst = worst + Bytes::new(drift.div_ceil(1_000_000_000));
        let half = pfc::QUANTUM * (u64::from(quanta) / 2);
        if half <= worst && quanta != pfc::UNTIL_RESUMED {
            return Err(Violation::Quanta {
                quanta,
                least: (worst.get() / pfc::QUANTUM.get() + 1) * 2,
            });
        }
        Ok(())
    }

    fn check_cbfc(&self, config: &cbfc::Config) -> Result<(), Violation> {
        let (name, value) = ("credits", config.capacity);
        Given { name, value, rule: "the buffer" }.at_most(self.buffer, Bytes::ZERO)?;
        let frame = cbfc::BLOCK * cbfc::blocks(self.latency.mtu);
        Given { name, value, rule: "one MTU in whole blocks, or it never leaves" }.at_least(frame)
    }

    fn check_guard(&self, bm: Bytes, hold: Bytes) -> Result<(), Violation> {
        let mtu = self.latency.mtu;
        let rule = "buffer - 5 MTU of guard band, since packets are indivisible";
        Given { name: "bm", value: bm, rule }.at_most(self.buffer, mtu * GUARD_FRAMES_MIN)?;
        assert!(hold + mtu * HOLD_FRAMES <= self.buffer, "hold is derived from the buffer");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn latency(gbps: u64, mtu: u64) -> Latency {
        Latency {
            mtu: Bytes::new(mtu),
            line: Rate::gbps(gbps),
            wire: Span::us(1),
            processing: Span::us(3),
            classes: 1,
            jitter: Span::ZERO,
            overhead: Bytes::ZERO,
            clock_ppb: 0,
        }
    }

    /// gfc19 section 5.4: 7.4/5.6/5.2 us and, for InfiniBand, 11.4/6.6/5.6 us.
    //= gfc19 5.4 eq 6 type=test
    #[test]
    fn tau_of_the_paper() {
        let ethernet = [(10, 7_400), (40, 5_600), (100, 5_240)];
        for (gbps, ns) in ethernet {
            assert_eq!(latency(gbps, 1_500).tau(), Span::ns(ns));
        }
        // The paper's InfiniBand numbers need 4,000 bytes, not 4,096.
        for (gbps, ns) in [(10, 11_400), (40, 6_600), (100, 5_640)] {
            assert_eq!(latency(gbps, 4_000).tau(), Span::ns(ns));
        }
    }

    /// 2 C tau = 18.5/56/130 KB; unrounded, the last is 131. N = 16/17/18 by the paper's own rule.
    //= gfc19 5.4 b1 type=test
    //= gfc19 4.2 n type=test
    #[test]
    fn buffer_based_bounds_of_the_paper() {
        for (gbps, width, stages) in [(10, 18_500, 16), (40, 56_000, 17), (100, 131_000, 18)] {
            let found = buffer_width(&latency(gbps, 1_500));
            assert_eq!(found, Bytes::new(width));
            assert_eq!(stage_count(found), stages);
        }
    }

    /// 140.8/191.4/271 KB in the paper, which rounds its last tau to 5.6 us; with 5.64 us it is 272.
    //= gfc19 5.2 theorem 5.1 type=test
    #[test]
    fn time_based_bounds_of_the_paper() {
        for (gbps, width) in [(10, 140_900), (40, 191_540), (100, 271_980)] {
            let latency = latency(gbps, 4_000);
            let found = time_width_of_theorem(&latency, cbfc::default_period(latency.line)).get();
            assert!(found.abs_diff(width) < 50, "{gbps}: {found}");
        }
    }

    //= gfc19 4.1 theorem 4.1 type=test
    #[test]
    fn conceptual_bound_is_four_c_tau() {
        assert_eq!(conceptual_width(&latency(10, 1_500)), Bytes::kb(37));
    }

    #[test]
    fn what_is_derived_passes_its_own_check_and_one_byte_more_does_not() {
        for gbps in [1, 10, 25, 40, 100, 400, 1_600] {
            let derivation = Derivation::new(latency(gbps, 1_500), Bytes::mb(20));
            let mut pfc = derivation.pfc();
            assert_eq!(derivation.check(&FlowControl::Pfc(pfc)), Ok(()));
            pfc.xoff += Bytes::new(1);
            assert!(derivation.check(&FlowControl::Pfc(pfc)).is_err());
            let mut buffer = derivation.gfc_buffer(None, None);
            assert_eq!(derivation.check(&FlowControl::GfcBuffer(buffer)), Ok(()));
            buffer.b1 += Bytes::new(1);
            assert!(derivation.check(&FlowControl::GfcBuffer(buffer)).is_err());
            let mut time = derivation.gfc_time(None, None, None);
            assert_eq!(derivation.check(&FlowControl::GfcTime(time)), Ok(()));
            time.mapping.b0 += Bytes::new(1);
            assert!(derivation.check(&FlowControl::GfcTime(time)).is_err());
            let mut conceptual = derivation.gfc_conceptual(None, None);
            assert_eq!(derivation.check(&FlowControl::GfcConceptual(conceptual)), Ok(()));
            conceptual.mapping.b0 += Bytes::new(1);
            assert!(derivation.check(&FlowControl::GfcConceptual(conceptual)).is_err());
            let cbfc = derivation.cbfc();
            assert_eq!(derivation.check(&FlowControl::Cbfc(cbfc)), Ok(()));
        }
    }

    #[test]
    fn a_refusal_names_the_bound_the_value_and_the_fix() {
        let derivation = Derivation::new(latency(10, 1_500), Bytes::kb(112));
        let config = derivation.gfc_conceptual(Some(Bytes::kb(100)), Some(Bytes::kb(80)));
        let message =
            derivation.check(&FlowControl::GfcConceptual(config)).unwrap_err().to_string();
        assert_eq!(
            message,
            "b0 = 80 KB exceeds its bound 63 KB = B_m - 4 C tau (gfc19 theorem 4.1); \
             set b0 = \"63000 B\" or less"
        );
        let small = Derivation::new(latency(10, 1_500), Bytes::kb(5));
        let message = small.check(&FlowControl::Pfc(small.pfc())).unwrap_err().to_string();
        assert!(message.contains("enlarge the buffer"), "{message}");
    }
}
