//! `pauseless sweep submit` and `pauseless sweep status`

use std::process::ExitCode;

use pauseless_lab::report::quantity;
use pauseless_lab::sweep::slurm::{self, Job, Status};
use pauseless_lab::sweep::store::Store;
use serde_json::{Value, json};

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
    let slurm = slurm::status(&place.folder);
    if let Err(failure) = &slurm {
        output::complain(&format!("pauseless: warning: {failure}"));
    }
    let slurm = slurm.ok().flatten();
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
                "slurm": slurm.as_ref().map(|slurm| json!({
                    "array": slurm.jobs.array,
                    "shards": Vec::from_iter(slurm.shards.iter().map(job_json)),
                    "merge": slurm.merge.as_ref().map(job_json),
                })),
            });
            format!("{document:#}\n")
        }
        false => format!(
            "{}: {} of {} runs are done\nfound: {}\n{}",
            place.campaign.name,
            done.runs,
            plan.len(),
            done.found(),
            slurm.as_ref().map(job_lines).unwrap_or_default()
        ),
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Hands a campaign to a cluster.
pub fn submit(args: &SubmitArgs) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::watch()?;
    let place = Place::read(&args.campaign)?;
    let Some(plan) = place.plan(&interrupt, false)? else {
        return Ok(ExitCode::from(crate::INTERRUPTED));
    };
    let request = slurm::Request {
        program: std::env::current_exe()?,
        file: args.campaign.file.clone(),
        size: args.campaign.size.clone(),
        folder: place.folder,
        name: place.campaign.name,
        tasks: plan.len(),
        shards: args.shards,
        cpus: args.cpus,
        options: args.options.clone(),
    };
    let scripts = slurm::write(&request)?;
    if args.dry_run {
        output::print(&format!("{}\n", scripts.commands.join("\n")))?;
        return Ok(ExitCode::SUCCESS);
    }
    let jobs = slurm::submit(&request, &scripts)?;
    let merge = jobs
        .merge
        .map_or(String::new(), |job| format!(", merge job {job}"));
    let text = format!(
        "submitted: {} runs as job array {} of {} parts{merge}\nnext: {}\n",
        request.tasks,
        jobs.array,
        jobs.shards,
        super::command("status ", &args.campaign)
    );
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The jobs of a campaign that was submitted, a line each.
fn job_lines(status: &Status) -> String {
    let line = |what: String, job: &Job| {
        let times = match job.requeued {
            0 => String::new(),
            n => format!(", requeued {}", quantity::plural(n.into(), "time")),
        };
        format!("  {what}: {}{times}\n", job.state)
    };
    let shards = (1..).zip(&status.shards);
    let shards =
        shards.map(|(part, job)| line(format!("part {part} of {}", status.jobs.shards), job));
    let merge = status
        .merge
        .iter()
        .map(|job| line("merge".to_string(), job));
    format!("job array {}:\n", status.jobs.array) + &shards.chain(merge).collect::<String>()
}

fn job_json(job: &Job) -> Value {
    json!({
        "state": job.state.name(),
        "detail": job.state.to_string(),
        "requeued": job.requeued,
    })
}
