//! Links, switches and tables that change during a run, on networks small enough to know the answer.

mod networks;

use networks::changing::{change_at_random, make_noise};
use networks::random::{Wildness, random_network};
use networks::{Scheme, gfc_ring};
use pauseless_core::switch::Discipline;
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_sim::change::{Change, Noise, What};
use pauseless_sim::{Config, Outcome, Parallel, parallel, run};

const LINK: &str = "S1:S2";

fn at(us: u64) -> Time {
    Time::ZERO + Span::us(us)
}

/// Takes the link `S1:S2` down at the first instant and lets it return at the second.
fn break_link(config: &mut Config, event: u32, down: Time, up: Time) {
    let (node, port) = config.topology.port_named(LINK).expect("a port of the ring");
    let changes = [(down, What::LinkDown(node, port)), (up, What::LinkUp(node, port))];
    config.changes.list.extend(changes.map(|(time, what)| Change { time, event, what }));
}

fn delivered(outcome: &Outcome) -> Bytes {
    outcome.flows.iter().map(|flow| flow.delivered).sum()
}

#[test]
fn a_deadlock_is_broken_by_the_failure_of_its_link_and_comes_again() {
    let mut seen = 0;
    for discipline in Discipline::COMMON {
        let mut config = gfc_ring(Scheme::Pfc, discipline, 1);
        let Some(deadlock) = run(&config).deadlock else {
            continue;
        };
        let found = deadlock.time;
        let [down, up] = [1_000, 1_100].map(|us| found + Span::us(us));
        config.duration = (up - Time::ZERO) + Span::ms(60);
        break_link(&mut config, 7, down, up);
        let outcome = run(&config);
        assert_eq!(outcome.deadlock.as_ref().map(|it| it.time), Some(found));
        let [first, second, ..] = &outcome.episodes[..] else {
            panic!("{discipline:?}: {:?}", outcome.episodes);
        };
        assert_eq!((first.found, first.after_event), (found, None));
        assert_eq!((first.broken, first.broken_by_event), (Some(down), Some(7)));
        assert_eq!((second.after_event, second.broken), (Some(7), None));
        assert!(second.found > up, "{discipline:?}: {}", second.found);
        assert!(outcome.losses.event.packets > 0 && outcome.lost_packets == 0);
        seen += 1;
    }
    assert!(seen >= 2, "{seen}");
}

#[test]
fn credits_are_those_of_an_empty_wire_after_a_failure() {
    // A ring that has not deadlocked yet.
    let mut config = gfc_ring(Scheme::Cbfc, Discipline::OutputQueued, 1);
    config.duration = Span::ms(18);
    let whole = delivered(&run(&config));
    break_link(&mut config, 0, at(2_000), at(2_001));
    break_link(&mut config, 1, at(3_000), at(3_001));
    let outcome = run(&config);
    let share = delivered(&outcome).get() as f64 / whole.get() as f64;
    assert!(share > 0.95, "two failures of a microsecond leave {share}");
    assert_eq!(outcome.lost_packets, 0);
}

#[test]
fn credits_and_buffer_based_rates_lose_nothing_when_links_return() {
    for scheme in [1, 2] {
        let mut lost_to_events = 0;
        for seed in 0..40 {
            let mut config =
                random_network(seed, Wildness { scheme, slow_receivers: seed % 3 == 0 });
            config.duration = Span::us(600);
            change_at_random(&mut config, seed, 6, Span::us(600));
            let outcome = run(&config);
            lost_to_events += outcome.losses.event.packets;
            assert_eq!(outcome.lost_packets, 0, "scheme {scheme}, seed {seed}: {:?}", outcome.loss);
        }
        assert!(lost_to_events > 500, "scheme {scheme}: {lost_to_events}");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for seed in 0..8 {
        let mut config = random_network(seed, Wildness { scheme: seed % 5, slow_receivers: false });
        change_at_random(&mut config, seed, 5, Span::us(600));
        config.duration = Span::us(600);
        assert!(parallel::obstacle(&config).is_some());
        let one = run(&config);
        for threads in [1, 2, 4] {
            assert_eq!(Parallel::in_parts(&config, threads, 4 * threads).run(), one, "seed {seed}");
        }
    }
}

#[test]
fn nothing_is_different_after_an_event_that_changes_nothing() {
    for seed in 0..20 {
        let wildness = Wildness { scheme: seed % 5, slow_receivers: seed % 3 == 0 };
        let mut config = random_network(seed, wildness);
        config.duration = Span::us(600);
        let without = run(&config);
        let noise = Noise::default();
        make_noise(&mut config, at(100), noise);
        let with = run(&config);
        let figures = |it: &Outcome| (it.flows.clone(), it.queues.clone(), it.deadlock.clone());
        assert_eq!(figures(&with), figures(&without), "seed {seed}");
    }
}

#[test]
fn wires_lose_the_share_that_they_are_told_to_and_control_frames_when_asked() {
    let mut config = gfc_ring(Scheme::Pfc, Discipline::OutputQueued, 1);
    config.duration = Span::ms(2);
    for (noise, expected) in [
        (Noise { share: 0.1, ..Noise::default() }, 0.1),
        // 12,000 bits of a packet of 1,500 bytes.
        (Noise { bit_error_rate: 1e-5, ..Noise::default() }, 0.113),
    ] {
        config.changes.list.clear();
        make_noise(&mut config, Time::ZERO, noise);
        let outcome = run(&config);
        let lost = outcome.losses.wire.packets as f64;
        let share = lost / (lost + outcome.packet_hops as f64);
        assert!((share / expected - 1.0).abs() < 0.05, "{share} of {expected}");
        assert_eq!((outcome.lost_control_frames, outcome.lost_packets), (0, 0));
    }
    let noise = Noise { share: 0.5, bit_error_rate: 0.0, hits_control: true };
    let mut lost = [0, 0];
    for seed in 0..20 {
        let mut config = random_network(seed, Wildness { scheme: 0, slow_receivers: true });
        config.duration = Span::us(600);
        make_noise(&mut config, Time::ZERO, noise);
        let outcome = run(&config);
        lost[0] += outcome.lost_control_frames;
        lost[1] += outcome.lost_packets;
    }
    // A PAUSE that is lost is a loss, sooner or later.
    assert!(lost[0] > 20 && lost[1] > 0, "{lost:?}");
}
