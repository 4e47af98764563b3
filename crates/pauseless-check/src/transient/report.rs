//! What happens while switches learn, for people and for programs.

use std::fmt::Write;

use pauseless_core::id::NodeId;
use pauseless_core::unit::{Span, Time};
use pauseless_fabric::fabric::Fabric;
use pauseless_text::quantity;
use pauseless_text::records;
use pauseless_text::terminal::{Mood, Paint};

use super::{Examined, Found, Setting, Transient, Trial};

/// A paragraph for people, behind the report of failures.
pub fn text(fabric: &Fabric, transient: &Transient, paint: Paint) -> String {
    let mut out = headline(transient, paint);
    if !transient.is_complete {
        out.push_str("Broken off; what follows is what was found until then.\n");
    }
    let safe = quantity::count(transient.safe as u64);
    let rest = transient.cyclic.len();
    let _ = writeln!(
        out,
        "After {safe} of {} failures the old and the new routes together have no cycle: there no \
         order in which switches learn of it can deadlock.",
        quantity::count(transient.failure_count as u64)
    );
    let hidden = rest - transient.examined.len();
    if hidden > 0 {
        let _ = writeln!(
            out,
            "Of the other {rest} those with most buffers in cycles were simulated, {}; \
             --transient-failures has more.",
            transient.examined.len()
        );
    }
    for one in &transient.examined {
        out.push_str(&paragraph(fabric, one));
    }
    if !transient.examined.is_empty() {
        out.push_str("That is what was found in simulations, and no proof.\n");
    }
    out
}

/// The first line of the report: the verdict.
pub fn headline(transient: &Transient, paint: Paint) -> String {
    let all: usize = transient.examined.iter().map(|one| one.trials.len()).sum();
    let deadlocks: usize = transient.examined.iter().map(Examined::deadlocks).sum();
    let runs = quantity::plural(all as u64, "order");
    match (all, deadlocks) {
        (0, _) if transient.safe == transient.failure_count => {
            let none = paint.paint(Mood::Good, "no deadlock while switches learn");
            format!("{none}, in any order\n")
        }
        (0, _) => "Nothing was simulated.\n".to_string(),
        (_, 0) => {
            let none = paint.paint(Mood::Good, "no deadlock while switches learn");
            format!("{none}, in {runs} simulated\n")
        }
        (_, found) => {
            let some = paint.paint(Mood::Bad, "deadlock while switches learn");
            format!("{some}, in {} of {runs} simulated\n", quantity::count(found as u64))
        }
    }
}

fn paragraph(fabric: &Fabric, one: &Examined) -> String {
    let learners = quantity::plural(one.learners.len() as u64, "switch");
    let mut out = format!("\n  {} fails, and {learners} must change tables: ", one.failed);
    if let Some(reason) = &one.refused {
        let _ = writeln!(out, "not simulated, because {reason}.");
        return out;
    }
    let (deadlocks, all) = (one.deadlocks(), one.trials.len());
    let _ = writeln!(out, "{deadlocks} of {} deadlock", quantity::plural(all as u64, "order"));
    if let Some(setting) = &one.setting {
        let _ = writeln!(out, "    {}", sentence(setting));
    }
    if let Some((trial, found)) = one.earliest() {
        let _ = writeln!(out, "    earliest {}: {}", instant(found), found.cycle.join(" -> "));
        let _ = writeln!(out, "      order: {}", order(fabric, &trial.order));
    }
    let calm = one.trials.iter().find(|trial| trial.found.is_none());
    if let Some(trial) = calm.filter(|_| deadlocks > 0) {
        let _ = writeln!(out, "    none in this order: {}", order(fabric, &trial.order));
    }
    out
}

fn sentence(setting: &Setting) -> String {
    let circling = match setting.circling {
        0 => "none of which can run in a circle".to_string(),
        count if count == setting.flow_count => "all of which can run in a circle".to_string(),
        count => format!("of which {count} can run in a circle"),
    };
    format!(
        "{} at full rate, {circling}; one switch every {}, under {} with {} per port",
        quantity::plural(setting.flow_count as u64, "flow"),
        quantity::span(setting.step),
        setting.flow_control,
        quantity::bytes(setting.buffer),
    )
}

