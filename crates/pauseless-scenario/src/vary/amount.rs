//! A value that can be bisected: a whole number of something.

use pauseless_core::unit::{Bytes, Rate, Span};

use pauseless_text::declare::{At, FileValue, Item, Kind};
use pauseless_text::file::quote;
use pauseless_text::unit::{self, Quantity, unit_list};
use toml::Value;

/// A number of base units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount {
    /// The unit that it is a number of.
    pub unit: Unit,
    /// The number of these units.
    pub base: u64,
}

/// What an amount is a number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// A plain whole number, such as a TTL.
    Count,
    /// Billionths: a plain number with decimals.
    Billionth,
    /// A time span in picoseconds.
    Time,
    /// A rate in bits per second.
    Rate,
    /// An amount of bytes.
    Bytes,
    /// Millionths, written in percent.
    Share,
}

impl Unit {
    /// The name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Count => "1",
            Unit::Billionth => "1e-9",
            Unit::Time => "ps",
            Unit::Rate => "bps",
            Unit::Bytes => "B",
            Unit::Share => "ppm",
        }
    }

    /// How many base units the unit has in which a figure shows `greatest`, and its name.
    pub fn axis(self, greatest: u64) -> (f64, &'static str) {
        let of = |units: &'static [(&'static str, u64)]| {
            let decimal = |scale: u64| scale == 1 || !scale.is_power_of_two();
            let fitting = units.iter().rev();
            let mut fitting = fitting.filter(|(_, scale)| decimal(*scale) && *scale <= greatest);
            let (name, scale) = fitting.next().unwrap_or(&units[0]);
            (*scale as f64, *name)
        };
        match self {
            Unit::Count => (1.0, ""),
            Unit::Billionth => (1e9, ""),
            Unit::Time => of(Span::UNITS),
            Unit::Rate => of(Rate::UNITS),
            Unit::Bytes => of(Bytes::UNITS),
            Unit::Share => (1e4, "%"),
        }
    }
}

impl Amount {
    /// Reads `2 Gbps`, `40 KB`, `5 us`, `60 %`, `16`, `0.25` or `1/4`; else says what is wrong.
    pub fn parse(text: &str) -> Result<Amount, String> {
        let trimmed = text.trim();
        let split = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (number, unit) = trimmed.split_at(split.unwrap_or(trimmed.len()));
        let has = |units: &[(&str, u64)]| units.iter().any(|(name, _)| *name == unit.trim());
        match unit.trim() {
            "" => plain(number),
            rest if rest.starts_with('/') => fraction(number, &rest[1..]),
            "%" => scaled(number, 4, Unit::Share),
            "ppm" => scaled(number, 0, Unit::Share),
            _ if has(Span::UNITS) => quantity::<Span>(trimmed, Unit::Time),
            _ if has(Rate::UNITS) => quantity::<Rate>(trimmed, Unit::Rate),
            _ if has(Bytes::UNITS) => quantity::<Bytes>(trimmed, Unit::Bytes),
            _ => Err(format!(
                "{text:?} is no quantity; expected {}, {}, {}, a share in %, ppm, or a number",
                unit_list::<Span>(),
                unit_list::<Rate>(),
                unit_list::<Bytes>()
            )),
        }
    }

    /// Exactly, as people write it.
    pub fn exact(self) -> String {
        let base = self.base;
        match self.unit {
            Unit::Count => base.to_string(),
            Unit::Billionth => decimal(base, 9),
            Unit::Time => Span::ps(base).exact(),
            Unit::Rate => Rate::new(base).map_or("0 bps".to_string(), Quantity::exact),
            Unit::Bytes => Bytes::new(base).exact(),
            Unit::Share => format!("{} %", decimal(base, 4)),
        }
    }

    /// The amount as a value of TOML.
    pub fn toml(self) -> String {
        match self.unit {
            Unit::Count => self.exact(),
            Unit::Billionth => match self.exact() {
                whole if !whole.contains('.') => format!("{whole}.0"),
                other => other,
            },
            _ => quote(&self.exact()),
        }
    }

    /// A whole number as one with decimals, if `other` has them: plain numbers are of one kind.
    pub fn like(self, other: Amount) -> Amount {
        let base = self.base.checked_mul(BILLION);
        match (self.unit, other.unit, base) {
            (Unit::Count, Unit::Billionth, Some(base)) => other.of(base),
            _ => self,
        }
    }

    /// Another number of the same.
    pub fn of(self, base: u64) -> Amount {
        Amount { base, ..self }
    }
}

fn quantity<Q: Quantity>(text: &str, unit: Unit) -> Result<Amount, String> {
    match unit::parse::<Q>(text) {
        Ok(quantity) => Ok(Amount { unit, base: quantity.to_base() }),
        Err(wrong) => Err(format!("{}; {}", wrong.message, wrong.help)),
    }
}

fn plain(number: &str) -> Result<Amount, String> {
    if number.contains('.') {
        scaled(number, 9, Unit::Billionth)
    } else {
        scaled(number, 0, Unit::Count)
    }
}

/// Shares are often written as fractions, such as `1/8`.
fn fraction(numerator: &str, denominator: &str) -> Result<Amount, String> {
    let text = format!("{numerator}/{denominator}");
    let whole = |text: &str| text.trim().parse::<u64>().ok();
    let parts = whole(numerator).zip(whole(denominator).filter(|below| *below > 0));
    let scaled = parts.and_then(|(above, below)| Some((above.checked_mul(BILLION)?, below)));
    match scaled {
        Some((above, below)) if above % below == 0 => {
            Ok(Amount { unit: Unit::Billionth, base: above / below })
        }
        Some((above, below)) => {
            let near = decimal(above / below, 9);
            Err(format!("{text:?} has no end of decimals; write {near}"))
        }
        None => Err(format!("{text:?} is no number; write a decimal one, such as 0.125")),
    }
}

/// The number of parts that a number with decimals is counted in.
const BILLION: u64 = 1_000_000_000;

/// A decimal number times a power of ten, if that is a whole one.
fn scaled(number: &str, power: usize, unit: Unit) -> Result<Amount, String> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > power {
        return Err(format!("{number:?} has more decimals than can be told apart"));
    }
    match format!("{whole}{fraction:0<power$}").parse() {
        Ok(base) if !whole.is_empty() => Ok(Amount { unit, base }),
        _ => Err(format!("{number:?} is no number, or too large")),
    }
}

fn decimal(base: u64, power: u32) -> String {
    let scale = 10u64.pow(power);
    let fraction = format!("{:0width$}", base % scale, width = power as usize);
    let text = format!("{}.{fraction}", base / scale);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// A number, or a text with a unit.
impl FileValue for Amount {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<Amount>> {
        let sink = item.sink();
        let At { value, place } = item.value()?;
        let text = match &value {
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => format!("{number:?}"),
            Value::String(text) => text.clone(),
            _ => {
                let problem = place.problem("neither a number nor a text with a unit");
                sink.push(problem.expected("for example 16 or \"10 KB\""));
                return None;
            }
        };
        match Amount::parse(&text) {
            Ok(value) => Some(At { value, place }),
            Err(message) => {
                sink.push(place.problem(message));
                None
            }
        }
    }

    fn kind((): &()) -> Kind {
        Kind::Either(vec![f64::kind(&Default::default()), Kind::Text("a quantity with its unit")])
    }

    fn show(&self) -> String {
        match self.unit {
            Unit::Count | Unit::Billionth => self.exact(),
            _ => quote(&self.exact()),
        }
    }
}
