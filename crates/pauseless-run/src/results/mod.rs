//! The registry of results: every number and every curve that a run can have, each declared once.
//!
//! An entry of [`numbers::NUMBERS`] has a name, a unit, whose number it is, one sentence, and the
//! function that computes it from [`Facts`]; an entry of [`curves::CURVES`] the same for what probes
//! record. Everything else reads these two tables: the names that campaigns, claims and thresholds
//! accept ([`mod@reference`]), the columns of CSV and Parquet and the flat parts of JSON ([`rows`]), and
//! `pauseless metrics` and the tables of `docs/metrics.md` ([`listing`]).
//!
//! To add a number, add an entry to [`numbers::NUMBERS`].

mod bounds;
pub mod curves;
mod facts;
pub mod listing;
pub mod numbers;
pub mod reference;
pub mod rows;

use pauseless_core::id::Class;
use pauseless_core::unit::{Bytes, Span};
use pauseless_sim::outcome::QueueOutcome;
use serde::Serialize;

use crate::metrics::completion::Group;
use crate::metrics::distribution::Percentile;
use crate::metrics::links::{LayerUse, PortUse};
use pauseless_text::named;
use pauseless_text::quantity;

pub use bounds::{Beside, Bound, Measure};
pub use facts::{Facts, FlowFacts};
pub use numbers::NUMBERS;
pub use reference::Reference;

/// A number that a run can have.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    /// The name by which it is asked for, with its unit where that is not obvious: `held_ms`.
    /// Numbers of different scopes may share a name.
    pub name: &'static str,
    /// The unit in tables, claims and figures.
    pub unit: Unit,
    /// Whose number it is, and how it is computed.
    pub of: Of,
    /// What it is, in one sentence or two.
    pub says: &'static str,
    /// Where the JSON document of a run has it.
    pub json: Json,
    /// The name of its column in `flows.csv` and `flows.parquet`; empty if it has none.
    pub column: &'static str,
    /// The head of its column in the tables of a report; empty if it is in none.
    pub head: &'static str,
    /// Whether its values in the base unit are fractions and not whole numbers.
    pub is_real: bool,
    /// When it is computed without being asked for.
    pub kept: Kept,
    /// Whether it takes long, so that it is computed only for those who ask.
    pub is_slow: bool,
    /// Whether a run may lack it because what it measures has not happened.
    pub may_be_missing: bool,
    /// Whether a port has it only if a `[probe]` of the scenario looks at it.
    pub is_probed: bool,
    /// How a fixed percentile is spelt, with `{}` for `p99`, such as `fct_{}_us`.
    pub spelt: &'static str,
    /// The percentiles that are computed without being asked for.
    pub kept_at: &'static [(&'static str, Kept)],
}

