//! Distributions of times in little memory: every power of two is cut into equal parts.

use pauseless_core::unit::Span;

use crate::report::Quantiles;

/// The number of buckets per power of two, as a power of two: an error of at most one in 32.
const PART_BITS: u32 = 5;
const PARTS: usize = 1 << PART_BITS;
const BUCKETS: usize = (u64::BITS - PART_BITS + 1) as usize * PARTS;

/// A distribution of times.
#[derive(Clone, Debug)]
pub struct Histogram {
    buckets: Box<[u64; BUCKETS]>,
    count: u64,
    max: Span,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { buckets: Box::new([0; BUCKETS]), count: 0, max: Span::ZERO }
    }
}

impl Histogram {
    /// Counts one more time.
    pub fn add(&mut self, span: Span) {
        self.buckets[bucket(span.as_ps())] += 1;
        self.count += 1;
        self.max = self.max.max(span);
    }

    /// The quantiles, each at most one part in 32 too high. The maximum is exact.
    pub fn quantiles(&self) -> Quantiles {
        Quantiles {
            count: self.count,
            p50: self.quantile(500),
            p99: self.quantile(990),
            p999: self.quantile(999),
            max: self.max,
        }
    }

    /// The time that `permille` of all times do not exceed.
    fn quantile(&self, permille: u64) -> Span {
        let wanted = (u128::from(self.count) * u128::from(permille)).div_ceil(1_000) as u64;
        let mut seen = 0;
        for (index, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= wanted && seen > 0 {
                return Span::ps(bucket_end(index)).min(self.max);
            }
        }
        self.max
    }
}

/// The bucket of a value: below [`PARTS`] the value itself, above by its leading bits.
fn bucket(value: u64) -> usize {
    let bits = u64::BITS - value.leading_zeros();
    match bits.checked_sub(PART_BITS + 1) {
        None => value as usize,
        Some(shift) => (shift as usize) * PARTS + (value >> shift) as usize,
    }
}

/// The largest value of a bucket.
fn bucket_end(index: usize) -> u64 {
    match (index / PARTS).checked_sub(1) {
        None => index as u64,
        Some(shift) => {
            let first = (PARTS + index % PARTS) as u64;
            (first << shift) + ((1 << shift) - 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_cover_everything_without_gaps() {
        let mut last = 0;
        for index in 1..BUCKETS {
            let first = bucket_end(index - 1) + 1;
            assert_eq!((bucket(first), bucket(first - 1)), (index, index - 1));
            last = index;
        }
        assert_eq!(bucket(u64::MAX), last);
        assert_eq!(bucket_end(last), u64::MAX);
    }

    #[test]
    fn quantiles_are_at_most_a_part_too_high() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantiles(), Quantiles::default());
        for ns in 1..=10_000 {
            histogram.add(Span::ns(ns));
        }
        let Quantiles { count, p50, p99, p999, max } = histogram.quantiles();
        assert_eq!((count, max), (10_000, Span::ns(10_000)));
        for (found, exact) in [(p50, 5_000), (p99, 9_900), (p999, 9_990)] {
            let exact = Span::ns(exact);
            assert!(found >= exact && found <= exact + exact / 32, "{found}");
        }
    }
}
