//! The command `pauseless demo`: the deadlock of a ring and what prevents it.

use std::path::Path;
use std::process::ExitCode;

use pauseless_report::demo::{self, LEAD};
use pauseless_report::{html, json, scene, verdict};
use pauseless_scenario::Overrides;
use pauseless_text::record::to_text;

use crate::args::DemoArgs;
use crate::output::{self, Terminal, tell};
use crate::progress::Count;

/// Runs the demo, prints its table and writes its page.
pub fn run(args: &DemoArgs, terminal: Terminal) -> anyhow::Result<ExitCode> {
    let overrides =
        Overrides { seed: args.seed, discipline: args.discipline, ..Overrides::default() };
    let page = match (&args.out, args.json) {
        (Some(path), _) => Some(path.as_path()),
        (None, false) => Some(Path::new(PAGE)),
        (None, true) => None,
    };
    if let Some(path) = page {
        output::check_place(path)?;
    }
    let mut scenarios = demo::scenarios(&overrides)?;
    if page.is_some() {
        scenarios.iter_mut().for_each(scene::record_replay);
    }
    let count = scenarios.len();
    tell!("{count} runs of one ring");
    let bar = Count::of_time("demo");
    let watch = |passed| bar.show(passed, 1000 * count, "");
    let runs = demo::run(scenarios, watch, |run| {
        let (name, verdict) = (&run.scenario.name, verdict::brief(run));
        bar.say(&format!("  {name}: {verdict} ({:.2} s)", run.wall_s));
    });
    bar.clear();
    if args.json {
        output::print(&to_text(&json::runs_document(&runs)))?;
    } else {
        let table = demo::table(&runs, terminal.paint());
        let lead = LEAD.join("\n");
        let others = match args.discipline {
            Some(_) => String::new(),
            None => format!("\n{OTHERS}\n"),
        };
        output::print(&format!("{lead}\n\n{table}\n{LEGEND}\n{others}"))?;
    }
    if let Some(path) = page {
        output::write_file(path, html::page(&demo::heading(), &runs))?;
        if !args.json {
            let path = path.display();
            let next = match args.discipline {
                Some(_) => NEXT_RUN,
                None => NEXT_DEMO,
            };
            let place = format!("The curves and the cycles are in {path}.");
            output::print(&format!("\n{place}\n{next}\n"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The default name of the page.
const PAGE: &str = "pauseless-demo.html";

const LEGEND: &str = "F1, F2, F3: goodput over the last quarter before the sources stop.\n\
    Feedback: the largest share of a link that control frames took.";

const OTHERS: &str = "Other switches: with --discipline input-queued PFC and credits deadlock and GFC keeps its \
    full rate; with virtual-output-queued all flow (docs/disciplines.md).";

const NEXT_DEMO: &str = "Next: pauseless demo --discipline input-queued";

const NEXT_RUN: &str = "Next: pauseless run scenarios/gfc-ring.toml --out results";
