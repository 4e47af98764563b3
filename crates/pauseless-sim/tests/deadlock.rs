//! Deadlock verdicts against what happens afterwards.

mod networks;

use networks::memory::random_shared_network;
use networks::random::{Wildness, random_network};
use networks::{Scheme, Wanted, gfc_ring, network, stop_sources};
use pauseless_core::flow_control::{FlowControl, pfc};
use pauseless_core::switch::Discipline;
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::builder::TopologyBuilder;
use pauseless_fabric::topology::LinkSpec;
use pauseless_sim::config::{Ingress, Probes, Stop};
use pauseless_sim::{Config, run};

/// Sound and complete by experiment: after the sources have stopped and all receivers take what
/// comes, bytes stay in the buffers for ever if and only if a deadlock was reported.
#[test]
fn reported_if_and_only_if_bytes_are_stuck_for_ever() {
    let mut deadlocks = 0;
    for scheme in [0, 1] {
        for seed in 1_000..1_400 {
            let wildness = Wildness { scheme, slow_receivers: seed % 2 == 0 };
            let mut config = random_network(seed, wildness);
            config.duration = Span::ms(6);
            let outcome = run(&config);
            let is_stuck = outcome.held_at_end > Bytes::ZERO;
            assert_eq!(outcome.deadlock.is_some(), is_stuck, "seed {seed}, {scheme}");
            assert_eq!(outcome.lost_packets, 0);
            deadlocks += usize::from(is_stuck);
        }
    }
    assert!(deadlocks > 50, "{deadlocks} of 800 deadlock");
}

/// The same where ports share their memory, however it is divided.
#[test]
fn reported_if_and_only_if_bytes_are_stuck_in_a_shared_memory() {
    let (mut deadlocks, mut dry) = (0, 0);
    for seed in 2_000..2_600 {
        let mut config = random_shared_network(seed, seed % 2 == 0);
        config.duration = Span::ms(6);
        let outcome = run(&config);
        let is_stuck = outcome.held_at_end > Bytes::ZERO;
        assert_eq!(outcome.deadlock.is_some(), is_stuck, "seed {seed}");
        assert_eq!(outcome.lost_packets, 0, "seed {seed}: {:?}", outcome.loss);
        for memory in &outcome.memories {
            assert!(memory.max.pool <= memory.size.pool, "seed {seed}");
            assert!(memory.max.headroom <= memory.size.headroom, "seed {seed}");
            assert!(memory.max.total <= memory.size.total, "seed {seed}");
            assert!(is_stuck || memory.last.total == Bytes::ZERO, "seed {seed}");
            dry += usize::from(memory.max.headroom > Bytes::ZERO);
        }
        deadlocks += usize::from(is_stuck);
    }
    // The test means nothing if hardly anything was full.
    assert!(deadlocks > 50, "{deadlocks} of 600 deadlock");
    assert!(dry > 1_000, "{dry} memories used headroom");
}

/// The queues that the witness names never send a data frame again.
#[test]
fn members_never_send_again() {
    let mut checked = 0;
    for seed in 0..200 {
        let mut config = random_network(seed, Wildness { scheme: 0, slow_receivers: false });
        let Some(deadlock) = run(&config).deadlock else {
            continue;
        };
        if config.ingress.class_count() > 1 {
            continue;
        }
        let ports = deadlock.members.iter().map(|member| (member.node, member.port));
        let resolution = Span::us(1);
        config.probes =
            Probes { resolution, ports: ports.collect(), flows: Vec::new(), ..Probes::default() };
        let outcome = run(&config);
        assert_eq!(outcome.deadlock.as_ref(), Some(&deadlock), "probes change nothing");
        // A frame that was on the wire when the pause took effect may still be leaving.
        let last = deadlock.time + Span::us(3);
        for series in &outcome.series.ports {
            for (time, rate) in outcome.series.times.iter().zip(&series.sending_bps) {
                assert!(*time <= last || *rate == 0.0, "seed {seed} at {time}");
            }
        }
        checked += 1;
    }
    assert!(checked > 10, "{checked}");
}

