//! Whether a run has come to a steady state.
//!
//! Time is cut into windows, and the last few of them are held against each other: what each flow
//! has delivered, and what all switches have held in the mean. All must be close to their mean, and
//! so must be the trend over them, which tells a slow decay from noise. Windows grow with the run:
//! those that are held against each other always cover its last quarter. So a rhythm that is longer
//! than a window is seen until the windows are much longer than it, and a change that is slow in
//! proportion to the run so far is what remains unseen.
//!
//! Not steady is also what a known event will change: a flow that will start, stop or finish, a
//! receiver that will change its pace, a deadlock that will be broken. And nothing is said where
//! too little is known: of a flow with so few packets in a window that one more is beyond the
//! tolerance, or of one that stands still without a deadlock.

use pauseless_core::unit::{Bytes, Span, Time};

use crate::config::{Config, Flow, Steady, Watchdog};
use crate::fabric::Fabric;
use crate::progress::FlowState;
use crate::simulator::Mitigating;

/// The number of samples of the queues in a window.
const LOOKS: u32 = 32;

/// The state of the run at a sample.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'r> {
    pub now: Time,
    pub end: Time,
    pub config: &'r Config,
    pub fabric: &'r Fabric,
    pub flows: &'r [FlowState],
    pub mitigating: &'r Mitigating,
}

/// Decides at regular samples whether a run is steady.
#[derive(Debug)]
pub(crate) struct Watch {
    steady: Steady,
    /// The time between two samples; a window has [`LOOKS`] of them.
    step: Span,
    looks: u32,
    /// The sum of the bytes in all switches over the samples of this window.
    held: u64,
    /// The state at the end of every window, in order of time.
    rows: Vec<Row>,
}

/// The state at the end of a window.
#[derive(Debug)]
struct Row {
    /// The number of flows that have started, finished and stopped, and of actions of watchdogs, so
    /// far.
    changes: usize,
    /// The mean bytes in all switches over the window.
    held: f64,
    /// The bytes of each active flow that were delivered or dropped so far.
    progress: Vec<(u32, u64)>,
}

impl Watch {
    pub(crate) fn new(steady: Steady) -> Watch {
        assert!(steady.windows >= 2 && steady.tolerance_permille >= 1);
        Watch {
            steady,
            step: Span::ps((steady.window.as_ps() / u64::from(LOOKS)).max(1)),
            looks: 0,
            held: 0,
            rows: Vec::new(),
        }
    }

    /// When to take the next sample.
    pub(crate) fn next(&self, now: Time) -> Time {
        now.saturating_add(self.step)
    }

    /// Takes a sample; returns whether the state is steady.
    pub(crate) fn look(&mut self, seen: &Seen<'_>) -> bool {
        self.held += seen.fabric.held().get();
        self.looks += 1;
        if self.looks < LOOKS {
            return false;
        }
        self.rows.push(Row {
            changes: changes(seen),
            held: self.held as f64 / f64::from(LOOKS),
            progress: progress(seen),
        });
        (self.looks, self.held) = (0, 0);
        let is_steady = self.is_steady(seen);
        if self.rows.len() == 4 * self.steady.windows as usize {
            self.widen();
        }
        is_steady
    }

    /// Doubles the length of windows.
    fn widen(&mut self) {
        let mut rows = std::mem::take(&mut self.rows).into_iter();
        while let (Some(first), Some(second)) = (rows.next(), rows.next()) {
            let held = (first.held + second.held) / 2.0;
            self.rows.push(Row { held, ..second });
        }
        self.step = self.step * 2;
    }

    fn window(&self) -> Span {
        self.step * u64::from(LOOKS)
    }

    fn is_steady(&self, seen: &Seen<'_>) -> bool {
        let windows = self.steady.windows as usize;
        let Some(first) = self.rows.len().checked_sub(windows + 1) else {
            return false;
        };
        let rows = &self.rows[first..];
        if rows.iter().any(|row| row.changes != rows[0].changes) || self.is_ahead(seen) {
            return false;
        }
        let held = Vec::from_iter(rows[1..].iter().map(|row| row.held));
        let largest = seen.config.flows.iter().map(|flow| flow.packet).max();
        if !self.is_level(&held, largest.unwrap_or(Bytes::ZERO)) {
            return false;
        }
        // The same flows are active in all rows, or there would have been a change.
        (0..rows[0].progress.len()).all(|place| {
            let steps = rows.windows(2);
            let steps = steps.map(|pair| pair[1].progress[place].1 - pair[0].progress[place].1);
            let index = rows[0].progress[place].0 as usize;
            self.is_flow_steady(seen, index, &Vec::from_iter(steps.map(|bytes| bytes as f64)))
        })
    }

    /// Whether a flow with these deliveries per window continues like that to the end.
    fn is_flow_steady(&self, seen: &Seen<'_>, index: usize, bytes: &[f64]) -> bool {
        let flow = &seen.config.flows[index];
        let mean = mean(bytes);
        if mean == 0.0 {
            return seen.mitigating.is_stuck();
        }
        let tolerated = mean * self.tolerance();
        if tolerated < flow.packet.get() as f64 || !self.is_level(bytes, flow.packet) {
            return false;
        }
        !self.has_rhythm(flow) && !self.will_finish(seen, index, mean)
    }

