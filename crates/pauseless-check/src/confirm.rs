//! `check --confirm`: does a cycle deadlock in fact?
//!
//! A cycle of buffers is necessary for a deadlock and not sufficient: it depends on rates and on
//! how switches queue. So the fewest flows that close it are simulated under the flow control of
//! the fabric, and if they do not deadlock a flow for each of its hops. They are alone, since what
//! else a fabric carries is not known; a deadlock of theirs is one that the fabric can have, while
//! none is a finding about these flows only.

mod bench;
mod crowd;
pub(crate) mod plan;
mod report;

use std::num::NonZero;
use std::ops::ControlFlow;
use std::thread;

use pauseless_core::switch::Discipline;
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::dependency::Component;

use bench::Bench;
use pauseless_fabric::fabric::Fabric;
use pauseless_text::named;
use plan::{Case, Plan};

pub use report::{
    AttemptRecord, ConfirmationRecord, DisciplineRecord, SafeRateRecord, SimulatedRecord, text,
};

/// The result of simulating a cycle of buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confirmation {
    /// The cycle was simulated, with these results.
    Simulated(Simulated),
    /// The cycle cannot be simulated.
    NotSimulated {
        /// Why, as the rest of a sentence.
        reason: String,
    },
}

/// What the simulations of a cycle have found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simulated {
    /// The scenario file of the earliest deadlock, if possible an output-queued one; where there
    /// is none, of the first run.
    pub scenario: String,
    /// The flow control that was simulated: `pfc` or `cbfc`.
    pub flow_control: &'static str,
    /// The buffer of every port.
    pub buffer: Bytes,
    /// How long each run was at most.
    pub duration: Span,
    /// The fewest flows, and one per hop if the fewest do not deadlock output-queued.
    pub attempts: Vec<Attempt>,
    /// How many of the fewest flows can be left out in turn without the deadlock going away; other
    /// than zero would be a bug of ours. `None` where the fewest do not deadlock output-queued.
    pub needless: Option<usize>,
    /// At which rates the flows of the last attempt do not deadlock. `None` where they do not
    /// output-queued.
    pub safe_rate: Option<SafeRate>,
}

impl Simulated {
    /// Whether any run deadlocks.
    pub fn is_deadlock(&self) -> bool {
        let outcomes = self.attempts.iter().flat_map(|attempt| &attempt.outcomes);
        outcomes.into_iter().any(|outcome| outcome.deadlocks > 0)
    }
}

/// Flows that send all at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// How they were chosen.
    pub flow_set: FlowSet,
    /// The number of flows that sent.
    pub flow_count: usize,
    /// One element per queueing discipline, in the order of [`Discipline::COMMON`].
    pub outcomes: Vec<DisciplineOutcome>,
}

named! {
    /// The flows that are made to send.
    pub enum FlowSet {
        /// The fewest that close the cycle.
        Fewest = "fewest",
        /// One that enters at each hop of the cycle and stays as long as it can.
        OnePerHop = "one-per-hop",
    }
}

/// What came of the greedy flows under one queueing discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisciplineOutcome {
    /// The queueing discipline of all switches.
    pub discipline: Discipline,
    /// How many seeds were tried.
    pub seeds: usize,
    /// With how many of them it deadlocks.
    pub deadlocks: usize,
    /// The time of the earliest deadlock; `None` if there was none.
    pub first: Option<Time>,
    /// The middle one of all deadlocks, the earlier of two.
    pub median: Option<Time>,
}

/// The rates of the flows around which the deadlock begins, output-queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SafeRate {
    /// The highest rate per flow that was tried and at which no seed deadlocks; `None` if every
    /// rate that was tried does.
    pub highest: Option<Rate>,
    /// The next rate that was tried above it: there some seed deadlocks.
    pub deadlocking: Rate,
    /// The slowest link of the cycle.
    pub slowest: Rate,
}

/// How much to simulate.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How long each run is at most; `None` for the time in which the slowest link of the cycle
    /// carries 50 MB.
    pub duration: Option<Span>,
    /// How many seeds are tried, at least one.
    pub seeds: usize,
    /// How many runs at once; `None` for as many as the machine has cores.
    pub threads: Option<NonZero<usize>>,
}

impl Default for Options {
    fn default() -> Options {
        Options { duration: None, seeds: 5, threads: None }
    }
}

/// Simulates flows that close the cycle of `component`. `progress` hears how many runs are done,
/// of how many; `None` comes back when it has broken off.
pub fn confirm(
    fabric: &Fabric,
    component: &Component,
    options: &Options,
    progress: impl FnMut(usize, usize) -> ControlFlow<()>,
) -> Option<Confirmation> {
    let not_simulated = |reason| Some(Confirmation::NotSimulated { reason });
    let plan = match Plan::fewest(fabric, component, options.duration) {
        Ok(plan) => plan,
        Err(reason) => return not_simulated(reason),
    };
    if let Err(problems) = bench::parse(&plan.text(&greedy(Discipline::OutputQueued, 1))) {
        return not_simulated(format!("its scenario is refused: {problems}"));
    }
    let seeds = options.seeds.max(1);
    let mut examination = Examination {
        bench: Bench {
            threads: options.threads.unwrap_or_else(cores),
            progress,
            done: 0,
            total: Discipline::COMMON.len() * seeds + plan.flow_count() + SEARCH_STEPS * seeds,
            plan,
        },
        seeds,
    };
    let (mut attempt, mut scenario) = examination.attempt()?;
    let mut attempts = vec![attempt.clone()];
    if attempt.outcomes[0].deadlocks == 0
        && let Some(plan) = Plan::one_per_hop(fabric, component, options.duration)
    {
        examination.bench.plan = plan;
        examination.bench.total += Discipline::COMMON.len() * seeds;
        let fewest = attempts.iter().flat_map(|attempt| &attempt.outcomes);
        let is_found = fewest.into_iter().any(|outcome| outcome.deadlocks > 0);
        let text;
        (attempt, text) = examination.attempt()?;
        if attempt.outcomes[0].deadlocks > 0 || !is_found {
            scenario = text;
        }
        attempts.push(attempt.clone());
    }
    let simulated = examination.conclude(&attempt, scenario)?;
    Some(Confirmation::Simulated(Simulated { attempts, ..simulated }))
}

