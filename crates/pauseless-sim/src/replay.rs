//! The state of all ports at regular instants, so that a run can be watched afterwards.
//!
//! How long a run lasts is not known before it ends, because a deadlock may stop it. So instants
//! begin close together, and whenever there are too many every second one is forgotten.

use pauseless_core::deadlock::Network;
use pauseless_core::flow_control::Upstream;
use pauseless_core::id::{Class, NodeId};
use pauseless_core::unit::{Bytes, Span, Time};

use crate::config::{Config, Replay};
use crate::fabric::Fabric;
use crate::outcome::{self, PortStates};
use crate::record::port_of;

/// The recording so far.
#[derive(Debug)]
pub(crate) struct Recording {
    instants_max: usize,
    step: Span,
    past: outcome::Replay,
}

impl Recording {
    /// An empty recording; `None` if nothing is to be recorded.
    pub(crate) fn new(config: &Config, port_count: usize) -> Option<Recording> {
        let Replay::On { instants_max } = config.replay else {
            return None;
        };
        let instants_max = instants_max.max(4);
        // A run that lasts to its end then has nearly all of them.
        let finest = config.duration.as_ps() / (u64::from(instants_max - 1) * FINER) + 1;
        Some(Recording {
            instants_max: instants_max as usize,
            step: Span::ps(finest),
            past: outcome::Replay {
                times: Vec::new(),
                ports: vec![PortStates::default(); port_count],
            },
        })
    }

    /// When to record the next instant.
    pub(crate) fn next(&self) -> Time {
        Time::ZERO + self.step * self.past.times.len() as u64
    }

    /// Records the state of every port. `part` has the part of the run that a node is in,
    /// `packet_max` is the frame that a sender would like to send.
    pub(crate) fn take<'f>(
        &mut self,
        now: Time,
        part: &dyn Fn(NodeId) -> &'f Fabric,
        packet_max: Bytes,
    ) {
        record(&mut self.past, now, part, packet_max);
        if self.past.times.len() >= self.instants_max {
            self.thin();
        }
    }

    /// The whole recording, with the state at the end of the run.
    pub(crate) fn finish(self, now: Time, fabric: &Fabric, packet_max: Bytes) -> outcome::Replay {
        let mut all = self.past;
        if all.times.last().is_none_or(|last| *last < now) {
            record(&mut all, now, &|_| fabric, packet_max);
        }
        all
    }

    /// Drops every second instant; the first stays.
    fn thin(&mut self) {
        self.step = self.step * 2;
        keep_even(&mut self.past.times);
        for port in &mut self.past.ports {
            keep_even(&mut port.held);
            keep_even(&mut port.allowed);
            keep_even(&mut port.sent);
        }
    }
}

fn record<'f>(
    replay: &mut outcome::Replay,
    now: Time,
    part: &dyn Fn(NodeId) -> &'f Fabric,
    packet_max: Bytes,
) {
    replay.times.push(now);
    for (index, states) in replay.ports.iter_mut().enumerate() {
        // All parts know which node a port belongs to.
        let fabric = part(part(NodeId(0)).ends[index].node);
        let end = &fabric.ends[index];
        let port = port_of(fabric, end.node, end.port);
        let classes = || (0..fabric.class_count()).map(|class| Class(class as u8));
        let held = classes().map(|class| port.held(class).get()).max();
        let allowed = classes().map(|class| {
            if port.is_stopped(now, class, packet_max) {
                return 0;
            }
            // A watchdog may release what the far end would hold; then nothing holds it back.
            let Some(rate) = port.upstream(class).rate(now) else {
                return 1_000;
            };
            // A sender that is not stopped moves, however slowly.
            let share = rate.as_bps().saturating_mul(1_000) / end.line.rate().as_bps();
            share.clamp(1, 1_000) as u16
        });
        let held = u32::try_from(held.unwrap_or(0)).unwrap_or(u32::MAX);
        states.held.push(held);
        states.allowed.push(allowed.min().unwrap_or(1_000));
        states.sent.push(end.sent.get());
    }
}

fn keep_even<T>(values: &mut Vec<T>) {
    let mut index = 0;
    values.retain(|_| {
        index += 1;
        index % 2 == 1
    });
}

/// How much closer together instants are at first than they can stay if the run lasts to its end.
const FINER: u64 = 16;
