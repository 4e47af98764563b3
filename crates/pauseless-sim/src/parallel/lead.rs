//! The work between windows: the plan of the next one, and all events of the whole network.

use std::sync::atomic::Ordering;

use pauseless_core::deadlock::is_deadlocked;
use pauseless_core::id::{NodeId, PortId};
use pauseless_core::transport;
use pauseless_core::unit::{Bytes, Span, Time};

use super::partition::Partition;
use super::whole::Whole;
use super::{Parts, lock};
use crate::config::Receiver;
use crate::event::{Event, Kind};
use crate::progress::FlowState;
use crate::record::SampledRun;
use crate::simulator::{Simulator, Stopping};
use crate::spread::Step;

/// The state that belongs to no part, and what happens between windows.
#[derive(Debug)]
pub(super) struct Lead<'c> {
    /// A run without nodes: its events are samples, and at the end all parts are merged
    /// into it.
    whole: Simulator<'c>,
    partition: Partition,
    /// An instant before which some flow certainly is not settled.
    unsettled_until: Time,
    is_over: bool,
    is_deadlocked: bool,
    windows: u64,
    /// The number of events at the last search for deadlocks.
    looked: u64,
    steps: Vec<Step>,
}

/// The number of windows after which the congestion tree is updated, so that the changes waiting
/// for that are bounded.
const WINDOWS_PER_REPORT: u64 = 64;

/// The mean number of events per port between two searches for deadlocks.
const EVENTS_PER_LOOK: u64 = 256;

/// The number of windows that are handled in the order of the whole run before it is checked again
/// whether that is necessary.
const SERIAL_WINDOWS: u64 = 16;

impl<'c> Lead<'c> {
    pub(super) fn new(whole: Simulator<'c>, partition: Partition) -> Lead<'c> {
        Lead {
            whole,
            partition,
            unsettled_until: Time::ZERO,
            is_over: false,
            is_deadlocked: false,
            windows: 0,
            looked: 0,
            steps: Vec::new(),
        }
    }

    pub(super) fn now(&self) -> Time {
        self.whole.now
    }

    pub(super) fn is_deadlocked(&self) -> bool {
        self.is_deadlocked
    }

    /// Whether there is anything left to do after `until`.
    pub(super) fn is_more(&self, until: Time) -> bool {
        !self.is_over && until < self.whole.end
    }

    /// The event before which all parts may stop next; `None` if everything until `until` is done.
    pub(super) fn plan(&mut self, parts: &Parts<'c>, until: Time) -> Option<Event> {
        let until = until.min(self.whole.end);
        let stop = Event::first_at(until.saturating_add(Span::ps(1)));
        loop {
            if self.is_over || self.is_deadlocked {
                return None;
            }
            let nexts = parts.nexts.iter().map(|next| next.load(Ordering::Acquire));
            let first = Time::from_ps(nexts.min().unwrap_or(u64::MAX));
            let global = self.whole.queue.peek_whole().unwrap_or(Event::first_at(Time::MAX));
            if first.min(global.time()) > until {
                self.rest(first.min(global.time()), until);
                return None;
            }
            // The next event may depend on the whole network, which must not be ahead of it.
            self.attend(parts, first.min(global.time()));
            let ahead = Event::first_at(first.saturating_add(self.partition.lookahead));
            let limit = ahead.min(global).min(stop);
            if self.whole.config.stop.done && !self.is_unsettled(parts, limit.time()) {
                let span = self.partition.lookahead * SERIAL_WINDOWS;
                let limit = Event::first_at(limit.time().saturating_add(span)).min(stop);
                self.run_in_order(parts, limit);
            } else if global < Event::first_at(first) {
                let whole = self.hold(parts);
                self.on_global(&whole);
            } else {
                self.whole.now = first;
                return Some(limit);
            }
        }
    }

    /// Ends a window in which nothing happens until `until`.
    fn rest(&mut self, next: Time, until: Time) {
        self.is_over = next == Time::MAX;
        self.whole.now = if self.is_over { self.whole.end } else { until };
    }

    /// All parts, after all frames between them were delivered.
    fn hold<'p>(&self, parts: &'p Parts<'c>) -> Whole<'p, 'c> {
        let held = parts.cells.iter().zip(&parts.mail).map(|(cell, mail)| {
            let mut cell = lock(cell);
            for message in lock(mail).drain(..) {
                cell.accept(message);
            }
            cell
        });
        Whole { parts: held.collect(), owner: self.partition.owner.clone() }
    }

