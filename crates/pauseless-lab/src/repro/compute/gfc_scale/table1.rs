//! Table 1: how many of 10,000 networks deadlock, in any of 100 repetitions.

use std::collections::{BTreeMap, BTreeSet};

use pauseless_core::switch::Discipline;
use pauseless_core::unit::Span;

use super::super::super::Scale;
use super::super::super::scope::{Failure, Scope};
use super::trees::{Cyclic, Ties, Trees};
use super::{AWARE, BUFFER, CBFC, How, PAPER, PFC, Pair, Scheme, TIME, network};
use crate::repro::data::{Measured, Values};
use pauseless_run::metrics::statistics::wilson;
use pauseless_run::sample::Sample;
use pauseless_run::table::{Column, Table};

/// The paper's networks of each size.
const NETWORKS: u64 = 10_000;
/// The paper's repetitions of each network with a cycle.
const REPETITIONS: u64 = 100;
/// How long a repetition lasts.
const DURATION: Span = Span::ms(10);

/// What is run of one size.
struct Campaign {
    k: u32,
    /// How many networks are looked at.
    screened: u64,
    parts: Vec<Part>,
}

/// Networks under one scheme in one discipline, the most exposed first.
#[derive(Clone, Copy)]
struct Part {
    scheme: Scheme,
    discipline: Discipline,
    networks: usize,
    repetitions: u64,
}

/// What came of a part.
#[derive(Clone, Debug, Default)]
struct Tally {
    networks: usize,
    runs: usize,
    deadlocks: usize,
    starved: usize,
    lost: f64,
    /// Networks with a deadlock.
    deadlocked: BTreeSet<u64>,
    /// The exposures of the networks of all runs.
    exposed: f64,
    gbps: f64,
}

impl Tally {
    fn add(&mut self, network: Cyclic, sample: &Sample) {
        let number = |name: &str| sample.metric(name).unwrap_or(0.0);
        self.runs += 1;
        self.exposed += network.exposure;
        self.gbps += number("server_gbps");
        self.lost += number("lost");
        if number("deadlock") > 0.0 {
            self.deadlocks += 1;
            self.deadlocked.insert(network.sample);
        } else if number("starved") > 0.0 {
            self.starved += 1;
        }
    }
}

/// `compute`: the table.
pub fn table1(scope: &Scope<'_>, measured: &mut Measured) -> Result<(), Failure> {
    let base = scope.text()?;
    let mut rows = Rows::default();
    // Deadlocks per exposed run of k = 4, by which quick runs count what they do not run.
    let mut tendency = BTreeMap::new();
    for campaign in campaigns(scope.scale()) {
        let k = campaign.k;
        let screened = Trees::new(k, Ties::Random).screen(campaign.screened);
        let lowest = Trees::new(k, Ties::Lowest).screen(campaign.screened);
        let per = NETWORKS as f64 / campaign.screened as f64;
        for (name, count) in [
            ("cyclic", screened.cyclic.len()),
            ("cyclic_lowest", lowest.cyclic.len()),
            ("cut", screened.cut),
        ] {
            measured.values.push(format!("k{k}/{name}"), count as f64 * per);
        }
        measured.tables.push(exposures(k, &screened.cyclic));
        let mut tallies = Vec::new();
        for part in &campaign.parts {
            let tally = carry_out(scope, (&base, k), (*part, &screened.cyclic))?;
            if k == 4 {
                let key = (part.scheme.name, part.discipline.name());
                tendency.insert(key, (tally.deadlocks as f64, tally.exposed));
            }
            tallies.push((*part, tally));
        }
        for (part, tally) in &tallies {
            let key = (part.scheme.name, part.discipline.name());
            let (deadlocks, exposed) = tendency.get(&key).copied().unwrap_or((0.0, 0.0));
            let expected = bounds(deadlocks).map(|count| {
                let each = count / exposed.max(f64::MIN_POSITIVE);
                per * expected(&screened.cyclic, each)
            });
            rows.add(&mut measured.values, (k, *part), (tally, expected));
        }
        overlap(&mut measured.values, k, &tallies);
    }
    measured.tables.push(rows.finish());
    Ok(())
}

fn campaigns(scale: Scale) -> Vec<Campaign> {
    let part = |scheme, discipline, (networks, repetitions)| Part {
        scheme,
        discipline,
        networks,
        repetitions,
    };
    let fifo = Discipline::OutputQueued;
    let others = [Discipline::VirtualOutputQueued, Discipline::InputQueued];
    if scale == Scale::Full {
        let all = (usize::MAX, REPETITIONS);
        let mut parts =
            Vec::from_iter(PAPER.into_iter().chain(AWARE).map(|it| part(it, fifo, all)));
        for discipline in others {
            parts.extend(PAPER.map(|it| part(it, discipline, all)));
        }
        let sizes = [4, 8, 16].into_iter();
        let campaign = |k| Campaign { k, screened: NETWORKS, parts: parts.clone() };
        return sizes.map(campaign).collect();
    }
    let mut small = Vec::new();
    for discipline in Discipline::ALL {
        small.extend([PFC, CBFC].map(|scheme| part(scheme, discipline, (1, REPETITIONS))));
        small.extend([BUFFER, TIME].map(|scheme| part(scheme, discipline, (1, 10))));
    }
    small.extend(AWARE.map(|scheme| part(scheme, fifo, (1, 10))));
    let medium = vec![
        part(PFC, fifo, (2, 3)),
        part(PFC, Discipline::InputQueued, (2, 3)),
        part(BUFFER, fifo, (1, 2)),
    ];
    vec![
        Campaign { k: 4, screened: NETWORKS, parts: small },
        Campaign { k: 8, screened: 2_000, parts: medium },
    ]
}

