//! The testbed's JSON document.

use pauseless_core::unit::{Span, Time};
use pauseless_dataplane::report::Quantiles;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{Measured, WireFacts};
use pauseless_report::json;
use pauseless_run::Run;
use pauseless_text::record::SCHEMA;
use pauseless_text::records;

/// The document of all runs of a testbed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TestbedDocument {
    /// The version of the format of this document; see [`SCHEMA`].
    pub schema: u32,
    /// One element per run.
    pub runs: Vec<TestbedRun>,
}

records! {
    /// A run on real frames beside the same in the simulator.
    pub struct TestbedRun(measured: &Measured) {
        /// What `run --json` has, of the run on real frames; `simulated_ps` is its emulated time.
        #[serde(flatten)]
        run: Value = json::named(&measured.run);
        /// Results that only a run on real frames has.
        measured: WireRecord = WireRecord::new(&measured.wire);
        /// The main numbers of the simulated run.
        simulated: SimulatedRecord = SimulatedRecord::new(&measured.simulated);
    }

    /// Results that only a run on real frames has.
    pub struct WireRecord(wire: &WireFacts) {
        /// The mechanism that carried frames: `packet`, `xdp` or `memory`.
        backend: &'static str = wire.backend;
        /// The clock of all nodes: `elastic` or `real`.
        clock: &'static str = wire.clock;
        /// The worst feedback latency; null if nothing was measured.
        tau_ps: Option<u64> = wire.tau.map(Span::as_ps);
        /// The feedback latency that the thresholds were checked with.
        tau_configured_ps: u64 = wire.tau_configured.as_ps();
        /// Whether the former is above the latter; null if nothing was measured.
        tau_exceeded: Option<bool> = wire.tau.map(|_| wire.is_tau_exceeded());
        /// How late control frames were handled.
        control_late: QuantilesRecord = QuantilesRecord::new(&wire.lateness.control);
        /// How late data frames were handled.
        data_late: QuantilesRecord = QuantilesRecord::new(&wire.lateness.data);
        /// How late control frames left, where the former does not include it.
        control_sent_late: QuantilesRecord = QuantilesRecord::new(&wire.lateness.control_sent);
        /// How late data frames left, where the former does not include it.
        data_sent_late: QuantilesRecord = QuantilesRecord::new(&wire.lateness.data_sent);
        /// Numbers of packets that never came although later ones did.
        sequence_gaps: u64 = wire.sequence_gaps;
        /// Packets that came after later ones.
        reordered: u64 = wire.reordered;
        /// Packets that came twice.
        duplicates: u64 = wire.duplicates;
        /// Packets whose number is far above all others.
        astray: u64 = wire.astray;
        /// Sources that were started again.
        restarts: u64 = wire.restarts;
        /// Frames that did not fit.
        overruns: u64 = wire.overruns;
        /// Frames that the kernel has dropped.
        kernel_drops: u64 = wire.kernel_drops;
        /// Frames that nobody understood or wanted.
        strays: u64 = wire.strays;
        /// Frames that a wire has swallowed.
        vanished: u64 = wire.vanished;
        /// The messages of all nodes.
        messages: Vec<String> = wire.messages.clone();
    }

    /// A distribution of times.
    #[derive(Copy)]
    pub struct QuantilesRecord(of: &Quantiles) {
        /// How many values there are.
        count: u64 = of.count;
        /// The median: half of the values are below.
        p50_ps: u64 = of.p50.as_ps();
        /// The 99th percentile: all but one in a hundred are below.
        p99_ps: u64 = of.p99.as_ps();
        /// The 99.9th percentile: all but one in a thousand are below.
        p999_ps: u64 = of.p999.as_ps();
        /// The largest of the values.
        max_ps: u64 = of.max.as_ps();
    }

    /// The main numbers of the simulated run.
    pub struct SimulatedRecord(run: &Run) after {
        let outcome = &run.outcome;
        let since = outcome.starved.iter().map(|starved| starved.since).min();
        let flows = outcome.flows.iter();
    } {
        /// When the deadlock became inevitable, if there is one.
        deadlock_ps: Option<u64> = outcome.deadlock.as_ref().map(|it| it.time.as_ps());
        /// Since when the first flow starves, if one does.
        starvation_ps: Option<u64> = since.map(Time::as_ps);
        /// The late goodput of each flow, in canonical order.
        goodput_late_bps: Vec<f64> = flows.map(|flow| flow.goodput_late_bps).collect();
        /// The most that any ingress queue of a switch has held.
        queue_max_bytes: u64 = run.queue_max().get();
        /// Packets lost in all.
        lost_packets: u64 = outcome.lost_packets;
        /// Control frames of any kind.
        feedback_frames: u64 = outcome.feedback_frames;
        /// Bytes in the buffers of all switches at the end.
        held_bytes_at_end: u64 = outcome.held_at_end.get();
    }
}

/// The document of `runs`.
pub fn document(runs: &[Measured]) -> TestbedDocument {
    TestbedDocument { schema: SCHEMA, runs: runs.iter().map(TestbedRun::new).collect() }
}
