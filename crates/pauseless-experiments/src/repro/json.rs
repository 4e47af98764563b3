//! The JSON document of `repro`: runs as in every command that makes several, and claims.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::Reproduced;
use super::claim::{Finding, Judged};
use super::file::{Experiment, Paper};
use super::judge::Tried;
use super::reading::Reading;
use pauseless_run::metrics::bias::Doubt;
use pauseless_text::declare::Words;
use pauseless_text::record::SCHEMA;
use pauseless_text::records;

records! {
    /// The document of several experiments.
    pub struct Document<'a>(all: &'a [Reproduced]) {
        /// The version of the format of this document.
        schema: u32 = SCHEMA;
        /// The experiments with their claims, in the order of the command.
        experiments: Vec<ExperimentRecord<'a>> = all.iter().map(ExperimentRecord::new).collect();
        /// The documents of all runs, as `run --json` prints them.
        runs: Vec<&'a serde_json::Value> = all.iter().flat_map(|done| &done.documents).collect();
    }

    /// The experiments that there are.
    pub struct ListDocument(experiments: Vec<ListedRecord>) {
        /// The version of the format of this document.
        schema: u32 = SCHEMA;
        /// The experiments, in the order of the papers.
        experiments: Vec<ListedRecord> = experiments;
    }

    /// An experiment, by its file alone.
    pub struct ListedRecord(name: String, it: &Experiment) {
        /// The name by which `repro` carries it out.
        name: String = name;
        /// Where in which paper it is.
        cites: String = it.cites.value.clone();
        /// What the experiment shows, in a line.
        title: String = it.title.value.clone();
        /// How many claims are judged.
        claims: usize = it.claims.len();
        /// How many seconds of one core it takes at the quick scale.
        seconds_quick: f64 = it.seconds.quick.value;
        /// How many seconds of one core it takes at the paper's scale.
        seconds_full: f64 = it.seconds.full.value;
        /// Other readings of the paper, each for `--reading`.
        readings: Vec<ReadingRecord> = it.readings.iter().map(ReadingRecord::new).collect();
    }

    /// What else a paper may mean, and where that comes from.
    pub struct ReadingRecord(reading: &Reading) {
        /// The name by which `--reading` takes it.
        name: String = reading.name.value.clone();
        /// `paper`, `cited-code`, `inferred` or `fitted`.
        source: &'static str = reading.source.word();
        /// What it takes the paper to mean.
        what: String = reading.what.value.clone();
    }

    pub(crate) struct ExperimentRecord<'a>(done: &'a Reproduced) {
        name: String = done.entry.name();
        title: &'a str = &done.experiment.title;
        cites: &'a str = &done.experiment.cites;
        scale: &'static str = done.scale.name();
        /// How many claims of the paper have each verdict, each counted once.
        verdicts: BTreeMap<&'static str, usize> = done.verdicts();
        claims: Vec<ClaimRecord<'a>> = done.claims.iter().map(ClaimRecord::new).collect();
    }

    pub(crate) struct ClaimRecord<'a>(judged: &'a Judged) after {
        let (claim, findings) = (&judged.claim, judged.findings.iter());
        let paper = match &claim.paper.value {
            Paper::Number(number) => PaperRecord::Number(*number),
            Paper::Words(words) => PaperRecord::Words(words),
        };
    } {
        text: &'a str = &claim.text;
        cites: Option<&'a str> = claim.cites.get().map(String::as_str);
        paper: PaperRecord<'a> = paper;
        unit: &'a str = &claim.unit;
        asked: String = claim.asked();
        verdict: &'static str = judged.verdict.name();
        met: bool = !judged.findings.is_empty() && judged.findings.iter().all(|it| it.holds);
        findings: Vec<FindingRecord<'a>> = findings.map(FindingRecord::new).collect();
        reason: &'a str = &claim.reason;
        /// What came out under other readings of the paper.
        readings: Vec<TriedRecord<'a>> = judged.readings.iter().map(TriedRecord::new).collect();
        /// The equation or sentence of the paper that the claim contradicts, and what follows from
        /// it; null if there is none.
        contradicted: Option<&'a str> = claim.contradicted.get().map(|it| it.by.as_str());
    }

    pub(crate) struct TriedRecord<'a>(tried: &'a Tried) after {
        let (reading, judged) = (&tried.reading, &tried.judged);
    } {
        reading: &'a str = &reading.name;
        what: &'a str = &reading.what;
        /// `paper`, `cited-code`, `inferred` or `fitted`.
        source: &'static str = reading.source.word();
        evidence: &'a str = &reading.evidence;
        asked: String = judged.claim.asked();
        verdict: &'static str = judged.verdict.name();
        findings: Vec<FindingRecord<'a>> = judged.findings.iter().map(FindingRecord::new).collect();
        reason: &'a str = &judged.claim.reason;
    }

    pub(crate) struct FindingRecord<'a>(finding: &'a Finding) {
        discipline: Option<&'static str> = finding.discipline.map(|it| it.name());
        measured: &'a [Option<f64>] = &finding.measured;
        holds: bool = finding.holds;
        /// Why it misleads: `biased` if cases differ in the share of flows that did not finish,
        /// `open` if these flows could change whether it holds; null otherwise.
        mark: Option<&'static str> = finding.doubt.as_ref().and_then(|it| Some(it.mark?.name()));
        /// How many flows did not finish, as a sentence; null if all did, or if it is about no
        /// completion times.
        unfinished: Option<String> = finding.doubt.as_ref().map(Doubt::says);
    }
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum PaperRecord<'a> {
    Number(f64),
    Words(&'a str),
}

/// The document as indented text.
pub fn to_text(all: &[Reproduced]) -> String {
    pauseless_text::record::to_text(&Document::new(all))
}
