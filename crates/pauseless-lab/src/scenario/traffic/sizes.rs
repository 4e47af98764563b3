//! How large flows are: `size`, `sizes` or `cdf`, and the class that follows from it.

use std::path::Path;

use pauseless_core::unit::Bytes;
use pauseless_sim::rng::Stream;
use toml::Value;

use super::super::file::{File, quote};
use super::super::flows::{Limits, SIZES};
use super::super::reader::{At, Item, Section, did_you_mean, quoted};
use super::super::unit::Quantity;
use super::cdf::{Cdf, bundled_names};
use super::random::unit;

/// The sizes of flows.
#[derive(Clone, Debug)]
pub(super) enum Sizes {
    Fixed(Bytes),
    Drawn(Cdf),
}

impl Sizes {
    /// Reads `sizes` or `cdf`, where `size` was read already.
    pub(super) fn read(
        section: &mut Section<'_>,
        size: (bool, Option<Bytes>),
        folder: &Path,
    ) -> Option<Sizes> {
        let (has_size, size) = size;
        let has = [has_size, section.has("sizes"), section.has("cdf")];
        let named = section.string("sizes");
        let cdf = section.list("cdf");
        match has.into_iter().filter(|has| *has).count() {
            0 => {
                let example = "\"100 KB\", or sizes = \"websearch\", or a cdf";
                section.missing("size", example);
                None
            }
            1 => match (size, named, cdf) {
                (Some(size), _, _) => Some(Sizes::Fixed(size)),
                (_, Some(name), _) => read_named(section, &name, folder).map(Sizes::Drawn),
                (_, _, Some(list)) => read_inline(section, list).map(Sizes::Drawn),
                _ => None,
            },
            _ => {
                let problem = section
                    .place
                    .problem("the sizes of flows are written twice");
                section.report(problem.help("keep one of size, sizes and cdf"));
                None
            }
        }
    }

    /// The mean in bytes.
    pub(super) fn mean(&self) -> f64 {
        match self {
            Sizes::Fixed(size) => size.get() as f64,
            // Nothing is smaller than a byte, whatever a table says.
            Sizes::Drawn(cdf) => cdf.mean().max(1.0),
        }
    }

    /// The mean of what `part` makes of the sizes, which no few large ones may decide.
    pub(super) fn mean_of(&self, part: impl Fn(Bytes) -> Bytes) -> f64 {
        match self {
            Sizes::Fixed(size) => part(*size).get() as f64,
            Sizes::Drawn(cdf) => {
                let steps = 1_000;
                let shares = (0..steps).map(|step| (f64::from(step) + 0.5) / f64::from(steps));
                let parts = shares.map(|share| part(cdf.quantile(share)).get() as f64);
                parts.sum::<f64>() / f64::from(steps)
            }
        }
    }

    /// The size of one flow.
    pub(super) fn draw(&self, stream: &mut Stream) -> Bytes {
        match self {
            Sizes::Fixed(size) => *size,
            Sizes::Drawn(cdf) => cdf.quantile(unit(stream)),
        }
    }

    /// The smallest and the largest.
    pub(super) fn range(&self) -> (Bytes, Bytes) {
        match self {
            Sizes::Fixed(size) => (*size, *size),
            Sizes::Drawn(cdf) => cdf.range(),
        }
    }

    /// Writes it out: a distribution point by point, so that no other file is needed.
    pub(super) fn write(&self, file: &mut File) {
        match self {
            Sizes::Fixed(size) => file.quantity("size", *size),
            Sizes::Drawn(cdf) => {
                file.line("cdf = [");
                for (size, share) in cdf.points() {
                    file.line(format_args!("    [{}, {share:?}],", quote(&size.exact())));
                }
                file.line("]");
            }
        }
    }
}

/// A bundled distribution, or a file.
fn read_named(section: &Section<'_>, name: &At<String>, folder: &Path) -> Option<Cdf> {
    if let Some(cdf) = Cdf::bundled(&name.value) {
        return Some(cdf);
    }
    let path = folder.join(&name.value);
    let flaw = match Cdf::read(&path) {
        Ok(cdf) => return Some(cdf),
        Err(flaw) => flaw,
    };
    let names = bundled_names();
    let help = match path.exists() {
        true => "each line has a size in bytes and the share of flows that are no larger".into(),
        false => match did_you_mean(&name.value, names.iter().copied()) {
            guess if guess.is_empty() => {
                format!("write the path of a file, or one of {}", quoted(&names))
            }
            guess => guess,
        },
    };
    section.report(name.place.problem(flaw).help(help));
    None
}

