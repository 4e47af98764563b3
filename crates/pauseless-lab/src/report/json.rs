//! The JSON documents of the command line contract.

pub mod memory;
pub mod mitigation;
pub mod provenance;

use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::port::FullPool;
use pauseless_core::unit::Bytes;
use pauseless_sim::outcome::{EgressQueue, QueueOutcome};
use schemars::JsonSchema;
use serde::Serialize;

use super::Run;
use crate::results::Facts;
use crate::results::rows::{self, Object};
use crate::run::Comparison;
use memory::MemoryRecord;
use mitigation::{EpisodeRecord, LossesRecord, TripRecord};
use provenance::ProvenanceRecord;

/// The version of the documents; it changes when a field changes its meaning or goes away.
pub const SCHEMA: u32 = 1;

/// The document of one run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunDocument {
    /// See [`SCHEMA`].
    pub schema: u32,
    /// The run itself.
    #[serde(flatten)]
    pub run: RunRecord,
}

/// The document of a command that makes several runs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunsDocument {
    /// See [`SCHEMA`].
    pub schema: u32,
    /// One element per run.
    pub runs: Vec<NamedRun>,
}

/// A run among several.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NamedRun {
    /// What tells it from the others.
    pub name: String,
    /// The run itself.
    #[serde(flatten)]
    pub run: RunRecord,
}

/// Everything that was found and measured in one run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunRecord {
    /// The name of the scenario.
    pub scenario: String,
    /// What it shows.
    pub title: String,
    /// The seed.
    pub seed: u64,
    /// `pfc`, `cbfc`, `gfc-buffer`, ..
    pub flow_control: String,
    /// Present and true when ports on and before cycles have thresholds of their own.
    #[serde(skip_serializing_if = "is_false")]
    pub cycle_aware: bool,
    /// `none`, `pcn`, `qcn`, ..
    pub congestion_control: &'static str,
    /// `output-queued`, ..
    pub discipline: &'static str,
    /// How much time was simulated.
    pub simulated_ps: u64,
    /// Why it ended then: `duration`, `deadlock`, `done`, `steady` or `interrupted`.
    pub ended: &'static str,
    /// How long that took. The only field that differs between two runs of one scenario.
    pub wall_s: f64,
    /// Present and true when the run was broken off: everything else is what was found so far.
    #[serde(skip_serializing_if = "is_false")]
    pub interrupted: bool,
    /// Events handled.
    pub events: u64,
    /// Data frames received by any node.
    pub packet_hops: u64,
    /// The first deadlock.
    pub deadlock: Option<DeadlockRecord>,
    /// The flows that starve.
    pub starvation: Option<Vec<StarvedRecord>>,
    /// The first packet that did not fit; what was dropped on purpose is in `losses`.
    pub loss: Option<LossRecord>,
    /// Packets lost in all.
    pub lost_packets: u64,
    /// Bytes lost in all.
    pub lost_bytes: u64,
    /// Packets that were dropped on aim: their TTL had run out, or there was no class for their next
    /// hop. They are not among the lost ones.
    pub expired_packets: u64,
    /// Their bytes.
    pub expired_bytes: u64,
    /// The same by cause.
    pub losses: LossesRecord,
    /// How many deadlocks there were: more than one only if somebody breaks them.
    pub deadlocks: u64,
    /// All of them and how they ended; absent if there was none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub episodes: Vec<EpisodeRecord>,
    /// What the watchdogs have seen; absent if they have seen nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub watchdog_trips: Vec<TripRecord>,
    /// Control frames that told a sender to stop.
    pub pause_frames: u64,
    /// The same, one element for each class in use.
    pub pause_frames_by_class: Vec<u64>,
    /// How often a GFC sender was held, which its mapping is made to avoid.
    pub gfc_holds: u64,
    /// Control frames of any kind.
    pub feedback_frames: u64,
    /// The largest share of a link's capacity that control frames took.
    pub feedback_share_max: f64,
    /// Bytes in the buffers of all switches at the end.
    pub held_bytes_at_end: u64,
    /// When the scenario had stopped the last flow, if it stopped all that were not delivered.
    pub sources_stop_ps: Option<u64>,
    /// When the last data frame arrived anywhere: the switches are drained from then on, or stuck.
    pub last_arrival_ps: u64,
    /// What the replica of another simulator found for the same files, beside what our engine found;
    /// absent if there was none. Everything else in this document is our engine's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replica: Option<Comparison>,
    /// One element per flow, in canonical order.
    pub flows: Vec<Object>,
    /// One element per switch ingress and class that ever held anything.
    pub queues: Vec<QueueRecord>,
    /// One element per switch whose ports share its memory; absent if none do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<MemoryRecord>,
    /// What was measured, in numbers that can be compared; see `docs/metrics.md`.
    pub metrics: Object,
    /// Where pauses came from, if that was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<ProvenanceRecord>,
    /// What the probes recorded, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<Object>,
}

