#![doc = include_str!("../README.md")]
//! ```text
//!   sim::Config --plan--> nodes --wires, lockstep or processes--> NodeReports --outcome--> sim::Outcome
//! ```

mod folder;
pub mod json;
mod lockstep;
pub mod node;
pub mod outcome;
pub mod page;
pub mod plan;
mod processes;
pub mod ring;
pub mod table;
pub mod taps;
mod tick;
pub mod wires;

use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use pauseless_core::unit::{Bytes, Span};
use pauseless_dataplane::net;
use pauseless_dataplane::report::{Lateness, NodeReport, PortCounters, Quantiles};
use pauseless_sim::Config;
use pauseless_sim::outcome::Ended;
use pauseless_wire::Envelope;

use self::outcome::Measurements;
use self::plan::NodePlan;
use self::wires::Backend;
use pauseless_run::{Progress, Run};
use pauseless_scenario::Scenario;

/// What a scenario does not say about its testbed.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The mechanism that carries frames.
    pub backend: Backend,
    /// The kind of frames that carry messages of flow control.
    pub envelope: Envelope,
    /// The program that every node is a process of, with the real clock; without it all nodes are in one
    /// thread and share an elastic clock.
    pub program: Option<PathBuf>,
    /// Where every frame is written to, if it is; only without a process per node.
    pub pcap: Option<PathBuf>,
}

/// A scenario that was run twice.
#[derive(Debug)]
pub struct Measured {
    /// The run on real frames.
    pub run: Run,
    /// The run in the simulator.
    pub simulated: Run,
    /// Results that only a run on real frames has.
    pub wire: WireFacts,
}

/// What only a run on real frames has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WireFacts {
    /// The mechanism that carried frames: `packet`, `xdp` or `memory`.
    pub backend: &'static str,
    /// The clock of all nodes: `elastic` or `real`.
    pub clock: &'static str,
    /// The worst feedback latency: the latest control frame, then the latest data frame, both when they
    /// left and when they came, and two frames that cannot be interrupted. `None` if nothing was measured.
    pub tau: Option<Span>,
    /// What the thresholds were checked with; the least where ports differ.
    pub tau_configured: Span,
    /// How late control and data frames were, the worst of all nodes.
    pub lateness: Lateness,
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
    /// Frames that did not fit: flow control has failed.
    pub overruns: u64,
    /// Frames that the kernel has dropped, for want of room or because an interface was down.
    pub kernel_drops: u64,
    /// Frames that nobody understood or wanted.
    pub strays: u64,
    /// Frames that a wire has swallowed.
    pub vanished: u64,
    /// The messages of all nodes.
    pub messages: Vec<String>,
}

/// Why there is nothing to measure.
#[derive(Debug, thiserror::Error)]
pub enum BedError {
    /// The scenario has something that real nodes have not.
    #[error(transparent)]
    Unsupported(#[from] plan::Unsupported),
    /// One thread cannot have all nodes and be quick enough.
    #[error("too fast for the lockstep: {0}")]
    TooFast(String),
    /// The kernel does not let us.
    #[error("{0}; --backend memory needs no privileges")]
    Unprivileged(net::Unprivileged),
    /// Namespaces, interfaces or sockets failed.
    #[error("the testbed's wires: {0}")]
    Wires(io::Error),
    /// The files of processes failed.
    #[error("the testbed's files: {0}")]
    Files(io::Error),
    /// The process of a node failed.
    #[error("{0}")]
    Node(String),
    /// It was broken off before anything was measured.
    #[error("interrupted before anything was measured")]
    Interrupted,
}

/// Somebody who looks at a testbed while it runs; a function that is told how far it is will do.
pub trait Watch {
    /// The simulation is done, and real frames are next.
    fn begin(&mut self) {}

    /// How far the simulation, and then the run on real frames, has come; the answer says whether
    /// to go on.
    fn progress(&mut self, progress: Progress) -> ControlFlow<()>;

    /// This is how all nodes stand, a few times a second, where one thread has them all.
    fn see(&mut self, _nodes: &[NodePlan], _statuses: Vec<NodeReport>) {}
}

impl<F: FnMut(Progress) -> ControlFlow<()>> Watch for F {
    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        self(progress)
    }
}

/// Makes sure that the testbed may be built; to be called before threads start.
pub fn prepare(backend: Backend) -> Result<(), BedError> {
    if backend != Backend::Memory {
        net::become_root().map_err(BedError::Unprivileged)?;
    }
    Ok(())
}

