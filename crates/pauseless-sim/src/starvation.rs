//! Whether flows starve. docs/metrics.md has the definition, with its laws.
//!
//! The lag of a flow grows at the stated share of its fair rate and shrinks by what the flow gets,
//! never below zero. A flow starves when it lags by more than ordinary queues and the steps of its
//! congestion control explain. Everything is counted in beats of the network, so that what is said
//! of the time until an instant is the same however long the run goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use pauseless_core::host::Duty;
use pauseless_core::id::{FlowId, NodeId, PortId};
use pauseless_core::memory::MemoryConfig;
use pauseless_core::transport::Recovery;
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::fairness::{FairFlow, FairShare, max_min};
use pauseless_fabric::trace::{Header, trace};

use crate::config::{Config, Flow, Reaction};
use crate::ideal::{Train, ideal_span};
use crate::outcome::{Bottleneck, Ended, Rival, Starved, Undecided};
use crate::progress::{RunEnd, rate_bps};
use crate::served::{Mark, Served};

/// The packets of a flow for which it may have to wait beside what buffers hold.
const PACKETS: u64 = 200;
/// The round trips for which a flow may have to wait.
const ROUND_TRIPS: f64 = 10.0;
/// The steps of its congestion control for which a flow may have to wait.
const PERIODS: f64 = 20.0;
/// The most flows that are named as having a starved flow's share.
const RIVALS_MAX: usize = 3;

/// What is said about starvation at the end of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Starvation {
    /// The flows that starved, in their order.
    pub starved: Vec<Starved>,
    /// The flow that has to be watched longest before more can be said, if there is one.
    pub undecided: Option<Undecided>,
}

/// Judges all flows of a run that is over.
pub fn judge(run: &RunEnd<'_>, served: &Served) -> Starvation {
    let end = served.beats_until(run.now);
    let lives = Vec::from_iter((0..run.flows.len()).map(|flow| life(run, served, flow)));
    let mut shares = Shares::new(run.config, &lives);
    let suspects = (0..run.flows.len()).filter_map(|flow| {
        let life = lives[flow].clone();
        Suspect::new(run.config, served, &mut shares.paths, SuspectLife { flow, life })
    });
    let mut suspects = Vec::from_iter(suspects);
    let first = suspects.iter().map(|it| it.from).min().unwrap_or(end);
    for beat in first..end {
        let is_due = |it: &&mut Suspect<'_>| it.from <= beat && beat < it.life.end;
        let is_deadlocked = is_deadlocked(run, served, beat);
        let mut due = suspects.iter_mut().filter(is_due).peekable();
        if due.peek().is_none() {
            continue;
        }
        let shares = shares.at(beat);
        for suspect in due {
            let share = shares.get(&suspect.flow).copied().unwrap_or(NO_SHARE);
            suspect.step(Beat { number: beat, share, is_deadlocked }, served.beat());
        }
    }
    let mut found = Starvation::default();
    for suspect in &mut suspects {
        if run.ended == Ended::Steady && suspect.life.end == end {
            suspect.settle(served, end);
        }
        let doubt = suspect.doubt(run, served, end);
        if let Some(doubt) = doubt
            && found.undecided.is_none_or(|other| doubt.needs > other.needs)
        {
            found.undecided = Some(doubt);
        }
    }
    let crossing = shares.crossing();
    let starved = suspects.iter().filter_map(|it| it.starved(run.config, served, &crossing));
    found.starved = starved.collect();
    found
}

/// The beats in which a flow had something to send.
fn life(run: &RunEnd<'_>, served: &Served, index: usize) -> Range<usize> {
    let (flow, state) = (&run.config.flows[index], &run.flows[index]);
    let Some(start) = state.start else {
        return 0..0;
    };
    let end = state.finish.unwrap_or(run.now).min(flow.stop).min(run.now);
    let first = start.as_ps().div_ceil(served.beat().as_ps()) as usize;
    let mut last = served.beats_until(end);
    if run.config.transport.recovery == Recovery::None {
        // What was lost is not waited for, and a flow whose packets expire is not held back.
        let over = [served.given_up(index, flow.size), served.first_expired(index)];
        last = over.into_iter().flatten().fold(last, usize::min);
    }
    first..last.max(first)
}

/// Whether there is a deadlock during a beat.
fn is_deadlocked(run: &RunEnd<'_>, served: &Served, beat: usize) -> bool {
    let [from, to] = [beat, beat + 1].map(|beat| served.start_of(beat));
    let mut episodes = run.episodes.iter();
    episodes.any(|it| it.found < to && it.broken.is_none_or(|broken| broken > from))
}

/// The share of a flow that no rate would deliver, because it travels in a circle.
const NO_SHARE: FairShare = FairShare { bps: 0.0, bottleneck: None };

