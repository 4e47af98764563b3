//! Why a tick of rest keeps a ring from filling, what it can bear, and where it does not help.
//!
//! W counts the packets that have entered the cycle and have another of its links to cross. These tests
//! measure how fast it grows below all thresholds: docs/paced.md has the argument.

mod networks;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use networks::{Wanted, network};
use pauseless_core::flow_control::{FlowControl, pfc};
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::switch::{Arbiter, Discipline};
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::generate::{LinkSpecs, Ring, Shape};
use pauseless_fabric::topology::LinkSpec;
use pauseless_sim::Simulator;
use pauseless_sim::config::{Config, Ingress};
use pauseless_sim::tap::{Direction, Seen, Spot, Tap};

/// A tick of the countdown of GFC's rate limiters (GFC 5.3).
const TICK: Span = Span::ps(1_200);
const FIFO_FIRST: Discipline = Discipline::InputQueued(Arbiter::FifoFirst);
const SLOTTED: Discipline = Discipline::InputQueued(Arbiter::Slotted);

/// Each crosses two links of a ring of three.
const TWO_LINKS: &[Wanted] = &[
    Wanted { source: "H1", target: "H3", path: &["H1", "S1", "S2", "S3", "H3"] },
    Wanted { source: "H2", target: "H1", path: &["H2", "S2", "S3", "S1", "H1"] },
    Wanted { source: "H3", target: "H2", path: &["H3", "S3", "S1", "S2", "H2"] },
];

/// The same with two hosts at each switch.
const TWO_HOSTS: &[Wanted] = &[
    Wanted { source: "H1a", target: "H3a", path: &["H1a", "S1", "S2", "S3", "H3a"] },
    Wanted { source: "H1b", target: "H3b", path: &["H1b", "S1", "S2", "S3", "H3b"] },
    Wanted { source: "H2a", target: "H1a", path: &["H2a", "S2", "S3", "S1", "H1a"] },
    Wanted { source: "H2b", target: "H1b", path: &["H2b", "S2", "S3", "S1", "H1b"] },
    Wanted { source: "H3a", target: "H2a", path: &["H3a", "S3", "S1", "S2", "H2a"] },
    Wanted { source: "H3b", target: "H2b", path: &["H3b", "S3", "S1", "S2", "H2b"] },
];

/// Each crosses three links of a ring of four.
const THREE_LINKS: &[Wanted] = &[
    Wanted { source: "H1", target: "H4", path: &["H1", "S1", "S2", "S3", "S4", "H4"] },
    Wanted { source: "H2", target: "H1", path: &["H2", "S2", "S3", "S4", "S1", "H1"] },
    Wanted { source: "H3", target: "H2", path: &["H3", "S3", "S4", "S1", "S2", "H2"] },
    Wanted { source: "H4", target: "H3", path: &["H4", "S4", "S1", "S2", "S3", "H3"] },
];

/// A ring whose thresholds nothing reaches, with egresses that rest for `tick`.
fn ring(wanted: &[Wanted], discipline: Discipline, tick: Span) -> Config {
    let switches = if wanted.len() == 4 { 4 } else { 3 };
    let shape = Ring { switches, hosts_per_switch: if wanted.len() == 6 { 2 } else { 1 } };
    let spec = LinkSpec { rate: Rate::gbps(10), delay: Span::us(1) };
    let topology = shape.build(LinkSpecs::same(spec)).expect("a ring");
    let control = FlowControl::Pfc(pfc::Config {
        xoff: Bytes::mb(80),
        xon: Bytes::mb(79),
        quanta: pfc::UNTIL_RESUMED,
    });
    let ingress = Ingress { control, buffer: Bytes::mb(100) };
    let mut config = network(topology, wanted, ingress, 1);
    config.discipline = discipline;
    config.duration = Span::ms(8);
    for switch in config.topology.switches().to_vec() {
        for port in 0..config.topology.ports(switch).len() as u16 {
            config.ingress.pace(switch, PortId(port), Class(0), tick);
        }
    }
    config
}

/// What the links of the cycle have done to W.
#[derive(Debug, Default)]
struct Cycle {
    /// By flow, the switches at the beginning of its first and of its last link of the cycle.
    ways: Vec<(NodeId, NodeId)>,
    /// The port of each switch that sends into the cycle.
    links: BTreeMap<NodeId, PortId>,
    /// Only what begins from here on counts.
    from: Time,
    /// The packets that have begun to cross a link.
    crossed: u64,
    w: i64,
}

struct Watch(Arc<Mutex<Cycle>>);

