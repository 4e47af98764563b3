//! Which classes occur at which switch: what its buffer has to be partitioned for.

use pauseless_core::id::{Class, NodeId};

use super::channel::Channels;
use super::walk::{Streams, Visitor, Walker};
use super::{Network, Traffic};

/// The classes in which packets arrive at each switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassUse {
    /// The classes of each node, a bit each; none for hosts.
    classes: Vec<u16>,
}

impl ClassUse {
    /// The classes in which packets arrive at `node`, a bit each.
    pub fn at(&self, node: NodeId) -> u16 {
        self.classes[node.index()]
    }

    /// The number of classes at the switch with the most. In a tree every hop changes the layer, so
    /// it is at most every second class; without bounces fewer.
    //= ttl 2.3 half
    //= ttl 2.3 quarter
    pub fn most(&self) -> u32 {
        self.classes.iter().map(|classes| classes.count_ones()).max().unwrap_or(0)
    }

    /// The number of classes in use anywhere.
    pub fn total(&self) -> u32 {
        self.classes.iter().fold(0, |all, classes| all | classes).count_ones()
    }
}

/// Follows all packets of a network and records in which classes they arrive at each switch, from
/// hosts and from other switches. With [`pauseless_core::class_map::Hops`] these are the partitions
/// that a switch needs, as few as its place in the fabric allows.
pub fn class_use(network: Network<'_>) -> ClassUse {
    let topology = network.topology;
    let node_count = topology.nodes().len();
    let channels = Channels::new(topology, Channels::class_count(&network));
    let nobody = vec![false; node_count];
    let streams = Streams::new(network, &channels, &nobody);
    let mut marks = Marks { channels: &channels, classes: vec![0; node_count] };
    let mut walker = Walker::new(&channels);
    for stream in &streams.list {
        walker.follow(&streams, *stream, &mut marks);
    }
    let mut enter = |host: NodeId, class: Class| {
        if let Some(link) = topology.ports(host).first() {
            marks.classes[link.peer.index()] |= 1 << class.0;
        }
    };
    match network.traffic {
        Traffic::AllPairs(lanes) => {
            for (host, lane) in
                topology.hosts().iter().flat_map(|host| lanes.iter().map(move |lane| (host, lane)))
            {
                enter(*host, lane.class);
            }
        }
        Traffic::Demands(demands) => {
            for demand in demands {
                enter(demand.source, demand.lane.class);
            }
        }
    }
    ClassUse { classes: marks.classes }
}

struct Marks<'m> {
    channels: &'m Channels,
    classes: Vec<u16>,
}

impl Marks<'_> {
    fn mark(&mut self, vertex: u32) {
        let buffer = self.channels.buffer(vertex);
        self.classes[buffer.node.index()] |= 1 << buffer.class.0;
    }
}

impl Visitor for Marks<'_> {
    fn enter(&mut self, _switch: NodeId, vertex: u32) {
        self.mark(vertex);
    }

    fn depend(&mut self, _from: u32, to: u32) {
        self.mark(to);
    }
}
