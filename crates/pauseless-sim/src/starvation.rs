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
use pauseless_core::unit::{Bytes, Span};
use pauseless_fabric::fairness::FairShare;

use self::shares::{Allowance, Crossing, NO_SHARE, PACKETS, Paths, Shares, allowance, demand};
use crate::outcome::{Bottleneck, Ended, Rival, Starved, Undecided};
use crate::progress::{RunEnd, rate_bps};
use crate::served::{Mark, Served};

/// A lag of fewer packets at its fair rate puts no flow in doubt.
const PACKETS_LEAST: f64 = 20.0;

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
    let deadlocked = Vec::from_iter((first..end).map(|beat| is_deadlocked(run, served, beat)));
    let histories = shares.histories(&suspects_by_flow(&suspects, run.flows.len()), first..end);
    for suspect in &mut suspects {
        let mut history = histories[suspect.flow].iter().peekable();
        let mut share = NO_SHARE;
        for beat in suspect.from..suspect.life.end {
            while let Some((_, next)) = history.next_if(|(from, _)| *from <= beat) {
                share = *next;
            }
            let is_deadlocked = deadlocked[beat - first];
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
    let sums = vec![None; run.flows.len()];
    let mut seen = Seen { paths: &shares.paths, served, crossing: &crossing, sums };
    found.starved = suspects.iter().filter_map(|it| it.starved(&mut seen)).collect();
    found
}

/// Whether each of so many flows is a suspect.
fn suspects_by_flow(suspects: &[Suspect<'_>], count: usize) -> Vec<bool> {
    let mut is_suspect = vec![false; count];
    for suspect in suspects {
        is_suspect[suspect.flow] = true;
    }
    is_suspect
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
    if state.delivered >= flow.size {
        // The target has everything, even if the source does not know it.
        last = served.of(index).last().map_or(last, |mark| last.min(mark.beat()));
    }
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
    held: Vec<f64>,
    /// The share of its fair rate below which it lags.
    floor: f64,
    allowance: Allowance,
    lag: Lag,
    /// The time since it last got anything.
    silence: Lag,
    /// What it would have got in the last beat, in bytes.
    fair: f64,
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
    beats: usize,
    /// What the flow would have got at its fair rate in these, in bytes.
    fair: f64,
    /// The part of that which does not count because the lag is so young.
    waived: f64,
    /// What it got in these, in bytes.
    got: f64,
    /// The beat after the last one.
    end: usize,
}

impl Lag {
    fn begin(onset: usize) -> Lag {
        Lag { onset, end: onset, ..Lag::default() }
    }

    /// Adds one beat in which the flow would have got `fair` bytes.
    fn add(&mut self, fair: f64, allowance: Allowance) {
        self.fair += fair;
        self.waived += fair * (allowance.beats - self.beats as f64).clamp(0.0, 1.0);
        self.beats += 1;
    }

    /// By how much it is below `floor` of its fair rate, in bytes.
    fn depth(&self, floor: f64) -> f64 {
        floor * self.fair - self.got
    }

    /// What it would still have to miss at its fair rate until the allowance does not explain the lag
    /// any more, in bytes.
    fn missing(&self, floor: f64, allowance: Allowance) -> f64 {
        self.got / floor + allowance.bytes + self.waived - self.fair
    }

    /// The beats until then, if it gets nothing and its fair rate stays what it is.
    fn beats_left(&self, floor: f64, allowance: Allowance, fair: f64) -> f64 {
        let waived = (allowance.beats - self.beats as f64).max(0.0);
        waived + self.missing(floor, allowance).max(0.0) / fair
    }
}

/// The times in which a flow starved.
#[derive(Clone, Copy, Default)]
struct Record {
    times: u32,
    since: usize,
    found: usize,
    /// When the last lag was deepest.
    deepest: usize,
    /// When it was made up for.
    until: usize,
    beats: usize,
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
        let first = marks.partition_point(|mark| mark.beat() < from);
        Some(Suspect {
            flow,
            life,
            from,
            marks: &marks[first..],
            held: Vec::new(),
            floor,
            allowance,
            lag: Lag::begin(from),
            silence: Lag::begin(from),
            fair: 0.0,
            worst: None,
            record: Record::default(),
        })
    }

    /// Takes the next beat into account.
    fn step(&mut self, beat: Beat, length: Span) {
        let mut got = 0.0;
        if let Some((mark, rest)) = self.marks.split_first()
            && mark.beat() == beat.number
        {
            got = mark.bytes() as f64;
            self.marks = rest;
        }
        let end = beat.number + 1;
        self.fair = bytes_in(beat.share.bps, length);
        if !beat.is_deadlocked {
            self.held.clear();
        }
        if beat.is_deadlocked && got == 0.0 {
            self.held.push(self.fair);
        } else {
            for fair in self.held.drain(..).chain([self.fair]) {
                self.lag.add(fair, self.allowance);
                self.silence.add(fair, self.allowance);
            }
        }
        self.lag.got += got;
        self.lag.end = end;
        if got > 0.0 {
            self.silence = Lag::begin(end);
        }
        let depth = self.lag.depth(self.floor);
        if depth <= 0.0 {
            self.close(end);
            self.lag = Lag::begin(end);
        } else if let Some(worst) = &mut self.worst {
            if depth > worst.depth(self.floor) {
                *worst = self.lag;
            }
        } else if self.is_beyond() {
            self.open(beat.share.bottleneck);
        }
    }

    /// Whether it lags by more than the allowance explains, or has got nothing for as long.
    fn is_beyond(&self) -> bool {
        let mut spells = [self.lag, self.silence].into_iter().filter(|it| it.fair > 0.0);
        spells.any(|it| it.missing(self.floor, self.allowance) <= 0.0)
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
    fn close(&mut self, end: usize) {
        if let Some(worst) = self.worst.take() {
            self.record.add(worst);
            self.record.until = end;
        }
    }

    /// Judges by the last quarter of a run that would go on as it does there.
    fn settle(&mut self, served: &Served, end: usize) {
        let quarter = (end / 4).max(1).min(self.life.len());
        let got = served.within(self.flow, end - quarter..end).get() as f64;
        let fair = self.lag.fair / self.lag.beats.max(1) as f64 * quarter as f64;
        let is_judged = self.worst.is_none() && self.lag.beats > 0 && self.held.is_empty();
        if is_judged && got < self.floor * fair {
            self.open(None);
        }
    }

    /// What is in doubt at the end of the run: a flow that lags, does not starve yet, and was not
    /// watched for long enough.
    fn doubt(&self, run: &RunEnd<'_>, served: &Served, end: usize) -> Option<Undecided> {
        let Lag { onset, beats, fair, .. } = self.lag;
        let is_lagging = self.worst.is_none() && self.life.end == end && fair.min(self.fair) > 0.0;
        // A steady run shows how it goes on, and beside a deadlock it does not go on.
        let is_over = run.ended == Ended::Steady
            || run.episodes.iter().any(|episode| episode.broken.is_none());
        if !is_lagging || is_over {
            return None;
        }
        let window = self.allowance.bytes / self.fair + self.allowance.beats;
        let is_short = (end as f64) < window || beats as f64 >= window / 2.0;
        // Between two packets every flow lags.
        let least = PACKETS_LEAST * run.config.flows[self.flow].packet.get() as f64;
        let is_lag = fair >= least || self.fair * (end as f64) < least;
        let left = [self.lag, self.silence]
            .map(|it| it.beats_left(self.floor, self.allowance, self.fair))
            .into_iter()
            .fold(f64::INFINITY, f64::min);
        let beats = (end as f64 + left.ceil()).min(1e15 / served.beat().as_ps() as f64 * 1e3);
        (is_short && is_lag).then(|| Undecided {
            flow: FlowId(self.flow as u32),
            since: served.start_of(onset),
            needs: served.start_of(beats as usize),
        })
    }

    /// The finding, if it starved.
    fn starved(&self, seen: &mut Seen<'_>) -> Option<Starved> {
        let mut record = self.record;
        if let Some(worst) = self.worst {
            record.add(worst);
        }
        if record.times == 0 {
            return None;
        }
        let span = seen.served.beat() * record.beats as u64;
        let rate = |bytes: f64| bytes * 8.0 / span.as_secs_f64();
        let served = seen.served;
        let start_of = |beat: usize| served.start_of(beat);
        let mut starved = Starved {
            flow: FlowId(self.flow as u32),
            rate_bps: rate(record.got),
            fair_bps: rate(record.fair),
            since: start_of(record.since),
            found: start_of(record.found),
            until: self.worst.is_none().then(|| start_of(record.until)),
            times: record.times,
            bottleneck: None,
            rivals: Vec::new(),
        };
        if let Some((node, port)) = record.bottleneck {
            let mut rivals = seen.rates(node, port, record.since..record.deepest);
            let total: f64 = rivals.iter().map(|rival| rival.rate_bps).sum();
            let used = total / seen.paths.capacity(node, port).as_bps() as f64;
            let port = seen.paths.limit(node, port).map_or(port, |limit| limit.port);
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
    paths: &'r Paths<'r>,
    served: &'r Served,
    crossing: &'r Crossing,
    /// What each flow has got up to each of its marks, as far as that was asked for.
    sums: Vec<Option<Vec<u64>>>,
}

impl Seen<'_> {
    /// What each flow that passes a port got in some beats.
    fn rates(&mut self, node: NodeId, port: PortId, beats: Range<usize>) -> Vec<Rival> {
        let span = self.served.beat() * beats.len() as u64;
        let flows = self.crossing[&(node, port)].iter();
        let rates = flows.map(|flow| {
            let marks = self.served.of(*flow);
            let sums = self.sums[*flow].get_or_insert_with(|| {
                let sums = marks.iter().scan(0, |sum, mark| {
                    *sum += mark.bytes();
                    Some(*sum)
                });
                std::iter::once(0).chain(sums).collect()
            });
            let [from, to] = [beats.start, beats.end]
                .map(|beat| sums[marks.partition_point(|mark| mark.beat() < beat)]);
            let rate_bps = rate_bps(Bytes::new(to - from), span);
            Rival { flow: FlowId(*flow as u32), rate_bps }
        });
        rates.collect()
    }
}

impl Record {
    fn add(&mut self, lag: Lag) {
        self.deepest = lag.end;
        self.beats += lag.beats;
        self.fair += lag.fair;
        self.got += lag.got;
    }
}

/// The first beat of the first lag that reaches `limit`, or is not made up for by the end, if the
/// lag grows by `each` in every beat.
fn lag_from(marks: &[Mark], life: &Range<usize>, each: f64, limit: f64) -> Option<usize> {
    let (mut onset, mut next, mut lag) = (life.start, life.start, 0.0);
    let first = marks.partition_point(|mark| mark.beat() < life.start);
    for mark in marks[first..].iter().take_while(|mark| mark.beat() < life.end) {
        let beat = mark.beat();
        let before = lag + each * (beat - next) as f64;
        lag = before + each - mark.bytes() as f64;
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
