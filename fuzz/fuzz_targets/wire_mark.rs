//! Marks: whatever the frame, nothing but the mark and the checksum of IPv4 changes, and a second mark
//! changes nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pauseless_wire::ip::{Ecn, ecn_of};
use pauseless_wire::{class_of, mark_congestion};

fuzz_target!(|input: (u8, &[u8])| {
    let (kind, bytes) = input;
    let mut before = bytes.to_vec();
    let types = [0x0800u16, 0x86dd, 0x8100];
    if let Some((ether_type, place)) = types.get(usize::from(kind)).zip(before.get_mut(12..14)) {
        place.copy_from_slice(&ether_type.to_be_bytes());
    }
    let mut after = before.clone();
    let is_marked = mark_congestion(&mut after);
    assert_eq!(is_marked, ecn_of(&after) == Ecn::Marked);
    assert_eq!(class_of(&after), class_of(&before));
    let changed = before.iter().zip(&after).filter(|(a, b)| a != b).count();
    assert!(changed <= 3);
    let once = after.clone();
    assert_eq!(mark_congestion(&mut after), is_marked);
    assert_eq!(after, once);
});
