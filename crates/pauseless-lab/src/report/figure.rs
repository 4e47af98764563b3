//! Which curves of a run are drawn, on axes that all runs of a page share.

use pauseless_core::flow_control::FlowControl;
use pauseless_core::id::Class;
use pauseless_core::unit::{Bytes, Time};
use pauseless_sim::outcome::PortSeries;

use super::chart::{Axis, Curve, Figure, Instant, Level, PALETTE, Stroke, Weight};
use super::completion::{self, CompletionScale};
use pauseless_run::Run;
use pauseless_text::quantity;

/// The ends of the axes of all figures of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The end of the time axis, in milliseconds.
    pub time_max_ms: f64,
    /// The end of the axis of queues, in KB.
    pub queue_max_kb: f64,
    /// The end of the axis of rates, in Gb/s.
    pub rate_max_gbps: f64,
    /// The axes of completion times and slowdowns.
    pub completion: Option<CompletionScale>,
}

/// A figure with its heading.
#[derive(Clone, Debug)]
pub struct Panel {
    /// What it shows and in which units.
    pub caption: String,
    /// The figure.
    pub figure: Figure,
    /// Recordings that found no place in it.
    pub left_out: usize,
}

impl Panel {
    /// A figure that has everything in it.
    pub fn new(caption: impl Into<String>, figure: Figure) -> Panel {
        Panel { caption: caption.into(), figure, left_out: 0 }
    }
}

impl Scale {
    /// Axes on which every run of `runs` fits.
    pub fn of(runs: &[Run]) -> Scale {
        let mut scale = Scale {
            time_max_ms: 0.0,
            queue_max_kb: 0.0,
            rate_max_gbps: 0.0,
            completion: CompletionScale::of(runs),
        };
        for run in runs {
            let series = &run.outcome.series;
            scale.time_max_ms = scale.time_max_ms.max(ms(run.outcome.end));
            for port in &series.ports {
                let queues = port.queue.iter().chain(&port.egress);
                let queues = queues.map(|queue| kb(*queue));
                let levels = thresholds(run, port).into_iter().map(|(_, at)| kb(at.get()));
                scale.queue_max_kb = queues.chain(levels).fold(scale.queue_max_kb, f64::max);
                let rates = port.input_bps.iter().map(|rate| gbps(*rate));
                scale.rate_max_gbps = rates.fold(scale.rate_max_gbps, f64::max);
            }
            for flow in &series.flows {
                let allowed = run.allowed_rates(flow).unwrap_or_default();
                let rates = flow.goodput_bps.iter().chain(allowed);
                let rates = rates.map(|rate| gbps(*rate));
                scale.rate_max_gbps = rates.fold(scale.rate_max_gbps, f64::max);
            }
        }
        // Room for the labels of instants above the curves.
        scale.queue_max_kb *= 1.15;
        scale.rate_max_gbps *= 1.15;
        scale
    }
}

/// The figures of a run; none when nothing was recorded and few flows have finished.
pub fn panels(run: &Run, scale: Scale) -> Vec<Panel> {
    let mut panels = recordings(run, scale);
    if let Some(scale) = scale.completion {
        panels.extend(completion::panels(run, scale));
    }
    panels
}

fn recordings(run: &Run, scale: Scale) -> Vec<Panel> {
    let series = &run.outcome.series;
    if series.times.is_empty() {
        return Vec::new();
    }
    let mut panels = Vec::new();
    let ports = || series.ports.iter().take(PALETTE.len());
    let port_name = |port: &PortSeries| run.port_name(port.node, port.port);
    if !series.ports.is_empty() {
        let queues = ports().map(|port| {
            let values = port.queue.iter().map(|queue| kb(*queue));
            (port_name(port), values.collect())
        });
        let egress = ports().map(|port| port.egress.iter().map(|queue| kb(*queue)).collect());
        let mut queue = panel(run, scale, ("ingress queue (KB)", queues.collect()));
        add_dashed(&mut queue, egress.collect(), "egress queue");
        queue.figure.value_max = scale.queue_max_kb;
        queue.figure.levels = levels(run);
        let inputs = ports().map(|port| {
            let values = port.input_bps.iter().map(|rate| gbps(*rate));
            (port_name(port), values.collect())
        });
        let mut input = panel(run, scale, ("input rate (Gb/s)", inputs.collect()));
        for panel in [&mut queue, &mut input] {
            panel.left_out = series.ports.len().saturating_sub(PALETTE.len());
        }
        panels.extend([queue, input]);
    }
    if !series.flows.is_empty() {
        let flows = series.flows.iter().take(PALETTE.len()).map(|flow| {
            let values = flow.goodput_bps.iter().map(|rate| gbps(*rate));
            (run.flow_name(flow.flow).to_string(), values.collect())
        });
        let allowed = series.flows.iter().take(PALETTE.len()).map(|flow| {
            let rates = run.allowed_rates(flow).unwrap_or_default();
            rates.iter().map(|rate| gbps(*rate)).collect()
        });
        let mut goodput = panel(run, scale, ("goodput (Gb/s)", flows.collect()));
        add_dashed(&mut goodput, allowed.collect(), "allowed rate");
        goodput.left_out = series.flows.len().saturating_sub(PALETTE.len());
        panels.push(goodput);
    }
    panels
}

