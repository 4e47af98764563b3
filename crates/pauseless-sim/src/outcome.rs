//! What a run has found.

pub use pauseless_core::deadlock::{Deadlock, EgressQueue};
use pauseless_core::id::{Class, FlowId, NodeId, PortId};
use pauseless_core::memory::MemoryUse;
use pauseless_core::port::FullPool;
use pauseless_core::unit::{Bytes, Span, Time};

/// Findings, measurements and recordings of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// When the run ended.
    pub end: Time,
    /// Why it ended then.
    pub ended: Ended,
    /// Events handled.
    pub events: u64,
    /// Data frames received by any node.
    pub packet_hops: u64,
    /// The first deadlock, if one was found.
    pub deadlock: Option<Deadlock>,
    /// Flows that still move, or might, but far below their fair rate.
    pub starved: Vec<Starved>,
    /// The first packet that did not fit, if there was one.
    pub loss: Option<Loss>,
    /// Packets lost in all.
    pub lost_packets: u64,
    /// Bytes lost in all.
    pub lost_bytes: Bytes,
    /// Packets that were dropped on aim: their TTL had run out, or there was no class for their
    /// next hop. They are no losses.
    pub expired_packets: u64,
    /// Their bytes.
    pub expired_bytes: Bytes,
    /// The same by cause.
    pub losses: Losses,
    /// Packets that targets threw away because they came twice or too early; others were sent for
    /// them.
    pub refused: Lost,
    /// All deadlocks, the first included; no more than one unless somebody breaks them.
    pub episodes: Vec<Episode>,
    /// What the watchdogs have seen, in order of time.
    pub trips: Vec<Trip>,
    /// PFC frames that told a sender to stop.
    pub pause_frames: u64,
    /// The same for each class.
    pub pause_frames_by_class: [u64; Class::COUNT_MAX],
    /// How often a GFC sender was held, which its mapping is made to avoid.
    pub gfc_holds: u64,
    /// Control frames of any kind.
    pub feedback_frames: u64,
    /// The largest share of a link's capacity that control frames took over the whole run.
    pub feedback_share_max: f64,
    /// Bytes in the buffers of all switches at the end.
    pub held_at_end: Bytes,
    /// When the last data frame was received by any node.
    pub last_arrival: Time,
    /// One element per flow, in canonical order.
    pub flows: Vec<FlowOutcome>,
    /// One element per switch ingress and class that ever held anything.
    pub queues: Vec<QueueOutcome>,
    /// One element per switch whose ports share its memory.
    pub memories: Vec<MemoryOutcome>,
    /// One element per port of every node, in their order.
    pub ports: Vec<PortOutcome>,
    /// How far and how long congestion spread from link to link.
    pub tree: CongestionTree,
    /// Packets that were sent to tell sources something: acknowledgements and notifications.
    pub answers: u64,
    /// How many of them are acknowledgements.
    pub acknowledgements: u64,
    /// Their bytes, each counted once.
    pub answer_bytes: Bytes,
    /// Data packets that were marked on their way, each counted once.
    pub marked_packets: u64,
    /// Where pauses came from, if that was recorded.
    pub provenance: Option<Provenance>,
    /// What the probes recorded.
    pub series: Recording,
    /// The state of all ports over time, if that was recorded.
    pub replay: Option<Replay>,
}

impl Outcome {
    /// Whether a deadlock was found that nobody has broken.
    pub fn is_stuck(&self) -> bool {
        self.episodes.iter().any(|episode| episode.broken.is_none())
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Its time was over.
    Duration,
    /// A deadlock was found, and that was the question.
    Deadlock,
    /// All flows were done.
    Done,
    /// A steady state was reached.
    Steady,
    /// Whoever drove it broke it off.
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

/// A flow that starves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Starved {
    /// Which one.
    pub flow: FlowId,
    /// Its goodput since then, in bit/s.
    pub rate_bps: f64,
    /// Its max-min fair rate, in bit/s.
    pub fair_bps: f64,
    /// Since when it has been below the share.
    pub since: Time,
}

/// A packet that did not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// When.
    pub time: Time,
    /// Where it arrived.
    pub node: NodeId,
    /// At which port.
    pub port: PortId,
    /// In which class.
    pub class: Class,
    /// Whose it was.
    pub flow: FlowId,
    /// What the buffer held already.
    pub held: Bytes,
    /// The buffer, or the size of what was full.
    pub buffer: Bytes,
    /// What was full.
    pub pool: FullPool,
}

