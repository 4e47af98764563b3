//! Watchdogs, recovery by draining and rate limits, against what they are for.

mod networks;

use networks::mixed::{Part, mixed};
use networks::random::{Wildness, random_network};
use networks::{MTU, Scheme, Wanted, gfc_ring, network, port, stop_sources};
use pauseless_core::flow_control::{FlowControl, pfc};
use pauseless_core::id::{Class, FlowId};
use pauseless_core::switch::Discipline;
use pauseless_core::switch::watchdog::{self, Action};
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::generate::{Line, LinkSpecs, Shape};
use pauseless_fabric::topology::LinkSpec;
use pauseless_sim::config::{Ingress, RateLimit, Receiver, Recovery, Watchdog};
use pauseless_sim::outcome::Lost;
use pauseless_sim::{Config, Outcome, run};

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::ms(ms)
}

fn watch(config: &mut Config, action: Action, detection: Span) {
    config.mitigation.watchdog = Watchdog::On(watchdog::Config {
        detection,
        restoration: detection * 2,
        poll: Span::ZERO,
        action,
    });
}

/// The ring of the GFC paper under PFC, which deadlocks within 4 ms. Sources stop after 30 ms.
fn ring(seed: u64) -> Config {
    let mut config = gfc_ring(Scheme::Pfc, Discipline::OutputQueued, seed);
    stop_sources(&mut config, ms(30));
    config.duration = Span::ms(60);
    config
}

fn delivered(outcome: &Outcome) -> u64 {
    outcome.flows.iter().map(|flow| flow.delivered.get()).sum()
}

#[test]
fn a_watchdog_that_drops_breaks_the_deadlock_of_the_ring_at_a_price() {
    for seed in 1..=5 {
        let plain = run(&ring(seed));
        assert!(plain.held_at_end > Bytes::ZERO && plain.trips.is_empty());
        assert_eq!((plain.episodes.len(), plain.episodes[0].broken), (1, None));
        let mut config = ring(seed);
        watch(&mut config, Action::Drop, Span::ms(2));
        let outcome = run(&config);
        assert_eq!(outcome.deadlock, plain.deadlock, "the first one is the same");
        assert!(outcome.episodes.iter().all(|episode| episode.broken.is_some()));
        assert_eq!(outcome.held_at_end, Bytes::ZERO, "seed {seed}");
        assert!(delivered(&outcome) > delivered(&plain));
        assert!(outcome.lost_packets > 0);
        assert_eq!(outcome.losses.watchdog.packets, outcome.lost_packets);
        assert_eq!(outcome.losses.watchdog, sum_of_trips(&outcome));
        assert_eq!(outcome.loss, None, "nothing was overrun");
        let first = &outcome.trips[0];
        let stopped = first.time - outcome.episodes[0].found;
        assert!(stopped <= Span::ms(2), "paused no later than deadlocked");
        assert!(first.restored.is_some_and(|restored| restored - first.time >= Span::ms(4)));
    }
}

fn sum_of_trips(outcome: &Outcome) -> Lost {
    outcome.trips.iter().fold(Lost::default(), |sum, trip| Lost {
        packets: sum.packets + trip.dropped.packets,
        bytes: sum.bytes + trip.dropped.bytes,
    })
}

/// A host that has ceased to take packets pauses its switch for ever. Who forwards then overruns the
/// host, which is a loss with a witness there; who drops loses the same at the switch.
#[test]
fn a_watchdog_turns_a_stuck_host_into_losses_of_one_kind_or_the_other() {
    let mut config = line();
    let host = config.flows[1].target;
    let steps = vec![(Time::ZERO, None)];
    config.receivers = vec![Receiver { host, steps }];
    let plain = run(&config);
    assert_eq!((plain.lost_packets, &plain.deadlock), (0, &None));
    for action in [Action::Forward, Action::Drop] {
        watch(&mut config, action, Span::ms(2));
        let outcome = run(&config);
        assert!(outcome.trips.iter().all(|trip| trip.restored.is_none()));
        assert!(outcome.flows[0].delivered > plain.flows[0].delivered * 3);
        let losses = outcome.losses;
        let (cause, other) = match action {
            Action::Forward => (losses.overrun, losses.watchdog),
            _ => (losses.watchdog, losses.overrun),
        };
        assert_eq!((cause, other), (losses.total(), Lost::default()));
        assert!(cause.packets > 1_000);
        match (action, outcome.loss) {
            (Action::Forward, Some(loss)) => {
                assert_eq!((loss.node, loss.flow), (host, FlowId(1)));
                assert!(loss.held + MTU > loss.buffer);
            }
            (_, witness) => assert_eq!(witness, None, "nothing was overrun"),
        }
    }
}

