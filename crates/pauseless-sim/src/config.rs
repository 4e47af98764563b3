//! What a run needs to know, validated by whoever builds it.

use pauseless_core::class_map::ClassMap;
use pauseless_core::congestion::CongestionControl;
use pauseless_core::flow_control::{Control, FlowControl};
use pauseless_core::host::Duty;
use pauseless_core::id::{Class, FlowId, GroupId, NodeId, PortId};
use pauseless_core::memory::{MemoryConfig, SharedConfig};
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::{Discipline, watchdog};
use pauseless_core::table::ForwardingTable;
use pauseless_core::transport::{Finish, Transport};
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::topology::Topology;

use crate::event::Kind;

/// A run, complete: the same value gives the same outcome on every machine.
#[derive(Clone, Debug)]
pub struct Config {
    /// The nodes and the links between them.
    pub topology: Topology,
    /// The table that switches forward with.
    pub table: ForwardingTable,
    /// In which class packets leave each switch.
    pub classes: ClassMap,
    /// How packets wait in every switch.
    pub discipline: Discipline,
    /// How every egress chooses between classes.
    pub scheduler: Scheduler,
    /// Flow control and buffer of every ingress.
    pub ingress: IngressTable,
    /// t_r, from the arrival of a control frame to its effect.
    pub processing: Span,
    /// Up to this much is added to `processing`, at random for each control frame.
    pub processing_jitter: Span,
    /// Every frame arrives up to this much later than its link's delay says, at random but in
    /// order: without it, networks of equal packets lock into phases that no real one has.
    pub wire_jitter: Span,
    /// Bytes that every frame takes on the wire beyond its size: preamble and gap, or nothing.
    pub wire_overhead: Bytes,
    /// How wires and switches work in detail.
    pub hardware: Hardware,
    /// What end hosts and switches do about congestion.
    pub congestion: Congestion,
    /// How flows that obey congestion control, or are acknowledged, are carried.
    pub transport: Transport,
    /// What wires lose by themselves.
    pub wire_loss: WireLoss,
    /// In canonical order; see [`canonical_order`].
    pub flows: Vec<Flow>,
    /// Flows that wait for others; sorted, and without circles.
    pub follows: Vec<Follow>,
    /// Hosts that do not take every packet at once.
    pub receivers: Vec<Receiver>,
    /// How long to simulate.
    pub duration: Span,
    /// What ends the run before that.
    pub stop: Stop,
    /// A flow below this share of its fair rate starves, in parts per thousand.
    pub starvation_permille: u32,
    /// What is done about pauses that last, and about deadlocks.
    pub mitigation: Mitigation,
    /// Whether to record where pauses come from.
    pub is_tracing: bool,
    /// What to record over time.
    pub probes: Probes,
    /// Whether to record the state of all ports, for a replay.
    pub replay: Replay,
    /// The seed of everything random.
    pub seed: u64,
}

/// How wires and switches work in detail. The default is how real ones do; the rest is for
/// comparisons with other simulators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hardware {
    /// Frame bytes of a control frame of PFC, credits or GFC. Those without a length take no place
    /// on the wire, and wait for no frame that is being sent.
    pub control_frame: Bytes,
    /// What comes first at one instant.
    pub ties: Ties,
}

/// What comes first at one instant: a control frame that takes effect, or packets that arrive. In a
/// real network nothing is simultaneous, and both are as good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ties {
    /// Control frames take effect first.
    #[default]
    Control,
    /// Packets that arrive are handled first.
    Arrivals,
}

impl Ties {
    /// What kind of event a control frame is that takes effect.
    #[inline]
    pub(crate) fn signal(self) -> Kind {
        match self {
            Ties::Control => Kind::Signal,
            Ties::Arrivals => Kind::LateSignal,
        }
    }
}

impl Hardware {
    /// Whether control frames take no place on wires.
    pub fn is_out_of_band(&self) -> bool {
        self.control_frame == Bytes::ZERO
    }
}

impl Default for Hardware {
    fn default() -> Hardware {
        Hardware { control_frame: Control::SIZE, ties: Ties::Control }
    }
}

/// What ends a run before its time: its question is answered. By default nothing does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stop {
    /// A deadlock was found.
    pub deadlock: bool,
    /// Every flow has finished or was stopped, all of its packets have arrived or expired, and no
    /// link is held back any more. Answers that are still under way are not waited for.
    pub done: bool,
    /// The rates and queues have been the same for a while, and the scenario has nothing in store
    /// that would change them.
    pub steady: Option<Steady>,
}

impl Stop {
    /// Only a deadlock does.
    pub const DEADLOCK: Stop = Stop { deadlock: true, done: false, steady: None };
}

