//! Laws over random small networks: sizes, rates, parameters within the bounds, adversarial drains.
//!
//! `PAUSELESS_CASES` is the number of networks of each law and scheme; `PAUSELESS_SEED` runs one alone.

mod networks;

use std::ops::Range;

use networks::random::{Wildness, random_network};
use pauseless_core::unit::{Bytes, Span};
use pauseless_sim::run;

/// As many seeds as are asked for, from the first of these on, or these.
fn seeds(usual: Range<u64>) -> Range<u64> {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    if let Some(seed) = number("PAUSELESS_SEED") {
        return seed..seed + 1;
    }
    let count = number("PAUSELESS_CASES").unwrap_or(usual.end - usual.start);
    usual.start..usual.start + count
}

/// Nothing is lost, no ingress exceeds its buffer, no byte is mislaid (checked at the end of every
/// run), and no GFC sender is ever held, whatever the receivers do for half a millisecond.
#[test]
fn every_scheme_keeps_its_promises_on_random_networks() {
    let mut busiest = [Bytes::ZERO; 5];
    for scheme in 0..5 {
        for seed in seeds(0..200) {
            let config = random_network(seed, Wildness { scheme, slow_receivers: true });
            let outcome = run(&config);
            let name = format!("seed {seed}, scheme {scheme}");
            assert_eq!(outcome.lost_packets, 0, "{name}: {:?}", outcome.loss);
            for queue in &outcome.queues {
                let buffer = config.ingress.get(queue.node, queue.port, queue.class).buffer;
                assert!(queue.max <= buffer, "{name}");
                busiest[scheme as usize] = busiest[scheme as usize].max(queue.max);
            }
            if scheme >= 2 {
                assert_eq!(outcome.gfc_holds, 0, "{name}");
                assert_eq!(outcome.deadlock, None, "{name}");
            }
            let delivered = outcome.flows.iter().map(|flow| flow.delivered);
            assert!(delivered.sum::<Bytes>() > Bytes::ZERO);
        }
    }
    // The buffers were really under pressure, unless one network was asked for.
    assert!(
        seeds(0..200).count() < 200 || busiest.iter().all(|max| *max > Bytes::kb(10)),
        "{busiest:?}"
    );
}

/// What GFC guarantees with a finite lowest rate, and what it does not: it never loses a packet, but a
/// saturated cycle with the smallest legal buffers can fill its guard band at the lowest rate even
/// after the sources have stopped, and is then held for good. See docs/gfc-guard.md.
#[test]
fn gfc_loses_nothing_but_a_saturated_cycle_can_end_held() {
    let (mut held, mut drained) = (0, 0);
    for scheme in [2, 4] {
        for seed in seeds(500..600) {
            let mut config = random_network(seed, Wildness { scheme, slow_receivers: true });
            config.duration = Span::s(2);
            let outcome = run(&config);
            let name = format!("seed {seed}, scheme {scheme}");
            assert_eq!(outcome.lost_packets, 0, "{name}");
            // Two seconds are enough for either end: all is drained, or what is stuck was held
            // and the detector has said so.
            match &outcome.deadlock {
                None => assert_eq!(outcome.held_at_end, Bytes::ZERO, "{name}"),
                Some(_) => assert!(outcome.gfc_holds > 0, "{name}"),
            }
            match outcome.held_at_end {
                Bytes::ZERO => drained += 1,
                _ => held += 1,
            }
        }
    }
    let is_sample = seeds(500..600).count() >= 100;
    assert!(!is_sample || drained > 100 && held > 10, "{drained} drained, {held} held");
}

/// The same scenario gives the same outcome, to the bit.
#[test]
fn twice_the_same_is_the_same() {
    for seed in seeds(0..20) {
        let config = random_network(seed, Wildness { scheme: seed % 5, slow_receivers: true });
        assert_eq!(format!("{:?}", run(&config)), format!("{:?}", run(&config)), "seed {seed}");
    }
}

/// Looking more often, or in slices, changes nothing but the recordings.
#[test]
fn watching_changes_nothing() {
    for seed in seeds(0..20) {
        let config = random_network(seed, Wildness { scheme: seed % 5, slow_receivers: false });
        let plain = run(&config);
        let mut sliced = pauseless_sim::Simulator::new(&config);
        let slice = Span::ns(77_777);
        while sliced.advance(sliced.now() + slice) {}
        assert_eq!(format!("{plain:?}"), format!("{:?}", sliced.finish()), "seed {seed}");
    }
}
