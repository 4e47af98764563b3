//! Identifiers: indices of different types that cannot be mixed up and have no arithmetic.

/// A switch or a host, numbered as the topology lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A port of one node, numbered from 0 in the order of the node's links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u16);

/// A traffic class: an 802.1p priority or an InfiniBand virtual lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Class(pub u8);

/// One class of one port: the counter of an ingress or the queue of an egress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueueId {
    /// The port of the switch.
    pub port: PortId,
    /// The class of its packets.
    pub class: Class,
}

/// A flow, numbered in the canonical order of the scenario's flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// The key of forwarding tables: packets of one group are all forwarded alike. Usually there is one
/// group per target host; a flow with an explicit path has a group of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u32);

impl NodeId {
    /// The position in a vector that has one element per node.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl PortId {
    /// Larger than the number of any port.
    pub const MAX: PortId = PortId(u16::MAX);

    /// The position in a vector that has one element per port of the node.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Class {
    /// 802.1p has eight priorities; of InfiniBand's sixteen virtual lanes at most eight can be used
    /// here.
    pub const COUNT_MAX: usize = 8;

    /// The position in a vector that has one element per class.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl FlowId {
    /// The position in a vector that has one element per flow.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl GroupId {
    /// The position in a vector that has one element per group.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
