//! Fabrics that are written node by node, and the rates and delays of all kinds.

use std::collections::{BTreeMap, BTreeSet};

use pauseless_core::id::NodeId;
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::builder::{TopologyBuilder, TopologyError};
use pauseless_fabric::generate::LinkSpecs;
use pauseless_fabric::topology::{LinkSpec, NodeKind, Topology};

use super::reader::{At, Place, Section, did_you_mean};
use super::topology::{DELAYS, RATES};
use crate::fabric::{Device, Names};

/// Rates and delays as far as they were written.
#[derive(Clone, Copy)]
pub(crate) struct Specs {
    rate: Option<Rate>,
    delay: Option<Span>,
    host_rate: Option<Rate>,
    host_delay: Option<Span>,
    is_rate_written: bool,
    is_delay_written: bool,
}

/// Reads the rates and delays of `[topology]`.
pub(crate) fn read_specs(section: &mut Section<'_>) -> Specs {
    let (is_rate_written, is_delay_written) = (section.has("rate"), section.has("delay"));
    let value = |found: Option<At<Rate>>| found.map(|found| found.value);
    let rate = value(section.quantity_within("rate", RATES));
    let host_rate = value(section.quantity_within("host_rate", RATES));
    let value = |found: Option<At<Span>>| found.map(|found| found.value);
    let delay = value(section.quantity_within("delay", DELAYS));
    let host_delay = value(section.quantity_within("host_delay", DELAYS));
    Specs {
        rate,
        delay,
        host_rate,
        host_delay,
        is_rate_written,
        is_delay_written,
    }
}

impl Specs {
    /// Reports what is missing.
    pub(crate) fn complete(self, section: &Section<'_>) -> Option<LinkSpecs> {
        if !self.is_rate_written {
            section.missing("rate", "\"10 Gbps\"");
        }
        if !self.is_delay_written {
            section.missing("delay", "\"1 us\"");
        }
        let (rate, delay) = self.rate.zip(self.delay)?;
        let host = LinkSpec {
            rate: self.host_rate.unwrap_or(rate),
            delay: self.host_delay.unwrap_or(delay),
        };
        let switch = LinkSpec { rate, delay };
        Some(LinkSpecs { host, switch })
    }
}

/// A fabric that is written node by node.
pub(crate) struct Custom {
    builder: TopologyBuilder,
    nodes: BTreeMap<String, (NodeId, NodeKind, Place)>,
    /// What its own tools call each node and its ports.
    devices: Vec<Device>,
    /// The names of ports that are taken.
    port_names: BTreeSet<(NodeId, String)>,
    place: Place,
}

impl Custom {
    /// Reads the nodes and links of `[topology]`.
    pub(crate) fn read(section: &mut Section<'_>) -> Option<(Topology, Names)> {
        let specs = read_specs(section);
        let mut custom = Custom {
            builder: TopologyBuilder::new(),
            nodes: BTreeMap::new(),
            devices: Vec::new(),
            port_names: BTreeSet::new(),
            place: section.place.clone(),
        };
        let mut is_good = true;
        for node in section.tables("node") {
            is_good &= custom.add_node(node).is_some();
        }
        let links = section.tables("link");
        for link in links {
            is_good &= custom.add_link(link, specs).is_some();
        }
        if !is_good {
            return None;
        }
        let Custom {
            builder,
            nodes,
            mut devices,
            place,
            ..
        } = custom;
        for device in &mut devices {
            if device.ports.iter().all(String::is_empty) {
                device.ports.clear();
            }
        }
        let is_known = devices.iter().any(|device| *device != Device::default());
        let devices = if is_known { devices } else { Vec::new() };
        match builder.build() {
            Ok(topology) => Some((topology, Names::new(devices))),
            Err(error) => {
                let name = match &error {
                    TopologyError::HostLinkCount { name, .. }
                    | TopologyError::TooManyPorts { name, .. }
                    | TopologyError::BadName { name } => name.as_str(),
                    _ => "",
                };
                let place = nodes.get(name).map_or(&place, |(_, _, place)| place);
                section.report(place.problem(error.to_string()));
                None
            }
        }
    }

    fn add_node(&mut self, mut section: Section<'_>) -> Option<()> {
        let (has_name, has_kind) = (section.has("name"), section.has("kind"));
        let name = section.string("name");
        let kinds = [("switch", NodeKind::Switch), ("host", NodeKind::Host)];
        let kind = section.choice("kind", &kinds);
        if !has_name {
            section.missing("name", "\"S1\"");
        }
        if !has_kind {
            section.missing("kind", "\"switch\" or kind = \"host\"");
        }
        if let Some(NodeKind::Host) = kind.as_ref().map(|kind| kind.value) {
            section.set_context(" with kind = \"host\"".to_string());
        }
        let layer = match &kind {
            Some(kind) if kind.value == NodeKind::Switch => section.integer("layer", 1..=255),
            _ => None,
        };
        let description = section.string("description");
        let guid = read_guid(&mut section);
        let (At { value: name, place }, kind) = name.zip(kind)?;
        let kind = kind.value;
        if self.nodes.contains_key(&name) {
            section.report(place.problem(format!("two nodes are called {name:?}")));
            return None;
        }
        let id = match kind {
            NodeKind::Switch => {
                let layer = layer.map_or(1, |layer| layer.value as u8);
                self.builder.add_switch_at(layer, &name)
            }
            NodeKind::Host => self.builder.add_host(&name),
        };
        self.nodes.insert(name, (id, kind, place));
        self.devices.push(Device {
            description: description.map_or(String::new(), |description| description.value),
            guid,
            ports: Vec::new(),
        });
        section.finish();
        Some(())
    }

