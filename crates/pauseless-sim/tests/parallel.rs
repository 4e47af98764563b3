//! One run on many threads says what it says on one, to the last bit.

mod networks;

use networks::congestion::{parking_lot, put_under, schemes};
use networks::diverse::Diverse;
use networks::memory::random_shared_network;
use networks::random::{Wildness, random_network};
use networks::{Scheme, gfc_ring};
use pauseless_core::id::FlowId;
use pauseless_core::switch::Discipline;
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_sim::clock::{Clocks, Oscillator};
use pauseless_sim::config::{Follow, Replay, Stop};
use pauseless_sim::outcome::Ended;
use pauseless_sim::parallel::obstacle;
use pauseless_sim::{Config, Outcome, Parallel, run};

const DONE: Stop = Stop { deadlock: false, done: true, steady: None };

/// As far off as 802.3 allows.
const CLOCKS: Clocks = Clocks { deviation_max_ppb: 100_000, oscillator: Oscillator::PerPort };

/// Numbers of threads and of parts.
const WAYS: [(usize, usize); 4] = [(2, 2), (3, 9), (1, 3), (7, 7)];

/// Holds every way to run `config` against one thread; the outcome, and whether it was ever divided.
fn assert_same(config: &Config, what: &str) -> (Outcome, bool) {
    let one = run(config);
    let mut is_divided = false;
    for (threads, parts) in WAYS {
        let parallel = Parallel::in_parts(config, threads, parts);
        is_divided |= parallel.part_count() > 1;
        let many = parallel.run();
        let what = format!("{what}, {threads} threads, {parts} parts");
        assert_equal(&one, &many, &what);
    }
    (one, is_divided)
}

fn assert_equal(one: &Outcome, many: &Outcome, what: &str) {
    // What differs first is easier to see than all of it.
    assert_eq!(one.deadlock, many.deadlock, "{what}");
    assert_eq!((one.end, one.ended), (many.end, many.ended), "{what}");
    assert_eq!(one.flows, many.flows, "{what}");
    assert_eq!(one.events, many.events, "{what}");
    assert_eq!(one.tree, many.tree, "{what}");
    assert_eq!(format!("{one:?}"), format!("{many:?}"), "{what}");
}

fn wild(seed: u64) -> Config {
    let wildness = Wildness { scheme: seed % 5, slow_receivers: seed % 4 == 3 };
    random_network(seed, wildness)
}

#[test]
fn random_networks_under_every_flow_control() {
    let mut divided = 0;
    let mut losses = 0;
    for seed in 0..16 {
        let mut config = wild(seed);
        if seed % 3 == 0 {
            config.wire_jitter = Span::ns(700);
            config.processing_jitter = Span::us(1);
        }
        if seed % 5 == 0 {
            config.hardware.control_frame = Bytes::ZERO;
        }
        if seed % 2 == 0 {
            config.hardware.clocks = CLOCKS;
        }
        if seed % 4 == 0 {
            for node in config.topology.switches().to_vec() {
                for port in 0..config.topology.ports(node).len() {
                    let port = pauseless_core::id::PortId(port as u16);
                    let class = pauseless_core::id::Class(0);
                    let ingress = config.ingress.get_mut(node, port, class);
                    ingress.buffer = Bytes::new(ingress.buffer.get() / 3);
                }
            }
        }
        let (outcome, is_divided) = assert_same(&config, &format!("seed {seed}"));
        divided += usize::from(is_divided);
        losses += usize::from(outcome.loss.is_some());
    }
    assert!(divided > 8, "{divided} divided");
    assert!(losses > 1, "{losses} with losses");
}

#[test]
fn deadlocks_are_found_at_the_same_instant() {
    let mut deadlocks = 0;
    for seed in 0..16 {
        let network = Diverse::new(seed);
        let scheme = [Scheme::Pfc, Scheme::Cbfc][seed as usize / 2 % 2];
        let discipline = match seed % 3 {
            0 => Discipline::INPUT_QUEUED,
            _ => Discipline::OutputQueued,
        };
        let mut config = network.config(scheme, discipline);
        if seed % 2 == 0 {
            config.stop = Stop::default();
        }
        let (outcome, _) = assert_same(&config, &format!("seed {seed}"));
        deadlocks += usize::from(outcome.deadlock.is_some());
    }
    assert!(deadlocks > 3, "{deadlocks} deadlocks");
    let ring = gfc_ring(Scheme::Pfc, Discipline::OutputQueued, 1);
    let (outcome, is_divided) = assert_same(&ring, "ring");
    assert!(outcome.deadlock.is_some() && is_divided);
}

