//! The testbed's JSON document.

use pauseless_core::unit::{Span, Time};
use pauseless_dataplane::report::Quantiles;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{Measured, WireFacts};
use crate::report::json::{self, SCHEMA};
use crate::run::Run;

/// The document of all runs of a testbed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TestbedDocument {
    /// See [`SCHEMA`].
    pub schema: u32,
    /// One element per run.
    pub runs: Vec<TestbedRun>,
}

/// A run on real frames beside the same in the simulator.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TestbedRun {
    /// What `run --json` has, of the run on real frames; `simulated_ps` is its emulated time.
    #[serde(flatten)]
    pub run: Value,
    /// What only real frames have.
    pub measured: WireRecord,
    /// The main numbers of the simulated run.
    pub simulated: SimulatedRecord,
}

/// What only real frames have.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WireRecord {
    /// `packet`, `xdp` or `memory`.
    pub backend: &'static str,
    /// `elastic` or `real`.
    pub clock: &'static str,
    /// The worst feedback latency; null if nothing was measured.
    pub tau_ps: Option<u64>,
    /// What the thresholds were checked with.
    pub tau_configured_ps: u64,
    /// Whether the former is above the latter; null if nothing was measured.
    pub tau_exceeded: Option<bool>,
    /// How late control frames were handled.
    pub control_late: QuantilesRecord,
    /// How late data frames were handled.
    pub data_late: QuantilesRecord,
    /// How late control frames left, where the former does not include it.
    pub control_sent_late: QuantilesRecord,
    /// How late data frames left, where the former does not include it.
    pub data_sent_late: QuantilesRecord,
    /// Numbers of packets that never came although later ones did.
    pub sequence_gaps: u64,
    /// Packets that came after later ones.
    pub reordered: u64,
    /// Packets that came twice.
    pub duplicates: u64,
    /// Packets whose number is far above all others.
    pub astray: u64,
    /// Sources that were started again.
    pub restarts: u64,
    /// Frames that did not fit.
    pub overruns: u64,
    /// Frames that the kernel has dropped.
    pub kernel_drops: u64,
    /// Frames that nobody understood or wanted.
    pub strays: u64,
    /// Frames that a wire has swallowed.
    pub vanished: u64,
    /// What nodes had to say.
    pub messages: Vec<String>,
}

/// A distribution of times.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct QuantilesRecord {
    /// How many there are.
    pub count: u64,
    /// Half are below.
    pub p50_ps: u64,
    /// All but one in a hundred are below.
    pub p99_ps: u64,
    /// All but one in a thousand are below.
    pub p999_ps: u64,
    /// None is above.
    pub max_ps: u64,
}

/// The main numbers of the simulated run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SimulatedRecord {
    /// When the deadlock became inevitable, if there is one.
    pub deadlock_ps: Option<u64>,
    /// Since when the first flow starves, if one does.
    pub starvation_ps: Option<u64>,
    /// The late goodput of each flow, in canonical order.
    pub goodput_late_bps: Vec<f64>,
    /// The most that any ingress queue of a switch has held.
    pub queue_max_bytes: u64,
    /// Packets lost in all.
    pub lost_packets: u64,
    /// Control frames of any kind.
    pub feedback_frames: u64,
    /// Bytes in the buffers of all switches at the end.
    pub held_bytes_at_end: u64,
}

/// The document of `runs`.
pub fn document(runs: &[Measured]) -> TestbedDocument {
    let runs = runs.iter().map(|measured| TestbedRun {
        run: json::named(&measured.run),
        measured: wire(&measured.wire),
        simulated: simulated(&measured.simulated),
    });
    TestbedDocument {
        schema: SCHEMA,
        runs: runs.collect(),
    }
}

fn wire(wire: &WireFacts) -> WireRecord {
    WireRecord {
        backend: wire.backend,
        clock: wire.clock,
        tau_ps: wire.tau.map(Span::as_ps),
        tau_configured_ps: wire.tau_configured.as_ps(),
        tau_exceeded: wire.tau.map(|_| wire.is_tau_exceeded()),
        control_late: quantiles(&wire.lateness.control),
        data_late: quantiles(&wire.lateness.data),
        control_sent_late: quantiles(&wire.lateness.control_sent),
        data_sent_late: quantiles(&wire.lateness.data_sent),
        sequence_gaps: wire.sequence_gaps,
        reordered: wire.reordered,
        duplicates: wire.duplicates,
        astray: wire.astray,
        restarts: wire.restarts,
        overruns: wire.overruns,
        kernel_drops: wire.kernel_drops,
        strays: wire.strays,
        vanished: wire.vanished,
        messages: wire.messages.clone(),
    }
}

fn quantiles(from: &Quantiles) -> QuantilesRecord {
    QuantilesRecord {
        count: from.count,
        p50_ps: from.p50.as_ps(),
        p99_ps: from.p99.as_ps(),
        p999_ps: from.p999.as_ps(),
        max_ps: from.max.as_ps(),
    }
}

fn simulated(run: &Run) -> SimulatedRecord {
    let outcome = &run.outcome;
    let since = outcome.starved.iter().map(|starved| starved.since).min();
    let flows = outcome.flows.iter();
    SimulatedRecord {
        deadlock_ps: outcome.deadlock.as_ref().map(|it| it.time.as_ps()),
        starvation_ps: since.map(Time::as_ps),
        goodput_late_bps: flows.map(|flow| flow.goodput_late_bps).collect(),
        queue_max_bytes: run.queue_max().get(),
        lost_packets: outcome.lost_packets,
        feedback_frames: outcome.feedback_frames,
        held_bytes_at_end: outcome.held_at_end.get(),
    }
}
