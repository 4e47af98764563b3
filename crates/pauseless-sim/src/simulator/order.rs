//! The order in which events are handled: that of the whole run, or node by node.

use pauseless_core::id::NodeId;
use pauseless_core::unit::{Span, Time};

use super::Simulator;
use super::plain::Way;
use crate::event::{Event, Kind};
use crate::fabric::Node;
use crate::record::SampledRun;

impl Simulator<'_> {
    /// Runs until `until` or the end of the run; returns whether anything is left to do.
    // Never inlined, so that profiles can tell it from what comes before and after.
    #[inline(never)]
    pub fn advance(&mut self, until: Time) -> bool {
        let until = until.min(self.end);
        let limit = Event::first_at(until.saturating_add(Span::ps(1)));
        while self.step_before(limit) {
            if self.stopping.is_any && self.is_answered() {
                self.end = self.now;
                return false;
            }
        }
        let is_more = until < self.end && !self.queue.is_empty();
        // If nothing is pending, nothing happens until the end.
        self.now = if is_more { until } else { self.end };
        is_more
    }

    /// Handles the first event, if it comes before `limit`.
    #[inline]
    fn step_before(&mut self, limit: Event) -> bool {
        let whole = self.queue.peek_whole().filter(|event| *event < limit);
        let before = whole.unwrap_or(limit);
        if let Some(node) = self.queue.first_node(before) {
            self.take_some(node, before, Event::first_at(Time::ZERO));
            return true;
        }
        if whole.is_some() {
            self.take_whole();
        }
        whole.is_some()
    }

    /// Handles the first event of a node before `limit`, and further ones before `end`.
    #[inline(always)]
    fn take_some(&mut self, node: NodeId, limit: Event, end: Event) {
        let [limit, end] = [limit, end].map(|event| self.queue.before(event));
        if self.way != Way::Long {
            match self.fabric.nodes[node.index()] {
                Node::Switch(_) => return self.visit(node, limit, end),
                Node::Host(_) if self.receivers.of(node).is_none() => {
                    return self.visit_host(node, limit, end);
                }
                Node::Host(_) => {}
            }
        }
        let mut next = self.queue.first_of(node, limit);
        while let Some(event) = next {
            self.take(node, event);
            next = self.queue.first_of(node, end);
        }
        self.queue.leave(node);
    }

    /// Handles all events of nodes before `limit`, those of a node that need no other node at once.
    #[inline(never)]
    pub(crate) fn run_before(&mut self, limit: Event) {
        while let Some(node) = self.queue.first_node(limit) {
            let end = Event::first_at(self.queue.next().saturating_add(self.window));
            self.take_some(node, limit, end.min(limit));
        }
    }

    /// The first event of all nodes, if it comes before `limit`.
    pub(crate) fn peek_before(&self, limit: Event) -> Option<(Event, NodeId)> {
        let node = self.queue.first_node(limit)?;
        Some((self.queue.first_of(node, self.queue.before(limit))?, node))
    }

    /// Handles the first event of a node before `limit`, which is the first of all.
    pub(crate) fn take_first(&mut self, node: NodeId, limit: Event) {
        self.take_some(node, limit, Event::first_at(Time::ZERO));
    }

    /// Handles one event, if there is one before the end of the run.
    #[cfg(test)]
    pub(crate) fn step(&mut self) -> bool {
        self.step_before(Event::first_at(self.end.saturating_add(Span::ps(1))))
    }

    /// Handles an event of a node, which is still in the queue.
    #[inline(always)]
    pub(super) fn take(&mut self, node: NodeId, event: Event) {
        self.now = event.time();
        self.tally.events += 1;
        let index = event.index();
        // The two that are most.
        if event.is(Kind::Arrive) {
            return self.on_arrive(index);
        }
        if event.is(Kind::Transmitted) {
            self.on_transmitted(index, event);
            return self.queue.retire(node, event);
        }
        match event.kind() {
            Kind::Timeout => {
                self.on_timeout(index);
                self.queue.retire(node, event);
            }
            Kind::Signal | Kind::LateSignal => self.on_signal(index),
            _ => self.take_from_agenda(node),
        }
    }

    /// Handles an event that happens to a node and to none of its ports.
    #[cold]
    fn take_from_agenda(&mut self, node: NodeId) {
        let event = self.queue.pop_at(node);
        let index = event.index();
        match event.kind() {
            Kind::Consume => self.on_consume(index),
            Kind::FlowStart => self.on_flow_start(index),
            Kind::FlowStop => {
                let flow = &mut self.flows[index];
                flow.delivered_by_stop = Some(flow.delivered);
                self.stopping.settle(index);
            }
            other => unreachable!("{other:?} happens to ports or to the whole network"),
        }
    }

    /// Handles the first event of the whole network.
    #[cold]
    pub(crate) fn take_whole(&mut self) {
        let Some(event) = self.queue.pop_whole() else {
            return;
        };
        self.now = event.time();
        self.tally.events += 1;
        match event.kind() {
            Kind::Recover => self.on_recover(event.index()),
            Kind::Change => self.on_change(event.index()),
            Kind::Sample => {
                self.recorder.sample(&SampledRun {
                    now: self.now,
                    config: self.config,
                    part: &|_| (&self.fabric, &self.flows),
                });
                if let Some(next) = self.recorder.next_sample() {
                    self.queue.push_whole(Event::new(next, Kind::Sample, 0));
                }
            }
            Kind::Snapshot => self.on_snapshot(),
            Kind::Look => self.on_look(),
            Kind::Calm => self.on_calm(),
            other => unreachable!("{other:?} happens to nodes"),
        }
    }

    #[cold]
    fn on_snapshot(&mut self) {
        // This event does not change the network: observing a run must not change its number of
        // events.
        self.tally.events -= 1;
        if let Some(replay) = &mut self.replay {
            replay.take(self.now, &|_| &self.fabric, self.packet_max);
            self.queue.push_whole(Event::new(replay.next(), Kind::Snapshot, 0));
        }
    }
}
