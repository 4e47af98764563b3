//! In which class a packet travels on its next link: the same one, one higher at each hop, or by a
//! table of the switch, such as InfiniBand's SL-to-VL mapping or an Ethernet priority remap.
//!
//! Classes that count hops are TTL-based buffer management under another labelling. There, a packet
//! that has come over j links is in partition j: it is queued in class j at the ingress and at the
//! egress, and a full ingress queue j pauses class j-1 of the sender. Here a class is that of the
//! wire: the sender's egress queue j-1 there is the egress queue of class j-1 here, which is also
//! the class on the wire and at the next ingress. So the ingress class c of a switch here is its
//! partition j = c + 1 there, the egress class c + 1 is that partition's queue at the egress, and
//! plain PFC, which pauses the class that has filled, is the paper's modified one.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::id::{Class, NodeId, PortId};

/// The number of labels and classes that a table distinguishes: InfiniBand has 16 service levels
/// and 16 virtual lanes.
pub const LANE_COUNT: usize = 16;

/// The ports by which a packet passes one switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The switch that the packet passes.
    pub node: NodeId,
    /// The port by which the packet arrives.
    pub ingress: PortId,
    /// The port by which the packet leaves.
    pub egress: PortId,
}

/// The fields of an arriving packet that decide its next class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The label that the packet keeps from source to target, such as a service level.
    pub label: u8,
    /// The class in which the packet arrives.
    pub class: Class,
    /// The number of switches that the packet has passed before this one.
    pub hops: u8,
}

/// How classes change from hop to hop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClassMap {
    /// A packet keeps its class.
    Same,
    /// The class grows with the number of hops, as in TTL-based buffer management.
    Hops(Hops),
    /// Each switch has a table, such as InfiniBand's SL-to-VL mapping.
    Table(ClassTable),
}

impl ClassMap {
    /// The class on the link behind `passage.egress`, which leads to another switch; `None` if the
    /// packet is dropped.
    #[inline]
    pub fn next(&self, passage: Passage, carried: Carried) -> Option<Class> {
        match self {
            ClassMap::Same => Some(carried.class),
            ClassMap::Hops(hops) => hops.next(carried),
            ClassMap::Table(table) => table.next(passage, carried.label, carried.class),
        }
    }

    /// The class on the last link, which leads to the packet's target. A packet in the highest
    /// class still arrives there: it needs no further class.
    #[inline]
    pub fn last(&self, passage: Passage, carried: Carried) -> Option<Class> {
        match self {
            ClassMap::Hops(hops) => hops.next(carried).or(Some(carried.class)),
            _ => self.next(passage, carried),
        }
    }

    /// The classes that packets with this label and class can ever be in, on any path; bit c stands
    /// for class c.
    pub fn reachable(&self, label: u8, class: Class) -> u16 {
        let own = 1 << class.0;
        match self {
            ClassMap::Same => own,
            ClassMap::Hops(hops) => {
                let counted = (class.0..hops.count).fold(0, |bits, class| bits | 1 << class);
                counted | own
            }
            ClassMap::Table(table) => table.reachable(label, class),
        }
    }

    /// The highest class that the map can give to any packet.
    pub fn class_max(&self) -> Class {
        match self {
            ClassMap::Same => Class(0),
            ClassMap::Hops(hops) => Class(hops.count - 1),
            ClassMap::Table(table) => table.class_max(),
        }
    }

    /// Lets packets whose label or class is `class` keep it: feedback packets of congestion control
    /// may travel in a class of their own.
    pub fn keep(&mut self, class: Class) {
        if let ClassMap::Table(table) = self {
            table.keep(class);
        }
    }
}

/// Classes that count the hops of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hops {
    /// The number of classes that count hops, from 0 up; packets in higher classes keep their
    /// class.
    pub count: u8,
    /// The number of switches that a packet passes in each class.
    pub width: u8,
    /// What happens to packets that have used up the last class.
    pub beyond: Beyond,
}

/// What happens to a packet that has used up the last class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// The packet is dropped, as when its TTL has run out.
    Drop,
    /// The packet stays in the last class.
    Stay,
}

