//! A ring of switches with a host each, in which frames arrive and leave in a random order.
//!
//! Nothing here knows how deadlocks are found: who is stuck is seen by letting everything go on that can.

use std::collections::VecDeque;

use pauseless_core::congestion::CongestionControl;
use pauseless_core::deadlock::{EgressQueue, Network};
use pauseless_core::flow_control::{Control, FlowControl, cbfc, gfc, pfc};
use pauseless_core::id::{Class, FlowId, NodeId, PortId};
use pauseless_core::memory::{
    Alpha, HeadroomPool, LaneMemory, MemoryConfig, SharedConfig, Threshold,
};
use pauseless_core::port::{LaneConfig, PortConfig};
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::software::Polling;
use pauseless_core::switch::{Arrival, Discipline, Switch, SwitchConfig, Transmit};
use pauseless_core::unit::{Bytes, Rate, Span, Time};

pub const CLASSES: usize = 2;
/// The ports of a switch: to the next one, to the one before, to its host.
const PORTS: usize = 3;
const HOST_PORT: PortId = PortId(2);
const LINE: Rate = Rate::gbps(10);
/// The packets that a NIC of a software switch may have when its egress is stopped.
pub const BURST: u32 = 2;
const BUFFER: Bytes = Bytes::kb(100);

/// A sequence of numbers that depends on its seed alone (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ bits >> 31) % bound
    }
}

/// What holds senders back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Pfc,
    Cbfc,
    GfcBuffer,
    GfcTime(gfc::Measure),
    GfcConceptual,
    SharedMemory,
    Partitions,
}

impl Scheme {
    pub const ALL: [Scheme; 8] = [
        Scheme::Pfc,
        Scheme::Cbfc,
        Scheme::GfcBuffer,
        Scheme::GfcTime(gfc::Measure::Message),
        Scheme::GfcTime(gfc::Measure::Credit),
        Scheme::GfcConceptual,
        Scheme::SharedMemory,
        Scheme::Partitions,
    ];

    pub fn is_shared(self) -> bool {
        matches!(self, Scheme::SharedMemory | Scheme::Partitions)
    }

    /// The flow control of an ingress, with thresholds of a few packets.
    fn control(self, random: &mut Random) -> FlowControl {
        let bytes = |random: &mut Random, low, high| Bytes::new(low + random.below(high - low));
        let unit = Rate::mbps(625);
        let bm = bytes(random, 3_000, 5_000);
        let hold = bm + bytes(random, 0, 2_000);
        let mapping = gfc::Mapping { bm, b0: Bytes::kb(1), hold, floor: unit, unit };
        match self {
            Scheme::Pfc => {
                let xoff = bytes(random, 2_000, 5_000);
                let xon = xoff - bytes(random, 0, 2_000);
                FlowControl::Pfc(pfc::Config { xoff, xon, quanta: pfc::UNTIL_RESUMED })
            }
            Scheme::Cbfc => FlowControl::Cbfc(cbfc::Config {
                capacity: bytes(random, 1_600, 6_000),
                period: Span::us(20),
                counters: cbfc::Counters::Iba,
            }),
            Scheme::GfcBuffer => FlowControl::GfcBuffer(gfc::BufferConfig {
                bm,
                b1: Bytes::kb(1),
                stages: 4,
                hold,
                unit,
                refresh: None,
                hold_off: Span::us(random.below(2) * 20),
                prompt_stage: 3,
            }),
            Scheme::GfcTime(measure) => {
                let period = Span::us(20);
                FlowControl::GfcTime(gfc::TimeConfig { mapping, period, measure, capacity: BUFFER })
            }
            Scheme::GfcConceptual => {
                let delay = Span::us(1);
                FlowControl::GfcConceptual(gfc::ConceptualConfig { mapping, delay })
            }
            Scheme::SharedMemory | Scheme::Partitions => {
                FlowControl::Pfc(pfc::Config::commanded(pfc::UNTIL_RESUMED))
            }
        }
    }

