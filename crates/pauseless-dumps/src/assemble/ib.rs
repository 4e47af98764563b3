//! From InfiniBand dumps to a fabric.
//!
//! A host is a port of an adapter, since that is what has a LID and a cable. Packets for the
//! switches themselves (port 0) are left out, as ibdmchk does: they are management traffic, most of
//! it on a lane of its own.

mod choose;
mod levels;

use std::collections::BTreeMap;

use pauseless_core::class_map::ClassMap;
use pauseless_core::id::{NodeId, PortId};
use pauseless_core::table::ForwardingTable;
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::builder::TopologyBuilder;
use pauseless_fabric::dependency::{Lane, Lossy, Traffic};
use pauseless_fabric::routing::{Groups, RouteBuilder, Routes, Routing};
use pauseless_fabric::topology::{LinkSpec, Topology};

use crate::import::ib::lft::first_difference;
use crate::import::ib::{AdaptiveTable, Cabling, IbEnd, Lft, NodeKind, PathSl, SlVlRow};
use pauseless_fabric::fabric::Namer;
use pauseless_fabric::fabric::{
    Addresses, Device, Evidence, Fabric, LaneEvidence, Medium, Names, Origin,
};
use pauseless_text::problem::{Problem, Problems};
use pauseless_text::source::Source;

/// A parsed file with its source, so that what is wrong can be shown there.
pub struct Parsed<'s, T> {
    /// The file that it was read from.
    pub source: &'s Source,
    /// What the file says.
    pub value: T,
}

/// The dumps of one fabric. Files of one kind complete each other, or say the same.
#[derive(Default)]
pub struct Dumps<'s> {
    /// The nodes and links of the subnet; of several files the first that fits is taken.
    pub cabling: Vec<Parsed<'s, Cabling>>,
    /// The linear forwarding tables of the switches.
    pub tables: Vec<Parsed<'s, Vec<Lft>>>,
    /// The ports among which switches choose by load.
    pub adaptive: Vec<Parsed<'s, Vec<AdaptiveTable>>>,
    /// The service levels of paths.
    pub levels: Vec<Parsed<'s, Vec<PathSl>>>,
    /// The SL-to-VL tables of the ports.
    pub lanes: Vec<Parsed<'s, Vec<SlVlRow>>>,
    /// The routing engine that a log or configuration of the subnet manager names.
    pub engine: Option<String>,
}

impl<'s> Dumps<'s> {
    /// The fabric, or what is missing or contradictory.
    pub fn assemble(&self, name: String, routing: Option<Routing>) -> Result<Fabric, Problems> {
        let one = choose::one_fabric(self)?;
        let mut cabled = Cabled::new(one.cabling)?;
        cabled.notes.extend(one.notes);
        let (addressed, origin) = if !self.tables.is_empty() || !self.adaptive.is_empty() {
            (cabled.routes(self)?, Origin::Tables)
        } else if let Some(routing) = routing {
            (cabled.routed_by(routing), Origin::Rule(routing))
        } else {
            let message = "no file has the forwarding tables".to_string();
            let help = "add opensm.fdbs, or the output of dump_lfts; or say with --routing by \
                        which rule the fabric routes";
            return Err(Problems::of_file(&one.cabling.source.file, message, help));
        };
        let classes = match &self.lanes[..] {
            [] => ClassMap::Same,
            lanes => cabled.classes(lanes)?,
        };
        let traffic = match &self.levels[..] {
            [] => Traffic::AllPairs(vec![Lane::ONLY]),
            levels => cabled.traffic(levels, &addressed)?,
        };
        match (self.levels.is_empty(), self.lanes.is_empty()) {
            (false, true) => cabled.notes.push(NO_LANES.to_string()),
            (true, false) => cabled.notes.push(NO_LEVELS.to_string()),
            _ => {}
        }
        let is_known = !self.levels.is_empty() || cabled.has_one_lane;
        let lanes = if is_known {
            LaneEvidence::Known
        } else {
            LaneEvidence::Assumed { engine: self.engine.clone() }
        };
        Ok(Fabric {
            name,
            medium: Medium::InfiniBand,
            names: Names::new(cabled.devices),
            topology: cabled.topology,
            routes: addressed.routes,
            origin,
            classes,
            traffic,
            lossy: Lossy::nothing(),
            notes: cabled.notes,
            evidence: Evidence {
                lanes,
                addresses: Addresses { lids: addressed.lids, ..cabled.addresses },
                ..Evidence::default()
            },
        })
    }
}

