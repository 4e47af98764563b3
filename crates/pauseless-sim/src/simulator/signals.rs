//! Control frames between their arrival and their effect, and those that use no wire.

use pauseless_core::flow_control::Control;
use pauseless_core::unit::Time;

use super::Simulator;
use crate::fabric::{End, Node};

impl Simulator<'_> {
    /// Schedules the effect of a control frame at `due`.
    pub(super) fn schedule_signal(&mut self, index: usize, due: Time, control: Control) {
        let end = &mut self.fabric.ends[index];
        let controls = &mut self.fabric.controls;
        // Frames are processed in order, however long each takes.
        let due = controls.back(&end.signals).map_or(due, |(last, _)| due.max(*last));
        if controls.push_back(&mut end.signals, (due, control)) {
            self.queue.push(end.place(), self.config.hardware.ties.signal(), due);
        }
    }

    /// Sends the control frames of a port that travel outside its wire.
    #[cold]
    pub(super) fn send_out_of_band(&mut self, index: usize) {
        let End { node, port, peer, away, .. } = self.fabric.ends[index];
        let is_cut = away != End::HERE;
        loop {
            let next = match &mut self.fabric.nodes[node.index()] {
                Node::Switch(switch) => switch.poll_out_of_band(self.now, port),
                Node::Host(host) => host.poll_out_of_band(self.now),
            };
            let Some((control, delay)) = next else {
                break;
            };
            if self.config.hardware.is_out_of_band() {
                self.tally.count(control);
            }
            if is_cut {
                self.post_signal(index, self.now + delay, control)
            } else {
                self.schedule_signal(peer as usize, self.now + delay, control)
            }
        }
        // The timer of a message that is sent every so often starts when the last one has left.
        let wanted = match &self.fabric.nodes[node.index()] {
            Node::Switch(switch) => switch.poll_timeout(port),
            Node::Host(host) => host.poll_timeout(),
        };
        self.arm(index, wanted);
    }
}
