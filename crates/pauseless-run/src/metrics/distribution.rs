//! The mean and the percentiles of a sample.

/// A sample in ascending order, with its mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution<T> {
    /// The arithmetic mean of the values.
    pub mean: f64,
    /// The values, of which there is at least one.
    sorted: Vec<T>,
}

impl Distribution<u64> {
    /// The distribution of values in any order; `None` without any.
    pub fn of(mut values: Vec<u64>) -> Option<Distribution<u64>> {
        values.sort_unstable();
        let sum: u128 = values.iter().map(|value| u128::from(*value)).sum();
        Distribution::of_sorted(values, sum as f64)
    }
}

impl Distribution<f64> {
    /// The distribution of values in any order; `None` without any.
    pub fn of(mut values: Vec<f64>) -> Option<Distribution<f64>> {
        values.sort_unstable_by(f64::total_cmp);
        // In the order of size, so that the sum does not depend on the order of flows.
        let sum = values.iter().sum();
        Distribution::of_sorted(values, sum)
    }
}

impl<T: Copy> Distribution<T> {
    fn of_sorted(sorted: Vec<T>, sum: f64) -> Option<Distribution<T>> {
        let mean = sum / sorted.len() as f64;
        (!sorted.is_empty()).then_some(Distribution { mean, sorted })
    }

    /// The value at a percentile.
    pub fn at(&self, p: Percentile) -> T {
        p.of(&self.sorted).expect("a distribution has at least one value")
    }

    /// How many values there are.
    pub(super) fn count(&self) -> usize {
        self.sorted.len()
    }

    /// The value at a rank, counted from 1 in ascending order; `None` if there are fewer values.
    pub(super) fn ranked(&self, rank: usize) -> Option<T> {
        self.sorted.get(rank.checked_sub(1)?).copied()
    }
}

/// A percentile, which is the value of the nearest rank: the p-th of n values is the one at position
/// ceil(p n) in ascending order. It is always a value that occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percentile {
    millionths: u32,
}

/// One percent in millionths.
const PERCENT: u32 = 10_000;

impl Percentile {
    /// The median: half of the values are no larger.
    pub const P50: Percentile = Percentile::permille(500);
    /// 95 % are no larger.
    pub const P95: Percentile = Percentile::permille(950);
    /// 99 % are no larger.
    pub const P99: Percentile = Percentile::permille(990);
    /// 99.9 % are no larger; the largest if there are fewer than 1000.
    pub const P999: Percentile = Percentile::permille(999);
    /// The largest value of the sample.
    pub const MAX: Percentile = Percentile::permille(1_000);