/// Every flow that the witness names is needed: without it the ring does not deadlock.
#[test]
fn leaving_out_any_flow_of_the_witness_removes_the_deadlock() {
    for scheme in [Scheme::Pfc, Scheme::Cbfc] {
        let config = gfc_ring(scheme, Discipline::OutputQueued, 3);
        let flows = run(&config).deadlock.expect("a deadlock").flows;
        assert_eq!(flows.len(), 3);
        for flow in flows {
            let mut without = config.clone();
            without.flows.remove(flow.index());
            assert_eq!(run(&without).deadlock, None, "without {}", config.flows[flow.index()].name);
        }
    }
}

/// HotNets'16 Fig. 3 and 4: the ring A, B, C, D at 40 Gb/s, XOFF 40 KB, packets of 1000 bytes.
fn hotnets(flows: &[Wanted], seed: u64) -> Config {
    let mut builder = TopologyBuilder::new();
    let spec = LinkSpec { rate: Rate::gbps(40), delay: Span::us(1) };
    let switches = ["A", "B", "C", "D"].map(|name| builder.add_switch(name));
    for index in 0..4 {
        builder.connect(switches[index], switches[(index + 1) % 4], spec);
    }
    for (index, name) in ["a", "b", "c", "d"].iter().enumerate() {
        for number in 1..=2 {
            let host = builder.add_host(format!("{name}{number}"));
            builder.connect(switches[index], host, spec);
        }
    }
    let topology = builder.build().expect("a ring of four");
    let (xoff, xon) = (Bytes::kb(40), Bytes::kb(38));
    let control = FlowControl::Pfc(pfc::Config { xoff, xon, quanta: pfc::QUANTA_MAX });
    let ingress = Ingress { control, buffer: Bytes::kb(200) };
    let mut config = network(topology, flows, ingress, seed);
    for flow in &mut config.flows {
        flow.packet = Bytes::new(1_000);
    }
    config.processing = Span::ZERO;
    config
}

const FLOW_1: Wanted =
    Wanted { source: "a1", target: "d2", path: &["a1", "A", "B", "C", "D", "d2"] };
const FLOW_2: Wanted =
    Wanted { source: "c1", target: "b2", path: &["c1", "C", "D", "A", "B", "b2"] };
const FLOW_3: Wanted = Wanted { source: "b1", target: "c2", path: &["b1", "B", "C", "c2"] };

/// A cycle of dependencies whose links are paused again and again, and which always dissolves.
#[test]
fn a_paused_cycle_that_dissolves_is_not_reported() {
    let mut second_peaks = Vec::new();
    for seed in 1..=20 {
        let mut config = hotnets(&[FLOW_1, FLOW_2], seed);
        config.duration = Span::ms(20);
        let paused = ["B:C", "D:A"].map(|name| config.topology.port_named(name).expect("a port"));
        let free = ["A:B", "C:D"].map(|name| config.topology.port_named(name).expect("a port"));
        let ports = [paused, free].concat();
        config.probes =
            Probes { resolution: Span::us(1), ports, flows: Vec::new(), ..Probes::default() };
        let outcome = run(&config);
        assert_eq!(outcome.deadlock, None, "seed {seed}");
        let pauses = |index: usize| {
            let allowed = &outcome.series.ports[index].allowed_bps;
            allowed.iter().filter(|rate| **rate == 0.0).count()
        };
        assert!(pauses(0) > 100 && pauses(1) > 100, "L2 and L4 are paused all the time");
        assert_eq!((pauses(2), pauses(3)), (0, 0), "L1 and L3 never are");
        let told = |(node, port)| {
            let mut ports = outcome.ports.iter();
            let port = ports.find(|it| (it.node, it.port) == (node, port));
            port.expect("a port").pauses
        };
        // Not only at the samples.
        assert!(paused.iter().all(|port| told(*port) > 100), "seed {seed}");
        assert!(free.iter().all(|port| told(*port) == 0), "seed {seed}");
        let peaks = ["A:a1", "B:A"].map(|name| {
            let at = config.topology.port_named(name).expect("a port");
            let mut queues = outcome.queues.iter();
            let queue = queues.find(|it| (it.node, it.port) == at);
            queue.expect("a queue").max.get() / 1_000
        });
        assert!((45..=62).contains(&peaks[0]), "seed {seed}: {peaks:?} KB");
        assert!((10..40).contains(&peaks[1]), "seed {seed}: {peaks:?} KB");
        second_peaks.push(peaks[1]);
        for flow in &outcome.flows {
            assert!((flow.goodput_late_bps / 20e9 - 1.0).abs() < 0.02, "{}", flow.goodput_late_bps);
        }
    }
    // A minimal model written apart from this one has 10 to 27 KB here; ours has 13 to 31, by the
    // phase.
    second_peaks.sort_unstable();
    assert!((10..=27).contains(&second_peaks[10]), "{second_peaks:?}");
}

