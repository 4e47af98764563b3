//! All rows of a campaign in one file, in the order of the plan.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use pauseless_text::output::{self, Output};
use rayon::prelude::*;

use super::columns::{Columns, Identity};
use super::disk::Hashing;
use super::failure::Failure;
use super::index::{Entry, Index};
use super::{CHECKSUM, FLOWS, RESULTS, Store, disk, flows, results};
use crate::sweep::plan::Plan;
use crate::sweep::row::{Name, Row};
use pauseless_run::table::write::Sheet;

/// How results are put together.
pub struct Merge<'a> {
    /// Whether to go on when rows are missing.
    pub is_partial: bool,
    /// Called with how many tasks were looked at; may break it off.
    pub watch: &'a (dyn Fn(usize) -> ControlFlow<()> + Sync),
}

/// The outcome of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// How many rows there are.
    pub rows: usize,
    /// How many tasks have none.
    pub missing: usize,
    /// The first of those.
    pub first_missing: Vec<usize>,
    /// The file, unless rows are missing and it may not be partial, or there is no row at all.
    pub file: Option<PathBuf>,
    /// Damage that costs no more than a few runs.
    pub warnings: Vec<String>,
}

/// Merges the rows of all tasks of a plan into one file.
pub(super) fn merge(store: &Store, plan: &Plan, how: &Merge<'_>) -> Result<Merged, Failure> {
    let mut index = Index::build(&[store])?;
    if store.keeps_flows {
        index = index.with_tables(&store.folder.join(FLOWS), &flows::columns())?;
    }
    let target = store.folder.join(RESULTS);
    results::refuse_other(&target, &plan.campaign.name)?;
    // They may be as large as the results.
    output::remove_leftovers(&target);
    output::remove_leftovers(&store.folder.join(flows::FILE));
    let mut merged = Merged {
        rows: 0,
        missing: 0,
        first_missing: Vec::new(),
        file: None,
        warnings: std::mem::take(&mut index.warnings),
    };
    let merging = Merging { index, store, plan };
    let (file, hash) = write(&merging, how, &target, &mut merged)?;
    // A file without a row would only hide results that were there before.
    if merged.rows == 0 || (merged.missing > 0 && !how.is_partial) {
        return Ok(merged);
    }
    // Before the results, which say that everything is there.
    if store.keeps_flows {
        let there = |name: &Name| merging.index.find(name).is_some();
        flows::merge(store, plan, &there, how)?;
    }
    file.finish().map_err(|error| Failure::write(&target, &error))?;
    let checksum = store.folder.join(CHECKSUM);
    disk::put(&checksum, format!("{hash}  {RESULTS}\n").as_bytes())?;
    merged.file = Some(target);
    Ok(merged)
}

struct Merging<'a> {
    index: Index,
    store: &'a Store,
    plan: &'a Plan,
}

/// Writes the file group by group, so that no more than one group is in memory.
fn write(
    merging: &Merging<'_>,
    how: &Merge<'_>,
    target: &Path,
    merged: &mut Merged,
) -> Result<(Output, String), Failure> {
    let failed = |error: io::Error| Failure::write(target, &error);
    let file = Hashing::new(Output::create(target).map_err(failed)?);
    let columns = &merging.store.columns;
    let notes = notes(merging.plan, columns);
    let notes: Vec<(&str, &str)> = notes.iter().map(|(key, text)| (*key, &**text)).collect();
    let mut sheet = Sheet::new(file, &columns.cells(&[]), &notes).map_err(failed)?;
    let total = merging.plan.len();
    for start in (0..total).step_by(GROUP) {
        if (how.watch)(start).is_break() {
            return Err(Failure::Interrupted);
        }
        let group = start..total.min(start + GROUP);
        let tasks = group.into_par_iter().map(|place| Identity::of(&merging.plan.task(place)));
        let tasks: Vec<Identity> = tasks.collect();
        let found = tasks.iter().map(|task| merging.index.find(&task.name).copied());
        let found: Vec<Option<Entry>> = found.collect();
        let rows = merging.index.fetch(&found, &columns.numbers)?;
        for (task, _) in tasks.iter().zip(&rows).filter(|(_, row)| row.is_none()) {
            merged.missing += 1;
            if merged.first_missing.len() < MISSING_SHOWN {
                merged.first_missing.push(task.index);
            }
        }
        let rows: Vec<(Identity, Row)> =
            tasks.into_iter().zip(rows).filter_map(|(task, row)| Some((task, row?))).collect();
        merged.rows += rows.len();
        if !rows.is_empty() {
            sheet.add(&columns.cells(&rows)).map_err(failed)?;
        }
    }
    Ok(sheet.finish().map_err(failed)?.finish())
}

/// The metadata of the file.
fn notes(plan: &Plan, columns: &Columns) -> Vec<(&'static str, String)> {
    let campaign = &plan.campaign;
    let unit = |place: usize| campaign.axes[place].unit;
    let axes = columns.axes.iter().map(|axis| (axis.name.as_str(), unit(axis.place)));
    let axes: Vec<(&str, &str)> = axes.collect();
    vec![
        ("version", pauseless_run::VERSION.to_string()),
        ("campaign", campaign.name.clone()),
        ("digest", campaign.digest()),
        ("title", campaign.title.clone()),
        ("axes", serde_json::to_string(&axes).expect("plain data")),
        ("tasks", plan.len().to_string()),
    ]
}

/// How many rows a group has. Decides how much memory it takes to write and to read the file.
pub(super) const GROUP: usize = 16_384;

/// How many of the missing are named.
const MISSING_SHOWN: usize = 5;
