//! Control frames of all flow controls: any frame is read or refused, no scheme makes anything of it that
//! it does not say, and every message is the same when it is written again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pauseless_core::derive::{Derivation, Latency};
use pauseless_core::flow_control::FlowControl;
use pauseless_core::flow_control::cbfc::Counters;
use pauseless_core::unit::{Bytes, Rate, Span};
use pauseless_wire::control::{Header, LEN, parse};
use pauseless_wire::{Envelope, MacAddress, is_control};

fuzz_target!(|input: (u8, &[u8])| {
    let (kind, bytes) = input;
    let mut frame = bytes.to_vec();
    // Half of the frames have the right type from the start.
    let types = [0x8808u16, 0x88b5, 0x88b6];
    if let Some((ether_type, place)) = types.get(usize::from(kind)).zip(frame.get_mut(12..14)) {
        place.copy_from_slice(&ether_type.to_be_bytes());
    }
    let Ok(said) = parse(&frame) else {
        return;
    };
    assert!(is_control(&frame));
    for scheme in schemes() {
        for control in said.controls(|_| Some(&scheme)).flatten() {
            let header = Header { envelope: Envelope::Private, source: MacAddress([2; 6]) };
            let mut again = [0; LEN];
            let written = header.emit(&mut again, control, Counters::of(&scheme));
            assert_eq!(written, Ok(LEN));
            let said = parse(&again).expect("it was just written");
            let mut heard = said.controls(|_| Some(&scheme));
            assert_eq!(heard.next(), Some(Ok(control)));
            assert_eq!(heard.next(), None);
        }
    }
});

fn schemes() -> [FlowControl; 5] {
    let latency = Latency {
        mtu: Bytes::new(1_500),
        line: Rate::gbps(10),
        wire: Span::us(1),
        processing: Span::us(3),
        classes: 8,
        jitter: Span::ZERO,
        overhead: Bytes::ZERO,
        clock_ppb: 0,
    };
    let derivation = Derivation::new(latency, Bytes::mb(1));
    let mut iba = derivation.cbfc();
    iba.counters = Counters::Iba;
    [
        FlowControl::Pfc(derivation.pfc()),
        FlowControl::Cbfc(derivation.cbfc()),
        FlowControl::Cbfc(iba),
        FlowControl::GfcBuffer(derivation.gfc_buffer(None, None)),
        FlowControl::GfcTime(derivation.gfc_time(None, None, None)),
    ]
}
