//! What switches write into packets, and where that is kept until it is back at its source.

use pauseless_core::congestion::Feedback;
use pauseless_core::congestion::telemetry::{Echo, Hop};
use pauseless_core::switch::Transmit;

use super::Simulator;
use crate::fabric::{End, Node};
use crate::tag::{Content, Tag};

impl Simulator<'_> {
    /// A packet is about to leave an egress, which writes into it.
    pub(super) fn write_hop(&mut self, index: usize, transmit: Transmit<Tag>) {
        let Transmit::Data { packet, .. } = transmit else {
            return;
        };
        let Content::Trailed { place, .. } = packet.content() else {
            return;
        };
        let End {
            node,
            port,
            line,
            sent,
            ..
        } = self.fabric.ends[index];
        let Node::Switch(switch) = &self.fabric.nodes[node.index()] else {
            return;
        };
        let hop = Hop {
            time: self.now,
            sent,
            queue: switch.counted(port),
            line,
        };
        self.trails.push(place, hop);
    }

    /// A packet has come to its end: what is kept about it is not needed any more.
    pub(super) fn forget_note(&mut self, tag: Tag) {
        match tag.content() {
            Content::Data { .. } => {}
            Content::Trailed { place, .. } => {
                self.trails.remove(place);
            }
            Content::Answer { place } => {
                let feedback = self.answers.remove(place);
                self.forget_echo(feedback);
            }
        }
    }

    fn forget_echo(&mut self, feedback: Feedback) {
        if feedback.echo() != Echo::NONE {
            self.trails.remove(feedback.echo().0);
        }
    }
}
