//! An AF_XDP socket at an interface: memory for frames, four rings, and the program that feeds it.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::slice;
use std::sync::atomic::{self, Ordering};
use std::thread;
use std::time::Duration;

use super::super::mapping::{Mapping, prefetch};
use super::super::{Losses, Received};
use super::program::{Place, Redirect};
use super::ring::{Offsets, Ring};
use super::{Mode, Options};
use crate::net::{named, socket};

/// A socket that is bound. Chunks of the memory circulate: those for receiving from the fill ring to
/// the receive ring and back, those for sending from the spare ones to the transmit ring, and through
/// the completion ring back.
#[derive(Debug)]
pub struct Attached {
    // Dropped in this order: a socket that a program or a mapping still holds keeps its queue busy.
    _redirect: Redirect,
    fill: Ring<u64>,
    completion: Ring<u64>,
    receive: Ring<libc::xdp_desc>,
    transmit: Ring<libc::xdp_desc>,
    pub socket: OwnedFd,
    memory: Mapping,
    chunk: u64,
    spare: Vec<u64>,
    /// The entries of the transmit ring that are written, which the kernel may not know yet.
    written: u32,
    is_copied: bool,
}

/// The result of a wake-up call.
#[derive(Debug)]
pub enum WakeUp {
    /// The kernel has everything.
    All,
    /// It wants to be called again later.
    Later,
    /// It has dropped a frame, and continues when it is called again.
    Dropped,
    /// The interface takes nothing in its present state.
    Down(io::Error),
}

impl Attached {
    /// Binds to the first queue of the interface with this number, in at most `tries` attempts.
    pub fn open(index: i32, mode: Mode, options: Options, tries: u32) -> io::Result<Attached> {
        let sizes = Sizes::of(options)?;
        // This comes first, since it is refused most often and the rest costs more.
        let redirect = Redirect::attach(index, mode.place())?;
        let socket = socket::open(libc::AF_XDP, libc::SOCK_RAW, 0)
            .map_err(|error| named(error, "open a socket"))?;
        let memory = register(&socket, &sizes).map_err(|error| {
            named(error, "register memory (is the limit on locked memory too low?)")
        })?;
        let offsets: [Offsets; 4] = socket::get(&socket, libc::SOL_XDP, libc::XDP_MMAP_OFFSETS)?;
        let [receive, transmit, fill, completion] = offsets;
        let mut attached = Attached {
            _redirect: redirect,
            fill: Ring::map(&socket, libc::XDP_UMEM_PGOFF_FILL_RING, fill, sizes.receive)?,
            completion: Ring::map(
                &socket,
                libc::XDP_UMEM_PGOFF_COMPLETION_RING,
                completion,
                sizes.send,
            )?,
            receive: Ring::map(&socket, libc::XDP_PGOFF_RX_RING as u64, receive, sizes.receive)?,
            transmit: Ring::map(&socket, libc::XDP_PGOFF_TX_RING as u64, transmit, sizes.send)?,
            memory,
            chunk: sizes.chunk,
            spare: (0..u64::from(sizes.send)).map(|at| at * sizes.chunk).collect(),
            written: 0,
            is_copied: mode != Mode::ZeroCopy,
            socket,
        };
        for at in 0..sizes.receive {
            let chunk = u64::from(sizes.send + at) * sizes.chunk;
            attached.fill.write(at, chunk);
        }
        attached.fill.produce(sizes.receive);
        bind(&attached.socket, index, mode, tries)?;
        attached._redirect.point_to(&attached.socket)?;
        Ok(attached)
    }

