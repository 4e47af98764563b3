//! Frames to the kernel: many with one system call.

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;

/// Frames that wait to be handed over, in slots of one buffer.
#[derive(Debug)]
pub struct TransmitLine {
    /// Message `i` points to vector `i`, vector `i` to slot `i`: none of the three ever moves.
    messages: Box<[libc::mmsghdr]>,
    vectors: Box<[libc::iovec]>,
    bytes: Box<[u8]>,
    slot: usize,
    first: usize,
    count: usize,
}

// SAFETY: the pointers in it point into boxes that it owns.
unsafe impl Send for TransmitLine {}

/// The result of handing over the frames at the head of the line.
#[derive(Debug)]
pub enum Sent {
    /// At least one frame was sent.
    Some,
    /// The first frame was refused for good.
    Refused,
    /// The ring or the device is full; try again later.
    Full,
    /// The interface takes nothing in its present state.
    Down(io::Error),
}

impl TransmitLine {
    /// An empty line for frames of at most `largest` bytes.
    pub fn new(largest: usize) -> TransmitLine {
        let slot = largest.next_multiple_of(64);
        let mut bytes = vec![0; slot * SLOTS].into_boxed_slice();
        let vector =
            |slot: &mut [u8]| libc::iovec { iov_base: slot.as_mut_ptr().cast(), iov_len: 0 };
        let mut vectors: Box<[_]> = bytes.chunks_exact_mut(slot).map(vector).collect();
        let message = |vector: &mut libc::iovec| {
            // SAFETY: a structure of integers and null pointers may be all zero.
            let mut message: libc::mmsghdr = unsafe { mem::zeroed() };
            message.msg_hdr.msg_iov = ptr::from_mut(vector);
            message.msg_hdr.msg_iovlen = 1;
            message
        };
        TransmitLine {
            messages: vectors.iter_mut().map(message).collect(),
            vectors,
            bytes,
            slot,
            first: 0,
            count: 0,
        }
    }

    /// The longest frame that can wait here, in bytes.
    pub fn largest(&self) -> usize {
        self.slot
    }

    /// How many frames wait.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Puts a frame at the end, if there is room.
    pub fn push(&mut self, frame: &[u8]) -> bool {
        if self.count == SLOTS {
            return false;
        }
        let at = (self.first + self.count) % SLOTS;
        self.bytes[at * self.slot..][..frame.len()].copy_from_slice(frame);
        self.vectors[at].iov_len = frame.len();
        self.count += 1;
        true
    }

    /// Drops all frames that wait, and returns their number.
    pub fn clear(&mut self) -> usize {
        self.first = 0;
        mem::take(&mut self.count)
    }

    /// Hands over as many frames as the kernel takes in one call.
    pub fn send(&mut self, socket: &OwnedFd) -> Sent {
        let most = self.count.min(SLOTS - self.first);
        let messages = &mut self.messages[self.first..][..most];
        // SAFETY: the messages and what they point to are alive and of the lengths that they say.
        let sent = unsafe {
            // Unsigned with musl.
            let flags = libc::MSG_DONTWAIT as _;
            libc::sendmmsg(socket.as_raw_fd(), messages.as_mut_ptr(), most as _, flags)
        };
        if sent > 0 {
            self.pop(sent as usize);
            return Sent::Some;
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EAGAIN | libc::ENOBUFS | libc::EINTR | libc::ENOMEM) => Sent::Full,
            Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV) => Sent::Down(error),
            // The frame is too long or too short for the interface.
            _ => {
                self.pop(1);
                Sent::Refused
            }
        }
    }

    fn pop(&mut self, count: usize) {
        self.count -= count;
        // An empty line starts again at its first slots, which are still in the cache.
        self.first = match self.count {
            0 => 0,
            _ => (self.first + count) % SLOTS,
        };
    }
}

/// The most frames that can wait between two flushes.
const SLOTS: usize = 256;
