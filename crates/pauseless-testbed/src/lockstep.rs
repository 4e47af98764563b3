//! All nodes in one thread, under one clock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pauseless_core::id::NodeId;
use pauseless_core::unit::{Span, Time};
use pauseless_dataplane::bed::{Bed, BedNode, Machine};
use pauseless_dataplane::clock::Pace;
use pauseless_dataplane::host::HostNode;
use pauseless_dataplane::report::NodeReport;
use pauseless_dataplane::switch::{Storm, SwitchNode};
use pauseless_sim::Config;
use pauseless_sim::outcome::{EgressQueue, Ended, Episode, Lost, Trip};

use super::outcome::{Measurements, Watched};
use super::plan::{self, NodeConfig, NodePlan};
use super::wires::{self, Wires};
use super::{BedError, Options, Watch, WireFacts, taps, tick};
use pauseless_run::{Progress, Run};
use pauseless_scenario::Scenario;
use pauseless_text::quantity;

/// Runs `scenario` on real frames until its end, or until `watch` breaks it off.
pub(super) fn measure(
    scenario: Arc<Scenario>,
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<(Run, WireFacts), BedError> {
    let plan_options = plan::Options { envelope: options.envelope, slack: SLACK };
    let plans = plan::nodes(&scenario.config, &plan_options)?;
    let tick = tick::of(&scenario)?;
    let wires = wires::lay(&plans, options.backend).map_err(BedError::Wires)?;
    let begin = Instant::now();
    // The namespaces live until the run is over, so that one can look inside.
    let Wires { links, namespaces } = wires;
    let mut nodes = Vec::from_iter(plans.iter().zip(links).map(|(plan, links)| node(plan, links)));
    let capture = options.pcap.as_deref().map(|path| taps::lay(&mut nodes, &plans, path));
    let capture = capture.transpose().map_err(BedError::Files)?;
    let mut bed = Bed::new(nodes, Pace::Elastic(tick));
    let (ended, messages) = drive(&mut bed, &scenario.config, &plans, watch);
    let measurements = Measurements { reports: bed.reports(), watched: watched(&bed), ended };
    drop(namespaces);
    let mut facts = WireFacts::of(&scenario, &measurements.reports);
    facts.backend = options.backend.name();
    facts.clock = "elastic";
    facts.vanished = bed.vanished();
    facts.messages = messages;
    facts.messages.extend(tick::remark_of_delays(&scenario.config, tick));
    if let Some(capture) = capture {
        capture.finish().map_err(BedError::Files)?;
    }
    let run = super::run_of(scenario, measurements, begin);
    Ok((run, facts))
}

/// Lets the nodes go on until the end of their run, or until there is a reason to end before; what they
/// had to say meanwhile.
fn drive(
    bed: &mut Bed,
    config: &Config,
    plans: &[NodePlan],
    watch: &mut dyn Watch,
) -> (Ended, Vec<String>) {
    let end = Time::ZERO + config.duration;
    let mut messages = Vec::new();
    let (mut looked, mut seen) = (Instant::now(), Instant::now());
    let mut ended = None;
    while ended.is_none() && bed.now() < end {
        bed.step();
        ended = answered(config, bed);
        if let Some(message) = failure(bed, plans) {
            messages.push(message);
            ended = Some(Ended::Interrupted);
        }
        if looked.elapsed() < LOOK_EVERY {
            continue;
        }
        looked = Instant::now();
        messages.append(&mut bed.take_messages());
        if seen.elapsed() >= SEEN_EVERY {
            seen = looked;
            watch.see(plans, statuses(bed));
        }
        let now = bed.now();
        if watch.progress(Progress { now, end }).is_break() {
            ended.get_or_insert(Ended::Interrupted);
        }
    }
    messages.append(&mut bed.take_messages());
    (ended.unwrap_or(Ended::Duration), messages)
}

/// Why the run ends before its time because its question is answered, if it is.
fn answered(config: &Config, bed: &Bed) -> Option<Ended> {
    if config.stop.deadlock && bed.deadlock().is_some() {
        return Some(Ended::Deadlock);
    }
    (config.stop.done && bed.is_done()).then_some(Ended::Done)
}

/// Why nothing more can be learnt from the run, if that is so.
fn failure(bed: &Bed, plans: &[NodePlan]) -> Option<String> {
    let (node, port) = bed.vanished_from()?;
    let common = plans[node.index()].config.common();
    Some(format!(
        "the wire from {} to {} has swallowed frames; the run was given up at {}",
        common.name,
        common.neighbours[port.index()],
        quantity::time(bed.now()),
    ))
}

/// What only somebody sees who has all nodes in one thread.
fn watched(bed: &Bed) -> Watched {
    let episodes = bed.episodes().iter().map(|episode| Episode {
        found: episode.deadlock.time,
        cycle: episode.deadlock.cycle.clone(),
        broken: episode.broken,
        after_event: None,
        broken_by_event: None,
    });
    let mut trips = Vec::new();
    for (node, machine) in (0..).map(NodeId).zip(bed.nodes()) {
        if let Machine::Switch(switch) = machine {
            trips.extend(switch.storms().iter().map(|storm| trip(node, storm)));
        }
    }
    trips.sort_by_key(|trip| (trip.time, trip.queue));
    Watched {
        deadlock: bed.deadlock().cloned(),
        episodes: episodes.collect(),
        trips,
        is_settled: true,
    }
}

fn trip(node: NodeId, storm: &Storm) -> Trip {
    Trip {
        queue: EgressQueue { node, port: storm.port, class: storm.class },
        time: storm.time,
        restored: storm.restored,
        dropped: Lost { packets: storm.dropped, bytes: storm.dropped_bytes },
    }
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
    BedNode { machine, peers: plan.peers.clone() }
}

/// Ports are looked at once per tick, so they are always behind by up to one, and lose nothing by it.
const SLACK: Span = Span::ms(1);

/// The time between two pictures on the screen.
const SEEN_EVERY: Duration = Duration::from_millis(250);

/// How long somebody who wants it to end waits, on the wall: a network that is large is slow.
const LOOK_EVERY: Duration = Duration::from_millis(100);