/// A flow and the beats in which it has something to send.
struct SuspectLife {
    flow: usize,
    life: Range<usize>,
}

/// One beat of a flow.
#[derive(Clone, Copy)]
struct Beat {
    number: usize,
    share: FairShare,
    is_deadlocked: bool,
}

/// A flow that may starve, because it lags behind the highest rate that it could have.
struct Suspect<'r> {
    flow: usize,
    life: Range<usize>,
    /// The beat before which it certainly has no lag.
    from: usize,
    /// What it gets from `from` on, as far as it was not counted yet.
    marks: &'r [Mark],
    /// The beats of a deadlock in which it got nothing so far. They count when it gets something in
    /// spite of the deadlock, and not if it does not.
    held: Lag,
    /// The share of its fair rate below which it lags.
    floor: f64,
    allowance: Allowance,
    lag: Lag,
    /// The largest lag since it has starved, if it does.
    worst: Option<Lag>,
    record: Record,
}

/// What ordinary queues and congestion control may cost a flow.
#[derive(Clone, Copy)]
struct Allowance {
    /// Bytes at its fair rate.
    bytes: f64,
    /// Time at its fair rate, in beats.
    beats: f64,
}

/// A time in which a flow got less than its floor.
#[derive(Clone, Copy, Default)]
struct Lag {
    /// The first beat.
    onset: usize,
    /// The beats that count; those in which a deadlock holds the flow do not.
    beats: u32,
    /// What the flow would have got at its fair rate in these, in bytes.
    fair: f64,
    /// What it got in these, in bytes.
    got: f64,
    /// The beat after the last one.
    end: usize,
}

impl Lag {
    /// By how much it is below `floor` of its fair rate, in bytes.
    fn depth(&self, floor: f64) -> f64 {
        floor * self.fair - self.got
    }

    /// Whether the lag is more than the allowance explains.
    fn is_beyond(&self, floor: f64, allowance: Allowance) -> bool {
        let counted = 1.0 - allowance.beats / f64::from(self.beats.max(1));
        floor * (self.fair * counted - allowance.bytes) >= self.got
    }
}

/// The times in which a flow starved.
#[derive(Clone, Copy, Default)]
struct Record {
    times: u32,
    since: usize,
    found: usize,
    until: usize,
    beats: u32,
    fair: f64,
    got: f64,
    bottleneck: Option<(NodeId, PortId)>,
}

