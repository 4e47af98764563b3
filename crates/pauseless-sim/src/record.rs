//! Recording over time, and the outcome at the end.

use pauseless_core::deadlock::Network;
use pauseless_core::flow_control::Upstream;
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::port::Port;
use pauseless_core::unit::{Bytes, Span, Time};

use crate::config::Config;
use crate::fabric::{Fabric, Node};
use crate::outcome::{
    CongestionTree, FlowOutcome, FlowSeries, MemoryOutcome, Outcome, PortOutcome, PortSeries,
    QueueOutcome, Recording,
};
use crate::progress::{FlowState, RunEnd, flow_outcome, rate_bps};
use crate::simulator::Simulator;
use crate::spread::Spread;
use crate::starvation::{self, Starvation};

/// The run as a sample shows it.
#[derive(Clone, Copy)]
pub(crate) struct SampledRun<'r> {
    pub now: Time,
    pub config: &'r Config,
    /// The part of the run that a node is in: its fabric and the progress of its flows.
    pub part: &'r dyn Fn(NodeId) -> (&'r Fabric, &'r [FlowState]),
}

/// Takes samples of the probed ports and flows.
#[derive(Debug)]
pub(crate) struct Recorder {
    resolution: Span,
    series: Recording,
    received: Vec<Bytes>,
    sent: Vec<Bytes>,
    control_sent: Vec<Bytes>,
    delivered: Vec<Bytes>,
    /// The sum of all samples of the ingress counters, per probed port and class.
    held_sums: Vec<[u64; Class::COUNT_MAX]>,
}

impl Recorder {
    pub(crate) fn new(config: &Config) -> Recorder {
        let ports = config.probes.ports.iter().map(|(node, port)| PortSeries {
            node: *node,
            port: *port,
            queue: Vec::new(),
            egress: Vec::new(),
            input_bps: Vec::new(),
            sending_bps: Vec::new(),
            allowed_bps: Vec::new(),
            feedback_bps: Vec::new(),
        });
        let flows = config.probes.flows.iter().map(|flow| FlowSeries {
            flow: *flow,
            goodput_bps: Vec::new(),
            allowed_bps: Vec::new(),
        });
        let series =
            Recording { times: Vec::new(), ports: ports.collect(), flows: flows.collect() };
        Recorder {
            resolution: config.probes.resolution,
            received: vec![Bytes::ZERO; series.ports.len()],
            sent: vec![Bytes::ZERO; series.ports.len()],
            control_sent: vec![Bytes::ZERO; series.ports.len()],
            delivered: vec![Bytes::ZERO; series.flows.len()],
            held_sums: vec![[0; Class::COUNT_MAX]; series.ports.len()],
            series,
        }
    }

    pub(crate) fn next_sample(&self) -> Option<Time> {
        if self.resolution == Span::ZERO {
            return None;
        }
        let last = self.series.times.last();
        Some(*last.unwrap_or(&Time::ZERO) + self.resolution)
    }

    pub(crate) fn sample(&mut self, run: &SampledRun<'_>) {
        let SampledRun { now, config, part } = *run;
        self.series.times.push(now);
        for (index, series) in self.series.ports.iter_mut().enumerate() {
            let (fabric, _) = part(series.node);
            let number = fabric.end_index(series.node, series.port);
            let traffic = fabric.traffic[number];
            let sent_total = fabric.ends[number].sent;
            let port = port_of(fabric, series.node, series.port);
            let classes = (0..fabric.class_count()).map(|class| Class(class as u8));
            let held = classes.clone().map(|class| port.held(class).get());
            for (sum, held) in self.held_sums[index].iter_mut().zip(held.clone()) {
                *sum += held;
            }
            let held = held.sum();
            let allowed = classes.map(|class| port.upstream(class).rate(now));
            let allowed = allowed.map(|rate| rate.map_or(0, |rate| rate.as_bps())).min();
            series.queue.push(held);
            series.allowed_bps.push(allowed.unwrap_or(0) as f64);
            let received = std::mem::replace(&mut self.received[index], traffic.received);
            series.input_bps.push(rate_bps(traffic.received - received, self.resolution));
            let sent = std::mem::replace(&mut self.sent[index], sent_total);
            series.sending_bps.push(rate_bps(sent_total - sent, self.resolution));
            let control = std::mem::replace(&mut self.control_sent[index], traffic.control_sent);
            series.feedback_bps.push(rate_bps(traffic.control_sent - control, self.resolution));
            series.egress.push(match &fabric.nodes[series.node.index()] {
                Node::Switch(switch) => switch.queued(series.port).get(),
                Node::Host(_) => 0,
            });
        }
        for (index, series) in self.series.flows.iter_mut().enumerate() {
            let flow = &config.flows[series.flow.index()];
            let (_, flows) = part(flow.target);
            let total = flows[series.flow.index()].delivered;
            let before = std::mem::replace(&mut self.delivered[index], total);
            series.goodput_bps.push(rate_bps(total - before, self.resolution));
            let (fabric, _) = part(flow.source);
            let allowed = match &fabric.nodes[flow.source.index()] {
                Node::Host(host) => host.rate(series.flow),
                Node::Switch(_) => None,
            };
            let allowed = allowed.map_or(0, |rate| rate.as_bps());
            series.allowed_bps.push(allowed as f64);
        }
    }

