//! What befalls packets on their way, in words.

use pauseless_core::id::{NodeId, PortId};
use pauseless_fabric::audit::{Fault, FaultKind, Step};
use pauseless_fabric::fabric::Fabric;
use pauseless_text::quantity;

/// A fault as a sentence without its place.
pub fn sentence(fabric: &Fabric, fault: &Fault) -> String {
    let packets = quantity::some(fault.destinations.iter(), 4);
    let name = |node: &NodeId| fabric.topology.node(*node).name.as_str();
    let path = Vec::from_iter(fault.path.iter().map(name));
    match (fault.kind, &path[..]) {
        (FaultKind::Loop, [first, ..]) => {
            let round = path.join(" > ");
            format!("packets for {packets} go in a circle: {round} > {first}")
        }
        (FaultKind::BlackHole, [.., last]) => match fault.place {
            Some(_) => format!("{last} drops packets for {packets} by a route of its own"),
            None => format!("{last} has no route to {packets}, though packets for it get there"),
        },
        (FaultKind::Valley, [from, bottom, to]) => format!(
            "packets for {packets} come down from {from} to {bottom} and go up again to {to}"
        ),
        (FaultKind::ClassChange(step), _) => {
            let [near, far] = ends(fabric, fault, step);
            let (from, to) = (step.from.0, step.to.0);
            format!(
                "{packets} is priority {from} before {near} and priority {to} behind it, at {far}"
            )
        }
        (FaultKind::Lossy(step), _) => {
            let [near, far] = ends(fabric, fault, step);
            let to = step.to.0;
            format!(
                "{packets} leaves the lossless class: {far} drops what does not fit in priority \
                 {to} (from {near})"
            )
        }
        (FaultKind::Deaf(step), _) => {
            let [near, far] = ends(fabric, fault, step);
            let to = step.to.0;
            format!("{packets} does not stop at {near} when {far} sends PAUSE in priority {to}")
        }
        (FaultKind::Loop | FaultKind::BlackHole | FaultKind::Valley, _) => packets,
    }
}

/// What to do about such a fault.
pub fn fix(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Loop => "remove one of the routes of the circle, often a default",
        FaultKind::BlackHole => "announce the prefix to that switch, or send it a default",
        FaultKind::Valley => {
            "let no switch below carry what is between those above: filter AS paths"
        }
        FaultKind::ClassChange(_) => "give all switches one map from DSCP to traffic class",
        FaultKind::Lossy(_) => "enable PFC with headroom for that priority at this port",
        FaultKind::Deaf(_) => {
            "enable that priority in pfc_enable there, and let both maps lead to one queue"
        }
    }
}

/// Both ends of the cable that a packet crosses.
fn ends(fabric: &Fabric, fault: &Fault, step: Step) -> [String; 2] {
    let port = |node: Option<&NodeId>, port: PortId| {
        node.map_or(String::new(), |node| fabric.port_name(*node, port))
    };
    [port(fault.path.first(), step.egress), port(fault.path.last(), step.ingress)]
}
