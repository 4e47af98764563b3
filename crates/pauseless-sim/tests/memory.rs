//! Switches whose ports share their memory: who gets how much, and what headroom is worth.

mod networks;

use networks::memory::{derived_headroom, incast, pool, share};
use networks::{MTU, Wanted, network};
use pauseless_core::flow_control::FlowControl;
use pauseless_core::id::{Class, PortId};
use pauseless_core::memory::{Alpha, HeadroomPool, MemoryConfig, Threshold};
use pauseless_core::port::FullPool;
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::routing::{Multipath, RouteBuilder, TieBreak};
use pauseless_sim::config::{Ingress, Receiver};
use pauseless_sim::{Config, Outcome, run};

fn dynamic(numerator: u32, denominator: u32) -> (Alpha, Threshold) {
    let alpha = Alpha::new(numerator, denominator).expect("positive");
    (alpha, Threshold::Dynamic(alpha))
}

/// Nobody takes anything out of the network.
fn stop_receiver(config: &mut Config) {
    let host = config.topology.node_named("R").expect("the sink");
    let steps = vec![(Time::ZERO, None)];
    config.receivers = vec![Receiver { host, steps }];
}

/// With n ports active each has alpha / (1 + n alpha) of the pool: where they are paused, and, if
/// nobody can be paused, where packets are dropped.
#[test]
fn n_queues_share_the_pool_as_choudhury_and_hahne_say() {
    let size = Bytes::mb(1);
    for (n, (alpha, threshold)) in [
        (1, dynamic(1, 8)),
        (4, dynamic(1, 8)),
        (8, dynamic(1, 8)),
        (2, dynamic(1, 1)),
        (7, dynamic(1, 1)),
        (3, dynamic(8, 1)),
    ] {
        let share_of_each = alpha.fixed_point(size, n);
        let all = share_of_each * n;
        for is_lossless in [true, false] {
            let mut config = incast(n as u32);
            stop_receiver(&mut config);
            let mut division = pool(&config, size, threshold);
            if !is_lossless {
                division.lane.headroom = Bytes::ZERO;
            }
            share(&mut config, &division);
            if !is_lossless {
                make_lossy(&mut config);
            }
            let outcome = run(&config);
            assert_eq!(outcome.lost_packets == 0, is_lossless);
            let memory = outcome.memories[0];
            let off = memory.max.pool.get().abs_diff(all.get());
            assert!(off <= MTU.get() * n, "{n} {alpha:?}: {memory:?} {all:?}");
            for queue in outcome.queues.iter().filter(|queue| queue.node == memory.node) {
                let most = share_of_each + division.lane.headroom + MTU;
                assert!(queue.max + MTU >= share_of_each, "{n} {alpha:?}: {queue:?}");
                assert!(queue.max <= most, "{n} {alpha:?}: {queue:?}");
            }
        }
    }
}

fn make_lossy(config: &mut Config) {
    let switch = config.topology.switches()[0];
    for port in 0..config.topology.ports(switch).len() {
        let ingress = config.ingress.get_mut(switch, PortId(port as u16), Class(0));
        ingress.control = FlowControl::None;
    }
}

/// One busy port of nine uses almost the whole pool; a ninth of the memory is all that it could have
/// if every port had its own.
#[test]
fn one_busy_port_has_almost_everything() {
    let mut config = incast(8);
    stop_receiver(&mut config);
    let first = config.flows.remove(0);
    config.flows = vec![first];
    let division = pool(&config, Bytes::mb(1), dynamic(8, 1).1);
    share(&mut config, &division);
    let outcome = run(&config);
    let memory = outcome.memories[0];
    assert_eq!(outcome.lost_packets, 0);
    assert!(memory.max.pool >= Bytes::kb(880), "{memory:?}");
    assert!(memory.size.total.get() / 9 < 130_000, "{memory:?}");
}

