//! From what real nodes report to the outcome of a run, so that every report on simulated runs serves
//! measured ones too.
//!
//! **Approximated**: how far flows were between two samples is interpolated, and nodes take samples at
//! every tick of their progress or more often, whatever the probe says; how long a link was held back is
//! counted in whole samples; a loss has no instant, since nodes only count.
//! **Not known** and left at zero or empty: events, answers, how often GFC held a sender, pauses by class
//! where there are several.

use pauseless_core::flow_control::Control;
use pauseless_core::id::{Class, FlowId, NodeId, PortId};
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_dataplane::report::{ClassReport, NodeReport, PortReport, ReceiveReport, SendReport};
use pauseless_sim::Config;
use pauseless_sim::outcome::{
    CongestionTree, Deadlock, Ended, Episode, FlowSeries, Losses, Lost, Outcome, PortOutcome,
    PortSeries, PortStates, QueueOutcome, Recording, Replay, Trip,
};
use pauseless_sim::progress::{FlowState, RunEnd, flow_outcome};
use pauseless_sim::served::Served;
use pauseless_sim::starvation::{self, Starvation};

use super::plan;

/// The reports of all nodes, and why the run ended.
#[derive(Clone, Debug)]
pub struct Measurements {
    /// One element per node, in the order of the topology.
    pub reports: Vec<NodeReport>,
    /// What somebody saw who could see all nodes at once.
    pub watched: Watched,
    /// Why the run ended.
    pub ended: Ended,
}

/// What nodes cannot see each for itself; nothing if nobody has looked.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// The first deadlock; `None` if there was none.
    pub deadlock: Option<Deadlock>,
    /// All deadlocks, with when each began and ended.
    pub episodes: Vec<Episode>,
    /// The storms that watchdogs found.
    pub trips: Vec<Trip>,
    /// Whether no frame was between two nodes when they wrote their reports: what was sent then and
    /// did not come never will.
    pub is_settled: bool,
}

/// The outcome of the run of `config` on real nodes.
pub fn outcome(config: &Config, measured: Measurements) -> Outcome {
    let Measurements { reports, watched, ended } = measured;
    let view = View { config, reports: &reports, is_settled: watched.is_settled };
    let end = reports.iter().map(|report| report.time).max().unwrap_or(Time::ZERO);
    let states = view.states(end);
    let lives = RunEnd { config, flows: &states, now: end, ended, episodes: &watched.episodes };
    let served = view.served(end);
    let Starvation { starved, undecided } = starvation::judge(&lives, &served);
    let flows = (0..states.len()).map(|flow| flow_outcome(&lives, &served, flow)).collect();
    let sum = |count: &dyn Fn(&PortReport) -> u64| view.ports().map(|at| count(at.report)).sum();
    let mut outcome = Outcome {
        end,
        ended,
        events: 0,
        packet_hops: sum(&|port| port.counters.received),
        deadlock: watched.deadlock,
        starved,
        undecided,
        loss: None,
        lost_packets: 0,
        lost_bytes: Bytes::ZERO,
        expired_packets: 0,
        expired_bytes: Bytes::ZERO,
        losses: Losses::default(),
        lost_control_frames: 0,
        refused: Lost::default(),
        episodes: watched.episodes,
        trips: watched.trips,
        pause_frames: sum(&|port| port.counters.pauses_sent),
        pause_frames_by_class: [0; Class::COUNT_MAX],
        gfc_holds: 0,
        feedback_frames: sum(&|port| port.counters.control_sent),
        feedback_share_max: view.feedback_share_max(end),
        held_at_end: view.held(),
        last_arrival: view.last_arrival(),
        flows,
        queues: view.queues(),
        memories: Vec::new(),
        ports: view.ports().map(|at| view.port_outcome(&at)).collect(),
        tree: view.tree(),
        answers: 0,
        acknowledgements: 0,
        answer_bytes: Bytes::ZERO,
        marked_packets: view.receives().map(|(_, flow)| flow.marked).sum(),
        provenance: None,
        series: view.series(),
        reordering: None,
        replay: view.replay(),
    };
    if config.ingress.class_count() == 1 {
        outcome.pause_frames_by_class[0] = outcome.pause_frames;
    }
    view.add_losses(&mut outcome);
    outcome
}

