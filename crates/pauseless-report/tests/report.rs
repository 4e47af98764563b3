//! Reports of small runs, and what they make of hostile names.

use std::ops::ControlFlow;

use pauseless_core::unit::{Span, Time};
use pauseless_report::html::{self, Heading};
use pauseless_report::text;
use pauseless_report::verdict::{self, Finding};
use pauseless_report::{csv, diagram, json, scene};
use pauseless_run::Run;
use pauseless_scenario::{Overrides, Scenario};
use pauseless_text::quantity;
use pauseless_text::record::to_text;
use pauseless_text::terminal::Paint;

const NETWORK: &str = r#"
title = "<script>alert('a & b')</script>"
duration = "20 ms"

[topology]
kind = "ring"
switches = 3
hosts_per_switch = 1
rate = "10 Gbps"
delay = "1 us"

[switch]
buffer = "1012 KB"
processing = "85 us"

[flow_control]
kind = "pfc"
xoff = "800 KB"
xon = "797 KB"

[probe]
resolution = "100 us"
ports = ["S1:H1"]
flows = true
"#;

/// The ring with flows of these names.
fn ring(names: [&str; 3]) -> Scenario {
    let paths = [
        ("H1", "H3", r#"["S1", "S2", "S3"]"#),
        ("H2", "H1", r#"["S2", "S3", "S1"]"#),
        ("H3", "H2", r#"["S3", "S1", "S2"]"#),
    ];
    let mut text = NETWORK.to_string();
    for (name, (source, target, path)) in names.iter().zip(paths) {
        text.push_str(&format!(
            "\n[[flow]]\nname = '{name}'\nsource = \"{source}\"\ntarget = \"{target}\"\npath = {path}\n"
        ));
    }
    let scenario = Scenario::parse("ring", &text, &Overrides::default());
    scenario.unwrap_or_else(|problems| panic!("{problems}"))
}

fn run(scenario: Scenario) -> Run {
    let mut run = Run::execute(scenario, |_| ControlFlow::Continue(()));
    run.wall_s = 1.0;
    run
}

fn page(run: &Run) -> String {
    let heading = Heading { title: run.scenario.title.clone(), lead: "lead".to_string() };
    html::page(&heading, std::slice::from_ref(run))
}

#[test]
fn nothing_from_a_scenario_becomes_markup() {
    let run = run(ring(["<b>F1</b>", "F\"2\"&", "F3"]));
    let page = page(&run);
    // The script of a page is its own; nothing else is one.
    let body = page.split("<details>\n<summary>licences").next();
    let body = body.expect("what comes before it");
    assert!(!body.contains("<script") && !body.contains("<b>"));
    assert!(!page.contains("<script>alert") && !page.contains("<b>F1"));
    assert!(page.contains("&lt;script&gt;alert(&#39;a &amp; b&#39;)&lt;/script&gt;"));
    assert!(page.contains("&lt;b&gt;F1&lt;/b&gt;"));
    assert!(page.contains("F&quot;2&quot;&amp;"));
}

#[test]
fn a_page_shows_the_curves_the_thresholds_and_the_cycle() {
    let run = run(ring(["F1", "F2", "F3"]));
    let page = page(&run);
    // Queue, input rate, goodput and the cycle.
    assert_eq!(page.matches("<svg").count(), 4);
    assert!(page.contains("XOFF 800 KB, XON 797 KB"));
    assert!(page.contains("deadlock 2."), "the instant is marked");
    assert!(page.contains("aria-label=\"the cycle S1:S2, S2:S3, S3:S1\""));
    // The arrows of the cycle, and the ways of the flows.
    assert_eq!(page.matches("marker-end=\"url(#head0)\"").count(), 3);
    assert_eq!(page.matches("marker-end").count(), 6);
    assert!(page.contains("xoff = "), "the parameters are there");
}

#[test]
fn labels_of_the_cycle_name_the_flows_on_each_link() {
    let run = run(ring(["F1", "F2", "F3"]));
    let diagram = diagram::svg(&run).expect("a small network is drawn");
    for flows in [">F1, F3<", ">F1, F2<", ">F2, F3<"] {
        assert_eq!(diagram.matches(flows).count(), 1, "{flows}");
    }
}

#[test]
fn the_verdict_names_cycle_time_and_flows() {
    let run = run(ring(["F1", "F2", "F3"]));
    assert_eq!(verdict::findings(&run.outcome), [Finding::Deadlock]);
    let sentence = Finding::Deadlock.sentence(&run);
    assert!(sentence.starts_with("deadlock at 2."), "{sentence}");
    assert!(sentence.ends_with("closed by flows F1, F2, F3"), "{sentence}");
    assert_eq!(Finding::Loss.sentence(&run), "no loss");
    assert_eq!(verdict::aftermath(&run), None, "the sources never stop");
}

#[test]
fn an_interrupted_run_says_so_everywhere() {
    let mut slices = 0;
    let run = Run::execute(ring(["F1", "F2", "F3"]), |progress| {
        slices += 1;
        assert!(progress.now < progress.end);
        if progress.now >= Time::ZERO + Span::ms(1) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    assert!(run.interrupted && slices > 1);
    let end = run.outcome.end;
    assert!(end >= Time::ZERO + Span::ms(1) && end < Time::ZERO + Span::ms(3), "{end}");
    let words = format!("interrupted at {}", quantity::time(end));
    assert!(verdict::brief(&run).contains(&words));
    assert!(text::report(&run, Paint::Plain).contains(&words));
    let document = to_text(&json::run_document(&run));
    assert!(document.contains("\"interrupted\": true"));
}

#[test]
fn slices_do_not_change_what_is_found() {
    let scenario = ring(["F1", "F2", "F3"]);
    let whole = pauseless_sim::run(&scenario.config);
    assert_eq!(run(scenario).outcome, whole);
}

#[test]
fn documents_are_the_same_but_for_the_clock() {
    let document = || to_text(&json::run_document(&run(ring(["F1", "F2", "F3"]))));
    let first = document();
    assert_eq!(first, document());
    assert!(first.contains("\"wall_s\": 1.0"));
    assert!(first.contains("\"series\""));
}

#[test]
fn series_have_a_column_per_recording() {
    let run = run(ring(["F,1", "F2", "F3"]));
    let series = csv::series(&run).expect("something was probed");
    let header = series.lines().next().expect("a header");
    let expected = "time_ps,S1:H1 queue_bytes,S1:H1 input_bps,S1:H1 sending_bps,\
                    S1:H1 allowed_bps,S1:H1 egress_bytes,\"F,1 goodput_bps\",F2 goodput_bps,F3 goodput_bps";
    assert_eq!(header, expected);
    assert_eq!(series.lines().count(), 1 + 200);
    assert!(series.lines().skip(1).all(|line| line.split(',').count() == 9));
}

#[test]
fn a_run_without_probes_has_no_series_and_a_page_that_says_so() {
    let mut scenario = ring(["F1", "F2", "F3"]);
    scenario.config.probes = Default::default();
    let run = run(scenario);
    assert_eq!(csv::series(&run), None);
    assert!(!to_text(&json::run_document(&run)).contains("\"series\""));
    assert!(page(&run).contains("No curves"));
}

#[test]
fn a_page_replays_what_was_recorded() {
    let shown = |scenario| {
        let page = page(&run(scenario));
        let (_, rest) = page.split_once("id=\"scene\">").expect("a page has its data");
        let (scene, _) = rest.split_once("</script>").expect("which ends");
        let scene: serde_json::Value = serde_json::from_str(scene).expect("a document");
        scene["runs"][0].clone()
    };
    let still = shown(ring(["F1", "F2", "F3"]));
    assert!(still["network"].is_null(), "nothing was recorded");
    let mut watched = ring(["F1", "F2", "F3"]);
    scene::record_replay(&mut watched);
    let run = shown(watched);
    let network = &run["network"];
    let ports = network["ports"].as_array().expect("a list");
    assert_eq!(ports.len(), 12);
    for port in ports {
        let peer = &ports[port["peer"].as_u64().expect("a place") as usize];
        assert_eq!(
            peer["peer"].as_u64(),
            ports.iter().position(|it| it == port).map(|at| at as u64)
        );
    }
    let cycle = run["deadlocks"][0]["cycle"].as_array().expect("a list");
    let names: Vec<&str> = cycle
        .iter()
        .map(|port| &ports[port.as_u64().expect("a place") as usize]["name"])
        .map(|name| name.as_str().expect("a name"))
        .collect();
    assert_eq!(names.len(), 3);
    assert!(names.iter().all(|name| ["S1:S2", "S2:S3", "S3:S1"].contains(name)), "{names:?}");
    let labels: Vec<&str> = run["moments"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|it| it["label"].as_str())
        .collect();
    assert_eq!(labels.last(), Some(&"end"));
    assert!(labels.contains(&"deadlock"));
}
