//! Closed loops: a source starts its next flow when the last one is finished.

use pauseless_core::unit::{Rate, Span};

use super::super::flows::TIMES;
use super::super::reader::Section;
use super::pool::{Cast, Ends};
use super::random::stream;
use super::sizes::Sizes;
use super::{Batch, FLOWS_MAX, Link, Made, Scene};

/// `kind = "closed-loop"`.
#[derive(Clone, Debug)]
pub(super) struct ClosedLoop {
    pub ends: Ends,
    pub sizes: Sizes,
    pub think: Span,
    pub parallel: u64,
}

impl ClosedLoop {
    /// Reads its own keys.
    pub(super) fn read(section: &mut Section<'_>, sizes: Option<Sizes>) -> Option<ClosedLoop> {
        let think = section.quantity_within("think", TIMES);
        let parallel = section.integer("parallel", 1..=10_000);
        Some(ClosedLoop {
            ends: Ends::read(section),
            think: think.map_or(Span::ZERO, |think| think.value),
            parallel: parallel.map_or(1, |parallel| parallel.value),
            sizes: sizes?,
        })
    }

    /// Who takes part.
    pub(super) fn cast<'t>(&self, scene: &Scene<'t>) -> Option<Cast<'t>> {
        self.ends.cast_from_sources(scene)
    }

    /// How many flows are to be expected.
    pub(super) fn estimate(&self, scene: &Scene<'_>, cast: &Cast<'_>) -> f64 {
        let seconds = scene.end.saturating_sub(scene.start).as_secs_f64();
        let last = self.sizes.mean_of(|size| scene.last_packet(size));
        let paced = (self.sizes.mean() - last).max(0.0);
        let chains = cast.sources.hosts().map(|source| {
            let span = |bytes: f64, rate: Rate| 8.0 * bytes / rate.as_bps() as f64;
            let sending = span(paced, scene.pace(source)) + span(last, scene.link(source));
            let each = sending + self.think.as_secs_f64();
            seconds / each + 1.0
        });
        chains.sum::<f64>() * self.parallel as f64
    }

    /// All flows. A chain goes on until its flows would last beyond the end even if each were
    /// sent as fast as its pace and its link allow, so that no run can ever come to the end of a chain:
    /// what is left of it then does not start.
    pub(super) fn generate(&self, scene: &Scene<'_>, cast: &Cast<'_>) -> Batch {
        let mut batch = Batch::default();
        for source in cast.sources.hosts() {
            let name = &scene.topology.node(source).name;
            for chain in 1..=self.parallel {
                let new =
                    |what| stream(scene.seed, &format!("{}/{name}/{chain}/{what}", scene.name));
                let (mut sizes, mut targets) = (new("size"), new("target"));
                let mut earliest = scene.start;
                let mut number = 1;
                while earliest < scene.end && batch.flows.len() <= FLOWS_MAX {
                    let target = cast.targets.draw(&mut targets, source);
                    let size = self.sizes.draw(&mut sizes);
                    let then = batch.flows.len() as u32;
                    batch.flows.push(Made {
                        name: scene.flow_name(source, target, format_args!("{chain}.{number}")),
                        source,
                        target,
                        size,
                        start: scene.start,
                    });
                    if number > 1 {
                        batch.follows.push(Link {
                            first: then - 1,
                            then,
                            delay: self.think,
                        });
                    }
                    let sending = scene.lasts(source, size).min(*TIMES.end());
                    earliest = earliest + sending + self.think;
                    number += 1;
                }
            }
        }
        batch
    }
}