/// All three ports of the ring trip at about the same time and make room for each other.
#[test]
fn a_ring_that_forwards_turns_without_a_loss() {
    let mut config = ring(1);
    watch(&mut config, Action::Forward, Span::ms(2));
    let outcome = run(&config);
    assert_eq!(outcome.held_at_end, Bytes::ZERO);
    let mut episodes = outcome.episodes.iter();
    assert!(episodes.all(|episode| episode.broken.is_some()));
    assert!(outcome.trips.len() >= 3);
    assert_eq!(outcome.lost_packets, 0);
}

#[test]
fn an_alert_is_a_run_without_a_watchdog_that_knows_more() {
    let plain = run(&ring(1));
    let mut config = ring(1);
    watch(&mut config, Action::Alert, Span::ms(2));
    let outcome = run(&config);
    assert!(outcome.trips.len() >= 3, "all three ring ports");
    assert!(outcome.trips.iter().all(|trip| trip.dropped == Lost::default()));
    assert_eq!(outcome.deadlock, plain.deadlock);
    assert_eq!(outcome.flows, plain.flows);
    assert_eq!(outcome.lost_packets, 0);
}

#[test]
fn a_detection_time_beyond_the_run_changes_nothing() {
    for discipline in Discipline::COMMON {
        let mut config = gfc_ring(Scheme::Pfc, discipline, 2);
        config.duration = Span::ms(20);
        let mut plain = run(&config);
        watch(&mut config, Action::Drop, Span::ms(21));
        let outcome = run(&config);
        plain.events = outcome.events;
        assert_eq!(outcome, plain);
    }
}

#[test]
fn draining_breaks_the_deadlock_on_time_and_it_comes_back() {
    let mut config = ring(1);
    let delay = Span::ms(1);
    config.mitigation.recovery = Recovery::Drain { delay };
    let outcome = run(&config);
    assert!(outcome.episodes.len() > 1, "it comes back while sources send");
    for episode in &outcome.episodes {
        let broken = episode.broken.expect("drained");
        assert!(broken <= episode.found + delay);
    }
    assert_eq!(outcome.held_at_end, Bytes::ZERO);
    assert_eq!(outcome.losses.drain.packets, outcome.lost_packets);
    assert!(outcome.lost_packets > 0);
    let first = outcome.deadlock.expect("a deadlock");
    assert_eq!(outcome.episodes[0].found, first.time);
    assert_eq!(outcome.episodes[0].cycle, first.cycle);
}

/// The detector finds whatever is stuck, again and again: with something that breaks each deadlock,
/// no network of any discipline holds a byte after its sources have stopped.
#[test]
fn whatever_deadlocks_is_drained_in_any_network() {
    let (mut broken, mut again) = ([0; 3], 0);
    for scheme in [0, 1] {
        for seed in 0..200 {
            let wildness = Wildness { scheme, slow_receivers: seed % 2 == 0 };
            let mut config = random_network(seed, wildness);
            config.duration = Span::ms(6);
            let delay = Span::us(20 * (seed % 3));
            config.mitigation.recovery = Recovery::Drain { delay };
            let outcome = run(&config);
            assert_eq!(outcome.held_at_end, Bytes::ZERO, "seed {seed}, {scheme}");
            assert_eq!(outcome.losses.drain, outcome.losses.total());
            assert!(outcome.episodes.iter().all(|episode| episode.broken.is_some()));
            let of = Discipline::COMMON.iter().position(|it| *it == config.discipline);
            broken[of.expect("one of three")] += outcome.episodes.len();
            again += usize::from(outcome.episodes.len() > 1);
        }
    }
    assert!(broken.iter().all(|count| *count > 5), "{broken:?}");
    assert!(again > 5, "{again} networks deadlock more than once");
}

