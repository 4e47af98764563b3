//! The metrics of a run as a few short tables and sentences, for a terminal and for a page.

use super::{mitigation, provenance, replica};
use pauseless_core::unit::Bytes;
use pauseless_run::Run;
use pauseless_run::metrics::censored::Bounded;
use pauseless_run::metrics::completion::{Completion, Group};
use pauseless_run::metrics::distribution::Percentile;
use pauseless_run::metrics::links::LayerUse;
use pauseless_run::metrics::next_hops::NextHops;
use pauseless_run::metrics::{Fairness, Metrics};
use pauseless_run::results::{Bound, NUMBERS, Number, Of, Scope, Value};
use pauseless_sim::outcome::Reordering;
use pauseless_text::quantity;
use pauseless_text::terminal::Table;

/// A table and what is to be said below it.
#[derive(Clone, Debug)]
pub struct Section {
    /// The heading above the table.
    pub title: &'static str,
    /// The rows and columns.
    pub table: Table,
    /// Sentences that stand below the table.
    pub notes: Vec<String>,
}

/// What there is to say about a run beyond its verdict, if anything.
pub fn sections(run: &Run) -> Vec<Section> {
    let metrics = run.metrics();
    let completion = metrics.completion.as_ref().map(completion);
    let sections = replica::section(run).into_iter().chain(completion).chain(links(run, &metrics));
    sections.chain(provenance::section(run)).chain(mitigation::section(run)).collect()
}

/// What is shown of completion times beside their mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    Few,
    Many,
}

impl Detail {
    /// The percentiles, with the heads of their columns.
    fn percentiles(self) -> &'static [(&'static str, Percentile)] {
        match self {
            Detail::Many => &[
                ("p50", Percentile::P50),
                ("p95", Percentile::P95),
                ("p99", Percentile::P99),
                ("p99.9", Percentile::P999),
            ],
            Detail::Few => &[("p50", Percentile::P50), ("largest", Percentile::MAX)],
        }
    }
}

fn completion(completion: &Completion) -> Section {
    let all = &completion.all;
    let detail = if all.count() >= MANY_FLOWS { Detail::Many } else { Detail::Few };
    let mut heads = "flows".to_string();
    for number in shown(Scope::Flows) {
        match number.of {
            Of::Percentile(_) => detail.percentiles().iter().for_each(|(name, _)| {
                heads += &format!(" {}", number.head.replace("{}", name));
            }),
            _ => heads += &format!(" {}", number.head),
        }
    }
    let mut table = Table::new(&heads);
    let mut push = |name: &str, group: &Group, bounds: &[Bound]| {
        table.push(group_row(name, group, detail));
        for bound in bounds {
            table.push(bound_row(name, group, detail, *bound));
        }
    };
    let open = |group: &Group| match group.unfinished {
        0 => &[][..],
        _ => &[Bound::Best, Bound::Worst],
    };
    // How sure percentiles are is said of many flows.
    match (detail, all.unfinished) {
        (Detail::Few, _) => push("all", all, open(all)),
        (Detail::Many, 0) => push("all", all, &[Bound::From, Bound::To]),
        (Detail::Many, _) => push("all", all, &Bound::ALL),
    }
    // Of a few flows every one is in the table above.
    if detail == Detail::Many {
        for (range, group) in &completion.by_size {
            push(&range.to_string(), group, open(group));
        }
        for (class, group) in &completion.by_class {
            push(&format!("class {}", class.0), group, open(group));
        }
    }
    let mut notes = Vec::new();
    notes.extend(unfinished(all));
    if detail == Detail::Few && all.finished > 1 {
        // The nearest rank of 95 % among 19 values is the last one.
        notes.push("Of fewer than 20 flows p95, p99 and p99.9 are the largest.".to_string());
    }
    if all.not_started > 0 {
        let flows = quantity::plural(all.not_started as u64, "flow");
        notes.push(format!("Besides these, {flows} did not start."));
    }
    if detail == Detail::Many {
        let rate = quantity::number(completion.flows_per_s);
        notes.push(format!("{rate} flows finished per simulated second."));
    }
    Section { title: "completion of finite flows", table, notes }
}

fn group_row(name: &str, group: &Group, detail: Detail) -> Vec<String> {
    let mut row = vec![name.to_string()];
    row.extend(counts().map(|(number, of)| cell(number, of(group))));
    row.extend(statistics(group, detail, |it| it.value));
    row
}

/// The counts of flows that tables begin with.
fn counts() -> impl Iterator<Item = (&'static Number, fn(&Group) -> Option<Value>)> {
    shown(Scope::Flows).filter_map(|number| match number.of {
        Of::Flows(of) => Some((number, of)),
        _ => None,
    })
}

/// The cells of a group behind its counts: what `take` makes of each statistic.
fn statistics(
    group: &Group,
    detail: Detail,
    take: impl Fn(&Bounded<Value>) -> Option<Value>,
) -> Vec<String> {
    let mut row = Vec::new();
    for number in shown(Scope::Flows) {
        let mut push = |percentile: Option<Percentile>| {
            let bounded = number.bounded(group, percentile);
            row.push(cell(number, bounded.and_then(|it| take(&it))));
        };
        match number.of {
            Of::Percentile(_) => {
                detail.percentiles().iter().for_each(|(_, percentile)| push(Some(*percentile)));
            }
            Of::Mean(_) => push(None),
            _ => {}
        }
    }
    row
}