/// A run and what was measured of it.
#[derive(Clone, Copy)]
struct View<'a> {
    config: &'a Config,
    reports: &'a [NodeReport],
    is_settled: bool,
}

/// A port with its place.
#[derive(Clone, Copy)]
struct PortAt<'a> {
    node: NodeId,
    port: PortId,
    report: &'a PortReport,
    series: Option<&'a pauseless_dataplane::report::PortSeries>,
    times: &'a [Time],
}

impl PortAt<'_> {
    fn is_held(&self, sample: usize) -> bool {
        let allowed = self.series.and_then(|series| series.allowed_bps.get(sample));
        allowed.is_some_and(|allowed| *allowed < self.report.line_bps as f64)
    }

    /// The instants at whose sample it was held back.
    fn held(&self) -> impl Iterator<Item = Time> + '_ {
        let samples = self.times.iter().enumerate();
        samples.filter_map(|(sample, time)| self.is_held(sample).then_some(*time))
    }
}

impl<'a> View<'a> {
    fn node(self, node: NodeId) -> &'a NodeReport {
        &self.reports[node.index()]
    }

    fn is_host(self, node: NodeId) -> bool {
        self.config.topology.is_host(node)
    }

    fn port(self, node: NodeId, port: PortId) -> PortAt<'a> {
        let report = self.node(node);
        PortAt {
            node,
            port,
            report: &report.ports[port.index()],
            series: report.series.ports.get(port.index()),
            times: &report.series.times,
        }
    }

    /// All ports of all nodes, in their order.
    pub fn ports(self) -> impl Iterator<Item = PortAt<'a>> {
        let nodes = (0..).map(NodeId).zip(self.reports);
        nodes.flat_map(move |(node, report)| {
            (0..report.ports.len()).map(move |port| self.port(node, PortId(port as u16)))
        })
    }

    /// All classes of all ports of switches.
    fn queues_of_switches(self) -> impl Iterator<Item = (PortAt<'a>, &'a ClassReport)> {
        let ports = self.ports().filter(move |at| !self.is_host(at.node));
        ports.flat_map(|at| at.report.classes.iter().map(move |class| (at, class)))
    }

    /// All flows at their targets.
    fn receives(self) -> impl Iterator<Item = (NodeId, &'a ReceiveReport)> {
        let nodes = (0..).map(NodeId).zip(self.reports);
        nodes.flat_map(|(node, report)| report.receives.iter().map(move |flow| (node, flow)))
    }

    fn send(self, flow: usize) -> Option<&'a SendReport> {
        let sends = &self.node(self.config.flows[flow].source).sends;
        sends.iter().find(|it| it.flow as usize == flow)
    }

    fn receive(self, flow: usize) -> Option<&'a ReceiveReport> {
        let receives = &self.node(self.config.flows[flow].target).receives;
        receives.iter().find(|it| it.flow as usize == flow)
    }

    /// The samples of a flow at its target.
    fn flow_series(self, flow: usize) -> Option<(&'a [Time], &'a [f64])> {
        let series = &self.node(self.config.flows[flow].target).series;
        let found = series.flows.iter().find(|it| it.flow as usize == flow)?;
        Some((&series.times, &found.goodput_bps))
    }

    /// What was delivered of a flow by `time`, even between two samples.
    fn delivered_at(self, flow: usize, time: Time) -> Bytes {
        let Some(receive) = self.receive(flow) else {
            return Bytes::ZERO;
        };
        let end = self.node(self.config.flows[flow].target).time;
        let mut before = Delivered { time: Time::ZERO, bytes: 0.0 };
        let (times, rates) = self.flow_series(flow).unwrap_or_default();
        for (sample, rate) in times.iter().zip(rates) {
            let bytes = before.bytes + rate * (*sample - before.time).as_secs_f64() / 8.0;
            let after = Delivered { time: *sample, bytes };
            if *sample >= time {
                return between(before, after, time);
            }
            before = after;
        }
        if time >= end {
            receive.bytes
        } else {
            let after = Delivered { time: end, bytes: receive.bytes.get() as f64 };
            between(before, after, time)
        }
    }

    /// How far a flow was at `time`.
    fn state(self, flow: usize, time: Time) -> FlowState {
        let spec = &self.config.flows[flow];
        let finish = self.receive(flow).filter(|it| it.bytes >= spec.size);
        let finish = finish.and_then(|it| it.last).filter(|at| *at <= time);
        let start = self.send(flow).and_then(|it| it.first);
        FlowState {
            delivered: self.delivered_at(flow, time),
            // It is there from its own start on, whenever it is let in.
            start: start.map(|_| spec.start).filter(|at| *at <= time),
            finish,
            lost: Bytes::new(self.lost_of(flow) * spec.packet.get()),
            expired: Bytes::ZERO,
            delivered_by_stop: (spec.stop <= time).then(|| self.delivered_at(flow, spec.stop)),
        }
    }

    /// Packets of a flow that were lost, as far as its target or what all nodes know tells.
    fn lost_of(self, flow: usize) -> u64 {
        let missing = self.receive(flow).map_or(0, |it| it.missing);
        // Where nothing is under way any more, all that did not come is lost.
        if self.lost_between() == 0 || self.held() > Bytes::ZERO {
            return missing;
        }
        let received = self.receive(flow).map_or(0, |it| it.frames);
        let sent = self.send(flow).map_or(0, |it| it.frames);
        missing.max(sent.saturating_sub(received))
    }

    /// Frames that were lost on wires, over all ports of the bed: sent by one node, not received by
    /// the next. Unlike gaps in sequence numbers this shows the last frames of a flow as well. 0 while
    /// frames may still be under way.
    fn lost_between(self) -> u64 {
        if !self.is_settled {
            return 0;
        }
        let lost = self.ports().map(|at| {
            let to = self.config.topology.port(at.node, at.port);
            let far = self.port(to.peer, to.peer_port).report.counters;
            // What is unknown was sent by somebody else.
            let came = far.received.saturating_sub(far.unknown);
            at.report.counters.sent.saturating_sub(came)
        });
        lost.sum()
    }

    fn states(self, time: Time) -> Vec<FlowState> {
        let flows = 0..self.config.flows.len();
        flows.map(|flow| self.state(flow, time)).collect()
    }

    fn served(self, end: Time) -> Served {
        let mut served = Served::new(self.config);
        for flow in 0..self.config.flows.len() {
            // It is not known when they were lost.
            let lost = Bytes::new(self.lost_of(flow) * self.config.flows[flow].packet.get());
            if lost > Bytes::ZERO {
                served.lose(Time::ZERO, FlowId(flow as u32), lost);
            }
            let mut before = Bytes::ZERO;
            for beat in 0..served.beats_until(end) {
                let delivered = self.delivered_at(flow, served.start_of(beat + 1)).max(before);
                if delivered > before {
                    served.deliver(served.start_of(beat), FlowId(flow as u32), delivered - before);
                }
                before = delivered;
            }
        }
        served
    }

    fn feedback_share_max(self, end: Time) -> f64 {
        let span = (end - Time::ZERO).as_secs_f64().max(f64::MIN_POSITIVE);
        let shares = self.ports().map(|at| {
            let bytes = at.report.counters.control_sent * Control::SIZE.get();
            bytes as f64 * 8.0 / span / at.report.line_bps.max(1) as f64
        });
        shares.fold(0.0, f64::max)
    }

    fn held(self) -> Bytes {
        self.queues_of_switches().map(|(_, class)| class.held).sum::<Bytes>()
    }

    /// When the last data frame reached a host, or a port of a switch as far as samples show it.
    fn last_arrival(self) -> Time {
        let hosts = self.receives().filter_map(|(_, flow)| flow.last);
        let ports = self.ports().filter_map(|at| {
            let input = &at.series?.input_bps;
            let last = input.iter().rposition(|rate| *rate > 0.0)?;
            // At most one sample early.
            Some(at.times[last.saturating_sub(1)])
        });
        hosts.chain(ports).max().unwrap_or(Time::ZERO)
    }

    fn queues(self) -> Vec<QueueOutcome> {
        let is_one_class = self.config.ingress.class_count() == 1;
        let seen = self.queues_of_switches().filter(|(_, class)| class.held_max > Bytes::ZERO);
        let queue = |(at, class): (PortAt<'_>, &ClassReport)| QueueOutcome {
            node: at.node,
            port: at.port,
            class: Class(class.class),
            max: class.held_max,
            last: class.held,
            mean: at
                .series
                .filter(|series| is_one_class && !series.queue.is_empty())
                .map(|it| it.queue.iter().sum::<u64>() as f64 / it.queue.len() as f64),
        };
        seen.map(queue).collect()
    }

    fn port_outcome(self, at: &PortAt<'_>) -> PortOutcome {
        PortOutcome {
            node: at.node,
            port: at.port,
            sent: at.report.counters.sent_bytes,
            balanced: 0,
            pauses: at.report.counters.pauses_received,
            held: plan::resolution(self.config) * at.held().count() as u64,
            held_first: at.held().next(),
            held_last: at.held().last(),
        }
    }

    /// The links that were held back, sample by sample.
    fn tree(self) -> CongestionTree {
        let samples = self.samples();
        let count = |sample: usize| self.ports().filter(|at| at.is_held(sample)).count();
        let counts: Vec<usize> = (0..samples).map(count).filter(|count| *count > 0).collect();
        let is_reached = |at: &PortAt<'_>| self.is_host(at.node) && at.held().next().is_some();
        CongestionTree {
            duration: plan::resolution(self.config) * counts.len() as u64,
            links_max: counts.iter().copied().max().unwrap_or(0) as u32,
            links_mean: counts.iter().sum::<usize>() as f64 / counts.len().max(1) as f64,
            hosts: self.ports().filter(is_reached).count() as u32,
        }
    }

    /// How many samples every node has.
    fn samples(self) -> usize {
        self.reports.iter().map(|report| report.series.times.len()).min().unwrap_or(0)
    }

    /// The recording at the scenario's resolution. Each of its samples is made of `probe_parts` finer
    /// ones: the last for levels, the mean for rates.
    fn series(self) -> Recording {
        let probes = &self.config.probes;
        let parts = plan::probe_parts(self.config) as usize;
        let samples = self.samples() / parts * parts;
        let first = self.reports.first();
        let is_any = samples > 0 && probes.resolution > Span::ZERO;
        let Some(first) = first.filter(|_| is_any) else {
            return Recording::default();
        };
        let levels = |values: &[u64]| last_of_each(&values[..samples], parts);
        let means = |values: &[f64]| -> Vec<f64> {
            let groups = values[..samples].chunks_exact(parts);
            groups.map(|group| group.iter().sum::<f64>() / parts as f64).collect()
        };
        let ports = probes.ports.iter().filter_map(|(node, port)| {
            let from = self.port(*node, *port).series?;
            Some(PortSeries {
                node: *node,
                port: *port,
                queue: levels(&from.queue),
                egress: levels(&from.egress),
                input_bps: means(&from.input_bps),
                sending_bps: means(&from.sending_bps),
                allowed_bps: last_of_each(&from.allowed_bps[..samples], parts),
                feedback_bps: means(&from.feedback_bps),
            })
        });
        let flows = probes.flows.iter().filter_map(|flow| {
            let (_, goodput) = self.flow_series(flow.index())?;
            Some(FlowSeries { flow: *flow, goodput_bps: means(goodput), allowed_bps: Vec::new() })
        });
        Recording {
            times: last_of_each(&first.series.times[..samples], parts),
            ports: ports.collect(),
            flows: flows.collect(),
        }
    }

    /// The state of all ports over time, as pages replay it.
    fn replay(self) -> Option<Replay> {
        let samples = self.samples();
        let series = &self.reports.first()?.series;
        if samples == 0 {
            return None;
        }
        let mut times = vec![Time::ZERO];
        times.extend(&series.times[..samples]);
        let ports = self.ports().map(|at| states(&at, samples));
        Some(Replay { times, ports: ports.collect() })
    }

    /// What was lost, by counters and by numbers that never came.
    fn add_losses(self, outcome: &mut Outcome) {
        let packet = self.config.flows.iter().map(|flow| flow.packet).max().unwrap_or(Bytes::ZERO);
        let lost = |packets: u64| Lost { packets, bytes: Bytes::new(packets * packet.get()) };
        let sum =
            |count: &dyn Fn(&PortReport) -> u64| self.ports().map(|at| count(at.report)).sum();
        let overruns: u64 = sum(&|port| port.counters.overruns);
        let dropped: u64 = sum(&|port| port.counters.watchdog_drops);
        let missing: u64 = self.receives().map(|(_, flow)| flow.missing).sum();
        // A number that never came, and that no node has dropped, was lost between two of them.
        let between = missing.saturating_sub(overruns + dropped).max(self.lost_between());
        outcome.losses.overrun = lost(overruns + between);
        outcome.losses.watchdog = lost(dropped);
        let total = outcome.losses.total();
        (outcome.lost_packets, outcome.lost_bytes) = (total.packets, total.bytes);
    }
}

