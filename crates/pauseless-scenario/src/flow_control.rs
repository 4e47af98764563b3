//! The section `[flow_control]`: what was written, what follows from it, and whether it is safe.

mod cbfc;
mod gfc;
mod none;
pub(crate) mod outside;
mod pfc;
mod scheme;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use pauseless_core::derive::Latency;
use pauseless_core::flow_control::FlowControl;
use pauseless_core::flow_control::limiter::TICK;
use pauseless_core::flow_control::pfc::QUANTA_MAX;
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::switch::Discipline;
use pauseless_core::unit::{Bytes, Rate, Span};
use pauseless_fabric::topology::Topology;
use pauseless_sim::clock::Clocks;
use pauseless_sim::config::{Ingress, IngressTable};

use super::chosen;
use super::memory::Share;
use super::pattern::{self, ClassNumber};
use super::port_group::{Draft, PortGroup};
use super::switch::{BUFFERS, Switches};
use pauseless_fabric::cycle_aware::MARGIN;
use pauseless_text::declare::{Declared, Entry, Filled, Info, Key, List, LongList, Written, list};
use pauseless_text::file::File;
use pauseless_text::problem::Sink;
use pauseless_text::reader::{At, Place, Section};
use pauseless_text::section;

pub use cbfc::Cbfc;
pub use gfc::{GfcBuffer, GfcConceptual, GfcTime};
pub use pfc::{PFC, Pfc};
use scheme::AnyScheme;
pub use scheme::schemes;
pub use scheme::{Scheme, scheme_of};

/// The name of the section.
pub const SECTION: &str = "flow_control";
/// The name of the sections in it for some ports.
const AT: &str = "at";
/// From nothing to more than a slow processor needs.
const TICKS: RangeInclusive<Span> = Span::ZERO..=Span::ms(1);
/// The time between two messages.
const PERIODS: RangeInclusive<Span> = Span::ps(1)..=Span::s(1);

section! {
    /// How receivers keep their senders from sending more than there is room for.
    pub struct Common {
        /// Whether a violated bound is a warning instead of an error.
        unsafe_parameters: bool, default false;
        /// The time for which a class of an egress rests after each of its frames: one tick of a rate
        /// limiter's countdown. It decides outcomes where packets wait in FIFOs per ingress, see
        /// [disciplines.md](disciplines.md).
        tick: Span, within TICKS,
            derived "`\"1.2 ns\"` for `\"paced-pfc\"`, `\"paced-cbfc\"`, and GFC with input queues or in software; else `\"0 s\"`",
            source "gfc19 5.3";
    }
}

section! {
    /// Thresholds of ports on and before cycles of buffers.
    pub struct CycleAware {
        /// Whether ports that feed a cycle of buffers throttle early; see
        /// [cycle-aware.md](cycle-aware.md). Not with shared memory.
        cycle_aware: bool, default false;
        /// With `cycle_aware`: K is to be this many times rho m L; below 1 no cycle is safe.
        cycle_margin: f64, within 0.1..=100.0, default MARGIN, when |keys| keys.cycle_aware.value;
    }
}

section! {
    /// Other values at some ports; later ones win.
    pub struct PortValues {
        /// Port names, in which `*` stands for any text: `["S*:H*", "A3:C1"]`; a pattern that names
        /// no port is an error.
        ports: LongList<String>, within "a list of strings", required "[\"S1:H1\"]";
        /// The classes that the values are for.
        classes: List<ClassNumber>, derived "all";
        /// The physical buffer there.
        buffer: Bytes, within BUFFERS, derived "`switch.buffer`";
    }
}

/// The whole section, for documents and schemas.
pub(crate) fn info() -> Info {
    Info { variants: Some(schemes().describe()), ..Common::info() }
}

/// `[flow_control]` as it was written, with the buffer of `[switch]`.
#[derive(Clone, Debug)]
pub struct Setting {
    pub(crate) is_unsafe: bool,
    /// Where ports on and before a cycle have thresholds of their own, the room that they leave.
    pub cycle_margin: Option<f64>,
    scheme: Arc<AnyScheme>,
    tick: Span,
    buffer: Key<Bytes>,
    others: Vec<PortSetting>,
}

/// `[[flow_control.at]]` as it was written.
#[derive(Clone, Debug)]
struct PortSetting {
    values: PortValues,
    scheme: Arc<AnyScheme>,
}

