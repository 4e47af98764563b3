#![doc = include_str!("../README.md")]
//! Ports of a switch that are alike have one plan, and so have switches that are alike.
//! For every scheme each (ingress port, class) gets what that scheme needs at the least, and an
//! equal share of what is then left; the thresholds follow from that by `core::derive`, which is
//! also what refuses them in a scenario. [`prove`] simulates the worst case of each, [`against`]
//! judges what is deployed, [`explain`] says where the parameters of a scenario come from.

pub mod against;
pub mod against_text;
pub mod apply;
pub mod cycle_aware;
pub mod cycle_aware_text;
pub mod explain;
pub mod headroom;
pub mod json;
pub mod mtu;
mod notes;
pub mod paper;
pub mod prove;
pub mod prove_text;
mod scheme;
mod switch;
pub mod text;
pub mod ttl;

use std::collections::BTreeMap;
use std::fmt;

use pauseless_core::class_map::{ClassMap, LANE_COUNT, Passage};
use pauseless_core::derive::Latency;
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::unit::{Bytes, Rate, Span};
use pauseless_fabric::dependency::Traffic;

use headroom::{Cells, Headroom, Reaction, UnknownRate};
use pauseless_fabric::fabric::{Fabric, Medium};
use pauseless_fabric::pattern::matches;
use ttl::Hops;

pub use scheme::{Scheme, Set};
pub use switch::{Advice, Dynamic, Fit, SchemePlan, SwitchPlan, TtlPlan};

/// The values that a plan is made with.
#[derive(Clone, Debug)]
pub struct Request {
    /// The largest frame that any link carries.
    pub mtu: Bytes,
    /// The buffer of every switch, all ports together.
    pub buffer: Bytes,
    /// The buffer of switches with these names, in which `*` stands for any text; later ones win.
    pub buffers: Vec<(String, Bytes)>,
    /// How many lossless classes every port has; `None` for what the fabric says.
    pub classes: Option<u8>,
    /// The rate of every link; `None` for what the fabric says.
    pub rate: Option<Rate>,
    /// The delay of every cable; `None` for what the fabric says.
    pub wire: Option<Span>,
    /// How long a sender takes to obey.
    pub reaction: Reaction,
    /// The cells of the switch chip, for SONiC's form of the headroom.
    pub cells: Option<Cells>,
    /// The round trip from end to end, for work conservation.
    pub rtt: Span,
    /// alpha of dynamic thresholds is 2 to this.
    pub alpha_exponent: i8,
}

impl Default for Request {
    fn default() -> Request {
        Request {
            mtu: Bytes::new(1_500),
            buffer: Bytes::mb(32),
            buffers: Vec::new(),
            classes: None,
            rate: None,
            wire: None,
            reaction: Reaction::Standard,
            cells: None,
            rtt: Span::us(50),
            alpha_exponent: 0,
        }
    }
}

impl Request {
    /// The buffer of a switch.
    fn buffer_of(&self, name: &str) -> Bytes {
        let own = self.buffers.iter().rev().find(|(pattern, _)| matches(pattern, name));
        own.map_or(self.buffer, |(_, buffer)| *buffer)
    }
}

/// The buffers and thresholds of all switches of a fabric.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The name of the fabric: its files, or its shape.
    pub fabric: String,
    /// The medium, which decides which flow control its links have by nature.
    pub medium: Medium,
    /// The values that the plan was made with.
    pub request: Request,
    /// Switches that are alike together, in the order of the first of each.
    pub switches: Vec<SwitchPlan>,
    /// d, the most switches that a packet passes.
    pub longest_path: u32,
    /// Whether some packets circle.
    pub has_loop: bool,
    /// What the reader should know about the input.
    pub notes: Vec<String>,
}

/// What the ports of a group have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind {
    /// The rate of the link.
    pub line: Rate,
    /// The propagation delay of the link.
    pub wire: Span,
    /// How many classes are lossless there.
    pub classes: u8,
}

impl Kind {
    /// The link with frames of at most this size, where a sender takes this long to obey.
    fn latency(self, mtu: Bytes, processing: Span) -> Latency {
        Latency {
            mtu,
            line: self.line,
            wire: self.wire,
            processing,
            classes: self.classes,
            jitter: Span::ZERO,
            overhead: Bytes::ZERO,
            clock_ppb: 0,
        }
    }
}

