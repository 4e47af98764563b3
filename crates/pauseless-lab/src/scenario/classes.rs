//! The section `[classes]`: how the class of a packet changes from hop to hop.

use std::collections::BTreeSet;

use pauseless_core::class_map::{Beyond, ClassMap, ClassTable, Hops, Key, LANE_COUNT, Passage};
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_fabric::dependency::Lane;
use pauseless_fabric::routing::{Algorithm, Routing, port_counts};
use pauseless_fabric::topology::Topology;

use super::file::File;
use super::flows::Plan;
use super::hosts::find_switch;
use super::reader::{At, Item, Place, Section};
use crate::problem::Sink;

/// `[classes]` as it was written.
#[derive(Clone, Debug)]
pub(crate) enum Written {
    Same,
    Hops(Hops),
    Dateline(Place),
    Table { key: Key, rows: Vec<Row> },
}

/// `[[classes.row]]` as it was written.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    classes: [u8; LANE_COUNT],
    passages: Vec<At<String>>,
}

#[derive(Clone, Copy)]
enum Kind {
    Same,
    Hops,
    Dateline,
    Table,
}

/// In the order of the variants.
const KINDS: [(&str, Kind); 4] = [
    ("same", Kind::Same),
    ("hops", Kind::Hops),
    ("dateline", Kind::Dateline),
    ("table", Kind::Table),
];

/// What becomes of a packet after the last class.
const BEYOND: [(&str, Beyond); 2] = [("drop", Beyond::Drop), ("stay", Beyond::Stay)];

/// Writes the keys of classes that count hops.
pub(crate) fn write_hops(file: &mut File, hops: Hops) {
    file.plain("count", hops.count);
    file.plain("width", hops.width);
    let word = BEYOND.iter().find(|(_, beyond)| *beyond == hops.beyond);
    file.text("last", word.expect("both have names").0);
}

impl Written {
    /// Reads `[classes]`, with its place if it is there.
    pub(crate) fn read(root: &mut Section<'_>) -> Option<At<Written>> {
        let mut section = root.table("classes")?;
        let place = section.place.clone();
        let has_kind = section.has("kind");
        let Some(kind) = section.choice("kind", &KINDS) else {
            if !has_kind {
                let words = "\"same\", \"hops\", \"dateline\" or \"table\"";
                section.missing("kind", words);
            }
            section.discard();
            return None;
        };
        let (name, _) = KINDS[kind.value as usize];
        section.set_context(format!(" with kind = {name:?}"));
        let value = match kind.value {
            Kind::Same => Written::Same,
            Kind::Dateline => Written::Dateline(kind.place),
            Kind::Hops => {
                let has_count = section.has("count");
                let count = section.integer("count", 1..=LANE_COUNT as u64);
                if !has_count {
                    section.missing("count", "4, the number of classes");
                }
                let width = section.integer("width", 1..=u64::from(Hops::WIDTH_MAX));
                let beyond = section.choice("last", &BEYOND);
                Written::Hops(Hops {
                    count: count.map_or(1, |count| count.value as u8),
                    width: width.map_or(1, |width| width.value as u8),
                    beyond: beyond.map_or(Beyond::Drop, |beyond| beyond.value),
                })
            }
            Kind::Table => read_table(&mut section),
        };
        section.finish();
        Some(At { value, place })
    }

    /// How classes change in a fabric.
    pub(crate) fn resolve(
        &self,
        topology: &Topology,
        routing: Option<Routing>,
        sink: &Sink,
    ) -> ClassMap {
        match self {
            Written::Same => ClassMap::Same,
            Written::Hops(hops) => ClassMap::Hops(*hops),
            Written::Dateline(place) => match routing.map(|routing| routing.algorithm) {
                Some(Algorithm::DimensionOrder(dimensions)) => {
                    dimensions.dateline_classes(topology)
                }
                _ => {
                    let message = "only routing by dimensions has datelines";
                    let help = "set routing.kind = \"dimension-order\"";
                    sink.push(place.problem(message).help(help));
                    ClassMap::Same
                }
            },
            Written::Table { key, rows } => {
                let mut table = ClassTable::new(*key, port_counts(topology));
                for row in rows {
                    for text in &row.passages {
                        let passages = Passages { topology, sink };
                        passages.read(text, |passage| table.set(passage, row.classes));
                    }
                }
                ClassMap::Table(table)
            }
        }
    }
}

fn read_table(section: &mut Section<'_>) -> Written {
    let has_key = section.has("key");
    let key = section.choice("key", &[("label", Key::Label), ("class", Key::Class)]);
    if !has_key {
        section.missing("key", "\"label\" or key = \"class\"");
    }
    let mut rows = Vec::new();
    for mut row in section.tables("row") {
        let classes = match row.list("classes") {
            Some(list) => read_row(&row, list),
            None => {
                row.missing("classes", "[0, 1, \"drop\"]");
                None
            }
        };
        let has_passages = row.has("passages");
        let passages = row.strings("passages");
        if !has_passages {
            row.missing("passages", "[\"S1: S2 > S3\"]");
        }
        row.finish();
        if let Some((classes, passages)) = classes.zip(passages) {
            let passages = passages.value;
            rows.push(Row { classes, passages });
        }
    }
    let key = key.map_or(Key::Class, |key| key.value);
    Written::Table { key, rows }
}

