//! The outcome of a run: findings, measurements and recordings.

pub use pauseless_core::deadlock::{Deadlock, EgressQueue};
use pauseless_core::id::{Class, FlowId, NodeId, PortId};
use pauseless_core::memory::MemoryUse;
use pauseless_core::port::FullPool;
use pauseless_core::unit::{Bytes, Span, Time};

use crate::reorder::Counts;

/// Findings, measurements and recordings of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// When the run ended.
    pub end: Time,
    /// Why the run ended.
    pub ended: Ended,
    /// How many events were handled.
    pub events: u64,
    /// Data frames received by any node.
    pub packet_hops: u64,
    /// The first deadlock, if one was found.
    pub deadlock: Option<Deadlock>,
    /// The flows that still move, or could, but far below their fair rate.
    pub starved: Vec<Starved>,
    /// The flow that must be watched longest to tell whether it starves; `None` if all is known.
    pub undecided: Option<Undecided>,
    /// The first packet that did not fit, if there was one.
    pub loss: Option<Loss>,
    /// The number of lost packets.
    pub lost_packets: u64,
    /// The frame bytes of lost packets.
    pub lost_bytes: Bytes,
    /// The number of packets that were dropped on purpose: their TTL had run out, or there was no
    /// class for their next hop. They do not count as lost.
    pub expired_packets: u64,
    /// The frame bytes of those packets.
    pub expired_bytes: Bytes,
    /// The lost packets by cause.
    pub losses: Losses,
    /// The number of control frames that wires lost.
    pub lost_control_frames: u64,
    /// Packets that targets discarded because they were duplicates or arrived out of order; the
    /// source has sent them again.
    pub refused: Lost,
    /// All deadlocks, the first included; at most one unless they are broken.
    pub episodes: Vec<Episode>,
    /// The storms that watchdogs have detected, in order of time.
    pub trips: Vec<Trip>,
    /// The number of PFC frames that stopped a sender.
    pub pause_frames: u64,
    /// The number of such frames per class.
    pub pause_frames_by_class: [u64; Class::COUNT_MAX],
    /// How often a GFC sender was held, which its mapping is made to avoid.
    pub gfc_holds: u64,
    /// The number of control frames of any kind.
    pub feedback_frames: u64,
    /// The largest share of a link's capacity that control frames took over the whole run.
    pub feedback_share_max: f64,
    /// Bytes in the buffers of all switches at the end.
    pub held_at_end: Bytes,
    /// When the last data frame was received by any node.
    pub last_arrival: Time,
    /// The outcome of each flow, in canonical order.
    pub flows: Vec<FlowOutcome>,
    /// The outcome of each (ingress, class) of a switch that ever held anything.
    pub queues: Vec<QueueOutcome>,
    /// The outcome of each switch whose ports share its memory.
    pub memories: Vec<MemoryOutcome>,
    /// The outcome of each port of every node, in their order.
    pub ports: Vec<PortOutcome>,
    /// How far and how long congestion spread from link to link.
    pub tree: CongestionTree,
    /// The number of feedback packets: acknowledgements and notifications.
    pub answers: u64,
    /// The number of acknowledgements among them.
    pub acknowledgements: u64,
    /// The bytes of feedback packets, each counted once.
    pub answer_bytes: Bytes,
    /// The number of data packets that were marked, each counted once.
    pub marked_packets: u64,
    /// How far packets overtook each other, where they may take several paths.
    pub reordering: Option<Reordering>,
    /// Where pauses came from, if that was recorded.
    pub provenance: Option<Provenance>,
    /// What the probes recorded.
    pub series: Recording,
    /// The state of all ports over time, if that was recorded.
    pub replay: Option<Replay>,
}

impl Outcome {
    /// Whether a deadlock was found that was never broken.
    pub fn is_stuck(&self) -> bool {
        self.episodes.iter().any(|episode| episode.broken.is_none())
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Its duration was over.
    Duration,
    /// A deadlock was found, and the run was to end then.
    Deadlock,
    /// All flows were done, and the run was to end then.
    Done,
    /// A steady state was reached, and the run was to end then.
    Steady,
    /// The caller has interrupted it.
    Interrupted,
}

impl Ended {
    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Ended::Duration => "duration",
            Ended::Deadlock => "deadlock",
            Ended::Done => "done",
            Ended::Steady => "steady",
            Ended::Interrupted => "interrupted",
        }
    }
}

