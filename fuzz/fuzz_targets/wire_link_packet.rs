//! Link packets: any bytes are read or refused, with the check that they have and with the right one, and
//! what is read is the same when it is written again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pauseless_wire::crc::crc16;
use pauseless_wire::link_packet::{Packet, Repr};

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    // The fuzzer would not guess the check.
    let mut bytes = bytes.to_vec();
    let length = if bytes.first() == Some(&0) { 4 } else { 10 };
    if bytes.len() >= 4 + length {
        let check = crc16(&bytes[2..2 + length]).to_le_bytes();
        bytes[2 + length..4 + length].copy_from_slice(&check);
        read(&bytes);
    }
});

fn read(bytes: &[u8]) {
    if let Ok(repr) = Packet::new(bytes).and_then(|packet| Repr::parse(&packet)) {
        let mut again = [0; Repr::LEN];
        repr.emit(&mut again);
        let again = Packet::new(again).expect("it is long enough");
        assert_eq!(Repr::parse(&again), Ok(repr));
    }
}
