//! Packets that a standby switch sends on to the active one: dual ToR.
//!
//! A server is cabled to two switches, of which one is active. The fabric may send a packet to
//! the other one, which puts it into a tunnel: it goes up again to a leaf, and from there down
//! to the active switch. Without a priority of its own for such packets the two directions of
//! tunnels close a cycle; the maps of the tunnel give them one (3 becomes 2, 4 becomes 6).
//!
//! Not modelled: a packet that goes up to the very leaf that it came from, since the table would
//! need two next hops there for one address. Where there is a second leaf, tunnels in both
//! directions close the cycle through that one too; where there is none, a note says so.

use pauseless_text::quantity::counted;
use std::collections::{BTreeMap, BTreeSet};

use pauseless_core::class_map::{ClassMap, ClassTable, Key, LANE_COUNT, Passage};
use pauseless_core::id::{GroupId, NodeId, PortId};
use pauseless_fabric::routing::{Routes, port_counts};
use pauseless_fabric::topology::Topology;

use super::classes::Rows;
use super::roles::Role;
use super::site::{Ends, Site};
use super::{Tunnels, some};
use crate::import::ethernet::sonic::{MapKind, SwitchConfig};
use pauseless_fabric::fabric::Fabric;

/// A server that two switches with a tunnel share.
#[derive(Clone, Copy)]
struct Shared {
    /// The server's port at the active switch.
    active: NodeId,
    /// The server's port at the standby switch.
    standby: NodeId,
}

/// Adds an address for each way through a tunnel, and returns what tunnels make of priorities.
pub(super) fn add(site: &Site, ends: &Ends, fabric: &mut Fabric, tunnels: Tunnels) -> Rows {
    let with_tunnel = switches_with_tunnels(site, ends);
    if with_tunnel.is_empty() {
        return Rows::new();
    }
    let pairs = shared_servers(site, ends, &fabric.topology, &with_tunnel);
    let reason = match tunnels {
        Tunnels::LeftOut => Some(LEFT_OUT),
        Tunnels::Bounced if pairs.is_empty() => Some(NOT_SHARED),
        Tunnels::Bounced if with_tunnel.keys().any(|node| turns(fabric, *node)) => Some(TURNS),
        Tunnels::Bounced => None,
    };
    if let Some(reason) = reason {
        note(fabric, &with_tunnel, reason);
        return Rows::new();
    }
    let mut leaf_counts = Vec::new();
    for ((active, standby), shared) in pairs {
        let bounce = Bounce { active, standby, shared };
        leaf_counts.push(bounce.add(&fabric.topology, &mut fabric.routes));
    }
    if leaf_counts.iter().any(|leaves| *leaves < 2) {
        note(fabric, &with_tunnel, FEW_LEAVES);
    }
    let rows: Rows = with_tunnel.iter().map(|(node, config)| (*node, row(config))).collect();
    fabric.classes = ClassMap::Table(class_table(&fabric.topology, &rows));
    rows
}

fn note(fabric: &mut Fabric, with_tunnel: &BTreeMap<NodeId, &SwitchConfig>, what: &str) {
    let names = with_tunnel.keys().map(|node| fabric.topology.node(*node).name.clone());
    let names = Vec::from_iter(names);
    let switches = counted(names.len(), "switch");
    fabric.notes.push(format!("{switches} with a tunnel ({}): {what}", some(&names)));
}

fn switches_with_tunnels<'d>(site: &Site<'d>, ends: &Ends) -> BTreeMap<NodeId, &'d SwitchConfig> {
    let cables = site.cables.iter().flatten().zip(ends.iter().flatten());
    let with_tunnel = cables.filter_map(|(end, (node, _))| {
        let config = site.nodes[end.node].config?;
        (!config.tunnels.is_empty()).then_some((*node, config))
    });
    with_tunnel.collect()
}

/// A server for each pair of switches with tunnels, in both directions: either may be active.
fn shared_servers(
    site: &Site,
    ends: &Ends,
    topology: &Topology,
    with_tunnel: &BTreeMap<NodeId, &SwitchConfig>,
) -> BTreeMap<(NodeId, NodeId), Shared> {
    let mut servers: BTreeMap<usize, Vec<NodeId>> = BTreeMap::new();
    let cables = site.cables.iter().flatten().zip(ends.iter().flatten());
    for (end, (host, _)) in cables {
        if site.nodes[end.node].role == Role::Host {
            servers.entry(end.node).or_default().push(*host);
        }
    }
    let switch_of = |host: NodeId| topology.ports(host)[0].peer;
    let mut pairs = BTreeMap::new();
    for hosts in servers.values() {
        for &active in hosts {
            for &standby in hosts {
                let pair = (switch_of(active), switch_of(standby));
                let both = [pair.0, pair.1].iter().all(|node| with_tunnel.contains_key(node));
                if pair.0 != pair.1 && both {
                    pairs.entry(pair).or_insert(Shared { active, standby });
                }
            }
        }
    }
    pairs
}

