//! Acknowledgements: any frame is read or refused, also one that was good before some of its bytes were changed,
//! and what is read is the same when it is written again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pauseless_core::congestion::Sequence;
use pauseless_core::id::{Class, FlowId};
use pauseless_wire::MacAddress;
use pauseless_wire::ack::Ack;
use pauseless_wire::roce::Packet;

fuzz_target!(|input: (&[u8], (u32, u32, bool, u8), Vec<(u16, u8)>)| {
    let (bytes, (flow, sequence, is_marked, class), changes) = input;
    read(bytes);
    let mut frame = good(flow, sequence, is_marked, class);
    read(&frame);
    // The fuzzer would not guess the checks, so it changes a frame that has them.
    for (at, value) in changes {
        let at = usize::from(at) % frame.len();
        frame[at] ^= value;
    }
    read(&frame);
});

fn good(flow: u32, sequence: u32, is_marked: bool, class: u8) -> Vec<u8> {
    let ack = Ack {
        source: MacAddress([2; 6]),
        target: MacAddress([4; 6]),
        class: Class(class % 8),
        flow: FlowId(flow % 0xff_fffe),
        sequence: Sequence(sequence),
        is_marked,
    };
    let mut frame = [0; Ack::LEN];
    ack.emit(&mut frame);
    frame.to_vec()
}

fn read(bytes: &[u8]) {
    if let Ok(ack) = Packet::new(bytes).and_then(|packet| Ack::parse(&packet)) {
        let mut again = [0xee; Ack::LEN];
        ack.emit(&mut again);
        let again = Packet::new(&again[..]).expect("it was just written");
        assert_eq!(Ack::parse(&again), Ok(ack));
    }
}
