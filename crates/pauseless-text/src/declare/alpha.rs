//! The factor of a dynamic threshold, written as a fraction or as a number.

use pauseless_core::memory::Alpha;

use super::{At, FileValue, Item, Kind, Sink};
use crate::file::quote;

impl FileValue for Alpha {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<Alpha>> {
        let (place, sink) = (item.place.clone(), item.sink());
        let value = read_alpha(item, sink)?;
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        Kind::Either(vec![
            Kind::Text("a fraction, such as `1/8`"),
            Kind::Number { low: 1.0 / f64::from(ALPHA_MAX), high: f64::from(ALPHA_MAX) },
        ])
    }

    fn show(&self) -> String {
        quote(&written_alpha(*self))
    }
}

/// A fraction as text, `"1/8"`, or a number, `0.125` or `8`.
fn read_alpha(item: Item<'_>, sink: &Sink) -> Option<Alpha> {
    let place = item.place.clone();
    let refuse = |message: String| {
        let problem = place.problem(message);
        let range = format!("a fraction from 1/{ALPHA_MAX} to {ALPHA_MAX}");
        sink.push(problem.expected(range).help("write for example \"1/8\""));
        None
    };
    let (numerator, denominator, text) = if item.is_string() {
        let text = item.string()?.value;
        let (above, below) = text.split_once('/').unwrap_or((&text, "1"));
        let parts = (above.trim().parse(), below.trim().parse());
        let (Ok(above), Ok(below)) = parts else {
            return refuse(format!("{text:?} is no fraction"));
        };
        (above, below, text)
    } else {
        let value = item.number()?.value;
        let millions = (value * 1e6).round();
        if !(0.0..=f64::from(u32::MAX)).contains(&millions) || (value * 1e6 - millions).abs() > 1e-3
        {
            return refuse(format!("{value} is out of range"));
        }
        (millions as u32, 1_000_000, value.to_string())
    };
    let divisor = gcd(numerator, denominator).max(1);
    let (numerator, denominator) = (numerator / divisor, denominator / divisor);
    let alpha = Alpha::new(numerator, denominator);
    let is_good = u64::from(numerator) <= u64::from(denominator) * u64::from(ALPHA_MAX)
        && u64::from(denominator) <= u64::from(numerator) * u64::from(ALPHA_MAX);
    match alpha.filter(|_| is_good) {
        Some(alpha) => Some(alpha),
        None => refuse(format!("{text} is out of range")),
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    match b {
        0 => a,
        _ => gcd(b, a % b),
    }
}

/// A factor as files write it, such as `1/8`.
pub fn written_alpha(alpha: Alpha) -> String {
    match alpha.denominator() {
        1 => alpha.numerator().to_string(),
        denominator => format!("{}/{denominator}", alpha.numerator()),
    }
}

/// Chips have 1/128 to 8.
const ALPHA_MAX: u32 = 1_024;
