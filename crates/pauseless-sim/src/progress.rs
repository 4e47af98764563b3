//! The progress of flows over a run, and what follows from it: their late goodput, and whether they
//! starve. For all drivers that know how much of each flow was delivered, simulated or measured.

use std::collections::BTreeMap;

use pauseless_core::host::Duty;
use pauseless_core::id::FlowId;
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::fairness::{FairFlow, max_min_rates};
use pauseless_fabric::trace::{Header, trace};

use crate::config::{Config, Flow};
use crate::ideal::ideal_of;
use crate::outcome::{Ended, FlowOutcome, Starved};

/// The number of intervals into which the time of sending is divided to record how flows progress.
const TICKS: usize = 64;

/// The progress of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowState {
    /// The frame bytes that its target has received.
    pub delivered: Bytes,
    /// When it started, if it did.
    pub start: Option<Time>,
    /// When its target had received everything.
    pub finish: Option<Time>,
    /// The frame bytes that were lost.
    pub lost: Bytes,
    /// The frame bytes that were dropped on purpose.
    pub expired: Bytes,
    /// The frame bytes that had been delivered when the flow was stopped.
    pub delivered_by_stop: Option<Bytes>,
}

impl FlowState {
    /// Adds what another part of the run knows. Each fact is known in one part only, except for
    /// losses and drops on the way.
    pub(crate) fn add(&mut self, part: &FlowState) {
        let FlowState { delivered, start, finish, lost, expired, delivered_by_stop } = part;
        self.delivered += *delivered;
        self.start = self.start.or(*start);
        self.finish = self.finish.or(*finish);
        self.lost += *lost;
        self.expired += *expired;
        self.delivered_by_stop = self.delivered_by_stop.or(*delivered_by_stop);
    }
}

/// The facts about a run at its end by which flows are judged.
#[derive(Clone, Copy, Debug)]
pub struct RunEnd<'r> {
    /// The configuration of the run.
    pub config: &'r Config,
    /// The progress of all flows.
    pub flows: &'r [FlowState],
    /// When the run ended.
    pub now: Time,
    /// Why the run ended.
    pub ended: Ended,
    /// Whether there is a deadlock that was never broken.
    pub is_stuck: bool,
}

/// The last quarter of a flow's life, from one tick to another, and the number of ticks of its
/// life.
#[derive(Clone, Copy)]
struct Late {
    first: usize,
    last: usize,
    life: usize,
}

/// The progress of all flows, at regular instants.
#[derive(Clone, Debug)]
pub struct Progress {
    /// The time between two ticks if the run lasts for its duration.
    coarse: Span,
    /// How often that time is halved.
    halvings: u32,
    tick: Span,
    /// The bytes delivered of the flows that were active, one row per tick, in the order of flows.
    rows: Vec<Vec<(u32, Bytes)>>,
}

impl Progress {
    /// The progress at the start of a run.
    pub fn new(config: &Config) -> Progress {
        let coarse = tick_span(config);
        let halvings = halvings(config, coarse);
        Progress { coarse, halvings, tick: Span::ps(coarse.as_ps() >> halvings), rows: Vec::new() }
    }

    /// When [`Progress::tick`] is to be called next; `None` after the last time.
    pub fn next_tick(&self) -> Option<Time> {
        let next = self.rows.len() as u64 + 1;
        let is_one = next <= (TICKS as u64) << self.halvings;
        is_one.then(|| Time::from_ps((self.coarse * next).as_ps() >> self.halvings))
    }

    /// Records the progress of all flows.
    pub fn tick(&mut self, flows: &[FlowState]) {
        let under_way =
            (0..).zip(flows).filter(|(_, flow)| flow.start.is_some() && flow.finish.is_none());
        let row = under_way.map(|(index, flow)| (index, flow.delivered));
        self.rows.push(row.collect());
        // When there are many ticks, every other one is dropped.
        if self.rows.len() == 2 * TICKS {
            let mut count = 0;
            self.rows.retain(|_| {
                count += 1;
                count % 2 == 0
            });
            self.halvings -= 1;
            self.tick = Span::ps(self.coarse.as_ps() >> self.halvings);
        }
    }

    /// The number of ticks that a flow has to live to be judged.
    fn life_min(&self, ended: Ended) -> usize {
        match ended {
            // The run has shown how it would continue, so its own length counts.
            Ended::Steady => (self.rows.len() / 4).max(TICKS / 4),
            _ => (TICKS / 4) << self.halvings,
        }
    }

