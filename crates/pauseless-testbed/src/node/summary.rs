//! What is said of a node before it starts and after it has ended.

use std::fmt::Write;

use pauseless_core::port::PortConfig;
use pauseless_core::unit::Span;
use pauseless_dataplane::report::{Lateness, NodeReport, PortReport};

use super::drive;
use super::file::{NodeFile, write_clock};
use super::json::{NodeDocument, Tau};
use super::metrics::losses;
use super::screen::{self, PortSetting, Scene, Size};
use crate::plan::NodeConfig;
use pauseless_text::quantity;
use pauseless_text::terminal::{Mood, Paint};

/// What the node of `file` would do, for `--check`.
pub fn outlook(file: &NodeFile) -> String {
    let ports: &[PortConfig] = match &file.plan.config {
        NodeConfig::Switch(it) => &it.switch.ports,
        NodeConfig::Host(it) => std::slice::from_ref(&it.port),
    };
    let (name, role, network) = (file.name(), file.role.name(), file.scenario_path.display());
    let mut text = format!("{name}: a {role} of {network}\n");
    let neighbours = &file.plan.config.common().neighbours;
    let rows = neighbours.iter().zip(&file.interfaces).zip(ports);
    let _ = writeln!(
        text,
        "  {:8} {:15} {:>9}  {:>8}  flow control",
        "port", "interface", "rate", "buffer"
    );
    for ((neighbour, interface), port) in rows {
        let lane = &port.lanes[0];
        let mark = screen::mark(&lane.ingress)
            .map(|(name, mark)| format!(", {name} {}", quantity::bytes(mark)));
        let _ = writeln!(
            text,
            "  {neighbour:8} {interface:15} {:>9}  {:>8}  {}{}",
            quantity::rate(port.line.as_bps() as f64),
            quantity::bytes(lane.buffer),
            lane.ingress.name(),
            mark.unwrap_or_default(),
        );
    }
    text.push_str(&work(file));
    let wire = &file.wire;
    let _ = writeln!(
        text,
        "  clock {}, slack {}, envelope {}, back end {}; parameters hold for tau up to {}",
        write_clock(wire.pace),
        quantity::span(wire.slack),
        wire.envelope_name(),
        wire.backend_name(),
        quantity::span(file.tau()),
    );
    for remark in file.remarks() {
        let _ = writeln!(text, "  {remark}");
    }
    let here = drive::interfaces();
    let missing = file.interfaces.iter().filter(|name| !here.contains(name));
    let missing: Vec<&str> = missing.map(String::as_str).collect();
    if !missing.is_empty() {
        let (missing, here) = (missing.join(", "), here.join(", "));
        let _ = writeln!(text, "  not on this machine: {missing}; it has {here}");
    }
    text
}

/// Where a switch forwards to, or what a host sends and receives.
fn work(file: &NodeFile) -> String {
    let mut text = String::new();
    let neighbours = &file.plan.config.common().neighbours;
    match &file.plan.config {
        NodeConfig::Switch(it) => {
            let _ = writeln!(text, "  {}", it.switch.discipline.name());
            for (address, port) in &it.forwarding {
                let neighbour = &neighbours[port.index()];
                let _ = writeln!(text, "  frames to {address} leave to {neighbour}");
            }
        }
        NodeConfig::Host(it) => {
            let names = |flows: Vec<&str>| match flows.len() {
                0 => "nothing".to_string(),
                _ => flows.join(", "),
            };
            let sends = names(it.sends.iter().map(|flow| flow.name.as_str()).collect());
            let receives = names(it.receives.iter().map(|flow| flow.name.as_str()).collect());
            let _ = writeln!(text, "  sends {sends}; receives {receives}");
        }
    }
    text
}

/// What came of it, as one document. `how` says how each link was made.
pub fn document(file: &NodeFile, how: Vec<String>, report: NodeReport) -> NodeDocument {
    let tau = Tau {
        planned_ps: file.tau().as_ps(),
        measured_ps: report.lateness.tau(file.frame()).map(Span::as_ps),
    };
    NodeDocument {
        kind: file.role.name().to_string(),
        clock: write_clock(file.wire.pace),
        backends: how,
        tau,
        messages: Vec::new(),
        report,
    }
}

/// What came of it, for people: means over the whole run, and what was lost.
pub fn text(file: &NodeFile, document: &NodeDocument, paint: Paint) -> String {
    let report = &document.report;
    let start = NodeReport::default();
    let scene = Scene {
        heading: "mean of the whole run",
        before: &start,
        now: report,
        settings: &PortSetting::of(&file.plan.config),
    };
    let size = Size { rows: usize::MAX, ..Size::LEAST };
    let mut text = screen::render(&[scene], size, paint);
    text.push_str(&late(&report.lateness));
    let _ = writeln!(text, "{}", tau_sentence(document, paint));
    for verdict in verdicts(report) {
        let mood = match verdict.as_str() {
            CLEAN => Mood::Good,
            _ => Mood::Bad,
        };
        let _ = writeln!(text, "{}", paint.paint(mood, &verdict));
    }
    text
}

