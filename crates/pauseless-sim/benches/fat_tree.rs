//! Packet-hops and events per CPU second, and memory per host, on fat trees with permutation
//! traffic: `cargo bench -p pauseless-sim --bench fat_tree [-- K.. [CONTROL] [100g] [short] [trace]]`.
//! `100g` is links of 100 Gb/s instead of 10 Gb/s, `trace` records where pauses come from.
//!
//! A plain program, because what is wanted is one long run per case and its CPU time, not a
//! distribution over many short ones.

use std::time::{Duration, Instant};

use pauseless_core::class_map::ClassMap;
use pauseless_core::congestion::{CongestionControl, dcqcn, pcn, timely};
use pauseless_core::derive::{Derivation, Latency};
use pauseless_core::flow_control::FlowControl;
use pauseless_core::host::Duty;
use pauseless_core::id::{Class, PortId};
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::Discipline;
use pauseless_core::transport::Transport;
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::generate::{FatTree, LinkSpecs, Shape};
use pauseless_fabric::routing::{Multipath, RouteBuilder, Routes};
use pauseless_fabric::topology::{LinkSpec, Topology};
use pauseless_sim::config::{
    Congestion, Flow, Ingress, IngressTable, Mitigation, Probes, Reaction, Replay, Stop, WireLoss,
    canonical_order,
};
use pauseless_sim::rng::{Purpose, Stream, hash_name};
use pauseless_sim::{Config, Parallel};

const MTU: Bytes = Bytes::new(1_500);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let sizes: Vec<u32> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![4, 8, 16] } else { sizes };
    if let Some(scheme) = SCHEMES.iter().find(|name| arguments.iter().any(|a| a == *name)) {
        return measure(*sizes.last().expect("at least one"), scheme);
    }
    println!("permutation traffic, {}, 1 us, output-queued, one thread", line());
    println!(
        "{:>3} {:>6} {:<13} {:>12} {:>12} {:>8} {:>12} {:>12} {:>10} {:>9}",
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

/// DCQCN has no acknowledgements of its own; `-ack` has one per packet, as NICs that retransmit do.
const SCHEMES: [&str; 6] =
    ["pfc", "gfc-buffer", "pfc-pcn", "pfc-dcqcn", "pfc-dcqcn-ack", "pfc-timely"];

/// The rate of all links.
fn line() -> Rate {
    let is_fast = std::env::args().any(|argument| argument == "100g");
    Rate::gbps(if is_fast { 100 } else { 10 })
}

fn measure(k: u32, scheme: &str) {
    let mut config = fat_tree(k, scheme);
    config.is_tracing = std::env::args().any(|argument| argument == "trace");
    if let Some(threads) = number("threads=") {
        return measure_parallel(&config, threads, scheme);
    }
    let mut simulator = Parallel::new(&config, 1);
    let begin = cpu_time();
    while simulator.advance(Time::ZERO + config.duration) {}
    let cpu = (cpu_time() - begin).as_secs_f64();
    let hosts = config.topology.host_count();
    let memory = simulator.heap_bytes() / hosts;
    let outcome = simulator.finish();
    assert_eq!(outcome.lost_packets, 0, "lossless");
    let verdict = if outcome.deadlock.is_some() { "deadlock" } else { "ok" };
    println!(
        "{k:>3} {hosts:>6} {scheme:<13} {:>12} {:>12} {cpu:>8.2} {:>11.2}M {:>11.2}M {memory:>10} {verdict:>9}",
        outcome.packet_hops,
        outcome.events,
        outcome.packet_hops as f64 / cpu / 1e6,
        outcome.events as f64 / cpu / 1e6,
    );
}

/// The number after `name` on the command line.
fn number(name: &str) -> Option<usize> {
    std::env::args().find_map(|argument| argument.strip_prefix(name)?.parse().ok())
}

/// The same on many threads, by the wall clock; `parts=` says into how many parts the run is divided.
#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark measures the machine, not simulated time"
)]
fn measure_parallel(config: &Config, threads: usize, scheme: &str) {
    let mut simulator = match number("parts=") {
        Some(parts) => Parallel::in_parts(config, threads, parts),
        None => Parallel::new(config, threads),
    };
    let begin = Instant::now();
    while simulator.advance(Time::ZERO + config.duration) {}
    let wall = begin.elapsed().as_secs_f64();
    let (parts, memory) = (simulator.part_count(), simulator.heap_bytes() >> 20);
    let hops = simulator.finish().packet_hops;
    let hosts = config.topology.host_count();
    println!(
        "{hosts:>6} hosts {scheme:<13} {threads:>2} threads {parts:>3} parts {memory:>6} MiB {wall:>8.2} wall s {:>8.2}M hops/wall s",
        hops as f64 / wall / 1e6
    );
}

/// A fat tree with paths by ECMP.
fn fat_tree(k: u32, scheme: &str) -> Config {
    let spec = LinkSpec { rate: line(), delay: Span::us(1) };
    let topology = FatTree { k }.build(LinkSpecs::same(spec)).expect("an even k");
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
    // Room for the same number of round trips at any rate.
    let factor = spec.rate.as_bps() / Rate::gbps(10).as_bps();
    let derivation = Derivation::new(latency, Bytes::kb(312 * factor));
    let control = match scheme {
        "gfc-buffer" => FlowControl::GfcBuffer(derivation.gfc_buffer(None, None)),
        _ => FlowControl::Pfc(derivation.pfc()),
    };
    let congestion = congestion_of(scheme);
    let ingress = Ingress { control, buffer: derivation.buffer };
    let routes = RouteBuilder::new(&topology, Multipath::Ecmp).build();
    let mut flows = permutation(&topology, &routes);
    if congestion != CongestionControl::None {
        control_flows(&mut flows, &routes);
    }
    // About as much work for every size; a hundredth of it is enough to count instructions.
    let is_short = std::env::args().any(|argument| argument == "short");
    let work = if is_short { 240_000 } else { 24_000_000 };
    let duration = Span::ns(1_000 * work / u64::from(k * k * k) / factor);
    Config {
        ingress: IngressTable::uniform(&topology, 1, ingress),
        table: routes.table,
        discipline: Discipline::OutputQueued,
        polling: Default::default(),
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
        changes: Default::default(),
        is_tracing: false,
        replay: Replay::Off,
        probes: Probes::default(),
        seed: 1,
        flows,
        congestion: Congestion {
            control: congestion,
            ack_every: match scheme {
                "pfc-dcqcn-ack" => 1,
                _ => congestion.ack_every(),
            },
        },
        transport: Transport::default(),
        wire_loss: WireLoss::default(),
        load_balancing: Vec::new(),
        follows: Vec::new(),
        topology,
    }
}

fn congestion_of(scheme: &str) -> CongestionControl {
    match scheme {
        "pfc-pcn" => CongestionControl::Pcn(pcn::Config::default()),
        "pfc-dcqcn" | "pfc-dcqcn-ack" => CongestionControl::Dcqcn(dcqcn::Config::default()),
        "pfc-timely" => CongestionControl::Timely(timely::Config::per_packet(Span::us(12))),
        _ => CongestionControl::None,
    }
}

fn control_flows(flows: &mut [Flow], routes: &Routes) {
    for flow in flows {
        flow.reaction = Reaction::Controlled {
            initial: flow.pace,
            group: routes.groups.of_host(flow.source),
            class: flow.class,
            window: Bytes::MAX,
            round_trip: Span::ZERO,
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
            let name = format!("{}->{}", topology.node(source).name, topology.node(target).name);
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
