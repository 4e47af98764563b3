//! The progress of flows over a run and their goodput. For all drivers that know how much of each
//! flow was delivered, simulated or measured.

use std::ops::Range;

use pauseless_core::unit::{Bytes, Span, Time};

use crate::config::Config;
use crate::ideal::ideal_of;
use crate::outcome::{Ended, Episode, FlowOutcome};
use crate::served::Served;

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
    /// All deadlocks, in the order in which they were found.
    pub episodes: &'r [Episode],
}

/// The outcome of a flow.
pub fn flow_outcome(run: &RunEnd<'_>, served: &Served, index: usize) -> FlowOutcome {
    let flow = &run.config.flows[index];
    let state = run.flows[index];
    let end = state.finish.unwrap_or(run.now.min(flow.stop));
    // A stopped flow is judged by its life until then, unless it came to its end.
    let delivered = match state.finish {
        Some(_) => state.delivered,
        None => state.delivered_by_stop.unwrap_or(state.delivered),
    };
    let start = state.start.unwrap_or(flow.start);
    let goodput_bps = rate_bps(delivered, end.saturating_since(start));
    let late = late_beats(served, start, end.min(flow.stop));
    let late = late.map(|beats| {
        let span = served.beat() * beats.len() as u64;
        rate_bps(served.within(index, beats), span)
    });
    FlowOutcome {
        delivered: state.delivered,
        expired: state.expired,
        start: state.start,
        finish: state.finish,
        ideal: ideal_of(run.config, flow),
        goodput_bps,
        goodput_late_bps: late.unwrap_or(goodput_bps),
        reordering: None,
    }
}

/// The beats of the last quarter of a life; `None` if it is shorter than one.
fn late_beats(served: &Served, start: Time, end: Time) -> Option<Range<usize>> {
    let from = end.as_ps() - end.saturating_since(start).as_ps() / 4;
    let first = from.div_ceil(served.beat().as_ps()) as usize;
    let last = served.beats_until(end);
    (first < last).then_some(first..last)
}

/// The mean rate of `bytes` in `span`, in bit/s.
pub(crate) fn rate_bps(bytes: Bytes, span: Span) -> f64 {
    if span == Span::ZERO {
        return 0.0;
    }
    bytes.get() as f64 * 8.0 / span.as_secs_f64()
}
