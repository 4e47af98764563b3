//! Frames from the kernel: a ring in shared memory.

use std::ffi::c_int;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::super::Received;
use super::super::mapping::{Mapping, prefetch};
use super::Options;
use crate::net::socket;

/// The receive ring of a packet socket. Each slot belongs to the kernel or to us, as its status says.
#[derive(Debug)]
pub struct ReceiveRing {
    memory: Mapping,
    slot: usize,
    slots: usize,
    next: usize,
}

impl ReceiveRing {
    /// Asks the kernel for a ring.
    pub fn new(socket: &OwnedFd, options: Options) -> io::Result<ReceiveRing> {
        let set = |name: c_int, value: c_int| socket::set(socket, libc::SOL_PACKET, name, value);
        set(libc::PACKET_VERSION, libc::tpacket_versions::TPACKET_V2 as _)?;
        set(libc::PACKET_IGNORE_OUTGOING, 1)?;
        // The kernel removes VLAN tags; this leaves room to put them back.
        set(libc::PACKET_RESERVE, TAG as _)?;
        let slot = (options.largest + TAG + HEAD).next_power_of_two();
        let slots = options.ring.next_power_of_two().max(BLOCK / slot);
        let request = libc::tpacket_req {
            tp_block_size: BLOCK.max(slot) as _,
            tp_block_nr: (slots * slot / BLOCK.max(slot)) as _,
            tp_frame_size: slot as _,
            tp_frame_nr: slots as _,
        };
        socket::set(socket, libc::SOL_PACKET, libc::PACKET_RX_RING, request)?;
        let memory = Mapping::of(socket.as_raw_fd(), 0, slots * slot)?;
        Ok(ReceiveRing { memory, slot, slots, next: 0 })
    }

    /// Passes at most `most` frames to `take` and gives their slots back.
    pub fn receive(&mut self, most: usize, take: &mut dyn FnMut(Received<'_>)) -> usize {
        for count in 0..most {
            // SAFETY: `next` is below `slots`, so the slot lies in the mapping.
            let start = unsafe { self.memory.start().as_ptr().add(self.next * self.slot) };
            // SAFETY: a slot begins with its status, aligned as the slot is, which both sides only
            // touch as a whole.
            let status = unsafe { AtomicU32::from_ptr(start.cast()) };
            let flags = status.load(Ordering::Acquire);
            if flags & libc::TP_STATUS_USER == 0 {
                return count;
            }
            // The header of a later frame, and the begin of the frame behind it.
            let next = (self.next + AHEAD) & (self.slots - 1);
            let next = self.memory.start().as_ptr().wrapping_add(next * self.slot);
            for line in [0, 64, 128] {
                prefetch(next.wrapping_add(line));
            }
            // SAFETY: the status says that the slot is ours until we give it back below.
            take(unsafe { frame_in(start, flags) });
            status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
            self.next = (self.next + 1) & (self.slots - 1);
        }
        most
    }
}

/// The frame in a slot, with the VLAN tag that the kernel took out put back into it.
///
/// # Safety
/// `start` must be the start of a slot that is ours as long as the frame is used, with room for a
/// tag before the frame, and `flags` must be its status.
unsafe fn frame_in<'a>(start: *mut u8, flags: u32) -> Received<'a> {
    // SAFETY: behind the status lies the rest of the header that the kernel has written.
    let header = unsafe { ptr::read(start.cast::<libc::tpacket2_hdr>()) };
    let (mut offset, mut there) = (header.tp_mac as usize, header.tp_snaplen as usize);
    let mut length = header.tp_len as usize;
    if flags & libc::TP_STATUS_VLAN_VALID != 0 && there >= ADDRESSES {
        let kind = match flags & libc::TP_STATUS_VLAN_TPID_VALID {
            0 => libc::ETH_P_8021Q as u16,
            _ => header.tp_vlan_tpid,
        };
        (offset, there, length) = (offset - TAG, there + TAG, length + TAG);
        // SAFETY: the room before the frame was reserved, and the slot is ours: the addresses move to
        // the front, the tag goes behind them.
        unsafe {
            let front = start.add(offset);
            ptr::copy(front.add(TAG), front, ADDRESSES);
            let [a, b] = kind.to_be_bytes();
            let [c, d] = header.tp_vlan_tci.to_be_bytes();
            ptr::copy_nonoverlapping([a, b, c, d].as_ptr(), front.add(ADDRESSES), TAG);
        }
    }
    Received {
        // SAFETY: the kernel has written so many bytes there, inside the slot.
        bytes: unsafe { slice::from_raw_parts(start.add(offset), there) },
        length,
        stamp: Some(Duration::new(u64::from(header.tp_sec), header.tp_nsec % 1_000_000_000)),
    }
}

/// How many frames ahead memory is prefetched.
const AHEAD: usize = 2;

/// The length of a VLAN tag, in bytes.
const TAG: usize = 4;

/// The length of the two addresses of a frame, in bytes.
const ADDRESSES: usize = 12;

/// The room for what the kernel writes in front of a frame, in bytes.
const HEAD: usize = 128;

/// The size of the pieces in which the ring is allocated.
const BLOCK: usize = 1 << 16;