impl Setting {
    pub(crate) fn read(root: &mut Section<'_>, switches: &Switches) -> Option<Setting> {
        let is_written = root.has(SECTION);
        let Some(mut section) = root.table(SECTION) else {
            if !is_written {
                root.missing_section(SECTION);
            }
            return None;
        };
        let kind = schemes().take(&mut section)?;
        let common = Common::read(&mut section);
        let scheme = (kind.value.read)(&mut section)?;
        let cycle = if scheme.has_thresholds() {
            CycleAware::read(&mut section)
        } else {
            CycleAware::default()
        };
        let mut others = Vec::new();
        for mut other in section.tables(AT) {
            other.set_context(section.context());
            others.extend(PortSetting::read(other, &kind.value.read, switches));
        }
        let is_aware = cycle.cycle_aware.value;
        let tick = common.tick.or(usual_tick(kind.value.name, &*scheme, switches));
        let mut setting = Setting {
            is_unsafe: common.unsafe_parameters.value,
            cycle_margin: is_aware.then_some(cycle.cycle_margin.value),
            scheme,
            tick,
            buffer: switches.buffer.clone(),
            others,
        };
        if switches.is_sharing {
            let name = kind.value.name;
            let kind = At { value: name, place: kind.place };
            setting.share_memory(&section, kind, switches.discipline);
        } else if !switches.buffer.is_written && setting.scheme.is_lossless() {
            let problem = section.place.problem("the switches have no buffer");
            section.report(problem.help("add buffer = \"1 MB\" to [switch]"));
        }
        section.finish();
        Some(setting)
    }

    /// Leaves out what makes no sense where ports share their memory, and reports it.
    fn share_memory(&mut self, section: &Section<'_>, kind: At<&str>, discipline: Discipline) {
        if discipline == Discipline::Software {
            let problem = section.place.problem("the ports of a software switch share no memory");
            section.report(problem.help("leave out [switch.memory], or choose another discipline"));
        }
        match self.scheme.sharing_memory(section) {
            Some(scheme) => self.scheme = scheme,
            None => {
                let message = format!("{:?} needs a buffer of each port and class", kind.value);
                let help = "a grant or a rate is about bytes that nobody else can take; use \"pfc\" \
                            or \"none\", or leave out [switch.memory]";
                section.report(kind.place.problem(message).help(help));
            }
        }
        if let Some(port) = self.others.iter().flat_map(PortSetting::ports).next() {
            let problem = port.place.problem("the shared memory decides when to pause");
            section.report(problem.help("use [[switch.memory.at]] instead"));
        }
        self.others.clear();
        if self.cycle_margin.is_some() {
            let message = "cycle_aware sets thresholds, but the shared memory decides";
            let problem = section.place.problem(message);
            section.report(problem.help("remove cycle_aware, or [switch.memory]"));
        }
    }

    /// What the command line says of `cycle_aware`.
    pub(crate) fn make_cycle_aware(&mut self, is_aware: bool, switches: &Switches, sink: &Sink) {
        let margin = self.cycle_margin.unwrap_or(MARGIN);
        self.cycle_margin = is_aware.then_some(margin);
        if !is_aware {
            return;
        }
        let message = if !self.scheme.is_lossless() {
            "--cycle-aware sets thresholds, but without flow control there are none"
        } else if !self.scheme.has_thresholds() {
            "--cycle-aware sets thresholds, but this flow control has none that it could set"
        } else if switches.is_sharing {
            "--cycle-aware sets thresholds, but the shared memory decides"
        } else {
            return;
        };
        self.cycle_margin = None;
        let mut problem = Place::default().problem(message);
        problem.at = None;
        sink.push(problem.help("leave it out, or choose another scenario"));
    }
}

impl PortSetting {
    fn read(
        mut section: Section<'_>,
        read: &fn(&mut Section<'_>) -> Option<Arc<AnyScheme>>,
        switches: &Switches,
    ) -> Option<PortSetting> {
        let values = PortValues::read(&mut section);
        pattern::check_classes(values.classes.get(), switches.lane_count(), &section);
        let scheme = read(&mut section);
        section.finish();
        let scheme = scheme?;
        Some(PortSetting { values, scheme })
    }

    fn ports(&self) -> &[At<String>] {
        self.values.ports.get().map_or(&[], |ports| &ports.0)
    }
}

/// What `[flow_control]` says besides the parameters of ports, and what that depends on.
pub(crate) struct Besides<'b> {
    pub(crate) is_unsafe: bool,
    pub(crate) switches: &'b Switches,
}

