//! The properties of a run that can flip.

use pauseless_core::id::{NodeId, PortId};
use pauseless_core::unit::Bytes;
use pauseless_sim::Config;

use pauseless_report::verdict::Finding;
use pauseless_run::Run;
use pauseless_run::results::{Facts, Reference, Scope};
pub use pauseless_scenario::did_you_mean;

/// Something that a run has or has not.
#[derive(Clone, Debug)]
pub enum Property {
    /// Queues that can never move again.
    Deadlock,
    /// A packet that did not fit.
    Loss,
    /// A flow that moves, but far below its fair rate.
    Starvation,
    /// Any port was told to stop.
    Pause,
    /// This port was told to stop.
    PauseAt(String),
    /// A number of the run lies on one side of a limit.
    Number(Box<Limit>),
}

/// A number of a run and a limit: `queue_max{port=S1:S2} > 100`.
#[derive(Clone, Debug)]
pub struct Limit {
    text: String,
    number: Reference,
    comparison: Comparison,
    limit: f64,
}

/// On which side of a limit a number lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Above,
    AtLeast,
    Below,
    AtMost,
}

impl Comparison {
    /// All comparisons as they are typed, the longer ones first.
    const ALL: [(&'static str, Comparison); 4] = [
        (">=", Comparison::AtLeast),
        ("<=", Comparison::AtMost),
        (">", Comparison::Above),
        ("<", Comparison::Below),
    ];
}

impl Limit {
    /// Reads `NUMBER > LIMIT`; `None` if nothing is compared. Names of flows may have an arrow in
    /// them, so that the last sign counts.
    fn parse(text: &str) -> Option<Result<Limit, String>> {
        let place = text.rfind(['<', '>'])?;
        let signs = Comparison::ALL.into_iter();
        let (sign, comparison) = signs.into_iter().find(|(it, _)| text[place..].starts_with(it))?;
        let (number, limit) = (text[..place].trim(), text[place + sign.len()..].trim());
        Some(Limit::new(text, number, comparison, limit))
    }

    fn new(text: &str, number: &str, comparison: Comparison, limit: &str) -> Result<Limit, String> {
        let known = Reference::parse(number);
        let number = known.map_err(|wrong| format!("no run has a number {number:?}: {wrong}"))?;
        let value = limit.parse().ok().filter(|limit: &f64| limit.is_finite());
        let name = number.number.name;
        let value = value.ok_or_else(|| match number.number.unit.name() {
            "" => format!("the limit of {name} is a number, not {limit:?}"),
            unit => format!("the limit of {name} is a number, in {unit}, not {limit:?}"),
        })?;
        Ok(Limit { text: text.trim().to_string(), number, comparison, limit: value })
    }

    /// Whether the number of a run lies there; one that a run does not have lies nowhere.
    fn is_in(&self, run: &Run) -> bool {
        self.number.value(&Facts::of(run)).is_some_and(|value| self.is_met(value))
    }

    /// Whether flows of a run that did not finish could change on which side the number lies.
    fn is_open(&self, run: &Run) -> bool {
        let Some(beside) = self.number.beside() else {
            return false;
        };
        let facts = Facts::of(run);
        let value = self.number.value(&facts);
        let case = beside.case(value, |it| it.value(&facts));
        let is_met = value.is_some_and(|value| self.is_met(value));
        case.is_some_and(|it| [it.best, it.worst].iter().any(|end| self.is_met(*end) != is_met))
    }

    fn is_met(&self, value: f64) -> bool {
        match self.comparison {
            Comparison::Above => value > self.limit,
            Comparison::AtLeast => value >= self.limit,
            Comparison::Below => value < self.limit,
            Comparison::AtMost => value <= self.limit,
        }
    }
}

impl Property {
    /// Reads `deadlock`, `loss`, `starvation`, `pause`, `pause:PORT`, or a number with a limit such
    /// as `queue_max > 100`.
    pub fn parse(text: &str) -> Result<Property, String> {
        match text {
            "deadlock" => Ok(Property::Deadlock),
            "loss" => Ok(Property::Loss),
            "starvation" => Ok(Property::Starvation),
            "pause" => Ok(Property::Pause),
            _ => match (text.strip_prefix("pause:"), Limit::parse(text)) {
                (Some(port), None) => Ok(Property::PauseAt(port.to_string())),
                (_, Some(limit)) => limit.map(|limit| Property::Number(Box::new(limit))),
                (None, None) => {
                    Err("expected deadlock, loss, starvation, pause, pause:PORT, or a \
                                     number with a limit such as \"queue_max > 100\"; `pauseless \
                                     metrics` lists all numbers"
                        .to_string())
                }
            },
        }
    }

