//! Recording over time, and the outcome at the end.

use std::collections::BTreeMap;

use pauseless_core::deadlock::Network;
use pauseless_core::flow_control::Upstream;
use pauseless_core::host::Duty;
use pauseless_core::id::{Class, FlowId, NodeId, PortId};
use pauseless_core::port::Port;
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::fairness::{FairFlow, max_min_rates};
use pauseless_fabric::trace::{Header, trace};

use crate::config::{Config, Flow};
use crate::fabric::{Fabric, Node};
use crate::ideal::ideal_of;
use crate::outcome::{
    CongestionTree, Ended, FlowOutcome, FlowSeries, MemoryOutcome, Outcome, PortOutcome,
    PortSeries, QueueOutcome, Series, Starved,
};
use crate::simulator::{FlowState, Simulator};

/// Into how many parts the time of sending is cut to see how flows progress.
const TICKS: usize = 64;

/// What a sample is taken of.
#[derive(Clone, Copy)]
pub(crate) struct SampledRun<'r> {
    pub now: Time,
    pub config: &'r Config,
    pub fabric: &'r Fabric,
    pub flows: &'r [FlowState],
}

/// The last quarter of a flow's life, from one tick to another, and how many ticks it lived.
#[derive(Clone, Copy)]
struct Late {
    first: usize,
    last: usize,
    life: usize,
}

