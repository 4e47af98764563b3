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
use crate::event::Place;
use crate::rng::{Purpose, Stream};
use crate::tag::Tag;

/// A switch or a host, from the core.
#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "every hop reads nodes, and a box would be one more place to look"
)]
pub(crate) enum Node {
    Switch(Switch<Tag>),
    Host(Host),
}

impl Node {
    /// A placeholder for a node in another part of the run, which is never used. It is a host
    /// rather than a variant of its own, since every hop checks what a node is.
    fn elsewhere(config: &PortConfig) -> Node {
        Node::Host(Host::new(config))
    }
}

/// A data frame or a feedback packet. It has sixteen bytes, since wires hold many of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub tag: Tag,
    size: u32,
    pub class: Class,
    /// Whether this only stands for a control frame, see [`Flying`].
    is_control: bool,
}

const _: () = assert!(size_of::<Packet>() == 16);

impl Packet {
    pub(crate) fn new(tag: Tag, size: Bytes, class: Class) -> Packet {
        let size = u32::try_from(size.get()).expect("a frame is smaller than 4 GiB");
        Packet { tag, size, class, is_control: false }
    }

    /// The length of the frame.
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

/// A frame on a wire, in 32 bytes with its link to the one behind it.
#[derive(Clone, Copy, Debug)]
struct Flying {
    /// The packet, or what stands for a control frame: then its size is the place of that in
    /// [`Sky::controls`].
    packet: Packet,
    /// When the frame behind it arrives, which is asked when this one does: so that one, which was not
    /// touched for long, need not be.
    next: Time,
}

/// All frames on wires.
#[derive(Debug)]
pub(crate) struct Sky {
    pool: Pool<Flying>,
    /// The control frames, which are few, apart from the packets.
    controls: Vec<Control>,
    /// The places in `controls` that are free.
    free: Vec<u32>,
}

impl Sky {
    fn new() -> Sky {
        Sky { pool: Pool::new(), controls: Vec::new(), free: Vec::new() }
    }

    /// Puts a frame on the wire to `end`, where it arrives at `time` and not before others; whether it
    /// is the only one.
    #[inline(always)]
    pub(crate) fn launch(&mut self, end: &mut End, time: Time, frame: Frame) -> bool {
        let packet = match frame {
            Frame::Data(packet) => packet,
            Frame::Control(control) => self.keep(control),
        };
        self.launch_packet(end, time, packet)
    }

    /// As [`Sky::launch`], for a packet.
    #[inline(always)]
    pub(crate) fn launch_packet(&mut self, end: &mut End, time: Time, packet: Packet) -> bool {
        let flying = Flying { packet, next: Time::MAX };
        self.pool.push_behind(&mut end.incoming, flying, |last| last.next = time)
    }

    /// Stores a control frame, and returns what stands for it.
    #[inline(never)]
    fn keep(&mut self, control: Control) -> Packet {
        let place = self.free.pop().unwrap_or(self.controls.len() as u32);
        match self.controls.get_mut(place as usize) {
            Some(free) => *free = control,
            None => self.controls.push(control),
        }
        Packet { tag: Tag::CONTROL, size: place, class: control.class, is_control: true }
    }

    /// Takes the frame that arrives at `end` first off its wire, if it is a packet; also says when the
    /// next frame arrives.
    #[inline(always)]
    pub(crate) fn land_packet(&mut self, end: &mut End) -> Option<(Packet, Time)> {
        let Flying { packet, next } = *self.pool.front(&end.incoming)?;
        if packet.is_control {
            return None;
        }
        self.pool.pop_front(&mut end.incoming);
        Some((packet, next))
    }

    /// Takes the frame that arrives at `end` first off its wire; also says when the next one arrives.
    #[inline(always)]
    pub(crate) fn land(&mut self, end: &mut End) -> Option<(Frame, Time)> {
        let flying = self.pool.pop_front(&mut end.incoming)?;
        if flying.packet.is_control {
            self.free.push(flying.packet.size);
        }
        Some((self.frame(&flying), flying.next))
    }