/// Ports that are alike.
#[derive(Clone, Debug)]
pub struct PortPlan {
    /// The link and the classes that the ports have in common.
    pub kind: Kind,
    /// All of them, over all switches of the group.
    pub members: Vec<(NodeId, PortId)>,
    /// How many of these ports each switch has.
    pub count: usize,
    /// The link and its feedback latency.
    pub latency: Latency,
    /// What may arrive after a PAUSE, term by term.
    pub headroom: Headroom,
    /// The headroom as SONiC reckons it, if cells were given.
    pub sonic: Option<Bytes>,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// A link whose reaction limit is not known.
    UnknownRate(UnknownRate),
    /// There are no switches, or none has a lossless port.
    NothingLossless,
    /// No switch has this name.
    NoSwitch(String),
    /// A frame that does not exist.
    Mtu(Bytes),
    /// PFC has eight classes, InfiniBand sixteen lanes.
    Classes(u8, Medium),
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanError::UnknownRate(error) => error.fmt(f),
            PlanError::NothingLossless => f.write_str(
                "no port of a switch is lossless in any class, so there is nothing to plan; \
                 --classes N plans for N",
            ),
            PlanError::NoSwitch(pattern) => {
                write!(f, "no switch is called {pattern:?}, so --buffer-at has no use there")
            }
            PlanError::Mtu(mtu) => {
                write!(f, "an MTU of {} B is no frame; say --mtu from 64 B to 1 MB", mtu.get())
            }
            PlanError::Classes(count, medium) => {
                let has = match medium {
                    Medium::Ethernet => "PFC has 8 priorities",
                    Medium::InfiniBand => "InfiniBand has 16 VLs",
                };
                let most = classes_most(*medium);
                write!(f, "{count} classes, and {has}; say --classes from 1 to {most}")
            }
        }
    }
}

impl std::error::Error for PlanError {}

impl From<UnknownRate> for PlanError {
    fn from(error: UnknownRate) -> PlanError {
        PlanError::UnknownRate(error)
    }
}

/// Plans the buffers of all switches of `fabric`.
pub fn plan(fabric: &Fabric, request: &Request) -> Result<Plan, PlanError> {
    check(fabric, request)?;
    let hops = Hops::of(fabric);
    let mut notes = fabric.notes.clone();
    let occurring = occurring_classes(fabric);
    let mut switches: Vec<SwitchPlan> = Vec::new();
    let mut known: BTreeMap<(Vec<Kind>, Bytes), usize> = BTreeMap::new();
    let mut idle = 0;
    for &node in fabric.topology.switches() {
        let kinds = port_kinds(fabric, request, node, occurring);
        if kinds.is_empty() {
            idle += 1;
            continue;
        }
        let mut sorted = Vec::from_iter(kinds.iter().map(|(_, kind)| *kind));
        sorted.sort_unstable();
        let next = switches.len();
        let buffer = request.buffer_of(&fabric.topology.node(node).name);
        let at = *known.entry((sorted, buffer)).or_insert(next);
        if at == next {
            switches.push(SwitchPlan::new(request, buffer, &kinds)?);
        }
        switches[at].add(node, &kinds);
    }
    if switches.is_empty() {
        return Err(PlanError::NothingLossless);
    }
    if idle > 0 {
        notes.push(format!("{idle} switches have no lossless port and no plan"));
    }
    for switch in &mut switches {
        switch.finish(request, &hops);
    }
    notes.extend(notes::of_links(fabric, request, &switches));
    notes.extend(notes::of_routes(fabric, &hops, &switches));
    Ok(Plan {
        fabric: fabric.name.clone(),
        medium: fabric.medium,
        request: request.clone(),
        switches,
        longest_path: hops.longest(),
        has_loop: hops.has_loop,
        notes,
    })
}

impl Plan {
    /// The scheme that the links have by nature.
    pub fn native_scheme(&self) -> Scheme {
        match self.medium {
            Medium::Ethernet => Scheme::Pfc,
            Medium::InfiniBand => Scheme::Cbfc,
        }
    }

    /// Whether every switch has room for this scheme.
    pub fn fits(&self, scheme: Scheme) -> bool {
        let plans = self.switches.iter().map(|switch| switch.scheme(scheme));
        plans.into_iter().all(|plan| plan.fit.is_fitting())
    }

    /// Whether every switch has a pool left for dynamic thresholds.
    pub fn fits_dynamic(&self) -> bool {
        self.switches.iter().all(|switch| switch.dynamic.is_fitting())
    }