/// Runs `scenario` in the simulator and on real frames. `watch` looks at it now and then and may break
/// it off.
pub fn measure(
    scenario: impl Into<Arc<Scenario>>,
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<Measured, BedError> {
    let scenario = scenario.into();
    // Nobody shall wait for a simulation to hear that this cannot be.
    check(&scenario.config)?;
    if options.program.is_none() {
        tick::of(&scenario)?;
    }
    let simulated = Run::execute(Arc::clone(&scenario), |progress| watch.progress(progress));
    if simulated.interrupted {
        return Err(BedError::Interrupted);
    }
    watch.begin();
    let (run, mut wire) = match &options.program {
        None => lockstep::measure(Arc::clone(&scenario), options, watch)?,
        Some(program) => processes::measure(Arc::clone(&scenario), options, program, watch)?,
    };
    let stop = &scenario.config.stop;
    if options.program.is_some() && (stop.deadlock || stop.done) {
        wire.messages.push(STOP_UNHEEDED.to_string());
    }
    Ok(Measured { run, simulated, wire })
}

/// Why a run in processes does not end before its time.
const STOP_UNHEEDED: &str = "processes run for the whole duration: nobody sees all of them at once, \
    so `stop_on` is for one thread";

/// Refuses what real nodes, or whoever watches them, cannot do.
fn check(config: &Config) -> Result<(), plan::Unsupported> {
    let mut reasons = plan::refusals(config);
    if config.stop.steady.is_some() {
        let reason = "real nodes are never quite steady; take `steady` out of `stop_on`";
        reasons.push(reason.to_string());
    }
    if reasons.is_empty() { Ok(()) } else { Err(plan::Unsupported { reasons }) }
}

fn run_of(scenario: Arc<Scenario>, measurements: Measurements, begin: Instant) -> Run {
    let interrupted = measurements.ended == Ended::Interrupted;
    let outcome = outcome::outcome(&scenario.config, measurements);
    Run { interrupted, ..Run::of(scenario, outcome, begin) }
}

impl WireFacts {
    /// What `reports` of all nodes say.
    pub fn of(scenario: &Scenario, reports: &[NodeReport]) -> WireFacts {
        let ports = || reports.iter().flat_map(|report| &report.ports);
        let sum = |count: &dyn Fn(&PortCounters) -> u64| {
            ports().map(|port| count(&port.counters)).sum::<u64>()
        };
        let receives = || reports.iter().flat_map(|report| &report.receives);
        let lateness = Lateness {
            control: worst(reports.iter().map(|it| it.lateness.control)),
            data: worst(reports.iter().map(|it| it.lateness.data)),
            control_sent: worst(reports.iter().map(|it| it.lateness.control_sent)),
            data_sent: worst(reports.iter().map(|it| it.lateness.data_sent)),
        };
        let configured = scenario.port_groups.iter().map(|group| group.tau);
        WireFacts {
            tau: lateness.tau(frame_span(&scenario.config)),
            tau_configured: configured.min().unwrap_or(Span::ZERO),
            lateness,
            sequence_gaps: receives().map(|flow| flow.missing).sum(),
            reordered: receives().map(|flow| flow.reordered).sum(),
            duplicates: receives().map(|flow| flow.duplicates).sum(),
            astray: receives().map(|flow| flow.astray).sum(),
            restarts: receives().map(|flow| flow.restarts).sum(),
            overruns: sum(&|port| port.overruns),
            kernel_drops: sum(&|port| port.kernel_drops + port.send_failures),
            strays: sum(&|port| port.malformed + port.oversized + port.unknown + port.unwelcome),
            ..WireFacts::default()
        }
    }

    /// Whether feedback took longer than the thresholds allow for.
    pub fn is_tau_exceeded(&self) -> bool {
        self.tau.is_some_and(|tau| tau > self.tau_configured)
    }
}

/// The largest of each quantile, over all frames that there are.
fn worst(all: impl Iterator<Item = Quantiles>) -> Quantiles {
    all.fold(Quantiles::default(), |worst, it| Quantiles {
        count: worst.count + it.count,
        p50: worst.p50.max(it.p50),
        p99: worst.p99.max(it.p99),
        p999: worst.p999.max(it.p999),
        max: worst.max.max(it.max),
    })
}

/// How long the largest packet takes on the slowest link.
fn frame_span(config: &Config) -> Span {
    let packet = config.flows.iter().map(|flow| flow.packet).max();
    let slowest = config.topology.links().iter().map(|link| link.rate).min();
    match (packet, slowest) {
        (Some(packet), Some(rate)) => rate.tx_span(packet.max(Bytes::new(64))),
        _ => Span::ZERO,
    }
}
