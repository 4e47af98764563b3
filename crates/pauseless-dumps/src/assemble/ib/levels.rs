//! Service levels and virtual lanes: from SL-to-VL tables and paths to classes and traffic.

use std::collections::{BTreeMap, BTreeSet};

use pauseless_core::class_map::{ClassMap, ClassTable, Key, Passage};
use pauseless_core::id::{Class, GroupId, NodeId, PortId};
use pauseless_fabric::dependency::{Demand, Lane, Traffic};
use pauseless_fabric::routing::port_counts;
use pauseless_text::problem::{Problem, Problems};
use pauseless_text::source::Source;

use super::{Addressed, Cabled, Parsed, SAME_TIME, VL_DROP};
use crate::import::ib::{GuidOwner, IbEnd, PathSl, Sender, SlVlRow};

impl Cabled {
    pub(super) fn classes(
        &mut self,
        lanes: &[Parsed<'_, Vec<SlVlRow>>],
    ) -> Result<ClassMap, Problems> {
        let mut table = ClassTable::new(Key::Label, port_counts(&self.topology));
        let rows = lanes.iter().flat_map(|file| file.value.iter().map(|row| (file.source, row)));
        let rows = Vec::from_iter(rows);
        let missing = self.fill_with_identity(&mut table, &rows);
        let mut known: BTreeMap<(NodeId, PortId, PortId), [u8; 16]> = BTreeMap::new();
        if missing > 0 {
            self.notes.push(format!(
                "{missing} switches have no table from service levels to lanes; there each level \
                 is taken for the lane of the same number"
            ));
        }
        for (source, row) in rows {
            let guid = self.owner(row);
            let Some((index, node)) = guid.and_then(|guid| self.switches.get(&guid)) else {
                let is_adapter = guid.is_some_and(|guid| self.adapters.contains_key(&guid));
                if row.owner == GuidOwner::AdapterPort || is_adapter {
                    // What an adapter does with a level shows in no buffer between switches.
                    continue;
                }
                let message = match row.owner {
                    GuidOwner::Lid => format!("LID {} is nobody's in the cabling", row.guid),
                    _ => format!("switch {:#018x} is not in the cabling", row.guid),
                };
                let problem = Problem::new(row.at.clone(), message);
                return Err(source.refuse(problem.help(SAME_TIME)));
            };
            let port =
                |port: u8| self.ends.get(&IbEnd { node: *index, port }).map(|(_, port)| *port);
            // Port 0 is the switch itself, and other ports may have no cable.
            let (Some(ingress), Some(egress)) = (port(row.ingress), port(row.egress)) else {
                continue;
            };
            let passage = Passage { node: *node, ingress, egress };
            if let Some(before) = known.insert((*node, ingress, egress), row.vls)
                && before != row.vls
            {
                let name = &self.topology.node(*node).name;
                let (from, to) = (row.ingress, row.egress);
                let message = format!("other lanes from port {from} to {to} of {name} before");
                let problem = Problem::new(row.at.clone(), message);
                return Err(source.refuse(problem.help("two dumps? keep one")));
            }
            let lanes = row.vls.map(|vl| match vl {
                VL_DROP => ClassTable::DROP,
                vl => vl,
            });
            table.set(passage, lanes);
        }
        let passages = BTreeSet::from_iter(known.keys().copied());
        let ways = self.note_missing_rows(&passages);
        let is_one = |vls: &[u8; 16]| {
            let mut kept = vls.iter().filter(|vl| **vl != VL_DROP);
            let first = kept.next();
            first.is_some() && kept.all(|vl| Some(vl) == first)
        };
        self.has_one_lane = missing == 0 && ways == 0 && known.values().all(is_one);
        Ok(ClassMap::Table(table))
    }

    /// The GUID of the switch or adapter that has this row.
    fn owner(&self, row: &SlVlRow) -> Option<u64> {
        match row.owner {
            GuidOwner::Lid => self.guids.get(&u16::try_from(row.guid).ok()?).copied(),
            _ => Some(row.guid),
        }
    }

    /// Says for how many ways through switches that have a table there is no row in it, and returns
    /// their number.
    fn note_missing_rows(&mut self, known: &BTreeSet<(NodeId, PortId, PortId)>) -> usize {
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
        missing
    }

    /// Enters the lane of the same number for every level, which is what a switch without a table
    /// does, and returns how many switches that are.
    fn fill_with_identity(&self, table: &mut ClassTable, rows: &[(&Source, &SlVlRow)]) -> usize {
        let identity = std::array::from_fn(|level| level as u8);
        for &node in self.topology.switches() {
            let count = self.topology.ports(node).len() as u16;
            for (ingress, egress) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))) {
                let passage = Passage { node, ingress: PortId(ingress), egress: PortId(egress) };
                table.set(passage, identity);
            }
        }
        let guids: BTreeSet<u64> = rows.iter().filter_map(|(_, row)| self.owner(row)).collect();
        self.switches.keys().filter(|guid| !guids.contains(guid)).count()
    }

    /// The service level of every pair.
    pub(super) fn traffic(
        &mut self,
        levels: &[Parsed<'_, Vec<PathSl>>],
        addressed: &Addressed,
    ) -> Result<Traffic, Problems> {
        let Addressed { routes, lids } = addressed;
        let known = levels_by_sender(levels)?;
        let mut lids_of: BTreeMap<NodeId, Vec<u16>> = BTreeMap::new();
        for (lid, host) in &self.lids {
            lids_of.entry(*host).or_default().push(*lid);
        }
        let first_lid = |group| lids[routes.groups.of_host(routes.groups.target(group)).index()];
        self.note_strange_paths(levels, &BTreeSet::from_iter(lids.iter().flatten().copied()));
        let mut demands = Vec::new();
        let mut silent = 0;
        for (&guid, hosts) in &self.adapters {
            for &source in hosts {
                // A list may call a port by what is its own, or by the adapter, which may have the
                // GUID of its first port.
                let own = lids_of.get(&source).into_iter().flatten().copied().map(Sender::Lid);
                let own =
                    own.chain(self.addresses.port_guids.get(&source).copied().map(Sender::Guid));
                let own = own.chain([Sender::Guid(guid)]);
                let own = Vec::from_iter(own.filter_map(|sender| known.get(&sender)));
                silent += usize::from(own.is_empty());
                let level = |lid| own.iter().find_map(|of_sender| of_sender.get(&lid).copied());
                for (group, lid) in (0..).map(GroupId).zip(lids) {
                    let Some(lid) = *lid else { continue };
                    if routes.groups.target(group) == source {
                        continue;
                    }
                    // Lists often have but the first of several LIDs of a port.
                    let found = level(lid).or_else(|| level(first_lid(group)?));
                    let found = found.or_else(|| own.is_empty().then_some(0));
                    let Some(level) = found else {
                        return Err(self.without_level(levels, source, lid));
                    };
                    let lane = Lane { label: level, class: Class(level) };
                    demands.push(Demand { group, lane, source });
                }
            }
        }
        if silent > 0 {
            self.notes.push(format!(
                "{silent} adapters have no service level for any path; they are taken to use level 0"
            ));
        }
        Ok(Traffic::Demands(demands))
    }

    fn note_strange_paths(&mut self, levels: &[Parsed<'_, Vec<PathSl>>], known: &BTreeSet<u16>) {
        let ports = BTreeSet::from_iter(self.addresses.port_guids.values().copied());
        let is_sender = |sender: &Sender| match sender {
            Sender::Guid(guid) => self.adapters.contains_key(guid) || ports.contains(guid),
            Sender::Lid(lid) => self.lids.contains_key(lid),
        };
        // saquery answers for switches, too.
        let is_switch =
            |lid: u16| self.guids.get(&lid).is_some_and(|guid| self.switches.contains_key(guid));
        let is_of_switch = |path: &&PathSl| {
            let sends = matches!(path.sender, Sender::Lid(lid) if is_switch(lid));
            sends || is_switch(path.dlid)
        };
        let paths = levels.iter().flat_map(|file| &file.value).filter(|path| !is_of_switch(path));
        let strange = paths.filter(|path| !is_sender(&path.sender) || !known.contains(&path.dlid));
        let strange = strange.count();
        if strange > 0 {
            self.notes.push(format!(
                "{strange} service levels are of paths from or to nobody in the cabling; is this \
                 list of the same fabric?"
            ));
        }
    }

    fn without_level(
        &self,
        levels: &[Parsed<'_, Vec<PathSl>>],
        source: NodeId,
        lid: u16,
    ) -> Problems {
        let source = &self.topology.node(source).name;
        let message = format!("there is no service level for packets from {source} to LID {lid}");
        let help = "without it no verdict can be trusted; list every pair of adapters";
        let file = levels.first().map_or("", |file| file.source.file.as_str());
        Problems::of_file(file, message, help)
    }
}

/// The service level with which each sender sends to each LID, from files that do not contradict
/// each other.
fn levels_by_sender(
    levels: &[Parsed<'_, Vec<PathSl>>],
) -> Result<BTreeMap<Sender, BTreeMap<u16, u8>>, Problems> {
    let mut by_sender: BTreeMap<Sender, BTreeMap<u16, u8>> = BTreeMap::new();
    for file in levels {
        for path in &file.value {
            let of_sender = by_sender.entry(path.sender).or_default();
            if let Some(before) = of_sender.insert(path.dlid, path.sl)
                && before != path.sl
            {
                let PathSl { sender, dlid, sl, .. } = path;
                let message = format!(
                    "the path from {sender} to LID {dlid} has service level {sl} here, but service \
                     level {before} in another file"
                );
                let problem = Problem::new(path.at.clone(), message);
                return Err(file.source.refuse(problem.help("two dumps? keep one")));
            }
        }
    }
    Ok(by_sender)
}