/// A cabling as a topology.
struct Cabled {
    topology: Topology,
    devices: Vec<Device>,
    /// The node and port of the topology for each end of a cable.
    ends: BTreeMap<IbEnd, (NodeId, PortId)>,
    /// The switches, by GUID.
    switches: BTreeMap<u64, (usize, NodeId)>,
    /// The hosts of each adapter, by GUID.
    adapters: BTreeMap<u64, Vec<NodeId>>,
    /// The LIDs of each host.
    lids: BTreeMap<u16, NodeId>,
    /// What the subnet manager calls the ends of paths, without the LIDs of groups.
    addresses: Addresses,
    /// What calls itself by a LID: the GUID of the switch or adapter that has it.
    guids: BTreeMap<u16, u64>,
    /// Whether all packets are on one lane, whatever their service levels are.
    has_one_lane: bool,
    notes: Vec<String>,
}

/// Routes, and the LID of each group; `None` for a host that has none.
struct Addressed {
    routes: Routes,
    lids: Vec<Option<u16>>,
}

/// Nodes and cables on their way to a topology.
struct Building<'c> {
    cabling: &'c Cabling,
    builder: TopologyBuilder,
    devices: Vec<Device>,
    /// The node of the topology for each end of a cable; a switch has all its ports on one node.
    nodes: BTreeMap<IbEnd, NodeId>,
}

