//! Readings: what else a paper may mean where it leaves something open, and what comes out then.
//!
//! A reading names its source and what it changes. A claim says under which readings it is judged
//! beside the experiment as it is written; only the runs that such a claim speaks of and that the
//! reading changes are made again.

use std::collections::BTreeSet;

use pauseless_core::switch::Discipline;
use toml::Table;

use super::catalogue::Entry;
use super::data::{Measured, Values};
use super::file::{Asks, AtFull, Case, Claim, Experiment, Met};
use super::scope::{Failure, Scope};
use super::{Scale, campaign, collect, run_cases};
use pauseless_scenario::did_you_mean;
use pauseless_text::declare::{Filled, Key, List, Tables};
use pauseless_text::problem::Sink;
use pauseless_text::{section, words};

section! {
    /// Another reading of what the paper leaves open or states otherwise elsewhere.
    pub struct Reading {
        /// Its name on the command line and in `under`.
        name: String, required "\"qcn-1500us\"", default String::new();
        /// What it takes to be otherwise, in words.
        what: String, required "\"QCN's timer is 1,500 us\"", default String::new();
        /// Where it comes from; the paper's own words, the code that the paper builds on, an argument
        /// from either, or values that were tried until the result fitted.
        source: Origin, required "\"cited-code\"", default Origin::Fitted;
        /// The sentence, the file or the argument that speaks for it.
        evidence: String, required "\"reference 48, the constructor of its sender\"", default String::new();
        /// What it changes in the scenario; nothing if it only reads the claim's words otherwise.
        changes as "change": Tables<Change>, default Tables::default();
    }
}

section! {
    /// Values of the scenario that a reading replaces.
    pub struct Change {
        /// The only cases in which it replaces them; without it, also in campaigns and in `compute`.
        cases: List<String>, within "a list of cases", default List::new(), derived "all runs";
        /// Values of the scenario by their paths, after those of scale, case and discipline.
        set: Table, required "set = { duration = \"1 s\" }", default Table::new();
    }
}

section! {
    /// How a claim is judged under a reading.
    pub struct Under {
        /// The name of the reading.
        reading: String, required "\"qcn-1500us\"", default String::new();
        /// Where it is met under this reading; everywhere, nowhere, or in these disciplines.
        met: Met, required "true", default Met::Always(true);
        /// Why it is not met, or not everywhere.
        reason: String, default String::new();
        /// What is asked under this reading, where it is not what the claim asks.
        asks: Asks, keys inline;
        /// The only scale at which it is judged under this reading.
        scale: Scale;
        /// Where it is met at the paper's scale, if that is not where it is met in a quick run.
        full: AtFull;
    }
}

section! {
    /// What the paper itself says that a claim cannot hold with.
    pub struct Contradiction {
        /// The equation or the sentence, and what follows from it.
        by: String, required "\"equation 5: the queue drains at w_min C, in 104 ms\"", default String::new();
        /// What is asked of a computed value, if one shows it.
        asks: Asks, keys inline;
    }
}

/// Where a reading comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The paper says it.
    Paper,
    /// The code that the paper builds on does it.
    CitedCode,
    /// It follows from what the paper or that code says.
    Inferred,
    /// It was tried until the result fitted.
    Fitted,
}

words! {
    Origin {
        "paper" => Origin::Paper,
        "cited-code" => Origin::CitedCode,
        "inferred" => Origin::Inferred,
        "fitted" => Origin::Fitted,
    }
}

impl Origin {
    /// All origins, from the strongest.
    pub const ALL: [Origin; 4] =
        [Origin::Paper, Origin::CitedCode, Origin::Inferred, Origin::Fitted];

    /// The origin in words.
    pub fn name(self) -> &'static str {
        match self {
            Origin::Paper => "the paper",
            Origin::CitedCode => "cited code",
            Origin::Inferred => "inferred",
            Origin::Fitted => "fitted",
        }
    }
}

impl Reading {
    /// What is replaced in all runs.
    fn everywhere(&self) -> Table {
        let all = self.changes.iter().filter(|change| change.cases.is_empty());
        all.flat_map(|change| change.set.value.clone()).collect()
    }

    /// What is replaced in one case alone.
    pub(super) fn of_case(&self, case: &Case) -> Table {
        let is_it = |change: &&Change| change.cases.iter().any(|it| it.value == *case.name);
        let own = self.changes.iter().filter(is_it);
        own.flat_map(|change| change.set.value.clone()).collect()
    }
}

