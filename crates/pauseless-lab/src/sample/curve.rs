//! The recorded curves of a run by name, and numbers taken from them.

use std::ops::RangeInclusive;

use pauseless_core::unit::{Span, Time};
use pauseless_sim::config::{Config, Probes};
use pauseless_sim::outcome::{FlowSeries, PortSeries};

use crate::declare::{At, FileValue, Item, Kind};
use crate::report::Run;
use crate::section;

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

section! {
    /// A number that is taken from a recorded curve of every run.
    pub struct Measure {
        /// The name of the metric.
        name: String, required "\"peak\"", default String::new();
        /// The curve, such as `queue.S1:H1`, or several with ` + ` between them.
        series: String, required "\"queue.S1:H1\"", default String::new();
        /// From when the curve counts.
        from: Span, within INSTANTS, derived "the beginning";
        /// Until when the curve counts.
        to: Span, within INSTANTS, derived "the end";
        /// What is taken; `mean`, `min`, `max`, `last`, `std`, `below X` or `above X` (milliseconds spent
        /// there), `first below X` or `first above X` (milliseconds after `from`).
        take: Take, required "\"mean\"", default Take::Mean;
    }
}

/// The instants of a run that a curve can begin and end at.
pub(crate) const INSTANTS: RangeInclusive<Span> = Span::ZERO..=Span::s(1_000);

/// What is taken from a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Take {
    /// The mean.
    Mean,
    /// The least value.
    Min,
    /// The greatest value.
    Max,
    /// The last value.
    Last,
    /// The standard deviation.
    Std,
    /// The milliseconds spent below a value.
    Below(f64),
    /// The milliseconds spent above a value.
    Above(f64),
    /// The milliseconds until the curve is below a value.
    FirstBelow(f64),
    /// The milliseconds until the curve is above a value.
    FirstAbove(f64),
}

impl Take {
    fn parse(text: &str) -> Option<Take> {
        let words = Vec::from_iter(text.split(' '));
        let limit = words.last()?.parse::<f64>();
        Some(match words[..] {
            ["mean"] => Take::Mean,
            ["min"] => Take::Min,
            ["max"] => Take::Max,
            ["last"] => Take::Last,
            ["std"] => Take::Std,
            ["below", _] => Take::Below(limit.ok()?),
            ["above", _] => Take::Above(limit.ok()?),
            ["first", "below", _] => Take::FirstBelow(limit.ok()?),
            ["first", "above", _] => Take::FirstAbove(limit.ok()?),
            _ => return None,
        })
    }
}

impl FileValue for Take {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<Take>> {
        let sink = item.sink();
        let At { value: text, place } = item.string()?;
        let Some(value) = Take::parse(&text) else {
            let problem = place.problem(format!("{text:?} cannot be taken"));
            sink.push(problem.expected(TAKES));
            return None;
        };
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        Kind::Text(TAKES)
    }

    fn show(&self) -> String {
        let shown = match self {
            Take::Mean => "mean".to_string(),
            Take::Min => "min".to_string(),
            Take::Max => "max".to_string(),
            Take::Last => "last".to_string(),
            Take::Std => "std".to_string(),
            Take::Below(limit) => format!("below {limit}"),
            Take::Above(limit) => format!("above {limit}"),
            Take::FirstBelow(limit) => format!("first below {limit}"),
            Take::FirstAbove(limit) => format!("first above {limit}"),
        };
        shown.show()
    }
}

const TAKES: &str = "mean, min, max, last, std, below X, above X, first below X or first above X";

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
    let from = Time::ZERO + measure.from.or(Span::ZERO);
    let to = measure.to.copied();
    let to = to.map_or(run.outcome.end, |span| Time::ZERO + span);
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
    Ok(taker.take(measure.take.value))
}

struct Taker {
    window: Vec<(Time, f64)>,
    from: Time,
}

impl Taker {
    fn values(&self) -> impl Iterator<Item = f64> + Clone {
        self.window.iter().map(|(_, value)| *value)
    }

    fn take(&self, take: Take) -> Option<f64> {
        let values = self.values();
        let count = self.window.len() as f64;
        let mean = values.clone().sum::<f64>() / count;
        match take {
            Take::Mean => Some(mean),
            Take::Min => Some(values.fold(f64::INFINITY, f64::min)),
            Take::Max => Some(values.fold(f64::NEG_INFINITY, f64::max)),
            Take::Last => self.values().last(),
            Take::Std => {
                let squares = values.map(|value| (value - mean).powi(2));
                Some((squares.sum::<f64>() / count).sqrt())
            }
            Take::Below(limit) => Some(self.spent(|value| value < limit)),
            Take::Above(limit) => Some(self.spent(|value| value > limit)),
            Take::FirstBelow(limit) => self.first(|value| value < limit),
            Take::FirstAbove(limit) => self.first(|value| value > limit),
        }
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
