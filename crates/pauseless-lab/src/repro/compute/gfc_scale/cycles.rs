//! Table 1 with exactly the flows that close a cycle: networks with a cycle are many, and repetitions
//! of random traffic that has flows all the way round are few. Here they always are.

use std::collections::BTreeSet;

use pauseless_core::switch::Discipline;
use pauseless_core::unit::Span;
use toml::Value;

use super::super::super::Scale;
use super::super::super::scope::{Failure, Scope, Task};
use super::trees::{Ties, Trees};
use super::{AWARE, CBFC, PAPER, PFC, Scheme, network};
use crate::repro::data::{Measured, Values};
use pauseless_run::metrics::statistics::wilson;
use pauseless_run::sample::Sample;
use pauseless_run::table::{Column, Table};
use pauseless_scenario::Overrides;

/// Networks of one size.
struct Campaign {
    k: u32,
    /// How many are looked at.
    screened: u64,
    /// Of those with a cycle so many are run, the first ones.
    networks: usize,
}

fn campaigns(scale: Scale) -> Vec<Campaign> {
    let campaign = |k, screened, networks| Campaign { k, screened, networks };
    match scale {
        Scale::Quick => vec![campaign(4, 300, 12)],
        Scale::Full => vec![campaign(4, 10_000, usize::MAX), campaign(8, 10_000, usize::MAX)],
    }
}

/// A way to run a network.
type Part = (Scheme, Discipline);

fn parts() -> impl Iterator<Item = Part> {
    let schemes = PAPER.into_iter().chain(AWARE);
    schemes.flat_map(|scheme| Discipline::ALL.into_iter().map(move |it| (scheme, it)))
}

/// `compute`: the table.
pub fn cycles(scope: &Scope<'_>, measured: &mut Measured) -> Result<(), Failure> {
    let base = scope.text()?;
    let mut runs = Grid::default();
    let mut rows = Grid::default();
    for Campaign { k, screened, networks } in campaigns(scope.scale()) {
        let mut trees = Trees::new(k, Ties::Random);
        let found = trees.screen(screened);
        let mut samples = Vec::from_iter(found.cyclic.iter().map(|it| it.sample));
        samples.sort_unstable();
        samples.truncate(networks);
        let mut texts = Vec::new();
        for sample in &samples {
            let flows = trees.closing(*sample);
            let text = network(scope, &base, (k, *sample))?;
            texts.push((*sample, flows.len(), scope.set(&text, "flow", listed(&flows))?));
        }
        let mut tallies = Vec::new();
        for part in parts() {
            let tasks = texts.iter();
            let tasks = tasks.map(|(sample, _, text)| task(scope, (part, *sample), text));
            let tasks = tasks.collect::<Result<Vec<_>, Failure>>()?;
            let mut tally = Tally::default();
            for ((sample, flows, _), it) in texts.iter().zip(scope.sample(tasks)?) {
                tally.add(*sample, &it);
                let numbers = Tally::numbers_of(&it);
                let head = [f64::from(k), *sample as f64, *flows as f64];
                runs.add(part, &[&head[..], &numbers].concat());
            }
            tallies.push((part, tally));
        }
        for (part, tally) in &tallies {
            let numbers = tally.numbers();
            let prefix = format!("k{k}/{}/{}", part.0.name, part.1.name());
            for (name, number) in NUMBERS.iter().zip(numbers) {
                measured.values.push(format!("{prefix}/{name}"), number);
            }
            rows.add(*part, &[&[f64::from(k)][..], &numbers].concat());
        }
        overlap(&mut measured.values, k, &tallies);
    }
    measured.tables.push(rows.finish("cycles", &[&["k"][..], &NUMBERS].concat()));
    let head = ["k", "sample", "flows"];
    measured.tables.push(runs.finish("networks", &[&head[..], &METRICS].concat()));
    Ok(())
}

/// `[[flow]]` for each pair of hosts.
fn listed(flows: &[(String, String)]) -> Value {
    let flow = |(number, (source, target)): (usize, &(String, String))| {
        let entries = [
            ("name", format!("F{}", number + 1)),
            ("source", source.clone()),
            ("target", target.clone()),
        ];
        let entries = entries.map(|(key, value)| (key.to_string(), Value::from(value)));
        Value::Table(toml::Table::from_iter(entries))
    };
    Value::Array(flows.iter().enumerate().map(flow).collect())
}

