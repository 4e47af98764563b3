//! The papers' experiments: scenarios and claims as data, run and judged.
//!
//! `papers/gfc/fig12.toml` is a scenario, `papers/gfc/fig12.claims.toml` what the paper says of it
//! and which variants we run: [`mod@file`]. [`reproduce`] makes the runs ([`scope`]), keeps numbers of
//! each ([`pauseless_run::sample`]), judges the claims ([`claim`]) and fills the figures ([`figure`]).
//! [`pauseless_figures`] and [`pauseless_run::table`] make files of them ([`mod@write`]), [`page`] the page of all results.
//! What else a paper may mean is a [`reading`], under which claims are judged, too.
//! `docs/repro.md` is the reference of the format.

mod campaign;
pub mod catalogue;
pub mod claim;
pub mod compute;
pub mod data;
mod doubt;
pub mod figure;
pub mod file;
mod group;
pub mod json;
pub mod judge;
pub mod page;
pub mod reading;
pub mod report;
pub mod scope;
pub mod text;
pub mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pauseless_core::switch::Discipline;

use self::catalogue::Entry;
use self::claim::{Judged, Verdict};
use self::figure::{Filler, Outcome};
use self::file::{Case, Experiment, FigureKind};
use self::judge::Judge;
use self::reading::{AsWritten, Needed, Reading, Reread};
use self::scope::{Failure, Scope, Session, Task};
use crate::repro::data::{Measured, Values};
use pauseless_run::Run;
use pauseless_run::results::Reference;
use pauseless_run::sample::Asked;
use pauseless_run::table::{Column, Table};
use pauseless_scenario::Overrides;
use pauseless_text::named;

named! {
    /// How large experiments are.
    pub enum Scale {
        /// Small enough that all experiments take minutes.
        Quick = "quick",
        /// As large as in the paper.
        Full = "full",
    }
}

/// An experiment that was carried out.
#[derive(Debug)]
pub struct Reproduced {
    /// The files of the experiment.
    pub entry: Entry,
    /// What the claims file says.
    pub experiment: Experiment,
    /// At which scale it was carried out.
    pub scale: Scale,
    /// What every scenario got beside what the files say, such as `timing.clock_ppm=100`.
    pub settings: Vec<String>,
    /// All that was measured.
    pub measured: Measured,
    /// The claims and what came of them.
    pub claims: Vec<Judged>,
    /// Whole runs of small networks, for the page.
    pub runs: Vec<Run>,
    /// The JSON documents of all runs, if they were asked for.
    pub documents: Vec<serde_json::Value>,
}

impl Reproduced {
    /// Whether a claim that is marked as met is not.
    pub fn is_broken(&self) -> bool {
        self.claims.iter().any(|it| it.verdict == Verdict::Broken)
    }

    /// What differs from the paper's experiment or from its files: the size, and what was set.
    fn note(&self) -> String {
        let note = self.experiment.resize(self.scale).note.as_str();
        let notes = [note].into_iter().chain(self.settings.iter().map(String::as_str));
        Vec::from_iter(notes.filter(|note| !note.is_empty())).join("; ")
    }

    /// How many claims of the paper have each verdict, for those that some have.
    pub fn verdicts(&self) -> BTreeMap<&'static str, usize> {
        let mut verdicts = BTreeMap::new();
        for judged in self.claims.iter().filter(|it| !it.claim.is_ours()) {
            *verdicts.entry(judged.verdict.name()).or_default() += 1;
        }
        verdicts
    }

    /// How many claims have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.claims.iter().filter(|it| it.verdict == verdict).count()
    }
}

