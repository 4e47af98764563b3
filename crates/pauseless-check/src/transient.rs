//! `check --failures 1 --confirm --transient`: what happens while switches learn of a failure?
//!
//! The check after failures looks at the routes when all switches know. Until then some forward by the
//! routes from before and some by those afterwards. Every dependency that there can be in that time is one
//! of the old or of the new routes, over links that still are: if both together have no cycle, no order in
//! which switches learn deadlocks. Where they have one, the failure is simulated with switches that learn
//! one after the other, in several orders, under flows that follow the tables of the moment.

mod draft;
mod orders;
mod report;
mod union;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pauseless_core::class_map::ClassMap;
use pauseless_core::id::NodeId;
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_fabric::dependency::{Checker, Component, Lane, Traffic};
use pauseless_fabric::fabric::{Fabric, Origin};
use pauseless_fabric::failure::Failures;
use pauseless_fabric::routing::{Algorithm, Routing};
use pauseless_run::Run;
use rayon::prelude::*;

use super::sweep;
use draft::Draft;
use union::Union;

pub use report::{ExaminedRecord, FoundRecord, TransientRecord, TrialRecord, headline, text};

/// How much to simulate.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How many orders of each failure are tried, at least two; all of them if there are no more.
    pub orders: usize,
    /// How many failures are simulated at most: those with most buffers in cycles.
    pub failures_max: usize,
    /// The seed of random orders and of the runs.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { orders: 16, failures_max: 8, seed: 1 }
    }
}

/// What was found while switches learn of failures.
#[derive(Clone, Debug)]
pub struct Transient {
    /// How many failures there are: every single link between switches, and every switch.
    pub failure_count: usize,
    /// After how many of them the old and the new routes together have no cycle.
    pub safe: usize,
    /// The others by name, those with most buffers in cycles first.
    pub cyclic: Vec<String>,
    /// The failures that were simulated, those with most buffers in cycles first.
    pub examined: Vec<Examined>,
    /// Whether all was done that was to be done.
    pub is_complete: bool,
}

/// A failure that was simulated.
#[derive(Clone, Debug)]
pub struct Examined {
    /// The link or the switch that fails, by name.
    pub failed: String,
    /// How many buffers lie in cycles of the old and the new routes together.
    pub buffers: usize,
    /// The switches whose tables change; the order of all others does not matter.
    pub learners: Vec<NodeId>,
    /// How the runs were made; `None` where none could be.
    pub setting: Option<Setting>,
    /// Why it was not simulated, as the rest of a sentence.
    pub refused: Option<String>,
    /// The orders that were tried.
    pub trials: Vec<Trial>,
    /// The scenario of the earliest deadlock, or of the first order if there was none.
    pub scenario: String,
}

impl Examined {
    /// How many orders deadlock.
    pub fn deadlocks(&self) -> usize {
        self.trials.iter().filter(|trial| trial.found.is_some()).count()
    }

    /// The order with the earliest deadlock.
    pub fn earliest(&self) -> Option<(&Trial, &Found)> {
        let found = self.trials.iter().filter_map(|trial| Some((trial, trial.found.as_ref()?)));
        found.min_by_key(|(_, found)| found.time)
    }
}

/// What all runs of a failure have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The flow control of all links: `pfc` or `cbfc`.
    pub flow_control: &'static str,
    /// The buffer of every port.
    pub buffer: Bytes,
    /// How many flows send, at full rate and without end.
    pub flow_count: usize,
    /// How many of them can be sent in a circle while some switches know and others do not.
    pub circling: usize,
    /// The time between one switch and the next.
    pub step: Span,
}

/// The result of one run: what came of an order in which switches learn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The switches in the order in which they learn of the failure.
    pub order: Vec<NodeId>,
    /// The deadlock, if there was one.
    pub found: Option<Found>,
}

