//! Readable names of ports and links: `S1:H1` is the port of S1 that faces H1.
//!
//! Of parallel links between the same two nodes the second is `S1:S2#2`, the third `S1:S2#3`;
//! both ends of a link have the same number.

use pauseless_core::id::{NodeId, PortId};
use thiserror::Error;

use crate::topology::{LinkIndex, Topology};

impl Topology {
    /// The name of a port, such as `S1:H1`, or `S1:S2#2` for the second of parallel links.
    pub fn port_name(&self, node: NodeId, port: PortId) -> String {
        let peer = self.port(node, port).peer;
        let before = self.parallel_ports(node, peer).partition_point(|other| *other < port);
        let (node, peer) = (&self.node(node).name, &self.node(peer).name);
        match before {
            0 => format!("{node}:{peer}"),
            _ => format!("{node}:{peer}#{}", before + 1),
        }
    }

    /// The port with this name: the inverse of [`Topology::port_name`].
    pub fn port_named(&self, name: &str) -> Result<(NodeId, PortId), NameError> {
        let malformed = || NameError::Malformed { name: name.to_string() };
        let (node, facing) = name.split_once(':').ok_or_else(malformed)?;
        let (peer, wanted) = match facing.split_once('#') {
            None => (facing, 1),
            Some((peer, number)) => (peer, number.parse().map_err(|_| malformed())?),
        };
        if wanted == 0 {
            return Err(malformed());
        }
        let (id, parallel) = self.adjacent(node, peer)?;
        match parallel.get(wanted - 1) {
            Some(port) => Ok((id, *port)),
            None => Err(NameError::NotParallel {
                node: node.to_string(),
                peer: peer.to_string(),
                wanted,
                count: parallel.len(),
            }),
        }
    }

    /// The link that joins two nodes, by their names in either order.
    /// Of parallel links it is the first; the others are reached by [`Topology::port_named`].
    pub fn link_between(&self, a: &str, b: &str) -> Result<LinkIndex, NameError> {
        let (node, parallel) = self.adjacent(a, b)?;
        Ok(self.port(node, parallel[0]).link)
    }

    /// The names of the nodes that share a link with `node`, in the order of its ports.
    pub(crate) fn neighbour_names(&self, node: NodeId) -> Vec<String> {
        self.neighbours(node).into_iter().map(|id| self.node(id).name.clone()).collect()
    }

    /// The first node and its ports towards the second, at least one.
    fn adjacent(&self, node: &str, peer: &str) -> Result<(NodeId, &[PortId]), NameError> {
        let find = |name: &str| {
            let unknown = || NameError::UnknownNode { name: name.to_string() };
            self.node_named(name).ok_or_else(unknown)
        };
        let id = find(node)?;
        // The neighbours are worth listing even if the second name is not a node at all.
        let parallel = match self.node_named(peer) {
            Some(peer) => self.parallel_ports(id, peer),
            None => &[],
        };
        if parallel.is_empty() {
            return Err(NameError::NotAdjacent {
                node: node.to_string(),
                peer: peer.to_string(),
                neighbours: self.neighbour_names(id),
            });
        }
        Ok((id, parallel))
    }
}

/// Why a name does not denote a port or link of the fabric.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "each message names the fields of its variant")]
pub enum NameError {
    /// The name does not have the form of a port name.
    #[error(
        "{name:?} is no port name; write NODE:NEIGHBOUR, or NODE:NEIGHBOUR#2 for a second link"
    )]
    Malformed { name: String },
    /// The fabric has no node of that name.
    #[error("the fabric has no node {name:?}")]
    UnknownNode { name: String },
    /// No link joins the two nodes.
    #[error("{node} has no link to {peer:?}; {}", listed(neighbours))]
    NotAdjacent { node: String, peer: String, neighbours: Vec<String> },
    /// The two nodes have fewer parallel links.
    #[error("{node} has no link number {wanted} to {peer}, only {count}")]
    NotParallel { node: String, peer: String, wanted: usize, count: usize },
}

