//! Words between white space with their places, as the simulators read their files.

use std::ops::Range;

use pauseless_core::unit::{Rate, Span};

use crate::problem::{Problem, Sink};

/// A word and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word<'t> {
    pub text: &'t str,
    pub at: Range<usize>,
}

impl Word<'_> {
    /// Something wrong with it.
    pub(super) fn problem(&self, message: impl Into<String>) -> Problem {
        Problem::new(self.at.clone(), message)
    }
}

/// The words of a text, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Words<'t> {
    text: &'t str,
    next: usize,
}

impl<'t> Words<'t> {
    pub(super) fn new(text: &'t str) -> Words<'t> {
        Words { text, next: 0 }
    }

    /// The place behind the last word, to point at when one is missing.
    pub(super) fn end(&self) -> Range<usize> {
        let end = self.text.trim_end().len();
        end..end
    }

    /// The next one, if it stands on the same line as the last.
    pub(super) fn next_on_line(&mut self) -> Option<Word<'t>> {
        let mut ahead = self.clone();
        let word = ahead.next()?;
        if self.text[self.next..word.at.start].contains('\n') {
            return None;
        }
        *self = ahead;
        Some(word)
    }
}

impl<'t> Iterator for Words<'t> {
    type Item = Word<'t>;

    fn next(&mut self) -> Option<Word<'t>> {
        let rest = &self.text[self.next..];
        let start = self.next + rest.find(|c: char| !c.is_ascii_whitespace())?;
        let rest = &self.text[start..];
        let length = rest.find(|c: char| c.is_ascii_whitespace());
        let end = start + length.unwrap_or(rest.len());
        self.next = end;
        Some(Word {
            text: &self.text[start..end],
            at: start..end,
        })
    }
}

/// A whole number of at most `most`.
pub(super) fn integer(word: &Word<'_>, most: u64, sink: &Sink) -> Option<u64> {
    let number = word
        .text
        .parse::<u64>()
        .ok()
        .filter(|number| *number <= most);
    if number.is_none() {
        let problem = word.problem(format!("{:?} is out of place", word.text));
        sink.push(problem.expected(format!("a whole number from 0 to {most}")));
    }
    number
}

/// A number that is neither negative nor beyond all bounds.
pub(super) fn number(word: &Word<'_>, sink: &Sink) -> Option<f64> {
    let number = word.text.parse::<f64>().ok();
    let number = number.filter(|number| number.is_finite() && *number >= 0.0);
    if number.is_none() {
        let problem = word.problem(format!("{:?} is out of place", word.text));
        sink.push(problem.expected("a number, 0 or more"));
    }
    number
}

/// A data rate as ns-3 writes it, `100Gbps`, `8Mb/s`, or a bare number of bits per second.
pub(super) fn rate(word: &Word<'_>, sink: &Sink) -> Option<Rate> {
    let rate = split(word.text).and_then(|(value, unit)| {
        let bytes = unit.ends_with("Bps") || unit.ends_with("B/s");
        let stem = unit
            .strip_suffix("bps")
            .or_else(|| unit.strip_suffix("b/s"));
        let stem = stem.or_else(|| unit.strip_suffix("Bps"));
        let stem = stem.or_else(|| unit.strip_suffix("B/s"));
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
    match rate.filter(|bits| *bits > 0 && *bits <= RATE_MAX) {
        Some(bits) => Rate::new(bits),
        None => {
            let problem = word.problem(format!("{:?} is no rate of a link", word.text));
            sink.push(problem.expected("a rate from 1bps to 1.6Tbps, as in 100Gbps or 40Mb/s"));
            None
        }
    }
}

/// A time as ns-3 writes it: `1000ns`, `0.001ms`, or a bare number of seconds. Whole nanoseconds.
pub(super) fn span(word: &Word<'_>, sink: &Sink) -> Option<Span> {
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
        Some(ns) => Some(Span::ns((ns + 1e-6) as u64)),
        None => {
            let problem = word.problem(format!("{:?} is no delay of a link", word.text));
            sink.push(problem.expected("a time from 0 to 1 s, as in 1000ns, 1us or 0.001ms"));
            None
        }
    }
}

fn split(text: &str) -> Option<(f64, &str)> {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let end = text.find(|c: char| !is_number(c)).unwrap_or(text.len());
    let value = text[..end].parse::<f64>().ok()?;
    Some((value, &text[end..]))
}

/// Seconds in whole nanoseconds as ns-3 has them: the binary fraction, cut off.
pub(super) fn seconds(value: f64) -> u64 {
    let whole = value.trunc();
    // A fraction below one has at most 64 bits before the point after this, and loses none.
    let fraction = ((value - whole) * 2f64.powi(64)) as u64;
    whole as u64 * 1_000_000_000 + ((u128::from(fraction) * 1_000_000_000) >> 64) as u64
}

/// As fast as scenarios go.
const RATE_MAX: u64 = 1_600_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_delays_are_those_of_ns3() {
        let read = |text: &str| {
            let (sink, word) = (Sink::default(), Words::new(text).next().unwrap());
            let rate = rate(&word, &sink).map(Rate::as_bps);
            (rate, sink.into_list().len())
        };
        assert_eq!(read("100Gbps"), (Some(100_000_000_000), 0));
        assert_eq!(read("8Mb/s"), (Some(8_000_000), 0));
        assert_eq!(read("2.5GB/s"), (Some(20_000_000_000), 0));
        assert_eq!(read("40000000000"), (Some(40_000_000_000), 0));
        for bad in ["0Gbps", "-1Gbps", "Gbps", "1e30", "NaN", "40Gbits", "2Tbps"] {
            assert_eq!(read(bad), (None, 1), "{bad}");
        }
        let read = |text: &str| {
            let (sink, word) = (Sink::default(), Words::new(text).next().unwrap());
            (span(&word, &sink), sink.into_list().len())
        };
        assert_eq!(read("1000ns"), (Some(Span::us(1)), 0));
        assert_eq!(read("0.001ms"), (Some(Span::us(1)), 0));
        assert_eq!(read("1us"), (Some(Span::us(1)), 0));
        for bad in ["-1ns", "2s", "1min", "", "NaNs"]
            .iter()
            .filter(|bad| !bad.is_empty())
        {
            assert_eq!(read(bad), (None, 1), "{bad}");
        }
    }

    #[test]
    fn seconds_are_cut_off_as_ns3_does() {
        assert_eq!(seconds(2.0), 2_000_000_000);
        assert_eq!(seconds(2.5), 2_500_000_000);
        // The double nearest to 2.1 is a little above it, that of 2.3 a little below.
        assert_eq!(seconds(2.1), 2_100_000_000);
        assert_eq!(seconds(2.3), 2_299_999_999);
    }
}
