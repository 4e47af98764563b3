//! The command `pauseless sweep report`: what a campaign has found, and whether its claims hold.

use std::process::ExitCode;

use anyhow::Context as _;
use pauseless_experiments::sweep::plan::Plan;
use pauseless_experiments::sweep::report::{self, Context};
use pauseless_experiments::sweep::store::{Results, Store};

use super::{Place, command, merge};
use crate::args::ReportArgs;
use crate::output::{self, Terminal, tell};
use crate::progress::Interrupt;
use crate::{FINDING, INTERRUPTED};

/// Shows the results and judges the campaign's claims.
pub fn run(args: &ReportArgs, terminal: Terminal) -> anyhow::Result<ExitCode> {
    let place = Place::read(&args.campaign)?;
    // Only now, so that Ctrl-C ends the reading of a large network at once.
    let interrupt = Interrupt::watch()?;
    let store = Store::read_only(&place.folder, &place.campaign)?;
    let Some(plan) = place.plan(&interrupt, true)? else {
        return Ok(ExitCode::from(INTERRUPTED));
    };
    let mut context = Context {
        command: command("", &args.campaign),
        size: args.campaign.size.clone(),
        screened: plan.screened.as_ref().map(ToString::to_string),
        ..Context::default()
    };
    // Complete results are shown as they are, even those of another version; but not those from
    // before the campaign's file was changed.
    let is_usable = |results: &Results| results.are_whole() && results.are_of(&place.campaign);
    let results = match store.results().ok().filter(is_usable) {
        Some(results) => results,
        None => match merge(&store, &plan, &mut context, &interrupt)? {
            Some(results) => results,
            None => return Ok(ExitCode::from(INTERRUPTED)),
        },
    };
    let columns = report::columns(&place.campaign);
    let columns = Vec::from_iter(columns.iter().map(String::as_str));
    let rows = results.table(&columns)?;
    let mut report = report::report(&place.campaign, &rows, context)?;
    report.version = results.version().to_string();
    let folder = place.folder.join("report");
    let written = report::write(&report, &folder);
    written.with_context(|| format!("cannot write to {}", folder.display()))?;
    let text =
        if args.json { report::json(&report) } else { report::text(&report, terminal.paint()) };
    output::print(&text)?;
    if !args.json {
        let folder = folder.display();
        tell!("the page is {folder}/report.html, figures and data are beside it");
    }
    Ok(if report.holds() { ExitCode::SUCCESS } else { ExitCode::from(FINDING) })
}

/// Merges the rows so far; `None` if it is interrupted.
fn merge(
    store: &Store,
    plan: &Plan,
    context: &mut Context,
    interrupt: &Interrupt,
) -> anyhow::Result<Option<Results>> {
    let Some(merged) = merge::merge(store, plan, true, interrupt)? else {
        return Ok(None);
    };
    let again = &context.command;
    anyhow::ensure!(merged.rows > 0, "no run is finished yet: `{again}` makes them");
    context.missing = merged.missing;
    let missing = merged.first_missing.iter().map(|index| plan.task(*index));
    context.missing_tasks = missing.map(|task| (task.name.to_string(), task.labels)).collect();
    Ok(Some(store.results()?))
}
