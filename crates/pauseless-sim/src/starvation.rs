//! Whether flows starve. docs/metrics.md has the definition, with its laws.
//!
//! The lag of a flow grows at the stated share of its fair rate and shrinks by what the flow gets,
//! never below zero. A flow starves when it lags by more than ordinary queues and the steps of its
//! congestion control explain. Everything is counted in beats of the network, so that what is said
//! of the time until an instant is the same however long the run goes on.

mod shares;

use std::ops::Range;

use pauseless_core::id::{FlowId, NodeId, PortId};
use pauseless_core::transport::Recovery;
use pauseless_core::unit::Span;
use pauseless_fabric::fairness::FairShare;

use self::shares::{Allowance, Crossing, PACKETS, Paths, Shares, allowance, capacity, demand};
use crate::config::Config;
use crate::outcome::{Bottleneck, Ended, Rival, Starved, Undecided};
use crate::progress::{RunEnd, rate_bps};
use crate::served::{Mark, Served};

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
    let suspects = (0..run.flows.len())
        .filter_map(|flow| Suspect::new(served, &mut shares.paths, flow, lives[flow].clone()));
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
    let seen = Seen { config: run.config, served, crossing: &crossing };
    found.starved = suspects.iter().filter_map(|it| it.starved(&seen)).collect();
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

/// A beat as one flow sees it.
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

/// A time in which a flow got less than its floor.
#[derive(Clone, Copy, Default)]
struct Lag {
    /// The first beat of the time.
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
        served: &'r Served,
        paths: &mut Paths<'_>,
        flow: usize,
        life: Range<usize>,
    ) -> Option<Suspect<'r>> {
        let config = paths.config;
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

    /// Notes that the flow begins to starve.
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
    fn starved(&self, seen: &Seen<'_>) -> Option<Starved> {
        let mut record = self.record;
        let is_open = self.worst.is_some();
        if is_open {
            record.add(self.lag);
        }
        if record.times == 0 {
            return None;
        }
        let span = seen.served.beat() * u64::from(record.beats);
        let rate = |bytes: f64| bytes * 8.0 / span.as_secs_f64();
        let start_of = |beat: usize| seen.served.start_of(beat);
        let mut starved = Starved {
            flow: FlowId(self.flow as u32),
            rate_bps: rate(record.got),
            fair_bps: rate(record.fair),
            since: start_of(record.since),
            found: start_of(record.found),
            until: (!is_open).then(|| start_of(record.until)),
            times: record.times,
            bottleneck: None,
            rivals: Vec::new(),
        };
        if let Some((node, port)) = record.bottleneck {
            let flows = seen.crossing[&(node, port)].iter();
            let mut rivals = seen.rates(flows, record.since..record.until);
            let total: f64 = rivals.iter().map(|rival| rival.rate_bps).sum();
            let used = total / capacity(seen.config, node, port).as_bps() as f64;
            starved.bottleneck = Some(Bottleneck { node, port, used });
            rivals.retain(|rival| rival.rate_bps > 0.0 && rival.flow != starved.flow);
            rivals.sort_by(|a, b| b.rate_bps.total_cmp(&a.rate_bps).then(a.flow.cmp(&b.flow)));
            rivals.truncate(RIVALS_MAX);
            starved.rivals = rivals;
        }
        Some(starved)
    }
}

/// What a witness is taken from.
struct Seen<'r> {
    config: &'r Config,
    served: &'r Served,
    crossing: &'r Crossing,
}

impl Seen<'_> {
    /// What each of some flows got in some beats.
    fn rates<'f>(&self, flows: impl Iterator<Item = &'f usize>, beats: Range<usize>) -> Vec<Rival> {
        let span = self.served.beat() * beats.len() as u64;
        let rates = flows.map(|flow| Rival {
            flow: FlowId(*flow as u32),
            rate_bps: rate_bps(self.served.within(*flow, beats.clone()), span),
        });
        rates.collect()
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

fn bytes_in(bps: f64, span: Span) -> f64 {
    bps * span.as_secs_f64() / 8.0
}
