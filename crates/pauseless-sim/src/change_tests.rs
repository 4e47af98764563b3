//! Runs in which links, switches and tables change: the detector against the definition, event by event,
//! and what must be gone with a link.
//!
//! `PAUSELESS_CASES` is the number of networks of each test; 1,000 take some three minutes of one core.

use crate::Config;
use crate::Simulator;
use crate::fabric::Node;
use crate::networks::balanced::{RULES, balance, let_wander};
use crate::networks::changing::{allow_any_ports, change_at_random};
use crate::networks::classed::remapped;
use crate::networks::memory::random_shared_network;
use crate::networks::mixed::{Part, mixed};
use crate::networks::random::{Wildness, random_network};
use pauseless_core::deadlock::{Network, is_deadlocked};
use pauseless_core::id::Class;
use pauseless_core::switch::Discipline;
use pauseless_core::unit::{Bytes, Span};

/// How long each run lasts.
const UNTIL: Span = Span::us(600);

/// What was seen in many runs.
#[derive(Debug, Default)]
struct Seen {
    deadlocks: usize,
    broken_by_event: usize,
    lost_to_events: u64,
    unroutable: u64,
}

/// So many networks, unless it is said otherwise.
fn networks(usual: u64) -> std::ops::Range<u64> {
    let cases = std::env::var("PAUSELESS_CASES").ok().and_then(|text| text.parse().ok());
    0..cases.unwrap_or(usual)
}

/// Whatever is stuck is an open episode at once, and an open episode is stuck, at every instant of every
/// run; no byte is unaccounted for; a link that is down holds nothing.
fn agrees(seeds: std::ops::Range<u64>, network: impl Fn(u64) -> Config) -> Seen {
    let mut seen = Seen::default();
    for seed in seeds {
        let mut config = network(seed);
        config.duration = UNTIL;
        change_at_random(&mut config, seed, 1 + seed % 9, UNTIL);
        let mut run = Simulator::new(&config);
        let mut changes = 0;
        while run.step() {
            let expected = is_deadlocked(run.now, &run.fabric);
            assert_eq!(run.mitigating.open > 0, expected, "seed {seed} at {}", run.now);
            let past = config.changes.list.iter().filter(|change| change.time <= run.now).count();
            if past > changes {
                changes = past;
                dead_links_hold_nothing(&run, seed);
            }
        }
        let episodes = run.mitigating.episodes();
        seen.deadlocks += episodes.len();
        let broken = episodes.iter().filter(|it| it.broken_by_event.is_some());
        seen.broken_by_event += broken.count();
        let outcome = run.finish();
        seen.lost_to_events += outcome.losses.event.packets;
        seen.unroutable += outcome.losses.no_route.packets;
    }
    seen
}

fn dead_links_hold_nothing(run: &Simulator<'_>, seed: u64) {
    for (index, end) in run.fabric.ends.iter().enumerate() {
        if !run.is_down(index) {
            continue;
        }
        let at = || format!("seed {seed}, port {index} at {}", run.now);
        assert_eq!(run.fabric.sky.frames(end).count(), 0, "{}", at());
        assert_eq!(run.fabric.controls.iter(&end.signals).count(), 0, "{}", at());
        for class in (0..run.fabric.class_count()).map(|class| Class(class as u8)) {
            let port = match &run.fabric.nodes[end.node.index()] {
                Node::Switch(switch) => {
                    assert_eq!(switch.backlog(end.port, class), 0, "{}", at());
                    assert_eq!(switch.queued_in(end.port, class), Bytes::ZERO, "{}", at());
                    switch.port(end.port)
                }
                Node::Host(host) => host.port(),
            };
            assert!(!port.is_stopped(run.now, class, Bytes::new(64)), "{}", at());
        }
    }
}

#[test]
fn the_detector_agrees_with_the_definition_under_pfc() {
    let seen = agrees(networks(120), |seed| {
        random_network(seed, Wildness { scheme: 0, slow_receivers: seed % 3 == 0 })
    });
    assert!(seen.deadlocks > 20 && seen.broken_by_event > 5, "{seen:?}");
    assert!(seen.lost_to_events > 1_000 && seen.unroutable > 1_000, "{seen:?}");
}

