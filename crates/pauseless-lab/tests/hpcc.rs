//! Runs of the HPCC authors' simulator beside ours, on the same files.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use pauseless_lab::import::hpcc::{self, Compat};
use pauseless_lab::report::Run;
use pauseless_lab::scenario::{Overrides, Scenario};

/// What a run has written, and the run.
struct Done {
    run: Run,
    fct: String,
    pfc: String,
}

fn folder(case: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/hpcc")
        .join(case)
}

fn expected(case: &str, file: &str) -> String {
    std::fs::read_to_string(folder(case).join("expected").join(file)).unwrap()
}

fn run(case: &str, compat: Compat) -> Done {
    let config = folder(case).join("config.txt");
    let mut imported = hpcc::read(&config, compat).unwrap_or_else(|error| panic!("{error}"));
    let place = tempfile::tempdir().unwrap();
    imported.outputs.fct = place.path().join("fct.txt");
    imported.outputs.pfc = place.path().join("pfc.txt");
    if let Some(monitor) = &mut imported.outputs.qlen {
        monitor.file = place.path().join("qlen.txt");
    }
    let scenario = Scenario::parse(case, &imported.scenario, &Overrides::default());
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let watch = |_| ControlFlow::Continue(());
    let (run, _) = hpcc::execute(scenario, &imported.outputs, 1, watch).unwrap();
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    Done {
        fct: read(&imported.outputs.fct),
        pfc: read(&imported.outputs.pfc),
        run,
    }
}

/// Completion times in nanoseconds by who sends to whom.
fn times(fct: &str) -> BTreeMap<String, f64> {
    let rows = fct.lines().map(|line| {
        let words = Vec::from_iter(line.split(' '));
        (words[..4].join(" "), words[6].parse().unwrap())
    });
    rows.collect()
}

/// Prints both, and says how far the completion times are apart at the most, in percent.
fn compare(case: &str, done: &Done) -> f64 {
    let (theirs, ours) = (times(&expected(case, "fct.txt")), times(&done.fct));
    assert!(
        theirs.keys().eq(ours.keys()),
        "{case}: the same flows finish"
    );
    let mut worst: f64 = 0.0;
    for (flow, theirs) in &theirs {
        let apart = 100.0 * (ours[flow] / theirs - 1.0);
        worst = worst.max(apart.abs());
        println!("  {flow}  {theirs:>10}  {:>10}  {apart:+.3} %", ours[flow]);
    }
    let frames = [expected(case, "pfc.txt"), done.pfc.clone()].map(|text| text.lines().count());
    println!("{case}: at most {worst:.3} % apart; PFC frames {frames:?}");
    worst
}

#[test]
fn an_incast_under_pfc_alone_takes_as_long_as_there() {
    let done = run("incast_pfc", Compat::Hpcc);
    assert!(compare("incast_pfc", &done) < 2.0);
}

#[test]
fn an_incast_under_dcqcn_takes_as_long_as_there() {
    let done = run("incast", Compat::Hpcc);
    assert!(compare("incast", &done) < 2.0);
}

#[test]
fn a_ring_deadlocks_as_there_and_is_named() {
    let done = run("ring5_pfc", Compat::Hpcc);
    println!("{}", done.pfc);
    println!("{:?}", done.run.outcome.deadlock);
    compare("ring5_pfc", &done);
    assert_eq!(done.fct, "");
    assert!(done.run.outcome.deadlock.is_some());
}
