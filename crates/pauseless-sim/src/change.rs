//! What happens to the network during a run: links and switches that fail and return, tables that
//! change, wires that begin to lose frames.

use std::sync::Arc;

use pauseless_core::id::{NodeId, PortId};
use pauseless_core::table::ForwardingTable;
use pauseless_core::unit::{Bytes, Time};

/// The changes of a run.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// The changes in the order in which they happen, which is that of their times.
    pub list: Vec<Change>,
    /// The forwarding tables that switches change to; [`What::Table`] has their numbers.
    pub tables: Vec<Arc<ForwardingTable>>,
    /// What each event is called in reports, by its number.
    pub names: Vec<String>,
}

/// A change of the network at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// When it happens, after everything else at that instant but the start of flows.
    pub time: Time,
    /// The number of the event that it is a part of, for reports: a flapping link is one event with many
    /// changes, and so is a failure with all that switches learn of it.
    pub event: u32,
    /// What happens to the network then.
    pub what: What,
}

/// What happens to the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    /// The link of this port fails. The frames on its wires and what waits for it at both ends are lost,
    /// and so is what comes for it from now on. Both ends forget what flow control has told them.
    LinkDown(NodeId, PortId),
    /// The link of this port returns, with flow control as at the beginning; what still is in the buffers
    /// that it leads to counts.
    LinkUp(NodeId, PortId),
    /// A switch fails, and all of its links with it.
    SwitchDown(NodeId),
    /// A switch returns, with its links except for those that have failed by themselves. It has the table
    /// that it was given last.
    SwitchUp(NodeId),
    /// A switch forwards by another table from now on; packets that wait keep their egress.
    Table(NodeId, NewTable),
    /// The wires of a link, in both directions, lose frames from now on.
    Noise(NodeId, PortId, Noise),
}

/// The table that a switch changes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewTable {
    /// The table of the configuration.
    First,
    /// The one with this number among [`Changes::tables`].
    Other(u32),
    /// No table: every packet is dropped.
    Nothing,
}

/// How many frames a wire loses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Noise {
    /// The share of frames that are lost, whatever their length.
    pub share: f64,
    /// The share of bits that are wrong, independently of each other; a frame with a wrong bit is lost.
    pub bit_error_rate: f64,
    /// Whether control frames are lost, too.
    pub hits_control: bool,
}

impl Noise {
    /// The probability that a frame of `size` bytes is lost.
    pub fn loss(&self, size: Bytes) -> f64 {
        // By squaring, because the result is the same on every machine then.
        let (mut survival, mut square) = (1.0 - self.share, 1.0 - self.bit_error_rate);
        let mut bits = size.get().saturating_mul(8);
        while bits > 0 && square < 1.0 {
            if bits & 1 == 1 {
                survival *= square;
            }
            square *= square;
            bits >>= 1;
        }
        1.0 - survival
    }
}

impl Changes {
    /// Whether nothing changes during the run.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether any wire begins to lose frames.
    pub fn has_noise(&self) -> bool {
        self.list.iter().any(|change| matches!(change.what, What::Noise(..)))
    }

    /// Whether any wire begins to lose control frames.
    pub fn has_noise_on_control(&self) -> bool {
        let hits =
            |change: &Change| matches!(change.what, What::Noise(_, _, it) if it.hits_control);
        self.list.iter().any(hits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_survives_if_every_bit_does() {
        let noise = Noise { bit_error_rate: 1e-6, ..Noise::default() };
        let expected = 1.0 - (1.0f64 - 1e-6).powi(12_000);
        assert!((noise.loss(Bytes::new(1_500)) - expected).abs() < 1e-12);
        let both = Noise { share: 0.5, ..noise };
        let expected = 1.0 - 0.5 * (1.0 - expected);
        assert!((both.loss(Bytes::new(1_500)) - expected).abs() < 1e-12);
        assert_eq!(Noise { share: 0.25, ..Noise::default() }.loss(Bytes::mb(1)), 0.25);
    }
}