/// Where every packet chooses among several next hops, of which some fail.
#[test]
fn the_detector_agrees_with_the_definition_where_switches_spray() {
    for scheme in [0, 1] {
        let seen = agrees(0..70, |seed| {
            let wildness = Wildness { scheme, slow_receivers: seed % 3 == 0 };
            let mut config = random_network(seed, wildness);
            let_wander(&mut config, seed);
            balance(&mut config, RULES[seed as usize % RULES.len()], Bytes::ZERO);
            config
        });
        assert!(seen.deadlocks > 10 && seen.broken_by_event > 2, "{scheme}: {seen:?}");
        assert!(seen.lost_to_events > 500, "{scheme}: {seen:?}");
    }
}

#[test]
fn the_detector_agrees_with_the_definition_under_credits() {
    let seen = agrees(networks(120), |seed| {
        random_network(seed, Wildness { scheme: 1, slow_receivers: seed % 3 == 0 })
    });
    assert!(seen.deadlocks > 20 && seen.broken_by_event > 5, "{seen:?}");
}

#[test]
fn the_detector_agrees_with_the_definition_under_gfc() {
    for scheme in 2..5 {
        let seen = agrees(networks(40), |seed| {
            random_network(seed, Wildness { scheme, slow_receivers: seed % 3 == 0 })
        });
        assert!(seen.lost_to_events > 100, "{scheme}: {seen:?}");
    }
}

/// Where a switch may forward by any port of a set, flows also run in circles and fill them.
#[test]
fn the_detector_agrees_with_the_definition_where_ports_are_chosen_from_sets() {
    let seen = agrees(networks(300), |seed| {
        let mut config =
            random_network(seed, Wildness { scheme: seed % 2, slow_receivers: seed % 3 == 0 });
        allow_any_ports(&mut config, seed);
        config
    });
    assert!(seen.deadlocks > 100 && seen.broken_by_event > 20, "{seen:?}");
    assert!(seen.lost_to_events > 1_000 && seen.unroutable > 1_000, "{seen:?}");
}

#[test]
fn the_detector_agrees_with_the_definition_in_every_discipline() {
    for discipline in Discipline::ALL {
        for scheme in [0, 1] {
            let seen = agrees(networks(30), |seed| {
                let wildness = Wildness { scheme, slow_receivers: seed % 3 == 0 };
                let mut config = random_network(seed, wildness);
                config.discipline = discipline;
                config.polling.ring = 1 + seed as u16 % 20;
                config.polling.burst = 1 + seed as u16 % 7;
                config
            });
            assert!(seen.lost_to_events > 100, "{discipline:?}: {seen:?}");
        }
    }
}

#[test]
fn the_detector_agrees_with_the_definition_where_classes_change() {
    let seen = agrees(networks(100), |seed| {
        remapped(seed, Wildness { scheme: seed % 2, slow_receivers: seed % 3 == 0 })
    });
    assert!(seen.deadlocks > 10, "{seen:?}");
}

#[test]
fn the_detector_agrees_with_the_definition_where_memory_is_shared() {
    let seen = agrees(networks(150), |seed| random_shared_network(seed, seed % 3 == 0));
    assert!(seen.deadlocks > 10 && seen.broken_by_event > 3, "{seen:?}");
}

/// With watchdogs and recovery nothing that is stuck is missed; whether it still is so an instant after it
/// was drained they do not tell.
#[test]
fn nothing_is_stuck_without_an_episode_where_deadlocks_are_broken() {
    for parts in [&[Part::Draining, Part::Ttl][..], &Part::ALL[..]] {
        let mut lost = 0;
        for seed in networks(60) {
            let mut config = mixed(seed, parts);
            config.duration = UNTIL;
            change_at_random(&mut config, seed, 1 + seed % 9, UNTIL);
            let mut run = Simulator::new(&config);
            while run.step() {
                let is_missed = is_deadlocked(run.now, &run.fabric) && run.mitigating.open == 0;
                assert!(!is_missed, "{parts:?}, seed {seed} at {}", run.now);
            }
            lost += run.finish().losses.event.packets;
        }
        assert!(lost > 100, "{parts:?}: {lost}");
    }
}
