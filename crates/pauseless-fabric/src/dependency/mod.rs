//! The buffer dependency graph: which ingress buffer can wait for which, and whether in a circle.
//!
//! A vertex is an ingress buffer of a switch, that is a port that faces another switch, and a
//! class. There is an edge from one to the next when some packet that its source may send, and
//! that the tables forward, can lie in the first and want to go on to the second. Without a cycle
//! no lossless traffic can deadlock; with one it depends on rates (Dally and Seitz 1987).
//! Buffers that face hosts are no vertices: nothing waits for them but the host itself, and
//! hosts drain what reaches them.
//!
//! Where tables leave a choice among ports, all of them count, since packets are committed to one when
//! they are queued. For switches that choose anew whenever they look at a packet [`PortChoice`] says
//! what counts instead.
//!
//! The cost is that of following each way of the table once per label through the fabric; it
//! does not grow with the number of pairs of hosts.

mod blame;
mod channel;
mod class_use;
mod component;
mod crossing;
mod graph;
mod knot;
mod walk;
mod witness;

use std::collections::BTreeMap;

use pauseless_core::class_map::ClassMap;
use pauseless_core::id::{Class, GroupId, NodeId, PortId};

use crate::routing::Routes;
use crate::topology::Topology;

pub use blame::{Blame, Suspects};
pub use class_use::{ClassUse, class_use};
pub use crossing::{Crossing, Junction};
pub use graph::{Checker, Graph};
pub use knot::{Escape, PortChoice};
pub use witness::{ClosingFlow, Component, Cycle, Hop};

/// Everything that determines which buffer can wait for which.
#[derive(Clone, Copy, Debug)]
pub struct Network<'n> {
    /// The nodes and the links between them.
    pub topology: &'n Topology,
    /// The routes that packets take.
    pub routes: &'n Routes,
    /// The class in which packets leave each switch.
    pub classes: &'n ClassMap,
    /// The packets that sources may send.
    pub traffic: &'n Traffic,
    /// The buffers that drop packets rather than making anything wait.
    pub lossy: &'n Lossy,
}

/// The packets that sources may send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// Every host sends to every other, in each of these lanes.
    AllPairs(Vec<Lane>),
    /// Only these packets are sent.
    Demands(Vec<Demand>),
}

/// How a packet enters the fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lane {
    /// The label that it carries from source to target, such as a service level.
    pub label: u8,
    /// The class on the link from its source.
    pub class: Class,
}

impl Lane {
    /// The lane of a fabric with a single class.
    pub const ONLY: Lane = Lane { label: 0, class: Class(0) };
}

/// Packets of one source that are forwarded alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Demand {
    /// The group by which switches forward them.
    pub group: GroupId,
    /// The label and class in which they enter.
    pub lane: Lane,
    /// The host that sends them.
    pub source: NodeId,
}

/// The (ingress port, class) that drop what does not fit: flow control is off there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lossy {
    /// The lossy classes of each ingress, a bit each.
    classes: BTreeMap<(NodeId, PortId), u16>,
}

impl Lossy {
    /// No buffer is lossy.
    pub fn nothing() -> Lossy {
        Lossy::default()
    }

    /// Marks the classes whose bits are set at this ingress as lossy.
    pub fn add(&mut self, node: NodeId, port: PortId, classes: u16) {
        *self.classes.entry((node, port)).or_insert(0) |= classes;
    }

    /// The lossy classes at this ingress, a bit each.
    pub fn at(&self, node: NodeId, port: PortId) -> u16 {
        self.classes.get(&(node, port)).copied().unwrap_or(0)
    }
}

/// The buffer of one class at one ingress port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Buffer {
    /// The switch that the buffer is in.
    pub node: NodeId,
    /// The port at which packets arrive.
    pub port: PortId,
    /// The class of the packets in it.
    pub class: Class,
}
