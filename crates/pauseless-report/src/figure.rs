//! The figures of a run on its page, on axes that all runs of the page share.

use pauseless_core::flow_control::FlowControl;
use pauseless_core::id::Class;
use pauseless_core::unit::{Bytes, Time};
use pauseless_sim::outcome::PortSeries;

use super::{completion, outages, verdict};
use pauseless_figures as draw;
use pauseless_figures::axis::share_axes;
use pauseless_figures::colour::PALETTE;
use pauseless_figures::figure::{Axis, Drawn, Figure, Level, Mark, Series, Source};
use pauseless_run::Run;
use pauseless_text::quantity;

/// A figure of one panel with its heading.
#[derive(Clone, Debug)]
pub struct Panel {
    /// What it shows and in which units.
    pub caption: String,
    /// The figure, which has one panel.
    pub figure: Figure,
    /// How many recordings found no place in it.
    pub left_out: usize,
}

impl Panel {
    /// A figure that has everything in it.
    pub fn new(
        caption: impl Into<String>,
        description: String,
        panel: draw::figure::Panel,
    ) -> Panel {
        let figure = Figure::new("", description, vec![panel]);
        Panel { caption: caption.into(), figure, left_out: 0 }
    }

    /// Series over the time of a run, with the instants that matter marked.
    pub fn over_time(run: &Run, heading: &str, series: Vec<Series>) -> Panel {
        let x = Axis::linear("time (ms)").covering(0.0, ms(run.outcome.end));
        let mut panel = draw::figure::Panel::new("", x, Axis::linear(heading), series);
        panel.marks = marks(run);
        let description = format!("{heading} of {} over time (ms)", run.scenario.name);
        Panel::new(format!("{heading} over time (ms)"), description, panel)
    }
}

/// Gives figures of the same quantity the same axes.
pub fn compare(panels: &mut [Vec<Panel>]) {
    let panels = panels.iter_mut().flatten().flat_map(|panel| &mut panel.figure.panels);
    share_axes(&mut Vec::from_iter(panels));
}

/// The figures of each run; none when nothing was recorded and few flows have finished.
pub fn panels(runs: &[Run]) -> Vec<Vec<Panel>> {
    let of = |run: &Run| {
        let mut panels = recordings(run);
        panels.extend(completion::panels(run));
        panels
    };
    let mut panels: Vec<Vec<Panel>> = runs.iter().map(of).collect();
    compare(&mut panels);
    panels
}

fn recordings(run: &Run) -> Vec<Panel> {
    let recorded = &run.outcome.series;
    if recorded.times.is_empty() {
        return Vec::new();
    }
    let mut panels = Vec::new();
    let ports = || recorded.ports.iter().take(PALETTE.len());
    let port_name = |port: &PortSeries| run.port_name(port.node, port.port);
    if !recorded.ports.is_empty() {
        let queues = ports()
            .map(|port| curve(run, port_name(port), port.queue.iter().map(|queue| kb(*queue))));
        let egress = ports()
            .map(|port| curve(run, port_name(port), port.egress.iter().map(|queue| kb(*queue))));
        let mut queue = Panel::over_time(run, "ingress queue (KB)", queues.collect());
        add_companions(&mut queue, egress, "egress queue");
        queue.figure.panels[0].levels = all_levels(run);
        let inputs = ports()
            .map(|port| curve(run, port_name(port), port.input_bps.iter().map(|rate| gbps(*rate))));
        let mut input = Panel::over_time(run, "input rate (Gb/s)", inputs.collect());
        for panel in [&mut queue, &mut input] {
            panel.left_out = recorded.ports.len().saturating_sub(PALETTE.len());
        }
        panels.extend([queue, input]);
    }
    if !recorded.flows.is_empty() {
        let flows = || recorded.flows.iter().take(PALETTE.len());
        let goodputs = flows().map(|flow| {
            curve(run, run.flow_name(flow.flow), flow.goodput_bps.iter().map(|rate| gbps(*rate)))
        });
        let allowed = flows().map(|flow| {
            let rates = run.allowed_rates(flow).unwrap_or_default().iter();
            curve(run, run.flow_name(flow.flow), rates.map(|rate| gbps(*rate)))
        });
        let mut goodput = Panel::over_time(run, "goodput (Gb/s)", goodputs.collect());
        add_companions(&mut goodput, allowed, "allowed rate");
        goodput.left_out = recorded.flows.len().saturating_sub(PALETTE.len());
        panels.push(goodput);
    }
    panels
}

