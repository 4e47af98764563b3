//! The command `pauseless run`: one simulation and its reports.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use pauseless_compat::hpcc::{self, Case, Compat, Foreign};
use pauseless_report::html::{self, Heading};
use pauseless_report::verdict::{self, Finding};
use pauseless_report::{animation, csv, json, scene, text};
use pauseless_run::Run;
use pauseless_run::capture::Ports;
use pauseless_run::results::rows;
use pauseless_run::table;
use pauseless_scenario::{Overrides, Scenario, StopOn};
use pauseless_text::foreign;
use pauseless_text::record::to_text;
use pauseless_text::source::Source;

use crate::INTERRUPTED;
use crate::args::{CompatWith, RunArgs, TableFormat};
use crate::htsim;
use crate::output::{self, Terminal, tell};
use crate::progress::{self, Bar};

/// Runs a scenario and reports.
pub fn run(args: &RunArgs, terminal: Terminal) -> anyhow::Result<ExitCode> {
    let overrides = Overrides {
        seed: args.seed,
        duration: args.duration,
        discipline: args.discipline,
        congestion: args.congestion_control,
        cycle_aware: args.cycle_aware.then_some(true),
        provenance: args.provenance,
        stop_on: stop_on(args),
    };
    // The source is read once: it may be a pipe.
    let changed = args.set.apply(Source::read(&args.file)?)?;
    let source = &changed.source;
    let from_htsim = htsim::scenario(args, source, &overrides)?;
    let imported = match &from_htsim {
        Some(_) => None,
        None => import(args, source)?,
    };
    let mut scenario = match (from_htsim, &imported) {
        (Some(scenario), _) => scenario,
        (None, None) => Scenario::read_source(source, &overrides)
            .map_err(|problems| changed.refuse(problems))?,
        (None, Some(case)) => {
            case.scenario.build(&format!("{} as a scenario", args.file.display()), &overrides)?
        }
    };
    if args.out.is_some() || args.html.is_some() || args.animation.is_some() {
        scene::record_replay(&mut scenario);
    }
    if !args.quiet {
        output::warn(&scenario);
    }
    for directory in args.out.iter().chain(&args.parquet).chain(&args.tables) {
        // The folder is made before the run, which would be in vain without it.
        let create = std::fs::create_dir_all(directory);
        create.with_context(|| format!("cannot create {}", directory.display()))?;
    }
    for file in args.html.iter().chain(&args.animation) {
        output::check_place(file)?;
    }
    let bar = if args.quiet { Bar::Never } else { Bar::Auto };
    let run = match (&imported, &args.pcap) {
        (None, None) => {
            let threads = threads(args, &scenario);
            progress::execute(scenario, threads, bar)?
        }
        (None, Some(path)) => capture(args, path, scenario, bar)?,
        (Some(case), None) => write_files(args, case, scenario, bar)?,
        (Some(_), Some(_)) => {
            anyhow::bail!("--pcap is for scenarios: make one with pauseless convert --to scenario")
        }
    };
    let printed = output::print(&report(args, &run, terminal));
    write(args, &run)?;
    printed?;
    Ok(status(args, &run))
}

/// Writes the files that were asked for.
fn write(args: &RunArgs, run: &Run) -> anyhow::Result<()> {
    let tell = |what: String| {
        if !args.quiet {
            tell!("wrote {what}");
        }
    };
    if let Some(directory) = &args.out {
        let names = write_results(directory, run)?;
        tell(format!("{} to {}", names.join(", "), directory.display()));
    }
    let parquet = args.parquet.iter().map(|directory| (directory, TableFormat::Parquet));
    for (directory, format) in parquet.chain(args.tables.iter().map(|it| (it, args.format))) {
        let names = write_tables(directory, format, run)?;
        tell(format!("{} to {}", names.join(", "), directory.display()));
    }
    if let Some(file) = &args.html {
        output::write_file(file, page(run))?;
        tell(file.display().to_string());
    }
    if let Some(file) = &args.animation {
        let picture = animation::svg(run).map_err(|why| anyhow::anyhow!("no animation: {why}"))?;
        output::write_file(file, picture)?;
        tell(file.display().to_string());
    }
    Ok(())
}

/// The number of threads to use. Prints why if it is one although more were asked for.
fn threads(args: &RunArgs, scenario: &Scenario) -> usize {
    let Some(threads) = args.threads else {
        let cores = std::thread::available_parallelism();
        return Run::threads_for(scenario, cores.map_or(1, NonZeroUsize::get));
    };
    let obstacle = Run::obstacle_to_threads(scenario).filter(|_| threads > 1 && !args.quiet);
    if let Some(why) = obstacle {
        tell!("this run uses one thread: {why}");
    }
    threads.into()
}

