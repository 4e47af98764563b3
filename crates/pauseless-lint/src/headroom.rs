//! Headroom in three bounds: what the cable alone holds, 802.1Q's worst case, and what SONiC's dynamic
//! buffer model calculates for Spectrum chips.

use pauseless_core::derive::Latency;
use pauseless_core::flow_control::pfc;
use pauseless_core::unit::{Bytes, Rate, Span};

use crate::switch::MadeFor;

/// What a cable holds there and back: nothing can be lossless with less.
pub fn wire_bytes(of: MadeFor) -> u64 {
    (2.0 * of.metres as f64 * bits_per_second(of.speed) / (8.0 * LIGHT)) as u64
}

/// The headroom that 802.1Q's worst case needs for two lossless classes, as `pauseless plan` has it.
pub fn worst_case_bytes(of: MadeFor, mtu: u64) -> u64 {
    let line = Rate::mbps(of.speed.clamp(1, SPEED_MAX));
    let quanta = standard_quanta(of.speed).unwrap_or(QUANTA[QUANTA.len() - 1].quanta);
    let latency = Latency {
        mtu: Bytes::new(mtu.min(MTU_MAX)),
        line,
        wire: Span::ps(of.metres.min(METRES_MAX) * PS_PER_METRE),
        processing: line.tx_span(pfc::QUANTUM * u64::from(quanta)),
        classes: 2,
        jitter: Span::ZERO,
        overhead: Bytes::ZERO,
        clock_ppb: 0,
    };
    latency.pfc_headroom().get()
}

/// The reaction limit of 802.3 in quanta at a speed in Mb/s; for one between two of the table, that of
/// the faster one, which is more bytes.
//= 802.3 31B.3.7 reaction
pub fn standard_quanta(speed: u64) -> Option<u32> {
    QUANTA.iter().find(|row| speed <= row.speed).map(|row| row.quanta)
}

struct Reaction {
    speed: u64,
    quanta: u32,
}

const fn reaction(speed: u64, quanta: u32) -> Reaction {
    Reaction { speed, quanta }
}

/// Speeds in Mb/s. Those of 25, 50, 200, 400 and 800 Gb/s are what SONiC ships.
const QUANTA: [Reaction; 10] = [
    reaction(100, 1),
    reaction(1_000, 2),
    reaction(10_000, 60),
    reaction(25_000, 80),
    reaction(40_000, 118),
    reaction(50_000, 147),
    reaction(100_000, 394),
    reaction(200_000, 453),
    reaction(400_000, 905),
    reaction(800_000, 905),
];

/// A chip of Mellanox or NVIDIA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chip {
    /// The chip of switches 2xxx.
    Spectrum,
    /// The chip of switches 3xxx.
    Spectrum2,
    /// Switches 4xxx but the 4280 and 4700 with 400G lanes: still this chip.
    Spectrum3,
    /// Switches 5400 and 5600.
    Spectrum4,
    /// The chip of switches 564x.
    Spectrum5,
    /// The chip of switches 6xxx.
    Spectrum6,
}

impl Chip {
    /// The chip that SONiC calls by this name, such as `MELLANOX-SPECTRUM-3`.
    pub fn named(name: &str) -> Option<Chip> {
        let number = name.strip_prefix("MELLANOX-SPECTRUM")?;
        match number.trim_start_matches('-') {
            "" => Some(Chip::Spectrum),
            "2" => Some(Chip::Spectrum2),
            "3" => Some(Chip::Spectrum3),
            "4" => Some(Chip::Spectrum4),
            "5" => Some(Chip::Spectrum5),
            "6" => Some(Chip::Spectrum6),
            _ => None,
        }
    }

    /// The chip of a platform or SKU, such as `x86_64-mlnx_msn4600c-r0`, by the number in its name.
    pub fn of_platform(name: &str) -> Option<Chip> {
        let lower = name.to_ascii_lowercase();
        let at = lower.find("sn").map(|at| at + 2)?;
        let digits: String = lower[at..].chars().take_while(char::is_ascii_digit).collect();
        match digits.parse::<u32>().ok()? {
            2_000..3_000 => Some(Chip::Spectrum),
            3_000..4_000 => Some(Chip::Spectrum2),
            4_000..5_000 => Some(Chip::Spectrum3),
            5_640..5_650 => Some(Chip::Spectrum5),
            5_000..6_000 => Some(Chip::Spectrum4),
            6_000..7_000 => Some(Chip::Spectrum6),
            _ => None,
        }
    }

    /// Bytes of a cell of the packet memory.
    fn cell(self) -> u64 {
        match self {
            Chip::Spectrum => 96,
            Chip::Spectrum2 | Chip::Spectrum3 => 144,
            Chip::Spectrum4 | Chip::Spectrum5 => 192,
            Chip::Spectrum6 => 256,
        }
    }

    /// The reserved latency of a port, in KiB.
    fn latency_kib(self) -> u64 {
        if self == Chip::Spectrum6 { 42 } else { 19 }
    }

    /// Bytes that the chip adds whatever the port is.
    fn extra(self) -> u64 {
        if self == Chip::Spectrum6 { 18_432 } else { 0 }
    }

