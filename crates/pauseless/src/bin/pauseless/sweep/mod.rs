//! The command `pauseless sweep`: many runs of a campaign.

mod cluster;
mod merge;
mod report;
mod show;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use pauseless_experiments::repro::text::duration;
use pauseless_experiments::sweep::campaign::Campaign;
use pauseless_experiments::sweep::execute::{self, Executed, Hooks, Tally};
use pauseless_experiments::sweep::json::{SweepDocument, TallyRecord};
use pauseless_experiments::sweep::plan::{Plan, PlanError, Task};
use pauseless_experiments::sweep::store::{Failure, Finished, Store};
use pauseless_text::quantity;
use pauseless_text::record::{SCHEMA, to_text};
use rayon::prelude::*;

use crate::args::{CampaignArgs, Deny, Shard, SweepArgs, SweepCommand, SweepRunArgs};
use crate::output::{self, Terminal, tell};
use crate::progress::{self, Count, Interrupt};
use crate::{FINDING, INTERRUPTED, USAGE};

/// Runs a campaign, or one of the subcommands.
pub fn run(args: &SweepArgs, terminal: Terminal) -> anyhow::Result<ExitCode> {
    match (&args.command, &args.run) {
        (Some(SweepCommand::Merge(args)), _) => merge::run(args),
        (Some(SweepCommand::Status(args)), _) => cluster::status(args),
        (Some(SweepCommand::Report(args)), _) => report::run(args, terminal),
        (Some(SweepCommand::Show(args)), _) => show::run(args),
        (Some(SweepCommand::Submit(args)), _) => cluster::submit(args),
        (None, Some(args)) => carry_out(args),
        (None, None) => unreachable!("clap asks for a file"),
    }
}

/// A campaign and where its results are.
struct Place {
    file: PathBuf,
    campaign: Campaign,
    folder: PathBuf,
}

impl Place {
    fn read(args: &CampaignArgs) -> anyhow::Result<Place> {
        let campaign = Campaign::read(&args.file, args.size.as_deref())?;
        let folder = match &args.out {
            Some(folder) => folder.clone(),
            None => PathBuf::from("pauseless-sweep").join(&campaign.name),
        };
        let file = args.file.clone();
        Ok(Place { file, campaign, folder })
    }

    /// Makes the folder, before the work that takes long.
    fn create(&self) -> anyhow::Result<()> {
        let create = std::fs::create_dir_all(&self.folder);
        create.with_context(|| format!("cannot create the folder {}", self.folder.display()))
    }

    /// The list of tasks; `None` if the screening of networks is interrupted.
    fn plan(&self, interrupt: &Interrupt, is_quiet: bool) -> anyhow::Result<Option<Plan>> {
        let count = Count::new("networks", is_quiet);
        let watch = |done, total| {
            count.show(done, total, "looked at");
            interrupt.flow()
        };
        // A command that only reads leaves nothing behind.
        let cache = self.folder.join("networks.json");
        let cache = Some(cache.as_path()).filter(|_| self.folder.is_dir());
        let plan = Plan::new(self.campaign.clone(), cache, &watch);
        count.clear();
        match plan {
            Err(PlanError::Interrupted) => Ok(None),
            other => Ok(Some(other.with_context(|| self.file.display().to_string())?)),
        }
    }
}

/// The command line that names the same campaign.
fn command(verb: &str, args: &CampaignArgs) -> String {
    let mut text = format!("pauseless sweep {verb}{}", args.file.display());
    if let Some(size) = &args.size {
        text += &format!(" --size {size}");
    }
    if let Some(out) = &args.out {
        text += &format!(" --out {}", out.display());
    }
    text
}

fn threads(wanted: u16) -> NonZeroUsize {
    let all = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    NonZeroUsize::new(wanted.into()).unwrap_or_else(all)
}

/// The tasks of a shard that are left to do, and the results of the others.
struct Todo {
    tasks: Vec<u32>,
    /// The findings of the runs that were finished before.
    kept: Tally,
}

impl Todo {
    /// Every task of the plan.
    fn all(plan: &Plan) -> Todo {
        Todo { tasks: (0..plan.len() as u32).collect(), kept: Tally::default() }
    }

