//! The search for deadlocks where the ports of a switch share its memory.

use pauseless_core::id::{NodeId, PortId};

use super::Simulator;
use crate::fabric::Node;
use crate::outcome::EgressQueue;

impl Simulator<'_> {
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
