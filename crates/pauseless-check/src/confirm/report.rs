//! What came of a cycle, for people and for programs.

use std::fmt::Write;

use pauseless_core::unit::{Rate, Time};

use super::{Attempt, Confirmation, DisciplineOutcome, FlowSet, SafeRate, Simulated};
use pauseless_text::quantity;
use pauseless_text::records;
use pauseless_text::unit::Quantity;

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
        quantity::span(simulated.duration),
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
        out.push_str("  That is what was found in simulations, and no proof.\n");
    }
    out
}

fn result(outcome: &DisciplineOutcome) -> String {
    let DisciplineOutcome { seeds, deadlocks, first, median, .. } = outcome;
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

records! {
    /// The result of simulating a cycle of buffers.
    pub struct ConfirmationRecord(confirmation: &Confirmation) after {
        let (not_simulated, simulated) = match confirmation {
            Confirmation::NotSimulated { reason } => (Some(reason.clone()), None),
            Confirmation::Simulated(simulated) => (None, Some(SimulatedRecord::new(simulated))),
        };
    } {
        /// Why it was not simulated; null if it was.
        not_simulated: Option<String> = not_simulated;
        /// What was found; null if it was not simulated.
        simulated: Option<SimulatedRecord> = simulated;
    }

    /// What the simulations have found.
    pub struct SimulatedRecord(simulated: &Simulated) {
        /// The flow control that was simulated: `pfc` or `cbfc`.
        flow_control: &'static str = simulated.flow_control;
        /// The buffer of every port.
        buffer_bytes: u64 = simulated.buffer.get();
        /// How long each run was at most.
        duration_ps: u64 = simulated.duration.as_ps();
        /// The fewest flows, and one per hop if the fewest do not deadlock output-queued.
        attempts: Vec<AttemptRecord> = simulated.attempts.iter().map(AttemptRecord::new).collect();
        /// At which rates there is no deadlock; null where output-queued switches do not deadlock.
        safe_rate: Option<SafeRateRecord> = simulated.safe_rate.as_ref().map(SafeRateRecord::new);
        /// The scenario file that shows it.
        scenario: String = simulated.scenario.clone();
    }

    /// Flows that send all at once.
    pub struct AttemptRecord(attempt: &Attempt) {
        /// The flows that sent: `fewest` or `one-per-hop`.
        flow_set: &'static str = attempt.flow_set.name();
        /// How many flows there were.
        flow_count: usize = attempt.flow_count;
        /// One element per queueing discipline.
        disciplines: Vec<DisciplineRecord> =
            attempt.outcomes.iter().map(DisciplineRecord::new).collect();
    }

    /// What came of the greedy flows under one queueing discipline.
    pub struct DisciplineRecord(outcome: &DisciplineOutcome) {
        /// The queueing discipline of all switches, such as `output-queued`.
        discipline: &'static str = outcome.discipline.name();
        /// How many seeds were tried.
        seeds: usize = outcome.seeds;
        /// With how many of them it deadlocks.
        deadlocks: usize = outcome.deadlocks;
        /// The time of the earliest deadlock; null if there was none.
        first_ps: Option<u64> = outcome.first.map(Time::as_ps);
        /// The time of the middle one of all deadlocks.
        median_ps: Option<u64> = outcome.median.map(Time::as_ps);
    }

    /// The rates of the flows around which the deadlock begins, output-queued.
    pub struct SafeRateRecord(rate: &SafeRate) {
        /// The highest rate per flow that was tried without a deadlock; null if every one deadlocks.
        highest_bps: Option<u64> = rate.highest.map(Rate::as_bps);
        /// The next rate that was tried above it, with one.
        deadlocking_bps: u64 = rate.deadlocking.as_bps();
        /// The slowest link of the cycle.
        slowest_link_bps: u64 = rate.slowest.as_bps();
    }
}
