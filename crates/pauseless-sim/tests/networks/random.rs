//! Random small networks: switches in a ring with chords, flows along random paths.

use pauseless_core::class_map::ClassMap;
use pauseless_core::derive::{Derivation, GUARD_FRAMES_MIN, Latency};
use pauseless_core::flow_control::{FlowControl, cbfc};
use pauseless_core::host::Duty;
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::Discipline;
use pauseless_core::transport::Transport;
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::builder::TopologyBuilder;
use pauseless_fabric::routing::{Multipath, RouteBuilder};
use pauseless_fabric::topology::{LinkSpec, Topology};
use pauseless_sim::Config;
use pauseless_sim::clock::Clocks;
use pauseless_sim::config::{
    Congestion, Flow, Hardware, Ingress, IngressTable, Mitigation, Probes, Reaction, Receiver,
    Replay, Stop, WireLoss, canonical_order,
};
use pauseless_sim::rng::{Purpose, Stream};

use super::MTU;

/// How wild a network may be.
#[derive(Clone, Copy, Debug)]
pub struct Wildness {
    /// Which flow control: 0 PFC, 1 CBFC, 2 buffer-based, 3 time-based, 4 conceptual GFC.
    pub scheme: u64,
    /// Hosts that take packets slowly or not at all for a while.
    pub slow_receivers: bool,
}

/// A network, its traffic and its parameters, all from `seed`. Sources stop after 400 us.
pub fn random_network(seed: u64, wildness: Wildness) -> Config {
    random_network_of(seed, wildness, None)
}

/// The same with so many classes, if that is said.
pub fn random_network_of(seed: u64, wildness: Wildness, class_count: Option<usize>) -> Config {
    drawn_network(seed, wildness, class_count, Clocks::default())
}

/// The same with clocks that deviate, which the thresholds allow for.
pub fn random_network_by_clocks(seed: u64, wildness: Wildness, clocks: Clocks) -> Config {
    drawn_network(seed, wildness, None, clocks)
}

fn drawn_network(
    seed: u64,
    wildness: Wildness,
    class_count: Option<usize>,
    clocks: Clocks,
) -> Config {
    let mut random = Stream::new(seed, Purpose::Workload, wildness.scheme);
    let topology = random_topology(&mut random);
    let drawn = 1 + random.below(3) as usize;
    let class_count = class_count.unwrap_or(drawn);
    let processing = Span::ns(random.below(4_000));
    let latency = Latency {
        mtu: MTU,
        line: topology.links()[0].rate,
        wire: topology.links()[0].delay,
        processing,
        classes: class_count as u8,
        jitter: Span::ZERO,
        overhead: Bytes::new(20),
        clock_ppb: clocks.deviation_max_ppb,
    };
    let ingress = random_ingress(&mut random, &topology, wildness.scheme, latency);
    let (flows, table) = random_flows(&mut random, &topology, class_count);
    let receivers =
        if wildness.slow_receivers { random_receivers(&mut random, &topology) } else { Vec::new() };
    let discipline = Discipline::COMMON[random.below(3) as usize];
    let scheduler = match random.below(2) {
        0 => Scheduler::Strict,
        _ => Scheduler::Weighted([1, 3, 2, 1, 1, 1, 1, 1]),
    };
    Config {
        table,
        discipline,
        polling: Default::default(),
        classes: ClassMap::Same,
        scheduler,
        ingress,
        processing,
        processing_jitter: Span::ZERO,
        wire_jitter: Span::ZERO,
        wire_overhead: Bytes::new(random.below(2) * 20),
        hardware: Hardware { clocks, ..Hardware::default() },
        flows,
        congestion: Congestion::NONE,
        transport: Transport::default(),
        wire_loss: WireLoss::default(),
        load_balancing: Vec::new(),
        follows: Vec::new(),
        receivers,
        duration: Span::ms(3),
        stop: Stop::default(),
        starvation_permille: 100,
        mitigation: Mitigation::default(),
        changes: Default::default(),
        is_tracing: false,
        replay: Replay::Off,
        probes: Probes::default(),
        seed,
        topology,
    }
}

fn random_topology(random: &mut Stream) -> Topology {
    let mut builder = TopologyBuilder::new();
    let count = 3 + random.below(4) as usize;
    let switches: Vec<NodeId> = (0..count).map(|n| builder.add_switch(format!("S{n}"))).collect();
    let delay = Span::ns(random.below(2_000));
    let spec = LinkSpec { rate: Rate::gbps(10), delay };
    for n in 0..count {
        builder.connect(switches[n], switches[(n + 1) % count], spec);
    }
    for _ in 0..random.below(3) {
        let (a, b) = (random.below(count as u64) as usize, random.below(count as u64) as usize);
        if a != b {
            builder.connect(switches[a], switches[b], spec);
        }
    }
    for (n, switch) in switches.iter().enumerate() {
        for m in 0..1 + random.below(2) {
            let host = builder.add_host(format!("H{n}x{m}"));
            builder.connect(*switch, host, spec);
        }
    }
    builder.build().expect("a ring with chords")
}

