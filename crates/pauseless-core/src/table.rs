//! The forwarding table that the analyser, the simulator and the switch all read.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::id::{GroupId, NodeId, PortId};

/// Next-hop sets per node and destination group, in two flat vectors.
///
/// Equal sets are stored once, so a fat tree of 1,024 hosts needs a few hundred sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardingTable {
    group_count: usize,
    /// One set number per (node, group); set 0 is empty.
    entries: Vec<u16>,
    /// Where set `i` begins in `ports`; it ends where the next one begins.
    set_starts: Vec<u32>,
    ports: Vec<PortId>,
    /// The number of each set, so that filling a large table does not search all sets each time.
    set_numbers: BTreeMap<Vec<PortId>, u16>,
}

impl ForwardingTable {
    /// A table in which no node knows a way to any group.
    pub fn new(node_count: usize, group_count: usize) -> ForwardingTable {
        ForwardingTable {
            group_count,
            entries: alloc::vec![0; node_count * group_count],
            set_starts: alloc::vec![0, 0],
            ports: Vec::new(),
            set_numbers: BTreeMap::from([(Vec::new(), 0)]),
        }
    }

    /// How many destination groups the table knows.
    pub fn group_count(&self) -> usize {
        self.group_count
    }

    /// Replaces the next hops of `group` at `node`. `ports` is kept in the order given.
    pub fn set(&mut self, node: NodeId, group: GroupId, ports: &[PortId]) {
        let set = self.intern(ports);
        let entry = self.entry(node, group);
        self.entries[entry] = set;
    }

    /// The egress ports by which `node` may forward packets of `group`; empty when it knows none.
    #[inline]
    pub fn next_hops(&self, node: NodeId, group: GroupId) -> &[PortId] {
        let set = self.entries[self.entry(node, group)] as usize;
        let (start, end) = (self.set_starts[set], self.set_starts[set + 1]);
        &self.ports[start as usize..end as usize]
    }

    /// The one next hop that a flow with this `hash` takes: the same at every visit, spread
    /// over the set between flows, and independent from one switch to the next.
    #[inline]
    pub fn next_hop(&self, node: NodeId, group: GroupId, hash: u64) -> Option<PortId> {
        match self.next_hops(node, group) {
            [] => None,
            [only] => Some(*only),
            ports => {
                let salted = hash ^ (u64::from(node.0) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let mixed = salted.wrapping_mul(0xd6e8_feb8_6659_fd93);
                // The high half times the length, shifted down: a draw without a division.
                let index = ((mixed >> 32) * ports.len() as u64) >> 32;
                Some(ports[index as usize])
            }
        }
    }

    fn entry(&self, node: NodeId, group: GroupId) -> usize {
        assert!(
            group.index() < self.group_count,
            "group {} of {}",
            group.0,
            self.group_count
        );
        node.index() * self.group_count + group.index()
    }

    fn intern(&mut self, ports: &[PortId]) -> u16 {
        if let Some(&known) = self.set_numbers.get(ports) {
            return known;
        }
        self.ports.extend_from_slice(ports);
        self.set_starts.push(self.ports.len() as u32);
        let number = u16::try_from(self.set_starts.len() - 2).expect("fewer than 65,536 sets");
        self.set_numbers.insert(ports.to_vec(), number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_shared_and_kept_apart() {
        let mut table = ForwardingTable::new(2, 3);
        let pair = [PortId(1), PortId(4)];
        table.set(NodeId(0), GroupId(0), &pair);
        table.set(NodeId(1), GroupId(2), &pair);
        table.set(NodeId(1), GroupId(0), &[PortId(7)]);
        assert_eq!(table.next_hops(NodeId(0), GroupId(0)), pair);
        assert_eq!(table.next_hops(NodeId(1), GroupId(2)), pair);
        assert_eq!(table.next_hops(NodeId(1), GroupId(0)), [PortId(7)]);
        assert_eq!(table.next_hops(NodeId(0), GroupId(1)), []);
        assert_eq!(table.ports.len(), 3);
    }

    #[test]
    fn hashes_spread_over_the_set_and_differently_at_each_switch() {
        let mut table = ForwardingTable::new(2, 1);
        let ports: Vec<PortId> = (0..4).map(PortId).collect();
        table.set(NodeId(0), GroupId(0), &ports);
        table.set(NodeId(1), GroupId(0), &ports);
        let mut counts = [[0u32; 4]; 4];
        for flow in 0..4_000u64 {
            let hash = flow.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ (flow << 17);
            let first = table.next_hop(NodeId(0), GroupId(0), hash).unwrap();
            let second = table.next_hop(NodeId(1), GroupId(0), hash).unwrap();
            assert_eq!(table.next_hop(NodeId(0), GroupId(0), hash), Some(first));
            counts[first.index()][second.index()] += 1;
        }
        // 250 in each cell if the two switches chose independently.
        for count in counts.as_flattened() {
            assert!((150..350).contains(count), "{counts:?}");
        }
    }
}
