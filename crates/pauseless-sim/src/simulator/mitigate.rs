//! What is done about storms and deadlocks, and what it costs.

use pauseless_core::id::{Class, FlowId, NodeId, PortId};
use pauseless_core::port::Overrun;
use pauseless_core::switch::watchdog::Action;
use pauseless_core::switch::{Dropped, Transmit};
use pauseless_core::unit::{Bytes, Span, Time};

use super::Simulator;
use crate::config::{Config, Recovery, Watchdog};
use crate::event::{Event, Kind};
use crate::fabric::{End, Node, Packet};
use crate::outcome::{Deadlock, EgressQueue, Episode, Loss, Losses, Lost, Trip};
use crate::tag::Tag;

/// The deadlocks and storms so far.
#[derive(Debug)]
pub(crate) struct Mitigating {
    /// Whether switches have watchdogs.
    pub is_watching: bool,
    /// Whether watchdogs act, beyond raising alerts.
    is_acting: bool,
    /// Whether a deadlock can end, so that another one may follow.
    pub is_breaking: bool,
    /// The number of deadlocks that can be broken and were not yet.
    pub open: usize,
    found: Vec<Found>,
    pub trips: Vec<Trip>,
    /// The last event that has changed the network.
    last_event: Option<u32>,
    /// The last event that has changed the network, if nothing was done about deadlocks since.
    last_act: Option<u32>,
}

/// A deadlock that was found.
#[derive(Debug)]
struct Found {
    deadlock: Deadlock,
    /// The last event before it.
    after: Option<u32>,
    broken: Option<Time>,
    /// The event that has broken it, if it was one.
    broken_by: Option<u32>,
}

/// Why a packet was dropped on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    Watchdog,
    Drain,
    Event,
    NoRoute,
}

impl Mitigating {
    pub(crate) fn new(config: &Config) -> Mitigating {
        let mitigation = &config.mitigation;
        let is_acting =
            matches!(mitigation.watchdog, Watchdog::On(config) if config.action != Action::Alert);
        Mitigating {
            is_watching: mitigation.watchdog != Watchdog::Off,
            is_acting,
            is_breaking: is_acting
                || mitigation.recovery != Recovery::None
                || !config.changes.is_empty(),
            open: 0,
            found: Vec::new(),
            trips: Vec::new(),
            last_event: None,
            last_act: None,
        }
    }

    pub(crate) fn episodes(&self) -> Vec<Episode> {
        let episodes = self.found.iter().map(|found| Episode {
            found: found.deadlock.time,
            cycle: found.deadlock.cycle.clone(),
            broken: found.broken,
            after_event: found.after,
            broken_by_event: found.broken_by,
        });
        episodes.collect()
    }

    /// Notes that an event has changed the network.
    pub(super) fn note_change(&mut self, event: u32) {
        (self.last_event, self.last_act) = (Some(event), Some(event));
    }

    /// The cycles of the deadlocks that were found and are not broken.
    pub(super) fn open_cycles(&self) -> Vec<Vec<EgressQueue>> {
        let open = self.found.iter().filter(|found| found.broken.is_none());
        open.map(|found| found.deadlock.cycle.clone()).collect()
    }

    /// Whether a deadlock that was found is still unbroken.
    pub(crate) fn is_stuck(&self) -> bool {
        self.found.iter().any(|found| found.broken.is_none())
    }

    /// Whether `queue` is on the cycle of a known, unbroken deadlock.
    fn is_on_open_cycle(&self, queue: EgressQueue) -> bool {
        let mut open = self.found.iter().filter(|found| found.broken.is_none());
        open.any(|found| found.deadlock.cycle.contains(&queue))
    }
}

