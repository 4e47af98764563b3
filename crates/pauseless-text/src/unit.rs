//! Quantities as people write them: a decimal number and a unit, read exactly or not at all.

use pauseless_core::unit::{Bytes, Rate, Span};

/// A quantity of the scenario file.
pub trait Quantity: Copy {
    /// The noun for it in messages, such as `a time`.
    const NOUN: &'static str;
    /// Its units, smallest first, with their size in the base unit.
    const UNITS: &'static [(&'static str, u64)];
    /// A value that shows how it is written.
    const EXAMPLE: &'static str;

    /// From a number of base units; `None` where that number is no such quantity.
    fn from_base(base: u64) -> Option<Self>;

    /// The number of base units.
    fn to_base(self) -> u64;

    /// Exactly, in the largest unit that needs at most three decimals.
    fn exact(self) -> String {
        let base = self.to_base();
        let is_fitting = |scale: u64| {
            base >= scale && (u128::from(base) * 1_000).is_multiple_of(u128::from(scale))
        };
        let mut fitting = Self::UNITS.iter().rev().filter(|(_, scale)| is_fitting(*scale));
        let (unit, scale) = fitting.next().unwrap_or(&Self::UNITS[0]);
        let thousandths = u128::from(base % scale) * 1_000 / u128::from(*scale);
        let decimals = format!(".{thousandths:03}");
        let decimals = decimals.trim_end_matches('0').trim_end_matches('.');
        format!("{}{decimals} {unit}", base / scale)
    }
}

impl Quantity for Span {
    const NOUN: &'static str = "a time";
    const UNITS: &'static [(&'static str, u64)] = &[
        ("ps", 1),
        ("ns", 1_000),
        ("us", 1_000_000),
        ("ms", 1_000_000_000),
        ("s", 1_000_000_000_000),
    ];
    const EXAMPLE: &'static str = "10 us";

    fn from_base(base: u64) -> Option<Span> {
        Some(Span::ps(base))
    }

    fn to_base(self) -> u64 {
        self.as_ps()
    }
}

impl Quantity for Rate {
    const NOUN: &'static str = "a rate";
    const UNITS: &'static [(&'static str, u64)] = &[
        ("bps", 1),
        ("kbps", 1_000),
        ("Mbps", 1_000_000),
        ("Gbps", 1_000_000_000),
        ("Tbps", 1_000_000_000_000),
    ];
    const EXAMPLE: &'static str = "10 Gbps";

    fn from_base(base: u64) -> Option<Rate> {
        Rate::new(base)
    }

    fn to_base(self) -> u64 {
        self.as_bps()
    }
}

impl Quantity for Bytes {
    const NOUN: &'static str = "an amount of bytes";
    // KB and its kin stand for powers of ten, as in the papers.
    const UNITS: &'static [(&'static str, u64)] = &[
        ("B", 1),
        ("KB", 1_000),
        ("KiB", 1 << 10),
        ("MB", 1_000_000),
        ("MiB", 1 << 20),
        ("GB", 1_000_000_000),
        ("GiB", 1 << 30),
    ];
    const EXAMPLE: &'static str = "100 KB";

    fn from_base(base: u64) -> Option<Bytes> {
        Some(Bytes::new(base))
    }

    fn to_base(self) -> u64 {
        self.get()
    }

    /// In bytes where no round number of thousands says the same, as thresholds are compared.
    fn exact(self) -> String {
        match self.get() {
            n if n != 0 && n.is_multiple_of(1_000_000_000) => format!("{} GB", n / 1_000_000_000),
            n if n != 0 && n.is_multiple_of(1_000_000) => format!("{} MB", n / 1_000_000),
            n if n != 0 && n.is_multiple_of(1_000) => format!("{} KB", n / 1_000),
            n => format!("{n} B"),
        }
    }
}

/// Why a text is not a quantity: what is wrong, and how to write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotQuantity {
    /// What is wrong with the text.
    pub message: String,
    /// How the quantity is written.
    pub help: String,
}

/// The units of `Q`, for messages.
pub fn unit_list<Q: Quantity>() -> String {
    let names: Vec<&str> = Q::UNITS.iter().map(|(name, _)| *name).collect();
    format!("{} in {}", Q::NOUN, names.join(", "))
}

