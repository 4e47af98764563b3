//! From InfiniBand dumps to a fabric.
//!
//! A host is a port of an adapter, since that is what has a LID and a cable. Packets for the
//! switches themselves (port 0) are left out, as ibdmchk does: they are management traffic, most of
//! it on a lane of its own.

use std::collections::{BTreeMap, BTreeSet};

use pauseless_core::class_map::{ClassMap, ClassTable, Key, Passage};
use pauseless_core::id::{Class, GroupId, NodeId, PortId};
use pauseless_core::table::ForwardingTable;
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::builder::TopologyBuilder;
use pauseless_fabric::dependency::{Demand, Lane, Lossy, Traffic};
use pauseless_fabric::routing::{Groups, RouteBuilder, Routes, Routing, port_counts};
use pauseless_fabric::topology::{LinkSpec, Topology};

use crate::import::ib::{Cabling, GuidOwner, IbEnd, Lft, NodeKind, PathSl, SlVlRow};
use pauseless_fabric::fabric::Namer;
use pauseless_fabric::fabric::{Addresses, Device, Evidence, Fabric, Medium, Names, Origin};
use pauseless_text::problem::{Problem, Problems};
use pauseless_text::source::Source;

/// A parsed file with its source, so that what is wrong can be shown there.
pub struct Parsed<'s, T> {
    /// The file that it was read from.
    pub source: &'s Source,
    /// What the file says.
    pub value: T,
}

/// The dumps of one fabric.
#[derive(Default)]
pub struct Dumps<'s> {
    /// The nodes and links of the subnet.
    pub cabling: Option<Parsed<'s, Cabling>>,
    /// The linear forwarding tables of the switches.
    pub tables: Option<Parsed<'s, Vec<Lft>>>,
    /// The service levels of paths.
    pub levels: Option<Parsed<'s, Vec<PathSl>>>,
    /// The SL-to-VL tables of the ports.
    pub lanes: Option<Parsed<'s, Vec<SlVlRow>>>,
}

