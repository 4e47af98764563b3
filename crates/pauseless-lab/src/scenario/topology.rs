//! The sections `[topology]` and `[routing]`.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use pauseless_core::id::NodeId;
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::generate::{LinkSpecs, Shape, SizeError};
use pauseless_fabric::routing::{Multipath, TieBreak};
use pauseless_fabric::topology::{LinkSpec, Topology};

use super::custom::{Custom, read_specs};
use crate::problem::Sink;
use super::reader::{At, Item, Place, Section, did_you_mean};

/// A byte lasts at least 5 ps, so that times stay exact; see [`pauseless_core::unit`].
pub(crate) const RATES: RangeInclusive<Rate> = Rate::mbps(1)..=Rate::gbps(1_600);
/// Long enough for any cable, short enough that no sum of delays overflows.
pub(crate) const DELAYS: RangeInclusive<Span> = Span::ZERO..=Span::s(1);
/// Table entries, or pairs of ports, above which a run would not fit the memory of a workstation.
const CELLS_MAX: u64 = 1 << 28;

/// The fabric of a scenario, and what it was made from.
#[derive(Clone, Debug)]
pub(crate) struct Fabric {
    /// What is left after the failures.
    pub topology: Topology,
    /// Before the failures.
    pub healthy: Topology,
    /// The generator and its links; `None` for a custom fabric.
    pub shape: Option<(Shape, LinkSpecs)>,
    /// The ends of the failed links.
    pub failed: Vec<[String; 2]>,
    /// Where the section begins.
    pub place: Place,
}

impl Fabric {
    /// Reads `[topology]`.
    pub(crate) fn read(root: &mut Section<'_>, sink: &Sink) -> Option<Fabric> {
        let is_written = root.has("topology");
        let Some(mut section) = root.table("topology") else {
            if !is_written {
                root.missing_section("topology");
            }
            return None;
        };
        let place = section.place.clone();
        let healthy = read_healthy(&mut section);
        let failures = section.list("failed_links");
        section.finish();
        let (healthy, shape) = healthy?;
        let mut fabric = Fabric {
            topology: healthy.clone(),
            healthy,
            shape,
            failed: Vec::new(),
            place,
        };
        fabric.fail(failures, sink);
        Some(fabric)
    }

    /// Reports and returns `None` if `classes` and `groups` make the run too large for memory.
    pub(crate) fn check_size(&self, sink: &Sink, group_count: usize, classes: u64) -> Option<()> {
        let nodes = self.topology.nodes().len() as u64;
        let entries = nodes * group_count as u64;
        let switches = self.topology.switches().iter();
        let pairs = switches.map(|switch| (self.topology.ports(*switch).len() as u64).pow(2));
        let pairs = pairs.sum::<u64>() * classes;
        let cells = entries.max(pairs);
        if cells <= CELLS_MAX {
            return Some(());
        }
        let problem = self.place.problem(format!(
            "too large: {nodes} nodes with {group_count} destinations need {cells} table cells"
        ));
        let problem = problem.expected(format!("at most {CELLS_MAX}"));
        sink.push(problem.help("make the fabric smaller"));
        None
    }

    /// The node called `name`, or a report.
    pub(crate) fn node(&self, sink: &Sink, name: &At<String>) -> Option<NodeId> {
        let found = self.topology.node_named(&name.value);
        if found.is_none() {
            let problem = name
                .place
                .problem(format!("there is no node {:?}", name.value));
            let names = self.topology.nodes().iter().map(|node| node.name.as_str());
            sink.push(problem.help(did_you_mean(&name.value, names)));
        }
        found
    }

    /// The host called `name`, or a report.
    pub(crate) fn host(&self, sink: &Sink, name: &At<String>) -> Option<NodeId> {
        let node = self.node(sink, name)?;
        if self.topology.is_host(node) {
            return Some(node);
        }
        let problem = name.place.problem(format!("{} is a switch", name.value));
        sink.push(problem.expected("a host"));
        None
    }

    /// Takes the failed links out.
    fn fail(&mut self, list: Option<At<Vec<Item<'_>>>>, sink: &Sink) {
        let mut failed = Vec::new();
        let mut times: BTreeMap<(NodeId, NodeId), usize> = BTreeMap::new();
        for item in list.into_iter().flat_map(|list| list.value) {
            let Some((place, [a, b])) = read_pair(item, sink) else {
                continue;
            };
            let (Some(first), Some(second)) = (self.node(sink, &a), self.node(sink, &b)) else {
                continue;
            };
            let pair = (first.min(second), first.max(second));
            let count = times.entry(pair).or_insert(0);
            let port = self.healthy.ports_towards(first, second).nth(*count);
            *count += 1;
            let Some(port) = port else {
                let names = [&a.value, &b.value].map(String::as_str);
                let message = match self.healthy.link_between(names[0], names[1]) {
                    Ok(_) => format!("the link {} is listed twice", names.join("-")),
                    Err(error) => error.to_string(),
                };
                sink.push(place.problem(message));
                continue;
            };
            if let Some(host) = [first, second]
                .into_iter()
                .find(|n| self.healthy.is_host(*n))
            {
                let name = &self.healthy.node(host).name;
                let problem = place.problem(format!("host {name} would have no link left"));
                sink.push(problem.help("fail links between switches only"));
                continue;
            }
            failed.push(self.healthy.port(first, port).link);
            self.failed.push([a.value, b.value]);
        }
        failed.sort_unstable();
        self.topology = self.healthy.without_links(&failed);
    }
}