/// Takes samples of the probed ports and flows, and notes the progress of all flows.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    resolution: Span,
    series: Series,
    received: Vec<Bytes>,
    sent: Vec<Bytes>,
    control_sent: Vec<Bytes>,
    delivered: Vec<Bytes>,
    /// The sum of all samples of the ingress counters, per probed port and class.
    held_sums: Vec<[u64; Class::COUNT_MAX]>,
    /// The tick of a run that lasts for its duration.
    coarse: Span,
    /// How often that is halved.
    halvings: u32,
    tick: Span,
    /// Bytes delivered of the flows that were under way, one row per tick, in the order of flows.
    progress: Vec<Vec<(u32, Bytes)>>,
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
        let series = Series {
            times: Vec::new(),
            ports: ports.collect(),
            flows: flows.collect(),
        };
        let coarse = tick_span(config);
        let halvings = halvings(config, coarse);
        Recorder {
            resolution: config.probes.resolution,
            received: vec![Bytes::ZERO; series.ports.len()],
            sent: vec![Bytes::ZERO; series.ports.len()],
            control_sent: vec![Bytes::ZERO; series.ports.len()],
            delivered: vec![Bytes::ZERO; series.flows.len()],
            held_sums: vec![[0; Class::COUNT_MAX]; series.ports.len()],
            series,
            coarse,
            halvings,
            tick: Span::ps(coarse.as_ps() >> halvings),
            progress: Vec::new(),
        }
    }

    pub(crate) fn next_sample(&self) -> Option<Time> {
        if self.resolution == Span::ZERO {
            return None;
        }
        let last = self.series.times.last();
        Some(*last.unwrap_or(&Time::ZERO) + self.resolution)
    }

    pub(crate) fn next_tick(&self) -> Option<Time> {
        let next = self.progress.len() as u64 + 1;
        let is_one = next <= (TICKS as u64) << self.halvings;
        is_one.then(|| Time::from_ps((self.coarse * next).as_ps() >> self.halvings))
    }

    pub(crate) fn tick(&mut self, flows: &[FlowState]) {
        let under_way = (0..)
            .zip(flows)
            .filter(|(_, flow)| flow.start.is_some() && flow.finish.is_none());
        let row = under_way.map(|(index, flow)| (index, flow.delivered));
        self.progress.push(row.collect());
        // Every other one is enough when there are many.
        if self.progress.len() == 2 * TICKS {
            let mut count = 0;
            self.progress.retain(|_| {
                count += 1;
                count % 2 == 0
            });
            self.halvings -= 1;
            self.tick = Span::ps(self.coarse.as_ps() >> self.halvings);
        }
    }

    /// How many ticks a flow has to live to be judged.
    fn life_min(&self, ended: Ended) -> usize {
        match ended {
            // The run has shown how it would go on, so its own length counts.
            Ended::Steady => (self.progress.len() / 4).max(TICKS / 4),
            _ => (TICKS / 4) << self.halvings,
        }
    }

    /// What had been delivered of a flow at a tick.
    fn progress_at(&self, run: &Simulator<'_>, tick: usize, index: usize) -> Bytes {
        let row = &self.progress[tick];
        if let Ok(place) = row.binary_search_by_key(&(index as u32), |(flow, _)| *flow) {
            return row[place].1;
        }
        // It had not started, or it was complete.
        let time = Time::ZERO + self.tick * (tick as u64 + 1);
        match run.flows[index].finish {
            Some(finish) if finish <= time => run.flows[index].delivered,
            _ => Bytes::ZERO,
        }
    }

    pub(crate) fn sample(&mut self, run: &SampledRun<'_>) {
        let SampledRun {
            now, fabric, flows, ..
        } = *run;
        self.series.times.push(now);
        for (index, series) in self.series.ports.iter_mut().enumerate() {
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
            let allowed = allowed
                .map(|rate| rate.map_or(0, |rate| rate.as_bps()))
                .min();
            series.queue.push(held);
            series.allowed_bps.push(allowed.unwrap_or(0) as f64);
            let received = std::mem::replace(&mut self.received[index], traffic.received);
            series
                .input_bps
                .push(rate_bps(traffic.received - received, self.resolution));
            let sent = std::mem::replace(&mut self.sent[index], sent_total);
            series
                .sending_bps
                .push(rate_bps(sent_total - sent, self.resolution));
            let control = std::mem::replace(&mut self.control_sent[index], traffic.control_sent);
            series
                .feedback_bps
                .push(rate_bps(traffic.control_sent - control, self.resolution));
            series
                .egress
                .push(match &fabric.nodes[series.node.index()] {
                    Node::Switch(switch) => switch.queued(series.port).get(),
                    Node::Host(_) => 0,
                });
        }
        for (index, series) in self.series.flows.iter_mut().enumerate() {
            let total = flows[series.flow.index()].delivered;
            let before = std::mem::replace(&mut self.delivered[index], total);
            series
                .goodput_bps
                .push(rate_bps(total - before, self.resolution));
            let source = run.config.flows[series.flow.index()].source;
            let allowed = match &fabric.nodes[source.index()] {
                Node::Host(host) => host.rate(series.flow),
                Node::Switch(_) => None,
            };
            let allowed = allowed.map_or(0, |rate| rate.as_bps());
            series.allowed_bps.push(allowed as f64);
        }
    }

    /// Everything that was found and measured.
    pub(crate) fn outcome(self, run: &Simulator<'_>) -> Outcome {
        let tally = run.tally.clone();
        let (ports, tree) = port_outcomes(run);
        let flows = (0..run.flows.len()).map(|flow| self.flow_outcome(run, flow));
        Outcome {
            end: run.now,
            ended: run.ended(),
            events: tally.events,
            packet_hops: tally.packet_hops,
            starved: self.starved(run),
            deadlock: tally.deadlock,
            loss: tally.loss,
            lost_packets: tally.losses.total().packets,
            lost_bytes: tally.losses.total().bytes,
            losses: tally.losses,
            episodes: run.mitigating.episodes(),
            trips: run.mitigating.trips.clone(),
            expired_packets: tally.expired_packets,
            expired_bytes: tally.expired_bytes,
            pause_frames: tally.pause_frames,
            pause_frames_by_class: tally.pause_frames_by_class,
            gfc_holds: tally.gfc_holds,
            feedback_frames: tally.feedback_frames,
            feedback_share_max: feedback_share_max(run),
            held_at_end: run.fabric.held(),
            last_arrival: tally.last_arrival,
            flows: flows.collect(),
            queues: self.queues(run),
            memories: memories(run),
            ports,
            tree,
            answers: tally.answers,
            acknowledgements: tally.acknowledgements,
            marked_packets: tally.marked,
            answer_bytes: tally.answer_bytes,
            provenance: run
                .tracer
                .as_ref()
                .map(|tracer| tracer.finish(run.now, run.config)),
            replay: run
                .reel
                .as_ref()
                .map(|reel| reel.finish(run.now, &run.fabric, run.packet_max)),
            series: self.series,
        }
    }

    fn flow_outcome(&self, run: &Simulator<'_>, index: usize) -> FlowOutcome {
        let flow = &run.config.flows[index];
        let state = run.flows[index];
        let end = state.finish.unwrap_or(run.now.min(flow.stop));
        let late = self.late_ticks(run, index).and_then(|late| {
            let Late { first, last, .. } = late;
            let bytes = self.progress_at(run, last, index) - self.progress_at(run, first, index);
            Some(rate_bps(bytes, self.tick * (last - first) as u64)).filter(|rate| rate.is_finite())
        });
        // A flow that was stopped is judged by its life until then, unless it came to its end.
        let delivered = match state.finish {
            Some(_) => state.delivered,
            None => state.delivered_by_stop.unwrap_or(state.delivered),
        };
        let start = state.start.unwrap_or(flow.start);
        let goodput_bps = rate_bps(delivered, end.saturating_since(start));
        FlowOutcome {
            delivered: state.delivered,
            expired: state.expired,
            start: state.start,
            finish: state.finish,
            ideal: ideal_of(run.config, flow),
            goodput_bps,
            goodput_late_bps: late.unwrap_or(goodput_bps),
        }
    }

    /// The first and last tick of the last quarter of a flow's life, if it is long enough to judge.
    fn late_ticks(&self, run: &Simulator<'_>, index: usize) -> Option<Late> {
        let flow = &run.config.flows[index];
        let start = run.flows[index].start?;
        let end = run.flows[index]
            .finish
            .unwrap_or(run.now)
            .min(flow.stop)
            .min(run.now);
        // Tick i is taken at (i + 1) * tick.
        let first = start.as_ps().div_ceil(self.tick.as_ps()).saturating_sub(1) as usize;
        let last = (end.as_ps() / self.tick.as_ps()).checked_sub(1)? as usize;
        let last = last.min(self.progress.len().checked_sub(1)?);
        let life = last.checked_sub(first)?;
        (life >= 4).then(|| Late {
            first: last - (life / 4).max(2),
            last,
            life,
        })
    }

    /// Flows that were unfinished and below their share throughout the last quarter of their life.
    fn starved(&self, run: &Simulator<'_>) -> Vec<Starved> {
        let config = run.config;
        // A flow whose missing bytes were lost waits for nothing any more, and one whose packets
        // expire is not held back.
        let is_open = |index: &usize| {
            let state = &run.flows[*index];
            state.expired == Bytes::ZERO && state.delivered + state.lost < config.flows[*index].size
        };
        // The fair rates of all flows that were under way at a tick, for the ticks that are needed.
        let mut fair: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        let mut starved = Vec::new();
        for index in (0..run.flows.len()).filter(is_open) {
            let Some(late) = self.late_ticks(run, index) else {
                continue;
            };
            // What has not lived for long may just have been unlucky.
            if late.life < self.life_min(run.ended()) {
                continue;
            }
            let rates = (late.first + 1..=late.last).filter_map(|tick| {
                let row = &self.progress[tick];
                let rates = fair
                    .entry(tick)
                    .or_insert_with(|| self.fair_rates(config, tick));
                let place = row.binary_search_by_key(&(index as u32), |(flow, _)| *flow);
                place.ok().map(|place| rates[place])
            });
            let (sum, count) = rates.fold((0.0, 0), |(sum, count), rate| (sum + rate, count + 1));
            let mean = sum / f64::from(count.max(1));
            starved.extend(self.judge(run, index, ((late.first, late.last), mean)));
        }
        starved
    }

    /// The fair rates of the flows that were under way at a tick, in the order of its row.
    fn fair_rates(&self, config: &Config, tick: usize) -> Vec<f64> {
        let time = Time::ZERO + self.tick * (tick as u64 + 1);
        let row = self.progress[tick].iter();
        let flows = Vec::from_iter(row.map(|(flow, _)| *flow as usize));
        let is_sending = |flow: &usize| config.flows[*flow].stop >= time;
        let open = Vec::from_iter(flows.iter().copied().filter(is_sending));
        let mut rates = fair_rates(config, &open).into_iter();
        let rate = |flow: &usize| match is_sending(flow) {
            true => rates.next().expect("one for each"),
            false => 0.0,
        };
        flows.iter().map(rate).collect()
    }

    /// Whether a flow starved in its window, given its fair rate there.
    fn judge(
        &self,
        run: &Simulator<'_>,
        index: usize,
        ((first, last), fair_bps): ((usize, usize), f64),
    ) -> Option<Starved> {
        let flow = &run.config.flows[index];
        let floor = f64::from(run.config.starvation_permille) / 1_000.0 * fair_bps;
        // A flow that is silent for longer than a tick says nothing about the network.
        if flow.duty.off >= self.tick {
            return None;
        }
        let packet_bits = flow.packet.get() as f64 * 8.0;
        // Too short to tell slow from unlucky: a tick must have room for several packets.
        if fair_bps * self.tick.as_secs_f64() < 20.0 * packet_bits {
            return None;
        }
        let rate_in = |from: usize, to: usize| {
            let bytes = self.progress_at(run, to, index) - self.progress_at(run, from, index);
            rate_bps(bytes, self.tick * (to - from) as u64)
        };
        if (first..last).any(|tick| rate_in(tick, tick + 1) >= floor) {
            return None;
        }
        let rate_late = rate_in(first, last);
        // A flow that does not move at all in a deadlocked network is a victim of that. A deadlock
        // that was broken excuses nothing: the flow could have moved since.
        if run.mitigating.is_stuck() && rate_late == 0.0 {
            return None;
        }
        let since = (0..first)
            .rev()
            .find(|tick| rate_in(*tick, tick + 1) >= floor);
        let since = since.map_or(0, |tick| tick as u64 + 2);
        Some(Starved {
            flow: FlowId(index as u32),
            rate_bps: rate_late,
            fair_bps,
            since: (Time::ZERO + self.tick * since)
                .max(run.flows[index].start.unwrap_or(flow.start)),
        })
    }

    fn queues(&self, run: &Simulator<'_>) -> Vec<QueueOutcome> {
        let mut queues = Vec::new();
        for queue in run.fabric.egress_queues() {
            let (node, port, class) = (queue.node, queue.port, queue.class);
            let state = port_of(&run.fabric, node, port);
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

/// A tick such that all of them together last until the last flow stops or the run ends.
fn tick_span(config: &Config) -> Span {
    let end = Time::ZERO + config.duration;
    let last = config.flows.iter().map(|flow| flow.stop).max();
    let sending = last.unwrap_or(end).min(end) - Time::ZERO;
    Span::ps((sending.as_ps() / TICKS as u64).max(1))
}

/// How often a tick is halved to begin with. A run that may end at a steady state has at least
/// [`TICKS`] of them by then: it is judged as one that was meant to last no longer.
fn halvings(config: &Config, coarse: Span) -> u32 {
    let Some(steady) = config.stop.steady else {
        return 0;
    };
    let wanted = steady.window.as_ps() * u64::from(steady.windows) / TICKS as u64;
    let is_short = |halvings: &u32| coarse.as_ps() >> halvings <= wanted.max(1);
    (0..).find(is_short).expect("a tick of one picosecond is")
}

/// What a flow would send on the long run if nothing held it back.
fn demand(flow: &Flow) -> Rate {
    let Duty { on, off } = flow.duty;
    if off == Span::ZERO {
        return flow.pace;
    }
    let share = u128::from(flow.pace.as_bps()) * u128::from(on.as_ps());
    let mean = share / u128::from(on.as_ps() + off.as_ps());
    Rate::bps((mean as u64).max(1))
}

/// The max-min fair rates of the flows in `open`, as if they had the network to themselves; zero
/// for one that circles, which no rate would deliver.
fn fair_rates(config: &Config, open: &[usize]) -> Vec<f64> {
    let paths: Vec<Option<FairFlow>> = open
        .iter()
        .map(|index| {
            let flow = &config.flows[*index];
            let header = Header {
                source: flow.source,
                group: flow.group,
                hash: flow.hash,
            };
            let path = trace(&config.topology, &config.table, header).ok()?;
            let demand = Some(demand(flow));
            Some(FairFlow { path, demand })
        })
        .collect();
    let flows: Vec<FairFlow> = paths.iter().flatten().cloned().collect();
    let rates = max_min_rates(&flows, |node, port| config.topology.port(node, port).rate);
    let mut rates = rates.into_iter();
    let rate = |path: &Option<FairFlow>| path.as_ref().and_then(|_| rates.next());
    paths
        .iter()
        .map(rate)
        .map(Option::unwrap_or_default)
        .collect()
}

/// What has left every port, and how far congestion spread.
fn port_outcomes(run: &Simulator<'_>) -> (Vec<PortOutcome>, CongestionTree) {
    let ends = &run.fabric.ends;
    let is_host = |port: usize| {
        let node = ends[port].node;
        matches!(run.fabric.nodes[node.index()], Node::Host(_))
    };
    let (held, tree) = run.spread.clone().finish(run.now, is_host);
    let ports = ends.iter().zip(held).map(|(end, held)| PortOutcome {
        node: end.node,
        port: end.port,
        sent: end.sent,
        pauses: held.pauses,
        held: held.span,
        held_first: held.first,
        held_last: held.last,
    });
    (ports.collect(), tree)
}

fn memories(run: &Simulator<'_>) -> Vec<MemoryOutcome> {
    let nodes = (0..).map(NodeId).zip(&run.fabric.nodes);
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

fn feedback_share_max(run: &Simulator<'_>) -> f64 {
    let span = run.now - Time::ZERO;
    let ends = run.fabric.ends.iter().zip(&run.fabric.traffic);
    let shares =
        ends.map(|(end, traffic)| rate_bps(traffic.control_sent, span) / end.line.as_bps() as f64);
    shares.fold(0.0, f64::max)
}

fn rate_bps(bytes: Bytes, span: Span) -> f64 {
    if span == Span::ZERO {
        return 0.0;
    }
    bytes.get() as f64 * 8.0 / span.as_secs_f64()
}
