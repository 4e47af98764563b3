//! One deadlock under many mitigations: what held for every seed that was tried.
//! docs/mitigations.md has the numbers.

mod mitigated;

use pauseless_core::unit::Span;

use mitigated::{NETWORKS, Remedy, Score, scenario, score};

const SEED: u64 = 3;
const ON: Span = Span::ms(40);

/// One for each network.
fn scores(remedy: Remedy) -> [Score; 2] {
    let score = |network| score(scenario(network, remedy, SEED, ON));
    [score(&NETWORKS[0]), score(&NETWORKS[1])]
}

#[test]
fn what_breaks_deadlocks_loses_packets_and_sees_them_again() {
    let plain = scores(Remedy::Nothing);
    let watched = scores(Remedy::WatchdogDrop);
    let late = scores(Remedy::DrainLater);
    let at_once = scores(Remedy::DrainAtOnce);
    for network in 0..2 {
        let (plain, watched) = (plain[network], watched[network]);
        let (late, at_once) = (late[network], at_once[network]);
        assert_eq!((plain.deadlocks, plain.lost_packets), (1.0, 0.0));
        assert!(plain.silent_ms > 33.0 && plain.left_kb > 300.0, "{plain:?}");
        for broken in [watched, late, at_once] {
            assert!(broken.deadlocks > 1.0 && broken.lost_packets > 300.0);
            assert_eq!(broken.left_kb, 0.0);
            assert!(broken.silent_ms < plain.silent_ms);
            assert!(broken.goodput > plain.goodput);
        }
        // A watchdog drops whatever comes for as long as the storm lasts, draining one queue once.
        assert!(watched.lost_packets > 5.0 * late.lost_packets);
        assert!(watched.deadlocks < late.deadlocks);
        // Who waits has peace and quiet; who does not has the deadlock back at once.
        assert!(at_once.deadlocks > 2.0 * late.deadlocks);
        assert!(at_once.silent_ms < 1.0 && late.silent_ms > 20.0);
    }
}

#[test]
fn forwarding_gives_up_the_pauses_for_good() {
    let dropped = scores(Remedy::WatchdogDrop);
    let forwarded = scores(Remedy::WatchdogForward);
    for (dropped, forwarded) in dropped.into_iter().zip(forwarded) {
        assert_eq!((forwarded.deadlocks, forwarded.left_kb), (1.0, 0.0));
        assert!(forwarded.silent_ms < dropped.silent_ms);
        assert!(forwarded.lost_packets < dropped.lost_packets);
    }
    assert!(forwarded[0].lost_packets > 1_000.0, "12 KB of headroom");
}

#[test]
fn what_prevents_deadlocks_loses_nothing() {
    for remedy in [Remedy::GfcBuffer, Remedy::GfcTime, Remedy::RateLimit, Remedy::Thresholds] {
        for (score, fair) in scores(remedy).into_iter().zip([5.0, 20.0]) {
            assert_eq!((score.deadlocks, score.lost_packets), (0.0, 0.0), "{remedy:?}");
            match remedy {
                // No deadlock, but behind output queues it starves.
                Remedy::GfcBuffer | Remedy::GfcTime => assert!(score.goodput < 0.3 * fair),
                _ => assert!(score.goodput > 0.7 * fair && score.silent_ms == 0.0),
            }
        }
    }
}
