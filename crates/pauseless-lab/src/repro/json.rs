//! The JSON document of `repro`: runs as in every command that makes several, and claims.

use schemars::JsonSchema;
use serde::Serialize;

use super::Reproduced;
use super::claim::Judged;
use super::file::Paper;
use crate::report::json::SCHEMA;

/// The document of several experiments.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Document<'a> {
    schema: u32,
    experiments: Vec<ExperimentRecord<'a>>,
    runs: Vec<&'a serde_json::Value>,
}

#[derive(Serialize, JsonSchema)]
struct ExperimentRecord<'a> {
    name: String,
    title: &'a str,
    cites: &'a str,
    scale: &'static str,
    claims: Vec<ClaimRecord<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct ClaimRecord<'a> {
    text: &'a str,
    cites: Option<&'a str>,
    paper: PaperRecord<'a>,
    unit: &'a str,
    asked: String,
    verdict: &'static str,
    met: bool,
    findings: Vec<FindingRecord<'a>>,
    reason: &'a str,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum PaperRecord<'a> {
    Number(f64),
    Words(&'a str),
}

#[derive(Serialize, JsonSchema)]
struct FindingRecord<'a> {
    discipline: Option<&'static str>,
    measured: &'a [Option<f64>],
    holds: bool,
}

/// The document as indented text.
pub fn to_text(all: &[Reproduced]) -> String {
    let experiments = all.iter().map(|done| ExperimentRecord {
        name: done.entry.name(),
        title: &done.experiment.title,
        cites: &done.experiment.cites,
        scale: done.scale.name(),
        claims: done.claims.iter().map(claim).collect(),
    });
    let document = Document {
        schema: SCHEMA,
        experiments: experiments.collect(),
        runs: all.iter().flat_map(|done| &done.documents).collect(),
    };
    crate::report::json::to_text(&document)
}

fn claim(judged: &Judged) -> ClaimRecord<'_> {
    let claim = &judged.claim;
    let findings = judged.findings.iter().map(|finding| FindingRecord {
        discipline: finding.discipline.map(|it| it.name()),
        measured: &finding.measured,
        holds: finding.holds,
    });
    ClaimRecord {
        text: &claim.text,
        cites: claim.cites.get().map(String::as_str),
        paper: match &claim.paper.value {
            Paper::Number(number) => PaperRecord::Number(*number),
            Paper::Words(words) => PaperRecord::Words(words),
        },
        unit: &claim.unit,
        asked: claim.asks(),
        verdict: judged.verdict.name(),
        met: !judged.findings.is_empty() && judged.findings.iter().all(|it| it.holds),
        findings: findings.collect(),
        reason: &claim.reason,
    }
}