    fn queues(&self, fabric: &Fabric) -> Vec<QueueOutcome> {
        let mut queues = Vec::new();
        for queue in fabric.egress_queues() {
            let (node, port, class) = (queue.node, queue.port, queue.class);
            let state = port_of(fabric, node, port);
            if state.held_max(class) == Bytes::ZERO {
                continue;
            }
            let mut probed = self.series.ports.iter();
            let probed = probed.position(|series| (series.node, series.port) == (node, port));
            let samples = self.series.times.len().max(1) as f64;
            let mean = probed.map(|at| self.held_sums[at][class.index()] as f64 / samples);
            queues.push(QueueOutcome {
                node,
                port,
                class,
                max: state.held_max(class),
                last: state.held(class),
                mean,
            });
        }
        queues
    }
}

/// The outcome of a run that is over. Recordings are moved, not copied: they may be most of a run's
/// memory.
pub(crate) fn outcome(run: Simulator<'_>) -> Outcome {
    let ended = run.ended();
    let episodes = run.mitigating.episodes();
    let lives =
        RunEnd { config: run.config, flows: &run.flows, now: run.now, ended, episodes: &episodes };
    let flows = (0..run.flows.len()).map(|flow| FlowOutcome {
        reordering: run.order.as_ref().map(|order| order.of_flow(flow)),
        ..flow_outcome(&lives, &run.served, flow)
    });
    let flows = flows.collect();
    // What would be fair depends on the routes of the moment, and on how a flow uses several of them.
    let is_judged = run.config.changes.is_empty() && run.config.has_one_path_per_flow();
    let Starvation { starved, undecided } =
        if is_judged { starvation::judge(&lives, &run.served) } else { Starvation::default() };
    let (mut ports, tree) = port_outcomes(&run.fabric, run.spread, run.now);
    if let Some(balancing) = &run.balancing {
        for (port, frames) in ports.iter_mut().zip(balancing.frames()) {
            port.balanced = *frames;
        }
    }
    let (tally, fabric) = (run.tally, &run.fabric);
    let replay = run.replay;
    let replay = replay.map(|replay| replay.finish(run.now, fabric, run.packet_max));
    let tracer = run.tracer;
    Outcome {
        end: run.now,
        ended,
        events: tally.events,
        packet_hops: tally.packet_hops,
        starved,
        undecided,
        deadlock: tally.deadlock,
        loss: tally.loss,
        lost_packets: tally.losses.total().packets,
        lost_bytes: tally.losses.total().bytes,
        refused: tally.refused,
        losses: tally.losses,
        lost_control_frames: tally.lost_control_frames,
        episodes,
        trips: run.mitigating.trips,
        expired_packets: tally.expired_packets,
        expired_bytes: tally.expired_bytes,
        pause_frames: tally.pause_frames,
        pause_frames_by_class: tally.pause_frames_by_class,
        gfc_holds: tally.gfc_holds,
        feedback_frames: tally.feedback_frames,
        feedback_share_max: feedback_share_max(fabric, run.config, run.now),
        held_at_end: fabric.held(),
        last_arrival: tally.last_arrival,
        flows,
        queues: run.recorder.queues(fabric),
        memories: memories(fabric),
        ports,
        tree,
        answers: tally.answers,
        acknowledgements: tally.acknowledgements,
        marked_packets: tally.marked,
        answer_bytes: tally.answer_bytes,
        reordering: run.order.map(|order| order.finish()),
        provenance: tracer.map(|tracer| tracer.finish(run.now, run.config)),
        replay,
        series: run.recorder.series,
    }
}

/// The outcome of every port, and of the congestion tree.
fn port_outcomes(fabric: &Fabric, spread: Spread, now: Time) -> (Vec<PortOutcome>, CongestionTree) {
    let ends = &fabric.ends;
    let is_host = |port: usize| {
        let node = ends[port].node;
        matches!(fabric.nodes[node.index()], Node::Host(_))
    };
    let (held, tree) = spread.finish(now, is_host);
    let ports = ends.iter().zip(held).map(|(end, held)| PortOutcome {
        node: end.node,
        port: end.port,
        sent: end.sent,
        balanced: 0,
        pauses: held.pauses,
        held: held.span,
        held_first: held.first,
        held_last: held.last,
    });
    (ports.collect(), tree)
}

fn memories(fabric: &Fabric) -> Vec<MemoryOutcome> {
    let nodes = (0..).map(NodeId).zip(&fabric.nodes);
    let memories = nodes.filter_map(|(node, state)| match state {
        Node::Switch(switch) => Some((node, switch.memory()?)),
        Node::Host(_) => None,
    });
    let outcomes = memories.map(|(node, memory)| MemoryOutcome {
        node,
        size: memory.config().sizes(),
        max: memory.high_water(),
        last: memory.in_use(),
    });
    outcomes.collect()
}

pub(crate) fn port_of(fabric: &Fabric, node: NodeId, port: PortId) -> &Port {
    match &fabric.nodes[node.index()] {
        Node::Switch(switch) => switch.port(port),
        Node::Host(host) => host.port(),
    }
}

/// The largest share of the nominal rate of a link that control frames have taken.
fn feedback_share_max(fabric: &Fabric, config: &Config, now: Time) -> f64 {
    let span = now - Time::ZERO;
    let shares = fabric.ends.iter().zip(&fabric.traffic).map(|(end, traffic)| {
        let line = config.topology.port(end.node, end.port).rate;
        rate_bps(traffic.control_sent, span) / line.as_bps() as f64
    });
    shares.fold(0.0, f64::max)
}
