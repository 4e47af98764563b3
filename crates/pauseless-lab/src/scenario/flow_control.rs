//! The section `[flow_control]`: what was written, what follows from it, and whether it is safe.

use std::collections::BTreeMap;

use pauseless_core::derive::Latency;
use pauseless_core::flow_control::pfc;
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::unit::{Bytes, Rate, Span};
use pauseless_fabric::topology::Topology;
use pauseless_sim::config::IngressTable;

use super::congestion::number;
use super::memory::Share;
use super::parameters::{KINDS, Kind, Params};
use super::pattern;
use super::port_group::{Draft, PortGroup};
use super::reader::{At, Item, Place, Section};
use super::switch::{BUFFERS, Switches};
use crate::cycle_aware::MARGIN;
use crate::problem::Sink;

/// `[flow_control]` as it was written.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    kind: Kind,
    pub is_unsafe: bool,
    /// Where ports on and before a cycle have thresholds of their own, the room that they leave.
    pub cycle_margin: Option<f64>,
    base: Params,
    others: Vec<Other>,
}

/// `[[flow_control.at]]` as it was written.
#[derive(Clone, Debug)]
struct Other {
    ports: Vec<At<String>>,
    /// Empty for all.
    classes: Vec<At<u64>>,
    params: Params,
}

impl Written {
    /// Reads `[flow_control]`.
    pub(crate) fn read(root: &mut Section<'_>, switches: &Switches) -> Option<Written> {
        let is_written = root.has("flow_control");
        let Some(mut section) = root.table("flow_control") else {
            if !is_written {
                root.missing_section("flow_control");
            }
            return None;
        };
        let has_kind = section.has("kind");
        let Some(kind) = section.choice("kind", &KINDS) else {
            if !has_kind {
                let words = "\"pfc\", \"cbfc\", \"gfc-buffer\", \"gfc-time\", \"gfc-conceptual\" or \"none\"";
                section.missing("kind", words);
            }
            section.discard();
            return None;
        };
        let name = KINDS[kind.value as usize].0;
        let context = format!(" with kind = {name:?}");
        section.set_context(context.clone());
        let is_unsafe = section.boolean("unsafe_parameters");
        let cycle_margin = match kind.value {
            Kind::None => None,
            _ => read_cycle_margin(&mut section),
        };
        let mut base = Params::read(&mut section, kind.value);
        base.buffer = switches.buffer.clone();
        let mut others = Vec::new();
        for mut other in section.tables("at") {
            other.set_context(context.clone());
            others.extend(Other::read(other, kind.value, switches.lane_count()));
        }
        if switches.is_sharing {
            refuse_private(&section, &kind, (&base, &others));
            // What is refused is not held against any bound: that would be a second error for it.
            (base.xoff, base.xon) = (None, None);
            others.clear();
            if cycle_margin.is_some() {
                let message = "cycle_aware sets thresholds, but the shared memory decides";
                let problem = section.place.problem(message);
                section.report(problem.help("remove cycle_aware, or [switch.memory]"));
            }
        } else if !switches.is_buffer_written && kind.value != Kind::None {
            let problem = section.place.problem("the switches have no buffer");
            section.report(problem.help("add buffer = \"1 MB\" to [switch]"));
        }
        section.finish();
        Some(Written {
            kind: kind.value,
            is_unsafe: is_unsafe.is_some_and(|is_unsafe| is_unsafe.value),
            cycle_margin,
            base,
            others,
        })
    }
}

impl Written {
    /// What the command line says of `cycle_aware`.
    pub(crate) fn make_cycle_aware(
        &mut self,
        is_aware: bool,
        (switches, sink): (&Switches, &Sink),
    ) {
        let margin = self.cycle_margin.unwrap_or(MARGIN);
        self.cycle_margin = is_aware.then_some(margin);
        let message = match (self.kind, switches.is_sharing) {
            _ if !is_aware => return,
            (Kind::None, _) => {
                "--cycle-aware sets thresholds, but without flow control there are none"
            }
            (_, true) => "--cycle-aware sets thresholds, but the shared memory decides",
            _ => return,
        };
        self.cycle_margin = None;
        let mut problem = Place::default().problem(message);
        problem.at = None;
        sink.push(problem.help("leave it out, or choose another scenario"));
    }
}