type Labelled = (String, Vec<f64>);

fn panel(run: &Run, scale: Scale, (heading, curves): (&'static str, Vec<Labelled>)) -> Panel {
    let times = run.outcome.series.times.iter();
    let times: Vec<f64> = times.map(|time| ms(*time)).collect();
    let curves = curves.into_iter().enumerate();
    let curves = curves.map(|(colour, (label, values))| Curve {
        label,
        colour,
        stroke: Stroke::Solid,
        points: times.iter().copied().zip(values).collect(),
    });
    let description = format!("{heading} of {} over time (ms)", run.scenario.name);
    let max_ms = scale.time_max_ms;
    let axis = Axis::Time { max_ms };
    let mut figure = Figure::new(description, axis, scale.rate_max_gbps, curves.collect());
    figure.instants = instants(run);
    Panel::new(format!("{heading} over time (ms)"), figure)
}

/// Adds what goes with the curves of a panel, in their order; what is empty or always zero says
/// nothing and is left out.
fn add_dashed(panel: &mut Panel, companions: Vec<Vec<f64>>, what: &str) {
    let curves = panel.figure.curves.clone();
    for (curve, values) in curves.into_iter().zip(companions) {
        if values.iter().all(|value| *value == 0.0) {
            continue;
        }
        let times = curve.points.iter().map(|(time, _)| *time);
        panel.figure.curves.push(Curve {
            stroke: Stroke::Dashed,
            points: times.zip(values).collect(),
            ..curve
        });
    }
    if panel.figure.curves.iter().any(|curve| curve.stroke == Stroke::Dashed) {
        panel.caption.push_str(&format!(", dashed: {what}"));
    }
}

/// When the deadlock became inevitable and when the sources stopped.
pub(crate) fn instants(run: &Run) -> Vec<Instant> {
    let deadlock = run.outcome.deadlock.as_ref().map(|deadlock| Instant {
        label: format!("deadlock {}", quantity::time(deadlock.time)),
        at_ms: ms(deadlock.time),
        weight: Weight::Alarm,
    });
    let stop = run.sources_stopped().map(|stop| Instant {
        label: "sources stop".to_string(),
        at_ms: ms(stop),
        weight: Weight::Quiet,
    });
    deadlock.into_iter().chain(stop).collect()
}

/// The thresholds of the probed ports: one line where they agree, one per port where not.
fn levels(run: &Run) -> Vec<Level> {
    let ports = run.outcome.series.ports.iter().take(PALETTE.len());
    let sets: Vec<_> = ports.map(|port| (port, thresholds(run, port))).collect();
    let agree = sets.windows(2).all(|pair| pair[0].1 == pair[1].1);
    let shown = if agree { sets.len().min(1) } else { sets.len() };
    let mut levels = Vec::new();
    for (index, (port, thresholds)) in sets.iter().take(shown).enumerate() {
        for (name, at) in thresholds {
            let label = format!("{name} {}", quantity::bytes(*at));
            levels.push(Level {
                label: if agree {
                    label
                } else {
                    format!("{} {label}", run.port_name(port.node, port.port))
                },
                value: kb(at.get()),
                colour: (!agree).then_some(index),
            });
        }
    }
    levels
}

/// Where the flow control of a port begins to act, and where it stops the sender.
pub fn thresholds(run: &Run, port: &PortSeries) -> Vec<(&'static str, Bytes)> {
    let ingress = &run.scenario.config.ingress;
    match &ingress.get(port.node, port.port, Class(0)).control {
        FlowControl::None | FlowControl::Outside(_) => Vec::new(),
        // Where a shared memory decides, the threshold moves.
        FlowControl::Pfc(pfc) if pfc.is_commanded() => Vec::new(),
        FlowControl::Pfc(pfc) => vec![("XOFF", pfc.xoff), ("XON", pfc.xon)],
        FlowControl::Cbfc(cbfc) => vec![("credits", cbfc.capacity)],
        FlowControl::GfcBuffer(gfc) => vec![("Bm", gfc.bm), ("B1", gfc.b1)],
        FlowControl::GfcTime(gfc) => vec![("Bm", gfc.mapping.bm), ("B0", gfc.mapping.b0)],
        FlowControl::GfcConceptual(gfc) => vec![("Bm", gfc.mapping.bm), ("B0", gfc.mapping.b0)],
    }
}

/// An instant in milliseconds.
pub(crate) fn ms(time: Time) -> f64 {
    time.as_ps() as f64 / 1e9
}

/// An amount of data in KB.
pub(crate) fn kb(bytes: u64) -> f64 {
    bytes as f64 / 1e3
}

fn gbps(bps: f64) -> f64 {
    bps / 1e9
}