    fn of(plan: &Plan, finished: &Finished, shard: Option<Shard>) -> Todo {
        let Shard { part, parts } = shard.unwrap_or(Shard { part: 1, parts: 1 });
        let mine = plan.shard(part, parts);
        if finished.is_empty() {
            return Todo {
                tasks: mine.map(|index| index as u32).collect(),
                kept: Tally::default(),
            };
        }
        let mine = Vec::from_iter(mine);
        let findings = mine.par_iter().map(|index| {
            let task = plan.task(*index);
            (*index as u32, finished.findings(&task.name))
        });
        let mut todo = Todo { tasks: Vec::new(), kept: Tally::default() };
        for (index, findings) in findings.collect::<Vec<_>>() {
            match findings {
                None => todo.tasks.push(index),
                Some(findings) => todo.kept.add(findings),
            }
        }
        todo
    }
}

/// The command `sweep FILE`: runs what is not yet done.
fn carry_out(args: &SweepRunArgs) -> anyhow::Result<ExitCode> {
    let place = Place::read(&args.campaign())?;
    place.create()?;
    // Only now, so that Ctrl-C ends the reading of a large network at once.
    let interrupt = Interrupt::watch()?;
    let is_quiet = args.quiet || args.json;
    let Some(plan) = place.plan(&interrupt, is_quiet)? else {
        return Ok(ExitCode::from(INTERRUPTED));
    };
    let store = Store::open(&place.folder, &place.campaign)?;
    let finished = store.finished()?;
    output::warnings(store.warnings().iter().chain(finished.warnings()));
    let todo = Todo::of(&plan, &finished, args.shard);
    drop(finished);
    let threads = threads(args.threads);
    if !is_quiet {
        announce(&place, &todo, threads);
    }
    let begin = Instant::now();
    let executed = execute(&plan, &store, &todo, args, threads, &interrupt)?;
    let mut summary = Summary {
        place: &place,
        args,
        kept: todo.kept,
        executed,
        seconds: begin.elapsed().as_secs_f64(),
        tasks: plan.len(),
        results: None,
    };
    if !executed.interrupted && args.shard.is_none() {
        summary.results = merge::whole(&store, &plan, &interrupt)?;
        summary.executed.interrupted = summary.results.is_none();
    }
    let text = if args.json { summary.json() } else { summary.text() };
    output::print(&text)?;
    Ok(summary.status())
}

fn announce(place: &Place, todo: &Todo, threads: NonZeroUsize) {
    let runs = quantity::plural(todo.tasks.len() as u64, "run");
    let mut text = format!(
        "pauseless: {}: {runs} on {}",
        place.campaign.name,
        quantity::plural(threads.get() as u64, "thread")
    );
    if todo.kept.runs > 0 {
        text += &format!(", {} kept from before", todo.kept.runs);
    }
    output::complain(&format!("{text}; results are kept in {}", place.folder.display()));
}

/// Makes the runs and stores them; whatever ends it, finished runs are sealed.
fn execute(
    plan: &Plan,
    store: &Store,
    todo: &Todo,
    args: &SweepRunArgs,
    threads: NonZeroUsize,
    interrupt: &Interrupt,
) -> Result<Executed, Failure> {
    let writer = store.writer()?;
    let display = progress::Campaign::new(&plan.campaign.name, args.quiet || args.json);
    let hooks = Hooks {
        keep: &|task, row, tables| match tables {
            Ok(tables) => writer.append(task, row, tables),
            Err(wrong) => Err(no_curve(&args.file, task, wrong)),
        },
        watch: &|progress| {
            let so_far = || progress.tally.with(todo.kept).found();
            let before = todo.kept.runs;
            display.show(before, progress.tally.runs, before + progress.total, &so_far);
            interrupt.flow()
        },
    };
    let executed = execute::execute(plan, &todo.tasks, threads, &hooks);
    display.clear();
    // The failure that stopped the campaign matters more than one of sealing on the same disk.
    let sealed = writer.seal();
    let executed = executed?;
    sealed?;
    Ok(executed)
}

/// The failure of a run without a curve that is to be kept.
fn no_curve(file: &Path, task: &Task, wrong: &str) -> Failure {
    let run = task.index + 1;
    Failure::File {
        file: file.to_path_buf(),
        message: format!("`curves`, run {run}: {wrong}"),
        help: "put `curves` right and start again: what was finished is kept".to_string(),
    }
}

