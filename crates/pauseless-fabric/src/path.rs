//! Explicit paths, node by node.

use pauseless_core::id::{NodeId, PortId};
use thiserror::Error;

use crate::name::listed;
use crate::topology::Topology;

/// A node of a path, and which of several parallel links leads to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    /// The node that the path passes.
    pub node: NodeId,
    /// The number of the link that leads to it, from 1, among those that join it to the node
    /// before. The first node of a path is reached by none and has 1.
    pub link: usize,
}

impl From<NodeId> for Step {
    /// A step by the first of parallel links.
    fn from(node: NodeId) -> Step {
        Step { node, link: 1 }
    }
}

/// Why a list of nodes is not a path.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "each message names the fields of its variant")]
pub enum PathError {
    /// The path is too short for a switch.
    #[error("the path has {count} nodes; write at least a source host, a switch and a target host")]
    TooShort { count: usize },
    /// The path begins or ends at a switch.
    #[error("the path has the switch {name} at its end; begin and end it at a host")]
    EndNotHost { name: String },
    /// The path returns to its source.
    #[error("the path begins and ends at {name}; choose another target")]
    ToItself { name: String },
    /// The path passes through a host, which does not forward.
    #[error("the path passes through the host {name}; hosts do not forward, so go around it")]
    HostInside { name: String },
    /// The path visits a switch twice, which would have to tell the two visits apart.
    #[error(
        "the path visits {name} twice; a table keyed by destination cannot express it, \
         so remove the loop"
    )]
    SwitchTwice { name: String },
    /// No link joins two consecutive nodes.
    #[error(
        "the path goes from {from} to {to}, but {from} has no link to it; {}",
        listed(neighbours)
    )]
    NotAdjacent { from: String, to: String, neighbours: Vec<String> },
    /// Two consecutive nodes have fewer parallel links.
    #[error(
        "the path goes from {from} to {to} by link number {wanted}; there {}",
        match count { 1 => "is only 1".to_string(), count => format!("are only {count}") }
    )]
    NotParallel { from: String, to: String, wanted: usize, count: usize },
    /// The loop has fewer than two switches.
    #[error(
        "the loop has {count} of the two switches that it takes; name the switches of a circle"
    )]
    LoopTooShort { count: usize },
    /// The first node has the number of a link, but no link leads to it.
    #[error("the path begins at {name}, so no link leads there; remove the #{wanted}")]
    LinkToSource { name: String, wanted: usize },
}

/// The egress ports along `path`, from that of the source host to that of the last switch.
pub(crate) fn ports_along(topology: &Topology, path: &[Step]) -> Result<Vec<PortId>, PathError> {
    check_nodes(topology, &Vec::from_iter(path.iter().map(|step| step.node)))?;
    ports_between(topology, path)
}

/// The egress ports from each node to the next.
fn ports_between(topology: &Topology, path: &[Step]) -> Result<Vec<PortId>, PathError> {
    let name = |node: NodeId| topology.node(node).name.clone();
    if path[0].link != 1 {
        return Err(PathError::LinkToSource { name: name(path[0].node), wanted: path[0].link });
    }
    let mut ports = Vec::with_capacity(path.len());
    for hop in path.windows(2) {
        let (from, to) = (hop[0].node, hop[1].node);
        let parallel = topology.parallel_ports(from, to);
        if parallel.is_empty() {
            return Err(PathError::NotAdjacent {
                from: name(from),
                to: name(to),
                neighbours: topology.neighbour_names(from),
            });
        }
        let port = hop[1].link.checked_sub(1).and_then(|at| parallel.get(at));
        ports.push(*port.ok_or_else(|| PathError::NotParallel {
            from: name(from),
            to: name(to),
            wanted: hop[1].link,
            count: parallel.len(),
        })?);
    }
    Ok(ports)
}

/// The next hops of a path that never ends: first the switches of `lead`, which begins at the
/// source host, then those of `round` again and again. The link number at the first switch of the
/// round is that of the link which closes it.
pub(crate) fn ports_around(
    topology: &Topology,
    lead: &[Step],
    round: &[Step],
) -> Result<Vec<(NodeId, PortId)>, PathError> {
    let name = |node: NodeId| topology.node(node).name.clone();
    let [first, _, ..] = round else {
        let count = round.len();
        return Err(PathError::LoopTooShort { count });
    };
    let entrance = Step::from(first.node);
    let steps = [lead, &[entrance], &round[1..], &[*first]].concat();
    let nodes = Vec::from_iter(steps.iter().map(|step| step.node));
    let [source, switches @ .., _] = &nodes[..] else {
        unreachable!("a round has two switches");
    };
    if !topology.is_host(*source) {
        return Err(PathError::EndNotHost { name: name(*source) });
    }
    check_switches(topology, switches)?;
    let ports = ports_between(topology, &steps)?;
    Ok(nodes.into_iter().zip(ports).skip(1).collect())
}