    /// The bytes of a flow that had been delivered at a tick.
    fn progress_at(&self, run: &RunEnd<'_>, tick: usize, index: usize) -> Bytes {
        let row = &self.rows[tick];
        if let Ok(place) = row.binary_search_by_key(&(index as u32), |(flow, _)| *flow) {
            return row[place].1;
        }
        // The flow had not started, or it was complete.
        let time = Time::ZERO + self.tick * (tick as u64 + 1);
        match run.flows[index].finish {
            Some(finish) if finish <= time => run.flows[index].delivered,
            _ => Bytes::ZERO,
        }
    }

    /// The outcome of a flow.
    pub fn flow_outcome(&self, run: &RunEnd<'_>, index: usize) -> FlowOutcome {
        let flow = &run.config.flows[index];
        let state = run.flows[index];
        let end = state.finish.unwrap_or(run.now.min(flow.stop));
        let late = self.late_ticks(run, index).and_then(|late| {
            let Late { first, last, .. } = late;
            let bytes = self.progress_at(run, last, index) - self.progress_at(run, first, index);
            Some(rate_bps(bytes, self.tick * (last - first) as u64)).filter(|rate| rate.is_finite())
        });
        // A stopped flow is judged by its life until then, unless it came to its end.
        let delivered = match state.finish {
            Some(_) => state.delivered,
            None => state.delivered_by_stop.unwrap_or(state.delivered),
        };
        let start = state.start.unwrap_or(flow.start);
        let goodput_bps = rate_bps(delivered, end.saturating_since(start));
        FlowOutcome {
            delivered: state.delivered,
            expired: state.expired,
            start: state.start,
            finish: state.finish,
            ideal: ideal_of(run.config, flow),
            goodput_bps,
            goodput_late_bps: late.unwrap_or(goodput_bps),
        }
    }

    /// The first and last tick of the last quarter of a flow's life, if it is long enough to judge.
    fn late_ticks(&self, run: &RunEnd<'_>, index: usize) -> Option<Late> {
        let flow = &run.config.flows[index];
        let start = run.flows[index].start?;
        let end = run.flows[index].finish.unwrap_or(run.now).min(flow.stop).min(run.now);
        // Tick i is taken at (i + 1) * tick.
        let first = start.as_ps().div_ceil(self.tick.as_ps()).saturating_sub(1) as usize;
        let last = (end.as_ps() / self.tick.as_ps()).checked_sub(1)? as usize;
        let last = last.min(self.rows.len().checked_sub(1)?);
        let life = last.checked_sub(first)?;
        (life >= 4).then(|| Late { first: last - (life / 4).max(2), last, life })
    }

    /// Flows that were unfinished and below their share throughout the last quarter of their life.
    pub fn starved(&self, run: &RunEnd<'_>) -> Vec<Starved> {
        let config = run.config;
        // A flow whose missing bytes were lost waits for nothing any more, and one whose packets
        // expire is not held back.
        let is_open = |index: &usize| {
            let state = &run.flows[*index];
            state.expired == Bytes::ZERO && state.delivered + state.lost < config.flows[*index].size
        };
        // The fair rates of all flows that were active at a tick, for the ticks that are needed.
        let mut fair: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        let mut starved = Vec::new();
        for index in (0..run.flows.len()).filter(is_open) {
            let Some(late) = self.late_ticks(run, index) else {
                continue;
            };
            // A flow with a short life may just have been unlucky.
            if late.life < self.life_min(run.ended) {
                continue;
            }
            let rates = (late.first + 1..=late.last).filter_map(|tick| {
                let row = &self.rows[tick];
                let rates = fair.entry(tick).or_insert_with(|| self.fair_rates(config, tick));
                let place = row.binary_search_by_key(&(index as u32), |(flow, _)| *flow);
                place.ok().map(|place| rates[place])
            });
            let (sum, count) = rates.fold((0.0, 0), |(sum, count), rate| (sum + rate, count + 1));
            let mean = sum / f64::from(count.max(1));
            starved.extend(self.judge(run, index, late, mean));
        }
        starved
    }