    /// Does the periodic work. All parts have come to `now`.
    fn attend(&mut self, parts: &Parts<'c>, now: Time) {
        self.windows += 1;
        if !self.windows.is_multiple_of(WINDOWS_PER_REPORT) || now == Time::ZERO {
            return;
        }
        let mut whole = self.hold(parts);
        self.grow_tree(&mut whole, Time::from_ps(now.as_ps() - 1));
        let events: u64 = whole.parts.iter().map(|part| part.tally.events).sum();
        let ports = self.whole.fabric.ends.len() as u64;
        if events - self.looked > EVENTS_PER_LOOK * ports {
            self.looked = events;
            self.is_deadlocked = look(&mut whole, now);
        }
    }

    /// Updates the congestion tree, given that all parts have come to `now`.
    fn grow_tree(&mut self, whole: &mut Whole<'_, 'c>, now: Time) {
        for part in &mut whole.parts {
            part.spread.report(now, &mut self.steps);
        }
        self.steps.sort_by_key(|step| step.time);
        self.whole.spread.follow(&self.steps);
        self.steps.clear();
    }

    /// Whether there is a deadlock now.
    pub(super) fn look_for_deadlock(&mut self, parts: &Parts<'c>) -> bool {
        look(&mut self.hold(parts), self.whole.now)
    }

    /// Handles the next event that depends on the whole network.
    fn on_global(&mut self, whole: &Whole<'_, 'c>) {
        let Some(event) = self.whole.queue.peek_whole() else {
            return;
        };
        self.whole.now = event.time();
        match event.kind() {
            Kind::Sample => {
                let run = &mut self.whole;
                run.queue.pop_whole();
                run.tally.events += 1;
                run.recorder.sample(&SampledRun {
                    now: run.now,
                    config: run.config,
                    part: &|node: NodeId| {
                        let part = whole.part(node);
                        (&part.fabric, &part.flows)
                    },
                });
                if let Some(next) = run.recorder.next_sample() {
                    run.queue.push_whole(Event::new(next, Kind::Sample, 0));
                }
            }
            Kind::Snapshot => {
                let run = &mut self.whole;
                run.queue.pop_whole();
                if let Some(replay) = &mut run.replay {
                    let part = |node: NodeId| &whole.part(node).fabric;
                    replay.take(run.now, &part, run.packet_max);
                    run.queue.push_whole(Event::new(replay.next(), Kind::Snapshot, 0));
                }
            }
            _ => self.whole.take_whole(),
        }
    }

    /// Handles all events before `limit` in the order of the whole run, as long as it is not over.
    fn run_in_order(&mut self, parts: &Parts<'c>, limit: Event) {
        let mut whole = self.hold(parts);
        loop {
            let nexts = whole.parts.iter().enumerate();
            let global = self.whole.queue.peek_whole().filter(|event| *event < limit);
            let before = global.unwrap_or(limit);
            let next = nexts.filter_map(|(place, part)| Some((part.peek_before(before)?, place)));
            match next.min() {
                Some(((event, node), place)) => {
                    whole.parts[place].take_first(node, before);
                    whole.exchange(place);
                    self.whole.now = event.time();
                }
                None if global.is_some() => self.on_global(&whole),
                None => break,
            }
            if self.is_answered(&whole) {
                self.is_over = true;
                self.whole.end = self.whole.now;
                break;
            }
        }
        for (part, next) in whole.parts.iter().zip(&parts.nexts) {
            next.store(part.queue.next().as_ps(), Ordering::Release);
        }
    }

    /// Whether everything is done; otherwise notes when that may be so.
    fn is_answered(&mut self, whole: &Whole<'_, 'c>) -> bool {
        let stops = whole.parts.iter().map(|part| &part.stopping);
        let settled: usize = stops.clone().map(|stop| stop.settled_count()).sum();
        let sum = |pick: fn(&Stopping) -> Bytes| stops.clone().map(pick).sum::<Bytes>();
        let is_delivered =
            settled == self.whole.flows.len() && sum(|stop| stop.sent) == sum(|stop| stop.gone);
        if is_delivered {
            let outlooks = whole.parts.iter().map(|part| part.spread.outlook());
            let (held, calm) = outlooks
                .fold((0, Time::ZERO), |(held, calm), (more, last)| (held + more, calm.max(last)));
            if held == 0 {
                self.whole.wait_until_calm(calm);
            }
        }
        self.whole.stopping.is_over()
    }

