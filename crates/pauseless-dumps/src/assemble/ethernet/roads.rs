//! From the routes of switches to the forwarding table: every prefix that hosts are in, at every
//! switch, by the longest prefix there and with every next hop.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;

use pauseless_core::id::{NodeId, PortId};
use pauseless_core::table::{ForwardingTable, WayId};
use pauseless_fabric::fabric::{Place, RouteEvidence};
use pauseless_fabric::routing::{Groups, Routes};
use pauseless_fabric::topology::Topology;
use pauseless_text::problem::Problems;
use pauseless_text::quantity::counted;

use super::fib::{Fib, Known};
use super::running::{Running, is_management};
use super::share;
use super::site::{Ends, Site};
use super::some;
use crate::import::ethernet::routes::{NextHop, Prefix, Target};
use crate::import::ethernet::sonic::Layer3;

/// The routes of a site, with where they stand.
pub(super) struct Roads {
    pub routes: Routes,
    pub evidence: RouteEvidence,
}

/// A switch with its interfaces and routes.
struct Switch<'d, 's> {
    name: String,
    /// The ports that each name stands for: a port, a port channel, a VLAN or a part of a port.
    interfaces: BTreeMap<String, Vec<PortId>>,
    layer3: Option<&'d Layer3>,
    /// `None` if no file has its routes.
    fib: Option<Fib<'d, 's>>,
}

/// Where a switch sends packets.
#[derive(Clone, PartialEq, Eq)]
enum Way {
    /// By these ports; one that stands more often has a larger share.
    Ports(Vec<PortId>),
    /// They arrive at the switch or behind it, or go where nobody can follow them.
    End,
    /// They are dropped by this switch.
    Drop,
}

/// Addresses that packets are sent to, behind one switch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Destination {
    /// The switch of the hosts.
    switch: NodeId,
    prefix: Prefix,
}

/// Reads off where every switch sends the packets for every host.
pub(super) fn build(
    site: &Site,
    ends: &Ends,
    topology: &Topology,
    running: &Running,
    notes: &mut Vec<String>,
) -> Result<Roads, Problems> {
    let switches = switches(site, ends, topology, running)?;
    let mut building = Building {
        topology,
        switches,
        table: ForwardingTable::new(topology.nodes().len(), topology.switches()),
        groups: Groups::of_hosts(topology),
        evidence: RouteEvidence::default(),
        ways: BTreeMap::new(),
        places: Places::default(),
        lost: BTreeSet::new(),
    };
    building.add_hosts(notes);
    building.add_parts(notes);
    building.take_notes(notes);
    building.evidence.tiers = tiers(site, ends);
    let Building { table, groups, evidence, .. } = building;
    Ok(Roads { routes: Routes { table, groups }, evidence })
}

/// Every switch that has a cable, by its node.
fn switches<'d, 's>(
    site: &Site<'d>,
    ends: &Ends,
    topology: &Topology,
    running: &Running<'d, 's>,
) -> Result<BTreeMap<NodeId, Switch<'d, 's>>, Problems> {
    let mut switches: BTreeMap<NodeId, Switch> = BTreeMap::new();
    for (end, (node, port)) in site.cables.iter().flatten().zip(ends.iter().flatten()) {
        if topology.is_host(*node) {
            continue;
        }
        let of = &site.nodes[end.node];
        let switch = switches.entry(*node).or_insert_with(|| Switch {
            name: of.name.clone(),
            interfaces: BTreeMap::new(),
            layer3: of.config.map(|config| &config.layer3),
            fib: None,
        });
        let alias = site.port(end).and_then(|port| port.alias.clone());
        let names = [Some(end.interface.clone()), end.port.clone(), alias];
        for name in names.into_iter().flatten().collect::<BTreeSet<String>>() {
            switch.interfaces.entry(name).or_default().push(*port);
        }
    }
    for switch in switches.values_mut() {
        switch.bundle();
        let tables = running.of(&switch.name);
        if !tables.is_empty() {
            let is_out = |name: &str| is_management(name) && switch.ports(name).is_empty();
            switch.fib = Some(Fib::new(&switch.name, tables, is_out)?);
        }
    }
    Ok(switches)
}