    fn memory(self, random: &mut Random) -> MemoryConfig {
        let partitions = match self {
            Scheme::SharedMemory => [].into(),
            Scheme::Partitions => [0; CLASSES].map(|_| Bytes::new(1 + random.below(4_000))).into(),
            _ => return MemoryConfig::Private,
        };
        let is_split = self == Scheme::Partitions;
        let alpha = Alpha::new(1 + random.below(4) as u32, 1 + random.below(4) as u32);
        let alpha = alpha.expect("positive");
        let lanes = (0..PORTS * CLASSES).map(|_| LaneMemory {
            reserve: if is_split { Bytes::ZERO } else { Bytes::new(random.below(1_500)) },
            headroom: BUFFER,
            threshold: match random.below(3) {
                0 => Threshold::Static(Bytes::new(500 + random.below(4_000))),
                _ if is_split => Threshold::Partition { alpha, least: Bytes::new(1_500) },
                _ => Threshold::Dynamic(alpha),
            },
            resume_offset: Bytes::new(random.below(500)),
        });
        MemoryConfig::Shared(SharedConfig {
            lanes: lanes.collect(),
            pool: Bytes::new(3_000 + random.below(8_000)),
            partitions,
            headroom: HeadroomPool::Class,
            class_count: CLASSES,
        })
    }
}

#[derive(Clone, Copy, Debug)]
enum Frame {
    Control(Control),
    Data { packet: u32, size: Bytes, class: Class },
}

/// One direction of a link, from a port of a switch.
#[derive(Default)]
struct Wire {
    sending: Option<Frame>,
    frames: VecDeque<Frame>,
}

/// Where a packet goes: the egress of each switch, and the class in which it leaves.
struct Way {
    hops: Vec<(PortId, Class)>,
    passed: usize,
}

pub struct World {
    pub now: Time,
    pub switches: Vec<Switch<u32>>,
    wires: Vec<[Wire; PORTS]>,
    ways: Vec<Way>,
    /// The packets that each egress queue has begun to send so far.
    pub sent: Vec<u32>,
    changes_class: bool,
    /// Whether packets turn back on their way, so that two neighbours can wait for each other.
    wanders: bool,
}

impl World {
    pub fn new(scheme: Scheme, discipline: Discipline, random: &mut Random) -> World {
        let count = 2 + random.below(3) as usize;
        let (changes_class, wanders) = (random.below(3) == 0, random.below(2) == 0);
        let controls: Vec<FlowControl> = (0..count).map(|_| scheme.control(random)).collect();
        let switches = (0..count).map(|node| {
            let memory = scheme.memory(random);
            let buffer = match &memory {
                MemoryConfig::Private => BUFFER,
                MemoryConfig::Shared(shared) => shared.total(),
            };
            // Hosts take everything, so nothing gates the way to them.
            let (next, before) = ((node + 1) % count, (node + count - 1) % count);
            let host = match scheme {
                Scheme::GfcConceptual => controls[node],
                _ => FlowControl::None,
            };
            let ports = [controls[next], controls[before], host].map(|egress| PortConfig {
                line: LINE,
                lanes: [LaneConfig { egress, ..LaneConfig::new(controls[node], buffer) }; CLASSES]
                    .into(),
            });
            Switch::new(&SwitchConfig {
                changes_class,
                memory,
                congestion: CongestionControl::None,
                seed: random.below(u64::MAX),
                discipline,
                polling: Polling { burst: BURST as u16, ring: 2, ..Polling::default() },
                scheduler: Scheduler::Strict,
                ports: ports.into(),
            })
        });
        let switches: Vec<Switch<u32>> = switches.collect();
        World {
            now: Time::ZERO,
            wires: switches.iter().map(|_| Default::default()).collect(),
            sent: vec![0; switches.len() * PORTS * CLASSES],
            switches,
            ways: Vec::new(),
            changes_class,
            wanders,
        }
    }

