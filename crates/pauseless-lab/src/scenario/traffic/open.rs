//! Traffic that comes whatever the network does: Poisson arrivals, and incasts.

use std::ops::RangeInclusive;

use pauseless_core::id::NodeId;
use pauseless_core::unit::Span;

use super::super::flows::TIMES;
use super::super::reader::{At, Item, Section};
use super::super::unit::Quantity;
use super::pool::{Cast, Ends, Pool};
use super::random::{gap, stream, whole_ns};
use super::sizes::Sizes;
use super::{Batch, Made, Scene};

/// A share of a link, in parts of a million.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load(u64);

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

/// Twice what a link can carry is a way to ask what happens then; more is a mistake.
const LOADS: RangeInclusive<Load> = Load(1)..=Load(2_000_000);

/// How the arrivals of different sources belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrivals {
    /// Not at all.
    Independent,
    /// All sources share one sequence of instants and sizes.
    //= pcn20 7.2
    Synchronous,
    /// So many different sources send to one target at once.
    //= pcn20 7.4
    FanIn(u64, u64),
}

/// `kind = "poisson"`.
#[derive(Clone, Debug)]
pub(super) struct Poisson {
    pub load: Load,
    pub ends: Ends,
    pub sizes: Sizes,
    pub arrivals: Arrivals,
}

impl Poisson {
    /// Reads its own keys.
    pub(super) fn read(section: &mut Section<'_>, sizes: Option<Sizes>) -> Option<Poisson> {
        let has_load = section.has("load");
        let load = section.quantity_within("load", LOADS);
        if !has_load {
            section.missing("load", "\"60 %\"");
        }
        let ways = [
            ("independent", Arrivals::Independent),
            ("synchronous", Arrivals::Synchronous),
        ];
        let arrivals = section.choice("arrivals", &ways);
        let ends = Ends::read(section);
        let fan_in = section.take("fan_in");
        let arrivals = match (arrivals, fan_in) {
            (Some(At { place, .. }), Some(_)) => {
                let problem = place.problem("fan_in has arrivals of its own");
                section.report(problem.help("keep one of arrivals and fan_in"));
                return None;
            }
            (Some(arrivals), None) => arrivals.value,
            (None, None) => Arrivals::Independent,
            (None, Some(item)) => read_fan_in(section, item)?,
        };
        Some(Poisson {
            load: load?.value,
            ends,
            sizes: sizes?,
            arrivals,
        })
    }

    /// Who takes part.
    pub(super) fn cast<'t>(&self, scene: &Scene<'t>) -> Option<Cast<'t>> {
        match self.arrivals {
            Arrivals::Independent => self.ends.cast_from_sources(scene),
            Arrivals::FanIn(_, most) => {
                let cast = self.ends.cast_to_targets(scene, most)?;
                self.alike(scene, cast, "sources of a fan_in")
            }
            Arrivals::Synchronous => {
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
        let problem = self.ends.sources.place.problem(message);
        let help = "a load is a share of the link: use one [[traffic]] for each rate";
        scene.sink.push(problem.help(help));
        None
    }

    /// Events per second of a source, or of all of them with `fan_in`.
    fn rate(&self, scene: &Scene<'_>, sources: impl Iterator<Item = NodeId>) -> f64 {
        let rates = sources.map(|source| scene.link(source).as_bps() as f64);
        let flows = match self.arrivals {
            Arrivals::FanIn(least, most) => (least + most) as f64 / 2.0,
            _ => 1.0,
        };
        self.load.0 as f64 / 1e6 * rates.sum::<f64>() / (8.0 * flows * self.sizes.mean())
    }

    /// How many flows are to be expected.
    pub(super) fn estimate(&self, scene: &Scene<'_>, cast: &Cast<'_>) -> f64 {
        let flows = match self.arrivals {
            Arrivals::FanIn(least, most) => (least + most) as f64 / 2.0,
            _ => 1.0,
        };
        let seconds = scene.end.saturating_sub(scene.start).as_secs_f64();
        self.rate(scene, cast.sources.hosts()) * flows * seconds
    }

    /// All flows.
    pub(super) fn generate(&self, scene: &Scene<'_>, cast: &Cast<'_>) -> Batch {
        let mut batch = Batch::default();
        match self.arrivals {
            Arrivals::FanIn(least, most) => {
                self.gather(scene, cast, (least, most)).fill(&mut batch)
            }
            arrivals => {
                for source in cast.sources.hosts() {
                    let name = &scene.topology.node(source).name;
                    let shared = match arrivals {
                        Arrivals::Synchronous => scene.name.to_string(),
                        _ => format!("{}/{name}", scene.name),
                    };
                    let own = format!("{}/{name}/target", scene.name);
                    let rate = self.rate(scene, std::iter::once(source));
                    let mut targets = stream(scene.seed, &own);
                    let mut sizes = stream(scene.seed, &format!("{shared}/size"));
                    let instants = Poisson::instants(scene, &shared, rate);
                    for (index, start) in instants.enumerate() {
                        let target = cast.targets.draw(&mut targets, source);
                        batch.flows.push(Made {
                            name: scene.flow_name(source, target, format_args!("{}", index + 1)),
                            source,
                            target,
                            size: self.sizes.draw(&mut sizes),
                            start,
                        });
                    }
                }
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

    fn gather<'g>(
        &'g self,
        scene: &'g Scene<'g>,
        cast: &'g Cast<'g>,
        range: (u64, u64),
    ) -> Gather<'g> {
        Gather {
            poisson: self,
            scene,
            cast,
            range,
        }
    }
}

/// Events that gather several sources at one target.
struct Gather<'g> {
    poisson: &'g Poisson,
    scene: &'g Scene<'g>,
    cast: &'g Cast<'g>,
    range: (u64, u64),
}

