//! `pauseless testbed`

use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use pauseless_lab::report::verdict::Finding;
use pauseless_lab::report::{json, verdict};
use pauseless_lab::scenario::{Overrides, Scenario};
use pauseless_lab::testbed::ring::{self, Speed};
use pauseless_lab::testbed::wires::Backend;
use pauseless_lab::testbed::{self, Measured, Options, page, table};

use crate::args::TestbedArgs;
use crate::output::{self, Terminal};
use crate::progress::{Bar, Interrupt, View};
use crate::{FINDING, INTERRUPTED};

/// Builds the testbed, runs everything on it and reports.
pub fn run(args: &TestbedArgs, terminal: Terminal) -> anyhow::Result<ExitCode> {
    if args.processes && args.backend == Backend::Memory {
        bail!("processes share no memory: leave out --processes or --backend memory");
    }
    // Before any thread: only then can a user without rights get some.
    testbed::prepare(args.backend)?;
    let page = match (&args.out, args.json) {
        (Some(path), _) => Some(path.as_path()),
        (None, false) => Some(Path::new(PAGE)),
        (None, true) => None,
    };
    if let Some(path) = page {
        output::check_place(path)?;
    }
    let scenarios = scenarios(args)?;
    let options = Options {
        backend: args.backend,
        program: match args.processes {
            true => Some(std::env::current_exe().context("cannot find the program itself")?),
            false => None,
        },
        ..Options::default()
    };
    let (runs, is_interrupted) = measure(args, &scenarios, &options)?;
    if args.json {
        output::print(&json::to_text(&testbed::json::document(&runs)))?;
    } else {
        let table = table::table(&runs, terminal.paint());
        output::print(&format!("{table}\n{LEGEND}\n"))?;
    }
    if let Some(path) = page {
        output::write_file(path, &page::page(&runs))?;
        if !args.json {
            output::print(&format!("\nThe curves are in {}.\n", path.display()))?;
        }
    }
    Ok(status(args, &runs, is_interrupted))
}

fn scenarios(args: &TestbedArgs) -> anyhow::Result<Vec<Scenario>> {
    let overrides = Overrides {
        seed: args.seed,
        duration: args.duration,
        discipline: args.discipline,
        ..Overrides::default()
    };
    let speed = match args.processes {
        true => Speed::Processes,
        false => Speed::Lockstep,
    };
    let scenarios = match args.files.is_empty() {
        true => ring::scenarios(speed, &args.only, &overrides)?,
        false => {
            let files = args.files.iter();
            let read = files.map(|file| Scenario::read(file, &overrides));
            read.collect::<Result<Vec<Scenario>, _>>()?
        }
    };
    Ok(scenarios)
}

/// Runs one scenario after the other, as long as nobody interrupts.
fn measure(
    args: &TestbedArgs,
    scenarios: &[Scenario],
    options: &Options,
) -> anyhow::Result<(Vec<Measured>, bool)> {
    let interrupt = Interrupt::watch()?;
    let mut runs = Vec::new();
    for scenario in scenarios {
        if interrupt.flow().is_break() {
            break;
        }
        let bar = match args.quiet {
            true => Bar::Never,
            false => Bar::Auto,
        };
        let mut view = View::new(bar);
        let measured = testbed::measure(scenario, options, &mut |progress| {
            view.show(progress);
            interrupt.flow()
        })?;
        view.clear();
        if !args.quiet {
            let (run, name) = (&measured.run, &scenario.name);
            let verdict = verdict::brief(run);
            output::complain(&format!("  {name}: {verdict} ({:.2} s)", run.wall_s));
            for remark in table::remarks(&measured) {
                output::complain(&format!("pauseless: warning: {name}: {remark}"));
            }
        }
        runs.push(measured);
    }
    let is_interrupted = interrupt.flow() == ControlFlow::Break(());
    Ok((runs, is_interrupted))
}

fn status(args: &TestbedArgs, runs: &[Measured], is_interrupted: bool) -> ExitCode {
    if is_interrupted {
        return ExitCode::from(INTERRUPTED);
    }
    let denied = args.deny.iter().map(|deny| Finding::from(*deny));
    let found = |finding: &Finding| runs.iter().any(|it| finding.is_in(&it.run.outcome));
    let mut denied: Vec<Finding> = denied.filter(found).collect();
    denied.sort();
    denied.dedup();
    if denied.is_empty() {
        return ExitCode::SUCCESS;
    }
    let names = Vec::from_iter(denied.into_iter().map(Finding::name)).join(", ");
    output::complain(&format!("pauseless: denied: {names}"));
    ExitCode::from(FINDING)
}

/// Where the page goes if nobody says otherwise.
const PAGE: &str = "pauseless-testbed.html";

const LEGEND: &str = "Goodput is that of the last quarter before the sources stop.\n\
    Tau: above the worst feedback latency that was measured, below the one that thresholds allow for.";