/// A flow that starved: see [`crate::starvation`].
#[derive(Clone, Debug, PartialEq)]
pub struct Starved {
    /// The flow that starved.
    pub flow: FlowId,
    /// What it got from when it fell behind until it was furthest behind, in bit/s.
    pub rate_bps: f64,
    /// Its max-min fair rate in that time, in bit/s.
    pub fair_bps: f64,
    /// When it fell behind for the first time.
    pub since: Time,
    /// When that was more than queues and congestion control explain.
    pub found: Time,
    /// When it had last made up for it; `None` if it starved until its end or that of the run.
    pub until: Option<Time>,
    /// How often it starved.
    pub times: u32,
    /// The link that would be full at fair rates; `None` if its own demand is all that limits it.
    pub bottleneck: Option<Bottleneck>,
    /// The other flows that got most of that link in the meantime, the largest first.
    pub rivals: Vec<Rival>,
}

/// The link that limits the fair rate of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bottleneck {
    /// The node that sends to the link.
    pub node: NodeId,
    /// The egress port of the link.
    pub port: PortId,
    /// The share of the link that delivered packets took.
    pub used: f64,
}

/// A flow that has the share of another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rival {
    /// The flow that has it.
    pub flow: FlowId,
    /// What it got, in bit/s.
    pub rate_bps: f64,
}

/// A flow of which the run was too short to tell whether it starves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undecided {
    /// The flow that lags.
    pub flow: FlowId,
    /// Since when it does.
    pub since: Time,
    /// The earliest end of the run at which it could be called starved.
    pub needs: Time,
}

/// A packet that did not fit where it arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// When the packet arrived.
    pub time: Time,
    /// The node that it arrived at.
    pub node: NodeId,
    /// The port that it arrived at.
    pub port: PortId,
    /// The class that it arrived in.
    pub class: Class,
    /// The flow that it belonged to.
    pub flow: FlowId,
    /// The bytes that were held already.
    pub held: Bytes,
    /// The size of the buffer or pool that was full.
    pub buffer: Bytes,
    /// The part of the memory that was full.
    pub pool: FullPool,
}

/// The lost packets by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Packets that did not fit where they arrived.
    pub overrun: Lost,
    /// Packets that watchdogs dropped.
    pub watchdog: Lost,
    /// Packets that were dropped to break a deadlock.
    pub drain: Lost,
    /// Packets that wires lost.
    pub wire: Lost,
    /// Packets that were lost with a link or switch that failed: on its wires, waiting for it, or sent
    /// its way afterwards.
    pub event: Lost,
    /// Packets that came to a switch which knew no way for them any more.
    pub no_route: Lost,
}

/// A number of packets and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// The number of packets.
    pub packets: u64,
    /// The frame bytes of those packets.
    pub bytes: Bytes,
}

impl Losses {
    /// The packets that switches and hosts lost, for whatever cause, without those lost on wires or to
    /// events: no flow control is to blame for these.
    pub fn total(&self) -> Lost {
        [self.overrun, self.watchdog, self.drain].into_iter().fold(Lost::default(), |sum, cause| {
            Lost { packets: sum.packets + cause.packets, bytes: sum.bytes + cause.bytes }
        })
    }
}

/// A deadlock and how it ended, if it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Episode {
    /// When it was found.
    pub found: Time,
    /// Its cycle: each queue waits for the next, the last for the first.
    pub cycle: Vec<EgressQueue>,
    /// When a queue of the cycle moved again, or was dropped, or was no longer stuck after an event.
    pub broken: Option<Time>,
    /// The number of the last event before it was found, see [`crate::change::Change::event`].
    pub after_event: Option<u32>,
    /// The number of the event that has broken it, if it was one.
    pub broken_by_event: Option<u32>,
}

/// A storm of PAUSE that a watchdog has detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trip {
    /// The queue that was paused for too long.
    pub queue: EgressQueue,
    /// When the watchdog tripped.
    pub time: Time,
    /// When the queue was restored, if it was.
    pub restored: Option<Time>,
    /// The packets dropped in between.
    pub dropped: Lost,
}

