#![doc = include_str!("../README.md")]
//! [`results`] declares every number, [`metrics`] computes them, [`table`] writes them, [`sample`]
//! thins curves, and [`capture`] writes frames.

pub mod capture;
pub mod metrics;
pub mod results;
pub mod sample;
pub mod table;

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pauseless_core::congestion::CongestionControl;
use pauseless_core::id::{Class, FlowId, NodeId, PortId};
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_fabric::topology::Topology;
use pauseless_sim::config::Reaction;
use pauseless_sim::outcome::{Ended, FlowSeries};
use pauseless_sim::{Outcome, Parallel, Simulator, parallel};
use serde::Serialize;

use crate::capture::{Ports, SimulatedCapture};
use crate::metrics::Metrics;
use pauseless_scenario::Scenario;
use pauseless_text::quantity;

/// The program's version: that of the package, and behind a `+` a hash of the sources that decide
/// what comes of a run, where they are at hand when it is built.
pub const VERSION: &str = env!("PAUSELESS_VERSION");

/// A scenario and what came of it.
#[derive(Debug)]
pub struct Run {
    /// What was run; a testbed has two runs of one scenario.
    pub scenario: Arc<Scenario>,
    /// Everything that the simulator found and measured.
    pub outcome: Outcome,
    /// How long it took, in seconds: the only thing here that differs from one time to the next.
    pub wall_s: f64,
    /// Whether it was broken off before its end.
    pub interrupted: bool,
    /// Whether somebody saw the state of all switches, so that no deadlock means that there was none.
    pub looks_for_deadlock: bool,
    /// What the replica of another simulator found beside it, if that ran as well.
    pub replica: Option<Comparison>,
}

/// What another simulator, by its replica, and our engine make of the same files. Fields that end in
/// `_here` are of our engine, as is everything else in a run; the others are of that simulator.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Comparison {
    /// Flows that finished in that simulator.
    pub finished: u64,
    /// Flows that finished in our engine.
    pub finished_here: u64,
    /// The mean completion time of these flows in that simulator; `null` if none finished.
    pub fct_mean_ps: Option<f64>,
    /// The mean completion time of these flows in our engine; `null` if none finished.
    pub fct_mean_ps_here: Option<f64>,
    /// The completion time that 99 % of the flows do not exceed in that simulator.
    pub fct_p99_ps: Option<u64>,
    /// The completion time that 99 % of the flows do not exceed in our engine.
    pub fct_p99_ps_here: Option<u64>,
    /// When the last of these flows finished in that simulator.
    pub last_finish_ps: Option<u64>,
    /// When the last of these flows finished in our engine.
    pub last_finish_ps_here: Option<u64>,
    /// PAUSE frames that arrived in that simulator.
    pub pause_frames: u64,
    /// PAUSE frames of our engine, with refreshes, which that simulator does not send.
    pub pause_frames_here: u64,
    /// How often a sender was paused in our engine: PAUSE frames without refreshes.
    pub pauses_here: u64,
    /// PAUSE frames that arrived in that simulator, one element for each class of flows.
    pub pause_frames_by_class: Vec<u64>,
    /// PAUSE frames of our engine, one element for each class of flows.
    pub pause_frames_by_class_here: Vec<u64>,
    /// Packets that switches dropped in that simulator.
    pub lost_packets: u64,
    /// Packets that were lost in our engine, not counting those that wires lose.
    pub lost_packets_here: u64,
    /// The mean completion time of our engine over that of the other simulator, less 1, of flows that
    /// finished in both.
    pub mean: f64,
    /// The largest difference of a flow that finished in both, as a share.
    pub largest: f64,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Simulated time so far.
    pub now: Time,
    /// The simulated time at which it ends.
    pub end: Time,
}

impl Run {
    /// The name of a queue: that of its port, with the class where there are several.
    pub fn queue_name(&self, node: NodeId, port: PortId, class: Class) -> String {
        let port = self.port_name(node, port);
        match self.scenario.config.ingress.class_count() {
            1 => port,
            _ => format!("{port} class {}", class.0),
        }
    }

    /// An instant, with the digits that tell it from the first start: runs of other simulators
    /// begin at 2 s.
    pub fn instant(&self, time: Time) -> String {
        let starts = self.scenario.config.flows.iter().map(|flow| flow.start);
        quantity::instant(time, starts.min().unwrap_or(Time::ZERO))
    }

