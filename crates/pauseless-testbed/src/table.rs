//! The testbed's runs in one table: what was measured above what was simulated.

use super::{Measured, WireFacts};
use pauseless_report::html::goodputs;
use pauseless_report::text::mood_of_run;
use pauseless_report::verdict;
use pauseless_run::Run;
use pauseless_text::quantity;
use pauseless_text::terminal::{Mood, Paint, Table};

/// Two lines for each run.
pub fn table(runs: &[Measured], paint: Paint) -> String {
    let flows = shared_flows(runs);
    let mut heads = vec![("run", false), ("frames", false), ("verdict", false)];
    match &flows {
        Some(names) => heads.extend(names.iter().map(|name| (*name, true))),
        None => heads.push(("late goodput", true)),
    }
    heads.extend([
        ("largest queue", true),
        ("lost", true),
        ("tau", true),
        ("after the sources stop", false),
    ]);
    let heads = heads.into_iter();
    let mut table =
        Table::with(heads.map(|(head, is_right)| (head.to_string(), is_right)).collect());
    for measured in runs {
        let name = measured.run.scenario.name.clone();
        let lines = [
            (name, frames(measured), &measured.run, measured_tau(&measured.wire)),
            (
                String::new(),
                "simulated",
                &measured.simulated,
                quantity::span(measured.wire.tau_configured),
            ),
        ];
        for (name, frames, run, tau) in lines {
            let mut row = vec![name, frames.to_string(), verdict::brief(run)];
            row.extend(rates(run, flows.is_some()));
            row.extend([
                quantity::bytes(run.queue_max()),
                quantity::count(run.outcome.lost_packets),
                tau,
                verdict::aftermath(run).unwrap_or_default(),
            ]);
            table.push(row);
        }
    }
    table.render(|row, column, cell| {
        let measured = &runs[row / 2];
        let run = [&measured.run, &measured.simulated][row % 2];
        match column {
            0 => paint.paint(Mood::Strong, cell),
            2 => paint.paint(mood_of_run(run), cell),
            _ => cell.to_string(),
        }
    })
}

/// What a reader must know before trusting a run; nothing if all is well.
pub fn remarks(measured: &Measured) -> Vec<String> {
    let wire = &measured.wire;
    let mut remarks = Vec::new();
    if wire.is_tau_exceeded() {
        remarks.push(format!(
            "tau was exceeded: {} measured, {} configured; buffers may overflow",
            measured_tau(wire),
            quantity::span(wire.tau_configured),
        ));
    }
    if wire.tau.is_none() {
        remarks.push(
            "tau was not measured: no control frame or no data frame came that says when it was sent"
                .to_string(),
        );
    }
    let counted = [
        (wire.sequence_gaps, "packet missing by its number"),
        (wire.reordered, "packet out of order"),
        (wire.duplicates, "packet twice"),
        (wire.astray, "packet with a number far above the others"),
        (wire.restarts, "source started again"),
        (wire.overruns, "frame that did not fit"),
        (wire.kernel_drops, "frame dropped by the kernel"),
        (wire.vanished, "frame swallowed by a wire"),
        (wire.strays, "frame that nobody understood or wanted"),
    ];
    for (count, noun) in counted.into_iter().filter(|(count, _)| *count > 0) {
        remarks.push(format!("{} x {noun}", quantity::count(count)));
    }
    remarks.extend(wire.messages.iter().cloned());
    remarks
}

/// The names of the flows, if all runs have the same few.
fn shared_flows(runs: &[Measured]) -> Option<Vec<&str>> {
    let names = |measured: &'_ Measured| -> Vec<String> {
        measured.run.scenario.config.flows.iter().map(|flow| flow.name.clone()).collect()
    };
    let first = runs.first()?;
    let is_shared = runs.iter().all(|it| names(it) == names(first));
    let flows = &first.run.scenario.config.flows;
    (is_shared && flows.len() <= FLOWS_MAX)
        .then(|| flows.iter().map(|flow| flow.name.as_str()).collect())
}

fn rates(run: &Run, is_apart: bool) -> Vec<String> {
    if is_apart {
        run.outcome.flows.iter().map(|flow| quantity::rate(flow.goodput_late_bps)).collect()
    } else {
        vec![goodputs(run)]
    }
}

/// The measured tau in words.
pub(super) fn measured_tau(wire: &WireFacts) -> String {
    wire.tau.map_or("not measured".to_string(), quantity::span)
}

/// The most flows that have columns of their own.
const FLOWS_MAX: usize = 4;

/// What carried the frames, in a word.
pub(super) fn frames(measured: &Measured) -> &'static str {
    match measured.wire.backend {
        "memory" => "in memory",
        _ => "real",
    }
}