    fn add_link(&mut self, mut section: Section<'_>, specs: Specs) -> Option<()> {
        let is_given = section.has("between");
        let ends = section.strings("between");
        if !is_given {
            section.missing("between", "[\"S1\", \"H1\"]");
        }
        let own = read_specs_of_link(&mut section);
        let ports = section.strings("ports");
        let At { value: ends, place } = ends?;
        let [a, b] = &ends[..] else {
            let problem = place.problem(format!("{} names stand here", ends.len()));
            section.report(problem.expected("a list of two node names"));
            return None;
        };
        let first = self.end(&section, a);
        let (first, second) = first.zip(self.end(&section, b))?;
        if first.0 == second.0 {
            section.report(place.problem(format!("a link joins {} to itself", a.value)));
            return None;
        }
        let hosts = [first, second].map(|end| end.1 == NodeKind::Host);
        if hosts == [true, true] {
            let problem = place.problem("a link joins two hosts");
            section.report(problem.help("put a switch between them"));
            return None;
        }
        let is_host = hosts.contains(&true);
        let rate = own.0.or(specs.host_rate.filter(|_| is_host)).or(specs.rate);
        let delay = own
            .1
            .or(specs.host_delay.filter(|_| is_host))
            .or(specs.delay);
        if rate.is_none() && !specs.is_rate_written {
            section.missing("rate", "\"10 Gbps\", or topology.rate for all links");
        }
        if delay.is_none() && !specs.is_delay_written {
            section.missing("delay", "\"1 us\", or topology.delay for all links");
        }
        self.name_ports(&section, ports, [first.0, second.0])?;
        section.finish();
        let (rate, delay) = rate.zip(delay)?;
        self.builder
            .connect(first.0, second.0, LinkSpec { rate, delay });
        Some(())
    }

    /// Takes what the devices at both ends of a link call their ports; an empty name is none.
    fn name_ports(
        &mut self,
        section: &Section<'_>,
        ports: Option<At<Vec<At<String>>>>,
        ends: [NodeId; 2],
    ) -> Option<()> {
        let (names, places) = match ports {
            None => return self.add_ports(ends, [String::new(), String::new()]),
            Some(At { value, place }) => {
                let places = Vec::from_iter(value.iter().map(|name| name.place.clone()));
                let names = Vec::from_iter(value.into_iter().map(|name| name.value));
                match <[String; 2]>::try_from(names) {
                    Ok(names) => (names, places),
                    Err(names) => {
                        let problem = place.problem(format!("{} names stand here", names.len()));
                        section.report(problem.expected("the names of the two ports"));
                        return None;
                    }
                }
            }
        };
        let mut is_good = true;
        for ((end, name), place) in ends.into_iter().zip(&names).zip(&places) {
            if !name.is_empty() && !self.port_names.insert((end, name.clone())) {
                let message = format!("the device has another port {name:?}");
                let problem = place.problem(message);
                section.report(problem.help("each port of a device has a name of its own"));
                is_good = false;
            }
        }
        match is_good {
            true => self.add_ports(ends, names),
            false => None,
        }
    }

    fn add_ports(&mut self, ends: [NodeId; 2], names: [String; 2]) -> Option<()> {
        for (end, name) in ends.into_iter().zip(names) {
            self.devices[end.index()].ports.push(name);
        }
        Some(())
    }

    fn end(&self, section: &Section<'_>, name: &At<String>) -> Option<(NodeId, NodeKind)> {
        if let Some((id, kind, _)) = self.nodes.get(&name.value) {
            return Some((*id, *kind));
        }
        let problem = name
            .place
            .problem(format!("there is no node {:?}", name.value));
        let names = self.nodes.keys().map(String::as_str);
        section.report(problem.help(did_you_mean(&name.value, names)));
        None
    }
}

/// A GUID has more bits than numbers of TOML have, so it is a text.
fn read_guid(section: &mut Section<'_>) -> Option<u64> {
    let At { value, place } = section.string("guid")?;
    let digits = value.strip_prefix("0x");
    let guid = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    if guid.is_none() {
        let problem = place.problem(format!("{value:?} is no GUID"));
        section.report(problem.expected("hexadecimal digits, as in \"0x0002c90300001234\""));
    }
    guid
}

fn read_specs_of_link(section: &mut Section<'_>) -> (Option<Rate>, Option<Span>) {
    let rate = section.quantity_within("rate", RATES);
    let delay = section.quantity_within("delay", DELAYS);
    (rate.map(|rate| rate.value), delay.map(|delay| delay.value))
}
