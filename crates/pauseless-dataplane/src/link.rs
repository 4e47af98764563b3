//! One end of a wire: where frames come from and where they go.

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
    /// From the destination address on, without the FCS; a VLAN tag is where it was on the wire.
    pub bytes: &'a [u8],
    /// Its length on the wire without the FCS: more than there are bytes if it was cut.
    pub length: usize,
    /// When the kernel saw it, since the epoch, if the kernel says.
    pub stamp: Option<Duration>,
}

/// One end of a wire. What it holds is not buffer space of any class: nodes copy frames into their own
/// store at once.
///
/// A link outlives failures of its interface: receiving and flushing are errors as long as it is down or
/// gone, what is sent meanwhile is lost and counted, and then it works again.
pub trait Link: Send {
    /// Calls `take` with at most `most` frames that are there, and says how many they were. Never waits.
    fn receive(&mut self, most: usize, take: &mut dyn FnMut(Received<'_>)) -> io::Result<usize>;

    /// Puts a frame in line to be sent; `false` if there is no room before the next [`Link::flush`].
    fn send(&mut self, frame: &[u8]) -> bool;

    /// Hands over to the kernel what is in line. What it does not take now stays in line.
    fn flush(&mut self) -> io::Result<()>;

    /// How many frames are still in line after the last [`Link::flush`].
    fn backlog(&self) -> usize;

    /// What was lost so far without anybody having seen it.
    fn losses(&mut self) -> Losses;

    /// Becomes readable when frames are there, for those who want to sleep.
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

/// Frames that never reached a node or never left it, since the link was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Came in, but the ring to us was full, or was closed before we looked.
    pub receive: u64,
    /// Were refused for good when they were sent, as by an interface that is down.
    pub send: u64,
}
