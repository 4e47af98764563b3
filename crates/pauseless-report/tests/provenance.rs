//! Where pauses come from in the papers' stories, and what reports make of it.

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
use pauseless_scenario::congestion::Scheme;
use pauseless_scenario::{Overrides, Scenario};
use pauseless_text::terminal::Paint;
use problems::{GOOD, check};
use serde_json::Value;

fn run(file: &str, overrides: Overrides) -> (Run, Value) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let overrides = Overrides { provenance: true, ..overrides };
    let scenario = Scenario::read(&folder.join(file), &overrides);
    let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
    let run = Run::execute(scenario, |_| ControlFlow::Continue(()));
    let document = serde_json::to_value(json::run_document(&run)).expect("a document");
    (run, document)
}

fn ports(queues: &Value) -> Vec<&str> {
    let queues = queues.as_array().expect("a list").iter();
    queues.filter_map(|queue| queue["port"].as_str()).collect()
}

/// PCN Fig. 1 under PFC alone: the incast fills the port of R1, the pauses reach H0 and H1, and F0
/// is the victim, which only shares the link S0-S1.
#[test]
fn the_victim_of_pcn_fig1_is_f0() {
    let overrides = Overrides { congestion: Scheme::named("none"), ..Overrides::default() };
    let (run, document) = run("pcn-fig1.toml", overrides);
    let tree = &document["provenance"]["trees"][0];
    assert_eq!(tree["root"]["port"], "S1:R1");
    assert_eq!(tree["victims"], serde_json::json!(["F0"]));
    let culprits = tree["culprits"].as_array().expect("a list");
    assert!(culprits.contains(&"F1".into()) && !culprits.contains(&"F0".into()));
    for host in ["H0", "H1"] {
        let mut hosts = tree["hosts"].as_array().expect("a list").iter();
        let reached = hosts.find(|reached| reached["host"] == host);
        let reached = reached.expect("the tree reaches it");
        let chain = serde_json::json!(["S0:S1", format!("{host}:S0")]);
        assert_eq!(reached["chain"], chain);
        let time = reached["time_ps"].as_u64().expect("a time");
        assert!((20_000_000_000..23_000_000_000).contains(&time), "in the burst");
    }
    let text = text::report(&run, Paint::Plain);
    let section = text.split("where the pauses came from").nth(1);
    let section = section.expect("a section");
    assert!(section.contains("S1:R1 filled: S0:S1 stopped at 20."), "{section}");
    assert!(section.contains("Stopped though they do not pass S1:R1: F0."));
    let heading = Heading { title: String::new(), lead: String::new() };
    let page = html::page(&heading, &[run]);
    assert!(page.contains("<b>S1:R1</b> filled with "));
    assert!(page.matches("<ul").count() == page.matches("</ul>").count());
}

/// HotNets Fig. 4: the last circle of pauses is the deadlock.
#[test]
fn the_deadlock_of_hotnets_fig4_is_a_circle_of_pauses() {
    let overrides = Overrides { duration: Some(Span::ms(5)), ..Overrides::default() };
    let (run, document) = run("../papers/hotnets/fig4.toml", overrides);
    let cycles = document["provenance"]["cycles"].as_array();
    let last = cycles.expect("a list").last().expect("a circle");
    let mut circle = ports(&last["stopped"]);
    let mut deadlock = ports(&document["deadlock"]["cycle"]);
    circle.sort();
    deadlock.sort();
    assert_eq!(circle, deadlock);
    let found = document["deadlock"]["time_ps"].as_u64();
    assert!(last["time_ps"].as_u64() <= found, "sent before it took effect");
    let text = text::report(&run, Paint::Plain);
    assert!(text.contains("A circle of pauses, each because of the next"), "{text}");
}

#[test]
fn it_is_recorded_if_asked_for_and_written_out() {
    let parse = |text: &str| {
        let scenario = Scenario::parse("t", text, &Overrides::default());
        scenario.unwrap_or_else(|problems| panic!("{problems}"))
    };
    assert!(!parse(GOOD).config.is_tracing);
    assert!(!parse(&format!("{GOOD}[provenance]\nrecord = false\n")).config.is_tracing);
    let scenario = parse(&format!("{GOOD}[provenance]\n"));
    assert!(scenario.config.is_tracing);
    assert!(parse(&scenario.resolved()).config.is_tracing);
    assert!(scenario.warnings.is_empty(), "{:?}", scenario.warnings);
    let credits = GOOD.replace("\"pfc\"\nxoff = \"800 KB\"", "\"cbfc\"");
    assert!(parse(&credits).warnings.is_empty());
    assert_eq!(
        parse(&format!("{credits}[provenance]\n")).warnings,
        ["provenance knows the pauses of PFC only, and this is cbfc: none will be found"]
    );
    check(
        &format!("{GOOD}[provenance]\nrecord = 1\ndepth = 2\n"),
        expect![[r#"
            pauseless: t.toml:17:10: provenance.record: an integer stands here
               |
            17 | record = 1
               |          ^ expected true or false

            pauseless: t.toml:18:1: provenance.depth: unknown key
               |
            18 | depth = 2
               | ^^^^^ expected one of record
        "#]],
    );
}
