//! How long finite flows took, and how much longer than alone.

use std::collections::BTreeSet;
use std::fmt;

use pauseless_core::id::{Class, PortId};
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_sim::config::Flow;
use pauseless_sim::outcome::FlowOutcome;
use pauseless_sim::{Config, Outcome};

use super::censored::Censored;
use super::distribution::Distribution;
use super::has_started;

/// The completion of all finite flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// Finished flows per second of simulated time.
    pub flows_per_s: f64,
    /// The counts and times of all finite flows together.
    pub all: Group,
    /// The flows of each size range, without ranges that no flow is in; empty if all are in one.
    pub by_size: Vec<(SizeRange, Group)>,
    /// The flows of each traffic class; empty if all are in one.
    pub by_class: Vec<(Class, Group)>,
}

/// The counts and times of a group of finite flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Flows whose target has received everything.
    pub finished: usize,
    /// Flows that have started and not finished, also because they were stopped or lost a packet.
    pub unfinished: usize,
    /// Flows that have not started before the end of the run.
    pub not_started: usize,
    /// Completion times of those that have started, in picoseconds.
    pub fct: Censored<u64>,
    /// Their completion times as multiples of those in an empty network.
    pub slowdown: Censored<f64>,
}

/// A range of flow sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeRange {
    /// The least size in it.
    pub min: Bytes,
    /// The least size above it; `None` if there is no limit.
    pub below: Option<Bytes>,
}

impl SizeRange {
    /// The ranges of PCN's Table 1.
    //= pcn20 table 1
    pub const ALL: [SizeRange; 4] = [
        SizeRange::new(Bytes::ZERO, Some(Bytes::kb(10))),
        SizeRange::new(Bytes::kb(10), Some(Bytes::kb(100))),
        SizeRange::new(Bytes::kb(100), Some(Bytes::mb(1))),
        SizeRange::new(Bytes::mb(1), None),
    ];

    pub(crate) const fn new(min: Bytes, below: Option<Bytes>) -> SizeRange {
        SizeRange { min, below }
    }

    /// Whether a flow of this size is in it.
    pub fn contains(&self, size: Bytes) -> bool {
        size >= self.min && self.below.is_none_or(|below| size < below)
    }
}

impl fmt::Display for SizeRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.min, self.below) {
            (min, None) => write!(f, "{min} and more"),
            (Bytes::ZERO, Some(below)) => write!(f, "below {below}"),
            (min, Some(below)) => write!(f, "{min} to {below}"),
        }
    }
}

/// A finite flow and what became of it.
type Ended<'a> = (&'a Flow, &'a FlowOutcome);

impl Completion {
    /// The completion of the flows of a run; `None` without finite flows.
    pub fn of(config: &Config, outcome: &Outcome) -> Option<Completion> {
        let flows = config.flows.iter().zip(&outcome.flows);
        let finite: Vec<Ended<'_>> = flows.filter(|(flow, _)| flow.is_finite()).collect();
        if finite.is_empty() {
            return None;
        }
        let all = Group::of(config, outcome, finite.iter().copied());
        let by_size = SizeRange::ALL.into_iter().map(|range| {
            let members = finite.iter().copied().filter(|(flow, _)| range.contains(flow.size));
            (range, Group::of(config, outcome, members))
        });
        let by_size: Vec<_> = by_size.filter(|(_, group)| group.count() > 0).collect();
        let classes: BTreeSet<Class> = finite.iter().map(|(flow, _)| flow.class).collect();
        let by_class: Vec<_> = classes
            .into_iter()
            .map(|class| {
                let members = finite.iter().copied().filter(|(flow, _)| flow.class == class);
                (class, Group::of(config, outcome, members))
            })
            .collect();
        let seconds = (outcome.end - Time::ZERO).as_secs_f64();
        Some(Completion {
            flows_per_s: match seconds {
                0.0 => 0.0,
                seconds => all.finished as f64 / seconds,
            },
            all,
            by_size: some_if_several(by_size),
            by_class: some_if_several(by_class),
        })
    }
}