/// The outcome of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowOutcome {
    /// Frame bytes received by the target.
    pub delivered: Bytes,
    /// Frame bytes dropped on purpose, see [`Outcome::expired_packets`].
    pub expired: Bytes,
    /// When it started, if it did.
    pub start: Option<Time>,
    /// When the target had received everything.
    pub finish: Option<Time>,
    /// How long it would take alone in an empty network; [`Span::ZERO`] for a flow without end.
    pub ideal: Span,
    /// Mean goodput from the start to the finish, the stop or the end, in bit/s.
    pub goodput_bps: f64,
    /// Mean goodput over the last quarter of that time, in bit/s.
    pub goodput_late_bps: f64,
    /// How far its packets overtook each other, where they may take several paths.
    pub reordering: Option<FlowReordering>,
}

/// How far the packets of a flow overtook each other; see [`crate::reorder`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowReordering {
    /// The data packets that have arrived, whatever the target did with them.
    pub packets: u64,
    /// How many of them arrived after packets that were sent later.
    pub late_packets: u64,
    /// The largest extent of a packet: how many packets that were sent later arrived before it.
    pub extent_max: u64,
    /// The most bytes that had arrived behind a missing packet: what a target must hold to hand on all
    /// packets in order.
    pub depth_max: Bytes,
    /// The longest time between the arrival of a packet and that of the first one that was sent later
    /// and arrived before it.
    pub late_max: Span,
}

/// How far the packets of all flows overtook each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reordering {
    /// The data packets that have arrived, whatever their targets did with them.
    pub packets: u64,
    /// How many of them arrived after packets of their flow that were sent later.
    pub late_packets: u64,
    /// The extents of these packets.
    pub extents: Counts,
    /// The late times of these packets in picoseconds, rounded up by less than a percent.
    pub late: Counts,
    /// The largest depth of a flow.
    pub depth_max: Bytes,
    /// The most bytes that any host held back until earlier packets arrived.
    pub held_max: Bytes,
}

/// The outcome of an (ingress, class) of a switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueOutcome {
    /// The switch that the queue is in.
    pub node: NodeId,
    /// The ingress port of the queue.
    pub port: PortId,
    /// The class of the queue.
    pub class: Class,
    /// The most bytes that it held.
    pub max: Bytes,
    /// The bytes that it held at the end.
    pub last: Bytes,
    /// The mean over all samples, where the port was probed.
    pub mean: Option<f64>,
}

/// The outcome of the shared memory of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryOutcome {
    /// The switch whose memory it is.
    pub node: NodeId,
    /// The size of each part.
    pub size: MemoryUse,
    /// The most bytes in use of each part.
    pub max: MemoryUse,
    /// The bytes in use at the end.
    pub last: MemoryUse,
}

/// The outcome of a port: what has left it, and how its far end held it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortOutcome {
    /// The node that the port belongs to.
    pub node: NodeId,
    /// The port of that node.
    pub port: PortId,
    /// The bytes of data and feedback that it sent, without control frames.
    pub sent: Bytes,
    /// The frames for which load balancing chose it among several next hops; those that went by the
    /// hash of their flow are not counted.
    pub balanced: u64,
    /// How often the far end stopped it when it was not stopped already, over all classes.
    pub pauses: u64,
    /// How long it was stopped, or slowed down by GFC, in any class.
    pub held: Span,
    /// When it was held for the first time.
    pub held_first: Option<Time>,
    /// When it was held for the last time.
    pub held_last: Option<Time>,
}

/// The congestion tree: links that were stopped, or slowed down by GFC, at the same time or within
/// a round trip.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CongestionTree {
    /// How long any link was in the tree.
    pub duration: Span,
    /// The most links in the tree at a time.
    pub links_max: u32,
    /// The mean number of links while there were any.
    pub links_mean: f64,
    /// The number of hosts that the tree ever reached.
    pub hosts: u32,
}

/// Where the pauses of PFC came from. A pause lasts from the XOFF of an ingress to its XON; frames
/// that only refresh it are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The number of pauses.
    pub pauses: u64,
    /// The first pauses, in order of time.
    pub records: Vec<Pause>,
    /// A tree for each place at which pauses began, those with the most links first.
    pub trees: Vec<PauseTree>,
    /// The number of further trees.
    pub trees_left_out: u64,
    /// How often a pause closed a cycle of pauses, each caused by the next.
    pub cycle_count: u64,
    /// The first of these cycles.
    pub cycles: Vec<PauseCycle>,
}