    /// Whether it can only be seen where the scenario's probes look.
    pub(super) fn needs_probes(&self) -> bool {
        matches!(self, Property::Number(limit) if limit.number.number.is_probed)
    }

    /// The property as it is typed.
    pub fn name(&self) -> String {
        match self {
            Property::Deadlock => "deadlock".to_string(),
            Property::Loss => "loss".to_string(),
            Property::Starvation => "starvation".to_string(),
            Property::Pause => "pause".to_string(),
            Property::PauseAt(port) => format!("pause:{port}"),
            Property::Number(limit) => limit.text.clone(),
        }
    }

    /// The property as the subject of a sentence.
    pub fn subject(&self) -> String {
        match self {
            Property::Deadlock => "a deadlock".to_string(),
            Property::Loss => "a loss".to_string(),
            Property::Starvation => "starvation".to_string(),
            Property::Pause => "a pause".to_string(),
            Property::PauseAt(port) => format!("a pause of {port}"),
            Property::Number(limit) => match limit.number.number.unit.name() {
                "" => limit.text.clone(),
                unit => format!("{} {unit}", limit.text),
            },
        }
    }

    /// Refuses a port, a flow or a class that is not there.
    pub fn check(&self, config: &Config) -> Result<(), String> {
        let topology = &config.topology;
        let (asked, port) = match self {
            Property::PauseAt(port) => (self.name(), port.as_str()),
            Property::Number(limit) => {
                let asked = format!("{:?}", limit.text);
                let is_of_finite = limit.number.number.scope() == Scope::Flows;
                if is_of_finite && config.flows.iter().all(|flow| flow.size == Bytes::MAX) {
                    let help = "no flow of the scenario has a size, so that none is ever finished";
                    return Err(format!("--find {asked}: {help}"));
                }
                let there = limit.number.check(config);
                let Err(help) = there else { return Ok(()) };
                match limit.number.port().filter(|port| topology.port_named(port).is_err()) {
                    Some(port) => (asked, port),
                    None => return Err(format!("--find {asked}: {help}")),
                }
            }
            _ => return Ok(()),
        };
        let Err(error) = topology.port_named(port) else {
            return Ok(());
        };
        let nodes = (0..topology.nodes().len() as u32).map(NodeId);
        let names = nodes.flat_map(|node| {
            let ports = (0..topology.ports(node).len() as u16).map(PortId);
            ports.map(move |port| topology.port_name(node, port))
        });
        let names = Vec::from_iter(names.take(NAMES_MAX));
        match did_you_mean(port, names.iter().map(String::as_str)).as_str() {
            "" => Err(format!("--find {asked}: {error}")),
            similar => Err(format!("--find {asked}: {error}; {similar}")),
        }
    }

    /// Whether a longer run could change whether the run has it: flows did not finish, or it was too
    /// short to tell.
    pub(super) fn is_open(&self, run: &Run) -> bool {
        match self {
            Property::Number(limit) => limit.is_open(run),
            Property::Starvation => {
                run.outcome.starved.is_empty() && run.outcome.undecided.is_some()
            }
            _ => false,
        }
    }

    /// Whether the run has it.
    pub(super) fn is_in(&self, run: &Run) -> bool {
        let outcome = &run.outcome;
        match self {
            Property::Deadlock => Finding::Deadlock.is_in(outcome),
            Property::Loss => Finding::Loss.is_in(outcome),
            Property::Starvation => Finding::Starvation.is_in(outcome),
            Property::Pause => outcome.pause_frames > 0,
            Property::PauseAt(name) => {
                let port = run.topology().port_named(name).ok();
                outcome.ports.iter().any(|it| Some((it.node, it.port)) == port && it.pauses > 0)
            }
            Property::Number(limit) => limit.is_in(run),
        }
    }
}

/// Comparing with more names than this takes too long.
const NAMES_MAX: usize = 10_000;
