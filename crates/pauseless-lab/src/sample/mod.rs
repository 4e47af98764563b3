//! What is kept of a run: numbers by name, and the curves that a figure needs.

pub mod curve;
pub mod names;
pub mod share;

use std::collections::{BTreeMap, BTreeSet};

use pauseless_core::id::Class;
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_sim::outcome::QueueOutcome;
use serde::{Deserialize, Serialize};

use crate::metrics::completion::{self, SizeRange, fct, slowdown};
use crate::metrics::{Metrics, distribution};
use crate::run::Run;

/// What is kept of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Sample {
    /// Numbers by name, such as `rate.F1`; see `docs/repro.md`.
    pub metrics: BTreeMap<String, f64>,
    /// The instants of the curves, in milliseconds.
    pub times_ms: Vec<f64>,
    /// Curves by name, such as `queue.S1:H1` in KB and `goodput.F1` in Gb/s.
    pub curves: BTreeMap<String, Vec<f64>>,
    /// Completion times in microseconds, evenly spaced quantiles of them if they are many.
    pub fct_us: Vec<f64>,
    /// Slowdowns, likewise.
    pub slowdowns: Vec<f64>,
    /// The run as the JSON contract has it, if it was asked for.
    pub document: Option<serde_json::Value>,
}

impl Sample {
    /// A number by its name.
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.metrics.get(name).copied()
    }

    /// What `run` has measured, with the curves of these names.
    pub fn of(run: &Run, curves: &[String]) -> Result<Sample, String> {
        Sample::with(run, curves, &[])
    }

    /// The same with the numbers of these names, which may be those of one of very many flows or
    /// ports.
    pub fn with(run: &Run, curves: &[String], numbers: &[String]) -> Result<Sample, String> {
        let parts = numbers.iter().filter_map(|name| name.split_once('.'));
        let wanted: BTreeSet<&str> = parts.map(|(_, part)| part).collect();
        let mut sample = Sample::default();
        let mut add = |name: String, value: f64| {
            if value.is_finite() {
                sample.metrics.insert(name, value);
            }
        };
        findings(run, &mut add);
        rates(run, &wanted, &mut add);
        queues(run, &mut add);
        ports(run, &wanted, &mut add);
        completions(run, &mut add);
        let finished = run.outcome.flows.iter();
        sample.fct_us = quantiles(finished.clone().filter_map(fct).map(us));
        sample.slowdowns = quantiles(finished.filter_map(slowdown));
        if !curves.is_empty() {
            let times = run.outcome.series.times.iter();
            sample.times_ms = times.map(|time| ms(*time - Time::ZERO)).collect();
        }
        for name in curves {
            sample.curves.insert(name.clone(), curve::sum(run, name)?);
        }
        Ok(sample)
    }
}

/// Takes a number by its name.
pub type Add<'a> = &'a mut dyn FnMut(String, f64);

fn findings(run: &Run, add: Add<'_>) {
    let outcome = &run.outcome;
    let deadlock = outcome.deadlock.as_ref();
    add(
        "deadlock".to_string(),
        f64::from(u8::from(deadlock.is_some())),
    );
    add("stuck".to_string(), f64::from(u8::from(outcome.is_stuck())));
    if let Some(deadlock) = deadlock {
        add("deadlock_ms".to_string(), ms(deadlock.time - Time::ZERO));
        add("deadlock_ports".to_string(), deadlock.cycle.len() as f64);
    }
    add("starved".to_string(), outcome.starved.len() as f64);
    add("lost".to_string(), outcome.lost_packets as f64);
    add("warnings".to_string(), run.scenario.warnings.len() as f64);
    add("held_kb".to_string(), kb(outcome.held_at_end));
    add("pauses".to_string(), outcome.pause_frames as f64);
    add(
        "feedback_percent".to_string(),
        outcome.feedback_share_max * 100.0,
    );
    add("end_ms".to_string(), ms(outcome.end - Time::ZERO));
    add("hops".to_string(), outcome.packet_hops as f64);
    add(
        "last_arrival_ms".to_string(),
        ms(outcome.last_arrival - Time::ZERO),
    );
    for class in 0..run.scenario.config.ingress.class_count() {
        let pauses = outcome.pause_frames_by_class[class];
        add(format!("pauses.class{class}"), pauses as f64);
    }
}

fn rates(run: &Run, wanted: &BTreeSet<&str>, add: Add<'_>) {
    let flows = &run.outcome.flows;
    if flows.is_empty() {
        return;
    }
    let late: Vec<f64> = flows.iter().map(|it| it.goodput_late_bps / 1e9).collect();
    let sum: f64 = late.iter().sum();
    add("rate.sum".to_string(), sum);
    add("rate.mean".to_string(), sum / late.len() as f64);
    add(
        "rate.min".to_string(),
        late.iter().copied().fold(f64::INFINITY, f64::min),
    );
    add(
        "rate.max".to_string(),
        late.iter().copied().fold(0.0, f64::max),
    );
    for (flow, outcome) in run.scenario.config.flows.iter().zip(flows) {
        if flows.len() > FLOWS_MAX && !wanted.contains(flow.name.as_str()) {
            continue;
        }
        add(
            format!("rate.{}", flow.name),
            outcome.goodput_late_bps / 1e9,
        );
        add(format!("total.{}", flow.name), outcome.goodput_bps / 1e9);
    }
}

