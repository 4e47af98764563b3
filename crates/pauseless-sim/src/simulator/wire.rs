//! The frames that wires lose.

use pauseless_core::deadlock::Network;

use super::Simulator;
use super::mitigate::add;
use crate::config::Config;
use crate::fabric::{End, Fabric, Node, Packet};
use crate::rng::{Purpose, Stream};

/// Draws which frames wires lose.
#[derive(Clone, Debug)]
pub(crate) struct WireLosses {
    /// The loss rate of each end, in units of 2^-64, and its random stream; empty if nothing is
    /// lost.
    ends: Vec<(u64, Stream)>,
}

impl WireLosses {
    pub(super) fn new(config: &Config, fabric: &Fabric) -> WireLosses {
        let wire_loss = &config.wire_loss;
        let mut ends = Vec::new();
        if wire_loss.share > 0.0 || !wire_loss.ports.is_empty() {
            // A share of 1 becomes the largest number, which loses all but one frame in 2^64.
            let units = |share: f64| (share * 2.0f64.powi(64)) as u64;
            let stream = |number| Stream::new(config.seed, Purpose::WireLoss, number);
            let all = (0..fabric.port_count() as u64).map(stream);
            ends = all.map(|it| (units(wire_loss.share), it)).collect();
            for (node, port, share) in &wire_loss.ports {
                ends[fabric.end_index(*node, *port)].0 = units(*share);
            }
        }
        WireLosses { ends }
    }

    #[inline]
    pub(super) fn is_any(&self) -> bool {
        !self.ends.is_empty()
    }

    /// Draws whether the frame that arrives at an end is lost.
    pub(super) fn loses(&mut self, index: usize) -> bool {
        let (units, stream) = &mut self.ends[index];
        *units > 0 && stream.next_u64() < *units
    }
}

impl Simulator<'_> {
    /// Accounts for a frame that was lost on its wire.
    #[cold]
    pub(super) fn lose_on_wire(&mut self, index: usize, packet: Packet) {
        let size = packet.size();
        self.forget(packet.tag, size);
        add(&mut self.tally.losses.wire, size);
        let End { node, .. } = self.fabric.ends[index];
        if self.config.ingress.is_sharing()
            && matches!(self.fabric.nodes[node.index()], Node::Switch(_))
        {
            // Until it arrived, it might have let its sender continue.
            self.look_for_deadlock_around(node);
        }
    }
}
