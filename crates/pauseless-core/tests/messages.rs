//! How many messages buffer-based GFC sends, and how late a sender learns of a faster stage; the
//! derivations are in docs/gfc-guard.md.

mod link;

use std::cell::Cell;
use std::rc::Rc;

use link::{LinkPair, all_schemes, latency};
use pauseless_core::derive::{self, Derivation, Latency};
use pauseless_core::flow_control::{Downstream, FlowControl, Signal, gfc};
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use proptest::prelude::*;

const LINE: Rate = Rate::gbps(10);

fn link(mtu: u64) -> Latency {
    latency(LINE, Bytes::new(mtu), Span::us(1), Span::us(3))
}

/// Buffer-based GFC with 100 KB more than it needs.
fn scheme(latency: Latency) -> (Derivation, gfc::BufferConfig) {
    let schemes = all_schemes(latency, 8, Bytes::kb(100));
    let found = schemes.into_iter().find_map(|(derivation, control)| match control {
        FlowControl::GfcBuffer(config) => Some((derivation, config)),
        _ => None,
    });
    found.expect("one of all schemes")
}

/// A greedy sender under `config`, and the count of its messages.
fn counted(derivation: &Derivation, config: gfc::BufferConfig) -> (LinkPair, Rc<Cell<u64>>) {
    let mut pair = LinkPair::new(derivation, FlowControl::GfcBuffer(config));
    let count = Rc::new(Cell::new(0));
    let counter = Rc::clone(&count);
    pair.copies = Box::new(move |_| {
        counter.set(counter.get() + 1);
        1
    });
    (pair, count)
}

/// Lets packets leave at `rate` until `until`.
fn drain_at(pair: &mut LinkPair, rate: Rate, until: Time) {
    while pair.now < until {
        pair.advance(pair.now + rate.tx_span(pair.latency.mtu));
        pair.drain();
    }
}

/// The messages in 100 tau, after 100 tau to settle, of a sender whose queue drains at `rate`.
fn messages_in_100_tau(latency: Latency, rate: Rate, hold_off: Option<Span>) -> u64 {
    let (derivation, mut config) = scheme(latency);
    if let Some(span) = hold_off {
        config = derivation.with_hold_off(config, span);
    }
    let (mut pair, count) = counted(&derivation, config);
    drain_at(&mut pair, rate, Time::ZERO + latency.tau() * 100);
    let before = count.get();
    drain_at(&mut pair, rate, Time::ZERO + latency.tau() * 200);
    assert!(!pair.overrun);
    count.get() - before
}

/// With a the excess in the faster stage and b the deficit in the slower one, the queue of a fluid
/// passes a threshold every tau (2 + a/b + b/a) upwards and once downwards in between, so that there is
/// never less than one message in 2 tau where a = b. Packets of 100 B are nearly a fluid.
#[test]
fn a_fluid_sends_two_messages_each_tau_times_2_plus_a_by_b_plus_b_by_a() {
    // The drain in percent of the line, between stage 0 and stage 1 or between stages 1 and 2.
    for (percent, fast, slow) in [(75, 100, 50), (70, 100, 50), (65, 100, 50), (35, 50, 25)] {
        let (a, b) = (f64::from(fast - percent), f64::from(percent - slow));
        let expected = 200.0 / (2.0 + a / b + b / a);
        let rate = Rate::bps(LINE.as_bps() / 100 * percent as u64);
        let found = messages_in_100_tau(link(100), rate, None) as f64;
        assert!((found - expected).abs() <= 0.12 * expected, "{percent} %: {found}, {expected}");
        // One message in 8 tau would be 12 or 13.
        assert!(found > 25.0, "{percent} %: {found}");
    }
}

