//! The frames that wires lose.

use pauseless_core::deadlock::Network;
use pauseless_core::flow_control::Control;
use pauseless_core::unit::Bytes;

use super::Simulator;
use super::mitigate::add;
use crate::change::Noise;
use crate::config::Config;
use crate::fabric::{End, Fabric, Node, Packet};
use crate::rng::{Purpose, Stream};

/// Draws which frames wires lose.
#[derive(Clone, Debug)]
pub(crate) struct WireLosses {
    /// The losses of each end; empty if nothing is ever lost.
    ends: Vec<EndLosses>,
    /// Whether control frames may be lost.
    hits_control: bool,
}

/// The losses on the wire to an end.
#[derive(Clone, Debug)]
struct EndLosses {
    /// The loss rate, in units of 2^-64, where it is the same for frames of all lengths.
    units: u64,
    /// The loss rate by an event, which replaces the other one.
    noise: Option<Noise>,
    stream: Stream,
}

/// A share in units of 2^-64. A share of 1 becomes the largest number, which loses all but one frame in
/// 2^64.
fn units(share: f64) -> u64 {
    (share * 2.0f64.powi(64)) as u64
}

impl WireLosses {
    pub(super) fn new(config: &Config, fabric: &Fabric) -> WireLosses {
        let wire_loss = &config.wire_loss;
        let mut ends = Vec::new();
        let has_noise = config.changes.has_noise();
        if wire_loss.share > 0.0 || !wire_loss.ports.is_empty() || has_noise {
            let stream = |number| Stream::new(config.seed, Purpose::WireLoss, number);
            let all = (0..fabric.port_count() as u64).map(stream);
            let units_of_all = units(wire_loss.share);
            ends =
                all.map(|stream| EndLosses { units: units_of_all, noise: None, stream }).collect();
            for (node, port, share) in &wire_loss.ports {
                ends[fabric.end_index(*node, *port)].units = units(*share);
            }
        }
        WireLosses { ends, hits_control: config.changes.has_noise_on_control() }
    }

    #[inline]
    pub(super) fn is_any(&self) -> bool {
        !self.ends.is_empty()
    }

    /// Lets the wire to an end lose frames from now on, instead of what it has lost so far.
    pub(super) fn set(&mut self, index: usize, noise: Noise) {
        self.ends[index].noise = Some(noise);
    }

    /// Draws whether the frame of `size` bytes that arrives at an end is lost.
    pub(super) fn loses(&mut self, index: usize, size: Bytes) -> bool {
        let EndLosses { units: usual, noise, stream } = &mut self.ends[index];
        let rate = noise.map_or(*usual, |noise| units(noise.loss(size)));
        rate > 0 && stream.next_u64() < rate
    }

    /// Draws whether the control frame that arrives at an end is lost.
    #[inline]
    pub(super) fn loses_control(&mut self, index: usize) -> bool {
        self.hits_control && self.draws_control(index)
    }

    #[cold]
    fn draws_control(&mut self, index: usize) -> bool {
        let EndLosses { noise, stream, .. } = &mut self.ends[index];
        let rate = match noise {
            Some(noise) if noise.hits_control => units(noise.loss(Control::SIZE)),
            _ => 0,
        };
        rate > 0 && stream.next_u64() < rate
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
