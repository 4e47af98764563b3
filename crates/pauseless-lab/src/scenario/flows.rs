//! The sections `[[flow]]`, `[traffic]` and `[timing]`.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use pauseless_core::id::NodeId;
use pauseless_core::unit::{Bytes, Rate, Span};
use pauseless_fabric::path::Step;
use pauseless_sim::rng::{Purpose, Stream};

use super::Aim;
use super::reader::{At, Place, Section};
use super::topology::{DELAYS, Fabric};
use super::unit::Quantity;
use crate::problem::Sink;

/// A day: picoseconds in 64 bits reach 213 times further, so that no sum of times overflows.
pub(crate) const TIMES: RangeInclusive<Span> = Span::ZERO..=Span::s(86_400);
const SIZES: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::mb(1_000_000_000);

/// A flow as it was written, or generated.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub name: String,
    pub source: NodeId,
    pub target: NodeId,
    /// All nodes from source to target, if they were written.
    pub path: Option<Vec<Step>>,
    pub terms: Terms,
    pub pace: Rate,
    /// Where it was written.
    pub place: Place,
}

/// What `[[flow]]` and `[traffic]` have in common.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    rate: Option<At<Rate>>,
    pub size: Option<Bytes>,
    pub packet: Bytes,
    /// Without the start jitter.
    pub start: Span,
    pub stop: Option<Span>,
    pub class: u8,
}

/// What flows are read against.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub mtu: Bytes,
    pub class_count: u8,
    pub aim: Aim,
}

/// `[timing]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub start_jitter: Span,
    pub wire_jitter: Span,
    pub sources_stop: Option<Span>,
}

/// All flows as they were written.
#[derive(Debug)]
pub(crate) struct Written {
    flows: Vec<WrittenFlow>,
    traffic: Option<(Terms, Place)>,
    pub timing: Timing,
}

#[derive(Debug)]
struct WrittenFlow {
    name: Option<At<String>>,
    source: At<String>,
    target: At<String>,
    path: Option<At<Vec<At<String>>>>,
    terms: Terms,
    place: Place,
}

impl Written {
    /// Reads everything that makes flows.
    pub(crate) fn read(root: &mut Section<'_>, limits: Limits) -> Written {
        let timing = read_timing(root);
        let is_flow_written = root.has("flow");
        let flows = root.tables("flow").into_iter();
        let flows = flows.filter_map(|section| WrittenFlow::read(section, limits));
        let flows = flows.collect();
        let is_traffic_written = root.has("traffic");
        let traffic = root.table("traffic").map(|mut section| {
            let has_kind = section.has("kind");
            section.choice("kind", &[("permutation", ())]);
            if !has_kind {
                section.missing("kind", "\"permutation\"");
            }
            let terms = Terms::read(&mut section, limits);
            let place = section.place.clone();
            section.finish();
            (terms, place)
        });
        let is_needed = limits.aim == Aim::Run;
        if is_needed && !is_flow_written && !is_traffic_written {
            let problem = root.place.problem("no flows: nothing would happen");
            root.report(problem.help("add [[flow]] with a source and a target, or [traffic]"));
        }
        Written {
            flows,
            traffic,
            timing,
        }
    }
}

fn read_timing(root: &mut Section<'_>) -> Timing {
    let mut timing = Timing {
        start_jitter: Span::us(5),
        wire_jitter: Span::ZERO,
        sources_stop: None,
    };
    if let Some(mut section) = root.table("timing") {
        if let Some(jitter) = section.quantity_within("start_jitter", TIMES) {
            timing.start_jitter = jitter.value;
        }
        if let Some(jitter) = section.quantity_within("wire_jitter", DELAYS) {
            timing.wire_jitter = jitter.value;
        }
        let stop = section.quantity_within("sources_stop", TIMES);
        timing.sources_stop = stop.map(|stop| stop.value);
        section.finish();
    }
    timing
}