    /// All frames on their way to `end`.
    pub(crate) fn frames(&self, end: &End) -> impl Iterator<Item = Frame> {
        self.pool.iter(&end.incoming).map(|flying| self.frame(flying))
    }

    /// All frames on their way to `end`, with the instant at which the next one behind arrives.
    fn flying(&self, end: &End) -> impl Iterator<Item = (Frame, Time)> {
        self.pool.iter(&end.incoming).map(|flying| (self.frame(flying), flying.next))
    }

    #[inline(always)]
    fn frame(&self, flying: &Flying) -> Frame {
        if flying.packet.is_control {
            Frame::Control(self.controls[flying.packet.size as usize])
        } else {
            Frame::Data(flying.packet)
        }
    }

    fn heap_bytes(&self) -> usize {
        self.pool.heap_bytes() + self.controls.capacity() * size_of::<Control>()
    }
}

/// One end of a link, by global port number: the incoming direction and the node behind it.
/// It fills one cache line, since every hop touches two of them.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct End {
    pub node: NodeId,
    pub port: PortId,
    /// The global number of the other end.
    pub peer: u32,
    /// The part of a parallel run that the other end is in, or [`End::HERE`].
    pub away: u16,
    /// The classes in which this end is held back by the far end, a bit each.
    pub held: u8,
    pub delay: Span,
    /// The rate at which this end sends, by its own clock.
    pub line: Line,
    /// Frames on their way here. Only the first has an event, so pending events are proportional to
    /// ports, not to packets.
    pub incoming: Fifo,
    /// Control frames that have arrived and have not yet taken effect.
    pub signals: Fifo,
    /// When the pending timeout event will come.
    pub armed: Time,
    /// Bytes of data and feedback that this end has put on its wire.
    pub sent: Bytes,
}

impl End {
    /// The other end is in the same part of the run.
    pub(crate) const HERE: u16 = u16::MAX;

    /// The port that this is an end of.
    #[inline]
    pub(crate) fn place(&self) -> Place {
        Place { node: self.node, port: self.port }
    }
}

const _: () = assert!(size_of::<End>() == 64);

/// The rate of a link, such that most frames take no division: the picoseconds of a byte where that is
/// a whole number, otherwise the rate in bit/s and a bit that says so.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line(u64);

impl Line {
    const BY_RATE: u64 = 1 << 63;

    fn new(rate: Rate) -> Line {
        let byte = rate.tx_span(Bytes::new(1)).as_ps();
        let is_whole = Rate::new(8_000_000_000_000 / byte) == Some(rate);
        Line(if is_whole { byte } else { Line::BY_RATE | rate.as_bps() })
    }

    pub(crate) fn rate(self) -> Rate {
        let bps = if self.0 < Line::BY_RATE {
            8_000_000_000_000 / self.0
        } else {
            self.0 ^ Line::BY_RATE
        };
        Rate::bps(bps)
    }

    /// The time that `size` bytes take, as [`Rate::tx_span`].
    #[inline(always)]
    pub(crate) fn tx_span(self, size: Bytes) -> Span {
        if self.0 < Line::BY_RATE {
            Span::ps(self.0.saturating_mul(size.get()))
        } else {
            self.rate().tx_span(size)
        }
    }
}

/// What has passed one end of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traffic {
    /// Bytes received, counted only in runs with probes.
    pub received: Bytes,
    pub control_sent: Bytes,
}

/// The random streams of one end of a link.
#[derive(Clone, Debug)]
pub(crate) struct Jitter {
    pub processing: Stream,
    pub wire: Stream,
    pub line: Stream,
    /// When the last frame arrives at the far end, where wires draw.
    pub last_arrival: Time,
}

