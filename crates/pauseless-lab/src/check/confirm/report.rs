//! What came of a cycle, for people and for programs.

use std::fmt::Write;

use pauseless_core::unit::{Rate, Time};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Attempt, Confirmation, DisciplineOutcome, FlowSet, SafeRate, Simulated};
use crate::report::quantity;
use crate::scenario::unit::Quantity;

/// A few lines, indented like those of the cycle.
pub fn text(confirmation: &Confirmation) -> String {
    match confirmation {
        Confirmation::NotSimulated { reason } => format!("  Not simulated: {reason}.\n"),
        Confirmation::Simulated(simulated) => lines(simulated),
    }
}

fn lines(simulated: &Simulated) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "  Simulated for {}, under {} with {} per port:",
        quantity::time(Time::ZERO + simulated.duration),
        simulated.flow_control,
        quantity::bytes(simulated.buffer),
    );
    for attempt in &simulated.attempts {
        let flows = match attempt.flow_set {
            FlowSet::Fewest => format!("these {} flows", attempt.flow_count),
            FlowSet::OnePerHop => format!("{} flows, one from each hop", attempt.flow_count),
        };
        let _ = writeln!(out, "    {flows}, alone and at full rate");
        for outcome in &attempt.outcomes {
            let name = outcome.discipline.name();
            let _ = writeln!(out, "      {name:<22} {}", result(outcome));
        }
    }
    if let Some(count @ 1..) = simulated.needless {
        let _ = writeln!(
            out,
            "  It deadlocks still without {count} of the flows, one at a time; this is a bug."
        );
    }
    if let Some(rate) = &simulated.safe_rate {
        let outcomes = simulated.attempts.iter().flat_map(|one| &one.outcomes);
        let seeds = outcomes.map(|outcome| outcome.seeds).max().unwrap_or(0);
        let runs = quantity::plural(seeds as u64, "run");
        let _ = writeln!(out, "  {} ({runs} each, output-queued).", sentence(rate));
        let _ = writeln!(
            out,
            "  That is what was found in simulations, and no proof."
        );
    }
    out
}

fn result(outcome: &DisciplineOutcome) -> String {
    let DisciplineOutcome {
        seeds,
        deadlocks,
        first,
        median,
        ..
    } = outcome;
    match first.zip(*median) {
        None => format!("no deadlock in {}", quantity::plural(*seeds as u64, "run")),
        Some((first, median)) => format!(
            "deadlock in {deadlocks} of {}, the first at {}, the median at {}",
            quantity::plural(*seeds as u64, "run"),
            quantity::time(first),
            quantity::time(median),
        ),
    }
}

fn sentence(rate: &SafeRate) -> String {
    let deadlocking = exact(rate.deadlocking);
    match rate.highest {
        None => format!("Even at {deadlocking} per flow there is a deadlock"),
        Some(highest) => {
            let share = highest.as_bps() as f64 / rate.slowest.as_bps() as f64;
            format!(
                "No deadlock was found at {} per flow, {} of the slowest link of the cycle; \
                 at {deadlocking} there is one",
                exact(highest),
                quantity::percent(share),
            )
        }
    }
}

/// Not rounded, since a rounded rate may be one that deadlocks.
fn exact(rate: Rate) -> String {
    rate.exact().replace("bps", "b/s")
}

/// What came of a cycle.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ConfirmationRecord {
    /// Why it was not simulated; null if it was.
    pub not_simulated: Option<String>,
    /// What was found; null if it was not simulated.
    pub simulated: Option<SimulatedRecord>,
}

/// What the simulations have found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SimulatedRecord {
    /// `pfc` or `cbfc`.
    pub flow_control: &'static str,
    /// The buffer of every port.
    pub buffer_bytes: u64,
    /// How long each run was at most.
    pub duration_ps: u64,
    /// The fewest flows, and one per hop if the fewest do not deadlock output-queued.
    pub attempts: Vec<AttemptRecord>,
    /// At which rates there is no deadlock; null where output-queued switches do not deadlock.
    pub safe_rate: Option<SafeRateRecord>,
    /// The scenario file that shows it.
    pub scenario: String,
}

/// Flows that send all at once.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AttemptRecord {
    /// `fewest` or `one-per-hop`.
    pub flow_set: &'static str,
    /// How many flows.
    pub flow_count: usize,
    /// One element per queueing discipline.
    pub disciplines: Vec<DisciplineRecord>,
}

/// What came of the greedy flows under one queueing discipline.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DisciplineRecord {
    /// `output-queued`, ..
    pub discipline: &'static str,
    /// How many seeds were tried.
    pub seeds: usize,
    /// With how many of them it deadlocks.
    pub deadlocks: usize,
    /// The earliest deadlock.
    pub first_ps: Option<u64>,
    /// The middle one of all deadlocks.
    pub median_ps: Option<u64>,
}

/// The rates of the flows around which the deadlock begins, output-queued.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SafeRateRecord {
    /// The highest rate per flow that was tried without a deadlock; null if every one deadlocks.
    pub highest_bps: Option<u64>,
    /// The next rate that was tried above it, with one.
    pub deadlocking_bps: u64,
    /// The slowest link of the cycle.
    pub slowest_link_bps: u64,
}

/// The record of one confirmation.
pub fn record(confirmation: &Confirmation) -> ConfirmationRecord {
    match confirmation {
        Confirmation::NotSimulated { reason } => ConfirmationRecord {
            not_simulated: Some(reason.clone()),
            simulated: None,
        },
        Confirmation::Simulated(simulated) => ConfirmationRecord {
            not_simulated: None,
            simulated: Some(simulated_record(simulated)),
        },
    }
}

fn simulated_record(simulated: &Simulated) -> SimulatedRecord {
    SimulatedRecord {
        flow_control: simulated.flow_control,
        buffer_bytes: simulated.buffer.get(),
        duration_ps: simulated.duration.as_ps(),
        attempts: simulated.attempts.iter().map(attempt_record).collect(),
        safe_rate: simulated.safe_rate.as_ref().map(|rate| SafeRateRecord {
            highest_bps: rate.highest.map(Rate::as_bps),
            deadlocking_bps: rate.deadlocking.as_bps(),
            slowest_link_bps: rate.slowest.as_bps(),
        }),
        scenario: simulated.scenario.clone(),
    }
}

fn attempt_record(attempt: &Attempt) -> AttemptRecord {
    let disciplines = attempt.outcomes.iter().map(|outcome| DisciplineRecord {
        discipline: outcome.discipline.name(),
        seeds: outcome.seeds,
        deadlocks: outcome.deadlocks,
        first_ps: outcome.first.map(Time::as_ps),
        median_ps: outcome.median.map(Time::as_ps),
    });
    AttemptRecord {
        flow_set: attempt.flow_set.name(),
        flow_count: attempt.flow_count,
        disciplines: disciplines.collect(),
    }
}
