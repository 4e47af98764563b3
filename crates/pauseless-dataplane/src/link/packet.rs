//! AF_PACKET: works on every interface, and in a user namespace.
//!
//! Frames come in through a ring of version 2. Version 3 collects them in blocks and hands a block over
//! when a timer of up to 4 ms says so, which is longer than everything that is measured here.

mod receive;
mod transmit;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::{Link, Losses, Received};
use crate::net::{self, socket};
use receive::ReceiveRing;
use transmit::{Sent, TransmitLine};

/// What a link of this kind may be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// At most so many frames lie between the kernel and us; rounded up to a power of two.
    pub ring: usize,
    /// Longer frames are cut, without FCS.
    pub largest: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            ring: 2_048,
            largest: 1_900,
        }
    }
}

/// A link over a packet socket.
#[derive(Debug)]
pub struct PacketLink {
    interface: String,
    // Before the socket that it is a view of.
    ring: ReceiveRing,
    line: TransmitLine,
    socket: OwnedFd,
    index: i32,
    losses: Losses,
    outage: Outage,
    /// Looks at an empty ring since the last look at the interface.
    idle: u32,
}

/// Whether the interface works, as far as we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outage {
    None,
    /// It does not, and the node has been told.
    Told,
}

impl PacketLink {
    /// Opens `interface` of the namespace that the calling thread is in. The link stays in that
    /// namespace whoever uses it.
    pub fn open(interface: &str, options: Options) -> io::Result<PacketLink> {
        let what = |error| net::named(error, format!("open {interface} with AF_PACKET"));
        // The protocol zero lets nothing in until the socket is bound.
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK;
        let socket = socket::open(libc::AF_PACKET, kind, 0).map_err(what)?;
        let ring = ReceiveRing::new(&socket, options).map_err(what)?;
        socket::set(&socket, (libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS), 1).map_err(what)?;
        let index = attach(&socket, interface).map_err(what)?;
        Ok(PacketLink {
            interface: interface.to_owned(),
            ring,
            line: TransmitLine::new(options.largest),
            socket,
            index,
            losses: Losses::default(),
            outage: Outage::None,
            idle: 0,
        })
    }

    /// The interface has failed: what is in line is lost, and the node hears of it once.
    fn fail(&mut self, error: io::Error) -> io::Result<()> {
        self.losses.send += self.line.clear() as u64;
        if self.outage == Outage::Told {
            return Ok(());
        }
        self.outage = Outage::Told;
        Err(net::named(error, format!("use {}", self.interface)))
    }

    /// Looks at the interface when there is nothing else to do.
    fn look(&mut self) -> io::Result<()> {
        // Otherwise whoever sleeps on the descriptor would not sleep.
        let pending = socket::pending_error(&self.socket);
        if self.outage == Outage::None {
            return pending.map_or(Ok(()), |error| self.fail(error));
        }
        self.reattach();
        if self.is_running() {
            self.outage = Outage::None;
        }
        Ok(())
    }

    /// Takes an interface that was made anew under the same name.
    fn reattach(&mut self) {
        let there = net::index(&self.socket, &self.interface);
        if there.is_ok_and(|index| index != self.index)
            && let Ok(index) = attach(&self.socket, &self.interface)
        {
            self.index = index;
        }
    }

    /// Whether the interface is up and its peer is there.
    fn is_running(&self) -> bool {
        let needed = libc::IFF_UP | libc::IFF_RUNNING;
        let is_ours =
            net::index(&self.socket, &self.interface).is_ok_and(|index| index == self.index);
        is_ours
            && net::flags(&self.socket, &self.interface).is_ok_and(|flags| flags & needed == needed)
    }
}

impl Link for PacketLink {
    fn receive(&mut self, most: usize, take: &mut dyn FnMut(Received<'_>)) -> io::Result<usize> {
        let count = self.ring.receive(most, take);
        if count == 0 && most > 0 {
            self.idle += 1;
            if self.idle >= IDLE_LOOKS {
                self.idle = 0;
                self.look()?;
            }
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
                Sent::Some => self.outage = Outage::None,
                Sent::Refused => self.losses.send += 1,
                // The kernel says this of a full queue, and of a cable that is unplugged.
                Sent::Full if self.is_running() => return Ok(()),
                Sent::Full => return self.fail(io::ErrorKind::NetworkDown.into()),
                Sent::Down(error) => {
                    let told = self.fail(error);
                    self.reattach();
                    return told;
                }
            }
        }
        Ok(())
    }

    fn backlog(&self) -> usize {
        self.line.len()
    }

    fn losses(&mut self) -> Losses {
        // Reading it sets it to zero.
        let name = (libc::SOL_PACKET, libc::PACKET_STATISTICS);
        if let Ok([_, drops]) = socket::get::<[u32; 2]>(&self.socket, name) {
            self.losses.receive += u64::from(drops);
        }
        self.losses
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.as_fd())
    }
}

/// Lets the socket see all frames of an interface, and says its number.
fn attach(socket: &OwnedFd, interface: &str) -> io::Result<i32> {
    let index = net::index(socket, interface)?;
    let promiscuous = libc::packet_mreq {
        mr_ifindex: index,
        mr_type: libc::PACKET_MR_PROMISC as _,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    let name = (libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP);
    socket::set(socket, name, promiscuous)?;
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as _,
        sll_protocol: (libc::ETH_P_ALL as u16).to_be(),
        sll_ifindex: index,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    socket::bind(socket, address)?;
    Ok(index)
}

/// After so many looks at an empty ring the interface is looked at, which takes a system call.
const IDLE_LOOKS: u32 = 64;
