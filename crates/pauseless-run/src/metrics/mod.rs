//! What a run has measured, in the numbers that papers and operators compare.
//!
//! Each is defined in `docs/metrics.md`, together with what it does not mean. What has nothing to
//! say about a run is not there: a run without finite flows has no completion times.

pub mod bias;
pub mod censored;
pub mod completion;
pub mod distribution;
pub mod links;
pub mod next_hops;
pub mod statistics;

use pauseless_core::unit::Bytes;
use pauseless_sim::outcome::{CongestionTree, FlowOutcome};
use pauseless_sim::{Config, Outcome};

use completion::Completion;
use links::{LayerUse, PortUse};

/// All metrics of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Metrics {
    /// How long flows took; `None` without finite flows.
    pub completion: Option<Completion>,
    /// Jain's index over the goodput of all flows that have started.
    pub fairness: Option<Fairness>,
    /// Jain's index over the goodput in the last quarter of their lives of the flows without end that
    /// have started; `None` for fewer than two, or if none got anything.
    pub fairness_endless: Option<Fairness>,
    /// The links by the layer of their sending end, from the hosts up.
    pub layers: Vec<LayerUse>,
    /// Every port of every node, in their order.
    pub ports: Vec<PortUse>,
    /// How congestion spread, if it did.
    pub tree: Option<CongestionTree>,
    /// What was sent to tell sources something, if anything was.
    pub answers: Option<Answers>,
}

/// How evenly something is shared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fairness {
    /// The number of flows that share it.
    pub flows: usize,
    /// From 1/n, where one has everything, to 1, where all have the same.
    pub jain: f64,
}

/// The packets that tell sources something: acknowledgements and notifications of congestion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answers {
    /// How many packets of both kinds were sent.
    pub packets: u64,
    /// How many of them are acknowledgements; the others are notifications of congestion.
    pub acknowledgements: u64,
    /// Data packets that were marked on their way.
    pub marked_packets: u64,
    /// The bytes of acknowledgements and notifications, each packet counted once.
    pub bytes: Bytes,
    /// The share of these bytes in the sum of them and all delivered bytes.
    pub share: f64,
}

impl Metrics {
    /// The metrics of a run.
    pub fn of(config: &Config, outcome: &Outcome) -> Metrics {
        let ports = links::ports(config, outcome);
        Metrics {
            completion: Completion::of(config, outcome),
            fairness: fairness(config, outcome, FlowRates::All),
            fairness_endless: fairness(config, outcome, FlowRates::EndlessLate),
            layers: links::layers(config, outcome, &ports),
            ports,
            tree: Some(outcome.tree).filter(|tree| tree.links_max > 0),
            answers: answers(outcome),
        }
    }

    /// The positions of the ports with the highest utilisation, the busiest first, and none that
    /// was idle.
    pub fn busiest(&self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> =
            (0..self.ports.len()).filter(|port| self.ports[*port].sent > Bytes::ZERO).collect();
        let by_use = |a: &usize, b: &usize| {
            let (a, b) = (&self.ports[*a], &self.ports[*b]);
            b.utilisation.total_cmp(&a.utilisation)
        };
        order.sort_by(by_use);
        order.truncate(count);
        order
    }
}

/// Whether a flow has begun to send before the run was over.
pub fn has_started(outcome: &Outcome, flow: &FlowOutcome) -> bool {
    flow.start.is_some_and(|start| start < outcome.end)
}

/// Jain's index, (sum x)^2 / (n sum x^2); `None` for fewer than two, or if all are zero.
pub fn jain(rates: &[f64]) -> Option<f64> {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    (rates.len() > 1 && squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
}

/// Which flows are compared, and by which rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlowRates {
    All,
    EndlessLate,
}

fn fairness(config: &Config, outcome: &Outcome, which: FlowRates) -> Option<Fairness> {
    let flows = config.flows.iter().zip(&outcome.flows);
    let started = flows.filter(|(_, flow)| has_started(outcome, flow));
    let rates: Vec<f64> = match which {
        FlowRates::All => started.map(|(_, flow)| flow.goodput_bps).collect(),
        FlowRates::EndlessLate => started
            .filter(|(flow, _)| !flow.is_finite())
            .map(|(_, flow)| flow.goodput_late_bps)
            .collect(),
    };
    let flows = rates.len();
    jain(&rates).map(|jain| Fairness { flows, jain })
}

fn answers(outcome: &Outcome) -> Option<Answers> {
    let delivered = outcome.flows.iter().map(|flow| flow.delivered.get());
    let bytes = outcome.answer_bytes.get();
    let total = delivered.sum::<u64>() + bytes;
    (outcome.answers > 0).then(|| Answers {
        packets: outcome.answers,
        acknowledgements: outcome.acknowledgements,
        marked_packets: outcome.marked_packets,
        bytes: outcome.answer_bytes,
        share: match total {
            0 => 0.0,
            total => bytes as f64 / total as f64,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index_goes_from_one_nth_to_one() {
        assert_eq!(jain(&[5.0, 5.0, 5.0]), Some(1.0));
        assert_eq!(jain(&[8.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain(&[1.0, 3.0]), Some(0.8));
        assert_eq!(jain(&[1.0]), None);
        assert_eq!(jain(&[0.0, 0.0]), None);
        assert_eq!(jain(&[]), None);
    }
}
