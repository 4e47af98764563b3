//! What reports say about runs in which switches choose among several next hops.

use std::ops::ControlFlow;

use pauseless_report::{json, text};
use pauseless_run::Run;
use pauseless_scenario::{Overrides, Scenario};
use pauseless_text::terminal::Paint;

fn run(kind: &str) -> Run {
    let file = include_str!("../../../scenarios/all-to-all-spraying.toml");
    let file = file.replace("\"16384 KB\"", "\"512 KB\"");
    let file = file.replace("kind = \"drill\"", &format!("kind = \"{kind}\""));
    let scenario = Scenario::parse("t", &file, &Overrides::default());
    let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
    Run::execute(scenario, |_| ControlFlow::Continue(()))
}

#[test]
fn a_sprayed_run_says_how_evenly_and_that_starvation_is_not_judged() {
    let sprayed = run("drill");
    let report = text::report(&sprayed, Paint::Plain);
    for line in ["starvation is not judged: what is fair depends on how", "Next hops: the busiest"]
    {
        assert!(report.contains(line), "{line} in\n{report}");
    }
    let document = serde_json::to_value(json::run_document(&sprayed)).expect("a document");
    let ports = document["metrics"]["ports"].as_array().expect("ports");
    let frames = ports.iter().map(|port| port["balanced_frames"].as_u64().expect("a count"));
    // Two packets of 8 KB for each of 56 hosts of other leaves, up from each of 64 hosts.
    assert_eq!(frames.sum::<u64>(), 2 * 56 * 64);
}

#[test]
fn a_run_by_the_hash_of_flows_says_what_it_said() {
    let hashed = run("flow-hash");
    let report = text::report(&hashed, Paint::Plain);
    assert!(!report.contains("is not judged") && !report.contains("Next hops:"), "{report}");
    let document = serde_json::to_value(json::run_document(&hashed)).expect("a document");
    assert_eq!(document["metrics"]["ports"][0].get("balanced_frames"), None);
}
