//! What can flip.

use pauseless_core::id::{NodeId, PortId};
use pauseless_fabric::topology::Topology;

use crate::report::verdict::Finding;
use crate::run::Run;
use crate::scenario::did_you_mean;

/// Something that a run has or has not.
#[derive(Clone, Debug, PartialEq, Eq)]
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
}

impl Property {
    /// Reads `deadlock`, `loss`, `starvation`, `pause` or `pause:PORT`.
    pub fn parse(text: &str) -> Result<Property, String> {
        match text {
            "deadlock" => Ok(Property::Deadlock),
            "loss" => Ok(Property::Loss),
            "starvation" => Ok(Property::Starvation),
            "pause" => Ok(Property::Pause),
            _ => match text.strip_prefix("pause:") {
                Some(port) => Ok(Property::PauseAt(port.to_string())),
                None => Err("expected deadlock, loss, starvation, pause or pause:PORT".to_string()),
            },
        }
    }

    /// As it is typed.
    pub fn name(&self) -> String {
        match self {
            Property::Deadlock => "deadlock".to_string(),
            Property::Loss => "loss".to_string(),
            Property::Starvation => "starvation".to_string(),
            Property::Pause => "pause".to_string(),
            Property::PauseAt(port) => format!("pause:{port}"),
        }
    }

    /// As the subject of a sentence.
    pub fn subject(&self) -> String {
        match self {
            Property::Deadlock => "a deadlock".to_string(),
            Property::Loss => "a loss".to_string(),
            Property::Starvation => "starvation".to_string(),
            Property::Pause => "a pause".to_string(),
            Property::PauseAt(port) => format!("a pause of {port}"),
        }
    }

    /// Refuses a port that is not there.
    pub(super) fn check(&self, topology: &Topology) -> Result<(), String> {
        let Property::PauseAt(port) = self else {
            return Ok(());
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
            "" => Err(format!("--find pause:{port}: {error}")),
            similar => Err(format!("--find pause:{port}: {error}; {similar}")),
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
                let mut ports = outcome.ports.iter();
                ports.any(|it| Some((it.node, it.port)) == port && it.pauses > 0)
            }
        }
    }
}

/// Comparing with more names than this takes too long.
const NAMES_MAX: usize = 10_000;
