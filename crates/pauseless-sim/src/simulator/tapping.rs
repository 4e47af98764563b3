//! Shows frames to the tap of a run.

use super::Simulator;
use crate::fabric::{End, Frame};
use crate::tag::Content;
use crate::tap::{Direction, Seen, Spot, Tap};

impl<'c> Simulator<'c> {
    /// Shows every frame from here on to `tap`.
    pub fn set_tap(&mut self, tap: Box<dyn Tap + 'c>) {
        self.tapped.0 = Some(tap);
        self.way = super::plain::Way::Long;
    }

    /// Shows a frame to the tap, which is there.
    #[cold]
    pub(super) fn show(&mut self, index: usize, direction: Direction, frame: Frame) {
        let End { node, port, .. } = self.fabric.ends[index];
        let seen = match frame {
            Frame::Control(control) => Seen::Control(control),
            Frame::Data(packet) => match packet.tag.content() {
                Content::Data { sequence, is_marked } => Seen::Data {
                    flow: packet.tag.flow(),
                    sequence,
                    is_marked,
                    size: packet.size(),
                    class: packet.class,
                },
                Content::Trailed { place, is_marked } => Seen::Data {
                    flow: packet.tag.flow(),
                    sequence: self.trails.get(place).sequence,
                    is_marked,
                    size: packet.size(),
                    class: packet.class,
                },
                Content::Answer { place } => Seen::Answer {
                    flow: packet.tag.flow(),
                    feedback: self.answers.get(place),
                    class: packet.class,
                },
            },
        };
        let spot = Spot { node, port, direction };
        if let Some(tap) = &mut self.tapped.0 {
            tap.see(self.now, spot, seen);
        }
    }
}