/// What configurations say of the place of each switch.
fn tiers(site: &Site, ends: &Ends) -> BTreeMap<NodeId, u32> {
    let mut tiers = BTreeMap::new();
    for (end, (node, _)) in site.cables.iter().flatten().zip(ends.iter().flatten()) {
        let config = site.nodes[end.node].config;
        let kind = config.and_then(|config| config.device_type.as_deref());
        let found = TIERS.iter().find(|(word, _)| kind == Some(word));
        tiers.extend(found.map(|(_, tier)| (*node, *tier)));
    }
    tiers
}

impl Switch<'_, '_> {
    /// Adds port channels and VLANs; those of ports that LACP has not selected carry nothing.
    fn bundle(&mut self) {
        let Some(layer3) = self.layer3 else {
            return;
        };
        // Port channels first, because VLANs have them for members.
        let (channels, vlans): (Vec<_>, Vec<_>) =
            layer3.members.iter().partition(|(name, _)| !name.starts_with("Vlan"));
        for (name, members) in channels.into_iter().chain(vlans) {
            let live = members.iter().filter(|port| !layer3.idle.contains(*port));
            let ports = live.filter_map(|port| self.interfaces.get(port)).flatten().copied();
            let ports = Vec::from_iter(ports.collect::<BTreeSet<PortId>>());
            if !ports.is_empty() {
                self.interfaces.insert(name.clone(), ports);
            }
        }
    }

    /// The ports behind a name; none if no cable is known there.
    fn ports(&self, interface: &str) -> &[PortId] {
        let parent = || self.interfaces.get(interface.split_once('.')?.0);
        self.interfaces.get(interface).or_else(parent).map_or(&[], Vec::as_slice)
    }

    /// The prefixes that hosts behind `port` are in: those connected to its interface, else those
    /// connected to interfaces that lead to no switch.
    fn prefixes(&self, port: PortId, leads_to_switch: impl Fn(PortId) -> bool) -> Vec<Prefix> {
        let mut connected: BTreeSet<(Option<&str>, Prefix)> = BTreeSet::new();
        for known in self.fib.iter().flat_map(Fib::routes) {
            if let Target::Connected(interface) = &known.route.target {
                connected.insert((interface.as_deref(), known.route.prefix));
            }
        }
        for (interface, addresses) in self.layer3.iter().flat_map(|layer3| &layer3.addresses) {
            connected
                .extend(addresses.iter().map(|(_, prefix)| (Some(interface.as_str()), *prefix)));
        }
        connected.retain(|(interface, prefix)| {
            let is_out = |name| is_management(name) && self.ports(name).is_empty();
            !prefix.is_local() && !interface.is_some_and(is_out)
        });
        let ports = |interface: &Option<&str>| interface.map_or(&[][..], |name| self.ports(name));
        let own = connected.iter().filter(|(name, _)| ports(name).contains(&port));
        let mut found: BTreeSet<Prefix> = own.map(|(_, prefix)| *prefix).collect();
        if found.is_empty() {
            let beside = connected.iter().filter(|(name, prefix)| {
                !prefix.is_single() && !ports(name).iter().any(|port| leads_to_switch(*port))
            });
            found = beside.map(|(_, prefix)| *prefix).collect();
        }
        Vec::from_iter(found)
    }

