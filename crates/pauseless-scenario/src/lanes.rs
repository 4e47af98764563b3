//! The sections `[lanes]` and `[[lossy]]`: which packets there are, and where they are dropped.

use std::collections::BTreeMap;

use pauseless_core::class_map::LANE_COUNT;
use pauseless_core::id::{Class, GroupId, NodeId};
use pauseless_fabric::dependency::{self, Demand, Lane, Traffic};
use pauseless_fabric::topology::Topology;

use super::hosts::HostSpan;
use super::pattern;
use super::routing::{Address, Addresses, spans};
use pauseless_text::declare::{At, FileValue, Item, Key, Kind, List, LongList, Map};
use pauseless_text::problem::Sink;
use pauseless_text::section;

section! {
    /// Which packets there are, in a file without flows; without this section every host sends to
    /// every other one in class 0.
    pub struct Lanes {
        /// The classes in which every host sends to every other one, which are also what the packets
        /// carry as their label; `"5/0"` is label 5 in class 0.
        classes: List<LaneText>, derived "this or `pairs`";
        /// Who sends to whom in which class; `[lanes.pairs.HOST]` with `3 = ["H1..H5"]`: HOST sends to
        /// these in class 3, and to nobody else unless it is written. HOST may be a range; nobody sends
        /// to itself.
        pairs: Map<Map<LongList<String>>>,
            within "a list of hosts, such as [\"H1\", \"H3..H5\"]", derived "this or `classes`";
    }
}

section! {
    /// Buffers that drop rather than make anybody wait, such as priorities without PFC.
    pub struct Lossy {
        /// Names of ports at which packets arrive, in which `*` stands for any text; as in
        /// `["S1:S2", "S*:H*"]`.
        ports: LongList<String>, within "a list of strings", required "[\"S1:S2\"]";
        /// The classes whose buffers drop.
        classes: List<u8>, within 0..=LANE_COUNT as u64 - 1, derived "all";
    }
}

/// A lane as files write it: its class, or `"label/class"` where the two differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneText(Lane);

impl FileValue for LaneText {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<LaneText>> {
        if !item.is_string() {
            let At { value, place } = item.integer(0..=LANE_COUNT as u64 - 1)?;
            let value = LaneText(lane(value as u8, value as u8));
            return Some(At { value, place });
        }
        let sink = item.sink();
        let text = item.string()?;
        let value = LaneText(parse_lane(&text, sink)?);
        let place = text.place;
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        let class = Kind::Integer { low: 0, high: LANE_COUNT as u64 - 1 };
        let text = Kind::Text("label and class, as in \"5/0\"");
        Kind::Either(vec![class, text])
    }

