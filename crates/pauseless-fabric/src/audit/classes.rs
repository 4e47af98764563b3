//! Packets that are charged to another class on their way, or come into buffers that drop.

use std::collections::BTreeSet;

use super::{Fault, FaultKind, Plan, Step};
use crate::dependency::Lane;
use crate::fabric::{Fabric, Medium};
use pauseless_core::class_map::{Carried, ClassMap, Key, Passage};
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::table::WayId;

/// The faults of classes. InfiniBand changes lanes on purpose, and so do tunnels.
pub(super) fn faults(fabric: &Fabric, plan: &Plan) -> Vec<Fault> {
    if fabric.medium != Medium::Ethernet || fabric.evidence.labels.is_empty() {
        return Vec::new();
    }
    let mut audit = Audit { fabric, plan, found: BTreeSet::new(), faults: Vec::new() };
    for lane in &plan.lanes {
        for way in plan.ways() {
            audit.follow(*lane, way);
        }
    }
    audit.faults
}

struct Audit<'f> {
    fabric: &'f Fabric,
    plan: &'f Plan,
    /// What has been told: which kind of fault of which label by which egress.
    found: BTreeSet<(&'static str, u8, NodeId, PortId)>,
    faults: Vec<Fault>,
}

impl Audit<'_> {
    /// Follows the packets of a lane along a way, from all entrances at once.
    fn follow(&mut self, lane: Lane, way: WayId) {
        let Fabric { topology, routes, classes, evidence, .. } = self.fabric;
        let mut seen = BTreeSet::new();
        let mut stack = Vec::new();
        for (switch, port) in &self.plan.entrances[way.index()] {
            if seen.insert((*switch, *port, lane.class)) {
                stack.push((*switch, *port, lane.class));
            }
        }
        while let Some((switch, ingress, class)) = stack.pop() {
            let is_over = self.plan.exits[way.index()].contains(&switch)
                || evidence.routes.as_ref().is_some_and(|routes| routes.is_end(switch, way));
            if is_over {
                continue;
            }
            for egress in routes.table.next_hops_of_way(switch, way) {
                let far = topology.port(switch, *egress);
                if topology.is_host(far.peer) {
                    continue;
                }
                let passage = Passage { node: switch, ingress, egress: *egress };
                let carried = Carried { label: lane.label, class, hops: 0 };
                let Some(next) = classes.next(passage, carried) else {
                    continue;
                };
                let step = Step { egress: *egress, ingress: far.peer_port, from: class, to: next };
                self.judge(lane.label, [switch, far.peer], step);
                if seen.insert((far.peer, far.peer_port, next)) {
                    stack.push((far.peer, far.peer_port, next));
                }
            }
        }
    }

    fn judge(&mut self, label: u8, path: [NodeId; 2], step: Step) {
        let Fabric { classes, lossy, evidence, .. } = self.fabric;
        let by_label = matches!(classes, ClassMap::Table(table) if table.key() == Key::Label);
        let is_lossy =
            |node: NodeId, port: PortId, class: Class| lossy.at(node, port) & 1 << class.0 != 0;
        if is_lossy(path[1], step.ingress, step.to) {
            self.tell(FaultKind::Lossy(step), label, path);
        } else if by_label && step.from != step.to {
            self.tell(FaultKind::ClassChange(step), label, path);
        } else if evidence.deaf.contains(&(path[0], step.egress, label)) {
            self.tell(FaultKind::Deaf(step), label, path);
        }
    }

    fn tell(&mut self, kind: FaultKind, label: u8, path: [NodeId; 2]) {
        let (FaultKind::ClassChange(step) | FaultKind::Lossy(step) | FaultKind::Deaf(step)) = kind
        else {
            return;
        };
        if self.found.insert((kind.word(), label, path[0], step.egress)) {
            let known = self.fabric.evidence.labels.get(&label).cloned();
            let destinations = vec![known.unwrap_or_else(|| format!("priority {label}"))];
            self.faults.push(Fault { kind, destinations, path: path.to_vec(), place: None });
        }
    }
}
