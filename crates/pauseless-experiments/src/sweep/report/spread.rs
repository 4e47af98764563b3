//! What several runs say together: their middle, and how sure it is.

use super::file::{Band, Middle, Take};
use pauseless_run::metrics::statistics::{median_bounds, student};

/// The middle of several values and how far they spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    /// How many values there are.
    pub count: usize,
    /// What stands for them.
    pub middle: f64,
    /// From where to where the band goes.
    pub ends: [f64; 2],
    /// Whether the band is as sure as it should be: few values cannot be.
    pub is_sure: bool,
}

/// The spread of values in order, of which there is one at least.
pub fn of(sorted: &[f64], middle: Middle, band: Band) -> Spread {
    let count = sorted.len();
    let mean = sorted.iter().sum::<f64>() / count as f64;
    let whole = [sorted[0], sorted[count - 1]];
    let (ends, is_sure) = match (band, middle) {
        (Band::Range, _) => (whole, true),
        (Band::Quartiles, _) => ([quantile(sorted, 0.25), quantile(sorted, 0.75)], true),
        (Band::Confidence, Middle::Median) => {
            let (low, high, confidence) = median_bounds(count);
            ([sorted[low], sorted[high]], confidence >= 0.95)
        }
        (Band::Confidence, Middle::Mean) if count > 1 => {
            let squares = sorted.iter().map(|value| (value - mean).powi(2));
            let variance = squares.sum::<f64>() / (count - 1) as f64;
            let half = student(count - 1) * (variance / count as f64).sqrt();
            ([mean - half, mean + half], true)
        }
        (Band::Confidence, Middle::Mean) => (whole, false),
    };
    Spread {
        count,
        middle: match middle {
            Middle::Median => quantile(sorted, 0.5),
            Middle::Mean => mean,
        },
        ends,
        is_sure,
    }
}

/// One number for values in order, of which there is one at least.
pub(super) fn take(sorted: &[f64], take: Take) -> f64 {
    let count = sorted.len() as f64;
    match take {
        Take::Mean => sorted.iter().sum::<f64>() / count,
        Take::Median => quantile(sorted, 0.5),
        Take::Max => sorted[sorted.len() - 1],
        Take::Proportion => sorted.iter().filter(|it| **it > 0.0).count() as f64 / count,
    }
}

/// The value below which a share of values in order lies, between the two nearest of them.
pub(super) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    if sorted[low] == sorted[high] {
        // Also where both are infinite.
        return sorted[low];
    }
    sorted[low] + (sorted[high] - sorted[low]) * (place - low as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middles_and_bands_by_hand() {
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        let spread = of(&ten, Middle::Median, Band::Confidence);
        // The second and the ninth of ten values enclose the median.
        assert_eq!((spread.middle, spread.ends), (5.5, [2.0, 9.0]));
        assert!(spread.is_sure);
        let spread = of(&ten, Middle::Mean, Band::Confidence);
        // The standard deviation is sqrt(82.5 / 9), t with nine degrees of freedom 2.2622.
        assert!((spread.ends[0] - (5.5 - 2.2622 * (82.5f64 / 90.0).sqrt())).abs() < 1e-3);
        assert!((spread.ends[0] + spread.ends[1] - 11.0).abs() < 1e-9);
        let spread = of(&ten, Middle::Median, Band::Quartiles);
        assert_eq!(spread.ends, [3.25, 7.75]);
        let spread = of(&ten, Middle::Mean, Band::Range);
        assert_eq!((spread.middle, spread.ends), (5.5, [1.0, 10.0]));
        assert!(!of(&ten[..5], Middle::Median, Band::Confidence).is_sure);
        assert!(!of(&ten[..1], Middle::Mean, Band::Confidence).is_sure);
        let without_end = [1.0, 2.0, f64::INFINITY, f64::INFINITY];
        let quartiles = [0.0, 0.5, 0.75, 1.0].map(|share| quantile(&without_end, share));
        assert_eq!(quartiles, [1.0, f64::INFINITY, f64::INFINITY, f64::INFINITY]);
        assert_eq!(quantile(&without_end[..3], 0.5), 2.0);
    }

    #[test]
    fn a_cell_has_one_number() {
        let values = [0.0, 0.0, 1.0, 5.0];
        let all = [Take::Mean, Take::Median, Take::Max, Take::Proportion];
        assert_eq!(all.map(|it| take(&values, it)), [1.5, 0.5, 5.0, 0.5]);
    }
}
