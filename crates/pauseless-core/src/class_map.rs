//! In which class a packet travels on its next link: the same one, one higher at each hop, or by a
//! table of the switch, such as InfiniBand's SL-to-VL mapping or an Ethernet priority remap.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::id::{Class, NodeId, PortId};

/// How many labels and classes a table can tell apart: InfiniBand has 16 service levels and lanes.
pub const LANE_COUNT: usize = 16;

/// A packet's way through one switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The switch.
    pub node: NodeId,
    /// The port by which it came.
    pub ingress: PortId,
    /// The port by which it leaves.
    pub egress: PortId,
}

/// How classes change from hop to hop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClassMap {
    /// They do not.
    Same,
    /// One higher at each hop, as in TTL-based buffer management; what would get beyond the last
    /// class is dropped.
    Hops {
        /// How many classes there are.
        count: u8,
    },
    /// By a table of the switch.
    Table(ClassTable),
}

impl ClassMap {
    /// The class on the link behind `passage.egress` of a packet that came in `class` and carries
    /// `label`; `None` when the switch drops it.
    #[inline]
    pub fn next(&self, passage: Passage, label: u8, class: Class) -> Option<Class> {
        match self {
            ClassMap::Same => Some(class),
            ClassMap::Hops { count } => {
                let next = class.0 + 1;
                (next < *count).then_some(Class(next))
            }
            ClassMap::Table(table) => table.next(passage, label, class),
        }
    }
}

/// What the rows of a table are indexed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// What the packet carries all the way, such as a service level.
    Label,
    /// The class in which it came.
    Class,
}

/// A row per (switch, ingress, egress). Equal rows are stored once, and a pair of ports without a
/// row of its own leaves the class as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassTable {
    key: Key,
    /// Where the pairs of each node begin in `pairs`, and how many ports it has.
    nodes: Vec<(usize, usize)>,
    /// The number of a row, by ingress and then egress.
    pairs: Box<[u32]>,
    rows: Vec<[u8; LANE_COUNT]>,
    numbers: BTreeMap<[u8; LANE_COUNT], u32>,
}

impl ClassTable {
    /// In a row, the mark of packets that are dropped.
    pub const DROP: u8 = 255;

    /// A table that changes nothing yet, for nodes with this many ports each.
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

    /// Replaces the row of a passage. Panics on what is no class.
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

    /// What rows are indexed by.
    pub fn key(&self) -> Key {
        self.key
    }

    /// The row of a passage; `None` where the class stays as it is.
    pub fn row(&self, passage: Passage) -> Option<&[u8; LANE_COUNT]> {
        match self.pairs[self.pair(passage)] {
            0 => None,
            number => Some(&self.rows[number as usize]),
        }
    }

    /// The highest class that any row can give.
    pub fn class_max(&self) -> Class {
        let classes = self.rows.iter().flatten().filter(|c| **c != Self::DROP);
        Class(classes.copied().max().unwrap_or(0))
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

    const PASSAGE: Passage = Passage {
        node: NodeId(1),
        ingress: PortId(0),
        egress: PortId(2),
    };

    #[test]
    fn rows_are_found_by_label_or_by_class() {
        let mut row = [0; LANE_COUNT];
        (row[3], row[5], row[6]) = (7, 2, ClassTable::DROP);
        for (key, expected) in [(Key::Label, Some(Class(2))), (Key::Class, Some(Class(7)))] {
            let mut table = ClassTable::new(key, [0, 3]);
            table.set(PASSAGE, row);
            let elsewhere = Passage {
                egress: PortId(1),
                ..PASSAGE
            };
            assert_eq!((table.key(), table.row(PASSAGE)), (key, Some(&row)));
            assert_eq!(table.row(elsewhere), None);
            let map = ClassMap::Table(table);
            assert_eq!(map.next(PASSAGE, 5, Class(3)), expected);
            assert_eq!(map.next(PASSAGE, 6, Class(6)), None);
            assert_eq!(map.next(elsewhere, 5, Class(3)), Some(Class(3)));
        }
    }

    #[test]
    fn hops_run_out_of_classes() {
        let map = ClassMap::Hops { count: 3 };
        assert_eq!(map.next(PASSAGE, 0, Class(0)), Some(Class(1)));
        assert_eq!(map.next(PASSAGE, 0, Class(1)), Some(Class(2)));
        assert_eq!(map.next(PASSAGE, 0, Class(2)), None);
        assert_eq!(ClassMap::Same.next(PASSAGE, 9, Class(2)), Some(Class(2)));
    }
}