/// Carries an experiment out and judges its claims.
pub fn reproduce(entry: Entry, session: &Session<'_>) -> Result<Reproduced, Failure> {
    let mut experiment = entry.experiment()?;
    let name = entry.name();
    if let Some(reading) = session.reading {
        let only = experiment.only(reading);
        experiment = only.map_err(|wrong| Failure::Claims(format!("{name}: {wrong}")))?;
    }
    let scenario = entry.scenario(&experiment)?;
    let scope = Scope::new(session, &name, &experiment, scenario);
    let needed = Needed::of(experiment.claims.iter(), &experiment.disciplines);
    let is_wanted = |prefix: &str| {
        session.reading.is_none() || experiment.compute.is_written || needed.has(prefix)
    };
    let outcomes = run_cases(&scope, &experiment, None, &|_, prefix| is_wanted(prefix))?;
    let mut measured = Measured::default();
    let mut prefixes = collect(&experiment, &outcomes, &mut measured.values);
    prefixes.extend(campaign::run_all(&scope, &entry, &mut measured, &is_wanted)?);
    let has_readings = !experiment.readings.is_empty();
    let runs = if has_readings { measured.clone() } else { Measured::default() };
    if let Some(compute) = experiment.compute.copied() {
        (compute.call)(&scope, &mut measured)?;
    }
    let filler = Filler { experiment: &experiment, values: &measured.values, outcomes: &outcomes };
    let figures = experiment.figures.iter().map(|file| filler.figure(file));
    let figures: Result<Vec<_>, String> = figures.collect();
    let figures = figures.map_err(|wrong| scope.wrong(wrong))?;
    measured.figures.splice(0..0, figures);
    let written = AsWritten {
        entry: &entry,
        experiment: &experiment,
        runs: &runs,
        prefixes: &prefixes,
        values: &measured.values,
    };
    let readings = experiment.readings.iter().map(|reading| written.under(&scope, reading));
    let readings = readings.collect::<Result<Vec<Reread>, _>>()?;
    measured.tables.insert(0, values_table(&measured.values, &readings));
    measured.tables.extend(curves_table(&experiment, &outcomes));
    let judge = Judge {
        experiment: &experiment,
        scale: session.scale,
        written: &measured.values,
        readings: &readings,
        prefixes: &prefixes,
    };
    let claims = experiment.claims.iter().map(|claim| judge.judge(claim));
    let claims = claims.collect::<Result<Vec<Judged>, _>>();
    let mut claims = claims.map_err(|wrong| scope.wrong(wrong))?;
    let settings = scope.settings();
    if !settings.is_empty() {
        claims.iter_mut().for_each(Judged::vary);
    }
    let (runs, documents) = scope.into_kept();
    Ok(Reproduced {
        entry,
        experiment,
        scale: session.scale,
        settings,
        measured,
        claims,
        runs,
        documents,
    })
}

/// Collects the numbers of all runs, those of a case in the order of its seeds, and returns how
/// the names of each case begin.
fn collect(experiment: &Experiment, outcomes: &[Outcome], values: &mut Values) -> Vec<String> {
    let mut prefixes = Vec::new();
    let asked = experiment.asked();
    let of = |it: &Outcome| (it.case, it.discipline);
    for runs in outcomes.chunk_by(|a, b| of(a) == of(b)) {
        let (case, discipline) = of(&runs[0]);
        let prefix = prefix(&experiment.cases[case].name, discipline);
        let names = runs.iter().flat_map(|run| run.sample.metrics.keys());
        for metric in names.collect::<BTreeSet<_>>() {
            for run in runs {
                let value = run.sample.metric(metric);
                values.push_if(format!("{prefix}/{metric}"), value);
            }
        }
        for Asked { name, reference } in &asked {
            if let Some(beside) = reference.beside() {
                for sample in runs.iter().map(|run| &run.sample) {
                    let number = |it: &Reference| sample.metric(&it.text());
                    let case = beside.case(sample.metric(name), number);
                    values.push_case(format!("{prefix}/{name}"), case);
                }
            }
        }
        prefixes.push(prefix);
    }
    prefixes
}

/// How the values of a case begin.
fn prefix(case: &str, discipline: Option<Discipline>) -> String {
    match discipline {
        Some(discipline) => format!("{case}/{}", discipline.name()),
        None => case.to_string(),
    }
}

