//! Fabrics that are written node by node.

use std::collections::{BTreeMap, BTreeSet};

use pauseless_core::id::{NodeId, PortId};
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::builder::{TopologyBuilder, TopologyError};
use pauseless_fabric::topology::{LinkSpec, NodeKind, Topology};

use super::topology::{Common, DELAYS, Pair};
use pauseless_fabric::fabric::{Device, Names};
use pauseless_text::declare::{At, FileValue, Filled, Item, Key, Kind, Place, Tables};
use pauseless_text::problem::Sink;
use pauseless_text::quantity::RATES;
use pauseless_text::reader::did_you_mean;
use pauseless_text::section;

section! {
    /// Nodes and links of your own; names have letters, digits, `_`, `.` and `-`. Two nodes may be
    /// joined several times; a host has exactly one link.
    pub struct Custom {
        /// The switches and hosts.
        node: Tables<Node>;
        /// The links that join the nodes.
        link: Tables<Link>;
    }
}

section! {
    /// A switch or host.
    pub struct Node, context |node| if node.is_host() {
" with kind = \"host\"".to_string()
} else {
String::new()
}, {
        /// The name by which everything else in the file calls it.
        name: String, required "\"S1\"";
        /// Whether the node is a switch or a host.
        kind: NodeKind, required "\"switch\" or kind = \"host\"";
        /// The height of a switch in a tree.
        layer: u8, within 1..=255, default 1, when |node| !node.is_host(), written if_changed;
        /// The name that the device's own tools have for it.
        description: String, derived "none";
        /// The GUID by which its own tools know it, such as `"0x0002c90300001234"`.
        guid: Guid, derived "none";
    }
}

section! {
    /// A link between two nodes.
    pub struct Link {
        /// The nodes at its ends.
        between: Pair, required "[\"S1\", \"H1\"]";
        /// What the two devices call these ports, as in `["P12", "P3"]`; an empty name is none.
        ports: Pair, within "the names of the two ports", derived "none";
        /// The rate of the link.
        rate: Rate, within RATES, derived "that of the topology";
        /// The propagation delay of the link.
        delay: Span, within DELAYS, derived "that of the topology";
    }
}

/// A GUID has more bits than numbers of TOML have, so it is a text.
#[derive(Clone, Copy, Debug)]
pub struct Guid(u64);

impl FileValue for Guid {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<Guid>> {
        let sink = item.sink();
        let At { value, place } = item.string()?;
        let digits = value.strip_prefix("0x");
        let guid = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        if guid.is_none() {
            let problem = place.problem(format!("{value:?} is no GUID"));
            sink.push(problem.expected("hexadecimal digits, as in \"0x0002c90300001234\""));
        }
        let value = Guid(guid?);
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        Kind::Text("hexadecimal digits behind 0x")
    }

    fn show(&self) -> String {
        format!("\"{:#018x}\"", self.0)
    }
}

impl Node {
    fn is_host(&self) -> bool {
        self.kind.copied() == Some(NodeKind::Host)
    }
}

impl Custom {
    /// The nodes and links of a fabric, and what its own tools call them. Links have no rate and
    /// delay of their own where `common` has the same.
    pub fn of(topology: &Topology, common: &Common, names: &Names) -> Custom {
        let nodes = topology.nodes().iter().enumerate().map(|(number, node)| {
            let device = names.device(NodeId(number as u32));
            let description = device.map(|device| &device.description);
            let description = description.filter(|text| !text.is_empty());
            let guid = device.and_then(|device| device.guid);
            Node {
                name: Key::of(node.name.clone()),
                kind: Key::of(node.kind),
                layer: Filled::new(node.layer),
                description: description.cloned().map_or(Key::default(), Key::of),
                guid: guid.map_or(Key::default(), |guid| Key::of(Guid(guid))),
                ..Node::default()
            }
        });
        let mut next = vec![0; topology.nodes().len()];
        let links = topology.links().iter().map(|link| {
            let ends = [link.a, link.b];
            let ports = ends.map(|end| {
                let port = PortId(next[end.index()]);
                next[end.index()] += 1;
                names.port(end, port).unwrap_or("")
            });
            Link {
                between: Key::of(Pair::of(ends.map(|end| &*topology.node(end).name))),
                ports: key_unless(ports == ["", ""], Pair::of(ports)),
                rate: key_unless(common.rate.copied() == Some(link.rate), link.rate),
                delay: key_unless(common.delay.copied() == Some(link.delay), link.delay),
                ..Link::default()
            }
        });
        Custom {
            node: Key::of(Tables(nodes.collect())),
            link: Key::of(Tables(links.collect())),
            ..Custom::default()
        }
    }

    /// The fabric, and what its own tools call its nodes and ports; `None` if something was
    /// reported.
    pub fn build(&self, common: &Common, sink: &Sink) -> Option<(Topology, Names)> {
        let mut assembly = Assembly {
            builder: TopologyBuilder::new(),
            nodes: BTreeMap::new(),
            devices: Vec::new(),
            port_names: BTreeSet::new(),
            common,
            sink,
        };
        let mut is_good = true;
        for node in self.node.get().into_iter().flat_map(|nodes| &nodes.0) {
            is_good &= assembly.add_node(node).is_some();
        }
        for link in self.link.get().into_iter().flat_map(|links| &links.0) {
            is_good &= assembly.add_link(link).is_some();
        }
        if !is_good {
            return None;
        }
        assembly.finish(&self.place)
    }
}

