//! Which roots make up*/down* routing lose no pair and spread the load.
//!
//! The roots need not be at the top. Where end nodes sit on spines, a leaf is often the best root:
//! all paths over spines stay legal, since leaves and spines keep their order, and paths between
//! spines turn at that leaf.

use std::collections::{BTreeMap, VecDeque};

use pauseless_core::id::NodeId;
use pauseless_fabric::dependency::{Lane, Traffic};
use pauseless_fabric::fabric::{Medium, Origin};
use pauseless_fabric::load::Load;
use pauseless_fabric::routing::opensm::Subnet;
use pauseless_fabric::routing::{Algorithm, Multipath, RouteBuilder, Routing};
use pauseless_fabric::topology::Topology;
use rayon::prelude::*;

use super::{Change, Choice, Outcome, Proposal, Trial, is_cyclic};

/// Up*/down* routing: on InfiniBand as opensm does it, with the best roots found and with those
/// that one would try first; on Ethernet by tiers.
pub(super) fn proposals(trial: &Trial<'_>) -> Vec<Proposal> {
    match trial.fabric.medium {
        Medium::InfiniBand => infiniband(trial),
        Medium::Ethernet => by_tiers(trial).into_iter().collect(),
    }
}

/// Paths that never go up after down, by the rule of this program. `None` if that is the rule
/// already.
fn by_tiers(trial: &Trial<'_>) -> Option<Proposal> {
    let is_up_down = |routing: Routing| routing.algorithm == Algorithm::UpDown;
    if matches!(trial.fabric.origin, Origin::Rule(routing) if is_up_down(routing)) {
        return None;
    }
    let routing = Routing { algorithm: Algorithm::UpDown, multipath: Multipath::Ecmp };
    let routes = RouteBuilder::new(&trial.fabric.topology, routing).build();
    let change = Change::UpDown { roots: Vec::new(), choice: Choice::Tiers };
    Some(trial.proposal(change, trial.in_one_class(&routes)))
}

fn infiniband(trial: &Trial<'_>) -> Vec<Proposal> {
    let subnet = Subnet::of(trial.fabric);
    let mut search = Search { trial, subnet, tried: BTreeMap::new(), left: 0 };
    search.left = search.budget();
    let topology = &trial.fabric.topology;
    let detected = search.subnet.detected_roots();
    let top = top_switches(topology);
    search.try_all(&[detected.clone(), top.clone()]);
    let best = search.best();
    let mut proposals = Vec::new();
    if let Some(roots) = &best {
        proposals.push(search.proposal(roots.clone(), Choice::Searched));
    }
    for (roots, choice) in [(detected, Choice::Detected), (top, Choice::Top)] {
        let is_new = best.as_ref() != Some(&roots);
        if choice == Choice::Detected && roots.is_empty() {
            // opensm then routes by minhop, which is what there is, or as bad.
            let routes = search.subnet.min_hop(&trial.fabric.routes.groups);
            let outcome = trial.in_one_class(&routes);
            let change = Change::UpDown { roots, choice };
            if outcome.cyclic_classes > 0 {
                proposals.push(trial.proposal(change, outcome));
            }
        } else if is_new && !roots.is_empty() {
            let proposal = search.proposal(roots, choice);
            if !proposal.helps {
                proposals.push(proposal);
            }
        }
    }
    proposals
}

/// The search for roots.
struct Search<'t> {
    trial: &'t Trial<'t>,
    subnet: Subnet<'t>,
    /// The pairs that are lost and the largest load for each set of roots.
    tried: BTreeMap<Vec<NodeId>, (u64, f64)>,
    /// How many sets may still be tried.
    left: usize,
}

