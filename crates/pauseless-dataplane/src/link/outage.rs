//! An interface that fails and comes back.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use crate::net;

/// What a link knows about the health of its interface.
#[derive(Debug)]
pub struct Outage {
    interface: String,
    /// Whether the interface has failed.
    is_on: bool,
    /// Looks at an empty ring since the last look at the interface.
    idle: u32,
    /// When the next look at the interface may be.
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

    /// The interface has failed.
    pub fn begin(&mut self, error: io::Error) -> io::Error {
        if self.is_on {
            return error;
        }
        self.is_on = true;
        net::named(error, format!("use {}", self.interface))
    }

    /// The answer of a link that had nothing to do.
    pub fn result(&self) -> io::Result<()> {
        if self.is_on { Err(io::ErrorKind::NetworkDown.into()) } else { Ok(()) }
    }

    /// The interface works again.
    pub fn end(&mut self) {
        self.is_on = false;
    }

    /// Called for each look at an empty ring; now and then it is time to look at the interface, which
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

    /// Whether the interface is the one with this number, up, and connected. `socket` is any that is in
    /// its namespace.
    pub fn is_running(&self, socket: &OwnedFd, index: i32) -> bool {
        self.index(socket) == Some(index)
            && self.is_up(socket)
            && net::has_carrier(socket, &self.interface)
    }

    /// The same for those who may learn of a cable that was unplugged a second later. While an interface
    /// works this never waits for whoever changes interfaces, as [`Outage::is_running`] may.
    pub fn seems_running(&self, socket: &OwnedFd, index: i32) -> bool {
        let is_flagged = self.index(socket) == Some(index)
            && net::flags(socket, &self.interface).is_ok_and(|flags| flags & RUNNING == RUNNING);
        // The flag may be as late after the cable is back.
        is_flagged || self.is_running(socket, index)
    }

    /// Whether the interface is up, connected or not.
    pub fn is_up(&self, socket: &OwnedFd) -> bool {
        net::flags(socket, &self.interface).is_ok_and(|flags| flags & libc::IFF_UP != 0)
    }

    /// The number of the interface now.
    pub fn index(&self, socket: &OwnedFd) -> Option<i32> {
        net::index(socket, &self.interface).ok()
    }
}

const IDLE_LOOKS: u32 = 64;
const LOOK_PAUSE: Duration = Duration::from_millis(1);
const RUNNING: i32 = libc::IFF_UP | libc::IFF_RUNNING;
