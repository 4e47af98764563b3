//! The completion of the flows from some hosts.

use std::collections::BTreeSet;

use super::file::Group;
use crate::metrics::completion;
use crate::problem::Sink;
use crate::report::Run;
use crate::sample::{self, Add};
use crate::scenario::hosts::HostSpan;

/// Adds the completion of the finite flows from the hosts of `group`.
pub(super) fn completion(run: &Run, group: &Group, add: Add<'_>) -> Result<(), String> {
    let topology = run.topology();
    let mut sources = BTreeSet::new();
    for text in group.sources.iter() {
        let sink = Sink::default();
        let span = HostSpan::read(topology, &sink, text);
        let span = span.ok_or_else(|| format!("group {}: no host {:?}", group.name, text.value))?;
        sources.extend(span.places().map(|place| topology.hosts()[place]));
    }
    let flows = run.scenario.config.flows.iter().zip(&run.outcome.flows);
    let members = flows.filter(|(flow, _)| flow.is_finite() && sources.contains(&flow.source));
    let members = completion::Group::of(&run.outcome, members);
    sample::group(&format!(".{}", group.name), &members, add);
    Ok(())
}
