//! The mean and the percentiles of a sample.

/// A sample in a few numbers. A percentile is the value of the nearest rank: the p-th of n values
/// is the one at position ceil(p n) in ascending order. It is always a value that occurred.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distribution<T> {
    /// The arithmetic mean.
    pub mean: f64,
    /// The median: half of the values are no larger.
    pub p50: T,
    /// 95 % are no larger.
    pub p95: T,
    /// 99 % are no larger.
    pub p99: T,
    /// 99.9 % are no larger; the largest if there are fewer than 1000.
    pub p999: T,
    /// The largest.
    pub max: T,
}

impl Distribution<u64> {
    /// Of values in any order; `None` without any.
    pub fn of(mut values: Vec<u64>) -> Option<Distribution<u64>> {
        values.sort_unstable();
        let sum: u128 = values.iter().map(|value| u128::from(*value)).sum();
        Distribution::of_sorted(&values, sum as f64)
    }
}

impl Distribution<f64> {
    /// Of values in any order; `None` without any.
    pub fn of(mut values: Vec<f64>) -> Option<Distribution<f64>> {
        values.sort_unstable_by(f64::total_cmp);
        // In the order of size, so that the sum does not depend on the order of flows.
        let sum = values.iter().sum();
        Distribution::of_sorted(&values, sum)
    }
}

impl<T: Copy> Distribution<T> {
    fn of_sorted(sorted: &[T], sum: f64) -> Option<Distribution<T>> {
        Some(Distribution {
            mean: sum / sorted.len() as f64,
            p50: percentile(sorted, 500)?,
            p95: percentile(sorted, 950)?,
            p99: percentile(sorted, 990)?,
            p999: percentile(sorted, 999)?,
            max: *sorted.last()?,
        })
    }
}

/// The value of the nearest rank, with the percentile in parts per thousand; `None` of nothing.
pub fn percentile<T: Copy>(sorted: &[T], permille: u32) -> Option<T> {
    assert!((1..=1_000).contains(&permille), "between 0 and 1");
    let rank = (sorted.len() as u128 * u128::from(permille)).div_ceil(1_000);
    let position = rank.checked_sub(1)? as usize;
    sorted.get(position).copied()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn by_hand() {
        let values: Vec<u64> = (1..=1_000).rev().collect();
        let found = Distribution::<u64>::of(values).expect("values");
        let expected = Distribution {
            mean: 500.5,
            p50: 500,
            p95: 950,
            p99: 990,
            p999: 999,
            max: 1_000,
        };
        assert_eq!(found, expected);
        let few = Distribution::<f64>::of(vec![3.0, 1.0, 2.0]).expect("values");
        assert_eq!((few.mean, few.p50, few.p95, few.max), (2.0, 2.0, 3.0, 3.0));
        assert_eq!(Distribution::<u64>::of(Vec::new()), None);
    }

    proptest! {
        /// At least p of the values are no larger, and fewer than p are smaller.
        #[test]
        fn a_percentile_is_the_least_value_that_is_large_enough(
            mut values in prop::collection::vec(0u64..50, 1..300),
            permille in 1u32..=1_000,
        ) {
            values.sort_unstable();
            let found = percentile(&values, permille).expect("values");
            let wanted = values.len() * permille as usize;
            let no_larger = values.iter().filter(|value| **value <= found).count();
            let smaller = values.iter().filter(|value| **value < found).count();
            prop_assert!(values.contains(&found));
            prop_assert!(no_larger * 1_000 >= wanted);
            prop_assert!(smaller * 1_000 < wanted);
        }

        #[test]
        fn percentiles_are_in_order(values in prop::collection::vec(0u64..1_000_000, 1..300)) {
            let found = Distribution::<u64>::of(values.clone()).expect("values");
            let ranks = [found.p50, found.p95, found.p99, found.p999, found.max];
            prop_assert!(ranks.is_sorted());
            let least = values.into_iter().min().expect("values");
            prop_assert!(least as f64 <= found.mean && found.mean <= found.max as f64);
        }
    }
}
