//! PCN (NSDI 2020): how long congestion spreads and rates take to settle, the climb of a source, and
//! what its workloads are made of.

use pauseless_core::congestion::{Feedback, ReactionPoint as _, pcn};
use pauseless_core::unit::{Bytes, Rate, Span, Time};

use super::super::scope::{Failure, Scope, Task};
use crate::repro::data::Measured;
use pauseless_figures::figure::{Axis, Drawn, Figure, Panel, Series};
use pauseless_run::Run;
use pauseless_run::metrics::completion::SizeRange;
use pauseless_run::sample::Add;
use pauseless_scenario::{Overrides, Scenario};
use toml::{Table, Value};

/// Fig. 2: how long after the start of the burst, which is what has a size, the pauses still hold H0
/// (`spread_ms.H0`), H1 (`spread_ms.H1`) or any of them (`spread_ms`); 0 if they never do.
pub fn burst(run: &Run, add: Add<'_>) {
    let finite = run.scenario.config.flows.iter().filter(|flow| flow.size != Bytes::MAX);
    let Some(begin) = finite.map(|flow| flow.start).min() else {
        return;
    };
    let metrics = run.metrics();
    let mut latest = 0.0f64;
    for host in ["H0", "H1"] {
        let name = format!("{host}:S0");
        let port = metrics.ports.iter().find(|port| run.port_name(port.node, port.port) == name);
        let last = port.and_then(|port| port.held_last);
        let span = last.map_or(Span::ZERO, |last| last.saturating_since(begin));
        latest = latest.max(ms(span));
        add(format!("spread_ms.{host}"), ms(span));
    }
    add("spread_ms".to_string(), latest);
}

/// Fig. 11 and 17. `settle_ms`: when the sum of what all recorded flows may send came within a tenth
/// of the rate of the first recorded port, and stayed there for 20 round trips of 500 us.
/// `queue_low_ms`: when its queue was first below twenty packets, after the two round trips in which
/// nobody can have heard of it. `last_pause_ms`: when a port was held for the last time.
pub fn settle(run: &Run, add: Add<'_>) {
    let last = run.outcome.ports.iter().filter_map(|port| port.held_last);
    add("last_pause_ms".to_string(), last.max().map_or(0.0, |last| ms(last - Time::ZERO)));
    let series = &run.outcome.series;
    let Some(port) = series.ports.first() else {
        return;
    };
    let line = run.topology().port(port.node, port.port).rate.as_bps() as f64;
    let is_near = |sample: usize| {
        let rates = series.flows.iter().map(|flow| flow.allowed_bps[sample]);
        (rates.sum::<f64>() - line).abs() <= 0.1 * line
    };
    let mut since = None;
    for (sample, time) in series.times.iter().enumerate() {
        since = is_near(sample).then(|| since.unwrap_or(*time));
        if let Some(first) = since
            && *time - first >= Span::ms(10)
        {
            add("settle_ms".to_string(), ms(first - Time::ZERO));
            break;
        }
    }
    let mut queue = series.times.iter().zip(&port.egress);
    let low = queue.find(|(time, queue)| **time > Time::ZERO + Span::ms(1) && **queue < 20_000);
    if let Some((time, _)) = low {
        add("queue_low_ms".to_string(), ms(*time - Time::ZERO));
    }
}

/// Fig. 10: the climb from nothing, one notification after the other, on links of four speeds.
/// `40G/rate.5` is the share of the line rate after the fifth, `40G/w.5` the weight, both in percent.
pub fn climb(_: &Scope<'_>, measured: &mut Measured) -> Result<(), Failure> {
    let mut curves = [Vec::new(), Vec::new()];
    for gbps in [1, 10, 40, 400] {
        let line = Rate::gbps(gbps);
        let config = pcn::Config { rate_min: Rate::bps(1), ..pcn::Config::default() };
        let mut point = pcn::ReactionPoint::new(&config, line, config.rate_min);
        for count in 0..=20 {
            let rate = point.rate().as_bps() as f64 / line.as_bps() as f64 * 100.0;
            let weight = point.weight() * 100.0;
            for (curve, (name, value)) in curves.iter_mut().zip([("rate", rate), ("w", weight)]) {
                let values = &mut measured.values;
                values.push(format!("{gbps}G/{name}.{count}"), value);
                if gbps == 40 {
                    curve.push((f64::from(count), value));
                }
            }
            point
                .on_feedback(Time::ZERO, Feedback::Receiving { is_congested: false, rate_mbps: 1 });
        }
    }
    let series = ["rate, percent of the line", "w, percent"].into_iter().zip(curves);
    let series = series.map(|(label, points)| Series::new(label, Drawn::Marked, points));
    let mut panel = panel("", "percent");
    panel.x.label = "notifications".to_string();
    panel.series = series.collect();
    let caption = "Rate and weight of a source that is told again and again to go on";
    let figure = Figure::new("climb", caption, vec![panel]);
    measured.figures.push(figure);
    Ok(())
}

