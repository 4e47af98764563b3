//! One end of a wire, from which frames are received and to which they are sent.

mod choose;
mod mapping;
pub mod memory;
mod outage;
pub mod packet;
pub mod xdp;

pub use choose::{Backend, Opened, open};

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// A frame that has come in.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// The bytes from the destination address on, without the FCS; a VLAN tag is where it was on
    /// the wire.
    pub bytes: &'a [u8],
    /// The length on the wire without the FCS; longer than `bytes` if the frame was cut.
    pub length: usize,
    /// When the kernel received it, since 1970, if the kernel says.
    pub stamp: Option<Duration>,
}

/// One end of a wire. What it holds is not buffer space of any class: nodes copy frames into their own
/// store at once.
///
/// A link outlives failures of its interface: receiving and flushing are errors as long as it is down or
/// gone, what is sent meanwhile is lost and counted, and then it works again.
pub trait Link: Send {
    /// Calls `take` with at most `most` frames that have arrived; returns their number. Never
    /// waits.
    fn receive(&mut self, most: usize, take: &mut dyn FnMut(Received<'_>)) -> io::Result<usize>;

    /// Queues a frame to be sent; `false` if there is no room before the next [`Link::flush`].
    fn send(&mut self, frame: &[u8]) -> bool;

    /// Hands the queued frames over to the kernel. Those that it does not take now stay queued.
    fn flush(&mut self) -> io::Result<()>;

    /// The number of frames still queued after the last [`Link::flush`].
    fn backlog(&self) -> usize;

    /// The frames that were lost unseen so far.
    fn losses(&mut self) -> Losses;

    /// A descriptor that becomes readable when frames have arrived.
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

/// Frames that never reached a node or never left it, since the link was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Frames that came in when the ring to us was full, or was closed before they were read.
    pub receive: u64,
    /// Frames that were refused for good when they were sent, as by an interface that is down.
    pub send: u64,
}
