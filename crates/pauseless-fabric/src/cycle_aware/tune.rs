//! What each scheme makes of "late" and "early".

use pauseless_core::derive::{self, Derivation};
use pauseless_core::flow_control::{FlowControl, cbfc, pfc};
use pauseless_core::unit::Bytes;

/// K: as long as a buffer on a cycle holds less than this, no sender is stopped or slowed down.
pub fn late(control: &FlowControl, derivation: &Derivation) -> Bytes {
    let mtu = derivation.latency.mtu;
    match control {
        FlowControl::None | FlowControl::Outside(_) => Bytes::ZERO,
        // It must fall below XON before the sender goes on.
        FlowControl::Pfc(config) => config.xon,
        FlowControl::Cbfc(config) => {
            config.capacity.saturating_sub(cbfc::BLOCK * cbfc::blocks(mtu))
        }
        FlowControl::GfcBuffer(config) => config.b1,
        FlowControl::GfcTime(config) => config.mapping.b0,
        FlowControl::GfcConceptual(config) => config.mapping.b0,
    }
}

/// The least that a port must be able to hold for the scheme to work on its link.
pub fn least(control: &FlowControl, derivation: &Derivation) -> Bytes {
    let latency = &derivation.latency;
    let frames = latency.mtu * 3;
    match control {
        FlowControl::None | FlowControl::Outside(_) => Bytes::ZERO,
        FlowControl::Pfc(_) => latency.pfc_headroom() + frames,
        // It works with a few frames, although not at the rate of the link.
        FlowControl::Cbfc(_) => latency.mtu * 4,
        FlowControl::GfcBuffer(_) => derive::buffer_width(latency) + frames,
        FlowControl::GfcTime(config) => derive::time_width(latency, config.period) + frames,
        FlowControl::GfcConceptual(_) => derive::conceptual_width(latency) + frames,
    }
}

/// The scheme with thresholds so low that the port never holds more than `most`, nor more than it
/// would hold anyway; and what it then holds at most.
pub fn early(control: &FlowControl, derivation: &Derivation, most: Bytes) -> (FlowControl, Bytes) {
    let latency = &derivation.latency;
    // A GFC queue stays below B_m and two frames.
    let bm = most.saturating_sub(latency.mtu * 2);
    match *control {
        FlowControl::None | FlowControl::Outside(_) => (*control, most),
        FlowControl::Pfc(config) => {
            let headroom = latency.pfc_headroom();
            let xoff = most.saturating_sub(headroom).min(config.xoff);
            let xon = pfc::default_xon(xoff, latency.mtu).max(Bytes::new(1));
            let tuned = pfc::Config { xoff, xon: xon.min(config.xon), ..config };
            (FlowControl::Pfc(tuned), xoff + headroom)
        }
        FlowControl::Cbfc(config) => {
            let capacity = most.min(config.capacity);
            let tuned = cbfc::Config { capacity, ..config };
            (FlowControl::Cbfc(tuned), capacity)
        }
        FlowControl::GfcBuffer(config) => {
            let bm = bm.min(config.bm);
            let b1 = bm.saturating_sub(derive::buffer_width(latency));
            let mut tuned = derivation.gfc_buffer(Some(bm), Some(b1.min(config.b1)));
            tuned.refresh = config.refresh;
            (FlowControl::GfcBuffer(tuned), bm + latency.mtu * 2)
        }
        FlowControl::GfcTime(config) => {
            let bm = bm.min(config.mapping.bm);
            let b0 = bm.saturating_sub(derive::time_width(latency, config.period));
            let b0 = b0.min(config.mapping.b0);
            let mut tuned = derivation.gfc_time(Some(bm), Some(b0), Some(config.period));
            tuned.measure = config.measure;
            (FlowControl::GfcTime(tuned), bm + latency.mtu * 2)
        }
        FlowControl::GfcConceptual(config) => {
            let bm = bm.min(config.mapping.bm);
            let b0 = bm.saturating_sub(derive::conceptual_width(latency)).min(config.mapping.b0);
            let mut tuned = derivation.gfc_conceptual(Some(bm), Some(b0));
            tuned.delay = config.delay;
            (FlowControl::GfcConceptual(tuned), bm + latency.mtu * 2)
        }
    }
}
