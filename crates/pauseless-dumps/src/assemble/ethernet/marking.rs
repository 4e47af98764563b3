//! How switches understand the code points of packets: DSCP to priority at every hop, and whether
//! a PAUSE frame stops the queue that it is meant for.
//!
//! A priority is told by the PFC class that protects the group that packets are charged to, or by
//! their traffic class where none does. Code points that all switches understand alike are one.

use std::collections::{BTreeMap, BTreeSet};

use pauseless_core::class_map::{ClassMap, ClassTable, Key, LANE_COUNT, Passage};
use pauseless_core::id::{Class, PortId};
use pauseless_fabric::dependency::Lane;
use pauseless_fabric::fabric::Fabric;
use pauseless_fabric::routing::port_counts;
use pauseless_text::quantity;

use super::roles::Role;
use super::site::{Ends, Site, SiteEnd};
use crate::import::ethernet::sonic::{MapKind, PortQos, QosMap, SwitchConfig};

/// The code points of a site that some host can send losslessly.
pub(super) struct Marking {
    /// Those that are understood alike, as groups.
    marks: Vec<Mark>,
    /// By cable and side, the row of that end; `None` where no map is known.
    rows: Vec<[Option<Row>; 2]>,
}

/// Code points that all switches understand alike.
struct Mark {
    dscps: Vec<u8>,
    /// The priority where hosts send them.
    class: u8,
    /// What packets carry for them.
    label: u8,
    /// Whether some switch charges them to another priority.
    differs: bool,
}

/// How one end of a cable understands packets that come in there, and stops those that leave.
struct Row {
    /// The priority of each code point.
    classes: [u8; CODE_POINTS],
    /// The priorities that do not lose packets, a bit each.
    lossless: u8,
    /// The traffic class of each code point.
    traffic: [u8; CODE_POINTS],
}

impl Row {
    /// The row of a port; `None` if its configuration has no map from DSCP.
    fn new(config: &SwitchConfig, port: &str) -> Option<Row> {
        let qos = config.port_qos.get(port)?;
        let global = || map_of(config, config.port_qos.get("global")?, MapKind::DscpToTc);
        let dscp_to_tc = map_of(config, qos, MapKind::DscpToTc).or_else(global)?;
        let tc_to_group = map_of(config, qos, MapKind::TcToPriorityGroup);
        let lossless = config.lossless_classes(port);
        let (mut classes, mut traffic) = ([0; CODE_POINTS], [0; CODE_POINTS]);
        for dscp in 0..CODE_POINTS {
            // What a map does not list goes to traffic class 0.
            let tc = dscp_to_tc.entries.get(&(dscp as u8)).copied().unwrap_or(0);
            let group = tc_to_group.map_or(Some(tc), |map| map.entries.get(&tc).copied());
            let group = group.unwrap_or(0);
            let protects = |class: &u8| {
                lossless & 1 << class != 0 && config.group_of(qos, *class) == bit(group)
            };
            let lossy = |class: &u8| *class < 8 && lossless & 1 << class == 0;
            let outside = || [tc, group].into_iter().chain(0..8).find(lossy);
            classes[dscp] = (0..8).find(protects).or_else(outside).unwrap_or(tc.min(7));
            traffic[dscp] = tc;
        }
        Some(Row { classes, lossless, traffic })
    }

    fn is_lossless(&self, dscp: u8) -> bool {
        self.lossless & 1 << self.classes[usize::from(dscp)] != 0
    }
}

impl Marking {
    pub fn new(site: &Site) -> Marking {
        let row = |end: &SiteEnd| Row::new(site.nodes[end.node].config?, end.port.as_deref()?);
        let rows = site.cables.iter().map(|cable| cable.each_ref().map(row));
        let mut marking = Marking { marks: Vec::new(), rows: rows.collect() };
        let mut alike: BTreeMap<Vec<Option<u8>>, Vec<u8>> = BTreeMap::new();
        for dscp in 0..CODE_POINTS as u8 {
            if marking.entering(site, dscp).is_some() {
                let ends = marking.rows.iter().flatten();
                let classes = ends.map(|row| row.as_ref().map(|it| it.classes[usize::from(dscp)]));
                alike.entry(classes.collect()).or_default().push(dscp);
            }
        }
        let mut groups = Vec::from_iter(alike);
        groups.sort_by(|a, b| a.1.cmp(&b.1));
        let mut taken = BTreeSet::new();
        for (classes, dscps) in groups {
            let class = marking.entering(site, dscps[0]).unwrap_or(0);
            let differs = classes.iter().flatten().any(|other| *other != class);
            let mut labels = std::iter::once(class).chain(0..LANE_COUNT as u8);
            // More groups than labels share the last one; no released template has more than four.
            let label = labels.find(|label| !taken.contains(label)).unwrap_or(15);
            taken.insert(label);
            marking.marks.push(Mark { dscps, class, label, differs });
        }
        marking
    }

    /// Whether some packets change their priority on the way.
    pub fn differs(&self) -> bool {
        self.marks.iter().any(|mark| mark.differs)
    }

