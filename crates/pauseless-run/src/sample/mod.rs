//! What is kept of a run: numbers by name, and the curves that a figure needs.

pub mod curve;
pub mod share;

use std::collections::BTreeMap;

use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::unit::{Span, Time};
use pauseless_sim::outcome::QueueOutcome;
use serde::{Deserialize, Serialize};

use crate::Run;
use crate::metrics::completion::{self, fct, slowdown};
use crate::metrics::distribution::Percentile;
use crate::results::reference::size_word;
use crate::results::{Facts, Kept, NUMBERS, Of, Reference, curves};

/// What is kept of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Sample {
    /// Why the run ended, as results have it: `duration`, `deadlock`, `done`, `steady` or
    /// `interrupted`.
    #[serde(default)]
    pub ended: String,
    /// Numbers by name, such as `rate.F1`; see `docs/metrics.md`.
    pub metrics: BTreeMap<String, f64>,
    /// The instants of the curves, in milliseconds.
    pub times_ms: Vec<f64>,
    /// Curves by name, such as `queue.S1:H1` in KB and `goodput.F1` in Gb/s.
    pub curves: BTreeMap<String, Vec<f64>>,
    /// Completion times in microseconds, evenly spaced quantiles of them if they are many.
    pub fct_us: Vec<f64>,
    /// Slowdowns, in as many quantiles as the completion times.
    pub slowdowns: Vec<f64>,
    /// The run as the JSON contract has it, if it was asked for.
    pub document: Option<serde_json::Value>,
}

impl Sample {
    /// A number by its name.
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.metrics.get(name).copied()
    }

    /// The usual numbers of a run, with the curves of these names.
    pub fn of(run: &Run, curves: &[String]) -> Result<Sample, String> {
        let facts = Facts::of(run);
        let mut sample = Sample::asked(&facts, curves, &[])?;
        sample.add_usual(&facts);
        Ok(sample)
    }

    /// The numbers and the curves of these names, and nothing else.
    pub fn asked(
        facts: &Facts<'_>,
        curves: &[String],
        numbers: &[Asked],
    ) -> Result<Sample, String> {
        let run = facts.run;
        let mut sample = Sample { ended: run.ended_name().to_string(), ..Sample::default() };
        for Asked { name, reference } in numbers {
            if let Some(value) = reference.value(facts) {
                sample.metrics.insert(name.clone(), value);
            }
        }
        if !curves.is_empty() {
            let times = run.outcome.series.times.iter();
            sample.times_ms = times.map(|time| ms(*time - Time::ZERO)).collect();
        }
        for name in curves {
            sample.curves.insert(name.clone(), curves::sum(run, name)?);
        }
        Ok(sample)
    }

    /// Adds the numbers that are computed of every run of an experiment.
    pub fn add_usual(&mut self, facts: &Facts<'_>) {
        let finished = facts.run.outcome.flows.iter();
        self.fct_us = quantiles(finished.clone().filter_map(fct).map(us));
        self.slowdowns = quantiles(finished.filter_map(slowdown));
        usual(facts, &mut |name, value| {
            self.metrics.insert(name, value);
        });
    }
}

/// A number that is asked for.
#[derive(Clone, Debug)]
pub struct Asked {
    /// As it was written, which is the name of its value.
    pub name: String,
    /// The number that the name refers to.
    pub reference: Reference,
}

impl Asked {
    /// The numbers of these names, which were read before.
    pub fn all<'n>(names: impl IntoIterator<Item = &'n String>) -> Vec<Asked> {
        let known = names.into_iter().filter_map(|name| {
            let reference = Reference::parse(name).ok()?;
            let name = name.clone();
            Some(Asked { name, reference })
        });
        known.collect()
    }
}

/// Takes a number by its name.
pub type Add<'a> = &'a mut dyn FnMut(String, f64);

/// The numbers that every sample has without being asked for, under their short names.
fn usual(facts: &Facts<'_>, add: Add<'_>) {
    let run = facts.run;
    let (flows, ports) = (&run.outcome.flows, &facts.metrics.ports);
    let mut queues: BTreeMap<(NodeId, PortId), Vec<&QueueOutcome>> = BTreeMap::new();
    for queue in &run.outcome.queues {
        queues.entry((queue.node, queue.port)).or_default().push(queue);
    }
    for number in NUMBERS.iter().filter(|it| it.kept >= Kept::Sampled) {
        let mut add = |part: &str, value| {
            if let Some(value) = value {
                let value = number.unit.of(value);
                if value.is_finite() {
                    add(format!("{}{part}", number.name), value);
                }
            }
        };
        let port_name = |node, port| format!(".{}", run.port_name(node, port));
        match number.of {
            Of::Run(of) => add("", of(facts)),
            Of::Class(of) => {
                for class in 0..facts.class_count() as u8 {
                    add(&format!(".class{class}"), of(facts, Class(class)));
                }
            }
            Of::Port(of) if ports.len() <= PORTS_MAX => {
                for port in ports {
                    add(&port_name(port.node, port.port), of(port));
                }
            }
            Of::Queue(of) => {
                for ((node, port), queues) in &queues {
                    add(&port_name(*node, *port), of(queues));
                }
            }
            Of::Flow(of) if flows.len() <= FLOWS_MAX => {
                for flow in facts.flows() {
                    add(&format!(".{}", flow.flow.name), of(&flow));
                }
            }
            Of::Layer(_) | Of::Port(_) | Of::Flow(_) => {}
            // These are of some flows, below.
            Of::Flows(_) | Of::Mean(_) | Of::Percentile(_) => {}
        }
    }
    if let Some(completion) = facts.completion() {
        group("", &completion.all, add);
        for (range, members) in &completion.by_size {
            group(&format!(".{}", size_word(*range, "")), members, add);
        }
        for (Class(class), members) in &completion.by_class {
            group(&format!(".class{class}"), members, add);
        }
    }
}

/// The completion of some flows; the names of its numbers end in `suffix`.
pub fn group(suffix: &str, group: &completion::Group, add: Add<'_>) {
    for number in NUMBERS {
        let mut add = |name: &str, value| {
            if let Some(value) = value {
                add(format!("{name}{suffix}"), number.unit.of(value));
            }
        };
        match number.of {
            Of::Flows(of) if number.kept >= Kept::Sampled => add(number.name, of(group)),
            Of::Mean(_) if number.kept >= Kept::Sampled => {
                add(number.name, number.bounded(group, None).and_then(|it| it.value));
            }
            Of::Percentile(_) => {
                for (name, _) in number.kept_at {
                    let bounded = number.bounded(group, Percentile::named(name));
                    add(&number.spelt_at(name), bounded.and_then(|it| it.value));
                }
            }
            _ => {}
        }
    }
}

fn quantiles(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    if values.len() <= QUANTILES {
        return values;
    }
    let all = (1..=QUANTILES).map(|n| Percentile::permille((n * 1_000 / QUANTILES) as u32));
    all.filter_map(|percentile| percentile.of(&values)).collect()
}

fn ms(span: Span) -> f64 {
    span.as_secs_f64() * 1e3
}

fn us(span: Span) -> f64 {
    span.as_secs_f64() * 1e6
}

/// The most flows of which every one has numbers of its own without being asked for.
const FLOWS_MAX: usize = 64;
/// The most ports of which every one has numbers of its own without being asked for.
const PORTS_MAX: usize = 256;
/// More points of a distribution do not show.
const QUANTILES: usize = 200;
