//! All nodes in one thread, under one clock.

use std::time::{Duration, Instant};

use pauseless_core::unit::{Span, Time};
use pauseless_dataplane::bed::{Bed, BedNode, Machine};
use pauseless_dataplane::clock::Pace;
use pauseless_dataplane::host::HostNode;
use pauseless_dataplane::report::NodeReport;
use pauseless_dataplane::switch::SwitchNode;
use pauseless_sim::outcome::Ended;

use super::outcome::Measurements;
use super::plan::{self, NodeConfig, NodePlan};
use super::wires::{self, Wires};
use super::{BedError, Options, Watch, WireFacts, taps, tick};
use crate::report::{Progress, Run};
use crate::scenario::Scenario;

/// Runs `scenario` on real frames until its end, or until `watch` breaks it off.
pub(super) fn measure(
    scenario: Scenario,
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<(Run, WireFacts), BedError> {
    let plan_options = plan::Options {
        envelope: options.envelope,
        slack: SLACK,
    };
    let plans = plan::nodes(&scenario.config, &plan_options)?;
    let tick = tick::of(&scenario)?;
    let wires = wires::lay(&plans, options.backend).map_err(BedError::Wires)?;
    let begin = Instant::now();
    let end = Time::ZERO + scenario.config.duration;
    // The namespaces live until the run is over, so that one can look inside.
    let Wires { links, namespaces } = wires;
    let nodes = plans
        .iter()
        .zip(links)
        .map(|(plan, links)| node(plan, links));
    let mut nodes = Vec::from_iter(nodes);
    let capture = options.pcap.as_deref();
    let capture = capture.map(|path| taps::lay(&mut nodes, &plans, path));
    let capture = capture.transpose().map_err(BedError::Files)?;
    let mut bed = Bed::new(nodes, Pace::Elastic(tick));
    let mut ended = Ended::Duration;
    let mut messages = Vec::new();
    let mut steps = 0u32;
    let mut seen = begin;
    while bed.now() < end {
        bed.step();
        steps += 1;
        if steps.is_multiple_of(STEPS_PER_LOOK) {
            messages.append(&mut bed.take_messages());
            let now = bed.now();
            if seen.elapsed() >= SEEN_EVERY {
                seen = Instant::now();
                watch.see(&plans, statuses(&mut bed));
            }
            if watch.progress(Progress { now, end }).is_break() {
                ended = Ended::Interrupted;
                break;
            }
        }
    }
    messages.append(&mut bed.take_messages());
    let measurements = Measurements {
        reports: bed.reports(),
        deadlock: bed.deadlock().cloned(),
        ended,
    };
    drop(namespaces);
    let mut facts = WireFacts::of(&scenario, &measurements.reports);
    facts.backend = options.backend.name();
    facts.clock = "elastic";
    facts.vanished = bed.vanished();
    facts.messages = messages;
    facts
        .messages
        .extend(tick::remark_of_delays(&scenario.config, tick));
    if let Some(capture) = capture {
        capture.finish().map_err(BedError::Files)?;
    }
    let run = super::run_of(scenario, &measurements, begin.elapsed().as_secs_f64());
    Ok((run, facts))
}

/// How all nodes stand, without their recordings.
fn statuses(bed: &mut Bed) -> Vec<NodeReport> {
    let now = bed.now();
    let nodes = bed.nodes_mut().map(|machine| match machine {
        Machine::Switch(switch) => switch.status(now),
        Machine::Host(host) => host.status(now),
    });
    nodes.collect()
}

fn node(plan: &NodePlan, mut links: Vec<Box<dyn pauseless_dataplane::link::Link>>) -> BedNode {
    let machine = match &plan.config {
        NodeConfig::Switch(config) => Machine::Switch(SwitchNode::new(config, links)),
        NodeConfig::Host(config) => {
            let link = links.pop().expect("a host has one link");
            Machine::Host(HostNode::new(config, link))
        }
    };
    BedNode {
        machine,
        peers: plan.peers.clone(),
    }
}

/// Ports are looked at once per tick, so they are always behind by up to one, and lose nothing by it.
const SLACK: Span = Span::ms(1);

/// How often people look.
const SEEN_EVERY: Duration = Duration::from_millis(250);

/// 20 ms of emulated time.
const STEPS_PER_LOOK: u32 = 1_000;
