//! What was written in `[switch.memory]`, held against a fabric.

use std::collections::BTreeMap;

use pauseless_core::derive::{Derivation, Latency, Violation};
use pauseless_core::flow_control::{FlowControl, pfc};
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::memory::{Alpha, HeadroomPool, LaneMemory, SharedConfig, Threshold};
use pauseless_core::unit::Bytes;
use pauseless_fabric::topology::Topology;
use pauseless_sim::config::{Ingress, IngressTable};

use super::{Kind, Lane, Limit, Pool, SetAside, SharedMemory};
use crate::pattern;
use crate::port_group::{PortGroup, violation_problem};
use pauseless_text::problem::Sink;
use pauseless_text::reader::{At, Place};
use pauseless_text::unit::Quantity;

/// The factor alpha of public code for ports of a NIC's speed.
const ALPHA: (u32, u32) = (1, 8);

/// A memory on its way to be complete.
pub struct Share<'s> {
    pub written: &'s SharedMemory,
    /// Whether senders can be paused: otherwise headroom makes no sense.
    pub is_lossless: bool,
    pub is_unsafe: bool,
    pub quanta: u16,
    /// The place at which the quanta were written.
    pub quanta_place: Option<Place>,
    pub mtu: Bytes,
    pub class_count: u8,
    pub sink: &'s Sink,
}

