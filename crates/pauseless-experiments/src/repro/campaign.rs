//! Campaigns that a claims file names: their runs are made like those of cases, and their rows are
//! judged.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::catalogue::Entry;
use super::data::Measured;
use super::file::CampaignUse;
use super::scope::{Failure, Scope, Task};
use crate::sweep::campaign::{Campaign, Label};
use crate::sweep::plan::{self, Plan, PlanError};
use crate::sweep::report;
use crate::sweep::row::{Row, column};
use crate::sweep::store::{Columns, Identity};
use pauseless_run::results::Reference;
use pauseless_run::sample::Sample;
use pauseless_run::table::Table;
use pauseless_scenario::Overrides;

/// Runs the campaigns of an experiment and adds what was measured: a value for each number of each
/// run, all rows as a table, and the tables of the campaign's report. Only runs are made of which the
/// names of the values begin as `is_wanted`. Returns how these names begin.
pub(super) fn run_all(
    scope: &Scope<'_>,
    entry: &Entry,
    measured: &mut Measured,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<String>, Failure> {
    let mut prefixes = Vec::new();
    let mut results: Vec<Results> = Vec::new();
    let wanted = scope.experiment().campaigns.iter();
    for named in wanted.filter(|it| it.scale.or(scope.scale()) == scope.scale()) {
        let plan = plan(scope, entry.campaign(named)?)?;
        let mut rows = Vec::new();
        for first in (0..plan.len()).step_by(RUNS_AT_ONCE) {
            let some = first..plan.len().min(first + RUNS_AT_ONCE);
            let is_wanted =
                |it: &plan::Task| is_wanted(&identify(named, &plan.campaign, &it.labels).0);
            let tasks = Vec::from_iter(some.map(|index| plan.task(index)).filter(is_wanted));
            let samples =
                scope.sample(tasks.iter().map(|it| run(named, &plan.campaign, it)).collect())?;
            for (task, sample) in tasks.into_iter().zip(samples) {
                let prefix = collect(measured, named, &plan.campaign, &task.labels, &sample);
                rows.push((Identity::of(&task), row(&plan.campaign, &task, &sample)));
                if !sample.curves.is_empty() {
                    measured.curves.push((prefix.clone(), sample));
                }
                prefixes.push(prefix);
            }
            prefixes.sort();
            prefixes.dedup();
        }
        let file = named.file.value.clone();
        match results.iter_mut().find(|it| it.file == file) {
            // Sizes of one campaign may have tasks in common, which count once.
            Some(known) => {
                let seen = BTreeSet::from_iter(known.rows.iter().map(|(_, row)| row.task));
                known.rows.extend(rows.into_iter().filter(|(_, row)| !seen.contains(&row.task)));
            }
            None => results.push(Results { file, campaign: plan.campaign, rows }),
        }
    }
    for results in results {
        measured.tables.extend(results.tables().map_err(|wrong| scope.wrong(wrong))?);
    }
    Ok(prefixes)
}

/// The rows of a campaign at all of its sizes.
struct Results {
    file: String,
    campaign: Campaign,
    rows: Vec<(Identity, Row)>,
}

impl Results {
    /// All rows, and what the report of the campaign shows of them.
    fn tables(&self) -> Result<Vec<Table>, String> {
        let columns = Columns::of(&self.campaign, &self.campaign.folder);
        let columns = columns.map_err(|wrong| wrong.to_string())?;
        let stem = self.file.split('.').next().unwrap_or_default();
        let results = Table::new(format!("{stem}-results"), columns.cells(&self.rows));
        let parts = report::parts(&self.campaign, &results)?.into_iter();
        let shown = parts.filter(|part| !part.shown.rows.is_empty()).map(|part| part.data);
        Ok([vec![results.clone()], shown.collect()].concat())
    }
}

fn plan(scope: &Scope<'_>, campaign: Campaign) -> Result<Plan, Failure> {
    let watch = |_: usize, _: usize| match scope.look() {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    };
    Plan::new(campaign, None, &watch).map_err(|error| match error {
        PlanError::Interrupted => Failure::Interrupted,
        other => scope.wrong(other),
    })
}

/// A run of a campaign as an experiment makes it.
fn run(named: &CampaignUse, campaign: &Campaign, task: &plan::Task) -> Task {
    let (mut name, numbers) = identify(named, campaign, &task.labels);
    for (axis, number) in numbers {
        name += &format!(", {axis} {number}");
    }
    let task = Task::new(name, task.text.as_str(), Overrides::default());
    task.measuring(&campaign.keep).keeping(&campaign.curves)
}

/// How the names of a run's values begin, and its numbers on the axes that are not in there.
fn identify<'c>(
    named: &CampaignUse,
    campaign: &'c Campaign,
    labels: &[Label],
) -> (String, Vec<(&'c str, f64)>) {
    let mut prefix = named.name.value.clone();
    let mut numbers = Vec::new();
    for (axis, label) in campaign.axes.iter().zip(labels) {
        let place = format!("{{{}}}", axis.name);
        match label {
            Label::Number(number) if !named.name.contains(&place) => {
                numbers.push((axis.name.as_str(), *number));
            }
            _ => prefix = prefix.replace(&place, &label.to_string()),
        }
    }
    (prefix, numbers)
}

/// Adds what a run is and what was measured in it; returns how the names of its values begin.
fn collect(
    measured: &mut Measured,
    named: &CampaignUse,
    campaign: &Campaign,
    labels: &[Label],
    sample: &Sample,
) -> String {
    let (prefix, numbers) = identify(named, campaign, labels);
    let values = &mut measured.values;
    for (axis, number) in numbers {
        values.push(format!("{prefix}/{axis}"), number);
    }
    for name in &campaign.keep {
        values.push_if(format!("{prefix}/{name}"), sample.metric(name));
        if let Some(beside) = Reference::parse(name).ok().and_then(|it| it.beside()) {
            let case = beside.case(sample.metric(name), |it| kept(campaign, sample, it));
            values.push_case(format!("{prefix}/{name}"), case);
        }
    }
    // What `per_run` has added.
    for (name, value) in sample.metrics.iter().filter(|(name, _)| !campaign.keep.contains(name)) {
        values.push(format!("{prefix}/{name}"), *value);
    }
    prefix
}

/// A number of a run, however the campaign spells it.
fn kept(campaign: &Campaign, sample: &Sample, number: &Reference) -> Option<f64> {
    let wanted = number.column();
    sample.metric(campaign.keep.iter().find(|name| column(name) == wanted)?)
}

fn row(campaign: &Campaign, task: &plan::Task, sample: &Sample) -> Row {
    Row {
        task: task.name,
        ended: sample.ended.clone(),
        error: None,
        numbers: campaign.keep.iter().map(|name| sample.metric(name)).collect(),
    }
}

/// The most runs that are in memory at once; of all others there are only rows.
const RUNS_AT_ONCE: usize = 1_000;
