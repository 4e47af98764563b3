//! Observers of frames as they pass a node, such as a capture file.

use pauseless_core::id::PortId;
use pauseless_core::unit::Time;

/// Which way a frame went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The node has received it.
    In,
    /// The node has sent it.
    Out,
}

/// Observes every frame of a node, good or bad, without its FCS.
pub trait Tap {
    /// Shows that `frame` has passed `port` at `time`.
    fn see(&mut self, time: Time, port: PortId, direction: Direction, frame: &[u8]);
}
