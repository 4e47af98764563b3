//! Every scenario file of the repository, run twice: did a result move?
//! `UPDATE_EXPECT=1 cargo test -p pauseless-lab --test golden` writes the table anew.

use std::fmt::Write;
use std::path::Path;

use expect_test::expect_file;
use pauseless_lab::scenario::{Overrides, Scenario};
use pauseless_sim::run;

#[test]
fn every_scenario_gives_the_result_it_gave() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder of scenarios")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .collect();
    let papers = folder.join("../papers");
    files.extend(PAPERS.iter().map(|file| papers.join(file)));
    files.sort_by_key(|file| label(file));
    assert!(files.len() >= 10, "{files:?}");
    let mut table = String::from(
        "scenario                   deadlock_ps  starved  lost  held_bytes  largest_bytes  slowest_late_bps  events\n",
    );
    for file in files {
        let scenario = Scenario::read(&file, &Overrides::default()).expect("a good scenario");
        let outcome = run(&scenario.config);
        assert_eq!(
            format!("{outcome:?}"),
            format!("{:?}", run(&scenario.config)),
            "twice"
        );
        let deadlock = outcome
            .deadlock
            .as_ref()
            .map(|deadlock| deadlock.time.as_ps().to_string());
        let late = outcome.flows.iter().map(|flow| flow.goodput_late_bps);
        writeln!(
            table,
            "{:<26} {:>11}  {:>7}  {:>4}  {:>10}  {:>13}  {:>16.0}  {:>6}",
            label(&file),
            deadlock.as_deref().unwrap_or("-"),
            outcome.starved.len(),
            outcome.lost_packets,
            outcome.held_at_end.get(),
            outcome
                .queues
                .iter()
                .map(|queue| queue.max.get())
                .max()
                .unwrap_or(0),
            late.fold(f64::INFINITY, f64::min),
            outcome.events,
        )
        .expect("a string");
    }
    expect_file!["../../../scenarios/expected.txt"].assert_eq(&table);
}

/// The name of a scenario; one of a paper has the paper's in front.
fn label(file: &Path) -> String {
    let name = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().display().to_string();
    let folder = name(file.parent().and_then(Path::file_name));
    match folder.as_str() {
        "scenarios" => name(file.file_stem()),
        paper => format!("{paper}-{}", name(file.file_stem())),
    }
}

/// Scenarios of papers that are run here, too: those that take a second.
const PAPERS: &[&str] = &["pcn/fig11.toml", "pcn/fig5.toml"];