fn instant(found: &Found) -> String {
    match found.after_failure {
        Some(after) => {
            format!(
                "at {}, {} after the failure",
                quantity::time(found.time),
                quantity::span(after)
            )
        }
        None => format!("at {}, before the failure", quantity::time(found.time)),
    }
}

/// The whole order: whoever wants to know it wants to write it into a file.
fn order(fabric: &Fabric, order: &[NodeId]) -> String {
    let names = order.iter().map(|node| fabric.topology.node(*node).name.as_str());
    Vec::from_iter(names).join(", ")
}

records! {
    /// What was found while switches learn of failures.
    pub struct TransientRecord(fabric: &Fabric, transient: &Transient) {
        /// How many failures there are: every single link between switches, and every switch.
        failure_count: usize = transient.failure_count;
        /// After how many of them the old and the new routes together have no cycle, so that no order in
        /// which switches learn deadlocks.
        safe_count: usize = transient.safe;
        /// The other failures, those with most buffers in cycles of both routes first.
        cyclic: Vec<String> = transient.cyclic.clone();
        /// Present and true when it was broken off.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        interrupted: bool = !transient.is_complete;
        /// The failures that were simulated, those with most buffers in cycles first.
        examined: Vec<ExaminedRecord> =
            transient.examined.iter().map(|one| ExaminedRecord::new(fabric, one)).collect();
    }

    /// A failure that was simulated with several orders in which switches learn of it.
    pub struct ExaminedRecord(fabric: &Fabric, one: &Examined) after {
        let names = |nodes: &[NodeId]| {
            Vec::from_iter(nodes.iter().map(|node| fabric.topology.node(*node).name.clone()))
        };
        let setting = one.setting.as_ref();
    } {
        /// The link or the switch that fails.
        failed: String = one.failed.clone();
        /// How many buffers lie in cycles of the old and the new routes together.
        buffers: usize = one.buffers;
        /// The switches whose tables change; the order of others does not matter.
        learners: Vec<String> = names(&one.learners);
        /// Why it was not simulated; null if it was.
        not_simulated: Option<String> = one.refused.clone();
        /// The flow control that was simulated: `pfc` or `cbfc`.
        flow_control: Option<&'static str> = setting.map(|setting| setting.flow_control);
        /// The buffer of every port.
        buffer_bytes: Option<u64> = setting.map(|setting| setting.buffer.get());
        /// How many flows send.
        flow_count: Option<usize> = setting.map(|setting| setting.flow_count);
        /// How many of them can be sent in a circle.
        circling_flow_count: Option<usize> = setting.map(|setting| setting.circling);
        /// The time between one switch and the next.
        step_ps: Option<u64> = setting.map(|setting| setting.step.as_ps());
        /// How many of the orders deadlock.
        deadlocks: usize = one.deadlocks();
        /// The orders that were tried.
        orders: Vec<TrialRecord> =
            one.trials.iter().map(|trial| TrialRecord::new(fabric, trial)).collect();
        /// The scenario file of the earliest deadlock, or of the first order if there was none.
        scenario: String = one.scenario.clone();
    }

    /// The result of one run: what came of an order in which switches learn.
    pub struct TrialRecord(fabric: &Fabric, trial: &Trial) after {
        let names = trial.order.iter().map(|node| fabric.topology.node(*node).name.clone());
    } {
        /// The switches in the order in which they learn of the failure.
        order: Vec<String> = names.collect();
        /// The deadlock; null if there was none.
        deadlock: Option<FoundRecord> = trial.found.as_ref().map(FoundRecord::new);
    }

    /// A deadlock that was simulated.
    pub struct FoundRecord(found: &Found) {
        /// The instant at which it became inevitable.
        time_ps: u64 = Time::as_ps(found.time);
        /// How long after the failure that was; null if it was before.
        after_failure_ps: Option<u64> = found.after_failure.map(Span::as_ps);
        /// The queues of its cycle, each by the port at which it waits; each waits for the next.
        cycle: Vec<String> = found.cycle.clone();
    }
}