/// A key with this value, unless it may be left out.
fn key_unless<T>(is_left_out: bool, value: T) -> Key<T> {
    if is_left_out { Key::default() } else { Key::of(value) }
}

/// A fabric that is being put together.
struct Assembly<'a> {
    builder: TopologyBuilder,
    nodes: BTreeMap<&'a str, (NodeId, NodeKind, &'a Place)>,
    /// What its own tools call each node and its ports.
    devices: Vec<Device>,
    /// The names of ports that are taken.
    port_names: BTreeSet<(NodeId, &'a str)>,
    /// The rates and delays of links that have none of their own.
    common: &'a Common,
    sink: &'a Sink,
}

impl<'a> Assembly<'a> {
    fn add_node(&mut self, node: &'a Node) -> Option<()> {
        let name = node.name.given.as_ref();
        let (At { value: name, place }, kind) = name.zip(node.kind.copied())?;
        if self.nodes.contains_key(name.as_str()) {
            self.sink.push(place.problem(format!("two nodes are called {name:?}")));
            return None;
        }
        let id = match kind {
            NodeKind::Switch => self.builder.add_switch_at(node.layer.value, name),
            NodeKind::Host => self.builder.add_host(name),
        };
        self.nodes.insert(name, (id, kind, place));
        self.devices.push(Device {
            description: node.description.get().cloned().unwrap_or_default(),
            guid: node.guid.get().map(|guid| guid.0),
            ports: Vec::new(),
        });
        Some(())
    }

    fn add_link(&mut self, link: &'a Link) -> Option<()> {
        let Pair { names, place } = link.between.get()?;
        let [a, b] = names;
        let first = self.end(a);
        let (first, second) = first.zip(self.end(b))?;
        if first.0 == second.0 {
            self.sink.push(place.problem(format!("a link joins {} to itself", a.value)));
            return None;
        }
        let hosts = [first, second].map(|end| end.1 == NodeKind::Host);
        if hosts == [true, true] {
            let problem = place.problem("a link joins two hosts");
            self.sink.push(problem.help("put a switch between them"));
            return None;
        }
        let common = self.common;
        let (mut rate, mut delay) = (&common.rate, &common.delay);
        if hosts.contains(&true) {
            rate = common.host_rate.over(rate);
            delay = common.host_delay.over(delay);
        }
        let (rate, delay) = (link.rate.over(rate).copied(), link.delay.over(delay).copied());
        if rate.is_none() && !link.rate.is_written && !common.rate.is_written {
            let example = "\"10 Gbps\", or topology.rate for all links";
            self.sink.push(link.place.missing("rate", example));
        }
        if delay.is_none() && !link.delay.is_written && !common.delay.is_written {
            let example = "\"1 us\", or topology.delay for all links";
            self.sink.push(link.place.missing("delay", example));
        }
        self.name_ports(link, [first.0, second.0])?;
        let (rate, delay) = rate.zip(delay)?;
        let spec = LinkSpec { rate, delay };
        self.builder.connect(first.0, second.0, spec);
        Some(())
    }

    /// Takes what the devices at both ends of a link call their ports; an empty name is none.
    fn name_ports(&mut self, link: &'a Link, ends: [NodeId; 2]) -> Option<()> {
        if !link.ports.is_good(None) {
            return None;
        }
        let mut is_good = true;
        for (side, end) in ends.into_iter().enumerate() {
            let name = link.ports.get().map(|ports| &ports.names[side]);
            let text = name.map_or("", |name| name.value.as_str());
            if let Some(At { value, place }) = name
                && !value.is_empty()
                && !self.port_names.insert((end, value))
            {
                let problem = place.problem(format!("the device has another port {value:?}"));
                self.sink.push(problem.help("each port of a device has a name of its own"));
                is_good = false;
            }
            self.devices[end.index()].ports.push(text.to_string());
        }
        is_good.then_some(())
    }

    fn end(&self, name: &At<String>) -> Option<(NodeId, NodeKind)> {
        if let Some((id, kind, _)) = self.nodes.get(name.value.as_str()) {
            return Some((*id, *kind));
        }
        let problem = name.place.problem(format!("there is no node {:?}", name.value));
        let names = self.nodes.keys().copied();
        self.sink.push(problem.help(did_you_mean(&name.value, names)));
        None
    }

    fn finish(mut self, section: &Place) -> Option<(Topology, Names)> {
        for device in &mut self.devices {
            if device.ports.iter().all(String::is_empty) {
                device.ports.clear();
            }
        }
        let is_known = |device: &Device| *device != Device::default();
        let devices = if self.devices.iter().any(is_known) { self.devices } else { Vec::new() };
        match self.builder.build() {
            Ok(topology) => Some((topology, Names::new(devices))),
            Err(error) => {
                let name = match &error {
                    TopologyError::HostLinkCount { name, .. }
                    | TopologyError::TooManyPorts { name, .. }
                    | TopologyError::BadName { name } => name.as_str(),
                    _ => "",
                };
                let place = self.nodes.get(name).map_or(section, |(_, _, place)| place);
                self.sink.push(place.problem(error.to_string()));
                None
            }
        }
    }
}
