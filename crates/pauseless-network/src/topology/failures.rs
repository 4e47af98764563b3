//! What is down: `failed_links`, `failed_switches` and `random_failures`.

use std::collections::BTreeSet;

use pauseless_core::id::NodeId;
use pauseless_fabric::failure::{Draw, FailureError, Failures, PPM_MAX};
use pauseless_fabric::topology::{LinkIndex, Topology};

use super::{Common, find_node};
use pauseless_text::declare::{At, FileValue, Item, Kind, Place, Section};
use pauseless_text::file::quote;
use pauseless_text::problem::Sink;
use pauseless_text::section;
use pauseless_text::unit::Quantity;

section! {
    /// Failures that are drawn: links between switches only, as in `{ share = "5 %", seed = 7 }`.
    pub struct RandomFailures {
        /// Every link fails with this probability, independently of the others.
        share: Share, within Share(0)..=Share(PPM_MAX as u64), derived "this or `count`";
        /// Exactly so many links fail, every choice of them being equally likely.
        count: u32, derived "this or `share`";
        /// What they are drawn from; it is not the general `seed`, so that the fabric stays while
        /// flows and jitter vary.
        seed: u64, default 1;
        /// The number of the draw, for many draws from one seed.
        sample: u64, default 0;
    }
}

/// Parts of a million.
#[derive(Clone, Copy, Debug)]
pub struct Share(u64);

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

pauseless_text::quantity!(Share);

/// Two names in a list, such as the nodes at the ends of a link.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The two names, in the order of the file.
    pub names: [At<String>; 2],
    /// The place at which the list begins.
    pub place: Place,
}

/// What two names are, for messages.
pub struct Two(&'static str);

impl Default for Two {
    fn default() -> Two {
        Two("a list of two node names")
    }
}

impl From<&'static str> for Two {
    fn from(what: &'static str) -> Two {
        Two(what)
    }
}

impl Pair {
    /// Two names that nobody wrote.
    pub fn of(names: [&str; 2]) -> Pair {
        Pair { names: names.map(|name| At::of(name.to_string())), place: Place::default() }
    }

    /// The ends of a link, of which the second says which of parallel links it is.
    pub(super) fn of_link([a, b]: [&str; 2], number: usize) -> Pair {
        match number {
            1 => Pair::of([a, b]),
            _ => Pair::of([a, &format!("{b}#{number}")]),
        }
    }
}

impl FileValue for Pair {
    type Limit = Two;

    fn take(item: Item<'_>, what: &Two) -> Option<At<Pair>> {
        let sink = item.sink();
        let At { value, place } = item.list(what.0)?;
        let names = Vec::from_iter(value.into_iter().filter_map(Item::string));
        match <[At<String>; 2]>::try_from(names) {
            Ok(names) => {
                let value = Pair { names, place: place.clone() };
                Some(At { value, place })
            }
            Err(names) => {
                let problem = place.problem(format!("{} names stand here", names.len()));
                sink.push(problem.expected(what.0));
                None
            }
        }
    }

    fn kind(_: &Two) -> Kind {
        Kind::List { of: Box::new(Kind::Text("a name")), least: 2, most: Some(2) }
    }

    fn show(&self) -> String {
        let [a, b] = self.names.each_ref().map(|name| quote(&name.value));
        format!("[{a}, {b}]")
    }
}

impl Common {
    /// The links of `healthy` that are down, all together.
    pub(super) fn failures(&self, healthy: &Topology, sink: &Sink) -> Failures {
        let links = Links { healthy, sink, listed: BTreeSet::new() };
        let listed = self.failed_links.get().into_iter().flatten();
        let links = links.take(listed.map(|pair| &pair.value));
        let switches = self.failed_switches.get().map_or(&[][..], |list| list);
        let switches = fail_switches(healthy, sink, switches);
        let random = self.random_failures.get();
        let random = random.and_then(|random| random.draw(healthy, sink));
        links.union(&switches).union(&random.unwrap_or_default())
    }
}

