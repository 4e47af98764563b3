//! The sections `[lanes]` and `[[lossy]]`: which packets there are, and where they are dropped.

use pauseless_core::class_map::LANE_COUNT;
use pauseless_core::id::Class;
use pauseless_fabric::dependency::{Demand, Lane, Lossy, Traffic};
use pauseless_fabric::topology::Topology;

use super::hosts::{HostSpan, named_tables};
use super::pattern;
use super::reader::{At, Item, Place, Section};
use super::routing::Addresses;
use super::topology::Fabric;
use crate::problem::Sink;

/// `[lanes]` as it was written.
#[derive(Clone, Debug)]
pub(crate) enum Written {
    /// Every host to every other, in each of these.
    All(Vec<Lane>),
    /// These alone.
    Pairs(Vec<Pair>),
}

/// What some hosts send.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    sources: HostSpan,
    lane: Lane,
    targets: Vec<At<HostSpan>>,
}

impl Written {
    /// Reads `[lanes]`, with its place if it is there.
    pub(crate) fn read(
        root: &mut Section<'_>,
        fabric: Option<&Fabric>,
        sink: &Sink,
    ) -> Option<At<Written>> {
        let mut section = root.table("lanes")?;
        let place = section.place.clone();
        let has_pairs = section.has("pairs");
        let classes = section.list("classes");
        let pairs = section.table("pairs");
        let is_empty = classes.as_ref().is_some_and(|list| list.value.is_empty());
        let lanes = classes.map(|list| {
            let lanes = list.value.into_iter();
            Vec::from_iter(lanes.filter_map(|item| read_lane(item, sink)))
        });
        let written = match (lanes, pairs) {
            (Some(_), Some(_)) => {
                let problem = place.problem("both classes and pairs stand here");
                sink.push(problem.help("keep one of them"));
                None
            }
            (Some(_), None) if is_empty => {
                let problem = place.problem("no class is listed");
                sink.push(problem.help("list the classes that packets have, as in classes = [3]"));
                None
            }
            (Some(lanes), None) => Some(Written::All(lanes)),
            (None, Some(pairs)) => {
                let topology = fabric.map(|fabric| &fabric.topology);
                topology.map(|topology| Written::Pairs(read_pairs(pairs, topology, sink)))
            }
            (None, None) => {
                if !has_pairs {
                    section.missing("classes", "[0], or [lanes.pairs.HOST]");
                }
                None
            }
        };
        section.finish();
        let value = written?;
        Some(At { value, place })
    }

    /// All lists of targets.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &At<HostSpan>> {
        let pairs = match self {
            Written::All(_) => &[][..],
            Written::Pairs(pairs) => pairs,
        };
        pairs.iter().flat_map(|pair| &pair.targets)
    }

    /// The packets of a fabric.
    pub(crate) fn resolve(&self, topology: &Topology, addresses: &Addresses) -> Traffic {
        let pairs = match self {
            Written::All(lanes) => return Traffic::AllPairs(lanes.clone()),
            Written::Pairs(pairs) => pairs,
        };
        let mut demands = Vec::new();
        for pair in pairs {
            for source in pair.sources.places() {
                for targets in &pair.targets {
                    // Nobody sends to itself, so that a range may include the source.
                    let others = targets.value.places().filter(|target| *target != source);
                    demands.extend(others.map(|target| Demand {
                        group: addresses.group(target, targets.value.address),
                        lane: pair.lane,
                        source: topology.hosts()[source],
                    }));
                }
            }
        }
        demands.sort_unstable();
        demands.dedup();
        Traffic::Demands(demands)
    }
}

fn read_pairs(section: Section<'_>, topology: &Topology, sink: &Sink) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (name, mut section) in named_tables(section) {
        let sources = HostSpan::read(topology, sink, &name);
        if sources.is_some_and(|sources| sources.address > 1) {
            let problem = name.place.problem("a source has no number of an address");
            sink.push(problem.help("name the host alone"));
        }
        for (text, item) in section.entries() {
            let lane = parse_lane(&text.value);
            if lane.is_none() {
                refuse_lane(&text, sink);
            }
            let targets = HostSpan::read_all(topology, sink, item);
            if let Some((sources, lane)) = sources.zip(lane) {
                pairs.push(Pair {
                    sources,
                    lane,
                    targets,
                });
            }
        }
    }
    pairs
}

/// A class, or a text of label and class.
fn read_lane(item: Item<'_>, sink: &Sink) -> Option<Lane> {
    if !item.is_string() {
        let class = item.integer(0..=LANE_COUNT as u64 - 1)?.value as u8;
        return Some(lane(class, class));
    }
    let text = item.string()?;
    let lane = parse_lane(&text.value);
    if lane.is_none() {
        refuse_lane(&text, sink);
    }
    lane
}

/// Reads `3`, which is class and label in one, or `5/0`, which is label 5 in class 0.
fn parse_lane(text: &str) -> Option<Lane> {
    let number = |text: &str| text.parse().ok().filter(|n| usize::from(*n) < LANE_COUNT);
    match text.split_once('/') {
        None => number(text).map(|class| lane(class, class)),
        Some((label, class)) => Some(lane(number(label)?, number(class)?)),
    }
}

fn lane(label: u8, class: u8) -> Lane {
    let class = Class(class);
    Lane { label, class }
}

/// The text that [`parse_lane`] reads as `lane`.
pub(crate) fn write_lane(lane: Lane) -> String {
    match lane.label == lane.class.0 {
        true => lane.label.to_string(),
        false => format!("{}/{}", lane.label, lane.class.0),
    }
}

fn refuse_lane(text: &At<String>, sink: &Sink) {
    let problem = text.place.problem(format!("{:?} is no class", text.value));
    let highest = LANE_COUNT - 1;
    let expected = format!("a number from 0 to {highest}, or label and class, as in \"5/0\"");
    sink.push(problem.expected(expected));
}

/// `[[lossy]]` as it was written.
#[derive(Clone, Debug)]
pub(crate) struct WrittenLossy {
    ports: Vec<At<String>>,
    /// A bit each.
    classes: u16,
    pub place: Place,
}

impl WrittenLossy {
    /// Reads every `[[lossy]]`.
    pub(crate) fn read_all(root: &mut Section<'_>) -> Vec<WrittenLossy> {
        let sections = root.tables("lossy").into_iter();
        sections.filter_map(WrittenLossy::read).collect()
    }

    fn read(mut section: Section<'_>) -> Option<WrittenLossy> {
        let has_ports = section.has("ports");
        let ports = section.strings("ports");
        if !has_ports {
            section.missing("ports", "[\"S1:S2\"]");
        }
        let classes = match section.list("classes") {
            None => u16::MAX,
            Some(list) => {
                let class = |item: Item<'_>| item.integer(0..=LANE_COUNT as u64 - 1);
                let classes = list.value.into_iter().filter_map(class);
                classes.fold(0, |all, class| all | 1 << class.value)
            }
        };
        let place = section.place.clone();
        section.finish();
        Some(WrittenLossy {
            ports: ports?.value,
            classes,
            place,
        })
    }

    /// The lossy buffers of a fabric. A host's own ingress is none of them: whatever it does
    /// there, nothing waits for it.
    pub(crate) fn resolve(all: &[WrittenLossy], topology: &Topology, sink: &Sink) -> Lossy {
        let mut lossy = Lossy::nothing();
        for one in all {
            for (node, port) in pattern::ports(topology, &one.ports, sink) {
                if !topology.is_host(node) {
                    lossy.add(node, port, one.classes);
                }
            }
        }
        lossy
    }
}
