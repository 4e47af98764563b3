//! The sections `[[flow]]` and `[timing]`, and what all flows have in common.

mod waits;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;
use std::rc::Rc;

use pauseless_core::class_map::LANE_COUNT;
use pauseless_core::host::Duty;
use pauseless_core::id::{Class, FlowId, NodeId};
use pauseless_core::unit::{Bytes, Rate, Span};
use pauseless_fabric::dependency::Lane;
use pauseless_fabric::path::Step;
use pauseless_sim::config::{Follow, Ties, Transmission};

use super::congestion::number;
use super::file::File;
use super::reader::{At, Place, Section};
use super::topology::{DELAYS, Fabric};
use super::traffic::{MadePlans, Traffic};
use super::unit::Quantity;
use super::{Aim, Classes, Forwarding};
use crate::problem::Sink;
use waits::Waits;

/// A day: picoseconds in 64 bits reach 213 times further, so that no sum of times overflows.
pub(crate) const TIMES: RangeInclusive<Span> = Span::ZERO..=Span::s(86_400);
/// What may come first at one instant.
pub(crate) const TIES: [(&str, Ties); 2] = [
    ("control-first", Ties::Control),
    ("arrivals-first", Ties::Arrivals),
];
/// What the ways to reckon how long a frame takes are called in files.
pub(crate) const TRANSMISSIONS: [(&str, Transmission); 2] = [
    ("exact", Transmission::Exact),
    ("whole-ns", Transmission::WholeNanoseconds),
];
/// The most flows of one `[[flow]]`: more are the business of `[[traffic]]`.
const COUNT_MAX: u64 = 100_000;
/// The TTL of a flow that circles, if none was written: what hosts commonly send with.
const TTL_OF_LOOPS: u8 = 64;
/// What a flow may send.
pub(crate) const SIZES: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::mb(1_000_000_000);

/// A flow as it was written, or made by a rule.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub name: String,
    pub source: NodeId,
    pub target: NodeId,
    /// All nodes from source to target, if they were written.
    pub path: Option<Vec<Step>>,
    /// The same from target to source, for what the source is told.
    pub return_path: Option<Vec<Step>>,
    /// The switches of a loop behind `path`, which then ends before it; empty for a flow that
    /// arrives.
    pub round: Vec<Step>,
    pub terms: Terms,
    pub pace: Rate,
    /// The rate at which congestion control lets it start, if that is not the rate of its link.
    pub initial: Option<Rate>,
    /// Where it was written; shared, because of rules that make millions.
    pub place: Rc<Place>,
    /// Whether `[[traffic]]` made it.
    pub is_made: bool,
    /// Whether it starts at its start, and not up to the start jitter later.
    pub is_exact: bool,
    /// What it waits for.
    pub waits: Option<Rc<Waits>>,
}

/// What a flow does, whoever sends it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub size: Option<Bytes>,
    pub packet: Bytes,
    /// Without the start jitter.
    pub start: Span,
    pub stop: Option<Span>,
    pub class: u8,
    /// What its packets carry all the way; their class if nothing was written.
    pub label: Option<u8>,
    pub ttl: Option<u8>,
    /// When it is silent by itself.
    pub duty: Duty,
    /// Whether it obeys `[congestion_control]`.
    pub is_controlled: bool,
}

/// The keys that `[[flow]]` and `[[traffic]]` have in common.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub terms: Terms,
    rate: Option<At<Rate>>,
    initial: Option<At<Rate>>,
}

/// What flows are read against.
#[derive(Clone, Copy)]
pub(crate) struct Limits<'l> {
    pub mtu: Bytes,
    pub class_count: u8,
    pub aim: Aim,
    /// What paths of other files are relative to.
    pub folder: &'l Path,
}

/// `[timing]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub start_jitter: Span,
    pub wire_jitter: Span,
    /// The share of frames that every wire loses.
    pub wire_loss: f64,
    pub transmission: Transmission,
    /// What comes first at one instant.
    pub ties: Ties,
    pub sources_stop: Option<Span>,
}

/// All flows as they were written.
#[derive(Debug)]
pub(crate) struct Written {
    flows: Vec<WrittenFlow>,
    pub traffic: Vec<Traffic>,
    pub timing: Timing,
}

