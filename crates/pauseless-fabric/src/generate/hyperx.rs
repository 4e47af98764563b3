//! HyperX of Ahn, Binkert, Davis, McLaren and Schreiber (SC 2009).

use pauseless_core::id::NodeId;

use super::size::{product, sum};
use super::{Numbers, Shape, Size, SizeError, Wiring};

/// A grid of switches in which every switch is joined to all others of each of its rows.
///
/// With sides of two it is a hypercube, with one dimension a full mesh. Switches are named and
/// numbered as those of a [`Torus`](super::Torus), and host Hn is on switch n / `hosts_per_switch`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HyperX {
    /// X, Y and Z, each at least one. A dimension of one has no links.
    pub dimensions: [u32; 3],
    /// The hosts of each switch; at least one.
    pub hosts_per_switch: u32,
    /// Parallel links between two switches of a row; at least one.
    pub links_per_pair: u32,
}

impl Shape for HyperX {
    fn size(&self) -> Size {
        let switches = product(self.dimensions);
        let hosts = switches.saturating_mul(self.hosts_per_switch.into());
        let others = sum(self.dimensions.map(|side| u64::from(side.saturating_sub(1))));
        let joined = others.saturating_mul(self.links_per_pair.into());
        Size {
            hosts,
            switches,
            links: sum([hosts, switches.saturating_mul(joined) / 2]),
            ports: sum([self.hosts_per_switch.into(), joined]),
        }
    }

    fn check(&self) -> Result<(), SizeError> {
        let hyperx = Numbers("a HyperX");
        hyperx.positive(&self.dimensions.map(|side| ("dimensions", side)))?;
        hyperx.positive(&[
            ("hosts_per_switch", self.hosts_per_switch),
            ("links_per_pair", self.links_per_pair),
        ])
    }

    /// Adds the links along x, then those along y and z; the ports have the same order.
    fn draw(&self, wiring: &mut Wiring) {
        wiring.points(self.dimensions, self.hosts_per_switch);
        let [x, y, z] = self.dimensions;
        for (length, step) in [(x, 1), (y, x), (z, x * y)] {
            for n in 0..x * y * z {
                let further = n / step % length + 1..length;
                let others = (1..).zip(further).map(|(ahead, _)| NodeId(n + ahead * step));
                let others = Vec::from_iter(others);
                wiring.join_all(&[NodeId(n)], &others, self.links_per_pair);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::LinkSpecs;
    use super::*;
    use crate::topology::{LinkSpec, Topology};
    use pauseless_core::unit::{Rate, Span};

    fn build(dimensions: [u32; 3], hosts_per_switch: u32, links_per_pair: u32) -> Topology {
        let shape = HyperX { dimensions, hosts_per_switch, links_per_pair };
        let link = LinkSpec { rate: Rate::gbps(10), delay: Span::us(1) };
        let topology = shape.build(LinkSpecs::same(link)).unwrap();
        let ports = topology.switches().iter().map(|switch| topology.ports(*switch).len() as u64);
        let measured = Size {
            hosts: topology.host_count() as u64,
            switches: topology.switches().len() as u64,
            links: topology.links().len() as u64,
            ports: ports.max().unwrap(),
        };
        assert_eq!(shape.size(), measured, "{shape:?}");
        topology
    }

    /// The most links between two switches.
    fn diameter(topology: &Topology) -> usize {
        let switches = topology.switches();
        let furthest = switches.iter().map(|start| {
            let mut steps = vec![None; switches.len()];
            steps[start.index()] = Some(0);
            let mut queue = vec![*start];
            let mut at = 0;
            while let Some(&node) = queue.get(at) {
                let next = steps[node.index()].map(|step: usize| step + 1);
                for peer in topology.neighbours(node) {
                    if !topology.is_host(peer) && steps[peer.index()].is_none() {
                        steps[peer.index()] = next;
                        queue.push(peer);
                    }
                }
                at += 1;
            }
            steps.into_iter().map(|step| step.expect("all are connected")).max().unwrap()
        });
        furthest.max().unwrap()
    }

    #[test]
    fn sizes_and_diameters() {
        // Sides, hosts, links of a pair; hosts, switches and links in all; the diameter.
        let cases = [
            ([1, 1, 1], 2, 1, [2, 1, 2], 0),
            ([5, 1, 1], 1, 1, [5, 5, 5 + 10], 1),
            ([4, 3, 1], 2, 1, [24, 12, 24 + 18 + 12], 2),
            ([4, 3, 1], 2, 3, [24, 12, 24 + 54 + 36], 2),
            ([2, 2, 2], 1, 1, [8, 8, 8 + 12], 3),
            ([4, 4, 4], 4, 1, [256, 64, 256 + 3 * 96], 3),
        ];
        for (dimensions, hosts, pairs, expected, furthest) in cases {
            let topology = build(dimensions, hosts, pairs);
            let switches = topology.switches().len();
            let found = [topology.host_count(), switches, topology.links().len()];
            assert_eq!(found, expected, "{dimensions:?}");
            assert_eq!(diameter(&topology), furthest, "{dimensions:?}");
        }
    }

    #[test]
    fn every_switch_is_joined_to_all_of_its_rows() {
        let topology = build([3, 2, 2], 1, 1);
        let neighbours = |name: &str| {
            let node = topology.node_named(name).unwrap();
            topology.neighbour_names(node).join(",")
        };
        assert_eq!(neighbours("S0_0_0"), "H0,S1_0_0,S2_0_0,S0_1_0,S0_0_1");
        assert_eq!(neighbours("S1_1_1"), "H10,S0_1_1,S2_1_1,S1_0_1,S1_1_0");
    }

    #[test]
    fn sides_and_products_are_limited() {
        let error = |dimensions| {
            let shape = HyperX { dimensions, hosts_per_switch: 1, links_per_pair: 1 };
            let link = LinkSpec { rate: Rate::gbps(10), delay: Span::us(1) };
            let error = shape.build(LinkSpecs::same(link)).unwrap_err();
            error.to_string()
        };
        assert_eq!(
            error([4, 0, 1]),
            "dimensions of a HyperX: 0 is not in the range from 1 to 1024"
        );
        assert_eq!(
            error([1024, 1024, 1]),
            "too large: it would have 1073741824 links, and 2097152 are the most"
        );
    }
}
