//! Distributions of flow sizes: points of the cumulative distribution, straight lines between them.

use std::ops::RangeInclusive;
use std::path::Path;

use pauseless_core::unit::Bytes;

pub use super::super::flows::SIZES;
use pauseless_text::lex::Lines;
use pauseless_text::source::Source;

/// A distribution of sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct Cdf {
    /// Size and the probability of being no larger: neither falls, and the last is 1.
    points: Vec<(Bytes, f64)>,
}

/// What is wrong with a distribution: the number of the point or line, and how it is wrong.
pub(super) type Flaw = (usize, String);

impl Cdf {
    /// A distribution through `points`; probabilities may be in percent, up to 100.
    pub(super) fn new(points: Vec<(Bytes, f64)>) -> Result<Cdf, Flaw> {
        let Some(&(largest, last)) = points.last() else {
            return Err((0, "no points".to_string()));
        };
        let number = points.len() - 1;
        // Tables are often rounded, and their sums are.
        let is_about = |whole: f64| (last / whole - 1.0).abs() <= 1e-6 + f64::EPSILON;
        // Many public tables are in percent, and none means 100 flows of 1 by it.
        let Some(scale) = [1.0, 100.0].into_iter().find(|whole| is_about(*whole)) else {
            return Err((number, format!("the last probability is {last}, not 1")));
        };
        if largest == Bytes::ZERO {
            return Err((number, "the largest size is 0 B".to_string()));
        }
        if largest > *SIZES.end() {
            return Err((number, format!("{largest} is too large a size")));
        }
        for (index, pair) in points.windows(2).enumerate() {
            let [(size, share), (next, more)] = [pair[0], pair[1]];
            if next < size {
                return Err((index + 1, format!("size {next} after {size}")));
            }
            if more < share {
                return Err((index + 1, format!("probability {more} after {share}")));
            }
        }
        if let Some(index) = points.iter().position(|(_, share)| share.is_nan() || *share < 0.0) {
            return Err((index, format!("probability {}", points[index].1)));
        }
        let points = points.into_iter();
        let shares = points.map(|(size, share)| (size, (share / scale).min(1.0)));
        let mut points = Vec::from_iter(shares);
        points[number].1 = 1.0;
        Ok(Cdf { points })
    }

    /// Reads lines of a size in bytes and a probability.
    pub(super) fn parse(text: &str) -> Result<Cdf, Flaw> {
        let mut points = Vec::new();
        let mut lines = Vec::new();
        for (line, number) in Lines::new(text).zip(1..) {
            let content = line.before(b'#').rest().trim();
            if content.is_empty() {
                continue;
            }
            points.push(parse_line(content).map_err(|message| (number, message))?);
            lines.push(number);
        }
        Cdf::new(points).map_err(|(point, message)| {
            let line = lines.get(point).copied().unwrap_or(1);
            (line, message)
        })
    }

    /// The distribution in the file at `path`, or what is wrong with it.
    pub(super) fn read(path: &Path) -> Result<Cdf, String> {
        let Source { file, text } = Source::read_named(path, FILE_MAX)?;
        Cdf::parse(&text).map_err(|(line, message)| format!("{file}:{line}: {message}"))
    }

    /// The distribution that comes with the program under this name.
    pub(super) fn bundled(name: &str) -> Option<Cdf> {
        let (_, text) = BUNDLED.iter().find(|(bundled, _)| *bundled == name)?;
        Some(Cdf::parse(text).expect("a test reads every bundled distribution"))
    }

    pub(super) fn points(&self) -> &[(Bytes, f64)] {
        &self.points
    }

    /// The mean in bytes, of sizes before they are rounded.
    pub(super) fn mean(&self) -> f64 {
        let (first, share) = self.points[0];
        let parts = self.points.windows(2).map(|pair| {
            let middle = (pair[0].0.get() as f64 + pair[1].0.get() as f64) / 2.0;
            (pair[1].1 - pair[0].1) * middle
        });
        first.get() as f64 * share + parts.sum::<f64>()
    }

    /// The size below which the share `u` of all flows is; at least a byte.
    pub(super) fn quantile(&self, u: f64) -> Bytes {
        let above = self.points.partition_point(|(_, share)| *share <= u);
        let above = above.min(self.points.len() - 1);
        let (high, share) = self.points[above];
        let size = match above.checked_sub(1).map(|below| self.points[below]) {
            Some((low, less)) if share > less => {
                let (low, high) = (low.get() as f64, high.get() as f64);
                low + (u - less) / (share - less) * (high - low)
            }
            // The first point may have a share of its own.
            _ => high.get() as f64,
        };
        Bytes::new((size.round() as u64).max(1))
    }

