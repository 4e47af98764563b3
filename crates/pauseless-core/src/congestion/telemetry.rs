//! In-band telemetry: what switches write into packets that pass, and what comes back of it.

use crate::unit::{Bytes, Rate, Time};

/// The record that one egress writes into a packet as it leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// When the packet left the egress.
    pub time: Time,
    /// The bytes that the egress has sent before, in all classes.
    pub sent: Bytes,
    /// The bytes that wait behind the packet, in all classes.
    pub queue: Bytes,
    /// The rate of the egress link.
    pub line: Rate,
}

/// The most records in a packet; later switches write none.
pub const HOPS_MAX: usize = 8;

/// A driver's handle of the records of a packet. The core only copies it from a packet to its
/// acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo(pub u32);

impl Echo {
    /// The handle of a packet without records.
    pub const NONE: Echo = Echo(u32::MAX);
}

impl Default for Echo {
    fn default() -> Echo {
        Echo::NONE
    }
}