    /// Runs `scenario` in slices. `watch` is called after each and may break the run off.
    pub fn execute(
        scenario: impl Into<Arc<Scenario>>,
        watch: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Run {
        Run::execute_on(1, scenario, watch)
    }

    /// How many of `cores` threads a run of `scenario` can use well.
    pub fn threads_for(scenario: &Scenario, cores: usize) -> usize {
        parallel::threads_for(&scenario.config, cores)
    }

    /// Why a run of `scenario` uses one thread only, if it does.
    pub fn obstacle_to_threads(scenario: &Scenario) -> Option<&'static str> {
        parallel::obstacle(&scenario.config)
    }

    /// Runs `scenario` on so many threads, with the same results as on one.
    pub fn execute_on(
        threads: usize,
        scenario: impl Into<Arc<Scenario>>,
        watch: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Run {
        let scenario = scenario.into();
        let begin = Instant::now();
        let mut simulator = Parallel::new(&scenario.config, threads);
        let Ok(interrupted) = drive(&mut simulator, scenario.config.duration, &mut Nobody, watch);
        let outcome = simulator.finish();
        Run { interrupted, ..Run::of(scenario, outcome, begin) }
    }

    /// Runs `scenario` with what passes `ports` in a capture file; also says how many frames are in
    /// it.
    pub fn capture(
        scenario: Scenario,
        path: &Path,
        ports: Ports,
        watch: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> io::Result<(Run, u64)> {
        let begin = Instant::now();
        let config = &scenario.config;
        let tap = SimulatedCapture::create(config, ports, path)?;
        let file = tap.capture();
        let mut simulator = Simulator::new(config);
        simulator.set_tap(Box::new(tap));
        let mut simulator = Parallel::from(simulator);
        let Ok(interrupted) = drive(&mut simulator, config.duration, &mut Nobody, watch);
        let outcome = simulator.finish();
        let frames = file.finish()?;
        let run = Run { interrupted, ..Run::of(scenario, outcome, begin) };
        Ok((run, frames))
    }

    /// `outcome` of a run of `scenario` since `begin` that came to its end.
    pub fn of(scenario: impl Into<Arc<Scenario>>, outcome: Outcome, begin: Instant) -> Run {
        Run {
            scenario: scenario.into(),
            outcome,
            wall_s: begin.elapsed().as_secs_f64(),
            interrupted: false,
            looks_for_deadlock: true,
            replica: None,
        }
    }

    /// Why it ended, as results have it: `duration`, `deadlock`, `done`, `steady` or `interrupted`.
    pub fn ended_name(&self) -> &'static str {
        if self.interrupted { Ended::Interrupted.name() } else { self.outcome.ended.name() }
    }

    /// What it has measured, in numbers that can be compared.
    pub fn metrics(&self) -> Metrics {
        Metrics::of(&self.scenario.config, &self.outcome)
    }

    /// The nodes and links of the simulated network.
    pub fn topology(&self) -> &Topology {
        &self.scenario.config.topology
    }

    /// The name of a node.
    pub fn node_name(&self, node: NodeId) -> &str {
        &self.topology().node(node).name
    }

    /// The name of a port, such as `S1:S2`.
    pub fn port_name(&self, node: NodeId, port: PortId) -> String {
        self.topology().port_name(node, port)
    }

    /// The name of a flow.
    pub fn flow_name(&self, flow: FlowId) -> &str {
        &self.scenario.config.flows[flow.index()].name
    }

    /// The rates that congestion control allowed a probed flow; `None` for one that obeys none.
    pub fn allowed_rates<'a>(&self, series: &'a FlowSeries) -> Option<&'a [f64]> {
        let flow = &self.scenario.config.flows[series.flow.index()];
        let is_told = flow.reaction != Reaction::None && !series.allowed_bps.is_empty();
        is_told.then_some(series.allowed_bps.as_slice())
    }

    /// The flow controls in use at the switches, most often one: `pfc`, `gfc-buffer`.
    pub fn flow_control(&self) -> String {
        let config = &self.scenario.config;
        let mut names = BTreeSet::new();
        for &switch in self.topology().switches() {
            for port in 0..self.topology().ports(switch).len() {
                for class in 0..config.ingress.class_count() {
                    let at = (PortId(port as u16), Class(class as u8));
                    names.insert(config.ingress.name(switch, at.0, at.1));
                }
            }
        }
        Vec::from_iter(names).join("+")
    }

    /// What holds senders back, by name: `pfc`, `pfc with dcqcn`, or `pfc, cycle-aware`.
    pub fn schemes(&self) -> String {
        let mut schemes = self.flow_control();
        match &self.scenario.config.congestion.control {
            CongestionControl::None => {}
            control => schemes.push_str(&format!(" with {}", control.name())),
        }
        if self.scenario.is_cycle_aware {
            schemes.push_str(", cycle-aware");
        }
        schemes
    }

    /// The most that any ingress queue of a switch has held.
    pub fn queue_max(&self) -> Bytes {
        self.outcome.queues.iter().map(|queue| queue.max).max().unwrap_or(Bytes::ZERO)
    }

    /// When the last flow was stopped by the scenario, if no flow went on to the end.
    /// Flows that were delivered before they could be stopped do not count.
    pub fn sources_stopped(&self) -> Option<Time> {
        let flows = self.scenario.config.flows.iter().zip(&self.outcome.flows);
        let open = flows.filter(|(flow, outcome)| outcome.finish.is_none_or(|at| at > flow.stop));
        open.map(|(flow, _)| flow.stop).max().filter(|stop| *stop < self.outcome.end)
    }

    /// Flows that get nothing at the end although they are neither finished nor stopped, other than
    /// those that close the deadlock: its victims. A deadlock that was broken has none.
    pub fn victims(&self) -> Vec<FlowId> {
        let deadlock = self.outcome.deadlock.as_ref();
        let Some(deadlock) = deadlock.filter(|_| self.outcome.is_stuck()) else {
            return Vec::new();
        };
        let flows = self.scenario.config.flows.iter().zip(&self.outcome.flows).enumerate();
        let victims = flows.filter(|(index, (flow, outcome))| {
            // What expires on its way was not stopped.
            let is_open = outcome.finish.is_none() && outcome.expired == Bytes::ZERO;
            let is_open = is_open && flow.stop > deadlock.time;
            let closes_it = deadlock.flows.contains(&FlowId(*index as u32));
            is_open && outcome.goodput_late_bps == 0.0 && !closes_it
        });
        victims.map(|(index, _)| FlowId(index as u32)).collect()
    }
}