impl Group {
    /// The completion of these flows.
    pub fn of<'a>(
        config: &Config,
        outcome: &Outcome,
        flows: impl Iterator<Item = (&'a Flow, &'a FlowOutcome)>,
    ) -> Group {
        let mut not_started = 0;
        let (mut spans, mut slowdowns) = (Vec::new(), Vec::new());
        // The best cases of flows that have not finished.
        let (mut least_spans, mut least_slowdowns) = (Vec::new(), Vec::new());
        for (flow, found) in flows {
            if let Some(span) = fct(found) {
                spans.push(span.as_ps());
                slowdowns.extend(slowdown(found));
            } else if let Some(span) = fct_best(config, outcome, flow, found) {
                least_spans.push(span.as_ps());
                least_slowdowns.extend(multiple(span, found.ideal));
            } else {
                not_started += 1;
            }
        }
        let (finished, unfinished) = (spans.len(), least_spans.len());
        let best_spans = (unfinished > 0).then(|| [&spans[..], &least_spans].concat());
        let best_slowdowns = (unfinished > 0).then(|| [&slowdowns[..], &least_slowdowns].concat());
        Group {
            finished,
            unfinished,
            not_started,
            fct: Censored {
                finished: Distribution::<u64>::of(spans),
                best: best_spans.and_then(Distribution::<u64>::of),
            },
            slowdown: Censored {
                finished: Distribution::<f64>::of(slowdowns),
                best: best_slowdowns.and_then(Distribution::<f64>::of),
            },
        }
    }

    /// How many flows there are.
    pub fn count(&self) -> usize {
        self.finished + self.unfinished + self.not_started
    }
}

/// The completion time of a flow: from its start until its target has everything.
pub fn fct(flow: &FlowOutcome) -> Option<Span> {
    Some(flow.finish? - flow.start?)
}

/// The completion time as a multiple of that in an empty network.
pub fn slowdown(flow: &FlowOutcome) -> Option<f64> {
    multiple(fct(flow)?, flow.ideal)
}

/// The least completion time that a flow can have which has started and not finished before the end
/// of the run; `None` if it has not started.
///
/// It has lived until the end, its target's link needs time for what is missing, and no flow is
/// faster than in an empty network. The last bits of one more packet may be arriving at the end.
pub fn fct_best(
    config: &Config,
    outcome: &Outcome,
    flow: &Flow,
    found: &FlowOutcome,
) -> Option<Span> {
    let start = found.start.filter(|_| has_started(outcome, found))?;
    let missing = flow.size.saturating_sub(found.delivered).saturating_sub(flow.packet);
    let link = config.topology.port(flow.target, PortId(0));
    // What waits in a host that takes packets by its own pace may be taken at once.
    let is_slow = config.receivers.iter().any(|receiver| receiver.host == flow.target);
    let missing = if is_slow { Bytes::ZERO } else { missing };
    let rest = config.line(link.peer, link.peer_port).tx_span(missing);
    let span = Span::ps((outcome.end - start).as_ps().saturating_add(rest.as_ps()));
    Some(found.ideal.max(span))
}

fn multiple(span: Span, ideal: Span) -> Option<f64> {
    (ideal > Span::ZERO).then(|| span.as_ps() as f64 / ideal.as_ps() as f64)
}

/// One group is the same as all.
fn some_if_several<T>(groups: Vec<T>) -> Vec<T> {
    match groups.len() {
        1 => Vec::new(),
        _ => groups,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    //= pcn20 table 1 type=test
    #[test]
    fn every_size_is_in_one_range() {
        let sizes = [
            (1, 0),
            (9_999, 0),
            (10_000, 1),
            (99_999, 1),
            (100_000, 2),
            (999_999, 2),
            (1_000_000, 3),
            (u64::MAX - 1, 3),
        ];
        for (size, expected) in sizes {
            let found: Vec<bool> =
                SizeRange::ALL.iter().map(|range| range.contains(Bytes::new(size))).collect();
            let wanted: Vec<bool> = (0..4).map(|range| range == expected).collect();
            assert_eq!(found, wanted, "{size}");
        }
    }
}
