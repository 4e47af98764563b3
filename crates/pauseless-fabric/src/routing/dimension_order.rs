//! Dimension-order routing on a mesh or torus, and the dateline classes that break its rings.

use pauseless_core::class_map::{ClassMap, ClassTable, Key, Passage};
use pauseless_core::id::{NodeId, PortId};

use crate::topology::Topology;

/// The sizes of a mesh or torus whose switches are the nodes 0.. in the order x, then y, then z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimensions {
    /// The switches along x, y and z; 1 where there is no such dimension.
    pub sizes: [u32; 3],
    /// Whether the last switch of a row is joined to its first.
    pub wraps: bool,
}

impl Dimensions {
    /// The neighbour to which `at` sends packets for the switch `target`: along x until that
    /// coordinate is right, then along y, then z, the shorter way round. `None` at the target.
    pub fn next(self, at: NodeId, target: NodeId) -> Option<NodeId> {
        let (here, there) = (self.coordinates(at), self.coordinates(target));
        let axis = (0..3).find(|axis| here[*axis] != there[*axis])?;
        let size = self.sizes[axis];
        let forward = (there[axis] + size - here[axis]) % size;
        let is_forward = if self.wraps { forward * 2 <= size } else { there[axis] > here[axis] };
        let mut next = here;
        next[axis] =
            if is_forward { (here[axis] + 1) % size } else { (here[axis] + size - 1) % size };
        Some(self.node(next))
    }

    /// The classes that break each ring: a packet travels in class 0, in class 1 once it has passed
    /// the link that closes the ring, and in class 0 again along the next dimension. (Dally and
    /// Seitz 1987)
    pub fn dateline_classes(self, topology: &Topology) -> ClassMap {
        let mut table = ClassTable::new(Key::Class, port_counts(topology));
        for &node in topology.switches() {
            for (egress, out) in (0..).map(PortId).zip(topology.ports(node)) {
                if topology.is_host(out.peer) {
                    continue;
                }
                let (axis, crosses) = self.step(node, out.peer);
                for (ingress, came) in (0..).map(PortId).zip(topology.ports(node)) {
                    let goes_on =
                        !topology.is_host(came.peer) && self.step(came.peer, node).0 == axis;
                    let row = match (crosses, goes_on) {
                        (true, _) => [1; 16],
                        (false, true) => std::array::from_fn(|class| class as u8),
                        (false, false) => [0; 16],
                    };
                    let passage = Passage { node, ingress, egress };
                    table.set(passage, row);
                }
            }
        }
        ClassMap::Table(table)
    }

    /// The dimension of a step between neighbours, and whether it closes the ring.
    fn step(self, from: NodeId, to: NodeId) -> (usize, bool) {
        let (a, b) = (self.coordinates(from), self.coordinates(to));
        let axis = (0..3).find(|axis| a[*axis] != b[*axis]).unwrap_or(0);
        // With two switches in a row there is one link and no ring.
        (axis, a[axis].abs_diff(b[axis]) > 1)
    }

    fn coordinates(self, node: NodeId) -> [u32; 3] {
        let [x, y, _] = self.sizes;
        [node.0 % x, node.0 / x % y, node.0 / (x * y)]
    }

    fn node(self, [x, y, z]: [u32; 3]) -> NodeId {
        NodeId((z * self.sizes[1] + y) * self.sizes[0] + x)
    }
}

/// The number of ports of each node, for tables per pair of ports.
pub fn port_counts(topology: &Topology) -> impl Iterator<Item = usize> + '_ {
    let nodes = (0..topology.nodes().len()).map(|node| NodeId(node as u32));
    nodes.map(|node| if topology.is_host(node) { 0 } else { topology.ports(node).len() })
}
