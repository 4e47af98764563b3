//! The plan of one switch: what each scheme needs, what is left, and what to do if nothing is.

use std::collections::BTreeMap;
use std::ops::Range;

use pauseless_core::derive::Latency;
use pauseless_core::id::{NodeId, PortId};
use pauseless_core::unit::{Bytes, Span};

use super::headroom::UnknownRate;
use super::ttl::Hops;
use super::{Kind, PortPlan, Request, Scheme, Set};
pub use pauseless_scenario::FRAMES;

/// The plan of switches that are alike.
#[derive(Clone, Debug)]
pub struct SwitchPlan {
    /// The switches of the group.
    pub members: Vec<NodeId>,
    /// The buffer of each.
    pub buffer: Bytes,
    /// Their ports, those that are alike together.
    pub ports: Vec<PortPlan>,
    /// One element per scheme, in the order of [`Scheme::ALL`].
    pub schemes: Vec<SchemePlan>,
    /// PFC with thresholds that follow what is free.
    pub dynamic: Dynamic,
    /// TTL-based buffer management, switches at the same places of paths together.
    pub ttl: Vec<TtlPlan>,
}

/// What a scheme needs on a switch.
#[derive(Clone, Debug)]
pub struct SchemePlan {
    /// The flow control that is planned for.
    pub scheme: Scheme,
    /// The least that all ports and classes need together.
    pub need: Bytes,
    /// Whether the switch has it.
    pub fit: Fit,
    /// One element per group of ports; none if it does not fit.
    pub sets: Vec<Set>,
}

/// Whether a need is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// This much is left, and shared out.
    Spare(Bytes),
    /// This much is missing.
    Short(Bytes, Advice),
}

impl Fit {
    /// Whether the buffer is large enough.
    pub fn is_fitting(self) -> bool {
        matches!(self, Fit::Spare(_))
    }
}

/// What would make a plan fit, each alone; `None` where that is not enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advice {
    /// At most this many lossless classes.
    pub classes: Option<u8>,
    /// Cables with at most this delay.
    pub wire: Option<Span>,
    /// Frames of at most this size.
    pub mtu: Option<Bytes>,
}

/// PFC with thresholds alpha times what is free of the shared pool, and headroom of its own for
/// every port and class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dynamic {
    /// alpha is 2 to this.
    pub alpha_exponent: i8,
    /// The headroom of all ports and classes.
    pub headroom: Bytes,
    /// What is shared; zero if the headroom does not fit.
    pub pool: Bytes,
    /// What the headroom lacks; zero if it fits.
    pub short: Bytes,
    /// XOFF of a queue that is alone.
    pub alone: Bytes,
    /// XOFF of each queue when all are at their threshold.
    pub all: Bytes,
}

/// TTL-based buffer management on a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TtlPlan {
    /// The switches of the group that packets reach after these numbers of hops.
    pub members: Vec<NodeId>,
    /// The hops at which packets can be here, a bit each from the first on: its classes.
    pub hops: u64,
    /// The number n of ports.
    pub ports: u64,
    /// The least size of the partition of one class: n packets.
    pub partition: Bytes,
    /// Headroom of all ports and classes.
    pub headroom: Bytes,
    /// What the partition that all classes share can have; zero if the rest does not fit.
    pub shared: Bytes,
    /// What is missing; zero if it fits.
    pub short: Bytes,
    /// n C RTT, what work conservation takes with sharing.
    pub work_shared: Bytes,
    /// n k C RTT, what it takes without.
    pub work_separate: Bytes,
}

impl TtlPlan {
    /// How many classes this switch needs.
    pub fn classes(&self) -> u32 {
        self.hops.count_ones()
    }
}

impl SwitchPlan {
    pub(crate) fn new(
        request: &Request,
        buffer: Bytes,
        kinds: &[(PortId, Kind)],
    ) -> Result<SwitchPlan, UnknownRate> {
        let mut counts: BTreeMap<Kind, usize> = BTreeMap::new();
        for (_, kind) in kinds {
            *counts.entry(*kind).or_default() += 1;
        }
        let mut ports = Vec::new();
        for (kind, count) in counts {
            let mut port = PortPlan::new(request, kind)?;
            port.count = count;
            ports.push(port);
        }
        Ok(SwitchPlan {
            members: Vec::new(),
            buffer,
            dynamic: Dynamic::new(request.alpha_exponent, buffer, &ports),
            ports,
            schemes: Vec::new(),
            ttl: Vec::new(),
        })
    }

    /// One more switch of the same ports.
    pub(super) fn add(&mut self, node: NodeId, kinds: &[(PortId, Kind)]) {
        self.members.push(node);
        for (number, kind) in kinds {
            let port = self.ports.iter_mut().find(|port| port.kind == *kind);
            let port = port.expect("switches of a group have the same kinds of ports");
            port.members.push((node, *number));
        }
    }

    /// Plans every flow control, and TTL-based buffer management for each place on paths.
    pub(super) fn finish(&mut self, request: &Request, hops: &Hops) {
        let schemes = Scheme::ALL.into_iter();
        self.schemes = schemes.map(|scheme| self.plan(scheme)).collect();
        if hops.has_loop {
            // Packets that circle have no last hop, so no number of classes is enough.
            return;
        }
        for &node in &self.members {
            let places = hops.at(node);
            match self.ttl.iter_mut().find(|ttl| ttl.hops == places) {
                Some(ttl) => ttl.members.push(node),
                None => {
                    let mut ttl = TtlPlan::new(request, self.buffer, &self.ports, places);
                    ttl.members.push(node);
                    self.ttl.push(ttl);
                }
            }
        }
    }