    /// Whether a flow has an on-off pattern that windows are not much longer than.
    fn has_rhythm(&self, flow: &Flow) -> bool {
        let cycle = flow.duty.on.as_ps().saturating_add(flow.duty.off.as_ps());
        flow.duty.off > Span::ZERO && self.window().as_ps() / 4 < cycle
    }

    /// Whether a flow will be complete before the end, at its mean rate.
    fn will_finish(&self, seen: &Seen<'_>, index: usize, mean: f64) -> bool {
        let (flow, state) = (&seen.config.flows[index], &seen.flows[index]);
        let left = flow.size.saturating_sub(state.delivered + state.expired);
        let windows = (seen.end - seen.now).as_secs_f64() / self.window().as_secs_f64();
        flow.is_finite() && left.get() as f64 <= mean * windows * (1.0 + self.tolerance())
    }

    /// Whether a change is known to lie ahead, or was too recent to tell.
    fn is_ahead(&self, seen: &Seen<'_>) -> bool {
        let Seen { now, end, .. } = *seen;
        let flows = seen.config.flows.iter().zip(seen.flows);
        let will_change = |(flow, state): (&Flow, &FlowState)| {
            let will_start = state.start.is_none() && flow.start < end && flow.stop > now;
            let is_open = state.finish.is_none();
            will_start || (is_open && now < flow.stop && flow.stop < end)
        };
        let span = self.window() * u64::from(self.steady.windows);
        let first = now.as_ps().saturating_sub(span.as_ps());
        let mut steps = seen.config.receivers.iter().flat_map(|receiver| &receiver.steps);
        let is_watched_longer = match &seen.config.mitigation.watchdog {
            Watchdog::Off => false,
            Watchdog::On(dog) => dog.detection + dog.restoration + dog.poll * 2 > span,
        };
        let mut changes = seen.config.changes.list.iter();
        is_watched_longer
            || changes.any(|change| change.time.as_ps() > first && change.time < end)
            || seen.mitigating.open > 0
            || flows.into_iter().any(will_change)
            || steps.any(|(time, _)| time.as_ps() > first && *time < end)
    }

    fn tolerance(&self) -> f64 {
        f64::from(self.steady.tolerance_permille) / 1_000.0
    }

    /// Whether all values, and their trend, are within the tolerance or within two packets.
    fn is_level(&self, values: &[f64], packet: Bytes) -> bool {
        let mean = mean(values);
        let slack = (mean * self.tolerance()).max(2.0 * packet.get() as f64);
        let is_near = values.iter().all(|value| (value - mean).abs() <= slack);
        is_near && trend(values).abs() <= slack
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The rise of the least-squares line through the values, from the first to the last.
fn trend(values: &[f64]) -> f64 {
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let mean = mean(values);
    let (mut product, mut square) = (0.0, 0.0);
    for (place, value) in values.iter().enumerate() {
        let from_middle = place as f64 - middle;
        product += from_middle * (value - mean);
        square += from_middle * from_middle;
    }
    product / square * 2.0 * middle
}

fn is_under_way(state: &FlowState) -> bool {
    state.start.is_some() && state.finish.is_none() && state.delivered_by_stop.is_none()
}

fn changes(seen: &Seen<'_>) -> usize {
    let flows = seen.flows.iter().map(|state| {
        let marks =
            [state.start.is_some(), state.finish.is_some(), state.delivered_by_stop.is_some()];
        marks.into_iter().filter(|mark| *mark).count()
    });
    let trips = &seen.mitigating.trips;
    let restored = trips.iter().filter(|trip| trip.restored.is_some());
    flows.sum::<usize>() + trips.len() + restored.count()
}

fn progress(seen: &Seen<'_>) -> Vec<(u32, u64)> {
    let flows = (0..).zip(seen.flows);
    let open = flows.filter(|(_, state)| is_under_way(state));
    open.map(|(index, state)| (index, (state.delivered + state.expired).get())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trend_is_what_a_line_rises() {
        assert_eq!(trend(&[1.0, 3.0, 5.0, 7.0]), 6.0);
        assert_eq!(trend(&[4.0, 2.0, 2.0, 4.0]), 0.0);
    }

    #[test]
    fn small_steps_in_one_direction_are_not_level() {
        let watch = Watch::new(Steady { window: Span::ms(1), windows: 8, tolerance_permille: 10 });
        let decay = Vec::from_iter((0..8).map(|n| 1e6 * 0.998f64.powi(n)));
        let noise = Vec::from_iter((0..8).map(|n| 1e6 * [0.993, 1.007][n % 2]));
        assert!(!watch.is_level(&decay, Bytes::new(1_500)));
        assert!(watch.is_level(&noise, Bytes::new(1_500)));
    }
}