/// A value for each instant that a run has recorded.
pub fn curve(run: &Run, label: impl Into<String>, values: impl Iterator<Item = f64>) -> Series {
    let times = run.outcome.series.times.iter().map(|time| ms(*time));
    Series::new(label, Drawn::Line, times.zip(values).collect())
}

/// Adds what goes with the curves of a panel; what is empty or always zero says nothing and is
/// left out.
fn add_companions(panel: &mut Panel, companions: impl Iterator<Item = Series>, what: &str) {
    let says = |series: &Series| series.points.iter().any(|(_, value)| *value != 0.0);
    let companions = companions.filter(says).map(|it| it.from_source(Source::Companion));
    let series = &mut panel.figure.panels[0].series;
    let count = series.len();
    series.extend(companions);
    if series.len() > count {
        panel.caption.push_str(&format!(", dashed: {what}"));
    }
}

/// When events began, when the deadlock became inevitable, and when the sources stopped.
fn marks(run: &Run) -> Vec<Mark> {
    let events = outages::firsts(run).into_iter().take(EVENTS_MAX).filter_map(|change| {
        Some(Mark::quiet(verdict::event_name(run, Some(change.event))?, ms(change.time)))
    });
    let deadlock = run.outcome.deadlock.as_ref().map(|deadlock| {
        Mark::alarm(format!("deadlock {}", quantity::time(deadlock.time)), ms(deadlock.time))
    });
    let stop = run.sources_stopped().map(|stop| Mark::quiet("sources stop", ms(stop)));
    events.chain(deadlock).chain(stop).collect()
}

/// The thresholds of the probed ports: one line where they agree, one per port where not.
fn all_levels(run: &Run) -> Vec<Level> {
    let ports = Vec::from_iter(run.outcome.series.ports.iter().take(PALETTE.len()));
    let agree = ports.windows(2).all(|pair| thresholds(run, pair[0]) == thresholds(run, pair[1]));
    if agree {
        return ports.first().map_or(Vec::new(), |port| levels(run, port));
    }
    let of = |(index, port): (usize, &&PortSeries)| {
        let mut levels = levels(run, port);
        for level in &mut levels {
            level.label = format!("{} {}", run.port_name(port.node, port.port), level.label);
            level.colour = Some(index);
        }
        levels
    };
    ports.iter().enumerate().flat_map(of).collect()
}

/// The thresholds of a port as level lines.
pub fn levels(run: &Run, port: &PortSeries) -> Vec<Level> {
    let levels = thresholds(run, port).into_iter().map(|(name, at)| Level {
        label: format!("{name} {}", quantity::bytes(at)),
        value: kb(at.get()),
        colour: None,
    });
    levels.collect()
}

/// Where the flow control of a port begins to act, and where it stops the sender.
fn thresholds(run: &Run, port: &PortSeries) -> Vec<(&'static str, Bytes)> {
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

/// The most events whose names find place above curves.
const EVENTS_MAX: usize = 8;

/// An instant in milliseconds.
pub(crate) fn ms(time: Time) -> f64 {
    time.as_ps() as f64 / 1e9
}

/// An amount of data in KB.
pub fn kb(bytes: u64) -> f64 {
    bytes as f64 / 1e3
}

fn gbps(bps: f64) -> f64 {
    bps / 1e9
}
