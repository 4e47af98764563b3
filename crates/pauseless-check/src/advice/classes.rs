//! Keeping the end nodes to blame apart: in a class of their own, or out of the lossless class.

use std::collections::BTreeSet;

use pauseless_core::class_map::ClassMap;
use pauseless_core::id::NodeId;
use pauseless_fabric::dependency::{Blame, Demand, Lane, Traffic};
use pauseless_fabric::load::Load;

use super::{Change, Outcome, Proposal, Trial, is_cyclic};

/// The end nodes to blame in as few further classes as can be: all of them in one, or else only
/// those that are needed, or else these in several. `None` where classes depend on the switch, so
/// that a further one cannot be tried.
pub(super) fn own_class(trial: &Trial<'_>, blame: &Blame) -> Option<Proposal> {
    if !matches!(trial.fabric.classes, ClassMap::Same) || trial.lanes().len() > 1 {
        return None;
    }
    let needed = blame.needed.as_ref();
    let fewer = needed.filter(|needed| needed.len() < blame.hosts.len());
    let mut first = None;
    for nodes in [Some(&blame.hosts), fewer].into_iter().flatten() {
        let proposal = proposal(trial, vec![nodes.clone()]);
        if proposal.helps {
            return Some(proposal);
        }
        first.get_or_insert(proposal);
    }
    let nodes = needed.unwrap_or(&blame.hosts);
    if nodes.len() <= LAYERED_MAX
        && let Some(lanes) = in_layers(trial, nodes)
    {
        return Some(proposal(trial, lanes));
    }
    first
}

/// Leaving out those that are needed.
pub(super) fn leave_out(trial: &Trial<'_>, blame: &Blame) -> Proposal {
    let nodes = blame.needed.clone().unwrap_or_else(|| blame.hosts.clone());
    let mut marks = trial.marks.clone();
    for node in &nodes {
        marks[node.index()] = true;
    }
    let load = Load::of(trial.fabric.network(), &marks);
    let outcome = Outcome {
        lost: load.lost,
        given_up: trial.now.pairs - load.pairs,
        load: load.largest,
        cyclic_classes: u8::from(is_cyclic(trial.fabric.network(), &marks)),
        classes: 1,
    };
    trial.proposal(Change::LeaveOut { nodes }, outcome)
}

fn proposal(trial: &Trial<'_>, lanes: Vec<Vec<NodeId>>) -> Proposal {
    let mut marks = trial.marks.clone();
    for node in lanes.iter().flatten() {
        marks[node.index()] = true;
    }
    let mut cyclic = u8::from(is_cyclic(trial.fabric.network(), &marks));
    let mut earlier = BTreeSet::new();
    for nodes in &lanes {
        cyclic += u8::from(class_is_cyclic(trial, nodes, &earlier));
        earlier.extend(nodes.iter().copied());
    }
    let outcome = Outcome {
        lost: trial.now.lost,
        given_up: 0,
        load: trial.now.largest,
        cyclic_classes: cyclic,
        classes: lanes.len() as u8 + 1,
    };
    trial.proposal(Change::Class { lanes }, outcome)
}

/// Puts each node into the first class in which it makes no cycle. `None` if that takes too many.
fn in_layers(trial: &Trial<'_>, nodes: &[NodeId]) -> Option<Vec<Vec<NodeId>>> {
    let mut rest = nodes.to_vec();
    let mut earlier = BTreeSet::new();
    let mut lanes = Vec::new();
    while !rest.is_empty() && lanes.len() < LANES_MAX {
        let mut lane = Vec::new();
        let mut later = Vec::new();
        for node in rest {
            lane.push(node);
            if class_is_cyclic(trial, &lane, &earlier) {
                lane.pop();
                later.push(node);
            }
        }
        if lane.is_empty() {
            return None;
        }
        earlier.extend(lane.iter().copied());
        lanes.push(lane);
        rest = later;
    }
    rest.is_empty().then_some(lanes)
}

/// Whether packets from and to `nodes`, but not from or to any of `earlier`, have a cycle among
/// themselves.
fn class_is_cyclic(trial: &Trial<'_>, nodes: &[NodeId], earlier: &BTreeSet<NodeId>) -> bool {
    let nodes = BTreeSet::from_iter(nodes.iter().copied());
    let groups = &trial.fabric.routes.groups;
    let is_theirs = |demand: &Demand| {
        let ends = [demand.source, groups.target(demand.group)];
        ends.iter().any(|end| nodes.contains(end)) && !ends.iter().any(|end| earlier.contains(end))
    };
    let demands = match &trial.fabric.traffic {
        Traffic::Demands(demands) => Vec::from_iter(demands.iter().copied().filter(is_theirs)),
        Traffic::AllPairs(lanes) => {
            let lane = lanes.first().copied().unwrap_or(Lane::ONLY);
            let topology = &trial.fabric.topology;
            let mut demands = Vec::new();
            for group in groups.addresses() {
                let target = groups.target(group);
                let sources = if nodes.contains(&target) {
                    topology.hosts().to_vec()
                } else {
                    Vec::from_iter(nodes.iter().copied())
                };
                let sources = sources.into_iter().filter(|source| *source != target);
                let all = sources.map(|source| Demand { group, lane, source });
                demands.extend(all.filter(is_theirs));
            }
            demands
        }
    };
    let traffic = Traffic::Demands(demands);
    is_cyclic(trial.network(&trial.fabric.routes, &traffic), &trial.marks)
}

/// The most end nodes that are put into classes one by one.
const LAYERED_MAX: usize = 64;
/// The most further classes: links of most switches have eight data lanes at most.
const LANES_MAX: usize = 7;
