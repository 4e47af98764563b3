//! The shapes that papers and operators use, by size.
//!
//! # A shape of another crate
//!
//! Whatever comes after a generator reads a [`Topology`]: routing, analyser, simulator and reports know
//! nothing of shapes, but for dimension-order routing, which asks for the dimensions of a grid. So a
//! shape of another crate is a function that makes a [`Topology`], with the helpers that the shapes here
//! are made with: [`Wiring`] names nodes, puts switches into layers (the height in a tree, by which
//! results are grouped) and joins them. [`Size::check`] refuses what is too large
//! before it is built.
//!
//! ```
//! use pauseless_core::unit::{Rate, Span};
//! use pauseless_fabric::builder::TopologyError;
//! use pauseless_fabric::generate::{LinkSpecs, Size, Wiring};
//! use pauseless_fabric::topology::{LinkSpec, Topology};
//!
//! /// Switches S0.., each joined to every other one, with so many hosts H0.. each.
//! fn full_mesh(switches: u32, hosts: u32, links: LinkSpecs) -> Result<Topology, TopologyError> {
//!     let mut wiring = Wiring::new(links);
//!     let row = wiring.row(1, switches, |n| format!("S{n}"));
//!     wiring.attach_all(&row, hosts);
//!     for (n, &switch) in row.iter().enumerate() {
//!         wiring.join_all(&[switch], &row[n + 1..], 1);
//!     }
//!     wiring.build()
//! }
//!
//! let size = Size { hosts: 8, switches: 4, links: 8 + 6, ports: 2 + 3 };
//! assert_eq!(size.check(), Ok(()));
//! let spec = LinkSpec { rate: Rate::gbps(100), delay: Span::us(1) };
//! let topology = full_mesh(4, 2, LinkSpecs::same(spec))?;
//! assert_eq!((topology.host_count(), topology.links().len()), (8, 14));
//! # Ok::<(), TopologyError>(())
//! ```

mod chain;
mod dragonfly;
mod grid;
mod random;
mod size;
mod tree;

use pauseless_core::id::NodeId;

use crate::builder::{TopologyBuilder, TopologyError};
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
        let mut wiring = Wiring::new(links);
        match self {
            Shape::Ring {
                switches,
                hosts_per_switch,
            } => wiring.ring(switches, hosts_per_switch),
            Shape::Line {
                switches,
                hosts_per_switch,
            } => {
                wiring.chain(switches, hosts_per_switch);
            }
            Shape::Dumbbell { left, right } => wiring.dumbbell(left, right),
            Shape::NToOne { senders } => wiring.n_to_one(senders),
            Shape::ParkingLot { links } => wiring.parking_lot(links),
            Shape::FatTree { k } => wiring.fat_tree(k),
            Shape::LeafSpine(shape) => wiring.leaf_spine(shape),
            Shape::ThreeTierClos(shape) => wiring.three_tier_clos(shape),
            Shape::RailOptimised(shape) => wiring.rail_optimised(shape),
            Shape::Dragonfly(shape) => wiring.dragonfly(shape),
            Shape::Torus(grid) => wiring.grid(grid, grid::Ends::Joined),
            Shape::Mesh(grid) => wiring.grid(grid, grid::Ends::Open),
            Shape::RandomRegular(shape) => wiring.random_regular(shape),
        }
        Ok(wiring
            .build()
            .expect("a generator makes only valid fabrics"))
    }
}

/// A fabric in the making, whose links are all alike: those of hosts, and those between switches.
#[derive(Clone, Debug)]
pub struct Wiring {
    nodes: TopologyBuilder,
    links: LinkSpecs,
}

impl Wiring {
    /// Nothing yet.
    pub fn new(links: LinkSpecs) -> Wiring {
        Wiring {
            nodes: TopologyBuilder::new(),
            links,
        }
    }

    /// The fabric, or the first thing that is wrong with it.
    pub fn build(self) -> Result<Topology, TopologyError> {
        self.nodes.build()
    }

    /// Adds one link between two switches.
    pub fn link(&mut self, a: NodeId, b: NodeId) {
        self.nodes.connect(a, b, self.links.switch);
    }

    /// Adds links from each of `below` to each of `above`, `parallel` at a time.
    pub fn join_all(&mut self, below: &[NodeId], above: &[NodeId], parallel: u32) {
        for &a in below {
            for &b in above {
                for _ in 0..parallel {
                    self.link(a, b);
                }
            }
        }
    }

    /// Adds `count` switches of one layer, named by their number from 0.
    pub fn row(&mut self, layer: u8, count: u32, name: impl Fn(u32) -> String) -> Vec<NodeId> {
        let numbers = 0..count;
        numbers
            .map(|n| self.nodes.add_switch_at(layer, name(n)))
            .collect()
    }

    /// Adds a host on `switch`.
    pub fn attach(&mut self, switch: NodeId, name: String) {
        let host = self.nodes.add_host(name);
        self.nodes.connect(switch, host, self.links.host);
    }

    /// Adds hosts H0.., the first `per_switch` of them on the first of `switches`, and so on.
    pub fn attach_all(&mut self, switches: &[NodeId], per_switch: u32) {
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