/// A queue on a threshold: with packets of 1,500 B every crossing is a message in the paper's rule.
#[test]
fn a_queue_on_a_threshold_sends_a_message_per_tau_at_most() {
    for share in 2..=40 {
        let rate = Rate::bps(LINE.as_bps() / share);
        let found = messages_in_100_tau(link(1_500), rate, None);
        assert!(found <= 100, "1/{share}: {found}");
    }
    let third = Rate::bps(LINE.as_bps() / 3);
    let of_the_paper = messages_in_100_tau(link(1_500), third, Some(Span::ZERO));
    assert!(of_the_paper > 150, "{of_the_paper}");
}

/// On a long link one message per tau is far less than 0.69 %, and the hold-off is that of the share.
//= gfc19 4.2 messages type=test
#[test]
fn the_hold_off_is_the_least_of_three() {
    let near = link(1_500);
    let far = latency(LINE, Bytes::new(1_500), Span::us(1), Span::us(85));
    let quick = latency(LINE, Bytes::new(1_500), Span::ns(100), Span::ns(500));
    let of = |latency: &Latency, kb: u64| derive::hold_off(latency, Bytes::kb(kb));
    assert_eq!(of(&near, 500), Span::ns(14_800));
    assert_eq!(of(&far, 750), Span::ns(14_800));
    assert_eq!(of(&quick, 500), quick.tau() * 2);
    // 10 KB drain in 8 us, of which tau are 7.4.
    assert_eq!(of(&near, 10), Span::ns(600));
    assert_eq!(of(&near, 5), Span::ZERO);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever the drain does, bursts of many packets at once included, there is one message per tau at
    /// the most.
    #[test]
    fn any_drain_costs_a_message_per_tau_at_most(
        steps in prop::collection::vec((1u64..40, 0u64..16), 200..400),
    ) {
        let latency = link(1_500);
        let (derivation, config) = scheme(latency);
        let (mut pair, count) = counted(&derivation, config);
        // The way back is idle: no message is overtaken while it waits for a frame.
        pair.reverse_wait = Span::ZERO;
        for (burst, sixteenths) in steps {
            // A burst at once, or each packet by itself at a share of the line rate.
            for _ in 0..burst {
                let share = LINE.tx_span(latency.mtu) * 16 / sixteenths.max(1);
                pair.advance(pair.now + if sixteenths == 0 { Span::ZERO } else { share });
                pair.drain();
            }
            pair.advance(pair.now + LINE.tx_span(latency.mtu) * burst);
        }
        prop_assert!(!pair.overrun);
        let taus = (pair.now - Time::ZERO).as_ps() / latency.tau().as_ps();
        prop_assert!(count.get() <= taus + 4, "{} in {taus} tau", count.get());
    }

    /// The sender is never told a faster stage than the paper's, and what it was told is the stage of
    /// the queue within the hold-off, even if nothing happens any more.
    #[test]
    fn a_sender_learns_of_a_faster_stage_within_the_hold_off(
        steps in prop::collection::vec((0u64..140_000, 0u64..20_000), 1..100),
    ) {
        let (_, config) = scheme(link(1_500));
        let mut down = gfc::BufferDownstream::new(&config);
        let (mut now, mut spoke, mut told) = (Time::ZERO, Time::ZERO, 0);
        for (held, ns) in steps {
            let stage = config.stage(Bytes::new(held));
            down.on_enqueue(now, Bytes::ZERO, Bytes::new(held));
            let next = now + Span::ns(ns);
            loop {
                while let Some(signal) = down.poll_signal(now) {
                    let Signal::Stage(newest) = signal else { unreachable!("buffer-based GFC") };
                    (told, spoke) = (newest, now);
                }
                prop_assert!(told >= stage, "told {told} in {stage}");
                prop_assert!(told == stage || now < spoke + config.hold_off);
                let is_held = told > config.stages && stage <= config.stages;
                prop_assert!(!is_held, "the end of a hold is told at once");
                match down.poll_timeout().filter(|due| *due <= next) {
                    Some(due) => now = due.max(now),
                    None => break,
                }
                down.handle_timeout(now);
            }
            now = next;
        }
    }
}
