//! The detector against the definition, event by event.

use std::ops::Range;

use crate::fabric::Fabric;
use crate::networks::balanced::{RULES, balance, let_wander};
use crate::networks::classed::remapped;
use crate::networks::memory::{random_shared_network, share_at_random};
use crate::networks::mixed::{Part, mixed};
use crate::networks::random::{Wildness, random_network};
use crate::networks::{Scheme, gfc_ring, pace};
use crate::{Config, Simulator};
use pauseless_core::deadlock::{EgressQueue, Network, blocked, is_deadlocked};
use pauseless_core::id::{Class, QueueId};
use pauseless_core::switch::Discipline;
use pauseless_core::unit::{Bytes, Time};

/// Found at the first event at which the definition holds, and the definition holds ever after.
#[test]
fn agrees_with_the_definition_after_every_event() {
    agrees_after_every_event(0..150, random_network);
}

/// The same in switches whose FIFOs block: every arbiter, and the rings of software, with mixed packet
/// sizes, ticks on every second network, and both flow controls.
///
/// `PAUSELESS_CASES` is the number of networks of each discipline and flow control; 500 take four minutes.
#[test]
fn agrees_with_the_definition_for_every_arbiter() {
    let cases = std::env::var("PAUSELESS_CASES").ok().and_then(|text| text.parse().ok());
    let seeds = 0..cases.unwrap_or(60);
    let disciplines = Discipline::ALL.into_iter().filter(|it| it.blocks_heads());
    std::thread::scope(|scope| {
        for discipline in disciplines {
            let seeds = seeds.clone();
            scope.spawn(move || agrees_in(discipline, seeds));
        }
    });
}

fn agrees_in(discipline: Discipline, seeds: Range<u64>) {
    let mut deadlocks = 0;
    for scheme in [0, 1] {
        for seed in seeds.clone() {
            let wildness = Wildness { scheme, slow_receivers: seed % 3 == 0 };
            let mut config = random_network(seed, wildness);
            config.discipline = discipline;
            config.polling.ring = 1 + seed as u16 % 20;
            config.polling.burst = 1 + seed as u16 % 7;
            config.duration = pauseless_core::unit::Span::us(400);
            if seed % 2 == 0 {
                pace(&mut config);
            }
            let mut run = Simulator::new(&config);
            while run.step() {
                let expected = is_deadlocked(run.now, &run.fabric);
                let found = run.deadlock();
                assert_eq!(found.is_some(), expected, "{discipline:?}, {seed} at {}", run.now);
            }
            deadlocks += usize::from(run.deadlock().is_some());
        }
    }
    assert!(deadlocks >= 10, "{discipline:?}: {deadlocks}");
}

/// The same where packets change their class on the way.
#[test]
fn agrees_with_the_definition_where_classes_change() {
    agrees_after_every_event(0..80, remapped);
}

/// The same where every packet chooses among several next hops, by every rule: it waits for the egress
/// that it was put into.
///
/// `PAUSELESS_CASES` is the number of networks of each flow control.
#[test]
fn agrees_with_the_definition_where_switches_spray() {
    let cases = std::env::var("PAUSELESS_CASES").ok().and_then(|text| text.parse().ok());
    agrees_after_every_event(0..cases.unwrap_or(105), |seed, wildness| {
        let mut config = random_network(seed, wildness);
        let_wander(&mut config, seed);
        balance(&mut config, RULES[seed as usize % RULES.len()], Bytes::ZERO);
        config
    });
}

fn agrees_after_every_event(seeds: Range<u64>, network: impl Fn(u64, Wildness) -> Config) {
    let mut deadlocks = [0; 3];
    for scheme in [0, 1] {
        for seed in seeds.clone() {
            let wildness = Wildness { scheme, slow_receivers: seed % 3 == 0 };
            let mut config = network(seed, wildness);
            config.duration = pauseless_core::unit::Span::us(600);
            let mut run = Simulator::new(&config);
            while run.step() {
                let expected = is_deadlocked(run.now, &run.fabric);
                let found = run.deadlock();
                assert_eq!(found.is_some(), expected, "seed {seed} at {}", run.now);
            }
            let index = Discipline::COMMON.iter().position(|each| *each == config.discipline);
            deadlocks[index.expect("one of three")] += usize::from(run.deadlock().is_some());
        }
    }
    // The test means nothing if hardly any of these networks deadlocks.
    assert!(deadlocks.iter().all(|count| *count >= 5), "{deadlocks:?}");
}