/// Buffers a few frames larger than they must be, so that they fill in microseconds.
fn random_ingress(
    random: &mut Stream,
    topology: &Topology,
    scheme: u64,
    latency: Latency,
) -> IngressTable {
    let mut derivation = Derivation::new(latency, Bytes::ZERO);
    derivation.guard_frames = GUARD_FRAMES_MIN + random.below(4);
    // The lowest rates last for seconds; a coarser unit brings them into this test's reach.
    derivation.unit = Rate::mbps(1);
    let period = cbfc::default_period(latency.line);
    let least = match scheme {
        0 => latency.pfc_headroom() + MTU * 4,
        1 => MTU * 4,
        2 => derivation.guard() + pauseless_core::derive::buffer_width(&latency),
        3 => derivation.guard() + pauseless_core::derive::time_width(&latency, period),
        _ => derivation.guard() + pauseless_core::derive::conceptual_width(&latency),
    };
    derivation.buffer = least + MTU * random.below(20);
    let control = match scheme {
        0 => FlowControl::Pfc(derivation.pfc()),
        1 => FlowControl::Cbfc(cbfc::Config {
            period: Span::us(2 + random.below(10)),
            counters: [cbfc::Counters::Iba, cbfc::Counters::Wide][random.below(2) as usize],
            ..derivation.cbfc()
        }),
        2 => FlowControl::GfcBuffer(derivation.gfc_buffer(None, None)),
        3 => FlowControl::GfcTime(derivation.gfc_time(None, None, None)),
        _ => FlowControl::GfcConceptual(derivation.gfc_conceptual(None, None)),
    };
    assert_eq!(derivation.check(&control), Ok(()));
    let buffer = derivation.buffer;
    IngressTable::uniform(topology, latency.classes.into(), Ingress { control, buffer })
}

fn random_flows(
    random: &mut Stream,
    topology: &Topology,
    class_count: usize,
) -> (Vec<Flow>, pauseless_core::table::ForwardingTable) {
    let mut builder = RouteBuilder::new(topology, Multipath::Ecmp);
    let mut flows = Vec::new();
    let is_around = random.below(4) > 0;
    let around = if is_around { topology.switches().len() as u64 } else { 0 };
    for index in 0..around + 3 + random.below(6) {
        let path = if index < around {
            path_around(random, topology, index as usize)
        } else {
            random_path(random, topology)
        };
        let (source, target) = (path[0], path[path.len() - 1]);
        let start = Time::from_ps(random.below(20_000_000));
        flows.push(Flow {
            name: format!("F{index:02}"),
            source,
            target,
            group: builder.add_path(&path).expect("a path"),
            class: if index < around {
                Class(0)
            } else {
                Class(random.below(class_count as u64) as u8)
            },
            packet: Bytes::new(64 + random.below(MTU.get() - 63)),
            pace: match random.below(3) {
                0 if index >= around => Rate::mbps(100 + random.below(9_000)),
                _ => topology.port(source, PortId(0)).rate,
            },
            size: match random.below(4) {
                0 if index >= around => Bytes::kb(1 + random.below(300)),
                _ => Bytes::MAX,
            },
            start,
            stop: Time::ZERO + Span::us(400),
            hash: random.next_u64(),
            duty: Duty::ALWAYS,
            reaction: Reaction::None,
            label: 0,
            ttl: Flow::TTL_NONE,
        });
    }
    canonical_order(&mut flows);
    (flows, builder.build().table)
}

/// From a host of switch `first` two or three links around the ring.
fn path_around(random: &mut Stream, topology: &Topology, first: usize) -> Vec<NodeId> {
    let count = topology.switches().len();
    let host_of = |switch: NodeId| {
        let mut ports = topology.ports(switch).iter().map(|port| port.peer);
        ports.find(|node| topology.is_host(*node)).expect("every switch has a host")
    };
    let length = 3 + random.below(2.min(count as u64 - 2)) as usize;
    let around = (0..length).map(|step| topology.switches()[(first + step) % count]);
    let switches: Vec<NodeId> = around.collect();
    let mut path = vec![host_of(switches[0])];
    path.extend(&switches);
    path.push(host_of(switches[length - 1]));
    path
}

/// A walk over switches that visits none twice, from a host to another.
fn random_path(random: &mut Stream, topology: &Topology) -> Vec<NodeId> {
    loop {
        let source = topology.hosts()[random.below(topology.host_count() as u64) as usize];
        let mut path = vec![source, topology.port(source, PortId(0)).peer];
        for _ in 0..1 + random.below(5) {
            let here = path[path.len() - 1];
            let ports = topology.ports(here);
            let next = ports[random.below(ports.len() as u64) as usize].peer;
            if !topology.is_host(next) && !path.contains(&next) {
                path.push(next);
            }
        }
        let last = path[path.len() - 1];
        let ports = topology.ports(last).iter().map(|port| port.peer);
        let mut targets = ports.filter(|node| topology.is_host(*node) && *node != source);
        let target = targets.next_back();
        if let Some(target) = target {
            path.push(target);
            return path;
        }
    }
}

/// Every host takes packets at changing paces, sometimes at none, and at full speed in the end.
fn random_receivers(random: &mut Stream, topology: &Topology) -> Vec<Receiver> {
    let mut receivers = Vec::new();
    for host in topology.hosts() {
        let mut steps = Vec::new();
        let mut at = 0;
        while at < 500 {
            let pace = match random.below(3) {
                0 => None,
                _ => Some(Rate::mbps(50 + random.below(12_000))),
            };
            steps.push((Time::ZERO + Span::us(at), pace));
            at += 5 + random.below(100);
        }
        steps.push((Time::ZERO + Span::us(500), Some(Rate::gbps(100))));
        receivers.push(Receiver { host: *host, steps });
    }
    receivers
}
