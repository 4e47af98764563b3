//! The sections `[[flow]]` and `[timing]`, and what all flows have in common.

mod keys;
mod waits;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use pauseless_core::host::Duty;
use pauseless_core::id::{Class, FlowId, NodeId};
use pauseless_core::unit::{Bytes, Rate, Span};
pub use pauseless_fabric::dependency::Lane;
use pauseless_fabric::path::Step;
use pauseless_fabric::topology::Topology;
use pauseless_sim::config::Follow;

use super::topology::BuiltTopology;
use super::traffic::{self, MadePlans, Traffic};
use super::{Aim, Classes, Forwarding};
pub use keys::{CLASSES, ClockPer, Common, FirstAtOnce, Flow, FlowName, SIZES, TIMES, Timing};
use pauseless_text::declare::{Declared, Key, List};
use pauseless_text::problem::Sink;
use pauseless_text::reader::{At, Place, Section};
use pauseless_text::unit::Quantity;
use waits::Waits;
pub(crate) use waits::still_waiting;

/// The name of the sections of single flows.
pub(crate) const FLOW: &str = "flow";
/// The name of the section with the jitters.
pub const TIMING: &str = "timing";

/// A flow as it was written, or made by a rule.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) name: String,
    pub(crate) source: NodeId,
    pub(crate) target: NodeId,
    /// All nodes from source to target, if they were written.
    pub path: Option<Vec<Step>>,
    /// The path from target to source, for acknowledgements and notifications.
    pub return_path: Option<Vec<Step>>,
    /// The switches of a loop behind `path`, which then ends before it; empty for a flow that
    /// arrives.
    pub round: Vec<Step>,
    pub(crate) terms: Terms,
    pub(crate) pace: Rate,
    /// The rate at which congestion control lets it start, if that is not the rate of its link.
    pub initial: Option<Rate>,
    /// Where it was written; shared, because of rules that make millions.
    pub place: Arc<Place>,
    /// Whether `[[traffic]]` made it.
    pub is_made: bool,
    /// Whether it starts at its start, and not up to the start jitter later.
    pub is_exact: bool,
    /// The flows that must end before this one starts.
    pub waits: Option<Arc<Waits>>,
}

/// What a flow does, whoever sends it.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    pub(crate) size: Option<Bytes>,
    pub(crate) packet: Bytes,
    /// Without the start jitter.
    pub start: Span,
    pub(crate) stop: Option<Span>,
    pub(crate) class: u8,
    /// What its packets carry all the way; their class if nothing was written.
    pub label: Option<u8>,
    pub(crate) ttl: Option<u8>,
    /// The times at which the flow sends and is silent.
    pub duty: Duty,
    /// Whether it obeys `[congestion_control]`.
    pub is_controlled: bool,
}

/// What flows are read against.
#[derive(Clone, Copy)]
pub struct Limits<'l> {
    pub(crate) mtu: Bytes,
    pub(crate) class_count: u8,
    pub(crate) aim: Aim,
    /// What paths of other files are relative to.
    pub folder: &'l Path,
    /// The hosts and switches; `None` where something is wrong with them.
    pub topology: Option<&'l Topology>,
    pub(crate) sink: &'l Sink,
}

/// All flows as they were written.
#[derive(Debug)]
pub struct Flows {
    flows: Vec<Flow>,
    pub(crate) traffic: Vec<Traffic>,
    pub(crate) timing: Timing,
}

impl Flows {
    /// Reads everything that makes flows.
    pub(crate) fn read(root: &mut Section<'_>, limits: Limits<'_>) -> Flows {
        let timing = root.table(TIMING).map(|mut section| {
            let timing = Timing::read(&mut section);
            section.finish();
            timing
        });
        let is_flow_written = root.has(FLOW);
        let flows = root.tables(FLOW).map(|mut section| {
            let mut flow = Flow::read(&mut section);
            flow.complete(limits);
            section.finish();
            flow
        });
        let flows = flows.collect();
        let is_traffic_written = root.has(traffic::SECTION);
        let traffic = Traffic::read_all(root, limits);
        let is_needed = limits.aim == Aim::Run;
        if is_needed && !is_flow_written && !is_traffic_written {
            let problem = root.place.problem("no flows: nothing would happen");
            root.report(problem.help("add [[flow]] with a source and a target, or [[traffic]]"));
        }
        Flows { flows, traffic, timing: timing.unwrap_or_default() }
    }
}

impl Terms {
    /// The label and class in which packets enter.
    pub(crate) fn lane(&self) -> Lane {
        Lane { label: self.label.unwrap_or(self.class), class: Class(self.class) }
    }

