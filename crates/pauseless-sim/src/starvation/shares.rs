//! The fair shares of flows over time, and what may keep a flow waiting although nothing is wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use pauseless_core::host::Duty;
use pauseless_core::id::{NodeId, PortId};
use pauseless_core::memory::MemoryConfig;
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::fairness::{FairFlow, FairShare, max_min};
use pauseless_fabric::trace::{Header, trace};

use crate::config::{Config, Flow, RateLimit, Reaction};
use crate::ideal::{Train, ideal_span};

/// The packets of a flow for which it may have to wait beside what buffers hold.
pub(super) const PACKETS: u64 = 200;
/// The round trips for which a flow may have to wait.
const ROUND_TRIPS: f64 = 10.0;
/// The steps of its congestion control for which a flow may have to wait.
const PERIODS: f64 = 20.0;

/// What ordinary queues and congestion control may cost a flow.
#[derive(Clone, Copy)]
pub(super) struct Allowance {
    /// Bytes at its fair rate.
    pub bytes: f64,
    /// Time at its fair rate, in beats.
    pub beats: f64,
}

/// What may keep a flow waiting although nothing is wrong: what the buffers on its way hold, some
/// packets more, some round trips, the steps of its congestion control, and its own silences.
pub(super) fn allowance(
    config: &Config,
    flow: &Flow,
    path: &[(NodeId, PortId)],
    beat: Span,
) -> Allowance {
    let topology = &config.topology;
    let is_link = |hop: &&(NodeId, PortId)| hop.1.index() < topology.ports(hop.0).len();
    let path = Vec::from_iter(path.iter().filter(is_link));
    let ingresses = path.iter().map(|(node, port)| topology.port(*node, *port));
    let ingresses = ingresses.filter(|link| !topology.is_host(link.peer));
    let buffers = ingresses.map(|link| match config.ingress.memory(link.peer) {
        MemoryConfig::Private => {
            config.ingress.get(link.peer, link.peer_port, flow.class).buffer.get() as f64
        }
        MemoryConfig::Shared(shared) => shared.lane_max(link.peer_port, flow.class).get() as f64,
    });
    let links = path
        .iter()
        .map(|(node, port)| (config.line(*node, *port), topology.port(*node, *port).delay));
    let (packet, overhead) = (flow.packet, config.wire_overhead);
    let train = Train { size: packet, packet, overhead, pace: flow.pace };
    let beats = |span: Span| span.as_ps() as f64 / beat.as_ps() as f64;
    let one_way = beats(ideal_span(&Vec::from_iter(links), train));
    let period = match flow.reaction {
        Reaction::None => Span::ZERO,
        Reaction::Controlled { .. } => config.congestion.control.period(),
    };
    let silence = match flow.duty {
        Duty { off: Span::ZERO, .. } => 0.0,
        Duty { on, off } => beats(on) + beats(off),
    };
    Allowance {
        bytes: buffers.sum::<f64>() + (packet * PACKETS).get() as f64,
        beats: 2.0 * one_way * ROUND_TRIPS + beats(period) * PERIODS + silence,
    }
}

/// The fair shares of the flows that have something to send, beat after beat.
pub(super) struct Shares<'r> {
    pub paths: Paths<'r>,
    /// The flows that begin or end, by beat.
    changes: Vec<(usize, usize, Change)>,
    /// How many of these were followed.
    followed: usize,
    active: BTreeSet<usize>,
}

/// The share of a flow from each beat on in which it changes.
pub(super) type History = Vec<(usize, FairShare)>;

/// Shares are computed anew when as many flows have begun or ended since as there are, divided by
/// this,
const CHANGES: usize = 16;
/// and in every beat that is a multiple of this, if any has.
const BEATS: usize = 32;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Ends,
    Begins,
}

