//! Numbers for the ingress buffers that face switches, and for the dependencies between them.

use std::ops::Range;

use pauseless_core::class_map::{ClassMap, LANE_COUNT};
use pauseless_core::id::{Class, NodeId, PortId};

use super::{Buffer, Network, Traffic};
use crate::topology::Topology;

/// Every link between switches is two channels, each named after the ingress at its end.
#[derive(Clone, Debug)]
pub(crate) struct Channels {
    pub class_count: usize,
    /// The number of bits of the class in a vertex: a vertex is a channel shifted by as many bits,
    /// plus a class.
    pub class_bits: u32,
    /// The index in `leaving` of the first port of each node.
    port_starts: Vec<u32>,
    /// The channel behind each port; `NONE` if it leads to a host.
    leaving: Vec<u32>,
    /// The ingress at the end of each channel.
    ends: Vec<(NodeId, PortId)>,
    /// The first of the channels that leave each node; they are numbered node after node.
    firsts: Vec<u32>,
}

impl Channels {
    pub(crate) fn new(topology: &Topology, class_count: usize) -> Channels {
        assert!((1..=LANE_COUNT).contains(&class_count));
        let mut channels = Channels {
            class_count,
            class_bits: class_count.next_power_of_two().ilog2(),
            port_starts: vec![0],
            leaving: Vec::new(),
            ends: Vec::new(),
            firsts: vec![0],
        };
        for node in (0..topology.nodes().len()).map(|n| NodeId(n as u32)) {
            for port in topology.ports(node) {
                let is_trunk = !topology.is_host(node) && !topology.is_host(port.peer);
                if !is_trunk {
                    channels.leaving.push(NONE);
                    continue;
                }
                channels.leaving.push(channels.ends.len() as u32);
                channels.ends.push((port.peer, port.peer_port));
            }
            channels.port_starts.push(channels.leaving.len() as u32);
            channels.firsts.push(channels.ends.len() as u32);
        }
        channels
    }

    /// The number of classes that a network can use, from 0 to the highest.
    pub(crate) fn class_count(network: &Network<'_>) -> usize {
        let entering = match network.traffic {
            Traffic::AllPairs(lanes) => lanes.iter().map(|lane| lane.class).max(),
            Traffic::Demands(demands) => demands.iter().map(|demand| demand.lane.class).max(),
        };
        let entering = entering.unwrap_or(Class(0));
        let highest = match network.classes {
            ClassMap::Same => entering,
            classes => entering.max(classes.class_max()),
        };
        highest.index() + 1
    }

    pub(crate) fn channel_count(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn vertex_count(&self) -> usize {
        self.ends.len() << self.class_bits
    }

    /// The channel behind `port`, or `None` if it leads to a host.
    #[inline]
    pub(crate) fn leaving(&self, node: NodeId, port: PortId) -> Option<u32> {
        let channel = self.leaving[self.port_starts[node.index()] as usize + port.index()];
        (channel != NONE).then_some(channel)
    }

    /// The ingress at which a channel ends.
    #[inline]
    pub(crate) fn end(&self, channel: u32) -> (NodeId, PortId) {
        self.ends[channel as usize]
    }

    /// The place of (`node`, `port`) in a vector that has one element per port of the fabric.
    pub(crate) fn port_place(&self, node: NodeId, port: PortId) -> usize {
        self.port_starts[node.index()] as usize + port.index()
    }

    /// How many ports all nodes have together.
    pub(crate) fn port_count(&self) -> usize {
        self.leaving.len()
    }

    /// The channels that leave `node`, in the order of its ports.
    #[inline]
    pub(crate) fn from(&self, node: NodeId) -> Range<u32> {
        self.firsts[node.index()]..self.firsts[node.index() + 1]
    }

    #[inline]
    pub(crate) fn vertex(&self, channel: u32, class: Class) -> u32 {
        channel << self.class_bits | u32::from(class.0)
    }

    #[inline]
    pub(crate) fn channel(&self, vertex: u32) -> u32 {
        vertex >> self.class_bits
    }

    pub(crate) fn buffer(&self, vertex: u32) -> Buffer {
        let (node, port) = self.end(self.channel(vertex));
        let class = Class((vertex & ((1 << self.class_bits) - 1)) as u8);
        Buffer { node, port, class }
    }
}

const NONE: u32 = u32::MAX;