/// All nodes and links, with what is in them.
#[derive(Debug)]
pub(crate) struct Fabric {
    pub nodes: Vec<Node>,
    pub ends: Vec<End>,
    /// The random streams of each end, apart from it because most runs never draw.
    pub jitters: Vec<Jitter>,
    /// Bytes received and control bytes sent by each end; apart from `End` to keep that small.
    pub traffic: Vec<Traffic>,
    pub sky: Sky,
    pub controls: Pool<(Time, Control)>,
    /// How long a message is on its way at most, where messages can be lost.
    message_max: Option<Span>,
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
            sky: Sky::new(),
            controls: Pool::new(),
            message_max: None,
            starts,
            class_count: config.ingress.class_count(),
        };
        for index in 0..topology.nodes().len() {
            let node = NodeId(index as u32);
            fabric.add_ends(config, node);
            fabric.nodes.push(if topology.is_host(node) {
                let mut host = Host::new(&port_config(config, node, PortId(0)));
                host.set_answer_sizes(config.transport.sizes);
                Node::Host(host)
            } else {
                Node::Switch(Switch::new(&switch_config(config, node)))
            });
        }
        if config.changes.has_noise_on_control() {
            fabric.message_max = Some(message_max(config, &fabric.ends));
        }
        fabric.mitigate(&config.mitigation);
        if config.hardware.is_out_of_band() {
            fabric.take_control_off_wires(config);
        }
        fabric
    }

    /// Lets control frames travel outside the wires, as fast as a frame without a length.
    fn take_control_off_wires(&mut self, config: &Config) {
        for end in &self.ends {
            let delay = end.delay + config.processing;
            match &mut self.nodes[end.node.index()] {
                Node::Switch(switch) => switch.set_out_of_band(end.port, delay),
                Node::Host(host) => host.set_out_of_band(delay),
            }
        }
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
                line: Stream::new(config.seed, Purpose::Line, number),
                last_arrival: Time::ZERO,
            });
            self.ends.push(End {
                node,
                port: PortId(index as u16),
                peer: self.starts[port.peer.index()] + u32::from(port.peer_port.0),
                away: End::HERE,
                delay: port.delay,
                held: 0,
                line: Line::new(config.line(node, PortId(index as u16))),
                incoming: Fifo::EMPTY,
                signals: Fifo::EMPTY,
                armed: Time::MAX,
                sent: Bytes::ZERO,
            });
        }
    }

    /// The same nodes and links without anything in them, for a part of a run.
    pub(crate) fn empty(&self, config: &Config) -> Fabric {
        let End { node, port, .. } = self.ends[0];
        let mut any = port_config(config, node, port);
        any.lanes = any.lanes[..1].into();
        let nodes = self.nodes.iter().map(|_| Node::elsewhere(&any));
        Fabric {
            nodes: nodes.collect(),
            ends: self.ends.clone(),
            jitters: self.jitters.clone(),
            traffic: self.traffic.clone(),
            sky: Sky::new(),
            controls: Pool::new(),
            message_max: self.message_max,
            starts: self.starts.clone(),
            class_count: self.class_count,
        }
    }

    /// The global numbers of a node's ports.
    pub(crate) fn ends_of(&self, node: NodeId) -> std::ops::Range<usize> {
        let end = self.starts.get(node.index() + 1);
        let end = end.map_or(self.ends.len(), |end| *end as usize);
        self.starts[node.index()] as usize..end
    }

    /// Takes over a node from `other`, with everything on its way to it.
    pub(crate) fn take_node(&mut self, other: &mut Fabric, node: NodeId) {
        let index = node.index();
        std::mem::swap(&mut self.nodes[index], &mut other.nodes[index]);
        for index in self.ends_of(node) {
            let mut end = other.ends[index].clone();
            (end.incoming, end.signals) = (Fifo::EMPTY, Fifo::EMPTY);
            let mut time = Time::ZERO;
            for (frame, next) in other.sky.flying(&other.ends[index]) {
                self.sky.launch(&mut end, time, frame);
                time = next;
            }
            for control in other.controls.iter(&other.ends[index].signals) {
                self.controls.push_back(&mut end.signals, *control);
            }
            self.ends[index] = end;
            self.jitters[index] = other.jitters[index].clone();
            self.traffic[index] = other.traffic[index];
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

    /// Whether sending can close a gate by itself anywhere, as where credits are spent.
    pub(crate) fn may_spend_credit(&self) -> bool {
        self.ends.iter().any(|end| match &self.nodes[end.node.index()] {
            Node::Switch(switch) => switch.port(end.port).may_spend_credit(),
            Node::Host(host) => host.port().may_spend_credit(),
        })
    }

    /// An estimate of the heap memory in use.
    pub(crate) fn heap_bytes(&self) -> usize {
        let nodes = self.nodes.iter().map(|node| match node {
            Node::Switch(switch) => size_of::<Node>() + switch.heap_bytes(),
            Node::Host(_) => size_of::<Node>(),
        });
        let ends =
            self.ends.capacity() * (size_of::<End>() + size_of::<Jitter>() + size_of::<Traffic>());
        let pools = self.sky.heap_bytes() + self.controls.heap_bytes();
        nodes.sum::<usize>() + ends + pools
    }
}

/// The fabric as the deadlock detector sees it.
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
        let frames = self.sky.frames(&self.ends[end.peer as usize]);
        frames.fold(Bytes::ZERO, |sum, frame| match frame {
            Frame::Data(packet) if packet.class == queue.class => sum + packet.size(),
            Frame::Data(_) | Frame::Control(_) => sum,
        })
    }

    fn settled(&self, now: Time) -> Time {
        let earliest = |span: Span| Time::from_ps(now.as_ps().saturating_sub(span.as_ps()));
        self.message_max.map_or(Time::ZERO, earliest)
    }

    fn flow(&self, _node: NodeId, packet: Tag) -> Option<FlowId> {
        Some(packet.flow())
    }
}

