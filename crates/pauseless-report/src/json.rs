//! The JSON documents of the command line contract.

pub mod memory;
pub mod mitigation;
pub mod provenance;

use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::port::FullPool;
use pauseless_core::unit::Bytes;
use pauseless_core::unit::Time;
use pauseless_sim::outcome::{
    Deadlock, EgressQueue, Loss, QueueOutcome, Rival, Starved, Undecided,
};
use schemars::JsonSchema;
use serde::Serialize;

use memory::MemoryRecord;
use mitigation::{EpisodeRecord, LossesRecord, TripRecord};
use pauseless_run::Comparison;
use pauseless_run::Run;
use pauseless_run::results::Facts;
use pauseless_run::results::rows::{self, Object};
use pauseless_text::record::SCHEMA;
use pauseless_text::records;
use provenance::ProvenanceRecord;

/// The document of one run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunDocument {
    /// The version of the format of this document; see [`SCHEMA`].
    pub schema: u32,
    /// The fields of the run.
    #[serde(flatten)]
    pub run: RunRecord,
}

/// The document of a command that makes several runs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunsDocument {
    /// The version of the format of this document; see [`SCHEMA`].
    pub schema: u32,
    /// One element per run.
    pub runs: Vec<NamedRun>,
}

records! {
    /// A run among several.
    pub struct NamedRun(of: &Run) {
        /// The name that tells the run from the others.
        name: String = of.scenario.name.clone();
        /// The fields of the run.
        #[serde(flatten)]
        run: RunRecord = RunRecord::new(of);
    }

    /// Everything that was found and measured in one run.
    pub struct RunRecord(run: &Run) after {
        let (config, outcome) = (&run.scenario.config, &run.outcome);
        let facts = Facts::of(run);
        let by_class = &outcome.pause_frames_by_class[..config.ingress.class_count()];
        let starved = Vec::from_iter(outcome.starved.iter().map(|it| StarvedRecord::new(run, it)));
    } {
        /// The name of the scenario.
        scenario: String = run.scenario.name.clone();
        /// The title: what the scenario shows.
        title: String = run.scenario.title.clone();
        /// The seed of all random numbers of the run.
        seed: u64 = config.seed;
        /// The flow control: `pfc`, `cbfc`, `gfc-buffer`, ..
        flow_control: String = run.flow_control();
        /// Present and true when ports on and before cycles have thresholds of their own.
        #[serde(skip_serializing_if = "is_false")]
        cycle_aware: bool = run.scenario.is_cycle_aware;
        /// The congestion control: `none`, `pcn`, `qcn`, ..
        congestion_control: &'static str = config.congestion.control.name();
        /// The discipline of the switches, such as `output-queued`.
        discipline: &'static str = config.discipline.name();
        /// How much time was simulated.
        simulated_ps: u64 = outcome.end.as_ps();
        /// Why it ended then: `duration`, `deadlock`, `done`, `steady` or `interrupted`.
        ended: &'static str = run.ended_name();
        /// How long that took. The only field that differs between two runs of one scenario.
        wall_s: f64 = run.wall_s;
        /// Present and true when the run was broken off: everything else is what was found so far.
        #[serde(skip_serializing_if = "is_false")]
        interrupted: bool = run.interrupted;
        /// The number of events that the simulator handled.
        events: u64 = outcome.events;
        /// Data frames received by any node.
        packet_hops: u64 = outcome.packet_hops;
        /// The first deadlock; null if there was none.
        deadlock: Option<DeadlockRecord> =
            outcome.deadlock.as_ref().map(|it| DeadlockRecord::new(run, it));
        /// The flows that starved.
        starvation: Option<Vec<StarvedRecord>> = (!starved.is_empty()).then_some(starved);
        /// Why the run was too short to tell whether a flow starves; null if it was long enough.
        starvation_undecided: Option<UndecidedRecord> =
            outcome.undecided.map(|it| UndecidedRecord::new(run, it));
        /// The first packet that did not fit; what was dropped on purpose is in `losses`.
        loss: Option<LossRecord> = outcome.loss.as_ref().map(|it| LossRecord::new(run, it));
        /// Packets lost in all, without those that wires lost by `wire_loss`.
        lost_packets: u64 = outcome.lost_packets;
        /// Bytes lost in all.
        lost_bytes: u64 = outcome.lost_bytes.get();
        /// Packets that a switch dropped on purpose, because their TTL had run out or there was no
        /// class for their next hop; they are not among the lost ones.
        expired_packets: u64 = outcome.expired_packets;
        /// Bytes of the expired packets.
        expired_bytes: u64 = outcome.expired_bytes.get();
        /// Lost packets and bytes by cause.
        losses: LossesRecord = LossesRecord::new(run);
        /// How many deadlocks there were: more than one only if something breaks them.
        deadlocks: u64 = outcome.episodes.len() as u64;
        /// All of them and how they ended; absent if there was none.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        episodes: Vec<EpisodeRecord> =
            outcome.episodes.iter().map(|it| EpisodeRecord::new(run, it)).collect();
        /// What the watchdogs have seen; absent if they have seen nothing.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        watchdog_trips: Vec<TripRecord> =
            outcome.trips.iter().map(|it| TripRecord::new(run, it)).collect();
        /// Control frames that told a sender to stop.
        pause_frames: u64 = outcome.pause_frames;
        /// The pause frames of each class in use.
        pause_frames_by_class: Vec<u64> = by_class.to_vec();
        /// How often a GFC sender was held, which its mapping is made to avoid.
        gfc_holds: u64 = outcome.gfc_holds;
        /// Control frames of any kind.
        feedback_frames: u64 = outcome.feedback_frames;
        /// Control frames that wires lost; left out if none were.
        #[serde(skip_serializing_if = "Option::is_none")]
        lost_control_frames: Option<u64> =
            Some(outcome.lost_control_frames).filter(|count| *count > 0);
        /// The largest share of a link's capacity that control frames took.
        feedback_share_max: f64 = outcome.feedback_share_max;
        /// Bytes in the buffers of all switches at the end.
        held_bytes_at_end: u64 = outcome.held_at_end.get();
        /// When the scenario had stopped the last flow, if it stopped all that were not delivered.
        sources_stop_ps: Option<u64> = run.sources_stopped().map(|time| time.as_ps());
        /// When the last data frame arrived anywhere: the switches are drained from then on, or stuck.
        last_arrival_ps: u64 = outcome.last_arrival.as_ps();
        /// What the replica of another simulator found for the same files, beside what our engine found;
        /// absent if there was none. Everything else in this document is our engine's.
        #[serde(skip_serializing_if = "Option::is_none")]
        replica: Option<Comparison> = run.replica.clone();
        /// One element per flow, in canonical order.
        flows: Vec<Object> = facts.flows().map(|flow| rows::flow(&flow)).collect();
        /// One element per switch ingress and class that ever held anything.
        queues: Vec<QueueRecord> =
            outcome.queues.iter().map(|it| QueueRecord::new(run, it)).collect();
        /// One element per switch whose ports share its memory; absent if none do.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        memory: Vec<MemoryRecord> = memory::records(run);
        /// What was measured, in numbers that can be compared; see `docs/metrics.md`.
        metrics: Object = rows::metrics(&facts);
        /// Where pauses came from, if that was recorded.
        #[serde(skip_serializing_if = "Option::is_none")]
        provenance: Option<ProvenanceRecord> =
            outcome.provenance.as_ref().map(|it| ProvenanceRecord::new(run, it));
        /// What the probes recorded, if there are any.
        #[serde(skip_serializing_if = "Option::is_none")]
        series: Option<Object> = None;
    }

    /// A queue of a switch, by name.
    #[derive(PartialEq, Eq)]
    pub struct QueueName(run: &Run, node: NodeId, port: PortId, class: Class) {
        /// The name of the switch that has the queue.
        switch: String = run.node_name(node).to_string();
        /// The port that has the queue, such as `S1:S2`.
        port: String = run.port_name(node, port);
        /// The traffic class of the queue.
        class: u8 = class.0;
    }

    /// A deadlock with its witness.
    pub struct DeadlockRecord(run: &Run, deadlock: &Deadlock) after {
        let flows = deadlock.flows.iter();
    } {
        /// The time at which the deadlock became inevitable.
        time_ps: u64 = deadlock.time.as_ps();
        /// All egress queues that can never send again.
        members: Vec<QueueName> = egress_names(run, &deadlock.members);
        /// A shortest cycle: each waits for the next, the last for the first.
        cycle: Vec<QueueName> = egress_names(run, &deadlock.cycle);
        /// Flows whose packets close the cycle.
        flows: Vec<String> = flows.map(|flow| run.flow_name(*flow).to_string()).collect();
    }

    /// A flow that starved.
    pub struct StarvedRecord(run: &Run, starved: &Starved) after {
        let rivals = starved.rivals.iter();
    } {
        /// The name of the flow.
        flow: String = run.flow_name(starved.flow).to_string();
        /// What the flow got from when it fell behind until it was furthest behind.
        rate_bps: f64 = starved.rate_bps;
        /// The max-min fair rate of the flow in that time.
        fair_bps: f64 = starved.fair_bps;
        /// When it fell behind for the first time.
        since_ps: u64 = starved.since.as_ps();
        /// When that was more than queues and congestion control explain.
        found_ps: u64 = starved.found.as_ps();
        /// When it had last made up for it; null if it starved until its end or that of the run.
        until_ps: Option<u64> = starved.until.map(Time::as_ps);
        /// How often it starved.
        times: u32 = starved.times;
        /// The link that would be full at fair rates; null if its own demand is its only limit.
        bottleneck: Option<String> =
            starved.bottleneck.map(|it| run.port_name(it.node, it.port).to_string());
        /// The share of that link which delivered packets took in that time.
        bottleneck_used: Option<f64> = starved.bottleneck.map(|it| it.used);
        /// The other flows that got most of that link, the largest first.
        rivals: Vec<RivalRecord> = rivals.map(|it| RivalRecord::new(run, it)).collect();
    }

    /// A flow that has the share of one that starves.
    pub struct RivalRecord(run: &Run, rival: &Rival) {
        /// The name of the flow.
        flow: String = run.flow_name(rival.flow).to_string();
        /// What the flow got in the meantime.
        rate_bps: f64 = rival.rate_bps;
    }

    /// A flow of which the run was too short to tell whether it starves.
    pub struct UndecidedRecord(run: &Run, undecided: Undecided) {
        /// The name of the flow.
        flow: String = run.flow_name(undecided.flow).to_string();
        /// Since when it lags behind.
        since_ps: u64 = undecided.since.as_ps();
        /// The end of a run from which on it is called starved if it gets nothing more.
        needs_ps: u64 = undecided.needs.as_ps();
    }

    /// The first packet that did not fit.
    pub struct LossRecord(run: &Run, loss: &Loss) {
        /// The time at which the packet was lost.
        time_ps: u64 = loss.time.as_ps();
        /// The node; a host that does not take its packets can lose them too.
        switch: String = run.node_name(loss.node).to_string();
        /// The ingress port at which the packet arrived.
        port: String = run.port_name(loss.node, loss.port);
        /// The traffic class of the packet.
        class: u8 = loss.class.0;
        /// The name of the flow that the packet belongs to.
        flow: String = run.flow_name(loss.flow).to_string();
        /// What the buffer held when the packet arrived.
        held_bytes: u64 = loss.held.get();
        /// The buffer, or the size of what was full.
        buffer_bytes: u64 = loss.buffer.get();
        /// What was full, where ports share their memory.
        #[serde(skip_serializing_if = "Option::is_none")]
        pool: Option<&'static str> = (loss.pool != FullPool::Buffer).then(|| loss.pool.name());
    }

    /// An ingress queue and what it has seen.
    pub struct QueueRecord(run: &Run, queue: &QueueOutcome) {
        /// Which one; its port is an ingress.
        #[serde(flatten)]
        at: QueueName = QueueName::new(run, queue.node, queue.port, queue.class);
        /// The most that it held.
        max_bytes: u64 = Bytes::get(queue.max);
        /// The mean over all samples, where the port was probed.
        mean_bytes: Option<f64> = queue.mean;
        /// What the queue held at the end.
        last_bytes: u64 = Bytes::get(queue.last);
    }
}

