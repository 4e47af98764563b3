//! The section `[switch.memory]`: how the ports of a switch share its packet memory.

mod share;

use std::ops::RangeInclusive;

use pauseless_core::id::Class;
use pauseless_core::memory::{Alpha, ResumeOn};
use pauseless_core::unit::Bytes;

use super::file::{File, quote};
use super::reader::{At, Item, Place, Section};
use super::switch::BUFFERS;
use super::unit::Quantity;

pub(crate) use share::{Share, write_lane};

/// What a scheme of sharing is called in files.
const KINDS: [(&str, Option<Kind>); 3] = [
    ("private", None),
    ("shared", Some(Kind::Shared)),
    ("partitions", Some(Kind::Partitions)),
];

/// What a rule of resuming is called in files.
const RESUMES: [(&str, ResumeOn); 2] = [
    ("any-departure", ResumeOn::AnyDeparture),
    ("own-departure", ResumeOn::OwnDeparture),
];

/// What the total is divided by, in files.
const SET_ASIDE: [(&str, bool); 2] = [("per-class", false), ("per-port", true)];

const POOLS: [(&str, Pool); 3] = [
    ("class", Pool::Class),
    ("port", Pool::Port),
    ("switch", Pool::Switch),
];

/// Offsets may be nothing, unlike buffers.
const PARTS: RangeInclusive<Bytes> = Bytes::ZERO..=*BUFFERS.end();
/// Chips have 1/128 to 8.
const ALPHA_MAX: u32 = 1_024;

/// Whether dedicated memory is that of an (ingress, class) or of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Shared,
    Partitions,
}

/// Who shares headroom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pool {
    Class,
    Port,
    Switch,
}

/// `[switch.memory]` as it was written, unless every port has its own.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    kind: Kind,
    total: At<Bytes>,
    base: Params,
    partitions: Option<At<Vec<Bytes>>>,
    pool: Pool,
    headroom_total: Option<At<Bytes>>,
    resume_on: ResumeOn,
    /// Whether reserve and headroom take from the total once for each port, and not for each class.
    is_aside_by_port: bool,
    others: Vec<Other>,
}

/// What one (ingress, class) may have, as far as it was written.
#[derive(Clone, Debug, Default)]
struct Params {
    reserve: Option<At<Bytes>>,
    headroom: Option<At<Bytes>>,
    limit: Option<Limit>,
    resume_offset: Option<At<Bytes>>,
}

#[derive(Clone, Copy, Debug)]
enum Limit {
    Alpha(Alpha),
    Static(Bytes),
}

/// `[[switch.memory.at]]` as it was written.
#[derive(Clone, Debug)]
struct Other {
    ports: Vec<At<String>>,
    /// Empty for all.
    classes: Vec<At<u64>>,
    params: Params,
}

impl Written {
    /// Reads `memory` of `[switch]`; the second is whether it is there at all and wants sharing.
    pub(crate) fn read(switch: &mut Section<'_>) -> (Option<Written>, bool) {
        let Some(mut section) = switch.table("memory") else {
            return (None, false);
        };
        let has_kind = section.has("kind");
        let Some(At { value: kind, .. }) = section.choice("kind", &KINDS) else {
            if !has_kind {
                section.missing("kind", "\"private\", \"shared\" or \"partitions\"");
            }
            section.discard();
            return (None, true);
        };
        let name = KINDS.iter().find(|(_, other)| *other == kind);
        let name = name.map_or("", |(name, _)| name);
        section.set_context(format!(" with kind = {name:?}"));
        let Some(kind) = kind else {
            section.finish();
            return (None, false);
        };
        let written = Written::read_shared(&mut section, kind);
        section.finish();
        (written, true)
    }

    fn read_shared(section: &mut Section<'_>, kind: Kind) -> Option<Written> {
        let has_total = section.has("total");
        let total = section.quantity_within("total", BUFFERS);
        if !has_total {
            section.missing("total", "\"12 MB\"");
        }
        let base = Params::read(section, kind);
        let partitions = match kind {
            Kind::Shared => None,
            Kind::Partitions => section
                .take("partitions")
                .and_then(|item| read_sizes(item, section)),
        };
        let pool = section.choice("headroom_pool", &POOLS);
        let pool = pool.map_or(Pool::Class, |pool| pool.value);
        let headroom_total = match pool {
            Pool::Class => None,
            Pool::Port | Pool::Switch => section.quantity_within("headroom_total", BUFFERS),
        };
        let resume_on = section.choice("resume_on", &RESUMES);
        let resume_on = resume_on.map_or(ResumeOn::AnyDeparture, |rule| rule.value);
        let is_aside_by_port = section.choice("set_aside", &SET_ASIDE);
        let mut others = Vec::new();
        for mut other in section.tables("at") {
            others.extend(Other::read(&mut other, kind));
            other.finish();
        }
        Some(Written {
            kind,
            total: total?,
            base,
            partitions,
            pool,
            headroom_total,
            resume_on,
            is_aside_by_port: is_aside_by_port.is_some_and(|by_port| by_port.value),
            others,
        })
    }

    /// What the whole switch has.
    pub(crate) fn total(&self) -> Bytes {
        self.total.value
    }
}

