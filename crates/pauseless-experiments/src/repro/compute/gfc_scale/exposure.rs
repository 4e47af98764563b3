//! Table 1: how many of 10,000 networks deadlock in any of 100 repetitions, extrapolated from the runs
//! of a campaign.

use std::collections::{BTreeMap, BTreeSet};

use super::super::super::Scale;
use super::super::super::scope::{Failure, Scope};
use super::trees::{Cyclic, Ties, Trees};
use crate::repro::data::{Measured, Values};
use pauseless_run::metrics::statistics::wilson;
use pauseless_run::table::{Column, Table};

/// The number of networks of each size in the paper.
const NETWORKS: u64 = 10_000;
/// The number of repetitions of each network with a cycle in the paper.
const REPETITIONS: u64 = 100;

/// `compute`: how exposed the networks of each size are, and from that how many are expected to
/// deadlock.
pub fn exposure(scope: &Scope<'_>, measured: &mut Measured) -> Result<(), Failure> {
    let sizes: &[(u32, u64)] = match scope.scale() {
        Scale::Quick => &[(4, NETWORKS), (8, 2_000)],
        Scale::Full => &[(4, NETWORKS), (8, NETWORKS), (16, NETWORKS)],
    };
    let mut tendency = Tendency::new();
    for &(k, count) in sizes {
        let random = Trees::new(k, Ties::Random).screen(count);
        let lowest = Trees::new(k, Ties::Lowest).screen(count);
        let per = NETWORKS as f64 / count as f64;
        for (name, count) in [
            ("cyclic", random.cyclic.len()),
            ("cyclic_lowest", lowest.cyclic.len()),
            ("cut", random.cut),
        ] {
            measured.values.push(format!("k{k}/{name}"), count as f64 * per);
        }
        measured.tables.push(exposures(format!("cyclic_k{k}"), &random.cyclic));
        measured.tables.push(exposures(format!("cyclic_lowest_k{k}"), &lowest.cyclic));
        // How the values of the campaigns begin that were run with these paths.
        for (paths, cyclic) in [("", random.cyclic), ("lowest ", lowest.cyclic)] {
            let size = Size { paths, k, per, cyclic: &cyclic };
            size.extrapolate(scope, &mut measured.values, &mut tendency)?;
        }
    }
    overlap(scope, measured)
}

/// Deadlocks of k = 4 and the sum of the exposures of its runs, by the paths and the way of a run:
/// by these larger networks are counted.
type Tendency = BTreeMap<String, (f64, f64)>;

/// The networks of one size with one rule of paths.
struct Size<'a> {
    paths: &'static str,
    k: u32,
    /// How many of the paper's networks each screened one stands for.
    per: f64,
    /// Those with a cycle, the most exposed first.
    cyclic: &'a [Cyclic],
}

impl Size<'_> {
    /// Adds how many of the paper's networks are expected to deadlock in each way that was run.
    fn extrapolate(
        &self,
        scope: &Scope<'_>,
        values: &mut Values,
        tendency: &mut Tendency,
    ) -> Result<(), Failure> {
        let Size { paths, k, per, cyclic } = *self;
        let size = format!("{paths}k{k}");
        for ways in ways(values, &size) {
            let prefix = format!("{size}/{ways}");
            let ran = Ran::of(values, &prefix);
            if scope.scale() == Scale::Quick && !ran.are_most_exposed(cyclic) {
                return Err(scope.wrong(format!("{prefix}: other networks are more exposed")));
            }
            let same = format!("{paths}{ways}");
            if k == 4 {
                let deadlocks = ran.deadlocks().count() as f64;
                tendency.insert(same.clone(), (deadlocks, ran.exposure(cyclic)));
            }
            let (deadlocks, exposed) = tendency.get(&same).copied().unwrap_or((0.0, 0.0));
            let expected = bounds(deadlocks).map(|count| {
                let each = count / exposed.max(f64::MIN_POSITIVE);
                per * expected(cyclic, each)
            });
            let deadlocked = BTreeSet::from_iter(ran.deadlocks()).len();
            values.push(format!("{prefix}/deadlocked"), deadlocked as f64);
            for (name, value) in ["expected", "expected_low", "expected_high"].iter().zip(expected)
            {
                values.push(format!("{prefix}/{name}"), value);
            }
        }
        Ok(())
    }
}