/// The distribution in the file `name` as `cdf` has it; `None` if it is bundled, or cannot be read.
pub(crate) fn inline(name: &str, folder: &Path) -> Option<Value> {
    if bundled_names().contains(&name) {
        return None;
    }
    let cdf = Cdf::read(&folder.join(name)).ok()?;
    let points = cdf.points().iter().map(|(size, share)| {
        let point = [Value::from(size.exact()), Value::from(*share)];
        Value::Array(Vec::from(point))
    });
    Some(Value::Array(points.collect()))
}

/// `cdf = [["10 KB", 0.15], ["1 MB", 1]]`.
fn read_inline(section: &Section<'_>, list: At<Vec<Item<'_>>>) -> Option<Cdf> {
    let count = list.value.len();
    let places = Vec::from_iter(list.value.iter().map(|item| item.place.clone()));
    let points = list.value.into_iter().filter_map(|item| {
        let [size, share] = item.pair("a size and a share, as in [\"10 KB\", 0.15]")?;
        let (size, share) = (size.quantity(), share.number());
        Some((size?.value, share?.value))
    });
    let points = Vec::from_iter(points);
    if points.len() < count {
        return None;
    }
    let report = |(point, message): (usize, String)| {
        let place = places.get(point).unwrap_or(&list.place);
        let help = "neither sizes nor probabilities fall, and the last probability is 1";
        section.report(place.problem(message).help(help));
    };
    Cdf::new(points).map_err(report).ok()
}

/// `classes_by_size`: flows below a bound have the class of the first such bound.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassesBySize {
    bounds: Vec<(Bytes, u8)>,
}

impl ClassesBySize {
    /// Reads it.
    pub(super) fn read(section: &mut Section<'_>, limits: Limits<'_>) -> ClassesBySize {
        let Some(list) = section.list("classes_by_size") else {
            return ClassesBySize::default();
        };
        let mut bounds: Vec<(Bytes, u8)> = Vec::new();
        for item in list.value {
            let place = item.place.clone();
            let Some([size, class]) = item.pair("a size and a class, as in [\"10 KB\", 3]") else {
                continue;
            };
            let class = class.integer(0..=u64::from(limits.class_count) - 1);
            let Some((size, class)) = size.quantity::<Bytes>().zip(class) else {
                continue;
            };
            let is_rising = bounds.last().is_none_or(|(last, _)| *last < size.value);
            if !is_rising || !SIZES.contains(&size.value) {
                let problem = place.problem(format!("bound {} is out of order", size.value));
                section.report(problem.expected("bounds from small to large, from 1 B on"));
                continue;
            }
            bounds.push((size.value, class.value as u8));
        }
        ClassesBySize { bounds }
    }

    /// The class of a flow of `size`; `other` for large ones.
    pub(super) fn class(&self, size: Bytes, other: u8) -> u8 {
        let bound = self.bounds.iter().find(|(bound, _)| size < *bound);
        bound.map_or(other, |(_, class)| *class)
    }

    /// All classes of flows from `smallest` to `largest`, each once.
    pub(super) fn classes(&self, sizes: (Bytes, Bytes), other: u8) -> Vec<u8> {
        let (smallest, largest) = sizes;
        let inner = self.bounds.iter().map(|(bound, _)| *bound);
        let inner = inner.filter(|bound| (smallest..=largest).contains(bound));
        let ends = std::iter::once(smallest).chain(inner);
        let mut classes = Vec::from_iter(ends.map(|size| self.class(size, other)));
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    /// Writes it out.
    pub(super) fn write(&self, file: &mut File) {
        let bounds = self.bounds.iter();
        let bounds = bounds.map(|(size, class)| format!("[{}, {class}]", quote(&size.exact())));
        let bounds = Vec::from_iter(bounds).join(", ");
        file.plain("classes_by_size", format_args!("[{bounds}]"));
    }
}