    /// The smallest and the largest size.
    pub(super) fn range(&self) -> RangeInclusive<Bytes> {
        self.quantile(0.0)..=self.points[self.points.len() - 1].0
    }
}

/// A size and a probability.
fn parse_line(line: &str) -> Result<(Bytes, f64), String> {
    let mut words = line.split(|c: char| c.is_whitespace() || c == ',');
    let mut words = words.by_ref().filter(|word| !word.is_empty());
    let (size, share) = (words.next(), words.next());
    let (Some(size), Some(share), None) = (size, share, words.next()) else {
        return Err(format!("{line:?} is not a size and a probability"));
    };
    let number = |word: &str| match word.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
        Ok(_) => Err(format!("{word} is out of range")),
        Err(_) => Err(format!("{word:?} is not a number")),
    };
    let (bytes, share) = (number(size)?, number(share)?);
    if bytes.fract() != 0.0 || bytes > SIZES.end().get() as f64 {
        return Err(format!("{size} is not a whole number of bytes up to {}", SIZES.end()));
    }
    Ok((Bytes::new(bytes as u64), share))
}

/// The names of what is bundled.
pub(super) fn bundled_names() -> Vec<&'static str> {
    Vec::from(BUNDLED.map(|(name, _)| name))
}

/// `cdf/SOURCES.md` says where they are from.
const BUNDLED: [(&str, &str); 4] = [
    ("websearch", include_str!("cdf/websearch.txt")),
    ("datamining_vl2", include_str!("cdf/datamining_vl2.txt")),
    ("pcn_w1_webserver", include_str!("cdf/pcn_w1_webserver.txt")),
    ("pcn_w2_hadoop", include_str!("cdf/pcn_w2_hadoop.txt")),
];
/// Thousands of points are a few hundred kilobytes.
const FILE_MAX: u64 = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of flows below `size`.
    fn below(cdf: &Cdf, size: f64) -> f64 {
        let pair = cdf.points.windows(2).find(|pair| size <= pair[1].0.get() as f64).unwrap();
        let (low, high) = (pair[0].0.get() as f64, pair[1].0.get() as f64);
        pair[0].1 + (size - low) / (high - low) * (pair[1].1 - pair[0].1)
    }

    /// What flows below `size` contribute to the mean.
    fn bytes_below(cdf: &Cdf, size: f64) -> f64 {
        let parts = cdf.points.windows(2).map(|pair| {
            let (low, high) = (pair[0].0.get() as f64, pair[1].0.get() as f64);
            let cut = high.min(size).max(low);
            (pair[1].1 - pair[0].1) * (cut - low) / (high - low) * (low + cut) / 2.0
        });
        parts.sum()
    }

    /// The mean of each distribution, and in percent the flows and the bytes up to 10 KB, 100 KB,
    /// 1 MB and above.
    pub type Row = (&'static str, f64, [f64; 4], [f64; 4]);
    #[rustfmt::skip]
    const TABLE: [Row; 4] = [
        ("pcn_w1_webserver", 70_000.0, [80.15, 10.32, 9.12, 0.41], [3.09, 5.90, 83.96, 7.05]),
        ("pcn_w2_hadoop", 300_000.0, [70.79, 16.59, 3.52, 9.10], [0.22, 1.56, 1.53, 96.69]),
        ("websearch", 1_711_250.0, [15.00, 39.17, 15.83, 30.00], [0.04, 0.98, 4.02, 94.96]),
        ("datamining_vl2", 12_658_199.0, [80.00, 2.31, 8.78, 8.91], [0.01, 0.01, 0.21, 99.77]),
    ];

    #[test]
    fn what_is_bundled_is_as_published() {
        for (name, mean, flows, bytes) in TABLE {
            let cdf = Cdf::bundled(name).unwrap();
            assert!((cdf.mean() / mean - 1.0).abs() < 1e-4, "{name} {}", cdf.mean());
            let bounds = [0.0, 1e4, 1e5, 1e6, cdf.range().end().get() as f64];
            for (index, (flows, bytes)) in flows.into_iter().zip(bytes).enumerate() {
                let bucket = |f: &dyn Fn(f64) -> f64| f(bounds[index + 1]) - f(bounds[index]);
                let share = 100.0 * bucket(&|size| below(&cdf, size));
                assert!((share - flows).abs() < 0.0051, "{name} {index} {share}");
                let share = 100.0 * bucket(&|size| bytes_below(&cdf, size)) / cdf.mean();
                assert!((share - bytes).abs() < 0.0051, "{name} {index} {share}");
            }
        }
        assert_eq!(bundled_names().len(), TABLE.len());
    }

    #[test]
    fn draws_have_the_mean_and_the_shape() {
        for (name, ..) in TABLE {
            let cdf = Cdf::bundled(name).unwrap();
            let mut stream = super::super::random::stream(1, name);
            let count = 100_000;
            let sizes = (0..count).map(|_| cdf.quantile(super::super::random::unit(&mut stream)));
            let mut sizes = Vec::from_iter(sizes);
            sizes.sort_unstable();
            // The distance of Kolmogorov and Smirnov: 1.63 / sqrt(n) is exceeded once in a hundred.
            let distance = sizes.iter().enumerate().map(|(index, size)| {
                let share = below(&cdf, size.get() as f64);
                (share - index as f64 / f64::from(count)).abs()
            });
            let distance = distance.fold(0.0, f64::max);
            // Sizes are whole bytes, which matters where a tenth of all is within 100 B.
            assert!(distance < 1.63 / f64::from(count).sqrt() + 0.001, "{name} {distance}");
        }
    }

    #[test]
    fn tables_in_percent_and_with_steps() {
        let cdf = Cdf::parse("100 50\n100 75 # a step\n\n200,100\n").unwrap();
        let points = [(100, 0.5), (100, 0.75), (200, 1.0)];
        assert_eq!(cdf.points, points.map(|(size, share)| (Bytes::new(size), share)));
        assert_eq!(cdf.mean(), 75.0 + 37.5);
        let draws = [0.0, 0.49, 0.6, 0.75, 0.875, 0.999_999].map(|u| cdf.quantile(u).get());
        assert_eq!(draws, [100, 100, 100, 100, 150, 200]);
        assert_eq!(cdf.range(), Bytes::new(100)..=Bytes::new(200));
    }

    #[test]
    fn what_is_about_one_is_one() {
        for text in ["10 0.5\n20 0.999999", "10 0.5\n20 1.0000009", "10 50\n20 99.9999"] {
            let cdf = Cdf::parse(text).unwrap();
            assert_eq!(cdf.points, [(Bytes::new(10), 0.5), (Bytes::new(20), 1.0)]);
        }
        let cdf = Cdf::parse("10 0.5\n20 1.0000005\n30 1.0000005").unwrap();
        assert_eq!(cdf.points[1], (Bytes::new(20), 1.0));
        assert_eq!(cdf.quantile(0.999_999_9), Bytes::new(20));
        for text in ["10 0.99999", "10 1.00001", "10 99.999"] {
            assert!(Cdf::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn flaws_are_named_by_line() {
        let cases = [
            ("", 1, "no points"),
            ("# nothing\n", 1, "no points"),
            ("1 0\n\nten 1\n", 3, "\"ten\" is not a number"),
            ("1 0\n-10 1\n", 2, "-10 is out of range"),
            ("1 0\n10 -1\n", 2, "-1 is out of range"),
            ("1 0\n10 nan\n", 2, "nan is out of range"),
            ("1 0\n10\n", 2, "\"10\" is not a size and a probability"),
            ("1 0 3\n", 1, "\"1 0 3\" is not a size and a probability"),
            ("1.5 0\n", 1, "1.5 is not a whole number of bytes up to 1000000 GB"),
            ("1e16 1\n", 1, "1e16 is not a whole number of bytes up to 1000000 GB"),
            ("10 0.5\n5 1\n", 2, "size 5 B after 10 B"),
            ("10 0.5\n50 0.4\n60 1\n", 2, "probability 0.4 after 0.5"),
            ("10 0.5\n50 0.9\n", 2, "the last probability is 0.9, not 1"),
            ("0 1\n", 1, "the largest size is 0 B"),
        ];
        for (text, line, message) in cases {
            assert_eq!(Cdf::parse(text), Err((line, message.to_string())), "{text}");
        }
    }
}