impl RandomFailures {
    /// Reports unless it says by which of the two rules links fail.
    pub(super) fn check(&self, section: &Section<'_>) {
        if self.share.is_written && self.count.is_written {
            let problem = self.place.problem("both share and count stand here");
            section.report(problem.help("write one of them"));
        } else if !self.share.is_written && !self.count.is_written {
            section.report(self.place.missing("share", "\"5 %\", or count = 3"));
        }
    }

    fn draw(&self, healthy: &Topology, sink: &Sink) -> Option<Failures> {
        let draw = Draw { seed: self.seed.value, sample: self.sample.value };
        let Some(count) = &self.count.given else {
            let share = self.share.copied()?;
            return Some(Failures::random_links(healthy, share.0 as u32, draw));
        };
        let failures = Failures::random_count(healthy, count.value as usize, draw);
        let report = |error: FailureError| sink.push(count.place.problem(error.to_string()));
        failures.map_err(report).ok()
    }
}

/// The link between two nodes. Behind the second name may stand which of parallel links it is; otherwise
/// it is the first.
pub fn find_link(topology: &Topology, sink: &Sink, pair: &Pair) -> Option<LinkIndex> {
    let [a, b] = &pair.names;
    let (b, number) = b.split_link(sink)?;
    let first = find_node(topology, sink, a)?;
    let second = find_node(topology, sink, &b)?;
    let port = topology.ports_towards(first, second).nth(number.unwrap_or(1) - 1);
    if port.is_none() {
        let message = match topology.port_named(&format!("{}:{}", a.value, pair.names[1].value)) {
            Ok(_) => format!("there is no link between {} and {}", a.value, b.value),
            Err(error) => error.to_string(),
        };
        sink.push(pair.place.problem(message));
    }
    Some(topology.port(first, port?).link)
}

/// The links that `failed_links` takes down.
struct Links<'a> {
    healthy: &'a Topology,
    sink: &'a Sink,
    listed: BTreeSet<LinkIndex>,
}

impl Links<'_> {
    fn take<'p>(mut self, pairs: impl Iterator<Item = &'p Pair>) -> Failures {
        for pair in pairs {
            self.add(pair);
        }
        Failures::of_links(self.listed)
    }

    /// Takes the link between two nodes down. Behind the second name may stand which of parallel
    /// links it is; otherwise it is the first that is not listed yet.
    fn add(&mut self, Pair { names, place }: &Pair) {
        let [a, b] = names;
        let written = [a.value.clone(), b.value.clone()];
        let Some((b, number)) = b.split_link(self.sink) else {
            return;
        };
        let first = find_node(self.healthy, self.sink, a);
        let Some((first, second)) = first.zip(find_node(self.healthy, self.sink, &b)) else {
            return;
        };
        let ports = self.healthy.ports_towards(first, second);
        let mut links = ports.map(|port| self.healthy.port(first, port).link);
        let link = match number {
            Some(number) => links.nth(number - 1),
            None => links.find(|link| !self.listed.contains(link)),
        };
        let hosts = [first, second].into_iter().filter(|node| self.healthy.is_host(*node));
        let hosts: Vec<NodeId> = hosts.collect();
        match link {
            Some(_) if !hosts.is_empty() => {
                let problem = place.problem(cut_off(self.healthy, &hosts));
                self.sink.push(problem.help("fail links between switches only"));
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

/// The switches that `failed_switches` takes down, with all their links.
fn fail_switches(healthy: &Topology, sink: &Sink, names: &[At<String>]) -> Failures {
    let mut failures = Failures::default();
    let mut listed = BTreeSet::new();
    for name in names {
        let Some(node) = find_node(healthy, sink, name) else {
            continue;
        };
        if healthy.is_host(node) {
            sink.push(name.place.problem(format!("{} is a host", name.value)).expected("a switch"));
            continue;
        }
        if !listed.insert(node) {
            sink.push(name.place.problem(format!("the switch {} is listed twice", name.value)));
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
