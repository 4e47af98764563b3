use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::is_control;
use pauseless_core::derive::{Derivation, Latency};
use pauseless_core::flow_control::cbfc;
use pauseless_core::unit::{Rate, Span};

fn derivation() -> Derivation {
    let latency = Latency {
        mtu: Bytes::new(1_500),
        line: Rate::gbps(10),
        wire: Span::us(1),
        processing: Span::us(3),
        classes: 1,
        jitter: Span::ZERO,
        overhead: Bytes::ZERO,
        clock_ppb: 0,
    };
    Derivation::new(latency, Bytes::kb(300))
}

/// Every scheme with a frame, and a signal that it sends.
fn schemes() -> Vec<(FlowControl, Signal)> {
    let derivation = derivation();
    let credit = Signal::Credit { fctbs: 77, fccl: 0xabc };
    let iba = cbfc::Config { counters: Counters::Iba, ..derivation.cbfc() };
    let wide = cbfc::Config { counters: Counters::Wide, ..iba };
    let time = derivation.gfc_time(None, None, None);
    let mut by_credit = time;
    by_credit.measure = Measure::Credit;
    Vec::from([
        (FlowControl::Pfc(derivation.pfc()), Signal::Pause { quanta: 65_535 }),
        (FlowControl::GfcBuffer(derivation.gfc_buffer(None, None)), Signal::Stage(5)),
        (FlowControl::Cbfc(iba), credit),
        (FlowControl::Cbfc(wide), credit),
        (FlowControl::GfcTime(time), Signal::Free(Bytes::kb(123))),
        (FlowControl::GfcTime(by_credit), credit),
    ])
}

fn frame(envelope: Envelope, control: Control, counters: Counters) -> [u8; LEN] {
    let source = MacAddress([2, 0, 0, 0, 0, 1]);
    let mut frame = [0xee; LEN];
    let length = Header { envelope, source }.emit(&mut frame, control, counters);
    assert_eq!(length, Ok(LEN));
    frame
}

/// Worked out by hand from the definition.
//= 802.1Q-2022 36.1.3 address type=test
#[test]
fn a_pause_of_class_3_in_both_envelopes() {
    let control = Control { class: Class(3), signal: Signal::Pause { quanta: 65_535 } };
    let frame = |envelope| frame(envelope, control, Counters::Iba);
    let mut expected = [0; LEN];
    expected[..16].copy_from_slice(&[
        0x01, 0x80, 0xc2, 0x00, 0x00, 0x01, 2, 0, 0, 0, 0, 1, 0x88, 0x08, 0x01, 0x01,
    ]);
    expected[17] = 0x08;
    expected[24..26].fill(0xff);
    assert_eq!(frame(Envelope::MacControl), expected);
    expected[..6].copy_from_slice(&MacAddress::PRIVATE_CONTROL.0);
    expected[12..14].copy_from_slice(&[0x88, 0xb5]);
    assert_eq!(frame(Envelope::Private), expected);
}

#[test]
fn every_message_arrives_as_it_was_sent_and_with_no_other_scheme() {
    for envelope in [Envelope::MacControl, Envelope::Private] {
        for (at, (scheme, signal)) in schemes().into_iter().enumerate() {
            let class = Class(2);
            let control = Control { class, signal };
            let frame = frame(envelope, control, counters_of(&scheme));
            assert!(is_control(&frame));
            let said = parse(&frame).expect("it is well formed");
            for (other, (scheme, _)) in schemes().iter().enumerate() {
                let heard: Vec<_> = said.controls(|_| Some(scheme)).collect();
                // Wide credits and GFC's credits are alike, as are times and stages.
                let is_alike = matches!((at, other), (3 | 5, 3 | 5));
                if at == other || is_alike {
                    assert_eq!(heard, [Ok(control)], "{at} {other}");
                } else if !matches!((at, other), (0 | 1, 0 | 1)) {
                    assert_eq!(heard, [Err(Unwelcome::Scheme(class))], "{at} {other}");
                }
            }
            for none in [None, Some(&FlowControl::None)] {
                let heard: Vec<_> = said.controls(|_| none).collect();
                assert_eq!(heard, [Err(Unwelcome::Class(class))]);
            }
        }
    }
}

#[test]
fn what_is_not_for_us_is_said() {
    let mut pause = [0; LEN];
    pause[12..18].copy_from_slice(&[0x88, 0x08, 0x00, 0x01, 0x12, 0x34]);
    let said = parse(&pause).expect("802.3x is well formed");
    assert_eq!(said, Contents::LinkPause { quanta: 0x1234 });
    let heard: Vec<_> = said.controls(|_| None).collect();
    assert_eq!(heard, [Err(Unwelcome::LinkPause)]);

    let config = derivation().gfc_buffer(None, None);
    let scheme = FlowControl::GfcBuffer(config);
    let mut times = [None; 8];
    times[1] = Some(config.stages + 1);
    times[7] = Some(config.stages + 2);
    let heard: Vec<_> = Contents::Times(times).controls(|_| Some(&scheme)).collect();
    let hold = Control { class: Class(1), signal: Signal::Stage(config.stages + 1) };
    let beyond = Unwelcome::Stage(Class(7), config.stages + 2);
    assert_eq!(heard, [Ok(hold), Err(beyond)]);

    let header = Header { envelope: Envelope::MacControl, source: MacAddress([2; 6]) };
    let class = Class(0);
    for signal in [Signal::Level(Bytes::ZERO), Signal::Outside([1; 8])] {
        let refused = header.emit(&mut [0; LEN], Control { class, signal }, Counters::Wide);
        assert_eq!(refused, Err(NoFrame));
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(
        kind in 0..4usize,
        mut bytes in proptest::collection::vec(any::<u8>(), 0..80),
    ) {
        let types = [0x8808u16, 0x88b5, 0x88b6, 0x8100];
        if let Some(slot) = bytes.get_mut(12..14) {
            slot.copy_from_slice(&types[kind].to_be_bytes());
        }
        if let Ok(said) = parse(&bytes) {
            for (scheme, _) in schemes() {
                prop_assert!(said.controls(|_| Some(&scheme)).count() <= 8);
            }
        }
    }

    #[test]
    fn what_is_cut_short_is_refused(kind in 0..6usize, length in 0..LEN) {
        let (scheme, signal) = schemes()[kind];
        let control = Control { class: Class(4), signal };
        let frame = frame(Envelope::Private, control, counters_of(&scheme));
        let is_whole = length >= HEADER + match kind { 0 | 1 => 20, 2 => 8, _ => 14 };
        let cut = parse(&frame[..length]);
        prop_assert_eq!(cut.is_ok(), is_whole, "{:?}", cut);
        if let Err(why) = cut {
            prop_assert_eq!(why, Malformed::Truncated);
        }
    }
}