/// The part of a message that lists the neighbours, short even for a large switch.
pub(crate) fn listed(neighbours: &[String]) -> String {
    const SHOWN: usize = 24;
    match neighbours.len() {
        0 => "it has no neighbours".to_string(),
        n if n <= SHOWN => format!("its neighbours are {}", neighbours.join(", ")),
        n => {
            format!("its neighbours are {} and {} more", neighbours[..SHOWN].join(", "), n - SHOWN)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::TopologyBuilder;
    use crate::topology::LinkSpec;
    use pauseless_core::unit::{Rate, Span};

    /// Three parallel links from A to B, with a host between the first and the second.
    fn parallel() -> Topology {
        let spec = LinkSpec { rate: Rate::gbps(40), delay: Span::us(5) };
        let mut builder = TopologyBuilder::new();
        let (a, b) = (builder.add_switch("A"), builder.add_switch("B"));
        let host = builder.add_host("H.1");
        builder.connect(a, b, spec);
        builder.connect(host, a, spec);
        builder.connect(b, a, spec);
        builder.connect(a, b, spec);
        builder.build().unwrap()
    }

    #[test]
    fn parallel_links_are_numbered_alike_at_both_ends() {
        let topology = parallel();
        let names = [("A:B", 0), ("A:H.1", 1), ("A:B#2", 2), ("A:B#3", 3)];
        for (name, port) in names {
            assert_eq!(topology.port_name(NodeId(0), PortId(port)), name);
            assert_eq!(topology.port_named(name), Ok((NodeId(0), PortId(port))));
        }
        assert_eq!(topology.port_named("A:B#1"), Ok((NodeId(0), PortId(0))));
        for (here, there) in [("A:B#2", "B:A#2"), ("A:B#3", "B:A#3"), ("H.1:A", "A:H.1")] {
            let (node, port) = topology.port_named(here).unwrap();
            let port = topology.port(node, port);
            assert_eq!(topology.port_name(port.peer, port.peer_port), there);
        }
    }

    #[test]
    fn wrong_names_are_explained() {
        let topology = parallel();
        let cases = [
            ("A", "\"A\" is no port name"),
            ("A:B#x", "\"A:B#x\" is no port name"),
            ("A:B#0", "\"A:B#0\" is no port name"),
            ("Z:A", "the fabric has no node \"Z\""),
            ("B:H.1", "B has no link to \"H.1\"; its neighbours are A"),
            ("A:Z", "A has no link to \"Z\"; its neighbours are B, H.1"),
            ("A:A", "A has no link to \"A\"; its neighbours are B, H.1"),
            ("A:B#4", "A has no link number 4 to B, only 3"),
        ];
        for (name, expected) in cases {
            let message = topology.port_named(name).unwrap_err().to_string();
            assert!(message.starts_with(expected), "{message} instead of {expected}");
        }
    }

    #[test]
    fn links_are_found_from_either_end() {
        let topology = parallel();
        assert_eq!(topology.link_between("A", "H.1"), Ok(LinkIndex(1)));
        assert_eq!(topology.link_between("H.1", "A"), Ok(LinkIndex(1)));
        assert_eq!(topology.link_between("B", "A"), Ok(LinkIndex(0)));
        let message = topology.link_between("B", "H.1").unwrap_err().to_string();
        assert_eq!(message, "B has no link to \"H.1\"; its neighbours are A");
        let isolated = topology.without_links(&[LinkIndex(1)]);
        let message = isolated.link_between("H.1", "A").unwrap_err().to_string();
        assert_eq!(message, "H.1 has no link to \"A\"; it has no neighbours");
    }

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<String> = (0..30).map(|n| format!("H{n}")).collect();
        assert!(listed(&names).ends_with("H22, H23 and 6 more"));
        assert!(listed(&names[..24]).ends_with("H22, H23"));
    }
}
