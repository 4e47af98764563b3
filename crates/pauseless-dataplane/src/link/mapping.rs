//! Memory that we share with the kernel.

use std::ffi::c_int;
use std::io;
use std::os::fd::RawFd;
use std::ptr::{self, NonNull};

/// A range of pages, unmapped when it is dropped.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

impl Mapping {
    /// Maps `length` bytes that a socket offers at `offset`.
    pub fn of(descriptor: RawFd, offset: i64, length: usize) -> io::Result<Mapping> {
        let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
        Mapping::map(descriptor, offset, length, flags)
    }

    /// Maps `length` bytes of new memory, all zero.
    pub fn anonymous(length: usize) -> io::Result<Mapping> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE;
        Mapping::map(-1, 0, length, flags)
    }

    /// The address of the first byte.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    fn map(descriptor: RawFd, offset: i64, length: usize, flags: c_int) -> io::Result<Mapping> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at a place that the kernel chooses touches no memory of ours.
        let start =
            unsafe { libc::mmap(ptr::null_mut(), length, access, flags, descriptor, offset) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Mapping { start, length })
    }
}

/// Prefetches the cache line at `place`, which another core has written. Only a hint: any address
/// is allowed.
#[inline(always)]
pub fn prefetch(place: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults, and changes nothing but the cache.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(place.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is ours, and whoever holds a pointer into it owns this value.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

// SAFETY: memory is memory on every thread; a `Mapping` has no access of its own to it.
unsafe impl Send for Mapping {}