/// Runs a part. At the paper's scale a network that has deadlocked is not repeated: it counts.
fn carry_out(
    scope: &Scope<'_>,
    (base, k): (&str, u32),
    (part, cyclic): (Part, &[Cyclic]),
) -> Result<Tally, Failure> {
    let how = How {
        scheme: part.scheme,
        discipline: part.discipline,
        duration: DURATION,
        stops_on_deadlock: true,
    };
    let mut tally = Tally::default();
    for &it in cyclic.iter().take(part.networks) {
        tally.networks += 1;
        let text = network(scope, base, (k, it.sample))?;
        let seeds = Vec::from_iter(1..=part.repetitions);
        for some in seeds.chunks(20) {
            let pairs = some.iter().map(|seed| Pair { sample: it.sample, seed: *seed });
            let tasks = pairs.map(|pair| how.task(scope, &text, pair));
            let tasks = tasks.collect::<Result<Vec<_>, Failure>>()?;
            for sample in scope.sample(tasks)? {
                tally.add(it, &sample);
            }
            if scope.scale() == Scale::Full && tally.deadlocked.contains(&it.sample) {
                break;
            }
        }
    }
    Ok(tally)
}

/// How many of the networks are expected to deadlock in any of the paper's repetitions, if a
/// repetition deadlocks with a probability of `each` times its exposure.
fn expected(cyclic: &[Cyclic], each: f64) -> f64 {
    let deadlocks = cyclic.iter().map(|it| {
        let rate = REPETITIONS as f64 * each * it.exposure;
        1.0 - (-rate).exp()
    });
    deadlocks.sum()
}

/// A count of rare events, and the bounds of its 95 % confidence interval (score interval of a
/// Poisson count).
fn bounds(count: f64) -> [f64; 3] {
    let z: f64 = 1.96;
    let middle = count + z * z / 2.0;
    let half = z * (count + z * z / 4.0).sqrt();
    [count, (middle - half).max(0.0), middle + half]
}

/// The networks that deadlock under both PFC and CBFC, in percent of those that do under either.
fn overlap(values: &mut Values, k: u32, tallies: &[(Part, Tally)]) {
    for discipline in Discipline::ALL {
        let of = |scheme: Scheme| {
            let is_it = |part: &Part| (part.scheme, part.discipline) == (scheme, discipline);
            let mut found = tallies.iter().filter(|(part, _)| is_it(part));
            found.next().map(|(_, tally)| &tally.deadlocked)
        };
        let (Some(pfc), Some(cbfc)) = (of(PFC), of(CBFC)) else {
            continue;
        };
        let either = pfc.union(cbfc).count();
        if either > 0 {
            let both = pfc.intersection(cbfc).count();
            let percent = 100.0 * both as f64 / either as f64;
            values.push(format!("k{k}/{}/overlap_percent", discipline.name()), percent);
        }
    }
}

fn exposures(k: u32, cyclic: &[Cyclic]) -> Table {
    let samples = cyclic.iter().map(|it| Some(it.sample as f64));
    let exposures = cyclic.iter().map(|it| Some(it.exposure));
    let columns = vec![Column::numbers("sample", samples), Column::numbers("exposure", exposures)];
    Table::new(format!("cyclic_k{k}"), columns)
}

/// The table itself.
#[derive(Default)]
pub struct Rows {
    names: [Vec<String>; 2],
    numbers: BTreeMap<usize, Vec<Option<f64>>>,
}

impl Rows {
    /// A row; the expected networks come with their bounds.
    fn add(
        &mut self,
        values: &mut Values,
        (k, part): (u32, Part),
        (tally, [expected, low, high]): (&Tally, [f64; 3]),
    ) {
        let share = wilson(tally.deadlocks, tally.runs).map(|share| 100.0 * share);
        let runs = tally.runs.max(1) as f64;
        let numbers = [
            f64::from(k),
            tally.networks as f64,
            tally.runs as f64,
            tally.deadlocked.len() as f64,
            tally.deadlocks as f64,
            share[0],
            share[1],
            expected,
            low,
            high,
            tally.starved as f64,
            tally.lost,
            tally.gbps / runs,
        ];
        let prefix = format!("k{k}/{}/{}", part.scheme.name, part.discipline.name());
        for ((index, name), number) in NUMBERS.iter().enumerate().zip(numbers) {
            self.numbers.entry(index).or_default().push(Some(number));
            values.push(format!("{prefix}/{name}"), number);
        }
        self.names[0].push(part.scheme.name.to_string());
        self.names[1].push(part.discipline.name().to_string());
    }

    fn finish(self) -> Table {
        let [schemes, disciplines] = self.names;
        let mut columns =
            vec![Column::texts("scheme", schemes), Column::texts("discipline", disciplines)];
        let numbers = NUMBERS.iter().zip(self.numbers.into_values());
        columns.extend(numbers.map(|(name, cells)| Column::numbers(*name, cells)));
        Table::new("deadlocks", columns)
    }
}

const NUMBERS: [&str; 13] = [
    "k",
    "networks",
    "runs",
    "deadlocked",
    "deadlocks",
    "deadlocks_low_percent",
    "deadlocks_high_percent",
    "expected",
    "expected_low",
    "expected_high",
    "starved",
    "lost",
    "server_gbps",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_expected_follows_from_the_exposures() {
        let network = |exposure| Cyclic { sample: 0, exposure };
        // A deadlock for certain, and one network in ten.
        let all = [network(1.0), network(0.001_053_6)];
        assert!((expected(&all, 1.0) - 1.1).abs() < 1e-4);
        assert_eq!(expected(&all, 0.0), 0.0);
        let [count, low, high] = bounds(0.0);
        assert_eq!((count, low), (0.0, 0.0));
        assert!((high - 3.84).abs() < 0.01, "{high}");
    }
}