impl Share<'_> {
    /// Which `[[switch.memory.at]]` name each port of a switch and class, in the order of the file.
    pub(crate) fn overlays(
        &self,
        topology: &Topology,
    ) -> BTreeMap<(NodeId, PortId, Class), Vec<usize>> {
        let mut overlays: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (index, other) in self.written.others.iter().enumerate() {
            for class in other.at.classes.get().into_iter().flatten() {
                if class.value.0 >= u64::from(self.class_count) {
                    let problem = class.place.problem(format!("no class {}", class.value.0));
                    let last = self.class_count - 1;
                    self.sink.push(problem.expected(format!("a class from 0 to {last}")));
                }
            }
            let is_named = |class: &Class| pattern::covers(&other.at.classes, *class);
            let ports = other.at.ports.get().map_or(&[][..], Vec::as_slice);
            for (node, port) in pattern::ports(topology, ports, self.sink) {
                for class in (0..self.class_count).map(Class).filter(is_named) {
                    overlays.entry((node, port, class)).or_default().push(index);
                }
            }
        }
        overlays
    }

    /// The parameters of some ports that are alike, before their switches are looked at.
    pub(crate) fn group(
        &self,
        named: &[usize],
        latency: Latency,
        members: Vec<(NodeId, PortId, Class)>,
    ) -> PortGroup {
        let lane = self.lane(named);
        let headroom =
            if self.is_lossless { lane.headroom.or(latency.pfc_headroom()) } else { Bytes::ZERO };
        let (numerator, denominator) = ALPHA;
        let usual = Alpha::new(numerator, denominator).expect("the default alpha is above zero");
        let least = self.mtu;
        let threshold = match (lane.limit(), lane.kind) {
            (Some(Limit::Static(bytes)), _) => Threshold::Static(bytes),
            (Some(Limit::Alpha(alpha)), Kind::Shared) => Threshold::Dynamic(alpha),
            (Some(Limit::Alpha(alpha)), Kind::Partitions) => Threshold::Partition { alpha, least },
            (None, Kind::Shared) => Threshold::Dynamic(usual),
            (None, Kind::Partitions) => Threshold::Partition { alpha: usual, least },
        };
        let reserve = match lane.kind {
            Kind::Shared => lane.reserve.or(self.mtu),
            Kind::Partitions => Bytes::ZERO,
        };
        let memory = LaneMemory {
            reserve,
            headroom,
            threshold,
            resume_offset: lane.resume_offset.or(self.mtu * 2),
        };
        let buffer = self.written.total();
        let control = if self.is_lossless {
            FlowControl::Pfc(pfc::Config::commanded(self.quanta))
        } else {
            FlowControl::None
        };
        PortGroup {
            members,
            derivation: Derivation::new(latency, buffer),
            tau: latency.tau(),
            ingress: Ingress { control, buffer },
            memory: Some(memory),
        }
    }

    fn lane(&self, named: &[usize]) -> Lane {
        let others = named.iter().map(|other| &self.written.others[*other]);
        others.fold(self.written.lane.clone(), |lane, other| other.lane.laid_over(&lane))
    }

    /// Holds the parameters of some ports against what their links need.
    pub(crate) fn check(&self, named: &[usize], group: &PortGroup, port: &str) -> Option<String> {
        let lane = self.lane(named);
        let memory = group.memory.as_ref()?;
        if !self.is_lossless {
            if let Some(place) = lane.headroom.place() {
                let problem = place.problem("headroom without flow control");
                let help = "headroom is for what arrives after a PAUSE; remove it, or use PFC";
                self.sink.push(problem.help(help));
            }
            return None;
        }
        let place = lane.headroom.place().cloned();
        let bound = group.derivation.latency.pfc_headroom();
        if memory.headroom < bound {
            let violation = Violation::BelowBound {
                name: "headroom",
                value: memory.headroom,
                bound,
                rule: "C tau + MTU + 64 B per class",
            };
            return self.report(place, &violation, port);
        }
        let violation = group.derivation.check_quanta(self.quanta).err()?;
        self.report(self.quanta_place.clone(), &violation, port)
    }

    /// What is violated is reported, or comes back as a warning if it was wanted.
    fn report(&self, place: Option<Place>, violation: &Violation, at: &str) -> Option<String> {
        let place = place.unwrap_or_else(|| self.written.total.place.clone());
        if self.is_unsafe {
            return Some(format!("{}: {violation} (at {at})", place.key));
        }
        self.sink.push(violation_problem(&place, violation, at));
        None
    }

    /// Divides the memory of every switch; a warning if one is divided unsafely on purpose.
    pub(crate) fn divide(
        &self,
        topology: &Topology,
        groups: &[PortGroup],
        table: &mut IngressTable,
    ) -> Option<String> {
        let mut lanes = BTreeMap::new();
        for group in groups {
            if let Some(memory) = group.memory {
                lanes.extend(group.members.iter().map(|member| (*member, memory)));
            }
        }
        let (mut neediest, mut worst) = (None, None);
        for &node in topology.switches() {
            let next = NodeId(node.0 + 1);
            let first = (node, PortId(0), Class(0));
            let own = lanes.range(first..(next, PortId(0), Class(0)));
            let own = Vec::from_iter(own.map(|(_, memory)| *memory));
            let mut shared = self.divided(own);
            keep_largest(&mut worst, self.shortage(&shared), node);
            let aside = self.aside(&shared);
            let needed = aside + self.mtu;
            match self.written.total().checked_sub(aside) {
                Some(rest) if needed <= self.written.total() => shared.pool = rest,
                _ => keep_largest(&mut neediest, Some((needed, shared.headroom())), node),
            }
            table.share(node, shared);
        }
        let name = |node: NodeId| &*topology.node(node).name;
        if let Some(((needed, headroom), node)) = neediest {
            self.refuse_total(needed, headroom, name(node));
        }
        self.check_partitions();
        let ((_, violation), node) = worst?;
        let key = match violation.name() {
            "partitions" => self.written.whole.partitions.place(),
            _ => self.written.whole.headroom_total.place(),
        };
        self.report(key.cloned(), &violation, name(node))
    }

    /// What is not shared. Public simulators take a port's share once, and promise it to each of
    /// its classes.
    fn aside(&self, shared: &SharedConfig) -> Bytes {
        if self.written.whole.set_aside.value == SetAside::PerClass {
            return shared.total();
        }
        let most = shared.lanes.chunks(shared.class_count).map(|lanes| {
            lanes.iter().map(|lane| lane.reserve + lane.headroom).max().unwrap_or(Bytes::ZERO)
        });
        most.sum::<Bytes>()
    }

    /// Everything but the shared pool.
    fn divided(&self, lanes: Vec<LaneMemory>) -> SharedConfig {
        let class_count = usize::from(self.class_count);
        let port_count = (lanes.len() / class_count) as u64;
        let (of_port, all) = headroom_sums(&lanes, class_count);
        let whole = &self.written.whole;
        let size = whole.headroom_total.copied();
        let headroom = match whole.headroom_pool.value {
            _ if !self.is_lossless => HeadroomPool::Class,
            Pool::Class => HeadroomPool::Class,
            Pool::Port => HeadroomPool::Port(size.unwrap_or(of_port)),
            Pool::Switch => HeadroomPool::Switch(size.unwrap_or(all)),
        };
        let partitions = match (whole.kind, whole.partitions.get()) {
            (Kind::Shared, _) => Vec::new(),
            (Kind::Partitions, None) => vec![self.mtu * port_count; class_count],
            (Kind::Partitions, Some(sizes)) => match sizes.0[..] {
                [size] => vec![size; class_count],
                _ => sizes.0.clone(),
            },
        };
        SharedConfig {
            pool: Bytes::ZERO,
            partitions: partitions.into(),
            headroom,
            class_count,
            lanes: lanes.into(),
        }
    }

    /// What is shared by ports if it is less than they may need at once, with what they need.
    fn shortage(&self, shared: &SharedConfig) -> Option<(Bytes, Violation)> {
        let (of_port, all) = headroom_sums(&shared.lanes, shared.class_count);
        let (name, value, bound, rule) = match shared.headroom {
            HeadroomPool::Port(size) if size < of_port => {
                ("headroom_total", size, of_port, "the headroom of all classes of a port")
            }
            HeadroomPool::Switch(size) if size < all => {
                ("headroom_total", size, all, "the headroom of all ports and classes")
            }
            _ => {
                let least = *shared.partitions.iter().min()?;
                let ports = (shared.lanes.len() / shared.class_count) as u64;
                ("partitions", least, self.mtu * ports, "one packet of every port (ttl 1.4)")
            }
        };
        let violation = Violation::BelowBound { name, value, bound, rule };
        (value < bound).then_some((bound, violation))
    }

    fn check_partitions(&self) {
        let Some(At { value, place }) = &self.written.whole.partitions.given else {
            return;
        };
        let (count, classes) = (value.0.len(), self.class_count);
        if count != 1 && count != usize::from(classes) {
            let problem = place.problem(format!("{count} sizes stand here"));
            let expected = format!("one, or one for each of the {classes} classes");
            self.sink.push(problem.expected(expected));
        }
    }

    fn refuse_total(&self, needed: Bytes, headroom: Bytes, switch: &str) {
        let At { value, place } = &self.written.total;
        let message = format!("{} is too little for {switch}", value.exact());
        let dedicated = needed.saturating_sub(headroom + self.mtu).exact();
        let (needed, headroom, mtu) = (needed.exact(), headroom.exact(), self.mtu.exact());
        let parts = format!("{headroom} of headroom, {dedicated} dedicated, {mtu} to share");
        let problem = place.problem(message).expected(format!("at least {needed}: {parts}"));
        self.sink.push(problem.help(format!("set total = \"{needed}\" or more")));
    }
}

/// Keeps the first of those that need the most.
fn keep_largest<T>(
    largest: &mut Option<((Bytes, T), NodeId)>,
    needed: Option<(Bytes, T)>,
    node: NodeId,
) {
    let Some(needed) = needed else {
        return;
    };
    let is_larger = |((other, _), _): &((Bytes, T), NodeId)| needed.0 > *other;
    if largest.as_ref().is_none_or(is_larger) {
        *largest = Some((needed, node));
    }
}

/// The most that any port may have in headroom, and all together.
fn headroom_sums(lanes: &[LaneMemory], class_count: usize) -> (Bytes, Bytes) {
    let sum = |lanes: &[LaneMemory]| lanes.iter().map(|lane| lane.headroom).sum::<Bytes>();
    let ports = lanes.chunks(class_count).map(sum);
    (ports.max().unwrap_or(Bytes::ZERO), sum(lanes))
}
