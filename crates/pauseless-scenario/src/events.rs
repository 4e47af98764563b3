//! The sections `[[event]]` and `[converge]`: what happens to the network during a run, and how switches
//! learn of it.

mod timeline;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use pauseless_core::id::{NodeId, PortId};
use pauseless_core::unit::Span;
use pauseless_fabric::routing::Routes;
use pauseless_fabric::topology::{LinkIndex, Topology};
use pauseless_sim::change::{Change, Changes, Noise, What};

use super::flows::TIMES;
use super::routing::Forwarding;
use super::topology::{self, Pair};
use pauseless_text::declare::{
    At, Choice, Declared, Entry, Info, Key, List, Section, Variant, Written,
};
use pauseless_text::file::File;
use pauseless_text::problem::Sink;
use pauseless_text::quantity::some;
use pauseless_text::{section, variant};
use timeline::{Happening, Timeline};

/// The name of the section of an event.
pub const EVENT: &str = "event";
/// The name of the section of how switches learn.
pub const CONVERGE: &str = "converge";

/// More flaps than this are no event any more.
const FLAPS: RangeInclusive<u64> = 1..=10_000;
/// As many neighbours of a switch are named.
const NEIGHBOURS_MAX: usize = 8;
/// A link is down, or up again, for some time.
const FLAP_TIMES: RangeInclusive<Span> = Span::ns(1)..=*TIMES.end();

section! {
    /// Something happens to the network during the run: see [events.md](events.md). Packets that are lost
    /// with a link count by themselves, and are no finding.
    pub struct Common {
        /// The instant at which it happens.
        at: Span, within TIMES, required "\"1 ms\"";
    }
}

section! {
    /// A link fails: what is on its wires is lost, what waits for it at both ends is dropped, and so is
    /// what comes for it from then on. Pauses, credits and rates of both directions are forgotten.
    pub struct LinkDown {
        /// Its two nodes; `["A1", "C2#2"]` is the second of parallel links.
        link: Pair, required "[\"S1\", \"S2\"]";
    }
}

section! {
    /// A link returns: nothing is paused, and credits count what is still in the buffers behind it.
    pub struct LinkUp {
        /// Its two nodes; `["A1", "C2#2"]` is the second of parallel links.
        link: Pair, required "[\"S1\", \"S2\"]";
    }
}

section! {
    /// A switch fails, with all of its links and all that it holds.
    pub struct SwitchDown {
        /// The name of the switch.
        switch: String, within "the name of a switch", required "\"S1\"";
    }
}

section! {
    /// A switch returns, with its links. With `[converge]` it drops every packet until its table is loaded,
    /// after as long as it takes to learn.
    pub struct SwitchUp {
        /// The name of the switch.
        switch: String, within "the name of a switch", required "\"S1\"";
    }
}

section! {
    /// A link fails and returns, again and again.
    pub struct Flap {
        /// Its two nodes; `["A1", "C2#2"]` is the second of parallel links.
        link: Pair, required "[\"S1\", \"S2\"]";
        /// The time from one failure to the next.
        period: Span, within FLAP_TIMES, required "\"100 us\"";
        /// For how long it is down each time, less than `period`.
        down: Span, within FLAP_TIMES, derived "half of `period`";
        /// How often it fails.
        times: u32, within FLAPS, required "10";
    }
}

section! {
    /// A switch changes its table for some hosts, at that instant and for good. Packets that wait keep
    /// their egress, and flows with a `path` keep their path.
    pub struct Route {
        /// The name of the switch.
        switch: String, within "the name of a switch", required "\"S1\"";
        /// The hosts whose packets are forwarded otherwise.
        to: List<String>, within "a list of hosts", required "[\"H2\"]";
        /// The neighbours that they are forwarded to, one of them for each flow; `"S2#2"` by the second of
        /// parallel links; with `[]` they are dropped.
        next: List<String>, within "a list of neighbours", required "[\"S2\"]";
    }
}

section! {
    /// Wires begin to lose frames, in both directions, instead of what they have lost so far; a later event
    /// with `share = 0.0` ends it.
    pub struct BitErrors {
        /// The two nodes of the link.
        link: Pair, derived "all links";
        /// The share of frames that are lost, whatever their length.
        share: f64, within 0.0..=0.5, derived "this or `bit_error_rate`";
        /// The share of bits that are wrong; one is enough to lose the frame.
        bit_error_rate: f64, within 0.0..=0.01, derived "this or `share`";
        /// Whether PAUSE frames, credits and GFC's messages are lost as well.
        control: bool, default false;
    }
}