/// What counts as a steady state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steady {
    /// How long one window is. Windows grow with the run, lest a slow change passes for none: those
    /// that are looked at always cover the last quarter of it.
    pub window: Span,
    /// So many windows in a row are held against each other.
    pub windows: u32,
    /// How far each of them, and the trend over all of them, may be from their mean, in parts per
    /// thousand of that.
    pub tolerance_permille: u32,
}

/// Flow control and buffer per (node, port, class).
#[derive(Clone, Debug)]
pub struct IngressTable {
    class_count: usize,
    starts: Vec<usize>,
    cells: Vec<Ingress>,
    /// One element per node; empty if no switch shares its memory between ports.
    memories: Vec<MemoryConfig>,
}

/// One (ingress port, class).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ingress {
    /// What watches its counter.
    pub control: FlowControl,
    /// The size of the physical buffer.
    pub buffer: Bytes,
}

impl IngressTable {
    /// The same for every port and class of `topology`.
    pub fn uniform(topology: &Topology, class_count: usize, ingress: Ingress) -> IngressTable {
        assert!((1..=Class::COUNT_MAX).contains(&class_count));
        let mut starts = Vec::with_capacity(topology.nodes().len());
        let mut total = 0;
        for node in 0..topology.nodes().len() {
            starts.push(total);
            total += topology.ports(NodeId(node as u32)).len() * class_count;
        }
        IngressTable { class_count, starts, cells: vec![ingress; total], memories: Vec::new() }
    }

    /// How many classes every port has.
    pub fn class_count(&self) -> usize {
        self.class_count
    }

    /// The cell of (`node`, `port`, `class`).
    pub fn get(&self, node: NodeId, port: PortId, class: Class) -> &Ingress {
        &self.cells[self.index(node, port, class)]
    }

    /// The cell of (`node`, `port`, `class`), to be changed.
    pub fn get_mut(&mut self, node: NodeId, port: PortId, class: Class) -> &mut Ingress {
        let index = self.index(node, port, class);
        &mut self.cells[index]
    }

    /// Whether the flow control of any cell is one that `is_wanted`.
    pub fn any(&self, is_wanted: impl Fn(&FlowControl) -> bool) -> bool {
        self.cells.iter().any(|cell| is_wanted(&cell.control))
    }

    /// Makes the ports of a switch share its memory, which then commands their PFC.
    pub fn share(&mut self, node: NodeId, memory: SharedConfig) {
        self.memories.resize(self.starts.len(), MemoryConfig::Private);
        self.memories[node.index()] = MemoryConfig::Shared(memory);
    }

    /// How the memory of a switch is divided.
    pub fn memory(&self, node: NodeId) -> &MemoryConfig {
        let memory = self.memories.get(node.index());
        memory.unwrap_or(&MemoryConfig::Private)
    }

    /// Whether any switch shares its memory between ports.
    #[inline]
    pub fn is_sharing(&self) -> bool {
        !self.memories.is_empty()
    }

    fn index(&self, node: NodeId, port: PortId, class: Class) -> usize {
        self.starts[node.index()] + port.index() * self.class_count + class.index()
    }
}

/// What end hosts and switches do about congestion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Congestion {
    /// The scheme of all flows that obey one.
    pub control: CongestionControl,
    /// The target of such a flow acknowledges every so many packets; 0 for never.
    pub ack_every: u32,
}

impl Congestion {
    /// Only flow control holds anybody back.
    pub const NONE: Congestion = Congestion { control: CongestionControl::None, ack_every: 0 };
}

/// Which part of the frames with data and answers wires lose by themselves, at random: no buffer
/// was too small. Control frames are never lost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WireLoss {
    /// On every link, in each direction.
    pub share: f64,
    /// On the way into this port instead.
    pub ports: Vec<(NodeId, PortId, f64)>,
}

/// One flow starts after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Follow {
    /// The one that has to be finished first.
    pub first: FlowId,
    /// The one that starts then, if it waits for no other one.
    pub then: FlowId,
    /// How long after, at the least.
    pub delay: Span,
}