/// The worst that can happen to headroom: no room at all, MTU-sized frames on the way back that the
/// PAUSE has to wait for, every phase between the two.
fn worst_case(cut: Bytes, phase: u64) -> Outcome {
    let plain = incast(1);
    let flows = ["H1", "R"].map(|source| Wanted {
        source,
        target: if source == "R" { "H1" } else { "R" },
        path: &[],
    });
    let host = plain.topology.hosts()[0];
    let Ingress { control, buffer } = *plain.ingress.get(host, PortId(0), Class(0));
    let mut config = network(plain.topology, &flows, Ingress { control, buffer }, 1);
    stop_receiver(&mut config);
    config.duration = Span::us(200);
    // A frame takes 1.2 us.
    let starts = [Time::ZERO, Time::from_ps(phase * 1_200_000 / 150)];
    for (flow, start) in config.flows.iter_mut().zip(starts) {
        flow.start = start;
    }
    let mut division = pool(&config, MTU * 20, Threshold::Static(MTU * 10));
    division.lane.headroom -= cut;
    share(&mut config, &division);
    run(&config)
}

/// What is derived is enough in every phase, and with two packets less it is not.
#[test]
fn derived_headroom_is_enough_and_two_packets_less_are_not() {
    let (mut most, mut size) = (Bytes::ZERO, Bytes::ZERO);
    for phase in 0..150 {
        let outcome = worst_case(Bytes::ZERO, phase);
        assert_eq!(outcome.lost_packets, 0, "phase {phase}");
        most = most.max(outcome.memories[0].max.headroom);
        let plain = incast(1);
        size = derived_headroom(&plain, plain.topology.switches()[0], PortId(0));
    }
    assert!(most + MTU * 2 > size, "{most} of {size}");
    let lost = (0..150).filter(|phase| worst_case(MTU * 2, *phase).lost_packets > 0);
    assert!(lost.count() > 0);
}

/// Headroom for one port is not enough for four, and the loss says what was full.
#[test]
fn oversubscribed_headroom_loses_and_says_so() {
    let mut config = incast(4);
    stop_receiver(&mut config);
    let division = pool(&config, Bytes::kb(30), dynamic(1, 1).1);
    share(&mut config, &division);
    let switch = config.topology.switches()[0];
    let MemoryConfig::Shared(mut shared) = config.ingress.memory(switch).clone() else {
        panic!("it is shared");
    };
    shared.headroom = HeadroomPool::Switch(division.lane.headroom);
    config.ingress.share(switch, shared);
    let loss = run(&config).loss.expect("no room");
    assert_eq!(loss.pool, FullPool::SwitchHeadroom);
    assert_eq!(loss.buffer, division.lane.headroom);
    assert_eq!(loss.node, switch);
}

/// A queue that stands still goes on as soon as others have left room for it: its own packets wait for
/// a receiver that never takes them, so it has no departures of its own.
#[test]
fn a_queue_that_stands_still_is_resumed_by_the_departures_of_others() {
    let mut config = incast(2);
    let topology = config.topology.clone();
    let name = |name| topology.node_named(name).expect("a node");
    let (h1, h2, sink) = (name("H1"), name("H2"), name("R"));
    // H1 sends to H2, which takes nothing. H2 sends to R, which takes its packets up in the end.
    assert_eq!((config.flows[0].source, config.flows[1].source), (h1, h2));
    config.flows[0].target = h2;
    let tie_break = TieBreak::Lowest;
    let routes = RouteBuilder::new(&topology, Multipath::Single { tie_break }).build();
    config.flows[0].group = routes.groups.of_host(h2);
    // So slowly that no packet is under way when it is paused: headroom would have to drain first.
    config.flows[0].pace = Rate::gbps(1);
    config.flows[1].stop = Time::ZERO + Span::us(300);
    let receiver = |host, steps| Receiver { host, steps };
    let late = Time::ZERO + Span::us(500);
    config.receivers = vec![
        receiver(h2, vec![(Time::ZERO, None)]),
        receiver(sink, vec![(Time::ZERO, None), (late, Some(Rate::gbps(10)))]),
    ];
    let division = pool(&config, Bytes::kb(100), dynamic(1, 1).1);
    share(&mut config, &division);
    let switch = config.topology.switches()[0];
    let most = |span: Span| {
        let mut config = config.clone();
        config.duration = span;
        let outcome = run(&config);
        let queue = outcome.queues.iter().find(|queue| {
            queue.node == switch && config.topology.port(switch, queue.port).peer == h1
        });
        queue.expect("H1's queue").max
    };
    // H2 has half of the pool and H1 half of what is left, until H2's packets go.
    let (before, after) = (most(Span::us(490)), most(Span::ms(3)));
    assert!(before > Bytes::kb(20) && before < Bytes::kb(30), "{before}");
    assert!(after > Bytes::kb(45), "{after}");
}
