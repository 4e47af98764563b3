//! What flows got of what was fair.

use pauseless_fabric::fairness::{FairFlow, max_min_rates};
use pauseless_fabric::trace::{Header, trace};
use pauseless_sim::config::{Config, Flow};

use crate::Run;

/// The goodput of each flow in the last quarter of its life, in percent of its max-min fair rate when
/// all flows send.
pub fn shares(run: &Run) -> Vec<f64> {
    let config = &run.scenario.config;
    let fair = fair_rates(config, config.flows.iter());
    let rates = run.outcome.flows.iter().map(|flow| flow.goodput_late_bps);
    rates.zip(fair).map(|(rate, fair)| 100.0 * rate / fair).collect()
}

/// What decides the way of a flow's packets.
pub fn header(flow: &Flow) -> Header {
    Header { source: flow.source, group: flow.group, hash: flow.hash }
}

/// The max-min fair rates of `flows`, in bit/s, if they send and no others do.
pub fn fair_rates<'f>(config: &Config, flows: impl Iterator<Item = &'f Flow>) -> Vec<f64> {
    let flows = flows.map(|flow| {
        let path = trace(&config.topology, &config.table, header(flow));
        FairFlow {
            path: path.expect("a flow that was accepted has a route"),
            demand: Some(flow.pace),
        }
    });
    let flows = Vec::from_iter(flows);
    max_min_rates(&flows, |node, port| config.topology.port(node, port).rate)
}
