//! All files together: switches, what they are cabled to, and hosts.

mod read;
mod routes;
mod wires;

use pauseless_dumps::import::ethernet::pg_profile::PgProfile;
use pauseless_dumps::import::ethernet::wiring::Endpoint;

use crate::cable::Cable;
use crate::finding::Place;
use crate::host::Host;
use crate::switch::{Port, Switch};

pub use read::{Loaded, is_known};
pub use routes::{Roads, Stray};

/// A table of headroom, `pg_profile_lookup.ini`.
#[derive(Debug)]
pub struct Lookup {
    /// Which file it is.
    pub file: usize,
    /// Its name, in which released files have the SKU.
    pub name: String,
    /// The rows of the table.
    pub rows: Vec<PgProfile>,
}

/// What somebody says about the far end of a port.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The port of which it is said.
    pub near: Endpoint,
    /// What is said to be at its other end.
    pub far: Endpoint,
    /// Who says it, such as `LLDP`.
    pub source: &'static str,
    /// Where it is said.
    pub place: Place,
}

/// A fabric as it is configured.
#[derive(Debug)]
pub struct Fabric<'d> {
    /// The switches in the order of their files.
    pub switches: &'d [Switch<'d>],
    /// The hosts, those without a name last.
    pub hosts: &'d [Host],
    /// The tables of headroom that were given.
    pub lookups: &'d [Lookup],
    /// Cables of which both ends were read.
    pub cables: Vec<Cable<'d>>,
    /// Two sources that disagree about the far end of a port.
    pub disputes: Vec<[Claim; 2]>,
    /// What the routes of the switches do, where files have them.
    pub roads: &'d Roads,
    /// What the reader of a report should know about the files.
    pub notes: Vec<String>,
}

/// A port to which a host is cabled.
#[derive(Clone, Copy, Debug)]
pub struct HostPort<'d> {
    /// The switch that has the port.
    pub switch: &'d Switch<'d>,
    /// The port to the host.
    pub port: &'d Port<'d>,
}

impl<'d> Fabric<'d> {
    /// The ports to which a host is cabled; of one without a name all ports to hosts.
    pub fn ports_of(&self, host: &Host) -> Vec<HostPort<'d>> {
        let mut found = Vec::new();
        for switch in self.switches {
            for port in &switch.ports {
                let is_of = if host.is_named {
                    port.neighbour.is_some_and(|neighbour| neighbour.name.text == host.name)
                } else {
                    switch.faces_host(port) && (port.is_up() || !switch.has_ports)
                };
                if is_of {
                    found.push(HostPort { switch, port });
                }
            }
        }
        found
    }
}
