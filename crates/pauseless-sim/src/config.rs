//! The configuration of a run, validated by the code that builds it.

use pauseless_core::class_map::ClassMap;
use pauseless_core::congestion::CongestionControl;
use pauseless_core::flow_control::{Control, FlowControl};
use pauseless_core::host::Duty;
use pauseless_core::id::{Class, FlowId, GroupId, NodeId, PortId};
use pauseless_core::memory::{MemoryConfig, SharedConfig};
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::software::Polling;
use pauseless_core::switch::{Discipline, watchdog};
use pauseless_core::table::ForwardingTable;
use pauseless_core::transport::{Finish, Transport};
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::rng::hash_name;
use pauseless_fabric::topology::Topology;

use crate::balance::Rule;
use crate::change::Changes;
use crate::clock::Clocks;
use crate::event::Kind;

/// Everything that determines a run: the same value gives the same outcome on every machine.
#[derive(Clone, Debug)]
pub struct Config {
    /// The nodes and the links between them.
    pub topology: Topology,
    /// The forwarding table of all switches.
    pub table: ForwardingTable,
    /// The class in which packets leave each switch.
    pub classes: ClassMap,
    /// Where packets wait in every switch.
    pub discipline: Discipline,
    /// How the cores of software switches poll.
    pub polling: Polling,
    /// How every egress chooses between classes.
    pub scheduler: Scheduler,
    /// Flow control and buffer of every ingress.
    pub ingress: IngressTable,
    /// t_r, the time from the arrival of a control frame to its effect.
    pub processing: Span,
    /// The most that is added to `processing`, at random for each control frame.
    pub processing_jitter: Span,
    /// The most that a frame arrives later than its link's delay says, at random but in order:
    /// without it, networks of equal packets lock into phases that no real one has.
    pub wire_jitter: Span,
    /// The bytes that every frame occupies on the wire beyond its size: preamble and gap, or
    /// nothing.
    pub wire_overhead: Bytes,
    /// How wires and switches work in detail.
    pub hardware: Hardware,
    /// The congestion control of hosts and switches.
    pub congestion: Congestion,
    /// How flows that obey congestion control, or are acknowledged, are transported.
    pub transport: Transport,
    /// The share of frames that wires lose.
    pub wire_loss: WireLoss,
    /// How switches choose among several next hops, at most one rule for each switch and class; by
    /// the hash of the flow where there is none.
    pub load_balancing: Vec<LoadBalancing>,
    /// What happens to the network during the run.
    pub changes: Changes,
    /// All flows in canonical order; see [`canonical_order`].
    pub flows: Vec<Flow>,
    /// The flows that wait for others; sorted, and without cycles.
    pub follows: Vec<Follow>,
    /// The hosts that do not take every packet at once.
    pub receivers: Vec<Receiver>,
    /// How long to simulate.
    pub duration: Span,
    /// What ends the run before its duration is over.
    pub stop: Stop,
    /// The share of its fair rate below which a flow lags, and starves if that lasts, in parts per
    /// thousand.
    pub starvation_permille: u32,
    /// What is done about long pauses, and about deadlocks.
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

/// How wires and switches work in detail. The default is how real ones do, but for their clocks;
/// other frames and ties are for comparisons with other simulators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hardware {
    /// The length of a control frame of PFC, credits or GFC. A length of zero means that they do
    /// not occupy the wire, and wait for no frame that is being sent.
    pub control_frame: Bytes,
    /// Which of two simultaneous events comes first.
    pub ties: Ties,
    /// How far the line clocks of ports may be from their nominal rate.
    pub clocks: Clocks,
    /// Each frame occupies its egress up to this much longer than its size says, drawn anew for
    /// each. Two egresses that begin at one instant then do not end at one.
    pub line_jitter: Span,
}

/// Which of two simultaneous events comes first: a control frame that takes effect, or packets that
/// arrive. In a real network nothing is simultaneous, and either order is right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ties {
    /// Control frames take effect first.
    #[default]
    Control,
    /// Packets that arrive are handled first.
    Arrivals,
}

impl Ties {
    /// The kind of event with which a control frame takes effect.
    #[inline]
    pub(crate) fn signal(self) -> Kind {
        match self {
            Ties::Control => Kind::Signal,
            Ties::Arrivals => Kind::LateSignal,
        }
    }
}

