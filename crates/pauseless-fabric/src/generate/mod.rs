//! The shapes that papers and operators use, by size.

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

use crate::builder::TopologyBuilder;
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
    /// How large the fabric would be, whether or not the size is possible.
    fn size(&self) -> Size;

    /// Whether each number is possible; their product is looked at by [`Shape::build`].
    fn check(&self) -> Result<(), SizeError>;

    /// Adds all nodes and links. The size has been checked.
    fn draw(&self, build: &mut Build);

    /// What dimension-order routing needs to know, for shapes that have dimensions. Their switches
    /// are numbered as [`Dimensions`] says.
    fn dimensions(&self) -> Option<Dimensions> {
        None
    }

    /// The fabric of this shape, or what is wrong with its size.
    fn build(&self, links: LinkSpecs) -> Result<Topology, SizeError> {
        self.check()?;
        self.size().check()?;
        let mut build = Build {
            nodes: TopologyBuilder::new(),
            links,
        };
        self.draw(&mut build);
        let topology = build.nodes.build();
        Ok(topology.expect("a generator makes only valid fabrics"))
    }
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

/// A fabric in the making.
#[derive(Debug)]
pub struct Build {
    nodes: TopologyBuilder,
    links: LinkSpecs,
}

impl Build {
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
        numbers
            .map(|n| self.nodes.add_switch_at(layer, name(n)))
            .collect()
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