impl Hops {
    /// The largest width: with sixteen classes, packets then live as long as an 8-bit TTL allows.
    pub const WIDTH_MAX: u8 = 16;

    /// One class per hop; a packet that has used up all of them is dropped.
    //= ttl 1.3 class
    pub const fn each(count: u8) -> Hops {
        Hops { count, width: 1, beyond: Beyond::Drop }
    }

    #[inline]
    fn next(self, carried: Carried) -> Option<Class> {
        let class = carried.class;
        let passed = u16::from(carried.hops) + 1;
        if class.0 >= self.count || !passed.is_multiple_of(u16::from(self.width)) {
            return Some(class);
        }
        let next = Class(class.0 + 1);
        match self.beyond {
            _ if next.0 < self.count => Some(next),
            Beyond::Drop => None,
            Beyond::Stay => Some(class),
        }
    }
}

/// The field of a packet that indexes the rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// The label, such as a service level.
    Label,
    /// The class in which the packet arrives.
    Class,
}

/// A row of classes per (switch, ingress, egress). Equal rows are stored once; a pair of ports
/// without a row keeps the class of its packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassTable {
    key: Key,
    /// Per node, the index of its first pair in `pairs` and its number of ports.
    nodes: Vec<(usize, usize)>,
    /// The row of each pair of ports, by ingress and then by egress; 0 for none.
    pairs: Box<[u32]>,
    rows: Vec<[u8; LANE_COUNT]>,
    numbers: BTreeMap<[u8; LANE_COUNT], u32>,
}

impl ClassTable {
    /// The entry of a row that means "drop the packet".
    pub const DROP: u8 = 255;

    /// A table without rows, for nodes with these numbers of ports.
    pub fn new(key: Key, port_counts: impl IntoIterator<Item = usize>) -> ClassTable {
        let mut total = 0;
        let place = |count: usize| {
            let start = total;
            total += count * count;
            (start, count)
        };
        let nodes = port_counts.into_iter().map(place).collect();
        ClassTable {
            key,
            nodes,
            pairs: alloc::vec![0; total].into(),
            rows: alloc::vec![[0; LANE_COUNT]],
            numbers: BTreeMap::new(),
        }
    }

    /// Replaces the row of a passage. Panics if an entry is neither a class nor
    /// [`ClassTable::DROP`].
    pub fn set(&mut self, passage: Passage, row: [u8; LANE_COUNT]) {
        let is_class = |value: &u8| usize::from(*value) < LANE_COUNT || *value == Self::DROP;
        assert!(row.iter().all(is_class));
        let next = self.rows.len() as u32;
        let number = *self.numbers.entry(row).or_insert(next);
        if number == next {
            self.rows.push(row);
        }
        let pair = self.pair(passage);
        self.pairs[pair] = number;
    }

    /// The field that indexes the rows.
    pub fn key(&self) -> Key {
        self.key
    }

    /// The row of a passage; `None` where packets keep their class.
    pub fn row(&self, passage: Passage) -> Option<&[u8; LANE_COUNT]> {
        match self.pairs[self.pair(passage)] {
            0 => None,
            number => Some(&self.rows[number as usize]),
        }
    }

    /// The highest class that occurs in any row.
    pub fn class_max(&self) -> Class {
        let classes = self.rows.iter().flatten().filter(|c| **c != Self::DROP);
        Class(classes.copied().max().unwrap_or(0))
    }

    fn reachable(&self, label: u8, class: Class) -> u16 {
        let mut found: u16 = 1 << class.0;
        loop {
            let before = found;
            for row in &self.rows[1..] {
                for (key, next) in row.iter().enumerate() {
                    let is_used = match self.key {
                        Key::Label => key == usize::from(label),
                        Key::Class => before & 1 << key != 0,
                    };
                    if is_used && *next != Self::DROP {
                        found |= 1 << next;
                    }
                }
            }
            if found == before {
                return found;
            }
        }
    }

    /// Maps `class` to itself in every row.
    fn keep(&mut self, class: Class) {
        self.numbers.clear();
        for (number, row) in (0..).zip(&mut self.rows) {
            row[class.index()] = class.0;
            // Rows that have become equal share the first one's number; row 0 stands for "no row".
            if number > 0 {
                self.numbers.entry(*row).or_insert(number);
            }
        }
    }