    /// The ports that a next hop is behind; `None` if they are not known.
    fn hop_ports(&self, hop: &NextHop, depth: u32) -> Option<Vec<PortId>> {
        if let Some(interface) = &hop.interface {
            let learned = hop.address.and_then(|address| self.learned(interface, address));
            let ports = learned.map_or(self.ports(interface), |port| self.ports(port));
            return Some(ports.to_vec()).filter(|ports| !ports.is_empty());
        }
        let address = hop.address?;
        let single = Prefix::single(address);
        let mut own = self.layer3.iter().flat_map(|layer3| &layer3.addresses);
        let own = own.find(|(_, addresses)| addresses.iter().any(|(_, it)| it.covers(single)));
        if let Some((interface, _)) = own {
            return Some(self.ports(interface).to_vec()).filter(|ports| !ports.is_empty());
        }
        let known = self.fib.as_ref()?.lookup_address(address)?;
        match &known.route.target {
            Target::Connected(Some(interface)) => {
                Some(self.ports(interface).to_vec()).filter(|ports| !ports.is_empty())
            }
            Target::Hops(hops) if depth < DEPTH_MAX => {
                let ports = hops.iter().filter_map(|hop| self.hop_ports(hop, depth + 1)).flatten();
                Some(ports.collect::<Vec<_>>()).filter(|ports| !ports.is_empty())
            }
            _ => None,
        }
    }

    /// The port behind which a neighbour in a VLAN was learned.
    fn learned(&self, interface: &str, address: IpAddr) -> Option<&str> {
        let layer3 = self.layer3?;
        let hardware = layer3.hardware.get(&(interface.to_string(), address))?;
        let port = layer3.learned.get(&(interface.to_string(), hardware.clone()))?;
        Some(port)
    }

    /// Where packets for `prefix` go, and by which route; what leads nowhere known is in `lost`.
    fn way(&self, prefix: Prefix, lost: &mut BTreeSet<String>) -> (Way, Option<Known<'_, '_>>) {
        let Some(fib) = &self.fib else {
            return (Way::End, None);
        };
        let Some(known) = fib.lookup(prefix) else {
            return (Way::Drop, None);
        };
        let way = match &known.route.target {
            Target::Connected(_) | Target::Local => Way::End,
            Target::Discard => Way::Drop,
            Target::Hops(hops) => {
                let mut found = Vec::new();
                for hop in hops {
                    match self.hop_ports(hop, 0) {
                        Some(ports) => found.push((ports, hop.weight)),
                        None => {
                            lost.insert(format!("{} {}", self.name, describe(hop)));
                        }
                    }
                }
                if found.is_empty() { Way::End } else { Way::Ports(share::ports(&found)) }
            }
        };
        (way, Some(known))
    }
}

fn describe(hop: &NextHop) -> String {
    match (&hop.interface, hop.address) {
        (Some(interface), _) => interface.clone(),
        (None, Some(address)) => address.to_string(),
        (None, None) => "nowhere".to_string(),
    }
}

struct Building<'t, 'd, 's> {
    topology: &'t Topology,
    switches: BTreeMap<NodeId, Switch<'d, 's>>,
    table: ForwardingTable,
    groups: Groups,
    evidence: RouteEvidence,
    ways: BTreeMap<Destination, WayId>,
    places: Places,
    /// Next hops behind which no cable is known.
    lost: BTreeSet<String>,
}

