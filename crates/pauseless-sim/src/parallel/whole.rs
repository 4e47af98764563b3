//! All parts of a run as one: how they are divided, read together and merged.

use std::sync::{Arc, MutexGuard};

use pauseless_core::deadlock::{EgressQueue, Network};
use pauseless_core::id::{FlowId, NodeId, PortId};
use pauseless_core::switch::Switch;
use pauseless_core::unit::Bytes;

use super::partition::Partition;
use crate::event::Where;
use crate::fabric::{End, Fabric};
use crate::progress::FlowState;
use crate::simulator::Simulator;
use crate::tag::Tag;

/// Divides a run that has not begun. Events that depend on the whole network stay in `whole`.
pub(super) fn split<'c>(whole: &mut Simulator<'c>, partition: &Partition) -> Vec<Simulator<'c>> {
    let owner = |node: NodeId| usize::from(partition.owner[node.index()]);
    let empty = |part| {
        let place = |node| if owner(node) == part { Where::Here } else { Where::Elsewhere };
        whole.empty_part(partition.count, partition.window, place)
    };
    let mut parts = Vec::from_iter((0..partition.count).map(empty));
    for node in (0..partition.owner.len()).map(|node| NodeId(node as u32)) {
        let part = &mut parts[owner(node)];
        part.fabric.take_node(&mut whole.fabric, node);
        part.queue.take_node(&mut whole.queue, node);
        for index in part.fabric.ends_of(node) {
            let peer = part.fabric.ends[index].peer as usize;
            let there = owner(whole.fabric.ends[peer].node);
            let is_cut = there != owner(node);
            part.fabric.ends[index].away = if is_cut { there as u16 } else { End::HERE };
        }
    }
    parts
}

/// All parts, held at once.
pub(super) struct Whole<'p, 'c> {
    pub parts: Vec<MutexGuard<'p, Simulator<'c>>>,
    pub owner: Arc<[u16]>,
}

impl<'c> Whole<'_, 'c> {
    /// The part that a node is in.
    pub(super) fn part(&self, node: NodeId) -> &Simulator<'c> {
        &self.parts[usize::from(self.owner[node.index()])]
    }

    /// Delivers all frames that parts have sent to each other.
    pub(super) fn exchange(&mut self, from: usize) {
        for to in 0..self.parts.len() {
            let Some(away) = &mut self.parts[from].away else {
                unreachable!("a part has a mailbox");
            };
            // These frames are accounted for below.
            away.take_earliest();
            let mut messages = std::mem::take(&mut away.outbox[to]);
            for message in messages.drain(..) {
                self.parts[to].accept(message);
            }
            // The buffer is used again.
            if let Some(away) = &mut self.parts[from].away {
                away.outbox[to] = messages;
            }
        }
    }

    fn fabric(&self, node: NodeId) -> &Fabric {
        &self.part(node).fabric
    }

    /// The state of a flow, without what was lost on its way.
    pub(super) fn flow(&self, index: usize) -> FlowState {
        let config = self.parts[0].config;
        let flow = &config.flows[index];
        FlowState {
            start: self.part(flow.source).flows[index].start,
            finish: self.part(config.end_of(flow)).flows[index].finish,
            ..self.part(flow.target).flows[index]
        }
    }
}

/// All parts as the deadlock detector sees them. No frame is between two parts when it looks.
impl Network for Whole<'_, '_> {
    type Packet = Tag;

    fn switch(&self, node: NodeId) -> Option<&Switch<Tag>> {
        self.fabric(node).switch(node)
    }

    fn far_end(&self, node: NodeId, port: PortId) -> (NodeId, PortId) {
        self.fabric(node).far_end(node, port)
    }

    fn port_count(&self) -> usize {
        self.parts[0].fabric.port_count()
    }

    fn port_index(&self, node: NodeId, port: PortId) -> usize {
        self.parts[0].fabric.port_index(node, port)
    }

    fn class_count(&self) -> usize {
        self.parts[0].fabric.class_count()
    }

    fn egress_queues(&self) -> impl Iterator<Item = EgressQueue> {
        // Each part has placeholders, which look like hosts, for the nodes of others.
        self.parts.iter().flat_map(|part| part.fabric.egress_queues())
    }

    fn in_flight(&self, queue: EgressQueue) -> Bytes {
        let (far, _) = self.far_end(queue.node, queue.port);
        self.fabric(far).in_flight(queue)
    }

    fn flow(&self, node: NodeId, packet: Tag) -> Option<FlowId> {
        self.fabric(node).flow(node, packet)
    }
}
