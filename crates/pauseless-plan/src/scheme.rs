//! The schemes of a plan, the least buffer that each needs, and its thresholds in a given one.

use pauseless_core::derive::{self, Derivation, Latency};
use pauseless_core::flow_control::{FlowControl, cbfc};
use pauseless_core::unit::Bytes;
use pauseless_sim::config::Ingress;
use pauseless_text::named;

named! {
    /// A flow control that is planned for.
    #[derive(PartialOrd, Ord)]
    pub enum Scheme {
        /// Priority flow control: PAUSE frames at a threshold.
        Pfc = "pfc",
        /// Credit-based flow control, as of InfiniBand.
        Cbfc = "cbfc",
        /// GFC with a message on every stage crossing.
        GfcBuffer = "gfc-buffer",
        /// GFC with a message every period.
        GfcTime = "gfc-time",
        /// GFC with continuous feedback, which no wire has.
        GfcConceptual = "gfc-conceptual",
    }
}

impl Scheme {
    /// The least buffer of one (ingress port, class) with which the scheme keeps its promise and a
    /// link that nobody holds back runs at its rate.
    pub fn least(self, latency: &Latency) -> Bytes {
        let room = latency.mtu * ROOM_FRAMES;
        let guard = latency.mtu * derive::GUARD_FRAMES;
        match self {
            Scheme::Pfc => latency.pfc_headroom() + room,
            // Credits are correct from one frame on; fewer than this only slow the link down.
            Scheme::Cbfc => cbfc::BLOCK * cbfc::blocks(latency.mtu),
            Scheme::GfcBuffer => guard + derive::buffer_width(latency) + room,
            Scheme::GfcTime => {
                let period = cbfc::default_period(latency.line);
                guard + derive::time_width(latency, period) + room
            }
            Scheme::GfcConceptual => guard + derive::conceptual_width(latency) + room,
        }
    }

    /// The scheme in a buffer of at least [`Scheme::least`].
    pub fn set(self, latency: &Latency, buffer: Bytes) -> Set {
        let derivation = Derivation::new(*latency, buffer);
        let control = self.control(&derivation);
        assert_eq!(derivation.check(&control), Ok(()), "a plan is safe");
        Set { derivation, ingress: Ingress { control, buffer } }
    }

    /// The largest safe thresholds.
    pub(super) fn control(self, derivation: &Derivation) -> FlowControl {
        match self {
            Scheme::Pfc => FlowControl::Pfc(derivation.pfc()),
            Scheme::Cbfc => FlowControl::Cbfc(derivation.cbfc()),
            Scheme::GfcBuffer => FlowControl::GfcBuffer(derivation.gfc_buffer(None, None)),
            Scheme::GfcTime => FlowControl::GfcTime(derivation.gfc_time(None, None, None)),
            Scheme::GfcConceptual => {
                FlowControl::GfcConceptual(derivation.gfc_conceptual(None, None))
            }
        }
    }
}

/// Below its first threshold a queue has room for this many frames, so that XON lies above zero
/// and a packet that only passes through stops no sender.
pub const ROOM_FRAMES: u64 = 3;

/// The thresholds of one (ingress port, class).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Set {
    /// The link and the buffer that the thresholds were derived from.
    pub derivation: Derivation,
    /// Buffer and thresholds, as a simulation takes them.
    pub ingress: Ingress,
}

#[cfg(test)]
mod tests {
    use super::*;
    use pauseless_core::unit::{Rate, Span};

    /// From 1 to 400 Gb/s and from back to back to 2 km: the least is safe, and no byte less
    /// leaves the same room.
    #[test]
    fn the_least_is_safe() {
        for gbps in [1, 10, 40, 100, 400] {
            for (wire, processing) in [(0, 0), (100, 500), (10_000, 85_000)] {
                let latency = Latency {
                    mtu: Bytes::new(1_500),
                    line: Rate::gbps(gbps),
                    wire: Span::ns(wire),
                    processing: Span::ns(processing),
                    classes: 8,
                    jitter: Span::ZERO,
                    overhead: Bytes::ZERO,
                    clock_ppb: 0,
                };
                for scheme in Scheme::ALL {
                    let set = scheme.set(&latency, scheme.least(&latency));
                    let first = match set.ingress.control {
                        FlowControl::Pfc(config) => config.xoff,
                        FlowControl::GfcBuffer(config) => config.b1,
                        FlowControl::GfcTime(config) => config.mapping.b0,
                        FlowControl::GfcConceptual(config) => config.mapping.b0,
                        _ => continue,
                    };
                    assert_eq!(first, latency.mtu * ROOM_FRAMES, "{scheme:?}");
                }
            }
        }
    }
}
