//! The per-class state of a port, of which the first class is stored inline.

use alloc::boxed::Box;
use core::ops::{Index, IndexMut};

/// One element per class. The first is stored inline: most networks have one class, whose packets
/// then need not follow a pointer.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Lanes<T> {
    first: T,
    others: Box<[T]>,
}

impl<T> Lanes<T> {
    pub(crate) fn len(&self) -> usize {
        1 + self.others.len()
    }

    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        core::iter::once(&self.first).chain(&self.others)
    }

    /// Bytes of heap memory in use.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.others.len() * size_of::<T>()
    }
}

impl<T> FromIterator<T> for Lanes<T> {
    fn from_iter<I: IntoIterator<Item = T>>(lanes: I) -> Lanes<T> {
        let mut lanes = lanes.into_iter();
        Lanes {
            first: lanes.next().expect("a port has at least one class"),
            others: lanes.collect(),
        }
    }
}

impl<T> Index<usize> for Lanes<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, class: usize) -> &T {
        match class.checked_sub(1) {
            None => &self.first,
            Some(other) => &self.others[other],
        }
    }
}

impl<T> IndexMut<usize> for Lanes<T> {
    #[inline(always)]
    fn index_mut(&mut self, class: usize) -> &mut T {
        match class.checked_sub(1) {
            None => &mut self.first,
            Some(other) => &mut self.others[other],
        }
    }
}