/// A writer of files that takes what a run finds while it goes on.
pub trait Scribe {
    /// The error of a write that failed.
    type Error;

    /// The simulated time at which it must be called next, at the latest.
    fn next(&self) -> Time;

    /// Stores what is new, after each slice of the run and once more at its end.
    fn take(&mut self, simulator: &mut Parallel<'_>) -> Result<(), Self::Error>;
}

/// A scribe that writes nothing, for runs of which only the outcome matters.
struct Nobody;

impl Scribe for Nobody {
    type Error = Infallible;

    fn next(&self) -> Time {
        Time::MAX
    }

    fn take(&mut self, _: &mut Parallel<'_>) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Runs in slices, and calls `scribe` and `watch` after each; whether it was broken off.
pub fn drive<S: Scribe>(
    simulator: &mut Parallel<'_>,
    duration: Span,
    scribe: &mut S,
    mut watch: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<bool, S::Error> {
    let longest = Span::ps((duration.as_ps() / SLICES).max(1));
    let mut slice = Span::ps((longest.as_ps() / SLICES).max(1));
    let end = Time::ZERO + duration;
    let mut interrupted = false;
    while !interrupted {
        let slice_begin = Instant::now();
        let until = simulator.now().saturating_add(slice).min(scribe.next());
        let is_more = simulator.advance(until);
        scribe.take(simulator)?;
        if !is_more {
            break;
        }
        let now = simulator.now();
        interrupted = watch(Progress { now, end }).is_break();
        // Nobody waits long for an answer to Ctrl-C, however much happens in a slice.
        slice = match slice_begin.elapsed() {
            elapsed if elapsed > SLICE_WALL * 2 => Span::ps((slice.as_ps() / 2).max(1)),
            elapsed if elapsed < SLICE_WALL => longest.min(slice * 2),
            _ => slice,
        };
    }
    simulator.conclude();
    scribe.take(simulator)?;
    Ok(interrupted)
}

/// Into at least how many slices a run is cut, so that it can be watched and broken off.
const SLICES: u64 = 200;

/// About how long a slice lasts on the wall, at most.
const SLICE_WALL: Duration = Duration::from_millis(50);
