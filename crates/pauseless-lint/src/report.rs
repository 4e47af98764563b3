//! What came of linting: findings in the order of files and places, and what was not looked at.

use crate::fabric::Fabric;
use crate::finding::{Finding, Severity};

/// The findings of all rules.
#[derive(Clone, Debug)]
pub struct Report {
    /// What was found, by file and place.
    pub findings: Vec<Finding>,
    /// Findings that somebody has accepted, with the reason.
    pub waived: Vec<Waived>,
    /// What the reader should know about the files.
    pub notes: Vec<String>,
    /// How many switches were looked at.
    pub switches: usize,
    /// How many hosts were looked at.
    pub hosts: usize,
    /// How many cables have both ends in the files.
    pub cables: usize,
}

/// A finding that somebody has accepted.
#[derive(Clone, Debug)]
pub struct Waived {
    /// The finding that was accepted.
    pub finding: Finding,
    /// Why it may stay.
    pub reason: String,
}

impl Report {
    /// The report of these findings.
    pub fn new(fabric: &Fabric, mut findings: Vec<Finding>) -> Report {
        findings.sort_by(|a, b| {
            let place = |one: &Finding| (one.place.file, one.place.at, one.rule.id);
            (place(a), &a.subject, &a.message).cmp(&(place(b), &b.subject, &b.message))
        });
        Report {
            findings,
            waived: Vec::new(),
            notes: fabric.notes.clone(),
            switches: fabric.switches.len(),
            hosts: fabric.hosts.len(),
            cables: fabric.cables.len(),
        }
    }

    /// How many findings are this bad.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    /// Whether anything is above a note.
    pub fn fails(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity > Severity::Note)
    }

    /// Leaves out what these rules find.
    pub fn allow(&mut self, rules: &[String]) {
        self.findings.retain(|finding| !rules.iter().any(|id| id == finding.rule.id));
    }

    /// Makes notes of these rules count as warnings.
    pub fn deny(&mut self, rules: &[String]) {
        for finding in &mut self.findings {
            let is_denied = rules.iter().any(|id| id == finding.rule.id || id == "notes");
            if is_denied && finding.severity == Severity::Note {
                finding.severity = Severity::Warning;
            }
        }
    }
}