impl Claim {
    /// The claim as it is judged under a reading.
    pub(super) fn read_as(&self, under: &Under) -> Claim {
        Claim {
            asks: under.asks.or(&self.asks),
            met: under.met.clone(),
            reason: under.reason.clone(),
            full: under.full.clone(),
            scale: if under.scale.is_written { under.scale.clone() } else { self.scale.clone() },
            under: Filled::new(Tables::default()),
            contradicted: Key::default(),
            ..self.clone()
        }
    }

    /// The contradiction as a claim that must hold, if it is computed.
    pub(super) fn contradiction(&self) -> Option<Claim> {
        let of = self.contradicted.get()?;
        (!of.asks.names().is_empty()).then(|| Claim {
            asks: of.asks.clone(),
            full: Key::default(),
            under: Filled::new(Tables::default()),
            contradicted: Key::default(),
            ..self.clone()
        })
    }
}

impl Asks {
    /// What is asked under a reading: its values and its criterion, or those of the claim.
    fn or(&self, base: &Asks) -> Asks {
        let mut asks = if self.has_criterion() { self.clone() } else { base.clone() };
        let names = if self.names().is_empty() { base } else { self };
        asks.value = names.value.clone();
        asks.order = names.order.clone();
        asks
    }
}

impl Experiment {
    /// Reports readings that are declared twice or never used, and names of others.
    pub(super) fn check_readings(&self, sink: &Sink) {
        let names = || self.readings.iter().map(|it| it.name.as_str());
        let cases = || self.cases.iter().map(|it| it.name.as_str());
        for (index, reading) in self.readings.iter().enumerate() {
            let place = reading.name.place.as_ref().unwrap_or(&reading.place);
            let name = reading.name.as_str();
            if name.is_empty() || name.contains(|c: char| c.is_whitespace() || "/@:".contains(c)) {
                let message = format!("reading {name:?}: no blank, /, @ or : in a name");
                sink.push(place.problem(message));
            }
            if names().take(index).any(|it| it == name) {
                sink.push(place.problem(format!("reading {name:?} is there twice")));
            }
            let mut unders = self.claims.iter().flat_map(|claim| claim.under.iter());
            if !unders.any(|under| *under.reading == name) {
                let problem = place.problem(format!("no claim is judged under {name:?}"));
                sink.push(problem.help("name it in under = [{ reading = .., met = .. }]"));
            }
            for case in reading.changes.iter().flat_map(|change| change.cases.iter()) {
                if !cases().any(|it| it == case.value) {
                    let problem = case.place.problem(format!("no case {:?}", case.value));
                    sink.push(problem.help(did_you_mean(&case.value, cases())));
                }
            }
        }
        for claim in self.claims.iter() {
            let unders = &claim.under;
            for (index, under) in unders.iter().enumerate() {
                let place = under.reading.place.as_ref().unwrap_or(&under.place);
                let name = under.reading.as_str();
                if !names().any(|it| it == name) {
                    let problem = place.problem(format!("no reading {name:?}"));
                    sink.push(problem.help(did_you_mean(name, names())));
                }
                if unders.iter().take(index).any(|it| *it.reading == name) {
                    sink.push(place.problem(format!("{name:?} is there twice")));
                }
                if let Err(problem) = claim.read_as(under).check(self) {
                    sink.push(under.place.problem(problem.message));
                }
            }
        }
    }

    /// The experiment with nothing but the claims that are tried under a reading, without figures.
    pub(super) fn only(mut self, reading: &str) -> Result<Experiment, String> {
        let names = || self.readings.iter().map(|it| it.name.as_str());
        if !names().any(|it| it == reading) {
            let near = did_you_mean(reading, names());
            let near = match (near.as_str(), self.readings.is_empty()) {
                (_, true) => "this experiment has no readings",
                ("", _) => "pauseless repro --list names all",
                (near, _) => near,
            };
            return Err(format!("no reading is called {reading:?}; {near}"));
        }
        let claims = self.claims.value.0.into_iter().filter_map(|mut claim| {
            claim.under.value.0.retain(|under| *under.reading == reading);
            (!claim.under.is_empty()).then_some(claim)
        });
        self.claims.value.0 = claims.collect();
        self.readings.value.0.retain(|it| *it.name == reading);
        self.figures.value.0.clear();
        Ok(self)
    }
}