/// A queue of a switch, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QueueName {
    /// The switch.
    pub switch: String,
    /// Its port, such as `S1:S2`.
    pub port: String,
    /// The class.
    pub class: u8,
}

/// A deadlock with its witness.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DeadlockRecord {
    /// When it became inevitable.
    pub time_ps: u64,
    /// All egress queues that can never send again.
    pub members: Vec<QueueName>,
    /// A shortest cycle: each waits for the next, the last for the first.
    pub cycle: Vec<QueueName>,
    /// Flows whose packets close the cycle.
    pub flows: Vec<String>,
}

/// A flow that starves.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StarvedRecord {
    /// Its name.
    pub flow: String,
    /// Its goodput since then.
    pub rate_bps: f64,
    /// Its max-min fair rate.
    pub fair_bps: f64,
    /// Since when it has starved.
    pub since_ps: u64,
}

/// The first packet that did not fit.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LossRecord {
    /// When.
    pub time_ps: u64,
    /// The node; a host that does not take its packets can lose them too.
    pub switch: String,
    /// Its ingress port.
    pub port: String,
    /// The class.
    pub class: u8,
    /// Whose packet it was.
    pub flow: String,
    /// What the buffer held already.
    pub held_bytes: u64,
    /// The buffer, or the size of what was full.
    pub buffer_bytes: u64,
    /// What was full, where ports share their memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<&'static str>,
}

/// An ingress queue and what it has seen.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct QueueRecord {
    /// Which one; its port is an ingress.
    #[serde(flatten)]
    pub at: QueueName,
    /// The most that it held.
    pub max_bytes: u64,
    /// The mean over all samples, where the port was probed.
    pub mean_bytes: Option<f64>,
    /// What it held at the end.
    pub last_bytes: u64,
}

/// The document of one run, with what its probes recorded.
pub fn run_document(run: &Run) -> RunDocument {
    let mut record = record(run);
    record.series = rows::recordings(run);
    RunDocument {
        schema: SCHEMA,
        run: record,
    }
}

/// The document of several runs. Recordings are left out: they are in the page.
pub fn runs_document(runs: &[Run]) -> RunsDocument {
    let named = runs.iter().map(|run| NamedRun {
        name: run.scenario.name.clone(),
        run: record(run),
    });
    RunsDocument {
        schema: SCHEMA,
        runs: named.collect(),
    }
}

/// One run of several, to be put together with others later.
pub fn named(run: &Run) -> serde_json::Value {
    let named = NamedRun {
        name: run.scenario.name.clone(),
        run: record(run),
    };
    serde_json::to_value(named).expect("documents have string keys and no I/O")
}

/// A document as indented text that ends with a line feed.
pub fn to_text(document: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(document);
    text.expect("documents have string keys and no I/O") + "\n"
}