/// Whether the link was there before the failures.
pub(crate) fn has_failed(fabric: &Fabric, a: &str, b: &str) -> bool {
    let is_pair =
        |pair: &[String; 2]| (pair[0] == a && pair[1] == b) || (pair[0] == b && pair[1] == a);
    fabric.failed.iter().any(is_pair)
}

/// Two names in a list.
fn read_pair(item: Item<'_>, sink: &Sink) -> Option<(Place, [At<String>; 2])> {
    let At { value, place } = item.list("a list of two node names")?;
    let names: Vec<At<String>> = value.into_iter().filter_map(Item::string).collect();
    match <[At<String>; 2]>::try_from(names) {
        Ok(pair) => Some((place, pair)),
        Err(names) => {
            let problem = place.problem(format!("{} names stand here", names.len()));
            sink.push(problem.expected("a list of two node names"));
            None
        }
    }
}

type Healthy = (Topology, Option<(Shape, LinkSpecs)>);

#[derive(Clone, Copy)]
enum Kind {
    Ring,
    Line,
    Dumbbell,
    NToOne,
    FatTree,
    Custom,
}

const KINDS: [(&str, Kind); 6] = [
    ("ring", Kind::Ring),
    ("line", Kind::Line),
    ("dumbbell", Kind::Dumbbell),
    ("n-to-1", Kind::NToOne),
    ("fat-tree", Kind::FatTree),
    ("custom", Kind::Custom),
];

fn read_healthy(section: &mut Section<'_>) -> Option<Healthy> {
    let has_kind = section.has("kind");
    let kind = section.choice("kind", &KINDS);
    let Some(kind) = kind else {
        if !has_kind {
            section.missing(
                "kind",
                "\"ring\", \"line\", \"dumbbell\", \"n-to-1\", \"fat-tree\" or \"custom\"",
            );
        }
        section.discard();
        return None;
    };
    let (name, _) = KINDS[kind.value as usize];
    section.set_context(format!(" with kind = {name:?}"));
    if let Kind::Custom = kind.value {
        return Some((Custom::read(section)?, None));
    }
    let place = section.place.clone();
    let mut sizes: Vec<At<u64>> = Vec::new();
    let mut size = |key: &'static str| {
        let has_key = section.has(key);
        let found = section.integer(key, 0..=u64::from(u32::MAX));
        if !has_key {
            section.missing(key, "a whole number");
        }
        sizes.extend(found.clone());
        found.map(|found| found.value as u32)
    };
    let shape =
        match kind.value {
            Kind::Ring => size("switches").zip(size("hosts_per_switch")).map(
                |(switches, hosts_per_switch)| Shape::Ring {
                    switches,
                    hosts_per_switch,
                },
            ),
            Kind::Line => size("switches").zip(size("hosts_per_switch")).map(
                |(switches, hosts_per_switch)| Shape::Line {
                    switches,
                    hosts_per_switch,
                },
            ),
            Kind::Dumbbell => {
                let sizes = size("left").zip(size("right"));
                sizes.map(|(left, right)| Shape::Dumbbell { left, right })
            }
            Kind::NToOne => size("senders").map(|senders| Shape::NToOne { senders }),
            Kind::FatTree | Kind::Custom => size("k").map(|k| Shape::FatTree { k }),
        };
    let specs = read_specs(section).complete(section);
    let shape = shape?;
    if host_count(shape).pow(2) > CELLS_MAX {
        let message = format!("too large: it would have {} hosts", host_count(shape));
        section.report(place.problem(message).help("make the fabric smaller"));
        return None;
    }
    // The size is judged even if no link can be made.
    let any = LinkSpec {
        rate: *RATES.start(),
        delay: Span::ZERO,
    };
    match shape.build(specs.unwrap_or(LinkSpecs::same(any))) {
        Ok(topology) => specs.map(|specs| (topology, Some((shape, specs)))),
        Err(error) => {
            let (SizeError::OutOfRange { given: n, .. } | SizeError::OddFatTree { k: n }) = error;
            let size = sizes.iter().find(|size| size.value == u64::from(n));
            let place = size.map_or(&place, |size| &size.place);
            section.report(place.problem(error.to_string()));
            None
        }
    }
}

fn host_count(shape: Shape) -> u64 {
    let product = |a: u32, b: u32| u64::from(a).saturating_mul(u64::from(b)).min(1 << 31);
    match shape {
        Shape::Ring {
            switches,
            hosts_per_switch,
        } => product(switches, hosts_per_switch),
        Shape::Line {
            switches,
            hosts_per_switch,
        } => product(switches, hosts_per_switch),
        Shape::Dumbbell { left, right } => (u64::from(left) + u64::from(right)).min(1 << 31),
        Shape::NToOne { senders } => u64::from(senders).min(1 << 31),
        Shape::FatTree { k } => u64::from(k.min(1 << 10)).pow(3) / 4,
    }
}

/// Reads `[routing]`.
pub(crate) fn read_routing(root: &mut Section<'_>, seed: u64) -> Multipath {
    let mut tie_break = TieBreak::Lowest;
    let mut is_ecmp = false;
    if let Some(mut section) = root.table("routing") {
        let kind = section.choice("kind", &[("shortest", false), ("ecmp", true)]);
        is_ecmp = kind.is_some_and(|kind| kind.value);
        if is_ecmp {
            section.set_context(" with kind = \"ecmp\"".to_string());
        } else {
            let choices = [
                ("lowest", TieBreak::Lowest),
                ("seeded", TieBreak::Seeded(seed)),
            ];
            let choice = section.choice("tie_break", &choices);
            tie_break = choice.map_or(TieBreak::Lowest, |choice| choice.value);
        }
        section.finish();
    }
    if is_ecmp {
        Multipath::Ecmp
    } else {
        Multipath::Single { tie_break }
    }
}