    /// Lets one thing happen: a packet comes from a host, a frame ends or arrives. Returns the
    /// switch that has changed.
    pub fn step(&mut self, random: &mut Random) -> NodeId {
        self.now = self.now + Span::ns(200);
        let busy = self.busy();
        let node = if busy.is_empty() || random.below(5) < 2 {
            let node = random.below(self.switches.len() as u64);
            self.inject(node as usize, random)
        } else {
            let (node, port) = busy[random.below(busy.len() as u64) as usize];
            match random.below(2) {
                0 => self.finish(node, port),
                _ => self.deliver(node, port),
            }
        };
        self.run_timers();
        NodeId(node as u32)
    }

    /// Lets everything go on until nothing moves any more.
    pub fn settle(&mut self) {
        let mut idle = 0;
        while idle < 20 {
            let before = self.sent.clone();
            self.now = self.now + Span::us(40);
            self.run_timers();
            let mut busy = self.busy();
            while !busy.is_empty() {
                for (node, port) in busy {
                    self.finish(node, port);
                    self.deliver(node, port);
                }
                busy = self.busy();
            }
            idle = if self.sent == before { idle + 1 } else { 0 };
        }
    }

    pub fn sent_by(&self, queue: EgressQueue) -> u32 {
        self.sent[self.queue_index(queue)]
    }

    pub fn backlogged(&self) -> Vec<EgressQueue> {
        let has_backlog =
            |it: &EgressQueue| self.switches[it.node.index()].backlog(it.port, it.class) > 0;
        self.egress_queues().filter(has_backlog).collect()
    }

    /// The queues that send to `node` and that its shared memory has paused.
    pub fn paused_by(&self, node: NodeId) -> Vec<EgressQueue> {
        let memory = self.switches[node.index()].memory();
        let paused = memory.into_iter().flat_map(|memory| memory.paused());
        let queue = |(port, class)| {
            let (node, port) = self.far_end(node, port);
            EgressQueue { node, port, class }
        };
        paused.map(queue).collect()
    }

    fn ends(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let count = self.switches.len();
        (0..count).flat_map(|node| (0..PORTS).map(move |port| (node, port)))
    }

    /// The ports that send, or have frames on their wire.
    fn busy(&self) -> Vec<(usize, usize)> {
        let is_busy = |(node, port): &(usize, usize)| {
            let Wire { sending, frames } = &self.wires[*node][*port];
            sending.is_some() || !frames.is_empty()
        };
        self.ends().filter(is_busy).collect()
    }

    fn queue_index(&self, queue: EgressQueue) -> usize {
        self.port_index(queue.node, queue.port) * CLASSES + queue.class.index()
    }

    /// A packet of a host arrives at its switch, if there is room for it.
    fn inject(&mut self, node: usize, random: &mut Random) -> usize {
        let class = Class(random.below(CLASSES as u64) as u8);
        let mut leaving = class;
        // Most packets go round in one direction, so that there are cycles.
        let direction = PortId((random.below(4) == 0) as u16);
        let hops = (0..2 + random.below(4)).map(|_| {
            let turns = self.wanders && random.below(2) == 0;
            let direction = if turns { PortId(random.below(2) as u16) } else { direction };
            if self.changes_class && random.below(2) == 0 {
                leaving = Class(random.below(CLASSES as u64) as u8);
            }
            (direction, leaving)
        });
        let mut hops = Vec::from_iter(hops);
        hops.push((HOST_PORT, leaving));
        let size = Bytes::new(64 + random.below(1_437));
        let packet = self.ways.len() as u32;
        self.ways.push(Way { hops, passed: 0 });
        if self.switches[node].port(HOST_PORT).held(class) < Bytes::kb(8) {
            self.arrive(node, HOST_PORT, Frame::Data { packet, size, class });
        }
        node
    }

    /// The last bit of what a port sends leaves it.
    fn finish(&mut self, node: usize, port: usize) -> usize {
        if let Some(frame) = self.wires[node][port].sending.take() {
            self.wires[node][port].frames.push_back(frame);
            self.switches[node].handle_transmitted(self.now, PortId(port as u16));
            self.poll(node);
            while self.switches[node].poll_ended(self.now) {
                self.poll(node);
            }
        }
        node
    }

