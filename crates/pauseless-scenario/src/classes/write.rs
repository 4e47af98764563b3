//! How classes change, as the keys of `[classes]`.

use std::collections::BTreeMap;

use pauseless_core::class_map::{self, ClassMap, ClassTable, Passage};
use pauseless_core::id::{NodeId, PortId};
use pauseless_fabric::topology::Topology;

use super::super::routing::facing;
use super::{ClassRule, NextClasses, Row, TableKeys};
use pauseless_text::declare::{Key, Tables};

impl ClassRule {
    /// The keys that say the same as `classes`.
    pub(crate) fn of(topology: &Topology, classes: &ClassMap) -> ClassRule {
        match classes {
            ClassMap::Same => ClassRule::Same,
            ClassMap::Hops(hops) => ClassRule::Hops(*hops),
            ClassMap::Table(table) => {
                let rows = rows(topology, table).into_iter().map(|(classes, passages)| Row {
                    classes: Key::of(classes),
                    passages: Key::of(passages.into_iter().collect()),
                    ..Row::default()
                });
                ClassRule::Table(TableKeys {
                    key: Key::of(table.key()),
                    row: Key::of(Tables(rows.collect())),
                    ..TableKeys::default()
                })
            }
        }
    }
}

/// The rows with the ways through switches that have them. The most common one comes first and
/// stands for all switches, if that leaves no way without a row.
fn rows(topology: &Topology, table: &ClassTable) -> Vec<(NextClasses, Vec<String>)> {
    let row = |passage| match (table.row(passage).copied().map(NextClasses), table.key()) {
        (None, class_map::Key::Class) => Some(NextClasses::IDENTITY),
        (row, _) => row,
    };
    let mut counts: BTreeMap<Option<NextClasses>, usize> = BTreeMap::new();
    for passage in topology.switches().iter().flat_map(|s| passages(topology, *s)) {
        *counts.entry(row(passage)).or_default() += 1;
    }
    let common = counts.iter().max_by_key(|(_, count)| **count).and_then(|(row, _)| *row);
    let common = common.filter(|_| !counts.contains_key(&None));
    let mut texts: BTreeMap<NextClasses, Vec<String>> = BTreeMap::new();
    for &switch in topology.switches() {
        let mut ways: BTreeMap<NextClasses, Vec<Passage>> = BTreeMap::new();
        for passage in passages(topology, switch) {
            if let Some(row) = row(passage).filter(|row| Some(*row) != common) {
                ways.entry(row).or_default().push(passage);
            }
        }
        for (row, ways) in ways {
            texts.entry(row).or_default().extend(write_passages(topology, switch, &ways));
        }
    }
    let is_default =
        |row: &NextClasses| table.key() == class_map::Key::Class && *row == NextClasses::IDENTITY;
    let first = common.filter(|row| !is_default(row));
    let first = first.map(|row| (row, vec!["*: * > *".to_string()]));
    // Where nothing stands for all, a table by class says nothing of what stays itself.
    let is_said = first.is_some();
    let others = texts.into_iter().filter(|(row, _)| is_said || !is_default(row));
    first.into_iter().chain(others).collect()
}

/// All ways through a switch.
fn passages(topology: &Topology, node: NodeId) -> impl Iterator<Item = Passage> {
    let count = topology.ports(node).len() as u16;
    let pairs = (0..count).flat_map(move |a| (0..count).map(move |b| (PortId(a), PortId(b))));
    pairs.map(move |(ingress, egress)| Passage { node, ingress, egress })
}

/// These ways through a switch, those with the same egresses together.
fn write_passages(topology: &Topology, switch: NodeId, ways: &[Passage]) -> Vec<String> {
    let mut egresses: BTreeMap<PortId, Vec<PortId>> = BTreeMap::new();
    for way in ways {
        egresses.entry(way.ingress).or_default().push(way.egress);
    }
    let mut ingresses: BTreeMap<Vec<PortId>, Vec<PortId>> = BTreeMap::new();
    for (ingress, egresses) in egresses {
        ingresses.entry(egresses).or_default().push(ingress);
    }
    let side = |ports: &[PortId]| {
        if ports.len() == topology.ports(switch).len() {
            "*".to_string()
        } else {
            Vec::from_iter(ports.iter().map(|port| facing(topology, switch, *port))).join(" ")
        }
    };
    let name = &topology.node(switch).name;
    ingresses.iter().map(|(to, from)| format!("{name}: {} > {}", side(from), side(to))).collect()
}