section! {
    /// How switches learn that links and switches have failed or returned: every switch computes its table
    /// anew, by the rule of `[routing]` on what is left, at a time of its own. Without this section tables
    /// stay as they are.
    pub struct Converge {
        /// The time from an event until the first switch may have its new table.
        delay: Span, within TIMES, default Span::ZERO;
        /// How much later others may have theirs: a random part of it for each switch and event, or the
        /// last one in `order` all of it.
        spread: Span, within TIMES, default Span::ZERO;
        /// Switches in the order in which they learn, evenly over `spread`; those that are not listed learn
        /// with the last one.
        order: List<String>, within "a list of switches", derived "a random one for each event";
    }
}

/// A kind of event with its keys.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A link fails in both directions.
    LinkDown(LinkDown),
    /// A link that failed returns.
    LinkUp(LinkUp),
    /// A switch fails with all its links.
    SwitchDown(SwitchDown),
    /// A switch that failed returns.
    SwitchUp(SwitchUp),
    /// A link fails and returns, again and again.
    Flap(Flap),
    /// A switch changes its table.
    Route(Route),
    /// Wires begin to lose frames.
    BitErrors(BitErrors),
}

static KINDS: [Variant<Kind>; 7] = [
    variant!("link-down": Kind::LinkDown[LinkDown]),
    variant!("link-up": Kind::LinkUp[LinkUp]),
    variant!("switch-down": Kind::SwitchDown[SwitchDown]),
    variant!("switch-up": Kind::SwitchUp[SwitchUp]),
    variant!("flap": Kind::Flap[Flap]),
    variant!("route": Kind::Route[Route]),
    variant!("bit-errors": Kind::BitErrors[BitErrors]),
];

fn kinds() -> Choice<Kind> {
    Choice { key: "kind", default: None, variants: KINDS.iter().collect() }
}

/// The whole section, for documents and schemas.
pub(crate) fn info() -> Info {
    Info { about: Common::about(), keys: Common::keys(), variants: Some(kinds().describe()) }
}

/// An `[[event]]` of a scenario, as it was written.
#[derive(Clone, Debug)]
struct Event {
    common: Common,
    kind: Kind,
}

impl Written for Event {
    fn entries(&self) -> Vec<Entry> {
        [kinds().entries(&self.kind), self.common.entries()].concat()
    }
}

/// The keys of an event in which a link fails, for programs that fill in a scenario.
pub fn link_down(at: Key<Span>, link: Key<Pair>) -> Vec<Entry> {
    let kind = Kind::LinkDown(LinkDown { link, ..LinkDown::default() });
    Event { common: Common { at, ..Common::default() }, kind }.entries()
}

/// Both sections as they were written.
#[derive(Clone, Debug, Default)]
pub struct Setting {
    events: Vec<Event>,
    converge: Option<Converge>,
}

/// What the sections are held against.
#[derive(Clone, Copy)]
pub(crate) struct Context<'c> {
    pub topology: &'c Topology,
    pub forwarding: &'c Forwarding,
    pub routes: &'c Routes,
    pub seed: u64,
    pub duration: Span,
    pub sink: &'c Sink,
}

impl Setting {
    pub(crate) fn read(root: &mut Section<'_>) -> Setting {
        let events = root.tables(EVENT).filter_map(|mut section| {
            let kind = kinds().take(&mut section)?.value;
            let common = Common::read(&mut section);
            let kind = (kind.read)(&mut section)?;
            kind.check(&section);
            section.finish();
            Some(Event { common, kind })
        });
        let events = events.collect();
        let converge = root.table(CONVERGE).map(|mut section| {
            let converge = Converge::read(&mut section);
            section.finish();
            converge
        });
        Setting { events, converge }
    }

    /// What the simulator is to do, and when; empty if something was reported.
    pub(crate) fn resolve(&self, context: Context<'_>) -> Changes {
        let happenings = self.events.iter().enumerate().flat_map(|(number, event)| {
            event.happenings(number as u32, context).unwrap_or_default()
        });
        let happenings = Vec::from_iter(happenings);
        let mut names = self.events.iter().map(Event::name);
        let names = names.by_ref().collect();
        let converge = match &self.converge {
            None => None,
            Some(converge) => match converge.resolve(context) {
                Some(converge) => Some(converge),
                None => return Changes::default(),
            },
        };
        let place = self.events.first().map(|event| &event.common.place);
        let timeline = Timeline::new(context, happenings, converge, place);
        Changes { names, ..timeline.changes() }
    }