/// Whether ordinary routes come down to `switch` and go up again.
fn turns(fabric: &Fabric, switch: NodeId) -> bool {
    let Fabric { topology, routes, .. } = fabric;
    let leads_here = |node: NodeId, group: GroupId| {
        let hops = routes.table.next_hops(node, group).iter();
        hops.into_iter().any(|port| topology.port(node, *port).peer == switch)
    };
    let above = topology.neighbours(switch).into_iter();
    let above = Vec::from_iter(above.filter(|node| !topology.is_host(*node)));
    let mut seen = BTreeSet::new();
    topology.hosts().iter().any(|host| {
        let group = routes.groups.of_host(*host);
        let is_below = topology.ports(*host)[0].peer == switch;
        let is_new = seen.insert(routes.table.way(group).index());
        is_new && !is_below && above.iter().any(|node| leads_here(*node, group))
    })
}

struct Bounce {
    active: NodeId,
    standby: NodeId,
    shared: Shared,
}

impl Bounce {
    /// Adds an address per leaf above both: everybody sends to the standby switch, which sends
    /// to the leaf, which sends to the active one. Returns how many there are.
    fn add(&self, topology: &Topology, routes: &mut Routes) -> usize {
        let leaves = topology.neighbours(self.standby).into_iter().filter(|leaf| {
            let mut below = topology.ports_towards(*leaf, self.active);
            !topology.is_host(*leaf) && below.next().is_some()
        });
        let leaves = Vec::from_iter(leaves);
        let down = routes.groups.of_host(self.shared.standby);
        let exit = topology.ports(self.shared.active)[0].peer_port;
        for &leaf in &leaves {
            let way = routes.table.add_way();
            for &switch in topology.switches() {
                let hops = match switch {
                    switch if switch == self.active => Vec::new(),
                    switch if switch == self.standby => {
                        topology.ports_towards(switch, leaf).collect()
                    }
                    switch if switch == leaf => topology.ports_towards(leaf, self.active).collect(),
                    switch => routes.table.next_hops(switch, down).to_vec(),
                };
                routes.table.set_way(switch, way, &hops);
            }
            routes.table.add_group(way, Some((self.active, exit)));
            routes.groups.add_address(self.shared.active);
        }
        leaves.len()
    }
}

/// The priority in which packets of each priority leave by the tunnel: the number of the queue,
/// to which PFC gives the same number.
fn row(config: &SwitchConfig) -> [u8; LANE_COUNT] {
    let mut row = std::array::from_fn(|class| class as u8);
    let kind = MapKind::TcToQueue;
    let names = config.tunnels.values().filter_map(|tunnel| tunnel.encap.get(&kind));
    let maps = names.filter_map(|name| config.maps.get(&(kind, name.clone())));
    for (from, to) in maps.take(1).flat_map(|map| &map.entries) {
        if usize::from(*from) < LANE_COUNT && usize::from(*to) < LANE_COUNT {
            row[usize::from(*from)] = *to;
        }
    }
    row
}

/// The rows, for packets that come from a switch and go to a switch.
fn class_table(topology: &Topology, rows: &Rows) -> ClassTable {
    let mut table = ClassTable::new(Key::Class, port_counts(topology));
    for (&node, row) in rows {
        let ports = (0..).map(PortId).zip(topology.ports(node));
        let uplinks = ports.filter(|(_, port)| !topology.is_host(port.peer));
        let uplinks = Vec::from_iter(uplinks.map(|(number, _)| number));
        for &ingress in &uplinks {
            for &egress in &uplinks {
                let passage = Passage { node, ingress, egress };
                table.set(passage, *row);
            }
        }
    }
    table
}

const LEFT_OUT: &str = "packets that a standby switch sends on through it are not looked at";
const NOT_SHARED: &str = "no server is cabled to two of them, so that nothing is sent through it";
const FEW_LEAVES: &str = "two of them have fewer than two leaves in common, so that what goes up to \
    the leaf that it came from is not looked at";
const TURNS: &str = "ordinary packets come down to one of them and go up again, from which a class \
    table cannot tell those in the tunnel; those are not looked at";
