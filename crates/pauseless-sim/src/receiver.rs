//! Hosts that take packets out of their ingress buffer slowly, or not at all for a while.

use std::collections::VecDeque;

use pauseless_core::id::NodeId;
use pauseless_core::unit::{Bytes, Time};

use crate::config::Receiver;
use crate::fabric::Packet;

/// All slow hosts and the packets that they have not taken yet.
#[derive(Debug)]
pub(crate) struct Receivers {
    receivers: Vec<(Receiver, VecDeque<Packet>)>,
}

impl Receivers {
    pub(crate) fn new(receivers: &[Receiver]) -> Receivers {
        let receivers = receivers.iter().map(|receiver| (receiver.clone(), VecDeque::new()));
        Receivers { receivers: receivers.collect() }
    }

    /// The number of the slow host `node`, if it is one.
    #[inline]
    pub(crate) fn of(&self, node: NodeId) -> Option<usize> {
        self.receivers.iter().position(|(receiver, _)| receiver.host == node)
    }

    /// Adds a packet; returns whether it is the only one, so that an event must be scheduled for
    /// it.
    pub(crate) fn push(&mut self, position: usize, packet: Packet) -> bool {
        let (_, waiting) = &mut self.receivers[position];
        waiting.push_back(packet);
        waiting.len() == 1
    }

    /// When the first packet will have been taken, if ever. A packet is taken at the pace that
    /// holds when its turn comes.
    pub(crate) fn due(&self, position: usize, now: Time) -> Option<Time> {
        let (receiver, waiting) = &self.receivers[position];
        let size = waiting.front()?.size();
        let mut start = now;
        loop {
            let later = receiver.steps.iter().position(|(at, _)| *at > start);
            let current = later.unwrap_or(receiver.steps.len()).checked_sub(1);
            if let Some(rate) = current.and_then(|step| receiver.steps[step].1) {
                return Some(start + rate.tx_span(size));
            }
            start = receiver.steps[later?].0;
        }
    }

    /// Removes the first packet.
    pub(crate) fn pop(&mut self, position: usize) -> (NodeId, Packet) {
        let (receiver, waiting) = &mut self.receivers[position];
        (receiver.host, waiting.pop_front().expect("a packet waits for the host to take it"))
    }

    /// Takes over the packets that wait in another part of the run.
    pub(crate) fn add(&mut self, part: &mut Receivers) {
        for ((_, waiting), (_, there)) in self.receivers.iter_mut().zip(&mut part.receivers) {
            waiting.append(there);
        }
    }

    /// The bytes that were not taken yet.
    pub(crate) fn waiting(&self) -> Bytes {
        self.receivers.iter().flat_map(|(_, waiting)| waiting).map(|packet| packet.size()).sum()
    }
}