impl Building<'_, '_, '_> {
    /// A group for each host, and one for each further prefix that it is in.
    fn add_hosts(&mut self, notes: &mut Vec<String>) {
        let topology = self.topology;
        let (mut further, mut nowhere) = (Vec::new(), Vec::new());
        for &host in topology.hosts() {
            let Some(port) = topology.ports(host).first() else {
                let way = self.unknown_way();
                self.table.add_group(way, None);
                continue;
            };
            let leads_to_switch = |it: PortId| !topology.is_host(topology.port(port.peer, it).peer);
            let switch = self.switches.get(&port.peer);
            let prefixes =
                switch.map_or(Vec::new(), |it| it.prefixes(port.peer_port, leads_to_switch));
            let exit = Some((port.peer, port.peer_port));
            let Some((first, rest)) = prefixes.split_first() else {
                nowhere.push(topology.node(host).name.clone());
                let way = self.unknown_way();
                self.table.add_group(way, exit);
                continue;
            };
            let way = self.way_to(Destination { switch: port.peer, prefix: *first });
            self.table.add_group(way, exit);
            further.extend(rest.iter().map(|prefix| (host, exit, *prefix)));
        }
        for (host, exit, prefix) in further {
            let switch = self.topology.ports(host)[0].peer;
            let way = self.way_to(Destination { switch, prefix });
            self.table.add_group(way, exit);
            self.groups.add_address(host);
        }
        if !nowhere.is_empty() {
            notes.push(format!(
                "no file says which prefix {} in, so that nobody is taken to send there: {}",
                match nowhere.len() {
                    1 => "1 host is".to_string(),
                    count => format!("{} are", counted(count, "host")),
                },
                some(&nowhere)
            ));
        }
    }

    /// A group for each longer prefix inside one that hosts are in, where packets for it go
    /// elsewhere than those for the rest.
    fn add_parts(&mut self, notes: &mut Vec<String>) {
        let whole: BTreeSet<Prefix> = self.ways.keys().map(|it| it.prefix).collect();
        let mut parts = BTreeSet::new();
        for known in self.switches.values().filter_map(|it| it.fib.as_ref()).flat_map(Fib::routes) {
            let prefix = known.route.prefix;
            let is_own = matches!(known.route.target, Target::Connected(_) | Target::Local);
            if !is_own && !whole.contains(&prefix) {
                let lengths = 1..prefix.length();
                if lengths.rev().any(|length| whole.contains(&prefix.shortened(length))) {
                    parts.insert(prefix);
                }
            }
        }
        let destinations = Vec::from_iter(self.ways.keys().copied());
        let mut left_out = 0;
        for part in parts {
            for destination in destinations.iter().filter(|it| it.prefix.covers(part)) {
                if !self.differs(*destination, part) {
                    continue;
                }
                if self.ways.len() >= PARTS_MAX + destinations.len() {
                    left_out += 1;
                    continue;
                }
                self.add_part(*destination, part);
            }
        }
        if left_out > 0 {
            notes.push(format!(
                "{} inside those of hosts not looked at, beyond the first {PARTS_MAX}",
                counted(left_out, "longer prefix")
            ));
        }
    }

    /// Whether some switch sends the packets for a part elsewhere than those for the whole.
    fn differs(&self, destination: Destination, part: Prefix) -> bool {
        let mut lost = BTreeSet::new();
        self.switches.values().any(|switch| {
            switch.way(part, &mut lost).0 != switch.way(destination.prefix, &mut lost).0
        })
    }

    fn add_part(&mut self, whole: Destination, part: Prefix) {
        let way_of_whole = self.ways[&whole];
        let hosts = self.topology.hosts().iter().copied();
        let host =
            hosts.clone().find(|host| self.table.way(self.groups.of_host(*host)) == way_of_whole);
        let below = hosts.into_iter().find(|host| {
            self.topology.ports(*host).first().is_some_and(|port| port.peer == whole.switch)
        });
        let Some(host) = host.or(below) else {
            return;
        };
        let destination = Destination { prefix: part, ..whole };
        let at = self.switches.get(&whole.switch);
        let arrives = at.is_some_and(|it| it.way(part, &mut BTreeSet::new()).0 == Way::End);
        let port = &self.topology.ports(host)[0];
        let exit = arrives.then_some((port.peer, port.peer_port));
        let way = self.fill(destination, exit.map(|(switch, _)| switch));
        self.table.add_group(way, exit);
        self.groups.add_address(host);
    }

    /// The way to hosts behind a switch.
    fn way_to(&mut self, destination: Destination) -> WayId {
        match self.ways.get(&destination) {
            Some(way) => *way,
            None => self.fill(destination, Some(destination.switch)),
        }
    }

    /// A new way, with the next hops of every switch but that at which packets leave it.
    fn fill(&mut self, destination: Destination, exit: Option<NodeId>) -> WayId {
        let way = self.table.add_way();
        self.ways.insert(destination, way);
        self.evidence.prefixes.push(destination.prefix.to_string());
        for (node, switch) in &self.switches {
            let (found, known) = switch.way(destination.prefix, &mut self.lost);
            if let Some(known) = known {
                let numbers = self.evidence.chosen.entry(*node).or_default();
                numbers.resize(way.index(), 0);
                numbers.push(self.places.number(known));
            }
            match found {
                _ if exit == Some(*node) => {}
                Way::Ports(ports) => self.table.set_way(*node, way, &ports),
                Way::End => {
                    self.evidence.ends.insert((*node, way));
                }
                Way::Drop => {}
            }
        }
        way
    }

    /// A way that nobody knows: its packets end where they begin.
    fn unknown_way(&mut self) -> WayId {
        let way = self.table.add_way();
        self.evidence.prefixes.push("an unknown prefix".to_string());
        for node in self.topology.switches() {
            self.evidence.ends.insert((*node, way));
        }
        way
    }

    fn take_notes(&mut self, notes: &mut Vec<String>) {
        let Places { files, list, .. } = std::mem::take(&mut self.places);
        self.evidence.files = files;
        self.evidence.places = list;
        let silent = self.switches.iter().filter(|(_, switch)| switch.fib.is_none());
        let silent = Vec::from_iter(silent.map(|(node, switch)| (*node, switch.name.clone())));
        if !silent.is_empty() {
            let names = Vec::from_iter(silent.iter().map(|(_, name)| name.clone()));
            notes.push(format!(
                "no file has the routes of {}, so that packets which get there are not followed: {}",
                counted(names.len(), "switch"),
                some(&names)
            ));
        }
        self.evidence.silent = silent.into_iter().map(|(node, _)| node).collect();
        self.evidence.is_partial = !self.lost.is_empty();
        if !self.lost.is_empty() {
            let names = Vec::from_iter(std::mem::take(&mut self.lost));
            notes.push(format!(
                "no cable is known behind {}, so that packets which go there are not followed: {}",
                counted(names.len(), "next hop"),
                some(&names)
            ));
        }
    }
}