/// The row below that of a group with one of its bounds.
fn bound_row(name: &str, group: &Group, detail: Detail, bound: Bound) -> Vec<String> {
    let word = match bound {
        Bound::Best => "at best",
        Bound::Worst => "at worst",
        Bound::From => "95 % from",
        Bound::To => "95 % to",
    };
    let mut row = vec![format!("{name}, {word}")];
    row.extend(counts().map(|_| String::new()));
    row.extend(statistics(group, detail, |it| bound.of(it)));
    row
}

/// How many flows did not finish, if some did not.
fn unfinished(group: &Group) -> Option<String> {
    let (finished, unfinished) = (group.finished as u64, group.unfinished as u64);
    (unfinished > 0).then(|| {
        let flows = quantity::plural(finished + unfinished, "flow");
        let share = quantity::percent(unfinished as f64 / (finished + unfinished) as f64);
        let unfinished = quantity::count(unfinished);
        format!(
            "{unfinished} of {flows} ({share}) did not finish. Completion times and slowdowns leave \
             them out; with them each lies between \"at best\" and \"at worst\" (-: no bound)."
        )
    })
}

fn links(run: &Run, metrics: &Metrics) -> Option<Section> {
    let notes = link_notes(run, metrics);
    let layers = &metrics.layers;
    let is_used = layers.iter().any(|layer| layer.utilisation_max > 0.0);
    if !is_used && notes.is_empty() {
        return None;
    }
    let mut heads = "sent-by".to_string();
    let mut rows = Vec::from_iter(layers.iter().map(|layer| vec![layer_name(layer)]));
    for number in shown(Scope::Layer) {
        let Of::Layer(of) = number.of else {
            continue;
        };
        let values = Vec::from_iter(layers.iter().map(of));
        let is_zero = |value: &Option<Value>| value.is_none_or(|it| number.unit.of(it) == 0.0);
        // What is zero everywhere says nothing.
        if values.iter().all(is_zero) {
            continue;
        }
        heads += &format!(" {}", number.head);
        for (row, value) in rows.iter_mut().zip(values) {
            row.push(cell(number, value));
        }
    }
    let mut table = Table::new(&heads);
    for row in rows.into_iter().filter(|_| is_used) {
        table.push(row);
    }
    Some(Section { title: "links", table, notes })
}

/// The numbers of a scope that are columns of a table.
pub(super) fn shown(scope: Scope) -> impl Iterator<Item = &'static Number> {
    let numbers = NUMBERS.iter().filter(|number| !number.head.is_empty());
    numbers.filter(move |number| number.scope() == scope)
}

/// A value as people read it.
pub(super) fn cell(number: &Number, value: Option<Value>) -> String {
    value.map_or("-".to_string(), |value| number.unit.text(value))
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
    notes.extend(next_hops(run));
    if let Some(tree) = metrics.tree {
        notes.push(format!(
            "Congestion tree: up to {} at a time, {} in the mean, for {}; it reached {}.",
            quantity::plural(u64::from(tree.links_max), "link"),
            quantity::number(tree.links_mean),
            quantity::span(tree.duration),
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
    notes.extend(run.outcome.reordering.as_ref().map(overtaking));
    let all = metrics.fairness.map(|fairness| (fairness, "goodput", "flows"));
    let endless = metrics.fairness_endless;
    let endless = endless.map(|fairness| (fairness, "late goodput", "flows without end"));
    let parts = [all, endless].into_iter().flatten().map(|(fairness, what, whose)| {
        let Fairness { flows, jain } = fairness;
        format!("{jain:.3} over the {what} of {flows} {whose}")
    });
    let parts = Vec::from_iter(parts);
    if !parts.is_empty() {
        notes.push(format!("Jain's index: {}.", parts.join(", ")));
    }
    notes
}

/// How evenly switches used several next hops, where not the hash of flows chose them.
fn next_hops(run: &Run) -> Option<String> {
    if run.scenario.config.is_by_flow_hash() {
        return None;
    }
    let use_of = NextHops::of(&run.scenario.config, &run.outcome)?;
    Some(format!(
        "Next hops: the busiest carried {} times its share of what its set carried, {} carried nothing.",
        quantity::number(use_of.load_max),
        quantity::percent(use_of.idle),
    ))
}

/// How far packets of a flow overtook each other.
fn overtaking(all: &Reordering) -> String {
    if all.late_packets == 0 {
        return "No packet overtook another of its flow.".to_string();
    }
    let share = all.late_packets as f64 / all.packets as f64;
    let mut text = format!(
        "Overtaking: {} of data packets came after packets of their flow that were sent later, up to {} of \
         them; to hand on all in order a target has to hold up to {} of a flow.",
        quantity::percent(share),
        quantity::count(all.extents.max()),
        quantity::bytes(all.depth_max),
    );
    if all.held_max > Bytes::ZERO {
        text += &format!(" Hosts held back up to {}.", quantity::bytes(all.held_max));
    }
    text
}

/// From so many flows on a table by size and the far percentiles say something.
const MANY_FLOWS: usize = 20;

/// How many of the busiest ports are named.
const BUSIEST: usize = 3;
