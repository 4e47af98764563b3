//! An interface that fails and comes back.

use std::io;
use std::os::fd::OwnedFd;

use crate::net;

/// What a link knows about the health of its interface.
#[derive(Debug)]
pub struct Outage {
    interface: String,
    /// Whether the interface has failed.
    is_on: bool,
    /// Looks at an empty ring since the last look at the interface.
    idle: u32,
}

impl Outage {
    /// None so far.
    pub fn new(interface: &str) -> Outage {
        Outage {
            interface: interface.to_owned(),
            is_on: false,
            idle: 0,
        }
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
        match self.is_on {
            true => Err(io::ErrorKind::NetworkDown.into()),
            false => Ok(()),
        }
    }

    /// The interface works.
    pub fn end(&mut self) {
        self.is_on = false;
    }

    /// Called for each look at an empty ring; now and then it is time to look at the interface, which
    /// takes a system call.
    pub fn is_due(&mut self) -> bool {
        self.idle = (self.idle + 1) % IDLE_LOOKS;
        self.idle == 0
    }

    /// Whether the interface is the one with this number, up, and connected. `socket` is any that is in
    /// its namespace.
    pub fn is_running(&self, socket: &OwnedFd, index: i32) -> bool {
        self.index(socket) == Some(index)
            && net::flags(socket, &self.interface).is_ok_and(|flags| flags & libc::IFF_UP != 0)
            && net::has_carrier(socket, &self.interface)
    }

    /// The number of the interface now.
    pub fn index(&self, socket: &OwnedFd) -> Option<i32> {
        net::index(socket, &self.interface).ok()
    }
}

const IDLE_LOOKS: u32 = 64;