/// The lines of routes, each once.
#[derive(Default)]
struct Places {
    files: Vec<String>,
    list: Vec<Place>,
    /// The number of each file and where its lines end, by name.
    known: HashMap<String, (u32, Vec<usize>)>,
    /// The number in `list` of each place, by file and distance from its start.
    numbers: HashMap<(u32, usize), u32>,
}

impl Places {
    /// The number of the place of a route, from 1.
    fn number(&mut self, known: Known) -> u32 {
        let Known { route, source } = known;
        let files = &mut self.files;
        let (file, ends) = self.known.entry(source.file.clone()).or_insert_with(|| {
            files.push(source.file.clone());
            let ends = source.text.match_indices('\n').map(|(at, _)| at);
            (files.len() as u32 - 1, ends.collect())
        });
        let at = route.at.start;
        let list = &mut self.list;
        *self.numbers.entry((*file, at)).or_insert_with(|| {
            let line = ends.partition_point(|end| *end < at) as u32 + 1;
            list.push(Place { file: *file, line });
            list.len() as u32
        })
    }
}

/// What SONiC calls the tiers of a fabric.
const TIERS: [(&str, u32); 5] = [
    ("ToRRouter", 0),
    ("LeafRouter", 1),
    ("SpineRouter", 2),
    ("LowerSpineRouter", 2),
    ("UpperSpineRouter", 3),
];
/// How often a next hop may be behind another one.
const DEPTH_MAX: u32 = 8;
/// The most prefixes inside those of hosts that are looked at.
const PARTS_MAX: usize = 4_096;