    /// Bytes for the delay of the tiles, which the larger chips are made of.
    fn tile(self, speed: u64) -> f64 {
        let has_tiles = matches!(self, Chip::Spectrum4 | Chip::Spectrum5);
        if has_tiles { 15.0 * speed as f64 / 1_000.0 } else { 0.0 }
    }
}

/// What the dynamic model knows of a port.
#[derive(Clone, Copy, Debug)]
pub struct DynamicPort {
    /// The chip of the switch.
    pub chip: Chip,
    /// The speed and the length of the cable.
    pub link: MadeFor,
    /// The largest frame of the port.
    pub mtu: u64,
    /// Lanes of the port: one of 8 needs twice the pipeline.
    pub lanes: usize,
    /// The largest lossless packet.
    pub lossless_mtu: u64,
    /// How many of a hundred packets are small.
    pub small_percent: u64,
    /// The delay of a gearbox, in ns: 400 in the SN3800.
    pub gearbox_ns: u64,
    /// Whether ports share their headroom.
    pub shares: bool,
}

/// What the dynamic model gives a lossless group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headroom {
    /// Bytes down to which a paused group drains.
    pub xon: u64,
    /// Bytes for what arrives after the PAUSE.
    pub xoff: u64,
    /// The bytes that are reserved for the group.
    pub size: u64,
}

/// The headroom that `buffer_headroom_mellanox.lua` calculates for a port.
pub fn dynamic(port: DynamicPort) -> Headroom {
    let DynamicPort { chip, link, mtu, lossless_mtu, small_percent, .. } = port;
    let (cell, small) = (chip.cell() as f64, small_percent as f64);
    // What a packet of 64 B wastes at worst, in packets; and on average, as the script has it.
    let waste =
        if cell > 128.0 { (cell / 64.0).ceil() } else { (2.0 * cell / (1.0 + cell)).ceil() };
    let mean = (small * 64.0 + (100.0 - small) * lossless_mtu as f64) / 100.0;
    let share = 64.0 / mean;
    let occupancy = 1.0 - share + share * waste;
    let wire = 2.0 * link.metres as f64 * bits_per_second(link.speed) / (8.0 * LIGHT);
    let gearbox = 2.0 * link.speed as f64 * port.gearbox_ns as f64 / 8_192.0;
    let obeys = match sonic_quanta(link.speed) {
        Some(quanta) => f64::from(quanta) * 64.0,
        None => DELAY_KIB * 1_024.0,
    };
    let way = mtu as f64 + wire + gearbox + 0.8 * 1_024.0 + obeys + chip.tile(link.speed);
    let is_wide = port.lanes == 8;
    let mut xoff = kib_up(lossless_mtu as f64 + occupancy * way) + chip.extra();
    if !port.shares && small_percent < 100 {
        let worst = kib_up(lossless_mtu as f64 + waste * way);
        if xoff + 2_048 < worst {
            xoff += 2_048;
        }
    }
    let latency = chip.latency_kib() * if is_wide { 2 } else { 1 };
    let xon = latency * 1_024;
    let pipeline = if is_wide { mtu as f64 } else { 0.0 };
    let size = if port.shares { xon } else { kib_up((xoff + xon) as f64 + pipeline) };
    Headroom { xon, xoff, size }
}

/// The quanta of SONiC's table, in which 10 Gb/s has 67 where 802.3 has 60, and 100 Mb/s has none.
fn sonic_quanta(speed: u64) -> Option<u32> {
    match speed {
        100 => None,
        10_000 => Some(67),
        _ => QUANTA.iter().find(|row| row.speed == speed).map(|row| row.quanta),
    }
}

fn kib_up(bytes: f64) -> u64 {
    (bytes / 1_024.0).ceil() as u64 * 1_024
}

fn bits_per_second(mbps: u64) -> f64 {
    mbps as f64 * 1e6
}

/// The speed of light in a cable, as SONiC has it, in metres per second.
const LIGHT: f64 = 1.98e8;
/// 500 ns for 100 m, as `pauseless plan` has it.
const PS_PER_METRE: u64 = 5_000;
/// Faster than any port, larger than any frame and longer than any cable, so that no product overflows.
const SPEED_MAX: u64 = 10_000_000;
const MTU_MAX: u64 = 1 << 20;
const METRES_MAX: u64 = 1_000_000;
/// The delay that SONiC takes for a speed that its table lacks.
const DELAY_KIB: f64 = 3.8;

#[cfg(test)]
mod tests {
    use super::*;

    /// 100G, 40 m, Spectrum-3, by hand: the cable holds 5,050 B, rounded down, and 51,200 + 2,048 come out.
    #[test]
    fn an_example_by_hand() {
        let link = MadeFor { speed: 100_000, metres: 40 };
        assert_eq!(wire_bytes(link), 5_050);
        let port = DynamicPort {
            chip: Chip::Spectrum3,
            link,
            mtu: 9_100,
            lanes: 4,
            lossless_mtu: 1_024,
            small_percent: 50,
            gearbox_ns: 0,
            shares: false,
        };
        let expected = Headroom { xon: 19_456, xoff: 53_248, size: 72_704 };
        assert_eq!(dynamic(port), expected);
        let shared = Headroom { xon: 19_456, xoff: 51_200, size: 19_456 };
        assert_eq!(dynamic(DynamicPort { shares: true, ..port }), shared);
        assert_eq!(worst_case_bytes(link, 9_100), 57_644);
    }
}
