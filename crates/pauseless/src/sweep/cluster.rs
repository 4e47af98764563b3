//! `pauseless sweep submit` and `pauseless sweep status`

use std::process::ExitCode;

use pauseless_lab::sweep::store::Store;
use serde_json::json;

use super::{Place, Todo};
use crate::args::{StatusArgs, SubmitArgs};
use crate::output;
use crate::progress::Interrupt;

/// Says how far a campaign has come.
pub fn status(args: &StatusArgs) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::watch()?;
    let place = Place::read(&args.campaign)?;
    let Some(plan) = place.plan(&interrupt, args.json)? else {
        return Ok(ExitCode::from(crate::INTERRUPTED));
    };
    let todo = match place.folder.is_dir() {
        false => Todo::all(&plan),
        true => {
            let store = Store::read_only(&place.folder, &place.campaign)?;
            Todo::of(&plan, &store.finished()?, None)
        }
    };
    let done = todo.kept;
    let text = match args.json {
        true => {
            let document = json!({
                "schema": 1,
                "campaign": place.campaign.name,
                "version": pauseless_lab::VERSION,
                "folder": place.folder,
                "tasks": plan.len(),
                "done": done.runs,
                "deadlocks": done.deadlocks,
                "starved": done.starved,
                "lost": done.lost,
                "errors": done.errors,
            });
            format!("{document:#}\n")
        }
        false => format!(
            "{}: {} of {} runs are done\nfound: {}\n",
            place.campaign.name,
            done.runs,
            plan.len(),
            done.found()
        ),
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Hands a campaign to a cluster.
pub fn submit(_args: &SubmitArgs) -> anyhow::Result<ExitCode> {
    anyhow::bail!("under way")
}
