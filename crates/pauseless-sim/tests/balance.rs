//! Load balancing in switches: closed forms, and laws over random networks.

mod networks;

use std::collections::BTreeSet;

use networks::balanced::{RULES, balance, let_wander, parallel_links};
use networks::changing::change_at_random;
use networks::congestion::{put_under, schemes};
use networks::random::{Wildness, random_network};
use pauseless_core::congestion::{CongestionControl, dctcp, hpcc};
use pauseless_core::id::{GroupId, NodeId, PortId};
use pauseless_core::table::ForwardingTable;
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_sim::balance::Rule;
use pauseless_sim::config::{QueueWatch, Reaction};
use pauseless_sim::rng::hash_name;
use pauseless_sim::{Config, Outcome, Parallel, Simulator, run};

/// Of so many flows on so many ports, the share of cases in which no two have the same.
fn share_without_collision(flows: u64, ports: u16) -> f64 {
    const CASES: u64 = 40_000;
    let mut table = ForwardingTable::new(1, &[NodeId(0)]);
    let way = table.add_way();
    table.add_group(way, None);
    let all = Vec::from_iter((0..ports).map(PortId));
    table.set(NodeId(0), GroupId(0), &all);
    let is_even = |case: &u64| {
        let chosen = (0..flows).map(|flow| {
            let hash = hash_name(&format!("H{case}->T{flow}"));
            table.next_hop(NodeId(0), GroupId(0), hash).expect("there are next hops")
        });
        BTreeSet::from_iter(chosen).len() == flows as usize
    };
    (0..CASES).filter(is_even).count() as f64 / CASES as f64
}

/// n! / ((n - m)! n^m) for m flows on n ports.
#[test]
fn flow_hashes_collide_as_often_as_chance() {
    // The standard deviations are 0.0025 and 0.0015.
    for (count, expected, within) in [(2, 0.5, 0.01), (4, 0.093_75, 0.006)] {
        let share = share_without_collision(count, count as u16);
        assert!((share - expected).abs() < within, "{count}: {share}, not {expected}");
    }
}

/// The lengths, in packets, of the queues towards S2 at regular instants: their mean and maximum.
fn lengths(config: &mut Config) -> (f64, usize) {
    let first = Time::ZERO + config.duration / 20;
    let last = Time::ZERO + config.duration;
    config.probes.queues = Some(QueueWatch { first, last, interval: Span::ns(1_777) });
    let mut simulator = Simulator::new(config);
    while simulator.advance(last) {}
    let from = config.topology.node_named("S1").expect("a switch");
    let lengths = simulator.queue_lengths(last).into_iter().filter(|it| it.node == from);
    let (mut instants, mut packets, mut longest) = (0, 0, 0);
    for queue in lengths {
        let towards = config.topology.port(from, queue.port).peer;
        if !config.topology.is_host(towards) {
            for (length, count) in queue.counts.iter().enumerate() {
                instants += u64::from(*count);
                packets += length as u64 * u64::from(*count);
                longest = longest.max(length);
            }
        }
    }
    (packets as f64 / instants as f64, longest)
}

/// What random spraying of one source over many ports makes at each of them is M/D/1 in the limit of
/// many ports. With n ports each instant brings a port a packet with probability 1/n, so that the
/// variance, and with it the mean queue, is smaller by one part in n rho.
#[test]
fn random_spraying_makes_the_queues_of_m_d_1() {
    const PORTS: u16 = 64;
    let cases: [(f64, f64, f64, u64); 2] = [(0.5, 0.25, 0.02, 8), (0.9, 4.05, 0.02, 70)];
    for (load, expected, within, ms) in cases {
        let rate = Rate::mbps((10_000.0 * load) as u64 * u64::from(PORTS));
        let mut config = parallel_links(PORTS, rate, 1);
        config.duration = Span::ms(ms);
        balance(&mut config, Rule::Random, Bytes::ZERO);
        let (mean, _) = lengths(&mut config);
        let m_d_1 = load * load / (2.0 * (1.0 - load));
        assert!((m_d_1 - expected).abs() < 1e-9);
        let finite = m_d_1 * (1.0 - 1.0 / (f64::from(PORTS) * load));
        let error = mean / finite - 1.0;
        assert!(error.abs() < within, "load {load}: {mean}, not {finite}");
    }
}

