//! Proposals in the words of those who carry them out: service levels, lanes and partitions on
//! InfiniBand; route policies and class maps of SONiC and FRR on Ethernet.

use pauseless_core::id::NodeId;
use pauseless_fabric::dependency::Blame;
use pauseless_fabric::fabric::{Fabric, Medium};

use super::{Advice, Change, Choice, Proposal};

/// What is to be done, in a sentence.
pub fn what(fabric: &Fabric, blame: Option<&Blame>, change: &Change) -> String {
    let is_infiniband = fabric.medium == Medium::InfiniBand;
    match change {
        Change::UpDown { roots, choice: Choice::Searched } => {
            let noun = if roots.len() == 1 { "this root" } else { "these roots" };
            format!("Route by up*/down* (opensm -R updn) from {noun}: {}.", with_guids(fabric, roots))
        }
        Change::UpDown { roots, choice: Choice::Detected } => match roots.len() {
            0 => "opensm -R updn without a root_guid_file, which finds no roots here and falls back \
                  to minhop"
                .to_string(),
            _ => format!(
                "opensm -R updn without a root_guid_file, which takes {} as roots",
                some(fabric, roots, "switches")
            ),
        },
        Change::UpDown { roots, choice: Choice::Top } => {
            format!("opensm -R updn with all top switches as roots: {}", some(fabric, roots, "switches"))
        }
        Change::UpDown { choice: Choice::Tiers, .. } => {
            "Let no path go up after it came down: on each switch, announce to the tier above only \
             what came from below or is its own (FRR: a community set on what comes from above, and \
             an outgoing route-map that denies it; RFC 7938)."
                .to_string()
        }
        Change::Class { lanes } if is_infiniband => match &lanes[..] {
            [nodes] => format!(
                "Give packets from and to {} a service level (SL) with a virtual lane (VL) of their \
                 own; routes stay.",
                who(fabric, blame, nodes)
            ),
            _ => format!(
                "Give packets from and to {} service levels (SL) with virtual lanes (VL) of their \
                 own, {} of them; routes stay.",
                who(fabric, blame, &lanes.concat()),
                lanes.len()
            ),
        },
        Change::Class { lanes } => format!(
            "Give packets from and to {} {} of their own: another DSCP, traffic class and queue with \
             PFC (SONiC: DSCP_TO_TC_MAP, TC_TO_QUEUE_MAP, TC_TO_PRIORITY_GROUP_MAP, pfc_enable).",
            who(fabric, blame, &lanes.concat()),
            match lanes.len() {
                1 => "a lossless priority".to_string(),
                count => format!("{count} lossless priorities"),
            }
        ),
        Change::Layers(layered) => match layered.layers {
            1 => "Route by tables of our own, without a cycle in a single lane (opensm -R file)."
                .to_string(),
            count => format!(
                "Route by tables of our own (opensm -R file) in {count} layers, each with a service \
                 level (SL) and a virtual lane (VL)."
            ),
        },
        Change::LeaveOut { nodes } if is_infiniband => format!(
            "Put {} into a partition apart from the others.",
            who(fabric, blame, nodes)
        ),
        Change::LeaveOut { nodes } => format!(
            "Keep {} off the lossless class: their DSCP to a traffic class without PFC, on their \
             ports and their senders.",
            who(fabric, blame, nodes)
        ),
    }
}

/// What came of trying it, in a line.
pub fn outcome(fabric: &Fabric, advice: &Advice, proposal: &Proposal) -> String {
    let outcome = &proposal.outcome;
    let lost = match outcome.lost.saturating_sub(advice.now.lost) {
        0 => "no pair lost".to_string(),
        1 => "1 pair lost".to_string(),
        count => format!("{count} pairs lost"),
    };
    let class = fabric.medium.class_name();
    let cyclic = match (outcome.cyclic_classes, outcome.classes) {
        (0, 1) => "no cycle".to_string(),
        (0, classes) => format!("no cycle in any {class}, {classes} in use"),
        (_, 1) => "a cycle".to_string(),
        (cyclic, classes) => format!("a cycle in {cyclic} of {classes} {class}s"),
    };
    let given_up = match outcome.given_up {
        0 => String::new(),
        pairs => format!(", {pairs} of {} pairs given up", advice.now.pairs),
    };
    format!(
        "{cyclic}, {lost}{given_up}, at most {} pairs over a link (now {})",
        outcome.load.round(),
        advice.now.largest.round()
    )
}

/// Some end nodes, by what they have in common if that is known.
pub fn who(fabric: &Fabric, blame: Option<&Blame>, nodes: &[NodeId]) -> String {
    match (blame.filter(|blame| blame.hosts == nodes), nodes) {
        (_, [only]) => fabric.topology.node(*only).name.clone(),
        (Some(Blame { name: Some(name), hosts, .. }), _) => format!("the {} {name}", hosts.len()),
        _ => some(fabric, nodes, "end nodes"),
    }
}

/// Some names, and how many there are.
fn some(fabric: &Fabric, nodes: &[NodeId], noun: &str) -> String {
    let names = nodes.iter().take(SHOWN).map(|node| fabric.topology.node(*node).name.as_str());
    let names = Vec::from_iter(names).join(", ");
    match nodes.len() {
        count if count <= SHOWN => names,
        count => format!("{count} {noun} ({names}, ..)"),
    }
}

/// Switches with the GUIDs by which opensm knows them.
fn with_guids(fabric: &Fabric, nodes: &[NodeId]) -> String {
    let named = nodes.iter().map(|node| {
        let name = &fabric.topology.node(*node).name;
        match fabric.names.device(*node).and_then(|device| device.guid) {
            Some(guid) => format!("{name} ({guid:#018x})"),
            None => name.clone(),
        }
    });
    Vec::from_iter(named).join(", ")
}

/// How many names are shown.
const SHOWN: usize = 3;
