//! The flows of all runs of a campaign in one file, in the order of the plan.

use std::fs::File;
use std::io;
use std::path::Path;

use super::columns::TASK;
use super::failure::Failure;
use super::merge::{GROUP, Merge};
use super::{FLOWS, Store};
use crate::sweep::plan::Plan;
use crate::sweep::row::Name;
use pauseless_run::table::write::Sheet;
use pauseless_run::table::{Column, read};
use pauseless_text::output::Output;

/// The columns without which a file is not one of flows.
pub(super) fn columns() -> [String; 1] {
    ["name".to_string()]
}

/// Writes `flows.parquet`: the flows of every task that is there, with its name in front.
pub(super) fn merge(
    store: &Store,
    plan: &Plan,
    is_there: &dyn Fn(&Name) -> bool,
    how: &Merge<'_>,
) -> Result<(), Failure> {
    let target = &store.folder.join(FILE);
    let failed = |error: io::Error| Failure::write(target, &error);
    let notes = [("version", pauseless_run::VERSION), ("campaign", &plan.campaign.name)];
    let mut sheet: Option<Sheet<Output>> = None;
    let mut waiting: Vec<Column> = Vec::new();
    for place in 0..plan.len() {
        if place % GROUP == 0 && (how.watch)(place).is_break() {
            return Err(Failure::Interrupted);
        }
        let task = plan.task(place).name;
        let path = store.folder.join(FLOWS).join(format!("{task}.parquet"));
        // A run that could not be made has no flows.
        if !is_there(&task) || !path.exists() {
            continue;
        }
        let flows = of_task(&path, task)?;
        if waiting.is_empty() {
            waiting = flows
        } else {
            for (all, more) in waiting.iter_mut().zip(flows) {
                all.cells.extend(more.cells);
            }
        }
        let rows = waiting.first().map_or(0, |column| column.cells.len());
        if rows >= GROUP {
            add(&mut sheet, target, &notes, &mut waiting).map_err(failed)?;
        }
    }
    if !waiting.is_empty() {
        add(&mut sheet, target, &notes, &mut waiting).map_err(failed)?;
    }
    let Some(sheet) = sheet else {
        return Ok(());
    };
    sheet.finish().and_then(Output::finish).map_err(failed)
}

/// Writes a group of rows into the file, which is begun if there is none.
fn add(
    sheet: &mut Option<Sheet<Output>>,
    target: &Path,
    notes: &[(&str, &str)],
    waiting: &mut Vec<Column>,
) -> io::Result<()> {
    let rows = std::mem::take(waiting);
    let sheet = match sheet {
        Some(sheet) => sheet,
        None => sheet.insert(Sheet::new(Output::create(target)?, &rows, notes)?),
    };
    sheet.add(&rows)
}

/// The flows of a task.
fn of_task(path: &Path, task: Name) -> Result<Vec<Column>, Failure> {
    let damaged = |error: &dyn std::fmt::Display| {
        let help = "move it away: its run is made again, and nothing else is touched";
        Failure::new(path, format!("cannot be read: {error}"), help)
    };
    let file = File::open(path).map_err(|error| damaged(&error))?;
    let mut all = read::all(file).map_err(|error| damaged(&error))?;
    let rows = all.first().map_or(0, |column| column.cells.len());
    all.insert(0, Column::texts(TASK, vec![task.to_string(); rows]));
    Ok(all)
}

/// The file that they are merged into.
pub(super) const FILE: &str = "flows.parquet";
