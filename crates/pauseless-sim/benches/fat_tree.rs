//! Packet-hops and events per CPU second, and memory per host, on fat trees with permutation
//! traffic: `cargo bench -p pauseless-sim --bench fat_tree [-- K.. [short] [trace]]`; `trace` records
//! where pauses come from.
//!
//! A plain program, because what is wanted is one long run per case and its CPU time, not a
//! distribution over many short ones.

use std::time::Duration;

use pauseless_core::class_map::ClassMap;
use pauseless_core::congestion::{CongestionControl, dcqcn, pcn, timely};
use pauseless_core::derive::{Derivation, Latency};
use pauseless_core::flow_control::FlowControl;
use pauseless_core::host::Duty;
use pauseless_core::id::{Class, PortId};
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::Discipline;
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::generate::{LinkSpecs, Shape};
use pauseless_fabric::routing::{Multipath, RouteBuilder, Routes};
use pauseless_fabric::topology::{LinkSpec, Topology};
use pauseless_sim::config::{
    Congestion, Flow, Ingress, IngressTable, Mitigation, Probes, Reaction, Replay, Stop,
    canonical_order,
};
use pauseless_sim::rng::{Purpose, Stream, hash_name};
use pauseless_sim::{Config, Simulator};

const MTU: Bytes = Bytes::new(1_500);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let sizes: Vec<u32> = arguments
        .iter()
        .filter_map(|argument| argument.parse().ok())
        .collect();
    let sizes = if sizes.is_empty() {
        vec![4, 8, 16]
    } else {
        sizes
    };
    if let Some(scheme) = SCHEMES
        .iter()
        .find(|name| arguments.iter().any(|a| a == *name))
    {
        return measure(*sizes.last().expect("at least one"), scheme);
    }
    println!("permutation traffic, 10 Gb/s, 1 us, 300 KB per ingress, output-queued, one thread");
    println!(
        "{:>3} {:>6} {:<11} {:>12} {:>12} {:>8} {:>12} {:>12} {:>10} {:>9}",
        "k",
        "hosts",
        "control",
        "packet-hops",
        "events",
        "cpu s",
        "hops/cpu s",
        "events/cpu s",
        "B per host",
        "verdict"
    );
    for k in sizes {
        for scheme in SCHEMES {
            // A process of its own for each case, as for every run of the tool, so that none finds
            // the heap as another has left it.
            let program = std::env::current_exe().expect("this program");
            let mut case = std::process::Command::new(program);
            case.args(&arguments).args([&k.to_string(), scheme]);
            assert!(case.status().expect("it starts").success());
        }
    }
}

const SCHEMES: [&str; 5] = ["pfc", "gfc-buffer", "pfc-pcn", "pfc-dcqcn", "pfc-timely"];

fn measure(k: u32, scheme: &str) {
    let mut config = fat_tree(k, scheme);
    config.is_tracing = std::env::args().any(|argument| argument == "trace");
    let mut simulator = Simulator::new(&config);
    let begin = cpu_time();
    while simulator.advance(Time::ZERO + config.duration) {}
    let cpu = (cpu_time() - begin).as_secs_f64();
    let hosts = config.topology.host_count();
    let memory = simulator.heap_bytes() / hosts;
    let outcome = simulator.finish();
    assert_eq!(outcome.lost_packets, 0, "lossless");
    let verdict = if outcome.deadlock.is_some() {
        "deadlock"
    } else {
        "ok"
    };
    println!(
        "{k:>3} {hosts:>6} {scheme:<11} {:>12} {:>12} {cpu:>8.2} {:>11.2}M {:>11.2}M {memory:>10} {verdict:>9}",
        outcome.packet_hops,
        outcome.events,
        outcome.packet_hops as f64 / cpu / 1e6,
        outcome.events as f64 / cpu / 1e6,
    );
}