    /// What orders flows that have no name of their own.
    fn order(&self, common: &Common) -> impl Ord + use<> {
        let (rate, initial) = (common.rate.copied(), common.initial_rate.copied());
        let first = (self.start, self.size, rate, self.class, self.packet);
        let rest = (self.stop, self.duty, initial, self.is_controlled);
        (first, rest, (self.label, self.ttl))
    }
}

/// Turns what was written into flows of one fabric.
pub struct Planner<'p> {
    pub(crate) fabric: &'p BuiltTopology,
    pub(crate) seed: u64,
    pub(crate) sink: &'p Sink,
    /// The end of the run; `None` where it is enough who sends to whom.
    pub until: Option<Span>,
    /// What flows that follow from the routes are made from.
    pub ways: Ways<'p>,
}

/// Where packets go, and in which class.
#[derive(Clone, Copy)]
pub struct Ways<'p> {
    pub(crate) routing: &'p Forwarding,
    pub(crate) classes: Option<&'p Classes>,
}

impl<'p> Ways<'p> {
    pub(crate) fn new(routing: &'p Forwarding, classes: Option<&'p Classes>) -> Ways<'p> {
        Ways { routing, classes }
    }
}

/// The flows of a scenario, and which of them wait for others.
pub struct Planned {
    /// The flows in the order of their names.
    pub plans: Vec<Plan>,
    /// Which of them wait for which, in order.
    pub follows: Vec<Follow>,
}

/// A flow whose name is not settled yet, and how often it was wanted.
struct Unnamed<'w> {
    name: Option<&'w At<FlowName>>,
    count: u64,
    plan: Plan,
    common: &'w Common,
}

impl Unnamed<'_> {
    fn ends(&self) -> (NodeId, NodeId) {
        (self.plan.source, self.plan.target)
    }

    /// What orders flows between the same ends.
    fn order(&self) -> impl Ord + '_ {
        let Plan { path, round, return_path, terms, waits, .. } = &self.plan;
        let waits = waits.as_ref().map(|waits| waits.order());
        (terms.order(self.common), (path, round, return_path), waits)
    }
}

/// Flows that have their names.
#[derive(Default)]
struct Named {
    plans: Vec<Plan>,
    /// The position in `plans` of the flow of each name.
    positions: HashMap<String, usize>,
}

impl Named {
    fn has(&self, name: &str) -> bool {
        self.positions.contains_key(name)
    }

    /// Adds a flow, instead of the one that has its name already.
    fn insert(&mut self, plan: Plan) {
        match self.positions.get(&plan.name) {
            Some(position) => self.plans[*position] = plan,
            None => {
                self.positions.insert(plan.name.clone(), self.plans.len());
                self.plans.push(plan);
            }
        }
    }
}

/// The names of the flows that a name with a `count` stands for.
type Copies = BTreeMap<String, Vec<String>>;