impl Hardware {
    /// Whether control frames do not occupy wires.
    pub fn is_out_of_band(&self) -> bool {
        self.control_frame == Bytes::ZERO
    }
}

impl Default for Hardware {
    fn default() -> Hardware {
        Hardware {
            control_frame: Control::SIZE,
            ties: Ties::Control,
            clocks: Clocks::default(),
            line_jitter: Span::ZERO,
        }
    }
}

/// What ends a run before its duration is over, because its question is answered. By default
/// nothing does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stop {
    /// The run ends when a deadlock is found.
    pub deadlock: bool,
    /// The run ends when every flow has finished or was stopped, all of its packets have arrived or
    /// expired, and no link is held back any more. Feedback packets that are still on their way are
    /// not waited for.
    pub done: bool,
    /// The run ends when rates and queues have been constant for a while, and the scenario has no
    /// event left that would change them.
    pub steady: Option<Steady>,
}

impl Stop {
    /// Only a deadlock ends the run.
    pub const DEADLOCK: Stop = Stop { deadlock: true, done: false, steady: None };
}

/// The definition of a steady state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steady {
    /// The length of one window. Windows grow with the run, lest a slow change passes for none:
    /// those that are compared always cover the last quarter of it.
    pub window: Span,
    /// The number of windows that are compared with each other.
    pub windows: u32,
    /// The largest deviation of each window, and of the trend over all of them, from their mean, in
    /// parts per thousand of it.
    pub tolerance_permille: u32,
}

/// Flow control and buffer per (node, port, class).
#[derive(Clone, Debug)]
pub struct IngressTable {
    class_count: usize,
    starts: Vec<usize>,
    cells: Vec<Ingress>,
    /// The memory of each node; empty if no switch shares its memory between ports.
    memories: Vec<MemoryConfig>,
    /// The time for which senders to each cell rest after a frame; empty if none does.
    ticks: Vec<Span>,
}

/// One (ingress port, class).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ingress {
    /// The flow control that watches its counter.
    pub control: FlowControl,
    /// The size of the physical buffer.
    pub buffer: Bytes,
}

impl IngressTable {
    /// The same ingress for every port and class of `topology`.
    pub fn uniform(topology: &Topology, class_count: usize, ingress: Ingress) -> IngressTable {
        assert!((1..=Class::COUNT_MAX).contains(&class_count));
        let mut starts = Vec::with_capacity(topology.nodes().len());
        let mut total = 0;
        for node in 0..topology.nodes().len() {
            starts.push(total);
            total += topology.ports(NodeId(node as u32)).len() * class_count;
        }
        IngressTable {
            class_count,
            starts,
            cells: vec![ingress; total],
            memories: Vec::new(),
            ticks: Vec::new(),
        }
    }

    /// How many classes every port has.
    pub fn class_count(&self) -> usize {
        self.class_count
    }

    /// The ingress of (`node`, `port`, `class`).
    pub fn get(&self, node: NodeId, port: PortId, class: Class) -> &Ingress {
        &self.cells[self.index(node, port, class)]
    }

    /// The ingress of (`node`, `port`, `class`), to be changed.
    pub fn get_mut(&mut self, node: NodeId, port: PortId, class: Class) -> &mut Ingress {
        let index = self.index(node, port, class);
        &mut self.cells[index]
    }

    /// Whether the flow control of any ingress satisfies `is_wanted`.
    pub fn any(&self, is_wanted: impl Fn(&FlowControl) -> bool) -> bool {
        self.cells.iter().any(|cell| is_wanted(&cell.control))
    }

    /// Lets the sender to (`node`, `port`, `class`) rest for `tick` after every frame.
    pub fn pace(&mut self, node: NodeId, port: PortId, class: Class, tick: Span) {
        let index = self.index(node, port, class);
        self.ticks.resize(self.cells.len(), Span::ZERO);
        self.ticks[index] = tick;
    }

    /// The time for which the sender to (`node`, `port`, `class`) rests after every frame.
    pub fn tick(&self, node: NodeId, port: PortId, class: Class) -> Span {
        let index = self.index(node, port, class);
        self.ticks.get(index).copied().unwrap_or(Span::ZERO)
    }