/// One more flow, and the same cycle deadlocks, and stays so after the sources have stopped.
#[test]
fn one_more_flow_makes_it_deadlock() {
    for seed in 1..=20 {
        let mut config = hotnets(&[FLOW_1, FLOW_2, FLOW_3], seed);
        stop_sources(&mut config, Time::ZERO + Span::ms(10));
        config.duration = Span::ms(30);
        let outcome = run(&config);
        let deadlock = outcome.deadlock.as_ref().expect("a deadlock");
        assert!(deadlock.time < Time::ZERO + Span::ms(10));
        assert_eq!(deadlock.cycle.len(), 4);
        assert!(outcome.held_at_end > Bytes::kb(100));
    }
}

/// HotNets'16 Fig. 5: the slower flow 3, the later the deadlock. The paper's rate below which there is
/// none is not found: it is a matter of the phase, see docs/threshold.md.
#[test]
fn a_slower_third_flow_deadlocks_later() {
    let median = |rate: Rate| {
        let times = (1..=20).map(|seed| {
            let mut config = hotnets(&[FLOW_1, FLOW_2, FLOW_3], seed);
            let third = config.topology.node_named("b1").expect("a host");
            let mut flows = config.flows.iter_mut();
            let third = flows.find(|flow| flow.source == third);
            third.expect("flow 3").pace = rate;
            config.duration = Span::ms(20);
            config.stop = Stop::DEADLOCK;
            let deadlock = run(&config).deadlock;
            deadlock.map_or(Time::MAX, |deadlock| deadlock.time)
        });
        let mut times = Vec::from_iter(times);
        times.sort_unstable();
        let without = times.iter().filter(|time| **time == Time::MAX).count();
        assert!(without <= 5, "{rate:?}: {without} of 20 seeds get away");
        times[10]
    };
    // A minimal model written apart from this one has 10.2, 2.6, 1.1 and 0.4 ms.
    let medians = [250, 1_000, 4_000, 20_000].map(|mbps| median(Rate::mbps(mbps)));
    let ms = medians.map(|time| time.as_ps() as f64 / 1e9);
    for (found, known) in ms.iter().zip([10.2, 2.6, 1.1, 0.4]) {
        assert!((0.5..2.0).contains(&(found / known)), "{ms:?}");
    }
    assert!(ms.windows(2).all(|pair| pair[1] < pair[0] / 1.5), "{ms:?}");
}

/// No other discipline than output queues deadlocks here; see docs/protocols.md#disciplines.
#[test]
fn virtual_output_queues_do_not_deadlock_on_it() {
    let mut config = hotnets(&[FLOW_1, FLOW_2, FLOW_3], 1);
    config.discipline = Discipline::VirtualOutputQueued;
    let outcome = run(&config);
    assert_eq!(outcome.deadlock, None);
    assert_eq!(outcome.lost_packets, 0);
}