/// The values that claims speak of.
pub(super) struct Needed(BTreeSet<String>);

impl Needed {
    /// All values of these claims, as written and under their readings.
    pub(super) fn of<'c>(claims: impl Iterator<Item = &'c Claim>, places: &[Discipline]) -> Needed {
        let mut needed = BTreeSet::new();
        for claim in claims {
            let asks = claim.under.iter().map(|under| &under.asks).chain([&claim.asks]);
            let computed = claim.contradicted.get().map(|it| &it.asks);
            for name in asks.chain(computed).flat_map(|asks| asks.names()) {
                for value in name.value.split(" : ").map(str::trim) {
                    if value.contains("{d}") {
                        let each = places.iter().map(|place| value.replace("{d}", place.name()));
                        needed.extend(each);
                    } else {
                        needed.insert(value.to_string());
                    }
                }
            }
        }
        Needed(needed)
    }

    /// Whether some of them begin with `prefix`.
    pub(super) fn has(&self, prefix: &str) -> bool {
        self.0.iter().any(|name| is_below(name, prefix))
    }
}

fn is_below(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/'))
}

/// What was measured as the experiment is written, and is kept for its readings.
pub(super) struct AsWritten<'a> {
    pub entry: &'a Entry,
    pub experiment: &'a Experiment,
    /// What cases and campaigns gave, before anything was computed from it.
    pub runs: &'a Measured,
    /// How the names of their values begin.
    pub prefixes: &'a [String],
    /// All values, with those that were computed.
    pub values: &'a Values,
}

/// What was measured under a reading.
pub(super) struct Reread {
    /// The name of the reading.
    pub reading: String,
    /// The values that are others, or were measured again.
    pub again: Values,
    /// All values, with these in the place of those as written.
    pub all: Values,
}

impl AsWritten<'_> {
    /// Makes the runs that a reading changes and that claims need.
    pub(super) fn under(&self, scope: &Scope<'_>, reading: &Reading) -> Result<Reread, Failure> {
        let claims = self.experiment.claims.iter().filter(|claim| {
            let is_now = claim.scale.or(scope.scale()) == scope.scale();
            is_now && claim.under.iter().any(|under| is_tried(under, reading, scope.scale()))
        });
        let needed = Needed::of(claims, &self.experiment.disciplines);
        let everywhere = reading.everywhere();
        let is_everywhere = !everywhere.is_empty();
        let of_run = |name: &String| self.prefixes.iter().any(|prefix| is_below(name, prefix));
        let compute = self.experiment.compute.copied();
        let compute = compute.filter(|_| is_everywhere && !needed.0.iter().all(of_run));
        let scope = scope.under(&reading.name, everywhere);
        let mut again = Measured::default();
        let is_changed = |case: &Case, prefix: &str| {
            // What is computed may need any run.
            let is_needed = compute.is_some() || needed.has(prefix);
            is_needed && (is_everywhere || !reading.of_case(case).is_empty())
        };
        let outcomes = run_cases(&scope, self.experiment, Some(reading), &is_changed)?;
        let mut prefixes = collect(self.experiment, &outcomes, &mut again.values);
        if is_everywhere {
            let wanted = |prefix: &str| compute.is_some() || needed.has(prefix);
            prefixes.extend(campaign::run_all(&scope, self.entry, &mut again, &wanted)?);
        }
        let is_new = |name: &str| prefixes.iter().any(|prefix| is_below(name, prefix));
        let mut values = self.values.clone();
        values.retain(|name| !is_new(name));
        values.extend(again.values.clone());
        if let Some(compute) = compute {
            let mut computed = self.runs.clone();
            computed.values.retain(|name| !is_new(name));
            computed.values.extend(again.values.clone());
            computed.curves.retain(|(name, _)| !prefixes.contains(name));
            computed.curves.extend(again.curves);
            let before =
                BTreeSet::from_iter(computed.values.iter().map(|(name, _)| name.to_string()));
            (compute.call)(&scope, &mut computed)?;
            computed.values.retain(|name| !before.contains(name));
            values.retain(|name| computed.values.get(name).is_none());
            values.extend(computed.values.clone());
            again.values.extend(computed.values);
        }
        Ok(Reread { reading: reading.name.value.clone(), again: again.values, all: values })
    }
}

fn is_tried(under: &Under, reading: &Reading, scale: Scale) -> bool {
    *under.reading == *reading.name && under.scale.or(scale) == scale
}