/// What was lost, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// What did not fit where it arrived.
    pub overrun: Lost,
    /// What watchdogs dropped.
    pub watchdog: Lost,
    /// What was dropped to break a deadlock.
    pub drain: Lost,
    /// What wires lost by themselves.
    pub wire: Lost,
}

/// Packets and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// How many.
    pub packets: u64,
    /// Frame bytes.
    pub bytes: Bytes,
}

impl Losses {
    /// What switches and hosts lost, for whatever cause; wires are not their business.
    pub fn total(&self) -> Lost {
        let causes = [self.overrun, self.watchdog, self.drain];
        causes.into_iter().fold(Lost::default(), |sum, cause| Lost {
            packets: sum.packets + cause.packets,
            bytes: sum.bytes + cause.bytes,
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
    /// When a queue of the cycle moved again, or was dropped.
    pub broken: Option<Time>,
}

/// A storm that a watchdog has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trip {
    /// The queue that was paused for too long.
    pub queue: EgressQueue,
    /// When its detection time was over.
    pub time: Time,
    /// When it was restored, if it was.
    pub restored: Option<Time>,
    /// What was dropped in between.
    pub dropped: Lost,
}

/// What became of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowOutcome {
    /// Frame bytes received by the target.
    pub delivered: Bytes,
    /// What was dropped on aim, see [`Outcome::expired_packets`].
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
}

/// What an ingress queue has seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueOutcome {
    /// The switch.
    pub node: NodeId,
    /// Its ingress port.
    pub port: PortId,
    /// The class.
    pub class: Class,
    /// The most that it held.
    pub max: Bytes,
    /// What it held at the end.
    pub last: Bytes,
    /// The mean over all samples, where the port was probed.
    pub mean: Option<f64>,
}

/// What the shared memory of a switch has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryOutcome {
    /// The switch.
    pub node: NodeId,
    /// How large everything is.
    pub size: MemoryUse,
    /// The most that was in use of each part.
    pub max: MemoryUse,
    /// What was in use at the end.
    pub last: MemoryUse,
}

/// What has left a port, and how its far end held it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortOutcome {
    /// The node.
    pub node: NodeId,
    /// Its port.
    pub port: PortId,
    /// Bytes of data and answers that it sent; control frames are not counted.
    pub sent: Bytes,
    /// How often the far end told it to stop although it had not been stopped, over all classes.
    pub pauses: u64,
    /// How long it was stopped, or slowed down by GFC, in any class.
    pub held: Span,
    /// When that was for the first time.
    pub held_first: Option<Time>,
    /// When that was for the last time.
    pub held_last: Option<Time>,
}

/// The links that were stopped, or slowed down by GFC, at the same time or within a round trip.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CongestionTree {
    /// For how long any link was in it.
    pub duration: Span,
    /// The most links at a time.
    pub links_max: u32,
    /// The mean number of links while there was any.
    pub links_mean: f64,
    /// How many hosts were reached at any time.
    pub hosts: u32,
}

/// Where the pauses of PFC came from. A pause lasts from the XOFF of an ingress to its XON; frames
/// that only refresh it are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// How many pauses there were.
    pub pauses: u64,
    /// The first of them, in order of time.
    pub records: Vec<Pause>,
    /// One for each place at which pauses began, those with the most links first.
    pub trees: Vec<PauseTree>,
    /// How many further trees there were.
    pub trees_left_out: u64,
    /// How often a pause closed a circle of pauses, each because of the next.
    pub cycle_count: u64,
    /// The first of these circles.
    pub cycles: Vec<PauseCycle>,
}

