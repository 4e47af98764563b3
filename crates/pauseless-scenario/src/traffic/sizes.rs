//! How large flows are: `size`, `sizes` or `cdf`, and the class that follows from it.

use std::ops::RangeInclusive;
use std::path::Path;

use pauseless_core::unit::Bytes;
use pauseless_sim::rng::Stream;
use toml::Value;

use super::super::flows::{CLASSES, Limits, SIZES};
use super::cdf::{Cdf, bundled_names};
use super::random::unit;
use pauseless_text::declare::{FileValue, Key, Kind};
use pauseless_text::file::quote;
use pauseless_text::reader::{At, Item, did_you_mean, quoted};
use pauseless_text::section;
use pauseless_text::unit::Quantity;

section! {
    /// How large flows are.
    pub struct Sizes {
        /// All flows are of this size; one of `size`, `sizes` and `cdf` is written.
        size: Bytes, within SIZES,
            needed |keys| !keys.sizes.is_written && !keys.cdf.is_written,
            "\"100 KB\", or sizes = \"websearch\", or a cdf",
            derived "required";
        /// The name of a distribution that comes with the program, or the path of a file, relative
        /// to this one.
        sizes: String, within "a distribution, or the path of a file", derived "instead of `size`";
        /// The share of flows that are no larger, with straight lines between the points; as in
        /// `[["10 KB", 0.15], ["1 MB", 1]]`.
        cdf: Cdf, derived "instead of `size`";
    }
}

/// What the sizes are.
enum Given<'k> {
    Fixed(Bytes),
    Drawn(&'k Cdf),
}

impl Sizes {
    /// Reads the distribution that is named; `None` if it is not known how large flows are.
    pub(super) fn complete(&mut self, limits: Limits<'_>) -> Option<()> {
        let Sizes { size, sizes, cdf, .. } = self;
        let written = [size.is_written, sizes.is_written, cdf.is_written];
        if written.into_iter().filter(|is_written| *is_written).count() > 1 {
            let place = &self.place;
            let problem = place.problem("the sizes of flows are written twice");
            limits.sink.push(problem.help("keep one of size, sizes and cdf"));
            return None;
        }
        if let Some(name) = sizes.given.take() {
            self.cdf = Key::at(read_named(&name, limits)?, &name.place);
        }
        (self.size.given.is_some() || self.cdf.given.is_some()).then_some(())
    }

    fn given(&self) -> Given<'_> {
        match (self.size.copied(), self.cdf.get()) {
            (_, Some(cdf)) => Given::Drawn(cdf),
            (size, None) => Given::Fixed(size.expect("`complete` refuses traffic without a size")),
        }
    }

    /// The mean in bytes.
    pub(super) fn mean(&self) -> f64 {
        match self.given() {
            Given::Fixed(size) => size.get() as f64,
            // Nothing is smaller than a byte, whatever a table says.
            Given::Drawn(cdf) => cdf.mean().max(1.0),
        }
    }

    /// The mean of what `part` makes of the sizes, which no few large ones may decide.
    pub(super) fn mean_of(&self, part: impl Fn(Bytes) -> Bytes) -> f64 {
        match self.given() {
            Given::Fixed(size) => part(size).get() as f64,
            Given::Drawn(cdf) => {
                let steps = 1_000;
                let shares = (0..steps).map(|step| (f64::from(step) + 0.5) / f64::from(steps));
                let parts = shares.map(|share| part(cdf.quantile(share)).get() as f64);
                parts.sum::<f64>() / f64::from(steps)
            }
        }
    }

    /// The size of one flow.
    pub(super) fn draw(&self, stream: &mut Stream) -> Bytes {
        match self.given() {
            Given::Fixed(size) => size,
            Given::Drawn(cdf) => cdf.quantile(unit(stream)),
        }
    }

    /// The smallest and the largest.
    pub(super) fn range(&self) -> RangeInclusive<Bytes> {
        match self.given() {
            Given::Fixed(size) => size..=size,
            Given::Drawn(cdf) => cdf.range(),
        }
    }
}

/// A bundled distribution, or a file.
fn read_named(name: &At<String>, limits: Limits<'_>) -> Option<Cdf> {
    if let Some(cdf) = Cdf::bundled(&name.value) {
        return Some(cdf);
    }
    let path = limits.folder.join(&name.value);
    let flaw = match Cdf::read(&path) {
        Ok(cdf) => return Some(cdf),
        Err(flaw) => flaw,
    };
    let names = bundled_names();
    let help = if path.exists() {
        "each line has a size in bytes and the share of flows that are no larger".into()
    } else {
        match did_you_mean(&name.value, names.iter().copied()) {
            guess if guess.is_empty() => {
                format!("write the path of a file, or one of {}", quoted(&names))
            }
            guess => guess,
        }
    };
    limits.sink.push(name.place.problem(flaw).help(help));
    None
}

