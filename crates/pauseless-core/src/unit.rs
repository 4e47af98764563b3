//! Quantities as types: time and spans in picoseconds, rates in bit/s, bytes.
//!
//! Only operations that make dimensional sense exist.
//! Where a result must be rounded, the direction is part of the method's contract:
//! [`Rate::tx_span`] rounds up, [`Rate::bytes_in`] rounds down.

use core::fmt;
use core::iter::Sum;
use core::num::NonZeroU64;
use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

const PS_PER_S: u64 = 1_000_000_000_000;

/// An instant, in picoseconds since the start of the run.
///
/// A byte lasts a whole number of picoseconds up to 1.6 Tb/s (5 ps), and 64 bits last 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// A length of time, in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

/// A data rate in bit/s, never zero: what does not move is a closed gate, not a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(NonZeroU64);

impl Time {
    /// The start of every run.
    pub const ZERO: Time = Time(0);
    /// Later than any event; stands for "never".
    pub const MAX: Time = Time(u64::MAX);

    /// The instant that lies `ps` picoseconds after the start.
    pub const fn from_ps(ps: u64) -> Time {
        Time(ps)
    }

    /// Picoseconds since the start.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// The span since `earlier`, or zero when `earlier` is in fact later.
    pub const fn saturating_since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// The instant `span` later, or [`Time::MAX`] when that is out of range.
    pub const fn saturating_add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);
    /// Longer than any run; stands for "never".
    pub const MAX: Span = Span(u64::MAX);

    /// A span of `n` picoseconds.
    pub const fn ps(n: u64) -> Span {
        Span(n)
    }

    /// A span of `n` nanoseconds.
    pub const fn ns(n: u64) -> Span {
        Span(n * 1_000)
    }

    /// A span of `n` microseconds.
    pub const fn us(n: u64) -> Span {
        Span(n * 1_000_000)
    }

    /// A span of `n` milliseconds.
    pub const fn ms(n: u64) -> Span {
        Span(n * 1_000_000_000)
    }

    /// A span of `n` seconds.
    pub const fn s(n: u64) -> Span {
        Span(n * PS_PER_S)
    }

    /// The length in picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Seconds, for reports only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// The span times `numerator / denominator`, rounded up; exact in between.
    pub fn scale_up(self, numerator: u64, denominator: NonZeroU64) -> Span {
        let wide = u128::from(self.0) * u128::from(numerator);
        let scaled = wide.div_ceil(u128::from(denominator.get()));
        Span(u64::try_from(scaled).unwrap_or(u64::MAX))
    }

    /// The difference, or zero when `other` is longer.
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

impl Bytes {
    /// No bytes at all.
    pub const ZERO: Bytes = Bytes(0);
    /// More than any buffer holds; stands for "no limit".
    pub const MAX: Bytes = Bytes(u64::MAX);

    /// A size of `n` bytes.
    pub const fn new(n: u64) -> Bytes {
        Bytes(n)
    }

    /// `n` kilobytes of 1000 bytes.
    pub const fn kb(n: u64) -> Bytes {
        Bytes(n * 1_000)
    }

    /// `n` kibibytes of 1024 bytes.
    pub const fn kib(n: u64) -> Bytes {
        Bytes(n * 1_024)
    }

    /// `n` megabytes of 1,000,000 bytes.
    pub const fn mb(n: u64) -> Bytes {
        Bytes(n * 1_000_000)
    }

    /// The number of bytes as an integer.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The difference, or zero when `other` is larger.
    pub const fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }

    /// The sum, or [`Bytes::MAX`].
    pub const fn saturating_add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }

    /// The difference, if `other` is not larger.
    pub const fn checked_sub(self, other: Bytes) -> Option<Bytes> {
        match self.0.checked_sub(other.0) {
            Some(difference) => Some(Bytes(difference)),
            None => None,
        }
    }
}

