//! The metrics of a run as a few short tables and sentences, for a terminal and for a page.

use pauseless_core::unit::{Span, Time};

use super::text::Table;
use super::{Run, mitigation, provenance, quantity};
use crate::metrics::Metrics;
use crate::metrics::completion::{Completion, Group};
use crate::metrics::distribution::Percentile;
use crate::metrics::links::LayerUse;

/// A table and what is to be said below it.
#[derive(Clone, Debug)]
pub struct Section {
    /// What stands above it.
    pub title: &'static str,
    /// The table.
    pub table: Table,
    /// Sentences below it.
    pub notes: Vec<String>,
}

/// What there is to say about a run beyond its verdict, if anything.
pub fn sections(run: &Run) -> Vec<Section> {
    let metrics = run.metrics();
    let completion = metrics.completion.as_ref().map(completion);
    let sections = completion.into_iter().chain(links(run, &metrics));
    let sections = sections.chain(provenance::section(run));
    sections.chain(mitigation::section(run)).collect()
}

/// How much there is to say about the completion of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    Few,
    Many,
}

impl Detail {
    /// What is shown beside the mean.
    fn percentiles(self) -> &'static [Percentile] {
        const P: [Percentile; 4] = [
            Percentile::P50,
            Percentile::P95,
            Percentile::P99,
            Percentile::P999,
        ];
        match self {
            Detail::Many => &P,
            Detail::Few => &[Percentile::P50, Percentile::MAX],
        }
    }
}

fn completion(completion: &Completion) -> Section {
    let all = &completion.all;
    let detail = match all.count() >= MANY_FLOWS {
        true => Detail::Many,
        false => Detail::Few,
    };
    let mut table = match detail {
        Detail::Many => Table::new(
            "flows <finished <unfinished <FCT-mean <p50 <p95 <p99 <p99.9 \
             <slowdown-mean <p50 <p95 <p99 <p99.9",
        ),
        Detail::Few => Table::new(
            "flows <finished <unfinished <FCT-mean <p50 <largest <slowdown-mean <p50 <largest",
        ),
    };
    table.push(group_row("all", all, detail));
    // Of a few flows every one is in the table above.
    if detail == Detail::Many {
        for (range, group) in &completion.by_size {
            table.push(group_row(&range.to_string(), group, detail));
        }
        for (class, group) in &completion.by_class {
            table.push(group_row(&format!("class {}", class.0), group, detail));
        }
    }
    let mut notes = Vec::new();
    if all.not_started > 0 {
        let flows = quantity::plural(all.not_started as u64, "flow");
        notes.push(format!("Besides these, {flows} did not start."));
    }
    if detail == Detail::Many {
        let rate = quantity::number(completion.flows_per_s);
        notes.push(format!("{rate} flows finished per simulated second."));
    }
    Section {
        title: "completion of finite flows",
        table,
        notes,
    }
}

fn group_row(name: &str, group: &Group, detail: Detail) -> Vec<String> {
    let mut row = vec![
        name.to_string(),
        quantity::count(group.finished as u64),
        quantity::count(group.unfinished as u64),
    ];
    let span = |ps: u64| quantity::time(Time::ZERO + Span::ps(ps));
    let percentiles = detail.percentiles();
    let fct = group.fct.as_ref().map(|fct| {
        let mean = span(fct.mean.round() as u64);
        let others = percentiles.iter().map(|p| span(fct.at(*p)));
        Vec::from_iter([mean].into_iter().chain(others))
    });
    let slowdown = group.slowdown.as_ref().map(|slowdown| {
        let others = percentiles.iter().map(|p| slowdown.at(*p));
        let cells = [slowdown.mean].into_iter().chain(others);
        cells.map(quantity::number).collect()
    });
    let empty = || vec!["-".to_string(); 1 + percentiles.len()];
    row.extend(fct.unwrap_or_else(empty));
    row.extend(slowdown.unwrap_or_else(empty));
    row
}

fn links(run: &Run, metrics: &Metrics) -> Option<Section> {
    let notes = link_notes(run, metrics);
    let is_used = metrics
        .layers
        .iter()
        .any(|layer| layer.utilisation_max > 0.0);
    if !is_used && notes.is_empty() {
        return None;
    }
    let is_paused = metrics.layers.iter().any(|layer| layer.pauses > 0);
    let is_held = metrics.layers.iter().any(|layer| layer.links_held > 0);
    let mut heads = "sent-by <links <utilisation <busiest".to_string();
    if is_paused {
        heads.push_str(" <pauses <per-ms-and-link");
    }
    if is_held {
        heads.push_str(" <held-links");
    }
    let mut table = Table::new(&heads);
    for layer in metrics.layers.iter().filter(|_| is_used) {
        let mut row = vec![
            layer_name(layer),
            quantity::count(layer.links as u64),
            quantity::percent(layer.utilisation_mean),
            quantity::percent(layer.utilisation_max),
        ];
        if is_paused {
            row.push(quantity::count(layer.pauses));
            row.push(quantity::number(layer.pause_per_ms_per_link));
        }
        if is_held {
            row.push(quantity::count(layer.links_held as u64));
        }
        table.push(row);
    }
    Some(Section {
        title: "links",
        table,
        notes,
    })
}

fn layer_name(layer: &LayerUse) -> String {
    match layer.layer {
        0 => "hosts".to_string(),
        n => format!("layer {n}"),
    }
}

fn link_notes(run: &Run, metrics: &Metrics) -> Vec<String> {
    let mut notes = Vec::new();
    let busiest = metrics.busiest(BUSIEST).into_iter().map(|at| {
        let port = &metrics.ports[at];
        let name = run.port_name(port.node, port.port);
        format!("{name} {}", quantity::percent(port.utilisation))
    });
    let busiest = Vec::from_iter(busiest);
    if !busiest.is_empty() {
        notes.push(format!("Busiest: {}.", busiest.join(", ")));
    }
    if let Some(tree) = metrics.tree {
        notes.push(format!(
            "Congestion tree: up to {} at a time, {} in the mean, for {}; it reached {}.",
            quantity::plural(u64::from(tree.links_max), "link"),
            quantity::number(tree.links_mean),
            quantity::time(Time::ZERO + tree.duration),
            quantity::plural(u64::from(tree.hosts), "host"),
        ));
    }
    if let Some(answers) = metrics.answers {
        notes.push(format!(
            "Answers to sources: {} and {}, {} of all bytes; {} marked.",
            quantity::plural(answers.packets - answers.acknowledgements, "notification"),
            quantity::plural(answers.acknowledgements, "acknowledgement"),
            quantity::percent(answers.share),
            quantity::plural(answers.marked_packets, "data packet"),
        ));
    }
    let all = metrics
        .fairness
        .map(|fairness| (fairness, "goodput", "flows"));
    let endless = metrics.fairness_endless;
    let endless = endless.map(|fairness| (fairness, "late goodput", "flows without end"));
    let parts = [all, endless].into_iter().flatten();
    let parts = parts.map(|(fairness, what, whose)| {
        format!(
            "{:.3} over the {what} of {} {whose}",
            fairness.jain, fairness.flows
        )
    });
    let parts = Vec::from_iter(parts);
    if !parts.is_empty() {
        notes.push(format!("Jain's index: {}.", parts.join(", ")));
    }
    notes
}

/// From so many flows on a table by size and the far percentiles say something.
const MANY_FLOWS: usize = 20;

/// How many of the busiest ports are named.
const BUSIEST: usize = 3;
