//! Closed forms: what one can work out by hand.

mod networks;

use networks::{MTU, Wanted, network, port};
use pauseless_core::derive::{Derivation, Latency};
use pauseless_core::flow_control::{FlowControl, pfc};
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::generate::{Line, LinkSpecs, NToOne, Shape};
use pauseless_fabric::topology::LinkSpec;
use pauseless_sim::config::{Ingress, Probes};
use pauseless_sim::{Config, run};

const LINE: Rate = Rate::gbps(10);

fn derivation(processing: Span, buffer: Bytes) -> Derivation {
    let wire = Span::us(1);
    let latency = Latency {
        mtu: MTU,
        line: LINE,
        wire,
        processing,
        classes: 1,
        jitter: Span::ZERO,
        overhead: Bytes::ZERO,
        clock_ppb: 0,
    };
    Derivation::new(latency, buffer)
}

/// Two hosts, one switch, one sink: GFC Fig. 5.
fn two_to_one(control: FlowControl, processing: Span) -> Config {
    let spec = LinkSpec { rate: LINE, delay: Span::us(1) };
    let topology = NToOne { senders: 2 }.build(LinkSpecs::same(spec)).expect("a star");
    let flows = ["H1", "H2"].map(|source| Wanted { source, target: "R", path: &[] });
    let ingress = Ingress { control, buffer: Bytes::kb(200) };
    let mut config = network(topology, &flows, ingress, 1);
    config.processing = processing;
    config.duration = Span::ms(5);
    let ports = vec![port(&config, "S1:H1")];
    config.probes =
        Probes { resolution: Span::us(1), ports, flows: Vec::new(), ..Probes::default() };
    config
}

/// Fig. 5(a): the queue swings around XON and XOFF, the sender between nothing and everything.
#[test]
fn pfc_oscillates_around_its_thresholds() {
    let (xoff, xon) = (Bytes::kb(80), Bytes::kb(77));
    let control = FlowControl::Pfc(pfc::Config { xoff, xon, quanta: pfc::QUANTA_MAX });
    // tau 25 us = 2.4 us of frames + 2 us of wire + processing.
    let outcome = run(&two_to_one(control, Span::ns(20_600)));
    let series = &outcome.series.ports[0];
    let late = 2_000..5_000;
    let queue = &series.queue[late.clone()];
    let (min, max) = (*queue.iter().min().unwrap(), *queue.iter().max().unwrap());
    assert!((55_000..70_000).contains(&min), "{min}");
    assert!((88_000..100_000).contains(&max), "{max}");
    // On for half the time, off for the other, and hardly ever in between.
    let input = &series.input_bps[late];
    let off = input.iter().filter(|rate| **rate == 0.0).count() as f64 / input.len() as f64;
    let on = input.iter().filter(|rate| **rate > 0.5e9).count() as f64 / input.len() as f64;
    assert!((0.4..0.6).contains(&off), "off {off}");
    assert!((0.4..0.6).contains(&on), "on {on}");
    assert_eq!(outcome.lost_packets, 0);
}

/// Fig. 5(b): conceptual GFC settles at (B_m + B_0) / 2 = 75 KB and half the rate.
#[test]
fn conceptual_gfc_settles_at_75_kb() {
    let mut config = derivation(Span::ZERO, Bytes::kb(200))
        .gfc_conceptual(Some(Bytes::kb(100)), Some(Bytes::kb(50)));
    config.delay = Span::us(24);
    let outcome = run(&two_to_one(FlowControl::GfcConceptual(config), Span::ZERO));
    let series = &outcome.series.ports[0];
    for (index, queue) in series.queue.iter().enumerate().skip(2_000) {
        assert!((73_000..=77_000).contains(queue), "{queue} after {index} us");
    }
    let peak = *series.queue.iter().max().unwrap();
    assert!((76_000..=81_000).contains(&peak), "{peak}");
    let goodput = outcome.flows[0].goodput_late_bps;
    assert!((goodput / 5e9 - 1.0).abs() < 0.01, "{goodput}");
    assert_eq!((outcome.gfc_holds, outcome.lost_packets), (0, 0));
}

/// A flow alone: n packets over h hops of equal links take (n + h - 1) packet times and h delays.
#[test]
fn an_uncontended_flow_takes_its_ideal_time() {
    let spec = LinkSpec { rate: LINE, delay: Span::us(1) };
    let shape = Line { switches: 4, hosts_per_switch: 1 };
    let topology = shape.build(LinkSpecs::same(spec)).expect("a line");
    let control = FlowControl::Pfc(derivation(Span::us(3), Bytes::kb(200)).pfc());
    let ingress = Ingress { control, buffer: Bytes::kb(200) };
    let wanted = [Wanted { source: "H1", target: "H4", path: &[] }];
    for overhead in [0, 20] {
        let mut config = network(topology.clone(), &wanted, ingress, 1);
        config.wire_overhead = Bytes::new(overhead);
        config.flows[0].size = MTU * 100;
        config.flows[0].start = Time::from_ps(7);
        let outcome = run(&config);
        let packet = LINE.tx_span(MTU + Bytes::new(overhead));
        // At a pace of 10 Gb/s of frames the wire is the bottleneck when it has overhead.
        let ideal = config.flows[0].start + packet * (100 + 5 - 1) + Span::us(1) * 5;
        assert_eq!(outcome.flows[0].finish, Some(ideal), "overhead {overhead}");
        assert_eq!(outcome.packet_hops, 500);
    }
}

/// The peak of a queue whose drain stops is XOFF plus what eq. 6 lets in, within the headroom.
#[test]
fn pfc_headroom_is_enough_and_not_wasteful() {
    let derivation = derivation(Span::us(3), Bytes::kb(200));
    let control = derivation.pfc();
    let mut config = two_to_one(FlowControl::Pfc(control), Span::us(3));
    config.duration = Span::ms(20);
    let outcome = run(&config);
    let peak = outcome.queues.iter().map(|queue| queue.max).max().expect("a queue");
    assert_eq!(outcome.lost_packets, 0);
    // Half of what comes in leaves again, so about half the headroom is used.
    let used = peak.saturating_sub(control.xoff).get() as f64;
    let headroom = derivation.latency.pfc_headroom().get() as f64;
    assert!((0.3..1.0).contains(&(used / headroom)), "{used} of {headroom}");
}

/// Fixed-rate flows get what they ask for when there is room, and their packets keep their pace.
#[test]
fn fixed_rates_are_kept() {
    let control = FlowControl::Pfc(derivation(Span::us(3), Bytes::kb(200)).pfc());
    let mut config = two_to_one(control, Span::us(3));
    config.flows[0].pace = Rate::gbps(2);
    config.flows[1].pace = Rate::mbps(500);
    let outcome = run(&config);
    assert!((outcome.flows[0].goodput_late_bps / 2e9 - 1.0).abs() < 0.01);
    assert!((outcome.flows[1].goodput_late_bps / 0.5e9 - 1.0).abs() < 0.02);
    assert_eq!(outcome.pause_frames, 0);
}
