//! The report as one JSON document.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::claim::Judged;
use super::{Found, Part, Report, Share};
use crate::report::json::{SCHEMA, to_text};
use crate::table::{Cells, Table};

#[derive(Serialize, JsonSchema)]
pub(crate) struct Document<'a> {
    schema: u32,
    campaign: &'a str,
    title: &'a str,
    note: &'a str,
    version: &'a str,
    size: Option<&'a str>,
    runs: usize,
    missing: usize,
    failed: usize,
    screened: Option<&'a str>,
    ended: Map<String, Value>,
    found: FoundRecord<'a>,
    claims: Vec<ClaimRecord<'a>>,
    reports: Vec<PartRecord<'a>>,
}

/// In how many runs what was found.
#[derive(Serialize, JsonSchema)]
struct FoundRecord<'a> {
    deadlock: usize,
    starved: usize,
    lost: usize,
    warnings: usize,
    first_with_warnings: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
struct ClaimRecord<'a> {
    text: &'a str,
    verdict: &'static str,
    met: bool,
    asked: String,
    units: &'a str,
    #[serde(flatten)]
    share: ShareRecord,
    other: Option<ShareRecord>,
    notes: &'a [String],
    reason: &'a str,
}

#[derive(Serialize, JsonSchema)]
struct ShareRecord {
    count: usize,
    total: usize,
    share: Option<f64>,
    low: f64,
    high: f64,
}

#[derive(Serialize, JsonSchema)]
struct PartRecord<'a> {
    name: &'a str,
    kind: &'a str,
    title: &'a str,
    notes: &'a [String],
    rows: Vec<Map<String, Value>>,
}

/// The document as indented text.
pub fn json(report: &Report) -> String {
    let ended = report.ended.iter();
    to_text(&Document {
        schema: SCHEMA,
        campaign: &report.name,
        title: &report.title,
        note: &report.note,
        version: &report.version,
        size: report.context.size.as_deref(),
        runs: report.runs,
        missing: report.context.missing,
        failed: report.failed.count,
        ended: ended
            .map(|(why, runs)| (why.clone(), (*runs).into()))
            .collect(),
        screened: report.context.screened.as_deref(),
        found: found(&report.found),
        claims: report.claims.iter().map(claim).collect(),
        reports: report.parts.iter().map(part).collect(),
    })
}

fn found(found: &Found) -> FoundRecord<'_> {
    FoundRecord {
        deadlock: found.deadlock,
        starved: found.starved,
        lost: found.lost,
        warnings: found.warned,
        first_with_warnings: found.first_warned.as_deref(),
    }
}

fn claim(judged: &Judged) -> ClaimRecord<'_> {
    ClaimRecord {
        text: &judged.claim.text,
        verdict: judged.word(),
        met: judged.holds && judged.is_whole(),
        asked: judged.asked(),
        units: &judged.units,
        share: share(judged.share),
        other: judged.other.map(share),
        notes: &judged.notes,
        reason: &judged.claim.reason,
    }
}

fn share(share: Share) -> ShareRecord {
    let [low, high] = share.interval();
    ShareRecord {
        count: share.count,
        total: share.total,
        share: share.value(),
        low,
        high,
    }
}

fn part(part: &Part) -> PartRecord<'_> {
    PartRecord {
        name: &part.name,
        kind: part.kind,
        title: &part.title,
        notes: &part.notes,
        rows: rows(&part.data),
    }
}

/// An object for each row.
fn rows(table: &Table) -> Vec<Map<String, Value>> {
    let count = table.columns.first().map_or(0, |it| it.cells.len());
    let row = |row: usize| {
        let cells = table.columns.iter().map(|column| {
            let value = match &column.cells {
                Cells::Numbers(cells) => cells[row].map_or(Value::Null, Value::from),
                Cells::Texts(cells) => cells[row].as_str().into(),
                Cells::Notes(cells) => cells[row].as_deref().into(),
                Cells::Counts(cells) => cells[row].into(),
                Cells::Wholes(cells) => cells[row].into(),
            };
            (column.name.clone(), value)
        });
        cells.collect()
    };
    (0..count).map(row).collect()
}