/// The schemes and disciplines in which networks of this size were run, such as
/// `PFC/output-queued`.
fn ways(values: &Values, size: &str) -> Vec<String> {
    let names = values
        .iter()
        .filter_map(|(name, _)| name.strip_prefix(&format!("{size}/"))?.strip_suffix("/deadlock"));
    names.map(str::to_string).collect()
}

/// The network of each run of one scheme in one discipline, and whether the run deadlocked.
struct Ran(Vec<(u64, bool)>);

impl Ran {
    fn of(values: &Values, prefix: &str) -> Ran {
        let of = |name: &str| {
            let all = values.get(&format!("{prefix}/{name}")).unwrap_or_default();
            all.iter().map(|value| value.unwrap_or(0.0))
        };
        let runs = of("network").zip(of("deadlock"));
        Ran(runs.map(|(network, deadlock)| (network as u64, deadlock > 0.0)).collect())
    }

    /// The networks of the runs that deadlocked.
    fn deadlocks(&self) -> impl Iterator<Item = u64> {
        self.0.iter().filter(|(_, is_deadlocked)| *is_deadlocked).map(|(network, _)| *network)
    }

    /// The sum of the exposures of the networks of all runs.
    fn exposure(&self, cyclic: &[Cyclic]) -> f64 {
        let of = BTreeMap::from_iter(cyclic.iter().map(|it| (it.sample, it.exposure)));
        self.0.iter().filter_map(|(network, _)| of.get(network)).sum()
    }

    /// Whether no network is more exposed than those that were run; `cyclic` has the most exposed
    /// first.
    fn are_most_exposed(&self, cyclic: &[Cyclic]) -> bool {
        let networks = BTreeSet::from_iter(self.0.iter().map(|(network, _)| *network));
        cyclic.iter().take(networks.len()).all(|it| networks.contains(&it.sample))
    }
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

/// `compute`: the networks that deadlock under both PFC and CBFC, in percent of those that do under
/// either.
pub fn overlap(scope: &Scope<'_>, measured: &mut Measured) -> Result<(), Failure> {
    for k in [4, 8, 16] {
        for discipline in scope.experiment().disciplines.iter() {
            overlap_of(&mut measured.values, &format!("k{k}"), discipline.name());
        }
    }
    Ok(())
}

fn overlap_of(values: &mut Values, size: &str, discipline: &str) {
    let [pfc, cbfc] =
        ["PFC", "CBFC"].map(|scheme| Ran::of(values, &format!("{size}/{scheme}/{discipline}")));
    if pfc.0.is_empty() || cbfc.0.is_empty() {
        return;
    }
    let [pfc, cbfc] = [pfc, cbfc].map(|ran| BTreeSet::from_iter(ran.deadlocks()));
    let (either, both) = (pfc.union(&cbfc).count(), pfc.intersection(&cbfc).count());
    let mut push = |name: &str, value| values.push(format!("{size}/{discipline}/{name}"), value);
    push("either", either as f64);
    push("both", both as f64);
    if either > 0 {
        let [low, high] = wilson(both, either);
        push("overlap_percent", 100.0 * (both as f64 / either as f64));
        push("overlap_low_percent", 100.0 * low);
        push("overlap_high_percent", 100.0 * high);
    }
}

fn exposures(name: String, cyclic: &[Cyclic]) -> Table {
    let samples = cyclic.iter().map(|it| Some(it.sample as f64));
    let exposures = cyclic.iter().map(|it| Some(it.exposure));
    let columns = vec![Column::numbers("sample", samples), Column::numbers("exposure", exposures)];
    Table::new(name, columns)
}

#[cfg(test)]
mod tests {
    use pauseless_core::switch::Discipline;

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

    #[test]
    fn overlap_is_the_share_of_either() {
        let mut values = Values::default();
        for (scheme, network, deadlock) in
            [("PFC", 1, 1.0), ("PFC", 2, 1.0), ("PFC", 3, 0.0), ("CBFC", 2, 1.0), ("CBFC", 3, 1.0)]
        {
            values.push(format!("k4/{scheme}/output-queued/network"), f64::from(network));
            values.push(format!("k4/{scheme}/output-queued/deadlock"), deadlock);
        }
        for discipline in Discipline::COMMON {
            overlap_of(&mut values, "k4", discipline.name());
        }
        let percent = values.evaluate("k4/output-queued/overlap_percent").expect("two deadlock");
        assert!((percent - 100.0 / 3.0).abs() < 1e-9);
        assert_eq!(values.get("k4/input-queued/overlap_percent"), None);
    }
}
