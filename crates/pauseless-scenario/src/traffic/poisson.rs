//! `kind = "poisson"`: flows that come at random, whatever the network does.

use std::ops::RangeInclusive;

use pauseless_core::id::NodeId;
use pauseless_core::unit::Span;

pub use super::super::flows::Limits;
use super::pool::{Cast, Ends};
use super::random::{gap, stream, whole_ns};
use super::scene::{Batch, Made, Scene};
use super::sizes::Sizes;
use super::{AnyKind, TrafficKind, kind};
use pauseless_text::declare::{At, FileValue, Item, Key, Kind, Variant};
use pauseless_text::quantity;
use pauseless_text::unit::Quantity;
use pauseless_text::{section, words};

section! {
    /// New flows arrive at random.
    pub struct Poisson {
        /// The share of its link's rate that each source is to send; in `%` or `ppm`.
        load: Load, within LOADS, required "\"60 %\"";
        ends: Ends, keys inline except target;
        /// How the arrivals of different sources belong together; with `"synchronous"` all sources,
        /// whose links must have one rate, share one sequence of instants and sizes.
        arrivals: Arrivals, derived "`\"independent\"`";
        /// The fewest and the most sources of an event; with `[1, 15]`, every event draws one target,
        /// 1 to 15 different sources and a size for each, which start at once. The load is over
        /// all sources, whose links must have one rate.
        fan_in: FanIn, derived "none";
        sizes: Sizes, keys inline;
    }
}

pub(super) static POISSON: Variant<AnyKind> = kind::<Poisson>("poisson");

/// A share of a link, in parts of a million.
#[derive(Clone, Copy, Debug)]
pub struct Load(u64);

impl Quantity for Load {
    const NOUN: &'static str = "a share";
    const UNITS: &'static [(&'static str, u64)] = &[("ppm", 1), ("%", 10_000)];
    const EXAMPLE: &'static str = "60 %";

    fn from_base(base: u64) -> Option<Load> {
        Some(Load(base))
    }

    fn to_base(self) -> u64 {
        self.0
    }
}

quantity!(Load);

/// Twice what a link can carry is a way to ask what happens then; more is a mistake.
const LOADS: RangeInclusive<Load> = Load(1)..=Load(2_000_000);

/// How the arrivals of different sources belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrivals {
    /// Each source has a sequence of its own.
    Independent,
    /// All sources share one sequence of instants and sizes.
    //= pcn20 7.2
    Synchronous,
}

words! {
    Arrivals { "independent" => Arrivals::Independent, "synchronous" => Arrivals::Synchronous }
}

/// The number of different sources that send to one target at once.
//= pcn20 7.4
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FanIn {
    least: u64,
    most: u64,
}

impl FanIn {
    const COUNTS: RangeInclusive<u64> = 1..=1_000_000;

    fn mean(&self) -> f64 {
        (self.least + self.most) as f64 / 2.0
    }
}

impl FileValue for FanIn {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<FanIn>> {
        let (place, sink) = (item.place.clone(), item.sink());
        let [least, most] = item.pair("the fewest and the most sources, as in [1, 15]")?;
        let (least, most) = (least.integer(FanIn::COUNTS), most.integer(FanIn::COUNTS));
        let (least, most) = (least?.value, most?.value);
        if least > most {
            let problem = place.problem(format!("{least} is more than {most}"));
            sink.push(problem.expected("the fewest first, then the most"));
            return None;
        }
        let value = FanIn { least, most };
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        Kind::List { of: Box::new(u64::kind(&FanIn::COUNTS.into())), least: 2, most: Some(2) }
    }

    fn show(&self) -> String {
        format!("[{}, {}]", self.least, self.most)
    }
}

impl TrafficKind for Poisson {
    fn complete(&mut self, limits: Limits<'_>) -> Option<()> {
        self.ends.complete(limits);
        let sizes = self.sizes.complete(limits);
        match (self.arrivals.place(), self.fan_in.is_written) {
            (Some(place), true) => {
                let problem = place.problem("fan_in has arrivals of its own");
                limits.sink.push(problem.help("keep one of arrivals and fan_in"));
                return None;
            }
            (None, false) => self.arrivals = Key::of(Arrivals::Independent),
            (None, true) => {
                self.fan_in.get()?;
            }
            (Some(_), false) => {}
        }
        self.load.get()?;
        sizes
    }

    fn flows(&self, scene: &Scene<'_>) -> Option<Batch> {
        let cast = self.cast(scene)?;
        let count = self.estimate(scene, &cast);
        Some(Batch::about(count, || match self.fan_in.copied() {
            Some(fan_in) => self.gather(scene, &cast, fan_in),
            None => self.generate(scene, &cast),
        }))
    }