#[derive(Debug)]
struct WrittenFlow {
    name: Option<At<String>>,
    source: At<String>,
    target: At<String>,
    path: Option<At<Vec<At<String>>>>,
    return_path: Option<At<Vec<At<String>>>>,
    round: Option<At<Vec<At<String>>>>,
    wanted: Wanted,
    count: u64,
    waits: Option<Rc<Waits>>,
    place: Place,
}

impl Written {
    /// Reads everything that makes flows.
    pub(crate) fn read(root: &mut Section<'_>, limits: Limits<'_>) -> Written {
        let timing = read_timing(root);
        let is_flow_written = root.has("flow");
        let flows = root.tables("flow").into_iter();
        let flows = flows.filter_map(|section| WrittenFlow::read(section, limits));
        let flows = flows.collect();
        let is_traffic_written = root.has("traffic");
        let traffic = Traffic::read_all(root, limits);
        let is_needed = limits.aim == Aim::Run;
        if is_needed && !is_flow_written && !is_traffic_written {
            let problem = root.place.problem("no flows: nothing would happen");
            root.report(problem.help("add [[flow]] with a source and a target, or [[traffic]]"));
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
        wire_loss: 0.0,
        transmission: Transmission::Exact,
        ties: Ties::Control,
        sources_stop: None,
    };
    if let Some(mut section) = root.table("timing") {
        if let Some(jitter) = section.quantity_within("start_jitter", TIMES) {
            timing.start_jitter = jitter.value;
        }
        if let Some(jitter) = section.quantity_within("wire_jitter", DELAYS) {
            timing.wire_jitter = jitter.value;
        }
        if let Some(share) = number(&mut section, "wire_loss", 0.0..=0.5) {
            timing.wire_loss = share.value;
        }
        if let Some(transmission) = section.choice("transmission", &TRANSMISSIONS) {
            timing.transmission = transmission.value;
        }
        if let Some(ties) = section.choice("ties", &TIES) {
            timing.ties = ties.value;
        }
        let stop = section.quantity_within("sources_stop", TIMES);
        timing.sources_stop = stop.map(|stop| stop.value);
        section.finish();
    }
    timing
}

impl WrittenFlow {
    fn read(mut section: Section<'_>, limits: Limits<'_>) -> Option<WrittenFlow> {
        let name = section.string("name");
        let name = name.filter(|name| check_name(&section, name));
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
        let return_path = section.strings("return_path");
        let round = section.strings("loop");
        let mut wanted = Wanted::read(&mut section, limits);
        if round.is_some() {
            wanted.terms.circle();
        }
        wanted.terms.duty = read_duty(&mut section);
        let count = section.integer("count", 1..=COUNT_MAX);
        let waits = Waits::read(&mut section);
        let place = section.place.clone();
        section.finish();
        let (source, target) = source.zip(target)?;
        Some(WrittenFlow {
            name,
            source,
            target,
            path,
            return_path,
            round,
            wanted,
            count: count.map_or(1, |count| count.value),
            waits,
            place,
        })
    }
}

/// Whether this can be a name; reports if not.
pub(crate) fn check_name(section: &Section<'_>, name: &At<String>) -> bool {
    let is_good = !name.value.is_empty() && !name.value.contains(char::is_control);
    if !is_good {
        let problem = name.place.problem("a name of a flow is a line of text");
        section.report(problem.expected("at least one character, none of them control"));
    }
    is_good
}

/// Reads `on` and `off`.
fn read_duty(section: &mut Section<'_>) -> Duty {
    let written = [section.has("on"), section.has("off")];
    let spans = Span::ps(1)..=*TIMES.end();
    let on = section.quantity_within("on", spans.clone());
    let off = section.quantity_within("off", spans);
    match written {
        [true, false] => section.missing("off", "\"1 ms\", how long it is silent"),
        [false, true] => section.missing("on", "\"1 ms\", how long it sends"),
        _ => {}
    }
    on.zip(off).map_or(Duty::ALWAYS, |(on, off)| Duty {
        on: on.value,
        off: off.value,
    })
}

impl Wanted {
    /// Reads the keys.
    pub(crate) fn read(section: &mut Section<'_>, limits: Limits<'_>) -> Wanted {
        let packets = Bytes::new(64).min(limits.mtu)..=limits.mtu;
        let packet = section.quantity_within("packet", packets);
        let classes = 0..=u64::from(limits.class_count) - 1;
        let class = section.integer("class", classes);
        let label = section.integer("label", 0..=LANE_COUNT as u64 - 1);
        let ttl = section.integer("ttl", 1..=u64::from(u8::MAX));
        let start = section.quantity_within("start", TIMES);
        let stop = section.quantity_within("stop", TIMES);
        if let (start, Some(stop)) = (start.as_ref().map_or(Span::ZERO, |at| at.value), &stop)
            && stop.value <= start
        {
            let problem = stop.place.problem("the flow stops before it starts");
            section.report(problem.expected(format!("later than {}", start.exact())));
        }
        let size = section.quantity_within("size", SIZES);
        let control = section.boolean("congestion_control");
        Wanted {
            rate: section.quantity("rate"),
            initial: section.quantity("initial_rate"),
            terms: Terms {
                size: size.map(|size| size.value),
                packet: packet.map_or(limits.mtu, |packet| packet.value),
                start: start.map_or(Span::ZERO, |start| start.value),
                stop: stop.map(|stop| stop.value),
                class: class.map_or(0, |class| class.value as u8),
                label: label.map(|label| label.value as u8),
                ttl: ttl.map(|ttl| ttl.value as u8),
                duty: Duty::ALWAYS,
                is_controlled: control.is_none_or(|control| control.value),
            },
        }
    }

