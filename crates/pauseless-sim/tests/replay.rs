//! What a replay shows is what happened, and watching changes nothing.

mod networks;

use networks::{Scheme, gfc_ring};
use pauseless_core::switch::Discipline;
use pauseless_core::switch::watchdog::{self, Action};
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_sim::config::{Replay, Stop, Watchdog};
use pauseless_sim::outcome::PortStates;
use pauseless_sim::{Config, Outcome, run};

const INSTANTS: u32 = 500;

fn watched(scheme: Scheme, change: impl Fn(&mut Config)) -> (Config, Outcome) {
    let mut config = gfc_ring(scheme, Discipline::OutputQueued, 1);
    config.replay = Replay::On { instants_max: INSTANTS };
    change(&mut config);
    let outcome = run(&config);
    (config, outcome)
}

/// The states of the port of that name.
fn states<'o>(config: &Config, outcome: &'o Outcome, name: &str) -> &'o PortStates {
    let mut ports = outcome.ports.iter();
    let place = ports.position(|it| config.topology.port_name(it.node, it.port) == name);
    let replay = outcome.replay.as_ref().expect("it was asked for");
    &replay.ports[place.expect("a port of that name")]
}

#[test]
fn watching_changes_nothing_else() {
    for scheme in Scheme::ALL {
        let (mut config, mut outcome) = watched(scheme, |_| ());
        assert!(outcome.replay.take().is_some());
        config.replay = Replay::Off;
        assert_eq!(run(&config), outcome, "{scheme:?}");
    }
}

#[test]
fn instants_are_regular_and_go_to_the_end() {
    let (config, outcome) = watched(Scheme::GfcBuffer, |_| ());
    let times = outcome.replay.expect("it was asked for").times;
    assert!(times.len() > INSTANTS as usize - 4 && times.len() <= INSTANTS as usize + 1);
    assert_eq!(times[0], Time::ZERO);
    assert_eq!(*times.last().expect("many"), Time::ZERO + config.duration);
    let step = times[1] - times[0];
    let regular = &times[..times.len() - 1];
    assert!(regular.windows(2).all(|pair| pair[1] - pair[0] == step));
}

#[test]
fn a_run_that_ends_early_has_many_instants_too() {
    let (_, outcome) = watched(Scheme::Pfc, |config| config.stop = Stop::DEADLOCK);
    let replay = outcome.replay.expect("it was asked for");
    let deadlock = outcome.deadlock.expect("a deadlock");
    assert_eq!(*replay.times.last().expect("many"), deadlock.time);
    assert!(replay.times.len() > INSTANTS as usize / 4, "{:?}", replay.times.len());
}

#[test]
fn the_pause_wave_goes_round_the_ring_and_stays() {
    let (config, outcome) = watched(Scheme::Pfc, |_| ());
    let times = &outcome.replay.as_ref().expect("it was asked for").times;
    let deadlock = outcome.deadlock.as_ref().expect("a deadlock");
    for queue in &deadlock.cycle {
        let name = config.topology.port_name(queue.node, queue.port);
        let port = states(&config, &outcome, &name);
        assert_eq!(port.allowed[0], 1_000, "{name} is free in the beginning");
        for (time, allowed) in times.iter().zip(&port.allowed) {
            assert!(*time < deadlock.time || *allowed == 0, "{name} at {time}");
        }
        // Nothing is sent any more.
        let frozen = times.iter().position(|time| *time >= deadlock.time);
        let frozen = frozen.expect("the run goes on");
        assert_eq!(port.sent[frozen], *port.sent.last().expect("many"), "{name}");
    }
    for queue in &outcome.queues {
        let name = config.topology.port_name(queue.node, queue.port);
        let port = states(&config, &outcome, &name);
        let last = *port.held.last().expect("many");
        assert_eq!(Bytes::new(u64::from(last)), queue.last, "{name}");
        let most = *port.held.iter().max().expect("many");
        assert!(Bytes::new(u64::from(most)) <= queue.max, "{name}");
    }
}

#[test]
fn gfc_slows_down_and_never_stops() {
    let (config, outcome) = watched(Scheme::GfcBuffer, |_| ());
    let port = states(&config, &outcome, "S1:S2");
    assert!(port.allowed.iter().all(|allowed| *allowed > 0));
    assert!(port.allowed.iter().any(|allowed| *allowed < 1_000));
    assert!(port.sent.windows(2).all(|pair| pair[0] <= pair[1]));
}

#[test]
fn whom_a_watchdog_lets_go_is_not_held_back() {
    let (config, outcome) = watched(Scheme::Pfc, |config| {
        config.mitigation.watchdog = Watchdog::On(watchdog::Config {
            detection: Span::ms(2),
            restoration: Span::ms(4),
            poll: Span::ZERO,
            action: Action::Forward,
        });
    });
    let trip = outcome.trips.first().expect("a deadlock trips it");
    let times = &outcome.replay.as_ref().expect("it was asked for").times;
    let after = times.iter().position(|time| *time > trip.time);
    let after = after.expect("the run goes on");
    let name = config.topology.port_name(trip.queue.node, trip.queue.port);
    let tripped = states(&config, &outcome, &name);
    assert_eq!(tripped.allowed[after], 1_000, "{name}");
    // PFC knows nothing between stopped and free.
    for port in &outcome.replay.as_ref().expect("it was asked for").ports {
        assert!(port.allowed.iter().all(|it| [0, 1_000].contains(it)));
    }
}
