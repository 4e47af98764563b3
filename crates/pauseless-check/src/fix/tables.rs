//! Forwarding tables as opensm's file engine reads them.

use std::collections::VecDeque;
use std::fmt::Write;

use pauseless_core::id::{GroupId, NodeId, PortId};
use pauseless_fabric::fabric::Fabric;
use pauseless_fabric::routing::Routes;

/// The tables of all switches, to every LID: those of end nodes by `routes`, those of switches,
/// which get management packets only, by a shortest path.
pub(super) fn lfts(fabric: &Fabric, routes: &Routes) -> Result<String, String> {
    let addresses = &fabric.evidence.addresses;
    let mut rows: Vec<Vec<(u16, u16, String)>> = vec![Vec::new(); fabric.topology.nodes().len()];
    for group in routes.groups.addresses() {
        let Some(Some(lid)) = addresses.lids.get(group.index()) else { continue };
        let target = routes.groups.target(group);
        let owner = match addresses.port_guids.get(&target) {
            Some(guid) => {
                format!("Channel Adapter portguid {guid:#018x}: '{}'", name(fabric, target))
            }
            None => format!("'{}'", name(fabric, target)),
        };
        for &switch in fabric.topology.switches() {
            if let Some(port) = next_hop(routes, switch, group) {
                let number = number(fabric, switch, port)?;
                rows[switch.index()].push((*lid, number, owner.clone()));
            }
        }
    }
    for (&target, &lid) in &addresses.switch_lids {
        let owner = format!("Switch '{}'", name(fabric, target));
        rows[target.index()].push((lid, 0, owner.clone()));
        for (switch, port) in towards(fabric, target) {
            rows[switch.index()].push((lid, number(fabric, switch, port)?, owner.clone()));
        }
    }
    let mut text = String::new();
    for &switch in fabric.topology.switches() {
        let guid = fabric.names.device(switch).and_then(|device| device.guid);
        let guid =
            guid.ok_or_else(|| format!("no file has the GUID of switch {}", name(fabric, switch)))?;
        let lid = addresses.switch_lids.get(&switch).copied().unwrap_or(0);
        let rows = &mut rows[switch.index()];
        rows.sort();
        let last = rows.last().map_or(0, |(lid, _, _)| *lid);
        let _ = writeln!(
            text,
            "Unicast lids [0x0-{last:#x}] of switch Lid {lid} guid {guid:#018x} ({}):",
            name(fabric, switch)
        );
        for (lid, port, owner) in rows.iter() {
            let _ = writeln!(text, "{lid:#06x} {port:03} # {owner}");
        }
        let _ = writeln!(text, "{} lids dumped", rows.len());
    }
    Ok(text)
}

fn name(fabric: &Fabric, node: NodeId) -> &str {
    &fabric.topology.node(node).name
}

fn next_hop(routes: &Routes, switch: NodeId, group: GroupId) -> Option<PortId> {
    routes.table.next_hops(switch, group).first().copied()
}

/// The number of a port on its device.
fn number(fabric: &Fabric, switch: NodeId, port: PortId) -> Result<u16, String> {
    let label = fabric.names.port(switch, port).and_then(|label| label.strip_prefix('P'));
    label
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| format!("no file has the port numbers of switch {}", name(fabric, switch)))
}

/// A shortest way from every switch to `target`.
fn towards(fabric: &Fabric, target: NodeId) -> Vec<(NodeId, PortId)> {
    let topology = &fabric.topology;
    let mut found = vec![false; topology.nodes().len()];
    found[target.index()] = true;
    let mut queue = VecDeque::from([target]);
    let mut ways = Vec::new();
    while let Some(switch) = queue.pop_front() {
        for port in topology.ports(switch) {
            if !topology.is_host(port.peer) && !found[port.peer.index()] {
                found[port.peer.index()] = true;
                ways.push((port.peer, port.peer_port));
                queue.push_back(port.peer);
            }
        }
    }
    ways
}