/// A pause: an ingress stopped its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// The egress queue that was stopped.
    pub stopped: EgressQueue,
    /// When the frame was sent.
    pub time: Time,
    /// When the sender was resumed, if it was.
    pub end: Option<Time>,
    /// Why the frame was sent.
    pub cause: PauseCause,
}

/// Why an ingress had to stop its sender: the egress that held most of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseCause {
    /// That egress was stopped itself, by the pause of this number among the records, or still
    /// sends the backlog of that pause.
    Pause(u32),
    /// That egress was not stopped: more arrived than it could send.
    Egress(EgressQueue),
    /// The ingress is that of a host, which takes packets too slowly.
    Host(NodeId),
}

/// All pauses that go back to one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PauseTree {
    /// The first port to fill: an egress for which more arrived than it could send. For a host, its
    /// ingress.
    pub root: EgressQueue,
    /// When it caused the first pause.
    pub first: Time,
    /// When the last pause was over, or the run ended.
    pub last: Time,
    /// The number of pauses that it caused.
    pub pauses: u64,
    /// The longest chain of pauses, each caused by the one before.
    pub depth: u32,
    /// The links that were stopped, in the order in which they were stopped first.
    pub links: Vec<PausedLink>,
    /// The flows that waited for the root.
    pub culprits: Vec<FlowId>,
    /// The flows that waited at a stopped link although they do not pass the root.
    pub victims: Vec<FlowId>,
}

/// A link of a pause tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PausedLink {
    /// The egress queue that was stopped.
    pub stopped: EgressQueue,
    /// The index in the tree of the link that had caused its first pause; none where the root
    /// itself had.
    pub because: Option<u32>,
    /// The number of links from here to the root, at the first pause.
    pub depth: u32,
    /// When it was stopped first.
    pub first: Time,
    /// How often it was stopped.
    pub pauses: u64,
    /// How long it was stopped in all.
    pub span: Span,
}

/// A cycle of pauses that wait for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PauseCycle {
    /// When the last of the pauses was sent.
    pub time: Time,
    /// The queues that the pauses stop: each waits for the next, the last for the first.
    pub stopped: Vec<EgressQueue>,
}

/// The recordings of all probes, one element per sample in each vector.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// The instants of the samples.
    pub times: Vec<Time>,
    /// The recording of each probed port.
    pub ports: Vec<PortSeries>,
    /// The recording of each probed flow.
    pub flows: Vec<FlowSeries>,
}

/// What was recorded at a probed port.
#[derive(Clone, Debug, PartialEq)]
pub struct PortSeries {
    /// The node that the port belongs to.
    pub node: NodeId,
    /// The port of that node.
    pub port: PortId,
    /// The bytes on the ingress counters of all classes.
    pub queue: Vec<u64>,
    /// The bytes of all classes that wait to leave here; 0 for a host.
    pub egress: Vec<u64>,
    /// The mean rate at which data arrived since the last sample, in bit/s.
    pub input_bps: Vec<f64>,
    /// The mean rate at which data left since the last sample, in bit/s; a frame counts when it
    /// starts.
    pub sending_bps: Vec<f64>,
    /// The rate that the far end allows the egress, the least over all classes; 0 when paused.
    pub allowed_bps: Vec<f64>,
    /// The mean rate of the control frames that it sent since the last sample, in bit/s: the cost
    /// of flow control on this direction of the link.
    pub feedback_bps: Vec<f64>,
}

/// What was recorded of a probed flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSeries {
    /// The flow that was probed.
    pub flow: FlowId,
    /// The mean goodput since the last sample, in bit/s.
    pub goodput_bps: Vec<f64>,
    /// The rate that congestion control allows, in bit/s; 0 before its start and after its end.
    pub allowed_bps: Vec<f64>,
}

/// The state of every port over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// The instants: from zero on in equal steps, and the end of the run.
    pub times: Vec<Time>,
    /// The states of each port of every node, in the order of [`Outcome::ports`].
    pub ports: Vec<PortStates>,
}

/// The state of a port, one element per instant in each vector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortStates {
    /// The bytes on the ingress counter of its fullest class.
    pub held: Vec<u32>,
    /// The share of the line rate that the far end allows, in thousandths: 0 when it is stopped in
    /// any class, 1,000 when nothing holds it back.
    pub allowed: Vec<u16>,
    /// The bytes of data and feedback that it has sent so far.
    pub sent: Vec<u64>,
}
