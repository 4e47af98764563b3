//! `plan --cycle-aware`: two sets of thresholds for every switch on a cycle, late for the queues
//! that lie on it and early for all others. See `docs/cycle-aware.md`.

use std::collections::{BTreeMap, BTreeSet};

use pauseless_core::class_map::LANE_COUNT;
use pauseless_core::derive::Latency;
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::unit::Bytes;
use pauseless_fabric::dependency::{Buffer, Checker, Crossing, Network};
use pauseless_fabric::failure::Failures;
use pauseless_fabric::reroute::Reroute;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Plan, Scheme, Set};
use pauseless_check::sweep::traffic_after;
use pauseless_fabric::cycle_aware::{Component, Role, Roles, late};
use pauseless_fabric::fabric::Fabric;

/// Thresholds for the switches on cycles.
#[derive(Clone, Debug)]
pub struct CyclePlan {
    /// The cycles, without any failure and after all that were looked at.
    pub components: Vec<Component>,
    /// How failures were looked at, if they were.
    pub failures: Option<FailureRecord>,
    /// The room that is left: K is to be this many times rho m L.
    pub margin: f64,
    /// Switches that are alike together.
    pub switches: Vec<CycleSwitch>,
}

/// The result of failing links one at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FailureRecord {
    /// How many single failures were tried.
    pub tried: usize,
    /// How many single failures make a cycle.
    pub cyclic: usize,
    /// How many cyclic failures the argument covers.
    pub covered: usize,
}

/// Switches with the same thresholds.
#[derive(Clone, Debug)]
pub struct CycleSwitch {
    /// The switches that have these thresholds.
    pub members: Vec<NodeId>,
    /// Their ports with a queue on a cycle.
    pub on: Vec<(NodeId, PortId)>,
    /// Their ports that feed one, and lie on none.
    pub feeding: Vec<(NodeId, PortId)>,
    /// How many queues of each lie on a cycle.
    pub late_queues: usize,
    /// How many other queues each has.
    pub early_queues: usize,
    /// The largest rho m of its links; `None` where packets travel in a circle.
    pub factor: Option<u64>,
    /// The largest (n - 1) (s - 2) m; `None` unless all its cycles are simple ones.
    pub stall_factor: Option<u64>,
    /// One element per scheme, in the order of [`Scheme::ALL`].
    pub sets: Vec<CycleSet>,
}

/// The thresholds of one flow control on these switches.
#[derive(Clone, Debug)]
pub struct CycleSet {
    /// The flow control that is planned for.
    pub scheme: Scheme,
    /// The least buffer of the switch with which K is rho m L.
    pub least: Option<Bytes>,
    /// By port: its latency is that of its link. Empty if the switch has too little buffer.
    pub ports: BTreeMap<(NodeId, PortId), CyclePort>,
    /// K / (rho m L) in fact.
    pub reached: f64,
    /// K / ((n - 1) (s - 2) m L): above 1, rings survived a receiver that stood still.
    pub after_stall: f64,
}

/// The thresholds of one port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CyclePort {
    /// Whether the port is on a cycle, and so throttles late.
    pub is_late: bool,
    /// The thresholds of the port.
    pub set: Set,
}

impl CycleSet {
    /// Whether the bound holds.
    pub fn holds(&self) -> bool {
        !self.ports.is_empty() && self.reached >= 1.0
    }

    /// The thresholds of those on the cycle, or of the others; the lowest where links differ.
    pub fn lowest(&self, is_late: bool) -> Option<&Set> {
        let sets = self.ports.values().filter(|port| port.is_late == is_late).map(|port| &port.set);
        sets.min_by_key(|set| late(&set.ingress.control, &set.derivation))
    }
}

impl CyclePlan {
    /// Whether the bound holds on all switches.
    pub fn holds(&self, scheme: Scheme) -> bool {
        let sets = self.switches.iter().flat_map(|switch| &switch.sets);
        sets.filter(|set| set.scheme == scheme).all(CycleSet::holds)
    }

