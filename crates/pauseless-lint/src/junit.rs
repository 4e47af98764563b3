//! A report for the dashboards of CI: JUnit's XML, a suite per file and a case per finding.

use std::fmt::Write;

use pauseless_text::source::Source;

use crate::finding::{Finding, Severity};
use crate::lines::Lines;
use crate::report::Report;

/// The report as XML. What is above a note is a failure, what is waived is skipped, and a file without
/// either has one case that passes.
pub fn document(report: &Report, sources: &[Source]) -> String {
    let lines = Lines::new(sources);
    let failures = |findings: &[&Finding]| {
        findings.iter().filter(|finding| finding.severity > Severity::Note).count()
    };
    let all = Vec::from_iter(&report.findings);
    let mut suites = String::new();
    let mut tests = 0;
    for (file, source) in sources.iter().enumerate() {
        let own = report.findings.iter().filter(|finding| finding.place.file == file);
        let own = Vec::from_iter(own);
        let waived = report.waived.iter().filter(|one| one.finding.place.file == file);
        let waived = Vec::from_iter(waived);
        let count = (own.len() + waived.len()).max(1);
        tests += count;
        let name = escaped(&source.file);
        let _ = writeln!(
            suites,
            "  <testsuite name=\"{name}\" tests=\"{count}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">",
            failures(&own),
            waived.len()
        );
        if own.is_empty() && waived.is_empty() {
            let _ = writeln!(suites, "    <testcase classname=\"{name}\" name=\"lint\"/>");
        }
        for finding in own {
            suites += &case(finding, &name, &lines);
        }
        for one in waived {
            let _ = writeln!(
                suites,
                "    <testcase classname=\"{name}\" name=\"{}\"><skipped message=\"{}\"/></testcase>",
                case_name(&one.finding),
                escaped(&one.reason)
            );
        }
        suites += "  </testsuite>\n";
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"pauseless lint\" \
         tests=\"{tests}\" failures=\"{}\" errors=\"0\">\n{suites}</testsuites>\n",
        failures(&all)
    )
}

fn case(finding: &Finding, class: &str, lines: &Lines) -> String {
    let position = lines.position(finding.place.file, finding.place.at.start);
    let message = escaped(&finding.sentence());
    let text = escaped(&format!(
        "{}:{}:{}: {}\n{}",
        lines.name(finding.place.file),
        position.line,
        position.column,
        finding.place.name(),
        finding.fix
    ));
    let inside = if finding.severity > Severity::Note {
        let kind = finding.severity.name();
        format!("<failure type=\"{kind}\" message=\"{message}\">{text}</failure>")
    } else {
        format!("<system-out>{message}\n{text}</system-out>")
    };
    format!(
        "    <testcase classname=\"{class}\" name=\"{}\">{inside}</testcase>\n",
        case_name(finding)
    )
}

fn case_name(finding: &Finding) -> String {
    let Finding { rule, device, subject, .. } = finding;
    escaped(&format!("{} {} {device} {subject}", rule.id, rule.name))
}

/// Text as XML may have it: other control characters are not even allowed escaped.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' | '\t' => safe.push(char),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            char if char.is_control() => safe.push('\u{fffd}'),
            char => safe.push(char),
        }
    }
    safe
}
