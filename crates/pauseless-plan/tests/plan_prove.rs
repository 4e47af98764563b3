//! The worst case of a planned port, packet by packet: the plan is enough, and it is tight.

use pauseless_core::derive::Latency;
use pauseless_core::unit::{Bytes, Rate, Span};
use pauseless_plan::Scheme;
use pauseless_plan::headroom::{Reaction, cable};
use pauseless_plan::prove::{Proof, prove_set};

/// A link of this speed, length, largest frame and number of classes.
fn link(gbps: u64, metres: u64, mtu: u64, classes: u8) -> Latency {
    let line = Rate::gbps(gbps);
    Latency {
        mtu: Bytes::new(mtu),
        line,
        wire: cable(metres),
        processing: Reaction::Standard.span(line).unwrap(),
        classes,
        jitter: Span::ZERO,
        overhead: Bytes::ZERO,
        clock_ppb: 0,
    }
}

fn prove(scheme: Scheme, latency: &Latency, spare: u64) -> Proof {
    let buffer = scheme.least(latency) + Bytes::new(spare);
    let proof = prove_set(scheme, &scheme.set(latency, buffer));
    assert!(proof.holds(), "{scheme:?} {latency:?}: {proof:?}");
    assert!(proof.is_tight(), "{scheme:?} {latency:?}: {proof:?}");
    proof
}

/// On every link the worst case comes within one frame of the end of the buffer.
#[test]
fn pfc_needs_all_but_a_frame_of_its_headroom() {
    for latency in [
        link(40, 300, 1_500, 8),
        link(40, 300, 1_500, 1),
        link(10, 5, 1_500, 2),
        link(100, 40, 9_216, 2),
        link(400, 300, 4_096, 1),
        link(25, 0, 64, 1),
        link(1, 2_000, 1_000, 4),
    ] {
        for spare in [0, 777, 20_001] {
            let proof = prove(Scheme::Pfc, &latency, spare);
            // The messages of other classes are not part of the case.
            let others = Bytes::new(64) * u64::from(latency.classes - 1);
            assert!(proof.slack() <= latency.mtu + others, "{proof:?}");
        }
    }
}

/// Windows of a few bytes, which no even sweep of a frame is sure to hit. The sender puts whole
/// frames into the time that a PAUSE takes, so what is left is the rest of a division.
#[test]
fn the_worst_phase_is_found_however_narrow() {
    for (mtu, ns) in [(4_096, 100), (4_096, 0), (9_216, 100), (1_500, 313), (1_000, 17)] {
        let latency = Latency { wire: Span::ns(ns), ..link(10, 0, mtu, 1) };
        let proof = prove(Scheme::Pfc, &latency, 0);
        let rest = (latency.pfc_headroom().get() - mtu) % mtu;
        let slack = proof.slack().get();
        assert!(slack == rest || (rest == 0 && slack == mtu), "{rest}: {proof:?}");
    }
}

#[test]
fn the_other_schemes_are_tight_too() {
    for latency in [link(40, 300, 1_500, 8), link(100, 40, 9_216, 1)] {
        for scheme in Scheme::ALL.into_iter().skip(1) {
            let proof = prove(scheme, &latency, 7_777);
            assert!(proof.slack() <= latency.mtu, "{proof:?}");
        }
    }
}