/// Writes `[flow_control]` with the parameters of `base`.
pub(crate) fn write(
    file: &mut File,
    base: &PortGroup,
    ingress: &IngressTable,
    besides: Besides<'_>,
) {
    let (node, port, class) = base.members[0];
    let name = ingress.name(node, port, class);
    let tick = ingress.tick(node, port, class);
    let scheme = scheme_of(&base.ingress.control);
    let is_usual = tick == usual_tick(name, &*scheme, besides.switches);
    let kind = Entry::text(schemes().key, name);
    let common = Common {
        unsafe_parameters: Filled::new(besides.is_unsafe),
        tick: if is_usual { Key::default() } else { Key::of(tick) },
        ..Common::default()
    };
    file.table(SECTION, &(vec![kind], (common, keys_of(base))));
}

/// Writes `[[flow_control.at]]` with the parameters of `group`, once for each set of classes.
pub(crate) fn write_at(file: &mut File, topology: &Topology, group: &PortGroup) {
    for (classes, ports) in group.ports_by_classes(topology) {
        let values = PortValues {
            ports: Key::of(ports.into_iter().collect()),
            classes: Key::of(list(classes)),
            buffer: Key::of(group.ingress.buffer),
            ..PortValues::default()
        };
        file.one_of(&format!("{SECTION}.{AT}"), &(values, keys_of(group)));
    }
}

/// Writes `[[flow_control.at]]` with the buffer and the thresholds of these ports, and nothing that
/// is as it would be anyway.
pub fn write_thresholds(file: &mut File, ports: &[String], ingress: &Ingress) {
    let values = PortValues {
        ports: Key::of(ports.iter().cloned().collect()),
        buffer: Key::of(ingress.buffer),
        ..PortValues::default()
    };
    let thresholds = thresholds(&ingress.control);
    file.one_of(&format!("{SECTION}.{AT}"), &(values, thresholds));
}

/// The tick of a flow control that says nothing about it. Behind a FIFO per egress or per pair of ports it
/// would cost a thousandth of the rate and change nothing else.
fn usual_tick(kind: &str, scheme: &AnyScheme, switches: &Switches) -> Span {
    let is_limited = scheme.has_limiter() && switches.discipline.blocks_heads();
    if is_limited || kind.starts_with("paced-") { TICK } else { Span::ZERO }
}

/// The thresholds of a scheme, without what does not follow from the buffer.
pub fn thresholds(control: &FlowControl) -> Vec<Entry> {
    match control {
        FlowControl::None | FlowControl::Outside(_) => Vec::new(),
        FlowControl::Pfc(config) => {
            chosen(&Pfc { xoff: Key::of(config.xoff), xon: Key::of(config.xon), ..Pfc::default() })
        }
        FlowControl::Cbfc(config) => chosen(&Cbfc {
            credits: Key::of(config.capacity),
            period: Key::of(config.period),
            ..Cbfc::default()
        }),
        FlowControl::GfcBuffer(config) => chosen(&GfcBuffer {
            bm: Key::of(config.bm),
            b1: Key::of(config.b1),
            ..GfcBuffer::default()
        }),
        FlowControl::GfcTime(config) => chosen(&GfcTime {
            bm: Key::of(config.mapping.bm),
            b0: Key::of(config.mapping.b0),
            period: Key::of(config.period),
            ..GfcTime::default()
        }),
        FlowControl::GfcConceptual(config) => chosen(&GfcConceptual {
            bm: Key::of(config.mapping.bm),
            b0: Key::of(config.mapping.b0),
            ..GfcConceptual::default()
        }),
    }
}

/// The keys of the scheme that say what the ports of `group` have.
fn keys_of(group: &PortGroup) -> Vec<Entry> {
    let keys = scheme_of(&group.ingress.control).keys_of(group);
    keys.map_or(Vec::new(), |keys| keys.entries())
}

