//! A report for code review: SARIF 2.1.0, with the lines and columns that forges show it at.

use serde_json::{Value, json};

use pauseless_text::source::Source;

use crate::finding::{Finding, Place};
use crate::lines::Lines;
use crate::report::Report;
use crate::rules;

/// The log of one run over these files.
pub fn document(report: &Report, sources: &[Source]) -> Value {
    let lines = Lines::new(sources);
    let mut results = Vec::new();
    for finding in &report.findings {
        results.push(result(finding, None, &lines));
    }
    for waived in &report.waived {
        results.push(result(&waived.finding, Some(&waived.reason), &lines));
    }
    let artifacts = sources.iter().map(
        |source| json!({ "location": { "uri": uri(&source.file) }, "roles": ["analysisTarget"] }),
    );
    let notes =
        report.notes.iter().map(|note| json!({ "level": "note", "message": { "text": note } }));
    json!({
        "$schema": SCHEMA_URI,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver() },
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": Vec::from_iter(notes),
            }],
            "artifacts": Vec::from_iter(artifacts),
            "results": results,
        }],
    })
}

fn driver() -> Value {
    let rules = rules::ALL.iter().map(|rule| {
        json!({
            "id": rule.id,
            "name": pascal(rule.name),
            "shortDescription": { "text": rule.sentence },
            "fullDescription": { "text": rule.why },
            "help": { "text": format!("{} On released templates: {}", rule.fix, rule.released) },
            "defaultConfiguration": { "level": rule.severity.name() },
        })
    });
    json!({
        "name": "pauseless lint",
        "version": env!("CARGO_PKG_VERSION"),
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": Vec::from_iter(rules),
    })
}

fn result(finding: &Finding, reason: Option<&str>, lines: &Lines) -> Value {
    let index = rules::ALL.iter().position(|rule| rule.id == finding.rule.id);
    let mut result = json!({
        "ruleId": finding.rule.id,
        "ruleIndex": index,
        "level": finding.severity.name(),
        "message": { "text": format!("{} ({})", finding.sentence(), finding.fix) },
        "locations": [location(&finding.place, &finding.device, lines)],
        "partialFingerprints": { "lint/v1": fingerprint(finding) },
        "properties": { "patch": finding.patch },
    });
    if !finding.related.is_empty() {
        let related = finding.related.iter().enumerate().map(|(at, place)| {
            let mut location = location(place, "", lines);
            location["id"] = json!(at + 1);
            location
        });
        result["relatedLocations"] = Value::Array(related.collect());
    }
    if let Some(reason) = reason {
        result["suppressions"] = json!([{ "kind": "external", "justification": reason }]);
    }
    result
}

fn location(place: &Place, device: &str, lines: &Lines) -> Value {
    let start = lines.position(place.file, place.at.start);
    let end = lines.position(place.file, place.at.end);
    let name = place.name();
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(lines.name(place.file)) },
            "region": {
                "startLine": start.line,
                "startColumn": start.column,
                "endLine": end.line,
                "endColumn": end.column,
            },
        },
    });
    if !name.is_empty() {
        let full = if device.is_empty() { name.clone() } else { format!("{device}/{name}") };
        location["logicalLocations"] =
            json!([{ "name": name, "fullyQualifiedName": full, "kind": "member" }]);
    }
    location
}

/// What stays the same while lines move.
fn fingerprint(finding: &Finding) -> String {
    format!("{}/{}/{}/{}", finding.rule.id, finding.device, finding.subject, finding.place.name())
}

/// A name in words as SARIF wants it, such as `MapDoesNotExist`.
fn pascal(name: &str) -> String {
    let words = name.split('-').map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    });
    words.collect()
}

/// A path as a URI: a relative one stays relative, so that a forge finds it in its repository.
fn uri(path: &str) -> String {
    let relative = path.trim_start_matches("./");
    let mut uri = if path.starts_with('/') { "file://".to_string() } else { String::new() };
    for byte in relative.bytes() {
        let is_plain = byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
        if is_plain {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

const SCHEMA_URI: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
