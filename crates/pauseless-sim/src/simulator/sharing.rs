//! The search for deadlocks where a packet changes the prospects of more than one queue: where ports share
//! their memory, and in software switches, whose rings fill.

use pauseless_core::id::{NodeId, PortId};

use super::Simulator;
use crate::fabric::Node;
use crate::outcome::EgressQueue;

impl Simulator<'_> {
    /// Looks for a deadlock through the queues that send to a software switch, after its core may have
    /// filled a ring: there is less room for the FIFOs of other ingresses.
    pub(super) fn look_for_deadlock_above(&mut self, node: NodeId) {
        let Node::Switch(switch) = &self.fabric.nodes[node.index()] else {
            return;
        };
        let mut ports = (0..switch.port_count()).map(|port| PortId(port as u16));
        if ports.all(|port| switch.stopped(port) == 0) {
            return;
        }
        if let Some(away) = &mut self.away {
            away.is_suspicious = true;
            return;
        }
        for index in self.fabric.ends_of(node) {
            let peer = &self.fabric.ends[self.fabric.ends[index].peer as usize];
            let (node, port) = (peer.node, peer.port);
            let Node::Switch(above) = &self.fabric.nodes[node.index()] else {
                continue;
            };
            let stopped = above.stopped(port);
            if stopped != 0 {
                self.look_for_deadlock_at(node, port, stopped);
            }
        }
    }

    /// Looks for a deadlock through the queues that a switch has paused, after a packet has arrived
    /// there: it reduces the shares of all of them, wherever it came from and wherever it goes.
    pub(super) fn look_for_deadlock_around(&mut self, node: NodeId) {
        if let Some(away) = &mut self.away {
            away.is_suspicious = true;
            return;
        }
        let is_first = self.tally.deadlock.is_none();
        if !is_first && !self.mitigating.is_breaking {
            return;
        }
        let Simulator { fabric, detector, now, .. } = self;
        let Node::Switch(switch) = &fabric.nodes[node.index()] else {
            return;
        };
        let memory = switch.memory().filter(|memory| memory.is_pausing());
        let Some(memory) = memory else {
            return;
        };
        // Where no queue is stopped everything drains.
        let ports = (0..switch.port_count()).map(|port| PortId(port as u16));
        if ports.map(|port| switch.stopped(port)).all(|bits| bits == 0) {
            return;
        }
        let queues = memory.paused().map(|(port, class)| {
            let end = &fabric.ends[fabric.end_index(node, port)];
            let peer = &fabric.ends[end.peer as usize];
            let (node, port) = (peer.node, peer.port);
            EgressQueue { node, port, class }
        });
        if is_first {
            if let Some(deadlock) = detector.check_any(*now, fabric, queues) {
                self.open_first_episode(deadlock);
            }
            return;
        }
        // The first cycle that one search finds may be a known one, with a new one behind it.
        for queue in Vec::from_iter(queues) {
            self.look_for_deadlock(queue);
        }
    }
}