/// Reads a quantity, such as `52.4 us` or `10Gbps`.
pub fn parse<Q: Quantity>(text: &str) -> Result<Q, NotQuantity> {
    let refuse = |message: String, help: String| Err(NotQuantity { message, help });
    let example = || format!("write for example \"{}\"", Q::EXAMPLE);
    let trimmed = text.trim();
    if trimmed.starts_with('-') {
        return refuse(format!("{} is never negative", Q::NOUN), example());
    }
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let split = trimmed.find(|c| !is_number(c)).unwrap_or(trimmed.len());
    let (number, unit) = (&trimmed[..split], trimmed[split..].trim_start());
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let is_cut = number.contains('.') && fraction.is_empty();
    if whole.is_empty() || is_cut || !is_digits(whole) || !is_digits(fraction) {
        return refuse(format!("{text:?} does not begin with a number"), example());
    }
    if unit.is_empty() {
        return refuse(format!("{text:?} has no unit"), example());
    }
    // Reports write Gb/s, so files may.
    let spelt = unit.replace("b/s", "bps");
    let Some((_, scale)) = Q::UNITS.iter().find(|(name, _)| *name == spelt) else {
        let help = match similar_unit::<Q>(unit) {
            Some(similar) => format!("did you mean \"{number} {similar}\"?"),
            None => example(),
        };
        return refuse(format!("unknown unit {unit:?}"), help);
    };
    match scaled(whole, fraction, *scale) {
        Scaled::Exact(base) => match Q::from_base(base) {
            Some(quantity) => Ok(quantity),
            None => refuse(format!("{} of zero does not exist", Q::NOUN), example()),
        },
        Scaled::Inexact => {
            let base = Q::UNITS[0].0;
            let help = "write fewer decimals".to_string();
            refuse(format!("{text:?} is not a whole number of {base}"), help)
        }
        Scaled::Overflow => {
            let (base, max) = (Q::UNITS[0].0, u64::MAX);
            let help = format!("the largest possible value is {max} {base}");
            refuse(format!("{text:?} is too large"), help)
        }
    }
}

/// The unit that differs only by case, by how micro is written, or by what is left out, such as `G`.
fn similar_unit<Q: Quantity>(unit: &str) -> Option<&'static str> {
    let plain = unit.replace(['µ', 'μ'], "u").to_lowercase();
    let plain = plain.replace("/s", "ps").replace("bit", "b");
    let names = || Q::UNITS.iter().map(|(name, _)| *name);
    let is_short = |name: &&str| {
        ["b", "ps", "bps"].iter().any(|end| *name.to_lowercase() == plain.clone() + end)
    };
    names().find(|name| name.to_lowercase() == plain).or_else(|| names().find(is_short))
}

enum Scaled {
    Exact(u64),
    Inexact,
    Overflow,
}