/// The last value of each group of `parts` values; an incomplete group is left out.
fn last_of_each<T: Copy>(values: &[T], parts: usize) -> Vec<T> {
    values.chunks_exact(parts).map(|group| group[parts - 1]).collect()
}

/// How much of a flow was delivered at an instant.
#[derive(Clone, Copy)]
struct Delivered {
    time: Time,
    bytes: f64,
}

/// What was delivered at `time`, on the line between two instants.
fn between(from: Delivered, to: Delivered, time: Time) -> Bytes {
    let span = to.time.saturating_since(from.time);
    let share = match span {
        Span::ZERO => 1.0,
        span => time.saturating_since(from.time).as_secs_f64() / span.as_secs_f64(),
    };
    let bytes = from.bytes + (to.bytes - from.bytes) * share.min(1.0);
    Bytes::new(bytes.round().max(0.0) as u64)
}

/// The state of a port at zero and at each of so many samples.
fn states(at: &PortAt<'_>, samples: usize) -> PortStates {
    let mut states = PortStates { held: vec![0], allowed: vec![1_000], sent: vec![0] };
    let Some(series) = at.series else {
        states.held.resize(samples + 1, 0);
        states.allowed.resize(samples + 1, 1_000);
        states.sent.resize(samples + 1, 0);
        return states;
    };
    let (mut sent, mut last) = (0.0, Time::ZERO);
    for sample in 0..samples {
        let time = at.times[sample];
        sent += series.sending_bps[sample] * (time - last).as_secs_f64() / 8.0;
        last = time;
        let allowed = series.allowed_bps[sample] / at.report.line_bps.max(1) as f64;
        states.held.push(series.queue[sample].min(u64::from(u32::MAX)) as u32);
        states.allowed.push((allowed * 1_000.0).clamp(0.0, 1_000.0) as u16);
        states.sent.push(sent.round() as u64);
    }
    states
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::{self, Speed};
    use crate::run_of;
    use pauseless_report::verdict::{self, Finding};
    use pauseless_scenario::Overrides;
    use std::sync::Arc;
    use std::time::Instant;

    #[test]
    fn the_last_frames_of_a_flow_are_missed_where_nothing_is_under_way() {
        let only = ["pfc".to_string()];
        let scenarios = ring::scenarios(Speed::Lockstep, &only, &Overrides::default());
        let scenario = scenarios.unwrap_or_else(|it| panic!("{it}")).remove(0);
        let topology = &scenario.config.topology;
        let blank = |node| NodeReport {
            time: Time::ZERO + scenario.config.duration,
            ports: vec![PortReport::default(); topology.ports(node).len()],
            ..NodeReport::default()
        };
        let nodes = (0..topology.nodes().len()).map(|node| NodeId(node as u32));
        let mut reports: Vec<NodeReport> = nodes.map(blank).collect();
        let (switch, port) = topology.port_named("S1:H1").expect("a port");
        let host = topology.port(switch, port).peer;
        reports[host.index()].ports[0].counters.sent = 10;
        let far = &mut reports[switch.index()].ports[port.index()].counters;
        // Two of them are none of ours.
        (far.received, far.unknown) = (9, 2);
        let scenario = Arc::new(scenario);
        let measured = |is_settled| {
            let measurements = Measurements {
                reports: reports.clone(),
                watched: Watched { is_settled, ..Watched::default() },
                ended: Ended::Duration,
            };
            run_of(Arc::clone(&scenario), measurements, Instant::now())
        };
        assert_eq!(measured(false).outcome.lost_packets, 0);
        let run = measured(true);
        assert_eq!(run.outcome.lost_packets, 3);
        // Nobody knows when.
        assert_eq!(verdict::brief(&run), "loss");
        assert_eq!(
            Finding::Loss.sentence(&run),
            "loss: 3 packets (4.50 KB) that did not fit or never came"
        );
    }
}
