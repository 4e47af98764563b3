//! What the functions of the registry read.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::unit::Time;
use pauseless_sim::config::Flow;
use pauseless_sim::outcome::{FlowOutcome, QueueOutcome};

use super::reference::Part;
use crate::Run;
use crate::metrics::Metrics;
use crate::metrics::completion::{Completion, Group};
use crate::metrics::links::PortUse;
use crate::metrics::next_hops::NextHops;
use crate::sample::share;

/// A run and what several numbers have in common, computed once.
pub struct Facts<'r> {
    /// The run that the numbers are of.
    pub run: &'r Run,
    /// The metrics of the run, computed once.
    pub metrics: Metrics,
    /// Hosts whose flows are a group, by the name of the group.
    groups: Vec<(String, BTreeSet<NodeId>)>,
    shares: OnceCell<Vec<f64>>,
    /// Parts of the finite flows that were asked for already.
    parts: RefCell<Vec<(Part, Rc<Group>)>>,
}

/// A flow and what became of it.
#[derive(Clone, Copy, Debug)]
pub struct FlowFacts<'r> {
    /// The run that the flow belongs to.
    pub run: &'r Run,
    /// The position of the flow in the canonical order.
    pub index: usize,
    /// The flow as the scenario has it.
    pub flow: &'r Flow,
    /// The outcome of the flow.
    pub outcome: &'r FlowOutcome,
}

impl FlowFacts<'_> {
    /// The last quarter of the life of the flow, over which its late goodput is.
    fn last_quarter(&self) -> Range<Time> {
        let end = self.run.outcome.end.min(self.flow.stop);
        let end = self.outcome.finish.unwrap_or(end);
        let start = self.outcome.start.unwrap_or(self.flow.start);
        let quarter = end.saturating_since(start).as_ps() / 4;
        Time::from_ps(end.as_ps() - quarter)..end
    }
}

impl<'r> Facts<'r> {
    /// The run with the numbers that several results share.
    pub fn of(run: &'r Run) -> Facts<'r> {
        Facts {
            run,
            metrics: run.metrics(),
            groups: Vec::new(),
            shares: OnceCell::new(),
            parts: RefCell::default(),
        }
    }

    /// The facts with groups of flows: those from these hosts.
    pub fn with_groups(mut self, groups: Vec<(String, BTreeSet<NodeId>)>) -> Facts<'r> {
        self.groups = groups;
        self
    }

    /// All flows of the run.
    pub fn flows(&self) -> impl Iterator<Item = FlowFacts<'r>> + use<'r> {
        Facts::flows_of(self.run)
    }

    /// All flows of a run.
    pub fn flows_of(run: &'r Run) -> impl Iterator<Item = FlowFacts<'r>> + use<'r> {
        let flows = run.scenario.config.flows.iter().zip(&run.outcome.flows);
        flows.enumerate().map(move |(index, (flow, outcome))| FlowFacts {
            run,
            index,
            flow,
            outcome,
        })
    }

    /// The late goodput of all flows in bit/s; `None` without flows.
    pub fn late_goodputs(&self) -> Option<impl Iterator<Item = f64> + Clone + use<'r>> {
        let flows = &self.run.outcome.flows;
        (!flows.is_empty()).then(|| flows.iter().map(|flow| flow.goodput_late_bps))
    }

    /// The late goodputs in bit/s of the flows that have most together: over all instants, of those
    /// in whose last quarter the instant is. Flows that live one after the other share no link,
    /// however many they are. `None` without flows.
    pub fn late_goodputs_together(&self) -> Option<Vec<f64>> {
        let lasts = Vec::from_iter(self.flows().map(|flow| (flow.last_quarter(), flow.outcome)));
        let mut changes = Vec::new();
        for (quarter, outcome) in lasts.iter().filter(|(quarter, _)| !quarter.is_empty()) {
            changes.push((quarter.start, outcome.goodput_late_bps));
            changes.push((quarter.end, -outcome.goodput_late_bps));
        }
        // What ends at an instant is no longer there when something begins then.
        changes.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let (mut sum, mut most, mut best) = (0.0, 0.0, Time::ZERO);
        for (instant, change) in changes {
            sum += change;
            if sum > most {
                (most, best) = (sum, instant);
            }
        }
        let together = lasts.iter().filter(|(quarter, _)| quarter.contains(&best));
        let together = together.map(|(_, outcome)| outcome.goodput_late_bps);
        (!lasts.is_empty()).then(|| together.collect())
    }

    /// What each flow got of its max-min fair rate, in the last quarter of the time in which it sent.
    pub fn shares(&self) -> &[f64] {
        self.shares.get_or_init(|| share::shares(self.run))
    }

    /// How evenly switches used their next hops; `None` where there was nothing to choose.
    pub fn next_hops(&self) -> Option<NextHops> {
        NextHops::of(&self.run.scenario.config, &self.run.outcome)
    }

    /// How many traffic classes are in use.
    pub fn class_count(&self) -> usize {
        self.run.scenario.config.ingress.class_count()
    }

    /// The completion of finite flows; `None` without any.
    pub fn completion(&self) -> Option<&Completion> {
        self.metrics.completion.as_ref()
    }

    /// Some of the finite flows; `None` if there are none.
    pub(super) fn group(&self, part: &Part) -> Option<Rc<Group>> {
        let known = self.parts.borrow().iter().find(|(it, _)| it == part).cloned();
        if let Some((_, group)) = known {
            return Some(group);
        }
        if *part == Part::default() {
            let all = Rc::new(self.completion()?.all.clone());
            self.parts.borrow_mut().push((part.clone(), Rc::clone(&all)));
            return Some(all);
        }
        let sources = match &part.group {
            Some(name) => Some(&self.groups.iter().find(|(it, _)| it == name)?.1),
            None => None,
        };
        let members = self.flows().filter(|it| {
            it.flow.is_finite()
                && part.size.is_none_or(|size| size.contains(it.flow.size))
                && part.class.is_none_or(|class| it.flow.class == Class(class))
                && sources.is_none_or(|sources| sources.contains(&it.flow.source))
        });
        let members = members.map(|it| (it.flow, it.outcome));
        let group = Rc::new(Group::of(&self.run.scenario.config, &self.run.outcome, members));
        if group.count() == 0 {
            return None;
        }
        self.parts.borrow_mut().push((part.clone(), Rc::clone(&group)));
        Some(group)
    }

    /// What a port has carried, by its name, such as `S1:H1`; `None` if there is no such port.
    pub(super) fn port(&self, name: &str) -> Option<&PortUse> {
        let at = self.port_id(name)?;
        self.metrics.ports.iter().find(|port| (port.node, port.port) == at)
    }

    /// The ingress queues of a port, if they have ever held anything.
    pub(super) fn queues(&self, name: &str) -> Vec<&'r QueueOutcome> {
        let at = self.port_id(name);
        let queues = self.run.outcome.queues.iter();
        queues.filter(|queue| Some((queue.node, queue.port)) == at).collect()
    }

    fn port_id(&self, name: &str) -> Option<(NodeId, PortId)> {
        self.run.topology().port_named(name).ok()
    }
}