impl Simulator<'_> {
    /// Accounts for a packet that did not fit where it arrived.
    #[cold]
    pub(super) fn lose(&mut self, index: usize, packet: Packet, overrun: Overrun) {
        let End { node, port, .. } = self.fabric.ends[index];
        let size = packet.size();
        let flow = self.forget(packet.tag, size);
        add(&mut self.tally.losses.overrun, size);
        let Overrun { held, buffer, pool } = overrun;
        let loss =
            Loss { time: self.now, node, port, class: packet.class, flow, held, buffer, pool };
        self.tally.lose(Some(loss));
    }

    /// Removes a packet that is no longer on its way; returns its flow.
    pub(super) fn forget(&mut self, tag: Tag, size: Bytes) -> FlowId {
        let flow = tag.flow();
        if !tag.is_answer() {
            self.flows[flow.index()].lost += size;
            self.served.lose(self.now, flow, size);
            self.stopping.gone += size;
        }
        self.forget_note(tag);
        flow
    }

    /// Accounts for a packet that was dropped on purpose.
    pub(super) fn account(&mut self, node: NodeId, dropped: Dropped<Tag>, cause: Cause) {
        let size = dropped.size;
        self.forget(dropped.packet, size);
        self.tally.losses.add(cause, size);
        match cause {
            Cause::Drain | Cause::Event | Cause::NoRoute => {}
            Cause::Watchdog => {
                let queue = EgressQueue { node, port: dropped.egress, class: dropped.class };
                let trip = self.mitigating.trips.iter_mut().rev().find(|trip| trip.queue == queue);
                let trip = trip.expect("only tripped queues drop");
                add(&mut trip.dropped, size);
            }
        }
    }

    /// Drops the packets that wait in the tripped queues of a switch.
    #[cold]
    pub(super) fn drop_tripped(&mut self, node: NodeId) {
        loop {
            let Node::Switch(switch) = &mut self.fabric.nodes[node.index()] else {
                unreachable!("asked by the caller");
            };
            let Some(dropped) = switch.poll_dropped(self.now) else {
                return;
            };
            self.account(node, dropped, Cause::Watchdog);
            self.serve_switch(node);
        }
    }

    /// Records the storms that begin or end at a switch.
    #[cold]
    pub(super) fn note_trips(&mut self, node: NodeId) {
        loop {
            let Node::Switch(switch) = &mut self.fabric.nodes[node.index()] else {
                unreachable!("asked by the caller");
            };
            let Some(notice) = switch.poll_watchdog() else {
                return;
            };
            let queue = EgressQueue { node, port: notice.egress, class: notice.class };
            let trips = &mut self.mitigating.trips;
            if notice.is_storm {
                trips.push(Trip {
                    queue,
                    time: self.now,
                    restored: None,
                    dropped: Lost::default(),
                });
                if self.mitigating.is_acting {
                    self.mitigating.last_act = None;
                    self.break_episodes(queue);
                }
            } else {
                let trip = trips.iter_mut().rev().find(|trip| trip.queue == queue);
                trip.expect("a queue is restored after it has tripped").restored = Some(self.now);
            }
        }
    }

    /// Looks for a deadlock through the queues of a port that are stopped while packets wait.
    pub(super) fn look_for_deadlock_at(&mut self, node: NodeId, port: PortId, mut stopped: u8) {
        while stopped != 0 {
            let class = Class(stopped.trailing_zeros() as u8);
            stopped &= stopped - 1;
            self.look_for_deadlock(EgressQueue { node, port, class });
        }
    }

    pub(super) fn look_for_deadlock(&mut self, queue: EgressQueue) {
        if let Some(away) = &mut self.away {
            // A part does not see enough: the search over all parts is made between windows.
            away.is_suspicious = true;
            return;
        }
        if self.tally.deadlock.is_none() {
            if let Some(deadlock) = self.detector.check(self.now, &self.fabric, queue) {
                self.open_first_episode(deadlock);
            }
        } else if self.mitigating.is_breaking {
            self.look_for_another(queue);
        }
    }

    /// Looks for a further deadlock: one that shares a queue with a known cycle is that one, grown.
    fn look_for_another(&mut self, queue: EgressQueue) {
        if self.mitigating.is_on_open_cycle(queue) {
            return;
        }
        if let Some(deadlock) = self.detector.check(self.now, &self.fabric, queue) {
            let mut cycle = deadlock.cycle.iter();
            if !cycle.any(|queue| self.mitigating.is_on_open_cycle(*queue)) {
                self.open_episode(deadlock);
            }
        }
    }

    /// Records the deadlock that the run is judged by.
    pub(super) fn open_first_episode(&mut self, deadlock: Deadlock) {
        self.tally.deadlock = Some(deadlock.clone());
        self.open_episode(deadlock);
    }

    fn open_episode(&mut self, deadlock: Deadlock) {
        let index = self.mitigating.found.len() as u32;
        self.mitigating.open += usize::from(self.mitigating.is_breaking);
        let after = self.mitigating.last_event;
        self.mitigating.found.push(Found { deadlock, after, broken: None, broken_by: None });
        if let Recovery::Drain { delay } = self.config.mitigation.recovery {
            let due = self.now.saturating_add(delay);
            self.queue.push_whole(Event::new(due, Kind::Recover, index));
        }
    }

    /// Drains the first queue of a cycle that has something to drop.
    #[cold]
    pub(super) fn on_recover(&mut self, index: usize) {
        let found = &self.mitigating.found[index];
        if found.broken.is_some() {
            return;
        }
        let cycle = found.deadlock.cycle.clone();
        for queue in cycle {
            let mut is_moved = false;
            loop {
                let Node::Switch(switch) = &mut self.fabric.nodes[queue.node.index()] else {
                    unreachable!("a deadlock is of switches");
                };
                let Some(dropped) = switch.drain(self.now, queue.port, queue.class) else {
                    break;
                };
                is_moved = true;
                self.account(queue.node, dropped, Cause::Drain);
                self.serve_switch(queue.node);
                self.queue.leave(queue.node);
            }
            if is_moved {
                self.mitigating.last_act = None;
                self.break_episodes(queue);
                return;
            }
        }
        // All heads stand behind frames that are being sent, which is soon over.
        let due = self.now.saturating_add(Span::us(1));
        self.queue.push_whole(Event::new(due, Kind::Recover, index as u32));
    }

    /// Records that a frame of a deadlocked queue was sent.
    #[cold]
    pub(super) fn note_movement(&mut self, index: usize, transmit: Transmit<Tag>) {
        if let Transmit::Data { class, .. } = transmit {
            let End { node, port, .. } = self.fabric.ends[index];
            self.break_episodes(EgressQueue { node, port, class });
        }
    }

    /// Closes the deadlocks whose cycles `queue`, which moves, is on. What stood behind them may be
    /// stuck in a cycle of its own, which no event has touched since.
    pub(super) fn break_episodes(&mut self, queue: EgressQueue) {
        let mut members = Vec::new();
        for found in &mut self.mitigating.found {
            if found.broken.is_none() && found.deadlock.cycle.contains(&queue) {
                found.broken = Some(self.now);
                found.broken_by = self.mitigating.last_act;
                self.mitigating.open -= 1;
                members.extend(found.deadlock.members.iter().copied());
            }
        }
        for member in members {
            self.look_for_deadlock(member);
        }
    }
}

impl Losses {
    /// Counts a packet that was dropped on purpose, or because of an event.
    pub(super) fn add(&mut self, cause: Cause, size: Bytes) {
        let lost = match cause {
            Cause::Watchdog => &mut self.watchdog,
            Cause::Drain => &mut self.drain,
            Cause::Event => &mut self.event,
            Cause::NoRoute => &mut self.no_route,
        };
        add(lost, size);
    }
}

pub(super) fn add(lost: &mut Lost, size: Bytes) {
    lost.packets += 1;
    lost.bytes += size;
}
