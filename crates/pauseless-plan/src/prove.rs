//! A plan put to the test: the worst case of each kind of port, packet by packet.
//!
//! Two switches, S1 and S2, are joined by the link in question. Two hosts at S1 send at line rate to a
//! host at S2 that never takes anything, so that nothing leaves S2's buffer. The queue is aligned
//! so that it stands exactly at its threshold before the packet that crosses it, the far end takes
//! as long as it may to obey, and on the way back large frames follow each other without a gap, so
//! that every message has to wait; when it falls due within such a frame is swept over the frame,
//! and aimed at the very beginning of one, where the wait is the longest.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicUsize, Ordering};

use pauseless_core::class_map::ClassMap;
use pauseless_core::derive::{Derivation, Latency};
use pauseless_core::flow_control::{FlowControl, cbfc};
use pauseless_core::host::Duty;
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::Discipline;
use pauseless_core::transport::Transport;
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::builder::TopologyBuilder;
use pauseless_fabric::routing::{Multipath, RouteBuilder, TieBreak};
use pauseless_fabric::topology::{LinkSpec, Topology};
use pauseless_sim::Config;
use pauseless_sim::config::{
    Congestion, Flow, Ingress, IngressTable, Mitigation, Probes, Reaction, Replay, Stop, WireLoss,
    canonical_order,
};
use rayon::prelude::*;

use super::{Plan, Scheme, Set};

/// The result of the worst case on one kind of link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The flow control that was run.
    pub scheme: Scheme,
    /// The link that it was run on: its rate, delay and frame size.
    pub latency: Latency,
    /// The planned buffer of the port and class.
    pub buffer: Bytes,
    /// The most that it held in any phase.
    pub high_water: Bytes,
    /// The phase, within a frame on the way back, in which it held that much.
    pub phase: Span,
    /// How many phases were tried.
    pub phases: u64,
    /// Packets lost over all phases.
    pub lost: u64,
    /// Packets lost in the worst phase with two MTU less of buffer and the same thresholds.
    pub lost_with_less: u64,
}

impl Proof {
    /// Whether nothing was lost.
    pub fn holds(&self) -> bool {
        self.lost == 0
    }

    /// Whether the buffer cannot be two MTU smaller.
    pub fn is_tight(&self) -> bool {
        self.lost_with_less > 0
    }

    /// What the worst case left free.
    pub fn slack(&self) -> Bytes {
        self.buffer.saturating_sub(self.high_water)
    }
}

/// Proves every distinct port and scheme of a plan that fits.
///
/// `watch` hears how many ports and schemes of how many are done, on several threads.
pub fn prove(plan: &Plan, watch: &(dyn Fn(usize, usize) + Sync)) -> Vec<Proof> {
    let mut cases: Vec<(Scheme, Set)> = Vec::new();
    for switch in &plan.switches {
        for scheme in &switch.schemes {
            for set in &scheme.sets {
                let case = (scheme.scheme, *set);
                if !cases.contains(&case) {
                    cases.push(case);
                }
            }
        }
    }
    cases.sort_by_key(|(scheme, _)| *scheme);
    let (done, total) = (AtomicUsize::new(0), cases.len());
    watch(0, total);
    let proofs = cases.into_par_iter().map(|(scheme, set)| {
        let proof = prove_set(scheme, &set);
        watch(done.fetch_add(1, Ordering::Relaxed) + 1, total);
        proof
    });
    proofs.collect()
}

/// Proves one port and scheme.
pub fn prove_set(scheme: Scheme, set: &Set) -> Proof {
    let bench = Bench::new(scheme, set);
    let phases = bench.phases();
    let buffer = set.ingress.buffer;
    let mut proof = Proof {
        scheme,
        latency: set.derivation.latency,
        buffer,
        high_water: Bytes::ZERO,
        phase: Span::ZERO,
        phases: phases.len() as u64,
        lost: 0,
        lost_with_less: 0,
    };
    for phase in phases {
        let (high_water, lost) = bench.run(phase, buffer);
        proof.lost += lost;
        if high_water > proof.high_water {
            (proof.high_water, proof.phase) = (high_water, phase);
        }
    }
    let less = buffer.saturating_sub(set.derivation.latency.mtu * 2);
    proof.lost_with_less = bench.run(proof.phase, less).1;
    proof
}

