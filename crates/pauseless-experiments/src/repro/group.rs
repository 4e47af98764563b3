//! The flows from some hosts.

use std::collections::BTreeSet;

use pauseless_core::id::NodeId;

use super::file::Group;
use pauseless_run::Run;
use pauseless_run::metrics::completion;
use pauseless_scenario::hosts::HostSpan;
use pauseless_text::problem::Sink;

/// The hosts of `group`.
pub(super) fn sources(run: &Run, group: &Group) -> Result<BTreeSet<NodeId>, String> {
    let topology = run.topology();
    let mut sources = BTreeSet::new();
    for text in group.sources.iter() {
        let sink = Sink::default();
        let span = HostSpan::read(topology, &sink, text);
        let span = span.ok_or_else(|| format!("group {}: no host {:?}", group.name, text.value))?;
        sources.extend(span.places().map(|place| topology.hosts()[place]));
    }
    Ok(sources)
}

/// The completion of the finite flows from these hosts.
pub(super) fn completion(run: &Run, sources: &BTreeSet<NodeId>) -> completion::Group {
    let flows = run.scenario.config.flows.iter().zip(&run.outcome.flows);
    let members = flows.filter(|(flow, _)| flow.is_finite() && sources.contains(&flow.source));
    completion::Group::of(&run.scenario.config, &run.outcome, members)
}