/// The document of one run, with what its probes recorded.
pub fn run_document(run: &Run) -> RunDocument {
    let mut record = RunRecord::new(run);
    record.series = rows::recordings(run);
    RunDocument { schema: SCHEMA, run: record }
}

/// The document of several runs. Recordings are left out: they are in the page.
pub fn runs_document(runs: &[Run]) -> RunsDocument {
    RunsDocument { schema: SCHEMA, runs: runs.iter().map(NamedRun::new).collect() }
}

/// One run of several, to be put together with others later.
pub fn named(run: &Run) -> serde_json::Value {
    serde_json::to_value(NamedRun::new(run)).expect("documents have string keys and no I/O")
}

fn egress_name(run: &Run, queue: EgressQueue) -> QueueName {
    QueueName::new(run, queue.node, queue.port, queue.class)
}

fn egress_names(run: &Run, queues: &[EgressQueue]) -> Vec<QueueName> {
    queues.iter().map(|queue| egress_name(run, *queue)).collect()
}

/// For serde, which wants a function of a reference.
fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests {
    use pauseless_run::results::{NUMBERS, Of, Value};
    use pauseless_scenario::{Overrides, Scenario};

    use super::*;

    /// What the registry says of the document of a run is so: the place, the type and the value.
    #[test]
    fn numbers_are_where_the_registry_says_they_are_in_json() {
        let run = {
            let text = include_str!("../../../scenarios/incast-shared.toml");
            let endless = "\n[[flow]]\nname = \"F1\"\nsource = \"H1\"\ntarget = \"R\"\n";
            let text = format!("{text}{endless}").replace("\"2 ms\"", "\"200 us\"");
            let scenario = Scenario::parse("t", &text, &Overrides::default()).expect("a scenario");
            Run::execute(scenario, |_| std::ops::ControlFlow::Continue(()))
        };
        let facts = Facts::of(&run);
        let document = serde_json::to_value(run_document(&run)).expect("a document");
        let mut seen = 0;
        for number in NUMBERS {
            let (name, Of::Run(of)) = (number.json.name(), number.of) else {
                continue;
            };
            let Some(value) = of(&facts).filter(|_| !name.is_empty()) else {
                continue;
            };
            let found = document.pointer(&format!("/{}", name.replace('.', "/")));
            let found = found.unwrap_or_else(|| panic!("{name} is not in the document"));
            match value {
                Value::Whole(whole) => assert_eq!(found.as_u64(), Some(whole), "{name}"),
                Value::Real(real) => assert_eq!(found.as_f64(), Some(real), "{name}"),
                Value::Shown(_) => panic!("{name} is not in the base unit"),
            }
            assert_eq!(matches!(value, Value::Real(_)), number.is_real, "{name}");
            seen += 1;
        }
        assert!(seen > 10, "{seen}");
        for flow in facts.flows() {
            for number in NUMBERS {
                if let Of::Flow(of) = number.of
                    && let Some(value) = of(&flow)
                {
                    let is_real = matches!(value, Value::Real(_));
                    assert_eq!(is_real, number.is_real, "{}", number.name);
                }
            }
        }
    }
}