/// Table 1: what is drawn from both workloads for the traffic of section 7.4. `W1/flows.S` is the
/// share of flows below 10 KB in percent, `W1/bytes.S` that of their bytes.
pub fn shares(scope: &Scope<'_>, measured: &mut Measured) -> Result<(), Failure> {
    let text = scope.text()?;
    for (name, sizes) in [("W1", "pcn_w1_webserver"), ("W2", "pcn_w2_hadoop")] {
        let text = scope.set(&text, "traffic.poisson.sizes", sizes)?;
        let scenario = Scenario::parse(name, &text, &Overrides::default())?;
        let flows = &scenario.config.flows;
        let bytes = |range: &SizeRange| {
            let inside = flows.iter().filter(|flow| range.contains(flow.size));
            inside.map(|flow| flow.size.get()).sum::<u64>() as f64
        };
        let total: f64 = SizeRange::ALL.iter().map(bytes).sum();
        let values = &mut measured.values;
        let count = flows.len() as f64;
        values.push(format!("{name}/flows"), count);
        values.push(format!("{name}/mean_kb"), total / count / 1e3);
        for (label, range) in ["S", "M", "L", "XL"].iter().zip(&SizeRange::ALL) {
            let number = flows.iter().filter(|flow| range.contains(flow.size)).count() as f64;
            values.push(format!("{name}/flows.{label}"), number / count * 100.0);
            values.push(format!("{name}/bytes.{label}"), bytes(range) / total * 100.0);
        }
    }
    Ok(())
}

/// Fig. 19: F0 over all of N links, every other flow over one, under four schemes. `PCN 4/F0` is
/// its rate in Gb/s with N = 4, `PCN 4/link1` that of the first link, `PCN 4/share` is F0's rate
/// in percent of C / (N + 1). A quick run leaves two of the paper's N out.
pub fn parking_lot(scope: &Scope<'_>, measured: &mut Measured) -> Result<(), Failure> {
    let text = scope.text()?;
    let rows: &[u8] = match scope.scale() {
        super::super::Scale::Quick => &[2, 4, 10],
        super::super::Scale::Full => &[2, 4, 6, 8, 10],
    };
    let mut tasks = Vec::new();
    let mut places = Vec::new();
    for (name, kind) in SCHEMES {
        for links in rows {
            let text = scope.patch(&text, &row(*links, kind))?;
            let case = format!("{name} {links}");
            tasks.push(Task::new(case.clone(), text, Overrides::default()));
            places.push((name, *links, case));
        }
    }
    let mut panels = [panel("F0 and F1 together", "link 1, Gb/s"), panel("F0", "Gb/s")];
    for ((name, links, case), sample) in places.into_iter().zip(scope.sample(tasks)?) {
        let rate = |flow: &str| sample.metric(flow).unwrap_or(0.0);
        let (f0, link1) = (rate("rate.F0"), rate("rate.F0") + rate("rate.F1"));
        let fair = CAPACITY_GBPS / f64::from(links + 1);
        let mut push = |metric: &str, value| {
            let values = &mut measured.values;
            values.push(format!("{case}/{metric}"), value);
        };
        push("F0", f0);
        push("link1", link1);
        push("share", f0 / fair * 100.0);
        push("pauses", sample.metric("pauses").unwrap_or(0.0));
        for (panel, value) in panels.iter_mut().zip([link1, f0]) {
            point(panel, name, f64::from(links), value);
        }
    }
    for links in rows {
        let fair = CAPACITY_GBPS / f64::from(links + 1);
        point(&mut panels[1], "C / (N + 1)", f64::from(*links), fair);
    }
    let caption = "What the first link carries, and what F0 has of it";
    let figure = Figure::new("shares", caption, panels.to_vec());
    measured.figures.push(figure);
    Ok(())
}

/// What the scenario of a row of `links` has under the scheme `kind`.
fn row(links: u8, kind: &str) -> Table {
    let flow = |number: u8| {
        Table::from_iter([
            ("name".to_string(), format!("F{number}").into()),
            ("source".to_string(), format!("A{number}").into()),
            ("target".to_string(), format!("B{number}").into()),
        ])
    };
    let flows = (0..=links).map(|number| Value::Table(flow(number)));
    Table::from_iter([
        ("topology.links".to_string(), i64::from(links).into()),
        ("congestion_control.kind".to_string(), kind.into()),
        ("flow".to_string(), Value::Array(flows.collect())),
    ])
}

fn panel(title: &str, label: &str) -> Panel {
    let (x, y) = (Axis::linear("links N"), Axis::linear(label));
    Panel::new(title, x, y, Vec::new())
}

/// Adds a point to the curve of that name.
fn point(panel: &mut Panel, label: &str, x: f64, y: f64) {
    match panel.series.iter_mut().find(|it| it.label == label) {
        Some(series) => series.points.push((x, y)),
        None => {
            let series = Series::new(label, Drawn::Marked, vec![(x, y)]);
            panel.series.push(series);
        }
    }
}

/// The schemes that the paper compares, as we and scenarios call them.
const SCHEMES: [(&str, &str); 4] =
    [("PCN", "pcn"), ("QCN", "qcn"), ("DCQCN", "dcqcn"), ("TIMELY", "timely")];

/// C in Fig. 19.
const CAPACITY_GBPS: f64 = 40.0;

fn ms(span: Span) -> f64 {
    span.as_secs_f64() * 1e3
}