fn record(run: &Run) -> RunRecord {
    let (config, outcome) = (&run.scenario.config, &run.outcome);
    let facts = Facts::of(run);
    let by_class = &outcome.pause_frames_by_class[..config.ingress.class_count()];
    RunRecord {
        scenario: run.scenario.name.clone(),
        title: run.scenario.title.clone(),
        seed: config.seed,
        flow_control: run.flow_control(),
        cycle_aware: run.scenario.is_cycle_aware,
        congestion_control: config.congestion.control.name(),
        discipline: config.discipline.name(),
        simulated_ps: outcome.end.as_ps(),
        ended: run.ended_name(),
        wall_s: run.wall_s,
        interrupted: run.interrupted,
        events: outcome.events,
        packet_hops: outcome.packet_hops,
        deadlock: deadlock(run),
        starvation: starvation(run),
        loss: loss(run),
        lost_packets: outcome.lost_packets,
        lost_bytes: outcome.lost_bytes.get(),
        expired_packets: outcome.expired_packets,
        expired_bytes: outcome.expired_bytes.get(),
        losses: mitigation::losses(&outcome.losses),
        deadlocks: outcome.episodes.len() as u64,
        episodes: mitigation::episodes(run),
        watchdog_trips: mitigation::trips(run),
        pause_frames: outcome.pause_frames,
        pause_frames_by_class: by_class.to_vec(),
        gfc_holds: outcome.gfc_holds,
        feedback_frames: outcome.feedback_frames,
        feedback_share_max: outcome.feedback_share_max,
        held_bytes_at_end: outcome.held_at_end.get(),
        sources_stop_ps: run.sources_stopped().map(|time| time.as_ps()),
        last_arrival_ps: outcome.last_arrival.as_ps(),
        replica: run.replica.clone(),
        flows: facts.flows().map(|flow| rows::flow(&flow)).collect(),
        queues: outcome.queues.iter().map(|at| queue(run, at)).collect(),
        memory: memory::records(run),
        metrics: rows::metrics(&facts),
        provenance: provenance::provenance(run),
        series: None,
    }
}

fn deadlock(run: &Run) -> Option<DeadlockRecord> {
    let deadlock = run.outcome.deadlock.as_ref()?;
    let names = |queues: &[EgressQueue]| egress_names(run, queues);
    let flows = deadlock.flows.iter();
    Some(DeadlockRecord {
        time_ps: deadlock.time.as_ps(),
        members: names(&deadlock.members),
        cycle: names(&deadlock.cycle),
        flows: flows.map(|flow| run.flow_name(*flow).to_string()).collect(),
    })
}

fn starvation(run: &Run) -> Option<Vec<StarvedRecord>> {
    let starved = run.outcome.starved.iter().map(|starved| StarvedRecord {
        flow: run.flow_name(starved.flow).to_string(),
        rate_bps: starved.rate_bps,
        fair_bps: starved.fair_bps,
        since_ps: starved.since.as_ps(),
    });
    Some(starved.collect()).filter(|starved: &Vec<_>| !starved.is_empty())
}

fn loss(run: &Run) -> Option<LossRecord> {
    let loss = run.outcome.loss.as_ref()?;
    Some(LossRecord {
        time_ps: loss.time.as_ps(),
        switch: run.node_name(loss.node).to_string(),
        port: run.port_name(loss.node, loss.port),
        class: loss.class.0,
        flow: run.flow_name(loss.flow).to_string(),
        held_bytes: loss.held.get(),
        buffer_bytes: loss.buffer.get(),
        pool: Some(loss.pool)
            .filter(|pool| *pool != FullPool::Buffer)
            .map(FullPool::name),
    })
}

fn queue(run: &Run, queue: &QueueOutcome) -> QueueRecord {
    QueueRecord {
        at: queue_name(run, (queue.node, queue.port, queue.class)),
        max_bytes: Bytes::get(queue.max),
        mean_bytes: queue.mean,
        last_bytes: Bytes::get(queue.last),
    }
}

fn queue_name(run: &Run, (node, port, class): (NodeId, PortId, Class)) -> QueueName {
    QueueName {
        switch: run.node_name(node).to_string(),
        port: run.port_name(node, port),
        class: class.0,
    }
}

fn egress_names(run: &Run, queues: &[EgressQueue]) -> Vec<QueueName> {
    let names = queues.iter();
    names
        .map(|queue| queue_name(run, (queue.node, queue.port, queue.class)))
        .collect()
}

/// For serde, which wants a function of a reference.
fn is_false(value: &bool) -> bool {
    !value
}
