//! What reports say where packets may take any of several ports: which rule was used, and why.

use pauseless_check::json::CheckRecord;
use pauseless_check::{Verdict, check, sarif, svg, text};
use pauseless_fabric::dependency::{Escape, PortChoice};
use pauseless_fabric::fabric::Fabric;
use pauseless_fabric::failure::{Draw, Failures};
use pauseless_fabric::reroute::Reroute;
use pauseless_fabric::routing::{Algorithm, Multipath, Routing};
use pauseless_scenario::shape;
use pauseless_text::terminal::Paint;
use serde_json::Value;

const UP_DOWN: Routing = Routing { algorithm: Algorithm::UpDown, multipath: Multipath::Ecmp };

fn fabric(spec: &str, choice: PortChoice, escape: Option<Routing>) -> Fabric {
    let mut fabric = shape::parse(spec).unwrap_or_else(|wrong| panic!("{spec}: {wrong}"));
    fabric.evidence.choice = choice;
    fabric.evidence.escape = escape;
    fabric
}

/// A verdict with its text and its JSON document.
struct Judged {
    verdict: Verdict,
    text: String,
    json: Value,
    sarif: Value,
    svg: String,
}

fn judge(fabric: &Fabric) -> Judged {
    let verdict = check(fabric, &[]);
    let value = |value| serde_json::to_value(value).expect("a document");
    Judged {
        text: text::report(fabric, &verdict, Paint::Plain),
        json: value(CheckRecord::new(fabric, &verdict)),
        sarif: serde_json::to_value(sarif::document(fabric, &verdict, &[])).expect("a log"),
        svg: svg::draw(fabric, &verdict, 0),
        verdict,
    }
}

const TORUS: &str = "torus:5x5,hosts_per_switch=1,routing=ecmp";
const HYPERX: &str = "hyperx:4x4,hosts_per_switch=1,routing=ecmp";

/// A leaf-spine fabric after failures, on all minimal ports, with cycles and no knot: the first of
/// some random ones.
fn dissolving() -> Fabric {
    let spec = "leaf-spine:leaves=4,spines=4,hosts_per_leaf=1,routing=ecmp";
    let healthy = fabric(spec, PortChoice::AtHead, None);
    let after = (0..400).map(|sample| {
        let failures = Failures::random_links(&healthy.topology, 350_000, Draw { seed: 1, sample });
        let rule = Reroute::Rule(Multipath::Ecmp.into());
        let routes = rule.routes(&healthy.topology, &healthy.routes, &failures);
        Fabric { routes, ..healthy.clone() }
    });
    let dissolves = |fabric: &Fabric| {
        let verdict = check(fabric, &[]);
        !verdict.is_cyclic() && verdict.rule.union_count > 0
    };
    after.into_iter().find(dissolves).expect("one in 80 does")
}

#[test]
fn cycles_of_sets_of_ports_count_where_packets_are_committed() {
    for spec in [TORUS, HYPERX] {
        let judged = judge(&fabric(spec, PortChoice::WhenQueued, None));
        assert!(judged.verdict.is_cyclic());
        assert!(judged.text.contains("Union rule: packets that may take any"), "{}", judged.text);
        assert_eq!(judged.json["dependency_rule"], "union");
        assert_eq!(judged.json["verdict"], "cyclic");
        assert_eq!(judged.json["union_component_count"], judged.json["component_count"]);
        assert_eq!(judged.sarif["runs"][0]["properties"]["dependencyRule"], "union");
    }
    // Without a choice there is nothing to say.
    let ring = judge(&fabric("ring:5,hosts_per_switch=1", PortChoice::WhenQueued, None));
    assert!(ring.verdict.is_cyclic() && !ring.text.contains("rule:"), "{}", ring.text);
}

#[test]
fn cycles_that_dissolve_are_no_finding_where_ports_are_chosen_at_the_head() {
    let judged = judge(&dissolving());
    assert!(!judged.verdict.is_cyclic() && !judged.verdict.words().contains("cycle"));
    assert!(judged.text.contains("cyclic buffer dependency without a knot"), "{}", judged.text);
    assert!(judged.text.contains("Knot rule: ports are chosen anew"), "{}", judged.text);
    assert_eq!(judged.json["verdict"], "knot-free");
    assert_eq!(judged.json["dependency_rule"], "knot");
    assert!(judged.json["union_component_count"].as_u64() > Some(0));
    assert_eq!(judged.json["component_count"], 0);
    let results = judged.sarif["runs"][0]["results"].as_array().expect("a list");
    assert!(results.iter().all(|found| found["ruleId"] == "unroutable"), "{results:?}");
    assert!(judged.svg.contains("Cycles without a knot"));
    // The ring of a torus leaves no second way to a host that is one dimension away.
    let judged = judge(&fabric(TORUS, PortChoice::AtHead, None));
    assert!(judged.verdict.is_cyclic());
    assert!(judged.text.contains(": knot of buffers;"), "{}", judged.text);
    assert!(judged.text.contains("\nKnotted group 1 of "), "{}", judged.text);
    assert!(judged.text.contains("By the union rule there is 1 group"), "{}", judged.text);
    let message = judged.sarif["runs"][0]["results"][0]["message"]["text"].as_str();
    assert!(message.is_some_and(|text| text.starts_with("Knot of buffers:")), "{message:?}");
    assert!(judged.svg.contains("Knot of buffers: lossless traffic can deadlock"));
}

#[test]
fn an_escape_class_helps_packets_that_are_not_committed() {
    let judged = judge(&fabric(TORUS, PortChoice::AtHead, Some(UP_DOWN)));
    assert!(!judged.verdict.is_cyclic());
    assert!(judged.text.contains("with an escape class"), "{}", judged.text);
    assert!(judged.text.contains("gets out by it (Duato 1993)"), "{}", judged.text);
    assert_eq!(judged.json["escape"]["holds"], true);
    let judged = judge(&fabric(TORUS, PortChoice::WhenQueued, Some(UP_DOWN)));
    assert!(judged.verdict.is_cyclic());
    assert!(judged.text.contains("counts with --choose at-head only"), "{}", judged.text);
    // A class whose routes have the cycle themselves is no escape.
    let judged = judge(&fabric(TORUS, PortChoice::AtHead, Some(Multipath::Ecmp.into())));
    let escape = judged.verdict.rule.escape.expect("it was asked for");
    assert!(matches!(escape.outcome, Escape::Cyclic(buffers) if buffers > 4), "{escape:?}");
    assert!(judged.text.contains("it is none, for "), "{}", judged.text);
    assert_eq!(judged.json["escape"]["holds"], false);
}
