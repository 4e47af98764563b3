//! What happens, and what each switch knows of it when: from events to changes of single tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use pauseless_core::id::{GroupId, NodeId, PortId};
use pauseless_core::table::ForwardingTable;
use pauseless_core::unit::{Span, Time};
use pauseless_fabric::routing::{RouteBuilder, Routing};
use pauseless_fabric::topology::{LinkIndex, Topology};
use pauseless_sim::change::{Change, Changes, NewTable, Noise, What};
use pauseless_sim::rng::{Purpose, Stream};

use super::{Context, Convergence};
use pauseless_text::declare::Place;

/// The most changes of tables of one run: every event reaches every switch.
const LEARNT_MAX: usize = 1_000_000;
/// The most entries of all tables that are computed, which is a gigabyte.
const ENTRIES_MAX: usize = 1 << 28;

/// What happens at one instant.
#[derive(Clone, Debug)]
pub(super) enum Happening {
    /// A link fails or returns.
    Link { link: LinkIndex, is_down: bool },
    /// A switch fails or returns.
    Switch { node: NodeId, is_down: bool },
    /// A switch changes its table for some groups.
    Route { node: NodeId, groups: Vec<GroupId>, ports: Vec<PortId> },
    /// A wire begins to lose frames.
    Noise { link: LinkIndex, noise: Noise },
}

/// Something that happens, or that a switch learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    time: Span,
    /// The switch that learns it; what happens comes before what is learnt of it at once.
    learner: Option<NodeId>,
    /// The number of the happening.
    number: usize,
}

/// What a switch knows of the network, and its table.
#[derive(Clone, Debug)]
struct Knowledge {
    /// Per link, the last happening that it knows of, and whether it was a failure.
    links: BTreeMap<LinkIndex, (usize, bool)>,
    switches: BTreeMap<NodeId, (usize, bool)>,
    table: NewTable,
    /// Whether it is down.
    is_off: bool,
    /// The happening after which it loads its table, while it has none.
    loads_after: Option<usize>,
}

pub(super) struct Timeline<'c> {
    context: Context<'c>,
    happenings: Vec<(Span, u32, Happening)>,
    converge: Option<Convergence>,
    known: Vec<Knowledge>,
    /// The routes that events have set so far: switch, group, next hops.
    routes: Vec<(NodeId, GroupId, Vec<PortId>)>,
    /// The number of each table that was computed, by the links that had failed and the number of
    /// routes that events had set.
    numbers: BTreeMap<(Vec<LinkIndex>, usize), NewTable>,
    changes: Changes,
    /// Whether there were more tables than fit.
    is_too_much: bool,
    place: Option<&'c Place>,
}

