//! Which priorities are lossless where, and which of them packets start in.

use pauseless_text::quantity::counted;
use std::collections::BTreeMap;

use pauseless_core::class_map::LANE_COUNT;
use pauseless_core::id::{Class, NodeId};
use pauseless_fabric::dependency::{Lane, Traffic};

use super::roles::Role;
use super::site::{Ends, Site, SiteEnd};
use super::{list, some};
use crate::import::ethernet::sonic::MapKind;
use pauseless_fabric::fabric::Fabric;

/// What tunnels make of priorities, by switch.
pub(super) type Rows = BTreeMap<NodeId, [u8; LANE_COUNT]>;

/// The priorities of a site.
pub(super) struct Classes<'s, 'd> {
    site: &'s Site<'d>,
    ends: &'s Ends,
    /// All that are lossless at some ingress, a bit each.
    lossless: u8,
    notes: Vec<String>,
}

impl<'s, 'd> Classes<'s, 'd> {
    pub fn new(site: &'s Site<'d>, ends: &'s Ends) -> Classes<'s, 'd> {
        let lossless = site.cables.iter().flatten().filter_map(|end| site.lossless(end));
        let lossless = lossless.fold(0, |mask, classes| mask | classes);
        let mut classes = Classes { site, ends, lossless, notes: Vec::new() };
        classes.note_silence();
        classes.note_disagreements();
        classes
    }

    /// Enters what packets there are and what buffers lose, with what `rows` make of them.
    pub fn enter(mut self, fabric: &mut Fabric, rows: &Rows) {
        let entering = self.entering();
        let mut occurring = u16::from(entering);
        // A packet may pass as many tunnels as there are priorities, and no more matter.
        for _ in 0..u8::BITS {
            for row in rows.values() {
                let set = (0..LANE_COUNT).filter(|class| occurring & 1 << class != 0);
                let next = set.fold(0, |mask, class| mask | 1 << row[class]);
                occurring |= next;
            }
        }
        let lanes = (0..u8::BITS as u8).filter(|class| entering & 1 << class != 0);
        let lanes = lanes.map(|class| Lane { label: class, class: Class(class) });
        fabric.traffic = Traffic::AllPairs(lanes.collect());
        for (cable, ends) in self.site.cables.iter().zip(self.ends) {
            for (end, (node, port)) in cable.iter().zip(ends) {
                let Some(lossless) = self.site.lossless(end) else {
                    continue;
                };
                let lost = occurring & !u16::from(lossless);
                if lost != 0 {
                    fabric.lossy.add(*node, *port, lost);
                }
            }
        }
        fabric.notes.append(&mut self.notes);
    }

    /// The priorities in which hosts can send: lossless somewhere, and such that some port that
    /// faces a host maps packets to them. Where no file has the map, hosts can use all.
    fn entering(&mut self) -> u8 {
        let mut possible = if self.site.implied.is_empty() { 0 } else { u8::MAX };
        for [a, b] in &self.site.cables {
            for (host, switch) in [(a, b), (b, a)] {
                if self.site.nodes[host.node].role == Role::Host {
                    possible |= self.mapped(switch);
                }
            }
        }
        let only_between = self.lossless & !possible;
        if only_between != 0 {
            self.notes.push(format!(
                "no port that faces a host maps packets to priority {}, though it is lossless \
                 elsewhere; hosts are taken to send none in it",
                list(only_between)
            ));
        }
        self.lossless & possible
    }

    /// The priorities that the maps of a port lead to, a bit each; all if it has no map.
    fn mapped(&self, end: &SiteEnd) -> u8 {
        let config = self.site.nodes[end.node].config;
        let qos = config.zip(end.port.as_deref());
        let Some((config, qos)) =
            qos.and_then(|(config, port)| Some((config, config.port_qos.get(port)?)))
        else {
            return u8::MAX;
        };
        let kinds = [MapKind::DscpToTc, MapKind::Dot1pToTc].into_iter();
        let names = kinds.filter_map(|kind| Some((kind, qos.maps.get(&kind)?.clone())));
        let maps = Vec::from_iter(names.filter_map(|key| config.maps.get(&key)));
        if maps.is_empty() {
            return u8::MAX;
        }
        let values = maps.iter().flat_map(|map| map.entries.values());
        values.fold(0, |mask, class| mask | 1u8.checked_shl(u32::from(*class)).unwrap_or(0))
    }

    /// Switches of which no file says what they lose: they are taken to lose nothing.
    fn note_silence(&mut self) {
        let nodes = self.site.nodes.iter().filter(|node| node.is_cabled);
        let switches = nodes.filter(|node| node.role == Role::Switch);
        let (says, silent): (Vec<_>, Vec<_>) = switches.partition(|node| node.says_lossless());
        if self.lossless == 0 && silent.is_empty() {
            let note = "no port is lossless in any priority: nothing can deadlock, and anything \
                        can get lost";
            self.notes.push(note.to_string());
            return;
        }
        if self.lossless == 0 {
            self.lossless = 1 << PRIORITY_UNKNOWN;
            self.notes.push(format!(
                "the files name no lossless priority; {PRIORITY_UNKNOWN} is assumed, which is \
                 usual for RoCE"
            ));
        }
        if !silent.is_empty() && !says.is_empty() {
            let names = Vec::from_iter(silent.iter().map(|node| node.name.clone()));
            self.notes.push(format!(
                "no file says which priorities are lossless at {}, taken for lossless in {}: {}",
                counted(names.len(), "switch"),
                list(self.lossless),
                some(&names)
            ));
        }
    }

    /// Cables with PFC at one end only: the other end goes on sending when it should pause.
    fn note_disagreements(&mut self) {
        let mut found = Vec::new();
        for cable in &self.site.cables {
            let [one, other] = cable.each_ref().map(|end| self.site.lossless(end));
            if let (Some(one), Some(other)) = (one, other)
                && one != other
            {
                let names = cable.each_ref().map(|end| self.site.end_name(end));
                let (one, other) = (list(one), list(other));
                found.push(format!("{} ({one}) and {} ({other})", names[0], names[1]));
            }
        }
        if !found.is_empty() {
            self.notes.push(format!(
                "the ends of {} have different lossless priorities; PAUSE frames of one end mean \
                 nothing to the other, so that packets get lost: {}",
                counted(found.len(), "cable"),
                some(&found)
            ));
        }
    }
}

/// The priority of packets where the files name none.
const PRIORITY_UNKNOWN: u8 = 3;