fn queues(run: &Run, add: Add<'_>) {
    let queues = &run.outcome.queues;
    let largest = queues.iter().map(|queue| queue.max).max();
    add("queue_max".to_string(), kb(largest.unwrap_or(Bytes::ZERO)));
    let mut ports: BTreeMap<_, Vec<&QueueOutcome>> = BTreeMap::new();
    for queue in queues {
        ports
            .entry((queue.node, queue.port))
            .or_default()
            .push(queue);
    }
    for ((node, port), classes) in ports {
        let name = run.port_name(node, port);
        let max = classes.iter().map(|queue| queue.max).max();
        add(format!("queue_max.{name}"), kb(max.unwrap_or(Bytes::ZERO)));
        let end: u64 = classes.iter().map(|queue| queue.last.get()).sum();
        add(format!("queue_end.{name}"), end as f64 / 1e3);
        let means = classes.iter().filter_map(|queue| queue.mean);
        if means.clone().count() > 0 {
            add(format!("queue_mean.{name}"), means.sum::<f64>() / 1e3);
        }
    }
}

fn ports(run: &Run, wanted: &BTreeSet<&str>, add: Add<'_>) {
    let metrics = run.metrics();
    others(&metrics, add);
    let is_one_wanted = wanted.iter().any(|name| name.contains(':'));
    if metrics.ports.len() > PORTS_MAX && !is_one_wanted {
        return;
    }
    for port in &metrics.ports {
        let name = run.port_name(port.node, port.port);
        if metrics.ports.len() > PORTS_MAX && !wanted.contains(name.as_str()) {
            continue;
        }
        add(format!("pauses.{name}"), port.pauses as f64);
        add(format!("held_ms.{name}"), ms(port.held));
        add(format!("utilisation.{name}"), port.utilisation * 100.0);
        if let Some(last) = port.held_last {
            add(format!("held_last_ms.{name}"), ms(last - Time::ZERO));
        }
    }
}

fn others(metrics: &Metrics, add: Add<'_>) {
    let fairness = metrics.fairness_endless.or(metrics.fairness);
    if let Some(fairness) = fairness {
        add("jain".to_string(), fairness.jain);
    }
    if let Some(tree) = &metrics.tree {
        add("tree_ms".to_string(), ms(tree.duration));
        add("tree_links".to_string(), f64::from(tree.links_max));
        add("tree_hosts".to_string(), f64::from(tree.hosts));
    }
    if let Some(answers) = &metrics.answers {
        add("answers_percent".to_string(), answers.share * 100.0);
    }
}

fn completions(run: &Run, add: Add<'_>) {
    let Some(completion) = run.metrics().completion else {
        return;
    };
    add("flows_per_s".to_string(), completion.flows_per_s);
    group("", &completion.all, add);
    for (range, members) in &completion.by_size {
        let place = SizeRange::ALL.iter().position(|it| it == range);
        let name = ["S", "M", "L", "XL"][place.expect("one of them")];
        group(&format!(".{name}"), members, add);
    }
    for (Class(class), members) in &completion.by_class {
        group(&format!(".class{class}"), members, add);
    }
}

/// The completion of some flows; the names of its metrics end in `suffix`.
pub(crate) fn group(suffix: &str, group: &completion::Group, add: Add<'_>) {
    let mut add = |name: &str, value: f64| add(format!("{name}{suffix}"), value);
    add("finished", group.finished as f64);
    add("unfinished", group.unfinished as f64);
    if let Some(fct) = &group.fct {
        add("fct_mean_us", fct.mean / 1e6);
        add("fct_p50_us", fct.p50 as f64 / 1e6);
        add("fct_p99_us", fct.p99 as f64 / 1e6);
    }
    if let Some(slowdown) = &group.slowdown {
        add("slowdown_mean", slowdown.mean);
        add("slowdown_p99", slowdown.p99);
    }
}

fn quantiles(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    if values.len() <= QUANTILES {
        return values;
    }
    let all = (1..=QUANTILES).map(|n| (n * 1_000 / QUANTILES) as u32);
    let all = all.filter_map(|permille| distribution::percentile(&values, permille));
    all.collect()
}

fn ms(span: Span) -> f64 {
    span.as_secs_f64() * 1e3
}

fn us(span: Span) -> f64 {
    span.as_secs_f64() * 1e6
}

fn kb(bytes: Bytes) -> f64 {
    bytes.get() as f64 / 1e3
}

/// Of more flows, only those that are asked for have numbers of their own.
const FLOWS_MAX: usize = 64;
/// Of more ports, only those that are asked for have numbers of their own.
const PORTS_MAX: usize = 256;
/// More points of a distribution do not show.
const QUANTILES: usize = 200;
