//! A fabric as a file of our own.

use std::collections::{BTreeMap, BTreeSet};

use pauseless_core::class_map::{ClassMap, ClassTable, Key, LANE_COUNT, Passage};
use pauseless_core::id::{GroupId, NodeId, PortId};
use pauseless_fabric::dependency::{Demand, Lane, Traffic};
use pauseless_fabric::routing::{Algorithm, Multipath, RouteBuilder, Routes, Routing, TieBreak};
use pauseless_fabric::topology::{NodeKind, Topology};
use pauseless_fabric::trace::{Header, circle, trace};

use super::super::{Fabric, Medium, Origin};
use crate::scenario::classes::write_hops;
use crate::scenario::file::{File, key, quote};
use crate::scenario::lanes::write_lane;
use crate::scenario::routing::{Address, addresses, facing, spans, write_tables, written_rule};
use crate::scenario::unit::Quantity;

/// The file that reads back as the same fabric.
pub fn write(fabric: &Fabric) -> String {
    let mut file = File::default();
    file.line("# A fabric file of pauseless; docs/fabric.md describes it.");
    if fabric.medium != Medium::Ethernet {
        file.text("medium", fabric.medium.name());
    }
    if !fabric.notes.is_empty() {
        file.texts_wrapped("notes", fabric.notes.iter().cloned());
    }
    let rule = rule(fabric);
    if let Some(Multipath::Single {
        tie_break: TieBreak::Seeded(seed),
    }) = rule.map(|rule| rule.multipath)
    {
        file.plain("seed", seed);
    }
    write_topology(&mut file, fabric);
    file.section("[routing]");
    match rule {
        Some(rule) => {
            for (key, word) in written_rule(rule) {
                file.text(key, word);
            }
        }
        None => {
            file.text("kind", "tables");
            let Routes { table, groups } = &fabric.routes;
            write_tables(&mut file, &fabric.topology, table, groups);
        }
    }
    write_classes(&mut file, &fabric.topology, &fabric.classes);
    match &fabric.traffic {
        Traffic::AllPairs(lanes) => write_lanes(&mut file, lanes),
        Traffic::Demands(demands) => write_demands(&mut file, fabric, demands),
    }
    write_lossy(&mut file, fabric);
    file.text
}

/// The rule that gives the very same routes, if there is one that any fabric can have.
fn rule(fabric: &Fabric) -> Option<Routing> {
    let Origin::Rule(rule) = fabric.origin else {
        return None;
    };
    if let Algorithm::DimensionOrder(_) = rule.algorithm {
        // What is written has nodes and links, and no dimensions.
        return None;
    }
    let again = RouteBuilder::new(&fabric.topology, rule).build();
    (again == fabric.routes).then_some(rule)
}

fn write_topology(file: &mut File, fabric: &Fabric) {
    let topology = &fabric.topology;
    file.section("[topology]");
    file.text("kind", "custom");
    let rate = most_common(topology.links().iter().map(|link| link.rate));
    let delay = most_common(topology.links().iter().map(|link| link.delay));
    if let Some((rate, delay)) = rate.zip(delay) {
        file.quantity("rate", rate);
        file.quantity("delay", delay);
    }
    file.line("node = [");
    for (number, node) in topology.nodes().iter().enumerate() {
        let kind = match node.kind {
            NodeKind::Switch => "switch",
            NodeKind::Host => "host",
        };
        let mut line = format!("    {{ name = {}, kind = {kind:?}", quote(&node.name));
        if node.kind == NodeKind::Switch && node.layer != 1 {
            line.push_str(&format!(", layer = {}", node.layer));
        }
        if let Some(device) = fabric.names.device(NodeId(number as u32)) {
            if !device.description.is_empty() {
                line.push_str(&format!(", description = {}", quote(&device.description)));
            }
            if let Some(guid) = device.guid {
                line.push_str(&format!(", guid = \"{guid:#018x}\""));
            }
        }
        file.line(line + " },");
    }
    file.line("]");
    file.line("link = [");
    let mut next = vec![0; topology.nodes().len()];
    for link in topology.links() {
        let ends = [link.a, link.b];
        let names = ends.map(|end| quote(&topology.node(end).name));
        let mut line = format!("    {{ between = [{}, {}]", names[0], names[1]);
        let ports = ends.map(|end| {
            let port = PortId(next[end.index()]);
            next[end.index()] += 1;
            fabric.names.port(end, port).unwrap_or("")
        });
        if ports != ["", ""] {
            let [a, b] = ports.map(quote);
            line.push_str(&format!(", ports = [{a}, {b}]"));
        }
        if Some(link.rate) != rate {
            line.push_str(&format!(", rate = {}", quote(&link.rate.exact())));
        }
        if Some(link.delay) != delay {
            line.push_str(&format!(", delay = {}", quote(&link.delay.exact())));
        }
        file.line(line + " },");
    }
    file.line("]");
}

