//! Torus and mesh in two or three dimensions.

use pauseless_core::id::NodeId;

use super::size::{product, sum};
use super::{Numbers, Shape, Size, SizeError, Wiring};
use crate::routing::Dimensions;

/// A grid of switches whose rows close to rings.
///
/// The switch at x, y, z has the id (z Y + y) X + x, on which dimension-order routing relies, and
/// the name Sx_y_z, or Sx_y where Z is 1. Host Hn is on switch n / `hosts_per_switch`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Torus {
    /// X, Y and Z, each at least one. A dimension of one has no links, and one of two has a
    /// single link between its two switches.
    pub dimensions: [u32; 3],
    /// The hosts of each switch; at least one.
    pub hosts_per_switch: u32,
}

/// A grid of switches: a torus without the links that close the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mesh {
    /// X, Y and Z, each at least one.
    pub dimensions: [u32; 3],
    /// The hosts of each switch; at least one.
    pub hosts_per_switch: u32,
}

impl Shape for Torus {
    fn size(&self) -> Size {
        let links = |n| if n < 3 { u32::saturating_sub(n, 1) } else { n };
        grid_size(self.dimensions, self.hosts_per_switch, links)
    }

    fn check(&self) -> Result<(), SizeError> {
        let torus = Numbers("a torus");
        torus.positive(&self.dimensions.map(|n| ("dimensions", n)))?;
        torus.positive(&[("hosts_per_switch", self.hosts_per_switch)])
    }

    fn draw(&self, wiring: &mut Wiring) {
        wiring.grid(self.dimensions, self.hosts_per_switch, Ends::Joined);
    }

    fn dimensions(&self) -> Option<Dimensions> {
        Some(Dimensions { sizes: self.dimensions, wraps: true })
    }
}

impl Shape for Mesh {
    fn size(&self) -> Size {
        let links = |n| u32::saturating_sub(n, 1);
        grid_size(self.dimensions, self.hosts_per_switch, links)
    }

    fn check(&self) -> Result<(), SizeError> {
        let mesh = Numbers("a mesh");
        mesh.positive(&self.dimensions.map(|n| ("dimensions", n)))?;
        mesh.positive(&[("hosts_per_switch", self.hosts_per_switch)])
    }

    fn draw(&self, wiring: &mut Wiring) {
        wiring.grid(self.dimensions, self.hosts_per_switch, Ends::Open);
    }

    fn dimensions(&self) -> Option<Dimensions> {
        Some(Dimensions { sizes: self.dimensions, wraps: false })
    }
}

/// The size of a grid; `links` is the number of links of a row with this many switches.
fn grid_size(dimensions: [u32; 3], hosts_per_switch: u32, links: impl Fn(u32) -> u32) -> Size {
    let switches = product(dimensions);
    let hosts = switches.saturating_mul(hosts_per_switch.into());
    let along =
        |n: u32| switches.checked_div(n.into()).unwrap_or(0).saturating_mul(links(n).into());
    // In a row of three or more the ones in the middle have two neighbours.
    let neighbours = dimensions.map(|n| u64::from(n.clamp(1, 3) - 1));
    let [x, y, z] = dimensions.map(along);
    Size {
        hosts,
        switches,
        links: sum([hosts, x, y, z]),
        ports: sum(neighbours) + u64::from(hosts_per_switch),
    }
}

/// Whether the two ends of a row are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    Joined,
    Open,
}

impl Wiring {
    /// Adds a switch for each point of a grid, named and numbered as those of a [`Torus`], with
    /// its hosts.
    pub(super) fn points(&mut self, [x, y, z]: [u32; 3], hosts_per_switch: u32) {
        let name = |n: u32| match z {
            1 => format!("S{}_{}", n % x, n / x),
            _ => format!("S{}_{}_{}", n % x, n / x % y, n / x / y),
        };
        let switches = self.row(1, x * y * z, name);
        self.attach_all(&switches, hosts_per_switch);
    }

    /// Adds the links along x, then those along y and z; the ports have the same order.
    fn grid(&mut self, dimensions: [u32; 3], hosts_per_switch: u32, ends: Ends) {
        self.points(dimensions, hosts_per_switch);
        let [x, y, z] = dimensions;
        for (length, step) in [(x, 1), (y, x), (z, x * y)] {
            for n in 0..x * y * z {
                let at = n / step % length;
                let next = if at + 1 < length {
                    n + step
                } else if ends == Ends::Open || length < 3 {
                    // The single link of two switches has been made from the other end.
                    continue;
                } else {
                    n - at * step
                };
                self.link(NodeId(n), NodeId(next));
            }
        }
    }
}
