//! What reports say about runs in which packets of a flow take several paths.

use std::ops::ControlFlow;

use pauseless_report::json;
use pauseless_report::text;
use pauseless_run::Run;
use pauseless_scenario::{Overrides, Scenario};
use pauseless_text::terminal::Paint;

const SPRAY: &str = include_str!("../../../scenarios/spray-permutation.toml");

fn run(text: &str) -> Run {
    let scenario = Scenario::parse("t", text, &Overrides::default());
    let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
    Run::execute(scenario, |_| ControlFlow::Continue(()))
}

#[test]
fn a_run_over_several_paths_says_how_far_packets_overtake() {
    let run = run(&SPRAY.replace("\"tolerant\"", "\"hold\""));
    let text = text::report(&run, Paint::Plain);
    let line = text.lines().find(|line| line.contains("Overtaking: ")).expect("a line of it");
    assert!(line.contains("Hosts held back up to"), "{line}");
    assert!(text.contains("starvation is not judged"), "{text}");
    let document = serde_json::to_value(json::run_document(&run)).expect("a document");
    let all = &document["metrics"]["reordering"];
    let number = |name: &str| all[name].as_f64().unwrap_or_else(|| panic!("{name} in {all}"));
    assert!(number("share") > 0.01 && number("share") < 1.0);
    assert!(number("extent_max") >= number("extent_p99"));
    assert!(number("late_max_ps") * 1.01 >= number("late_p99_ps"));
    // A host receives one flow.
    assert_eq!(number("depth_max_bytes"), number("held_back_max_bytes"));
    let flows = document["flows"].as_array().expect("flows");
    let depths = flows.iter().map(|flow| flow["depth_max_bytes"].as_u64().expect("a depth"));
    assert_eq!(depths.max().map(|it| it as f64), Some(number("depth_max_bytes")));
    assert!(flows.iter().all(|flow| flow["late_packets"].is_u64() && flow["finish_ps"].is_u64()));
}

#[test]
fn a_run_over_one_path_says_nothing_of_it() {
    let run = run(&SPRAY.replace("\"tolerant\"", "\"in-order\"").replace("\"mixed\"", "\"flow\""));
    assert!(!text::report(&run, Paint::Plain).contains("vertak"));
    let document = serde_json::to_value(json::run_document(&run)).expect("a document");
    assert!(document["metrics"].get("reordering").is_none());
    assert!(document["flows"][0].get("late_packets").is_none());
}