    /// Whether the bound says something about all cycles.
    pub fn is_covered(&self) -> bool {
        self.components.iter().all(Component::is_covered)
    }
}

/// How to plan for cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wish {
    /// Plan for the cycles after all single failures too, when routes change in this way.
    pub reroute: Option<Reroute>,
    /// K is to be this many times rho m L.
    pub margin: f64,
}

/// Derives thresholds for the cycles of `fabric`.
pub fn cycle_aware(fabric: &Fabric, plan: &Plan, wish: Wish) -> CyclePlan {
    let Wish { reroute, margin } = wish;
    let healthy = crossings(fabric, fabric.network());
    let mut all: BTreeSet<Crossing> = healthy.into_iter().collect();
    let cases = reroute.map(|reroute| failures(fabric, reroute));
    for case in cases.iter().flatten() {
        all.extend(case.iter().cloned());
    }
    let all = Vec::from_iter(all);
    let roles = Roles::of(&all);
    let covered = cases.map(|cases| {
        let is_covered = |crossing: &Crossing| {
            let at = all.binary_search(crossing).expect("`all` has the crossings of every case");
            roles.components[at].is_covered()
        };
        let cyclic = Vec::from_iter(cases.iter().filter(|case| !case.is_empty()));
        FailureRecord {
            tried: cases.len(),
            cyclic: cyclic.len(),
            covered: cyclic.iter().filter(|case| case.iter().all(is_covered)).count(),
        }
    });
    let mut switches: Vec<CycleSwitch> = Vec::new();
    let mut known: BTreeMap<Likeness, usize> = BTreeMap::new();
    for site in sites(plan, &roles) {
        let next = switches.len();
        let at = *known.entry(site.likeness()).or_insert(next);
        if at == next {
            switches.push(site.switch());
        }
        switches[at].add(&site, margin);
    }
    CyclePlan { components: roles.components, failures: covered, margin, switches }
}

fn crossings(fabric: &Fabric, network: Network<'_>) -> Vec<Crossing> {
    let left_out = fabric.marks(&[]);
    let mut checker = Checker::of(&network);
    let graph = checker.graph(network, &left_out);
    checker.crossings(network, &graph, &left_out)
}

/// The cycles after each single failure of a link or a switch.
fn failures(fabric: &Fabric, reroute: Reroute) -> Vec<Vec<Crossing>> {
    let topology = &fabric.topology;
    let traffic = traffic_after(fabric, reroute);
    let links = Failures::single_links(topology);
    let cases = Vec::from_iter(links.chain(Failures::single_switches(topology)));
    let found = cases.par_iter().map(|case| {
        let routes = reroute.routes(topology, &fabric.routes, case);
        let network = Network { routes: &routes, traffic: &traffic, ..fabric.network() };
        crossings(fabric, network)
    });
    found.collect()
}

/// A switch on a cycle.
struct Site {
    node: NodeId,
    /// The buffer of the switch, all ports together.
    buffer: Bytes,
    factor: Option<u64>,
    stall_factor: Option<u64>,
    /// Every port with its latency, the number of its classes, and how many of those are on a
    /// cycle; whether one of the others feeds one.
    ports: Vec<SitePort>,
}

struct SitePort {
    number: PortId,
    latency: Latency,
    classes: usize,
    late: usize,
    is_feeding: bool,
}

/// What makes two switches alike: rates, delays, queues on cycles and others, rho m and buffer.
type Likeness = (Vec<(u64, u64, usize, usize)>, [Option<u64>; 2], Bytes);

impl Site {
    fn likeness(&self) -> Likeness {
        let ports = self.ports.iter().map(|port| {
            let Latency { line, wire, .. } = port.latency;
            (line.as_bps(), wire.as_ps(), port.classes, port.late)
        });
        let mut ports = Vec::from_iter(ports);
        ports.sort_unstable();
        (ports, [self.factor, self.stall_factor], self.buffer)
    }