    /// The fair rates of the flows that were active at a tick, in the order of its row.
    fn fair_rates(&self, config: &Config, tick: usize) -> Vec<f64> {
        let time = Time::ZERO + self.tick * (tick as u64 + 1);
        let flows = Vec::from_iter(self.rows[tick].iter().map(|(flow, _)| *flow as usize));
        let is_sending = |flow: &usize| config.flows[*flow].stop >= time;
        let open = Vec::from_iter(flows.iter().copied().filter(is_sending));
        let mut rates = fair_rates(config, &open).into_iter();
        let rate = |flow: &usize| {
            if is_sending(flow) {
                rates.next().expect("there is a rate for each open flow")
            } else {
                0.0
            }
        };
        flows.iter().map(rate).collect()
    }

    /// Whether a flow starved in its window, given its fair rate there.
    fn judge(&self, run: &RunEnd<'_>, index: usize, late: Late, fair_bps: f64) -> Option<Starved> {
        let Late { first, last, .. } = late;
        let flow = &run.config.flows[index];
        let floor = f64::from(run.config.starvation_permille) / 1_000.0 * fair_bps;
        // A flow that is silent for longer than a tick says nothing about the network.
        if flow.duty.off >= self.tick {
            return None;
        }
        let packet_bits = flow.packet.get() as f64 * 8.0;
        // Too short to tell slow from unlucky: a tick must have room for several packets.
        if fair_bps * self.tick.as_secs_f64() < 20.0 * packet_bits {
            return None;
        }
        let rate_in = |from: usize, to: usize| {
            let bytes = self.progress_at(run, to, index) - self.progress_at(run, from, index);
            rate_bps(bytes, self.tick * (to - from) as u64)
        };
        if (first..last).any(|tick| rate_in(tick, tick + 1) >= floor) {
            return None;
        }
        let rate_late = rate_in(first, last);
        // A flow that does not move at all in a deadlocked network is a victim of that. A deadlock
        // that was broken excuses nothing: the flow could have moved since.
        if run.is_stuck && rate_late == 0.0 {
            return None;
        }
        let since = (0..first).rev().find(|tick| rate_in(*tick, tick + 1) >= floor);
        let since = since.map_or(0, |tick| tick as u64 + 2);
        Some(Starved {
            flow: FlowId(index as u32),
            rate_bps: rate_late,
            fair_bps,
            since: (Time::ZERO + self.tick * since)
                .max(run.flows[index].start.unwrap_or(flow.start)),
        })
    }
}

/// The time between two ticks such that all of them together last until the last flow stops or the
/// run ends.
fn tick_span(config: &Config) -> Span {
    let end = Time::ZERO + config.duration;
    let last = config.flows.iter().map(|flow| flow.stop).max();
    let sending = last.unwrap_or(end).min(end) - Time::ZERO;
    Span::ps((sending.as_ps() / TICKS as u64).max(1))
}

/// How often that time is halved at first. A run that may end at a steady state has at least
/// [`TICKS`] of them by then: it is judged like one that was meant to last no longer.
fn halvings(config: &Config, coarse: Span) -> u32 {
    let Some(steady) = config.stop.steady else {
        return 0;
    };
    let wanted = steady.window.as_ps() * u64::from(steady.windows) / TICKS as u64;
    let is_short = |halvings: &u32| coarse.as_ps() >> halvings <= wanted.max(1);
    (0..).find(is_short).expect("a tick of one picosecond is short enough")
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

/// The max-min fair rates of the flows in `open`, as if they had the network to themselves; zero
/// for one that travels in a circle, which no rate would deliver.
fn fair_rates(config: &Config, open: &[usize]) -> Vec<f64> {
    let paths: Vec<Option<FairFlow>> = open
        .iter()
        .map(|index| {
            let flow = &config.flows[*index];
            let header = Header { source: flow.source, group: flow.group, hash: flow.hash };
            let path = trace(&config.topology, &config.table, header).ok()?;
            let demand = Some(demand(flow));
            Some(FairFlow { path, demand })
        })
        .collect();
    let flows: Vec<FairFlow> = paths.iter().flatten().cloned().collect();
    let rates = max_min_rates(&flows, |node, port| config.topology.port(node, port).rate);
    let mut rates = rates.into_iter();
    let rate = |path: &Option<FairFlow>| path.as_ref().and_then(|_| rates.next());
    paths.iter().map(rate).map(Option::unwrap_or_default).collect()
}

/// The mean rate of `bytes` in `span`, in bit/s.
pub(crate) fn rate_bps(bytes: Bytes, span: Span) -> f64 {
    if span == Span::ZERO {
        return 0.0;
    }
    bytes.get() as f64 * 8.0 / span.as_secs_f64()
}
