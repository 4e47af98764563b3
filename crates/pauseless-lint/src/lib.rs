#![doc = include_str!("../README.md")]
//! [`lint`] takes files and gives a [`report::Report`]; [`rule::Rule`] is what a rule declares, and
//! [`rules::ALL`] has them all. [`switch::Switch`] and [`fabric::Fabric`] are what rules look at,
//! [`fix`] makes patches, [`waiver`] leaves out what somebody has accepted, and [`text`], [`json_report`],
//! [`sarif`] and [`junit`] show a report. [`catalogue`] writes the rules down.

pub mod cable;
pub mod catalogue;
pub mod database;
pub mod example;
pub mod fabric;
pub mod finding;
pub mod fix;
pub mod headroom;
pub mod host;
pub mod json;
pub mod json_report;
pub mod junit;
pub mod lines;
pub mod pool;
pub mod prove;
pub mod report;
pub mod rule;
pub mod rules;
pub mod sarif;
pub mod switch;
pub mod text;
pub mod waiver;

use pauseless_text::problem::Problems;
use pauseless_text::source::Source;

use fabric::{Fabric, Loaded};
use finding::{Finding, Found};
use report::Report;
use rule::{Check, Rule};

/// Looks at these files with all rules.
///
/// # Errors
/// Everything that is wrong with the files themselves.
pub fn lint(sources: &[Source]) -> Result<Report, Problems> {
    lint_watched(sources, &mut |_| {})
}

/// How far a linter is with one of its two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// What is being done, in a word or two.
    pub doing: &'static str,
    /// How many files, or rules, are done.
    pub done: usize,
    /// How many there are.
    pub total: usize,
}

/// The same, for whoever wants to show how far it is.
///
/// # Errors
/// Everything that is wrong with the files themselves.
pub fn lint_watched(sources: &[Source], watch: &mut dyn FnMut(Stage)) -> Result<Report, Problems> {
    let total = sources.len();
    let loaded = Loaded::read_watched(sources, &mut |done| {
        watch(Stage { doing: "reading files", done, total });
    })?;
    let switches = loaded.switches()?;
    let hosts = loaded.hosts(&switches);
    let fabric = loaded.fabric(&switches, &hosts);
    let mut findings = Vec::new();
    for (done, rule) in rules::ALL.iter().enumerate() {
        watch(Stage { doing: "trying rules", done, total: rules::ALL.len() });
        look(rule, &fabric, &mut findings);
    }
    let findings = rules::merged(rules::without_consequences(findings));
    Ok(Report::new(&fabric, findings))
}

/// Looks at a fabric with one rule.
fn look(rule: &'static Rule, fabric: &Fabric, findings: &mut Vec<Finding>) {
    let mut found = Found::new(rule, findings);
    match rule.check {
        Check::Port(check) => {
            for switch in fabric.switches {
                for port in &switch.ports {
                    check(switch, port, &mut found);
                }
            }
        }
        Check::Switch(check) => fabric.switches.iter().for_each(|switch| check(switch, &mut found)),
        Check::Cable(check) => fabric.cables.iter().for_each(|cable| check(cable, &mut found)),
        Check::Host(check) => fabric.hosts.iter().for_each(|host| check(host, fabric, &mut found)),
        Check::Fabric(check) => check(fabric, &mut found),
    }
}
