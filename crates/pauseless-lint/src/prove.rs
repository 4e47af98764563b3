//! `lint --fix`: patches for whole files, and the proof that they help: what comes of them is linted.

use std::collections::BTreeMap;

use pauseless_text::problem::Problems;
use pauseless_text::source::Source;
use serde_json::Value;

use crate::database::{self, Database};
use crate::finding::{Finding, Severity};
use crate::fix::{self, Op};
use crate::report::Report;

/// The patch of one file.
#[derive(Clone, Debug)]
pub struct Patch {
    /// Which file, among those that were read.
    pub file: usize,
    /// What is done, in the order in which `config apply-patch` takes it.
    pub ops: Vec<Op>,
}

/// What the patches come to.
#[derive(Clone, Debug)]
pub struct Fixed {
    /// A patch for each file that has one.
    pub patches: Vec<Patch>,
    /// The files after the patches, in the order of the sources.
    pub sources: Vec<Source>,
    /// What is still found, which a person must decide.
    pub left: Report,
    /// How many findings above a note are gone.
    pub repaired: usize,
}

/// Repairs what can be repaired mechanically. A patch counts only if linting what comes of it finds
/// less than before, and nothing above a note that was not there.
///
/// # Errors
/// Everything that is wrong with the files themselves.
pub fn fix(sources: &[Source], wanted: impl Fn(&Finding) -> bool) -> Result<Fixed, Problems> {
    let report = crate::lint(sources)?;
    let before = loud(&report);
    let documents = Vec::from_iter(sources.iter().map(document));
    let originals = documents.clone();
    let mut state = Step { documents, files: sources.to_vec(), report };
    for _ in 0..STEPS_MAX {
        let all = |finding: &Finding| wanted(finding);
        let next = settle(&state, &state.report.findings, &all)?;
        match next.map_or_else(|| one_by_one(&state, &all), |step| Ok(Some(step)))? {
            Some(step) => state = step,
            None => break,
        }
    }
    let Step { documents, files: current, report } = state;
    let mut patches = Vec::new();
    for (file, (old, new)) in originals.iter().zip(&documents).enumerate() {
        if let (Some(old), Some(new)) = (old, new) {
            let ops = fix::difference(old, new);
            if !ops.is_empty() {
                patches.push(Patch { file, ops });
            }
        }
    }
    let repaired = before.saturating_sub(loud(&report));
    Ok(Fixed { patches, sources: current, left: report, repaired })
}

/// The files after some repairs, and what is found in them.
struct Step {
    documents: Vec<Option<Value>>,
    files: Vec<Source>,
    report: Report,
}

impl Step {
    /// What is to become less: errors and warnings first, then notes.
    fn rank(&self) -> [usize; 2] {
        [loud(&self.report), self.report.count(Severity::Note)]
    }
}

/// The best of what comes of repairing these findings, and then what that uncovers; `None` if nothing
/// is better than before.
fn settle(
    from: &Step,
    findings: &[Finding],
    wanted: &impl Fn(&Finding) -> bool,
) -> Result<Option<Step>, Problems> {
    let mut best: Option<Step> = None;
    let (mut documents, mut files) = (from.documents.clone(), from.files.clone());
    let mut findings = Vec::from_iter(findings.iter().filter(|one| wanted(one)).cloned());
    for _ in 0..ROUNDS_MAX {
        let ops = ops_by_file(findings.iter());
        let Some(next) = apply(&documents, &files, &ops) else {
            break;
        };
        (documents, files) = next;
        let report = crate::lint(&files)?;
        findings = report.findings.iter().filter(|one| wanted(one)).cloned().collect();
        let step = Step { documents: documents.clone(), files: files.clone(), report };
        let rank = best.as_ref().map_or(from.rank(), Step::rank);
        if step.rank() < rank {
            best = Some(step);
        }
    }
    Ok(best)
}

/// What comes of the first finding whose own repair helps: of all together something did not.
fn one_by_one(from: &Step, wanted: &impl Fn(&Finding) -> bool) -> Result<Option<Step>, Problems> {
    let repairable = from.report.findings.iter().filter(|one| wanted(one) && !one.patch.is_empty());
    for finding in repairable.take(TRIED_MAX) {
        if let Some(step) = settle(from, std::slice::from_ref(finding), wanted)? {
            return Ok(Some(step));
        }
    }
    Ok(None)
}

fn loud(report: &Report) -> usize {
    report.findings.iter().filter(|finding| finding.severity > Severity::Note).count()
}

/// The operations for each file; a second one for the same place waits for the next round.
fn ops_by_file<'f>(findings: impl Iterator<Item = &'f Finding>) -> BTreeMap<usize, Vec<Op>> {
    let mut ops: BTreeMap<usize, Vec<Op>> = BTreeMap::new();
    for finding in findings {
        let own = ops.entry(finding.place.file).or_default();
        let clashes = finding.patch.iter().any(|op| {
            let other = own.iter().find(|other| other.path == op.path);
            other.is_some_and(|other| other != op)
        });
        if clashes {
            continue;
        }
        for op in &finding.patch {
            if !own.contains(op) {
                own.push(op.clone());
            }
        }
    }
    ops.retain(|_, ops| !ops.is_empty());
    ops
}

/// The documents and files after some operations; `None` if there is nothing to do.
fn apply(
    documents: &[Option<Value>],
    sources: &[Source],
    ops: &BTreeMap<usize, Vec<Op>>,
) -> Option<(Vec<Option<Value>>, Vec<Source>)> {
    let (mut documents, mut sources) = (documents.to_vec(), sources.to_vec());
    let mut is_changed = false;
    for (file, ops) in ops {
        let Some(document) = &mut documents[*file] else {
            continue;
        };
        for op in ops {
            let mut tried = document.clone();
            if fix::apply(&mut tried, std::slice::from_ref(op)).is_ok() && tried != *document {
                *document = tried;
                is_changed = true;
            }
        }
        sources[*file].text = fix::to_rows(document);
    }
    is_changed.then_some((documents, sources))
}

/// The configuration of a file, nested; `None` if it is none.
fn document(source: &Source) -> Option<Value> {
    if !database::looks_like(&source.text) {
        return None;
    }
    let database = Database::read(0, &source.text).ok().filter(|one| !one.is_state)?;
    let plain: Value = serde_json::from_str(&source.text).ok()?;
    let is_nested = plain
        .as_object()
        .is_some_and(|tables| tables.keys().all(|table| !table.contains(['|', ':'])));
    Some(if is_nested { plain } else { database.nested() })
}

/// A repair may uncover the next mistake, but not for ever.
const ROUNDS_MAX: usize = 4;
/// So many times the whole is tried again.
const STEPS_MAX: usize = 8;
/// Trying each of thousands would take minutes.
const TRIED_MAX: usize = 64;