impl WrittenFlow {
    fn read(mut section: Section<'_>, limits: Limits) -> Option<WrittenFlow> {
        let name = section.string("name").filter(|name| {
            let is_good = !name.value.is_empty() && !name.value.contains(char::is_control);
            if !is_good {
                let problem = name.place.problem("a name of a flow is a line of text");
                section.report(problem.expected("at least one character, none of them control"));
            }
            is_good
        });
        let mut end = |key: &'static str, example: &str| {
            let is_written = section.has(key);
            let found = section.string(key);
            if !is_written {
                section.missing(key, example);
            }
            found
        };
        let (source, target) = (end("source", "\"H1\""), end("target", "\"H2\""));
        let path = section.strings("path");
        let terms = Terms::read(&mut section, limits);
        let place = section.place.clone();
        section.finish();
        let (source, target) = source.zip(target)?;
        Some(WrittenFlow {
            name,
            source,
            target,
            path,
            terms,
            place,
        })
    }
}

impl Terms {
    fn read(section: &mut Section<'_>, limits: Limits) -> Terms {
        let packets = Bytes::new(64).min(limits.mtu)..=limits.mtu;
        let packet = section.quantity_within("packet", packets);
        let classes = 0..=u64::from(limits.class_count) - 1;
        let class = section.integer("class", classes);
        let start = section.quantity_within("start", TIMES);
        let stop = section.quantity_within("stop", TIMES);
        if let (start, Some(stop)) = (start.as_ref().map_or(Span::ZERO, |at| at.value), &stop)
            && stop.value <= start
        {
            let problem = stop.place.problem("the flow stops before it starts");
            section.report(problem.expected(format!("later than {}", start.exact())));
        }
        Terms {
            rate: section.quantity("rate"),
            size: section
                .quantity_within("size", SIZES)
                .map(|size| size.value),
            packet: packet.map_or(limits.mtu, |packet| packet.value),
            start: start.map_or(Span::ZERO, |start| start.value),
            stop: stop.map(|stop| stop.value),
            class: class.map_or(0, |class| class.value as u8),
        }
    }

    /// What orders flows that have no name of their own.
    fn order(&self) -> impl Ord + use<> {
        let rate = self.rate.as_ref().map(|rate| rate.value);
        (
            self.start,
            self.size,
            rate,
            self.class,
            self.packet,
            self.stop,
        )
    }
}

/// Turns what was written into flows of one fabric.
pub(crate) struct Planner<'p> {
    pub fabric: &'p Fabric,
    pub seed: u64,
    pub sink: &'p Sink,
}

/// A flow whose name is not settled yet.
type Unnamed = (Option<At<String>>, Plan);