impl<'r> Shares<'r> {
    pub fn new(config: &'r Config, lives: &[Range<usize>]) -> Shares<'r> {
        let lives = lives.iter().enumerate().filter(|(_, life)| !life.is_empty());
        let changes = lives.flat_map(|(flow, life)| {
            [(life.start, flow, Change::Begins), (life.end, flow, Change::Ends)]
        });
        let mut changes = Vec::from_iter(changes);
        changes.sort_unstable();
        Shares {
            paths: Paths { config, known: vec![None; config.flows.len()] },
            changes,
            followed: 0,
            active: BTreeSet::new(),
        }
    }

    /// The shares of the wanted flows in some beats.
    pub fn histories(&mut self, is_wanted: &[bool], beats: Range<usize>) -> Vec<History> {
        let mut histories = vec![History::new(); is_wanted.len()];
        let due = self.due(beats.end);
        // The last ones before the first beat hold until then.
        let first = due.partition_point(|beat| *beat <= beats.start).saturating_sub(1);
        for beat in &due[first.min(due.len())..] {
            self.follow(*beat);
            for (flow, share) in self.share() {
                if is_wanted[flow] && histories[flow].last().is_none_or(|last| last.1 != share) {
                    histories[flow].push((*beat, share));
                }
            }
        }
        histories
    }

    /// The beats in which shares are computed anew, whoever asks for them.
    fn due(&self, end: usize) -> Vec<usize> {
        let mut due = Vec::new();
        let (mut followed, mut shared, mut active) = (0, 0, 0_usize);
        for beat in 0..end {
            while let Some((.., change)) = self.changes.get(followed).filter(|it| it.0 <= beat) {
                match change {
                    Change::Begins => active += 1,
                    Change::Ends => active -= 1,
                }
                followed += 1;
            }
            let changes = followed - shared;
            if changes > 0 && (changes * CHANGES >= active || beat.is_multiple_of(BEATS)) {
                shared = followed;
                due.push(beat);
            }
        }
        due
    }

    /// Takes the flows into account that begin or end up to a beat.
    fn follow(&mut self, beat: usize) {
        while let Some((_, flow, change)) =
            self.changes.get(self.followed).filter(|change| change.0 <= beat)
        {
            match change {
                Change::Begins => self.active.insert(*flow),
                Change::Ends => self.active.remove(flow),
            };
            self.followed += 1;
        }
    }

    fn share(&mut self) -> impl Iterator<Item = (usize, FairShare)> + use<> {
        let paths = &mut self.paths;
        let flows = self.active.iter().copied().filter(|flow| paths.get(*flow).is_some());
        let flows = Vec::from_iter(flows);
        let fair = Vec::from_iter(flows.iter().filter_map(|flow| self.paths.seen(*flow)));
        let shares = max_min(&fair, |node, port| self.paths.capacity(node, port));
        flows.into_iter().zip(shares)
    }

    /// The flows that pass each egress port, as far as their shares were asked for.
    pub fn crossing(&self) -> Crossing {
        let mut crossing: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for flow in 0..self.paths.known.len() {
            for port in self.paths.seen(flow).into_iter().flat_map(|fair| &fair.path) {
                crossing.entry(*port).or_default().push(flow);
            }
        }
        crossing
    }
}

/// The flows that pass each egress port.
pub(super) type Crossing = BTreeMap<(NodeId, PortId), Vec<usize>>;

/// The paths of flows, each found when it is needed.
pub(super) struct Paths<'r> {
    pub config: &'r Config,
    /// `Some(None)` for a flow that travels in a circle.
    known: Vec<Option<Option<FairFlow>>>,
}

impl Paths<'_> {
    pub fn get(&mut self, flow: usize) -> Option<&FairFlow> {
        let config = self.config;
        let known = self.known[flow].get_or_insert_with(|| {
            let terms = &config.flows[flow];
            let header = Header { source: terms.source, group: terms.group, hash: terms.hash };
            let mut path = trace(&config.topology, &config.table, header).ok()?;
            // A limit of its class is one more thing that it has to pass.
            for (number, limit) in config.mitigation.limits.iter().enumerate() {
                if limit.class == terms.class && path.contains(&(limit.node, limit.port)) {
                    path.push((limit.node, limit_port(number)));
                }
            }
            Some(FairFlow { path, demand: Some(demand(terms)) })
        });
        known.as_ref()
    }

    /// The rate of an egress port, or of the limit that stands for one.
    pub fn capacity(&self, node: NodeId, port: PortId) -> Rate {
        match self.limit(node, port) {
            Some(limit) => limit.rate,
            None => self.config.topology.port(node, port).rate,
        }
    }

    /// The limit that a port stands for, if it is none of the node's own.
    pub fn limit(&self, node: NodeId, port: PortId) -> Option<&RateLimit> {
        let is_own = port.index() < self.config.topology.ports(node).len();
        (!is_own).then(|| &self.config.mitigation.limits[usize::from(u16::MAX - port.0)])
    }

    fn seen(&self, flow: usize) -> Option<&FairFlow> {
        self.known[flow].as_ref()?.as_ref()
    }
}

/// The rate at which a flow would send in the long run if nothing held it back.
pub(super) fn demand(flow: &Flow) -> Rate {
    let Duty { on, off } = flow.duty;
    if off == Span::ZERO {
        return flow.pace;
    }
    let share = u128::from(flow.pace.as_bps()) * u128::from(on.as_ps());
    let mean = share / u128::from(on.as_ps() + off.as_ps());
    Rate::bps((mean as u64).max(1))
}

/// The share of a flow that no rate would deliver, because it travels in a circle, and of one that has
/// just begun.
pub(super) const NO_SHARE: FairShare = FairShare { bps: 0.0, bottleneck: None };

/// The number that stands for a rate limit among the ports of its node.
fn limit_port(number: usize) -> PortId {
    PortId(u16::MAX - number as u16)
}