    fn switch(&self) -> CycleSwitch {
        let late = self.ports.iter().map(|port| port.late).sum();
        let all: usize = self.ports.iter().map(|port| port.classes).sum();
        CycleSwitch {
            members: Vec::new(),
            on: Vec::new(),
            feeding: Vec::new(),
            late_queues: late,
            early_queues: all - late,
            factor: self.factor,
            stall_factor: self.stall_factor,
            sets: Scheme::ALL.map(CycleSet::none).into(),
        }
    }

    /// The buffer of all queues when each on a cycle has `late`, and each other one `early` at the
    /// least, but enough for the scheme.
    fn total(&self, scheme: Scheme, late: Bytes, early: Bytes) -> Bytes {
        let ports = self.ports.iter().map(|port| {
            let least = scheme.least(&port.latency);
            let others = (port.classes - port.late) as u64;
            late.max(least) * port.late as u64 + early.max(least) * others
        });
        ports.sum::<Bytes>()
    }

    /// K of a queue on a cycle with this buffer, on the worst of the links.
    fn threshold(&self, scheme: Scheme, buffer: Bytes) -> Bytes {
        let thresholds = self.ports.iter().filter(|port| port.late > 0).map(|port| {
            let buffer = buffer.max(scheme.least(&port.latency));
            let set = scheme.set(&port.latency, buffer);
            late(&set.ingress.control, &set.derivation)
        });
        thresholds.min().unwrap_or(Bytes::ZERO)
    }

    /// What the others may hold when those on the cycle have `buffer`: K / (rho m margin).
    fn room(&self, scheme: Scheme, buffer: Bytes, margin: f64) -> Bytes {
        let factor = self.factor.unwrap_or(u64::MAX) as f64 * margin;
        Bytes::new((self.threshold(scheme, buffer).get() as f64 / factor) as u64)
    }

    /// The least that any of the others must hold.
    fn least_early(&self, scheme: Scheme) -> Bytes {
        let others = self.ports.iter().filter(|port| port.classes > port.late);
        let least = others.map(|port| held(scheme, &port.latency, scheme.least(&port.latency)));
        least.max().unwrap_or(Bytes::ZERO)
    }

    /// The least buffer of the switch with which rho m L is K.
    fn least(&self, scheme: Scheme) -> Option<Bytes> {
        let factor = self.factor?;
        let early = self.least_early(scheme);
        let enough = |late: Bytes| self.threshold(scheme, late) >= early * factor;
        let top = Bytes::new(1 << 40);
        enough(top).then(|| self.total(scheme, search(enough, top), Bytes::ZERO))
    }

    /// Shares out the buffer of the switch: as much as there is for those on the cycle, and the others in proportion.
    fn fill(&self, scheme: Scheme, margin: f64) -> Option<(Bytes, Bytes)> {
        let frames = self.ports.first()?.latency.mtu;
        let extra = match scheme {
            Scheme::Pfc | Scheme::Cbfc => Bytes::ZERO,
            // The guard band is not for the queue, but for two frames.
            _ => frames * 6,
        };
        let early = |late: Bytes| self.room(scheme, late, margin) + extra;
        let is_too_much = |late: Bytes| self.total(scheme, late, early(late)) > self.buffer;
        if is_too_much(Bytes::ZERO) {
            return None;
        }
        let late = search(is_too_much, self.buffer + Bytes::new(1)).saturating_sub(Bytes::new(1));
        Some((late, early(late)))
    }
}

/// The lowest value up to `top` for which `is_reached`, which holds for `top` and once it holds for
/// all above.
fn search(is_reached: impl Fn(Bytes) -> bool, top: Bytes) -> Bytes {
    let (mut low, mut high) = (0, top.get());
    while low < high {
        let middle = low + (high - low) / 2;
        if is_reached(Bytes::new(middle)) { high = middle } else { low = middle + 1 }
    }
    Bytes::new(low)
}

/// L: the most that a queue with this buffer ever holds.
fn held(scheme: Scheme, latency: &Latency, buffer: Bytes) -> Bytes {
    match scheme {
        Scheme::Pfc | Scheme::Cbfc => buffer,
        _ => buffer.saturating_sub(latency.mtu * 6),
    }
}

