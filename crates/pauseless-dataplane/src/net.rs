//! Networks of namespaces and veth pairs, made by us and gone with us.
//!
//! A [`Namespace`] is anonymous: it lives as long as a descriptor, a socket or a process in it, so
//! nothing is left behind however this process ends. Interfaces die with their namespace.

mod ethtool;
mod interface;
mod netlink;
mod privilege;
pub(crate) mod socket;

pub(crate) use ethtool::has_carrier;
pub use ethtool::{Kind, offloads_off};
pub use interface::{
    address, interface_exists, kind, queues, set_address, set_mtu, set_promiscuous, set_up,
};
pub(crate) use interface::{flags, index, promiscuous};
pub use privilege::{Privilege, Unprivileged, become_root};

use std::fs::File;
use std::io;
use std::net::UdpSocket;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::thread;

/// A network namespace, which lives as long as this value or a process in it.
#[derive(Debug)]
pub struct Namespace {
    file: File,
}

impl Namespace {
    /// Makes a namespace with nothing in it but a loopback interface that is down.
    pub fn new() -> io::Result<Namespace> {
        // A thread of its own, so that the caller stays where it is.
        let made = thread::spawn(|| {
            // SAFETY: no pointers; only the network namespace of this thread changes.
            let status = unsafe { libc::unshare(libc::CLONE_NEWNET) };
            socket::check(status).map_err(|error| named(error, "make a network namespace"))?;
            interface::quiet("default");
            Namespace::here()
        });
        made.join().expect("the thread does not panic")
    }

    /// The namespace of the calling thread.
    pub fn here() -> io::Result<Namespace> {
        let file = File::open("/proc/thread-self/ns/net")?;
        Ok(Namespace { file })
    }

    /// Another handle to the same namespace.
    pub fn try_clone(&self) -> io::Result<Namespace> {
        let file = self.file.try_clone()?;
        Ok(Namespace { file })
    }

    /// The interface of this name in it, as an end of a veth pair.
    pub fn end<'a>(&'a self, name: &'a str) -> End<'a> {
        End { namespace: self, name }
    }

    /// Runs `inside` in the namespace, on the calling thread. Sockets that are opened and processes
    /// that are started inside stay there. A thread that is in it already needs no right to enter.
    pub fn enter<T>(&self, inside: impl FnOnce() -> T) -> io::Result<T> {
        let outside = Namespace::here()?;
        if self.number()? == outside.number()? {
            return Ok(inside());
        }
        self.join()?;
        let back = Return { outside };
        let result = inside();
        drop(back);
        Ok(result)
    }

    /// The device and inode numbers, which identify it as long as it lives.
    fn number(&self) -> io::Result<(u64, u64)> {
        let data = self.file.metadata()?;
        Ok((data.dev(), data.ino()))
    }

    fn join(&self) -> io::Result<()> {
        // SAFETY: the descriptor is open; only the network namespace of this thread changes.
        let status = unsafe { libc::setns(self.file.as_raw_fd(), libc::CLONE_NEWNET) };
        socket::check(status).map(drop).map_err(|error| named(error, "enter a network namespace"))
    }
}

/// An interface of a namespace: one end of a veth pair.
#[derive(Clone, Copy, Debug)]
pub struct End<'a> {
    namespace: &'a Namespace,
    name: &'a str,
}

/// Brings the thread back when it is dropped, even by a panic.
struct Return {
    outside: Namespace,
}

impl Drop for Return {
    fn drop(&mut self) {
        // The thread could leave, so it can return; if not, it would work on the wrong interfaces.
        self.outside.join().expect("a thread can return to its own namespace");
    }
}

/// Makes a veth pair with its ends in two namespaces, or in one: both up, MTU 1,500, without IPv6,
/// without offloads, with one queue.
pub fn veth(a: End<'_>, b: End<'_>) -> io::Result<()> {
    let pair = netlink::veth_message(a.name, b.name, b.namespace.file.as_raw_fd());
    let request = || netlink::ask(&pair);
    a.namespace
        .enter(request)?
        .map_err(|error| named(error, format!("make the veth pair {} - {}", a.name, b.name)))?;
    for End { namespace, name } in [a, b] {
        namespace.enter(|| -> io::Result<()> {
            interface::quiet(name);
            offloads_off(name)?;
            set_up(name, true)
        })??;
    }
    Ok(())
}

/// Removes an interface of the namespace that the calling thread is in; the other end of a veth pair
/// goes with it.
pub fn remove(name: &str) -> io::Result<()> {
    netlink::ask(&netlink::removal_message(name))
        .map_err(|error| named(error, format!("remove the interface {name}")))
}

/// Has the kernel cut what is sent into datagrams of this many bytes each, so that benchmarks send
/// dozens of frames per system call.
#[doc(hidden)]
pub fn set_segment_size(socket: &UdpSocket, bytes: u16) -> io::Result<()> {
    let socket = OwnedFd::from(socket.try_clone()?);
    socket::set(&socket, libc::SOL_UDP, libc::UDP_SEGMENT, i32::from(bytes))
}

/// The error with a description of what was tried.
pub(crate) fn named(error: io::Error, what: impl std::fmt::Display) -> io::Error {
    io::Error::new(error.kind(), format!("cannot {what}: {error}"))
}
