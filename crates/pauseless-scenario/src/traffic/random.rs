//! Draws that are the same on every machine: only `+ - * /`, which IEEE 754 fixes to the last bit.

use pauseless_core::unit::Span;
use pauseless_sim::rng::{Purpose, Stream, hash_name};

/// The stream of one quantity of one section of traffic, such as the sizes of a source. Nothing
/// but its own name decides it, so that no section and no source changes what another one draws.
pub(super) fn stream(seed: u64, entity: &str) -> Stream {
    Stream::new(seed, Purpose::Workload, hash_name(entity))
}

/// A number in [0, 1).
pub(super) fn unit(stream: &mut Stream) -> f64 {
    const STEP: f64 = 1.0 / (1u64 << 53) as f64;
    (stream.next_u64() >> 11) as f64 * STEP
}

/// The time to the next of events that come at random, `rate` of them in a second.
pub(super) fn gap(stream: &mut Stream, rate: f64) -> Span {
    // 1 - unit is in (0, 1], whose logarithm is finite.
    let seconds = -ln(1.0 - unit(stream)) / rate;
    Span::ps((seconds * 1e12).round() as u64)
}

/// The instant to the nearest nanosecond: finer than any frame, and short to read.
pub(super) fn whole_ns(instant: Span) -> Span {
    Span::ns((instant.as_ps() + 500) / 1_000)
}

/// The natural logarithm of a positive normal number. The library's own differs between machines
/// in the last bit, which would be enough for another flow.
fn ln(x: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i32 - 1_023;
    let mut mantissa = f64::from_bits(bits & MANTISSA | 1_023 << 52);
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    // ln m = 2 artanh s with |s| < 0.172: the 12th term is below the last bit.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let series = (0..12).rev().fold(0.0, |sum, term| sum * square + 1.0 / f64::from(2 * term + 1));
    f64::from(exponent) * std::f64::consts::LN_2 + 2.0 * s * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_one() {
        let mut stream = stream(1, "ln");
        for _ in 0..10_000 {
            let x = 1.0 - unit(&mut stream);
            assert!((ln(x) - x.ln()).abs() <= 4e-16 * x.ln().abs().max(1.0), "{x}");
        }
        assert_eq!(ln(1.0), 0.0);
        assert!((ln(f64::MIN_POSITIVE) - f64::MIN_POSITIVE.ln()).abs() < 1e-12);
    }

    #[test]
    fn gaps_are_exponential() {
        let mut stream = stream(1, "gap");
        let (count, rate) = (200_000, 1e6);
        let gaps = Vec::from_iter((0..count).map(|_| gap(&mut stream, rate).as_secs_f64() * rate));
        let mean = gaps.iter().sum::<f64>() / f64::from(count);
        let variance = gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>();
        let variance = variance / f64::from(count);
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        assert!((variance - 1.0).abs() < 0.02, "{variance}");
        let long = gaps.iter().filter(|gap| **gap > 2.0).count() as f64 / f64::from(count);
        assert!((long - (-2.0f64).exp()).abs() < 0.003, "{long}");
    }
}