impl<'c> Building<'c> {
    /// The nodes: a switch each, and a host for each cabled port of an adapter.
    fn new(cabling: &'c Cabling) -> Building<'c> {
        let mut building = Building {
            cabling,
            builder: TopologyBuilder::new(),
            devices: Vec::new(),
            nodes: BTreeMap::new(),
        };
        let mut namer = Namer::default();
        let mut ends = Vec::from_iter(cabling.links.iter().flat_map(|link| link.ends));
        ends.sort_unstable();
        let (switches, adapters): (Vec<_>, Vec<_>) =
            ends.into_iter().partition(|end| building.is_switch(end.node));
        let mut last = None;
        for end in switches {
            let index = end.node;
            let node = &cabling.nodes[index];
            let id = match last {
                Some((known, id)) if known == index => id,
                _ => {
                    let name = namer.name(&node.description, &format!("{:016x}", node.guid));
                    building.add_device(index);
                    building.builder.add_switch(name)
                }
            };
            last = Some((index, id));
            building.nodes.insert(end, id);
        }
        for end in adapters {
            let node = &cabling.nodes[end.node];
            let description = match node.port_count {
                0 | 1 => node.description.clone(),
                _ => format!("{}.P{}", node.description, end.port),
            };
            let name = namer.name(&description, &format!("{:016x}", node.guid));
            building.add_device(end.node);
            let id = building.builder.add_host(name);
            building.nodes.insert(end, id);
        }
        building
    }

    fn is_switch(&self, index: usize) -> bool {
        self.cabling.nodes[index].kind == NodeKind::Switch
    }

    fn add_device(&mut self, index: usize) {
        let node = &self.cabling.nodes[index];
        self.devices.push(Device {
            description: node.description.clone(),
            guid: Some(node.guid),
            ports: Vec::new(),
        });
    }

    fn connect(&mut self) -> Result<(), Problem> {
        for link in &self.cabling.links {
            let refuse = |message: &str| Problem::new(link.at.clone(), message);
            let [a, b] = link.ends.map(|end| self.nodes[&end]);
            if link.ends.iter().all(|end| !self.is_switch(end.node)) {
                let problem = refuse("a cable joins two adapters");
                return Err(problem.expected("a switch at one end"));
            }
            if a == b {
                let problem = refuse("a cable joins a switch to itself");
                return Err(problem.help("leave out the loopback"));
            }
            let rate = link.rate.map(|rate| Rate::bps(rate.bits_per_second()));
            let spec = LinkSpec { rate: rate.unwrap_or(RATE_UNKNOWN), delay: DELAY_UNKNOWN };
            self.builder.connect(a, b, spec);
        }
        Ok(())
    }
}

impl Cabled {
    fn new(cabling: &Parsed<'_, Cabling>) -> Result<Cabled, Problems> {
        let source = cabling.source;
        let mut building = Building::new(&cabling.value);
        building.connect().map_err(|problem| source.refuse(problem))?;
        let Building { builder, devices, nodes, .. } = building;
        let topology = builder.build();
        let topology =
            topology.map_err(|error| Problems::of_file(&source.file, error.to_string(), ""))?;
        let mut cabled = Cabled {
            topology,
            devices,
            ends: BTreeMap::new(),
            switches: BTreeMap::new(),
            adapters: BTreeMap::new(),
            lids: BTreeMap::new(),
            addresses: Addresses::default(),
            guids: BTreeMap::new(),
            has_one_lane: false,
            notes: Vec::new(),
        };
        for node in &cabling.value.nodes {
            for own in &node.lids {
                let all = own.lid..=own.lid.saturating_add((1 << own.lmc) - 1);
                cabled.guids.extend(all.map(|lid| (lid, node.guid)));
            }
        }
        cabled.number_ports(&cabling.value, &nodes);
        let mut without_lid = 0;
        for (&IbEnd { node: index, port }, &id) in &nodes {
            let node = &cabling.value.nodes[index];
            if node.kind == NodeKind::Switch {
                cabled.switches.insert(node.guid, (index, id));
                if let Some(own) = node.lids.iter().find(|lid| lid.port == 0) {
                    cabled.addresses.switch_lids.insert(id, own.lid);
                }
                continue;
            }
            cabled.adapters.entry(node.guid).or_default().push(id);
            if let Some(guid) = cabling.value.port_guids.get(&IbEnd { node: index, port }) {
                cabled.addresses.port_guids.insert(id, *guid);
            }
            let Some(lid) = node.lids.iter().find(|lid| lid.port == port) else {
                without_lid += 1;
                continue;
            };
            let all = lid.lid..=lid.lid.saturating_add((1 << lid.lmc) - 1);
            cabled.lids.extend(all.map(|lid| (lid, id)));
        }
        cabled.take_notes(&cabling.value, without_lid);
        Ok(cabled)
    }

    fn take_notes(&mut self, cabling: &Cabling, without_lid: usize) {
        if without_lid > 0 {
            self.notes
                .push(format!("{without_lid} adapter ports have no LID; nobody can send to them"));
        }
        if cabling.links.iter().any(|link| link.rate.is_none()) {
            let note = "the files do not give the rate of all links; where they do not it is \
                        taken for 100 Gb/s, which matters to simulations and plans (--rate of \
                        `plan` says otherwise)";
            self.notes.push(note.to_string());
        }
        let mut is_cabled = vec![false; cabling.nodes.len()];
        for end in cabling.links.iter().flat_map(|link| link.ends) {
            is_cabled[end.node] = true;
        }
        match is_cabled.iter().filter(|is_cabled| !**is_cabled).count() {
            0 => {}
            count => self.notes.push(format!("{count} nodes have no cable")),
        }
    }

    /// Gives every cable end its port, and every port the number that it has on the device.
    fn number_ports(&mut self, cabling: &Cabling, nodes: &BTreeMap<IbEnd, NodeId>) {
        let mut next = vec![0u16; self.topology.nodes().len()];
        for end in cabling.links.iter().flat_map(|link| link.ends) {
            let node = nodes[&end];
            let number = PortId(next[node.index()]);
            next[node.index()] += 1;
            self.ends.insert(end, (node, number));
            self.devices[node.index()].ports.push(format!("P{}", end.port));
        }
    }

