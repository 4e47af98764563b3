//! The recorded curves of a run by name, and numbers taken from them.

use pauseless_core::unit::{Span, Time};
use pauseless_sim::config::{Config, Probes};
use pauseless_sim::outcome::{FlowSeries, PortSeries};

use serde::Deserialize;

use crate::report::quantity::parse_delay;
use crate::run::Run;

/// The curves of a flow.
const OF_FLOWS: [&str; 2] = ["goodput", "allowed"];
/// The curves of a port.
const OF_PORTS: [&str; 6] = [
    "queue",
    "egress",
    "input",
    "sending",
    "feedback",
    "permitted",
];

/// A number taken from a curve.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// The name of the metric.
    pub name: String,
    /// The curve, or several with ` + ` between them.
    pub series: String,
    /// From when; by default from the beginning.
    pub from: Option<String>,
    /// Until when; by default to the end.
    pub to: Option<String>,
    /// What is taken, such as `mean` or `first above 35`.
    pub take: String,
}

/// A curve such as `queue.S1:H1`, or the sum of several: `goodput.F0 + goodput.F1`.
pub(super) fn sum(run: &Run, names: &str) -> Result<Vec<f64>, String> {
    let mut total: Option<Vec<f64>> = None;
    for name in names.split(" + ") {
        let curve = find(run, name.trim())?;
        total = Some(match total {
            None => curve,
            Some(total) => total.iter().zip(&curve).map(|(a, b)| a + b).collect(),
        });
    }
    total.ok_or_else(|| "an empty name".to_string())
}

/// Whether runs of a scenario have a curve, or all those of a sum; if not, what they have.
pub(crate) fn check(config: &Config, names: &str) -> Result<(), String> {
    let Probes { flows, ports, .. } = &config.probes;
    let is_flow = |whose: &str| {
        let mut flows = flows.iter();
        flows.any(|flow| config.flows[flow.index()].name == whose)
    };
    let is_port = |whose: &str| {
        let mut ports = ports.iter();
        ports.any(|(node, port)| config.topology.port_name(*node, *port) == whose)
    };
    for name in names.split(" + ").map(str::trim) {
        let is_there = match name.split_once('.') {
            Some((what, whose)) if OF_FLOWS.contains(&what) => is_flow(whose),
            Some((what, whose)) if OF_PORTS.contains(&what) => is_port(whose),
            _ => false,
        };
        if !is_there {
            return Err(missing(config, name));
        }
    }
    Ok(())
}

/// Says that there is no such curve, and which there are.
fn missing(config: &Config, name: &str) -> String {
    let Probes { flows, ports, .. } = &config.probes;
    let flows = flows.iter().map(|flow| &config.flows[flow.index()].name);
    let flows = flows.map(|name| format!("goodput.{name}"));
    let ports = ports.iter();
    let ports = ports.map(|(node, port)| config.topology.port_name(*node, *port));
    let ports = ports.map(|name| format!("queue.{name}"));
    let known: Vec<String> = flows.chain(ports).take(6).collect();
    let known = match known.is_empty() {
        true => "the scenario has no [probe]".to_string(),
        false => format!("it has {} and the like", known.join(", ")),
    };
    format!("the run has no curve {name:?}; {known}")
}

fn find(run: &Run, name: &str) -> Result<Vec<f64>, String> {
    let missing = || missing(&run.scenario.config, name);
    let (what, whose) = name.split_once('.').ok_or_else(missing)?;
    let series = &run.outcome.series;
    let kb = |bytes: &Vec<u64>| bytes.iter().map(|bytes| *bytes as f64 / 1e3).collect();
    let gbps = |rates: &Vec<f64>| rates.iter().map(|rate| rate / 1e9).collect();
    let is_flow = |it: &&FlowSeries| run.flow_name(it.flow) == whose;
    let flow = || series.flows.iter().find(is_flow).ok_or_else(missing);
    let is_port = |it: &&PortSeries| run.port_name(it.node, it.port) == whose;
    let port = || series.ports.iter().find(is_port).ok_or_else(missing);
    match what {
        "goodput" => Ok(gbps(&flow()?.goodput_bps)),
        "allowed" => Ok(gbps(&flow()?.allowed_bps)),
        "queue" => Ok(kb(&port()?.queue)),
        "egress" => Ok(kb(&port()?.egress)),
        "input" => Ok(gbps(&port()?.input_bps)),
        "sending" => Ok(gbps(&port()?.sending_bps)),
        "feedback" => Ok(gbps(&port()?.feedback_bps)),
        "permitted" => Ok(gbps(&port()?.allowed_bps)),
        _ => Err(missing()),
    }
}