impl Rate {
    /// `n` bit/s, if that is not zero.
    pub const fn new(bits_per_second: u64) -> Option<Rate> {
        match NonZeroU64::new(bits_per_second) {
            Some(n) => Some(Rate(n)),
            None => None,
        }
    }

    /// `n` bit/s. Panics on zero, so it is for constants.
    pub const fn bps(n: u64) -> Rate {
        match NonZeroU64::new(n) {
            Some(n) => Rate(n),
            None => panic!("a rate is never zero"),
        }
    }

    /// `n` Mb/s. Panics on zero, so it is for constants.
    pub const fn mbps(n: u64) -> Rate {
        Rate::bps(n * 1_000_000)
    }

    /// `n` Gb/s. Panics on zero, so it is for constants.
    pub const fn gbps(n: u64) -> Rate {
        Rate::bps(n * 1_000_000_000)
    }

    /// The rate in bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0.get()
    }

    /// Bits per second, as the divisor that it is in most formulas.
    pub const fn as_nonzero(self) -> NonZeroU64 {
        self.0
    }

    /// The rate by a clock that is `ppb` parts per billion too fast, or too slow if that is negative;
    /// rounded down to a bit per second, and at least one.
    pub fn deviating(self, ppb: i64) -> Rate {
        const BILLION: i64 = 1_000_000_000;
        let factor = u128::from((BILLION + ppb).max(0).unsigned_abs());
        let bps = u128::from(self.0.get()) * factor / u128::from(BILLION.unsigned_abs());
        Rate(NonZeroU64::new(u64::try_from(bps).unwrap_or(u64::MAX)).unwrap_or(NonZeroU64::MIN))
    }

    /// How long `bytes` take on a link of this rate, rounded up to a picosecond.
    #[inline]
    pub fn tx_span(self, bytes: Bytes) -> Span {
        const PS_BITS: u64 = 8 * PS_PER_S;
        // A frame fits the 64-bit product; only amounts above 2.3 MB need the wide one.
        match bytes.0.checked_mul(PS_BITS) {
            Some(product) => Span(product.div_ceil(self.0.get())),
            None => {
                let wide = u128::from(bytes.0) * u128::from(PS_BITS);
                let span = wide.div_ceil(u128::from(self.0.get()));
                Span(u64::try_from(span).unwrap_or(u64::MAX))
            }
        }
    }

    /// How many whole bytes pass in `span`, rounded down.
    pub fn bytes_in(self, span: Span) -> Bytes {
        let bits = u128::from(span.0) * u128::from(self.0.get()) / u128::from(PS_PER_S);
        Bytes(u64::try_from(bits / 8).unwrap_or(u64::MAX))
    }

    /// How many bytes can pass in `span`, rounded up.
    pub fn bytes_in_up(self, span: Span) -> Bytes {
        let bit_ps = u128::from(span.0) * u128::from(self.0.get());
        let bytes = bit_ps.div_ceil(8 * u128::from(PS_PER_S));
        Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    #[inline]
    fn add(self, span: Span) -> Time {
        Time(self.0 + span.0)
    }
}

impl Sub<Time> for Time {
    type Output = Span;
    #[inline]
    fn sub(self, earlier: Time) -> Span {
        Span(self.0 - earlier.0)
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0 + other.0)
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0 - other.0)
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, n: u64) -> Span {
        Span(self.0 * n)
    }
}

impl Div<u64> for Span {
    type Output = Span;
    fn div(self, n: u64) -> Span {
        Span(self.0 / n)
    }
}

impl Add for Bytes {
    type Output = Bytes;
    #[inline]
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    #[inline]
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    #[inline]
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0 - other.0)
    }
}

impl SubAssign for Bytes {
    #[inline]
    fn sub_assign(&mut self, other: Bytes) {
        self.0 -= other.0;
    }
}

