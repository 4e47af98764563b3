//! GFC messages from the opcode on: any bytes are read or refused, and what is read is the same when it is
//! written again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pauseless_wire::gfc::{Packet, Repr};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(repr) = Packet::new(bytes).and_then(|packet| Repr::parse(&packet)) {
        let mut again = Packet::new([0; Repr::LEN]).expect("it is long enough");
        repr.emit(&mut again);
        assert_eq!(Repr::parse(&again), Ok(repr));
    }
});