/// The runs of one cycle in their order.
struct Examination<P> {
    bench: Bench<P>,
    seeds: usize,
}

impl<P: FnMut(usize, usize) -> ControlFlow<()>> Examination<P> {
    /// Runs the greedy flows of the plan, and returns the scenario that tells the most, too.
    fn attempt(&mut self) -> Option<(Attempt, String)> {
        let cases = Discipline::COMMON.iter();
        let cases = cases.flat_map(|discipline| self.seeded(greedy(*discipline, 0)));
        let cases = Vec::from_iter(cases);
        let times = self.bench.times(&cases)?;
        let by_discipline = Discipline::COMMON.iter().zip(times.chunks(self.seeds));
        let outcomes = by_discipline.map(|(discipline, times)| outcome(*discipline, times));
        let plan = &self.bench.plan;
        let attempt = Attempt {
            flow_set: plan.flow_set,
            flow_count: plan.flow_count(),
            outcomes: outcomes.collect(),
        };
        Some((attempt, plan.text(&telling(&cases, &times))))
    }

    /// Looks for what ends the deadlock of the last attempt.
    fn conclude(&mut self, last: &Attempt, scenario: String) -> Option<Simulated> {
        let (mut needless, mut safe_rate) = (None, None);
        if last.outcomes[0].deadlocks > 0 {
            if last.flow_set == FlowSet::Fewest {
                needless = Some(self.needless()?);
            }
            safe_rate = Some(self.safe_rate()?);
        }
        let plan = &self.bench.plan;
        Some(Simulated {
            scenario,
            flow_control: plan.flow_control(),
            buffer: plan.buffer,
            duration: plan.duration,
            attempts: Vec::new(),
            needless,
            safe_rate,
        })
    }

    /// How many of the flows can be left out without the deadlock going away. One seed is enough,
    /// since without any of them there is no cycle left.
    fn needless(&mut self) -> Option<usize> {
        let flows = 0..self.bench.plan.flow_count();
        let cases =
            flows.map(|flow| Case { left_out: Some(flow), ..greedy(Discipline::OutputQueued, 1) });
        Some(self.bench.times(&Vec::from_iter(cases))?.iter().flatten().count())
    }

    /// Halves the range of rates until it is a thousandth.
    fn safe_rate(&mut self) -> Option<SafeRate> {
        let (pace_max, slowest) = (self.bench.plan.pace_max, self.bench.plan.slowest);
        let rate = |parts: u64| {
            let bps = u128::from(pace_max.as_bps()) * u128::from(parts) / u128::from(PARTS);
            Rate::new(bps as u64)
        };
        let (mut low, mut high) = (0, PARTS);
        while high - low > 1 {
            let middle = low.midpoint(high);
            let case = Case { rate: rate(middle), ..greedy(Discipline::OutputQueued, 0) };
            let cases = self.seeded(case);
            if self.bench.any(&cases)? { high = middle } else { low = middle }
        }
        Some(SafeRate { highest: rate(low), deadlocking: rate(high).unwrap_or(pace_max), slowest })
    }

    fn seeded(&self, case: Case) -> Vec<Case> {
        let seeds = 1..=self.seeds as u64;
        seeds.map(|seed| Case { seed, ..case }).collect()
    }
}

fn greedy(discipline: Discipline, seed: u64) -> Case {
    Case { discipline, seed, rate: None, left_out: None }
}

fn outcome(discipline: Discipline, times: &[Option<Time>]) -> DisciplineOutcome {
    let mut deadlocks = Vec::from_iter(times.iter().flatten().copied());
    deadlocks.sort_unstable();
    DisciplineOutcome {
        discipline,
        seeds: times.len(),
        deadlocks: deadlocks.len(),
        first: deadlocks.first().copied(),
        median: deadlocks.get(deadlocks.len().saturating_sub(1) / 2).copied(),
    }
}

/// The earliest deadlock of the first discipline that has one.
fn telling(cases: &[Case], times: &[Option<Time>]) -> Case {
    let order = |discipline| Discipline::COMMON.iter().position(|one| *one == discipline);
    let found = cases.iter().zip(times).filter_map(|(case, time)| time.map(|time| (case, time)));
    let found = found.min_by_key(|(case, time)| (order(case.discipline), *time, case.seed));
    *found.map_or(&cases[0], |(case, _)| case)
}

fn cores() -> NonZero<usize> {
    thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)
}

/// The rates that are tried are so many parts of the highest.
const PARTS: u64 = 1_000;

/// The number of halvings that find one part among [`PARTS`].
const SEARCH_STEPS: usize = 10;
