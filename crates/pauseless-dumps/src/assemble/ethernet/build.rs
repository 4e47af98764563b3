//! From a site to a topology, with what its tools call nodes and ports.

use pauseless_core::id::{NodeId, PortId};
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::builder::{TopologyBuilder, TopologyError};
use pauseless_fabric::topology::{LinkSpec, Topology};
use pauseless_text::quantity::counted;

use super::roles::Role;
use super::site::{Site, SiteEnd};
use super::some;
use pauseless_fabric::fabric::Device;
use pauseless_fabric::fabric::Namer;

/// A site with numbers.
pub(super) struct Built {
    pub topology: Topology,
    /// One device per node, in the order of the nodes.
    pub devices: Vec<Device>,
    /// The ends of each cable of the site.
    pub ends: Vec<[(NodeId, PortId); 2]>,
}

struct Building<'s, 'd> {
    site: &'s Site<'d>,
    builder: TopologyBuilder,
    namer: Namer,
    devices: Vec<Device>,
    /// The node of each switch, by number in the site.
    switches: Vec<Option<NodeId>>,
    /// How many cables each node of the site has.
    cable_counts: Vec<usize>,
}

impl Built {
    /// Switches first, then a host for each cable of each server, then the implied ones.
    pub fn new(site: &Site, notes: &mut Vec<String>) -> Result<Built, TopologyError> {
        let mut building = Building {
            site,
            builder: TopologyBuilder::new(),
            namer: Namer::default(),
            devices: Vec::new(),
            switches: vec![None; site.nodes.len()],
            cable_counts: vec![0; site.nodes.len()],
        };
        for end in site.cables.iter().flatten() {
            building.cable_counts[end.node] += 1;
        }
        building.add_switches();
        let mut next: Vec<u16> = vec![0; building.devices.len()];
        let mut ends = Vec::new();
        for cable in &site.cables {
            let nodes = cable.each_ref().map(|end| building.node_of(end));
            next.resize(building.devices.len(), 0);
            building.builder.connect(nodes[0], nodes[1], spec(site, cable));
            let mut numbered = [(nodes[0], PortId(0)), (nodes[1], PortId(0))];
            for ((node, port), end) in numbered.iter_mut().zip(cable) {
                *port = PortId(next[node.index()]);
                next[node.index()] = next[node.index()].saturating_add(1);
                let label = end.port.as_ref().unwrap_or(&end.interface);
                building.devices[node.index()].ports.push(label.clone());
            }
            ends.push(numbered);
        }
        building.add_implied_hosts();
        take_notes(site, notes);
        Ok(Built { topology: building.builder.build()?, devices: building.devices, ends })
    }
}

impl Building<'_, '_> {
    fn add_switches(&mut self) {
        for (number, node) in self.site.nodes.iter().enumerate() {
            if node.role == Role::Switch && self.cable_counts[number] > 0 {
                let name = self.namer.name(&node.name, "2");
                self.devices.push(device(&node.name));
                self.switches[number] = Some(self.builder.add_switch(name));
            }
        }
    }

    /// The switch, or a new host: a server has one for each of its cables.
    fn node_of(&mut self, end: &SiteEnd) -> NodeId {
        if let Some(switch) = self.switches[end.node] {
            return switch;
        }
        let node = &self.site.nodes[end.node];
        let name = match self.cable_counts[end.node] {
            1 => node.name.clone(),
            _ => format!("{}.{}", node.name, end.interface),
        };
        let name = self.namer.name(&name, &end.interface);
        self.devices.push(device(&node.name));
        self.builder.add_host(name)
    }

    fn add_implied_hosts(&mut self) {
        for number in &self.site.implied {
            let Some(switch) = self.switches[*number] else {
                continue;
            };
            let host = format!("{}.host", self.site.nodes[*number].name);
            let name = self.namer.name(&host, "2");
            self.devices.push(device(&host));
            let host = self.builder.add_host(name);
            let spec = LinkSpec { rate: RATE_UNKNOWN, delay: DELAY_UNKNOWN };
            self.builder.connect(switch, host, spec);
            self.devices[switch.index()].ports.push("implied".to_string());
            self.devices[host.index()].ports.push("implied".to_string());
        }
    }
}

fn device(name: &str) -> Device {
    Device { description: name.to_string(), guid: None, ports: Vec::new() }
}

/// The slower of both ends, and the longer of what both ends believe the cable to be.
fn spec(site: &Site, cable: &[SiteEnd; 2]) -> LinkSpec {
    let speeds = cable.iter().filter_map(|end| site.port(end)?.speed_mbps);
    let metres = cable.iter().filter_map(|end| site.metres(end));
    let delay = metres.max().map(|metres| {
        // Inside a box the cable has 0 m, but no link is without delay.
        Span::ps(u64::from(metres.max(1)) * DELAY_PER_METRE.as_ps())
    });
    LinkSpec {
        rate: speeds.min().map_or(RATE_UNKNOWN, |mbps| Rate::mbps(u64::from(mbps))),
        delay: delay.unwrap_or(DELAY_UNKNOWN),
    }
}

fn take_notes(site: &Site, notes: &mut Vec<String>) {
    let lacks = |of: &dyn Fn(&SiteEnd) -> bool| {
        site.cables.iter().filter(|cable| !cable.iter().any(of)).count()
    };
    let speeds = lacks(&|end| site.port(end).is_some_and(|port| port.speed_mbps.is_some()));
    let lengths = lacks(&|end| site.metres(end).is_some());
    for (number, [what, value, option]) in
        [(speeds, ["speed", "100 Gb/s", "rate"]), (lengths, ["length", "20 m", "cable or --delay"])]
    {
        if number > 0 {
            notes.push(format!(
                "the files do not give the {what} of {}; it is taken for {value}, which matters \
                 to simulations and plans (--{option} of `plan` says otherwise)",
                counted(number, "cable"),
            ));
        }
    }
    let differ = site.cables.iter().filter(|cable| {
        let speeds = cable.each_ref().map(|end| site.port(end)?.speed_mbps);
        matches!(speeds, [Some(one), Some(other)] if one != other)
    });
    let names = Vec::from_iter(differ.map(|cable| site.end_name(&cable[0])));
    if !names.is_empty() {
        let cables = counted(names.len(), "cable");
        notes.push(format!(
            "the ends of {cables} have different speeds, and the slower counts: {}",
            some(&names)
        ));
    }
}

/// The rate of a link whose files do not say one.
const RATE_UNKNOWN: Rate = Rate::gbps(100);
/// The time that light takes for one metre of glass fibre.
const DELAY_PER_METRE: Span = Span::ns(5);
/// The delay of a link whose length is not known: twenty metres of cable.
const DELAY_UNKNOWN: Span = Span::ns(100);