    /// Whether every switch has room for its TTL classes; `None` where packets circle and there is
    /// no plan of them.
    pub fn fits_ttl(&self) -> Option<bool> {
        let mut all = self.switches.iter().flat_map(|switch| &switch.ttl);
        (!self.has_loop).then(|| all.all(|ttl| ttl.short == Bytes::ZERO))
    }

    /// The longest reaction of all links, for what knows one only.
    pub fn reaction_max(&self) -> Span {
        let ports = self.switches.iter().flat_map(|switch| &switch.ports);
        ports.map(|port| port.latency.processing).max().unwrap_or(Span::ZERO)
    }

    /// The most lossless classes of any port.
    pub fn classes_max(&self) -> u8 {
        let ports = self.switches.iter().flat_map(|switch| &switch.ports);
        ports.map(|port| port.kind.classes).max().unwrap_or(1)
    }
}

fn check(fabric: &Fabric, request: &Request) -> Result<(), PlanError> {
    for (pattern, _) in &request.buffers {
        let switches = fabric.topology.switches().iter();
        let mut names = switches.map(|node| &fabric.topology.node(*node).name);
        if !names.any(|name| matches(pattern, name)) {
            return Err(PlanError::NoSwitch(pattern.clone()));
        }
    }
    if !pauseless_scenario::FRAMES.contains(&request.mtu) {
        return Err(PlanError::Mtu(request.mtu));
    }
    match request.classes {
        Some(count) if !(1..=classes_most(fabric.medium)).contains(&usize::from(count)) => {
            Err(PlanError::Classes(count, fabric.medium))
        }
        _ => Ok(()),
    }
}

/// How many classes can be lossless.
pub fn classes_most(medium: Medium) -> usize {
    match medium {
        Medium::Ethernet => Class::COUNT_MAX,
        Medium::InfiniBand => LANE_COUNT,
    }
}

/// The lossless ports of a switch.
fn port_kinds(
    fabric: &Fabric,
    request: &Request,
    node: NodeId,
    occurring: u16,
) -> Vec<(PortId, Kind)> {
    let ports = (0..).map(PortId).zip(fabric.topology.ports(node));
    let kinds = ports.map(|(number, port)| {
        let lossless = occurring & !fabric.lossy.at(node, number);
        let kind = Kind {
            line: request.rate.unwrap_or(port.rate),
            wire: request.wire.unwrap_or(port.delay),
            classes: request.classes.unwrap_or(lossless.count_ones() as u8),
        };
        (number, kind)
    });
    kinds.filter(|(_, kind)| kind.classes > 0).collect()
}

/// All classes in which packets can travel, a bit each.
fn occurring_classes(fabric: &Fabric) -> u16 {
    let bit = |class: Class| 1 << class.0;
    let mut all = match &fabric.traffic {
        Traffic::AllPairs(lanes) => lanes.iter().fold(0, |all, lane| all | bit(lane.class)),
        Traffic::Demands(demands) => demands.iter().fold(0, |all, it| all | bit(it.lane.class)),
    };
    match &fabric.classes {
        ClassMap::Same => {}
        ClassMap::Hops(hops) => all |= ((1u32 << hops.count) - 1) as u16,
        ClassMap::Table(table) => {
            for &node in fabric.topology.switches() {
                let count = fabric.topology.ports(node).len() as u16;
                let pairs = (0..count).flat_map(|a| (0..count).map(move |b| (a, b)));
                for (ingress, egress) in pairs.map(|(a, b)| (PortId(a), PortId(b))) {
                    let passage = Passage { node, ingress, egress };
                    let row = table.row(passage).into_iter().flatten();
                    let classes = row.filter(|class| usize::from(**class) < LANE_COUNT);
                    all = classes.fold(all, |all, class| all | bit(Class(*class)));
                }
            }
        }
    }
    all
}

impl PortPlan {
    pub(crate) fn new(request: &Request, kind: Kind) -> Result<PortPlan, UnknownRate> {
        let latency = kind.latency(request.mtu, request.reaction.span(kind.line)?);
        Ok(PortPlan {
            kind,
            members: Vec::new(),
            count: 0,
            latency,
            headroom: Headroom::new(&latency),
            sonic: request.cells.map(|cells| headroom::sonic(&latency, cells)),
        })
    }

    /// How many (port, class) of the group each switch has.
    pub fn queue_count(&self) -> u64 {
        self.count as u64 * u64::from(self.kind.classes)
    }
}