/// `cycle_aware` and `cycle_margin`.
fn read_cycle_margin(section: &mut Section<'_>) -> Option<f64> {
    let is_aware = section.boolean("cycle_aware");
    if !is_aware.is_some_and(|is_aware| is_aware.value) {
        return None;
    }
    let margin = number(section, "cycle_margin", 0.1..=100.0);
    Some(margin.map_or(MARGIN, |margin| margin.value))
}

/// Refuses what makes no sense where ports share their memory.
fn refuse_private(section: &Section<'_>, kind: &At<Kind>, (base, others): (&Params, &[Other])) {
    if !matches!(kind.value, Kind::Pfc | Kind::None) {
        let name = KINDS[kind.value as usize].0;
        let message = format!("{name:?} needs a buffer of each port and class");
        let help = "a grant or a rate is about bytes that nobody else can take; use \"pfc\" or \
                    \"none\", or leave out [switch.memory]";
        section.report(kind.place.problem(message).help(help));
    }
    let written = [(&base.xoff, "xoff"), (&base.xon, "xon")];
    for (value, name) in written {
        if let Some(value) = value {
            let problem = value
                .place
                .problem("the shared memory decides when to pause");
            let instead = match name {
                "xoff" => "alpha or threshold",
                _ => "resume_offset",
            };
            section.report(problem.help(format!("use {instead} in [switch.memory] instead")));
        }
    }
    if let Some(port) = others.iter().flat_map(|other| &other.ports).next() {
        let problem = port
            .place
            .problem("the shared memory decides when to pause");
        section.report(problem.help("use [[switch.memory.at]] instead"));
    }
}

impl Other {
    fn read(mut section: Section<'_>, kind: Kind, class_count: u8) -> Option<Other> {
        let is_written = section.has("ports");
        let ports = section.strings("ports");
        if !is_written {
            section.missing("ports", "[\"S1:H1\"]");
        }
        let classes = section
            .list("classes")
            .map_or(Vec::new(), |list| list.value);
        let class = |item: Item<'_>| item.integer(0..=u64::from(class_count) - 1);
        let classes = classes.into_iter().filter_map(class).collect();
        let mut params = Params::read(&mut section, kind);
        params.buffer = section.quantity_within("buffer", BUFFERS);
        section.finish();
        Some(Other {
            ports: ports?.value,
            classes,
            params,
        })
    }
}

/// Turns what was written into the parameters of every port.
pub(crate) struct Resolver<'r> {
    pub written: &'r Written,
    pub switches: &'r Switches,
    pub mtu: Bytes,
    pub wire_jitter: Span,
    pub wire_overhead: Bytes,
    pub sink: &'r Sink,
}

/// The parameters of every port.
pub(crate) struct Resolved {
    pub table: IngressTable,
    pub groups: Vec<PortGroup>,
    pub warnings: Vec<String>,
}

/// What the parameters of a port depend on: the overlays that name it, its rate and its delay, and
/// the overlays of a shared memory if it is one of a switch that has one.
type Cell = (Vec<usize>, Rate, Span, Option<Vec<usize>>);

