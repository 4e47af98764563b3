//! The options of htsim_roce, under the same names and in the same units as on its command line.

use std::str::FromStr;

use pauseless_core::unit::{Bytes, Rate, Span};

pub use pauseless_text::reader::did_you_mean;

/// The parameters of a run of htsim_roce; the default is what it does if nothing is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Payload bytes of a packet: `mtu`.
    pub mtu: Bytes,
    /// The rate of sources, and of links where no file says it: `linkspeed`, in Mb/s.
    pub rate: Rate,
    /// The delay of links where no file says it: `hop_latency`, in microseconds.
    pub delay: Span,
    /// What a switch adds to it: `switch_latency`, in microseconds.
    pub switch_latency: Span,
    /// Packets at an ingress below which its peer may go on: `pfc_low`.
    pub low: u64,
    /// Packets at an ingress above which its peer is paused: `pfc_high`.
    pub high: u64,
    /// When the run ends: `end`, in microseconds.
    pub end: Span,
    /// Tiers of switches where no file says it: `tiers`.
    pub tiers: u64,
    /// Whether flows start when the matrix says so, `start=file`. htsim_roce starts all at zero.
    pub has_starts: bool,
    /// Whether pauses are messages that take no place on the wire, as in htsim, and not frames:
    /// `--compat htsim`.
    pub is_compat: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            mtu: Bytes::new(9_000),
            rate: Rate::gbps(100),
            delay: Span::us(1),
            switch_latency: Span::ZERO,
            low: 12,
            high: 15,
            end: Span::us(1_000),
            tiers: 3,
            has_starts: false,
            is_compat: false,
        }
    }
}

const KEYS: [&str; 10] = [
    "mtu",
    "linkspeed",
    "hop_latency",
    "switch_latency",
    "pfc_low",
    "pfc_high",
    "end",
    "tiers",
    "start",
    "q",
];

impl FromStr for Options {
    type Err = String;

    /// Reads options such as `mtu=1500,end=20000`.
    fn from_str(text: &str) -> Result<Options, String> {
        let mut options = Options::default();
        for part in text.split([',', ' ']).filter(|part| !part.is_empty()) {
            let pair = part.split_once('=');
            let (key, value) = pair.ok_or_else(|| format!("{part:?} is no KEY=VALUE"))?;
            options.set(key, value)?;
        }
        if options.low >= options.high {
            let Options { low, high, .. } = options;
            return Err(format!("pfc_low ({low}) must be below pfc_high ({high})"));
        }
        Ok(options)
    }
}

impl Options {
    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let integer = |low: u64, high: u64| {
            let number = value.parse::<u64>().ok();
            let number = number.filter(|number| (low..=high).contains(number));
            number.ok_or_else(|| {
                format!("{key}={value}: a whole number from {low} to {high} is wanted")
            })
        };
        let span = |most_us: f64| {
            let number = value.parse::<f64>().ok();
            let number = number.filter(|number| (0.0..=most_us).contains(number));
            number.map(|us| Span::ps((us * 1e6).round() as u64)).ok_or_else(|| {
                format!("{key}={value}: microseconds from 0 to {most_us} are wanted")
            })
        };
        match key {
            "mtu" => self.mtu = Bytes::new(integer(64, 900_000)?),
            "linkspeed" => self.rate = Rate::mbps(integer(1, 1_600_000)?),
            "hop_latency" => self.delay = span(1e6)?,
            "switch_latency" => self.switch_latency = span(1e6)?,
            "pfc_low" => self.low = integer(1, 100_000)?,
            "pfc_high" => self.high = integer(1, 100_000)?,
            "end" => self.end = span(86_400e6)?.max(Span::ps(1)),
            "tiers" => self.tiers = integer(2, 3)?,
            // The queue of an egress: htsim says when one is longer, and does nothing about it.
            "q" => drop(integer(1, 1_000_000_000)?),
            "start" => {
                self.has_starts = match value {
                    "file" => true,
                    "0" => false,
                    _ => return Err(format!("start={value}: file or 0 is wanted")),
                };
            }
            _ => {
                let guess = did_you_mean(key, KEYS);
                let known = KEYS.join(", ");
                let guess = if guess.is_empty() { String::new() } else { format!("; {guess}") };
                return Err(format!("unknown key {key:?}, expected one of {known}{guess}"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_those_of_htsim() {
        let options = "mtu=1500,linkspeed=400000 hop_latency=0.5 end=20000 start=file".parse();
        let expected = Options {
            mtu: Bytes::new(1_500),
            rate: Rate::gbps(400),
            delay: Span::ns(500),
            end: Span::ms(20),
            has_starts: true,
            ..Options::default()
        };
        assert_eq!(options, Ok(expected));
        let refused = |text: &str| text.parse::<Options>().unwrap_err();
        assert!(refused("mtu").contains("KEY=VALUE"));
        assert!(refused("mtu=0").contains("from 64"));
        assert!(refused("hop_latency=-1").contains("microseconds"));
        assert!(refused("hop_latency=NaN").contains("microseconds"));
        assert!(refused("linkspede=1").contains("did you mean linkspeed?"));
        assert!(refused("pfc_low=15").contains("must be below"));
    }
}
