//! What may still arrive after a PAUSE has become due, term by term: as the TTL note counts it, as
//! the switch of this project needs it, and as SONiC calculates it.

use std::fmt;

use pauseless_core::derive::Latency;
use pauseless_core::flow_control::{Control, pfc};
use pauseless_core::unit::{Bytes, Rate, Span};

/// How long a sender may take to obey a PAUSE that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// As long as 802.3 allows at the speed of the link.
    Standard,
    /// This number of quanta at any speed.
    Quanta(u32),
    /// This length of time at any speed.
    Fixed(Span),
}

/// Why a link has no reaction limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownRate(pub Rate);

impl fmt::Display for UnknownRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "802.3 gives no reaction limit at {}; say --quanta N or --processing T", self.0)
    }
}

impl std::error::Error for UnknownRate {}

impl Reaction {
    /// t_proc on a link of rate `line`.
    pub fn span(self, line: Rate) -> Result<Span, UnknownRate> {
        let quanta = match self {
            Reaction::Fixed(span) => return Ok(span),
            Reaction::Quanta(quanta) => quanta,
            Reaction::Standard => standard_quanta(line).ok_or(UnknownRate(line))?,
        };
        Ok(line.tx_span(pfc::QUANTUM * u64::from(quanta)))
    }
}

/// The reaction limit of 802.3 in quanta; for a rate between two, that of the faster one, which
/// is more bytes.
pub fn standard_quanta(line: Rate) -> Option<u32> {
    pauseless_lint::headroom::standard_quanta(line.as_bps().div_ceil(1_000_000))
}

/// What a term of the headroom is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// The name of what takes the room.
    pub name: &'static str,
    /// Why the term is needed, or why not here.
    pub why: &'static str,
    /// In equation 15 of the TTL note.
    pub equation: Bytes,
    /// In the bound that is proved here.
    pub bound: Bytes,
}

/// The headroom of one (ingress port, class).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headroom {
    /// In the order in which they occur.
    pub terms: Vec<Term>,
    /// The sum of the terms in equation 15.
    pub equation: Bytes,
    /// Their sum in the bound that is proved here, [`Latency::pfc_headroom`].
    pub bound: Bytes,
}

impl Headroom {
    /// The terms on this link.
    ///
    /// Each term of time is the difference of two sums rounded up, so that the terms add up to
    /// the bound to the byte.
    //= ttl 2.1 eq 15
    pub fn new(latency: &Latency) -> Headroom {
        let Latency { mtu, wire, processing, .. } = *latency;
        let line = latency.fastest();
        let frame = latency.slowest().tx_span(mtu + latency.overhead);
        let frames = latency.slowest().tx_span((mtu + latency.overhead) * 2);
        let mut sum = Span::ZERO;
        let mut next = |span: Span| {
            let before = line.bytes_in_up(sum);
            sum = sum + span;
            line.bytes_in_up(sum) - before
        };
        let way = next(frame);
        let there = next(wire);
        let reaction = next(processing);
        let begun = next(frames.saturating_sub(frame));
        let back = next(wire);
        let message = Control::SIZE;
        let messages = (Control::SIZE + latency.overhead) * u64::from(latency.classes);
        let term = |name, why, (equation, bound)| Term { name, why, equation, bound };
        let both = |bytes| (bytes, bytes);
        let terms = vec![
            term("crossing", CROSSING, (Bytes::ZERO, mtu)),
            term("frame in the way", WAY, both(way)),
            term("PAUSE sent", SENT, (message, messages)),
            term("wire there", WIRE, both(there)),
            term("PAUSE received", RECEIVED, (message, Bytes::ZERO)),
            term("reaction", REACTION, both(reaction)),
            term("frame begun", "it is not interrupted", both(begun)),
            term("wire back", WIRE, both(back)),
        ];
        let sum = |of: fn(&Term) -> Bytes| terms.iter().map(of).sum::<Bytes>();
        let (equation, bound) = (sum(|term| term.equation), sum(|term| term.bound));
        assert_eq!(bound, latency.pfc_headroom(), "the terms of the bound");
        Headroom { terms, equation, bound }
    }
}

const CROSSING: &str = "XOFF is seen crossed when a packet has arrived whole";
const WAY: &str = "the PAUSE waits for a frame that has begun";
const SENT: &str = "64 B; here those of all classes, which may go first";
const WIRE: &str = "what the wire holds: rate times delay";
const REACTION: &str = "sent until the PAUSE is obeyed: rate times t_proc";
const RECEIVED: &str = "not here: it arrives while it is sent";

