//! Congestion notification packets: any frame is read or refused, also one that was good before some of its bytes were changed,
//! and what is read is the same when it is written again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pauseless_core::id::{Class, FlowId};
use pauseless_wire::MacAddress;
use pauseless_wire::cnp::Cnp;
use pauseless_wire::roce::Packet;

fuzz_target!(|input: (&[u8], (u32, Option<u32>, bool, u8), Vec<(u16, u8)>)| {
    let (bytes, (flow, rate_mbps, is_congested, class), changes) = input;
    read(bytes);
    let mut frame = good(flow, rate_mbps, is_congested, class);
    read(&frame);
    // The fuzzer would not guess the checks, so it changes a frame that has them.
    for (at, value) in changes {
        let at = usize::from(at) % frame.len();
        frame[at] ^= value;
    }
    read(&frame);
});

fn good(flow: u32, rate_mbps: Option<u32>, is_congested: bool, class: u8) -> Vec<u8> {
    let cnp = Cnp {
        source: MacAddress([2; 6]),
        target: MacAddress([4; 6]),
        class: Class(class % 8),
        flow: FlowId(flow % 0xff_fffe),
        rate_mbps,
        is_congested,
    };
    let mut frame = [0; Cnp::LEN];
    cnp.emit(&mut frame);
    frame.to_vec()
}

fn read(bytes: &[u8]) {
    if let Ok(cnp) = Packet::new(bytes).and_then(|packet| Cnp::parse(&packet)) {
        let mut again = [0xee; Cnp::LEN];
        cnp.emit(&mut again);
        let again = Packet::new(&again[..]).expect("it was just written");
        assert_eq!(Cnp::parse(&again), Ok(cnp));
    }
}
