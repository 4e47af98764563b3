//! A report for programs.

use pauseless_text::record::SCHEMA;
use pauseless_text::records;
use pauseless_text::source::Source;

use crate::finding::{Finding, Place, Severity};
use crate::fix::Op;
use crate::lines::Lines;
use crate::report::{Report, Waived};
use crate::rule::Rule;

records! {
    /// What `lint --json` prints.
    pub struct LintDocument(report: &Report, sources: &[Source]) after {
        let lines = Lines::new(sources);
        let findings = report.findings.iter();
    } {
        /// The version of the format of this document.
        schema: u32 = SCHEMA;
        /// What was found, by file and place.
        findings: Vec<FindingRecord> = findings.map(|one| FindingRecord::new(one, &lines)).collect();
        /// What somebody has accepted, with the reason.
        waived: Vec<WaivedRecord> =
            report.waived.iter().map(|one| WaivedRecord::new(one, &lines)).collect();
        /// How many findings are errors.
        errors: usize = report.count(Severity::Error);
        /// How many findings are warnings.
        warnings: usize = report.count(Severity::Warning);
        /// How many findings are notes, which leave the exit status 0.
        notes_found: usize = report.count(Severity::Note);
        /// How many switches were looked at.
        switches: usize = report.switches;
        /// How many hosts were looked at.
        hosts: usize = report.hosts;
        /// How many cables have both ends in the files.
        cables: usize = report.cables;
        /// What the reader should know about the files.
        notes: Vec<String> = report.notes.clone();
    }

    /// What `lint --rules --json` and `lint --explain RULE --json` print.
    pub struct RulesDocument(rules: &[&Rule]) {
        /// The version of the format of this document.
        schema: u32 = SCHEMA;
        /// The rules, by their numbers.
        rules: Vec<RuleRecord> = rules.iter().map(|rule| RuleRecord::new(rule)).collect();
    }

    /// A rule of the linter.
    pub struct RuleRecord(rule: &Rule) {
        /// The number of the rule, which never changes.
        rule: &'static str = rule.id;
        /// The name of the rule.
        name: &'static str = rule.name;
        /// How bad its findings are, unless one says otherwise: `error`, `warning` or `note`.
        severity: &'static str = rule.severity.name();
        /// What is wrong, in a sentence.
        sentence: &'static str = rule.sentence;
        /// What happens because of it, and how it is decided.
        why: &'static str = rule.why;
        /// What to do about it.
        fix: &'static str = rule.fix;
        /// How often it fires on released templates, and why that is right.
        released: &'static str = rule.released;
        /// Where it is known from.
        evidence: &'static str = rule.evidence;
    }

    /// Something that a rule has found.
    pub struct FindingRecord(finding: &Finding, lines: &Lines<'_>) after {
        let place = PlaceRecord::new(&finding.place, lines);
    } {
        /// The number of the rule, which never changes.
        rule: &'static str = finding.rule.id;
        /// The name of the rule.
        name: &'static str = finding.rule.name;
        /// How bad it is: `error`, `warning` or `note`.
        severity: &'static str = finding.severity.name();
        /// What is wrong, in a sentence.
        message: String = finding.sentence();
        /// The sentence that says what to do.
        fix: String = finding.fix.clone();
        /// The switch or host.
        device: String = finding.device.clone();
        /// The port, profile or other thing that it is about.
        subject: String = finding.subject.clone();
        /// The file, as it was named.
        file: String = place.file.clone();
        /// The line, from 1.
        line: usize = place.line;
        /// The column, from 1, in characters.
        column: usize = place.column;
        /// Table, key and field, separated by bars.
        r#where: String = place.r#where.clone();
        /// The value of the field; empty for a row.
        value: String = finding.place.value.clone();
        /// Other places that have to do with it.
        related: Vec<PlaceRecord> =
            finding.related.iter().map(|one| PlaceRecord::new(one, lines)).collect();
        /// A JSON patch that repairs it; empty where a person must decide.
        patch: Vec<Op> = finding.patch.clone();
    }

    /// A place in a file.
    pub struct PlaceRecord(place: &Place, lines: &Lines<'_>) after {
        let position = lines.position(place.file, place.at.start);
    } {
        /// The file, as it was named.
        file: String = lines.name(place.file).to_string();
        /// The line, from 1.
        line: usize = position.line;
        /// The column, from 1, in characters.
        column: usize = position.column;
        /// Table, key and field, separated by bars.
        r#where: String = place.name();
    }

    /// A finding that somebody has accepted.
    pub struct WaivedRecord(waived: &Waived, lines: &Lines<'_>) {
        /// Why it may stay.
        reason: String = waived.reason.clone();
        /// The finding that was accepted.
        finding: FindingRecord = FindingRecord::new(&waived.finding, lines);
    }
}