/// The same where ports share their memory: thresholds move with every packet.
#[test]
fn agrees_with_the_definition_where_memory_is_shared() {
    agrees_where_shared(0..300, |seed| random_shared_network(seed, seed % 3 == 0));
}

/// And where packets change their class as well.
#[test]
fn agrees_with_the_definition_where_memory_is_shared_and_classes_change() {
    agrees_where_shared(0..200, |seed| {
        let wildness = Wildness { scheme: 0, slow_receivers: seed % 3 == 0 };
        share_at_random(seed, remapped(seed, wildness))
    });
}

fn agrees_where_shared(seeds: Range<u64>, network: impl Fn(u64) -> Config) {
    let mut deadlocks = [0; 3];
    for seed in seeds {
        let mut config = network(seed);
        config.duration = pauseless_core::unit::Span::us(600);
        let mut run = Simulator::new(&config);
        while run.step() {
            let expected = is_deadlocked(run.now, &run.fabric);
            let found = run.deadlock();
            assert_eq!(found.is_some(), expected, "seed {seed} at {}", run.now);
        }
        let index = Discipline::COMMON.iter().position(|each| *each == config.discipline);
        deadlocks[index.expect("one of three")] += usize::from(run.deadlock().is_some());
    }
    assert!(deadlocks.iter().all(|count| *count >= 5), "{deadlocks:?}");
}

/// On the ring the definition is simple enough to be written out by hand: all three inter-switch
/// queues paused, no resume under way, and behind each enough bytes for the next one to stay so.
#[test]
fn the_ring_is_found_at_the_first_event_that_closes_it() {
    let config = gfc_ring(Scheme::Pfc, Discipline::OutputQueued, 1);
    let mut run = Simulator::new(&config);
    let links = ["S1:S2", "S2:S3", "S3:S1"].map(|name| {
        let (node, port) = config.topology.port_named(name).expect("a port");
        EgressQueue { node, port, class: Class(0) }
    });
    let is_closed = |fabric: &Fabric, now: Time| {
        (0..3).all(|index| {
            let (here, next) = (links[index], links[(index + 1) % 3]);
            let (far, ingress) = fabric.far_end(here.node, here.port);
            let far = fabric.switch(far).expect("a switch");
            let paused = blocked(now, fabric, here).is_some();
            let from = QueueId { port: ingress, class: here.class };
            let to = QueueId { port: next.port, class: next.class };
            paused && far.waiting(from, to) >= Bytes::kb(797)
        })
    };
    while run.deadlock().is_none() {
        assert!(!is_closed(&run.fabric, run.now), "missed at {}", run.now);
        assert!(run.step());
    }
    assert!(is_closed(&run.fabric, run.now));
    assert_eq!(run.deadlock().expect("found").time, run.now);
}

/// A packet that expires on arrival may have been the last one that could let its sender go on.
#[test]
fn agrees_with_the_definition_where_packets_expire_in_a_shared_memory() {
    let mut deadlocks = 0;
    // Number 420 is one in which it was.
    for seed in 400..440 {
        let mut config = mixed(seed, &[Part::Sharing, Part::Ttl]);
        config.duration = pauseless_core::unit::Span::us(600);
        let mut run = Simulator::new(&config);
        while run.step() {
            let expected = is_deadlocked(run.now, &run.fabric);
            let found = run.deadlock();
            assert_eq!(found.is_some(), expected, "seed {seed} at {}", run.now);
        }
        deadlocks += usize::from(run.deadlock().is_some());
    }
    assert!(deadlocks > 5, "{deadlocks}");
}

/// Where deadlocks are broken, whatever is stuck is an open episode at once, the first as the others.
#[test]
fn nothing_is_stuck_without_an_episode() {
    for parts in [&[Part::Sharing, Part::Draining], &Part::ALL[..]] {
        let mut episodes = 0;
        for seed in 0..40 {
            let mut config = mixed(seed, parts);
            config.duration = pauseless_core::unit::Span::us(600);
            let mut run = Simulator::new(&config);
            while run.step() {
                let is_known = run.mitigating.open > 0;
                let is_missed = is_deadlocked(run.now, &run.fabric) && !is_known;
                assert!(!is_missed, "{parts:?}, seed {seed} at {}", run.now);
            }
            episodes += run.mitigating.episodes().len();
        }
        assert!(episodes > 40, "{parts:?}: {episodes}");
    }
}
