//! One deadlock under many mitigations: GFC Fig. 11 and HotNets Fig. 4, output-queued.
#![allow(dead_code, reason = "every binary uses some of these")]

use std::ops::ControlFlow;

use pauseless_core::unit::Span;
use pauseless_run::Run;
use pauseless_scenario::{Overrides, Scenario};

/// The run goes on for this long after sources have stopped.
const AFTER: Span = Span::ms(100);
/// The time between two looks at a flow.
const RESOLUTION: Span = Span::us(100);

/// A network that deadlocks under PFC.
#[derive(Clone, Copy, Debug)]
pub struct Network {
    pub name: &'static str,
    text: &'static str,
    /// What every host may send so that no link of the cycle is full.
    limit: &'static str,
    /// The ports of the cycle that receive, and two thresholds: off the cycle and on it.
    cycle: (&'static str, [&'static str; 2]),
}

pub const NETWORKS: [Network; 2] = [
    Network {
        name: "GFC Fig. 11, 10 Gb/s",
        text: include_str!("../../../../papers/gfc/fig14.toml"),
        limit: "4.5 Gbps",
        cycle: (r#""A3:C1", "C2:A3", "A7:C2", "C1:A7""#, ["100 KB", "280 KB"]),
    },
    Network {
        name: "HotNets Fig. 4, 40 Gb/s",
        text: include_str!("../../../../papers/hotnets/fig4.toml"),
        limit: "18 Gbps",
        cycle: (r#""B:A", "C:B", "D:C", "A:D""#, ["20 KB", "160 KB"]),
    },
];

/// What is done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    Nothing,
    WatchdogDrop,
    WatchdogForward,
    DrainAtOnce,
    DrainLater,
    GfcBuffer,
    GfcTime,
    RateLimit,
    Thresholds,
    /// The watchdog as it is shipped; needs a second to show anything.
    Sonic,
}

impl Remedy {
    pub const ALL: [Remedy; 9] = [
        Remedy::Nothing,
        Remedy::WatchdogDrop,
        Remedy::WatchdogForward,
        Remedy::DrainLater,
        Remedy::DrainAtOnce,
        Remedy::GfcBuffer,
        Remedy::GfcTime,
        Remedy::RateLimit,
        Remedy::Thresholds,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Remedy::Nothing => "PFC alone",
            Remedy::WatchdogDrop => "PFC, watchdog drops",
            Remedy::WatchdogForward => "PFC, watchdog forwards",
            Remedy::DrainLater => "PFC, drained after 5 ms",
            Remedy::DrainAtOnce => "PFC, drained at once",
            Remedy::GfcBuffer => "buffer-based GFC",
            Remedy::GfcTime => "time-based GFC",
            Remedy::RateLimit => "PFC, hosts limited",
            Remedy::Thresholds => "PFC, cycle throttles late",
            Remedy::Sonic => "PFC, watchdog with SONiC's defaults",
        }
    }
}

/// The scenario with this seed, whose sources are on for so long.
pub fn scenario(network: &Network, remedy: Remedy, seed: u64, on: Span) -> Scenario {
    let begin = network.text.find("[flow_control]").expect("a section");
    let end = network.text.find("[[flow]]").expect("a section");
    let pfc = &network.text[begin..end];
    let (cycle, [off_cycle, on_cycle]) = network.cycle;
    let (control, more) = match remedy {
        Remedy::Nothing => (pfc.to_string(), String::new()),
        Remedy::WatchdogDrop => (pfc.to_string(), watchdog("drop")),
        Remedy::WatchdogForward => (pfc.to_string(), watchdog("forward")),
        Remedy::Sonic => (pfc.to_string(), "[watchdog]\n".to_string()),
        Remedy::DrainLater => (pfc.to_string(), drain("5 ms")),
        Remedy::DrainAtOnce => (pfc.to_string(), drain("0 ms")),
        Remedy::GfcBuffer => (gfc("gfc-buffer"), String::new()),
        Remedy::GfcTime => (gfc("gfc-time"), String::new()),
        Remedy::RateLimit => {
            let rate = network.limit;
            let limit = format!("[[rate_limit]]\nports = [\"H*:*\"]\nrate = \"{rate}\"\n");
            (pfc.to_string(), limit)
        }
        Remedy::Thresholds => {
            let control = format!(
                "[flow_control]\nkind = \"pfc\"\nxoff = \"{off_cycle}\"\n\
                 [[flow_control.at]]\nports = [{cycle}]\nxoff = \"{on_cycle}\"\n"
            );
            (control, String::new())
        }
    };
    let probe = network.text.find("[probe]").expect("a section");
    let text = format!(
        "{}{control}{}{more}\n[timing]\nsources_stop = \"{} us\"\n\
         [probe]\nresolution = \"{} us\"\nports = []\nflows = true\n",
        &network.text[..begin],
        &network.text[end..probe],
        on.as_ps() / 1_000_000,
        RESOLUTION.as_ps() / 1_000_000,
    );
    let overrides =
        Overrides { seed: Some(seed), duration: Some(on + AFTER), ..Overrides::default() };
    let scenario = Scenario::parse(network.name, &text, &overrides);
    scenario.unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

fn watchdog(action: &str) -> String {
    format!("[watchdog]\ndetection = \"5 ms\"\nrestoration = \"10 ms\"\naction = \"{action}\"\n")
}

fn drain(delay: &str) -> String {
    format!("[recovery]\nkind = \"drain\"\ndelay = \"{delay}\"\n")
}

fn gfc(kind: &str) -> String {
    format!("[flow_control]\nkind = \"{kind}\"\n")
}

/// What a run came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    pub deadlocks: f64,
    pub lost_packets: f64,
    /// The time in which a flow was not served while sources were on, the mean over flows, in ms.
    pub silent_ms: f64,
    /// What was delivered while sources were on, the mean and the least over flows, in Gb/s.
    pub goodput: f64,
    pub goodput_min: f64,
    /// Bytes that are left in switches 100 ms after sources have stopped, in KB.
    pub left_kb: f64,
}

/// Runs a scenario and sums it up.
pub fn score(scenario: Scenario) -> Score {
    let run = Run::execute(scenario, |_| ControlFlow::Continue(()));
    let outcome = &run.outcome;
    let stop = run.scenario.config.flows[0].stop;
    let times = outcome.series.times.iter();
    let on = times.take_while(|time| **time <= stop).count();
    let count = outcome.series.flows.len() as f64;
    let silent = outcome.series.flows.iter().map(|series| {
        let bins = series.goodput_bps[..on].iter();
        bins.filter(|rate| **rate == 0.0).count() as f64 * RESOLUTION.as_secs_f64() * 1e3
    });
    let rates = outcome.flows.iter().map(|flow| flow.goodput_bps / 1e9);
    Score {
        deadlocks: outcome.episodes.len() as f64,
        lost_packets: outcome.lost_packets as f64,
        silent_ms: silent.sum::<f64>() / count,
        goodput: rates.clone().sum::<f64>() / count,
        goodput_min: rates.fold(f64::INFINITY, f64::min),
        left_kb: outcome.held_at_end.get() as f64 / 1e3,
    }
}