    /// Whether some flow cannot be settled at `time` or before.
    fn is_unsettled(&mut self, parts: &Parts<'c>, time: Time) -> bool {
        if time < self.unsettled_until {
            return true;
        }
        let whole = self.hold(parts);
        let nexts = parts.nexts.iter().map(|next| next.load(Ordering::Acquire));
        let now = Time::from_ps(nexts.min().unwrap_or(0)).min(time);
        let flows = 0..self.whole.flows.len();
        let bounds = flows.map(|flow| earliest_end(&whole, flow, now));
        self.unsettled_until = bounds.max().unwrap_or(Time::ZERO);
        time < self.unsettled_until
    }

    /// Merges all parts into one run, which cannot be continued.
    pub(super) fn merge(mut self, mut parts: Vec<Simulator<'c>>) -> Simulator<'c> {
        let now = self.whole.now;
        for part in &mut parts {
            part.spread.report(now, &mut self.steps);
        }
        self.steps.sort_by_key(|step| step.time);
        let mut whole = self.whole;
        whole.spread.follow(&self.steps);
        for (index, owner) in self.partition.owner.iter().enumerate() {
            let node = NodeId(index as u32);
            let part = &mut parts[usize::from(*owner)];
            whole.fabric.take_node(&mut part.fabric, node);
            for end in whole.fabric.ends_of(node) {
                whole.spread.take_link(&part.spread, end);
            }
        }
        whole.flows.fill(FlowState::default());
        for part in &mut parts {
            whole.tally.add(&part.tally);
            if let (Some(whole), Some(part)) = (&mut whole.balancing, &part.balancing) {
                whole.add(part);
            }
            whole.receivers.add(&mut part.receivers);
            if let (Some(order), Some(there)) = (&mut whole.order, &mut part.order) {
                order.add(there);
            }
            whole.served.take(&mut part.served);
            for (flow, state) in whole.flows.iter_mut().zip(&part.flows) {
                flow.add(state);
            }
        }
        whole
    }
}

/// Whether there is a deadlock, if any queue was stopped since the last search.
fn look(whole: &mut Whole<'_, '_>, now: Time) -> bool {
    let mut is_suspicious = false;
    for part in &mut whole.parts {
        if let Some(away) = &mut part.away {
            is_suspicious |= std::mem::replace(&mut away.is_suspicious, false);
        }
    }
    is_suspicious && is_deadlocked(now, whole)
}

/// An instant before which a flow that is not settled now certainly is not: its remaining bytes
/// have to cross the link of its target.
fn earliest_end(whole: &Whole<'_, '_>, index: usize, now: Time) -> Time {
    let config = whole.parts[0].config;
    let flow = &config.flows[index];
    // A stopped flow is settled at its target, others where they finish.
    let ends = [flow.target, config.end_of(flow)];
    if ends.iter().any(|end| whole.part(*end).stopping.is_settled(index)) {
        return Time::ZERO;
    }
    let state = whole.flow(index);
    let start = state.start.unwrap_or(flow.start).max(now);
    let is_slow = |receiver: &Receiver| receiver.host == flow.target;
    let is_holding = matches!(config.transport.receiver, transport::Receiver::Hold { .. });
    if is_holding || config.receivers.iter().any(is_slow) {
        // Waiting packets may be taken faster than they have arrived.
        return start.min(flow.stop);
    }
    if !flow.is_finite() {
        return flow.stop;
    }
    // One packet may have arrived almost completely.
    let left = flow.size.saturating_sub(state.delivered + flow.packet);
    let last = config.topology.port(flow.target, PortId(0));
    let each = config.line(last.peer, last.peer_port).tx_span(flow.packet);
    let span = each * (left.get() / flow.packet.get().max(1));
    let span = span.saturating_sub(config.wire_jitter);
    start.saturating_add(span).min(flow.stop)
}
