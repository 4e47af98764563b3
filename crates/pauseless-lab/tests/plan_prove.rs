//! The worst case of a planned port, packet by packet: the plan is enough, and it is tight.

use pauseless_core::derive::Latency;
use pauseless_core::unit::{Bytes, Rate, Span};
use pauseless_lab::plan::Scheme;
use pauseless_lab::plan::headroom::{Reaction, cable};
use pauseless_lab::plan::prove::prove_set;

/// Links of all speeds, short and long, with small and large frames and one or eight classes.
fn links() -> Vec<Latency> {
    let mut links = Vec::new();
    for (gbps, metres, mtu, classes) in [
        (40, 300, 1_500, 8),
        (40, 300, 1_500, 1),
        (10, 5, 1_500, 2),
        (100, 40, 9_216, 2),
        (400, 300, 4_096, 1),
        (25, 0, 64, 1),
        (1, 2_000, 1_000, 4),
    ] {
        let line = Rate::gbps(gbps);
        links.push(Latency {
            mtu: Bytes::new(mtu),
            line,
            wire: cable(metres),
            processing: Reaction::Standard.span(line).unwrap(),
            classes,
            jitter: Span::ZERO,
            overhead: Bytes::ZERO,
        });
    }
    links
}

#[test]
fn the_plan_is_enough_and_two_frames_less_are_not() {
    for latency in links() {
        for scheme in Scheme::ALL {
            for spare in [0, 777, 100_000] {
                let buffer = scheme.least(&latency) + Bytes::new(spare);
                let proof = prove_set(scheme, &scheme.set(&latency, buffer));
                println!(
                    "{} {} {:?}: {} of {} slack {} less {}",
                    scheme.name(),
                    latency.line,
                    latency.mtu,
                    proof.high_water.get(),
                    proof.buffer.get(),
                    proof.slack().get(),
                    proof.lost_with_less
                );
                assert!(proof.holds(), "{scheme:?} {latency:?}: {proof:?}");
                assert!(proof.is_tight(), "{scheme:?} {latency:?}: {proof:?}");
            }
        }
    }
}
