//! Every scenario file of the repository, and those of the papers that take no longer, run twice: did
//! a result move?
//! `UPDATE_EXPECT=1 cargo test -p pauseless-scenario --test golden` writes the table anew.

use std::fmt::Write;
use std::path::Path;

use expect_test::expect_file;
use pauseless_scenario::{Overrides, Scenario};
use pauseless_sim::run;

/// Scenarios of the papers' experiments.
const PAPERS: [&str; 16] = [
    "gfc/fig5.toml",
    "gfc/fig9.toml",
    "gfc/fig10.toml",
    "gfc/fig12.toml",
    "gfc/fig13.toml",
    "gfc/fig14.toml",
    "gfc/fig20.toml",
    "gfc/sec4.2.toml",
    "hotnets/fig2.toml",
    "hotnets/fig3.toml",
    "hotnets/fig4.toml",
    "hotnets/fig5.toml",
    "hotnets/loop.toml",
    "pcn/fig5.toml",
    "pcn/fig11.toml",
    "ttl/proof.toml",
];

/// The stem of a scenario, behind the name of its paper if it has one.
fn name(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let folder = file.parent().and_then(Path::file_name).unwrap_or_default();
    match folder.to_string_lossy().as_ref() {
        "scenarios" => stem.into_owned(),
        paper => format!("{paper}-{stem}"),
    }
}

#[test]
fn every_scenario_gives_the_result_it_gave() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder of scenarios")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .filter(|path| !path.to_string_lossy().ends_with(".sweep.toml"))
        .collect();
    files.sort();
    assert!(files.len() >= 10, "{files:?}");
    files.extend(PAPERS.map(|file| folder.join("../papers").join(file)));
    let mut table = String::from(
        "scenario                   deadlock_ps  starved  lost  held_bytes  largest_bytes  slowest_late_bps  events\n",
    );
    for file in files {
        let scenario = Scenario::read(&file, &Overrides::default()).expect("a good scenario");
        let outcome = run(&scenario.config);
        assert_eq!(format!("{outcome:?}"), format!("{:?}", run(&scenario.config)), "twice");
        let deadlock = outcome.deadlock.as_ref().map(|deadlock| deadlock.time.as_ps().to_string());
        let late = outcome.flows.iter().map(|flow| flow.goodput_late_bps);
        writeln!(
            table,
            "{:<26} {:>11}  {:>7}  {:>4}  {:>10}  {:>13}  {:>16.0}  {:>6}",
            name(&file),
            deadlock.as_deref().unwrap_or("-"),
            outcome.starved.len(),
            outcome.lost_packets,
            outcome.held_at_end.get(),
            outcome.queues.iter().map(|queue| queue.max.get()).max().unwrap_or(0),
            late.fold(f64::INFINITY, f64::min),
            outcome.events,
        )
        .expect("a string");
    }
    expect_file!["../../../scenarios/expected.txt"].assert_eq(&table);
}
