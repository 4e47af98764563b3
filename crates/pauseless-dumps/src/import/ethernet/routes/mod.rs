//! The routes of switches: FRR, the kernel, BGP's table and Batfish. Those of SONiC's APPL_DB are
//! read with the rest of that database.
//!
//! Only what forwards is kept: of FRR the routes that are installed, of the kernel those with the
//! lowest metric, and of ECMP sets every next hop with its weight.

pub mod batfish;
pub mod bgp;
mod fields;
pub mod frr;
pub mod kernel;
mod prefix;
#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::ops::Range;

pub(super) use self::fields::{Fields, prefix};
pub use self::prefix::{Family, Prefix};

use super::wiring::Skipped;

/// The routes of one switch in one VRF, as far as a file has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteTable {
    /// The name of the switch, if the file has it.
    pub node: Option<String>,
    /// The name of the VRF; that without a name is `default`.
    pub vrf: String,
    /// The routes, in the order of the file; no two have the same prefix.
    pub routes: Vec<Route>,
    /// What the file has and forwarding has not, such as a route that is not installed.
    pub skipped: Vec<Skipped>,
}

/// Where the packets for some addresses go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The addresses that the route is for.
    pub prefix: Prefix,
    /// Where packets for these addresses go.
    pub target: Target,
    /// The place of the route in the file.
    pub at: Range<usize>,
}

/// A place to which a switch sends packets, or the lack of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// To one of these, at least one.
    Hops(Vec<NextHop>),
    /// To whoever has the address, out of this interface; `None` if the file does not name it.
    Connected(Option<String>),
    /// To the switch itself, which has the address.
    Local,
    /// Nowhere: they are dropped on purpose.
    Discard,
}

/// One of the next hops of a route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextHop {
    /// The address of the neighbour.
    pub address: Option<IpAddr>,
    /// The interface that leads there.
    pub interface: Option<String>,
    /// Its share beside those of the other next hops, at least 1.
    pub weight: u32,
}

/// The VRF of routes that name none.
pub const DEFAULT_VRF: &str = "default";

impl RouteTable {
    /// A table without routes.
    pub fn new(node: Option<String>, vrf: impl Into<String>) -> RouteTable {
        RouteTable { node, vrf: vrf.into(), routes: Vec::new(), skipped: Vec::new() }
    }
}

/// The table of this switch and VRF, which is added if there is none.
fn table_of<'a>(
    tables: &'a mut Vec<RouteTable>,
    node: Option<&str>,
    vrf: &str,
) -> &'a mut RouteTable {
    let is_it = |table: &RouteTable| table.node.as_deref() == node && table.vrf == vrf;
    let number = tables.iter().rposition(is_it).unwrap_or_else(|| {
        tables.push(RouteTable::new(node.map(str::to_string), vrf));
        tables.len() - 1
    });
    &mut tables[number]
}
