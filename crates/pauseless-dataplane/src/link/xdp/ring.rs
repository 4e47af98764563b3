//! The rings between the kernel and an AF_XDP socket. Each has one producer and one consumer.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

use super::super::mapping::Mapping;

/// A ring of entries in shared memory. Indices grow for ever and wrap at 2^32.
#[derive(Debug)]
pub struct Ring<T> {
    memory: Mapping,
    offsets: Offsets,
    mask: u32,
    entry: std::marker::PhantomData<T>,
}

/// The offsets of the parts of a ring in its memory.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Offsets {
    producer: u64,
    consumer: u64,
    entries: u64,
    flags: u64,
}

impl<T: Copy> Ring<T> {
    /// Maps a ring of `size` entries, a power of two, that the kernel has at `page`.
    pub fn map(socket: &OwnedFd, page: u64, offsets: Offsets, size: u32) -> io::Result<Ring<T>> {
        let length = offsets.entries as usize + size as usize * size_of::<T>();
        Ok(Ring {
            memory: Mapping::of(socket.as_raw_fd(), page as i64, length)?,
            offsets,
            mask: size - 1,
            entry: std::marker::PhantomData,
        })
    }

    /// The producer's index: all entries before it are written.
    pub fn produced(&self) -> u32 {
        self.word(self.offsets.producer).load(Ordering::Acquire)
    }

    /// The consumer's index: all entries before it may be written again.
    pub fn consumed(&self) -> u32 {
        self.word(self.offsets.consumer).load(Ordering::Acquire)
    }

    /// Publishes, as the producer, that all entries before `index` are written.
    pub fn produce(&self, index: u32) {
        self.word(self.offsets.producer).store(index, Ordering::Release);
    }

    /// Publishes, as the consumer, that all entries before `index` are read.
    pub fn consume(&self, index: u32) {
        self.word(self.offsets.consumer).store(index, Ordering::Release);
    }

    /// Whether the kernel must be woken to continue.
    pub fn needs_wakeup(&self) -> bool {
        let flags = self.word(self.offsets.flags).load(Ordering::Relaxed);
        flags & libc::XDP_RING_NEED_WAKEUP != 0
    }

    /// Reads an entry: as the consumer one that is produced, as the producer one that is not.
    pub fn read(&self, index: u32) -> T {
        // SAFETY: the entry lies in the mapping, and any bits are a `T` of integers.
        unsafe { self.entry(index).read() }
    }

    /// Writes an entry, as the producer, that is not produced yet.
    pub fn write(&mut self, index: u32, value: T) {
        // SAFETY: the entry lies in the mapping.
        unsafe { self.entry(index).write(value) }
    }

    fn entry(&self, index: u32) -> *mut T {
        let offset = self.offsets.entries as usize + (index & self.mask) as usize * size_of::<T>();
        // SAFETY: the mapping is as long as all entries, and the mask keeps the index among them.
        unsafe { self.memory.start().as_ptr().add(offset).cast() }
    }

    fn word(&self, offset: u64) -> &AtomicU32 {
        // SAFETY: the kernel says that a word lies there, and both sides only touch it as a whole.
        unsafe { AtomicU32::from_ptr(self.memory.start().as_ptr().add(offset as usize).cast()) }
    }
}
