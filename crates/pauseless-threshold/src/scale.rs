//! How a range of whole numbers is halved.

use pauseless_text::words;

/// How values are spread over a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Values have equal differences.
    Linear,
    /// Values differ by equal factors.
    Log,
}

words! { Scale { "linear" => Scale::Linear, "log" => Scale::Log } }

impl Scale {
    /// A value between the two of `range`, a multiple of `precision` so that it can be read;
    /// `None` where they are no further apart than that.
    pub(super) fn middle(self, [low, high]: [u64; 2], precision: u64) -> Option<u64> {
        if high - low <= precision {
            return None;
        }
        let exact = match self {
            Scale::Linear => low + (high - low) / 2,
            Scale::Log => (u128::from(low) * u128::from(high)).isqrt() as u64,
        };
        let rounded = exact / precision * precision;
        let candidates = [rounded, rounded.saturating_add(precision)];
        let inside = candidates.into_iter().filter(|it| low < *it && *it < high);
        inside.min_by_key(|it| it.abs_diff(exact))
    }

    /// All that halving `range` so often gives, ends included.
    pub(super) fn grid(self, range: [u64; 2], precision: u64, depth: u32) -> Vec<u64> {
        let mut grid = range.to_vec();
        for _ in 0..depth {
            let pairs = grid.windows(2).map(|pair| [pair[0], pair[1]]);
            let middles = Vec::from_iter(pairs.filter_map(|pair| self.middle(pair, precision)));
            grid.extend(middles);
            grid.sort_unstable();
        }
        grid
    }

    /// About how often `range` can be halved.
    pub(super) fn steps(self, mut range: [u64; 2], precision: u64) -> usize {
        let mut steps = 0;
        while let Some(middle) = self.middle(range, precision) {
            // The upper half is the longer one on a logarithmic scale.
            range[0] = middle;
            steps += 1;
        }
        steps
    }

    /// A round number that is fine enough for most.
    pub(super) fn default_precision(self, [low, high]: [u64; 2]) -> u64 {
        match self {
            Scale::Linear => round((high - low) / 1_000),
            Scale::Log => round(low / 50),
        }
    }

    /// How much of `range` lies between two values in it.
    pub(super) fn part(self, range: [u64; 2], part: [u64; 2]) -> f64 {
        let width = |[low, high]: [u64; 2]| match self {
            Scale::Linear => (high - low) as f64,
            Scale::Log => (high as f64 / low as f64).ln(),
        };
        width(part) / width(range)
    }
}

/// The largest of 1, 2, 5, 10.. that is not above `value`, and 1 at the least.
fn round(value: u64) -> u64 {
    let mut power = 1;
    while value / 10 >= power {
        power *= 10;
    }
    [5, 2].into_iter().find(|factor| factor * power <= value).unwrap_or(1) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halving_ends_within_the_precision() {
        assert_eq!(Scale::Linear.middle([0, 10], 1), Some(5));
        assert_eq!(Scale::Linear.middle([3, 4], 1), None);
        assert_eq!(Scale::Linear.middle([8, 11], 2), Some(10));
        assert_eq!(Scale::Log.middle([1, 10_000], 1), Some(100));
        for scale in [Scale::Linear, Scale::Log] {
            for precision in [1, 3, 7, 50] {
                let (mut low, high) = (2, 1_000);
                while let Some(middle) = scale.middle([low, high], precision) {
                    assert!(low < middle && middle < high);
                    low = middle;
                }
                assert!(high - low <= 2 * precision, "{low}");
            }
        }
    }

    #[test]
    fn the_grid_has_what_bisection_meets_first() {
        let grid = Scale::Linear.grid([8, 16], 1, 2);
        assert_eq!(grid, [8, 10, 12, 14, 16]);
        assert_eq!(Scale::Linear.grid([1, 3], 1, 5), [1, 2, 3]);
        assert_eq!(Scale::Log.grid([1, 10_000], 1, 2), [1, 10, 100, 1_000, 10_000]);
        assert_eq!(Scale::Linear.steps([0, 8], 1), 3);
    }

    #[test]
    fn precisions_are_round() {
        let rounded = [0, 1, 3, 9, 10, 49, 50, 3_000].map(round);
        assert_eq!(rounded, [1, 1, 2, 5, 10, 20, 50, 2_000]);
    }
}