impl<'r> Suspect<'r> {
    /// The flow as a suspect; `None` if not even its highest possible rate would make it one.
    fn new(
        config: &Config,
        served: &'r Served,
        paths: &mut Paths<'_>,
        SuspectLife { flow, life }: SuspectLife,
    ) -> Option<Suspect<'r>> {
        let terms = &config.flows[flow];
        let floor = f64::from(config.starvation_permille) / 1_000.0;
        let ends = [terms.source, terms.target];
        let lines = ends.map(|node| config.topology.port(node, PortId(0)).rate);
        let most = demand(terms).min(lines[0]).min(lines[1]);
        let each = floor * bytes_in(most.as_bps() as f64, served.beat());
        let limit = floor * (terms.packet * PACKETS).get() as f64;
        let marks = served.of(flow);
        let from = lag_from(marks, &life, each, limit)?;
        let path = paths.get(flow)?;
        let allowance = allowance(config, terms, &path.path, served.beat());
        let first = marks.partition_point(|mark| (mark.beat as usize) < from);
        Some(Suspect {
            flow,
            life,
            from,
            marks: &marks[first..],
            held: Lag::default(),
            floor,
            allowance,
            lag: Lag { onset: from, end: from, ..Lag::default() },
            worst: None,
            record: Record::default(),
        })
    }

    /// Takes the next beat into account.
    fn step(&mut self, beat: Beat, length: Span) {
        let mut got = 0.0;
        if let Some((mark, rest)) = self.marks.split_first()
            && mark.beat as usize == beat.number
        {
            got = f64::from(mark.bytes);
            self.marks = rest;
        }
        let end = beat.number + 1;
        if !beat.is_deadlocked {
            self.held = Lag::default();
        }
        self.held.beats += 1;
        self.held.fair += bytes_in(beat.share.bps, length);
        if !beat.is_deadlocked || got > 0.0 {
            self.lag.beats += self.held.beats;
            self.lag.fair += self.held.fair;
            self.held = Lag::default();
        }
        self.lag.got += got;
        self.lag.end = end;
        let depth = self.lag.depth(self.floor);
        if depth <= 0.0 {
            self.close();
            self.lag = Lag { onset: end, end, ..Lag::default() };
        } else if let Some(worst) = &mut self.worst {
            if depth > worst.depth(self.floor) {
                *worst = self.lag;
            }
        } else if self.lag.is_beyond(self.floor, self.allowance) {
            self.open(beat.share.bottleneck);
        }
    }

    /// Begins to starve.
    fn open(&mut self, bottleneck: Option<(NodeId, PortId)>) {
        self.worst = Some(self.lag);
        self.record.times += 1;
        if self.record.times == 1 {
            let (since, found) = (self.lag.onset, self.lag.end);
            self.record = Record { since, found, bottleneck, ..self.record };
        }
    }

    /// Has made up for its lag, and starves no longer.
    fn close(&mut self) {
        if let Some(worst) = self.worst.take() {
            self.record.add(worst);
        }
    }

    /// Judges by the last quarter of a run that would go on as it does there.
    fn settle(&mut self, served: &Served, end: usize) {
        let quarter = (end / 4).max(1).min(self.life.len());
        let got = served.within(self.flow, end - quarter..end).get() as f64;
        let fair = self.lag.fair / f64::from(self.lag.beats.max(1)) * quarter as f64;
        let is_judged = self.worst.is_none() && self.lag.beats > 0 && self.held.beats == 0;
        if is_judged && got < self.floor * fair {
            self.open(None);
        }
    }

    /// What is in doubt at the end of the run: a flow that lags, does not starve yet, and was not
    /// watched for long enough.
    fn doubt(&self, run: &RunEnd<'_>, served: &Served, end: usize) -> Option<Undecided> {
        let Lag { onset, beats, fair, .. } = self.lag;
        let is_lagging = self.worst.is_none() && self.life.end == end && fair > 0.0;
        let is_over = run.ended == Ended::Steady;
        let is_held = self.held.beats > 0;
        if !is_lagging || is_over || is_held {
            return None;
        }
        let each = fair / f64::from(beats.max(1));
        let window = self.allowance.bytes / each + self.allowance.beats;
        let is_short = (end as f64) < window || f64::from(beats) >= window / 2.0;
        let beat = served.beat().as_ps() as f64;
        is_short.then(|| Undecided {
            flow: FlowId(self.flow as u32),
            since: served.start_of(onset),
            needs: served.start_of(onset) + Span::ps(((window + 1.0) * beat).min(1e18) as u64),
        })
    }

    /// The finding, if it starved.
    fn starved(
        &self,
        config: &Config,
        served: &Served,
        crossing: &BTreeMap<(NodeId, PortId), Vec<usize>>,
    ) -> Option<Starved> {
        let mut record = self.record;
        let is_open = self.worst.is_some();
        if is_open {
            record.add(self.lag);
        }
        if record.times == 0 {
            return None;
        }
        let span = served.beat() * u64::from(record.beats);
        let rate = |bytes: f64| bytes * 8.0 / span.as_secs_f64();
        let beats = record.since..record.until;
        let (bottleneck, rivals) = match record.bottleneck {
            Some(port) => self.witness(config, served, port, &crossing[&port], beats),
            None => (None, Vec::new()),
        };
        Some(Starved {
            flow: FlowId(self.flow as u32),
            rate_bps: rate(record.got),
            fair_bps: rate(record.fair),
            since: served.start_of(record.since),
            found: served.start_of(record.found),
            until: (!is_open).then(|| served.start_of(record.until)),
            times: record.times,
            bottleneck,
            rivals,
        })
    }

    /// Who had its share: its bottleneck, and the flows that got most of it.
    fn witness(
        &self,
        config: &Config,
        served: &Served,
        (node, port): (NodeId, PortId),
        flows: &[usize],
        beats: Range<usize>,
    ) -> (Option<Bottleneck>, Vec<Rival>) {
        let span = served.beat() * beats.len() as u64;
        let rates = flows.iter().map(|flow| Rival {
            flow: FlowId(*flow as u32),
            rate_bps: rate_bps(served.within(*flow, beats.clone()), span),
        });
        let mut rivals = Vec::from_iter(rates);
        let total: f64 = rivals.iter().map(|rival| rival.rate_bps).sum();
        let share = total / capacity(config, node, port).as_bps() as f64;
        rivals.retain(|rival| rival.rate_bps > 0.0 && rival.flow.index() != self.flow);
        rivals.sort_by(|a, b| b.rate_bps.total_cmp(&a.rate_bps).then(a.flow.cmp(&b.flow)));
        rivals.truncate(RIVALS_MAX);
        (Some(Bottleneck { node, port, used: share }), rivals)
    }
}

impl Record {
    fn add(&mut self, lag: Lag) {
        self.until = lag.end;
        self.beats += lag.beats;
        self.fair += lag.fair;
        self.got += lag.got;
    }
}

