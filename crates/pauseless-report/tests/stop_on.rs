//! `verdict.stop_on`: what is written, what comes of it, and what reports say.

#[path = "../../pauseless-scenario/tests/problems/mod.rs"]
mod problems;

use std::ops::ControlFlow;
use std::path::Path;

use expect_test::expect;
use pauseless_core::unit::Span;
use pauseless_report::html::{self, Heading};
use pauseless_report::json;
use pauseless_report::text;
use pauseless_run::Run;
use pauseless_scenario::{Overrides, Scenario, StopOn};
use pauseless_sim::config::{Steady, Stop};
use pauseless_text::terminal::Paint;
use problems::{GOOD, check};

fn stop(verdict: &str) -> Stop {
    let text = format!("{GOOD}[verdict]\n{verdict}\n");
    let scenario = Scenario::parse("t.toml", &text, &Overrides::default());
    let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
    let again = Scenario::parse("t.toml", &scenario.resolved(), &Overrides::default());
    let again = again.unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(again.config.stop, scenario.config.stop, "{verdict}");
    scenario.config.stop
}

#[test]
fn what_is_written_is_meant() {
    assert_eq!(stop(""), Stop::default());
    assert_eq!(stop("stop_on = []"), Stop::default());
    assert_eq!(stop("stop_on_deadlock = true"), Stop::DEADLOCK);
    assert_eq!(stop("stop_on = [\"deadlock\"]"), Stop::DEADLOCK);
    assert_eq!(stop("[verdict.steady]\nwindows = 5"), Stop::default());
    let steady = Steady { window: Span::ns(15_625), windows: 8, tolerance_permille: 10 };
    let both = Stop { deadlock: false, done: true, steady: Some(steady) };
    assert_eq!(stop("stop_on = [\"done\", \"steady\"]"), both);
    let written = "stop_on = [\"steady\"]\n[verdict.steady]\nwindow = \"1 ms\"\nwindows = 12\ntolerance = 0.025";
    let steady = Steady { window: Span::ms(1), windows: 12, tolerance_permille: 25 };
    assert_eq!(stop(written).steady, Some(steady));
}

#[test]
fn what_is_wrong_is_shown() {
    check(
        &format!("{GOOD}[verdict]\nstop_on_deadlock = true\nstop_on = [\"stedy\"]\n"),
        expect![[r#"
            pauseless: t.toml:16:1: verdict: both stop_on and stop_on_deadlock are written
               |
            16 | [verdict]
               | ^^^^^^^^^
               |
               = help: keep stop_on, with "deadlock" in it if that is wanted

            pauseless: t.toml:18:12: verdict.stop_on[0]: unknown value "stedy"
               |
            18 | stop_on = ["stedy"]
               |            ^^^^^^^ expected any of "deadlock", "done", "steady"
               |
               = help: did you mean steady?
        "#]],
    );
    check(
        &format!(
            "{GOOD}[verdict.steady]\nwindow = \"0 ms\"\nwindows = 2\ntolerance = 0\nspan = 3\n"
        ),
        expect![[r#"
            pauseless: t.toml:17:10: verdict.steady.window: 0 ps is out of range
               |
            17 | window = "0 ms"
               |          ^^^^^^ expected a time from 1 ns to 86400 s

            pauseless: t.toml:18:11: verdict.steady.windows: 2 is out of range
               |
            18 | windows = 2
               |           ^ expected a whole number from 4 to 64

            pauseless: t.toml:19:13: verdict.steady.tolerance: 0 is out of range
               |
            19 | tolerance = 0
               |             ^ expected a share from 0.001 to 1

            pauseless: t.toml:20:1: verdict.steady.span: unknown key
               |
            20 | span = 3
               | ^^^^ expected one of tolerance, window, windows
        "#]],
    );
}

fn run(file: &str, stop_on: StopOn) -> Run {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let overrides = Overrides { stop_on: Some(stop_on), ..Overrides::default() };
    let scenario = Scenario::read(&folder.join(file), &overrides);
    let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
    Run::execute(scenario, |_| ControlFlow::Continue(()))
}

#[test]
fn every_report_says_why_a_run_ended() {
    let done = StopOn { done: true, ..StopOn::NONE };
    let steady = StopOn { steady: true, ..StopOn::NONE };
    let cases = [
        ("gfc-ring.toml", StopOn::DEADLOCK, "deadlock"),
        ("gfc-ring.toml", steady, "steady"),
        ("all-reduce-ring.toml", done, "done"),
        ("all-reduce-ring.toml", StopOn::NONE, "duration"),
    ];
    for (file, stop_on, expected) in cases {
        let run = run(file, stop_on);
        assert_eq!(run.ended_name(), expected, "{file}");
        let document = serde_json::to_value(json::run_document(&run)).expect("a document");
        assert_eq!(document["ended"], expected);
        let sentence = match expected {
            "deadlock" => "ended at 2.",
            "steady" => "a steady state was reached\n",
            "done" => "all flows are done\n",
            _ => "",
        };
        let text = text::report(&run, Paint::Plain);
        assert!(text.contains(sentence), "{text}");
        assert_eq!(text.contains("ended at "), expected != "duration", "{text}");
        let heading = Heading { title: String::new(), lead: String::new() };
        let page = html::page(&heading, std::slice::from_ref(&run));
        assert_eq!(page.contains("<li>ended at "), expected != "duration");
    }
}
