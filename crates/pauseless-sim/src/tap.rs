//! Observers of frames as they pass the ends of links, such as a capture file.

use std::fmt;

use pauseless_core::congestion::{Feedback, Sequence};
use pauseless_core::flow_control::Control;
use pauseless_core::id::{Class, FlowId, NodeId, PortId};
use pauseless_core::unit::{Bytes, Time};

/// Which way a frame went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It has arrived at the node.
    In,
    /// It begins to leave the node.
    Out,
}

/// One end of a link, and which way a frame went there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The node that the port belongs to.
    pub node: NodeId,
    /// The port of that node.
    pub port: PortId,
    /// Whether it went into the node or out of it.
    pub direction: Direction,
}

/// A frame as a capture shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Data of a flow.
    Data {
        /// The flow that the packet belongs to.
        flow: FlowId,
        /// The number of the packet in its flow.
        sequence: Sequence,
        /// Whether a switch has marked it.
        is_marked: bool,
        /// The length of the frame.
        size: Bytes,
        /// The class of the frame on this wire.
        class: Class,
    },
    /// A feedback packet to the source of a flow.
    Answer {
        /// The flow whose source is told.
        flow: FlowId,
        /// The acknowledgement or congestion notification.
        feedback: Feedback,
        /// The class of the frame on this wire.
        class: Class,
    },
    /// A control frame. Those of conceptual GFC are on no wire, and are not shown.
    Control(Control),
}

/// Sees every frame of a run at both ends of its wire: as its first bit leaves and when its last bit
/// has arrived.
pub trait Tap: Send {
    /// Shows that `frame` passes `spot` at `time`, which never decreases.
    fn see(&mut self, time: Time, spot: Spot, frame: Seen);
}

/// The tap of a run, if there is one.
#[derive(Default)]
pub(crate) struct Tapped<'t>(pub Option<Box<dyn Tap + 't>>);

impl fmt::Debug for Tapped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tapped({})", self.0.is_some())
    }
}
