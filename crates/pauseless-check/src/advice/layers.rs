//! Layered routing of our own as a proposal.

use pauseless_fabric::dependency::{Lane, Traffic};
use pauseless_fabric::load::Load;
use pauseless_fabric::routing::layered::{self, Options};

use super::{Change, Outcome, Proposal, Trial, is_cyclic};

/// The routes of `routing::layered`, checked layer by layer.
pub(super) fn proposal(trial: &Trial<'_>) -> Proposal {
    let groups = &trial.fabric.routes.groups;
    let layered = layered::route(&trial.fabric.topology, groups, Options::default());
    let traffic = Traffic::AllPairs(vec![Lane::ONLY]);
    let load = Load::of(trial.network(&layered.routes, &traffic), &trial.marks);
    let has_cycle = |layer: &u8| {
        let routes = layered.layer(*layer);
        is_cyclic(trial.network(&routes, &traffic), &trial.marks)
    };
    let outcome = Outcome {
        lost: load.lost,
        given_up: 0,
        load: load.largest,
        cyclic_classes: (0..layered.layers).filter(has_cycle).count() as u8,
        classes: layered.layers,
    };
    trial.proposal(Change::Layers(Box::new(layered)), outcome)
}
