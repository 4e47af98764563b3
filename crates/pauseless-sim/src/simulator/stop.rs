//! The early end of a run whose question is answered.

use pauseless_core::id::FlowId;
use pauseless_core::transport::Recovery;
use pauseless_core::unit::{Bytes, Time};

use super::Simulator;
use crate::config::Config;
use crate::event::{Event, Kind};
use crate::outcome::Ended;
use crate::steady::{Seen, Watch};

/// The facts that decide whether a run ends early.
#[derive(Debug)]
pub(crate) struct Stopping {
    /// Whether anything can end it early.
    pub is_any: bool,
    /// Whether each flow has nothing to send any more; empty if that is not needed.
    settled: Vec<bool>,
    /// The number of flows that have something to send, or will have.
    open: usize,
    /// The bytes of data that hosts have sent.
    pub sent: Bytes,
    /// The bytes of data that were delivered or dropped.
    pub gone: Bytes,
    /// When it is checked whether no link is held any more; [`Time::MAX`] if that is not needed.
    calm_due: Time,
    watch: Option<Box<Watch>>,
    ended: Option<Ended>,
}

impl Stopping {
    pub(super) fn new(config: &Config) -> Stopping {
        let stop = &config.stop;
        Stopping {
            is_any: stop.deadlock || stop.done || stop.steady.is_some(),
            settled: if stop.done { vec![false; config.flows.len()] } else { Vec::new() },
            open: config.flows.len(),
            sent: Bytes::ZERO,
            gone: Bytes::ZERO,
            calm_due: Time::MAX,
            watch: stop.steady.map(|steady| Box::new(Watch::new(steady))),
            ended: None,
        }
    }

    /// The number of flows that have nothing to send any more.
    pub(crate) fn settled_count(&self) -> usize {
        self.settled.len() - self.open
    }

    /// Whether the run has ended early.
    pub(crate) fn is_over(&self) -> bool {
        self.ended.is_some()
    }

    /// Whether `flow` has nothing to send any more, where that is recorded.
    pub(crate) fn is_settled(&self, flow: usize) -> bool {
        self.settled.get(flow).is_some_and(|settled| *settled)
    }

    /// Records that a flow has nothing to send any more, for whatever reason.
    #[cold]
    pub(super) fn settle(&mut self, flow: usize) {
        if let Some(settled) = self.settled.get_mut(flow)
            && !std::mem::replace(settled, true)
        {
            self.open -= 1;
        }
    }
}

impl Simulator<'_> {
    /// Why the run has ended, or would have if it ended now.
    pub(crate) fn ended(&self) -> Ended {
        let in_time = if self.now < self.end { Ended::Interrupted } else { Ended::Duration };
        self.stopping.ended.unwrap_or(in_time)
    }

    /// Checks whether the packet that was delivered or dropped was the last one of a flow of which
    /// some have expired.
    #[cold]
    pub(super) fn settle_expired(&mut self, flow: FlowId) {
        if self.config.transport.recovery != Recovery::None {
            // The packet will be sent again.
            return;
        }
        let state = &self.flows[flow.index()];
        if state.delivered + state.expired == self.config.flows[flow.index()].size {
            self.stopping.settle(flow.index());
        }
    }

    /// Whether the run has answered its question.
    #[inline]
    pub(super) fn is_answered(&mut self) -> bool {
        if self.config.stop.deadlock && self.tally.deadlock.is_some() {
            self.stopping.ended = Some(Ended::Deadlock);
        }
        if self.config.stop.done && self.is_delivered() {
            self.wait_for_calm();
        }
        self.stopping.ended.is_some()
    }

    /// Whether everything was sent, and has been delivered or dropped.
    #[inline]
    fn is_delivered(&self) -> bool {
        self.stopping.open == 0 && self.stopping.sent == self.stopping.gone
    }

    /// Lets the run end when no link is held any more and the last one has left the congestion
    /// tree, so that its figures equal those of a longer run.
    #[cold]
    fn wait_for_calm(&mut self) {
        if let Some(calm) = self.spread.calm() {
            self.wait_until_calm(calm);
        }
    }

    /// Schedules the check for the instant `calm` at which the last link leaves the congestion
    /// tree.
    pub(crate) fn wait_until_calm(&mut self, calm: Time) {
        if calm <= self.now {
            self.stopping.ended.get_or_insert(Ended::Done);
        } else if self.stopping.calm_due != calm {
            self.stopping.calm_due = calm;
            self.queue.push_whole(Event::new(calm, Kind::Calm, 0));
        }
    }

    /// Handles the check, which changes nothing in the network: the question is asked again after
    /// every event.
    #[cold]
    pub(super) fn on_calm(&mut self) {
        self.tally.events -= 1;
    }

    pub(super) fn schedule_look(&mut self) {
        if let Some(watch) = &self.stopping.watch {
            let next = watch.next(self.now);
            self.queue.push_whole(Event::new(next, Kind::Look, 0));
        }
    }

    #[cold]
    pub(super) fn on_look(&mut self) {
        // This event does not change the network either.
        self.tally.events -= 1;
        let Some(watch) = &mut self.stopping.watch else {
            return;
        };
        let seen = Seen {
            now: self.now,
            end: self.end,
            config: self.config,
            fabric: &self.fabric,
            flows: &self.flows,
            mitigating: &self.mitigating,
        };
        if watch.look(&seen) {
            self.stopping.ended.get_or_insert(Ended::Steady);
        }
        self.schedule_look();
    }
}