/// A deadlock that was simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The instant at which it became inevitable, from the beginning of the run.
    pub time: Time,
    /// How long after the failure that was; `None` if it was before.
    pub after_failure: Option<Span>,
    /// The queues of its cycle by the names of their ports: each waits for the next.
    pub cycle: Vec<String>,
}

impl Transient {
    /// Whether any order deadlocks.
    pub fn is_deadlock(&self) -> bool {
        self.examined.iter().any(|one| one.deadlocks() > 0)
    }

    /// The scenario that shows the most: the earliest deadlock, or else any run.
    pub fn scenario(&self) -> Option<&str> {
        let earliest = |one: &&Examined| one.earliest().map(|(_, found)| found.time);
        let deadlocked = self.examined.iter().filter(|one| earliest(one).is_some());
        let best = deadlocked.min_by_key(earliest);
        let any = || self.examined.iter().find(|one| !one.trials.is_empty());
        best.or_else(any).map(|one| one.scenario.as_str())
    }
}

/// Examines every single failure of a link between switches and of a switch, without the end nodes of
/// `left_out`. `progress` hears how many runs are done, of how many, and how many deadlocked, from any
/// thread, and may break it off. An error says what keeps the fabric from being examined.
pub fn examine(
    fabric: &Fabric,
    left_out: &[NodeId],
    options: &Options,
    progress: impl Fn(usize, usize, usize) -> ControlFlow<()> + Sync,
) -> Result<Transient, String> {
    let routing = simulable(fabric)?;
    let marks = fabric.marks(left_out);
    let topology = &fabric.topology;
    let links = Failures::single_links(topology);
    let failures = Vec::from_iter(links.chain(Failures::single_switches(topology)));
    let checker = Checker::of(&fabric.network());
    let buffers = failures.par_iter().map_init(
        || checker.clone(),
        |checker, failure| {
            if progress(0, 0, 0).is_break() {
                return None;
            }
            let union = Union::new(fabric, routing, failure);
            Some(union.cyclic_buffers(checker, fabric, &marks))
        },
    );
    let buffers: Vec<Option<usize>> = buffers.collect();
    let mut is_complete = buffers.iter().all(Option::is_some);
    let counted = buffers.iter().enumerate().filter_map(|(case, count)| Some((case, (*count)?)));
    let mut cyclic = Vec::from_iter(counted.filter(|(_, count)| *count > 0));
    cyclic.sort_by_key(|(case, count)| (std::cmp::Reverse(*count), *case));
    let safe = buffers.iter().flatten().count() - cyclic.len();
    let names = cyclic.iter().map(|(case, _)| sweep::name(fabric, &failures[*case]).join(", "));
    let names = names.collect();
    cyclic.truncate(options.failures_max);
    let examinations = cyclic.into_iter().map(|(case, count)| {
        let union = Union::new(fabric, routing, &failures[case]);
        let component = union.explain(&mut checker.clone(), fabric, &marks);
        let case = Case { fabric, routing, failures: &failures[case], union, component };
        Examination::new(&case, count, options)
    });
    let mut examinations = Vec::from_iter(examinations);
    is_complete &= run_all(&mut examinations, &progress);
    let examined = examinations.into_iter().map(Examination::finish).collect();
    Ok(Transient { failure_count: failures.len(), safe, cyclic: names, examined, is_complete })
}

/// A failure after which the old and the new routes together have a cycle.
struct Case<'c> {
    fabric: &'c Fabric,
    routing: Routing,
    failures: &'c Failures,
    union: Union,
    /// The largest group of buffers that can wait for each other, with a shortest cycle.
    component: Component,
}

/// A failure and the runs that are to be made of it.
struct Examination {
    result: Examined,
    /// The scenario without its order; `None` where it is refused.
    draft: Option<Draft>,
    orders: Vec<Vec<NodeId>>,
}

