//! The command `pauseless testbed`: scenarios on real frames.

use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};
use pauseless_dataplane::report::NodeReport;
use pauseless_report::verdict;
use pauseless_report::verdict::Finding;
use pauseless_run::Progress;
use pauseless_scenario::{Overrides, Scenario};
use pauseless_testbed::node::metrics::endpoint::Endpoint;
use pauseless_testbed::node::screen::{self, PortSetting, Scene, Screen};
use pauseless_testbed::plan::NodePlan;
use pauseless_testbed::ring::{self, Speed};
use pauseless_testbed::wires::Backend;
use pauseless_testbed::{self as testbed, BedError, Measured, Options, Watch, page, table};
use pauseless_text::record::to_text;
use pauseless_text::terminal::Paint;

use crate::args::{Deny, TestbedArgs};
use crate::output::{self, Terminal, tell};
use crate::progress::{Bar, Interrupt, View};
use crate::{INTERRUPTED, USAGE};

/// Builds the testbed, runs everything on it and reports.
pub fn run(args: &TestbedArgs, terminal: Terminal) -> anyhow::Result<ExitCode> {
    if args.processes && args.backend == Backend::Memory {
        bail!("processes share no memory: leave out --processes or --backend memory");
    }
    if args.processes && args.deny.contains(&Deny::Deadlock) {
        bail!(
            "nobody looks for deadlocks with --processes: leave it out, or take --deny starvation"
        );
    }
    // This comes before any thread: only then can a user without rights get some.
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
    if args.pcap.is_some() && scenarios.len() != 1 {
        bail!("--pcap is for one scenario: name a file, or one of the ring's with --only");
    }
    let options = Options {
        backend: args.backend,
        program: if args.processes {
            Some(std::env::current_exe().context("cannot find the program itself")?)
        } else {
            None
        },
        pcap: args.pcap.clone(),
        ..Options::default()
    };
    let (runs, is_interrupted) = measure(args, scenarios, &options, terminal.paint())?;
    if is_interrupted && runs.is_empty() {
        return Ok(ExitCode::from(INTERRUPTED));
    }
    if args.json {
        output::print(&to_text(&testbed::json::document(&runs)))?;
    } else {
        let table = table::table(&runs, terminal.paint());
        output::print(&format!("{table}\n{LEGEND}\n"))?;
    }
    if let Some(path) = page {
        output::write_file(path, page::page(&runs))?;
        if !args.json {
            let what = if page::has_curves(&runs) {
                "The curves are in"
            } else {
                "No curves were recorded; the findings are in"
            };
            output::print(&format!("\n{what} {}.\n", path.display()))?;
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
    let speed = if args.processes { Speed::Processes } else { Speed::Lockstep };
    let scenarios = if args.files.is_empty() {
        ring::scenarios(speed, &args.only, &overrides)?
    } else {
        let read = args.files.iter().map(|file| Scenario::read(file, &overrides));
        read.collect::<Result<Vec<Scenario>, _>>()?
    };
    Ok(scenarios)
}

/// Runs one scenario after the other, until it is interrupted.
fn measure(
    args: &TestbedArgs,
    scenarios: Vec<Scenario>,
    options: &Options,
    paint: Paint,
) -> anyhow::Result<(Vec<Measured>, bool)> {
    let interrupt = Interrupt::watch()?;
    let endpoint = args.metrics.map(|address| {
        Endpoint::open(address).with_context(|| format!("cannot give metrics at {address}"))
    });
    let endpoint = endpoint.transpose()?;
    if let Some(endpoint) = &endpoint {
        let address = endpoint.address();
        tell!("metrics are at http://{address}/metrics");
    }
    let mut runs = Vec::new();
    for scenario in scenarios {
        let scenario = Arc::new(scenario);
        if interrupt.flow().is_break() {
            break;
        }
        let screen = args.live.then(Screen::enter);
        let bar = if args.quiet || args.live { Bar::Never } else { Bar::Auto };
        let mut show = Show {
            interrupt: &interrupt,
            endpoint: endpoint.as_ref(),
            screen: screen.transpose().context("cannot write to the terminal")?,
            view: View::new(bar),
            bar,
            name: &scenario.name,
            shown: Vec::new(),
            paint,
        };
        let measured = match testbed::measure(Arc::clone(&scenario), options, &mut show) {
            Err(BedError::Interrupted) => break,
            measured => measured?,
        };
        show.view.clear();
        drop(show);
        if !args.quiet {
            let (run, name) = (&measured.run, &scenario.name);
            let verdict = verdict::brief(run);
            output::complain(&format!("  {name}: {verdict} ({:.2} s)", run.wall_s));
            for remark in table::remarks(&measured) {
                tell!("warning: {name}: {remark}");
            }
        }
        runs.push(measured);
    }
    let is_interrupted = interrupt.flow() == ControlFlow::Break(());
    Ok((runs, is_interrupted))
}

/// The terminal and metrics while a scenario runs.
struct Show<'a> {
    interrupt: &'a Interrupt,
    endpoint: Option<&'a Endpoint>,
    screen: Option<Screen>,
    /// The bar of one half: the simulation, or the run on real frames.
    view: View,
    bar: Bar,
    name: &'a str,
    /// The last reports shown, for rates.
    shown: Vec<NodeReport>,
    paint: Paint,
}

impl Watch for Show<'_> {
    fn begin(&mut self) {
        self.view.clear();
        self.view = View::new(self.bar);
    }

    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        self.view.show(progress);
        self.interrupt.flow()
    }

    fn see(&mut self, nodes: &[NodePlan], statuses: Vec<NodeReport>) {
        if let Some(screen) = &mut self.screen {
            let settings = nodes.iter().map(|node| PortSetting::of(&node.config));
            let settings: Vec<Vec<PortSetting>> = settings.collect();
            let nothing = NodeReport::default();
            let scenes = statuses.iter().zip(&settings).enumerate();
            let scenes = scenes.map(|(index, (now, settings))| Scene {
                heading: self.name,
                before: self.shown.get(index).unwrap_or(&nothing),
                now,
                settings,
            });
            let page = screen::render(&Vec::from_iter(scenes), screen::size(), self.paint);
            // A closed terminal ends the testbed by SIGHUP, if it should.
            let _ = screen.show(&page);
        }
        if let Some(endpoint) = self.endpoint {
            endpoint.publish(statuses.clone());
        }
        self.shown = statuses;
    }
}

fn status(args: &TestbedArgs, runs: &[Measured], is_interrupted: bool) -> ExitCode {
    if is_interrupted {
        return ExitCode::from(INTERRUPTED);
    }
    let is_found = |finding: &Finding| runs.iter().any(|it| finding.is_in(&it.run.outcome));
    let undecided = runs.iter().find_map(|it| verdict::undecided(&it.run));
    output::denied(&args.deny, is_found, undecided).unwrap_or_else(|| {
        let is_given_up = runs.iter().any(|it| it.wire.vanished > 0);
        ExitCode::from(if is_given_up { USAGE } else { 0 })
    })
}

/// The default name of the page.
const PAGE: &str = "pauseless-testbed.html";

const LEGEND: &str = "Goodput is that of the last quarter before the sources stop.\n\
    Tau: above the worst feedback latency that was measured, below the one that thresholds allow for.";
