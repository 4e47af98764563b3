//! Forwarding tables as the keys of `[routing.tables]`.

use pauseless_core::id::{GroupId, NodeId, PortId};
use pauseless_core::table::ForwardingTable;
use pauseless_fabric::routing::Groups;
use pauseless_fabric::topology::Topology;

use super::super::hosts::HostSpan;
pub use super::TableKeys;
use pauseless_text::declare::{At, Key, Map};

/// An address by which everybody may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// The number of the address, from 1 for each host.
    pub number: usize,
    /// The place of its host in [`Topology::hosts`].
    pub place: usize,
    /// The group of packets that are sent to this address.
    pub group: GroupId,
}

/// All addresses, first those that all hosts have.
pub fn addresses(topology: &Topology, groups: &Groups) -> Vec<Address> {
    let mut numbers = vec![0; topology.host_count()];
    let addresses = groups.addresses().map(|group| {
        let place = groups.of_host(groups.target(group)).index();
        numbers[place] += 1;
        Address { number: numbers[place], place, group }
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
pub fn spans(addresses: impl IntoIterator<Item = Address>) -> Vec<HostSpan> {
    let mut spans = Vec::new();
    for address in addresses {
        add(&mut spans, address);
    }
    spans
}

/// What a switch calls the node behind a port, such as `S2`, or `S2#2` behind the second link.
pub fn facing(topology: &Topology, node: NodeId, port: PortId) -> String {
    let name = topology.port_name(node, port);
    name.split_once(':').map(|(_, facing)| facing.to_string()).unwrap_or(name)
}

impl TableKeys {
    /// The tables of all switches; paths are left to their flows.
    pub fn of(topology: &Topology, table: &ForwardingTable, groups: &Groups) -> TableKeys {
        let addresses = addresses(topology, groups);
        let tables = topology.switches().iter().map(|&switch| {
            let mut by_port = vec![Vec::new(); topology.ports(switch).len()];
            for address in &addresses {
                let mut last = None;
                for port in table.next_hops(switch, address.group) {
                    // A port that stands again has more weight, which these tables cannot say.
                    if last.replace(*port) != Some(*port) {
                        add(&mut by_port[port.index()], *address);
                    }
                }
            }
            let by_port = (0..).map(PortId).zip(by_port);
            let next_hops = by_port.filter(|(_, spans)| !spans.is_empty()).map(|(port, spans)| {
                let hosts = spans.into_iter().flat_map(|span| span.write(topology));
                (At::of(facing(topology, switch, port)), hosts.collect())
            });
            let name = topology.node(switch).name.clone();
            (At::of(name), Map(next_hops.collect()))
        });
        TableKeys { tables: Key::of(Map(tables.collect())), ..TableKeys::default() }
    }
}
