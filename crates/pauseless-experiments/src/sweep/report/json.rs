//! The report as one JSON document.

use serde_json::{Map, Value};

use super::claim::Judged;
use super::{Found, Part, Report, Share};
use pauseless_run::metrics::bias::Doubt;
use pauseless_run::table::{Cells, Table};
use pauseless_text::record::{SCHEMA, to_text};
use pauseless_text::records;

records! {
    /// The document of a campaign: what its runs say together.
    pub struct Document<'a>(report: &'a Report) after {
        let ended = report.ended.iter();
    } {
        /// The version of the format of this document.
        schema: u32 = SCHEMA;
        /// The name of the campaign.
        campaign: &'a str = &report.name;
        /// The title of the campaign, in one line.
        title: &'a str = &report.title;
        /// How this size of the campaign differs, in words.
        note: &'a str = &report.note;
        /// The version of the program that made the runs.
        version: &'a str = &report.version;
        /// The size of the campaign, if one was asked for.
        size: Option<&'a str> = report.context.size.as_deref();
        /// How many runs were made.
        runs: usize = report.runs;
        /// How many tasks have no result yet.
        missing: usize = report.context.missing;
        /// How many runs could not be made.
        failed: usize = report.failed.count;
        /// What the filter left of the networks, as a sentence.
        screened: Option<&'a str> = report.context.screened.as_deref();
        /// How many runs ended for which reason.
        ended: Map<String, Value> = ended.map(|(why, runs)| (why.clone(), (*runs).into())).collect();
        /// How many runs have found what.
        found: FoundRecord<'a> = FoundRecord::new(&report.found);
        /// The claims, and whether they hold.
        claims: Vec<ClaimRecord<'a>> = report.claims.iter().map(ClaimRecord::new).collect();
        /// The tables of the campaign, with a row for each point.
        reports: Vec<PartRecord<'a>> = report.parts.iter().map(PartRecord::new).collect();
    }

    /// How many runs have found what.
    pub(crate) struct FoundRecord<'a>(found: &'a Found) {
        deadlock: usize = found.deadlock;
        starved: usize = found.starved;
        /// Runs that were too short to tell whether a flow starves.
        undecided: usize = found.undecided;
        lost: usize = found.lost;
        warnings: usize = found.warned;
        /// Runs with the same times of flows as one that differs from them by the seed alone.
        alike: usize = found.alike;
        first_with_warnings: Option<&'a str> = found.first_warned.as_deref();
    }

    pub(crate) struct ClaimRecord<'a>(judged: &'a Judged) {
        text: &'a str = &judged.claim.text;
        verdict: &'static str = judged.word();
        met: bool = judged.holds && judged.is_whole();
        asked: String = judged.asked();
        units: &'a str = &judged.units;
        #[serde(flatten)]
        share: ShareRecord = ShareRecord::new(judged.share);
        other: Option<ShareRecord> = judged.other.map(ShareRecord::new);
        notes: &'a [String] = &judged.notes;
        reason: &'a str = &judged.claim.reason;
    }

    pub(crate) struct ShareRecord(share: Share) {
        count: usize = share.count;
        total: usize = share.total;
        share: Option<f64> = share.value();
        low: f64 = share.interval()[0];
        high: f64 = share.interval()[1];
    }

    pub(crate) struct PartRecord<'a>(part: &'a Part) {
        name: &'a str = &part.name;
        kind: &'a str = part.kind;
        title: &'a str = &part.title;
        notes: &'a [String] = &part.notes;
        /// Why comparing its rows misleads: `biased` if the shares of unfinished flows differ,
        /// `open` if these flows could turn the order round; null otherwise.
        mark: Option<&'static str> = part.doubt.as_ref().and_then(|it| Some(it.mark?.name()));
        /// How many flows did not finish, as a sentence; null if all did, or if it is about no
        /// completion times.
        unfinished: Option<String> = part.doubt.as_ref().map(Doubt::says);
        rows: Vec<Map<String, Value>> = rows(&part.data);
    }
}

/// The document as indented text.
pub fn json(report: &Report) -> String {
    to_text(&Document::new(report))
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
