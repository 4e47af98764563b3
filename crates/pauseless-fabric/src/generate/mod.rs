//! The shapes that papers and operators use, by size.

mod chain;
mod dragonfly;
mod grid;
mod random;
mod size;
mod tree;

use pauseless_core::id::NodeId;

use crate::builder::TopologyBuilder;
use crate::topology::{LinkSpec, Topology};

pub use dragonfly::Dragonfly;
pub use grid::Grid;
pub use random::RandomRegular;
pub use size::{Size, SizeError};
pub use tree::{LeafSpine, RailOptimised, ThreeTierClos};

/// A shape of fabric with its size. Switches come before hosts, and at each switch the ports to
/// hosts come first, then those to the layer above or to the next switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Switches S1.. in a circle. The host of S1 is H1; if there are several they are H1a, H1b..
    Ring {
        /// At least three.
        switches: u32,
        /// At least one.
        hosts_per_switch: u32,
    },
    /// Switches S1.. in a row, with hosts named as those of a ring.
    Line {
        /// At least one.
        switches: u32,
        /// At least one.
        hosts_per_switch: u32,
    },
    /// Hosts X1.. on SW0, hosts Y1.. on SW1, and one link between the two.
    Dumbbell {
        /// At least one.
        left: u32,
        /// At least one.
        right: u32,
    },
    /// Hosts H1.. and the sink R on the switch S1.
    NToOne {
        /// At least one.
        senders: u32,
    },
    /// Switches X0.. in a row of `links` links, which A0 to B0 crosses from end to end while each
    /// of A1 to B1, A2 to B2.. crosses one: Ai is on the switch before link i, Bi behind it.
    ParkingLot {
        /// At least one.
        links: u32,
    },
    /// Edges E1.., aggregations A1.., cores C1.. and hosts H0.., of which `k` cubed over four.
    FatTree {
        /// The number of ports of each switch: even, from 2 to 64.
        k: u32,
    },
    /// Leaves L0.., each joined to every one of the spines S0..
    LeafSpine(LeafSpine),
    /// Pods of top-of-rack switches T0.. and leaves L0.., each leaf joined to every spine S0..
    ThreeTierClos(ThreeTierClos),
    /// Servers with a NIC for each rail, N0r0.., and a switch for each rail of a block, B0r0..
    RailOptimised(RailOptimised),
    /// Fully connected groups of routers G0R0.., and every group joined to every other one.
    Dragonfly(Dragonfly),
    /// A grid of switches whose rows close to rings.
    Torus(Grid),
    /// A grid of switches.
    Mesh(Grid),
    /// Switches S0.. that are joined at random, each to equally many others.
    RandomRegular(RandomRegular),
}

/// The links of a generated fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSpecs {
    /// Between a host and its switch.
    pub host: LinkSpec,
    /// Between two switches.
    pub switch: LinkSpec,
}

impl LinkSpecs {
    /// The same for all links.
    pub const fn same(spec: LinkSpec) -> LinkSpecs {
        LinkSpecs {
            host: spec,
            switch: spec,
        }
    }
}

impl Shape {
    /// The fabric of this shape, or what is wrong with its size.
    pub fn build(self, links: LinkSpecs) -> Result<Topology, SizeError> {
        self.check()?;
        let mut build = Build {
            nodes: TopologyBuilder::new(),
            links,
        };
        match self {
            Shape::Ring {
                switches,
                hosts_per_switch,
            } => build.ring(switches, hosts_per_switch),
            Shape::Line {
                switches,
                hosts_per_switch,
            } => {
                build.chain(switches, hosts_per_switch);
            }
            Shape::Dumbbell { left, right } => build.dumbbell(left, right),
            Shape::NToOne { senders } => build.n_to_one(senders),
            Shape::ParkingLot { links } => build.parking_lot(links),
            Shape::FatTree { k } => build.fat_tree(k),
            Shape::LeafSpine(shape) => build.leaf_spine(shape),
            Shape::ThreeTierClos(shape) => build.three_tier_clos(shape),
            Shape::RailOptimised(shape) => build.rail_optimised(shape),
            Shape::Dragonfly(shape) => build.dragonfly(shape),
            Shape::Torus(grid) => build.grid(grid, grid::Ends::Joined),
            Shape::Mesh(grid) => build.grid(grid, grid::Ends::Open),
            Shape::RandomRegular(shape) => build.random_regular(shape),
        }
        Ok(build
            .nodes
            .build()
            .expect("a generator makes only valid fabrics"))
    }
}

/// A fabric in the making.
struct Build {
    nodes: TopologyBuilder,
    links: LinkSpecs,
}

impl Build {
    /// One link between two switches.
    fn link(&mut self, a: NodeId, b: NodeId) {
        self.nodes.connect(a, b, self.links.switch);
    }

    /// Links from each of `below` to each of `above`, `parallel` at a time.
    fn join_all(&mut self, below: &[NodeId], above: &[NodeId], parallel: u32) {
        for &a in below {
            for &b in above {
                for _ in 0..parallel {
                    self.link(a, b);
                }
            }
        }
    }

    /// `count` switches of one layer, named by their number.
    fn row(&mut self, layer: u8, count: u32, name: impl Fn(u32) -> String) -> Vec<NodeId> {
        let numbers = 0..count;
        numbers
            .map(|n| self.nodes.add_switch_at(layer, name(n)))
            .collect()
    }

    /// One host.
    fn attach(&mut self, switch: NodeId, name: String) {
        let host = self.nodes.add_host(name);
        self.nodes.connect(switch, host, self.links.host);
    }

    /// Hosts H0.., the first `per_switch` of them on the first of `switches`, and so on.
    fn attach_all(&mut self, switches: &[NodeId], per_switch: u32) {
        let mut number = 0;
        for &switch in switches {
            for _ in 0..per_switch {
                self.attach(switch, format!("H{number}"));
                number += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod wiring_tests;