/// What SONiC's scripts reckon with beside the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cells {
    /// A packet takes a whole number of these.
    pub cell: Bytes,
    /// The largest lossless frame.
    pub mtu_lossless: Bytes,
    /// How many of a hundred packets are small.
    pub small_percent: u32,
}

/// SONiC's headroom on a link: with cells, light at 1.98e8 m/s, and in whole KiB.
///
/// The delays of MAC, PHY and gearbox are those of the vendor's table and left out here.
pub fn sonic(latency: &Latency, cells: Cells) -> Bytes {
    const LIGHT: f64 = 1.98e8;
    const PACKET_MIN: f64 = 64.0;
    let cell = cells.cell.get() as f64;
    let factor =
        if cell > 2.0 * PACKET_MIN { cell / PACKET_MIN } else { 2.0 * cell / (1.0 + cell) };
    let small = f64::from(cells.small_percent) / 100.0;
    let occupancy = 1.0 - small + small * factor;
    let metres = latency.wire.as_ps() as f64 / PS_PER_METRE as f64;
    let cable = 2.0 * metres * latency.line.as_bps() as f64 / LIGHT / 8.0;
    let reaction = latency.line.bytes_in_up(latency.processing).get() as f64;
    let delay = latency.mtu.get() as f64 + cable + reaction;
    let bytes = cells.mtu_lossless.get() as f64 + delay * occupancy;
    Bytes::kib((bytes / 1024.0).ceil() as u64)
}

/// 500 ns for 100 m, as in the TTL note.
pub const PS_PER_METRE: u64 = 5_000;

/// The delay of a cable.
pub fn cable(metres: u64) -> Span {
    Span::ps(metres * PS_PER_METRE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latency(gbps: u64, metres: u64, reaction: Reaction) -> Latency {
        let line = Rate::gbps(gbps);
        Latency {
            mtu: Bytes::new(1_500),
            line,
            wire: cable(metres),
            processing: reaction.span(line).unwrap(),
            classes: 8,
            jitter: Span::ZERO,
            overhead: Bytes::ZERO,
            clock_ppb: 0,
        }
    }

    /// 40 Gb/s, 300 m, MTU 1500: 21,968 bytes with 60 quanta, 25,680 with the 118 of 40 Gb/s.
    //= ttl 2.1 eq 15 type=test
    //= 802.3 31B.3.7 reaction type=test
    #[test]
    fn the_example_of_the_note() {
        let note = Headroom::new(&latency(40, 300, Reaction::Quanta(60)));
        assert_eq!(note.equation, Bytes::new(21_968));
        let standard = Headroom::new(&latency(40, 300, Reaction::Standard));
        assert_eq!(standard.equation, Bytes::new(25_680));
        // One packet more, two messages less, and one for each of eight classes.
        assert_eq!(note.bound, Bytes::new(21_968 + 1_500 - 2 * 64 + 8 * 64));
        let terms = note.terms.iter().map(|term| term.equation.get());
        let expected = [0, 1_500, 64, 7_500, 64, 3_840, 1_500, 7_500];
        assert_eq!(Vec::from_iter(terms), expected);
    }

    /// At rates at which a byte is no whole number of picoseconds, too.
    #[test]
    fn the_terms_add_up_to_the_bound() {
        for mbps in [56_000, 14_062, 109_375, 3] {
            for wire in [0, 1, 777, 1_234_567] {
                let latency = Latency {
                    line: Rate::mbps(mbps),
                    wire: Span::ps(wire),
                    ..latency(40, 0, Reaction::Standard)
                };
                Headroom::new(&latency);
            }
        }
    }

    #[test]
    fn rates_have_the_limit_of_the_next_faster_one() {
        assert_eq!(standard_quanta(Rate::gbps(56)), Some(394));
        assert_eq!(standard_quanta(Rate::gbps(40)), Some(118));
        assert_eq!(standard_quanta(Rate::gbps(800)), Some(905));
        assert_eq!(standard_quanta(Rate::gbps(1_600)), None);
        let unknown = Reaction::Standard.span(Rate::gbps(1_600)).unwrap_err();
        assert!(unknown.to_string().contains("--quanta"), "{unknown}");
    }

    /// By hand: a cable of 37,879 B, 9,100 B and 394 quanta, times 0.5 + 0.5 * 192 / 97, and 1,024 B
    /// are 108,572 B, or 107 KiB.
    #[test]
    fn the_form_of_sonic() {
        let mut link = latency(100, 300, Reaction::Standard);
        link.mtu = Bytes::new(9_100);
        let cells =
            Cells { cell: Bytes::new(96), mtu_lossless: Bytes::new(1_024), small_percent: 50 };
        assert_eq!(sonic(&link, cells), Bytes::kib(107));
    }
}