    /// The events that are after the end of the run, and those that find things as they want them.
    pub(crate) fn warnings(&self, changes: &Changes, duration: Span) -> Vec<String> {
        let late = self.events.iter().filter(|event| event.common.at.or(Span::ZERO) >= duration);
        let late =
            late.map(|event| format!("event {}: it is after the end of the run", event.name()));
        late.chain(idle(changes)).collect()
    }

    /// Writes both sections, with nothing left out.
    pub(crate) fn write(&self, file: &mut File) {
        for event in &self.events {
            file.one_of(EVENT, event);
        }
        if let Some(converge) = &self.converge {
            file.table(CONVERGE, converge);
        }
    }
}

/// A warning for each event of which something is down already, or up, when it should fail or return.
fn idle(changes: &Changes) -> Vec<String> {
    let (mut links, mut switches) = (BTreeSet::new(), BTreeSet::new());
    let mut found = BTreeMap::new();
    for Change { event, what, .. } in &changes.list {
        let idle = match *what {
            What::LinkDown(node, port) if !links.insert((node, port)) => "the link is down already",
            What::LinkUp(node, port) if !links.remove(&(node, port)) => "the link is not down",
            What::SwitchDown(node) if !switches.insert(node) => "the switch is down already",
            What::SwitchUp(node) if !switches.remove(&node) => "the switch is not down",
            _ => continue,
        };
        found.entry(*event).or_insert(idle);
    }
    let name = |event: u32| &changes.names[event as usize];
    let warnings = found.into_iter();
    warnings.map(|(event, idle)| format!("event {}: {idle} at that time", name(event))).collect()
}

impl Kind {
    /// Reports keys that contradict each other.
    fn check(&self, section: &Section<'_>) {
        match self {
            Kind::Flap(keys) => {
                if let (Some(period), Some(down)) = (&keys.period.given, &keys.down.given)
                    && down.value >= period.value
                {
                    let problem =
                        down.place.problem("the link never returns before it fails again");
                    section.report(problem.expected("less than `period`"));
                }
            }
            Kind::BitErrors(keys) if !keys.share.is_written && !keys.bit_error_rate.is_written => {
                section.report(keys.place.missing("share", "0.001, or bit_error_rate = 1e-6"));
            }
            _ => {}
        }
    }
}

impl Event {
    /// The event in a few words, such as `link-down S1-S2`.
    fn name(&self) -> String {
        let pair = |pair: &Key<Pair>| {
            pair.get().map_or("all links".to_string(), |pair| {
                let [a, b] = pair.names.each_ref().map(|name| name.value.as_str());
                format!("{a}-{b}")
            })
        };
        let name = |key: &Key<String>| key.get().cloned().unwrap_or_default();
        let (kind, what) = match &self.kind {
            Kind::LinkDown(keys) => ("link-down", pair(&keys.link)),
            Kind::LinkUp(keys) => ("link-up", pair(&keys.link)),
            Kind::SwitchDown(keys) => ("switch-down", name(&keys.switch)),
            Kind::SwitchUp(keys) => ("switch-up", name(&keys.switch)),
            Kind::Flap(keys) => ("flap", pair(&keys.link)),
            Kind::Route(keys) => ("route", name(&keys.switch)),
            Kind::BitErrors(keys) => ("bit-errors", pair(&keys.link)),
        };
        format!("{kind} {what}")
    }

    /// What happens at which instants; `None` if something was reported.
    fn happenings(&self, number: u32, context: Context<'_>) -> Option<Vec<(Span, u32, Happening)>> {
        let at = self.common.at.copied()?;
        let link =
            |key: &Key<Pair>| topology::find_link(context.topology, context.sink, key.get()?);
        let switch = |key: &Key<String>| find_switch(context, key.given.as_ref()?);
        let what = match &self.kind {
            Kind::LinkDown(keys) => Happening::Link { link: link(&keys.link)?, is_down: true },
            Kind::LinkUp(keys) => Happening::Link { link: link(&keys.link)?, is_down: false },
            Kind::SwitchDown(keys) => {
                Happening::Switch { node: switch(&keys.switch)?, is_down: true }
            }
            Kind::SwitchUp(keys) => {
                Happening::Switch { node: switch(&keys.switch)?, is_down: false }
            }
            Kind::Flap(keys) => {
                return keys.happenings(at, number, link(&keys.link)?, context.duration);
            }
            Kind::Route(keys) => keys.happening(context)?,
            Kind::BitErrors(keys) => {
                let links = match keys.link.get() {
                    Some(_) => vec![link(&keys.link)?],
                    None => (0..context.topology.links().len() as u32).map(LinkIndex).collect(),
                };
                let noise = Noise {
                    share: keys.share.or(0.0),
                    bit_error_rate: keys.bit_error_rate.or(0.0),
                    hits_control: keys.control.value,
                };
                let all = links.into_iter().map(|link| Happening::Noise { link, noise });
                return Some(all.map(|what| (at, number, what)).collect());
            }
        };
        Some(vec![(at, number, what)])
    }
}