/// The two switches and what stands fast over all phases.
struct Bench {
    topology: Topology,
    latency: Latency,
    control: FlowControl,
    buffer: Bytes,
    class_count: usize,
    duration: Span,
}

/// The rate unit of the proof's limiters is this part of the line, so that the frames of the lowest
/// rate take milliseconds and not minutes; the argument of `core::derive` does not depend on it.
const UNIT_SHIFT: u32 = 10;

impl Bench {
    pub fn new(scheme: Scheme, set: &Set) -> Bench {
        let latency = set.derivation.latency;
        let unit = Rate::bps((latency.line.as_bps() >> UNIT_SHIFT).max(1));
        let derivation = Derivation { unit, ..set.derivation };
        // A plan for more classes than a simulation has leaves the room of their messages unused.
        let class_count = usize::from(latency.classes).min(Class::COUNT_MAX);
        let fill = latency.line.tx_span(set.ingress.buffer) * 2;
        let tau = latency.tau();
        let settle = match scheme {
            Scheme::Pfc => tau * 4,
            Scheme::Cbfc => tau * 4 + cbfc::default_period(latency.line) * 2,
            // The rate falls by half in each stage, or along a line, and then to the lowest.
            _ => {
                let steps = (tau + cbfc::default_period(latency.line)) * 40;
                steps + unit.tx_span(latency.mtu * 16)
            }
        };
        Bench {
            topology: topology(&latency),
            latency,
            control: scheme.control(&derivation),
            buffer: set.ingress.buffer,
            class_count,
            duration: fill + settle,
        }
    }

    /// When the frames on the way back begin.
    fn phases(&self) -> Vec<Span> {
        let count = match self.control {
            FlowControl::Pfc(_) => 32,
            _ => 4,
        };
        let frame = self.latency.line.tx_span(self.latency.mtu);
        let of = NonZeroU64::new(count).expect("every arm gives at least one phase");
        let mut phases = Vec::from_iter((0..count).map(|n| frame.scale_up(n, of)));
        if matches!(self.control, FlowControl::Pfc(_)) {
            phases.extend(self.aimed(frame));
            phases.sort_unstable();
            phases.dedup();
        }
        phases
    }

    /// Phases in which the PAUSE falls due when a frame on the way back has just begun.
    ///
    /// The sender puts whole frames into the wait, so one more of them may fit only if the PAUSE
    /// waits for all but a few bytes of a frame, which no even sweep is sure to hit. Data arrives
    /// at S2 whole frames apart, counted from [`Bench::after`] and two wires; S2 sends the way back
    /// whole frames apart, counted from the phase and one wire.
    fn aimed(&self, frame: Span) -> impl Iterator<Item = Span> {
        let due = self.after().as_ps() + self.latency.wire.as_ps();
        let byte = self.latency.line.tx_span(Bytes::new(1)).as_ps();
        let frame = frame.as_ps();
        // At the same instant it is the PAUSE that goes first.
        [0, 1, byte, byte * 16].into_iter().map(move |ps| {
            let phase = (due % frame + frame - ps % frame) % frame;
            Span::ps(phase)
        })
    }

    /// The time at which the two senders begin.
    fn after(&self) -> Time {
        let frame = self.latency.line.tx_span(self.latency.mtu);
        Time::ZERO + self.latency.wire * 4 + frame * 4
    }

    /// The high-water mark and the number of packets lost.
    fn run(&self, phase: Span, buffer: Bytes) -> (Bytes, u64) {
        let config = self.config(phase, buffer);
        let outcome = pauseless_sim::run(&config);
        let (node, port) = under_test(&self.topology);
        let held = outcome.queues.iter().filter(|queue| (queue.node, queue.port) == (node, port));
        let most = held.map(|queue| queue.max).max().unwrap_or(Bytes::ZERO);
        (most, outcome.lost_packets)
    }