    fn next(&self, passage: Passage, label: u8, class: Class) -> Option<Class> {
        let number = self.pairs[self.pair(passage)];
        if number == 0 {
            return Some(class);
        }
        let key = match self.key {
            Key::Label => usize::from(label),
            Key::Class => class.index(),
        };
        let next = self.rows[number as usize][key];
        (next != Self::DROP).then_some(Class(next))
    }

    fn pair(&self, passage: Passage) -> usize {
        let (start, count) = self.nodes[passage.node.index()];
        assert!(passage.ingress.index() < count && passage.egress.index() < count);
        start + passage.ingress.index() * count + passage.egress.index()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn carried(label: u8, class: u8, hops: u8) -> Carried {
        Carried { label, class: Class(class), hops }
    }

    const PASSAGE: Passage = Passage { node: NodeId(1), ingress: PortId(0), egress: PortId(2) };

    #[test]
    fn rows_are_found_by_label_or_by_class() {
        let mut row = [0; LANE_COUNT];
        (row[3], row[5], row[6]) = (7, 2, ClassTable::DROP);
        for (key, expected) in [(Key::Label, Some(Class(2))), (Key::Class, Some(Class(7)))] {
            let mut table = ClassTable::new(key, [0, 3]);
            table.set(PASSAGE, row);
            let elsewhere = Passage { egress: PortId(1), ..PASSAGE };
            assert_eq!((table.key(), table.row(PASSAGE)), (key, Some(&row)));
            assert_eq!(table.row(elsewhere), None);
            let mut map = ClassMap::Table(table);
            assert_eq!(map.next(PASSAGE, carried(5, 3, 0)), expected);
            assert_eq!(map.last(PASSAGE, carried(5, 3, 0)), expected);
            assert_eq!(map.next(PASSAGE, carried(6, 6, 0)), None);
            assert_eq!(map.last(PASSAGE, carried(6, 6, 0)), None);
            assert_eq!(map.next(elsewhere, carried(5, 3, 0)), Some(Class(3)));
            let reachable = match key {
                Key::Label => 1 << 2 | 1 << 3,
                Key::Class => 1 << 7 | 1 << 3 | 1,
            };
            assert_eq!(map.reachable(5, Class(3)), reachable);
            map.keep(Class(6));
            assert_eq!(map.next(PASSAGE, carried(6, 6, 0)), Some(Class(6)));
            assert_eq!(map.next(PASSAGE, carried(5, 3, 0)), expected);
        }
    }

    //= ttl 1.3 class type=test
    #[test]
    fn hops_run_out_of_classes() {
        let map = ClassMap::Hops(Hops::each(3));
        let next = |class, hops| map.next(PASSAGE, carried(0, class, hops));
        assert_eq!([next(0, 0), next(1, 1)], [Some(Class(1)), Some(Class(2))]);
        assert_eq!(next(2, 2), None);
        assert_eq!(map.last(PASSAGE, carried(0, 2, 2)), Some(Class(2)));
        assert_eq!(next(3, 2), Some(Class(3)), "not one that counts");
        assert_eq!(map.class_max(), Class(2));
        let same = ClassMap::Same.next(PASSAGE, carried(9, 2, 7));
        assert_eq!(same, Some(Class(2)));
    }

    /// The classes of a packet on the links behind the switches of its way.
    fn way(hops: Hops) -> Vec<Option<u8>> {
        let map = ClassMap::Hops(hops);
        let mut class = Some(Class(0));
        let step = |hops| {
            class = class.and_then(|class| map.next(PASSAGE, carried(0, class.0, hops)));
            class.map(|class| class.0)
        };
        (0..8).map(step).collect()
    }

    #[test]
    fn bands_of_hops_share_a_class() {
        let mut hops = Hops { count: 3, width: 2, beyond: Beyond::Drop };
        let first = [0, 1, 1, 2, 2].map(Some);
        assert_eq!(way(hops), [&first[..], &[None; 3]].concat());
        hops.beyond = Beyond::Stay;
        assert_eq!(way(hops), [&first[..], &[Some(2); 3]].concat());
    }
}
