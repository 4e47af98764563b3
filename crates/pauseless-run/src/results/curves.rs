//! The curves that the probes of a run record, by name: `queue.S1:H1`, or `queue{port=S1:H1}`.

use pauseless_sim::config::{Config, Probes};
use pauseless_sim::outcome::{FlowSeries, PortSeries};

use super::{Unit, Value};
use crate::Run;

/// A curve that a run can have: a value for each sample.
#[derive(Clone, Copy, Debug)]
pub struct Curve {
    /// The name by which it is asked for, with that of the port or the flow behind it.
    pub name: &'static str,
    /// The unit in tables, claims and figures.
    pub unit: Unit,
    /// Whose curve it is, and where the recording has it.
    pub of: CurveOf,
    /// A sentence that says what the curve shows.
    pub says: &'static str,
    /// Its name in the JSON document and in `series.csv`; empty if they do not have it.
    pub column: &'static str,
}

/// Whose curve it is, and where the recording has it.
#[derive(Clone, Copy, Debug)]
pub enum CurveOf {
    /// A curve that every recorded port has.
    Port(fn(&PortSeries) -> Samples<'_>),
    /// A curve of a port that only some recordings have.
    PortIfAny(fn(&PortSeries) -> Samples<'_>),
    /// A curve that every recorded flow has.
    Flow(fn(&FlowSeries) -> Samples<'_>),
    /// A curve that only flows with congestion control have.
    Reaction(fn(&FlowSeries) -> Samples<'_>),
}

/// The values of a curve in the base unit, one for each sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Samples<'a> {
    /// Whole numbers, such as bytes.
    Whole(&'a [u64]),
    /// Numbers with decimals, such as rates.
    Real(&'a [f64]),
}

impl Samples<'_> {
    /// The value of one sample, if it was recorded.
    pub fn get(self, sample: usize) -> Option<Value> {
        match self {
            Samples::Whole(all) => all.get(sample).copied().map(Value::Whole),
            Samples::Real(all) => all.get(sample).copied().map(Value::Real),
        }
    }

    /// The number of samples.
    pub fn len(self) -> usize {
        match self {
            Samples::Whole(all) => all.len(),
            Samples::Real(all) => all.len(),
        }
    }

    /// Whether nothing was recorded.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// All of them in a unit.
    fn all(self, unit: Unit) -> Vec<f64> {
        let values = (0..self.len()).filter_map(|sample| self.get(sample));
        values.map(|value| unit.of(value)).collect()
    }
}

/// Declares curves: a sentence that says what each is, its name, its unit, whose it is with where the
/// recording has it, and its column.
macro_rules! curves {
    ($($(#[doc = $says:literal])+ $name:literal: $unit:ident, $of:ident($function:expr), $column:literal;)+) => {
        &[$(Curve {
            name: $name,
            unit: Unit::$unit,
            of: CurveOf::$of($function),
            says: concat!($($says),+).trim_ascii_start(),
            column: $column,
        }),+]
    };
}

/// Every curve that a run can have.
pub static CURVES: &[Curve] = curves! {
    /// Bytes on the ingress counters of the port.
    "queue": Kb, Port(|it| Samples::Whole(&it.queue)), "queue_bytes";
    /// Bytes that wait to leave at the port.
    "egress": Kb, PortIfAny(|it| Samples::Whole(&it.egress)), "egress_bytes";
    /// The rate at which data came in.
    "input": Gbps, Port(|it| Samples::Real(&it.input_bps)), "input_bps";
    /// The rate at which data went out.
    "sending": Gbps, Port(|it| Samples::Real(&it.sending_bps)), "sending_bps";
    /// The rate that the far end allows the port.
    "permitted": Gbps, Port(|it| Samples::Real(&it.allowed_bps)), "allowed_bps";
    /// The rate of the control frames that the port sent.
    "feedback": Gbps, Port(|it| Samples::Real(&it.feedback_bps)), "";
    /// The goodput of the flow.
    "goodput": Gbps, Flow(|it| Samples::Real(&it.goodput_bps)), "goodput_bps";
    /// The rate that congestion control allows the flow.
    "allowed": Gbps, Reaction(|it| Samples::Real(&it.allowed_bps)), "allowed_bps";
};

impl Curve {
    /// The parameter that says whose it is.
    pub fn parameter(&self) -> &'static str {
        match self.of {
            CurveOf::Port(_) | CurveOf::PortIfAny(_) => "port",
            CurveOf::Flow(_) | CurveOf::Reaction(_) => "flow",
        }
    }

    /// A curve and whose it is: `queue.S1:H1` or `queue{port=S1:H1}`.
    fn parse(name: &str) -> Option<(&'static Curve, &str)> {
        let find = |what: &str| CURVES.iter().find(|it| it.name == what.trim());
        if let Some((what, whose)) = name.split_once('.')
            && let Some(curve) = find(what)
        {
            return Some((curve, whose));
        }
        let (what, inside) = name.strip_suffix('}')?.split_once('{')?;
        let curve = find(what)?;
        let (key, whose) = inside.split_once('=')?;
        (key.trim() == curve.parameter()).then(|| (curve, whose.trim()))
    }

    /// What a port has of it in documents: nothing of curves of flows and of what was not recorded.
    pub fn of_port<'a>(&self, series: &'a PortSeries) -> Option<Samples<'a>> {
        match self.of {
            _ if self.column.is_empty() => None,
            CurveOf::Port(of) => Some(of(series)),
            CurveOf::PortIfAny(of) => Some(of(series)).filter(|samples| !samples.is_empty()),
            CurveOf::Flow(_) | CurveOf::Reaction(_) => None,
        }
    }

    /// What a flow has of it in documents: nothing of a congestion control that it does not obey.
    pub fn of_flow<'a>(&self, run: &Run, series: &'a FlowSeries) -> Option<Samples<'a>> {
        match self.of {
            CurveOf::Flow(of) => Some(of(series)),
            CurveOf::Reaction(of) => run.allowed_rates(series).map(|_| of(series)),
            CurveOf::Port(_) | CurveOf::PortIfAny(_) => None,
        }
    }
}

/// A curve, or the sum of several: `goodput.F0 + goodput.F1`.
pub fn sum(run: &Run, names: &str) -> Result<Vec<f64>, String> {
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
pub fn check(config: &Config, names: &str) -> Result<(), String> {
    let Probes { flows, ports, .. } = &config.probes;
    let is_flow = |whose: &str| flows.iter().any(|flow| config.flows[flow.index()].name == whose);
    let is_port = |whose: &str| {
        ports.iter().any(|(node, port)| config.topology.port_name(*node, *port) == whose)
    };
    for name in names.split(" + ").map(str::trim) {
        let is_there = Curve::parse(name).is_some_and(|(curve, whose)| match curve.of {
            CurveOf::Flow(_) | CurveOf::Reaction(_) => is_flow(whose),
            CurveOf::Port(_) | CurveOf::PortIfAny(_) => is_port(whose),
        });
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
    let ports = ports.iter().map(|(node, port)| config.topology.port_name(*node, *port));
    let ports = ports.map(|name| format!("queue.{name}"));
    let known: Vec<String> = flows.chain(ports).take(6).collect();
    let known = if known.is_empty() {
        "the scenario has no [probe]".to_string()
    } else {
        format!("it has {} and the like", known.join(", "))
    };
    format!("the run has no curve {name:?}; {known}")
}

fn find(run: &Run, name: &str) -> Result<Vec<f64>, String> {
    let found = Curve::parse(name).and_then(|(curve, whose)| {
        let series = &run.outcome.series;
        let flow = || series.flows.iter().find(|it| run.flow_name(it.flow) == whose);
        let port = || series.ports.iter().find(|it| run.port_name(it.node, it.port) == whose);
        let samples = match curve.of {
            CurveOf::Flow(of) | CurveOf::Reaction(of) => of(flow()?),
            CurveOf::Port(of) | CurveOf::PortIfAny(of) => of(port()?),
        };
        Some(samples.all(curve.unit))
    });
    found.ok_or_else(|| missing(&run.scenario.config, name))
}
