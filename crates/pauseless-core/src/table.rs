//! The forwarding table that the analyser, the simulator and the switch all read.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::id::{GroupId, NodeId, PortId};

/// A set of routes that several groups share: where their packets go at each switch, up to the
/// switch where they part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WayId(pub u32);

impl WayId {
    /// The position in a vector that has one element per way.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Next-hop sets per switch and destination group, in flat vectors.
///
/// The hosts of one switch are usually reached alike, so their groups share a [`WayId`] and differ
/// in their exit only: 27,648 hosts on 1,152 edges need 1,152 ways. Only switches have entries,
/// and equal sets are stored once. Entries lie way after way, so that whoever follows one
/// destination through the whole fabric reads consecutive memory.
///
/// A group may also stand for a class of packets with routes of its own, or for one path: it is
/// whatever is forwarded alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardingTable {
    /// The row of each node; `NO_ROW` for what does not forward.
    rows: Vec<u32>,
    row_count: usize,
    groups: Vec<Group>,
    /// The number of groups that share each way.
    users: Vec<u32>,
    /// Per (way, row): 0 for no route, a port number plus one, or the number of a set.
    entries: Vec<u32>,
    /// The index in `set_ports` at which each set begins; it ends where the next one begins.
    set_starts: Vec<u32>,
    set_ports: Vec<PortId>,
    /// The number of each set, so that filling a large table does not search all sets each time.
    set_numbers: BTreeMap<Vec<PortId>, u32>,
    /// Every port by its number, so that a single next hop is a slice too.
    single_ports: Vec<PortId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Group {
    way: WayId,
    /// The switch and port at which packets of this group leave the shared way for their host, if
    /// there is such an exit.
    exit: Option<(NodeId, PortId)>,
}

impl ForwardingTable {
    /// A table for these switches, among `node_count` nodes, without groups.
    pub fn new(node_count: usize, switches: &[NodeId]) -> ForwardingTable {
        let mut rows = alloc::vec![NO_ROW; node_count];
        for (row, switch) in (0..).zip(switches) {
            rows[switch.index()] = row;
        }
        ForwardingTable {
            rows,
            row_count: switches.len(),
            groups: Vec::new(),
            users: Vec::new(),
            entries: Vec::new(),
            set_starts: alloc::vec![0],
            set_ports: Vec::new(),
            set_numbers: BTreeMap::new(),
            single_ports: Vec::new(),
        }
    }

    /// Adds a way without next hops.
    pub fn add_way(&mut self) -> WayId {
        let way = WayId(u32::try_from(self.users.len()).expect("ways have 32 bits"));
        self.users.push(0);
        self.entries.resize(self.entries.len() + self.row_count, 0);
        way
    }

    /// Adds a group that follows `way`. At the switch of `exit` its packets leave by that port; the
    /// way itself has no next hops there.
    pub fn add_group(&mut self, way: WayId, exit: Option<(NodeId, PortId)>) -> GroupId {
        let group = GroupId(u32::try_from(self.groups.len()).expect("groups have 32 bits"));
        self.users[way.index()] += 1;
        if let Some((_, port)) = exit {
            self.know_port(port);
        }
        self.groups.push(Group { way, exit });
        group
    }

    /// How many destination groups the table knows.
    pub fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// How many ways there are.
    pub fn way_count(&self) -> usize {
        self.users.len()
    }

    /// The way that packets of `group` take.
    pub fn way(&self, group: GroupId) -> WayId {
        self.groups[group.index()].way
    }

    /// The switch and port at which packets of `group` leave the way that they share with others.
    pub fn exit(&self, group: GroupId) -> Option<(NodeId, PortId)> {
        self.groups[group.index()].exit
    }

    /// Replaces the next hops of all groups that share `way`. `ports` is kept in the order given.
    pub fn set_way(&mut self, node: NodeId, way: WayId, ports: &[PortId]) {
        let number = self.intern(ports);
        let entry = self.entry(node, way).expect("only switches have next hops");
        self.entries[entry] = number;
    }

    /// Replaces the next hops of `group` at `node`, and of no other group.
    pub fn set(&mut self, node: NodeId, group: GroupId, ports: &[PortId]) {
        let Group { way, exit } = self.groups[group.index()];
        let way = match self.users[way.index()] {
            1 => way,
            _ => {
                self.users[way.index()] -= 1;
                let own = self.add_way();
                self.users[own.index()] = 1;
                let from = way.index() * self.row_count;
                self.entries.copy_within(from..from + self.row_count, own.index() * self.row_count);
                own
            }
        };
        self.set_way(node, way, ports);
        let exit = exit.filter(|(at, _)| *at != node);
        self.groups[group.index()] = Group { way, exit };
    }

    /// The egress ports by which `node` may forward packets of `group`; empty when it knows none.
    #[inline]
    pub fn next_hops(&self, node: NodeId, group: GroupId) -> &[PortId] {
        let Group { way, exit } = &self.groups[group.index()];
        match exit {
            Some((at, port)) if *at == node => self.single(*port),
            _ => self.next_hops_of_way(node, *way),
        }
    }