fn most_common<T: Copy + Ord>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut counts: BTreeMap<T, usize> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map(|(value, _)| value)
}

/// Writes `[classes]`, unless packets stay in theirs.
pub(crate) fn write_classes(file: &mut File, topology: &Topology, classes: &ClassMap) {
    match classes {
        ClassMap::Same => {}
        ClassMap::Hops(hops) => {
            file.section("[classes]");
            file.text("kind", "hops");
            write_hops(file, *hops);
        }
        ClassMap::Table(table) => {
            file.section("[classes]");
            file.text("kind", "table");
            let key = match table.key() {
                Key::Label => "label",
                Key::Class => "class",
            };
            file.text("key", key);
            for (row, passages) in rows(topology, table) {
                file.section("[[classes.row]]");
                file.plain("classes", format_args!("[{}]", write_row(&row)));
                file.texts_wrapped("passages", passages);
            }
        }
    }
}

type ClassRow = [u8; LANE_COUNT];

/// The row that leaves every class as it is, in a table by class.
const IDENTITY: ClassRow = {
    let mut row = [0; LANE_COUNT];
    let mut class = 0;
    while class < LANE_COUNT {
        row[class] = class as u8;
        class += 1;
    }
    row
};

/// The next classes; of some that change, those behind them need not be written.
fn write_row(row: &ClassRow) -> String {
    let changed = row.iter().zip(IDENTITY).rposition(|(a, b)| *a != b);
    let words = row[..changed.map_or(LANE_COUNT, |last| last + 1)].iter();
    let words = words.map(|class| match *class {
        ClassTable::DROP => "\"drop\"".to_string(),
        class => class.to_string(),
    });
    Vec::from_iter(words).join(", ")
}

/// The rows with the ways through switches that have them. The most common one comes first and
/// stands for all switches, if that leaves no way without a row.
fn rows(topology: &Topology, table: &ClassTable) -> Vec<(ClassRow, Vec<String>)> {
    let row = |passage| match (table.row(passage).copied(), table.key()) {
        (None, Key::Class) => Some(IDENTITY),
        (row, _) => row,
    };
    let mut counts: BTreeMap<Option<ClassRow>, usize> = BTreeMap::new();
    for passage in topology
        .switches()
        .iter()
        .flat_map(|s| passages(topology, *s))
    {
        *counts.entry(row(passage)).or_default() += 1;
    }
    let common = counts.iter().max_by_key(|(_, count)| **count);
    let common = common.and_then(|(row, _)| *row);
    let common = common.filter(|_| !counts.contains_key(&None));
    let mut texts: BTreeMap<ClassRow, Vec<String>> = BTreeMap::new();
    for &switch in topology.switches() {
        let mut ways: BTreeMap<ClassRow, Vec<Passage>> = BTreeMap::new();
        for passage in passages(topology, switch) {
            if let Some(row) = row(passage).filter(|row| Some(*row) != common) {
                ways.entry(row).or_default().push(passage);
            }
        }
        for (row, ways) in ways {
            let all = texts.entry(row).or_default();
            all.extend(write_passages(topology, switch, &ways));
        }
    }
    let is_default = |row: &ClassRow| table.key() == Key::Class && *row == IDENTITY;
    let first = common.filter(|row| !is_default(row));
    let first = first.map(|row| (row, vec!["*: * > *".to_string()]));
    // Where nothing stands for all, a table by class says nothing of what stays itself.
    let is_said = first.is_some();
    let others = texts
        .into_iter()
        .filter(|(row, _)| is_said || !is_default(row));
    first.into_iter().chain(others).collect()
}

/// All ways through a switch.
fn passages(topology: &Topology, node: NodeId) -> impl Iterator<Item = Passage> {
    let count = topology.ports(node).len() as u16;
    let pairs = (0..count).flat_map(move |a| (0..count).map(move |b| (PortId(a), PortId(b))));
    pairs.map(move |(ingress, egress)| Passage {
        node,
        ingress,
        egress,
    })
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
    let side = |ports: &[PortId]| match ports.len() == topology.ports(switch).len() {
        true => "*".to_string(),
        false => {
            let names = ports.iter().map(|port| facing(topology, switch, *port));
            Vec::from_iter(names).join(" ")
        }
    };
    let name = &topology.node(switch).name;
    let texts = ingresses
        .iter()
        .map(|(to, from)| format!("{name}: {} > {}", side(from), side(to)));
    texts.collect()
}

fn write_lanes(file: &mut File, lanes: &[Lane]) {
    if lanes == [Lane::ONLY] {
        return;
    }
    if lanes.is_empty() {
        return file.section("[lanes.pairs]");
    }
    file.section("[lanes]");
    let lanes = lanes.iter().map(|lane| match lane.label == lane.class.0 {
        true => write_lane(*lane),
        false => quote(&write_lane(*lane)),
    });
    let lanes = Vec::from_iter(lanes).join(", ");
    file.plain("classes", format_args!("[{lanes}]"));
}

