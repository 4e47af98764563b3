//! Faults that were found by review before the first release, so that they stay mended.

mod networks;

use networks::{MTU, Wanted, network};
use pauseless_core::derive::{Derivation, Latency};
use pauseless_core::flow_control::FlowControl;
use pauseless_core::id::{Class, PortId};
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::generate::{LinkSpecs, NToOne, Shape};
use pauseless_fabric::topology::LinkSpec;
use pauseless_sim::config::{Ingress, IngressTable, Probes};
use pauseless_sim::{Config, run};

/// Hosts H1.. and a sink R around one switch, PFC in `classes` classes.
fn star(wanted: &[Wanted], classes: u8) -> Config {
    let spec = LinkSpec { rate: Rate::gbps(10), delay: Span::us(1) };
    let topology = NToOne { senders: 16 }.build(LinkSpecs::same(spec)).expect("a star");
    let latency = Latency {
        mtu: MTU,
        line: spec.rate,
        wire: spec.delay,
        processing: Span::us(3),
        classes,
        jitter: Span::ZERO,
        overhead: Bytes::ZERO,
        clock_ppb: 0,
    };
    let derivation = Derivation::new(latency, Bytes::kb(100));
    let ingress =
        Ingress { control: FlowControl::Pfc(derivation.pfc()), buffer: derivation.buffer };
    let mut config = network(topology, wanted, ingress, 1);
    config.ingress = IngressTable::uniform(&config.topology, usize::from(classes), ingress);
    config
}

const TO_SINK: Wanted = Wanted { source: "H1", target: "R", path: &[] };
const TO_NEIGHBOUR: Wanted = Wanted { source: "H1", target: "H2", path: &[] };

/// A frame that waits for another flow's frame makes up for it: both get the rate they ask for.
#[test]
fn paced_flows_of_one_host_keep_their_rate() {
    for (first, second, packet) in
        [(5_000, 4_000, 1_500), (7_300, 1_000, 1_500), (7_300, 1_000, 300)]
    {
        let mut config = star(&[TO_NEIGHBOUR, TO_SINK], 1);
        config.flows[0].pace = Rate::mbps(first);
        config.flows[1].pace = Rate::mbps(second);
        config.flows[1].packet = Bytes::new(packet);
        let outcome = run(&config);
        for (flow, asked) in outcome.flows.iter().zip([first, second]) {
            let share = flow.goodput_late_bps / (asked as f64 * 1e6);
            assert!((share - 1.0).abs() < 0.01, "{first} and {second} of {packet}: {share}");
        }
    }
}

/// Competitors that are gone by the end of the run were there when the flow was judged.
#[test]
fn a_flow_with_its_fair_share_is_not_starved() {
    let names = [
        "H1", "H2", "H3", "H4", "H5", "H6", "H7", "H8", "H9", "H10", "H11", "H12", "H13", "H14",
        "H15", "H16",
    ];
    let wanted = names.map(|source| Wanted { source, target: "R", path: &[] });
    let mut config = star(&wanted, 1);
    for flow in &mut config.flows {
        match flow.name.as_str() {
            "H1->R" => flow.stop = Time::ZERO + Span::ms(5),
            _ => flow.size = MTU * 400,
        }
    }
    let outcome = run(&config);
    assert!(outcome.starved.is_empty(), "{:?}", outcome.starved);
    assert!(outcome.flows.iter().skip(1).all(|flow| flow.finish.is_some()));
}

/// The mean of a class is its own, not that of the port.
#[test]
fn the_mean_of_a_class_is_below_its_maximum() {
    let wanted = ["H1", "H2"].map(|source| Wanted { source, target: "R", path: &[] });
    let mut config = star(&wanted, 2);
    config.flows[1].class = Class(1);
    config.flows[1].pace = Rate::mbps(100);
    let ports = config.topology.ports(config.topology.switches()[0]).len();
    let switch = config.topology.switches()[0];
    let ports = (0..ports).map(|port| (switch, PortId(port as u16)));
    config.probes = Probes {
        resolution: Span::us(10),
        ports: ports.collect(),
        flows: Vec::new(),
        ..Probes::default()
    };
    let outcome = run(&config);
    assert!(!outcome.queues.is_empty());
    for queue in &outcome.queues {
        let mean = queue.mean.expect("all ports are probed");
        assert!(mean <= queue.max.get() as f64, "{queue:?}");
    }
}

/// A flow that comes to its end after its stop has the goodput of its whole life.
#[test]
fn goodput_of_a_flow_that_finishes_after_its_stop() {
    let wanted = ["H1", "H2"].map(|source| Wanted { source, target: "R", path: &[] });
    let mut config = star(&wanted, 1);
    config.flows[0].size = Bytes::kb(300);
    config.flows[0].stop = Time::ZERO + Span::us(400);
    config.flows[1].size = Bytes::kb(300);
    let outcome = run(&config);
    let (flow, result) = (&config.flows[0], &outcome.flows[0]);
    let finish = result.finish.expect("it was all sent before the stop");
    assert!(finish > flow.stop, "{finish}");
    let life = (finish - flow.start).as_secs_f64();
    assert!((result.goodput_bps * life / 8.0 - 300e3).abs() < 1.0);
}

/// What was lost is no longer waited for.
#[test]
fn a_flow_whose_rest_was_lost_does_not_starve() {
    let names = ["H1", "H2", "H3"];
    let wanted = names.map(|source| Wanted { source, target: "R", path: &[] });
    let mut config = star(&wanted, 1);
    let lossy = Ingress { control: FlowControl::None, buffer: Bytes::kb(20) };
    config.ingress = IngressTable::uniform(&config.topology, 1, lossy);
    for flow in &mut config.flows {
        flow.size = Bytes::mb(3);
    }
    let outcome = run(&config);
    assert!(outcome.lost_packets > 0);
    assert!(outcome.starved.is_empty(), "{:?}", outcome.starved);
}