/// Whose number it is, and the function that computes it in its base unit; `None` where a run has
/// none.
#[derive(Clone, Copy, Debug)]
pub enum Of {
    /// A number of the whole run.
    Run(fn(&Facts<'_>) -> Option<Value>),
    /// A number of one traffic class.
    Class(fn(&Facts<'_>, Class) -> Option<Value>),
    /// A number of all links whose sending end is in one layer.
    Layer(fn(&LayerUse) -> Option<Value>),
    /// A number of a port, in the direction in which it sends.
    Port(fn(&PortUse) -> Option<Value>),
    /// A number of the ingress queues of a port, one for each class.
    Queue(fn(&[&QueueOutcome]) -> Option<Value>),
    /// A number of one flow.
    Flow(fn(&FlowFacts<'_>) -> Option<Value>),
    /// A number of all finite flows, or of those of a size, a class or a group.
    Flows(fn(&Group) -> Option<Value>),
    /// The mean over the same flows of something that only finished ones have.
    Mean(Measure),
    /// A percentile over the same.
    Percentile(Measure),
}

/// A value in the base unit: picoseconds, bytes, bit/s, a share of 1, or a plain number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A whole number, such as a count.
    Whole(u64),
    /// A number with decimals, such as a rate.
    Real(f64),
    /// A number that is in the unit of its entry already, because it was computed in it.
    Shown(f64),
}

named! {
    /// The unit of a number in tables, claims and figures.
    pub enum Unit {
        /// A plain number without a unit.
        One = "",
        /// Milliseconds of simulated time.
        Ms = "ms",
        /// Microseconds of simulated time.
        Us = "us",
        /// Kilobytes, of 1000 bytes.
        Kb = "KB",
        /// Gigabits (10^9 bits) per second.
        Gbps = "Gb/s",
        /// Percent of a whole.
        Percent = "%",
        /// Per second of simulated time.
        PerSecond = "1/s",
        /// Per millisecond of simulated time.
        PerMs = "1/ms",
    }
}

impl Unit {
    /// A value in this unit.
    pub fn of(self, value: Value) -> f64 {
        let base = match value {
            Value::Whole(whole) => whole as f64,
            Value::Real(real) => real,
            Value::Shown(shown) => return shown,
        };
        match (self, value) {
            (Unit::Ms, Value::Whole(ps)) => Span::ps(ps).as_secs_f64() * 1e3,
            (Unit::Ms, _) => base / 1e9,
            (Unit::Us, _) => base / 1e6,
            (Unit::Kb, _) => base / 1e3,
            (Unit::Gbps, _) => base / 1e9,
            (Unit::Percent, _) => base * 100.0,
            (Unit::One | Unit::PerSecond | Unit::PerMs, _) => base,
        }
    }

    /// A value as people read it: a few digits, and a unit that fits.
    pub fn text(self, value: Value) -> String {
        let whole = match value {
            Value::Whole(whole) => whole,
            Value::Real(real) => real.round() as u64,
            Value::Shown(shown) => return quantity::number(shown),
        };
        match (self, value) {
            (Unit::Ms | Unit::Us, _) => quantity::span(Span::ps(whole)),
            (Unit::Kb, _) => quantity::bytes(Bytes::new(whole)),
            (Unit::Gbps, Value::Real(bps)) => quantity::rate(bps),
            (Unit::Percent, Value::Real(share)) => quantity::percent(share),
            (_, Value::Real(real)) => quantity::number(real),
            _ => quantity::count(whole),
        }
    }

    /// The unit of the JSON documents, which values are computed in.
    pub fn base(self) -> &'static str {
        match self {
            Unit::One => "",
            Unit::Ms | Unit::Us => "ps",
            Unit::Kb => "bytes",
            Unit::Gbps => "bps",
            Unit::Percent => "share",
            Unit::PerSecond => "1/s",
            Unit::PerMs => "1/ms",
        }
    }

    /// How names of numbers in this unit may end.
    pub(crate) fn endings(self) -> &'static [&'static str] {
        match self {
            Unit::One => &[],
            Unit::Ms => &["_ms"],
            Unit::Us => &["_us"],
            Unit::Kb => &["_kb"],
            Unit::Gbps => &["_gbps"],
            Unit::Percent => &["_percent"],
            Unit::PerSecond => &["_per_s"],
            Unit::PerMs => &["_per_ms"],
        }
    }
}

/// Where the JSON document of a run has a number. Of the whole run it is a path from the root of the
/// document, of everything else the name of a field in the object of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Json {
    /// No document has it.
    No,
    /// The document has it under this name, and leaves it out without a value.
    Absent(&'static str),
    /// The document has it under this name, and has null without a value.
    Null(&'static str),
}

impl Json {
    /// The path or the name; empty without one.
    pub fn name(self) -> &'static str {
        match self {
            Json::No => "",
            Json::Absent(name) | Json::Null(name) => name,
        }
    }
}

named! {
    /// When a number is computed. Each of these includes those before it.
    #[derive(PartialOrd, Ord)]
    pub enum Kept {
        /// Only when it is asked for by name.
        Asked = "asked",
        /// In every sample of `repro`, whose files list it.
        Sampled = "sampled",
        /// In campaigns that do not say what they keep.
        Usually = "usually",
        /// In the table of every campaign.
        Always = "always",
    }
}

named! {
    /// What a number is of, as a word.
    #[derive(PartialOrd, Ord)]
    pub enum Scope {
        /// A number of the whole run.
        Run = "run",
        /// A number of one traffic class.
        Class = "class",
        /// A number of all links of a layer.
        Layer = "layer",
        /// A number of one port.
        Port = "port",
        /// A number of one flow.
        Flow = "flow",
        /// A number of all finite flows, or of some of them.
        Flows = "flows",
    }
}

impl Scope {
    /// The objects of the JSON document of a run whose fields are numbers of this scope.
    pub fn json(self) -> &'static str {
        match self {
            Scope::Run => "",
            Scope::Class => "pause_frames_by_class[]",
            Scope::Layer => "metrics.layers[].",
            Scope::Port => "metrics.ports[].",
            Scope::Flow => "flows[].",
            Scope::Flows => "metrics.completion.",
        }
    }
}

impl Number {
    /// A number with this name, which is computed only if it is asked for.
    const fn new(name: &'static str, unit: Unit, of: Of, says: &'static str) -> Number {
        Number {
            name,
            unit,
            of,
            says,
            json: Json::No,
            column: "",
            head: "",
            is_real: matches!(unit, Unit::Gbps | Unit::Percent | Unit::PerSecond | Unit::PerMs),
            kept: Kept::Asked,
            may_be_missing: false,
            is_slow: false,
            is_probed: false,
            spelt: "",
            kept_at: &[],
        }
    }

    /// What the number is of.
    pub fn scope(&self) -> Scope {
        match self.of {
            Of::Run(_) => Scope::Run,
            Of::Class(_) => Scope::Class,
            Of::Layer(_) => Scope::Layer,
            Of::Port(_) | Of::Queue(_) => Scope::Port,
            Of::Flow(_) => Scope::Flow,
            Of::Flows(_) | Of::Mean(_) | Of::Percentile(_) => Scope::Flows,
        }
    }

    /// The name of a fixed percentile: `fct_p99_us`.
    pub fn spelt_at(&self, percentile: &str) -> String {
        self.spelt.replace("{}", percentile)
    }

    /// Its names: its own, or those of fixed percentiles, with when each is computed.
    fn spellings(&self) -> Vec<(String, Option<Percentile>, Kept)> {
        let fixed = self.kept_at.iter().filter_map(|(name, kept)| {
            let percentile = Percentile::named(name)?;
            Some((self.spelt_at(name), Some(percentile), *kept))
        });
        match self.of {
            Of::Percentile(_) => fixed.collect(),
            _ => vec![(self.name.to_string(), None, self.kept)],
        }
    }
}

/// The names of the numbers of whole runs that are computed at least as often as `kept`.
pub fn kept_names(kept: Kept) -> Vec<String> {
    let whole = NUMBERS.iter().filter(|it| matches!(it.scope(), Scope::Run | Scope::Flows));
    let wanted = whole.flat_map(Number::spellings).filter(|(_, _, when)| *when == kept);
    wanted.map(|(name, ..)| name).collect()
}

/// The unit of a column of a campaign, if it is that of a number, and the name without the unit.
pub fn column_unit(column: &str) -> Option<(String, Unit)> {
    let bases = NUMBERS.iter().flat_map(|number| {
        let spelt = Percentile::NAMED.iter().filter(|_| !number.spelt.is_empty());
        let names = spelt.map(|(name, _)| number.spelt_at(name)).chain([number.name.to_string()]);
        names.map(|name| (name.replace('.', "_"), number.unit))
    });
    let fits = |base: &str| {
        let rest = column.strip_prefix(base);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    let found = bases.filter(|(base, _)| fits(base));
    let (base, unit) = found.max_by_key(|(base, _)| base.len())?;
    let ending = unit.endings().iter().find(|it| base.ends_with(**it));
    let bare = &base[..base.len() - ending.map_or(0, |ending| ending.len())];
    Some((format!("{bare}{}", &column[base.len()..]), unit))
}

#[cfg(test)]
mod tests;