impl Mul<u64> for Bytes {
    type Output = Bytes;
    fn mul(self, n: u64) -> Bytes {
        Bytes(self.0 * n)
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(sizes: I) -> Bytes {
        sizes.fold(Bytes::ZERO, Add::add)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Span(self.0).fmt(f)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(PS_PER_S, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1_000, "ns")];
        write_scaled(f, self.0, &units, "ps")
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "KB")];
        write_scaled(f, self.0, &units, "B")
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [
            (1_000_000_000_000, "Tbps"),
            (1_000_000_000, "Gbps"),
            (1_000_000, "Mbps"),
            (1_000, "kbps"),
        ];
        write_scaled(f, self.0.get(), &units, "bps")
    }
}

/// Writes `value` in the largest unit that fits, with as many of up to three decimals as it needs.
fn write_scaled(
    f: &mut fmt::Formatter<'_>,
    value: u64,
    units: &[(u64, &str)],
    base: &str,
) -> fmt::Result {
    let Some(&(scale, unit)) = units.iter().find(|(scale, _)| value >= *scale) else {
        return write!(f, "{value} {base}");
    };
    let thousandths = (u128::from(value) * 1_000 + u128::from(scale) / 2) / u128::from(scale);
    let (whole, fraction) = (thousandths / 1_000, thousandths % 1_000);
    match fraction {
        0 => write!(f, "{whole} {unit}"),
        n if n % 100 == 0 => write!(f, "{whole}.{} {unit}", n / 100),
        n if n % 10 == 0 => write!(f, "{whole}.{:02} {unit}", n / 10),
        n => write!(f, "{whole}.{n:03} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_byte_is_a_whole_number_of_picoseconds_up_to_1600_gbps() {
        for (gbps, ps) in
            [(10, 800), (25, 320), (40, 200), (100, 80), (400, 20), (800, 10), (1600, 5)]
        {
            let rate = Rate::gbps(gbps);
            assert_eq!(rate.tx_span(Bytes::new(1)), Span::ps(ps));
            assert_eq!(rate.tx_span(Bytes::new(9_216)), Span::ps(ps * 9_216));
            // The amount that needs the wide product is as exact as the one that does not.
            assert_eq!(rate.tx_span(Bytes::mb(10_000)), Span::ps(ps * 10_000_000_000));
        }
    }

    #[test]
    fn rounding_goes_the_way_its_name_says() {
        let rate = Rate::bps(3);
        assert_eq!(rate.tx_span(Bytes::new(1)), Span::ps(2_666_666_666_667));
        assert_eq!(rate.bytes_in(Span::ps(2_666_666_666_666)), Bytes::ZERO);
        assert_eq!(rate.bytes_in(Span::ps(2_666_666_666_667)), Bytes::new(1));
        assert_eq!(rate.bytes_in_up(Span::ps(1)), Bytes::new(1));
        assert_eq!(Span::ps(10).scale_up(1, NonZeroU64::new(3).unwrap()), Span::ps(4));
    }

    #[test]
    fn a_clock_that_deviates_makes_another_rate() {
        let rate = Rate::gbps(10);
        assert_eq!(rate.deviating(0), rate);
        assert_eq!(rate.deviating(100_000), Rate::bps(10_001_000_000));
        assert_eq!(rate.deviating(-1), Rate::bps(9_999_999_990));
        assert_eq!(Rate::bps(1).deviating(-1_000_000_000), Rate::bps(1));
    }

    #[test]
    fn quantities_read_as_people_write_them() {
        assert_eq!(Span::ps(52_428_000).to_string(), "52.428 us");
        assert_eq!(Span::us(90).to_string(), "90 us");
        assert_eq!(Bytes::new(18_500).to_string(), "18.5 KB");
        assert_eq!(Rate::gbps(10).to_string(), "10 Gbps");
        assert_eq!(Rate::bps(152_000).to_string(), "152 kbps");
        assert_eq!(Span::ps(0).to_string(), "0 ps");
    }
}
