//! Packets of a flow that take several paths: how switches hash them, and how targets and sources handle
//! what comes in any order.

use pauseless_core::congestion::Feedback;
use pauseless_core::congestion::telemetry::Echo;
use pauseless_core::entropy::PathNews;
use pauseless_core::id::NodeId;

use super::Simulator;
use crate::fabric::{Node, Packet};
use crate::reorder::Arrived;
use crate::tag::{Content, Tag};

impl Simulator<'_> {
    /// The hash of a packet of a flow with the hash `flow`. An acknowledgement takes the entropy of the
    /// packet that it answers.
    #[inline(never)]
    pub(super) fn hash_of(&self, tag: Tag, flow: u64) -> u64 {
        if !self.config.transport.entropy.is_spraying() {
            return flow;
        }
        let place = match tag.content() {
            Content::Trailed { place, .. } => place,
            Content::Answer { place } => match self.answers.get(place).echo() {
                Echo::NONE => return flow,
                Echo(place) => place,
            },
            Content::Data { .. } => return flow,
        };
        self.trails.get(place).entropy.mix(flow)
    }

    /// As [`Simulator::consume`], where packets may come in any order.
    #[inline(never)]
    pub(super) fn consume_in_any_order(&mut self, node: NodeId, packet: Packet) {
        match packet.tag.content() {
            Content::Answer { place } => {
                self.learn_of_path(node, packet, place);
                let mut at = self.open_host(node);
                at.host.consume(at.now(), packet.class, packet.size());
                let accepted = at.accept(packet);
                at.close();
                if let Err(rare) = accepted {
                    self.accept_rarely(node, rare);
                }
            }
            Content::Trailed { place, .. } => {
                let trail = self.trails.get(place);
                let arrived = Arrived {
                    flow: packet.tag.flow(),
                    sequence: trail.sequence,
                    sending: trail.sending,
                    size: packet.size(),
                };
                if let Some(order) = &mut self.order {
                    order.on_arrival(self.now, arrived);
                }
                if let Node::Host(host) = &mut self.fabric.nodes[node.index()] {
                    host.consume(self.now, packet.class, packet.size());
                }
                self.accept_at_edge(node, packet);
            }
            Content::Data { .. } => unreachable!("every packet of such a run has a note"),
        }
    }

    /// Tells the source of a flow what an acknowledgement says of the path of its packet.
    fn learn_of_path(&mut self, node: NodeId, packet: Packet, place: u32) {
        let Feedback::Ack { is_marked, echo, .. } = self.answers.get(place) else {
            return;
        };
        if echo == Echo::NONE {
            return;
        }
        let entropy = self.trails.get(echo.0).entropy;
        let news = if is_marked { PathNews::Marked } else { PathNews::Good };
        if let Node::Host(host) = &mut self.fabric.nodes[node.index()] {
            host.handle_path(self.now, packet.tag.flow(), entropy, news);
        }
    }
}