    /// The name of the flow control of (`node`, `port`, `class`) in scenario files and reports.
    pub fn name(&self, node: NodeId, port: PortId, class: Class) -> &'static str {
        let is_paced = self.tick(node, port, class) > Span::ZERO;
        match self.get(node, port, class).control {
            FlowControl::Pfc(_) if is_paced => "paced-pfc",
            FlowControl::Cbfc(_) if is_paced => "paced-cbfc",
            control => control.name(),
        }
    }

    /// Lets the ports of a switch share its memory, which then commands their PFC.
    pub fn share(&mut self, node: NodeId, memory: SharedConfig) {
        self.memories.resize(self.starts.len(), MemoryConfig::Private);
        self.memories[node.index()] = MemoryConfig::Shared(memory);
    }

    /// How the memory of a switch is divided.
    pub fn memory(&self, node: NodeId) -> &MemoryConfig {
        self.memories.get(node.index()).unwrap_or(&MemoryConfig::Private)
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

/// The congestion control of hosts and switches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Congestion {
    /// The scheme of all flows that obey one.
    pub control: CongestionControl,
    /// Every how many packets the target of such a flow sends an acknowledgement; 0 for never.
    pub ack_every: u32,
}

impl Congestion {
    /// Without congestion control, only flow control holds senders back.
    pub const NONE: Congestion = Congestion { control: CongestionControl::None, ack_every: 0 };
}

/// The share of data and feedback frames that wires lose, at random and not for lack of buffer.
/// Control frames are never lost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WireLoss {
    /// The share on every link, in each direction.
    pub share: f64,
    /// The share on the way into these ports instead.
    pub ports: Vec<(NodeId, PortId, f64)>,
}

/// How a switch chooses among several next hops for the packets of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadBalancing {
    /// The switch that chooses.
    pub node: NodeId,
    /// The class in which the packets come.
    pub class: Class,
    /// The rule by which the switch chooses.
    pub rule: Rule,
    /// Shorter frames, such as acknowledgements, go by the hash of their flow.
    pub hash_below: Bytes,
}

/// A flow that starts after another one has finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Follow {
    /// The flow that has to finish first.
    pub first: FlowId,
    /// The flow that starts then, unless it waits for others too.
    pub then: FlowId,
    /// The least time in between.
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
    /// The group by which switches forward it.
    pub group: GroupId,
    /// The class in which it starts; [`Config::classes`] may change it on the way.
    pub class: Class,
    /// The label that its packets carry from source to target, such as a service level.
    pub label: u8,
    /// The number of switches that a packet may enter: it is dropped at the last of them;
    /// [`Flow::TTL_NONE`] for no limit.
    pub ttl: u16,
    /// Frame bytes of a full packet.
    pub packet: Bytes,
    /// The pace of the flow; that of a greedy flow is the rate of its link.
    pub pace: Rate,
    /// Frame bytes to send; [`Bytes::MAX`] for a flow without end.
    pub size: Bytes,
    /// When it starts, start offset included; later if it waits for others.
    pub start: Time,
    /// When it stops although it is not finished; [`Time::MAX`] for never.
    pub stop: Time,
    /// The ECMP hash, which chooses between equal paths.
    pub hash: u64,
    /// The on-off pattern of the application.
    pub duty: Duty,
    /// Whether it obeys [`Config::congestion`].
    pub reaction: Reaction,
}