/// An ingress told its sender to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// The egress queue that was stopped.
    pub stopped: EgressQueue,
    /// When the frame was sent.
    pub time: Time,
    /// When the sender was told to go on, if it was.
    pub end: Option<Time>,
    /// Why.
    pub cause: PauseCause,
}

/// Why an ingress had to stop its sender: the egress that held most of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseCause {
    /// That egress was stopped itself, by the pause of this number among the records, or still sends
    /// what had piled up while it was.
    Pause(u32),
    /// That egress was not stopped: more came than it could send.
    Egress(EgressQueue),
    /// The ingress is that of a host, which takes packets too slowly.
    Host(NodeId),
}

/// All pauses that began at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PauseTree {
    /// The first port to fill: an egress that more came for than it could send. Of a host, its
    /// ingress.
    pub root: EgressQueue,
    /// When it caused the first pause.
    pub first: Time,
    /// When the last pause was over, or the run was.
    pub last: Time,
    /// How many pauses it caused.
    pub pauses: u64,
    /// The longest chain of pauses, each because of the one before.
    pub depth: u32,
    /// The links that were stopped, in the order in which they were stopped first.
    pub links: Vec<PausedLink>,
    /// Flows that waited for the root.
    pub culprits: Vec<FlowId>,
    /// Flows that waited at a stopped link although they do not pass the root.
    pub victims: Vec<FlowId>,
}

/// A link of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PausedLink {
    /// The egress queue that was stopped.
    pub stopped: EgressQueue,
    /// The link, by its place in the tree, that was stopped before it and made it stop the first
    /// time; none where the root itself did.
    pub because: Option<u32>,
    /// How many links there are from here to the root, the first time.
    pub depth: u32,
    /// When it was stopped first.
    pub first: Time,
    /// How often.
    pub pauses: u64,
    /// For how long in all.
    pub span: Span,
}

/// Pauses that wait for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PauseCycle {
    /// When the last of them was sent.
    pub time: Time,
    /// The queues that they stop: each waits for the next, the last for the first.
    pub stopped: Vec<EgressQueue>,
}

/// Recordings, one element per sample in each vector.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// The instants.
    pub times: Vec<Time>,
    /// One element per probed port.
    pub ports: Vec<PortSeries>,
    /// One element per probed flow.
    pub flows: Vec<FlowSeries>,
}

/// A probed port.
#[derive(Clone, Debug, PartialEq)]
pub struct PortSeries {
    /// The node.
    pub node: NodeId,
    /// Its port.
    pub port: PortId,
    /// Bytes on the ingress counters of all classes.
    pub queue: Vec<u64>,
    /// Bytes that wait to leave here, of all classes; 0 for a host.
    pub egress: Vec<u64>,
    /// Mean rate at which data came in since the last sample, in bit/s.
    pub input_bps: Vec<f64>,
    /// Mean rate at which data went out since the last sample, in bit/s; a frame counts when it
    /// starts.
    pub sending_bps: Vec<f64>,
    /// The rate that the far end allows the egress, the least over all classes; 0 when paused.
    pub allowed_bps: Vec<f64>,
    /// Mean rate of the control frames that it sent since the last sample, in bit/s: what flow
    /// control costs the link in this direction.
    pub feedback_bps: Vec<f64>,
}

/// A probed flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSeries {
    /// Which one.
    pub flow: FlowId,
    /// Mean goodput since the last sample, in bit/s.
    pub goodput_bps: Vec<f64>,
    /// The rate that congestion control allows, in bit/s; 0 before its start and after its end.
    pub allowed_bps: Vec<f64>,
}

/// The state of every port over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// The instants: from zero on in equal steps, and the end of the run.
    pub times: Vec<Time>,
    /// One element per port of every node, in the order of [`Outcome::ports`].
    pub ports: Vec<PortStates>,
}

/// The state of a port, one element per instant in each vector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortStates {
    /// Bytes on the ingress counter of its fullest class.
    pub held: Vec<u32>,
    /// What the far end allows the egress, in thousandths of the line: 0 when it is stopped in any
    /// class, 1,000 when nothing holds it back.
    pub allowed: Vec<u16>,
    /// Bytes of data and answers that it has sent so far.
    pub sent: Vec<u64>,
}
