//! What is different when the ports of a switch share its memory.

use pauseless_core::id::{NodeId, PortId};

use super::Simulator;
use crate::fabric::Node;
use crate::outcome::EgressQueue;

impl Simulator<'_> {
    /// Looks for a deadlock through the queues that a switch has paused, after a packet has arrived
    /// there: it takes from what all of them may have, wherever it came from and wherever it goes.
    pub(super) fn look_for_deadlock_around(&mut self, node: NodeId) {
        let Simulator {
            fabric,
            detector,
            tally,
            now,
            ..
        } = self;
        let Node::Switch(switch) = &fabric.nodes[node.index()] else {
            return;
        };
        let memory = switch.memory().filter(|memory| memory.is_pausing());
        let Some(memory) = memory.filter(|_| tally.deadlock.is_none()) else {
            return;
        };
        // Where nobody is stopped everything drains.
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
        tally.deadlock = detector.check_any(*now, fabric, queues);
    }
}
