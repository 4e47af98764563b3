//! The nodes of a running simulation and the wires between them.

use pauseless_core::class_map::ClassMap;
use pauseless_core::deadlock::{EgressQueue, Network};
use pauseless_core::fifo::{Fifo, Pool};
use pauseless_core::flow_control::Control;
use pauseless_core::host::Host;
use pauseless_core::id::{Class, FlowId, NodeId, PortId};
use pauseless_core::port::{LaneConfig, PortConfig};
use pauseless_core::switch::{Switch, SwitchConfig};
use pauseless_core::unit::{Bytes, Rate, Span, Time};

use crate::config::{Config, Mitigation, Watchdog};
use crate::rng::{Purpose, Stream};
use crate::tag::Tag;

/// A switch or a host, from the core.
#[derive(Debug)]
pub(crate) enum Node {
    Switch(Switch<Tag>),
    Host(Host),
}

/// A data frame, or a packet that tells a flow's source something.
/// Sixteen bytes, since wires hold them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub tag: Tag,
    size: u32,
    pub class: Class,
}

impl Packet {
    pub(crate) fn new(tag: Tag, size: Bytes, class: Class) -> Packet {
        let size = u32::try_from(size.get()).expect("a frame is smaller than 4 GiB");
        Packet { tag, size, class }
    }

    /// Frame bytes.
    #[inline]
    pub(crate) fn size(self) -> Bytes {
        Bytes::new(u64::from(self.size))
    }
}

/// What travels on a wire.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Frame {
    Data(Packet),
    Control(Control),
}

/// One end of a link, by global port number: the incoming direction and the node behind it.
/// It fills one cache line, since every hop touches two of them.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct End {
    pub node: NodeId,
    pub port: PortId,
    /// The global number of the other end.
    pub peer: u32,
    pub delay: Span,
    pub line: Rate,
    /// Frames on their way here, with the instants of their full arrival. Only the first has an
    /// event, so pending events are proportional to ports, not to packets.
    pub incoming: Fifo,
    /// Control frames that have arrived and wait for their effect.
    pub signals: Fifo,
    /// When the pending timeout event will come; other timeout events are stale.
    pub armed: Time,
    /// Bytes of data and answers that this end has put on its wire.
    pub sent: Bytes,
}

/// What has passed one end of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traffic {
    /// Counted only in runs with probes.
    pub received: Bytes,
    pub control_sent: Bytes,
}

/// The random streams of one end of a link.
#[derive(Debug)]
pub(crate) struct Jitter {
    pub processing: Stream,
    pub wire: Stream,
}

/// Everything that has a place.
#[derive(Debug)]
pub(crate) struct Fabric {
    pub nodes: Vec<Node>,
    pub ends: Vec<End>,
    /// One per end, apart from it because most runs never draw.
    pub jitters: Vec<Jitter>,
    /// One per end, apart from it because most runs do not count.
    pub traffic: Vec<Traffic>,
    pub frames: Pool<(Time, Frame)>,
    pub controls: Pool<(Time, Control)>,
    starts: Vec<u32>,
    class_count: usize,
}

impl Fabric {
    pub(crate) fn new(config: &Config) -> Fabric {
        let topology = &config.topology;
        let mut starts = Vec::new();
        let mut total = 0u32;
        for node in 0..topology.nodes().len() {
            starts.push(total);
            total += topology.ports(NodeId(node as u32)).len() as u32;
        }
        let mut fabric = Fabric {
            nodes: Vec::new(),
            ends: Vec::new(),
            jitters: Vec::new(),
            traffic: Vec::new(),
            frames: Pool::new(),
            controls: Pool::new(),
            starts,
            class_count: config.ingress.class_count(),
        };
        for index in 0..topology.nodes().len() {
            let node = NodeId(index as u32);
            fabric.add_ends(config, node);
            fabric.nodes.push(if topology.is_host(node) {
                Node::Host(Host::new(&port_config(config, node, PortId(0))))
            } else {
                Node::Switch(Switch::new(&switch_config(config, node)))
            });
        }
        fabric.mitigate(&config.mitigation);
        fabric
    }

    /// Sets the watchdogs and the rate limits.
    fn mitigate(&mut self, mitigation: &Mitigation) {
        if let Watchdog::On(config) = &mitigation.watchdog {
            for node in &mut self.nodes {
                if let Node::Switch(switch) = node {
                    switch.watch(config);
                }
            }
        }
        for limit in &mitigation.limits {
            match &mut self.nodes[limit.node.index()] {
                Node::Switch(switch) => switch.limit(limit.port, limit.class, limit.rate),
                Node::Host(host) => host.limit(limit.class, limit.rate),
            }
        }
    }

