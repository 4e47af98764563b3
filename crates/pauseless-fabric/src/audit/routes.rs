//! Circles, dead ends and valleys of each way.

use std::collections::{BTreeMap, VecDeque};

use super::{Fault, FaultKind, Plan};
use crate::fabric::{Fabric, RouteEvidence};
use crate::topology::Topology;
use pauseless_core::id::NodeId;
use pauseless_core::table::WayId;

/// The faults of the routes that the switches themselves have.
pub(super) fn faults(fabric: &Fabric, plan: &Plan) -> Vec<Fault> {
    let Some(evidence) = &fabric.evidence.routes else {
        return Vec::new();
    };
    let mut audit = Audit {
        fabric,
        evidence,
        plan,
        tiers: tiers(&fabric.topology, &evidence.tiers),
        found: BTreeMap::new(),
    };
    for way in plan.ways().filter(|way| way.index() < evidence.prefixes.len()) {
        audit.follow(way);
        audit.find_loops(way);
        audit.find_valleys(way);
    }
    let found = audit.found.into_iter();
    let faults = found.map(|((kind, path), (destinations, place))| Fault {
        kind,
        destinations,
        path,
        place,
    });
    faults.collect()
}

/// What one fault is told by: its destinations and its place.
type Told = (Vec<String>, Option<(String, u32)>);

struct Audit<'f> {
    fabric: &'f Fabric,
    evidence: &'f RouteEvidence,
    plan: &'f Plan,
    /// How far each node is from the hosts.
    tiers: Vec<u32>,
    found: BTreeMap<(FaultKind, Vec<NodeId>), Told>,
}

impl Audit<'_> {
    /// The switches that packets of `way` go to from `switch`.
    fn next(&self, switch: NodeId, way: WayId) -> impl Iterator<Item = NodeId> + '_ {
        let Fabric { topology, routes, .. } = self.fabric;
        let is_over =
            self.plan.exits[way.index()].contains(&switch) || self.evidence.is_end(switch, way);
        let ports = if is_over { &[] } else { routes.table.next_hops_of_way(switch, way) };
        let peers = ports.iter().map(move |port| topology.port(switch, *port).peer);
        peers.filter(|peer| !topology.is_host(*peer))
    }

    /// Whether packets of `way` end at `switch` without having arrived.
    fn is_dead_end(&self, switch: NodeId, way: WayId) -> bool {
        self.fabric.routes.table.next_hops_of_way(switch, way).is_empty()
            && !self.plan.exits[way.index()].contains(&switch)
            && !self.evidence.is_end(switch, way)
    }

    /// Follows packets from all entrances at once, and tells of every dead end.
    fn follow(&mut self, way: WayId) {
        let mut before: BTreeMap<NodeId, Option<NodeId>> = BTreeMap::new();
        let mut queue = VecDeque::new();
        for (switch, _) in &self.plan.entrances[way.index()] {
            before.insert(*switch, None);
            queue.push_back(*switch);
        }
        while let Some(switch) = queue.pop_front() {
            if self.is_dead_end(switch, way) {
                let mut path = vec![switch];
                while let Some(Some(earlier)) = path.last().and_then(|node| before.get(node)) {
                    path.push(*earlier);
                }
                path.reverse();
                self.tell(FaultKind::BlackHole, vec![switch], switch, way);
            }
            for peer in Vec::from_iter(self.next(switch, way)) {
                before.entry(peer).or_insert_with(|| {
                    queue.push_back(peer);
                    Some(switch)
                });
            }
        }
    }

    /// Tells of the first circle that packets of `way` can go into from each entrance.
    fn find_loops(&mut self, way: WayId) {
        let mut is_done = vec![false; self.tiers.len()];
        let mut position: Vec<Option<usize>> = vec![None; self.tiers.len()];
        let mut circles: Vec<Vec<NodeId>> = Vec::new();
        for (entrance, _) in &self.plan.entrances[way.index()] {
            let mut path: Vec<(NodeId, Vec<NodeId>)> = Vec::new();
            let mut enter = Some(*entrance);
            loop {
                if let Some(node) = enter.take().filter(|node| !is_done[node.index()]) {
                    position[node.index()] = Some(path.len());
                    path.push((node, self.next(node, way).collect()));
                }
                let Some((node, rest)) = path.last_mut() else {
                    break;
                };
                match rest.pop() {
                    Some(next) => match position[next.index()] {
                        Some(at) => {
                            circles.push(path[at..].iter().map(|(node, _)| *node).collect())
                        }
                        None => enter = Some(next),
                    },
                    None => {
                        let node = *node;
                        position[node.index()] = None;
                        is_done[node.index()] = true;
                        path.pop();
                    }
                }
            }
        }
        for mut circle in circles {
            turn_to_first(&mut circle);
            let first = circle[0];
            self.tell(FaultKind::Loop, circle, first, way);
        }
    }

    /// Tells of every switch to which packets of `way` come down and from which they go up again.
    fn find_valleys(&mut self, way: WayId) {
        let mut seen = vec![false; self.tiers.len()];
        let mut stack = Vec::new();
        for (entrance, _) in &self.plan.entrances[way.index()] {
            if !std::mem::replace(&mut seen[entrance.index()], true) {
                stack.push(*entrance);
            }
        }
        let mut above: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
        let mut reached = Vec::new();
        while let Some(switch) = stack.pop() {
            reached.push(switch);
            for peer in Vec::from_iter(self.next(switch, way)) {
                if self.tiers[peer.index()] < self.tiers[switch.index()] {
                    above.entry(peer).or_default().push(switch);
                }
                if !std::mem::replace(&mut seen[peer.index()], true) {
                    stack.push(peer);
                }
            }
        }
        for switch in reached {
            let Some(from) = above.get(&switch) else {
                continue;
            };
            let up = self.next(switch, way);
            let up = up.filter(|peer| self.tiers[peer.index()] > self.tiers[switch.index()]);
            for to in Vec::from_iter(up) {
                for before in from {
                    self.tell(FaultKind::Valley, vec![*before, switch, to], switch, way);
                }
            }
        }
    }

    fn tell(&mut self, kind: FaultKind, path: Vec<NodeId>, at: NodeId, way: WayId) {
        let place = self.evidence.place(at, way);
        let (destinations, _) =
            self.found.entry((kind, path)).or_insert_with(|| (Vec::new(), place));
        let prefix = &self.evidence.prefixes[way.index()];
        if !destinations.contains(prefix) {
            destinations.push(prefix.clone());
        }
    }
}

/// Turns a circle so that it begins with its first node, wherever one has come into it.
fn turn_to_first(circle: &mut [NodeId]) {
    let first = (0..circle.len()).min_by_key(|at| circle[*at]).unwrap_or(0);
    circle.rotate_left(first);
}

/// How far each node is from the hosts, unless a file says it.
fn tiers(topology: &Topology, known: &BTreeMap<NodeId, u32>) -> Vec<u32> {
    let mut tiers = vec![u32::MAX; topology.nodes().len()];
    let mut queue = VecDeque::new();
    for &switch in topology.switches() {
        if topology.ports(switch).iter().any(|port| topology.is_host(port.peer)) {
            tiers[switch.index()] = 0;
            queue.push_back(switch);
        }
    }
    while let Some(switch) = queue.pop_front() {
        for peer in topology.neighbours(switch) {
            if !topology.is_host(peer) && tiers[peer.index()] == u32::MAX {
                tiers[peer.index()] = tiers[switch.index()] + 1;
                queue.push_back(peer);
            }
        }
    }
    for (switch, tier) in known {
        tiers[switch.index()] = *tier;
    }
    tiers
}
