//! `pauseless sweep submit` and `pauseless sweep status`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use pauseless_experiments::sweep::json::{
    JobRecord, ShardRecord, SlurmRecord, StatusDocument, TallyRecord,
};
use pauseless_experiments::sweep::plan::Plan;
use pauseless_experiments::sweep::slurm::{self, Job, Request, Status};
use pauseless_experiments::sweep::store::Store;
use pauseless_text::quantity;
use pauseless_text::record::{SCHEMA, to_text};
use pauseless_text::terminal::Table;

use super::{Place, Todo, command};
use crate::INTERRUPTED;
use crate::args::{StatusArgs, SubmitArgs};
use crate::output::{self, tell};
use crate::progress::Interrupt;

/// Submits a campaign to Slurm.
pub fn submit(args: &SubmitArgs) -> anyhow::Result<ExitCode> {
    let place = Place::read(&args.campaign)?;
    // Only now, so that Ctrl-C ends the reading of a large network at once.
    let interrupt = Interrupt::watch()?;
    // The networks are screened here once, and not by every job.
    place.create()?;
    let Some(plan) = place.plan(&interrupt, false)? else {
        return Ok(ExitCode::from(INTERRUPTED));
    };
    let request = Request {
        program: std::env::current_exe().context("cannot find this program")?,
        file: args.campaign.file.clone(),
        size: args.campaign.size.clone(),
        folder: place.folder.clone(),
        name: place.campaign.name.clone(),
        tasks: plan.len(),
        shards: args.shards,
        cpus: args.cpus,
        options: args.options.clone(),
    };
    let scripts = slurm::write(&request)?;
    let runs = quantity::plural(plan.len() as u64, "run");
    if args.dry_run {
        let [array, merge] = &scripts.commands;
        let text = format!("{runs} in {} parts; to submit them:\n", args.shards);
        output::print(&format!("{text}{array}\n{merge}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let jobs = slurm::submit(&request, &scripts)?;
    let merge = jobs.merge.map_or("-".to_string(), |job| job.to_string());
    let next = command("status ", &args.campaign);
    output::print(&format!(
        "{runs} in {} parts: job array {}, merged by job {merge}\nnext: {next}\n",
        args.shards, jobs.array
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints how far a campaign has come, and where its jobs are.
pub fn status(args: &StatusArgs) -> anyhow::Result<ExitCode> {
    let place = Place::read(&args.campaign)?;
    // Only now, so that Ctrl-C ends the reading of a large network at once.
    let interrupt = Interrupt::watch()?;
    let Some(plan) = place.plan(&interrupt, args.json)? else {
        return Ok(ExitCode::from(INTERRUPTED));
    };
    let todo = if place.folder.is_dir() {
        let store = Store::read_only(&place.folder, &place.campaign)?;
        let finished = store.finished()?;
        output::warnings(finished.warnings());
        Todo::of(&plan, &finished, None)
    } else {
        Todo::all(&plan)
    };
    // The state on disk is shown even if Slurm does not answer.
    let jobs = slurm::status(&place.folder).unwrap_or_else(|failure| {
        tell!("warning: {failure}");
        None
    });
    let state = State { merged: merged(&place), plan: &plan, todo: &todo, jobs: jobs.as_ref() };
    let text = if args.json { to_text(&state.document(&place)) } else { state.text(&place) };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The merged results, the number of their rows and of all runs; `None` if there are none for the
/// present file of the campaign.
fn merged(place: &Place) -> Option<(PathBuf, usize, usize)> {
    let store = Store::read_only(&place.folder, &place.campaign).ok()?;
    let results = store.results().ok()?;
    let file = place.folder.join("results.parquet");
    results.are_of(&place.campaign).then(|| (file, results.rows(), results.tasks()))
}

struct State<'a> {
    merged: Option<(PathBuf, usize, usize)>,
    plan: &'a Plan,
    todo: &'a Todo,
    jobs: Option<&'a Status>,
}

impl State<'_> {
    /// Each part of the array: its job, the number of its finished runs, and of all its runs.
    fn shards<'s>(&'s self, status: &'s Status) -> impl Iterator<Item = (&'s Job, usize, usize)> {
        let parts = status.jobs.shards.max(1) as usize;
        let mut open = vec![0; parts];
        for index in &self.todo.tasks {
            open[*index as usize % parts] += 1;
        }
        status.shards.iter().zip(open).zip(1..).map(move |((job, open), part)| {
            let total = self.plan.shard(part, parts).count();
            (job, total - open, total)
        })
    }

    fn text(&self, place: &Place) -> String {
        let done = self.todo.kept;
        let (name, all) = (&place.campaign.name, self.plan.len());
        let mut text = format!("{name}: {} of {all} runs are done\n", done.runs);
        if !place.folder.is_dir() {
            text += &format!("there is no folder {} yet\n", place.folder.display());
        }
        if done.runs > 0 {
            text += &format!("found: {}\n", done.found());
        }
        if let Some((file, rows, all)) = &self.merged {
            text += &if rows == all {
                format!("merged: {}\n", file.display())
            } else {
                format!("merged: {}, {rows} of {all} runs\n", file.display())
            };
        }
        let Some(status) = self.jobs else {
            return text;
        };
        let mut table = Table::new("<part <runs <of <requeued job");
        for (part, (job, done, total)) in (1..).zip(self.shards(status)) {
            let numbers = [part, done, total, job.requeued as usize];
            let mut row = Vec::from(numbers.map(|number| number.to_string()));
            row.push(job.state.to_string());
            table.push(row);
        }
        text += &format!("\nSlurm job array {}\n", status.jobs.array);
        text += &table.render(|_, _, cell| cell.to_string());
        if let (Some(id), Some(job)) = (status.jobs.merge, &status.merge) {
            text += &format!("merge, job {id}: {}\n", job.state);
        }
        text
    }

    fn document(&self, place: &Place) -> StatusDocument {
        let slurm = self.jobs.map(|status| {
            let shards = self.shards(status);
            let shards = shards.map(|(job, done, tasks)| ShardRecord {
                job: JobRecord::new(job),
                done,
                tasks,
            });
            SlurmRecord {
                array: status.jobs.array,
                shards: shards.collect(),
                merge_job: status.jobs.merge,
                merge: status.merge.as_ref().map(JobRecord::new),
            }
        });
        StatusDocument {
            schema: SCHEMA,
            campaign: place.campaign.name.clone(),
            version: pauseless_run::VERSION,
            folder: place.folder.clone(),
            tasks: self.plan.len(),
            found: TallyRecord::new(self.todo.kept),
            merged: self.merged.as_ref().is_some_and(|(_, rows, all)| rows == all),
            slurm,
        }
    }
}
