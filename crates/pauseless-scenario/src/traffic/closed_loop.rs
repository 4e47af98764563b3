//! Closed loops: a source starts its next flow when the last one is finished.

use pauseless_core::unit::{Rate, Span};

use super::super::flows::{Limits, TIMES};
use super::pool::{Cast, Ends};
use super::random::stream;
use super::scene::{Batch, FLOWS_MAX, Link, Made, Scene};
use super::sizes::Sizes;
use super::{AnyKind, TrafficKind, kind};
use pauseless_text::declare::Variant;
use pauseless_text::section;

section! {
    /// Every source has one flow at a time to a random target, and starts the next when it is
    /// finished.
    pub struct ClosedLoop {
        ends: Ends, keys inline except target;
        /// The time between two of them.
        think: Span, within TIMES, default Span::ZERO;
        /// The number of flows that each source has at a time.
        parallel: u64, within 1..=10_000, default 1;
        sizes: Sizes, keys inline;
    }
}

pub(super) static CLOSED_LOOP: Variant<AnyKind> = kind::<ClosedLoop>("closed-loop");

impl TrafficKind for ClosedLoop {
    fn complete(&mut self, limits: Limits<'_>) -> Option<()> {
        self.ends.complete(limits);
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
}

impl ClosedLoop {
    fn cast<'t>(&self, scene: &Scene<'t>) -> Option<Cast<'t>> {
        self.ends.cast_from_sources(scene)
    }

    /// How many flows are to be expected.
    fn estimate(&self, scene: &Scene<'_>, cast: &Cast<'_>) -> f64 {
        let seconds = scene.end.saturating_sub(scene.start).as_secs_f64();
        let last = self.sizes.mean_of(|size| scene.last_packet(size));
        let paced = (self.sizes.mean() - last).max(0.0);
        let chains = cast.sources.hosts().map(|source| {
            let span = |bytes: f64, rate: Rate| 8.0 * bytes / rate.as_bps() as f64;
            let sending = span(paced, scene.pace(source)) + span(last, scene.link(source));
            let each = sending + self.think.value.as_secs_f64();
            seconds / each + 1.0
        });
        chains.sum::<f64>() * self.parallel.value as f64
    }

    /// All flows. A chain goes on until its flows would last beyond the end even if each were
    /// sent as fast as its pace and its link allow, so that no run can ever come to the end of a chain:
    /// what is left of it then does not start.
    fn generate(&self, scene: &Scene<'_>, cast: &Cast<'_>) -> Batch {
        let mut batch = Batch::default();
        for source in cast.sources.hosts() {
            let name = &scene.topology.node(source).name;
            for chain in 1..=self.parallel.value {
                let new =
                    |what| stream(scene.seed, &format!("{}/{name}/{chain}/{what}", scene.name));
                let (mut sizes, mut targets) = (new("size"), new("target"));
                let mut earliest = scene.start;
                let mut number = 1;
                while earliest < scene.end && batch.flows.len() <= FLOWS_MAX {
                    let target = cast.targets.draw(&mut targets, source);
                    let size = self.sizes.draw(&mut sizes);
                    let then = batch.flows.len() as u32;
                    let name = scene.flow_name(source, target, format_args!("{chain}.{number}"));
                    let made = Made::new(name, [source, target], size, scene.start);
                    batch.flows.push(made);
                    if number > 1 {
                        batch.follows.push(Link { first: then - 1, then, delay: self.think.value });
                    }
                    let sending = scene.lasts(source, size).min(*TIMES.end());
                    earliest = earliest + sending + self.think.value;
                    number += 1;
                }
            }
        }
        batch
    }
}