/// A flow from one host to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flow {
    /// Unique; decides the canonical order, the start offset and the ECMP hash.
    pub name: String,
    /// The host that sends it.
    pub source: NodeId,
    /// The host that receives it.
    pub target: NodeId,
    /// How it is forwarded.
    pub group: GroupId,
    /// The class that it travels in, as far as [`Config::classes`] lets it stay there.
    pub class: Class,
    /// What its packets carry all the way, such as a service level, for tables of classes.
    pub label: u8,
    /// A packet is dropped at the switch that it enters as its so many-th; [`Flow::TTL_NONE`] for
    /// one that lives for ever.
    pub ttl: u16,
    /// Frame bytes of a full packet.
    pub packet: Bytes,
    /// The pace; a greedy flow has the rate of its link.
    pub pace: Rate,
    /// Frame bytes to send; [`Bytes::MAX`] for a flow without end.
    pub size: Bytes,
    /// When it starts, start offset included; no earlier if it waits for others.
    pub start: Time,
    /// When it stops although it is not finished; [`Time::MAX`] for never.
    pub stop: Time,
    /// Chooses between equal paths.
    pub hash: u64,
    /// When it is silent by itself.
    pub duty: Duty,
    /// Whether it obeys [`Config::congestion`].
    pub reaction: Reaction,
}

/// A flow's part in congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reaction {
    /// It sends at its pace whatever happens, and nobody answers.
    None,
    /// It obeys the scheme.
    Controlled {
        /// The rate at which it starts.
        initial: Rate,
        /// How what is said to its source is forwarded.
        group: GroupId,
        /// The class that this travels in.
        class: Class,
        /// About how many frame bytes may be unacknowledged, if there are windows at all;
        /// [`Bytes::MAX`] for any number.
        window: Bytes,
        /// Its round-trip time without queues.
        round_trip: Span,
    },
}

/// Sorts flows by name, so that the order in a file cannot matter, and checks that names differ.
pub fn canonical_order(flows: &mut [Flow]) {
    flows.sort();
    let twice = flows.windows(2).find(|pair| pair[0].name == pair[1].name);
    assert!(twice.is_none(), "two flows of one name: {twice:?}");
}

impl Config {
    /// Where `flow` counts as finished: at its target, or at the source that is told.
    pub fn end_of(&self, flow: &Flow) -> NodeId {
        if self.transport.finish == Finish::Source && flow.reaction != Reaction::None {
            flow.source
        } else {
            flow.target
        }
    }
}

impl Flow {
    /// More than a TTL of 8 bits can say.
    pub const TTL_NONE: u16 = 256;

    /// Whether it ends by itself.
    pub fn is_finite(&self) -> bool {
        self.size != Bytes::MAX
    }
}

/// A host that takes packets out of its ingress buffer at a given pace.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// The host that it is about.
    pub host: NodeId,
    /// The pace from an instant on, in order of time; `None` stands still.
    pub steps: Vec<(Time, Option<Rate>)>,
}

/// What is done about pauses that last, and about deadlocks. By default nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mitigation {
    /// At every egress queue of every switch that PFC can pause.
    pub watchdog: Watchdog,
    /// What happens when a deadlock was found.
    pub recovery: Recovery,
    /// Ports that send no faster than they are told, at most one for each queue.
    pub limits: Vec<RateLimit>,
}

/// Whether queues are watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Watchdog {
    /// No queue is watched.
    #[default]
    Off,
    /// Every egress queue of every switch is watched with these parameters.
    On(watchdog::Config),
}

/// What happens when a deadlock was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// The deadlock stays for the rest of the run.
    #[default]
    None,
    /// The first queue of its cycle is dropped.
    Drain {
        /// How long after the detection of the deadlock.
        delay: Span,
    },
}

/// What leaves a port in one class is shaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RateLimit {
    /// A host or a switch.
    pub node: NodeId,
    /// The egress port that is shaped.
    pub port: PortId,
    /// The class that is shaped.
    pub class: Class,
    /// The rate, at most that of the link.
    pub rate: Rate,
}

/// What to record over time.
#[derive(Clone, Debug, Default)]
pub struct Probes {
    /// The time between two samples; zero records nothing.
    pub resolution: Span,
    /// Ports whose ingress and egress are recorded.
    pub ports: Vec<(NodeId, PortId)>,
    /// Flows whose goodput is recorded.
    pub flows: Vec<FlowId>,
    /// Whether every PAUSE and RESUME is written down as it arrives; whoever runs it takes them away.
    pub pauses: bool,
    /// When to look how long the queues of switches are.
    pub queues: Option<QueueWatch>,
}

/// Instants at which it is counted how many bytes wait for each egress of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueWatch {
    /// The first instant at which it is counted.
    pub first: Time,
    /// The last is the first one that is not before this.
    pub last: Time,
    /// From one to the next; not zero.
    pub interval: Span,
}

/// Whether the state of all ports is recorded over time. By default it is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replay {
    /// Nothing is recorded, and nothing is spent on it.
    #[default]
    Off,
    /// At regular instants, as close together as their number allows.
    On {
        /// At most so many are kept beside the end of the run, but no less than 4.
        instants_max: u32,
    },
}