impl Dumps<'_> {
    /// The fabric, or what is missing or contradictory.
    pub fn assemble(&self, name: String, routing: Option<Routing>) -> Result<Fabric, Problems> {
        let Some(cabling) = &self.cabling else {
            let others = [
                self.tables.as_ref().map(|tables| tables.source),
                self.levels.as_ref().map(|levels| levels.source),
                self.lanes.as_ref().map(|lanes| lanes.source),
            ];
            let file = others.into_iter().flatten().next();
            let file = file.map_or("", |source| source.file.as_str());
            let help = "add opensm-subnet.lst or the output of ibnetdiscover";
            let message = "no file says how the fabric is cabled".to_string();
            return Err(Problems::of_file(file, message, help));
        };
        let mut cabled = Cabled::new(cabling)?;
        let (addressed, origin) = match &self.tables {
            Some(tables) => (cabled.routes(tables)?, Origin::Tables),
            None => match routing {
                Some(routing) => (cabled.routed_by(routing), Origin::Rule(routing)),
                None => {
                    let message = "no file has the forwarding tables".to_string();
                    let help = "add opensm.fdbs, or the output of dump_lfts; or say with \
                                --routing by which rule the fabric routes";
                    return Err(Problems::of_file(&cabling.source.file, message, help));
                }
            },
        };
        let classes = match &self.lanes {
            Some(lanes) => cabled.classes(lanes)?,
            None => ClassMap::Same,
        };
        let traffic = match &self.levels {
            Some(levels) => cabled.traffic(levels, &addressed)?,
            None => Traffic::AllPairs(vec![Lane::ONLY]),
        };
        match (&self.levels, &self.lanes) {
            (Some(_), None) => cabled.notes.push(NO_LANES.to_string()),
            (None, Some(_)) => cabled.notes.push(NO_LEVELS.to_string()),
            _ => {}
        }
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
            notes: Vec::new(),
        };
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
    fn routes(&mut self, tables: &Parsed<'_, Vec<Lft>>) -> Result<Addressed, Problems> {
        let by_switch = self.tables_by_switch(tables)?;
        let mut groups = Groups::of_hosts(&self.topology);
        let mut table = ForwardingTable::new(self.topology.nodes().len(), self.topology.switches());
        let lids = self.lids_of_groups(&by_switch, &mut groups);
        let ways = Vec::from_iter(lids.iter().map(|_| {
            let way = table.add_way();
            table.add_group(way, None);
            way
        }));
        let mut dead_ends = 0u64;
        for (&switch, (index, lft)) in &by_switch {
            let ports = self.ports_by_number(*index);
            for (lid, way) in lids.iter().zip(&ways) {
                let Some(lid) = lid else { continue };
                match lft.port(*lid).map(|number| ports[usize::from(number)]) {
                    None => {}
                    Some(None) => dead_ends += 1,
                    Some(Some((_, port))) => table.set_way(switch, *way, &[port]),
                }
            }
        }
        if dead_ends > 0 {
            self.notes.push(format!(
                "{dead_ends} table entries lead out of ports that have no cable; they count as \
                 no route"
            ));
        }
        let routes = Routes { table, groups };
        Ok(Addressed { routes, lids })
    }

    /// Each switch with its index and its table.
    fn tables_by_switch<'l>(
        &self,
        tables: &'l Parsed<'_, Vec<Lft>>,
    ) -> Result<BTreeMap<NodeId, (usize, &'l Lft)>, Problems> {
        let mut by_switch = BTreeMap::new();
        for lft in &tables.value {
            let Some((index, switch)) = self.switches.get(&lft.guid) else {
                let message = format!("switch {:#018x} is not in the cabling", lft.guid);
                let problem = Problem::new(lft.at.start..lft.at.start + 1, message);
                return Err(tables.source.refuse(problem.help(SAME_TIME)));
            };
            by_switch.insert(*switch, (*index, lft));
        }
        match self.topology.switches().iter().find(|switch| !by_switch.contains_key(switch)) {
            None => Ok(by_switch),
            Some(missing) => {
                let name = &self.topology.node(*missing).name;
                let message = format!("switch {name} has no forwarding table here");
                let help = "without it no verdict can be trusted; dump the tables again";
                Err(Problems::of_file(&tables.source.file, message, help))
            }
        }
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

    fn classes(&mut self, lanes: &Parsed<'_, Vec<SlVlRow>>) -> Result<ClassMap, Problems> {
        let mut table = ClassTable::new(Key::Label, port_counts(&self.topology));
        let missing = self.fill_with_identity(&mut table, &lanes.value);
        let mut known = BTreeSet::new();
        if missing > 0 {
            self.notes.push(format!(
                "{missing} switches have no table from service levels to lanes; there each level \
                 is taken for the lane of the same number"
            ));
        }
        for row in &lanes.value {
            let Some((index, node)) = self.switches.get(&row.guid) else {
                let is_adapter = self.adapters.contains_key(&row.guid);
                if row.owner == GuidOwner::AdapterPort || is_adapter {
                    // What an adapter does with a level shows in no buffer between switches.
                    continue;
                }
                let message = format!("switch {:#018x} is not in the cabling", row.guid);
                let problem = Problem::new(row.at.clone(), message);
                return Err(lanes.source.refuse(problem.help(SAME_TIME)));
            };
            let port =
                |port: u8| self.ends.get(&IbEnd { node: *index, port }).map(|(_, port)| *port);
            // Port 0 is the switch itself, and other ports may have no cable.
            let (Some(ingress), Some(egress)) = (port(row.ingress), port(row.egress)) else {
                continue;
            };
            let passage = Passage { node: *node, ingress, egress };
            known.insert((*node, ingress, egress));
            let lanes = row.vls.map(|vl| match vl {
                VL_DROP => ClassTable::DROP,
                vl => vl,
            });
            table.set(passage, lanes);
        }
        self.note_missing_rows(&known);
        Ok(ClassMap::Table(table))
    }

    /// Says for how many ways through switches that have a table there is no row in it.
    fn note_missing_rows(&mut self, known: &BTreeSet<(NodeId, PortId, PortId)>) {
        let with_rows: BTreeSet<NodeId> = known.iter().map(|(node, _, _)| *node).collect();
        let mut missing = 0;
        for &node in &with_rows {
            let count = self.topology.ports(node).len();
            let known =
                known.range((node, PortId(0), PortId(0))..=(node, PortId::MAX, PortId::MAX));
            let known = known.filter(|(_, ingress, egress)| ingress != egress);
            missing += count * count - count - known.count();
        }
        if missing > 0 {
            self.notes.push(format!(
                "{missing} ways through switches have no row in the tables from service levels to \
                 lanes; there each level is taken for the lane of the same number, so the verdict \
                 is only as good as that guess"
            ));
        }
    }

    /// Enters the lane of the same number for every level, which is what a switch without a table
    /// does, and returns how many switches that are.
    fn fill_with_identity(&self, table: &mut ClassTable, lanes: &[SlVlRow]) -> usize {
        let identity = std::array::from_fn(|level| level as u8);
        for &node in self.topology.switches() {
            let count = self.topology.ports(node).len() as u16;
            for (ingress, egress) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))) {
                let passage = Passage { node, ingress: PortId(ingress), egress: PortId(egress) };
                table.set(passage, identity);
            }
        }
        let guids: BTreeSet<u64> = lanes.iter().map(|row| row.guid).collect();
        self.switches.keys().filter(|guid| !guids.contains(guid)).count()
    }

    /// The service level of every pair.
    fn traffic(
        &mut self,
        levels: &Parsed<'_, Vec<PathSl>>,
        addressed: &Addressed,
    ) -> Result<Traffic, Problems> {
        let levels_by_pair = levels.value.iter().map(|path| {
            let key = (path.guid, path.dlid);
            (key, path.sl)
        });
        let levels_by_pair: BTreeMap<(u64, u16), u8> = levels_by_pair.collect();
        let Addressed { routes, lids } = addressed;
        let first_lid = |group| lids[routes.groups.of_host(routes.groups.target(group)).index()];
        let mut demands = Vec::new();
        let senders: BTreeSet<u64> = levels.value.iter().map(|path| path.guid).collect();
        let known: BTreeSet<u16> = lids.iter().flatten().copied().collect();
        let strange = levels
            .value
            .iter()
            .filter(|path| !self.adapters.contains_key(&path.guid) || !known.contains(&path.dlid));
        let strange = strange.count();
        if strange > 0 {
            self.notes.push(format!(
                "{strange} service levels are of paths from or to nobody in the cabling; is this \
                 list of the same fabric?"
            ));
        }
        let silent = self.adapters.keys().filter(|guid| !senders.contains(guid)).count();
        if silent > 0 {
            self.notes.push(format!(
                "{silent} adapters have no service level for any path; they are taken to use level 0"
            ));
        }
        for (guid, hosts) in &self.adapters {
            let default = Some(&0).filter(|_| !senders.contains(guid));
            for (group, lid) in (0..).map(GroupId).zip(lids) {
                let Some(lid) = *lid else { continue };
                // Lists often have but the first of several LIDs of a port.
                let level = levels_by_pair.get(&(*guid, lid));
                let level =
                    level.or_else(|| levels_by_pair.get(&(*guid, first_lid(group).unwrap_or(lid))));
                let level = level.or(default);
                for &source in hosts {
                    if routes.groups.target(group) == source {
                        continue;
                    }
                    let Some(&level) = level else {
                        return Err(self.without_level(levels, source, lid));
                    };
                    let lane = Lane { label: level, class: Class(level) };
                    demands.push(Demand { group, lane, source });
                }
            }
        }
        Ok(Traffic::Demands(demands))
    }

    fn without_level(
        &self,
        levels: &Parsed<'_, Vec<PathSl>>,
        source: NodeId,
        lid: u16,
    ) -> Problems {
        let source = &self.topology.node(source).name;
        let message = format!("there is no service level for packets from {source} to LID {lid}");
        let help = "without it no verdict can be trusted; list every pair of adapters";
        Problems::of_file(&levels.source.file, message, help)
    }
}

const SAME_TIME: &str = "dump the tables and the cabling of the same fabric at the same time";
const NO_LANES: &str = "no file maps service levels to virtual lanes; each level is taken for \
     the lane of the same number";
const NO_LEVELS: &str = "no file gives service levels to paths; all are taken to have level 0";
/// The rate of a link whose files do not say one.
const RATE_UNKNOWN: Rate = Rate::gbps(100);
/// Twenty metres of cable; only a simulation uses it.
const DELAY_UNKNOWN: Span = Span::ns(100);
/// The lane of management packets; a table that maps to it drops the packet.
const VL_DROP: u8 = 15;
