//! Signals that are an idealisation and use no wire.

use super::Simulator;
use crate::fabric::{End, Node};

impl Simulator<'_> {
    /// Sends what a port says without using its wire.
    #[cold]
    pub(super) fn send_signals(&mut self, index: usize) {
        let End {
            node, port, peer, ..
        } = self.fabric.ends[index];
        loop {
            let next = match &mut self.fabric.nodes[node.index()] {
                Node::Switch(switch) => switch.poll_out_of_band(self.now, port),
                Node::Host(host) => host.poll_out_of_band(self.now),
            };
            let Some((control, delay)) = next else {
                return;
            };
            if self.config.hardware.is_out_of_band() {
                self.tally.count(control);
            }
            self.schedule_signal(peer as usize, self.now + delay, control);
        }
    }
}