/// The case of another simulator, if these are its files.
fn import(args: &RunArgs, source: &Source) -> anyhow::Result<Option<Case>> {
    let compat = match args.compat {
        None => Compat::None,
        Some(CompatWith::Hpcc) => Compat::Hpcc,
        Some(CompatWith::Htsim) => {
            anyhow::bail!("--compat htsim is for files of htsim (.cm, .topo)")
        }
    };
    if !foreign::is_hpcc(&source.text) {
        anyhow::ensure!(
            compat == Compat::None,
            "--compat is for the files of that simulator; a scenario says itself how it is to be run"
        );
        anyhow::ensure!(!args.force, "--force is for the output files that a config.txt names");
        return Ok(None);
    }
    let is_changed = args.seed.is_some()
        || args.discipline.is_some()
        || args.congestion_control.is_some()
        || args.cycle_aware;
    anyhow::ensure!(
        compat == Compat::None || !is_changed,
        "--compat hpcc compares with what that simulator does: leave out --seed, --discipline, \
         --congestion-control and --cycle-aware, or leave out --compat"
    );
    let folder = args.file.parent().unwrap_or(Path::new(""));
    let mut case = hpcc::read_source(source, folder, compat)?;
    if let Some(folder) = &args.out {
        case.outputs.move_into(folder);
    }
    if args.force {
        case.outputs.foreign = Foreign::Replace;
    }
    if !args.quiet {
        output::notes(&case.notes);
    }
    Ok(Some(case))
}

/// Runs a case of another simulator and writes its files.
fn write_files(args: &RunArgs, case: &Case, scenario: Scenario, bar: Bar) -> anyhow::Result<Run> {
    let threads = threads(args, &scenario);
    let (run, files) = progress::execute_case(scenario, case, threads, bar)?;
    // Nobody asked for these files on the command line, so that even --quiet names them.
    let names = Vec::from_iter(files.iter().map(|file| file.display().to_string())).join(", ");
    tell!("wrote {names}");
    Ok(run)
}

/// Runs a scenario and captures its frames.
fn capture(args: &RunArgs, path: &Path, scenario: Scenario, bar: Bar) -> anyhow::Result<Run> {
    let ports = match args.pcap_ports.as_slice() {
        [] => Ports::all(&scenario.config),
        names => Ports::named(&scenario.config, names)
            .map_err(|error| anyhow::anyhow!("--pcap-ports: {error}"))?,
    };
    let ports = match args.pcap_snap {
        None => ports,
        Some(bytes) => ports.cut(bytes),
    };
    let done = progress::capture(scenario, path, ports, bar)?;
    let (run, frames) = done.with_context(|| format!("cannot write {}", path.display()))?;
    if !args.quiet {
        tell!("wrote {frames} frames to {}", path.display());
    }
    Ok(run)
}

/// What ends the run instead of what the scenario says, if the command line says so.
fn stop_on(args: &RunArgs) -> Option<StopOn> {
    let mut stop_on = StopOn::NONE;
    for name in &args.stop_on {
        stop_on.add(name);
    }
    (!args.stop_on.is_empty()).then_some(stop_on)
}

fn report(args: &RunArgs, run: &Run, terminal: Terminal) -> String {
    match (args.json, args.quiet) {
        (true, _) => to_text(&json::run_document(run)),
        (false, true) => text::verdict(run, terminal.paint()),
        (false, false) => text::report(run, terminal.paint()),
    }
}

fn status(args: &RunArgs, run: &Run) -> ExitCode {
    if run.interrupted {
        return ExitCode::from(INTERRUPTED);
    }
    let is_found = |finding: &Finding| finding.is_denied_in(&run.outcome);
    output::denied(&args.deny, is_found, verdict::undecided(run)).unwrap_or(ExitCode::SUCCESS)
}

fn page(run: &Run) -> String {
    let heading = Heading {
        title: run.scenario.title.clone(),
        lead: format!("The scenario {} and what came of it.", run.scenario.name),
    };
    html::page(&heading, std::slice::from_ref(run))
}

/// Writes all results of a run, and returns the names of the files.
fn write_results(directory: &Path, run: &Run) -> anyhow::Result<Vec<&'static str>> {
    let mut files =
        vec![("resolved.toml", run.scenario.resolved()), ("flows.csv", csv::flows(run))];
    match csv::series(run) {
        Some(series) => files.push(("series.csv", series)),
        // Curves of an earlier run in the same folder are not those of this one.
        None if directory.join("result.json").exists() => {
            let _ = fs::remove_file(directory.join("series.csv"));
        }
        None => {}
    }
    // The last ones say that the others are there.
    files.push(("report.html", page(run)));
    files.push(("result.json", to_text(&json::run_document(run))));
    for (name, text) in &files {
        output::write_file(&directory.join(name), text)?;
    }
    Ok(files.into_iter().map(|(name, _)| name).collect())
}

/// Writes the tables of a run, and returns the names of the files.
fn write_tables(directory: &Path, format: TableFormat, run: &Run) -> anyhow::Result<Vec<String>> {
    let notes = [("version", pauseless_run::VERSION), ("scenario", &run.scenario.name)];
    let mut names = Vec::new();
    for table in rows::tables(run) {
        let (ending, bytes) = match format {
            TableFormat::Csv => ("csv", table::csv(&table).into_bytes()),
            TableFormat::Parquet => ("parquet", table::parquet(&table, &notes)),
        };
        let name = format!("{}.{ending}", table.name);
        output::write_file(&directory.join(&name), bytes)?;
        names.push(name);
    }
    Ok(names)
}