    /// Passes at most `most` frames to `take` and gives their chunks back.
    pub fn receive(&mut self, most: usize, take: &mut dyn FnMut(Received<'_>)) -> usize {
        let first = self.receive.consumed();
        let count = (self.receive.produced().wrapping_sub(first)).min(most as u32);
        let filled = self.fill.produced();
        for at in 0..count {
            let frame = self.receive.read(first.wrapping_add(at));
            let length = frame.len as usize;
            if at + AHEAD < count {
                prefetch(self.at(self.receive.read(first.wrapping_add(at + AHEAD)).addr));
            }
            // SAFETY: the kernel has put a frame of this length in a chunk, which is ours until it is
            // in the fill ring again.
            let bytes = unsafe { slice::from_raw_parts(self.at(frame.addr), length) };
            take(Received { bytes, length, stamp: None });
            // The fill ring has a place for each chunk of this kind.
            let chunk = frame.addr - frame.addr % self.chunk;
            self.fill.write(filled.wrapping_add(at), chunk);
        }
        if count > 0 {
            self.receive.consume(first.wrapping_add(count));
            self.fill.produce(filled.wrapping_add(count));
        }
        if self.fill.needs_wakeup() {
            // SAFETY: no memory is passed.
            unsafe {
                let (socket, flags) = (self.socket.as_raw_fd(), libc::MSG_DONTWAIT);
                libc::recvfrom(socket, ptr::null_mut(), 0, flags, ptr::null_mut(), ptr::null_mut());
            }
        }
        count as usize
    }

    /// The longest frame that can be sent, in bytes.
    pub fn largest(&self) -> usize {
        self.chunk as usize
    }

    /// Queues a frame, if there is a spare chunk.
    pub fn push(&mut self, frame: &[u8]) -> bool {
        if self.spare.is_empty() {
            self.reap();
        }
        let Some(chunk) = self.spare.pop() else {
            return false;
        };
        assert!(frame.len() <= self.largest(), "a frame fits in a chunk");
        // SAFETY: a spare chunk is ours alone, and the frame fits in it.
        unsafe { ptr::copy_nonoverlapping(frame.as_ptr(), self.at(chunk), frame.len()) };
        let entry = libc::xdp_desc { addr: chunk, len: frame.len() as u32, options: 0 };
        // The transmit ring has a place for each chunk of this kind.
        self.transmit.write(self.written, entry);
        self.written = self.written.wrapping_add(1);
        true
    }

    /// The number of queued frames that the kernel has not taken.
    pub fn backlog(&self) -> usize {
        let taken =
            if self.is_copied { self.transmit.consumed() } else { self.transmit.produced() };
        self.written.wrapping_sub(taken) as usize
    }

    /// Shows the queued frames to the kernel, and has it take as many as it can.
    pub fn kick(&mut self) -> WakeUp {
        self.transmit.produce(self.written);
        loop {
            let before = self.transmit.consumed();
            if before == self.written {
                return WakeUp::All;
            }
            // The kernel writes the flag and then looks at the ring once more before it sleeps. Were our
            // two accesses to change places, it could see no frame and we no flag.
            atomic::fence(Ordering::SeqCst);
            if !self.transmit.needs_wakeup() {
                return WakeUp::All;
            }
            // SAFETY: no memory is passed.
            let status = unsafe {
                let (socket, flags) = (self.socket.as_raw_fd(), libc::MSG_DONTWAIT);
                libc::sendto(socket, ptr::null(), 0, flags, ptr::null(), 0)
            };
            let Err(error) = socket::check(status as i32) else {
                if !self.is_copied {
                    return WakeUp::All;
                }
                if self.transmit.consumed() == before {
                    return WakeUp::Later;
                }
                continue;
            };
            self.reap();
            match error.raw_os_error() {
                // At most 32 frames are copied per call.
                Some(libc::EAGAIN | libc::ENOBUFS | libc::EINTR | libc::ENOMEM) => {
                    if self.transmit.consumed() == before {
                        return WakeUp::Later;
                    }
                }
                Some(libc::EBUSY) => return WakeUp::Dropped,
                _ => return WakeUp::Down(error),
            }
        }
    }

    /// The frames that the kernel has lost.
    pub fn losses(&self) -> Losses {
        let counters = socket::get(&self.socket, libc::SOL_XDP, libc::XDP_STATISTICS);
        let [dropped, _, invalid, full, _, _]: [u64; 6] = counters.unwrap_or_default();
        Losses { receive: dropped + full, send: invalid }
    }

    /// The frames that are lost if the socket is closed now: those not read yet, and those that
    /// have not left. Of a card that reads from our memory it is known only what it has given back.
    pub fn pending(&mut self) -> Losses {
        self.reap();
        let receive = self.receive.produced().wrapping_sub(self.receive.consumed());
        let send = if self.is_copied { self.backlog() } else { SEND as usize - self.spare.len() };
        Losses { receive: u64::from(receive), send: send as u64 }
    }

    /// Takes back the chunks that the kernel has finished with.
    fn reap(&mut self) {
        let (first, end) = (self.completion.consumed(), self.completion.produced());
        for at in 0..end.wrapping_sub(first) {
            self.spare.push(self.completion.read(first.wrapping_add(at)));
        }
        self.completion.consume(end);
    }

    fn at(&self, address: u64) -> *mut u8 {
        // SAFETY: addresses come from us or from the kernel, and lie in the memory.
        unsafe { self.memory.start().as_ptr().add(address as usize) }
    }
}

/// The size of the memory and its parts.
struct Sizes {
    chunk: u64,
    receive: u32,
    send: u32,
}

impl Sizes {
    fn of(options: Options) -> io::Result<Sizes> {
        let needed = options.largest + HEADROOM;
        let chunk = needed.next_power_of_two().max(CHUNK_LEAST);
        if chunk > CHUNK_MOST {
            let most = CHUNK_MOST - HEADROOM;
            let problem = format!("AF_XDP takes frames of at most {most} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        Ok(Sizes {
            chunk: chunk as u64,
            receive: options.ring.next_power_of_two() as u32,
            send: SEND,
        })
    }
}

/// Registers memory for frames with the kernel, which then makes the rings.
fn register(socket: &OwnedFd, sizes: &Sizes) -> io::Result<Mapping> {
    let length = u64::from(sizes.receive + sizes.send) * sizes.chunk;
    let memory = Mapping::anonymous(length as usize)?;
    let request = libc::xdp_umem_reg_v1 {
        addr: memory.start().as_ptr() as u64,
        len: length,
        chunk_size: sizes.chunk as u32,
        headroom: 0,
    };
    let set = |name, value: u32| socket::set(socket, libc::SOL_XDP, name, value);
    socket::set(socket, libc::SOL_XDP, libc::XDP_UMEM_REG, request)?;
    set(libc::XDP_UMEM_FILL_RING, sizes.receive)?;
    set(libc::XDP_UMEM_COMPLETION_RING, sizes.send)?;
    set(libc::XDP_RX_RING, sizes.receive)?;
    set(libc::XDP_TX_RING, sizes.send)?;
    Ok(memory)
}

/// Binds the socket. The kernel releases a queue a moment after its last socket was closed, so a
/// refusal may be temporary.
fn bind(socket: &OwnedFd, index: i32, mode: Mode, tries: u32) -> io::Result<()> {
    let way = match mode {
        Mode::ZeroCopy => libc::XDP_ZEROCOPY,
        _ => libc::XDP_COPY,
    };
    let address = libc::sockaddr_xdp {
        sxdp_family: libc::AF_XDP as u16,
        sxdp_flags: way | libc::XDP_USE_NEED_WAKEUP,
        sxdp_ifindex: index as u32,
        sxdp_queue_id: 0,
        sxdp_shared_umem_fd: 0,
    };
    for left in (0..tries).rev() {
        match socket::bind(socket, address) {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                thread::sleep(BIND_PAUSE * left.min(1));
            }
            bound => return bound.map_err(|error| named(error, "bind to queue 0")),
        }
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, "queue 0 is in use by another AF_XDP socket"))
}

impl Mode {
    fn place(self) -> Place {
        match self {
            Mode::Skb => Place::Stack,
            _ => Place::Driver,
        }
    }
}

/// How many frames ahead memory is prefetched.
const AHEAD: u32 = 2;

/// The most frames on their way out.
const SEND: u32 = 512;

/// The bytes that the kernel keeps free in front of a frame.
const HEADROOM: usize = 256;

const CHUNK_LEAST: usize = 2_048;
const CHUNK_MOST: usize = 4_096;

/// The number of attempts for callers that can wait.
pub const BIND_TRIES: u32 = 100;
const BIND_PAUSE: Duration = Duration::from_millis(10);
