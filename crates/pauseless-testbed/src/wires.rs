//! The wires of a testbed: rings in memory, or veth pairs between network namespaces.

use std::io;
use std::str::FromStr;

use pauseless_dataplane::link::{self, Link, memory};
use pauseless_dataplane::net::{self, Namespace};

use super::plan::NodePlan;
use pauseless_text::named;

named! {
    /// What the frames of a testbed travel over.
    #[derive(Default)]
    pub enum Backend {
        /// AF_PACKET on veth pairs.
        #[default]
        Packet = "packet",
        /// AF_XDP on veth pairs.
        Xdp = "xdp",
        /// Rings in memory: the same frames without the kernel, for which nobody needs a privilege.
        Memory = "memory",
    }
}

impl FromStr for Backend {
    type Err = String;

    fn from_str(text: &str) -> Result<Backend, String> {
        let all = [Backend::Packet, Backend::Xdp, Backend::Memory];
        let found = all.into_iter().find(|backend| backend.name() == text);
        found.ok_or_else(|| "expected packet, xdp, memory".to_string())
    }
}

/// The wires of a network, laid.
pub struct Wires {
    /// One element per node and port.
    pub links: Vec<Vec<Box<dyn Link>>>,
    /// One element per node, or none; they are gone when nobody holds them.
    pub namespaces: Vec<Namespace>,
}

/// Lays the wires between `plans`.
pub fn lay(plans: &[NodePlan], backend: Backend) -> io::Result<Wires> {
    let backend = match backend {
        Backend::Memory => {
            return Ok(Wires { links: in_memory(plans), namespaces: Vec::new() });
        }
        Backend::Packet => link::Backend::Packet,
        Backend::Xdp => link::Backend::Xdp,
    };
    let namespaces = namespaces(plans)?;
    let mut links = Vec::new();
    for (plan, namespace) in plans.iter().zip(&namespaces) {
        let mut ports = Vec::new();
        for port in 0..plan.peers.len() {
            let interface = interface(plan, port);
            let opened = namespace.enter(|| link::open(&interface, backend))?;
            let named = |error: io::Error| {
                let name = &plan.config.common().name;
                io::Error::new(error.kind(), format!("{name}, interface {interface}: {error}"))
            };
            ports.push(opened.map_err(named)?.link);
        }
        links.push(ports);
    }
    Ok(Wires { links, namespaces })
}

/// A namespace per node with veth pairs between them.
pub fn namespaces(plans: &[NodePlan]) -> io::Result<Vec<Namespace>> {
    let namespaces = plans.iter().map(|_| Namespace::new());
    let namespaces = namespaces.collect::<io::Result<Vec<Namespace>>>()?;
    for ((node, port), (peer, peer_port)) in cables(plans) {
        let here = interface(&plans[node], port);
        let there = interface(&plans[peer], peer_port);
        net::veth(namespaces[node].end(here.as_str()), namespaces[peer].end(there.as_str()))?;
    }
    Ok(namespaces)
}

fn in_memory(plans: &[NodePlan]) -> Vec<Vec<Box<dyn Link>>> {
    let mut places: Vec<Vec<Option<Box<dyn Link>>>> = Vec::new();
    for plan in plans {
        places.push(plan.peers.iter().map(|_| None).collect());
    }
    for ((node, port), (peer, peer_port)) in cables(plans) {
        let (here, there) = memory::pair(MEMORY_DEPTH);
        places[node][port] = Some(Box::new(here));
        places[peer][peer_port] = Some(Box::new(there));
    }
    let laid = |place: Option<Box<dyn Link>>| place.expect("every port has a cable");
    places.into_iter().map(|ports| ports.into_iter().map(laid).collect()).collect()
}

/// A port of a node, both by number.
type End = (usize, usize);

/// Both ends of every cable, each once.
fn cables(plans: &[NodePlan]) -> Vec<(End, End)> {
    let mut cables = Vec::new();
    for (node, plan) in plans.iter().enumerate() {
        for (port, (peer, peer_port)) in plan.peers.iter().enumerate() {
            let (here, there) = ((node, port), (peer.index(), peer_port.index()));
            if here < there {
                cables.push((here, there));
            }
        }
    }
    cables
}

/// What the interface of a port is called in the namespace of its node: as its neighbour, where Linux
/// lets it.
pub fn interface(plan: &NodePlan, port: usize) -> String {
    let neighbours = &plan.config.common().neighbours;
    let name = &neighbours[port];
    let is_only = neighbours.iter().filter(|it| *it == name).count() == 1;
    let is_plain = name.chars().all(|char| char.is_ascii_alphanumeric());
    let is_taken = ["lo", "all", "default"].contains(&name.as_str());
    if is_only && is_plain && !is_taken && (1..=NAME_MAX).contains(&name.len()) {
        name.clone()
    } else {
        format!("port{port}")
    }
}

/// IFNAMSIZ without the zero at the end.
const NAME_MAX: usize = 15;

/// The frames that a link in memory holds: more than one sends in one tick, however late it is.
const MEMORY_DEPTH: usize = 4_096;
