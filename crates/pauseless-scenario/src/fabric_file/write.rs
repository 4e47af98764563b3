//! A fabric as a file of our own.

use std::collections::{BTreeMap, BTreeSet};

use pauseless_core::id::{GroupId, NodeId, PortId};
use pauseless_fabric::dependency::{Demand, Lane, Traffic};
use pauseless_fabric::routing::{Algorithm, Multipath, RouteBuilder, Routing, TieBreak};
use pauseless_fabric::trace::{Header, circle, trace};

use crate::check_only::CheckKeys;
use crate::classes::ClassRule;
pub use crate::custom::Custom;
use crate::flows;
use crate::lanes::{Lanes, Lossy};
use crate::routing::{self, Address, Rule, TableKeys, facing};
use crate::topology::{Common, Layout, NAME, Network};
use crate::{General, chosen};
use pauseless_fabric::fabric::{Fabric, Origin};
use pauseless_text::declare::{Entry, Filled, Key, Place, Tables, Written, list};
use pauseless_text::file::{File, TableStyle};

/// The file that reads back as the same fabric.
pub fn write(fabric: &Fabric) -> String {
    let mut file = File::default();
    file.line("# A fabric file of pauseless; docs/fabric.md describes it.");
    let flows = flows(fabric);
    let keys = CheckKeys {
        medium: Filled::new(fabric.medium),
        notes: Filled::new(fabric.notes.iter().cloned().collect()),
        lanes: match flows {
            Some(_) => Key::default(),
            None => lanes(fabric),
        },
        lossy: Key::of(Tables(lossy(fabric))),
        ..CheckKeys::default()
    };
    // What the packets are stands behind the fabric that they cross.
    let (sections, plain): (Vec<Entry>, _) =
        keys.entries().into_iter().partition(|entry| entry.node.is_section());
    file.entries(&plain);
    let rule = rule(fabric);
    let seed = rule.and_then(|rule| match rule.multipath {
        Multipath::Single { tie_break: TieBreak::Seeded(seed) } => Some(seed),
        _ => None,
    });
    if let Some(seed) = seed {
        let general = General {
            // With a place, because the routes need it written even where it is the default.
            seed: Filled::at(seed, &Place::new("the rule", 0..0)),
            ..General::default()
        };
        chosen(&general).write(&mut file);
    }
    write_topology(&mut file, fabric);
    let rule = match rule {
        Some(rule) => Rule::of(rule, seed.unwrap_or_default()),
        None => Rule::Tables(TableKeys::of(
            &fabric.topology,
            &fabric.routes.table,
            &fabric.routes.groups,
        )),
    };
    file.table(routing::NAME, &rule);
    ClassRule::of(&fabric.topology, &fabric.classes).write(&mut file);
    for flow in flows.into_iter().flatten() {
        file.one_of(flows::FLOW, &chosen(&flow.section()));
    }
    file.path.clear();
    file.entries(&sections);
    file.text
}

/// The sections `[topology]` and `[routing]` of a scenario with this general seed. Nodes, ports and links
/// have the numbers that they have in the fabric, and routes are those of `routing`.
pub fn network(fabric: &Fabric, routing: Routing, seed: u64) -> String {
    let mut file = File::default();
    write_topology(&mut file, fabric);
    file.table(routing::NAME, &Rule::of(routing, seed));
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

/// All nodes and links, one on a line.
fn write_topology(file: &mut File, fabric: &Fabric) {
    let links = fabric.topology.links();
    let rate = most_common(links.iter().map(|link| link.rate));
    let delay = most_common(links.iter().map(|link| link.delay));
    let common = Common {
        rate: rate.map_or(Key::default(), Key::of),
        delay: delay.map_or(Key::default(), Key::of),
        ..Common::default()
    };
    let custom = Custom::of(&fabric.topology, &common, &fabric.names);
    let network = Network { common, layout: Some(Layout::Custom(custom)) };
    file.tables = TableStyle::Inline;
    file.table(NAME, &network);
    file.tables = TableStyle::Sections;
}

fn most_common<T: Copy + Ord>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut counts: BTreeMap<T, usize> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(value, _)| value)
}

/// The packets, unless every host sends to every other one in class 0.
fn lanes(fabric: &Fabric) -> Key<Lanes> {
    match &fabric.traffic {
        Traffic::AllPairs(lanes) if lanes[..] == [Lane::ONLY] => Key::default(),
        Traffic::AllPairs(lanes) => Key::of(Lanes::of_all(lanes)),
        Traffic::Demands(demands) => {
            let addresses = addresses(fabric);
            Key::of(Lanes::of_demands(&fabric.topology, demands, &addresses))
        }
    }
}

/// The addresses by which everybody may send.
fn addresses(fabric: &Fabric) -> BTreeMap<GroupId, Address> {
    let known = routing::addresses(&fabric.topology, &fabric.routes.groups).into_iter();
    known.map(|address| (address.group, address)).collect()
}

/// The demands as flows; `None` where `[lanes]` says it all.
fn flows(fabric: &Fabric) -> Option<BTreeSet<Flow<'_>>> {
    let Traffic::Demands(demands) = &fabric.traffic else {
        return None;
    };
    let addresses = addresses(fabric);
    let mut groups = demands.iter().map(|demand| demand.group);
    let has_paths = groups.any(|group| !addresses.contains_key(&group));
    if !has_paths && fabric.origin != Origin::Flows {
        return None;
    }
    // The order of demands is that of groups, which other files number differently.
    Some(demands.iter().map(|demand| Flow::new(fabric, *demand)).collect())
}

/// A demand as a flow.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct Flow<'f> {
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
        let Fabric { topology, routes, .. } = fabric;
        let target = routes.groups.target(demand.group);
        let header = Header { source: demand.source, group: demand.group, hash: 0 };
        let is_pinned = demand.group != routes.groups.of_host(target);
        let peers = |hops: &[(NodeId, PortId)]| {
            Vec::from_iter(hops.iter().map(|(node, port)| facing(topology, *node, *port)))
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

    fn section(self) -> flows::Flow {
        let steps = |steps: Vec<String>| Key::of(list(steps));
        let mut flow = flows::Flow {
            source: Key::of(self.source.to_string()),
            target: Key::of(self.target.to_string()),
            path: self.path.map_or(Key::default(), steps),
            ..flows::Flow::default()
        };
        if !self.round.is_empty() {
            flow.round = steps(self.round);
        }
        flow.common.class = Filled::new(self.class.into());
        if self.label != self.class {
            flow.common.label = Key::of(self.label);
        }
        flow
    }
}

/// The lossy classes of each port of a switch, ports that are alike together.
fn lossy(fabric: &Fabric) -> Vec<Lossy> {
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
    let lossy = alike.into_iter().map(|(classes, ports)| {
        let is_everywhere = ports.len() == port_count;
        let ports = if is_everywhere { vec!["*".to_string()] } else { ports };
        Lossy::of(ports, classes)
    });
    lossy.collect()
}
