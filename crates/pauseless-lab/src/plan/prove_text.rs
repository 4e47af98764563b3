//! Proofs for people and as JSON.

use schemars::JsonSchema;
use serde::Serialize;

use super::prove::Proof;
use super::text::table;
use crate::report::quantity::count;
use crate::scenario::unit::Quantity;

/// A table of all proofs.
pub fn report(proofs: &[Proof]) -> String {
    let mut text = String::from(
        "the worst case, packet by packet: nothing leaves the buffer, frames on the way back\n",
    );
    let header = [
        "scheme",
        "link",
        "planned",
        "high water",
        "slack",
        "worst phase",
        "2 MTU less",
        "verdict",
    ];
    let rows = proofs.iter().map(|proof| {
        let latency = &proof.latency;
        let link = format!("{}, {}", latency.line.exact(), latency.wire.exact());
        let less = match proof.is_tight() {
            true => "loses".to_string(),
            false => "holds".to_string(),
        };
        [
            proof.scheme.name().to_string(),
            link,
            format!("{} B", count(proof.buffer.get())),
            format!("{} B", count(proof.high_water.get())),
            format!("{} B", count(proof.slack().get())),
            format!("{} ({} tried)", proof.phase.exact(), proof.phases),
            less,
            verdict(proof),
        ]
    });
    table(
        &mut text,
        std::iter::once(header.map(String::from)).chain(rows),
    );
    text
}

fn verdict(proof: &Proof) -> String {
    match proof.lost {
        0 => "nothing lost".to_string(),
        lost => format!("{} packets lost", count(lost)),
    }
}

/// A proof.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProofRecord {
    /// Of which scheme.
    pub flow_control: &'static str,
    /// The rate of the link.
    pub rate_bps: u64,
    /// Its delay.
    pub wire_ps: u64,
    /// How long the far end took to obey.
    pub processing_ps: u64,
    /// Lossless classes.
    pub classes: u8,
    /// The planned buffer.
    pub buffer_bytes: u64,
    /// The most that it held.
    pub high_water_bytes: u64,
    /// What that left free.
    pub slack_bytes: u64,
    /// The phase of the frames on the way back in which it held that much.
    pub worst_phase_ps: u64,
    /// How many phases were tried.
    pub phases: u64,
    /// Packets lost over all phases.
    pub lost_packets: u64,
    /// Packets lost in the worst phase with two MTU less of buffer.
    pub lost_packets_with_two_mtu_less: u64,
}

/// The record of a proof.
pub fn record(proof: &Proof) -> ProofRecord {
    ProofRecord {
        flow_control: proof.scheme.name(),
        rate_bps: proof.latency.line.as_bps(),
        wire_ps: proof.latency.wire.as_ps(),
        processing_ps: proof.latency.processing.as_ps(),
        classes: proof.latency.classes,
        buffer_bytes: proof.buffer.get(),
        high_water_bytes: proof.high_water.get(),
        slack_bytes: proof.slack().get(),
        worst_phase_ps: proof.phase.as_ps(),
        phases: proof.phases,
        lost_packets: proof.lost,
        lost_packets_with_two_mtu_less: proof.lost_with_less,
    }
}