    /// The tables of the switches, and which LID each group has.
    fn routes(&mut self, dumps: &Dumps<'_>) -> Result<Addressed, Problems> {
        let by_switch = self.tables_by_switch(dumps)?;
        let adaptive = self.adaptive_by_switch(dumps)?;
        let mut groups = Groups::of_hosts(&self.topology);
        let mut table = ForwardingTable::new(self.topology.nodes().len(), self.topology.switches());
        let lids = self.lids_of_groups(&by_switch, &mut groups);
        let ways = Vec::from_iter(lids.iter().map(|_| {
            let way = table.add_way();
            table.add_group(way, None);
            way
        }));
        let mut dead_ends = 0u64;
        let mut next = Vec::new();
        for (&switch, (index, lft)) in &by_switch {
            let ports = self.ports_by_number(*index);
            let adaptive = adaptive.get(&switch);
            for (lid, way) in lids.iter().zip(&ways) {
                let Some(lid) = lid else { continue };
                let sets = adaptive.map_or(&[][..], |adaptive| adaptive.ports(*lid));
                next.clear();
                for number in lft.port(*lid).iter().chain(sets) {
                    match ports[usize::from(*number)] {
                        None => dead_ends += 1,
                        Some((_, port)) => next.push(port),
                    }
                }
                if next.len() > 1 {
                    next.sort_unstable();
                    next.dedup();
                }
                if !next.is_empty() {
                    table.set_way(switch, *way, &next);
                }
            }
        }
        if dead_ends > 0 {
            self.notes.push(format!(
                "{dead_ends} table entries lead out of ports that have no cable; they count as \
                 no route"
            ));
        }
        if !adaptive.is_empty() {
            self.notes.push(ADAPTIVE.to_string());
        }
        let routes = Routes { table, groups };
        Ok(Addressed { routes, lids })
    }

    /// Each switch with its index and its table. Several files may have it, if it is the same.
    fn tables_by_switch<'l>(
        &self,
        dumps: &'l Dumps<'_>,
    ) -> Result<BTreeMap<NodeId, (usize, &'l Lft)>, Problems> {
        let mut by_switch: BTreeMap<NodeId, (usize, &Lft)> = BTreeMap::new();
        let plain =
            dumps.tables.iter().flat_map(|file| file.value.iter().map(|lft| (file.source, lft)));
        let adaptive = dumps.adaptive.iter();
        let adaptive =
            adaptive.flat_map(|file| file.value.iter().map(|table| (file.source, &table.fixed)));
        // A table of adaptive routing has the fixed ports, too; those of plain tables count first.
        let is_plain = !dumps.tables.is_empty();
        let mut files: BTreeMap<NodeId, &Source> = BTreeMap::new();
        for (source, lft) in plain.chain(adaptive.filter(|_| !is_plain)) {
            let Some((index, switch)) = self.switches.get(&lft.guid) else {
                return Err(strange_switch(source, lft.guid, lft.at.start));
            };
            if let Some((_, before)) = by_switch.get(switch)
                && let Some(lid) = first_difference(before, lft)
            {
                let file = &files[switch].file;
                let message = format!(
                    "the table of switch {:#018x} is another one in {file}, first at LID {lid:#06x}",
                    lft.guid
                );
                let problem = Problem::new(lft.at.start..lft.at.start + 1, message);
                return Err(source.refuse(problem.help(SAME_TIME)));
            }
            by_switch.insert(*switch, (*index, lft));
            files.insert(*switch, source);
        }
        let missing = self.topology.switches().iter().filter(|it| !by_switch.contains_key(it));
        let missing = Vec::from_iter(missing.map(|it| self.topology.node(*it).name.as_str()));
        let Some(first) = missing.first() else {
            return Ok(by_switch);
        };
        let file = dumps.tables.iter().map(|file| file.source).next();
        let file = file.or_else(|| dumps.adaptive.iter().map(|file| file.source).next());
        let file = file.map_or("", |source| source.file.as_str());
        let message = match missing.len() {
            1 => format!("switch {first} has no forwarding table here"),
            count => format!("switch {first} and {} others have no forwarding table", count - 1),
        };
        let help = "without it no verdict can be trusted; dump the tables again";
        Err(Problems::of_file(file, message, help))
    }

