//! Laws that every flow control obeys, over random links, packets and drains.

mod disguise;
mod link;

use disguise::Language;
use disguise::flow_control::disguised_flow_control;
use link::{LinkPair, all_schemes, latency};
use pauseless_core::derive::Derivation;
use pauseless_core::flow_control::{FlowControl, Upstream};
use pauseless_core::unit::{Bytes, Rate, Span};
use proptest::prelude::*;

/// What the world does to a link.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// Nothing for a while, in units of the link's tau / 8.
    Wait(u64),
    /// Take so many packets out of the buffer at once.
    Drain(usize),
    /// Take packets out at this share of the line rate, in sixteenths, for so many of them.
    Pace(u64, usize),
    /// The sender's next packets have this size, in 64ths of the MTU.
    Size(u64),
    /// Control frames wait for this much of a full frame on the way back, in eighths.
    Reverse(u64),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        (1u64..100).prop_map(Op::Wait),
        (1usize..200).prop_map(Op::Drain),
        ((1u64..=16), (1usize..100)).prop_map(|(share, count)| Op::Pace(share, count)),
        (1u64..=64).prop_map(Op::Size),
        (0u64..=8).prop_map(Op::Reverse),
    ]
}

fn apply(pair: &mut LinkPair, op: Op) {
    let latency = pair.latency;
    match op {
        Op::Wait(eighths) => pair.advance(pair.now + latency.tau() * eighths / 8),
        Op::Drain(count) => {
            for _ in 0..count {
                pair.drain();
            }
        }
        Op::Pace(share, count) => {
            for _ in 0..count {
                let size = pair.queue.front().copied().unwrap_or(latency.mtu);
                let span = latency.line.tx_span(size) * 16 / share;
                pair.advance(pair.now + span);
                pair.drain();
            }
        }
        Op::Size(share) => {
            pair.size = Bytes::new((latency.mtu.get() * share / 64).max(64));
        }
        Op::Reverse(eighths) => {
            pair.reverse_wait = latency.line.tx_span(latency.mtu) * eighths / 8;
        }
    }
}

/// Where a sender may be held; for the schemes that hold by design, anywhere.
fn hold(control: &FlowControl) -> Option<Bytes> {
    match control {
        FlowControl::GfcBuffer(config) => Some(config.hold),
        FlowControl::GfcTime(config) => Some(config.mapping.hold),
        FlowControl::GfcConceptual(config) => Some(config.mapping.hold),
        _ => None,
    }
}

/// What every scheme promises on any link; below `hold` its sender always has a rate.
fn keeps_its_promises(
    derivation: &Derivation,
    control: FlowControl,
    hold: Option<Bytes>,
    ops: &[Op],
) -> Result<(), TestCaseError> {
    prop_assert_eq!(derivation.check(&control), Ok(()));
    let latency = derivation.latency;
    let mut pair = LinkPair::new(derivation, control);
    let mut drained = Bytes::ZERO;
    for op in ops {
        apply(&mut pair, *op);
        // Nothing is lost.
        prop_assert!(!pair.overrun, "{:?}: {} of {}", control, pair.held_max, pair.buffer);
        // Bytes are conserved.
        let queued: Bytes = pair.queue.iter().copied().sum();
        prop_assert_eq!(pair.sent, pair.arrived + pair.in_flight());
        prop_assert!(queued <= pair.arrived && drained <= pair.arrived - queued);
        drained = pair.arrived - queued;
        // A GFC sender has a rate, unless the queue was ever above its hold level.
        if hold.is_some_and(|hold| pair.held_max <= hold) {
            prop_assert!(pair.up.rate(pair.now).is_some(), "{:?} was stopped", control);
        }
    }
    // Once the buffer is empty the sender goes on: no scheme forgets to reopen its gate.
    while pair.drain() {}
    let before = pair.sent;
    let patience = latency.tau() + latency.line.tx_span(Bytes::new(65_535)) * 2;
    // A limiter may owe one frame at its lowest rate of 8 kb/s before it hears the news.
    for _ in 0..8 {
        while pair.drain() {}
        pair.advance(pair.now + patience);
    }
    prop_assert!(pair.sent > before, "{:?} never reopened", control);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_flow_control_keeps_its_promises(
        gbps in prop::sample::select(vec![1u64, 10, 25, 40, 100, 400, 1_600]),
        mtu in 256u64..9_217,
        wire in 0u64..20_000,
        processing in 0u64..50_000,
        guard_frames in 5u64..12,
        spare in 0u64..200_000,
        ops in prop::collection::vec(op(), 1..60),
    ) {
        let link = latency(Rate::gbps(gbps), Bytes::new(mtu), Span::ns(wire), Span::ns(processing));
        for (derivation, control) in all_schemes(link, guard_frames, Bytes::new(spare)) {
            keeps_its_promises(&derivation, control, hold(&control), &ops)?;
            for language in Language::ALL {
                if let Some(outside) = disguised_flow_control(control, language) {
                    keeps_its_promises(&derivation, outside, hold(&control), &ops)?;
                }
            }
        }
    }
}
