//! Nodes, full-duplex links and the ports between them, in flat vectors.

use std::cmp::Ordering;

use pauseless_core::id::{NodeId, PortId};
use pauseless_core::unit::{Rate, Span};

/// The most ports that one node may have.
pub const PORT_COUNT_MAX: usize = 65_535;

/// What a node does with packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// It forwards packets of others.
    Switch,
    /// It sends and receives, and never forwards.
    Host,
}

/// A switch or a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Unique in its topology, and made of letters, digits, `_`, `.` and `-`.
    pub name: String,
    /// Whether it is a switch or a host.
    pub kind: NodeKind,
    /// The height in a tree: hosts 0, the switches next to them 1, and so on.
    pub layer: u8,
}

/// The position of a link in [`Topology::links`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkIndex(pub u32);

/// The properties of a link, the same in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSpec {
    /// The rate of each direction.
    pub rate: Rate,
    /// The propagation delay of each direction.
    pub delay: Span,
}

/// A full-duplex link, the only kind there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The node at one end.
    pub a: NodeId,
    /// The node at the other end.
    pub b: NodeId,
    /// The rate of each direction.
    pub rate: Rate,
    /// The propagation delay of each direction.
    pub delay: Span,
}

/// One end of a link, as the node it belongs to sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// The link behind the port.
    pub link: LinkIndex,
    /// The node at the other end.
    pub peer: NodeId,
    /// The port at the other end.
    pub peer_port: PortId,
    /// The rate of each direction.
    pub rate: Rate,
    /// The propagation delay of each direction.
    pub delay: Span,
}

/// A validated fabric. It need not be connected: routing says what cannot be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    nodes: Vec<Node>,
    links: Vec<Link>,
    /// The ports of all nodes, node after node.
    ports: Vec<Port>,
    /// The index in `ports` of the first port of each node; they end where those of the next node
    /// begin.
    port_starts: Vec<usize>,
    /// The ports of each node again, ordered by peer and then by number.
    ports_by_peer: Vec<PortId>,
    nodes_by_name: Vec<NodeId>,
    hosts: Vec<NodeId>,
    switches: Vec<NodeId>,
}

impl Topology {
    /// All nodes, in the order of their ids.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node with this id.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The node with this name.
    pub fn node_named(&self, name: &str) -> Option<NodeId> {
        let found =
            self.nodes_by_name.binary_search_by(|&id| self.node(id).name.as_str().cmp(name));
        found.ok().map(|at| self.nodes_by_name[at])
    }

    /// Whether the node is a host.
    pub fn is_host(&self, id: NodeId) -> bool {
        self.node(id).kind == NodeKind::Host
    }

    /// All links, in the order in which they were connected.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The ports of a node, in the order of its links.
    pub fn ports(&self, node: NodeId) -> &[Port] {
        &self.ports[self.port_starts[node.index()]..self.port_starts[node.index() + 1]]
    }

    /// One port of a node.
    pub fn port(&self, node: NodeId, port: PortId) -> &Port {
        &self.ports(node)[port.index()]
    }

    /// The ports of `node` that face `neighbour`, lowest first: one per parallel link.
    pub fn ports_towards(
        &self,
        node: NodeId,
        neighbour: NodeId,
    ) -> impl Iterator<Item = PortId> + '_ {
        self.parallel_ports(node, neighbour).iter().copied()
    }

    /// The nodes that share a link with `node`, each once, in the order of the node's ports.
    pub fn neighbours(&self, node: NodeId) -> Vec<NodeId> {
        let ports = self.ports(node).iter().enumerate();
        let firsts = ports
            .filter(|(number, port)| self.parallel_ports(node, port.peer)[0].index() == *number);
        firsts.map(|(_, port)| port.peer).collect()
    }

    /// The hosts, in the order of their ids.
    pub fn hosts(&self) -> &[NodeId] {
        &self.hosts
    }

    /// The switches, in the order of their ids.
    pub fn switches(&self) -> &[NodeId] {
        &self.switches
    }

    /// How many hosts there are.
    pub fn host_count(&self) -> usize {
        self.hosts.len()
    }

    /// The same fabric after these links have failed.
    ///
    /// Nodes keep their ids, while links and ports are numbered anew.
    /// A host may lose its only link; then it cannot be reached.
    pub fn without_links(&self, failed: &[LinkIndex]) -> Topology {
        let mut alive = vec![true; self.links.len()];
        for link in failed {
            alive[link.0 as usize] = false;
        }
        let links = self.links.iter().zip(alive).filter(|(_, alive)| *alive).map(|(link, _)| *link);
        Topology::assemble(self.nodes.clone(), links.collect())
    }

    pub(crate) fn parallel_ports(&self, node: NodeId, neighbour: NodeId) -> &[PortId] {
        let start = self.port_starts[node.index()];
        let end = self.port_starts[node.index() + 1];
        let by_peer = &self.ports_by_peer[start..end];
        let ports = self.ports(node);
        let from = by_peer.partition_point(|port| ports[port.index()].peer < neighbour);
        let to = by_peer.partition_point(|port| ports[port.index()].peer <= neighbour);
        &by_peer[from..to]
    }

    /// Numbers the ports and builds the indices. All errors were checked for before.
    pub(crate) fn assemble(nodes: Vec<Node>, links: Vec<Link>) -> Topology {
        let mut port_starts = vec![0; nodes.len() + 1];
        for end in links.iter().flat_map(|link| [link.a, link.b]) {
            port_starts[end.index() + 1] += 1;
        }
        for node in 0..nodes.len() {
            port_starts[node + 1] += port_starts[node];
        }
        let ports = number_ports(&links, &port_starts);
        let mut ports_by_peer = Vec::with_capacity(ports.len());
        for bounds in port_starts.windows(2) {
            let own = &ports[bounds[0]..bounds[1]];
            let mut sorted: Vec<PortId> = (0..own.len()).map(|n| PortId(n as u16)).collect();
            sorted.sort_by_key(|port| (own[port.index()].peer, *port));
            ports_by_peer.extend(sorted);
        }
        let ids = || (0..nodes.len()).map(|n| NodeId(n as u32));
        let of_kind = |kind| ids().filter(|id| nodes[id.index()].kind == kind).collect();
        let mut nodes_by_name: Vec<NodeId> = ids().collect();
        nodes_by_name.sort_by(|a, b| by_name(&nodes, *a, *b));
        Topology {
            hosts: of_kind(NodeKind::Host),
            switches: of_kind(NodeKind::Switch),
            nodes,
            links,
            ports,
            port_starts,
            ports_by_peer,
            nodes_by_name,
        }
    }
}