impl Resolver<'_> {
    /// The parameters of every port of `topology`, unless they make no sense.
    pub(crate) fn resolve(&self, topology: &Topology) -> Option<Resolved> {
        let overlays = self.overlays(topology);
        let share = self.share();
        let sharing = share.as_ref().map(|share| share.overlays(topology));
        let mut cells: BTreeMap<Cell, Vec<(NodeId, PortId, Class)>> = BTreeMap::new();
        for node in (0..topology.nodes().len()).map(|node| NodeId(node as u32)) {
            for (number, port) in (0..).zip(topology.ports(node)) {
                let named = overlays.get(&(node, PortId(number)));
                for class in (0..self.switches.lane_count()).map(Class) {
                    let named = named.into_iter().flatten().copied();
                    let named = named.filter(|other| self.covers(*other, class)).collect();
                    let at = (node, PortId(number), class);
                    let sharing = sharing.as_ref().filter(|_| !topology.is_host(node));
                    let shared = sharing.map(|map| map.get(&at).cloned().unwrap_or_default());
                    let cell = (named, port.rate, port.delay, shared);
                    cells.entry(cell).or_default().push(at);
                }
            }
        }
        let mut groups: Vec<PortGroup> = Vec::new();
        let mut warnings = Vec::new();
        let mut is_good = true;
        for ((named, rate, delay, shared), members) in cells {
            let mut params = named
                .iter()
                .fold(self.written.base.clone(), |params, other| {
                    params.overlaid(&self.written.others[*other].params)
                });
            let latency = Latency {
                mtu: self.mtu,
                line: rate,
                // A bound must hold for the slowest message, too.
                wire: delay + self.wire_jitter,
                processing: self.switches.processing + self.switches.processing_jitter,
                classes: self.switches.lane_count(),
                jitter: self.wire_jitter + self.switches.processing_jitter,
                overhead: self.wire_overhead,
            };
            if let Some((share, shared)) = share.as_ref().zip(shared) {
                let group = share.group(&shared, latency, members);
                let port = first_port(topology, &group);
                warnings.extend(share.check(&shared, &group, &port));
                add(&mut groups, group);
                continue;
            }
            if share.is_some() && params.buffer.is_none() {
                params.buffer = Some(own_buffer(&latency));
            }
            let draft = Draft::new(&params, latency, self.sink);
            let Some(group) = draft.group(self.written.kind, members) else {
                is_good = false;
                continue;
            };
            let port = first_port(topology, &group);
            warnings.extend(draft.check(&group, &port, self.written.is_unsafe));
            add(&mut groups, group);
        }
        warnings.sort();
        warnings.dedup();
        is_good.then(|| self.tabulate(topology, groups, warnings))
    }

    /// The memory of switches, if their ports share it.
    fn share(&self) -> Option<Share<'_>> {
        let quanta = self.written.base.pause_quanta.as_ref();
        Some(Share {
            written: self.switches.memory.as_ref()?,
            is_lossless: self.written.kind != Kind::None,
            is_unsafe: self.written.is_unsafe,
            quanta: quanta.map_or(pfc::QUANTA_MAX, |quanta| quanta.value as u16),
            quanta_place: quanta.map(|quanta| quanta.place.clone()),
            mtu: self.mtu,
            class_count: self.switches.lane_count(),
            sink: self.sink,
        })
    }

    fn tabulate(
        &self,
        topology: &Topology,
        mut groups: Vec<PortGroup>,
        mut warnings: Vec<String>,
    ) -> Resolved {
        let class_count = usize::from(self.switches.lane_count());
        let first = groups.first().map(|group| group.ingress);
        let first = first.expect("a fabric has at least one link");
        let mut table = IngressTable::uniform(topology, class_count, first);
        for group in &mut groups {
            group.members.sort_unstable();
            for (node, port, class) in &group.members {
                *table.get_mut(*node, *port, *class) = group.ingress;
            }
        }
        groups.sort_by_key(|group| group.members[0]);
        if let Some(share) = self.share() {
            warnings.extend(share.divide(topology, &groups, &mut table));
        }
        Resolved {
            table,
            groups,
            warnings,
        }
    }

    fn covers(&self, other: usize, class: Class) -> bool {
        let classes = &self.written.others[other].classes;
        classes.is_empty() || classes.iter().any(|at| at.value == u64::from(class.0))
    }

    /// Which `[[flow_control.at]]` name each port, in the order of the file.
    fn overlays(&self, topology: &Topology) -> BTreeMap<(NodeId, PortId), Vec<usize>> {
        let mut overlays: BTreeMap<(NodeId, PortId), Vec<usize>> = BTreeMap::new();
        for (index, other) in self.written.others.iter().enumerate() {
            for port in pattern::ports(topology, &other.ports, self.sink) {
                overlays.entry(port).or_default().push(index);
            }
        }
        overlays
    }
}

fn first_port(topology: &Topology, group: &PortGroup) -> String {
    let (node, port, _) = group.members[0];
    topology.port_name(node, port)
}

/// Adds a group, or its members to one that is like it.
fn add(groups: &mut Vec<PortGroup>, group: PortGroup) {
    match groups.iter_mut().find(|other| other.is_like(&group)) {
        Some(other) => other.members.extend(group.members),
        None => groups.push(group),
    }
}

/// The buffer of a host where nothing is said about it: far more than it needs.
fn own_buffer(latency: &Latency) -> At<Bytes> {
    At {
        value: Bytes::mb(1) + latency.pfc_headroom(),
        place: Place::default(),
    }
}