/// Runs those cases, under a reading or as written, that are wanted by how their values begin.
fn run_cases(
    scope: &Scope<'_>,
    experiment: &Experiment,
    reading: Option<&Reading>,
    is_wanted: &dyn Fn(&Case, &str) -> bool,
) -> Result<Vec<Outcome>, Failure> {
    let over_time = experiment.figures.iter().filter(|figure| *figure.kind == FigureKind::Time);
    let text = if experiment.cases.is_empty() {
        return Ok(Vec::new());
    } else {
        scope.text()?
    };
    let mut tasks = Vec::new();
    let mut outcomes = Vec::new();
    for (index, case) in experiment.cases.iter().enumerate() {
        let text = scope.patch(&text, &case.set)?;
        let wanted = over_time.clone().filter(|it| it.is_about(&case.name));
        let curves = wanted.flat_map(|it| it.series.iter());
        let mut curves = Vec::from_iter(curves.map(|it| it.value.clone()));
        curves.sort();
        curves.dedup();
        let own = experiment.disciplines_of(case);
        let places =
            if own.is_empty() { vec![None] } else { own.iter().copied().map(Some).collect() };
        for discipline in places {
            if !is_wanted(case, &prefix(&case.name, discipline)) {
                continue;
            }
            let text = scope.patch(&text, &experiment.adaptation(discipline))?;
            let change = reading.map(|reading| reading.of_case(case)).unwrap_or_default();
            let text: Arc<str> = scope.patch(&text, &change)?.into();
            for seed in case.seeds(scope.scale()) {
                let overrides = Overrides { seed: Some(seed), discipline, ..Overrides::default() };
                let name = match case.seeds(scope.scale()).count() {
                    1 => prefix(&case.name, discipline),
                    _ => format!("{}, seed {seed}", prefix(&case.name, discipline)),
                };
                let task = Task::new(name, Arc::clone(&text), overrides);
                // Curves are drawn for the first seed only.
                tasks.push(match seed {
                    1 => task.keeping(&curves).shown(),
                    _ => task,
                });
                outcomes.push((index, discipline, seed));
            }
        }
    }
    let samples = scope.sample(tasks)?;
    let outcomes = outcomes.into_iter().zip(samples);
    let outcomes = outcomes.map(|((case, discipline, seed), sample)| Outcome {
        case,
        discipline,
        seed,
        sample,
    });
    Ok(outcomes.collect())
}

/// All numbers: a row for each name and seed, and those that are others under a reading.
fn values_table(written: &Values, readings: &[Reread]) -> Table {
    let (mut names, mut under) = (Vec::new(), Vec::new());
    let (mut seeds, mut values) = (Vec::new(), Vec::new());
    let readings = readings.iter().map(|it| (it.reading.as_str(), &it.again));
    for (reading, measured) in [("", written)].into_iter().chain(readings) {
        for (name, all) in measured.iter() {
            for (seed, value) in all.iter().enumerate() {
                if value.is_some() {
                    names.push(name.to_string());
                    under.push(reading.to_string());
                    seeds.push(Some((seed + 1) as f64));
                    values.push(*value);
                }
            }
        }
    }
    let columns = vec![
        Column::texts("name", names),
        Column::texts("reading", under),
        Column::numbers("sample", seeds),
        Column::numbers("value", values),
    ];
    Table::new("values", columns)
}

/// All curves: a row for each case and instant.
fn curves_table(experiment: &Experiment, outcomes: &[Outcome]) -> Option<Table> {
    let with_curves = || outcomes.iter().filter(|it| !it.sample.curves.is_empty());
    let mut names: Vec<&String> = with_curves().flat_map(|it| it.sample.curves.keys()).collect();
    names.sort();
    names.dedup();
    if names.is_empty() {
        return None;
    }
    let (mut cases, mut times) = (Vec::new(), Vec::new());
    let mut columns: Vec<Vec<Option<f64>>> = vec![Vec::new(); names.len()];
    for outcome in with_curves() {
        let name = prefix(&experiment.cases[outcome.case].name, outcome.discipline);
        for (row, time) in outcome.sample.times_ms.iter().enumerate() {
            cases.push(name.clone());
            times.push(Some(*time));
            for (column, name) in columns.iter_mut().zip(&names) {
                let curve = outcome.sample.curves.get(*name);
                column.push(curve.and_then(|curve| curve.get(row)).copied());
            }
        }
    }
    let mut all = vec![Column::texts("case", cases), Column::numbers("time_ms", times)];
    let curves = names.iter().zip(columns);
    all.extend(curves.map(|(name, cells)| Column::numbers(*name, cells)));
    Some(Table::new("curves", all))
}
