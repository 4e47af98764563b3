//! Building a topology node by node and link by link, and what may be wrong with it.

use pauseless_core::id::NodeId;
use thiserror::Error;

use crate::topology::{Link, LinkSpec, Node, NodeKind, PORT_COUNT_MAX, Topology};

/// Collects nodes and links, and checks them all in [`TopologyBuilder::build`].
#[derive(Clone, Debug, Default)]
pub struct TopologyBuilder {
    nodes: Vec<Node>,
    links: Vec<Link>,
}

impl TopologyBuilder {
    /// A builder without nodes and links.
    pub fn new() -> TopologyBuilder {
        TopologyBuilder::default()
    }

    /// Adds a switch of layer 1.
    pub fn add_switch(&mut self, name: impl Into<String>) -> NodeId {
        self.add_switch_at(1, name)
    }

    /// Adds a switch of the given layer.
    pub fn add_switch_at(&mut self, layer: u8, name: impl Into<String>) -> NodeId {
        self.add(Node { name: name.into(), kind: NodeKind::Switch, layer })
    }

    /// Adds a host, which needs exactly one link.
    pub fn add_host(&mut self, name: impl Into<String>) -> NodeId {
        self.add(Node { name: name.into(), kind: NodeKind::Host, layer: 0 })
    }

    /// Joins two nodes of this builder. Joining them again adds a parallel link.
    pub fn connect(&mut self, a: NodeId, b: NodeId, spec: LinkSpec) {
        assert!(a.index() < self.nodes.len(), "node {} is not of this builder", a.0);
        assert!(b.index() < self.nodes.len(), "node {} is not of this builder", b.0);
        self.links.push(Link { a, b, rate: spec.rate, delay: spec.delay });
    }

    /// The topology, or the first thing that is wrong with it.
    pub fn build(self) -> Result<Topology, TopologyError> {
        self.check_names()?;
        self.check_kinds()?;
        self.check_links()?;
        self.check_port_counts()?;
        Ok(Topology::assemble(self.nodes, self.links))
    }

    fn add(&mut self, node: Node) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).expect("node ids have 32 bits"));
        self.nodes.push(node);
        id
    }

    fn check_names(&self) -> Result<(), TopologyError> {
        for (index, node) in self.nodes.iter().enumerate() {
            if node.name.is_empty() {
                return Err(TopologyError::EmptyName { index });
            }
            let legal = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
            if !node.name.chars().all(legal) {
                return Err(TopologyError::BadName { name: node.name.clone() });
            }
        }
        let mut names: Vec<&str> = self.nodes.iter().map(|node| node.name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(TopologyError::DuplicateName { name: pair[0].to_string() }),
            None => Ok(()),
        }
    }

    fn check_kinds(&self) -> Result<(), TopologyError> {
        let has = |kind| self.nodes.iter().any(|node| node.kind == kind);
        match (has(NodeKind::Host), has(NodeKind::Switch)) {
            (false, _) => Err(TopologyError::NoHosts),
            (_, false) => Err(TopologyError::NoSwitches),
            _ => Ok(()),
        }
    }

    fn check_links(&self) -> Result<(), TopologyError> {
        for link in &self.links {
            let (a, b) = (&self.nodes[link.a.index()], &self.nodes[link.b.index()]);
            if link.a == link.b {
                return Err(TopologyError::SelfLink { name: a.name.clone() });
            }
            if a.kind == NodeKind::Host && b.kind == NodeKind::Host {
                return Err(TopologyError::HostToHost { a: a.name.clone(), b: b.name.clone() });
            }
        }
        Ok(())
    }

    fn check_port_counts(&self) -> Result<(), TopologyError> {
        let mut counts = vec![0; self.nodes.len()];
        for end in self.links.iter().flat_map(|link| [link.a, link.b]) {
            counts[end.index()] += 1;
        }
        for (node, count) in self.nodes.iter().zip(counts) {
            let name = node.name.clone();
            if node.kind == NodeKind::Host && count != 1 {
                return Err(TopologyError::HostLinkCount { name, count });
            }
            if count > PORT_COUNT_MAX {
                return Err(TopologyError::TooManyPorts { name, count });
            }
        }
        Ok(())
    }
}

