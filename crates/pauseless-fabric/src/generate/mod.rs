//! The shapes that papers and operators use, by size.
//!
//! # A shape of another crate
//!
//! Whatever comes after a generator reads a [`Topology`]: routing, analyser, simulator and reports know
//! nothing of shapes, but for dimension-order routing, which asks for the dimensions of a grid. So a
//! shape of another crate implements [`Shape`], or is a function that makes a [`Topology`], with the
//! helpers that the shapes here are made with: [`Wiring`] names nodes, puts switches into layers (the
//! height in a tree, by which results are grouped) and joins them. [`Size::check`] refuses what is too
//! large before it is built.
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
mod hyperx;
mod random;
mod size;
mod tree;

use std::any::Any;
use std::fmt::Debug;

use pauseless_core::id::NodeId;

use crate::builder::{TopologyBuilder, TopologyError};
use crate::routing::Dimensions;
use crate::topology::{LinkSpec, Topology};

pub use chain::{Dumbbell, Line, NToOne, ParkingLot, Ring};
pub use dragonfly::Dragonfly;
pub use grid::{Mesh, Torus};
pub use hyperx::HyperX;
pub use random::RandomRegular;
pub use size::{Numbers, Size, SizeError};
pub use tree::{FatTree, LeafSpine, RailOptimised, ThreeTierClos};

/// A shape of fabric with its size.
///
/// Switches come before hosts, and at each switch the ports to hosts come first, then those to the
/// layer above or to the next switch. A new shape is a struct of its numbers that implements this.
pub trait Shape: Any + Debug + Send + Sync {
    /// The size of the fabric, whether or not it is possible.
    fn size(&self) -> Size;

    /// Checks each number; [`Shape::build`] checks their product.
    fn check(&self) -> Result<(), SizeError>;

    /// Adds all nodes and links. The size has been checked.
    fn draw(&self, wiring: &mut Wiring);

    /// The dimensions, for dimension-order routing; `None` for shapes without. The switches are
    /// numbered as [`Dimensions`] says.
    fn dimensions(&self) -> Option<Dimensions> {
        None
    }

    /// Builds the fabric of this shape, or says what is wrong with its size.
    fn build(&self, links: LinkSpecs) -> Result<Topology, SizeError> {
        self.check()?;
        self.size().check()?;
        let mut wiring = Wiring::new(links);
        self.draw(&mut wiring);
        Ok(wiring.build().expect("a generator makes only valid fabrics"))
    }
}

/// The rates and delays of the links of a generated fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSpecs {
    /// The links between hosts and switches.
    pub host: LinkSpec,
    /// The links between two switches.
    pub switch: LinkSpec,
}

impl LinkSpecs {
    /// The same rate and delay for all links.
    pub const fn same(spec: LinkSpec) -> LinkSpecs {
        LinkSpecs { host: spec, switch: spec }
    }
}

/// A fabric under construction, with one kind of link to hosts and one between switches.
#[derive(Clone, Debug)]
pub struct Wiring {
    nodes: TopologyBuilder,
    links: LinkSpecs,
}

impl Wiring {
    /// A fabric without nodes, whose links will have these rates and delays.
    pub fn new(links: LinkSpecs) -> Wiring {
        Wiring { nodes: TopologyBuilder::new(), links }
    }

    /// Builds the fabric, or reports the first thing that is wrong with it.
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

    /// Adds `count` switches of one layer, named by their number.
    pub fn row(&mut self, layer: u8, count: u32, name: impl Fn(u32) -> String) -> Vec<NodeId> {
        let numbers = 0..count;
        numbers.map(|n| self.nodes.add_switch_at(layer, name(n))).collect()
    }

    /// Adds one host on `switch`.
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
