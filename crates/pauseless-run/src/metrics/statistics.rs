//! How sure a few seeds make us.

/// The bounds of the 95 % confidence interval of a share (Wilson 1927).
pub fn wilson(count: usize, total: usize) -> [f64; 2] {
    let (count, total) = (count as f64, (total as f64).max(1.0));
    let share = count / total;
    let z = 1.96;
    let middle = share + z * z / (2.0 * total);
    let half = z * (share * (1.0 - share) / total + z * z / (4.0 * total * total)).sqrt();
    let scale = 1.0 + z * z / total;
    let bound = |value: f64| (value / scale).clamp(0.0, 1.0);
    [bound(middle - half), bound(middle + half)]
}

/// The middle one, or the middle of the middle two; of values in order.
pub fn median(sorted: &[u64]) -> u64 {
    let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
    low + (high - low) / 2
}

/// Which two of `count` values in order enclose the median of what they were drawn from, and with
/// which confidence: 95 % or more where so few allow it, whatever the distribution is.
///
/// The median is below the k-th value only if fewer than k values are below the median, and each
/// is with a probability of one half.
pub fn median_bounds(count: usize) -> (usize, usize, f64) {
    if count > EXACT_MAX {
        // The binomial distribution is normal by now, and its tails are too small for doubles.
        let half = (0.5 * Z * (count as f64).sqrt()).ceil() as usize;
        let low = (count / 2).saturating_sub(half + 1);
        return (low, count - 1 - low, 0.95);
    }
    let mut term = 0.5f64.powi(count as i32);
    let mut tail = 0.0;
    let mut best = (0, count.saturating_sub(1), (1.0 - 2.0 * term).max(0.0));
    for k in 0..count / 2 {
        tail += term;
        let confidence = 1.0 - 2.0 * tail;
        if k > 0 && confidence < 0.95 {
            break;
        }
        best = (k, count - 1 - k, confidence);
        term *= (count - k) as f64 / (k + 1) as f64;
    }
    best
}

/// The ranks, counted from 1, of the two of `count` values in order that enclose a quantile of what
/// they were drawn from with a confidence of 95 % or more, whatever the distribution is. `share` is
/// the part of the distribution below the quantile. `None` where so few values have no such rank.
///
/// How many of the values lie below the quantile has a binomial distribution. The k-th value is above
/// the quantile if fewer than k are below it; each side may miss it in 2.5 % of the cases.
pub fn quantile_ranks(count: usize, share: f64) -> [Option<usize>; 2] {
    let odds = share / (1.0 - share);
    if count == 0 || !odds.is_finite() {
        return [None, None];
    }
    let n = count as f64;
    // Relative to the most likely number, from which terms fall to nothing on both sides.
    let mode = (((n + 1.0) * share) as usize).min(count);
    let step = |k: usize| (n - k as f64) / (k + 1) as f64 * odds;
    let mut first = mode;
    let mut terms = std::collections::VecDeque::from([1.0]);
    while first > 0 && terms[0] > NEGLIGIBLE {
        terms.push_front(terms[0] / step(first - 1));
        first -= 1;
    }
    let mut last = mode;
    while last < count && terms[last - first] > NEGLIGIBLE {
        terms.push_back(terms[last - first] * step(last));
        last += 1;
    }
    let sum: f64 = terms.iter().sum();
    let tail = 0.025 * sum;
    // As many terms from either end as fit into its tail.
    let fit = |terms: &mut dyn Iterator<Item = &f64>| {
        let sums = terms.scan(0.0, |sum, term| {
            *sum += term;
            Some(*sum)
        });
        sums.take_while(|sum| *sum <= tail).count()
    };
    let low = first + fit(&mut terms.iter());
    let high = last + 1 - fit(&mut terms.iter().rev());
    [Some(low).filter(|rank| *rank > 0), Some(high).filter(|rank| *rank <= count)]
}

