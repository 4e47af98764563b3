//! The command `pauseless sweep merge`: from parts of a campaign to one table.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use pauseless_experiments::sweep::json::MergeDocument;
use pauseless_experiments::sweep::plan::Plan;
use pauseless_experiments::sweep::store::{Failure, Merge, Merged, Store};
use pauseless_text::quantity;
use pauseless_text::record::{SCHEMA, to_text};

use super::Place;
use crate::args::MergeArgs;
use crate::output;
use crate::progress::{Count, Interrupt};
use crate::{FINDING, INTERRUPTED};

/// Merges the rows of all runs.
pub fn run(args: &MergeArgs) -> anyhow::Result<ExitCode> {
    let place = Place::read(&args.campaign)?;
    // Only now, so that Ctrl-C ends the reading of a large network at once.
    let interrupt = Interrupt::watch()?;
    let Some(plan) = place.plan(&interrupt, args.json)? else {
        return Ok(ExitCode::from(INTERRUPTED));
    };
    // All rows may be in other folders.
    let store = if args.from.is_empty() {
        Store::read_only(&place.folder, &place.campaign)?
    } else {
        Store::open(&place.folder, &place.campaign)?
    };
    for folder in &args.from {
        store.adopt(&Store::read_only(folder, &place.campaign)?)?;
    }
    let Some(merged) = merge(&store, &plan, args.partial, &interrupt)? else {
        return Ok(ExitCode::from(INTERRUPTED));
    };
    if args.json {
        output::print(&to_text(&MergeDocument {
            schema: SCHEMA,
            campaign: place.campaign.name.clone(),
            tasks: plan.len(),
            rows: merged.rows,
            missing: merged.missing,
            results: merged.file.clone(),
        }))?;
    } else if let Some(file) = &merged.file {
        let rows = quantity::plural(merged.rows as u64, "run");
        output::print(&format!("{rows} in {}\n", file.display()))?;
    }
    if merged.missing == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    let first = merged.first_missing.iter().map(|index| (index + 1).to_string());
    let first = Vec::from_iter(first).join(", ");
    let (missing, all) = (merged.missing, plan.len());
    output::complain(&format!(
        "pauseless: {missing} of {all} runs are missing, the first are {first}\n  \
         = help: `{}` makes them; --partial merges what is there",
        super::command("", &args.campaign)
    ));
    Ok(ExitCode::from(FINDING))
}

/// Merges a campaign of which all runs were made; `None` if it is interrupted.
pub fn whole(store: &Store, plan: &Plan, interrupt: &Interrupt) -> anyhow::Result<Option<PathBuf>> {
    let Some(merged) = merge(store, plan, false, interrupt)? else {
        return Ok(None);
    };
    let missing = merged.missing;
    let file = merged.file.with_context(|| {
        let runs = quantity::plural(missing as u64, "finished run");
        let folder = store.folder().display();
        format!("{runs} cannot be found in {folder} any more; the same command makes them again")
    });
    file.map(Some)
}

/// Merges the rows that there are; `None` if it is interrupted.
pub fn merge(
    store: &Store,
    plan: &Plan,
    is_partial: bool,
    interrupt: &Interrupt,
) -> anyhow::Result<Option<Merged>> {
    let count = Count::new("merge", false);
    let how = Merge {
        is_partial,
        watch: &|done| {
            count.show(done, plan.len(), "rows");
            interrupt.flow()
        },
    };
    let merged = store.merge(plan, &how);
    count.clear();
    let merged = match merged {
        Err(Failure::Interrupted) => return Ok(None),
        other => other?,
    };
    output::warnings(&merged.warnings);
    Ok(Some(merged))
}
