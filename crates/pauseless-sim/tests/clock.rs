//! Line clocks that deviate: who has which, what a flow makes of it, and that nothing is lost.

mod networks;

use std::collections::BTreeMap;

use networks::random::{Wildness, random_network_by_clocks};
use networks::{MTU, Scheme, Wanted, gfc_ring, network};
use pauseless_core::derive::{Derivation, Latency};
use pauseless_core::flow_control::{FlowControl, pfc};
use pauseless_core::id::{NodeId, PortId};
use pauseless_core::switch::Discipline;
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::builder::TopologyBuilder;
use pauseless_fabric::generate::{FatTree, LinkSpecs, NToOne, Shape};
use pauseless_fabric::topology::LinkSpec;
use pauseless_sim::clock::{Clocks, Oscillator};
use pauseless_sim::config::{Ingress, Receiver};
use pauseless_sim::{Config, run};

const LINE: Rate = Rate::gbps(10);
const SPEC: LinkSpec = LinkSpec { rate: LINE, delay: Span::us(1) };
/// IEEE 802.3 allows a port to be 100 ppm off.
const PER_PORT: Clocks = Clocks { deviation_max_ppb: 100_000, oscillator: Oscillator::PerPort };
const PER_NODE: Clocks = Clocks { oscillator: Oscillator::PerNode, ..PER_PORT };

/// The rates of all ports by their names.
fn lines(config: &Config) -> BTreeMap<String, Rate> {
    let topology = &config.topology;
    let nodes = (0..topology.nodes().len()).map(|node| NodeId(node as u32));
    let ports = nodes.flat_map(|node| {
        let ports = 0..topology.ports(node).len();
        ports.map(move |port| (node, PortId(port as u16)))
    });
    let named = |(node, port)| (topology.port_name(node, port), config.line(node, port));
    ports.map(named).collect()
}

/// Two hosts and a switch, added in the given order, with the flow from H1 to H2.
fn pair(names: [&str; 3], clocks: Clocks, seed: u64) -> Config {
    let mut builder = TopologyBuilder::new();
    let mut node = |name: &str| match name {
        "S" => builder.add_switch("S"),
        name => builder.add_host(name),
    };
    let ids = names.map(&mut node);
    let id = |wanted: &str| ids[names.iter().position(|name| *name == wanted).expect("a name")];
    for host in names.iter().filter(|name| **name != "S") {
        builder.connect(id(host), id("S"), SPEC);
    }
    let topology = builder.build().expect("a star");
    let flow = Wanted { source: "H1", target: "H2", path: &[] };
    let ingress = Ingress { control: FlowControl::None, buffer: Bytes::mb(1) };
    let mut config = network(topology, &[flow], ingress, seed);
    config.hardware.clocks = clocks;
    config
}

#[test]
fn clocks_are_uniform_and_exact_without_deviation() {
    let topology = FatTree { k: 8 }.build(LinkSpecs::same(SPEC)).expect("a fat tree");
    let ingress = Ingress { control: FlowControl::None, buffer: Bytes::mb(1) };
    let flow = Wanted { source: "H0", target: "H1", path: &[] };
    let mut config = network(topology, &[flow], ingress, 1);
    assert!(lines(&config).values().all(|line| *line == LINE));
    config.hardware.clocks = PER_PORT;
    let ppm = |line: &Rate| line.as_bps() as f64 / 1e4 - 1e6;
    let all = Vec::from_iter(lines(&config).values().map(ppm));
    assert_eq!(all.len(), 768);
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    let spread = all.iter().map(|it| it * it).sum::<f64>() / all.len() as f64;
    assert!(mean.abs() < 8.0, "{mean}");
    assert!((spread.sqrt() - 57.7).abs() < 4.0, "{spread}");
    assert!(all.iter().all(|it| it.abs() <= 100.0));
    assert!(all.iter().any(|it| *it > 98.0) && all.iter().any(|it| *it < -98.0));
    config.seed = 2;
    assert_ne!(Vec::from_iter(lines(&config).values().map(ppm)), all);
}

#[test]
fn the_order_of_nodes_does_not_matter_and_a_node_has_one_clock() {
    let orders = [["H1", "S", "H2"], ["H2", "H1", "S"], ["S", "H2", "H1"]];
    for clocks in [PER_PORT, PER_NODE] {
        let all = orders.map(|order| lines(&pair(order, clocks, 3)));
        assert_eq!(all[0], all[1]);
        assert_eq!(all[0], all[2]);
        let is_one = all[0]["S:H1"] == all[0]["S:H2"];
        assert_eq!(is_one, clocks == PER_NODE);
        assert_ne!(all[0]["H1:S"], all[0]["H2:S"]);
    }
}