fn write_demands(file: &mut File, fabric: &Fabric, demands: &[Demand]) {
    let Fabric {
        topology, routes, ..
    } = fabric;
    let known = addresses(topology, &routes.groups);
    let by_group = known.iter().map(|address| (address.group, *address));
    let by_group: BTreeMap<GroupId, Address> = by_group.collect();
    let has_paths = demands
        .iter()
        .any(|demand| !by_group.contains_key(&demand.group));
    if has_paths || fabric.origin == Origin::Flows {
        let flows = demands.iter().map(|demand| Flow::new(fabric, *demand));
        // The order of demands is that of groups, which other files number differently.
        let flows: BTreeSet<Flow<'_>> = flows.collect();
        for flow in flows {
            flow.write(file);
        }
        return;
    }
    file.section("[lanes.pairs]");
    let mut by_source: BTreeMap<NodeId, BTreeMap<Lane, Vec<Address>>> = BTreeMap::new();
    for demand in demands {
        let lanes = by_source.entry(demand.source).or_default();
        let targets = lanes.entry(demand.lane).or_default();
        targets.push(by_group[&demand.group]);
    }
    for (source, lanes) in by_source {
        let name = &topology.node(source).name;
        file.section(&format!("[lanes.pairs.{}]", key(name)));
        for (lane, mut targets) in lanes {
            targets.sort_unstable();
            targets.dedup();
            let hosts = spans(targets).into_iter();
            let hosts = hosts.flat_map(|span| span.write(topology));
            file.texts_wrapped(&key(&write_lane(lane)), hosts);
        }
    }
}

/// A demand as a flow.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Flow<'f> {
    source: &'f str,
    target: &'f str,
    class: u8,
    label: u8,
    /// The switches of a path of its own, or of the way to a loop.
    path: Option<Vec<String>>,
    /// The switches of the loop.
    round: Vec<String>,
}

impl<'f> Flow<'f> {
    fn new(fabric: &'f Fabric, demand: Demand) -> Flow<'f> {
        let Fabric {
            topology, routes, ..
        } = fabric;
        let target = routes.groups.target(demand.group);
        let header = Header {
            source: demand.source,
            group: demand.group,
            hash: 0,
        };
        let is_pinned = demand.group != routes.groups.of_host(target);
        let peers = |hops: &[(NodeId, PortId)]| {
            let steps = hops.iter();
            let steps = steps.map(|(node, port)| facing(topology, *node, *port));
            Vec::from_iter(steps)
        };
        let (mut path, mut round) = (None, Vec::new());
        if is_pinned && let Some(circle) = circle(topology, &routes.table, header) {
            // The last step of the way there enters the loop, the last of the loop closes it.
            path = Some(peers(&circle.lead[..circle.lead.len() - 1]));
            round = peers(&circle.round);
            round.rotate_right(1);
        } else if is_pinned {
            let hops = trace(topology, &routes.table, header).ok();
            path = hops.map(|hops| peers(&hops[..hops.len() - 1]));
        }
        Flow {
            source: &topology.node(demand.source).name,
            target: &topology.node(target).name,
            class: demand.lane.class.0,
            label: demand.lane.label,
            path,
            round,
        }
    }

    fn write(self, file: &mut File) {
        file.section("[[flow]]");
        file.text("source", self.source);
        file.text("target", self.target);
        if let Some(path) = self.path {
            file.texts("path", path);
        }
        if !self.round.is_empty() {
            file.texts("loop", self.round);
        }
        if self.class > 0 {
            file.plain("class", self.class);
        }
        if self.label != self.class {
            file.plain("label", self.label);
        }
    }
}

/// The lossy classes of each port of a switch, ports that are alike together.
fn write_lossy(file: &mut File, fabric: &Fabric) {
    let topology = &fabric.topology;
    let mut alike: BTreeMap<u16, Vec<String>> = BTreeMap::new();
    let mut port_count = 0;
    for &switch in topology.switches() {
        for number in 0..topology.ports(switch).len() {
            let port = PortId(number as u16);
            port_count += 1;
            let classes = fabric.lossy.at(switch, port);
            if classes != 0 {
                let name = topology.port_name(switch, port);
                alike.entry(classes).or_default().push(name);
            }
        }
    }
    for (classes, ports) in alike {
        file.section("[[lossy]]");
        match ports.len() == port_count {
            true => file.texts("ports", ["*".to_string()]),
            false => file.texts_wrapped("ports", ports),
        }
        let numbers = (0..LANE_COUNT).filter(|class| classes >> class & 1 == 1);
        let numbers = Vec::from_iter(numbers.map(|class| class.to_string()));
        file.plain("classes", format_args!("[{}]", numbers.join(", ")));
    }
}