/// The summary at the end of a campaign.
struct Summary<'a> {
    place: &'a Place,
    args: &'a SweepRunArgs,
    kept: Tally,
    executed: Executed,
    seconds: f64,
    tasks: usize,
    results: Option<PathBuf>,
}

impl Summary<'_> {
    fn all(&self) -> Tally {
        self.executed.progress.tally.with(self.kept)
    }

    fn text(&self) -> String {
        let made = self.executed.progress.tally.runs;
        let all = self.all();
        let mut text = format!("{}: {} of {} runs", self.place.campaign.name, all.runs, self.tasks);
        if let Some(Shard { part, parts }) = self.args.shard {
            text += &format!(", part {part} of {parts}");
        }
        text += match made {
            0 if all.runs == 0 => "\n".to_string(),
            0 => ", all of them made before\n".to_string(),
            made => {
                let rate = made as f64 / self.seconds;
                let took = duration(self.seconds);
                format!(", {made} of them made in {took} ({rate:.1}/s)\n")
            }
        }
        .as_str();
        text += &format!("found: {}\n", all.found());
        if let Some(results) = &self.results {
            text += &format!("results: {}\n", results.display());
            text += &format!("next: {}\n", command("report ", &self.args.campaign()));
        } else if self.args.shard.is_some() && !self.executed.interrupted {
            let merge = command("merge ", &self.args.campaign());
            text += &format!("next, when all parts are done: {merge}\n");
        }
        text
    }

    fn json(&self) -> String {
        let all = self.all();
        let campaign = &self.place.campaign;
        let shard = self.args.shard.map(|it| format!("{}/{}", it.part, it.parts));
        to_text(&SweepDocument {
            schema: SCHEMA,
            campaign: campaign.name.clone(),
            title: campaign.title.clone(),
            version: pauseless_run::VERSION,
            folder: self.place.folder.clone(),
            tasks: self.tasks,
            shard,
            found: TallyRecord::new(all),
            kept: self.kept.runs,
            made: self.executed.progress.tally.runs,
            interrupted: self.executed.interrupted,
            wall_s: self.seconds,
            results: self.results.clone(),
        })
    }

    fn status(&self) -> ExitCode {
        let all = self.all();
        if self.executed.interrupted {
            let again = "pauseless: finished runs are kept; the same command goes on from here";
            output::complain(again);
            return ExitCode::from(INTERRUPTED);
        }
        if all.errors > 0 {
            let runs = quantity::plural(all.errors as u64, "run");
            tell!("{runs} could not be made; the column error says why");
            return ExitCode::from(USAGE);
        }
        let denied = self.args.deny.iter().filter(|deny| match deny {
            Deny::Deadlock => all.deadlocks > 0,
            Deny::Loss => all.lost > 0,
            Deny::Starvation => all.starved > 0,
        });
        let mut denied = Vec::from_iter(denied.map(|deny| format!("{deny:?}").to_lowercase()));
        if all.undecided > 0 && self.args.deny.contains(&Deny::Starvation) {
            let runs = quantity::plural(all.undecided as u64, "run");
            denied.push(format!("starvation is undecided in {runs}"));
        }
        if denied.is_empty() {
            return ExitCode::SUCCESS;
        }
        tell!("denied: {}", denied.join(", "));
        ExitCode::from(FINDING)
    }
}

/// The index of a task, by its name, the first letters of that, or its number from 1.
fn find(plan: &Plan, wanted: &str) -> anyhow::Result<usize> {
    let number = wanted.parse::<usize>().ok().filter(|_| wanted.len() < 8);
    if let Some(number) = number {
        let range = (1..=plan.len()).contains(&number);
        let all = plan.len();
        return range
            .then(|| number - 1)
            .with_context(|| format!("there is no run {number}: they are 1 to {all}"));
    }
    let found = (0..plan.len()).into_par_iter();
    let found = found.filter(|index| plan.task(*index).name.to_string().starts_with(wanted));
    let found = found.collect::<Vec<_>>();
    let same = |index: &usize| plan.task(*index).name == plan.task(found[0]).name;
    match found[..] {
        // Values that one axis takes back from another give the same run several times.
        [index, ..] if found.len() == 1 || found.iter().all(same) => Ok(index),
        [] => anyhow::bail!(
            "no task is called {wanted:?}; the column task of results.parquet has their names"
        ),
        _ => anyhow::bail!("several tasks are called {wanted:?}..; give more of the name"),
    }
}