/// How many standard errors wide half of a 95 % confidence interval of a mean is, with so many
/// degrees of freedom: the 97.5 % quantile of Student's t (Abramowitz and Stegun 26.7.5).
pub fn student(freedom: usize) -> f64 {
    // The expansion needs a few degrees of freedom to be close.
    const FEW: [f64; 4] = [12.7062, 4.3027, 3.1824, 2.7764];
    if let Some(known) = freedom.checked_sub(1).and_then(|place| FEW.get(place)) {
        return *known;
    }
    let n = (freedom as f64).max(1.0);
    let power = |exponent: i32| Z.powi(exponent);
    let first = (power(3) + Z) / 4.0;
    let second = (5.0 * power(5) + 16.0 * power(3) + 3.0 * Z) / 96.0;
    let third = (3.0 * power(7) + 19.0 * power(5) + 17.0 * power(3) - 15.0 * Z) / 384.0;
    let fourth = 79.0 * power(9) + 776.0 * power(7) + 1_482.0 * power(5);
    let fourth = (fourth - 1_920.0 * power(3) - 945.0 * Z) / 92_160.0;
    Z + first / n + second / n.powi(2) + third / n.powi(3) + fourth / n.powi(4)
}

/// The 97.5 % quantile of the normal distribution.
const Z: f64 = 1.959_964;
/// A term of a distribution that changes no digit of its sum.
const NEGLIGIBLE: f64 = 1e-20;
/// The most values for which the binomial distribution is computed exactly.
const EXACT_MAX: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_enclosed_as_tables_have_it() {
        // Positions from 0; of ten values the second and the ninth, with 97.9 %.
        for (count, low, high, confidence) in [
            (1, 0, 0, 0.0),
            (5, 0, 4, 0.9375),
            (6, 0, 5, 0.96875),
            (10, 1, 8, 0.978_515_625),
            (20, 5, 14, 0.958_611),
        ] {
            let bounds = median_bounds(count);
            assert_eq!((bounds.0, bounds.1), (low, high), "{count}");
            assert!((bounds.2 - confidence).abs() < 1e-5, "{count}: {}", bounds.2);
        }
    }

    #[test]
    fn many_values_enclose_the_median_closely() {
        let (low, high, confidence) = median_bounds(1_000);
        assert_eq!((low, high), (468, 531));
        assert!((0.95..0.955).contains(&confidence), "{confidence}");
        // Half of 10,000, and 0.98 times 100 on either side.
        assert_eq!(median_bounds(10_000), (4_901, 5_098, 0.95));
    }

    #[test]
    fn quantiles_are_enclosed_as_tables_have_them() {
        // Of the median the ranks are those of `median_bounds`, which counts from 0.
        for count in [6, 10, 20, 100, 1_000] {
            let (low, high, _) = median_bounds(count);
            assert_eq!(quantile_ranks(count, 0.5), [Some(low + 1), Some(high + 1)], "{count}");
        }
        assert_eq!(quantile_ranks(5, 0.5), [None, None]);
        // 0.99^368 is the first power below 2.5 %: the largest of fewer may lie below the percentile.
        assert_eq!(quantile_ranks(367, 0.99)[1], None);
        assert_eq!(quantile_ranks(368, 0.99)[1], Some(368));
        // Of 1,000 values 18 or more are above it in 1.4 % of the cases, and 3 or fewer in 1 %.
        assert_eq!(quantile_ranks(1_000, 0.99), [Some(983), Some(997)]);
        let [low, high] = quantile_ranks(1_000_000, 0.999).map(|rank| rank.expect("many"));
        assert!((998_937..=998_939).contains(&low) && (999_062..=999_064).contains(&high));
        assert_eq!((quantile_ranks(0, 0.5), quantile_ranks(10, 1.0)), ([None; 2], [None; 2]));
    }

    #[test]
    fn student_as_tables_have_it() {
        for (freedom, expected) in [(1, 12.7062), (5, 2.5706), (9, 2.2622), (30, 2.0423)] {
            let found = student(freedom);
            assert!((found - expected).abs() < 2e-3, "{freedom}: {found}");
        }
        assert!((student(1_000_000) - 1.96).abs() < 1e-4);
    }

    #[test]
    fn shares_and_medians() {
        assert_eq!([median(&[4]), median(&[1, 4]), median(&[1, 2, 9])], [4, 2, 2]);
        let [low, high] = wilson(0, 20);
        assert_eq!(low, 0.0);
        assert!((high - 0.161).abs() < 0.001, "{high}");
        let [low, high] = wilson(10, 20);
        assert!((low - 0.299).abs() < 0.001 && (high - 0.701).abs() < 0.001);
    }
}
