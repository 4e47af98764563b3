//! A report for people: each finding once, with the line that it is about and a mark below it.

use std::collections::HashMap;
use std::fmt::Write;

use pauseless_text::source::Source;
use pauseless_text::terminal::{Mood, Paint};

use crate::finding::{Finding, Severity};
use crate::lines::Lines;
use crate::report::Report;
use crate::rule::{Edit, Rule};

/// The report as text. Ports with the same finding are one block.
pub fn render(report: &Report, sources: &[Source], paint: Paint) -> String {
    let lines = Lines::new(sources);
    let mut text = String::new();
    for group in groups(&report.findings) {
        text += &block(&group, &lines, paint);
        text.push('\n');
    }
    for note in &report.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text + &summary(report, paint)
}

/// Findings that say the same of several ports of a switch.
fn groups(findings: &[Finding]) -> Vec<Vec<&Finding>> {
    let mut known = HashMap::new();
    let mut groups: Vec<Vec<&Finding>> = Vec::new();
    for finding in findings {
        let key = (finding.rule.id, &finding.device, &finding.message);
        let next = groups.len();
        let at = *known.entry(key).or_insert(next);
        if at == next {
            groups.push(Vec::new());
        }
        groups[at].push(finding);
    }
    // What is worst first; within that as in the files.
    groups.sort_by_key(|group| std::cmp::Reverse(group[0].severity));
    groups
}

fn block(group: &[&Finding], lines: &Lines, paint: Paint) -> String {
    let finding = group[0];
    let mood = match finding.severity {
        Severity::Error => Mood::Bad,
        Severity::Warning => Mood::Poor,
        Severity::Note => Mood::Strong,
    };
    let head = format!("{}[{}]", finding.severity.name(), finding.rule.id);
    let device = match finding.device.as_str() {
        device if device.is_empty() || device == finding.subject => String::new(),
        device => format!("{device} "),
    };
    let mut text = format!("{}: {device}{}\n", paint.paint(mood, &head), finding.sentence());
    let place = &finding.place;
    let position = lines.position(place.file, place.at.start);
    let margin = position.line.to_string().len();
    let name = lines.name(place.file);
    let _ = writeln!(text, "{:margin$}--> {name}:{}:{}", "", position.line, position.column);
    if finding.severity > Severity::Note {
        let excerpt = lines.excerpt(place.file, place.at);
        let mark = "^".repeat(excerpt.marked);
        let _ = writeln!(text, "{:margin$} |", "");
        let _ = writeln!(text, "{} | {}", position.line, excerpt.text);
        let _ = writeln!(
            text,
            "{:margin$} | {:before$}{}",
            "",
            "",
            paint.paint(mood, &mark),
            before = excerpt.before
        );
    }
    let where_ = place.name();
    if !where_.is_empty() {
        let _ = writeln!(text, "{:margin$} = in {where_}", "");
    }
    let _ = writeln!(text, "{:margin$} = help: {}", "", finding.fix);
    if group.len() > 1 {
        let names = group[1..].iter().take(SHOWN_MAX).map(|one| one.subject.as_str());
        let names = Vec::from_iter(names).join(", ");
        let more = if group.len() - 1 > SHOWN_MAX { ", .." } else { "" };
        let _ = writeln!(text, "{:margin$} = so are {} more: {names}{more}", "", group.len() - 1);
    }
    text
}

/// A line that counts.
fn summary(report: &Report, paint: Paint) -> String {
    let count = |severity: Severity| {
        let count = report.count(severity);
        let plural = if count == 1 { "" } else { "s" };
        format!("{count} {}{plural}", severity.name())
    };
    let of = |count: usize, what: &str, plural: &str| {
        format!("{count} {}", if count == 1 { what } else { plural })
    };
    let looked = format!(
        "{}, {}, {} with both ends",
        of(report.switches, "switch", "switches"),
        of(report.hosts, "host", "hosts"),
        of(report.cables, "cable", "cables"),
    );
    let mood = if report.fails() { Mood::Bad } else { Mood::Good };
    let counts = [Severity::Error, Severity::Warning, Severity::Note].map(count).join(", ");
    let waived = match report.waived.len() {
        0 => String::new(),
        count => format!(", {count} waived"),
    };
    format!("{}{waived} in {looked}\n", paint.paint(mood, &counts))
}

/// What `lint --explain` says of a rule.
pub fn explain(rule: &Rule) -> String {
    let mut text = format!(
        "{} {} ({})\n\n{}\n\n{}\n\nFix: {}\n\nOn released templates: {}\n\nFrom: {}\n",
        rule.id,
        rule.name,
        rule.severity.name(),
        rule.sentence,
        rule.why,
        rule.fix,
        rule.released,
        rule.evidence
    );
    for (what, edits) in [("Fires", rule.bad), ("Silent", rule.good)] {
        if !edits.is_empty() {
            let _ = write!(text, "\n{what} with\n{}", example(edits));
        }
    }
    text
}

/// Changes of the example fabric, a line each.
pub fn example(edits: &[Edit]) -> String {
    let mut text = String::new();
    for Edit { of, path, value } in edits {
        let path = path
            .trim_start_matches('/')
            .replace("~1", "\u{0}")
            .replace('/', " ")
            .replace('\u{0}', "/");
        let value = value.map_or("(removed)".to_string(), |value| value.to_string());
        let _ = writeln!(text, "  {of}: {} {value}", if path.is_empty() { "(all)" } else { &path });
    }
    text
}

/// More ports do not help.
const SHOWN_MAX: usize = 6;
