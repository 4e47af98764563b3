//! An interface that fails and comes back.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use crate::net;

/// The health of the interface of a link.
#[derive(Debug)]
pub struct Outage {
    interface: String,
    /// Whether the interface has failed.
    is_on: bool,
    /// The number of reads of an empty ring since the interface was last checked.
    idle: u32,
    /// The earliest instant of the next check.
    next: Instant,
}

impl Outage {
    /// The state of an interface that works.
    pub fn new(interface: &str) -> Outage {
        Outage { interface: interface.to_owned(), is_on: false, idle: 0, next: Instant::now() }
    }

    /// Whether the interface has failed.
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Records that the interface has failed.
    pub fn begin(&mut self, error: io::Error) -> io::Error {
        if self.is_on {
            return error;
        }
        self.is_on = true;
        net::named(error, format!("use {}", self.interface))
    }

    /// The result of a call that had nothing to do.
    pub fn result(&self) -> io::Result<()> {
        if self.is_on { Err(io::ErrorKind::NetworkDown.into()) } else { Ok(()) }
    }

    /// Records that the interface works again.
    pub fn end(&mut self) {
        self.is_on = false;
    }

    /// Counts a read of an empty ring; returns whether it is time to check the interface, which
    /// takes system calls.
    pub fn is_due(&mut self) -> bool {
        self.idle = (self.idle + 1) % IDLE_LOOKS;
        if self.idle != 0 && !self.is_on {
            return false;
        }
        let now = Instant::now();
        if now < self.next {
            return false;
        }
        self.next = now + LOOK_PAUSE;
        true
    }

    /// Whether the interface still has this number, is up, and is connected. `socket` is any in its
    /// namespace.
    pub fn is_running(&self, socket: &OwnedFd, index: i32) -> bool {
        self.index(socket) == Some(index)
            && self.is_up(socket)
            && net::has_carrier(socket, &self.interface)
    }

    /// As [`Outage::is_running`], but may notice an unplugged cable a second late. While an
    /// interface works this never waits for processes that change interfaces.
    pub fn seems_running(&self, socket: &OwnedFd, index: i32) -> bool {
        let is_flagged = self.index(socket) == Some(index)
            && net::flags(socket, &self.interface).is_ok_and(|flags| flags & RUNNING == RUNNING);
        // The flag may be as late when the cable is back.
        is_flagged || self.is_running(socket, index)
    }

    /// Whether the interface is up, connected or not.
    pub fn is_up(&self, socket: &OwnedFd) -> bool {
        net::flags(socket, &self.interface).is_ok_and(|flags| flags & libc::IFF_UP != 0)
    }

    /// The present number of the interface.
    pub fn index(&self, socket: &OwnedFd) -> Option<i32> {
        net::index(socket, &self.interface).ok()
    }
}

const IDLE_LOOKS: u32 = 64;
const LOOK_PAUSE: Duration = Duration::from_millis(1);
const RUNNING: i32 = libc::IFF_UP | libc::IFF_RUNNING;