    /// The lossless priority that hosts send a code point in: as ports that face hosts say, or
    /// where there are none any port of a switch that is given one.
    fn entering(&self, site: &Site, dscp: u8) -> Option<u8> {
        let mut found = None;
        for (cable, rows) in site.cables.iter().zip(&self.rows) {
            for (end, far, row) in
                [(&cable[0], &cable[1], &rows[0]), (&cable[1], &cable[0], &rows[1])]
            {
                let faces_host = site.nodes[far.node].role == Role::Host;
                let is_asked = faces_host || site.implied.contains(&end.node);
                let row = row.as_ref().filter(|row| is_asked && row.is_lossless(dscp));
                found = found.or(row.map(|row| row.classes[usize::from(dscp)]));
            }
        }
        found
    }

    /// The lanes of packets, one for each group of code points.
    pub fn lanes(&self) -> Vec<Lane> {
        let lanes = self.marks.iter();
        let lanes = lanes.map(|mark| Lane { label: mark.label, class: Class(mark.class) });
        Vec::from_iter(lanes.collect::<BTreeSet<Lane>>())
    }

    /// Enters what packets carry, and who does not stop for whom. The names are of labels if
    /// priorities change, else of the priorities.
    pub fn tell(&self, site: &Site, ends: &Ends, fabric: &mut Fabric) {
        for mark in &self.marks {
            let number = if self.differs() { mark.label } else { mark.class };
            let name = names(&mark.dscps);
            fabric.evidence.labels.entry(number).or_insert(name);
        }
        for ((cable, rows), ends) in site.cables.iter().zip(&self.rows).zip(ends) {
            for (near, far) in [(0, 1), (1, 0)] {
                let (Some(from), Some(into)) = (&rows[near], &rows[far]) else {
                    continue;
                };
                for mark in &self.marks {
                    let number = if self.differs() { mark.label } else { mark.class };
                    let dscp = mark.dscps[0];
                    let class = into.classes[usize::from(dscp)];
                    let tc = from.traffic[usize::from(dscp)];
                    if into.is_lossless(dscp) && !obeys(site, &cable[near], class, tc) {
                        let (node, port) = ends[near];
                        fabric.evidence.deaf.insert((node, port, number));
                    }
                }
            }
        }
    }

    /// Enters what every switch makes of every label, and which priorities it loses.
    pub fn enter(&self, ends: &Ends, fabric: &mut Fabric) {
        let topology = &fabric.topology;
        let mut table = ClassTable::new(Key::Label, port_counts(topology));
        for (rows, ends) in self.rows.iter().zip(ends) {
            for (near, far) in [(0, 1), (1, 0)] {
                let Some(into) = &rows[far] else {
                    continue;
                };
                let mut row: [u8; LANE_COUNT] = std::array::from_fn(|label| label as u8);
                let mut lost = 0;
                for mark in &self.marks {
                    let class = into.classes[usize::from(mark.dscps[0])];
                    row[usize::from(mark.label)] = class;
                    lost |= bit(class) & !into.lossless;
                }
                let ((node, egress), (next, ingress)) = (ends[near], ends[far]);
                if !topology.is_host(node) {
                    for number in 0..topology.ports(node).len() {
                        let ingress = PortId(number as u16);
                        table.set(Passage { node, ingress, egress }, row);
                    }
                }
                if lost != 0 && !topology.is_host(next) {
                    fabric.lossy.add(next, ingress, u16::from(lost));
                }
            }
        }
        fabric.classes = ClassMap::Table(table);
    }
}

/// Whether a PAUSE in `class` that comes to this end stops the queue of traffic class `tc`.
fn obeys(site: &Site, end: &SiteEnd, class: u8, tc: u8) -> bool {
    let config = site.nodes[end.node].config.zip(end.port.as_deref());
    let Some((config, qos)) =
        config.and_then(|(config, port)| Some((config, config.port_qos.get(port)?)))
    else {
        return true;
    };
    // Queues have the numbers of their classes where no map says otherwise.
    let mapped = |kind, from: u8| {
        let map = map_of(config, qos, kind);
        map.and_then(|map| map.entries.get(&from).copied()).unwrap_or(from)
    };
    let stopped = mapped(MapKind::PfcToQueue, class);
    qos.pfc_enable & bit(class) != 0 && stopped == mapped(MapKind::TcToQueue, tc)
}

fn map_of<'c>(config: &'c SwitchConfig, qos: &PortQos, kind: MapKind) -> Option<&'c QosMap> {
    config.maps.get(&(kind, qos.maps.get(&kind)?.clone()))
}

fn bit(number: u8) -> u8 {
    1u8.checked_shl(u32::from(number)).unwrap_or(0)
}

fn names(dscps: &[u8]) -> String {
    let numbers = Vec::from_iter(dscps.iter().map(u8::to_string));
    format!("DSCP {}", quantity::some(numbers.iter(), 4))
}

const CODE_POINTS: usize = 64;
