//! Every rule fires on its own bad example and is silent on its good one.

mod rows;

use pauseless_lint::finding::Severity;
use pauseless_lint::rule::Edit;
use pauseless_lint::{example, lint, prove, rules};
use pauseless_text::source::Source;
use rows::expanded;
use serde_json::Value;

/// The rules above a note, and all rules, that fire after these changes.
struct Fired {
    loud: Vec<&'static str>,
    all: Vec<&'static str>,
}

fn fired(edits: &[Edit]) -> Fired {
    let sources = example::sources(edits).unwrap();
    let report = lint(&sources).unwrap();
    let mut fired = Fired { loud: Vec::new(), all: Vec::new() };
    for finding in &report.findings {
        fired.all.push(finding.rule.id);
        if finding.severity > Severity::Note {
            fired.loud.push(finding.rule.id);
        }
    }
    fired.loud.sort_unstable();
    fired.loud.dedup();
    fired
}

#[test]
fn the_example_fabric_is_silent() {
    let sources = example::sources(&[]).unwrap();
    let report = lint(&sources).unwrap();
    let loud = report.findings.iter().filter(|one| one.severity > Severity::Note);
    let loud = Vec::from_iter(loud.map(|one| format!("{} {}", one.rule.id, one.sentence())));
    assert_eq!(loud, Vec::<String>::new());
    assert_eq!((report.switches, report.hosts, report.cables), (4, 1, 2));
}

#[test]
fn every_rule_fires_on_its_bad_example_and_nothing_else_does() {
    let mut wrong = Vec::new();
    let count = |all: &[&str], id| all.iter().filter(|other| **other == id).count();
    let before = fired(&[]).all;
    for rule in rules::ALL {
        assert!(!rule.bad.is_empty(), "{} has no bad example", rule.id);
        let Fired { loud, all } = fired(rule.bad);
        if count(&all, rule.id) <= count(&before, rule.id) {
            wrong.push(format!("{} does not fire; {all:?} do", rule.id));
        }
        let others = loud.iter().filter(|id| **id != rule.id && !rule.also.contains(id));
        let others = Vec::from_iter(others);
        if !others.is_empty() {
            wrong.push(format!("{others:?} fire on the bad example of {}", rule.id));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_rule_is_silent_on_its_good_example() {
    let mut wrong = Vec::new();
    for rule in rules::ALL {
        let Fired { loud, all } = fired(rule.good);
        if loud.contains(&rule.id)
            || rule.good.is_empty() && rule.severity > Severity::Note && all.contains(&rule.id)
        {
            wrong.push(format!("{} fires on its good example", rule.id));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn rules_are_in_order_and_said_in_sentences() {
    for pair in rules::ALL.windows(2) {
        assert!(pair[0].id < pair[1].id, "{} before {}", pair[0].id, pair[1].id);
    }
    for rule in rules::ALL {
        assert!(rule.id.len() == 5 && rule.id.starts_with("PL"), "{}", rule.id);
        let texts = [rule.sentence, rule.why, rule.released];
        assert!(texts.iter().all(|text| text.ends_with('.')), "{}", rule.id);
        assert!(!rule.fix.is_empty() && !rule.evidence.is_empty(), "{}", rule.id);
    }
}

/// The configurations among the files, as values.
fn configurations(sources: &[Source]) -> Vec<Value> {
    let configs = sources.iter().filter(|source| source.text.contains("DEVICE_METADATA"));
    configs.map(|source| serde_json::from_str(&source.text).unwrap()).collect()
}

#[test]
fn patches_make_bad_examples_good_again() {
    let good = configurations(&example::sources(&[]).unwrap());
    let good = Vec::from_iter(good.iter().map(expanded));
    let mut repaired = Vec::new();
    for rule in rules::ALL.iter().filter(|rule| rule.severity > Severity::Note) {
        let fixed = prove::fix(&example::sources(rule.bad).unwrap(), |_| true).unwrap();
        let is_silent = !fixed.left.fails();
        let now = configurations(&fixed.sources);
        let now = now.iter().map(expanded);
        if is_silent && Vec::from_iter(now) == good {
            repaired.push(rule.id);
        }
    }
    let expected = Vec::from(REPAIRED);
    assert_eq!(repaired, expected, "{} of them", repaired.len());
}

/// The rules whose patch gives the good configuration back, and not just a silent one.
const REPAIRED: [&str; 39] = [
    "PL101", "PL103", "PL104", "PL105", "PL107", "PL109", "PL201", "PL202", "PL204", "PL205",
    "PL206", "PL207", "PL209", "PL210", "PL303", "PL304", "PL307", "PL309", "PL313", "PL314",
    "PL315", "PL401", "PL402", "PL403", "PL406", "PL501", "PL502", "PL503", "PL504", "PL505",
    "PL507", "PL508", "PL510", "PL601", "PL602", "PL608", "PL703", "PL704", "PL705",
];
