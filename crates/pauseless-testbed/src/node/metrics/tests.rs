//! The page is read back by a small parser of the text format.

use std::collections::BTreeMap;

use super::*;
use crate::node::tests;

/// The samples by name and labels, after a check of the format's rules.
pub(super) fn parse(page: &str) -> BTreeMap<String, f64> {
    let mut samples = BTreeMap::new();
    let mut kinds: BTreeMap<&str, &str> = BTreeMap::new();
    let mut family = "";
    assert!(page.ends_with('\n'));
    for line in page.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').expect("a help text");
            assert!(!help.is_empty() && !kinds.contains_key(name), "{line}");
            family = name;
            continue;
        }
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a kind");
            assert_eq!(name, family, "HELP and TYPE belong together");
            assert!(["counter", "gauge", "summary"].contains(&kind), "{line}");
            assert_eq!(name.ends_with("_total"), kind == "counter", "{line}");
            kinds.insert(name, kind);
            continue;
        }
        let (series, value) = line.rsplit_once(' ').expect("a value");
        let (name, labels) = series.split_once('{').expect("labels");
        let base = match kinds[family] {
            "summary" => name.strip_suffix("_count").unwrap_or(name),
            _ => name,
        };
        assert_eq!(base, family, "samples of a family stand together");
        assert!(name.bytes().all(|b| b == b'_' || b.is_ascii_lowercase() || b.is_ascii_digit()));
        check_labels(labels.strip_suffix('}').expect("an end of the labels"));
        let value: f64 = value.parse().expect("a number");
        let before = samples.insert(series.to_string(), value);
        assert!(before.is_none(), "{series} twice");
    }
    samples
}

/// `name="text"` with commas between, and nothing in a text that should be escaped.
fn check_labels(labels: &str) {
    let mut rest = labels;
    while !rest.is_empty() {
        let (name, text) = rest.split_once("=\"").expect("a label");
        assert!(name.bytes().all(|b| b.is_ascii_lowercase()), "{labels}");
        let mut escape = false;
        let end = text.find(|c| {
            let is_end = c == '"' && !escape;
            escape = c == '\\' && !escape;
            is_end
        });
        let end = end.expect("a closing quote");
        rest = text[end + 1..].strip_prefix(',').unwrap_or(&text[end + 1..]);
    }
}

#[test]
fn the_page_is_in_the_format_and_has_what_the_report_has() {
    let samples = parse(&page(&[tests::report()]));
    let value = |name: &str| samples[name];
    let port = r#"{node="S1",port="S2"}"#;
    assert_eq!(value(&format!("pauseless_port_sent_frames_total{port}")), 25e3);
    let lost = r#"pauseless_port_lost_frames_total{node="S1",port="S2",cause="overrun"}"#;
    assert_eq!(value(lost), 7.0);
    let held = r#"pauseless_class_held_bytes{node="S1",port="H1",class="3"}"#;
    assert_eq!(value(held), 120e3);
    let stopped = r#"pauseless_class_stopped{node="S1",port="S2",class="3"}"#;
    assert_eq!(value(stopped), 1.0);
    let latency = r#"pauseless_flow_latency_seconds{node="S1",flow="F2",quantile="0.99"}"#;
    assert_eq!(value(latency), 220e-6);
    let count = r#"pauseless_node_lateness_seconds_count{node="S1",kind="control"}"#;
    assert_eq!(value(count), 7_990.0);
}

#[test]
fn names_may_have_anything_in_them() {
    let mut report = tests::report();
    report.sends[0].name = "a \"b\"\\\nc".to_string();
    let samples = parse(&page(&[report]));
    let name = r#"pauseless_flow_sent_frames_total{node="S1",flow="a \"b\"\\\nc"}"#;
    assert_eq!(samples[name], 8_000.0);
}

#[test]
fn several_nodes_share_families_and_no_node_gives_none_twice() {
    let mut other = tests::report();
    other.name = "S2".to_string();
    let samples = parse(&page(&[tests::report(), other]));
    assert!(samples.contains_key(r#"pauseless_node_time_seconds{node="S2"}"#));
    parse(&page(&[]));
}