/// A flow arrives exactly at the rate of the slower of the two clocks on its way, also where a pace
/// of its own is counted by the host's clock.
#[test]
fn a_flow_is_as_fast_as_the_clock_of_its_sender() {
    let count = 1_000;
    let (mut fast, mut slow) = (0, 0);
    for seed in 0..20 {
        for pace in [LINE, Rate::gbps(4)] {
            let mut config = pair(["H1", "S", "H2"], PER_PORT, seed);
            let lines = lines(&config);
            let flow = &mut config.flows[0];
            (flow.size, flow.pace) = (MTU * count, pace);
            // A tenth of a bit per second for each part in a billion of 10 Gb/s.
            let ppb = (lines["H1:S"].as_bps() as i64 - LINE.as_bps() as i64) / 10;
            let [first, second] = ["H1:S", "S:H2"].map(|name| lines[name].tx_span(MTU));
            let gap = pace.deviating(ppb).tx_span(MTU).max(first).max(second);
            let span = first + second + SPEC.delay * 2 + gap * (count - 1);
            let start = flow.start;
            let outcome = &run(&config).flows[0];
            assert_eq!(outcome.finish, Some(start + span), "seed {seed}");
            assert_eq!(outcome.ideal, span, "seed {seed}");
            fast += u32::from(ppb > 0);
            slow += u32::from(ppb < 0);
        }
    }
    assert!(fast > 10 && slow > 10, "{fast} fast, {slow} slow");
}

/// With a pause that takes effect after 100 ms, a clock that is 100 ppm fast sends 12.5 KB more: only
/// thresholds that allow for it lose nothing.
#[test]
fn headroom_allows_for_the_fastest_clock() {
    let spec = LinkSpec { rate: LINE, delay: Span::ms(50) };
    let mut lost = [0, 0];
    for seed in 0..4 {
        for (clock_ppb, lost) in [0, PER_PORT.deviation_max_ppb].into_iter().zip(&mut lost) {
            let latency = Latency {
                mtu: MTU,
                line: LINE,
                wire: spec.delay,
                processing: Span::us(3),
                classes: 1,
                jitter: Span::ZERO,
                overhead: Bytes::ZERO,
                clock_ppb,
            };
            let derivation = Derivation::new(latency, latency.pfc_headroom() + MTU * 10);
            let control = FlowControl::Pfc(pfc::Config { quanta: 0, ..derivation.pfc() });
            let topology = NToOne { senders: 1 }.build(LinkSpecs::same(spec)).expect("a line");
            let flow = Wanted { source: "H1", target: "R", path: &[] };
            let ingress = Ingress { control, buffer: derivation.buffer };
            let mut config = network(topology, &[flow], ingress, seed);
            config.hardware.clocks = PER_PORT;
            config.duration = Span::ms(400);
            let host = config.flows[0].target;
            config.receivers = vec![Receiver { host, steps: vec![(Time::ZERO, None)] }];
            *lost += run(&config).lost_packets;
        }
    }
    assert_eq!(lost[1], 0);
    assert!(lost[0] > 0, "the test is about nothing");
}

#[test]
fn derived_thresholds_lose_nothing_on_random_networks() {
    for scheme in 0..5 {
        for seed in 0..60 {
            let wildness = Wildness { scheme, slow_receivers: true };
            let clocks = if seed % 3 == 0 { PER_NODE } else { PER_PORT };
            let config = random_network_by_clocks(seed, wildness, clocks);
            let outcome = run(&config);
            let name = format!("seed {seed}, scheme {scheme}");
            assert_eq!(outcome.lost_packets, 0, "{name}: {:?}", outcome.loss);
            if scheme >= 2 {
                assert_eq!(outcome.gfc_holds, 0, "{name}");
            }
        }
    }
}

/// The deadlocks of the ring do not hang on equal clocks, and neither does GFC's flow.
#[test]
fn the_ring_of_the_gfc_paper_is_the_same_by_any_clocks() {
    for clocks in [PER_PORT, PER_NODE] {
        for scheme in Scheme::ALL {
            let mut config = gfc_ring(scheme, Discipline::OutputQueued, 1);
            config.hardware.clocks = clocks;
            config.duration = Span::ms(60);
            let outcome = run(&config);
            let stops = matches!(scheme, Scheme::Pfc | Scheme::Cbfc);
            assert_eq!(outcome.deadlock.is_some(), stops, "{scheme:?}");
            assert_eq!(outcome.lost_packets, 0, "{scheme:?}");
        }
    }
}
