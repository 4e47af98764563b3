//! Data packets: any frame is read or refused, also one that was good before some of its bytes were changed,
//! and what is read is the same when it is written again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pauseless_core::id::{Class, FlowId};
use pauseless_wire::MacAddress;
use pauseless_wire::ip::Ecn;
use pauseless_wire::roce::{Data, Packet};

fuzz_target!(|input: (&[u8], (u32, u64, u64, u8, u16), Vec<(u16, u8)>)| {
    let (bytes, (flow, number, stamp_ns, traffic_class, size), changes) = input;
    read(bytes);
    let mut frame = good(flow, number, stamp_ns, traffic_class, size);
    read(&frame);
    // The fuzzer would not guess the checks, so it changes a frame that has them.
    for (at, value) in changes {
        let at = usize::from(at) % frame.len();
        frame[at] ^= value;
    }
    read(&frame);
});

fn good(flow: u32, number: u64, stamp_ns: u64, traffic_class: u8, size: u16) -> Vec<u8> {
    let data = Data {
        source: MacAddress([2; 6]),
        target: MacAddress([4; 6]),
        class: Class(traffic_class >> 5),
        flow: FlowId(flow % 0xff_fffe),
        run: 0,
        number,
        stamp_ns,
        ecn: Ecn::of(traffic_class),
    };
    let mut frame = vec![0; LEN_MIN + usize::from(size % 2_000)];
    data.emit(&mut frame);
    frame
}

/// The shortest frame, without its FCS.
const LEN_MIN: usize = Data::SIZE_MIN.get() as usize - 4;

fn read(bytes: &[u8]) {
    if let Ok(data) = Packet::new(bytes).and_then(|packet| Data::parse(&packet)) {
        let mut again = vec![0xee; bytes.len().clamp(LEN_MIN, 9_000)];
        data.emit(&mut again);
        let again = Packet::new(&again[..]).expect("it was just written");
        assert_eq!(Data::parse(&again), Ok(data));
    }
}