/// The longest time from when a control frame starts to leave to when it takes effect.
fn message_max(config: &Config, ends: &[End]) -> Span {
    let size = config.hardware.control_frame + config.wire_overhead;
    let wires = ends.iter().map(|end| end.line.tx_span(size) + end.delay);
    let jitter = config.hardware.line_jitter + config.wire_jitter + config.processing_jitter;
    wires.max().unwrap_or(Span::ZERO) + config.processing + jitter
}

/// The configuration of switch `node`, for the simulator and for a real switch that is to behave
/// the same.
pub fn switch_config(config: &Config, node: NodeId) -> SwitchConfig {
    let mut seed = Stream::new(config.seed, Purpose::Marking, u64::from(node.0));
    let ports = 0..config.topology.ports(node).len();
    SwitchConfig {
        discipline: config.discipline,
        scheduler: config.scheduler,
        ports: ports.map(|port| port_config(config, node, PortId(port as u16))).collect(),
        congestion: config.congestion.control,
        seed: seed.next_u64(),
        changes_class: config.classes != ClassMap::Same,
        memory: config.ingress.memory(node).clone(),
        polling: config.polling,
    }
}

/// The configuration of one port of a switch or of a host.
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
            tick: config.ingress.tick(link.peer, link.peer_port, class),
        }
    });
    PortConfig { line: config.line(node, port), lanes: lanes.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_line_takes_as_long_as_its_rate_says(
            bps in prop_oneof![
                1u64..10_000_000_000_000,
                prop::sample::select(vec![10_000_000_000, 25_000_000_000, 400_000_000_000]),
            ],
            size in 1u64..2_000_000,
        ) {
            let (rate, size) = (Rate::bps(bps), Bytes::new(size));
            prop_assert_eq!(Line::new(rate).rate(), rate);
            prop_assert_eq!(Line::new(rate).tx_span(size), rate.tx_span(size));
        }
    }
}
