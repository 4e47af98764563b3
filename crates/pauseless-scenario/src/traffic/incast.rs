//! `kind = "incast"`: many sources send to one target at once.

use pauseless_core::unit::Span;
use pauseless_fabric::topology::Topology;
use pauseless_sim::rng::Stream;

use super::super::flows::{Limits, TIMES};
use super::pool::{Cast, Ends};
use super::random::stream;
use super::scene::{Batch, Made, Scene};
use super::sizes::Sizes;
use super::{AnyKind, TrafficKind, kind};
use pauseless_text::declare::{Key, Variant};
use pauseless_text::quantity::plural;
use pauseless_text::section;

section! {
    /// Several sources send a flow each to one target, all at once.
    pub struct Incast {
        /// The number of sources, drawn each time.
        degree: u64, within 1..=1_000_000, derived "all `sources`";
        ends: Ends, keys inline;
        /// The time from one to the next.
        interval: Span, within Span::ns(1)..=*TIMES.end(),
            needed |keys| keys.repeat.or(1) > 1, "\"1 ms\", the time from one to the next",
            derived "required if it repeats";
        /// Each flow starts up to this much later, by the seed; without it all start at once, and a
        /// seed decides little more than hashes.
        jitter: Span, within TIMES, default Span::ZERO, written if_changed;
        /// How often it happens at most.
        repeat: u64, within 1..=u64::from(u32::MAX),
            derived "until `stop` with an `interval`, else once";
        sizes: Sizes, keys inline;
    }
}

pub(super) static INCAST: Variant<AnyKind> = kind::<Incast>("incast");

impl TrafficKind for Incast {
    fn complete(&mut self, limits: Limits<'_>) -> Option<()> {
        // The sources of an incast are who was named: a neighbour of the target is one of them.
        if self.ends.other_rack.given.is_none() {
            self.ends.other_rack = Key::of(false);
        }
        self.ends.complete(limits);
        // With an interval and without this it goes on until the end, whenever that is.
        if self.interval.given.is_none() && self.repeat.given.is_none() {
            self.repeat = Key::of(1);
        }
        self.sizes.complete(limits)
    }

    fn flows(&self, scene: &Scene<'_>) -> Option<Batch> {
        let cast = self.cast(scene)?;
        let count = self.estimate(scene, &cast);
        Some(Batch::about(count, || self.generate(scene, &cast)))
    }

    fn pairs(&self, scene: &Scene<'_>) -> Option<Batch> {
        Some(scene.pairs_of(&self.cast(scene)?, self.sizes.range()))
    }

    fn warning(&self, topology: &Topology) -> Option<String> {
        // With a degree that many are drawn from the others, or it is an error that there are fewer.
        if self.degree.given.is_some() {
            return None;
        }
        let (target, others) = self.ends.own_target(topology)?;
        let others = plural(others as u64, "other source");
        Some(format!("the target {target} is among its sources, and only the {others} send to it"))
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn is_cut_off(&self) -> bool {
        false
    }
}

impl Incast {
    fn cast<'t>(&self, scene: &Scene<'t>) -> Option<Cast<'t>> {
        self.ends.cast_to_targets(scene, self.degree.or(1))
    }

    /// How often it happens before the end.
    fn count(&self, scene: &Scene<'_>) -> u64 {
        let span = scene.end.saturating_sub(scene.start).as_ps();
        let fitting = match self.interval.copied() {
            None => u64::from(span > 0),
            Some(interval) => span.div_ceil(interval.as_ps()),
        };
        fitting.min(self.repeat.or(u64::MAX))
    }

    /// How many flows are to be expected.
    fn estimate(&self, scene: &Scene<'_>, cast: &Cast<'_>) -> f64 {
        let each = self.degree.or(cast.sources.len() as u64);
        self.count(scene) as f64 * each as f64
    }

    /// When a flow starts that could start at `start`.
    fn later(&self, offsets: &mut Stream, start: Span) -> Span {
        match self.jitter.value.as_ps() {
            0 => start,
            jitter => start + Span::ps(offsets.below(jitter)),
        }
    }

    fn generate(&self, scene: &Scene<'_>, cast: &Cast<'_>) -> Batch {
        let new = |what: &str| stream(scene.seed, &format!("{}/{what}", scene.name));
        let (mut sizes, mut targets, mut sources) = (new("size"), new("target"), new("source"));
        let mut offsets = new("jitter");
        let all = Vec::from_iter(cast.targets.hosts());
        // No flow of an incast that begins before the end is put off beyond it.
        let last = scene.end.saturating_sub(Span::ps(1));
        let mut batch = Batch::default();
        for turn in 0..self.count(scene) {
            let target = all[targets.below(all.len() as u64) as usize];
            let count = cast.sources.partner_count(target);
            let count = self.degree.copied().map_or(count, |degree| degree as usize);
            let start = scene.start + self.interval.or(Span::ZERO) * turn;
            for source in cast.sources.draw_some(&mut sources, target, count) {
                let name = scene.flow_name(source, target, format_args!("{}", turn + 1));
                let size = self.sizes.draw(&mut sizes);
                let start = self.later(&mut offsets, start).min(last);
                batch.flows.push(Made::new(name, [source, target], size, start));
            }
        }
        batch
    }
}