/// A fat tree of 10 Gb/s with paths by ECMP.
fn fat_tree(k: u32, scheme: &str) -> Config {
    let spec = LinkSpec {
        rate: Rate::gbps(10),
        delay: Span::us(1),
    };
    let topology = Shape::FatTree { k }
        .build(LinkSpecs::same(spec))
        .expect("an even k");
    let latency = Latency {
        mtu: MTU,
        line: spec.rate,
        wire: spec.delay,
        processing: Span::us(3),
        classes: 1,
        jitter: Span::ZERO,
        overhead: Bytes::ZERO,
    };
    let derivation = Derivation::new(latency, Bytes::kb(312));
    let control = match scheme {
        "gfc-buffer" => FlowControl::GfcBuffer(derivation.gfc_buffer(None, None)),
        _ => FlowControl::Pfc(derivation.pfc()),
    };
    let congestion = match scheme {
        "pfc-pcn" => CongestionControl::Pcn(pcn::Config::default()),
        "pfc-dcqcn" => CongestionControl::Dcqcn(dcqcn::Config::default()),
        "pfc-timely" => CongestionControl::Timely(timely::Config::per_packet(Span::us(12))),
        _ => CongestionControl::None,
    };
    let ingress = Ingress {
        control,
        buffer: derivation.buffer,
    };
    let routes = RouteBuilder::new(&topology, Multipath::Ecmp).build();
    let mut flows = permutation(&topology, &routes);
    if congestion != CongestionControl::None {
        control_flows(&mut flows, &routes);
    }
    // About as much work for every size; a hundredth of it is enough to count instructions.
    let is_short = std::env::args().any(|argument| argument == "short");
    let work = if is_short { 240_000 } else { 24_000_000 };
    let duration = Span::us(work / u64::from(k * k * k));
    Config {
        ingress: IngressTable::uniform(&topology, 1, ingress),
        table: routes.table,
        discipline: Discipline::OutputQueued,
        classes: ClassMap::Same,
        scheduler: Scheduler::Strict,
        processing: Span::us(3),
        processing_jitter: Span::ZERO,
        wire_jitter: Span::ZERO,
        wire_overhead: Bytes::ZERO,
        hardware: pauseless_sim::config::Hardware::default(),
        receivers: Vec::new(),
        duration,
        stop: Stop::default(),
        starvation_permille: 100,
        mitigation: Mitigation::default(),
        is_tracing: false,
        replay: Replay::Off,
        probes: Probes::default(),
        seed: 1,
        flows,
        congestion: Congestion {
            control: congestion,
            ack_every: congestion.ack_every(),
        },
        follows: Vec::new(),
        topology,
    }
}

fn control_flows(flows: &mut [Flow], routes: &Routes) {
    for flow in flows {
        flow.reaction = Reaction::Controlled {
            initial: flow.pace,
            group: routes.groups.of_host(flow.source),
            class: flow.class,
        };
    }
}

/// Each host sends to the next one in a random order, without end.
fn permutation(topology: &Topology, routes: &Routes) -> Vec<Flow> {
    let mut order = topology.hosts().to_vec();
    Stream::new(1, Purpose::Workload, 0).shuffle(&mut order);
    let mut flows: Vec<Flow> = (0..order.len())
        .map(|index| {
            let (source, target) = (order[index], order[(index + 1) % order.len()]);
            let name = format!(
                "{}->{}",
                topology.node(source).name,
                topology.node(target).name
            );
            let hash = hash_name(&name);
            Flow {
                source,
                target,
                group: routes.groups.of_host(target),
                class: Class(0),
                packet: MTU,
                pace: topology.port(source, PortId(0)).rate,
                size: Bytes::MAX,
                start: Time::from_ps(Stream::new(1, Purpose::FlowStart, hash).below(5_000_000)),
                stop: Time::MAX,
                hash,
                duty: Duty::ALWAYS,
                reaction: Reaction::None,
                label: 0,
                ttl: Flow::TTL_NONE,
                name,
            }
        })
        .collect();
    canonical_order(&mut flows);
    flows
}

/// CPU time of this process, from the kernel.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/schedstat").expect("Linux");
    let nanoseconds = stat.split_whitespace().next().expect("a first field");
    Duration::from_nanos(nanoseconds.parse().expect("a number"))
}