impl Examination {
    fn new(case: &Case<'_>, buffers: usize, options: &Options) -> Examination {
        let learners = case.union.learners(case.fabric);
        let mut result = Examined {
            failed: sweep::name(case.fabric, case.failures).join(", "),
            buffers,
            setting: None,
            refused: None,
            trials: Vec::new(),
            scenario: String::new(),
            learners,
        };
        let (draft, orders) = match Draft::new(case, &result.learners, options.seed) {
            Ok(draft) => {
                result.setting = Some(draft.setting);
                (Some(draft), orders::choose(case, &result.learners, options))
            }
            Err(reason) => {
                result.refused = Some(reason);
                (None, Vec::new())
            }
        };
        Examination { result, draft, orders }
    }

    fn run(&self, order: &[NodeId], is_over: &AtomicBool) -> Option<Trial> {
        let draft = self.draft.as_ref().expect("only failures with a scenario have orders");
        let scenario = draft::parse(&draft.text(order)).expect("another order was valid");
        let run = Run::execute(scenario, |_| {
            if is_over.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        if run.interrupted {
            return None;
        }
        let found = run.outcome.deadlock.as_ref().map(|deadlock| Found {
            time: deadlock.time,
            after_failure: (deadlock.time >= draft::FAILS_AT)
                .then(|| deadlock.time - draft::FAILS_AT),
            cycle: deadlock.cycle.iter().map(|at| run.port_name(at.node, at.port)).collect(),
        });
        Some(Trial { order: order.to_vec(), found })
    }

    fn finish(self) -> Examined {
        let mut result = self.result;
        let shown = result.earliest().map(|(trial, _)| trial);
        let shown = shown.or(result.trials.first()).map(|trial| trial.order.clone());
        if let (Some(order), Some(draft)) = (shown, &self.draft) {
            result.scenario = draft.text(&order);
        }
        result
    }
}

/// Makes all runs on all cores; whether none was left out. What comes of them does not depend on how many
/// there are at once.
fn run_all(
    examinations: &mut [Examination],
    progress: &(impl Fn(usize, usize, usize) -> ControlFlow<()> + Sync),
) -> bool {
    let numbered = examinations.iter().enumerate();
    let runs = numbered.flat_map(|(at, one)| one.orders.iter().map(move |order| (at, order)));
    let runs = Vec::from_iter(runs);
    let (done, found) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let is_over = AtomicBool::new(false);
    let trials = runs.par_iter().map(|(at, order)| {
        if is_over.load(Ordering::Relaxed) {
            return None;
        }
        let trial = examinations[*at].run(order, &is_over)?;
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        let more = usize::from(trial.found.is_some());
        let found = found.fetch_add(more, Ordering::Relaxed) + more;
        if progress(done, runs.len(), found).is_break() {
            is_over.store(true, Ordering::Relaxed);
        }
        Some((*at, trial))
    });
    let trials: Vec<Option<(usize, Trial)>> = trials.collect();
    let is_complete = trials.iter().all(Option::is_some);
    for (at, trial) in trials.into_iter().flatten() {
        examinations[at].result.trials.push(trial);
    }
    is_complete
}

/// The rule by which a fabric routes before and after a failure, if it can be simulated at all.
fn simulable(fabric: &Fabric) -> Result<Routing, String> {
    let Origin::Rule(routing) = fabric.origin else {
        return Err(
            "the files have routes or flows, and no rule that says what routes become after a failure; \
                    say with --routing by which rule the fabric routes"
                .to_string(),
        );
    };
    if let Algorithm::DimensionOrder(_) = routing.algorithm {
        return Err("dimension order knows no way around a failure; try --routing ecmp".to_string());
    }
    let is_only = |lane: &Lane| *lane == Lane::ONLY;
    let is_one = match &fabric.traffic {
        Traffic::AllPairs(lanes) => lanes.iter().all(is_only),
        Traffic::Demands(demands) => demands.iter().all(|demand| is_only(&demand.lane)),
    };
    if !is_one || fabric.classes != ClassMap::Same {
        return Err("its packets use several classes, and a simulation of failures lets them \
                    travel in one only"
            .to_string());
    }
    Ok(routing)
}