#[test]
fn congestion_control_over_cut_wires() {
    for (index, control) in schemes(Span::us(20)).into_iter().enumerate() {
        let mut config = parking_lot(4, control);
        config.duration = Span::ms(3);
        let (outcome, is_divided) = assert_same(&config, &format!("parking lot {index}"));
        assert!(outcome.answers > 0 && is_divided);
        for seed in 0..2 {
            let mut config = wild(100 + 5 * seed);
            put_under(&mut config, control);
            assert_same(&config, &format!("scheme {index}, seed {seed}"));
        }
    }
}

#[test]
fn memories_that_ports_share() {
    let mut divided = 0;
    for seed in 0..8 {
        let config = random_shared_network(seed, seed % 4 == 0);
        let (_, is_divided) = assert_same(&config, &format!("seed {seed}"));
        divided += usize::from(is_divided);
    }
    assert!(divided > 3);
}

#[test]
fn runs_that_end_when_all_is_done_end_with_the_same_event() {
    let mut done = 0;
    for seed in 0..16 {
        let mut config = wild(seed);
        for (index, flow) in config.flows.iter_mut().enumerate() {
            match index % 3 {
                0 => flow.stop = Time::ZERO + Span::us(150 + 20 * index as u64),
                _ => flow.size = Bytes::kb(1 + 40 * (index as u64 % 5)),
            }
        }
        config.stop = DONE;
        config.duration = Span::ms(20);
        if seed % 4 < 2 {
            config.hardware.clocks = CLOCKS;
        }
        if seed % 2 == 0 {
            let chain = 1..config.flows.len() as u32;
            let follow = |then: u32| Follow {
                first: FlowId(then - 1),
                then: FlowId(then),
                delay: Span::ns(u64::from(then) * 100),
            };
            config.follows = chain.filter(|then| then % 3 == 2).map(follow).collect();
        }
        let (outcome, _) = assert_same(&config, &format!("seed {seed}"));
        done += usize::from(outcome.ended == Ended::Done);
    }
    assert!(done > 6, "{done} were done");
}

#[test]
fn probes_and_slices_see_the_same() {
    for seed in 0..6 {
        let mut config = wild(seed);
        config.probes.resolution = Span::us(7);
        let nodes = config.topology.nodes().len() as u32;
        let nodes = (0..nodes).map(pauseless_core::id::NodeId);
        config.probes.ports = nodes.map(|node| (node, pauseless_core::id::PortId(0))).collect();
        config.probes.flows = (0..config.flows.len() as u32).map(FlowId).collect();
        if seed % 2 == 0 {
            config.replay = Replay::On { instants_max: 9 };
        }
        assert_same(&config, &format!("seed {seed}"));
        let mut sliced = Parallel::in_parts(&config, 2, 3);
        while sliced.advance(sliced.now() + Span::ns(77_777)) {}
        assert_equal(&run(&config), &sliced.finish(), &format!("sliced, seed {seed}"));
        // Broken off in the middle.
        let until = Time::ZERO + Span::us(123);
        let (mut one, mut many) = (Parallel::new(&config, 1), Parallel::in_parts(&config, 2, 4));
        assert!(one.advance(until) && many.advance(until));
        if many.now() < until {
            many.advance(until);
        }
        assert_equal(&one.finish(), &many.finish(), &format!("broken off, seed {seed}"));
    }
}

#[test]
fn what_needs_the_order_of_all_events_is_run_in_one_part() {
    let mut config = wild(0);
    assert_eq!(obstacle(&config), None);
    config.is_tracing = true;
    assert_eq!(obstacle(&config), Some("it records where pauses come from"));
    assert_eq!(Parallel::new(&config, 4).part_count(), 1);
}

/// Samples come between windows, when links may be about to leave the congestion tree: nobody may take
/// them out before their time.
#[test]
fn samples_do_not_hurry_the_congestion_tree() {
    for (seed, ns) in [(8, 778), (167, 778), (293, 1_389), (308, 1_220)] {
        let scheme = seed % 5;
        let slow_receivers = false;
        let mut config = random_network(seed, Wildness { scheme, slow_receivers });
        for (index, flow) in config.flows.iter_mut().enumerate() {
            flow.size = Bytes::kb(1 + 40 * (index as u64 % 5));
        }
        config.stop = DONE;
        config.duration = Span::ms(5);
        config.probes.resolution = Span::ns(ns);
        assert_same(&config, &format!("seed {seed}"));
        let four = Parallel::in_parts(&config, 1, 4).run();
        assert_equal(&run(&config), &four, &format!("4 parts, seed {seed}"));
    }
}