    /// The pace, if it was written.
    pub(crate) fn rate(&self) -> Option<Rate> {
        self.rate.as_ref().map(|rate| rate.value)
    }

    /// Writes the keys that do not depend on who sends, except for `size`.
    pub(crate) fn write(&self, file: &mut File) {
        if let Some(rate) = &self.rate {
            file.quantity("rate", rate.value);
        }
        if let Some(initial) = &self.initial {
            file.quantity("initial_rate", initial.value);
        }
        self.terms.write(file);
    }

    /// What orders flows that have no name of their own.
    fn order(&self) -> impl Ord + use<> {
        let terms = &self.terms;
        let rate = self.rate.as_ref().map(|rate| rate.value);
        let initial = self.initial.as_ref().map(|rate| rate.value);
        let first = (terms.start, terms.size, rate, terms.class, terms.packet);
        let rest = (terms.stop, terms.duty, initial, terms.is_controlled);
        (first, rest, (terms.label, terms.ttl))
    }
}

impl Terms {
    /// The label and class in which packets enter.
    pub(crate) fn lane(&self) -> Lane {
        Lane {
            label: self.label.unwrap_or(self.class),
            class: Class(self.class),
        }
    }

    /// Nobody receives what circles, so nobody answers; and it has to end.
    fn circle(&mut self) {
        self.is_controlled = false;
        self.ttl = self.ttl.or(Some(TTL_OF_LOOPS));
    }

    /// Writes the keys, except for `size`.
    pub(crate) fn write(&self, file: &mut File) {
        file.quantity("packet", self.packet);
        file.quantity("start", self.start);
        if let Some(stop) = self.stop {
            file.quantity("stop", stop);
        }
        file.plain("class", self.class);
        if let Some(label) = self.label {
            file.plain("label", label);
        }
        if let Some(ttl) = self.ttl {
            file.plain("ttl", ttl);
        }
        if self.duty != Duty::ALWAYS {
            file.quantity("on", self.duty.on);
            file.quantity("off", self.duty.off);
        }
        file.plain("congestion_control", self.is_controlled);
    }
}

/// Turns what was written into flows of one fabric.
pub(crate) struct Planner<'p> {
    pub fabric: &'p Fabric,
    pub seed: u64,
    pub sink: &'p Sink,
    /// The end of the run; `None` where it is enough who sends to whom.
    pub until: Option<Span>,
    /// What flows that follow from the routes are made from.
    pub ways: Ways<'p>,
}

/// Where packets go, and in which class.
#[derive(Clone, Copy)]
pub(crate) struct Ways<'p> {
    pub routing: &'p Forwarding,
    pub classes: Option<&'p Classes>,
}

impl<'p> Ways<'p> {
    pub(crate) fn new(routing: &'p Forwarding, classes: Option<&'p Classes>) -> Ways<'p> {
        Ways { routing, classes }
    }
}

/// All flows.
pub(crate) struct Planned {
    /// In order of name.
    pub plans: Vec<Plan>,
    /// Which of them wait for which, in order.
    pub follows: Vec<Follow>,
}