    fn pairs(&self, scene: &Scene<'_>) -> Option<Batch> {
        Some(scene.pairs_of(&self.cast(scene)?, self.sizes.range()))
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn is_cut_off(&self) -> bool {
        false
    }
}

impl Poisson {
    fn cast<'t>(&self, scene: &Scene<'t>) -> Option<Cast<'t>> {
        match (self.fan_in.copied(), self.arrivals.or(Arrivals::Independent)) {
            (Some(FanIn { most, .. }), _) => {
                let cast = self.ends.cast_to_targets(scene, most)?;
                self.alike(scene, cast, "sources of a fan_in")
            }
            (None, Arrivals::Independent) => self.ends.cast_from_sources(scene),
            (None, Arrivals::Synchronous) => {
                let cast = self.ends.cast_from_sources(scene)?;
                self.alike(scene, cast, "synchronous sources")
            }
        }
    }

    /// The hosts, if the links of all sources have one rate. Otherwise sources that have the same
    /// to send would not have the same load.
    fn alike<'t>(&self, scene: &Scene<'t>, cast: Cast<'t>, who: &str) -> Option<Cast<'t>> {
        let mut rates = cast.sources.hosts().map(|source| scene.link(source));
        let first = rates.next();
        if rates.all(|rate| Some(rate) == first) {
            drop(rates);
            return Some(cast);
        }
        let message = format!("{who} have links of different rates");
        let problem = self.ends.sources().place.problem(message);
        let help = "a load is a share of the link: use one [[traffic]] for each rate";
        scene.sink.push(problem.help(help));
        None
    }

    /// Events per second of a source, or of all of them with `fan_in`.
    fn rate(&self, scene: &Scene<'_>, sources: impl Iterator<Item = NodeId>) -> f64 {
        let rates = sources.map(|source| scene.link(source).as_bps() as f64);
        let flows = self.fan_in.get().map_or(1.0, FanIn::mean);
        let load = self.load.copied().expect("`complete` refuses traffic without a load");
        load.0 as f64 / 1e6 * rates.sum::<f64>() / (8.0 * flows * self.sizes.mean())
    }

    /// How many flows are to be expected.
    fn estimate(&self, scene: &Scene<'_>, cast: &Cast<'_>) -> f64 {
        let flows = self.fan_in.get().map_or(1.0, FanIn::mean);
        let seconds = scene.end.saturating_sub(scene.start).as_secs_f64();
        self.rate(scene, cast.sources.hosts()) * flows * seconds
    }

    /// All flows, each source on its own.
    fn generate(&self, scene: &Scene<'_>, cast: &Cast<'_>) -> Batch {
        let mut batch = Batch::default();
        for source in cast.sources.hosts() {
            let name = &scene.topology.node(source).name;
            let shared = match self.arrivals.or(Arrivals::Independent) {
                Arrivals::Synchronous => scene.name.to_string(),
                Arrivals::Independent => format!("{}/{name}", scene.name),
            };
            let own = format!("{}/{name}/target", scene.name);
            let rate = self.rate(scene, std::iter::once(source));
            let mut targets = stream(scene.seed, &own);
            let mut sizes = stream(scene.seed, &format!("{shared}/size"));
            for (index, start) in Poisson::instants(scene, &shared, rate).enumerate() {
                let target = cast.targets.draw(&mut targets, source);
                let name = scene.flow_name(source, target, format_args!("{}", index + 1));
                let size = self.sizes.draw(&mut sizes);
                batch.flows.push(Made::new(name, [source, target], size, start));
            }
        }
        batch
    }

    /// All flows, where events gather several sources at one target.
    fn gather(&self, scene: &Scene<'_>, cast: &Cast<'_>, fan_in: FanIn) -> Batch {
        let new = |what: &str| stream(scene.seed, &format!("{}/{what}", scene.name));
        let (mut counts, mut sizes) = (new("fan_in"), new("size"));
        let (mut targets, mut sources) = (new("target"), new("source"));
        let all = Vec::from_iter(cast.targets.hosts());
        let rate = self.rate(scene, cast.sources.hosts());
        let instants = Poisson::instants(scene, scene.name, rate);
        let mut batch = Batch::default();
        for (index, start) in instants.enumerate() {
            let FanIn { least, most } = fan_in;
            let count = least + counts.below(most - least + 1);
            let target = all[targets.below(all.len() as u64) as usize];
            for source in cast.sources.draw_some(&mut sources, target, count as usize) {
                let name = scene.flow_name(source, target, format_args!("{}", index + 1));
                let size = self.sizes.draw(&mut sizes);
                batch.flows.push(Made::new(name, [source, target], size, start));
            }
        }
        batch
    }

    /// The instants of a Poisson process, from `start` on.
    fn instants(scene: &Scene<'_>, entity: &str, rate: f64) -> impl Iterator<Item = Span> + use<> {
        let mut gaps = stream(scene.seed, &format!("{entity}/gap"));
        let (mut now, end) = (scene.start, scene.end);
        std::iter::from_fn(move || {
            // A gap may be longer than any run, but not by so much that the sum overflows.
            now = now + gap(&mut gaps, rate).min(Span::s(1_000_000));
            Some(whole_ns(now)).filter(|start| *start < end)
        })
    }
}