impl Planner<'_> {
    /// All flows, named and in order of name.
    pub(crate) fn plans(&self, written: &Flows) -> Planned {
        let mut flows = Vec::new();
        for flow in &written.flows {
            flows.extend(self.plan(flow));
        }
        for (plan, common) in self.make_by_ends(written) {
            flows.push(Unnamed { name: None, count: 1, plan, common });
        }
        if let Some(stop) = written.timing.sources_stop.copied() {
            let late = flows.iter().map(|flow| &flow.plan);
            for plan in late.filter(|plan| plan.terms.start >= stop) {
                let problem = plan.place.problem("the flow starts when all sources have stopped");
                self.sink.push(problem.expected(format!("a start before {}", stop.exact())));
            }
        }
        let (named, copies) = self.name(flows);
        let made = self.make(written);
        self.join(named, made, &copies)
    }

    /// Written and made flows in one list, in order of name.
    fn join(&self, named: Named, made: MadePlans, copies: &Copies) -> Planned {
        let mut plans = made.plans;
        plans.extend(named.plans);
        let places = places_by_name(&plans);
        let follows = made.follows.iter().map(|link| Follow {
            first: FlowId(places[link.first as usize]),
            then: FlowId(places[link.then as usize]),
            delay: link.delay,
        });
        let mut follows = Vec::from_iter(follows);
        rearrange(&mut plans, places);
        // Pairs of hosts have no names that matter, and wait for nothing.
        if self.until.is_none() {
            let follows = Vec::new();
            return Planned { plans, follows };
        }
        for pair in plans.windows(2).filter(|pair| pair[0].name == pair[1].name) {
            let written = pair.iter().find(|plan| !plan.is_made).unwrap_or(&pair[0]);
            let message = format!("[[traffic]] makes a flow {:?}, too", written.name);
            self.sink.push(written.place.problem(message).help("give one of them another name"));
        }
        follows.extend(self.follows(&plans, copies));
        follows.sort_unstable();
        follows.dedup();
        Planned { plans, follows }
    }

    fn plan<'w>(&self, flow: &'w Flow) -> Option<Unnamed<'w>> {
        let (source, target) = flow.source.given.as_ref().zip(flow.target.given.as_ref())?;
        let target_place = &target.place;
        let source = self.fabric.host(self.sink, source);
        let target = self.fabric.host(self.sink, target);
        let steps = |key: &Key<List<String>>| {
            let steps = key.get()?.iter().map(|written| self.step(written));
            // All of them are read before one that is wrong ends it, so that all are reported.
            Some(Vec::from_iter(steps).into_iter().collect::<Option<Vec<Step>>>())
        };
        let path = steps(&flow.path);
        let round = steps(&flow.round);
        let return_path = steps(&flow.return_path);
        let (source, target) = source.zip(target)?;
        if source == target {
            let problem = target_place.problem("source and target are the same host");
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
        let (pace, initial) = self.rates(source, &flow.common)?;
        let place = flow.round.over(&flow.path).place();
        let plan = Plan {
            name: String::new(),
            source,
            target,
            path,
            return_path,
            round: round.unwrap_or_default(),
            terms: flow.common.terms(),
            pace,
            initial,
            place: Arc::new(place.unwrap_or(&flow.place).clone()),
            is_made: false,
            is_exact: false,
            waits: Waits::of(flow),
        };
        Some(Unnamed {
            name: flow.name.given.as_ref(),
            count: flow.count.value,
            plan,
            common: &flow.common,
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
    pub(crate) fn rates(&self, source: NodeId, common: &Common) -> Option<(Rate, Option<Rate>)> {
        let line = self.fabric.topology.ports(source)[0].rate;
        let refuse = |rate: &At<Rate>, message: &str, most: Rate| {
            let message = format!("{} is more than {message}", rate.value.exact());
            let problem = rate.place.problem(message);
            self.sink.push(problem.expected(format!("at most {}", most.exact())));
            None
        };
        let pace = match &common.rate.given {
            Some(rate) if rate.value > line => {
                let name = &self.fabric.topology.node(source).name;
                return refuse(rate, &format!("the link of {name} carries"), line);
            }
            Some(rate) => rate.value,
            None => line,
        };
        match &common.initial_rate.given {
            Some(initial) if initial.value > pace => refuse(initial, "the flow's pace", pace),
            Some(initial) => Some((pace, Some(initial.value))),
            None => Some((pace, None)),
        }
    }

    /// Gives every flow a name that depends on what the flow is, never on its place in the file.
    fn name(&self, flows: Vec<Unnamed<'_>>) -> (Named, Copies) {
        let mut named = Named::default();
        let mut copies = Copies::new();
        let mut unnamed = Vec::new();
        for flow in flows {
            let Some(At { value, place }) = flow.name else {
                unnamed.push(flow);
                continue;
            };
            let value = &value.0;
            for number in 1..=flow.count {
                let name = match flow.count {
                    1 => value.clone(),
                    _ => format!("{value}#{number}"),
                };
                if named.has(&name) {
                    let problem = place.problem(format!("two flows are called {name:?}"));
                    self.sink.push(problem.help("give each a name of its own, or none"));
                }
                named.insert(Plan { name: name.clone(), ..flow.plan.clone() });
                if flow.count > 1 {
                    copies.entry(value.clone()).or_default().push(name);
                }
            }
        }
        unnamed.sort_by(|a, b| a.ends().cmp(&b.ends()).then_with(|| a.order().cmp(&b.order())));
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
                    if !named.has(&name) {
                        break name;
                    }
                    number += 1;
                };
                last = (ends, number);
                named.insert(Plan { name, ..plan.clone() });
            }
        }
    }
}

/// The place of each flow in the order of names.
fn places_by_name(plans: &[Plan]) -> Vec<u32> {
    let names = plans.iter().map(|plan| plan.name.as_str());
    let mut names = Vec::from_iter(names.zip(0u32..));
    names.sort_unstable();
    let mut places = vec![0; plans.len()];
    for ((_, index), place) in names.into_iter().zip(0..) {
        places[index as usize] = place;
    }
    places
}

/// Moves each element to its place.
fn rearrange<T>(items: &mut [T], mut places: Vec<u32>) {
    for index in 0..items.len() {
        while places[index] as usize != index {
            let place = places[index] as usize;
            items.swap(index, place);
            places.swap(index, place);
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