/// Whether packets could pass these nodes in this order if they were all joined.
fn check_nodes(topology: &Topology, path: &[NodeId]) -> Result<(), PathError> {
    let [source, switches @ .., target] = path else {
        return Err(PathError::TooShort { count: path.len() });
    };
    if switches.is_empty() {
        return Err(PathError::TooShort { count: path.len() });
    }
    let name = |node: NodeId| topology.node(node).name.clone();
    if let Some(&end) = [source, target].into_iter().find(|end| !topology.is_host(**end)) {
        return Err(PathError::EndNotHost { name: name(end) });
    }
    if source == target {
        return Err(PathError::ToItself { name: name(*source) });
    }
    check_switches(topology, switches)
}

/// Checks that these are switches, each listed once.
fn check_switches(topology: &Topology, switches: &[NodeId]) -> Result<(), PathError> {
    let name = |node: NodeId| topology.node(node).name.clone();
    if let Some(&host) = switches.iter().find(|node| topology.is_host(**node)) {
        return Err(PathError::HostInside { name: name(host) });
    }
    let mut sorted = switches.to_vec();
    sorted.sort_unstable();
    if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(PathError::SwitchTwice { name: name(twice[0]) });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{FatTree, LinkSpecs, Shape};
    use crate::topology::LinkSpec;
    use crate::topology::tests::build;
    use pauseless_core::unit::{Rate, Span};

    #[test]
    fn what_is_not_a_path_is_refused_by_name() {
        let spec = LinkSpec { rate: Rate::gbps(10), delay: Span::us(1) };
        let topology = FatTree { k: 4 }.build(LinkSpecs::same(spec)).unwrap();
        let cases = [
            ("H0", "the path has 1 nodes"),
            ("H0 E1", "the path has 2 nodes"),
            ("E1 A1 E2", "the path has the switch E1 at its end"),
            ("H0 E1 A1", "the path has the switch A1 at its end"),
            ("H0 E1 H0", "the path begins and ends at H0"),
            ("H0 E1 H1 E1 H2", "the path passes through the host H1"),
            (
                "H0 E1 A1 E2 A2 E1 H1",
                "the path visits E1 twice; a table keyed by destination cannot express it",
            ),
            (
                "H0 E1 A3 E3 H4",
                "the path goes from E1 to A3, but E1 has no link to it; its neighbours are H0, H1, A1, A2",
            ),
            (
                "H0 E2 H2",
                "the path goes from H0 to E2, but H0 has no link to it; its neighbours are E1",
            ),
            ("H0 E1 H2", "the path goes from E1 to H2"),
        ];
        let nodes = |names: &str| steps(&topology, names);
        for (path, expected) in cases {
            let message = ports_along(&topology, &nodes(path)).unwrap_err().to_string();
            assert!(message.starts_with(expected), "{message} instead of {expected}");
        }
        assert_eq!(ports_along(&topology, &[]), Err(PathError::TooShort { count: 0 }));
    }

    /// Names of nodes, with the number of a link behind them where it is not the first.
    fn steps(topology: &Topology, names: &str) -> Vec<Step> {
        let step = |name: &str| {
            let (name, link) = name.split_once('#').unwrap_or((name, "1"));
            Step { node: topology.node_named(name).unwrap(), link: link.parse().unwrap() }
        };
        names.split(' ').map(step).collect()
    }

    #[test]
    fn parallel_links_are_chosen_by_number() {
        let links = [(2, 0), (0, 1), (1, 3), (1, 0), (0, 1)];
        let topology = build(&["S1", "S2", "H1", "H2"], &links).unwrap();
        for (path, port) in [
            ("H1 S1 S2 H2", 1),
            ("H1 S1 S2#1 H2", 1),
            ("H1 S1#1 S2#2 H2", 2),
            ("H1 S1 S2#3 H2#1", 3),
        ] {
            let ports = ports_along(&topology, &steps(&topology, path));
            assert_eq!(ports.unwrap()[1], PortId(port), "{path}");
        }
        let cases = [
            ("H1 S1 S2#4 H2", "the path goes from S1 to S2 by link number 4; there are only 3"),
            ("H1 S1 S2#0 H2", "the path goes from S1 to S2 by link number 0; there are only 3"),
            ("H1 S1 S2 H2#2", "the path goes from S2 to H2 by link number 2; there is only 1"),
            ("H1#2 S1 S2 H2", "the path begins at H1, so no link leads there; remove the #2"),
        ];
        for (path, expected) in cases {
            let error = ports_along(&topology, &steps(&topology, path)).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
}
