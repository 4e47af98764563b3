//! How fast a link is: lanes times the speed of a lane.

use std::fmt;

/// Lanes and speed of a link, as the tools print them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkRate {
    /// Number of lanes: 1, 2, 4, 8 or 12.
    pub width: u8,
    /// Speed of each lane.
    pub speed: LaneSpeed,
}

impl LinkRate {
    /// The rate by which operators call the link: a 4x NDR link has 400 Gb/s.
    pub fn bits_per_second(self) -> u64 {
        u64::from(self.width) * self.speed.bits_per_second()
    }
}

impl fmt::Display for LinkRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.speed.name())
    }
}

/// Generations of InfiniBand, by the speed of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LaneSpeed {
    /// SDR: 2.5 Gb/s per lane.
    Sdr,
    /// DDR: 5 Gb/s per lane.
    Ddr,
    /// QDR: 10 Gb/s per lane.
    Qdr,
    /// FDR10: 10 Gb/s per lane with the encoding of FDR.
    Fdr10,
    /// FDR: 14 Gb/s per lane.
    Fdr,
    /// EDR: 25 Gb/s per lane.
    Edr,
    /// HDR: 50 Gb/s per lane.
    Hdr,
    /// NDR: 100 Gb/s per lane.
    Ndr,
    /// XDR: 200 Gb/s per lane.
    Xdr,
}

impl LaneSpeed {
    const ALL: [LaneSpeed; 9] = [
        LaneSpeed::Sdr,
        LaneSpeed::Ddr,
        LaneSpeed::Qdr,
        LaneSpeed::Fdr10,
        LaneSpeed::Fdr,
        LaneSpeed::Edr,
        LaneSpeed::Hdr,
        LaneSpeed::Ndr,
        LaneSpeed::Xdr,
    ];

    /// The customary rate of one lane: a quarter of what a 4x link is called.
    pub fn bits_per_second(self) -> u64 {
        let mbps = match self {
            LaneSpeed::Sdr => 2_500,
            LaneSpeed::Ddr => 5_000,
            LaneSpeed::Qdr | LaneSpeed::Fdr10 => 10_000,
            LaneSpeed::Fdr => 14_000,
            LaneSpeed::Edr => 25_000,
            LaneSpeed::Hdr => 50_000,
            LaneSpeed::Ndr => 100_000,
            LaneSpeed::Xdr => 200_000,
        };
        mbps * 1_000_000
    }

    /// Its name, such as `NDR`.
    pub fn name(self) -> &'static str {
        match self {
            LaneSpeed::Sdr => "SDR",
            LaneSpeed::Ddr => "DDR",
            LaneSpeed::Qdr => "QDR",
            LaneSpeed::Fdr10 => "FDR10",
            LaneSpeed::Fdr => "FDR",
            LaneSpeed::Edr => "EDR",
            LaneSpeed::Hdr => "HDR",
            LaneSpeed::Ndr => "NDR",
            LaneSpeed::Xdr => "XDR",
        }
    }

    /// The speed with this name, such as `NDR`.
    pub(super) fn from_name(name: &str) -> Option<LaneSpeed> {
        LaneSpeed::ALL.into_iter().find(|speed| speed.name() == name)
    }

    /// The speed that opensm writes as this many Gb/s per lane.
    pub(super) fn from_gbps(gbps: &str) -> Option<LaneSpeed> {
        let speed = match gbps {
            "2.5" => LaneSpeed::Sdr,
            "5" => LaneSpeed::Ddr,
            "10" => LaneSpeed::Qdr,
            "FDR10" => LaneSpeed::Fdr10,
            "14" => LaneSpeed::Fdr,
            "25" => LaneSpeed::Edr,
            "50" => LaneSpeed::Hdr,
            "100" => LaneSpeed::Ndr,
            "200" => LaneSpeed::Xdr,
            _ => return None,
        };
        Some(speed)
    }
}

/// The number of lanes that is written so, such as `4x`.
pub(super) fn width_from_name(name: &str) -> Option<u8> {
    match name {
        "1x" => Some(1),
        "2x" => Some(2),
        "4x" => Some(4),
        "8x" => Some(8),
        "12x" => Some(12),
        _ => None,
    }
}

/// Whether a tool wrote that it does not know a width or speed.
pub(super) fn is_unknown(name: &str) -> bool {
    name.len() >= 2 && name.bytes().all(|byte| byte == b'?')
}

/// What a message says where a width should be.
pub(super) const WIDTHS: &str = "1x, 2x, 4x, 8x or 12x";
/// What a message says where the name of a speed should be.
pub(super) const SPEEDS: &str = "SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR or XDR";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_lanes_have_the_customary_rates() {
        let names = ["SDR", "DDR", "QDR", "FDR", "EDR", "HDR", "NDR", "XDR"];
        let gbps = names.map(|name| {
            let speed = LaneSpeed::from_name(name).unwrap();
            LinkRate { width: 4, speed }.bits_per_second() / 1_000_000_000
        });
        assert_eq!(gbps, [10, 20, 40, 56, 100, 200, 400, 800]);
    }
}
