//! Explicit paths, node by node.

use pauseless_core::id::{NodeId, PortId};
use thiserror::Error;

use crate::name::listed;
use crate::topology::Topology;

/// Why a list of nodes is not a path.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PathError {
    /// No room for a switch.
    #[error("the path has {count} nodes; write at least a source host, a switch and a target host")]
    TooShort {
        /// How many nodes it has.
        count: usize,
    },
    /// It begins or ends at a switch.
    #[error("the path has the switch {name} at its end; begin and end it at a host")]
    EndNotHost {
        /// The switch.
        name: String,
    },
    /// It returns to its source.
    #[error("the path begins and ends at {name}; choose another target")]
    ToItself {
        /// The host.
        name: String,
    },
    /// Hosts do not forward.
    #[error("the path passes through the host {name}; hosts do not forward, so go around it")]
    HostInside {
        /// The host.
        name: String,
    },
    /// The switch would have to tell the first visit from the second.
    #[error(
        "the path visits {name} twice; a table keyed by destination cannot express it, \
         so remove the loop"
    )]
    SwitchTwice {
        /// The switch.
        name: String,
    },
    /// No link joins two consecutive nodes.
    #[error(
        "the path goes from {from} to {to}, but {from} has no link to it; {}",
        listed(neighbours)
    )]
    NotAdjacent {
        /// The first node.
        from: String,
        /// The node after it.
        to: String,
        /// The names of all neighbours of the first node.
        neighbours: Vec<String>,
    },
}

/// The egress ports along `path`, from that of the source host to that of the last switch.
/// Between nodes with parallel links it takes the first.
pub(crate) fn ports_along(topology: &Topology, path: &[NodeId]) -> Result<Vec<PortId>, PathError> {
    let [source, switches @ .., target] = path else {
        return Err(PathError::TooShort { count: path.len() });
    };
    if switches.is_empty() {
        return Err(PathError::TooShort { count: path.len() });
    }
    let name = |node: NodeId| topology.node(node).name.clone();
    if let Some(&end) = [source, target]
        .into_iter()
        .find(|end| !topology.is_host(**end))
    {
        return Err(PathError::EndNotHost { name: name(end) });
    }
    if source == target {
        return Err(PathError::ToItself {
            name: name(*source),
        });
    }
    if let Some(&host) = switches.iter().find(|node| topology.is_host(**node)) {
        return Err(PathError::HostInside { name: name(host) });
    }
    let mut sorted = switches.to_vec();
    sorted.sort_unstable();
    if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(PathError::SwitchTwice {
            name: name(twice[0]),
        });
    }
    let mut ports = Vec::with_capacity(path.len());
    for hop in path.windows(2) {
        let port = topology.ports_towards(hop[0], hop[1]).next();
        ports.push(port.ok_or_else(|| PathError::NotAdjacent {
            from: name(hop[0]),
            to: name(hop[1]),
            neighbours: topology.neighbour_names(hop[0]),
        })?);
    }
    Ok(ports)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{LinkSpecs, Shape};
    use crate::topology::LinkSpec;
    use pauseless_core::unit::{Rate, Span};

    #[test]
    fn what_is_not_a_path_is_refused_by_name() {
        let spec = LinkSpec {
            rate: Rate::gbps(10),
            delay: Span::us(1),
        };
        let topology = Shape::FatTree { k: 4 }
            .build(LinkSpecs::same(spec))
            .unwrap();
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
        let nodes = |names: &str| -> Vec<NodeId> {
            names
                .split(' ')
                .map(|name| topology.node_named(name).unwrap())
                .collect()
        };
        for (path, expected) in cases {
            let message = ports_along(&topology, &nodes(path))
                .unwrap_err()
                .to_string();
            assert!(
                message.starts_with(expected),
                "{message} instead of {expected}"
            );
        }
        assert_eq!(
            ports_along(&topology, &[]),
            Err(PathError::TooShort { count: 0 })
        );
    }
}
