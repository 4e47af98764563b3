//! Where the flows of a host are.

use alloc::vec;
use alloc::vec::Vec;

use crate::id::FlowId;

/// A number for every flow of a host: a hash table with open addressing, so that one flow among many is
/// found as fast as one among few.
#[derive(Clone, Debug)]
pub(super) struct FlowIndex {
    /// A power of two of cells, at most half of them used. A flow is in the cell of its hash or behind it,
    /// with no empty cell in between.
    cells: Vec<(FlowId, u32)>,
    count: usize,
}

/// The number in an empty cell.
const EMPTY: u32 = u32::MAX;

impl FlowIndex {
    pub(super) fn new() -> FlowIndex {
        FlowIndex { cells: vec![(FlowId(0), EMPTY); 2], count: 0 }
    }

    /// The number of a flow; `None` if it is not here.
    #[inline]
    pub(super) fn get(&self, flow: FlowId) -> Option<u32> {
        let (key, number) = self.cells[self.cell_of(flow)];
        (number != EMPTY && key == flow).then_some(number)
    }

    /// Sets the number of a flow; returns the one that it had.
    pub(super) fn insert(&mut self, flow: FlowId, number: u32) -> Option<u32> {
        assert!(number != EMPTY, "more flows than a host can have");
        let cell = self.cell_of(flow);
        let old = core::mem::replace(&mut self.cells[cell], (flow, number)).1;
        if old != EMPTY {
            return Some(old);
        }
        self.count += 1;
        if self.cells.len() < 2 * self.count {
            self.grow();
        }
        None
    }

    /// Removes a flow; returns the number that it had.
    pub(super) fn remove(&mut self, flow: FlowId) -> Option<u32> {
        let number = self.get(flow)?;
        let mask = self.cells.len() - 1;
        let mut hole = self.cell_of(flow);
        let mut cell = hole;
        loop {
            cell = (cell + 1) & mask;
            let (other, used) = self.cells[cell];
            if used == EMPTY {
                break;
            }
            // What is behind the hole moves into it, unless its search begins behind the hole.
            let way = cell.wrapping_sub(self.home(other)) & mask;
            if way >= cell.wrapping_sub(hole) & mask {
                self.cells[hole] = self.cells[cell];
                hole = cell;
            }
        }
        self.cells[hole].1 = EMPTY;
        self.count -= 1;
        Some(number)
    }

    /// The cell that a flow is in, or the empty one that it would be put in.
    #[inline]
    fn cell_of(&self, flow: FlowId) -> usize {
        let mask = self.cells.len() - 1;
        let mut cell = self.home(flow);
        loop {
            let (key, number) = self.cells[cell];
            if key == flow || number == EMPTY {
                return cell;
            }
            cell = (cell + 1) & mask;
        }
    }

    /// The cell in which the search for a flow begins.
    #[inline]
    fn home(&self, flow: FlowId) -> usize {
        // The upper half of a product with 2^32 divided by the golden ratio depends on all bits.
        let hash = u64::from(flow.0.wrapping_mul(0x9e37_79b9));
        ((hash * self.cells.len() as u64) >> 32) as usize
    }

    fn grow(&mut self) {
        let cells = vec![(FlowId(0), EMPTY); 2 * self.cells.len()];
        for (flow, number) in core::mem::replace(&mut self.cells, cells) {
            if number != EMPTY {
                let cell = self.cell_of(flow);
                self.cells[cell] = (flow, number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_does_what_a_map_does(
            changes in proptest::collection::vec((0u32..60, any::<bool>(), 0u32..100), 1..400),
            stride in prop::sample::select(vec![1u32, 8, 1 << 20]),
        ) {
            let (mut index, mut map) = (FlowIndex::new(), BTreeMap::new());
            for (flow, is_removed, number) in changes {
                let flow = FlowId(flow * stride);
                if is_removed {
                    prop_assert_eq!(index.remove(flow), map.remove(&flow));
                } else {
                    prop_assert_eq!(index.insert(flow, number), map.insert(flow, number));
                }
                prop_assert_eq!(index.count, map.len());
                for flow in (0..60).map(|flow| FlowId(flow * stride)) {
                    prop_assert_eq!(index.get(flow), map.get(&flow).copied());
                }
            }
        }
    }
}
