//! The numbers of the TTL note, section 2, recomputed and set beside the printed ones.

use pauseless_core::derive::Latency;
use pauseless_core::unit::{Bytes, Rate, Span};
use schemars::JsonSchema;
use serde::Serialize;

use super::Kind;
use super::headroom::{Headroom, Reaction, cable};

/// A number of the note and ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PaperRecord {
    /// The name of the quantity.
    pub quantity: &'static str,
    /// How it is computed.
    pub formula: &'static str,
    /// The value that the formula gives here, in bytes.
    pub ours_bytes: u64,
    /// The value that the note prints.
    pub printed: &'static str,
    /// Why the two differ.
    pub note: &'static str,
}

/// Recomputes section 2 for a switch of 32 ports of 40 Gb/s, 300 m, MTU 1500 B and 8 classes.
//= ttl 2 examples
pub fn paper() -> Vec<PaperRecord> {
    const PORTS: u64 = 32;
    const CLASSES: u64 = 8;
    let note = Headroom::new(&latency(Reaction::Quanta(60)));
    let standard = Headroom::new(&latency(Reaction::Standard));
    let work = latency(Reaction::Standard).line.bytes_in_up(Span::us(50)) * PORTS;
    let row = |quantity, formula, (ours, printed): (Bytes, _), note| PaperRecord {
        quantity,
        formula,
        ours_bytes: ours.get(),
        printed,
        note,
    };
    let all = |bytes: Bytes| bytes * (PORTS * CLASSES);
    vec![
        row("b, 60 quanta", EQ, (note.equation, "21,968 B"), ""),
        row("b, 118 quanta", EQ, (standard.equation, ""), QUANTA),
        row("b as proved here", BOUND, (note.bound, ""), CROSSING),
        row("b as proved here, 118 quanta", BOUND, (standard.bound, ""), ""),
        row(
            "headroom of a switch",
            "n k b, with b of 22 KB",
            (all(Bytes::kb(22)), "5,632 KB"),
            "per switch, not per priority",
        ),
        row("headroom of a switch", "n k b", (all(note.equation), ""), "without rounding b"),
        row("buffer without sharing", "n k C RTT", (work * CLASSES, "64 MB"), ""),
        row("buffer with sharing", "n C RTT", (work, ""), ""),
    ]
}

fn latency(reaction: Reaction) -> Latency {
    let kind = Kind { line: Rate::gbps(40), wire: cable(300), classes: 8 };
    let processing = reaction.span(kind.line).expect("40 Gb/s has a limit");
    kind.latency(Bytes::new(1_500), processing)
}

const EQ: &str = "2 (MTU + PFC + r t_wire) + r t_proc";
const BOUND: &str = "C tau + MTU + 64 B per class";
const QUANTA: &str = "60 quanta are the limit of 10 Gb/s, 118 that of 40 Gb/s";
const CROSSING: &str =
    "one MTU for the packet that crosses XOFF; 64 B for each of 8 classes, not 2";

#[cfg(test)]
mod tests {
    use super::*;

    //= ttl 2 examples type=test
    //= ttl 2.1 switch type=test
    //= ttl 2.2 work type=test
    #[test]
    fn the_numbers_of_the_note() {
        let ours = paper().into_iter().map(|row| row.ours_bytes);
        let expected =
            [21_968, 25_680, 23_852, 27_564, 5_632_000, 5_623_808, 64_000_000, 8_000_000];
        assert_eq!(Vec::from_iter(ours), expected);
    }
}
