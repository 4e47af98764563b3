//! The telemetry that switches write into packets, until it is back at their sources.

use pauseless_core::congestion::Feedback;
use pauseless_core::congestion::telemetry::{Echo, Hop};
use pauseless_core::switch::{Switch, Transmit};
use pauseless_core::unit::Time;

use super::Simulator;
use crate::fabric::{End, Node};
use crate::tag::{Content, Tag, Trail, Trails};

/// Lets an egress write its record into a packet that is about to leave.
pub(super) fn write_hop(
    trails: &mut Trails,
    switch: &Switch<Tag>,
    now: Time,
    end: &End,
    packet: Tag,
) {
    if let Content::Trailed { place, .. } = packet.content() {
        let End { port, line, sent, .. } = *end;
        trails.push(place, Hop { time: now, sent, queue: switch.counted(port), line: line.rate() });
    }
}

impl Simulator<'_> {
    /// Lets a switch write its record into a frame that is about to leave by an end, if that is data.
    pub(super) fn write_hop(&mut self, index: usize, transmit: Transmit<Tag>) {
        let end = &self.fabric.ends[index];
        if let Transmit::Data { packet, .. } = transmit
            && let Node::Switch(switch) = &self.fabric.nodes[end.node.index()]
        {
            write_hop(&mut self.trails, switch, self.now, end, packet);
        }
    }

    /// The feedback or telemetry of a packet that goes to another part of the run.
    pub(super) fn take_note(&mut self, tag: Tag) -> (Option<Feedback>, Option<Trail>) {
        match tag.content() {
            Content::Data { .. } => (None, None),
            Content::Trailed { place, .. } => (None, Some(self.trails.remove(place))),
            Content::Answer { place } => {
                let feedback = self.answers.remove(place);
                let Echo(echo) = feedback.echo();
                let trail = (Echo(echo) != Echo::NONE).then(|| self.trails.remove(echo));
                (Some(feedback), trail)
            }
        }
    }

    /// Stores the feedback or telemetry of a packet from another part; the packet has a new tag.
    pub(super) fn keep_note(
        &mut self,
        tag: Tag,
        said: Option<Feedback>,
        trail: Option<Box<Trail>>,
    ) -> Tag {
        let place = trail.map(|trail| self.trails.keep(*trail));
        match (said, place) {
            (None, None) => tag,
            (None, Some(place)) => tag.moved(place),
            (Some(feedback), place) => {
                let feedback = place.map_or(feedback, |place| feedback.echoing(Echo(place)));
                tag.moved(self.answers.insert(feedback))
            }
        }
    }

    /// Frees the feedback or telemetry of a packet that has come to its end.
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
