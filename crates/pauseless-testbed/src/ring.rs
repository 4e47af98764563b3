//! The testbed's own scenarios: the ring of the GFC paper under six ways to hold senders back.

pub use pauseless_scenario::{Overrides, Problems, Scenario, did_you_mean};

/// How slow the ring is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speed {
    /// 200 Mb/s, for all nodes in one thread: a frame is seen a tick of their clock later at the most.
    Lockstep,
    /// 50 Mb/s, for a process per node, which the machine lets wait for milliseconds.
    Processes,
}

/// The names of the ring's variants, in their order.
pub fn names() -> impl Iterator<Item = &'static str> {
    VARIANTS.iter().map(|variant| variant.name)
}

/// The variant of this name, as it is written, or one that may have been meant.
pub fn parse_name(text: &str) -> Result<String, String> {
    if names().any(|name| name == text) {
        return Ok(text.to_string());
    }
    let all = Vec::from_iter(names());
    match did_you_mean(text, all.iter().copied()) {
        meant if meant.is_empty() => Err(format!("expected {}", all.join(", "))),
        meant => Err(format!("{meant} All are {}", all.join(", "))),
    }
}

/// The variants in `only`, or all if there are none, with what the command line says instead of them.
pub fn scenarios(
    speed: Speed,
    only: &[String],
    overrides: &Overrides,
) -> Result<Vec<Scenario>, Problems> {
    let is_wanted =
        |variant: &&Variant| only.is_empty() || only.iter().any(|name| name == variant.name);
    let wanted = VARIANTS.iter().filter(is_wanted);
    wanted.map(|variant| Scenario::parse(variant.name, &variant.text(speed), overrides)).collect()
}

/// One way to hold senders back.
struct Variant {
    name: &'static str,
    title: &'static str,
    /// The section `[flow_control]` in lockstep.
    lockstep: &'static str,
    /// The section `[flow_control]` with a process per node.
    processes: &'static str,
}

impl Variant {
    fn text(&self, speed: Speed) -> String {
        let flow_control = match speed {
            Speed::Lockstep => self.lockstep,
            Speed::Processes => self.processes,
        };
        let mut text = RING.replace("{title}", self.title).replace("{flow_control}", flow_control);
        for (key, lockstep, processes) in QUANTITIES {
            text = text.replace(
                key,
                match speed {
                    Speed::Lockstep => lockstep,
                    Speed::Processes => processes,
                },
            );
        }
        text
    }
}

/// What hangs on the speed. In lockstep, tau = 2 * 60 us + 2 * 21 us + 20 us = 182 us, and 12 KB of the
/// buffer are a guard band. Processes wait for each other: tau = 2 * 240 us + 2 * 5 ms + 14.5 ms = 25 ms.
const QUANTITIES: [(&str, &str, &str); 7] = [
    ("{rate}", "200 Mbps", "50 Mbps"),
    ("{buffer}", "312 KB", "2012 KB"),
    ("{processing}", "20 us", "14500 us"),
    ("{late}", "20 us", "5 ms"),
    ("{duration}", "2200 ms", "5 s"),
    ("{stop}", "1 s", "4 s"),
    ("{resolution}", "5 ms", "20 ms"),
];

const VARIANTS: [Variant; 6] = [
    Variant {
        name: "pfc",
        title: "PFC: pause above XOFF, resume below XON",
        lockstep: "kind = \"pfc\"\nxoff = \"150 KB\"\nxon = \"147 KB\"",
        processes: "kind = \"pfc\"\nxoff = \"500 KB\"\nxon = \"497 KB\"",
    },
    Variant {
        name: "cbfc",
        title: "InfiniBand: nothing is sent without credit",
        lockstep: "kind = \"cbfc\"\ncredits = \"300 KB\"\nperiod = \"1 ms\"",
        processes: "kind = \"cbfc\"\ncredits = \"1 MB\"\nperiod = \"10 ms\"",
    },
    Variant {
        name: "gfc-buffer",
        title: "Buffer-based GFC: the rate halves at each stage",
        lockstep: "kind = \"gfc-buffer\"\nbm = \"300 KB\"\nb1 = \"150 KB\"",
        processes: "kind = \"gfc-buffer\"\nbm = \"2 MB\"\nb1 = \"500 KB\"",
    },
    Variant {
        name: "gfc-time",
        title: "Time-based GFC: the rate falls with the free space",
        lockstep: "kind = \"gfc-time\"\nbm = \"300 KB\"\nb0 = \"150 KB\"\nperiod = \"1 ms\"",
        processes: "kind = \"gfc-time\"\nbm = \"2 MB\"\nb0 = \"500 KB\"\nperiod = \"10 ms\"",
    },
    Variant {
        name: "gfc-buffer-cycle-aware",
        title: "Buffer-based GFC, host ports throttle first",
        lockstep: r#"kind = "gfc-buffer"
bm = "300 KB"
b1 = "225 KB"

[[flow_control.at]]
ports = ["S*:H*"]
bm = "120 KB"
b1 = "50 KB""#,
        processes: r#"kind = "gfc-buffer"
bm = "2 MB"
b1 = "1500 KB"

[[flow_control.at]]
ports = ["S*:H*"]
bm = "800 KB"
b1 = "340 KB""#,
    },
    Variant {
        name: "gfc-time-cycle-aware",
        title: "Time-based GFC, host ports throttle first",
        lockstep: r#"kind = "gfc-time"
bm = "300 KB"
b0 = "150 KB"
period = "1 ms"

[[flow_control.at]]
ports = ["S*:H*"]
bm = "150 KB"
b0 = "10 KB""#,
        processes: r#"kind = "gfc-time"
bm = "2 MB"
b0 = "1 MB"
period = "10 ms"

[[flow_control.at]]
ports = ["S*:H*"]
bm = "800 KB"
b0 = "100 KB""#,
    },
];

const RING: &str = include_str!("ring.toml");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_is_valid_and_trusted() {
        for speed in [Speed::Lockstep, Speed::Processes] {
            let scenarios = scenarios(speed, &[], &Overrides::default());
            let scenarios = scenarios.unwrap_or_else(|it| panic!("{it}"));
            assert!(scenarios.iter().map(|it| it.name.as_str()).eq(names()));
            for scenario in &scenarios {
                assert!(scenario.warnings.is_empty(), "{:?}", scenario.warnings);
            }
        }
    }

    #[test]
    fn a_name_that_is_none_is_refused_with_what_was_meant() {
        assert_eq!(parse_name("gfc-time").as_deref(), Ok("gfc-time"));
        let error = parse_name("gfc-tim").unwrap_err();
        assert!(error.starts_with("did you mean gfc-time?"), "{error}");
        assert!(parse_name("qcn").unwrap_err().starts_with("expected pfc, cbfc"));
    }
}