    /// The egress ports of a way at `node`, without the exits of its groups.
    #[inline]
    pub fn next_hops_of_way(&self, node: NodeId, way: WayId) -> &[PortId] {
        let Some(entry) = self.entry(node, way) else {
            return &[];
        };
        match self.entries[entry] {
            0 => &[],
            number @ 1..FIRST_SET => self.single(PortId((number - 1) as u16)),
            number => {
                let set = (number - FIRST_SET) as usize;
                let (start, end) = (self.set_starts[set], self.set_starts[set + 1]);
                &self.set_ports[start as usize..end as usize]
            }
        }
    }

    /// The next hop of a flow with this `hash`: the same at every visit, spread over the set
    /// between flows, and independent from switch to switch.
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

    fn single(&self, port: PortId) -> &[PortId] {
        &self.single_ports[port.index()..=port.index()]
    }

    fn entry(&self, node: NodeId, way: WayId) -> Option<usize> {
        let row = self.rows[node.index()];
        (row != NO_ROW).then(|| way.index() * self.row_count + row as usize)
    }

    fn know_port(&mut self, port: PortId) {
        for number in self.single_ports.len()..=port.index() {
            self.single_ports.push(PortId(number as u16));
        }
    }

    fn intern(&mut self, ports: &[PortId]) -> u32 {
        match ports {
            [] => return 0,
            [only] => {
                self.know_port(*only);
                return u32::from(only.0) + 1;
            }
            _ => {}
        }
        if let Some(&known) = self.set_numbers.get(ports) {
            return known;
        }
        let number = FIRST_SET + self.set_starts.len() as u32 - 1;
        self.set_ports.extend_from_slice(ports);
        self.set_starts.push(self.set_ports.len() as u32);
        self.set_numbers.insert(ports.to_vec(), number);
        number
    }
}

/// The row of a node that does not forward.
const NO_ROW: u32 = u32::MAX;
/// Above every port number plus one.
const FIRST_SET: u32 = 1 << 16 | 1;

#[cfg(test)]
mod tests {
    use super::*;

    /// A table of two switches, nodes 0 and 1, with a way of its own for each of `count` groups.
    fn table(count: u32) -> ForwardingTable {
        let mut table = ForwardingTable::new(3, &[NodeId(0), NodeId(1)]);
        for number in 0..count {
            let way = table.add_way();
            assert_eq!(table.add_group(way, None), GroupId(number));
        }
        table
    }

    #[test]
    fn sets_are_shared_and_kept_apart() {
        let mut table = table(3);
        let pair = [PortId(1), PortId(4)];
        table.set(NodeId(0), GroupId(0), &pair);
        table.set(NodeId(1), GroupId(2), &pair);
        table.set(NodeId(1), GroupId(0), &[PortId(7)]);
        assert_eq!(table.next_hops(NodeId(0), GroupId(0)), pair);
        assert_eq!(table.next_hops(NodeId(1), GroupId(2)), pair);
        assert_eq!(table.next_hops(NodeId(1), GroupId(0)), [PortId(7)]);
        assert_eq!(table.next_hops(NodeId(0), GroupId(1)), []);
        assert_eq!(table.set_ports.len(), 2);
        table.set(NodeId(0), GroupId(0), &[]);
        assert_eq!(table.next_hops(NodeId(0), GroupId(0)), []);
    }

    #[test]
    fn the_highest_port_is_not_a_set() {
        let mut table = table(1);
        let last = [PortId(u16::MAX)];
        table.set(NodeId(0), GroupId(0), &last);
        table.set(NodeId(1), GroupId(0), &[PortId(3), PortId(2)]);
        assert_eq!(table.next_hops(NodeId(0), GroupId(0)), last);
        assert_eq!(table.next_hops(NodeId(1), GroupId(0)), [PortId(3), PortId(2)]);
        // Node 2 is a host.
        assert_eq!(table.next_hops(NodeId(2), GroupId(0)), []);
    }

    #[test]
    fn groups_share_a_way_until_one_is_changed() {
        let mut table = ForwardingTable::new(2, &[NodeId(0), NodeId(1)]);
        let way = table.add_way();
        let exits = [PortId(5), PortId(6)];
        let groups = exits.map(|port| table.add_group(way, Some((NodeId(1), port))));
        table.set_way(NodeId(0), way, &[PortId(2)]);
        for (group, exit) in groups.into_iter().zip(exits) {
            assert_eq!(table.next_hops(NodeId(0), group), [PortId(2)]);
            assert_eq!(table.next_hops(NodeId(1), group), [exit]);
        }
        table.set(NodeId(0), groups[0], &[PortId(3)]);
        assert_eq!(table.way_count(), 2);
        assert_eq!(table.next_hops(NodeId(0), groups[0]), [PortId(3)]);
        assert_eq!(table.next_hops(NodeId(0), groups[1]), [PortId(2)]);
        assert_eq!(table.next_hops(NodeId(1), groups[0]), [PortId(5)]);
        table.set(NodeId(1), groups[0], &[PortId(0)]);
        assert_eq!(table.next_hops(NodeId(1), groups[0]), [PortId(0)]);
        assert_eq!(table.next_hops(NodeId(1), groups[1]), [PortId(6)]);
    }

    #[test]
    fn hashes_spread_over_the_set_and_differently_at_each_switch() {
        let mut table = table(1);
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