    /// The percentiles with names, in the order in which documents have them.
    pub const NAMED: [(&'static str, Percentile); 5] = [
        ("p50", Percentile::P50),
        ("p95", Percentile::P95),
        ("p99", Percentile::P99),
        ("p999", Percentile::P999),
        ("max", Percentile::MAX),
    ];

    /// The percentile of this many parts of a thousand, from 1 to 1000.
    pub const fn permille(permille: u32) -> Percentile {
        assert!(0 < permille && permille <= 1_000, "above 0 and at most 1");
        Percentile { millionths: permille * 1_000 }
    }

    /// Reads percent such as `99.9`, with at most four decimals; else says what is expected. Less
    /// than 1 % is refused: whoever writes 0.99 means 99 %, as a quantile of other programs.
    pub fn parse(text: &str) -> Result<Percentile, String> {
        let wrong = || {
            format!(
                "a percentile is from 1 to 100, with at most four decimals, such as 99.9, not {text:?}"
            )
        };
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |text: &str| text.bytes().all(|it| it.is_ascii_digit());
        let is_short = (1..=3).contains(&whole.len()) && (1..=4).contains(&decimals.len());
        if !is_short || !is_number(whole) || !is_number(decimals) {
            return Err(wrong());
        }
        match format!("{whole}{decimals:0<4}").parse() {
            Ok(millionths @ 1..PERCENT) => {
                let meant = Percentile { millionths: millionths * 100 }.percent();
                Err(format!("a percentile is in percent: did you mean {meant}, not {text}?"))
            }
            Ok(millionths @ PERCENT..=1_000_000) => Ok(Percentile { millionths }),
            _ => Err(wrong()),
        }
    }

    /// The percentile of a name such as `p999`.
    pub fn named(name: &str) -> Option<Percentile> {
        Percentile::NAMED.into_iter().find(|(it, _)| *it == name).map(|(_, percentile)| percentile)
    }

    /// The percentile in percent, as it is read: `99.9`.
    pub fn percent(self) -> String {
        (f64::from(self.millionths) / 1e4).to_string()
    }

    /// Its name, such as `p999` or `p99.99`.
    pub fn name(self) -> String {
        Percentile::NAMED
            .into_iter()
            .find(|(_, it)| *it == self)
            .map_or_else(|| format!("p{}", self.percent()), |(name, _)| name.to_string())
    }

    /// The value of the nearest rank; `None` of nothing.
    pub fn of<T: Copy>(self, sorted: &[T]) -> Option<T> {
        sorted.get(self.rank(sorted.len()).checked_sub(1)?).copied()
    }

    /// The nearest rank among so many values, counted from 1.
    pub(super) fn rank(self, count: usize) -> usize {
        (count as u128 * u128::from(self.millionths)).div_ceil(1_000_000) as usize
    }

    /// The share of values that are no larger, from 0 to 1.
    pub(super) fn share(self) -> f64 {
        f64::from(self.millionths) / 1e6
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn by_hand() {
        let values: Vec<u64> = (1..=1_000).rev().collect();
        let found = Distribution::<u64>::of(values).expect("values");
        let named = Percentile::NAMED.map(|(name, p)| (name, found.at(p)));
        let expected = [("p50", 500), ("p95", 950), ("p99", 990), ("p999", 999), ("max", 1_000)];
        assert_eq!((found.mean, named), (500.5, expected));
        let few = Distribution::<f64>::of(vec![3.0, 1.0, 2.0]).expect("values");
        let at = [Percentile::P50, Percentile::P95, Percentile::MAX].map(|p| few.at(p));
        assert_eq!((few.mean, at), (2.0, [2.0, 3.0, 3.0]));
        assert_eq!(Distribution::<u64>::of(Vec::new()), None);
    }

    #[test]
    fn percentiles_are_written_in_percent() {
        for (text, name) in [("99", "p99"), ("99.9", "p999"), ("100", "max"), ("99.99", "p99.99")] {
            let found = Percentile::parse(text).map(Percentile::name);
            assert_eq!(found, Ok(name.to_string()), "{text}");
        }
        for (quantile, meant) in [("0.99", "99"), ("0.5", "50"), ("0.9999", "99.99")] {
            let wrong = Percentile::parse(quantile).expect_err("a quantile");
            let expected =
                format!("a percentile is in percent: did you mean {meant}, not {quantile}?");
            assert_eq!(wrong, expected);
        }
        assert_eq!(Percentile::parse("1").map(Percentile::percent), Ok("1".to_string()));
        for wrong in ["", "0", "0.0", "101", "100.1", "-1", "+5", "1e1", "99.99999", "99.", "p99"] {
            assert!(Percentile::parse(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        /// At least p of the values are no larger, and fewer than p are smaller.
        #[test]
        fn a_percentile_is_the_least_value_that_is_large_enough(
            mut values in prop::collection::vec(0u64..50, 1..300),
            permille in 1u32..=1_000,
        ) {
            values.sort_unstable();
            let found = Percentile::permille(permille).of(&values).expect("values");
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
            let ranks = Percentile::NAMED.map(|(_, p)| found.at(p));
            prop_assert!(ranks.is_sorted());
            let least = values.into_iter().min().expect("values");
            prop_assert!(least as f64 <= found.mean && found.mean <= ranks[4] as f64);
        }
    }
}
