//! The command `pauseless repro`: the experiments of the papers.

use std::fmt::Write;
use std::num::NonZeroUsize;
use std::process::ExitCode;

use anyhow::Context;
use pauseless_experiments::repro::catalogue::{self, Entry};
use pauseless_experiments::repro::scope::{Failure, Session};
use pauseless_experiments::repro::{Reproduced, Scale, json, reproduce, text, write};
use pauseless_experiments::sweep::store::Samples;
use pauseless_text::quantity;
use pauseless_text::record::to_text;
use pauseless_text::terminal::Table;

use crate::args::ReproArgs;
use crate::output::{self, Terminal, tell};
use crate::progress::{Count, Interrupt};
use crate::{FINDING, INTERRUPTED};

/// Makes experiments and reports their claims.
pub fn run(args: &ReproArgs, terminal: Terminal) -> anyhow::Result<ExitCode> {
    let known = match &args.papers {
        Some(folder) => catalogue::read(folder)?,
        None => catalogue::embedded(),
    };
    if args.list {
        let listed = if args.json { listed_as_json(&known)? } else { list(&known)? };
        output::print(&listed)?;
        return Ok(ExitCode::SUCCESS);
    }
    let find = |name: &String| catalogue::find(&known, name).map_err(anyhow::Error::msg);
    let entries = if args.all {
        known.clone()
    } else {
        args.names.iter().map(find).collect::<Result<_, _>>()?
    };
    let page = args.page.as_ref().and_then(|page| page.parent());
    for folder in [Some(args.out.as_path()), page].into_iter().flatten() {
        let create = std::fs::create_dir_all(folder);
        create.with_context(|| format!("cannot create the folder {}", folder.display()))?;
    }
    if let Some(page) = &args.page {
        output::check_place(page)?;
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads.into());
    let pool = pool.build().context("cannot start threads")?;
    announce(args, &entries, pool.current_num_threads())?;
    let interrupt = Interrupt::watch()?;
    let mut all = Vec::new();
    for entry in entries {
        let mut done = match pool.install(|| carry_out(args, &entry, &interrupt)) {
            Err(Failure::Interrupted) => return Ok(stopped(args)),
            Err(Failure::File(problems)) => return Err(problems.into()),
            Err(failure) => return Err(failure.into()),
            Ok(done) => done,
        };
        let folder = args.out.join(entry.name());
        let written = write::write(&done, &folder);
        written.with_context(|| format!("cannot write to {}", folder.display()))?;
        if !args.json {
            let report = if args.quiet {
                format!("{}: {}\n", entry.name(), text::brief(&done))
            } else {
                text::report(&done, terminal.paint()) + "\n"
            };
            output::print(&report)?;
        }
        // The runs are written to files, and too large to keep in memory.
        done.runs = Vec::new();
        all.push(done);
    }
    if !args.quiet {
        let out = args.out.display();
        tell!("figures, data and pages are in {out}");
    }
    if let Some(file) = &args.page {
        let written = write::write_page(&all, file);
        written.with_context(|| format!("cannot write {}", file.display()))?;
    }
    if args.json {
        output::print(&json::to_text(&all))?;
    }
    Ok(status(&all))
}

fn list(entries: &[Entry]) -> anyhow::Result<String> {
    let mut table = Table::new("name paper shows <claims <quick <full");
    let mut readings = Table::new("experiment reading source takes-it-that");
    for entry in entries {
        let it = entry.experiment()?;
        table.push(vec![
            entry.name(),
            it.cites.value.clone(),
            it.title.value.clone(),
            it.claims.len().to_string(),
            text::duration(it.seconds.quick.value),
            text::duration(it.seconds.full.value),
        ]);
        for reading in it.readings.iter() {
            let source = reading.source.name().to_string();
            let [name, what] = [&reading.name, &reading.what].map(|it| it.value.clone());
            readings.push(vec![entry.name(), name, source, what]);
        }
    }
    let plain = |_: usize, _: usize, cell: &str| cell.to_string();
    let mut text = table.render(plain) + "\nTimes are of one core, measured on ours.\n";
    if !readings.is_empty() {
        text += "\nReadings, each tried alone with repro EXPERIMENT --reading READING:\n\n";
        text += &readings.render(plain);
    }
    Ok(text)
}

fn listed_as_json(entries: &[Entry]) -> anyhow::Result<String> {
    let mut listed = Vec::new();
    for entry in entries {
        listed.push(json::ListedRecord::new(entry.name(), &entry.experiment()?));
    }
    Ok(to_text(&json::ListDocument::new(listed)))
}

/// Prints how long it will take, if that is long.
fn announce(args: &ReproArgs, entries: &[Entry], threads: usize) -> anyhow::Result<()> {
    let mut seconds = 0.0;
    for entry in entries {
        let it = entry.experiment()?;
        seconds += match args.scale() {
            Scale::Quick => it.seconds.quick.value,
            Scale::Full => it.seconds.full.value,
        };
    }
    let threads = NonZeroUsize::new(threads).map_or(1, NonZeroUsize::get);
    let wall = seconds / threads as f64;
    if args.quiet || (wall < PATIENCE_S && !args.full) {
        return Ok(());
    }
    let mut text = format!(
        "pauseless: {}, about {} on {threads} threads",
        quantity::plural(entries.len() as u64, "experiment"),
        text::duration(wall)
    );
    if args.full {
        let out = args.out.display();
        let _ = write!(text, "; finished runs are kept in {out}/runs");
    }
    output::complain(&text);
    Ok(())
}

fn carry_out(
    args: &ReproArgs,
    entry: &Entry,
    interrupt: &Interrupt,
) -> Result<Reproduced, Failure> {
    let store = args.full.then(|| Samples::open(&args.out.join("runs"))).transpose()?;
    let count = Count::new(&entry.name(), args.quiet);
    let done = reproduce(
        entry.clone(),
        &Session {
            scale: args.scale(),
            store,
            settings: &args.set.settings,
            reading: args.reading.as_deref(),
            keeps_documents: args.json,
            keeps_runs: true,
            watch: &|done, total, _| {
                count.show(done, total, "runs");
                interrupt.flow()
            },
        },
    );
    count.clear();
    done
}

fn stopped(args: &ReproArgs) -> ExitCode {
    output::complain(if args.full {
        "pauseless: finished runs are kept; the same command goes on from here"
    } else {
        "pauseless: finished experiments are written, the one at work is not"
    });
    ExitCode::from(INTERRUPTED)
}

fn status(all: &[Reproduced]) -> ExitCode {
    let broken = all.iter().filter(|done| done.is_broken());
    let names: Vec<String> = broken.map(|done| done.entry.name()).collect();
    if names.is_empty() {
        return ExitCode::SUCCESS;
    }
    let names = names.join(", ");
    tell!("a claim that is marked as met is not: {names}");
    ExitCode::from(FINDING)
}

/// The shortest duration, in seconds, that is announced.
const PATIENCE_S: f64 = 10.0;
