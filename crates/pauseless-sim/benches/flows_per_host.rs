//! CPU time per packet of a host that sends many paced flows to another one, at 90 % of the line in all:
//! `cargo bench -p pauseless-sim --bench flows_per_host [-- FLOWS..]`.
//!
//! A packet passes one switch, so the time includes two hops; with DCQCN an acknowledgement comes back for
//! each packet.

use std::time::Duration;

use pauseless_core::class_map::ClassMap;
use pauseless_core::congestion::{CongestionControl, dcqcn};
use pauseless_core::derive::{Derivation, Latency};
use pauseless_core::flow_control::FlowControl;
use pauseless_core::host::Duty;
use pauseless_core::id::{Class, PortId};
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::Discipline;
use pauseless_core::transport::Transport;
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::generate::{LinkSpecs, NToOne, Shape};
use pauseless_fabric::routing::{Multipath, RouteBuilder, Routes};
use pauseless_fabric::topology::{LinkSpec, Topology};
use pauseless_sim::config::{
    Congestion, Flow, Hardware, Ingress, IngressTable, Mitigation, Probes, Reaction, Replay, Stop,
    WireLoss, canonical_order,
};
use pauseless_sim::rng::{Purpose, Stream, hash_name};
use pauseless_sim::{Config, Parallel};

const MTU: Bytes = Bytes::new(1_500);
const LINE: Rate = Rate::gbps(100);

fn main() {
    let counts: Vec<u64> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let counts = if counts.is_empty() { vec![10, 100, 1_000, 10_000] } else { counts };
    println!(
        "{:>6} {:<10} {:>10} {:>10} {:>8} {:>13}",
        "flows", "control", "packets", "events", "cpu s", "ns per packet"
    );
    for is_controlled in [false, true] {
        for count in &counts {
            measure(*count, is_controlled);
        }
    }
}

fn measure(count: u64, is_controlled: bool) {
    let config = one_source(count, is_controlled);
    let mut simulator = Parallel::new(&config, 1);
    let begin = cpu_time();
    while simulator.advance(Time::ZERO + config.duration) {}
    let cpu = (cpu_time() - begin).as_secs_f64();
    let outcome = simulator.finish();
    assert_eq!(outcome.lost_packets, 0, "lossless");
    let delivered: Bytes = outcome.flows.iter().map(|flow| flow.delivered).sum();
    let packets = delivered.get() / MTU.get();
    let control = if is_controlled { "dcqcn-ack" } else { "none" };
    println!(
        "{count:>6} {control:<10} {packets:>10} {:>10} {cpu:>8.2} {:>13.0}",
        outcome.events,
        cpu / packets as f64 * 1e9
    );
}

/// A host with `count` flows to another one, each with its share of 90 % of the line.
fn one_source(count: u64, is_controlled: bool) -> Config {
    let spec = LinkSpec { rate: LINE, delay: Span::us(1) };
    let topology = NToOne { senders: 1 }.build(LinkSpecs::same(spec)).expect("a small network");
    let latency = Latency {
        mtu: MTU,
        line: spec.rate,
        wire: spec.delay,
        processing: Span::us(3),
        classes: 1,
        jitter: Span::ZERO,
        overhead: Bytes::ZERO,
        clock_ppb: 0,
    };
    let derivation = Derivation::new(latency, Bytes::mb(3));
    let ingress =
        Ingress { control: FlowControl::Pfc(derivation.pfc()), buffer: derivation.buffer };
    let routes = RouteBuilder::new(&topology, Multipath::Ecmp).build();
    let control = if is_controlled {
        CongestionControl::Dcqcn(dcqcn::Config::default())
    } else {
        CongestionControl::None
    };
    Config {
        ingress: IngressTable::uniform(&topology, 1, ingress),
        flows: flows(count, is_controlled, &topology, &routes),
        table: routes.table,
        discipline: Discipline::OutputQueued,
        polling: Default::default(),
        classes: ClassMap::Same,
        scheduler: Scheduler::Strict,
        processing: Span::us(3),
        processing_jitter: Span::ZERO,
        wire_jitter: Span::ZERO,
        wire_overhead: Bytes::ZERO,
        hardware: Hardware::default(),
        receivers: Vec::new(),
        duration: Span::ms(20),
        stop: Stop::default(),
        starvation_permille: 100,
        mitigation: Mitigation::default(),
        changes: Default::default(),
        is_tracing: false,
        replay: Replay::Off,
        probes: Probes::default(),
        seed: 1,
        congestion: Congestion { control, ack_every: u32::from(is_controlled) },
        transport: Transport::default(),
        wire_loss: WireLoss::default(),
        load_balancing: Vec::new(),
        follows: Vec::new(),
        topology,
    }
}

fn flows(count: u64, is_controlled: bool, topology: &Topology, routes: &Routes) -> Vec<Flow> {
    let [source, target] = [0, 1].map(|host| topology.hosts()[host]);
    let line = topology.port(source, PortId(0)).rate;
    let reaction = if is_controlled {
        Reaction::Controlled {
            // Flows at their full rate have no timers until they are marked.
            initial: line,
            group: routes.groups.of_host(source),
            class: Class(0),
            window: Bytes::MAX,
            round_trip: Span::ZERO,
        }
    } else {
        Reaction::None
    };
    let flow = |number| {
        let name = format!("flow {number}");
        let hash = hash_name(&name);
        Flow {
            source,
            target,
            group: routes.groups.of_host(target),
            class: Class(0),
            packet: MTU,
            pace: Rate::bps(line.as_bps() / 10 * 9 / count),
            size: Bytes::MAX,
            start: Time::from_ps(Stream::new(1, Purpose::FlowStart, hash).below(4_000_000_000)),
            stop: Time::MAX,
            hash,
            duty: Duty::ALWAYS,
            reaction,
            label: 0,
            ttl: Flow::TTL_NONE,
            name,
        }
    };
    let mut flows = Vec::from_iter((0..count).map(flow));
    canonical_order(&mut flows);
    flows
}

/// CPU time of this process, from the kernel.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/schedstat").expect("Linux");
    let nanoseconds = stat.split_whitespace().next().expect("a first field");
    Duration::from_nanos(nanoseconds.parse().expect("a number"))
}
