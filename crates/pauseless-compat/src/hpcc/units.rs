//! Rates and times as ns-3 writes them.

use pauseless_core::unit::{Rate, Span};

use pauseless_text::lex::Word;
use pauseless_text::problem::Problem;

/// A data rate as ns-3 writes it, `100Gbps`, `8Mb/s`, or a bare number of bits per second.
pub(super) fn rate(word: &Word<'_>) -> Result<Rate, Problem> {
    let rate = split(word.text).and_then(|(value, unit)| {
        let bytes = unit.ends_with("Bps") || unit.ends_with("B/s");
        let stem = unit.strip_suffix("bps").or_else(|| unit.strip_suffix("b/s"));
        let stem = stem.or_else(|| unit.strip_suffix("Bps")).or_else(|| unit.strip_suffix("B/s"));
        let factor = match (unit, stem?) {
            ("", _) | (_, "") => 1.0,
            (_, "k" | "K") => 1e3,
            (_, "Ki") => 1024.0,
            (_, "M") => 1e6,
            (_, "Mi") => 1024.0 * 1024.0,
            (_, "G") => 1e9,
            (_, "Gi") => 1024.0 * 1024.0 * 1024.0,
            (_, "T") => 1e12,
            _ => return None,
        };
        let bits = value * factor * if bytes { 8.0 } else { 1.0 };
        // ns-3 keeps whole bits per second and drops the rest.
        Some(bits as u64)
    });
    let rate = rate.or_else(|| word.text.parse::<f64>().ok().map(|bits| bits as u64));
    let rate = rate.filter(|bits| *bits <= RATE_MAX).and_then(Rate::new);
    rate.ok_or_else(|| {
        let problem = word.problem(format!("{:?} is no rate of a link", word.text));
        problem.expected("a rate from 1bps to 1.6Tbps, as in 100Gbps or 40Mb/s")
    })
}

/// A time as ns-3 writes it: `1000ns`, `0.001ms`, or a bare number of seconds. Whole nanoseconds.
pub(super) fn span(word: &Word<'_>) -> Result<Span, Problem> {
    let nanoseconds = split(word.text).and_then(|(value, unit)| {
        let factor = match unit {
            "" | "s" => 1e9,
            "ms" => 1e6,
            "us" => 1e3,
            "ns" => 1.0,
            "ps" => 1e-3,
            _ => return None,
        };
        Some(value * factor)
    });
    match nanoseconds.filter(|ns| (0.0..=1e9).contains(ns)) {
        // A tenth of a microsecond as a decimal fraction is a little less than that in binary.
        Some(ns) => Ok(Span::ns((ns + 1e-6) as u64)),
        None => {
            let problem = word.problem(format!("{:?} is no delay of a link", word.text));
            Err(problem.expected("a time from 0 to 1 s, as in 1000ns, 1us or 0.001ms"))
        }
    }
}

fn split(text: &str) -> Option<(f64, &str)> {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let end = text.find(|c: char| !is_number(c)).unwrap_or(text.len());
    let value = text[..end].parse::<f64>().ok()?;
    Some((value, &text[end..]))
}

/// The largest rate of a link in scenarios, in bits per second.
const RATE_MAX: u64 = 1_600_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use pauseless_text::lex::Words;

    #[test]
    fn rates_and_delays_are_those_of_ns3() {
        let word = |text| Words::new(text).next().expect("a word");
        let read = |text| rate(&word(text)).map(Rate::as_bps);
        assert_eq!(read("100Gbps"), Ok(100_000_000_000));
        assert_eq!(read("8Mb/s"), Ok(8_000_000));
        assert_eq!(read("2.5GB/s"), Ok(20_000_000_000));
        assert_eq!(read("40000000000"), Ok(40_000_000_000));
        for bad in ["0Gbps", "-1Gbps", "Gbps", "1e30", "NaN", "40Gbits", "2Tbps"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        let read = |text| span(&word(text));
        assert_eq!(read("1000ns"), Ok(Span::us(1)));
        assert_eq!(read("0.001ms"), Ok(Span::us(1)));
        assert_eq!(read("1us"), Ok(Span::us(1)));
        for bad in ["-1ns", "2s", "1min", "NaNs"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
