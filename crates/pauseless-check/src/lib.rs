#![doc = include_str!("../README.md")]
//! [`read`] takes files, [`sweep`] tries failures, [`confirm`] simulates what closes a cycle,
//! [`transient`] what happens while switches learn of a failure; [`text`], [`json`], [`sarif`],
//! [`graphml`] and [`svg`] write what was found.

pub mod advice;
pub mod confirm;
mod engine;
pub mod fault;
pub mod fix;
pub mod graphml;
pub mod json;
mod reach;
pub mod read;
mod rule;
pub mod sarif;
pub mod svg;
pub mod sweep;
pub mod text;
pub mod transient;

use std::collections::BTreeSet;

use pauseless_core::id::NodeId;
use pauseless_fabric::audit::{Fault, audit};
use pauseless_fabric::dependency::{Blame, Checker, Component, PortChoice};
use pauseless_fabric::fabric::Fabric;

pub use reach::{Unroutable, unroutable, unrouted_pairs};
pub use rule::{EscapeClass, Rule};

/// The cyclic buffer dependencies of a fabric, or that it has none.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// How many ingress buffers face switches.
    pub buffer_count: usize,
    /// How many pairs of them have one waiting for the other.
    pub dependency_count: usize,
    /// By which rule dependencies were judged where packets may take any of several ports.
    pub rule: Rule,
    /// How many groups of buffers can all wait for each other for ever, by that rule.
    pub component_count: usize,
    /// The largest of these, each with a shortest cycle.
    pub components: Vec<Component>,
    /// The end nodes without which there would be no cycle.
    pub blame: Option<Blame>,
    /// Whether some up*/down* routing over the same cables has no cycle and loses no pair; `None` if it
    /// was not tried, which [`Verdict::take_advice`] does.
    pub up_down_helps: Option<bool>,
    /// What would help, where it was tried: [`advice::advise`] does.
    pub advice: Option<advice::Advice>,
    /// What befalls packets on their way, where the switches' own routes or maps are known.
    pub faults: Vec<Fault>,
    /// Pairs of end nodes between which there is no route.
    pub unrouted_pairs: u64,
    /// The same by the switch at which their packets enter, most of them first.
    pub unroutable: Vec<Unroutable>,
    /// End nodes that were not looked at.
    pub left_out: Vec<NodeId>,
    /// What part of the traffic was looked at, in words; empty for all of it.
    pub scope: Vec<String>,
    /// Why the cycle may be none: it is one if all packets travel on one lane, and no file says on
    /// which lanes they do. `None` if there is no such doubt.
    pub undecided: Option<String>,
}

impl Verdict {
    /// Whether buffers can wait for each other in a circle for ever, by the [rule](Verdict::rule) of
    /// the verdict; on one lane, if it is [undecided](Verdict::undecided).
    pub fn is_cyclic(&self) -> bool {
        self.component_count > 0
    }

    /// Tries what would help against the cycles, if there are any and it is certain that they are.
    pub fn take_advice(&mut self, fabric: &Fabric, tell: &mut dyn FnMut(&str)) {
        if self.undecided.is_some() {
            return;
        }
        self.advice = advice::advise(fabric, self, tell);
        let advice = self.advice.as_ref();
        let up_down = advice.and_then(|advice| advice.of_kind(advice::Kind::UpDown));
        self.up_down_helps = up_down.map(|proposal| proposal.helps);
    }

    /// The words for what was found, each once: those of faults, `cycle` or `undecided`, and
    /// `unroutable`.
    pub fn words(&self) -> BTreeSet<&'static str> {
        let faults = self.faults.iter().map(|fault| fault.kind.word());
        let cycle = if self.undecided.is_some() { "undecided" } else { "cycle" };
        let cycle = self.is_cyclic().then_some(cycle);
        let unroutable = (self.unrouted_pairs > 0).then_some("unroutable");
        faults.chain(cycle).chain(unroutable).collect()
    }
}

/// Checks `fabric` without the end nodes of `left_out`.
pub fn check(fabric: &Fabric, left_out: &[NodeId]) -> Verdict {
    let marks = fabric.marks(left_out);
    let network = fabric.network();
    let mut checker = Checker::of(&network);
    let union = checker.graph(network, &marks);
    let rule = Rule::new(fabric, &mut checker, &union);
    let mut checker = checker.choosing(rule.choice);
    let graph = match rule.choice {
        PortChoice::WhenQueued => union.clone(),
        PortChoice::AtHead => checker.graph(network, &marks),
    };
    // By an escape class all packets get out of whatever else there is.
    let (component_count, components) = if rule.escapes() {
        (0, Vec::new())
    } else {
        let found = checker.explain(network, &graph, &marks, COMPONENTS_MAX);
        (graph.components().len(), found)
    };
    let unroutable = unroutable(network, fabric.evidence.routes.as_ref(), &marks);
    let mut verdict = Verdict {
        buffer_count: union.buffer_count(),
        dependency_count: union.dependency_count(),
        rule,
        component_count,
        components,
        blame: None,
        up_down_helps: None,
        advice: None,
        faults: audit(fabric, &marks),
        unrouted_pairs: unroutable.iter().map(|from| from.pairs).sum(),
        unroutable,
        left_out: left_out.to_vec(),
        scope: match left_out.len() {
            0 => Vec::new(),
            1 => vec!["1 end node left out".to_string()],
            count => vec![format!("{count} end nodes left out")],
        },
        undecided: None,
    };
    if verdict.is_cyclic() {
        // A packet that goes in a circle waits for itself, whatever its lane is.
        let is_loop = verdict.components.iter().any(|found| found.cycle.flows.len() == 1);
        verdict.undecided = if is_loop { None } else { engine::doubt(fabric) };
        if left_out.is_empty() {
            verdict.blame = checker.blame(network, &fabric.suspects());
        }
    }
    verdict
}

/// The most cycles that are shown.
const COMPONENTS_MAX: usize = 8;
