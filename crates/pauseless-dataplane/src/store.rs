//! The memory for frames in a switch: slots of one size, used again and again.

/// The index of a frame in a [`Store`]: the packet handle of the core's switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

/// The size of a slot: more than the largest frame.
pub const SLOT_BYTES: usize = 2_048;

/// The distance from one slot to the next: with a power of two the beginnings of all frames would
/// compete for a few cache lines.
const STRIDE: usize = SLOT_BYTES + 64;

/// The number of slots that are allocated at a time, so that frames never move and growth costs
/// little.
const SLAB_SLOTS: usize = 256;

/// Stands for the length of an unused slot.
const FREE: u16 = u16::MAX;

type Slab = Box<[[u8; STRIDE]]>;

/// All frames of a switch, by slot. It grows to the most that was ever in use and stays there.
#[derive(Debug, Default)]
pub struct Store {
    slabs: Vec<Slab>,
    /// The length of the frame in each slot, or [`FREE`].
    lengths: Vec<u16>,
    /// The unused slots; the one that was freed last is likely still in the cache.
    free: Vec<Slot>,
}

impl Store {
    /// A store without slots.
    pub fn new() -> Store {
        Store::default()
    }

    /// Copies a frame into a slot.
    pub fn insert(&mut self, frame: &[u8]) -> Slot {
        assert!(frame.len() <= SLOT_BYTES, "larger frames are dropped");
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => self.grow(),
        };
        self.slot_mut(slot)[..frame.len()].copy_from_slice(frame);
        self.lengths[slot.0 as usize] = frame.len() as u16;
        slot
    }

    /// The frame in a slot.
    pub fn frame(&self, slot: Slot) -> &[u8] {
        let (slab, place) = place(slot);
        &self.slabs[slab][place][..usize::from(self.lengths[slot.0 as usize])]
    }

    /// The frame in a slot, to be changed.
    pub fn frame_mut(&mut self, slot: Slot) -> &mut [u8] {
        let length = usize::from(self.lengths[slot.0 as usize]);
        &mut self.slot_mut(slot)[..length]
    }

    /// Frees the slot of a frame.
    pub fn remove(&mut self, slot: Slot) {
        let length = &mut self.lengths[slot.0 as usize];
        assert!(*length != FREE, "a slot is freed once");
        *length = FREE;
        self.free.push(slot);
    }

    /// The number of slots in use.
    pub fn in_use(&self) -> usize {
        self.lengths.len() - self.free.len()
    }

    /// The number of slots that exist.
    pub fn capacity(&self) -> usize {
        self.lengths.len()
    }

    #[cold]
    fn grow(&mut self) -> Slot {
        let first = self.lengths.len() as u32;
        self.slabs.push(vec![[0; STRIDE]; SLAB_SLOTS].into_boxed_slice());
        self.lengths.resize(self.lengths.len() + SLAB_SLOTS, FREE);
        let others = first + 1..first + SLAB_SLOTS as u32;
        self.free.extend(others.rev().map(Slot));
        Slot(first)
    }

    fn slot_mut(&mut self, slot: Slot) -> &mut [u8; STRIDE] {
        let (slab, place) = place(slot);
        &mut self.slabs[slab][place]
    }
}

fn place(slot: Slot) -> (usize, usize) {
    let number = slot.0 as usize;
    (number / SLAB_SLOTS, number % SLAB_SLOTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_keep_their_frames_and_are_used_again() {
        let mut store = Store::new();
        let frame = |number: usize| vec![number as u8; 60 + number % 1_400];
        let slots = Vec::from_iter((0..1_000).map(|number| store.insert(&frame(number))));
        assert_eq!((store.in_use(), store.capacity()), (1_000, 1_024));
        for (number, slot) in slots.iter().enumerate() {
            assert_eq!(store.frame(*slot), frame(number));
        }
        for slot in &slots[..500] {
            store.remove(*slot);
        }
        assert_eq!(store.in_use(), 500);
        for number in 0..500 {
            store.insert(&frame(number));
        }
        assert_eq!((store.in_use(), store.capacity()), (1_000, 1_024));
        assert_eq!(store.frame(slots[999]), frame(999));
    }
}
