//! Proofs for people and as JSON.

use super::prove::Proof;
use super::text::table;
use pauseless_text::quantity::count;
use pauseless_text::records;
use pauseless_text::unit::Quantity;

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
        let less = if proof.is_tight() { "loses".to_string() } else { "holds".to_string() };
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
    let header = [header.map(String::from)].into_iter();
    table(&mut text, header.chain(rows));
    text
}

fn verdict(proof: &Proof) -> String {
    match proof.lost {
        0 => "nothing lost".to_string(),
        lost => format!("{} packets lost", count(lost)),
    }
}

records! {
    /// What came of the worst case on one kind of link.
    pub struct ProofRecord(proof: &Proof) {
        /// The flow control that was run.
        flow_control: &'static str = proof.scheme.name();
        /// The rate of the link.
        rate_bps: u64 = proof.latency.line.as_bps();
        /// The propagation delay of the link.
        wire_ps: u64 = proof.latency.wire.as_ps();
        /// How long the far end took to obey.
        processing_ps: u64 = proof.latency.processing.as_ps();
        /// The number of lossless classes of the port.
        classes: u8 = proof.latency.classes;
        /// The planned buffer of the port and class.
        buffer_bytes: u64 = proof.buffer.get();
        /// The most that the buffer held.
        high_water_bytes: u64 = proof.high_water.get();
        /// What was always free of the buffer.
        slack_bytes: u64 = proof.slack().get();
        /// The phase of the frames on the way back in which it held that much.
        worst_phase_ps: u64 = proof.phase.as_ps();
        /// How many phases were tried.
        phases: u64 = proof.phases;
        /// Packets lost over all phases.
        lost_packets: u64 = proof.lost;
        /// Packets lost in the worst phase with two MTU less of buffer.
        lost_packets_with_two_mtu_less: u64 = proof.lost_with_less;
    }
}