    fn config(&self, phase: Span, buffer: Bytes) -> Config {
        let topology = self.topology.clone();
        let tie_break = TieBreak::Lowest;
        let routes = RouteBuilder::new(&topology, Multipath::Single { tie_break }).build();
        let planned = Ingress { control: self.control, buffer: self.buffer };
        let mut ingress = IngressTable::uniform(&topology, self.class_count, planned);
        let (node, port) = under_test(&topology);
        let sink = named(&topology, "H3");
        for class in (0..self.class_count as u8).map(Class) {
            ingress.get_mut(node, port, class).buffer = buffer;
            // Not a single credit: nothing is ever sent to this host.
            ingress.get_mut(sink, PortId(0), class).control = FlowControl::Cbfc(cbfc::Config {
                capacity: Bytes::ZERO,
                period: Span::s(1),
                counters: cbfc::Counters::Wide,
            });
        }
        let mut flows = self.flows(phase);
        for flow in &mut flows {
            flow.group = routes.groups.of_host(flow.target);
        }
        canonical_order(&mut flows);
        Config {
            classes: ClassMap::Same,
            mitigation: Mitigation::default(),
            changes: Default::default(),
            is_tracing: false,
            replay: Replay::Off,
            table: routes.table,
            discipline: Discipline::OutputQueued,
            polling: Default::default(),
            scheduler: Scheduler::Strict,
            ingress,
            processing: self.latency.processing,
            processing_jitter: Span::ZERO,
            wire_jitter: Span::ZERO,
            wire_overhead: Bytes::ZERO,
            hardware: pauseless_sim::config::Hardware::default(),
            congestion: Congestion::NONE,
            transport: Transport::default(),
            wire_loss: WireLoss::default(),
            load_balancing: Vec::new(),
            flows,
            follows: Vec::new(),
            receivers: Vec::new(),
            duration: self.duration,
            stop: Stop::default(),
            starvation_permille: 100,
            probes: Probes::default(),
            seed: 1,
            topology,
        }
    }

    /// The frame that aligns the queue, two senders at line rate, and the frames on the way back.
    fn flows(&self, phase: Span) -> Vec<Flow> {
        let mut flows = vec![
            self.flow("data 1", "H1", "H3", Bytes::MAX, self.after()),
            self.flow("data 2", "H2", "H3", Bytes::MAX, self.after()),
            self.flow("way back", "H3", "H1", Bytes::MAX, Time::ZERO + phase),
        ];
        let odd = self.odd();
        if odd > Bytes::ZERO {
            flows.push(self.flow("align", "H1", "H3", odd, Time::ZERO));
        }
        flows
    }

    /// What the queue must begin with to stand exactly at its last threshold later.
    fn odd(&self) -> Bytes {
        let threshold = match &self.control {
            FlowControl::None | FlowControl::Outside(_) => Bytes::ZERO,
            FlowControl::Pfc(config) => config.xoff,
            // What is less than a block is never granted.
            FlowControl::Cbfc(config) => cbfc::BLOCK * (config.capacity.get() / cbfc::BLOCK.get()),
            FlowControl::GfcBuffer(config) => config.hold,
            FlowControl::GfcTime(config) => config.mapping.hold,
            FlowControl::GfcConceptual(config) => config.mapping.hold,
        };
        let frame = self.control.charge(self.latency.mtu);
        Bytes::new(threshold.get() % frame.get())
    }

    fn flow(&self, name: &str, from: &str, to: &str, size: Bytes, start: Time) -> Flow {
        let target = named(&self.topology, to);
        Flow {
            label: 0,
            ttl: Flow::TTL_NONE,
            name: name.to_string(),
            source: named(&self.topology, from),
            target,
            group: pauseless_core::id::GroupId(0),
            // Messages of lower classes go first.
            class: Class(self.class_count as u8 - 1),
            packet: self.latency.mtu,
            pace: self.latency.line,
            size,
            start,
            stop: Time::MAX,
            hash: 0,
            duty: Duty::ALWAYS,
            reaction: Reaction::None,
        }
    }
}

fn topology(latency: &Latency) -> Topology {
    let spec = LinkSpec { rate: latency.line, delay: latency.wire };
    let mut builder = TopologyBuilder::new();
    let switches = ["S1", "S2"].map(|name| builder.add_switch(name));
    builder.connect(switches[0], switches[1], spec);
    for (name, switch) in [("H1", 0), ("H2", 0), ("H3", 1)] {
        let host = builder.add_host(name);
        builder.connect(switches[switch], host, spec);
    }
    builder.build().expect("two switches and three hosts")
}

/// The ingress of S2 that faces S1.
fn under_test(topology: &Topology) -> (NodeId, PortId) {
    (named(topology, "S2"), PortId(0))
}

fn named(topology: &Topology, name: &str) -> NodeId {
    topology.node_named(name).expect("a node of the bench")
}
