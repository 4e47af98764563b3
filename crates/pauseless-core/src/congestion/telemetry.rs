//! In-band telemetry: what switches write into packets that pass, and what comes back of it.

use crate::unit::{Bytes, Rate, Time};

/// What one egress has written into a packet as it left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// When the packet left the egress.
    pub time: Time,
    /// Bytes that the egress has sent before, all classes together.
    pub sent: Bytes,
    /// Bytes that wait behind the packet, all classes together.
    pub queue: Bytes,
    /// The rate of its link.
    pub line: Rate,
}

/// At most so many switches write into a packet; those behind find no room.
pub const HOPS_MAX: usize = 8;

/// Under which name a driver keeps what a packet has collected. To the core it means nothing: it
/// goes from a packet into its acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo(pub u32);

impl Echo {
    /// The packet has collected nothing.
    pub const NONE: Echo = Echo(u32::MAX);
}

impl Default for Echo {
    fn default() -> Echo {
        Echo::NONE
    }
}
