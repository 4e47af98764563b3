//! What lost and repeated control frames cost, scheme by scheme.

mod link;

use std::collections::VecDeque;

use link::{LinkPair, all_schemes, latency};
use pauseless_core::derive::{Derivation, Latency};
use pauseless_core::flow_control::{
    AnyUpstream, Downstream, FlowControl, Signal, Upstream, cbfc, pfc,
};
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use proptest::prelude::*;

const LINE: Rate = Rate::gbps(10);
const REFRESH: Span = Span::us(40);

fn short_link() -> Latency {
    latency(LINE, Bytes::new(1_500), Span::us(1), Span::us(3))
}

/// The scheme of this name, for a buffer with 100 KB more than it needs.
fn scheme(name: &str) -> (Derivation, FlowControl) {
    let schemes = all_schemes(short_link(), 8, Bytes::kb(100));
    let mut found = schemes.into_iter().filter(|(_, control)| control.name() == name);
    found.next().expect("a scheme of this name")
}

/// Loses or repeats messages as `fates` has it, again and again: 0 lost, 1, 2 copies.
fn fate(fates: Vec<usize>) -> Box<dyn FnMut(Signal) -> usize> {
    let mut next = fates.into_iter().cycle();
    Box::new(move |_| next.next().unwrap_or(1))
}

/// Takes packets out at a share of the line rate, in sixteenths, for a while.
fn drain_for(pair: &mut LinkPair, sixteenths: u64, span: Span) {
    let end = pair.now + span;
    while pair.now < end {
        let step = LINE.tx_span(Bytes::new(1_500)) * 16 / sixteenths.max(1);
        pair.advance(pair.now + step);
        if sixteenths > 0 {
            pair.drain();
        }
    }
}