impl Tap for Watch {
    fn see(&mut self, time: Time, spot: Spot, frame: Seen) {
        let mut cycle = self.0.lock().expect("one thread");
        let is_cycle = spot.direction == Direction::Out
            && cycle.links.get(&spot.node) == Some(&spot.port)
            && time >= cycle.from;
        if let (true, Seen::Data { flow, .. }) = (is_cycle, frame) {
            let (first, last) = cycle.ways[flow.index()];
            cycle.crossed += 1;
            cycle.w += i64::from(first == spot.node) - i64::from(last == spot.node);
        }
    }
}

/// By how many packets W grows for each that a link of the cycle sends, from `from` on.
fn growth(wanted: &[Wanted], config: &Config, from: Span) -> f64 {
    let topology = &config.topology;
    let named = |name: &str| topology.node_named(name).expect("a node of the ring");
    let mut cycle = Cycle { from: Time::ZERO + from, ..Cycle::default() };
    for flow in &config.flows {
        let is_it =
            |it: &&Wanted| named(it.source) == flow.source && named(it.target) == flow.target;
        let path = wanted.iter().find(is_it).expect("a flow of the ring").path;
        let on_cycle = &path[1..path.len() - 1];
        cycle.ways.push((named(on_cycle[0]), named(on_cycle[on_cycle.len() - 2])));
        let (begin, end) = (named(on_cycle[0]), named(on_cycle[1]));
        let port = topology.ports(begin).iter().position(|port| port.peer == end);
        cycle.links.insert(begin, PortId(port.expect("a link of the ring") as u16));
    }
    let cycle = Arc::new(Mutex::new(cycle));
    let mut simulator = Simulator::new(config);
    simulator.set_tap(Box::new(Watch(cycle.clone())));
    let outcome = simulator.run();
    assert_eq!(
        (outcome.lost_packets, outcome.pause_frames),
        (0, 0),
        "the test is about free egresses"
    );
    let cycle = cycle.lock().expect("the run is over");
    assert!(cycle.crossed > 9_000, "{} packets", cycle.crossed);
    cycle.w as f64 / cycle.crossed as f64
}

#[track_caller]
fn assert_growth(wanted: &[Wanted], config: &Config, expected: f64) {
    let measured = growth(wanted, config, Span::ms(2));
    assert!((measured - expected).abs() < 0.004, "{measured} instead of {expected}");
}

#[test]
fn egresses_that_decide_at_once_let_the_golden_ratio_in() {
    let expected = 5_f64.sqrt() - 2.0;
    for discipline in [Discipline::INPUT_QUEUED, FIFO_FIRST, Discipline::OutputQueued] {
        assert_growth(TWO_LINKS, &ring(TWO_LINKS, discipline, Span::ZERO), expected);
    }
    // Behind output FIFOs a tick changes nothing.
    assert_growth(TWO_LINKS, &ring(TWO_LINKS, Discipline::OutputQueued, TICK), expected);
}

#[test]
fn with_slots_virtual_output_queues_or_a_tick_nothing_is_added() {
    let config = |discipline, tick| ring(TWO_LINKS, discipline, tick);
    for (discipline, tick) in [
        (SLOTTED, Span::ZERO),
        (Discipline::VirtualOutputQueued, Span::ZERO),
        (Discipline::INPUT_QUEUED, TICK),
        (FIFO_FIRST, TICK),
    ] {
        let grown = growth(TWO_LINKS, &config(discipline, tick), Span::us(100));
        // Each of three links may be one packet ahead.
        assert!(grown.abs() * 9_000.0 <= 6.0, "{discipline:?}, {tick:?}: {grown}");
    }
}

#[test]
fn an_egress_waits_two_ticks_for_a_fifo() {
    let clean = |edit: &dyn Fn(&mut Config)| {
        let mut config = ring(TWO_LINKS, Discipline::INPUT_QUEUED, TICK);
        edit(&mut config);
        growth(TWO_LINKS, &config, Span::us(100)).abs() < 0.001
    };
    let noise = |ps| clean(&|config| config.hardware.line_jitter = Span::ps(ps));
    assert!(noise(1_000) && noise(2_400));
    assert!(!noise(3_000) && !noise(10_000));
    // Three bytes are 2.4 ns at 10 Gb/s.
    let shorter = |bytes: u64| clean(&|config| config.flows[1].packet = Bytes::new(1_500 - bytes));
    assert!(shorter(1) && shorter(2) && shorter(3));
    assert!(!shorter(4) && !shorter(100));
}

#[test]
fn two_hosts_or_a_third_link_fill_the_ring_in_every_switch() {
    let disciplines =
        [Discipline::VirtualOutputQueued, Discipline::INPUT_QUEUED, FIFO_FIRST, SLOTTED];
    for discipline in disciplines {
        assert_growth(TWO_HOSTS, &ring(TWO_HOSTS, discipline, TICK), 1.0 / 3.0);
        let expected = (5_f64.sqrt() - 1.0) / 4.0;
        assert_growth(THREE_LINKS, &ring(THREE_LINKS, discipline, TICK), expected);
    }
}