/// The part of a flow in congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reaction {
    /// It sends at its pace whatever happens, and gets no feedback.
    None,
    /// It obeys the scheme.
    Controlled {
        /// The rate at which it starts.
        initial: Rate,
        /// The group by which feedback to its source is forwarded.
        group: GroupId,
        /// The class of that feedback.
        class: Class,
        /// The most frame bytes that may be unacknowledged, if there are windows at all;
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
    /// A run of 10 ms with one class and the same buffer and flow control everywhere: output-queued
    /// switches, no congestion control, nothing random but by seed 1, nothing recorded.
    pub fn new(
        topology: Topology,
        table: ForwardingTable,
        ingress: Ingress,
        mut flows: Vec<Flow>,
    ) -> Config {
        canonical_order(&mut flows);
        Config {
            ingress: IngressTable::uniform(&topology, 1, ingress),
            topology,
            table,
            classes: ClassMap::Same,
            discipline: Discipline::OutputQueued,
            polling: Polling::default(),
            scheduler: Scheduler::Strict,
            processing: Span::us(3),
            processing_jitter: Span::ZERO,
            wire_jitter: Span::ZERO,
            wire_overhead: Bytes::ZERO,
            hardware: Hardware::default(),
            congestion: Congestion::NONE,
            transport: Transport::default(),
            wire_loss: WireLoss::default(),
            load_balancing: Vec::new(),
            changes: Changes::default(),
            flows,
            follows: Vec::new(),
            receivers: Vec::new(),
            duration: Span::ms(10),
            stop: Stop::default(),
            starvation_permille: 100,
            mitigation: Mitigation::default(),
            is_tracing: false,
            probes: Probes::default(),
            replay: Replay::Off,
            seed: 1,
        }
    }

    /// Whether all packets with several next hops go by the hash of their flow.
    pub fn is_by_flow_hash(&self) -> bool {
        self.load_balancing.iter().all(|it| it.rule == Rule::FlowHash)
    }

    /// Whether all packets of a flow take the same path while no table changes: neither switches nor
    /// sources spread them.
    pub fn has_one_path_per_flow(&self) -> bool {
        self.is_by_flow_hash() && !self.transport.entropy.is_spraying()
    }

    /// The node at which `flow` finishes: its target, or the source that waits for the last
    /// acknowledgement.
    pub fn end_of(&self, flow: &Flow) -> NodeId {
        if self.transport.finish == Finish::Source && flow.reaction != Reaction::None {
            flow.source
        } else {
            flow.target
        }
    }
}

impl Flow {
    /// More than an 8-bit TTL can express.
    pub const TTL_NONE: u16 = 256;

    /// A flow without end at the rate of its link, with packets of 1500 B, that obeys nobody. It is
    /// called `SOURCE->TARGET`, which decides its hash, and starts at once.
    pub fn greedy(topology: &Topology, source: NodeId, target: NodeId, group: GroupId) -> Flow {
        let [from, to] = [source, target].map(|node| &topology.node(node).name);
        let name = format!("{from}->{to}");
        Flow {
            hash: hash_name(&name),
            name,
            source,
            target,
            group,
            class: Class(0),
            label: 0,
            ttl: Flow::TTL_NONE,
            packet: Bytes::new(1_500),
            pace: topology.port(source, PortId(0)).rate,
            size: Bytes::MAX,
            start: Time::ZERO,
            stop: Time::MAX,
            duty: Duty::ALWAYS,
            reaction: Reaction::None,
        }
    }

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
    /// The pace from each instant on, in order of time; `None` takes nothing.
    pub steps: Vec<(Time, Option<Rate>)>,
}

/// What is done about long pauses, and about deadlocks. By default nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mitigation {
    /// The watchdog of every egress queue of every switch that PFC can pause.
    pub watchdog: Watchdog,
    /// What happens when a deadlock is found.
    pub recovery: Recovery,
    /// The rate limits of egress queues, at most one for each.
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

/// What happens when a deadlock is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// The deadlock stays for the rest of the run.
    #[default]
    None,
    /// The first queue of its cycle is drained.
    Drain {
        /// How long after the detection of the deadlock.
        delay: Span,
    },
}

/// A rate limit of one class of an egress port.
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
    /// Whether every PAUSE and RESUME is recorded as it arrives; the caller collects them during
    /// the run.
    pub pauses: bool,
    /// When the lengths of the queues of switches are recorded.
    pub queues: Option<QueueWatch>,
}

/// The instants at which the bytes that wait for each egress of a switch are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueWatch {
    /// The first instant at which it is counted.
    pub first: Time,
    /// The last instant is the first one that is not before this.
    pub last: Time,
    /// The time from one instant to the next; not zero.
    pub interval: Span,
}

/// Whether the state of all ports is recorded over time. By default it is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replay {
    /// Nothing is recorded, and nothing is spent on it.
    #[default]
    Off,
    /// The state is recorded at regular instants, as close together as their number allows.
    On {
        /// The most instants that are kept beside the end of the run, at least 4.
        instants_max: u32,
    },
}