impl Gather<'_> {
    fn fill(self, batch: &mut Batch) {
        let (scene, cast) = (self.scene, self.cast);
        let new = |what: &str| stream(scene.seed, &format!("{}/{what}", scene.name));
        let (mut counts, mut sizes) = (new("fan_in"), new("size"));
        let (mut targets, mut sources) = (new("target"), new("source"));
        let all = Vec::from_iter(cast.targets.hosts());
        let rate = self.poisson.rate(scene, cast.sources.hosts());
        let instants = Poisson::instants(scene, scene.name, rate);
        for (index, start) in instants.enumerate() {
            let (least, most) = self.range;
            let count = least + counts.below(most - least + 1);
            let target = all[targets.below(all.len() as u64) as usize];
            for source in cast.sources.draw_some(&mut sources, target, count as usize) {
                batch.flows.push(Made {
                    name: scene.flow_name(source, target, format_args!("{}", index + 1)),
                    source,
                    target,
                    size: self.poisson.sizes.draw(&mut sizes),
                    start,
                });
            }
        }
    }
}

/// Reads `fan_in = [1, 15]`.
fn read_fan_in(section: &Section<'_>, item: Item<'_>) -> Option<Arrivals> {
    let place = item.place.clone();
    let [least, most] = item.pair("the fewest and the most sources, as in [1, 15]")?;
    let (least, most) = (least.integer(1..=1_000_000), most.integer(1..=1_000_000));
    let (least, most) = (least?.value, most?.value);
    if least > most {
        let problem = place.problem(format!("{least} is more than {most}"));
        section.report(problem.expected("the fewest first, then the most"));
        return None;
    }
    Some(Arrivals::FanIn(least, most))
}

/// `kind = "incast"`.
#[derive(Clone, Debug)]
pub(super) struct Incast {
    pub degree: Option<u64>,
    pub ends: Ends,
    pub is_one_target: bool,
    pub sizes: Sizes,
    pub interval: Option<Span>,
    pub repeat: Option<u64>,
}

impl Incast {
    /// Reads its own keys.
    pub(super) fn read(section: &mut Section<'_>, sizes: Option<Sizes>) -> Option<Incast> {
        let degree = section.integer("degree", 1..=1_000_000);
        let has_both = section.has("target") && section.has("targets");
        let target = section.string("target");
        let mut ends = Ends::read(section);
        // The sources of an incast are who was named: a neighbour of the target is one of them.
        ends.other_rack = Some(ends.other_rack.unwrap_or(false));
        if let Some(target) = target.as_ref().filter(|_| has_both) {
            let problem = target.place.problem("both target and targets are written");
            section.report(problem.help("keep one of them"));
        }
        let is_one_target = target.is_some();
        if let Some(target) = target {
            ends.targets = Pool::of(target);
        }
        let has_interval = section.has("interval");
        let interval = section.quantity_within("interval", Span::ns(1)..=*TIMES.end());
        let repeat = section.integer("repeat", 1..=u64::from(u32::MAX));
        if let (false, Some(repeat)) = (has_interval, &repeat)
            && repeat.value > 1
        {
            section.missing("interval", "\"1 ms\", the time from one to the next");
        }
        Some(Incast {
            degree: degree.map(|degree| degree.value),
            ends,
            is_one_target,
            sizes: sizes?,
            interval: interval.map(|interval| interval.value),
            repeat: repeat.map(|repeat| repeat.value),
        })
    }

    /// Who takes part.
    pub(super) fn cast<'t>(&self, scene: &Scene<'t>) -> Option<Cast<'t>> {
        self.ends.cast_to_targets(scene, self.degree.unwrap_or(1))
    }

    /// How often it happens before the end.
    pub(super) fn count(&self, scene: &Scene<'_>) -> u64 {
        let span = scene.end.saturating_sub(scene.start).as_ps();
        let fitting = match self.interval {
            None => u64::from(span > 0),
            Some(interval) => span.div_ceil(interval.as_ps()),
        };
        fitting.min(self.repeat.unwrap_or(u64::MAX))
    }

    /// How many flows are to be expected.
    pub(super) fn estimate(&self, scene: &Scene<'_>, cast: &Cast<'_>) -> f64 {
        let each = self.degree.unwrap_or(cast.sources.len() as u64);
        self.count(scene) as f64 * each as f64
    }

    /// All flows.
    pub(super) fn generate(&self, scene: &Scene<'_>, cast: &Cast<'_>) -> Batch {
        let new = |what: &str| stream(scene.seed, &format!("{}/{what}", scene.name));
        let (mut sizes, mut targets, mut sources) = (new("size"), new("target"), new("source"));
        let all = Vec::from_iter(cast.targets.hosts());
        let mut batch = Batch::default();
        for turn in 0..self.count(scene) {
            let target = all[targets.below(all.len() as u64) as usize];
            let count = cast.sources.partner_count(target);
            let count = self.degree.map_or(count, |degree| degree as usize);
            let start = scene.start + self.interval.unwrap_or(Span::ZERO) * turn;
            for source in cast.sources.draw_some(&mut sources, target, count) {
                batch.flows.push(Made {
                    name: scene.flow_name(source, target, format_args!("{}", turn + 1)),
                    source,
                    target,
                    size: self.sizes.draw(&mut sizes),
                    start,
                });
            }
        }
        batch
    }
}