impl<'c> Timeline<'c> {
    pub(super) fn new(
        context: Context<'c>,
        mut happenings: Vec<(Span, u32, Happening)>,
        converge: Option<Convergence>,
        place: Option<&'c Place>,
    ) -> Timeline<'c> {
        happenings.sort_by_key(|(time, event, _)| (*time, *event));
        let ignorant = Knowledge {
            links: BTreeMap::new(),
            switches: BTreeMap::new(),
            table: NewTable::First,
            is_off: false,
            loads_after: None,
        };
        Timeline {
            known: vec![ignorant; context.topology.nodes().len()],
            context,
            happenings,
            converge,
            routes: Vec::new(),
            numbers: BTreeMap::from([((Vec::new(), 0), NewTable::First)]),
            changes: Changes::default(),
            is_too_much: false,
            place,
        }
    }

    /// All changes, in the order in which they happen.
    pub(super) fn changes(mut self) -> Changes {
        let is_learnt =
            |what: &Happening| matches!(what, Happening::Link { .. } | Happening::Switch { .. });
        let learnt = self.happenings.iter().filter(|(_, _, what)| is_learnt(what)).count();
        let switches = self.context.topology.switches().len();
        if self.converge.is_some() && learnt.saturating_mul(switches) > LEARNT_MAX {
            return self.refuse(format!("{learnt} changes of {switches} tables are too many"));
        }
        for step in self.steps() {
            let (_, event, what) = self.happenings[step.number].clone();
            match step.learner {
                None => self.happen(step, event, what),
                Some(switch) => self.learn(step, event, switch, &what),
            }
            if self.is_too_much {
                let count = self.changes.tables.len();
                return self.refuse(format!("more than {count} tables are too many to keep"));
            }
        }
        self.changes
    }

    fn refuse(&self, message: String) -> Changes {
        if let Some(place) = self.place {
            self.context.sink.push(place.problem(message).help("let less happen"));
        }
        Changes::default()
    }

    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for (number, (time, _, what)) in self.happenings.iter().enumerate() {
            steps.push(Step { time: *time, learner: None, number });
            let is_learnt = matches!(what, Happening::Link { .. } | Happening::Switch { .. });
            let Some(converge) = self.converge.as_ref().filter(|_| is_learnt) else {
                continue;
            };
            for switch in self.context.topology.switches() {
                let time = *time + converge.delay_of(self.context.seed, *switch, number);
                steps.push(Step { time, learner: Some(*switch), number });
            }
        }
        steps.sort();
        steps
    }

    fn push(&mut self, step: Step, event: u32, what: What) {
        self.changes.list.push(Change { time: Time::ZERO + step.time, event, what });
    }

    fn happen(&mut self, step: Step, event: u32, what: Happening) {
        match what {
            Happening::Link { link, is_down } => {
                let (node, port) = end_of(self.context.topology, link);
                let what = if is_down { What::LinkDown } else { What::LinkUp };
                self.push(step, event, what(node, port));
            }
            Happening::Switch { node, is_down: true } => {
                self.known[node.index()].is_off = true;
                self.push(step, event, What::SwitchDown(node));
            }
            Happening::Switch { node, is_down: false } => {
                let known = &mut self.known[node.index()];
                if std::mem::take(&mut known.is_off) && self.converge.is_some() {
                    known.table = NewTable::Nothing;
                    known.loads_after = Some(step.number);
                    self.push(step, event, What::Table(node, NewTable::Nothing));
                }
                self.push(step, event, What::SwitchUp(node));
            }
            Happening::Route { node, groups, ports } => {
                let routes = groups.into_iter().map(|group| (node, group, ports.clone()));
                self.routes.extend(routes);
                self.update(step, event, node);
            }
            Happening::Noise { link, noise } => {
                let (node, port) = end_of(self.context.topology, link);
                self.push(step, event, What::Noise(node, port, noise));
            }
        }
    }

    fn learn(&mut self, step: Step, event: u32, switch: NodeId, what: &Happening) {
        let known = &mut self.known[switch.index()];
        let news = |is_down: &bool| (step.number, *is_down);
        // Old news may come after newer ones.
        match what {
            Happening::Link { link, is_down } => {
                let state = known.links.entry(*link).or_insert(news(is_down));
                *state = (*state).max(news(is_down));
            }
            Happening::Switch { node, is_down } => {
                let state = known.switches.entry(*node).or_insert(news(is_down));
                *state = (*state).max(news(is_down));
            }
            Happening::Route { .. } | Happening::Noise { .. } => {}
        }
        if known.loads_after == Some(step.number) {
            known.loads_after = None;
        }
        self.update(step, event, switch);
    }

    /// Gives a switch the table that follows from what it knows, unless it has it.
    fn update(&mut self, step: Step, event: u32, switch: NodeId) {
        let known = &self.known[switch.index()];
        if known.is_off || known.loads_after.is_some() {
            return;
        }
        let table = self.table_for(switch);
        if self.known[switch.index()].table != table {
            self.known[switch.index()].table = table;
            self.push(step, event, What::Table(switch, table));
        }
    }

    fn table_for(&mut self, switch: NodeId) -> NewTable {
        let known = &self.known[switch.index()];
        let topology = self.context.topology;
        let links = known.links.iter().filter(|(_, (_, is_down))| *is_down);
        let mut failed = Vec::from_iter(links.map(|(link, _)| *link));
        for (node, _) in known.switches.iter().filter(|(_, (_, is_down))| *is_down) {
            failed.extend(topology.ports(*node).iter().map(|port| port.link));
        }
        failed.sort_unstable();
        failed.dedup();
        let key = (failed, self.routes.len());
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let mut table = match self.context.forwarding.rule() {
            Some(rule) if !key.0.is_empty() => self.routes_without(rule, &key.0),
            _ => self.context.routes.table.clone(),
        };
        for (node, group, ports) in &self.routes {
            table.set(*node, *group, ports);
        }
        let entries = table.way_count() * topology.switches().len();
        self.is_too_much = entries.saturating_mul(self.changes.tables.len() + 1) > ENTRIES_MAX;
        let number = NewTable::Other(self.changes.tables.len() as u32);
        self.changes.tables.push(Arc::new(table));
        self.numbers.insert(key, number);
        number
    }

    /// The table by the rule after these links have failed. Explicit paths stay as they are.
    fn routes_without(&self, rule: Routing, failed: &[LinkIndex]) -> ForwardingTable {
        let Context { topology, routes, .. } = self.context;
        let mut table = RouteBuilder::new(topology, rule).without_links(failed).build().table;
        for group in table.group_count()..routes.table.group_count() {
            let way = table.add_way();
            table.add_group(way, None);
            for switch in topology.switches() {
                let ports = routes.table.next_hops(*switch, GroupId(group as u32));
                table.set_way(*switch, way, ports);
            }
        }
        table
    }
}

impl Convergence {
    /// How long after a happening a switch has its new table.
    fn delay_of(&self, seed: u64, switch: NodeId, number: usize) -> Span {
        let spread = self.spread.as_ps();
        let extra = if self.order.is_empty() {
            let entity = (number as u64) << 32 | u64::from(switch.0);
            Stream::new(seed, Purpose::Converge, entity).below(spread.saturating_add(1))
        } else {
            let listed = self.order.iter().flatten().count() as u128;
            let place = self.order.get(switch.index()).copied().flatten();
            let share = place.map_or(1, u128::from);
            let whole = if place.is_some() { listed.saturating_sub(1).max(1) } else { 1 };
            (u128::from(spread) * share / whole) as u64
        };
        self.delay + Span::ps(extra)
    }
}

fn end_of(topology: &Topology, link: LinkIndex) -> (NodeId, PortId) {
    let node = topology.links()[link.0 as usize].a;
    let ports = (0..).zip(topology.ports(node));
    let mut ports = ports;
    let port = ports.find(|(_, port)| port.link == link);
    (node, PortId(port.expect("a link has two ends").0))
}