/// A flow whose name is not settled yet, and how often it was wanted.
struct Unnamed<'w> {
    name: Option<At<String>>,
    count: u64,
    plan: Plan,
    wanted: &'w Wanted,
}

/// Flows by name.
type Named = BTreeMap<String, Plan>;
/// The names of the flows that a name with a `count` stands for.
type Copies = BTreeMap<String, Vec<String>>;

impl Planner<'_> {
    /// All flows, named and in order of name.
    pub(crate) fn plans(&self, written: &Written) -> Planned {
        let mut flows = Vec::new();
        for flow in &written.flows {
            flows.extend(self.plan(flow));
        }
        for (plan, wanted) in self.permutations(written) {
            flows.push(Unnamed {
                name: None,
                count: 1,
                plan,
                wanted,
            });
        }
        if let Some(stop) = written.timing.sources_stop {
            let late = flows.iter().map(|flow| &flow.plan);
            for plan in late.filter(|plan| plan.terms.start >= stop) {
                let message = "the flow starts when all sources have stopped";
                let problem = plan.place.problem(message);
                self.sink
                    .push(problem.expected(format!("a start before {}", stop.exact())));
            }
        }
        let (named, copies) = self.name(flows);
        let made = self.make(written);
        self.join(named, made, &copies)
    }

    /// Written and made flows in one list, in order of name.
    fn join(&self, named: Named, made: MadePlans, copies: &Copies) -> Planned {
        let base = made.plans.len();
        let mut plans = made.plans;
        plans.extend(named.into_values());
        // Where each of them goes, so that those who wait can be told.
        let mut order = Vec::from_iter(0..plans.len() as u32);
        order.sort_unstable_by(|a, b| plans[*a as usize].name.cmp(&plans[*b as usize].name));
        let mut place = vec![0u32; base];
        for (index, plan) in order.iter().enumerate() {
            if let Some(place) = place.get_mut(*plan as usize) {
                *place = index as u32;
            }
        }
        plans.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        // Pairs of hosts have no names that matter, and wait for nothing.
        if self.until.is_none() {
            let follows = Vec::new();
            return Planned { plans, follows };
        }
        for pair in plans.windows(2).filter(|pair| pair[0].name == pair[1].name) {
            let written = pair.iter().find(|plan| !plan.is_made).unwrap_or(&pair[0]);
            let message = format!("[[traffic]] makes a flow {:?}, too", written.name);
            let problem = written.place.problem(message);
            self.sink
                .push(problem.help("give one of them another name"));
        }
        let mut follows = self.follows(&plans, copies);
        follows.extend(made.follows.iter().map(|link| Follow {
            first: FlowId(place[link.first as usize]),
            then: FlowId(place[link.then as usize]),
            delay: link.delay,
        }));
        follows.sort_unstable();
        follows.dedup();
        Planned { plans, follows }
    }

    fn plan<'w>(&self, flow: &'w WrittenFlow) -> Option<Unnamed<'w>> {
        let source = self.fabric.host(self.sink, &flow.source);
        let target = self.fabric.host(self.sink, &flow.target);
        let steps = |written: &At<Vec<At<String>>>| {
            let steps = written.value.iter().map(|written| self.step(written));
            // All of them are read before one that is wrong ends it, so that all are reported.
            let steps = Vec::from_iter(steps);
            steps.into_iter().collect::<Option<Vec<Step>>>()
        };
        let path = flow.path.as_ref().map(steps);
        let round = flow.round.as_ref().map(steps);
        let return_path = flow.return_path.as_ref().map(steps);
        let (source, target) = source.zip(target)?;
        if source == target {
            let problem = flow
                .target
                .place
                .problem("source and target are the same host");
            self.sink.push(problem.help("choose another target"));
            return None;
        }
        let round = round.map_or(Some(None), |round| Some(Some(round?)))?;
        let path = match (path, &round) {
            (None, None) => None,
            (Some(steps), None) => Some(complete(steps?, source, target)),
            (None, Some(_)) => Some(vec![source.into()]),
            (Some(steps), Some(_)) => Some(begin(steps?, source)),
        };
        let return_path = match return_path {
            Some(steps) => Some(complete(steps?, target, source)),
            None => None,
        };
        let (pace, initial) = self.rates(source, &flow.wanted)?;
        let plan = Plan {
            name: String::new(),
            source,
            target,
            path,
            return_path,
            round: round.unwrap_or_default(),
            terms: flow.wanted.terms,
            pace,
            initial,
            place: Rc::new(match flow.round.as_ref().or(flow.path.as_ref()) {
                Some(path) => path.place.clone(),
                None => flow.place.clone(),
            }),
            is_made: false,
            is_exact: false,
            waits: flow.waits.clone(),
        };
        Some(Unnamed {
            name: flow.name.clone(),
            count: flow.count,
            plan,
            wanted: &flow.wanted,
        })
    }

    /// A node of a path. Behind its name may stand by which of parallel links it is reached.
    pub(crate) fn step(&self, written: &At<String>) -> Option<Step> {
        let (name, link) = written.split_link(self.sink)?;
        let node = self.fabric.node(self.sink, &name)?;
        let link = link.unwrap_or(1);
        Some(Step { node, link })
    }

    /// The pace that was written, or that of the host's link, and the rate at which a flow is to
    /// start, if one was written.
    pub(crate) fn rates(&self, source: NodeId, wanted: &Wanted) -> Option<(Rate, Option<Rate>)> {
        let line = self.fabric.topology.ports(source)[0].rate;
        let refuse = |rate: &At<Rate>, message: &str, most: Rate| {
            let message = format!("{} is more than {message}", rate.value.exact());
            let problem = rate.place.problem(message);
            self.sink
                .push(problem.expected(format!("at most {}", most.exact())));
            None
        };
        let pace = match &wanted.rate {
            Some(rate) if rate.value > line => {
                let name = &self.fabric.topology.node(source).name;
                return refuse(rate, &format!("the link of {name} carries"), line);
            }
            Some(rate) => rate.value,
            None => line,
        };
        match &wanted.initial {
            Some(initial) if initial.value > pace => refuse(initial, "the flow's pace", pace),
            Some(initial) => Some((pace, Some(initial.value))),
            None => Some((pace, None)),
        }
    }

    /// Gives every flow a name that depends on what the flow is, never on its place in the file.
    fn name(&self, flows: Vec<Unnamed<'_>>) -> (Named, Copies) {
        let mut named = Named::new();
        let mut copies = Copies::new();
        let mut unnamed = Vec::new();
        for flow in flows {
            let Some(At { value, place }) = &flow.name else {
                unnamed.push(flow);
                continue;
            };
            for number in 1..=flow.count {
                let name = match flow.count {
                    1 => value.clone(),
                    _ => format!("{value}#{number}"),
                };
                if named.contains_key(&name) {
                    let problem = place.problem(format!("two flows are called {name:?}"));
                    self.sink
                        .push(problem.help("give each a name of its own, or none"));
                }
                let plan = Plan {
                    name: name.clone(),
                    ..flow.plan.clone()
                };
                named.insert(name.clone(), plan);
                if flow.count > 1 {
                    copies.entry(value.clone()).or_default().push(name);
                }
            }
        }
        unnamed.sort_by_cached_key(|Unnamed { plan, wanted, .. }| {
            let ends = (plan.source, plan.target);
            let waits = plan.waits.as_ref().map(|waits| waits.order());
            let way = (
                plan.path.clone(),
                plan.round.clone(),
                plan.return_path.clone(),
            );
            (ends, wanted.order(), way, waits)
        });
        self.number(&mut named, unnamed);
        (named, copies)
    }

    /// Names flows by their ends and a number, in the order that they are in.
    fn number(&self, named: &mut Named, unnamed: Vec<Unnamed<'_>>) {
        let mut last = (None, 0);
        for Unnamed { plan, count, .. } in unnamed {
            for _ in 0..count {
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
                let plan = Plan {
                    name: name.clone(),
                    ..plan.clone()
                };
                named.insert(name, plan);
            }
        }
    }
}

/// The path with its ends, which may be left out of the file.
pub(crate) fn complete(steps: Vec<Step>, source: NodeId, target: NodeId) -> Vec<Step> {
    let mut steps = begin(steps, source);
    if steps.last().map(|step| step.node) != Some(target) {
        steps.push(target.into());
    }
    steps
}

/// The path with its source, which may be left out of the file.
fn begin(mut steps: Vec<Step>, source: NodeId) -> Vec<Step> {
    if steps.first().map(|step| step.node) != Some(source) {
        steps.insert(0, source.into());
    }
    steps
}