impl Planner<'_> {
    /// All flows, named and in order of name.
    pub(crate) fn plans(&self, written: &Written) -> Vec<Plan> {
        let mut plans = Vec::new();
        for flow in &written.flows {
            plans.extend(self.plan(flow));
        }
        if let Some((terms, place)) = &written.traffic {
            self.permute(terms, place, &mut plans);
        }
        if let Some(stop) = written.timing.sources_stop {
            for (_, plan) in plans.iter().filter(|(_, plan)| plan.terms.start >= stop) {
                let message = "the flow starts when all sources have stopped";
                let problem = plan.place.problem(message);
                self.sink
                    .push(problem.expected(format!("a start before {}", stop.exact())));
            }
        }
        self.name(plans)
    }

    fn plan(&self, flow: &WrittenFlow) -> Option<Unnamed> {
        let source = self.fabric.host(self.sink, &flow.source);
        let target = self.fabric.host(self.sink, &flow.target);
        let path = flow.path.as_ref().map(|path| {
            let steps = path.value.iter().map(|written| self.step(written));
            // All of them are read before one that is wrong ends it, so that all are reported.
            let steps = Vec::from_iter(steps);
            steps.into_iter().collect::<Option<Vec<Step>>>()
        });
        let (source, target) = source.zip(target)?;
        if source == target {
            let problem = flow
                .target
                .place
                .problem("source and target are the same host");
            self.sink.push(problem.help("choose another target"));
            return None;
        }
        let path = match path {
            None => None,
            Some(steps) => Some(complete(steps?, source, target)),
        };
        let pace = self.pace(source, &flow.terms)?;
        let plan = Plan {
            name: String::new(),
            source,
            target,
            path,
            terms: flow.terms.clone(),
            pace,
            place: flow
                .path
                .as_ref()
                .map_or(&flow.place, |path| &path.place)
                .clone(),
        };
        Some((flow.name.clone(), plan))
    }

    /// A node of a path. Behind its name may stand by which of parallel links it is reached.
    fn step(&self, written: &At<String>) -> Option<Step> {
        let (name, link) = written.split_link(self.sink)?;
        let node = self.fabric.node(self.sink, &name)?;
        let link = link.unwrap_or(1);
        Some(Step { node, link })
    }

    /// The rate that was written, or that of the host's link.
    fn pace(&self, source: NodeId, terms: &Terms) -> Option<Rate> {
        let line = self.fabric.topology.ports(source)[0].rate;
        match &terms.rate {
            Some(rate) if rate.value > line => {
                let name = &self.fabric.topology.node(source).name;
                let message = format!(
                    "{} is more than the link of {name} carries",
                    rate.value.exact()
                );
                let problem = rate.place.problem(message);
                self.sink
                    .push(problem.expected(format!("at most {}", line.exact())));
                None
            }
            Some(rate) => Some(rate.value),
            None => Some(line),
        }
    }

    /// Every host sends to the next one of a random cycle through all hosts.
    fn permute(&self, terms: &Terms, place: &Place, plans: &mut Vec<Unnamed>) {
        let mut hosts = self.fabric.topology.hosts().to_vec();
        if hosts.len() < 2 {
            self.sink
                .push(place.problem("a permutation needs at least two hosts"));
            return;
        }
        Stream::new(self.seed, Purpose::Workload, 0).shuffle(&mut hosts);
        for (index, source) in hosts.iter().enumerate() {
            let target = hosts[(index + 1) % hosts.len()];
            let Some(pace) = self.pace(*source, terms) else {
                return;
            };
            let plan = Plan {
                name: String::new(),
                source: *source,
                target,
                path: None,
                terms: terms.clone(),
                pace,
                place: place.clone(),
            };
            plans.push((None, plan));
        }
    }

    /// Gives every flow a name that depends on what the flow is, never on its place in the file.
    fn name(&self, plans: Vec<Unnamed>) -> Vec<Plan> {
        let mut named: BTreeMap<String, Plan> = BTreeMap::new();
        let mut unnamed = Vec::new();
        for (name, plan) in plans {
            let Some(At { value, place }) = name else {
                unnamed.push(plan);
                continue;
            };
            if named.contains_key(&value) {
                let problem = place.problem(format!("two flows are called {value:?}"));
                self.sink
                    .push(problem.help("give each a name of its own, or none"));
            }
            named.insert(
                value.clone(),
                Plan {
                    name: value,
                    ..plan
                },
            );
        }
        unnamed.sort_by_cached_key(|plan| {
            (
                plan.source,
                plan.target,
                plan.terms.order(),
                plan.path.clone(),
            )
        });
        let mut last = (None, 0);
        for plan in unnamed {
            let ends = Some((plan.source, plan.target));
            let mut number = if last.0 == ends { last.1 + 1 } else { 1 };
            let [source, target] =
                [plan.source, plan.target].map(|node| &self.fabric.topology.node(node).name);
            let name = loop {
                let name = match number {
                    1 => format!("{source}->{target}"),
                    _ => format!("{source}->{target}#{number}"),
                };
                if !named.contains_key(&name) {
                    break name;
                }
                number += 1;
            };
            last = (ends, number);
            named.insert(name.clone(), Plan { name, ..plan });
        }
        named.into_values().collect()
    }
}

/// The path with its ends, which may be left out of the file.
fn complete(mut steps: Vec<Step>, source: NodeId, target: NodeId) -> Vec<Step> {
    if steps.first().map(|step| step.node) != Some(source) {
        steps.insert(0, source.into());
    }
    if steps.last().map(|step| step.node) != Some(target) {
        steps.push(target.into());
    }
    steps
}