fn by_name(nodes: &[Node], a: NodeId, b: NodeId) -> Ordering {
    nodes[a.index()].name.cmp(&nodes[b.index()].name)
}

/// Assigns the port numbers of each node in the order of `links`.
fn number_ports(links: &[Link], port_starts: &[usize]) -> Vec<Port> {
    let mut next = port_starts.to_vec();
    let mut numbered = Vec::with_capacity(2 * links.len());
    for (number, link) in links.iter().enumerate() {
        let mut take = |node: NodeId| {
            let slot = next[node.index()];
            next[node.index()] += 1;
            (slot, PortId((slot - port_starts[node.index()]) as u16))
        };
        let ((a_slot, a_port), (b_slot, b_port)) = (take(link.a), take(link.b));
        let facing = |peer, peer_port| Port {
            link: LinkIndex(number as u32),
            peer,
            peer_port,
            rate: link.rate,
            delay: link.delay,
        };
        numbered.push((a_slot, facing(link.b, b_port)));
        numbered.push((b_slot, facing(link.a, a_port)));
    }
    numbered.sort_unstable_by_key(|(slot, _)| *slot);
    numbered.into_iter().map(|(_, port)| port).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::builder::{TopologyBuilder, TopologyError};

    pub(crate) const SPEC: LinkSpec = LinkSpec { rate: Rate::gbps(10), delay: Span::us(1) };

    /// A fabric from names: those that begin with H are hosts.
    pub(crate) fn build(nodes: &[&str], links: &[(u32, u32)]) -> Result<Topology, TopologyError> {
        let mut builder = TopologyBuilder::new();
        for name in nodes {
            if name.starts_with('H') {
                builder.add_host(*name)
            } else {
                builder.add_switch(*name)
            };
        }
        for &(a, b) in links {
            builder.connect(NodeId(a), NodeId(b), SPEC);
        }
        builder.build()
    }

    #[test]
    fn both_ends_of_a_link_agree() {
        let links = [(0, 1), (2, 0), (1, 0), (3, 1), (0, 1)];
        let topology = build(&["S1", "S2", "H1", "H2"], &links).unwrap();
        let peers =
            |n| topology.ports(NodeId(n)).iter().map(|port| port.peer.0).collect::<Vec<_>>();
        assert_eq!(peers(0), [1, 2, 1, 1]);
        assert_eq!(peers(1), [0, 0, 3, 0]);
        assert_eq!(topology.neighbours(NodeId(0)), [NodeId(1), NodeId(2)]);
        let towards: Vec<_> = topology.ports_towards(NodeId(1), NodeId(0)).collect();
        assert_eq!(towards, [PortId(0), PortId(1), PortId(3)]);
        assert_eq!(topology.ports_towards(NodeId(2), NodeId(1)).count(), 0);
        for node in (0..4).map(NodeId) {
            for (number, port) in topology.ports(node).iter().enumerate() {
                let back = topology.port(port.peer, port.peer_port);
                assert_eq!((back.peer, back.peer_port.index()), (node, number));
                assert_eq!(back.link, port.link);
                let link = topology.links()[port.link.0 as usize];
                assert!([(link.a, link.b), (link.b, link.a)].contains(&(node, port.peer)));
            }
        }
    }

    #[test]
    fn nodes_are_found_by_name_and_listed_by_kind() {
        let topology = build(&["S2", "H9", "S1"], &[(0, 1), (0, 2)]).unwrap();
        assert_eq!(topology.node_named("S1"), Some(NodeId(2)));
        assert_eq!(topology.node_named("H9"), Some(NodeId(1)));
        assert_eq!(topology.node_named("H"), None);
        assert_eq!(topology.hosts(), [NodeId(1)]);
        assert_eq!(topology.switches(), [NodeId(0), NodeId(2)]);
        assert_eq!(topology.host_count(), 1);
        assert!(topology.is_host(NodeId(1)) && !topology.is_host(NodeId(0)));
    }

    #[test]
    fn failures_keep_nodes_and_renumber_ports() {
        let links = [(0, 1), (2, 0), (3, 1), (0, 1)];
        let topology = build(&["S1", "S2", "H1", "H2"], &links).unwrap();
        let failed = topology.without_links(&[LinkIndex(0), LinkIndex(2), LinkIndex(0)]);
        assert_eq!(failed.nodes(), topology.nodes());
        assert_eq!(failed.links().len(), 2);
        assert_eq!(failed.ports(NodeId(0))[0].peer, NodeId(2));
        assert_eq!(failed.port(NodeId(0), PortId(1)).peer_port, PortId(0));
        assert_eq!(failed.ports(NodeId(3)), []);
        assert_eq!(topology.without_links(&[]), topology);
    }
}
