//! AF_PACKET: works on every interface, and in a user namespace.
//!
//! Frames come in through a ring of version 2. Version 3 collects them in blocks and hands a block over
//! when a timer of up to 4 ms says so, which is longer than everything that is measured here.

mod receive;
mod transmit;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::outage::Outage;
use super::{Link, Losses, Received};
use crate::net::{self, socket};
use receive::ReceiveRing;
use transmit::{Sent, TransmitLine};

/// The options of a packet socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The most frames between the kernel and us, rounded up to a power of two.
    pub ring: usize,
    /// The longest frame without FCS; longer ones are cut.
    pub largest: usize,
}

impl Default for Options {
    /// A ring of 8 MB, which the shortest frames at 100 Mb/s fill in 27 ms. The kernel walks through all of
    /// it however few frames wait, so a deeper one is worse for the cache as well: with 8,192 the median of
    /// six noisy runs at 64 bytes was 13 % lower, the best one the same.
    fn default() -> Options {
        Options { ring: 4_096, largest: 1_900 }
    }
}

/// A link over a packet socket.
#[derive(Debug)]
pub struct PacketLink {
    // Dropped before the socket that it is a view of.
    ring: ReceiveRing,
    line: TransmitLine,
    socket: OwnedFd,
    index: i32,
    losses: Losses,
    outage: Outage,
}

impl PacketLink {
    /// Opens `interface` of the namespace that the calling thread is in. The link stays in that
    /// namespace whoever uses it.
    pub fn open(interface: &str, options: Options) -> io::Result<PacketLink> {
        let what = |error| net::named(error, format!("open {interface} with AF_PACKET"));
        // With protocol zero, nothing comes in until the socket is bound.
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK;
        let socket = socket::open(libc::AF_PACKET, kind, 0).map_err(what)?;
        let ring = ReceiveRing::new(&socket, options).map_err(what)?;
        socket::set(&socket, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, 1).map_err(what)?;
        let index = net::index(&socket, interface).map_err(what)?;
        attach(&socket, index).map_err(what)?;
        Ok(PacketLink {
            ring,
            line: TransmitLine::new(options.largest),
            socket,
            index,
            losses: Losses::default(),
            outage: Outage::new(interface),
        })
    }

    /// Handles a failure of the interface: the queued frames are lost.
    fn fail(&mut self, error: io::Error) -> io::Error {
        self.losses.send += self.line.clear() as u64;
        self.outage.begin(error)
    }

    /// Checks the interface when there is nothing else to do.
    fn look(&mut self) -> io::Result<()> {
        // Reading the error clears it; otherwise a poll of the descriptor would return at once.
        let pending = socket::pending_error(&self.socket);
        if !self.outage.is_on() {
            return pending.map_or(Ok(()), |error| Err(self.fail(error)));
        }
        self.reattach();
        if self.outage.is_running(&self.socket, self.index) {
            self.outage.end();
        }
        Ok(())
    }

    /// Attaches to an interface that was made anew under the same name.
    fn reattach(&mut self) {
        let index = self.outage.index(&self.socket);
        if let Some(index) = index.filter(|&index| index != self.index)
            && attach(&self.socket, index).is_ok()
        {
            self.index = index;
        }
    }
}

impl Link for PacketLink {
    fn receive(&mut self, most: usize, take: &mut dyn FnMut(Received<'_>)) -> io::Result<usize> {
        let count = self.ring.receive(most, take);
        if count == 0 {
            if self.outage.is_due() {
                self.look()?;
            }
            self.outage.result()?;
        }
        Ok(count)
    }

    fn send(&mut self, frame: &[u8]) -> bool {
        if frame.len() > self.line.largest() {
            self.losses.send += 1;
            return true;
        }
        self.line.push(frame)
    }

    fn flush(&mut self) -> io::Result<()> {
        while self.line.len() > 0 {
            match self.line.send(&self.socket) {
                Sent::Some => self.outage.end(),
                Sent::Refused => self.losses.send += 1,
                // The kernel returns this for a full queue, and for an unplugged cable.
                Sent::Full if self.outage.is_running(&self.socket, self.index) => return Ok(()),
                Sent::Full => return Err(self.fail(io::ErrorKind::NetworkDown.into())),
                Sent::Down(error) => {
                    let error = self.fail(error);
                    self.reattach();
                    return Err(error);
                }
            }
        }
        self.outage.result()
    }

    fn backlog(&self) -> usize {
        self.line.len()
    }

    fn losses(&mut self) -> Losses {
        // Reading the counters resets them.
        let counters = socket::get(&self.socket, libc::SOL_PACKET, libc::PACKET_STATISTICS);
        if let Ok::<[u32; 2], _>([_, drops]) = counters {
            self.losses.receive += u64::from(drops);
        }
        self.losses
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.as_fd())
    }
}

/// Lets the socket receive all frames of an interface.
fn attach(socket: &OwnedFd, index: i32) -> io::Result<()> {
    net::promiscuous(socket, index)?;
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as _,
        sll_protocol: (libc::ETH_P_ALL as u16).to_be(),
        sll_ifindex: index,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    socket::bind(socket, address)
}