/// How long sources send. Behind output FIFOs a long cycle fills by a little at a time: six networks
/// that were looked at deadlock between 1 and 27 ms.
fn sending(discipline: Discipline) -> Span {
    match discipline {
        Discipline::OutputQueued => Span::ms(40),
        Discipline::VirtualOutputQueued | Discipline::InputQueued => Span::ms(10),
    }
}

/// How long a run goes on when the sources have stopped.
const DRAINING: Span = Span::ms(5);

fn task(scope: &Scope<'_>, (part, sample): (Part, u64), text: &str) -> Result<Task, Failure> {
    let (scheme, discipline) = part;
    let section: toml::Table = toml::from_str(scheme.section).expect("a section");
    let text = scope.set(text, "flow_control", section)?;
    let sending = sending(discipline);
    let stop = format!("{} ps", sending.as_ps());
    let text = scope.set(&text, "timing.sources_stop", stop)?;
    let overrides = Overrides {
        duration: Some(sending + DRAINING),
        discipline: Some(discipline),
        cycle_aware: Some(scheme.is_cycle_aware),
        ..Overrides::default()
    };
    let name = format!("{}/{}, network {sample}", scheme.name, discipline.name());
    Ok(Task::new(name, text, overrides))
}

/// What came of the networks under one scheme in one discipline.
#[derive(Clone, Debug, Default)]
struct Tally {
    networks: usize,
    deadlocked: BTreeSet<u64>,
    stuck: usize,
    starved: usize,
    undrained: usize,
    lost: f64,
    share: f64,
    least: f64,
    worst: Option<f64>,
}

/// What is kept of each network.
const METRICS: [&str; 7] =
    ["deadlock", "stuck", "starved", "held_kb", "lost", "share_mean", "share_min"];

impl Tally {
    fn numbers_of(sample: &Sample) -> [f64; 7] {
        METRICS.map(|name| sample.metric(name).unwrap_or(f64::NAN))
    }

    fn add(&mut self, network: u64, sample: &Sample) {
        let [deadlock, stuck, starved, held, lost, share, least] = Tally::numbers_of(sample);
        self.networks += 1;
        if deadlock > 0.0 {
            self.deadlocked.insert(network);
        }
        self.stuck += usize::from(stuck > 0.0);
        self.starved += usize::from(starved > 0.0);
        self.undrained += usize::from(held > 0.0);
        self.lost += lost;
        self.share += share;
        self.least += least;
        self.worst = Some(self.worst.map_or(least, |worst| worst.min(least)));
    }

    /// In the order of [`NUMBERS`].
    fn numbers(&self) -> [f64; 15] {
        let networks = self.networks.max(1) as f64;
        let percent = |count: usize| 100.0 * count as f64 / networks;
        let bounds = |count| wilson(count, self.networks).map(|share| 100.0 * share);
        let (deadlocks, starved) = (self.deadlocked.len(), self.starved);
        let [deadlocks_low, deadlocks_high] = bounds(deadlocks);
        let [starved_low, starved_high] = bounds(starved);
        [
            self.networks as f64,
            deadlocks as f64,
            percent(deadlocks),
            deadlocks_low,
            deadlocks_high,
            self.stuck as f64,
            starved as f64,
            percent(starved),
            starved_low,
            starved_high,
            self.undrained as f64,
            self.lost,
            self.share / networks,
            self.least / networks,
            self.worst.unwrap_or(0.0),
        ]
    }
}

/// `share_percent` is the mean of all flows, network by network; `least_percent` the mean over the
/// networks of the flow that has the least; `worst_percent` the least of all.
const NUMBERS: [&str; 15] = [
    "networks",
    "deadlocked",
    "deadlocked_percent",
    "deadlocked_low_percent",
    "deadlocked_high_percent",
    "stuck",
    "starved",
    "starved_percent",
    "starved_low_percent",
    "starved_high_percent",
    "undrained",
    "lost",
    "share_percent",
    "least_percent",
    "worst_percent",
];