/// The same where ports share their memory, classes change, packets expire and rates are limited.
#[test]
fn whatever_deadlocks_is_drained_where_everything_comes_together() {
    for parts in [&[Part::Sharing, Part::Draining], &Part::ALL[..]] {
        let mut again = 0;
        for seed in 0..60 {
            let mut config = mixed(seed, parts);
            config.duration = Span::ms(12);
            let outcome = run(&config);
            assert_eq!(outcome.held_at_end, Bytes::ZERO, "{parts:?}, seed {seed}");
            let mut episodes = outcome.episodes.iter();
            assert!(episodes.all(|episode| episode.broken.is_some()));
            let first = outcome.episodes.first().map(|episode| episode.found);
            assert_eq!(first, outcome.deadlock.map(|deadlock| deadlock.time));
            let left = outcome.memories.iter().map(|memory| memory.last.total);
            assert_eq!(left.max(), Some(Bytes::ZERO), "{parts:?}, seed {seed}");
            again += usize::from(outcome.episodes.len() > 1);
        }
        assert!(again > 5, "{parts:?}: {again} deadlock more than once");
    }
}

#[test]
fn a_watchdog_frees_any_network() {
    let mut trips = 0;
    for (seed, action) in (0..200).zip([Action::Drop, Action::Forward].into_iter().cycle()) {
        let wildness = Wildness { scheme: 0, slow_receivers: false };
        let mut config = random_network(seed, wildness);
        config.duration = Span::ms(12);
        watch(&mut config, action, Span::us(300));
        let outcome = run(&config);
        assert_eq!(outcome.held_at_end, Bytes::ZERO, "seed {seed}, {action:?}");
        assert!(outcome.episodes.iter().all(|episode| episode.broken.is_some()));
        trips += outcome.trips.len();
    }
    assert!(trips > 50, "{trips}");
}

/// Two hosts to one over a line of two switches, with a limit at any of the three egresses.
fn line() -> Config {
    let shape = Line { switches: 2, hosts_per_switch: 2 };
    let spec = LinkSpec { rate: Rate::gbps(10), delay: Span::us(1) };
    let topology = shape.build(LinkSpecs::same(spec)).expect("a line");
    let wanted = [("H1a", "H2a"), ("H1b", "H2b")].map(|(source, target)| Wanted {
        source,
        target,
        path: &[],
    });
    let control = FlowControl::Pfc(pfc::Config {
        xoff: Bytes::kb(100),
        xon: Bytes::kb(97),
        quanta: pfc::QUANTA_MAX,
    });
    let buffer = Bytes::kb(200);
    network(topology, &wanted, Ingress { control, buffer }, 1)
}

fn limit(config: &mut Config, name: &str, rate: Rate) {
    let (node, port) = port(config, name);
    config.mitigation.limits.push(RateLimit { node, port, class: Class(0), rate });
}

#[test]
fn a_limit_at_a_host_or_a_switch_is_met_to_the_packet() {
    // Behind S2:H2b the pauses of S2 stop both flows of S1:S2 alike.
    for (name, rates) in [("H1a:S1", [2.0, 8.0]), ("S1:S2", [1.0, 1.0]), ("S2:H2b", [2.0, 2.0])] {
        let mut config = line();
        limit(&mut config, name, Rate::gbps(2));
        let outcome = run(&config);
        assert_eq!((outcome.lost_packets, &outcome.deadlock), (0, &None));
        let late = outcome.flows.iter().map(|flow| flow.goodput_late_bps / 1e9);
        for (late, rate) in late.zip(rates) {
            assert!((late - rate).abs() < 0.02 * rate, "{name}: {late}");
        }
    }
}

/// Every queue of the ring waits for its shaper, and none of them is stopped.
#[test]
fn a_ring_that_enters_slowly_does_not_deadlock() {
    let mut config = ring(1);
    for host in ["H1:S1", "H2:S2", "H3:S3"] {
        limit(&mut config, host, Rate::gbps(4));
    }
    let outcome = run(&config);
    assert_eq!((&outcome.deadlock, outcome.lost_packets), (&None, 0));
    for flow in &outcome.flows {
        assert!((flow.goodput_late_bps / 4e9 - 1.0).abs() < 0.01);
    }
}
