//! What reports say, in each of their forms, is true of the files.

use pauseless_lint::finding::Severity;
use pauseless_lint::json_report::LintDocument;
use pauseless_lint::report::Report;
use pauseless_lint::rule::{Edit, set};
use pauseless_lint::waiver::{self, Day};
use pauseless_lint::{example, junit, lint, sarif, text};
use pauseless_text::source::Source;
use pauseless_text::terminal::Paint;
use proptest::prelude::*;
use serde_json::Value;

const BAD: [Edit; 3] = [
    set("tor0", "/BUFFER_PG/Ethernet0|3-4/profile", r#""ingress_lossy_profile""#),
    set("tor0", "/PFC_WD/Ethernet40/action", r#""alert""#),
    set("leaf0", "/PORT/Ethernet0/description", r#""\u00e9<&>\u0001""#),
];

fn linted() -> (Vec<Source>, Report) {
    let sources = example::sources(&BAD).unwrap();
    let report = lint(&sources).unwrap();
    (sources, report)
}

#[test]
fn text_points_at_the_value() {
    let (sources, report) = linted();
    let text = text::render(&report, &sources, Paint::Plain);
    let first = "error[PL201]: tor0 Ethernet0: PFC in 3,4, but groups 3,4 without headroom \
                 (ingress_lossy_profile)\n";
    assert!(text.starts_with(first), "{text}");
    let mut lines = text.lines().skip_while(|line| !line.contains("\"Ethernet0|3-4\""));
    let (shown, mark) = (lines.next().unwrap(), lines.next().unwrap());
    let at = mark.find('^').unwrap();
    let marked = &shown[at..at + mark.matches('^').count()];
    assert_eq!(marked, "ingress_lossy_profile");
    assert!(
        text.ends_with(
            "1 error, 1 warning, 10 notes in 4 switches, 1 host, 2 cables with both ends\n"
        ) || text.lines().last().unwrap().starts_with("1 error, 1 warning, "),
        "{text}"
    );
}

#[test]
fn json_and_sarif_have_the_lines_and_columns_of_the_values() {
    let (sources, report) = linted();
    let line = |file: &str, line: usize| {
        let source = sources.iter().find(|source| source.file == file).unwrap();
        source.text.lines().nth(line - 1).unwrap().to_string()
    };
    let document = serde_json::to_value(LintDocument::new(&report, &sources)).unwrap();
    let findings = document["findings"].as_array().unwrap();
    let found = findings.iter().find(|one| one["rule"] == "PL201").unwrap();
    let number = |value: &Value| value.as_u64().unwrap() as usize;
    let text = line(found["file"].as_str().unwrap(), number(&found["line"]));
    let rest = text.chars().skip(number(&found["column"]) - 1).collect::<String>();
    assert!(rest.starts_with("ingress_lossy_profile"), "{rest}");
    assert_eq!(found["where"], "BUFFER_PG|Ethernet0|3-4|profile");
    assert_eq!(found["severity"], "error");
    assert!(document["schema"].is_number());

    let log = sarif::document(&report, &sources);
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), report.findings.len());
    for (result, finding) in results.iter().zip(&report.findings) {
        let location = &result["locations"][0]["physicalLocation"];
        let region = &location["region"];
        let name = location["artifactLocation"]["uri"].as_str().unwrap();
        let text = line(name, number(&region["startLine"]));
        let (start, end) = (number(&region["startColumn"]), number(&region["endColumn"]));
        assert_eq!(region["startLine"], region["endLine"]);
        let marked: String = text.chars().skip(start - 1).take(end - start).collect();
        if !finding.place.value.is_empty() {
            assert_eq!(marked, finding.place.value, "{}", finding.sentence());
        }
        let index = number(&result["ruleIndex"]);
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
    }
}

#[test]
fn junit_is_well_formed_and_counts() {
    let (sources, report) = linted();
    let text = junit::document(&report, &sources);
    let count = |tag: &str| text.matches(tag).count();
    assert_eq!(count("<failure "), 2);
    assert_eq!(count("<testsuite "), sources.len());
    assert_eq!(count("<testsuite "), count("</testsuite>"));
    assert_eq!(count("<failure "), count("</failure>"));
    assert!(!text.contains('\u{1}'));
    assert!(text.contains("<testsuites name=\"pauseless lint\" tests=\""));
}

#[test]
fn waivers_count_until_their_day() {
    let file = "[[waiver]]\nrule = \"PL201\"\nwhere = \"tor0:Ethernet*\"\nreason = \"known\"\n\
                until = \"2027-01-31\"\n[[waiver]]\nrule = \"PL101\"\nreason = \"old\"\n\
                until = \"2026-01-31\"\n";
    let source = Source { file: "w.toml".to_string(), text: file.to_string() };
    let waivers = waiver::read(&source).unwrap();
    let (sources, report) = linted();
    let has = |report: &Report| report.findings.iter().any(|one| one.rule.id == "PL201");
    for (today, is_left) in [("2027-01-31", false), ("2027-02-01", true)] {
        let mut report = report.clone();
        waiver::apply(&mut report, &waivers, "w.toml", Day::parse(today).unwrap());
        assert_eq!(has(&report), is_left, "{today}");
        assert_eq!(report.waived.len(), usize::from(!is_left));
        let expired = report.notes.iter().filter(|note| note.contains("has expired"));
        assert_eq!(expired.count(), if is_left { 2 } else { 1 }, "{:?}", report.notes);
        let log = sarif::document(&report, &sources);
        let results = log["runs"][0]["results"].as_array().unwrap();
        let suppressed = results.iter().filter(|result| result["suppressions"].is_array());
        assert_eq!(suppressed.count(), report.waived.len());
    }
}

#[test]
fn allowed_and_denied_rules_change_the_verdict() {
    let (_, report) = linted();
    let mut allowed = report.clone();
    allowed.allow(&["PL201".to_string(), "PL507".to_string()]);
    assert!(report.fails() && !allowed.fails());
    allowed.deny(&["PL408".to_string()]);
    assert!(allowed.fails() && allowed.count(Severity::Error) == 0);
}

#[test]
fn bad_files_are_refused_with_their_names() {
    let refuse = |text: &str| {
        let source = Source { file: "x.json".to_string(), text: text.to_string() };
        lint(&[source]).unwrap_err().to_string()
    };
    for (text, part) in [
        ("", "no file that lint knows"),
        ("hello", "no file that lint knows"),
        ("{\"PORT\": {\"Ethernet0\": {\"mtu\"", "ends in the middle"),
        ("{\"PORT\": {\"Ethernet0\": 1}}", "is no object"),
        ("{\"PORT\": {\"a\": {}}, \"PORT\": {}}", "twice"),
        // Routes that end in the middle, and routes that are none.
        ("{\"10.0.0.0/31\": [{\"prefix\": \"10.0.0.0/31\", \"nexthops\": [", "x.json:1:"),
        ("[{\"dst\": \"default\", \"gateway\": \"10.0.0.1\"", "x.json:1:"),
        ("[{\"dst\": 5, \"gateway\": \"10.0.0.1\"}]", "x.json:1:"),
        ("{\"prio_pfc\": [1]}", "neither on nor off"),
        ("Priority trust state: dscp\n\tprio:9 dscp:1,\n", "0 to 7"),
        ("NCCL_IB_TC=999\n", "0 to 255"),
        ("hca_id: mlx5_0\n\t\tactive_mtu:\n", "is no number"),
        ("{\"dscp_prio\": [[64, 1]]}", "no pair"),
    ] {
        let message = refuse(text);
        assert!(message.starts_with("pauseless: x.json"), "{message}");
        assert!(message.contains(part), "{text}: {message}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A file that is cut or scrambled is refused or linted, and never more than that.
    #[test]
    fn scrambled_files_are_refused_or_linted(cut in 0usize..9_000, at in 0usize..8_000, byte in 32u8..127) {
        let mut sources = example::sources(&[]).unwrap();
        let mut bytes = sources[1].text.clone().into_bytes();
        let place = at % bytes.len();
        bytes[place] = byte;
        bytes.truncate(bytes.len().saturating_sub(cut.saturating_sub(4_500)));
        sources[1].text = String::from_utf8_lossy(&bytes).into_owned();
        if let Ok(report) = lint(&sources) {
            let _ = text::render(&report, &sources, Paint::Plain);
            let _ = sarif::document(&report, &sources);
        }
    }
}