/// The networks that deadlock under both PFC and CBFC, in percent of those that do under either.
fn overlap(values: &mut Values, k: u32, tallies: &[(Part, Tally)]) {
    for discipline in Discipline::ALL {
        let of = |scheme| {
            let found = tallies.iter();
            let mut found = found.filter(|(part, _)| *part == (scheme, discipline));
            found.next().map(|(_, tally)| &tally.deadlocked)
        };
        let (Some(pfc), Some(cbfc)) = (of(PFC), of(CBFC)) else {
            continue;
        };
        let either = pfc.union(cbfc).count();
        let both = pfc.intersection(cbfc).count();
        let prefix = format!("k{k}/{}", discipline.name());
        values.push(format!("{prefix}/either"), either as f64);
        values.push(format!("{prefix}/both"), both as f64);
        if either == 0 {
            continue;
        }
        let [low, high] = wilson(both, either);
        let share = both as f64 / either as f64;
        for (name, share) in [
            ("overlap_percent", share),
            ("overlap_low_percent", low),
            ("overlap_high_percent", high),
        ] {
            values.push(format!("{prefix}/{name}"), 100.0 * share);
        }
    }
}

/// Rows of numbers, each of a scheme and a discipline.
#[derive(Default)]
struct Grid {
    parts: Vec<Part>,
    rows: Vec<Vec<f64>>,
}

impl Grid {
    fn add(&mut self, part: Part, numbers: &[f64]) {
        self.parts.push(part);
        self.rows.push(numbers.to_vec());
    }

    fn finish(self, name: &str, names: &[&str]) -> Table {
        let texts = |name: &str, of: &dyn Fn(&Part) -> &'static str| {
            Column::texts(name, self.parts.iter().map(|part| of(part).to_string()))
        };
        let plain = |part: &Part| part.0.name.trim_end_matches('+');
        let aware = |part: &Part| if part.0.is_cycle_aware { "yes" } else { "no" };
        let mut columns = vec![
            texts("scheme", &plain),
            texts("cycle_aware", &aware),
            texts("discipline", &|part| part.1.name()),
        ];
        for (index, name) in names.iter().enumerate() {
            let cells = self.rows.iter().map(|row| Some(row[index]));
            let cells = cells.map(|cell| cell.filter(|number| number.is_finite()));
            columns.push(Column::numbers(*name, cells));
        }
        Table::new(name, columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The flows of the scenario file are those that the analyser names, and its shares are those of
    /// a network of which a deadlock leaves nothing.
    #[test]
    fn the_closing_flows_deadlock_and_none_of_them_is_needless() {
        let text = include_str!("../../../../../../papers/gfc/table1-cycles.toml");
        let flows = Trees::new(4, Ties::Random).closing(6229);
        let expected = [("H2", "H4"), ("H14", "H8"), ("H6", "H1"), ("H10", "H14")];
        let expected = expected.map(|(source, target)| (source.to_string(), target.to_string()));
        assert_eq!(flows, expected);
        let run_of = |flows: &[(String, String)]| {
            let set = toml::Table::from_iter([("flow".to_string(), listed(flows))]);
            let text = pauseless_scenario::patch::patch(text, &set).expect("a scenario");
            let scenario = pauseless_scenario::Scenario::parse("t", &text, &Overrides::default());
            let scenario = scenario.unwrap_or_else(|wrong| panic!("{wrong}"));
            let run =
                pauseless_run::Run::execute(scenario, |_| std::ops::ControlFlow::Continue(()));
            let shares = pauseless_run::sample::share::shares(&run);
            let mean = shares.iter().sum::<f64>() / shares.len() as f64;
            (run.outcome.deadlock.is_some(), mean)
        };
        assert_eq!(run_of(&flows), (true, 0.0));
        let (is_deadlock, share) = run_of(&flows[1..]);
        assert!(!is_deadlock && (share - 100.0).abs() < 3.0, "{share}");
    }

    #[test]
    fn overlap_is_the_share_of_either() {
        let tally = |scheme, networks: [u64; 2]| {
            let deadlocked = BTreeSet::from(networks);
            let tally = Tally { deadlocked, ..Tally::default() };
            ((scheme, Discipline::OutputQueued), tally)
        };
        let tallies = [tally(PFC, [1, 2]), tally(CBFC, [2, 3])];
        let mut values = Values::default();
        overlap(&mut values, 4, &tallies);
        let percent = values.get("k4/output-queued/overlap_percent");
        let percent = percent.expect("two deadlock")[0].expect("measured");
        assert!((percent - 100.0 / 3.0).abs() < 1e-9);
        assert_eq!(values.get("k4/input-queued/overlap_percent"), None);
    }
}