impl Search<'_> {
    /// How many sets can be tried in about 20 seconds on two cores.
    fn budget(&self) -> usize {
        let fabric = self.trial.fabric;
        let cost = fabric.routes.groups.count() * fabric.topology.switches().len();
        (STEPS / cost.max(1)).clamp(SETS_MIN, SETS_MAX)
    }

    fn try_all(&mut self, sets: &[Vec<NodeId>]) {
        let mut sets = Vec::from_iter(sets.iter().filter(|roots| !roots.is_empty()).cloned());
        sets.iter_mut().for_each(|roots| roots.sort_unstable());
        sets.sort();
        sets.dedup();
        sets.retain(|roots| !self.tried.contains_key(roots));
        sets.truncate(self.left);
        self.left -= sets.len();
        let measured = sets.into_par_iter().map(|roots| {
            let result = self.measure(&roots);
            (roots, result)
        });
        let measured: Vec<_> = measured.collect();
        self.tried.extend(measured);
    }

    fn measure(&self, roots: &[NodeId]) -> (u64, f64) {
        let routes = self.subnet.up_down(roots, &self.trial.fabric.routes.groups);
        let traffic = Traffic::AllPairs(vec![Lane::ONLY]);
        let load = Load::of(self.trial.network(&routes, &traffic), &self.trial.marks);
        (load.lost, load.largest)
    }

    /// The roots with the smallest load of those that lose no pair and make no cycle.
    fn best(&mut self) -> Option<Vec<NodeId>> {
        let singles = self.candidates();
        let sets = Vec::from_iter(singles.iter().map(|root| vec![*root]));
        self.try_all(&sets);
        // A second root, and more, where they take load off the first.
        for _ in 0..GROWTH_MAX {
            let before = self.ranking().first().map(|(_, load)| *load);
            let grown = self.ranking().into_iter().take(GROWN).flat_map(|(roots, _)| {
                let further = singles.iter().filter(|root| !roots.contains(root));
                Vec::from_iter(further.map(|root| [&roots[..], &[*root]].concat()))
            });
            let grown = Vec::from_iter(grown);
            self.try_all(&grown);
            let after = self.ranking().first().map(|(_, load)| *load);
            let is_better = matches!((before, after), (Some(b), Some(a)) if a < b);
            if self.left == 0 || !is_better {
                break;
            }
        }
        let ranking = self.ranking().into_iter().take(CHECKED_MAX);
        let acyclic = |roots: &Vec<NodeId>| !self.is_cyclic(roots);
        ranking.map(|(roots, _)| roots).find(acyclic)
    }

    /// The sets that lose no pair, the smallest load first; of equal ones the smaller set.
    fn ranking(&self) -> Vec<(Vec<NodeId>, f64)> {
        let whole = self.tried.iter().filter(|(_, (lost, _))| *lost <= self.trial.now.lost);
        let mut whole = Vec::from_iter(whole.map(|(roots, (_, load))| (roots.clone(), *load)));
        whole.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.len().cmp(&b.0.len())));
        whole
    }

    fn is_cyclic(&self, roots: &[NodeId]) -> bool {
        let routes = self.subnet.up_down(roots, &self.trial.fabric.routes.groups);
        let traffic = Traffic::AllPairs(vec![Lane::ONLY]);
        is_cyclic(self.trial.network(&routes, &traffic), &self.trial.marks)
    }

    /// Switches to try as single roots: all of them, or else some of every kind, by turns.
    fn candidates(&self) -> Vec<NodeId> {
        let topology = &self.trial.fabric.topology;
        let heights = heights(topology);
        let mut kinds: BTreeMap<_, VecDeque<NodeId>> = BTreeMap::new();
        for &switch in topology.switches() {
            let ports = topology.ports(switch);
            let hosts = ports.iter().filter(|port| topology.is_host(port.peer)).count();
            let kind = (heights[switch.index()], ports.len() - hosts, hosts);
            kinds.entry(kind).or_default().push_back(switch);
        }
        let most = (self.left / 2).max(1);
        let mut candidates = Vec::new();
        while candidates.len() < most && kinds.values().any(|kind| !kind.is_empty()) {
            candidates.extend(kinds.values_mut().filter_map(VecDeque::pop_front));
        }
        candidates.truncate(most);
        candidates
    }

    fn proposal(&self, roots: Vec<NodeId>, choice: Choice) -> Proposal {
        let routes = self.subnet.up_down(&roots, &self.trial.fabric.routes.groups);
        let outcome: Outcome = self.trial.in_one_class(&routes);
        self.trial.proposal(Change::UpDown { roots, choice }, outcome)
    }
}

/// The switches that are farthest from the leaves; none where all switches are alike.
fn top_switches(topology: &Topology) -> Vec<NodeId> {
    let heights = heights(topology);
    let known = topology.switches().iter().filter_map(|s| heights[s.index()].map(|h| (h, *s)));
    let known = Vec::from_iter(known);
    match known.iter().map(|(height, _)| *height).max() {
        None | Some(0) => Vec::new(),
        Some(top) => known.into_iter().filter(|(h, _)| *h == top).map(|(_, s)| s).collect(),
    }
}

/// The distance of each switch from the nearest leaf; a leaf is a switch with many end nodes.
fn heights(topology: &Topology) -> Vec<Option<u32>> {
    let hosts = |switch: &NodeId| {
        topology.ports(*switch).iter().filter(|port| topology.is_host(port.peer)).count()
    };
    let most = topology.switches().iter().map(hosts).max().unwrap_or(0);
    let enough = most.div_ceil(4).max(1);
    let mut heights = vec![None; topology.nodes().len()];
    let leaves = topology.switches().iter().copied().filter(|switch| hosts(switch) >= enough);
    let mut queue = VecDeque::from_iter(leaves);
    for leaf in &queue {
        heights[leaf.index()] = Some(0);
    }
    while let Some(switch) = queue.pop_front() {
        let next = heights[switch.index()].map(|height| height + 1);
        for port in topology.ports(switch) {
            if !topology.is_host(port.peer) && heights[port.peer.index()].is_none() {
                heights[port.peer.index()] = next;
                queue.push_back(port.peer);
            }
        }
    }
    heights
}

/// Entries of tables that may be made in a search, about 20 seconds on two cores.
const STEPS: usize = 600_000_000;
const SETS_MIN: usize = 16;
const SETS_MAX: usize = 1000;
/// The most rounds in which sets grow by a root.
const GROWTH_MAX: usize = 3;
/// The sets that grow in each round.
const GROWN: usize = 3;
/// The sets, best first, of which one without a cycle is looked for.
const CHECKED_MAX: usize = 12;