/// Why nodes and links do not make a fabric.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "each message names the fields of its variant")]
pub enum TopologyError {
    /// A node without a name.
    #[error("node number {index} has an empty name; give it one")]
    EmptyName {
        /// The position of the node in the order of addition, from 0.
        index: usize,
    },
    /// A name that could not be part of a port name.
    #[error("node name {name:?} has characters other than letters, digits, '_', '.' and '-'")]
    BadName { name: String },
    /// Two nodes with one name.
    #[error("two nodes are called {name}; give each a name of its own")]
    DuplicateName { name: String },
    /// The fabric has nobody to send.
    #[error("the fabric has no hosts; add at least one")]
    NoHosts,
    /// The fabric has nobody to forward.
    #[error("the fabric has no switches; add at least one")]
    NoSwitches,
    /// A link from a node to itself.
    #[error("a link joins {name} to itself; remove it or name another node")]
    SelfLink { name: String },
    /// A link without a switch.
    #[error("a link joins the hosts {a} and {b}; put a switch between them")]
    HostToHost { a: String, b: String },
    /// A host that does not have exactly one link.
    #[error("host {name} has {count} links; join it to exactly one switch")]
    HostLinkCount { name: String, count: usize },
    /// More ports than port numbers.
    #[error("{name} has {count} ports; split it, since {PORT_COUNT_MAX} is the most")]
    TooManyPorts { name: String, count: usize },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::{SPEC, build};
    use pauseless_core::id::PortId;

    /// Names, links and how the complaint begins.
    type Case = (&'static [&'static str], &'static [(u32, u32)], &'static str);

    #[test]
    fn what_is_not_a_fabric_is_refused_by_name() {
        let cases: &[Case] = &[
            (&["S1", "H1", "S1"], &[(0, 1)], "two nodes are called S1"),
            (&["S1", "", "H1"], &[(0, 2)], "node number 1 has an empty name"),
            (&["S:1", "H1"], &[(0, 1)], "node name \"S:1\" has characters"),
            (&["S#1", "H1"], &[(0, 1)], "node name \"S#1\" has characters"),
            (&["Sé", "H1"], &[(0, 1)], "node name \"Sé\" has characters"),
            (&["S1", "H1"], &[(0, 1), (0, 0)], "a link joins S1 to itself"),
            (&["S1", "H1"], &[], "host H1 has 0 links"),
            (&["S1", "S2", "H1"], &[(0, 2), (1, 2)], "host H1 has 2 links"),
            (&["S1", "H1", "H2"], &[(1, 2)], "a link joins the hosts H1 and H2"),
            (&["S1"], &[], "the fabric has no hosts"),
            (&["H1"], &[], "the fabric has no switches"),
        ];
        for (nodes, links, expected) in cases {
            let message = build(nodes, links).unwrap_err().to_string();
            assert!(message.starts_with(expected), "{message} instead of {expected}");
        }
    }

    #[test]
    fn ports_have_sixteen_bits() {
        let star = |hosts: u32| {
            let mut builder = TopologyBuilder::new();
            let hub = builder.add_switch("S");
            for n in 0..hosts {
                let host = builder.add_host(format!("H{n}"));
                builder.connect(hub, host, SPEC);
            }
            builder.build()
        };
        let full = star(65_535).unwrap();
        assert_eq!(full.port(NodeId(0), PortId(65_534)).peer, NodeId(65_535));
        let expected = TopologyError::TooManyPorts { name: "S".into(), count: 65_536 };
        assert_eq!(star(65_536), Err(expected));
    }
}