    /// The tables of adaptive routing, by switch.
    fn adaptive_by_switch<'l>(
        &self,
        dumps: &'l Dumps<'_>,
    ) -> Result<BTreeMap<NodeId, &'l AdaptiveTable>, Problems> {
        let mut by_switch = BTreeMap::new();
        for (source, table) in
            dumps.adaptive.iter().flat_map(|file| file.value.iter().map(|it| (file.source, it)))
        {
            let Some((_, switch)) = self.switches.get(&table.fixed.guid) else {
                return Err(strange_switch(source, table.fixed.guid, table.fixed.at.start));
            };
            if by_switch.insert(*switch, table).is_some() {
                let guid = table.fixed.guid;
                let message = format!("a second table of adaptive routing for switch {guid:#018x}");
                let at = table.fixed.at.start;
                let problem = Problem::new(at..at + 1, message);
                return Err(source.refuse(problem.help("leave one of the files out")));
            }
        }
        Ok(by_switch)
    }

    /// What is behind each port of a device: the port of its node, by number on the device.
    fn ports_by_number(&self, index: usize) -> [Option<(NodeId, PortId)>; 256] {
        let mut ports = [None; 256];
        let end = |port| IbEnd { node: index, port };
        for (end, behind) in self.ends.range(end(0)..=end(u8::MAX)) {
            ports[usize::from(end.port)] = Some(*behind);
        }
        ports
    }

    /// The LID of each group: the first LID of each host, then the others. A LID that the cabling
    /// gives to nobody belongs to the host to which some switch delivers it.
    fn lids_of_groups(
        &self,
        by_switch: &BTreeMap<NodeId, (usize, &Lft)>,
        groups: &mut Groups,
    ) -> Vec<Option<u16>> {
        let mut owners = self.lids.clone();
        for (index, lft) in by_switch.values() {
            let hosts = self.ports_by_number(*index).map(|end| {
                let (node, port) = end?;
                let peer = self.topology.port(node, port).peer;
                Some(peer).filter(|peer| self.topology.is_host(*peer))
            });
            for (lid, port) in (0u16..).zip(&lft.ports) {
                if let Some(host) = hosts[usize::from(*port)] {
                    owners.entry(lid).or_insert(host);
                }
            }
        }
        let mut lids = vec![None; self.topology.host_count()];
        let mut others = Vec::new();
        for (&lid, &host) in &owners {
            let first = &mut lids[groups.of_host(host).index()];
            match first {
                None => *first = Some(lid),
                Some(_) => others.push((lid, host)),
            }
        }
        for (lid, host) in others {
            groups.add_address(host);
            lids.push(Some(lid));
        }
        lids
    }

    /// Routes by a rule, where there are no tables. It knows one address per host.
    fn routed_by(&self, routing: Routing) -> Addressed {
        let routes = RouteBuilder::new(&self.topology, routing).build();
        let mut lids = vec![None; self.topology.host_count()];
        for (&lid, &host) in self.lids.iter().rev() {
            lids[routes.groups.of_host(host).index()] = Some(lid);
        }
        Addressed { routes, lids }
    }
}

/// A table of a switch that the cabling does not have.
fn strange_switch(source: &Source, guid: u64, at: usize) -> Problems {
    let message = format!("switch {guid:#018x} is not in the cabling");
    source.refuse(Problem::new(at..at + 1, message).help(SAME_TIME))
}

const SAME_TIME: &str = "dump the tables and the cabling of the same fabric at the same time";
const ADAPTIVE: &str = "switches choose among ports by load (adaptive routing): each port that they may take \
     counts as a next hop, as if all of them were in use";
const NO_LANES: &str = "no file maps service levels to virtual lanes; each level is taken for \
     the lane of the same number";
const NO_LEVELS: &str = "no file gives service levels to paths; all are taken to have level 0";
/// The rate of a link whose files do not say one.
const RATE_UNKNOWN: Rate = Rate::gbps(100);
/// Twenty metres of cable; only a simulation uses it.
const DELAY_UNKNOWN: Span = Span::ns(100);
/// The lane of management packets; a table that maps to it drops the packet.
const VL_DROP: u8 = 15;