/// How late frames were, a line for each kind of which there were any.
fn late(lateness: &Lateness) -> String {
    let kinds = [
        ("control frames left", &lateness.control_sent),
        ("control frames were handled", &lateness.control),
        ("data frames left", &lateness.data_sent),
        ("data frames were handled", &lateness.data),
    ];
    let lines = kinds.into_iter().filter(|(_, it)| it.count > 0).map(|(what, it)| {
        let [p50, p99, most] = [it.p50, it.p99, it.max].map(quantity::span);
        format!("{what} {p50} late (p50), {p99} (p99), {most} at most\n")
    });
    lines.collect()
}

/// Whether the parameters hold, as far as anybody knows.
fn tau_sentence(document: &NodeDocument, paint: Paint) -> String {
    let tau = document.tau;
    let planned = quantity::span(Span::ps(tau.planned_ps));
    let Some(measured) = tau.measured_ps else {
        let Lateness { control, data, .. } = document.report.lateness;
        let why = match (control.count, data.count) {
            (0, 0) => "no frame came that says when it was sent",
            (0, _) => "no control frame came that says when it was sent",
            _ => "no data frame came that says when it was sent",
        };
        return format!("tau was not measured: {why}; the parameters would hold up to {planned}");
    };
    let measured = quantity::span(Span::ps(measured));
    if tau.is_exceeded() {
        paint.paint(
            Mood::Poor,
            &format!(
                "tau was up to {measured}, but the parameters hold up to {planned}: buffers may overflow"
            ),
        )
    } else {
        format!("tau was up to {measured}; the parameters hold up to {planned}")
    }
}

const CLEAN: &str = "no frame was lost here";

/// What is to be said of losses: where they happened, as far as this node can tell.
fn verdicts(report: &NodeReport) -> Vec<String> {
    let mut verdicts = Vec::new();
    if let here @ 1.. = lost_here(report) {
        verdicts.push(format!("{} lost here", quantity::plural(here, "frame")));
    }
    if let missing @ 1.. = missing(report) {
        let frames = quantity::plural(missing, "frame");
        verdicts.push(format!(
            "{frames} of flows that end here never came; the counters of the other nodes say where they are"
        ));
    }
    let silent = report.receives.iter().filter(|flow| flow.frames == 0);
    let silent: Vec<&str> = silent.map(|flow| flow.name.as_str()).collect();
    if !silent.is_empty() {
        verdicts.push(format!("nothing came of {}", silent.join(", ")));
    }
    if verdicts.is_empty() {
        verdicts.push(CLEAN.to_string());
    }
    verdicts
}

/// The good frames that were lost at this node or never came to it.
pub fn lost(report: &NodeReport) -> u64 {
    lost_here(report) + missing(report)
}

fn lost_here(report: &NodeReport) -> u64 {
    let ports = report.ports.iter().map(|port| &port.counters);
    ports.map(|it| it.overruns + it.watchdog_drops + it.kernel_drops + it.send_failures).sum()
}

fn missing(report: &NodeReport) -> u64 {
    report.receives.iter().map(|flow| flow.missing).sum()
}

/// One line of how a node stands, for a log.
pub fn line(before: &NodeReport, now: &NodeReport) -> String {
    let span = now.time.saturating_since(before.time).as_secs_f64();
    let rate = |get: fn(&PortReport) -> u64| {
        let [before, now]: [u64; 2] = [before, now].map(|it| it.ports.iter().map(get).sum());
        match span {
            0.0 => quantity::rate(0.0),
            span => quantity::rate(now.saturating_sub(before) as f64 * 8.0 / span),
        }
    };
    let input = rate(|port| port.counters.received_bytes.get());
    let output = rate(|port| port.counters.sent_bytes.get());
    let (name, time) = (&now.name, quantity::time(now.time));
    let mut line = format!("{name} at {time}: {input} in, {output} out");
    let classes = now.ports.iter().flat_map(|port| &port.classes);
    let stopped = classes.filter(|class| class.is_stopped).count();
    if stopped > 0 {
        let queues = quantity::plural(stopped as u64, "queue");
        let _ = write!(line, ", {queues} stopped");
    }
    for port in &now.ports {
        for (cause, count) in losses(&port.counters) {
            let (cause, count) = (cause.replace('_', " "), quantity::count(count));
            let _ = write!(line, ", {}: {count} {cause}", port.neighbour);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::tests;

    #[test]
    fn nobody_says_that_parameters_hold_when_nothing_was_measured() {
        let mut document = NodeDocument { report: tests::report(), ..NodeDocument::default() };
        document.report.lateness.control.count = 0;
        let tau = document.report.lateness.tau(Span::us(1));
        document.tau = Tau { planned_ps: 25_000_000, measured_ps: tau.map(Span::as_ps) };
        assert_eq!(
            tau_sentence(&document, Paint::Plain),
            "tau was not measured: no control frame came that says when it was sent; the parameters \
             would hold up to 25.0 us"
        );
        document.tau.measured_ps = Some(26_000_000);
        let text = tau_sentence(&document, Paint::Plain);
        assert!(text.starts_with("tau was up to 26.0 us, but"), "{text}");
    }
}
