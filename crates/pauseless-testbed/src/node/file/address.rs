//! The section `[addresses]`: hosts that are not ours.

use std::collections::BTreeSet;

use pauseless_core::id::{NodeId, PortId};
use pauseless_fabric::routing::Groups;
use pauseless_sim::Config;
use pauseless_wire::MacAddress;

use pauseless_text::problem::Sink;
use pauseless_text::reader::{At, Item, Place, Section, did_you_mean};

/// The section as it was written.
#[derive(Debug)]
pub(super) struct Addresses {
    pub(super) place: Place,
    entries: Vec<(At<String>, At<MacAddress>)>,
}

impl Addresses {
    pub fn read(mut section: Section<'_>) -> Addresses {
        let mut entries = Vec::new();
        for (name, item) in section.entries() {
            let Some(At { value, place }) = Item::string(item) else {
                continue;
            };
            match parse(&value) {
                Some(address) if !address.is_group() => {
                    let value = address;
                    entries.push((name, At { value, place }));
                }
                Some(_) => {
                    let problem = place.problem(format!("{value} is the address of a group"));
                    section.report(problem.expected("the address of one interface"));
                }
                None => {
                    let problem = place.problem(format!("{value:?} is no address"));
                    section.report(problem.expected("six octets, such as \"b8:59:9f:00:00:01\""));
                }
            }
        }
        Addresses { place: section.place.clone(), entries }
    }

    /// Where the switch `node` sends frames for these hosts.
    pub(super) fn forwarding(
        &self,
        config: &Config,
        node: NodeId,
        sink: &Sink,
    ) -> Vec<(MacAddress, PortId)> {
        let topology = &config.topology;
        let groups = Groups::of_hosts(topology);
        let mut seen = BTreeSet::new();
        let mut forwarding = Vec::new();
        for (name, address) in &self.entries {
            let host = topology.node_named(&name.value);
            let Some(host) = host.filter(|id| topology.is_host(*id)) else {
                let message = format!("the scenario has no host {}", name.value);
                let hosts = topology.hosts().iter().map(|id| topology.node(*id).name.as_str());
                let help = did_you_mean(&name.value, hosts);
                sink.push(name.place.problem(message).help(help));
                continue;
            };
            if !seen.insert(address.value) {
                let message = format!("{} is the address of another host", address.value);
                sink.push(address.place.problem(message));
            }
            let way = config.table.next_hop(node, groups.of_host(host), 0);
            match way {
                Some(port) => forwarding.push((address.value, port)),
                None => {
                    let message = format!("no route leads from here to {}", name.value);
                    sink.push(name.place.problem(message).help("leave it out"));
                }
            }
        }
        forwarding
    }
}

/// Six octets with colons or hyphens between.
fn parse(text: &str) -> Option<MacAddress> {
    let octets = text.split([':', '-']).map(|octet| {
        let is_pair = octet.len() == 2;
        is_pair.then(|| u8::from_str_radix(octet, 16).ok())?
    });
    let octets = octets.collect::<Option<Vec<u8>>>()?;
    Some(MacAddress(octets.try_into().ok()?))
}
