//! The check that no byte is unaccounted for.

use pauseless_core::unit::Bytes;

use super::Simulator;
use crate::fabric::{Frame, Node};

impl Simulator<'_> {
    /// Asserts that every byte a host has sent was delivered, refused or lost, has expired, was dropped
    /// because of an event or for want of a route, waits in a node, is held back by its target or is on a
    /// wire.
    pub(super) fn assert_conserved(&self) {
        let mut sent = self.tally.notice_bytes;
        let mut in_network = Bytes::ZERO;
        for node in &self.fabric.nodes {
            match node {
                Node::Host(host) => sent += host.sent(),
                Node::Switch(switch) => in_network += switch.inside(),
            }
        }
        for end in &self.fabric.ends {
            for frame in self.fabric.sky.frames(end) {
                if let Frame::Data(packet) = frame {
                    in_network += packet.size();
                }
            }
        }
        in_network += self.receivers.waiting();
        if let Some(order) = &self.order {
            in_network += order.held();
        }
        let delivered: Bytes = self.flows.iter().map(|flow| flow.delivered).sum();
        let dropped = self.tally.losses.total().bytes
            + self.tally.losses.wire.bytes
            + self.tally.losses.event.bytes
            + self.tally.losses.no_route.bytes
            + self.tally.expired_bytes
            + self.tally.refused.bytes;
        assert_eq!(
            sent,
            delivered + self.tally.answered_bytes + dropped + in_network,
            "bytes are conserved"
        );
    }
}
