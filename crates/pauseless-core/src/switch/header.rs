//! The packed record of a packet in a queue, beside its handle and its ports.

use crate::id::Class;
use crate::unit::Bytes;

/// A packet's length in 20 bits, the classes that it arrived and leaves in, and whether it was
/// marked on arrival. A third of a switch's memory are such slots, so it is packed into 32 bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header(u32);

const SIZE_BITS: u32 = 20;
const CLASS_BITS: u32 = 3;
const CLASS_MASK: u32 = (1 << CLASS_BITS) - 1;
const MARK: u32 = 1 << 31;

const _: () = assert!(Class::COUNT_MAX <= 1 << CLASS_BITS);

impl Header {
    #[inline]
    pub(super) fn new(size: Bytes, class: Class, leaving: Class, is_marked: bool) -> Header {
        assert!(size.get() < 1 << SIZE_BITS, "a frame is smaller than 1 MiB");
        let mark = if is_marked { MARK } else { 0 };
        let classes = u32::from(leaving.0) << CLASS_BITS | u32::from(class.0);
        Header(size.get() as u32 | classes << SIZE_BITS | mark)
    }

    #[inline]
    pub(super) fn size(self) -> Bytes {
        Bytes::new(u64::from(self.0 & ((1 << SIZE_BITS) - 1)))
    }

    /// The class that the packet arrived in.
    #[inline]
    pub(super) fn class(self) -> Class {
        Class((self.0 >> SIZE_BITS & CLASS_MASK) as u8)
    }

    /// The class that the packet leaves in.
    #[inline]
    pub(super) fn leaving(self) -> Class {
        Class((self.0 >> (SIZE_BITS + CLASS_BITS) & CLASS_MASK) as u8)
    }

    #[inline]
    pub(super) fn is_marked(self) -> bool {
        self.0 & MARK != 0
    }

    /// The same packet with a mark.
    pub(super) fn marked(self) -> Header {
        Header(self.0 | MARK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_keep_what_they_are_given() {
        for is_marked in [false, true] {
            for (class, leaving) in [(0, 7), (7, 0), (5, 2)] {
                let (class, leaving) = (Class(class), Class(leaving));
                let header = Header::new(Bytes::mb(1), class, leaving, is_marked);
                assert_eq!(header.size(), Bytes::mb(1));
                assert_eq!((header.class(), header.leaving()), (class, leaving));
                assert_eq!(header.is_marked(), is_marked);
                let marked = header.marked();
                assert_eq!((marked.size(), marked.leaving()), (Bytes::mb(1), leaving));
                assert!(marked.is_marked());
            }
        }
    }
}