    /// The first frame of a wire arrives at its end, which is returned.
    fn deliver(&mut self, node: usize, port: usize) -> usize {
        let (far, far_port) = self.far_end(NodeId(node as u32), PortId(port as u16));
        if let Some(frame) = self.wires[node][port].frames.pop_front()
            && far.index() < self.switches.len()
        {
            self.arrive(far.index(), far_port, frame);
            return far.index();
        }
        node
    }

    fn arrive(&mut self, node: usize, port: PortId, frame: Frame) {
        let switch = &mut self.switches[node];
        match frame {
            Frame::Control(control) => {
                switch.handle_control(port, control);
                switch.handle_signal(self.now, port, control);
            }
            Frame::Data { packet, size, class } => {
                let way = &mut self.ways[packet as usize];
                let (egress, leaving) = way.hops[way.passed];
                way.passed += 1;
                let arrival = Arrival { packet, size, class, egress, leaving };
                switch.handle_arrival(self.now, port, arrival).expect("there is room for it");
            }
        }
        self.poll(node);
    }

    fn run_timers(&mut self) {
        for (node, port) in self.ends() {
            let port = PortId(port as u16);
            while self.switches[node].poll_timeout(port) <= self.now {
                self.switches[node].handle_timeout(self.now, port);
                self.poll(node);
            }
        }
    }

    /// Lets the ports of a switch send what they may.
    fn poll(&mut self, node: usize) {
        while let Some(port) = self.switches[node].poll_ready() {
            while let Some((control, _)) = self.switches[node].poll_out_of_band(self.now, port) {
                self.wires[node][port.index()].frames.push_back(Frame::Control(control));
            }
            let frame = match self.switches[node].poll_transmit(self.now, port) {
                None => continue,
                Some(Transmit::Control(control)) => Frame::Control(control),
                Some(Transmit::Data { packet, size, class, .. }) => {
                    let queue = EgressQueue { node: NodeId(node as u32), port, class };
                    let index = self.queue_index(queue);
                    self.sent[index] += 1;
                    Frame::Data { packet, size, class }
                }
            };
            self.wires[node][port.index()].sending = Some(frame);
        }
    }
}

impl Network for World {
    type Packet = u32;

    fn switch(&self, node: NodeId) -> Option<&Switch<u32>> {
        self.switches.get(node.index())
    }

    fn far_end(&self, node: NodeId, port: PortId) -> (NodeId, PortId) {
        let count = self.switches.len() as u32;
        match port {
            PortId(0) if node.0 < count => (NodeId((node.0 + 1) % count), PortId(1)),
            PortId(1) => (NodeId((node.0 + count - 1) % count), PortId(0)),
            HOST_PORT => (NodeId(node.0 + count), PortId(0)),
            _ => (NodeId(node.0 - count), HOST_PORT),
        }
    }

    fn port_count(&self) -> usize {
        self.switches.len() * (PORTS + 1)
    }

    fn port_index(&self, node: NodeId, port: PortId) -> usize {
        match node.index().checked_sub(self.switches.len()) {
            None => node.index() * PORTS + port.index(),
            Some(host) => self.switches.len() * PORTS + host,
        }
    }

    fn class_count(&self) -> usize {
        CLASSES
    }

    fn egress_queues(&self) -> impl Iterator<Item = EgressQueue> {
        self.ends().flat_map(|(node, port)| {
            (0..CLASSES).map(move |class| EgressQueue {
                node: NodeId(node as u32),
                port: PortId(port as u16),
                class: Class(class as u8),
            })
        })
    }

    fn in_flight(&self, queue: EgressQueue) -> Bytes {
        let wire = &self.wires[queue.node.index()][queue.port.index()];
        let size = |frame: &Frame| match frame {
            Frame::Data { size, class, .. } if *class == queue.class => *size,
            _ => Bytes::ZERO,
        };
        wire.sending.iter().chain(&wire.frames).map(size).sum()
    }

    fn flow(&self, _node: NodeId, packet: u32) -> Option<FlowId> {
        Some(FlowId(packet))
    }
}
