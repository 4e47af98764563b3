//! Networks that several tests run on, with the papers' parameters.
#![allow(dead_code, reason = "every test binary uses some of these")]

pub mod balanced;
pub mod changing;
pub mod classed;
pub mod congestion;
pub mod diverse;
pub mod memory;
pub mod mixed;
pub mod random;

use pauseless_core::derive::{Derivation, Latency};
use pauseless_core::flow_control::limiter::TICK;
use pauseless_core::flow_control::{FlowControl, cbfc, pfc};
use pauseless_core::id::{Class, FlowId, NodeId, PortId};
use pauseless_core::switch::Discipline;
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::generate::{LinkSpecs, Ring, Shape};
use pauseless_fabric::routing::{Multipath, RouteBuilder, TieBreak};
use pauseless_fabric::topology::{LinkSpec, Topology};
use pauseless_sim::Config;
use pauseless_sim::config::{Flow, Ingress};
use pauseless_sim::rng::{Purpose, Stream};

pub const MTU: Bytes = Bytes::new(1_500);

/// A flow by the names of its hosts and, if pinned, of all nodes on its path.
pub struct Wanted {
    pub source: &'static str,
    pub target: &'static str,
    pub path: &'static [&'static str],
}

/// A configuration with endless greedy flows, each starting within 5 us.
pub fn network(topology: Topology, wanted: &[Wanted], ingress: Ingress, seed: u64) -> Config {
    let named = |name: &str| topology.node_named(name).expect("a node of that name");
    let tie_break = TieBreak::Lowest;
    let mut builder = RouteBuilder::new(&topology, Multipath::Single { tie_break });
    let groups: Vec<_> = wanted
        .iter()
        .map(|flow| {
            let path: Vec<NodeId> = flow.path.iter().map(|name| named(name)).collect();
            (!path.is_empty()).then(|| builder.add_path(&path).expect("a path"))
        })
        .collect();
    let routes = builder.build();
    let flows: Vec<Flow> = wanted
        .iter()
        .zip(groups)
        .map(|(flow, group)| {
            let (source, target) = (named(flow.source), named(flow.target));
            let group = group.unwrap_or_else(|| routes.groups.of_host(target));
            let flow = Flow::greedy(&topology, source, target, group);
            let offset = Stream::new(seed, Purpose::FlowStart, flow.hash).below(5_000_000);
            Flow { start: Time::from_ps(offset), ..flow }
        })
        .collect();
    Config { seed, ..Config::new(topology, routes.table, ingress, flows) }
}

/// The schemes of the GFC paper's experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Pfc,
    Cbfc,
    GfcBuffer,
    GfcTime,
}

impl Scheme {
    pub const ALL: [Scheme; 4] = [Scheme::Pfc, Scheme::Cbfc, Scheme::GfcBuffer, Scheme::GfcTime];
}

/// The GFC paper's ring (Fig. 1, 9, 10) with its testbed's parameters: 1 MB, tau 90 us.
pub fn gfc_ring(scheme: Scheme, discipline: Discipline, seed: u64) -> Config {
    let spec = LinkSpec { rate: Rate::gbps(10), delay: Span::us(1) };
    let shape = Ring { switches: 3, hosts_per_switch: 1 };
    let topology = shape.build(LinkSpecs::same(spec)).expect("a ring");
    let flows = [
        Wanted { source: "H1", target: "H3", path: &["H1", "S1", "S2", "S3", "H3"] },
        Wanted { source: "H2", target: "H1", path: &["H2", "S2", "S3", "S1", "H1"] },
        Wanted { source: "H3", target: "H2", path: &["H3", "S3", "S1", "S2", "H2"] },
    ];
    let mut config = network(topology, &flows, ring_ingress(scheme), seed);
    config.processing = Span::us(85);
    config.discipline = discipline;
    config.duration = Span::ms(100);
    if discipline.blocks_heads() && matches!(scheme, Scheme::GfcBuffer | Scheme::GfcTime) {
        pace(&mut config);
    }
    config
}

/// Lets every egress rest for a tick of a rate limiter after each frame.
pub fn pace(config: &mut Config) {
    for node in (0..config.topology.nodes().len() as u32).map(NodeId) {
        for port in (0..config.topology.ports(node).len() as u16).map(PortId) {
            for class in (0..config.ingress.class_count() as u8).map(Class) {
                config.ingress.pace(node, port, class, TICK);
            }
        }
    }
}

/// The derivation of the ring's links.
pub fn ring_derivation() -> Derivation {
    let latency = Latency {
        mtu: MTU,
        line: Rate::gbps(10),
        wire: Span::us(1),
        processing: Span::us(85),
        classes: 1,
        jitter: Span::ZERO,
        overhead: Bytes::ZERO,
        clock_ppb: 0,
    };
    Derivation::new(latency, Bytes::mb(1) + MTU * 8)
}

fn ring_ingress(scheme: Scheme) -> Ingress {
    let derivation = ring_derivation();
    let bm = Some(Bytes::mb(1));
    let period = Span::ns(52_400);
    let control = match scheme {
        Scheme::Pfc => FlowControl::Pfc(pfc::Config {
            xoff: Bytes::kb(800),
            xon: Bytes::kb(797),
            quanta: pfc::QUANTA_MAX,
        }),
        Scheme::Cbfc => FlowControl::Cbfc(cbfc::Config {
            capacity: Bytes::mb(1),
            period,
            counters: cbfc::Counters::Wide,
        }),
        Scheme::GfcBuffer => {
            FlowControl::GfcBuffer(derivation.gfc_buffer(bm, Some(Bytes::kb(750))))
        }
        Scheme::GfcTime => {
            FlowControl::GfcTime(derivation.gfc_time(bm, Some(Bytes::kb(492)), Some(period)))
        }
    };
    assert_eq!(derivation.check(&control), Ok(()), "the paper's parameters are safe");
    Ingress { control, buffer: derivation.buffer }
}

/// Lowers the thresholds of the ring's host ports: traffic that enters the cycle yields.
pub fn make_cycle_aware(config: &mut Config, control: FlowControl) {
    for switch in config.topology.switches().to_vec() {
        for port in 0..config.topology.ports(switch).len() {
            let port = PortId(port as u16);
            if config.topology.is_host(config.topology.port(switch, port).peer) {
                config.ingress.get_mut(switch, port, Class(0)).control = control;
            }
        }
    }
}

/// Stops all sources at `time`.
pub fn stop_sources(config: &mut Config, time: Time) {
    for flow in &mut config.flows {
        flow.stop = time;
    }
}

/// The port of `node` that faces `neighbour`.
pub fn port(config: &Config, name: &str) -> (NodeId, PortId) {
    config.topology.port_named(name).expect("a port of that name")
}

/// The flow of that name.
pub fn flow(config: &Config, name: &str) -> FlowId {
    let position = config.flows.iter().position(|flow| flow.name == name);
    FlowId(position.expect("a flow of that name") as u32)
}

/// Buffer-based GFC parameters that throttle early.
pub fn early_buffer(bm: Bytes, b1: Bytes) -> FlowControl {
    let config = ring_derivation().gfc_buffer(Some(bm), Some(b1));
    FlowControl::GfcBuffer(config)
}

/// Time-based GFC parameters that throttle early.
pub fn early_time(bm: Bytes, b0: Bytes) -> FlowControl {
    let config = ring_derivation().gfc_time(Some(bm), Some(b0), Some(Span::ns(52_400)));
    FlowControl::GfcTime(config)
}