impl Flap {
    fn happenings(
        &self,
        at: Span,
        number: u32,
        link: LinkIndex,
        end: Span,
    ) -> Option<Vec<(Span, u32, Happening)>> {
        let period = self.period.copied()?;
        let down = self.down.or(period / 2);
        let times = (0..u64::from(self.times.copied()?)).map(|time| at + period * time);
        // What is after the end would not even be an instant, if it is late enough.
        let times = times.take_while(|at| *at < end);
        let both = times.flat_map(|at| {
            [(at, true), (at + down, false)]
                .map(|(at, is_down)| (at, number, Happening::Link { link, is_down }))
        });
        Some(both.collect())
    }
}

impl Route {
    fn happening(&self, context: Context<'_>) -> Option<Happening> {
        let Context { topology, sink, routes, .. } = context;
        let node = find_switch(context, self.switch.given.as_ref()?)?;
        let mut groups = Vec::new();
        for name in self.to.get()? {
            let host = topology::find_node(topology, sink, name)?;
            if !topology.is_host(host) {
                let problem = name.place.problem(format!("{} is a switch", name.value));
                sink.push(problem.expected("a host"));
                return None;
            }
            groups.extend(routes.groups.addresses().filter(|it| routes.groups.target(*it) == host));
        }
        let mut ports = Vec::new();
        for name in self.next.get()? {
            ports.push(find_port(context, node, name)?);
        }
        Some(Happening::Route { node, groups, ports })
    }
}

fn find_switch(context: Context<'_>, name: &At<String>) -> Option<NodeId> {
    let Context { topology, sink, .. } = context;
    let node = topology::find_node(topology, sink, name)?;
    if topology.is_host(node) {
        let problem = name.place.problem(format!("{} is a host", name.value));
        sink.push(problem.expected("a switch"));
        return None;
    }
    Some(node)
}

/// The port of a switch that leads to a neighbour, which may be followed by the number of the link.
fn find_port(context: Context<'_>, node: NodeId, name: &At<String>) -> Option<PortId> {
    let Context { topology, sink, .. } = context;
    let (neighbour, number) = name.split_link(sink)?;
    let peer = topology::find_node(topology, sink, &neighbour)?;
    let port = topology.ports_towards(node, peer).nth(number.unwrap_or(1) - 1);
    if port.is_none() {
        let from = &topology.node(node).name;
        let message = format!("there is no such link from {from} to {}", neighbour.value);
        let peers = topology.ports(node).iter().map(|port| &*topology.node(port.peer).name);
        let help = format!("write a neighbour of {from}: {}", some(peers, NEIGHBOURS_MAX));
        sink.push(name.place.problem(message).help(help));
    }
    port
}

/// `[converge]`, held against the fabric.
#[derive(Clone, Debug)]
pub(crate) struct Convergence {
    delay: Span,
    spread: Span,
    /// The place of each switch in the order, by node; empty if it is random.
    order: Vec<Option<u32>>,
}

impl Converge {
    fn resolve(&self, context: Context<'_>) -> Option<Convergence> {
        let Context { topology, sink, .. } = context;
        if context.forwarding.rule().is_none() {
            let problem = self.place.problem("no rule says what tables would become");
            let help = "leave [converge] out and say it with events of kind = \"route\"";
            sink.push(problem.help(help));
            return None;
        }
        let (mut order, mut count) = (Vec::new(), 0);
        for name in self.order.get().into_iter().flatten() {
            let node = find_switch(context, name)?;
            order.resize(topology.nodes().len(), None);
            if order[node.index()].replace(count).is_some() {
                let problem = name.place.problem(format!("{} is listed twice", name.value));
                sink.push(problem.help("name each switch once, in the order in which they learn"));
                return None;
            }
            count += 1;
        }
        Some(Convergence { delay: self.delay.value, spread: self.spread.value, order })
    }
}