/// The distribution in the file `name` as `cdf` has it; `None` if it is bundled, or cannot be read.
pub fn inline(name: &str, folder: &Path) -> Option<Value> {
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

/// What can be written as a size and a number, as in `["10 KB", 0.15]`.
fn pair_kind(number: Kind) -> Kind {
    let pair = Kind::List {
        of: Box::new(Kind::Either(vec![Bytes::kind(&Default::default()), number])),
        least: 2,
        most: Some(2),
    };
    Kind::List { of: Box::new(pair), least: 0, most: None }
}

impl FileValue for Cdf {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<Cdf>> {
        let sink = item.sink();
        let list = item.list("a list")?;
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
        let place = list.place;
        match Cdf::new(points) {
            Ok(value) => Some(At { value, place }),
            Err((point, message)) => {
                let place = places.get(point).unwrap_or(&place);
                let help = "neither sizes nor probabilities fall, and the last probability is 1";
                sink.push(place.problem(message).help(help));
                None
            }
        }
    }

    fn kind((): &()) -> Kind {
        pair_kind(f64::kind(&(0.0..=100.0).into()))
    }

    /// Point by point, so that no other file is needed.
    fn show(&self) -> String {
        let points = self.points().iter();
        let lines =
            points.map(|(size, share)| format!("    [{}, {share:?}],\n", quote(&size.exact())));
        format!("[\n{}]", String::from_iter(lines))
    }
}

/// `classes_by_size`: flows below a bound have the class of the first such bound.
#[derive(Clone, Debug, Default)]
pub struct ClassesBySize {
    bounds: Vec<At<Bound>>,
}

/// A bound of sizes, and the class of what is smaller.
#[derive(Clone, Debug)]
struct Bound {
    size: Bytes,
    class: At<u64>,
}

impl FileValue for ClassesBySize {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<ClassesBySize>> {
        let At { value, place } = item.list("a list")?;
        let bounds = value.into_iter().filter_map(|item| {
            let place = item.place.clone();
            let [size, class] = item.pair("a size and a class, as in [\"10 KB\", 3]")?;
            let (size, class) = (size.quantity(), class.integer(0..=u64::MAX));
            let (size, class) = (size?.value, class?);
            let value = Bound { size, class };
            Some(At { value, place })
        });
        let bounds = bounds.collect();
        let value = ClassesBySize { bounds };
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        pair_kind(u8::kind(&CLASSES.into()))
    }

    fn show(&self) -> String {
        let bounds = self.bounds.iter().map(|bound| &bound.value);
        let bounds =
            bounds.map(|bound| format!("[{}, {}]", quote(&bound.size.exact()), bound.class.value));
        format!("[{}]", Vec::from_iter(bounds).join(", "))
    }
}

impl ClassesBySize {
    /// Leaves out bounds that are wrong, which is reported.
    pub(super) fn complete(&mut self, limits: Limits<'_>) {
        let classes = 0..=u64::from(limits.class_count) - 1;
        let mut last = Bytes::ZERO;
        self.bounds.retain(|At { value: bound, place }| {
            let class = &bound.class;
            if !class.place.has_within(class.value, &classes, limits.sink) {
                return false;
            }
            let is_good = last < bound.size && bound.size <= *SIZES.end();
            if is_good {
                last = bound.size;
            } else {
                let problem = place.problem(format!("bound {} is out of order", bound.size));
                limits.sink.push(problem.expected("bounds from small to large, from 1 B on"));
            }
            is_good
        });
    }

    fn bounds(&self) -> impl Iterator<Item = &Bound> {
        self.bounds.iter().map(|bound| &bound.value)
    }

    /// The class of a flow of `size`; `other` for large ones.
    pub(super) fn class(&self, size: Bytes, other: u8) -> u8 {
        let bound = self.bounds().find(|bound| size < bound.size);
        bound.map_or(other, |bound| bound.class.value as u8)
    }

    /// All classes of flows of these sizes, each once.
    pub(super) fn classes(&self, sizes: &RangeInclusive<Bytes>, other: u8) -> Vec<u8> {
        let inner = self.bounds().map(|bound| bound.size).filter(|bound| sizes.contains(bound));
        let ends = std::iter::once(*sizes.start()).chain(inner);
        let mut classes = Vec::from_iter(ends.map(|size| self.class(size, other)));
        classes.sort_unstable();
        classes.dedup();
        classes
    }
}
