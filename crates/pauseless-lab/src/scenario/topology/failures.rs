//! What is down: `failed_links`, `failed_switches` and `random_failures`.

use std::collections::BTreeSet;

use pauseless_core::id::NodeId;
use pauseless_fabric::failure::{Draw, Failures, PPM_MAX};
use pauseless_fabric::topology::{LinkIndex, Topology};

use super::super::reader::{At, Item, Place, Section};
use super::super::unit::Quantity;
use super::find_node;
use crate::problem::Sink;

/// The failures as they were written.
pub(super) struct Written<'s> {
    links: Vec<Item<'s>>,
    switches: Vec<At<String>>,
    random: Option<Random>,
}

/// Failures that are drawn.
struct Random {
    amount: Amount,
    draw: Draw,
}

enum Amount {
    Share(Share),
    Count(At<u64>),
}

/// Parts of a million.
#[derive(Clone, Copy)]
struct Share(u64);

impl Quantity for Share {
    const NOUN: &'static str = "a share";
    const UNITS: &'static [(&'static str, u64)] = &[("ppm", 1), ("%", 10_000)];
    const EXAMPLE: &'static str = "5 %";

    fn from_base(base: u64) -> Option<Share> {
        Some(Share(base))
    }

    fn to_base(self) -> u64 {
        self.0
    }
}

impl<'s> Written<'s> {
    /// Reads the keys of `[topology]` that say what is down.
    pub(super) fn read(section: &mut Section<'s>) -> Written<'s> {
        let links = section.list("failed_links");
        let switches = section.strings("failed_switches");
        let random = section.table("random_failures");
        Written {
            links: links.map_or(Vec::new(), |list| list.value),
            switches: switches.map_or(Vec::new(), |list| list.value),
            random: random.and_then(read_random),
        }
    }

    /// The links of `healthy` that are down, all together.
    pub(super) fn resolve(self, healthy: &Topology, sink: &Sink) -> Failures {
        let links = Links {
            healthy,
            sink,
            listed: BTreeSet::new(),
        };
        let links = links.read(self.links);
        let switches = fail_switches(healthy, sink, &self.switches);
        let random = self.random.map(|random| random.draw(healthy, sink));
        links.union(&switches).union(&random.unwrap_or_default())
    }
}

fn read_random(mut section: Section<'_>) -> Option<Random> {
    let (has_share, has_count) = (section.has("share"), section.has("count"));
    let share = section.quantity_within("share", Share(0)..=Share(u64::from(PPM_MAX)));
    let count = section.integer("count", 0..=u64::from(u32::MAX));
    let seed = section.integer("seed", 0..=u64::MAX);
    let sample = section.integer("sample", 0..=u64::MAX);
    match (has_share, has_count) {
        (true, true) => {
            let problem = section.place.problem("both share and count stand here");
            section.report(problem.help("write one of them"));
        }
        (false, false) => section.missing("share", "\"5 %\", or count = 3"),
        _ => {}
    }
    section.finish();
    let amount = match (share, count) {
        (Some(share), None) if !has_count => Amount::Share(share.value),
        (None, Some(count)) if !has_share => Amount::Count(count),
        _ => return None,
    };
    let draw = Draw {
        seed: seed.map_or(1, |seed| seed.value),
        sample: sample.map_or(0, |sample| sample.value),
    };
    Some(Random { amount, draw })
}

impl Random {
    fn draw(self, healthy: &Topology, sink: &Sink) -> Failures {
        match self.amount {
            Amount::Share(share) => Failures::random_links(healthy, share.0 as u32, self.draw),
            Amount::Count(count) => {
                let failures = Failures::random_count(healthy, count.value as usize, self.draw);
                failures.unwrap_or_else(|error| {
                    sink.push(count.place.problem(error.to_string()));
                    Failures::default()
                })
            }
        }
    }
}

/// Reads `failed_links`.
struct Links<'a> {
    healthy: &'a Topology,
    sink: &'a Sink,
    listed: BTreeSet<LinkIndex>,
}

impl Links<'_> {
    fn read(mut self, list: Vec<Item<'_>>) -> Failures {
        for item in list {
            if let Some((place, pair)) = read_pair(item, self.sink) {
                self.add(&place, pair);
            }
        }
        Failures::of_links(self.listed)
    }

    /// Takes the link between two nodes down. Behind the second name may stand which of parallel
    /// links it is; otherwise it is the first that is not listed yet.
    fn add(&mut self, place: &Place, [a, b]: [At<String>; 2]) {
        let written = [a.value.clone(), b.value.clone()];
        let Some((b, number)) = b.split_link(self.sink) else {
            return;
        };
        let first = find_node(self.healthy, self.sink, &a);
        let Some((first, second)) = first.zip(find_node(self.healthy, self.sink, &b)) else {
            return;
        };
        let ports = self.healthy.ports_towards(first, second);
        let mut links = ports.map(|port| self.healthy.port(first, port).link);
        let link = match number {
            Some(number) => links.nth(number - 1),
            None => links.find(|link| !self.listed.contains(link)),
        };
        let hosts = [first, second]
            .into_iter()
            .filter(|node| self.healthy.is_host(*node));
        let hosts: Vec<NodeId> = hosts.collect();
        match link {
            Some(_) if !hosts.is_empty() => {
                let problem = place.problem(cut_off(self.healthy, &hosts));
                self.sink
                    .push(problem.help("fail links between switches only"));
            }
            Some(link) if self.listed.insert(link) => {}
            _ => self.sink.push(place.problem(self.refusal(&written))),
        }
    }

    /// Why no link was found: there is none, or not so many, or it is listed.
    fn refusal(&self, [a, b]: &[String; 2]) -> String {
        match self.healthy.port_named(&format!("{a}:{b}")) {
            Ok(_) => format!("the link {a}-{b} is listed twice"),
            Err(error) => error.to_string(),
        }
    }
}

/// Reads `failed_switches`.
fn fail_switches(healthy: &Topology, sink: &Sink, names: &[At<String>]) -> Failures {
    let mut failures = Failures::default();
    let mut listed = BTreeSet::new();
    for name in names {
        let Some(node) = find_node(healthy, sink, name) else {
            continue;
        };
        if healthy.is_host(node) {
            let problem = name.place.problem(format!("{} is a host", name.value));
            sink.push(problem.expected("a switch"));
            continue;
        }
        if !listed.insert(node) {
            let message = format!("the switch {} is listed twice", name.value);
            sink.push(name.place.problem(message));
            continue;
        }
        let switch = Failures::of_switch(healthy, node);
        let hosts = switch.hosts_cut_off(healthy);
        if !hosts.is_empty() {
            let problem = name.place.problem(cut_off(healthy, &hosts));
            sink.push(problem.help("fail switches without hosts only"));
            continue;
        }
        failures = failures.union(&switch);
    }
    failures
}

/// Says which hosts are cut off, the first few by name.
fn cut_off(topology: &Topology, hosts: &[NodeId]) -> String {
    const SHOWN: usize = 4;
    let names = hosts.iter().map(|host| topology.node(*host).name.as_str());
    let names: Vec<&str> = names.take(SHOWN).collect();
    let more = match hosts.len() - names.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let noun = if hosts.len() == 1 { "host" } else { "hosts" };
    format!("{noun} {}{more} would have no link left", names.join(", "))
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
