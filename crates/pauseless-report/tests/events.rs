//! What reports say about runs in which links, switches and routes change.

use std::ops::ControlFlow;

use pauseless_report::html::{self, Heading};
use pauseless_report::json;
use pauseless_report::text;
use pauseless_report::verdict::Finding;
use pauseless_run::Run;
use pauseless_scenario::{Overrides, Scenario};
use pauseless_text::terminal::Paint;

const MICRO_LOOP: &str = include_str!("../../../scenarios/micro-loop.toml");

fn run(text: &str) -> Run {
    let scenario = Scenario::parse("t", text, &Overrides::default());
    let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
    Run::execute(scenario, |_| ControlFlow::Continue(()))
}

fn has_lines(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.lines().any(|it| it.contains(line)), "{line:?} in\n{text}");
    }
}

#[test]
fn a_deadlock_says_which_event_was_before_it() {
    let run = run(MICRO_LOOP);
    has_lines(
        &text::report(&run, Paint::Plain),
        &[
            "deadlock at 154 us, 54.3 us after link-down S1-S5: S1:S2 -> S2:S1, closed by flow rerouted",
            "no loss beside events",
            "starvation is not judged",
            "1 event: 3 packets (3.00 KB) lost with links that were down",
        ],
    );
    let document = serde_json::to_value(json::run_document(&run)).expect("a document");
    assert_eq!(document["losses"]["event"]["packets"], 3);
    assert_eq!(document["losses"]["no_route"]["packets"], 0);
    assert_eq!(document["lost_packets"], 0);
    assert_eq!(document["episodes"][0]["after_event"], "link-down S1-S5");
    assert_eq!(document["episodes"][0].get("broken_by_event"), None);
    assert!(!Finding::Loss.is_in(&run.outcome) && Finding::Loss.is_denied_in(&run.outcome));
    let heading = Heading { title: String::new(), lead: String::new() };
    assert!(html::page(&heading, std::slice::from_ref(&run)).contains("link-down S1-S5"));
}

#[test]
fn a_deadlock_says_which_event_has_broken_it() {
    let later =
        "[[event]]\nkind = \"link-down\"\nat = \"1 ms\"\nlink = [\"S1\", \"S2\"]\n[converge]";
    let run = run(&MICRO_LOOP.replace("[converge]", later));
    has_lines(
        &text::report(&run, Paint::Plain),
        &[
            "it was broken after 846 us by link-down S1-S2",
            "2 events:",
            "lost with links that were down",
        ],
    );
    let document = serde_json::to_value(json::run_document(&run)).expect("a document");
    assert_eq!(document["episodes"][0]["broken_by_event"], "link-down S1-S2");
    assert_eq!(document["episodes"][0]["broken_ps"], 1_000_000_000);
    assert!(document["losses"]["no_route"]["packets"].as_u64() > Some(100));
}

#[test]
fn nothing_is_said_of_events_where_there_are_none() {
    let (calm, _) = MICRO_LOOP.split_once("[[event]]").expect("an event");
    let run = run(calm);
    let document = serde_json::to_value(json::run_document(&run)).expect("a document");
    assert_eq!(document["losses"].get("event"), None);
    let text = text::report(&run, Paint::Plain);
    has_lines(&text, &["no loss", "no starvation"]);
    assert!(!text.contains("beside events") && !text.contains("events:"), "{text}");
}