fn paces() -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((0u64..=16, 1u64..400), 1..20)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Credits are absolute: whatever is lost or comes twice, the buffer holds, and one link packet
    /// that gets through puts all right.
    #[test]
    fn credits_survive_lost_and_repeated_link_packets(
        fates in prop::collection::vec(0usize..3, 1..40),
        paces in paces(),
        counters in prop::sample::select(vec![cbfc::Counters::Iba, cbfc::Counters::Wide]),
    ) {
        let (derivation, control) = scheme("cbfc");
        let FlowControl::Cbfc(config) = control else { unreachable!("asked for") };
        let control = FlowControl::Cbfc(cbfc::Config { counters, ..config });
        let mut pair = LinkPair::new(&derivation, control);
        pair.count_period = Some(config.period);
        pair.copies = fate(fates);
        for (share, us) in paces {
            drain_for(&mut pair, share, Span::us(us));
            prop_assert!(!pair.overrun, "{} of {}", pair.held_max, pair.buffer);
        }
        pair.copies = Box::new(|_| 1);
        while pair.drain() {}
        pair.advance(pair.now + config.period * 2 + short_link().tau() * 2);
        let before = pair.sent;
        while pair.drain() {}
        pair.advance(pair.now + config.period * 2 + short_link().tau() * 2);
        prop_assert!(pair.sent > before + Bytes::new(60_000), "the credit is there again");
        prop_assert!(!pair.overrun);
    }

    /// A lost RESUME costs the rest of the pause and nothing else.
    #[test]
    fn a_pause_whose_resume_is_lost_runs_out(
        fates in prop::collection::vec(0usize..3, 1..20),
        paces in paces(),
        quanta in 200u16..2_000,
    ) {
        let (derivation, control) = scheme("pfc");
        let FlowControl::Pfc(config) = control else { unreachable!("asked for") };
        let control = FlowControl::Pfc(pfc::Config { quanta, ..config });
        let mut pair = LinkPair::new(&derivation, control);
        let mut fates = fate(fates);
        pair.copies = Box::new(move |signal| match signal {
            Signal::Pause { quanta: 0 } => fates(signal),
            _ => 1,
        });
        for (share, us) in paces {
            drain_for(&mut pair, share, Span::us(us));
            prop_assert!(!pair.overrun, "{} of {}", pair.held_max, pair.buffer);
        }
        while pair.drain() {}
        let before = pair.sent;
        let longest = pfc::pause_span(quanta, LINE) + short_link().tau() * 2;
        pair.advance(pair.now + longest);
        prop_assert!(pair.sent > before, "the pause has run out");
    }

    /// With a refresh the sender has the rate of the newest stage one refresh after the last loss;
    /// time-based GFC one period after it.
    #[test]
    fn what_gfc_has_lost_is_said_again(
        levels in prop::collection::vec((0u64..400_000, 0u64..100), 1..40),
        fates in prop::collection::vec(0usize..3, 1..20),
        name in prop::sample::select(vec!["gfc-buffer", "gfc-time"]),
    ) {
        let (_, mut control) = scheme(name);
        if let FlowControl::GfcBuffer(config) = &mut control {
            config.refresh = Some(REFRESH);
        }
        let again = control.period().unwrap_or(REFRESH);
        let mut fates = fate(fates);
        let (mut up, mut down) = (control.upstream(LINE), control.downstream(LINE, Span::ZERO));
        let mut now = Time::ZERO;
        for (held, us) in levels {
            let held = Bytes::new(held);
            now = now + Span::us(us);
            down.on_enqueue(now, Bytes::ZERO, held);
            while let Some(signal) = down.poll_signal(now) {
                (0..fates(signal)).for_each(|_| up.on_signal(now, signal));
            }
            // From here on nothing is lost.
            now = now + again;
            while let Some(signal) = down.poll_signal(now) {
                up.on_signal(now, signal);
            }
            let (mut fresh, mut told) = (control.upstream(LINE), control.downstream(LINE, Span::ZERO));
            told.on_enqueue(now, Bytes::ZERO, held);
            told.poll_signal(now).into_iter().for_each(|signal| fresh.on_signal(now, signal));
            prop_assert_eq!(up.rate(now), fresh.rate(now), "{} held", held);
        }
    }

    /// The detector never overlooks a resume on its way, and does not wait for one that was lost.
    #[test]
    fn lost_resumes_are_not_waited_for_longer_than_a_message_takes(
        steps in prop::collection::vec((any::<bool>(), 0usize..3, any::<bool>()), 1..100),
        name in prop::sample::select(vec!["pfc", "gfc-buffer", "gfc-time"]),
    ) {
        let (derivation, control) = scheme(name);
        let (mut up, mut down) = (control.upstream(LINE), control.downstream(LINE, Span::ZERO));
        let mut under_way = VecDeque::new();
        let mut now = Time::ZERO;
        for (is_full, copies, is_slow) in steps {
            now = now + Span::us(100);
            if is_full {
down.on_enqueue(now, Bytes::ZERO, derivation.buffer)
} else {
down.on_dequeue(now, Bytes::ZERO, Bytes::ZERO)
}
            if let Some(signal) = down.poll_signal(now) {
                under_way.extend((0..copies).map(|_| signal));
            }
            let head = Bytes::new(1_500);
            let mut later = up.clone();
            let was_stopped = |up: &AnyUpstream| up.is_stopped(now, head);
            let releases = under_way.iter().any(|signal| {
                let before = was_stopped(&later);
                later.on_signal(now, *signal);
                before && !was_stopped(&later)
            });
            if releases {
                prop_assert!(down.is_resume_on_its_way(&up, Time::ZERO));
            }
            while !is_slow && let Some(signal) = under_way.pop_front() {
                up.on_signal(now, signal);
            }
            if under_way.is_empty() {
                prop_assert!(!down.is_resume_on_its_way(&up, now + Span::ps(1)));
            }
        }
    }
}

/// Without a refresh the loss is for ever, which is why there is one.
#[test]
fn a_lost_return_to_stage_0_is_for_ever_without_a_refresh() {
    let (_, control) = scheme("gfc-buffer");
    let (mut up, mut down) = (control.upstream(LINE), control.downstream(LINE, Span::ZERO));
    down.on_enqueue(Time::ZERO, Bytes::ZERO, Bytes::mb(10));
    let hold = down.poll_signal(Time::ZERO).expect("it is full");
    up.on_signal(Time::ZERO, hold);
    down.on_dequeue(Time::ZERO, Bytes::ZERO, Bytes::ZERO);
    let lost = down.poll_signal(Time::ZERO);
    assert_eq!(lost, Some(Signal::Stage(0)));
    let later = Time::ZERO + Span::s(1_000);
    assert_eq!((down.poll_timeout(), down.has_signal(later)), (None, false));
    assert_eq!(up.rate(later), None);
}
