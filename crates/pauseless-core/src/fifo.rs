//! Many first-in-first-out queues in one pool of slots, so that a packet costs no allocation and
//! the slot that was freed last, which is still in the cache, is the next to be used.

use alloc::vec::Vec;

const NIL: u32 = u32::MAX;

/// The two ends of one queue; its elements live in a [`Pool`].
#[derive(Clone, Copy, Debug)]
pub struct Fifo {
    head: u32,
    tail: u32,
}

impl Fifo {
    /// A queue without elements.
    pub const EMPTY: Fifo = Fifo { head: NIL, tail: NIL };

    /// Whether there is no element.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == NIL
    }
}

/// The slots of many queues. A queue belongs to the pool that it was first pushed with.
#[derive(Clone, Debug)]
pub struct Pool<T> {
    slots: Vec<Slot<T>>,
    free: u32,
}

#[derive(Clone, Copy, Debug)]
struct Slot<T> {
    element: T,
    next: u32,
}

impl<T: Copy> Pool<T> {
    /// A pool without slots; it grows to its working size and stays there.
    pub fn new() -> Pool<T> {
        Pool { slots: Vec::new(), free: NIL }
    }

    /// Appends `element` and says whether the queue was empty.
    #[inline]
    pub fn push_back(&mut self, fifo: &mut Fifo, element: T) -> bool {
        self.push_behind(fifo, element, |_| ())
    }

    /// As [`Pool::push_back`], and lets `change` do something to the element before it.
    #[inline(always)]
    pub fn push_behind(
        &mut self,
        fifo: &mut Fifo,
        element: T,
        change: impl FnOnce(&mut T),
    ) -> bool {
        let index = match self.slots.get_mut(self.free as usize) {
            Some(free) => {
                let index = self.free;
                self.free = free.next;
                free.element = element;
                free.next = NIL;
                index
            }
            None => self.grow(Slot { element, next: NIL }),
        };
        let was_empty = fifo.is_empty();
        if was_empty {
            fifo.head = index;
        } else {
            let last = &mut self.slots[fifo.tail as usize];
            last.next = index;
            change(&mut last.element);
        }
        fifo.tail = index;
        was_empty
    }

    /// Adds a slot and returns its index.
    #[cold]
    fn grow(&mut self, slot: Slot<T>) -> u32 {
        self.slots.push(slot);
        (self.slots.len() - 1) as u32
    }

    /// Removes and returns the first element.
    #[inline]
    pub fn pop_front(&mut self, fifo: &mut Fifo) -> Option<T> {
        let index = fifo.head;
        let slot = self.slots.get_mut(index as usize)?;
        fifo.head = slot.next;
        slot.next = self.free;
        self.free = index;
        Some(slot.element)
    }

    /// The element that would be popped next.
    #[inline]
    pub fn front(&self, fifo: &Fifo) -> Option<&T> {
        self.slots.get(fifo.head as usize).map(|slot| &slot.element)
    }

    /// The element that was pushed last.
    #[inline]
    pub fn back(&self, fifo: &Fifo) -> Option<&T> {
        if fifo.is_empty() {
            return None;
        }
        self.slots.get(fifo.tail as usize).map(|slot| &slot.element)
    }

    /// Iterates over all elements, first to last.
    pub fn iter(&self, fifo: &Fifo) -> impl Iterator<Item = &T> {
        let mut next = fifo.head;
        core::iter::from_fn(move || {
            let slot = self.slots.get(next as usize)?;
            next = slot.next;
            Some(&slot.element)
        })
    }

    /// Bytes of heap memory in use.
    pub fn heap_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot<T>>()
    }
}

impl<T: Copy> Default for Pool<T> {
    fn default() -> Pool<T> {
        Pool::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_keep_their_own_order_and_share_slots() {
        let mut pool = Pool::new();
        let (mut a, mut b) = (Fifo::EMPTY, Fifo::EMPTY);
        assert!(pool.push_back(&mut a, 1));
        assert!(pool.push_back(&mut b, 10));
        assert!(!pool.push_back(&mut a, 2));
        assert!(!pool.push_back(&mut b, 20));
        assert_eq!((pool.front(&a), pool.back(&a)), (Some(&1), Some(&2)));
        assert_eq!(pool.pop_front(&mut a), Some(1));
        assert!(!pool.push_back(&mut b, 30));
        assert_eq!(pool.slots.len(), 4, "the freed slot was used again");
        assert!(pool.iter(&b).eq(&[10, 20, 30]));
        assert_eq!(pool.pop_front(&mut a), Some(2));
        assert_eq!(pool.pop_front(&mut a), None);
        assert!(a.is_empty());
        assert_eq!((pool.front(&a), pool.back(&a)), (None, None));
        assert!(pool.push_back(&mut a, 3));
        assert!(pool.iter(&a).eq(&[3]));
    }
}