impl Params {
    fn read(section: &mut Section<'_>, kind: Kind) -> Params {
        let reserve = match kind {
            Kind::Shared => section.quantity_within("reserve", PARTS),
            Kind::Partitions => None,
        };
        Params {
            reserve,
            headroom: section.quantity_within("headroom", PARTS),
            limit: read_limit(section, kind),
            resume_offset: section.quantity_within("resume_offset", PARTS),
        }
    }

    /// `self`, with what `other` has written instead.
    fn overlaid(&self, other: &Params) -> Params {
        fn pick<T: Clone>(base: &Option<T>, other: &Option<T>) -> Option<T> {
            other.as_ref().or(base.as_ref()).cloned()
        }
        Params {
            reserve: pick(&self.reserve, &other.reserve),
            headroom: pick(&self.headroom, &other.headroom),
            limit: other.limit.or(self.limit),
            resume_offset: pick(&self.resume_offset, &other.resume_offset),
        }
    }
}

impl Other {
    fn read(section: &mut Section<'_>, kind: Kind) -> Option<Other> {
        let is_written = section.has("ports");
        let ports = section.strings("ports");
        if !is_written {
            section.missing("ports", "[\"S1:H1\"]");
        }
        let classes = section.list("classes").map(|list| list.value);
        let class = |item: Item<'_>| item.integer(0..=Class::COUNT_MAX as u64 - 1);
        let classes = classes.into_iter().flatten().filter_map(class);
        let classes = classes.collect();
        let params = Params::read(section, kind);
        Some(Other {
            ports: ports?.value,
            classes,
            params,
        })
    }
}

/// `alpha` or, instead of it, `threshold`.
fn read_limit(section: &mut Section<'_>, kind: Kind) -> Option<Limit> {
    let alpha = section
        .take("alpha")
        .and_then(|item| read_alpha(item, section));
    if kind == Kind::Partitions {
        return alpha.map(Limit::Alpha);
    }
    let threshold = section.quantity_within("threshold", BUFFERS);
    match (alpha, threshold) {
        (Some(_), Some(threshold)) => {
            let problem = threshold.place.problem("alpha is written as well");
            section.report(problem.help("keep alpha for a threshold that moves, or threshold"));
            None
        }
        (Some(alpha), None) => Some(Limit::Alpha(alpha)),
        (None, threshold) => threshold.map(|threshold| Limit::Static(threshold.value)),
    }
}

/// A fraction as text, `"1/8"`, or a number, `0.125` or `8`.
fn read_alpha(item: Item<'_>, section: &Section<'_>) -> Option<Alpha> {
    let place = item.place.clone();
    let refuse = |message: String| {
        let problem = place.problem(message);
        let range = format!("a fraction from 1/{ALPHA_MAX} to {ALPHA_MAX}");
        section.report(problem.expected(range).help("write for example \"1/8\""));
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

/// One size for all, or a list.
fn read_sizes(item: Item<'_>, section: &Section<'_>) -> Option<At<Vec<Bytes>>> {
    let place = item.place.clone();
    let items = match item.is_list() {
        true => item.list("a list")?.value,
        false => vec![item],
    };
    let count = items.len();
    let sizes = items.into_iter().filter_map(Item::quantity::<Bytes>);
    let sizes = Vec::from_iter(sizes.map(|size| size.value));
    if sizes.len() < count {
        return None;
    }
    if sizes.is_empty() || sizes.iter().any(|size| !BUFFERS.contains(size)) {
        let (low, high) = (BUFFERS.start().exact(), BUFFERS.end().exact());
        let expected = format!("sizes from {low} to {high}, one for each class");
        section.report(place.problem("out of range").expected(expected));
        return None;
    }
    let value = sizes;
    Some(At { value, place })
}

/// As in files.
pub(crate) fn written_alpha(alpha: Alpha) -> String {
    match alpha.denominator() {
        1 => alpha.numerator().to_string(),
        denominator => format!("{}/{denominator}", alpha.numerator()),
    }
}

fn place_of<T>(value: &Option<At<T>>) -> Option<Place> {
    value.as_ref().map(|value| value.place.clone())
}

impl Written {
    /// What is written once for all.
    pub(crate) fn write(&self, file: &mut File) {
        let name = KINDS.iter().find(|(_, kind)| *kind == Some(self.kind));
        file.text("kind", name.map_or("", |(name, _)| name));
        file.quantity("total", self.total.value);
        if let Some(partitions) = &self.partitions {
            let sizes = partitions.value.iter().map(|size| quote(&size.exact()));
            let sizes = Vec::from_iter(sizes).join(", ");
            file.plain("partitions", format_args!("[{sizes}]"));
        }
        let pool = POOLS.iter().find(|(_, pool)| *pool == self.pool);
        file.text("headroom_pool", pool.map_or("", |(name, _)| name));
        if let Some(total) = &self.headroom_total {
            file.quantity("headroom_total", total.value);
        }
        if self.is_aside_by_port {
            file.text("set_aside", "per-port");
        }
        if self.resume_on != ResumeOn::AnyDeparture {
            let resume_on = RESUMES.iter().find(|(_, rule)| *rule == self.resume_on);
            file.text("resume_on", resume_on.map_or("", |(name, _)| name));
        }
    }
}