/// Turns what was written into the parameters of every port.
pub struct Resolver<'r> {
    pub(crate) setting: &'r Setting,
    pub(crate) switches: &'r Switches,
    pub(crate) mtu: Bytes,
    pub(crate) wire_jitter: Span,
    pub(crate) line_jitter: Span,
    pub(crate) wire_overhead: Bytes,
    pub(crate) clocks: Clocks,
    pub(crate) sink: &'r Sink,
}

/// The parameters of every port.
pub struct Resolved {
    pub(crate) table: IngressTable,
    pub(crate) groups: Vec<PortGroup>,
    pub(crate) warnings: Vec<String>,
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
            let mut scheme = self.setting.scheme.clone();
            let mut buffer = self.setting.buffer.clone();
            for other in named.iter().map(|other| &self.setting.others[*other]) {
                scheme = other.scheme.over(&*scheme);
                buffer = other.values.buffer.over(&buffer).clone();
            }
            // A message waits for a frame, takes its own time, and waits for a frame of the sender.
            let late = self.wire_jitter + self.line_jitter * 2;
            let latency = Latency {
                mtu: self.mtu,
                line: rate,
                // A bound must hold for the slowest message, too.
                wire: delay + late,
                processing: self.switches.processing
                    + self.switches.processing_jitter
                    + rate.tx_span(self.mtu * self.committed()),
                classes: self.switches.lane_count(),
                jitter: late + self.switches.processing_jitter,
                overhead: self.wire_overhead,
                clock_ppb: self.clocks.deviation_max_ppb,
            };
            if let Some((share, shared)) = share.as_ref().zip(shared) {
                let group = share.group(&shared, latency, members);
                let port = first_port(topology, &group);
                warnings.extend(share.check(&shared, &group, &port));
                add(&mut groups, group);
                continue;
            }
            if share.is_some() && buffer.given.is_none() {
                // The buffer of a host where nothing is said about it: far more than it needs.
                buffer = Key::of(Bytes::mb(1) + latency.pfc_headroom());
            }
            let draft = Draft::new(&*scheme, &buffer, latency, self.sink);
            let Some(group) = draft.group(members) else {
                is_good = false;
                continue;
            };
            let port = first_port(topology, &group);
            warnings.extend(draft.check(&group, &port, self.setting.is_unsafe));
            add(&mut groups, group);
        }
        warnings.sort();
        warnings.dedup();
        is_good.then(|| self.tabulate(topology, groups, warnings))
    }

    /// The packets that a sender cannot take back when it is paused: those that it has handed to its NIC.
    fn committed(&self) -> u64 {
        let is_bursting = self.switches.discipline == Discipline::Software
            && self.setting.tick == Span::ZERO
            && !self.setting.scheme.has_limiter()
            && self.setting.scheme.is_lossless();
        if is_bursting { u64::from(self.switches.polling.burst) } else { 0 }
    }

    /// The memory of switches, if their ports share it.
    fn share(&self) -> Option<Share<'_>> {
        let scheme = &self.setting.scheme;
        let quanta = scheme.pause_quanta();
        Some(Share {
            written: self.switches.memory.as_ref()?,
            is_lossless: scheme.is_lossless(),
            is_unsafe: self.setting.is_unsafe,
            quanta: quanta.map_or(QUANTA_MAX, |quanta| quanta.value),
            quanta_place: quanta.and_then(|quanta| quanta.place.clone()),
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
        if self.setting.tick > Span::ZERO {
            for (node, port, class) in groups.iter().flat_map(|group| &group.members) {
                table.pace(*node, *port, *class, self.setting.tick);
            }
        }
        groups.sort_by_key(|group| group.members[0]);
        if let Some(share) = self.share() {
            warnings.extend(share.divide(topology, &groups, &mut table));
        }
        Resolved { table, groups, warnings }
    }

    fn covers(&self, other: usize, class: Class) -> bool {
        pattern::covers(&self.setting.others[other].values.classes, class)
    }

    /// Which `[[flow_control.at]]` name each port, in the order of the file.
    fn overlays(&self, topology: &Topology) -> BTreeMap<(NodeId, PortId), Vec<usize>> {
        let mut overlays: BTreeMap<(NodeId, PortId), Vec<usize>> = BTreeMap::new();
        for (index, other) in self.setting.others.iter().enumerate() {
            for port in pattern::ports(topology, other.ports(), self.sink) {
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
