//! GFC, section 6.2.3: many random fat trees with failed links (Table 1, Figs. 16 to 19).
//!
//! Deadlocks are rare there: of thousands of networks with a cycle of buffers few deadlock, and
//! those in few of their repetitions. A quick run therefore looks at the networks that are the most
//! exposed ([`trees`]), a full one at all of them.

mod evolution;
mod exposure;
mod feedback;
mod servers;
pub(crate) mod trees;

use pauseless_core::switch::Discipline;
use pauseless_core::unit::Span;
use toml::{Table, Value};

use super::super::scope::{Failure, Scope, Task};
use crate::repro::data::Measured;
use crate::sample::Sample;
use crate::scenario::{Overrides, StopOn};

pub use evolution::evolution;
pub use exposure::{exposure, overlap};
pub use feedback::{feedback, feedback_bins};
pub use servers::{compare, servers};

/// A flow control, with or without cycle-aware thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Scheme {
    name: &'static str,
    /// The section `[flow_control]`.
    section: &'static str,
    is_cycle_aware: bool,
}

const PFC: Scheme = plain("PFC", "kind = 'pfc'\nxoff = '280 KB'\nxon = '277 KB'");
const CBFC: Scheme = plain("CBFC", "kind = 'cbfc'\ncredits = '300 KB'");
const BUFFER: Scheme = plain("GFC buffer", "kind = 'gfc-buffer'\nbm = '300 KB'\nb1 = '281 KB'");
const TIME: Scheme = plain("GFC time", "kind = 'gfc-time'\nbm = '300 KB'\nb0 = '159 KB'");
const PFC_AWARE: Scheme = aware("PFC+", "kind = 'pfc'");
const CBFC_AWARE: Scheme = aware("CBFC+", "kind = 'cbfc'");
const BUFFER_AWARE: Scheme = aware("GFC buffer+", "kind = 'gfc-buffer'");
const TIME_AWARE: Scheme = aware("GFC time+", "kind = 'gfc-time'");

/// Those of the paper, with its parameters.
const PAPER: [Scheme; 4] = [PFC, BUFFER, CBFC, TIME];
/// The same with thresholds of our own, which `+` stands for.
const AWARE: [Scheme; 4] = [PFC_AWARE, BUFFER_AWARE, CBFC_AWARE, TIME_AWARE];

const fn plain(name: &'static str, section: &'static str) -> Scheme {
    Scheme { name, section, is_cycle_aware: false }
}

const fn aware(name: &'static str, section: &'static str) -> Scheme {
    Scheme { name, section, is_cycle_aware: true }
}

/// A network and a repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    sample: u64,
    seed: u64,
}

/// The scenario of a network: what makes it out of k and the number of its sample.
fn network(scope: &Scope<'_>, base: &str, (k, sample): (u32, u64)) -> Result<String, Failure> {
    let sample = Value::from(sample as i64);
    let set = [
        ("topology.k", Value::from(i64::from(k))),
        ("topology.random_failures.sample", sample.clone()),
        ("routing.seed", sample),
    ];
    scope.patch(base, &Table::from_iter(set.map(|(path, value)| (path.to_string(), value))))
}

/// Adds the numbers of these names that a run has.
fn record(measured: &mut Measured, prefix: &str, sample: &Sample, names: &[&str]) {
    for name in names {
        if let Some(value) = sample.metric(name) {
            measured.values.push(format!("{prefix}/{name}"), value);
        }
    }
}

/// How a network is run.
#[derive(Clone, Copy, Debug)]
struct How {
    scheme: Scheme,
    discipline: Discipline,
    duration: Span,
    stops_on_deadlock: bool,
}

impl How {
    /// A run of this length, whatever happens in it.
    fn whole(scheme: Scheme, discipline: Discipline, duration: Span) -> How {
        How { scheme, discipline, duration, stops_on_deadlock: false }
    }

    /// The run of one repetition on the network of `text`.
    fn task(self, scope: &Scope<'_>, text: &str, pair: Pair) -> Result<Task, Failure> {
        let section: Table = toml::from_str(self.scheme.section).expect("a section");
        let text = scope.set(text, "flow_control", section)?;
        let overrides = Overrides {
            seed: Some(pair.seed),
            duration: Some(self.duration),
            discipline: Some(self.discipline),
            stop_on: Some(if self.stops_on_deadlock { StopOn::DEADLOCK } else { StopOn::NONE }),
            cycle_aware: Some(self.scheme.is_cycle_aware),
            ..Overrides::default()
        };
        let Pair { sample, seed } = pair;
        let (scheme, discipline) = (self.scheme.name, self.discipline.name());
        let name = format!("{scheme}/{discipline}, network {sample}, seed {seed}");
        Ok(Task::new(name, text, overrides))
    }

    /// How the names of values begin, behind what the network is.
    fn prefix(self, networks: &str) -> String {
        format!("{networks}/{}/{}", self.scheme.name, self.discipline.name())
    }
}

/// Repetitions of the network 6229 that deadlock under PFC, of 1 to 100 in 10 ms each. The network
/// is the most exposed of the first 10,000; see `papers/gfc/table1.toml`. In the last two
/// disciplines CBFC deadlocks in the same ones.
fn known(discipline: Discipline) -> Vec<Pair> {
    let seeds: &[u64] = match discipline {
        Discipline::OutputQueued => &[50, 79],
        Discipline::InputQueued => &[46, 50],
        Discipline::VirtualOutputQueued => &[46],
    };
    let pair = |seed: &u64| Pair { sample: EXPOSED, seed: *seed };
    seeds.iter().map(pair).collect()
}

/// The most exposed network of k = 4.
const EXPOSED: u64 = 6229;