/// The first beat of the first lag that reaches `limit`, or is not made up for by the end, if the
/// lag grows by `each` in every beat.
fn lag_from(marks: &[Mark], life: &Range<usize>, each: f64, limit: f64) -> Option<usize> {
    let (mut onset, mut next, mut lag) = (life.start, life.start, 0.0);
    let first = marks.partition_point(|mark| (mark.beat as usize) < life.start);
    for mark in marks[first..].iter().take_while(|mark| (mark.beat as usize) < life.end) {
        let beat = mark.beat as usize;
        let before = lag + each * (beat - next) as f64;
        lag = before + each - f64::from(mark.bytes);
        if before.max(lag) >= limit {
            return Some(onset);
        }
        next = beat + 1;
        if lag <= 0.0 {
            (onset, lag) = (next, 0.0);
        }
    }
    (next < life.end || lag > 0.0).then_some(onset)
}

/// What may keep a flow waiting although nothing is wrong: what the buffers on its way hold, some
/// packets more, some round trips, the steps of its congestion control, and its own silences.
fn allowance(config: &Config, flow: &Flow, path: &[(NodeId, PortId)], beat: Span) -> Allowance {
    let topology = &config.topology;
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
struct Shares<'r> {
    paths: Paths<'r>,
    /// The flows that begin or end, by beat.
    changes: Vec<(usize, usize, Change)>,
    /// How many of these were followed.
    followed: usize,
    active: BTreeSet<usize>,
    shares: BTreeMap<usize, FairShare>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Ends,
    Begins,
}

impl<'r> Shares<'r> {
    fn new(config: &'r Config, lives: &[Range<usize>]) -> Shares<'r> {
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
            shares: BTreeMap::new(),
        }
    }

    /// The shares in a beat, which must not be before that of the last call.
    fn at(&mut self, beat: usize) -> &BTreeMap<usize, FairShare> {
        let before = self.followed;
        while let Some((_, flow, change)) =
            self.changes.get(self.followed).filter(|change| change.0 <= beat)
        {
            match change {
                Change::Begins => self.active.insert(*flow),
                Change::Ends => self.active.remove(flow),
            };
            self.followed += 1;
        }
        if self.followed > before {
            self.share();
        }
        &self.shares
    }

    fn share(&mut self) {
        let config = self.paths.config;
        for flow in &self.active {
            self.paths.get(*flow);
        }
        let paths = self.active.iter().filter_map(|flow| Some((*flow, self.paths.seen(*flow)?)));
        let (flows, paths): (Vec<usize>, Vec<&FairFlow>) = paths.unzip();
        let shares = max_min(&paths, |node, port| capacity(config, node, port));
        self.shares = flows.into_iter().zip(shares).collect();
    }

    /// The flows that pass each egress port, as far as their shares were asked for.
    fn crossing(&self) -> BTreeMap<(NodeId, PortId), Vec<usize>> {
        let mut crossing: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for flow in 0..self.paths.known.len() {
            for port in self.paths.seen(flow).into_iter().flat_map(|fair| &fair.path) {
                crossing.entry(*port).or_default().push(flow);
            }
        }
        crossing
    }
}

/// The paths of flows, each found when it is needed.
struct Paths<'r> {
    config: &'r Config,
    /// `Some(None)` for a flow that travels in a circle.
    known: Vec<Option<Option<FairFlow>>>,
}

impl Paths<'_> {
    fn get(&mut self, flow: usize) -> Option<&FairFlow> {
        let config = self.config;
        let known = self.known[flow].get_or_insert_with(|| {
            let terms = &config.flows[flow];
            let header = Header { source: terms.source, group: terms.group, hash: terms.hash };
            let path = trace(&config.topology, &config.table, header).ok()?;
            Some(FairFlow { path, demand: Some(demand(terms)) })
        });
        known.as_ref()
    }

    fn seen(&self, flow: usize) -> Option<&FairFlow> {
        self.known[flow].as_ref()?.as_ref()
    }
}

/// The rate at which a flow would send in the long run if nothing held it back.
fn demand(flow: &Flow) -> Rate {
    let Duty { on, off } = flow.duty;
    if off == Span::ZERO {
        return flow.pace;
    }
    let share = u128::from(flow.pace.as_bps()) * u128::from(on.as_ps());
    let mean = share / u128::from(on.as_ps() + off.as_ps());
    Rate::bps((mean as u64).max(1))
}

/// The rate of an egress port, or of the limit that was set for it.
fn capacity(config: &Config, node: NodeId, port: PortId) -> Rate {
    let line = config.topology.port(node, port).rate;
    let limits = config.mitigation.limits.iter();
    let limits = limits.filter(|limit| (limit.node, limit.port) == (node, port));
    limits.map(|limit| limit.rate).min().unwrap_or(line)
}

fn bytes_in(bps: f64, span: Span) -> f64 {
    bps * span.as_secs_f64() / 8.0
}