    fn add_ends(&mut self, config: &Config, node: NodeId) {
        for (index, port) in config.topology.ports(node).iter().enumerate() {
            let number = self.ends.len() as u64;
            self.traffic.push(Traffic::default());
            self.jitters.push(Jitter {
                processing: Stream::new(config.seed, Purpose::Processing, number),
                wire: Stream::new(config.seed, Purpose::Wire, number),
            });
            self.ends.push(End {
                node,
                port: PortId(index as u16),
                peer: self.starts[port.peer.index()] + u32::from(port.peer_port.0),
                delay: port.delay,
                line: port.rate,
                incoming: Fifo::EMPTY,
                signals: Fifo::EMPTY,
                armed: Time::MAX,
                sent: Bytes::ZERO,
            });
        }
    }

    /// The global number of a port.
    #[inline]
    pub(crate) fn end_index(&self, node: NodeId, port: PortId) -> usize {
        self.starts[node.index()] as usize + port.index()
    }

    /// Bytes on the ingress counters of all switches; credits count whole blocks.
    pub(crate) fn held(&self) -> Bytes {
        let mut sum = Bytes::ZERO;
        for queue in self.egress_queues() {
            if let Node::Switch(switch) = &self.nodes[queue.node.index()] {
                sum += switch.port(queue.port).held(queue.class);
            }
        }
        sum
    }

    /// An estimate of the heap memory in use.
    pub(crate) fn heap_bytes(&self) -> usize {
        let nodes = self.nodes.iter().map(|node| match node {
            Node::Switch(switch) => size_of::<Node>() + switch.heap_bytes(),
            Node::Host(_) => size_of::<Node>(),
        });
        let ends =
            self.ends.capacity() * (size_of::<End>() + size_of::<Jitter>() + size_of::<Traffic>());
        let pools = self.frames.heap_bytes() + self.controls.heap_bytes();
        nodes.sum::<usize>() + ends + pools
    }
}

/// What the deadlock detector sees.
impl Network for Fabric {
    type Packet = Tag;

    #[inline]
    fn switch(&self, node: NodeId) -> Option<&Switch<Tag>> {
        match &self.nodes[node.index()] {
            Node::Switch(switch) => Some(switch),
            Node::Host(_) => None,
        }
    }

    #[inline]
    fn far_end(&self, node: NodeId, port: PortId) -> (NodeId, PortId) {
        let end = &self.ends[self.end_index(node, port)];
        let peer = &self.ends[end.peer as usize];
        (peer.node, peer.port)
    }

    fn port_count(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    fn port_index(&self, node: NodeId, port: PortId) -> usize {
        self.end_index(node, port)
    }

    fn class_count(&self) -> usize {
        self.class_count
    }

    fn egress_queues(&self) -> impl Iterator<Item = EgressQueue> {
        let is_switch = |end: &&End| matches!(self.nodes[end.node.index()], Node::Switch(_));
        self.ends.iter().filter(is_switch).flat_map(|end| {
            let (node, port) = (end.node, end.port);
            (0..self.class_count).map(move |class| EgressQueue {
                node,
                port,
                class: Class(class as u8),
            })
        })
    }

    fn in_flight(&self, queue: EgressQueue) -> Bytes {
        let end = &self.ends[self.end_index(queue.node, queue.port)];
        let frames = self.frames.iter(&self.ends[end.peer as usize].incoming);
        frames.fold(Bytes::ZERO, |sum, (_, frame)| match frame {
            Frame::Data(packet) if packet.class == queue.class => sum + packet.size(),
            Frame::Data(_) | Frame::Control(_) => sum,
        })
    }

    fn flow(&self, _node: NodeId, packet: Tag) -> Option<FlowId> {
        Some(packet.flow())
    }
}

/// The switch `node` of `config`, as the simulator builds it and as a real one must be built to do the
/// same.
pub fn switch_config(config: &Config, node: NodeId) -> SwitchConfig {
    let mut seed = Stream::new(config.seed, Purpose::Marking, u64::from(node.0));
    let ports = 0..config.topology.ports(node).len();
    SwitchConfig {
        discipline: config.discipline,
        scheduler: config.scheduler,
        ports: ports
            .map(|port| port_config(config, node, PortId(port as u16)))
            .collect(),
        congestion: config.congestion.control,
        seed: seed.next_u64(),
        changes_class: config.classes != ClassMap::Same,
        memory: config.ingress.memory(node).clone(),
        release: config.hardware.release,
    }
}

/// One port of `config`, of a switch or of a host.
pub fn port_config(config: &Config, node: NodeId, port: PortId) -> PortConfig {
    let link = config.topology.port(node, port);
    let lanes = (0..config.ingress.class_count()).map(|class| {
        let class = Class(class as u8);
        let own = config.ingress.get(node, port, class);
        let far = config.ingress.get(link.peer, link.peer_port, class);
        let entity = u64::from(node.0) << 32 | u64::from(port.0) << 8 | u64::from(class.0);
        let period = own.control.period().unwrap_or(Span::ZERO);
        let mut phase = Stream::new(config.seed, Purpose::Phase, entity);
        LaneConfig {
            ingress: own.control,
            egress: far.control,
            buffer: own.buffer,
            // Never at time zero itself, when nothing has happened yet.
            phase: Span::ps(1 + phase.below(period.as_ps())),
        }
    });
    PortConfig {
        line: link.rate,
        lanes: lanes.collect(),
    }
}