    /// The plan for one scheme.
    pub fn scheme(&self, scheme: Scheme) -> &SchemePlan {
        let place = Scheme::ALL.iter().position(|known| *known == scheme);
        &self.schemes[place.expect("`Scheme::ALL` has every scheme")]
    }

    /// How many (port, class) there are.
    pub fn queue_count(&self) -> u64 {
        self.ports.iter().map(PortPlan::queue_count).sum()
    }

    fn plan(&self, scheme: Scheme) -> SchemePlan {
        let need = self.need(scheme, |latency| latency);
        let Some(spare) = self.buffer.checked_sub(need) else {
            let advice = self.advice(scheme);
            return SchemePlan {
                scheme,
                need,
                fit: Fit::Short(need - self.buffer, advice),
                sets: Vec::new(),
            };
        };
        let share = Bytes::new(spare.get() / self.queue_count().max(1));
        let sets = self.ports.iter().map(|port| {
            let buffer = scheme.least(&port.latency) + share;
            // No scenario takes a larger buffer.
            scheme.set(&port.latency, buffer.min(BUFFER_MAX))
        });
        SchemePlan { scheme, need, fit: Fit::Spare(spare), sets: sets.collect() }
    }

    /// The least of all queues, with links changed by `change`.
    fn need(&self, scheme: Scheme, change: impl Fn(Latency) -> Latency) -> Bytes {
        let needs = self.ports.iter().map(|port| {
            let latency = change(port.latency);
            let queues = port.count as u64 * u64::from(latency.classes);
            scheme.least(&latency) * queues
        });
        needs.sum()
    }

    /// What would help, by trying.
    fn advice(&self, scheme: Scheme) -> Advice {
        let most = self.ports.iter().map(|port| port.kind.classes).max();
        let mut fewer = (1..most.unwrap_or(1)).rev();
        let classes = fewer.find(|count| {
            let change =
                |latency: Latency| Latency { classes: latency.classes.min(*count), ..latency };
            self.need(scheme, change) <= self.buffer
        });
        let is_enough = |wire: Span| {
            let change = |latency: Latency| Latency { wire: latency.wire.min(wire), ..latency };
            self.need(scheme, change) <= self.buffer
        };
        let longest = self.ports.iter().map(|port| port.kind.wire).max();
        let wires = 0..longest.unwrap_or(Span::ZERO).as_ps();
        let wire = largest(wires, |ps| is_enough(Span::ps(ps))).map(Span::ps);
        let sizes = self.ports.iter().map(|port| port.latency.mtu.get());
        let sizes = FRAMES.start().get()..sizes.max().unwrap_or(0);
        let mtu = largest(sizes, |mtu| {
            let mtu = Bytes::new(mtu);
            self.need(scheme, |latency| Latency { mtu, ..latency }) <= self.buffer
        });
        Advice { classes, wire, mtu: mtu.map(Bytes::new) }
    }
}

/// The largest value that is enough, if the smallest one is and the end is not.
fn largest(values: Range<u64>, is_enough: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = (values.start, values.end);
    if low > high || !is_enough(low) {
        return None;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if is_enough(middle) { low = middle } else { high = middle }
    }
    Some(low)
}

/// The largest buffer of one (ingress port, class) in a scenario.
const BUFFER_MAX: Bytes = Bytes::mb(4_000);

impl Dynamic {
    /// Whether there is something to share.
    pub fn is_fitting(&self) -> bool {
        self.pool > Bytes::ZERO
    }

    pub(crate) fn new(alpha_exponent: i8, buffer: Bytes, ports: &[PortPlan]) -> Dynamic {
        let headroom =
            ports.iter().map(|port| port.headroom.bound * port.queue_count()).sum::<Bytes>();
        let queues: u64 = ports.iter().map(PortPlan::queue_count).sum();
        let pool = buffer.saturating_sub(headroom);
        // alpha / (1 + alpha n) of the pool, as a fraction of whole numbers.
        let exponent = alpha_exponent.clamp(-60, 60);
        let (up, down) = (1u128 << exponent.max(0), 1u128 << (-exponent).max(0));
        let settled = |queues: u64| {
            let bytes = u128::from(pool.get()) * up / (down + up * u128::from(queues));
            Bytes::new(bytes as u64)
        };
        Dynamic {
            alpha_exponent: exponent,
            headroom,
            pool,
            short: headroom.saturating_sub(buffer),
            alone: settled(1),
            all: settled(queues.max(1)),
        }
    }
}

impl TtlPlan {
    //= ttl 2.1 switch
    //= ttl 2.2 work
    pub(crate) fn new(request: &Request, buffer: Bytes, ports: &[PortPlan], hops: u64) -> TtlPlan {
        let classes = u64::from(hops.count_ones());
        let count: u64 = ports.iter().map(|port| port.count as u64).sum();
        let partition = request.mtu * count;
        let sum = |of: &dyn Fn(&PortPlan) -> Bytes| {
            let values = ports.iter().map(|port| of(port) * port.count as u64);
            values.sum::<Bytes>()
        };
        let headroom = sum(&|port| {
            let latency = Latency { classes: classes as u8, ..port.latency };
            latency.pfc_headroom() * classes
        });
        let work_shared = sum(&|port| port.latency.line.bytes_in_up(request.rtt));
        let need = partition * classes + headroom;
        TtlPlan {
            members: Vec::new(),
            hops,
            ports: count,
            partition,
            headroom,
            shared: buffer.saturating_sub(need),
            short: need.saturating_sub(buffer),
            work_shared,
            work_separate: work_shared * classes,
        }
    }
}
