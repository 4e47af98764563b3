//! One page: measured curves with the simulator's laid over them.

use std::fmt::Write;

use pauseless_sim::outcome::PortSeries;

use super::Measured;
use super::table::{frames, measured_tau, remarks};
use crate::report::chart::{self, Axis, Curve, Figure, Level, PALETTE, Stroke};
use crate::report::figure::{instants, kb, ms, thresholds};
use crate::report::html::{Heading, badge, escape, frame, goodputs, shortened, table};
use crate::report::verdict::{self, Finding};
use pauseless_run::Run;
use pauseless_text::quantity;

/// The page of `runs`.
pub fn page(runs: &[Measured]) -> String {
    let scale = Scale::of(runs);
    let mut text = summary(runs);
    text.push_str("<main>\n");
    for measured in runs {
        text.push_str(&card(measured, scale));
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

/// What the reader looks at.
const LEAD: &str = "The same switches and hosts with the same parameters, once on real frames, once in the \
    simulator. Solid curves are measured, dashed ones simulated.";

const FOOTER: &str = "A deadlock is decided exactly, from the state of all switches, where they share \
    a thread. Late goodput is the mean over the last quarter of a flow&#39;s life. Tau is the worst \
    feedback latency that was measured, above the one that the thresholds were made for.";

/// The ends of the axes of all figures.
#[derive(Clone, Copy)]
struct Scale {
    time_max_ms: f64,
    queue_max_kb: f64,
    rate_max_mbps: f64,
}

impl Scale {
    pub fn of(runs: &[Measured]) -> Scale {
        let mut scale = Scale { time_max_ms: 0.0, queue_max_kb: 0.0, rate_max_mbps: 0.0 };
        for run in runs.iter().flat_map(|it| [&it.run, &it.simulated]) {
            let series = &run.outcome.series;
            scale.time_max_ms = scale.time_max_ms.max(ms(run.outcome.end));
            for port in &series.ports {
                let queues = port.queue.iter().map(|queue| kb(*queue));
                let levels = thresholds(run, port).into_iter().map(|(_, at)| kb(at.get()));
                scale.queue_max_kb = queues.chain(levels).fold(scale.queue_max_kb, f64::max);
            }
            let rates = series.flows.iter().flat_map(|flow| &flow.goodput_bps);
            let rates = rates.map(|rate| mbps(*rate));
            scale.rate_max_mbps = rates.fold(scale.rate_max_mbps, f64::max);
        }
        // Room for the words of instants above the curves.
        scale.queue_max_kb *= 1.15;
        scale.rate_max_mbps *= 1.15;
        scale
    }
}

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
    table(&heads, rows)
}

/// A run of the summary: its name, what carried its frames, what came of it, and its tau.
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

fn card(measured: &Measured, scale: Scale) -> String {
    let run = &measured.run;
    let (scenario, wire) = (&run.scenario, &measured.wire);
    let mut text = format!(
        "<section>\n<h2>{} {}</h2>\n<p>{}</p>\n<p class=\"note\">{}, {}, seed {}; back end {}, {} clock, \
         {} in {:.1} s</p>\n",
        escape(&scenario.name),
        badge(run),
        escape(&scenario.title),
        escape(&run.schemes()),
        scenario.config.discipline.name(),
        scenario.config.seed,
        wire.backend,
        wire.clock,
        quantity::time(run.outcome.end),
        run.wall_s,
    );
    for (caption, figure) in figures(measured, scale) {
        text.push_str(&drawn(&caption, &figure));
    }
    text.push_str("<ul>\n");
    for finding in Finding::ALL {
        let _ = writeln!(text, "<li>{}</li>", escape(&finding.sentence(run)));
    }
    let simulated = escape(&verdict::brief(&measured.simulated));
    let _ = writeln!(text, "<li>simulated: {simulated}</li>");
    for remark in remarks(measured) {
        let _ = writeln!(text, "<li>{}</li>", escape(&remark));
    }
    text.push_str("</ul>\n");
    let _ = write!(
        text,
        "<details>\n<summary>parameters</summary>\n<pre>{}</pre>\n</details>\n</section>\n",
        escape(&shortened(&scenario.resolved())),
    );
    text
}

/// Goodput of all flows, then the queue of each probed port.
fn figures(measured: &Measured, scale: Scale) -> Vec<(String, Figure)> {
    let mut figures = Vec::new();
    let runs = [(&measured.run, Stroke::Solid), (&measured.simulated, Stroke::Dashed)];
    let mut rates = Vec::new();
    for (run, stroke) in runs {
        for (colour, flow) in run.outcome.series.flows.iter().take(PALETTE.len()).enumerate() {
            let values = flow.goodput_bps.iter().map(|rate| mbps(*rate));
            let label = run.flow_name(flow.flow).to_string();
            rates.push(curve(run, label, colour, stroke, values));
        }
    }
    if !rates.is_empty() {
        let max = scale.rate_max_mbps;
        figures.push(figure(measured, scale, "goodput (Mb/s)", rates, max));
    }
    for port in &measured.run.outcome.series.ports {
        let name = measured.run.port_name(port.node, port.port);
        let mut queues = Vec::new();
        for (run, stroke) in runs {
            let all = run.outcome.series.ports.iter();
            let same = all.filter(|it| (it.node, it.port) == (port.node, port.port));
            for it in same {
                let values = it.queue.iter().map(|queue| kb(*queue));
                queues.push(curve(run, name.clone(), 0, stroke, values));
            }
        }
        let heading = format!("ingress queue of {name} (KB)");
        let (caption, mut figure) = figure(measured, scale, &heading, queues, scale.queue_max_kb);
        figure.levels = levels(&measured.run, port);
        figures.push((caption, figure));
    }
    figures
}

fn curve(
    run: &Run,
    label: String,
    colour: usize,
    stroke: Stroke,
    values: impl Iterator<Item = f64>,
) -> Curve {
    let times = run.outcome.series.times.iter();
    Curve { label, colour, stroke, points: times.map(|time| ms(*time)).zip(values).collect() }
}

fn figure(
    measured: &Measured,
    scale: Scale,
    heading: &str,
    curves: Vec<Curve>,
    value_max: f64,
) -> (String, Figure) {
    let name = &measured.run.scenario.name;
    let description = format!("{heading} of {name} over time (ms), measured and simulated");
    let max_ms = scale.time_max_ms;
    let mut figure = Figure::new(description, Axis::Time { max_ms }, value_max, curves);
    figure.instants = instants(&measured.run);
    (format!("{heading} over time (ms)"), figure)
}

fn levels(run: &Run, port: &PortSeries) -> Vec<Level> {
    let levels = thresholds(run, port).into_iter().map(|(name, at)| Level {
        label: format!("{name} {}", quantity::bytes(at)),
        value: kb(at.get()),
        colour: None,
    });
    levels.collect()
}

/// A figure with its caption, and a key for every curve that was measured where there are several.
fn drawn(caption: &str, figure: &Figure) -> String {
    let mut legend = String::new();
    let curves = figure.curves.iter().filter(|curve| curve.stroke == Stroke::Solid);
    let is_one = curves.clone().count() < 2;
    for curve in curves.filter(|_| !is_one) {
        let colour = chart::hex(chart::colour(curve.colour));
        let label = escape(&curve.label);
        let _ = write!(
            legend,
            " <span class=\"key\"><i style=\"background:{colour}\"></i>{label}</span>"
        );
    }
    format!(
        "<figure>\n<figcaption>{}, dashed: simulated{legend}</figcaption>\n{}</figure>\n",
        escape(caption),
        chart::svg(figure),
    )
}

fn mbps(bps: f64) -> f64 {
    bps / 1e6
}