/// A round that begins with the port that the last one ended with lets one packet wait, and no more do.
#[test]
fn round_robin_of_one_source_makes_no_queue() {
    for (load, longest_allowed) in [(100, 1), (50, 0)] {
        let rate = Rate::mbps(10_000 * load / 100 * 8);
        let mut config = parallel_links(8, rate, 1);
        config.duration = Span::ms(2);
        balance(&mut config, Rule::RoundRobin, Bytes::ZERO);
        let (mean, longest) = lengths(&mut config);
        assert!(longest <= longest_allowed.max(1) && mean < 0.5, "load {load}: {mean}, {longest}");
        balance(&mut config, Rule::Random, Bytes::ZERO);
        let (_, longest) = lengths(&mut config);
        assert!(longest > 4, "load {load}: {longest} at random");
    }
}

/// Shorter queues than at random: two samples and a memory of one are enough.
#[test]
fn drill_and_the_least_queue_keep_queues_short() {
    let mut config = parallel_links(8, Rate::gbps(72), 1);
    config.duration = Span::ms(4);
    let means = [Rule::Random, RULES[4], RULES[6]].map(|rule| {
        balance(&mut config, rule, Bytes::ZERO);
        lengths(&mut config).0
    });
    let [random, drill, least] = means;
    assert!(drill < random / 5.0 && least < random / 2.0, "{means:?}");
}

fn wandering(seed: u64) -> Config {
    let wildness = Wildness { scheme: seed % 5, slow_receivers: seed.is_multiple_of(4) };
    let mut config = random_network(seed, wildness);
    config.duration = Span::us(500);
    let_wander(&mut config, seed);
    config
}

fn delivered(outcome: &Outcome) -> Bytes {
    outcome.flows.iter().map(|flow| flow.delivered).sum()
}

/// No byte is mislaid (checked at the end of every run), nothing is lost, and threads change nothing.
#[test]
fn every_rule_keeps_its_promises_on_random_networks() {
    for rule in RULES {
        let (mut bytes, mut differing) = (Bytes::ZERO, 0);
        for seed in 0..12 {
            let mut config = wandering(seed);
            let by_hash = run(&config);
            balance(&mut config, rule, Bytes::new(seed % 2 * 300));
            let one = run(&config);
            assert_eq!(one.lost_packets, 0, "seed {seed}, {rule:?}: {:?}", one.loss);
            for threads in [1, 2, 3] {
                let many = Parallel::in_parts(&config, threads, 4 * threads).run();
                assert_eq!(format!("{one:?}"), format!("{many:?}"), "seed {seed}, {rule:?}");
            }
            bytes += delivered(&one);
            differing += usize::from(one.flows != by_hash.flows);
        }
        assert!(bytes > Bytes::mb(1) && differing > 6, "{rule:?}: {bytes:?}, {differing}");
    }
}

/// The same while links and switches fail and tables change.
#[test]
fn every_rule_survives_events() {
    for rule in RULES {
        let (mut lost, mut bytes) = (0, Bytes::ZERO);
        for seed in 0..12 {
            let mut config = wandering(seed);
            balance(&mut config, rule, Bytes::ZERO);
            change_at_random(&mut config, seed, 5, Span::us(500));
            let one = run(&config);
            assert_eq!(format!("{one:?}"), format!("{:?}", run(&config)), "seed {seed}, {rule:?}");
            lost += one.losses.event.packets + one.losses.no_route.packets;
            bytes += delivered(&one);
        }
        assert!(lost > 100 && bytes > Bytes::mb(1), "{rule:?}: {lost}, {bytes:?}");
    }
}

/// Congestion control sees packets and feedback that overtake each other, and telemetry of other paths.
#[test]
fn every_congestion_control_survives_every_rule() {
    let others = [
        CongestionControl::Hpcc(hpcc::Config::default()),
        CongestionControl::Dctcp(dctcp::Config::default()),
    ];
    for control in schemes(Span::us(20)).into_iter().chain(others) {
        let mut bytes = Bytes::ZERO;
        for (seed, rule) in (0..).zip(RULES) {
            let mut config = wandering(seed);
            put_under(&mut config, control);
            for flow in &mut config.flows {
                if let Reaction::Controlled { round_trip, .. } = &mut flow.reaction {
                    *round_trip = Span::us(20);
                }
            }
            balance(&mut config, rule, Bytes::ZERO);
            bytes += delivered(&run(&config));
        }
        assert!(bytes > Bytes::mb(1), "{control:?}: {bytes:?}");
    }
}

#[test]
fn the_flow_hash_as_a_rule_is_the_flow_hash() {
    for seed in 0..5 {
        let mut config = wandering(seed);
        let without = run(&config);
        balance(&mut config, Rule::FlowHash, Bytes::ZERO);
        assert_eq!(format!("{:?}", run(&config)), format!("{without:?}"), "seed {seed}");
    }
}