/// The number `whole.fraction` times `scale`.
fn scaled(whole: &str, fraction: &str, scale: u64) -> Scaled {
    let fraction = fraction.trim_end_matches('0');
    // 10^12 is the largest scale, so more decimals than this are never exact, except for the
    // powers of two, of which 2^30 has as many.
    if fraction.len() > 30 {
        return Scaled::Inexact;
    }
    let Ok(whole) = whole.parse::<u128>() else {
        return Scaled::Overflow;
    };
    if fraction.is_empty() {
        let product = whole.checked_mul(u128::from(scale)).map(u64::try_from);
        return match product {
            Some(Ok(base)) => Scaled::Exact(base),
            _ => Scaled::Overflow,
        };
    }
    let Ok(part) = fraction.parse::<u128>() else {
        return Scaled::Overflow;
    };
    let divisor = 10u128.pow(fraction.len() as u32);
    let Some(product) = whole.checked_mul(u128::from(scale)) else {
        return Scaled::Overflow;
    };
    // A fraction of 30 digits times 10^12 exceeds 128 bits: reduce it by what they share.
    let shared = gcd(divisor, u128::from(scale));
    let (divisor, factor) = (divisor / shared, u128::from(scale) / shared);
    if !part.is_multiple_of(divisor) {
        return Scaled::Inexact;
    }
    let sum = (part / divisor).checked_mul(factor).and_then(|part| part.checked_add(product));
    match sum.map(u64::try_from) {
        Some(Ok(base)) => Scaled::Exact(base),
        _ => Scaled::Overflow,
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_exact_is_read() {
        let spans = [
            ("52.4 us", 52_400_000),
            ("52.4us", 52_400_000),
            (" 0 ps ", 0),
            ("0.001 ns", 1),
            ("213 s", 213_000_000_000_000),
            ("18446744073709551615 ps", u64::MAX),
            ("1.000000000000000000000000000000000000 us", 1_000_000),
        ];
        for (text, ps) in spans {
            assert_eq!(parse::<Span>(text), Ok(Span::ps(ps)), "{text}");
        }
        assert_eq!(parse::<Rate>("2.5 Gbps"), Ok(Rate::bps(2_500_000_000)));
        assert_eq!(parse::<Bytes>("1 KB"), Ok(Bytes::new(1_000)));
        assert_eq!(parse::<Bytes>("1.5 KiB"), Ok(Bytes::new(1_536)));
        assert_eq!(parse::<Bytes>("0.0009765625 KiB"), Ok(Bytes::new(1)));
    }

    #[test]
    fn what_is_not_exact_is_refused_with_a_fix() {
        let cases = [
            ("10", "\"10\" has no unit", "write for example \"10 us\""),
            ("", "\"\" does not begin with a number", ""),
            ("us", "\"us\" does not begin with a number", ""),
            ("1. us", "\"1. us\" does not begin with a number", ""),
            (".5 us", "\".5 us\" does not begin with a number", ""),
            ("1.2.3 us", "\"1.2.3 us\" does not begin with a number", ""),
            ("-1 us", "a time is never negative", ""),
            ("1 µs", "unknown unit \"µs\"", "did you mean \"1 us\"?"),
            ("1 US", "unknown unit \"US\"", "did you mean \"1 us\"?"),
            ("1 h", "unknown unit \"h\"", "write for example \"10 us\""),
            ("1e3 us", "unknown unit \"e3 us\"", ""),
            ("0.1 ps", "\"0.1 ps\" is not a whole number of ps", ""),
            ("18446744073709551616 ps", "\"18446744073709551616 ps\" is too large", ""),
            ("99999999999 s", "\"99999999999 s\" is too large", ""),
        ];
        for (text, message, help) in cases {
            let refused = parse::<Span>(text).unwrap_err();
            assert_eq!(refused.message, message);
            assert!(refused.help.starts_with(help), "{}", refused.help);
        }
        let digits = "9".repeat(400);
        assert!(parse::<Span>(&format!("{digits} s")).is_err());
        assert!(parse::<Span>(&format!("0.{digits} s")).is_err());
        assert!(parse::<Rate>("0 Gbps").is_err());
        for text in ["10 Gbit/s", "10G", "10 Gb", "10 gbps"] {
            let help = parse::<Rate>(text).unwrap_err().help;
            assert_eq!(help, "did you mean \"10 Gbps\"?", "{text}");
        }
        assert_eq!(parse::<Rate>("10 Gb/s"), parse("10 Gbps"));
        assert_eq!(parse::<Rate>("100G").unwrap_err().help, "did you mean \"100 Gbps\"?");
        assert_eq!(parse::<Bytes>("64k").unwrap_err().help, "did you mean \"64 KB\"?");
    }

    #[test]
    fn what_is_written_is_read_back() {
        let spans = [0, 1, 999, 52_428_000, 100_000_000_000, u64::MAX];
        for span in spans.map(Span::ps) {
            assert_eq!(parse::<Span>(&span.exact()), Ok(span), "{}", span.exact());
        }
        for bytes in [0, 1, 1_024, 746_520, 1_012_000, u64::MAX].map(Bytes::new) {
            assert_eq!(parse::<Bytes>(&bytes.exact()), Ok(bytes));
        }
        assert_eq!(Bytes::new(1_012_000).exact(), "1012 KB");
        assert_eq!(Rate::bps(2_500_000_000).exact(), "2.5 Gbps");
        assert_eq!(Rate::bps(2_500_000_001).exact(), "2500000.001 kbps");
        assert_eq!(Span::ps(52_428_000).exact(), "52.428 us");
        assert_eq!(Span::ps(7_400_000).exact(), "7.4 us");
        assert_eq!(Span::ZERO.exact(), "0 ps");
    }
}
