//! QCN's messages: any frame is read or refused, and what is read is the same when it is written again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pauseless_wire::cnm::Cnm;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(cnm) = Cnm::parse(bytes) {
        let mut again = [0xee; Cnm::LEN];
        cnm.emit(&mut again);
        assert_eq!(Cnm::parse(&again), Ok(cnm));
    }
});
