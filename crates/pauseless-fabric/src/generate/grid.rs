//! Torus and mesh in two or three dimensions.

use pauseless_core::id::NodeId;

use super::Wiring;

/// The size of a torus or mesh.
///
/// The switch at x, y, z has the id (z Y + y) X + x, on which dimension-order routing relies, and
/// the name Sx_y_z, or Sx_y where Z is 1. Host Hn is on switch n / `hosts_per_switch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// X, Y and Z, each at least one. A dimension of one has no links, and one of two has a
    /// single link between its two switches, in a torus as well.
    pub dimensions: [u32; 3],
    /// At least one.
    pub hosts_per_switch: u32,
}

/// What becomes of the two ends of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    Joined,
    Open,
}

impl Wiring {
    /// The links along x come first, then those along y and z, and so do the ports.
    pub(super) fn grid(&mut self, grid: Grid, ends: Ends) {
        let [x, y, z] = grid.dimensions;
        let name = |n: u32| match z {
            1 => format!("S{}_{}", n % x, n / x),
            _ => format!("S{}_{}_{}", n % x, n / x % y, n / x / y),
        };
        let switches = self.row(1, x * y * z, name);
        self.attach_all(&switches, grid.hosts_per_switch);
        for (length, step) in [(x, 1), (y, x), (z, x * y)] {
            for n in 0..x * y * z {
                let at = n / step % length;
                let next = match at + 1 == length {
                    false => n + step,
                    // The single link of two switches has been made from the other end.
                    true if ends == Ends::Open || length < 3 => continue,
                    true => n - at * step,
                };
                self.link(NodeId(n), NodeId(next));
            }
        }
    }
}
