//! Forwarding tables as `[routing.tables]`.

use pauseless_core::id::{GroupId, NodeId, PortId};
use pauseless_core::table::ForwardingTable;
use pauseless_fabric::routing::Groups;
use pauseless_fabric::topology::Topology;

use super::super::file::{File, key};
use super::super::hosts::HostSpan;

/// An address by which everybody may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Address {
    /// From 1, for each host.
    pub number: usize,
    /// The place of its host in [`Topology::hosts`].
    pub place: usize,
    pub group: GroupId,
}

/// All addresses, first those that all hosts have.
pub(crate) fn addresses(topology: &Topology, groups: &Groups) -> Vec<Address> {
    let mut numbers = vec![0; topology.host_count()];
    let addresses = groups.addresses().map(|group| {
        let place = groups.of_host(groups.target(group)).index();
        numbers[place] += 1;
        Address {
            number: numbers[place],
            place,
            group,
        }
    });
    let mut addresses = Vec::from_iter(addresses);
    addresses.sort_unstable();
    addresses
}

/// Adds an address to lists of hosts, to the last one if it is next to it. Addresses come in
/// their order.
fn add(spans: &mut Vec<HostSpan>, address: Address) {
    match spans.last_mut() {
        Some(last) if last.address == address.number && last.last + 1 == address.place => {
            last.last = address.place;
        }
        _ => spans.push(HostSpan {
            first: address.place,
            last: address.place,
            address: address.number,
        }),
    }
}

/// These addresses, in order, as lists of hosts.
pub(crate) fn spans(addresses: impl IntoIterator<Item = Address>) -> Vec<HostSpan> {
    let mut spans = Vec::new();
    for address in addresses {
        add(&mut spans, address);
    }
    spans
}

/// What a switch calls the node behind a port, such as `S2`, or `S2#2` behind the second link.
pub(crate) fn facing(topology: &Topology, node: NodeId, port: PortId) -> String {
    let name = topology.port_name(node, port);
    let facing = name.split_once(':').map(|(_, facing)| facing.to_string());
    facing.unwrap_or(name)
}

/// Writes `[routing.tables]`; paths are left to their flows.
pub(crate) fn write_tables(
    file: &mut File,
    topology: &Topology,
    table: &ForwardingTable,
    groups: &Groups,
) {
    let addresses = addresses(topology, groups);
    for &switch in topology.switches() {
        let name = &topology.node(switch).name;
        file.section(&format!("[routing.tables.{}]", key(name)));
        let mut by_port = vec![Vec::new(); topology.ports(switch).len()];
        for address in &addresses {
            for port in table.next_hops(switch, address.group) {
                add(&mut by_port[port.index()], *address);
            }
        }
        for (port, spans) in (0..).map(PortId).zip(by_port) {
            if !spans.is_empty() {
                let hosts = spans.into_iter().flat_map(|span| span.write(topology));
                file.texts_wrapped(&key(&facing(topology, switch, port)), hosts);
            }
        }
    }
}