impl CycleSet {
    fn none(scheme: Scheme) -> CycleSet {
        CycleSet {
            scheme,
            least: None,
            ports: BTreeMap::new(),
            reached: f64::INFINITY,
            after_stall: f64::INFINITY,
        }
    }

    fn add(&mut self, site: &Site, margin: f64) {
        self.least = site.least(self.scheme);
        let Some((late_buffer, early_buffer)) = site.fill(self.scheme, margin) else {
            return;
        };
        let threshold = site.threshold(self.scheme, late_buffer);
        let mut most = Bytes::ZERO;
        for port in &site.ports {
            let is_late = port.late > 0;
            let wanted = if is_late { late_buffer } else { early_buffer };
            let buffer = wanted.max(self.scheme.least(&port.latency));
            // All classes of a port are alike, so one that is late in one class and feeds a cycle in
            // another one holds as much there.
            if !is_late || port.is_feeding {
                most = most.max(held(self.scheme, &port.latency, buffer));
            }
            let set = self.scheme.set(&port.latency, buffer);
            let place = (site.node, port.number);
            self.ports.insert(place, CyclePort { is_late, set });
        }
        let ratio = |factor: Option<u64>| {
            let factor = factor.unwrap_or(u64::MAX) as f64;
            threshold.get() as f64 / (factor * most.get().max(1) as f64)
        };
        self.reached = self.reached.min(ratio(site.factor));
        if site.stall_factor.is_some() {
            self.after_stall = self.after_stall.min(ratio(site.stall_factor));
        }
    }
}

impl CycleSwitch {
    fn add(&mut self, site: &Site, margin: f64) {
        self.members.push(site.node);
        for port in &site.ports {
            let place = (site.node, port.number);
            if port.late > 0 {
                self.on.push(place);
            } else if port.is_feeding {
                self.feeding.push(place);
            }
        }
        for set in &mut self.sets {
            set.add(site, margin);
        }
    }
}

/// The switches that have a queue on a cycle.
fn sites(plan: &Plan, roles: &Roles) -> Vec<Site> {
    let mut ports: BTreeMap<NodeId, Vec<SitePort>> = BTreeMap::new();
    let mut factors: BTreeMap<NodeId, [Option<u64>; 2]> = BTreeMap::new();
    for (buffer, role) in &roles.roles {
        let first =
            if roles.looping.contains(&buffer.node) { [None, None] } else { [Some(1), Some(0)] };
        let most = factors.entry(buffer.node).or_insert(first);
        let Role::Feeding(joints) = role else {
            continue;
        };
        for joint in joints {
            for (most, found) in most.iter_mut().zip([joint.factor, joint.stall_factor]) {
                *most = most.zip(found).map(|(most, found)| most.max(found));
            }
        }
    }
    let of_port = |node: NodeId, port: PortId| {
        let place = move |class| Buffer { node, port, class: Class(class) };
        (0..LANE_COUNT as u8).filter_map(move |class| roles.roles.get(&place(class)))
    };
    for group in plan.switches.iter().flat_map(|switch| &switch.ports) {
        for &(node, number) in &group.members {
            let is_late = of_port(node, number).any(|role| *role == Role::OnCycle);
            let classes = usize::from(group.kind.classes);
            ports.entry(node).or_default().push(SitePort {
                number,
                latency: group.latency,
                classes,
                // All classes of a port are alike in a plan.
                late: if is_late { classes } else { 0 },
                is_feeding: of_port(node, number).any(|role| *role != Role::OnCycle),
            });
        }
    }
    let groups = plan.switches.iter();
    let buffers = groups.flat_map(|group| group.members.iter().map(|node| (*node, group.buffer)));
    let buffers: BTreeMap<NodeId, Bytes> = buffers.collect();
    let sites = ports.into_iter().map(|(node, mut ports)| {
        ports.sort_by_key(|port| port.number);
        let [factor, stall_factor] = factors.get(&node).copied().unwrap_or_default();
        Site { node, buffer: buffers[&node], factor, stall_factor, ports }
    });
    sites.filter(|site| site.ports.iter().any(|port| port.late > 0)).collect()
}