    fn show(&self) -> String {
        if self.0.label == self.0.class.0 {
            write_lane(self.0)
        } else {
            format!("{:?}", write_lane(self.0))
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Packets {
    /// Every host to every other, in each of these.
    All(Vec<Lane>),
    /// The packets of these pairs alone.
    Pairs(Vec<Pair>),
}

/// What some hosts send.
#[derive(Clone, Debug)]
pub struct Pair {
    sources: HostSpan,
    lane: Lane,
    targets: Vec<At<HostSpan>>,
}

impl Lanes {
    /// Every host to every other, in each of these.
    pub(crate) fn of_all(lanes: &[Lane]) -> Lanes {
        if lanes.is_empty() {
            return Lanes::of_pairs(Vec::new());
        }
        let lanes = lanes.iter().map(|lane| At::of(LaneText(*lane)));
        Lanes { classes: Key::of(lanes.collect()), ..Lanes::default() }
    }

    /// These demands, each to one of the addresses.
    pub(crate) fn of_demands(
        topology: &Topology,
        demands: &[Demand],
        addresses: &BTreeMap<GroupId, Address>,
    ) -> Lanes {
        let mut by_source: BTreeMap<NodeId, BTreeMap<Lane, Vec<Address>>> = BTreeMap::new();
        for demand in demands {
            let lanes = by_source.entry(demand.source).or_default();
            lanes.entry(demand.lane).or_default().push(addresses[&demand.group]);
        }
        let pairs = by_source.into_iter().map(|(source, lanes)| {
            let lanes = lanes.into_iter().map(|(lane, mut targets)| {
                targets.sort_unstable();
                targets.dedup();
                let hosts = spans(targets).into_iter().flat_map(|span| span.write(topology));
                (At::of(write_lane(lane)), hosts.collect())
            });
            let name = topology.node(source).name.clone();
            (At::of(name), Map(lanes.collect()))
        });
        Lanes::of_pairs(pairs.collect())
    }

    fn of_pairs(pairs: Vec<(At<String>, Map<LongList<String>>)>) -> Lanes {
        Lanes { pairs: Key::of(Map(pairs)), ..Lanes::default() }
    }

    /// The packets; `None` if something was reported.
    pub(crate) fn packets(&self, topology: Option<&Topology>, sink: &Sink) -> Option<Packets> {
        let place = &self.place;
        match (self.classes.get(), self.pairs.get()) {
            (Some(_), Some(_)) => {
                let problem = place.problem("both classes and pairs stand here");
                sink.push(problem.help("keep one of them"));
                None
            }
            (Some(lanes), None) if lanes.is_empty() => {
                // What is wrong was left out, so that the list may not have been empty.
                if sink.is_empty() {
                    let problem = place.problem("no class is listed");
                    let help = "list the classes that packets have, as in classes = [3]";
                    sink.push(problem.help(help));
                }
                None
            }
            (Some(lanes), None) => {
                let lanes = lanes.iter().map(|lane| lane.value.0);
                Some(Packets::All(lanes.collect()))
            }
            (None, Some(pairs)) => Some(Packets::Pairs(find_pairs(pairs, topology?, sink))),
            (None, None) => {
                if !self.pairs.is_written && !self.classes.is_written {
                    sink.push(place.missing("classes", "[0], or [lanes.pairs.HOST]"));
                }
                None
            }
        }
    }
}

impl Packets {
    /// All lists of targets.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &At<HostSpan>> {
        let pairs = match self {
            Packets::All(_) => &[][..],
            Packets::Pairs(pairs) => pairs,
        };
        pairs.iter().flat_map(|pair| &pair.targets)
    }

    /// The packets of a fabric.
    pub(crate) fn resolve(&self, topology: &Topology, addresses: &Addresses) -> Traffic {
        let pairs = match self {
            Packets::All(lanes) => return Traffic::AllPairs(lanes.clone()),
            Packets::Pairs(pairs) => pairs,
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

fn find_pairs(
    by_source: &Map<Map<LongList<String>>>,
    topology: &Topology,
    sink: &Sink,
) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (name, by_lane) in &by_source.0 {
        let sources = HostSpan::read(topology, sink, name);
        if sources.is_some_and(|sources| sources.address > 1) {
            let problem = name.place.problem("a source has no number of an address");
            sink.push(problem.help("name the host alone"));
        }
        for (text, hosts) in &by_lane.0 {
            let lane = parse_lane(text, sink);
            let targets = HostSpan::find_all(topology, sink, &hosts.0);
            if let Some((sources, lane)) = sources.zip(lane) {
                pairs.push(Pair { sources, lane, targets });
            }
        }
    }
    pairs
}

/// Reads `3`, which is class and label in one, or `5/0`, which is label 5 in class 0; or reports.
fn parse_lane(text: &At<String>, sink: &Sink) -> Option<Lane> {
    let number = |text: &str| text.parse().ok().filter(|n| usize::from(*n) < LANE_COUNT);
    let found = match text.value.split_once('/') {
        None => number(&text.value).map(|class| lane(class, class)),
        Some((label, class)) => {
            number(label).zip(number(class)).map(|(label, class)| lane(label, class))
        }
    };
    if found.is_none() {
        let problem = text.place.problem(format!("{:?} is no class", text.value));
        let highest = LANE_COUNT - 1;
        let expected = format!("a number from 0 to {highest}, or label and class, as in \"5/0\"");
        sink.push(problem.expected(expected));
    }
    found
}

fn lane(label: u8, class: u8) -> Lane {
    let class = Class(class);
    Lane { label, class }
}

/// The text that [`parse_lane`] reads as `lane`.
fn write_lane(lane: Lane) -> String {
    if lane.label == lane.class.0 {
        lane.label.to_string()
    } else {
        format!("{}/{}", lane.label, lane.class.0)
    }
}

impl Lossy {
    /// These classes, a bit each, at these ports.
    pub(crate) fn of(ports: Vec<String>, classes: u16) -> Lossy {
        let numbers = (0..LANE_COUNT as u8).filter(|class| classes >> class & 1 == 1);
        Lossy {
            ports: Key::of(ports.into_iter().collect()),
            classes: Key::of(numbers.map(At::of).collect()),
            ..Lossy::default()
        }
    }

    /// The lossy buffers of a fabric. A host's own ingress is none of them: whatever it does
    /// there, nothing waits for it.
    pub(crate) fn resolve(all: &[Lossy], topology: &Topology, sink: &Sink) -> dependency::Lossy {
        let mut lossy = dependency::Lossy::nothing();
        for one in all {
            let classes = one.classes.get().map_or(u16::MAX, |classes| {
                classes.iter().fold(0, |all, class| all | 1 << class.value)
            });
            let ports = one.ports.get().map_or(&[][..], |ports| &ports.0);
            for (node, port) in pattern::ports(topology, ports, sink) {
                if !topology.is_host(node) {
                    lossy.add(node, port, classes);
                }
            }
        }
        lossy
    }
}