/// The next class by number; numbers behind the end of the list stay themselves.
fn read_row(section: &Section<'_>, list: At<Vec<Item<'_>>>) -> Option<[u8; LANE_COUNT]> {
    let count = list.value.len();
    if count > LANE_COUNT {
        let problem = list.place.problem(format!("{count} classes stand here"));
        section.report(problem.expected(format!("at most {LANE_COUNT}")));
        return None;
    }
    let mut row = std::array::from_fn(|class| class as u8);
    for (class, item) in row.iter_mut().zip(list.value) {
        if item.is_string() && !item.is_text("drop") {
            let text = item.string()?;
            let problem = text.place.problem(format!("{:?} is no class", text.value));
            let highest = LANE_COUNT - 1;
            let expected = format!("a whole number from 0 to {highest}, or \"drop\"");
            section.report(problem.expected(expected));
            return None;
        }
        *class = match item.is_string() {
            true => ClassTable::DROP,
            false => item.integer(0..=LANE_COUNT as u64 - 1)?.value as u8,
        };
    }
    Some(row)
}

/// Reports flows that can get into a class that the switches do not have.
pub(crate) fn check_count(
    (map, place): (&ClassMap, &Place),
    plans: &[Plan],
    (class_count, sink): (u8, &Sink),
) {
    let lanes = BTreeSet::from_iter(plans.iter().map(|plan| plan.terms.lane()));
    let reach = |lane: &Lane| map.reachable(lane.label, lane.class);
    let reached = lanes.iter().fold(0, |reached, lane| reached | reach(lane));
    let needed = u16::BITS - reached.leading_zeros();
    if needed > u32::from(class_count) {
        let message = format!("flows get into class {} by this", needed - 1);
        let problem = place.problem(message);
        let problem =
            problem.expected(format!("classes below {class_count}, as the switches have"));
        sink.push(match needed as usize <= Class::COUNT_MAX {
            true => problem.help(format!("write switch.classes = {needed}")),
            false => problem.help(format!("a run has at most {} classes", Class::COUNT_MAX)),
        });
    }
    if let ClassMap::Hops(hops) = map
        && let Some(plan) = plans.iter().find(|plan| plan.terms.class >= hops.count)
    {
        let message = format!("class {} counts no hops", plan.terms.class);
        let problem = plan.place.problem(message);
        sink.push(problem.expected(format!(
            "a class below {}, which is classes.count",
            hops.count
        )));
    }
}

/// Reads texts such as `S1: S2 > S3`.
struct Passages<'p> {
    topology: &'p Topology,
    sink: &'p Sink,
}

impl Passages<'_> {
    fn read(&self, text: &At<String>, mut found: impl FnMut(Passage)) {
        let parts = text.value.split_once(':').and_then(|(switch, way)| {
            let (ingress, egress) = way.split_once('>')?;
            Some((switch.trim(), ingress, egress))
        });
        let Some((switch, ingress, egress)) = parts else {
            let message = format!("{:?} is no way through a switch", text.value);
            let problem = text.place.problem(message);
            let expected = "SWITCH: FROM > TO, with * for all";
            self.sink.push(problem.expected(expected));
            return;
        };
        let switches = match switch {
            "*" => self.topology.switches().to_vec(),
            name => {
                let name = At {
                    value: name.to_string(),
                    place: text.place.clone(),
                };
                match find_switch(self.topology, self.sink, &name) {
                    Some(switch) => vec![switch],
                    None => return,
                }
            }
        };
        for node in switches {
            let ingress = self.ports(text, node, ingress);
            let Some((ingress, egress)) = ingress.zip(self.ports(text, node, egress)) else {
                return;
            };
            for &ingress in &ingress {
                for &egress in &egress {
                    found(Passage {
                        node,
                        ingress,
                        egress,
                    });
                }
            }
        }
    }

    /// The ports of `node` towards the neighbours that `names` lists.
    fn ports(&self, text: &At<String>, node: NodeId, names: &str) -> Option<Vec<PortId>> {
        let all = (0..self.topology.ports(node).len()).map(|port| PortId(port as u16));
        let mut ports = Vec::new();
        for name in names.split_whitespace() {
            if name == "*" {
                ports.extend(all.clone());
                continue;
            }
            let name = format!("{}:{name}", self.topology.node(node).name);
            match self.topology.port_named(&name) {
                Ok((_, port)) => ports.push(port),
                Err(error) => {
                    self.sink.push(text.place.problem(error.to_string()));
                    return None;
                }
            }
        }
        if ports.is_empty() {
            let problem = text
                .place
                .problem("no neighbour stands on one side of the >");
            self.sink.push(problem.help("write * for all neighbours"));
            return None;
        }
        Some(ports)
    }
}
