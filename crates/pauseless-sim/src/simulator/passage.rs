//! The passage of a packet through a switch: by which egress, in which class, and whether at all.

use pauseless_core::class_map::{Carried, ClassMap, Passage};
use pauseless_core::id::{Class, PortId};
use pauseless_core::switch::Arrival;

use super::Simulator;
use crate::config::{Config, Flow, Reaction};
use crate::fabric::{End, Node, Packet};
use crate::tag::Tag;

/// Whether packets keep their class and have no TTL, so that these need not be checked.
pub(super) fn is_plain(config: &Config) -> bool {
    let is_mortal = |flow: &Flow| flow.ttl < Flow::TTL_NONE;
    config.classes == ClassMap::Same && !config.flows.iter().any(is_mortal)
}

impl Simulator<'_> {
    pub(super) fn on_switch_arrival(&mut self, index: usize, packet: Packet) {
        let Packet { tag, class, .. } = packet;
        let size = packet.size();
        let End { node, port, .. } = self.fabric.ends[index];
        let route = &self.routes[tag.flow().index()];
        let group = if tag.is_answer() { route.answers } else { route.group };
        let hash = if self.order.is_none() { route.hash } else { self.hash_of(tag, route.hash) };
        let egress = match self.egress_of(node, group, hash, packet) {
            Ok(egress) => egress,
            Err(why) if self.changing.is_some() => return self.drop_at_switch(index, packet, why),
            Err(_) => unreachable!("routes were checked before the run"),
        };
        let (tag, leaving) = if self.is_plain {
            (tag, class)
        } else {
            match self.pass(index, packet, egress) {
                Some(passed) => passed,
                None => return self.expire(index, packet),
            }
        };
        let Node::Switch(switch) = &mut self.fabric.nodes[node.index()] else {
            unreachable!("asked by the caller");
        };
        let arrival = Arrival { packet: tag, size, class, egress, leaving };
        let joined = switch.handle_arrival(self.now, port, arrival);
        if let (Some(listening), Ok(_)) = (&mut self.listening, &joined) {
            let end = self.fabric.end_index(node, egress);
            listening.join(self.now, end, size);
        }
        match joined {
            Ok(None) => {}
            Ok(Some(feedback)) => self.notify(node, tag, feedback),
            Err(overrun) => self.lose(index, packet, overrun),
        }
        self.drain_switch(node);
        self.look_behind(index, class);
    }

    /// The packet as it leaves by `egress`, and its class there; `None` if it is dropped: its TTL
    /// is decremented here, and it is dropped at zero.
    #[inline(never)]
    fn pass(&self, index: usize, packet: Packet, egress: PortId) -> Option<(Tag, Class)> {
        let Packet { tag, class, .. } = packet;
        let flow = &self.config.flows[tag.flow().index()];
        //= ttl 1.3 drop
        if !tag.is_answer() && u16::from(tag.hops()) + 1 >= flow.ttl {
            return None;
        }
        let End { node, port, .. } = self.fabric.ends[index];
        let passage = Passage { node, ingress: port, egress };
        let label = match (tag.is_answer(), flow.reaction) {
            // A class of their own is also the label of feedback packets.
            (true, Reaction::Controlled { class, .. }) if class != flow.class => class.0,
            _ => flow.label,
        };
        let hops = tag.hops();
        let carried = Carried { label, class, hops };
        let topology = &self.config.topology;
        let leaving = if topology.is_host(topology.port(node, egress).peer) {
            self.config.classes.last(passage, carried)
        } else {
            self.config.classes.next(passage, carried)
        };
        Some((tag.passed(), leaving?))
    }

    /// Drops a packet on purpose at a switch, which does not count as a loss.
    #[cold]
    fn expire(&mut self, index: usize, packet: Packet) {
        let (tag, size) = (packet.tag, packet.size());
        let End { node, port, .. } = self.fabric.ends[index];
        if let Node::Switch(switch) = &mut self.fabric.nodes[node.index()] {
            switch.handle_expired(port, packet.class, size);
        }
        self.tally.expired_packets += 1;
        self.tally.expired_bytes += size;
        if !tag.is_answer() {
            self.flows[tag.flow().index()].expired += size;
            self.served.expire(self.now, tag.flow(), size);
            self.stopping.gone += size;
            self.settle_expired(tag.flow());
        }
        self.forget_note(tag);
        if self.config.ingress.is_sharing() {
            // Until it arrived, it might have let its sender continue.
            self.look_for_deadlock_around(node);
        }
    }
}
