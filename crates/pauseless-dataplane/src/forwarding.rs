//! Forwarding of frames by their destination address.

use pauseless_core::id::PortId;
use pauseless_wire::MacAddress;

/// A static forwarding table, without learning.
#[derive(Clone, Debug)]
pub(crate) struct Forwarding {
    /// The entries in the order of their addresses.
    entries: Box<[(u64, PortId)]>,
}

impl Forwarding {
    pub(crate) fn new(entries: &[(MacAddress, PortId)]) -> Forwarding {
        let entries = entries.iter().map(|(address, port)| (key(address.0), *port));
        let mut entries = Vec::from_iter(entries);
        entries.sort_unstable();
        entries.dedup();
        let is_twice = |pair: &[(u64, PortId)]| pair[0].0 == pair[1].0;
        assert!(!entries.windows(2).any(is_twice), "an address has one port");
        Forwarding { entries: entries.into() }
    }

    pub(crate) fn port(&self, address: MacAddress) -> Option<PortId> {
        let key = key(address.0);
        let place = self.entries.binary_search_by_key(&key, |entry| entry.0);
        Some(self.entries[place.ok()?].1)
    }
}

fn key([a, b, c, d, e, f]: [u8; 6]) -> u64 {
    u64::from_be_bytes([0, 0, a, b, c, d, e, f])
}