/// The number that `measure` takes from a run, if there is one.
pub fn take(run: &Run, measure: &Measure) -> Result<Option<f64>, String> {
    let curve = sum(run, &measure.series)?;
    let instant = |text: &Option<String>, otherwise: Time| match text {
        None => Ok(otherwise),
        Some(text) => parse_delay(text).map(|span| Time::ZERO + span),
    };
    let from = instant(&measure.from, Time::ZERO)?;
    let to = instant(&measure.to, run.outcome.end)?;
    let times = &run.outcome.series.times;
    let points = times.iter().copied().zip(curve);
    // A sample is the mean since the one before: the first that counts lies after `from`.
    let window: Vec<(Time, f64)> = points
        .filter(|(time, _)| *time > from && *time <= to)
        .collect();
    if window.is_empty() {
        return Ok(None);
    }
    let taker = Taker { window, from };
    let words: Vec<&str> = measure.take.split(' ').collect();
    let limit = || {
        let last = words.last().and_then(|word| word.parse::<f64>().ok());
        last.ok_or_else(|| unknown(&measure.take))
    };
    match words[..] {
        [name] => taker.number(name).map(Some),
        ["below", _] => limit().map(|limit| Some(taker.spent(|value| value < limit))),
        ["above", _] => limit().map(|limit| Some(taker.spent(|value| value > limit))),
        ["first", "below", _] => limit().map(|limit| taker.first(|value| value < limit)),
        ["first", "above", _] => limit().map(|limit| taker.first(|value| value > limit)),
        _ => Err(unknown(&measure.take)),
    }
}

struct Taker {
    window: Vec<(Time, f64)>,
    from: Time,
}

impl Taker {
    fn values(&self) -> impl Iterator<Item = f64> + Clone {
        self.window.iter().map(|(_, value)| *value)
    }

    fn number(&self, name: &str) -> Result<f64, String> {
        let values = self.values();
        let count = self.window.len() as f64;
        let mean = values.clone().sum::<f64>() / count;
        Ok(match name {
            "mean" => mean,
            "min" => values.fold(f64::INFINITY, f64::min),
            "max" => values.fold(f64::NEG_INFINITY, f64::max),
            "last" => values.last().unwrap_or(mean),
            "std" => {
                let squares = values.map(|value| (value - mean).powi(2));
                (squares.sum::<f64>() / count).sqrt()
            }
            other => return Err(unknown(other)),
        })
    }

    /// Milliseconds during which `is` holds.
    fn spent(&self, is: impl Fn(f64) -> bool) -> f64 {
        let mut spent = Span::ZERO;
        let mut before = self.from;
        for (time, value) in &self.window {
            if is(*value) {
                spent = spent + (*time - before);
            }
            before = *time;
        }
        spent.as_secs_f64() * 1e3
    }

    /// Milliseconds until `is` holds for the first time.
    fn first(&self, is: impl Fn(f64) -> bool) -> Option<f64> {
        let found = self.window.iter().find(|(_, value)| is(*value));
        found.map(|(time, _)| (*time - self.from).as_secs_f64() * 1e3)
    }
}

fn unknown(take: &str) -> String {
    format!(
        "{take:?} cannot be taken: mean, min, max, last, std, below X, above X, first below X, first above X"
    )
}
