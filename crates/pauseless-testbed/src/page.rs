//! One page: measured curves with the simulator's laid over them.

use std::fmt::Write;

use super::Measured;
use super::table::{frames, measured_tau, remarks};
use pauseless_figures as draw;
use pauseless_figures::colour::PALETTE;
use pauseless_figures::figure::{Series, Source};
use pauseless_report::figure::{Panel, compare, curve, kb, levels};
use pauseless_report::html::{
    Heading, badge, card_foot, card_head, escape, frame, goodputs, list, table,
};
use pauseless_report::verdict::{self, Finding};
use pauseless_run::Run;
use pauseless_text::quantity;

/// The page of `runs`.
pub fn page(runs: &[Measured]) -> String {
    let mut panels: Vec<Vec<Panel>> = runs.iter().map(panels).collect();
    compare(&mut panels);
    let mut text = summary(runs);
    text.push_str("<main>\n");
    for (measured, panels) in runs.iter().zip(&panels) {
        text.push_str(&card(measured, panels));
    }
    text.push_str("</main>\n");
    let version = pauseless_run::VERSION;
    let _ = writeln!(text, "<footer>pauseless {version}. {FOOTER}</footer>");
    let heading = Heading {
        title: "The testbed: real frames beside the simulator".to_string(),
        lead: LEAD.to_string(),
    };
    frame(&heading, &text)
}

/// Whether the page of `runs` has curves: without a probe there are none.
pub fn has_curves(runs: &[Measured]) -> bool {
    runs.iter().any(|measured| {
        let series = &measured.run.outcome.series;
        !series.ports.is_empty() || !series.flows.is_empty()
    })
}

/// The sentences below the title of the page.
const LEAD: &str = "The same switches and hosts with the same parameters, once on real frames, once in the \
    simulator. Solid curves are measured, dashed ones simulated.";

const FOOTER: &str = "A deadlock is decided exactly, from the state of all switches, where they share \
    a thread. Late goodput is the mean over the last quarter of a flow&#39;s life. Tau is the worst \
    feedback latency that was measured, above the one that the thresholds were made for.";

fn summary(runs: &[Measured]) -> String {
    let heads = [
        "run",
        "frames",
        "verdict",
        "goodput, late",
        "largest queue",
        "lost packets",
        "tau",
        "after the sources stop",
    ];
    let mut rows = Vec::new();
    for measured in runs {
        let tau = measured_tau(&measured.wire);
        let name = escape(&measured.run.scenario.name);
        rows.push(row(name, frames(measured), &measured.run, tau));
        let tau = quantity::span(measured.wire.tau_configured);
        rows.push(row(String::new(), "simulated", &measured.simulated, tau));
    }
    table("", &heads, rows)
}

/// A row of the summary: the name of a run, what carried its frames, what came of it, and its tau.
fn row(name: String, frames: &str, run: &Run, tau: String) -> [String; 8] {
    [
        name,
        frames.to_string(),
        badge(run),
        escape(&goodputs(run)),
        quantity::bytes(run.queue_max()),
        quantity::count(run.outcome.lost_packets),
        tau,
        escape(&verdict::aftermath(run).unwrap_or_else(|| "-".to_string())),
    ]
}

fn card(measured: &Measured, panels: &[Panel]) -> String {
    let run = &measured.run;
    let wire = &measured.wire;
    let end = quantity::time(run.outcome.end);
    let mut text = card_head(
        run,
        &format!("; back end {}, {} clock, {end} in {:.1} s", wire.backend, wire.clock, run.wall_s),
    );
    for panel in panels {
        let (caption, figure) = (escape(&panel.caption), draw::inline(&panel.figure));
        let _ = write!(
            text,
            "<figure>\n<figcaption>{caption}, dashed: simulated</figcaption>\n{figure}</figure>\n"
        );
    }
    let findings = Finding::ALL.iter().map(|finding| finding.sentence(run));
    let simulated = format!("simulated: {}", verdict::brief(&measured.simulated));
    text.push_str(&list(findings.chain([simulated]).chain(remarks(measured))));
    text + &card_foot(run)
}

/// The figures of a run: goodput of all flows, then the queue of each probed port.
fn panels(measured: &Measured) -> Vec<Panel> {
    let runs = [(&measured.run, Source::Measured), (&measured.simulated, Source::Companion)];
    let mut panels = Vec::new();
    let rates = runs.iter().flat_map(|(run, source)| {
        run.outcome.series.flows.iter().take(PALETTE.len()).map(|flow| {
            let values = flow.goodput_bps.iter().map(|rate| mbps(*rate));
            curve(run, run.flow_name(flow.flow), values).from_source(*source)
        })
    });
    let rates: Vec<Series> = rates.collect();
    if !rates.is_empty() {
        panels.push(Panel::over_time(&measured.run, "goodput (Mb/s)", rates));
    }
    for port in &measured.run.outcome.series.ports {
        let name = measured.run.port_name(port.node, port.port);
        let queues = runs.iter().flat_map(|(run, source)| {
            let all = run.outcome.series.ports.iter();
            all.filter(|it| (it.node, it.port) == (port.node, port.port)).map(|it| {
                let values = it.queue.iter().map(|queue| kb(*queue));
                curve(run, &name, values).from_source(*source)
            })
        });
        let mut panel = Panel::over_time(&measured.run, "ingress queue (KB)", queues.collect());
        panel.caption = format!("ingress queue of {name} (KB) over time (ms)");
        panel.figure.panels[0].levels = levels(&measured.run, port);
        panels.push(panel);
    }
    for panel in &mut panels {
        panel.figure.caption.push_str(", measured and simulated");
    }
    panels
}

fn mbps(bps: f64) -> f64 {
    bps / 1e6
}
