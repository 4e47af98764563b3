//! `sweep report`: tables, figures and verdicts made from the rows of a campaign.
//!
//! The campaign's file says what is asked ([`mod@file`]), [`report`] takes the columns that this needs
//! out of the results, and [`text()`], [`json()`] and [`write()`] show what came out. Runs that could not be
//! made are left out of everything and counted.

mod alike;
mod automatic;
mod cdf;
pub mod claim;
pub mod file;
mod found;
mod group;
mod heatmap;
pub mod json;
pub(crate) mod keys;
mod left;
mod line;
mod page;
mod proportion;
mod rows;
mod spread;
mod text;
mod words;
mod write;

use std::borrow::Cow;
use std::collections::BTreeMap;

use thiserror::Error;

use self::claim::Judged;
use self::file::{FINDINGS, Kind, Wanted};
pub use self::found::Found;
use self::found::{UNDECIDED, WARNINGS};
pub use self::json::json;
pub use self::page::page;
pub use self::proportion::Share;
use self::rows::Rows;
pub use self::text::text;
pub use self::write::write;
use super::campaign::{Campaign, Label};
use super::row::column;
use crate::repro::claim::Verdict;
use pauseless_figures::figure::Figure;
use pauseless_run::metrics::bias::Doubt;
use pauseless_run::results::Reference;
use pauseless_run::table::Table;

/// The report of a campaign.
#[derive(Clone, Debug)]
pub struct Report {
    /// The name of the campaign.
    pub name: String,
    /// The title, in one line.
    pub title: String,
    /// How this size of the campaign differs, in words.
    pub note: String,
    /// The version of the program that made the runs: this one, until somebody knows better.
    pub version: String,
    /// Facts about the campaign that are not in its rows.
    pub context: Context,
    /// The first few tasks without a row: the name of each and its values.
    pub missing: Vec<(String, String)>,
    /// How many runs were made.
    pub runs: usize,
    /// How many of them ended for which reason.
    pub ended: Vec<(String, usize)>,
    /// How many runs have found what.
    pub found: Found,
    /// Runs that could not be made.
    pub failed: Failed,
    /// The claims, and whether they hold.
    pub claims: Vec<Judged>,
    /// The tables with their figures.
    pub parts: Vec<Part>,
}

/// Facts about a campaign that are not in its rows.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The command that makes the runs again, such as `pauseless sweep papers/gfc/table1.sweep.toml`.
    pub command: String,
    /// The size of the campaign, if one was asked for.
    pub size: Option<String>,
    /// How many tasks have no row.
    pub missing: usize,
    /// The first few of those: name and values of the axes.
    pub missing_tasks: Vec<(String, Vec<Label>)>,
    /// What the filter left of the networks, as a sentence; `None` without a filter.
    pub screened: Option<String>,
}

/// Runs that could not be made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failed {
    /// How many runs could not be made.
    pub count: usize,
    /// Each reason with the number of its runs and the first task; the most frequent reason first.
    pub reasons: Vec<(String, usize, String)>,
}

/// A table with its figures.
#[derive(Clone, Debug)]
pub struct Part {
    /// The stem of its files.
    pub name: String,
    /// The title, in one line.
    pub title: String,
    /// Its kind in the campaign's file.
    pub kind: &'static str,
    /// The table as people read it.
    pub shown: Shown,
    /// The table as programs read it.
    pub data: Table,
    /// The figures of the table.
    pub figures: Vec<Figure>,
    /// Notes for the reader, such as runs that are left out.
    pub notes: Vec<String>,
    /// What is to be said of flows that did not finish, if the table compares completion times and
    /// there are any.
    pub doubt: Option<Doubt>,
}

/// A table for people.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    /// The headings of the columns.
    pub heads: Vec<Head>,
    /// The rows, with a cell for every head.
    pub rows: Vec<Vec<Cell>>,
}

/// The heading of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// The words of the heading.
    pub text: String,
    /// Whether its cells are numbers.
    pub is_number: bool,
    /// The finding whose shares stand below it, if any.
    pub finding: Option<&'static str>,
}

/// A cell of a table for people.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Words or a number.
    Text(String),
    /// How many of how many.
    Share(Share),
}

impl Head {
    fn left(text: &str) -> Head {
        Head { text: text.to_string(), is_number: false, finding: None }
    }

    fn number(text: &str) -> Head {
        Head { is_number: true, ..Head::left(text) }
    }

    fn finding(text: &str, of: &str) -> Head {
        Head {
            text: text.to_string(),
            is_number: true,
            finding: FINDINGS.into_iter().find(|it| *it == of),
        }
    }
}

/// Why there is no report: the results do not have what the campaign keeps.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct Failure(String);

/// The columns of the results that the report of a campaign reads.
pub fn columns(campaign: &Campaign) -> Vec<String> {
    let mut axes: Vec<&str> = Vec::new();
    let mut columns: Vec<String> = ["task", "ended", "error"].map(str::to_string).to_vec();
    let always = FINDINGS.into_iter().chain([UNDECIDED, WARNINGS]).map(str::to_string);
    columns.extend(always.filter(|it| campaign.keep.contains(it)));
    let reports = reports(campaign);
    for wanted in reports.iter() {
        axes.extend(wanted.by.iter().map(String::as_str));
        axes.extend(wanted.select.iter().map(|it| it.axis.as_str()));
        match &wanted.kind {
            Kind::Proportion { of, columns: across, per } => {
                columns.extend(of.iter().cloned());
                axes.extend(across.iter().chain(per).map(String::as_str));
            }
            Kind::Cdf { of, .. } => columns.push(of.clone()),
            Kind::Line { x, of, .. } => {
                columns.push(of.clone());
                axes.push(x);
            }
            Kind::Heatmap { x, y, of, .. } => {
                columns.push(of.clone());
                axes.extend([x.as_str(), y]);
            }
        }
    }
    let times = alike::columns(campaign);
    if !times.is_empty() {
        columns.extend(times);
        axes.extend(alike::axes(campaign));
    }
    for claim in &campaign.claims {
        columns.push(claim.of.clone());
        let other = match &claim.asks {
            file::Asks::FewerThan(other) | file::Asks::MoreThan(other) => &other[..],
            _ => &[],
        };
        axes.extend(claim.select.iter().chain(other).map(|it| it.axis.as_str()));
        axes.extend(claim.per.iter().map(String::as_str));
    }
    let beside = columns.iter().flat_map(|name| beside(campaign, name));
    let beside: Vec<String> = beside.collect();
    columns.extend(beside);
    columns.extend(axes.into_iter().map(column));
    columns.sort();
    columns.dedup();
    columns
}

/// The columns that stand beside one that only finished flows have, as far as they were kept.
fn beside(campaign: &Campaign, name: &str) -> Vec<String> {
    let kept = campaign.keep.iter().find(|it| column(it) == column(name));
    let beside = kept.and_then(|it| Reference::parse(it).ok()?.beside());
    let is_kept = |name: &String| campaign.keep.iter().any(|it| column(it) == *name);
    let names = beside.iter().flat_map(|it| it.all()).map(Reference::column);
    names.filter(is_kept).collect()
}

/// The report of a campaign whose results are `rows`: at least the [`columns`], or all.
pub fn report(campaign: &Campaign, rows: &Table, context: Context) -> Result<Report, Failure> {
    let rows = Rows::new(campaign, rows).map_err(Failure)?;
    let parts = parts_of(campaign, &rows).map_err(Failure)?;
    let claims = campaign.claims.iter().map(|claim| claim::judge(claim, &rows, &context));
    let claims: Result<Vec<Judged>, String> = claims.collect();
    let failed = failed(&rows).map_err(Failure)?;
    Ok(Report {
        name: campaign.name.clone(),
        title: campaign.title.clone(),
        note: campaign.note.clone(),
        version: pauseless_run::VERSION.to_string(),
        missing: missing(campaign, &context),
        runs: rows.len() - failed.count,
        ended: ended(&rows).map_err(Failure)?,
        found: Found::of(campaign, &rows).map_err(Failure)?,
        failed,
        claims: claims.map_err(Failure)?,
        parts,
        context,
    })
}

/// The tables and figures that a campaign's file asks for.
pub(crate) fn parts(campaign: &Campaign, rows: &Table) -> Result<Vec<Part>, String> {
    parts_of(campaign, &Rows::new(campaign, rows)?)
}

fn parts_of(campaign: &Campaign, rows: &Rows<'_>) -> Result<Vec<Part>, String> {
    reports(campaign).iter().map(|wanted| part(wanted, rows)).collect()
}

impl Report {
    /// Whether every claim that is marked as met is, which nobody knows before all runs were made.
    pub fn holds(&self) -> bool {
        self.claims.iter().all(|it| match it.verdict {
            Verdict::Broken => false,
            Verdict::Met => it.is_whole(),
            _ => true,
        })
    }
}

/// The tables that the file asks for, or the usual ones.
fn reports(campaign: &Campaign) -> Cow<'_, [Wanted]> {
    if campaign.reports.is_empty() {
        Cow::Owned(automatic::reports(campaign))
    } else {
        Cow::Borrowed(&campaign.reports)
    }
}

fn missing(campaign: &Campaign, context: &Context) -> Vec<(String, String)> {
    let tasks = context.missing_tasks.iter().map(|(task, labels)| {
        let values = campaign.axes.iter().zip(labels).map(|(axis, label)| {
            let name = words::axis(&axis.name, axis.unit);
            format!("{name} = {}", words::label(label, axis.unit))
        });
        (task.clone(), Vec::from_iter(values).join(", "))
    });
    tasks.collect()
}

fn part(wanted: &Wanted, rows: &Rows<'_>) -> Result<Part, String> {
    let mut part = match &wanted.kind {
        Kind::Proportion { .. } => proportion::part(wanted, rows)?,
        Kind::Cdf { .. } => cdf::part(wanted, rows)?,
        Kind::Line { .. } => line::part(wanted, rows)?,
        Kind::Heatmap { .. } => heatmap::part(wanted, rows)?,
    };
    part.notes.extend(rows.unknown(&wanted.select));
    part.notes.extend(rows.nothing(&wanted.select)?);
    Ok(part)
}

fn ended(rows: &Rows<'_>) -> Result<Vec<(String, usize)>, String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let texts = rows.texts("ended")?;
    for (row, text) in texts.iter().enumerate() {
        if rows.is_made(row) {
            *counts.entry(text).or_default() += 1;
        }
    }
    let counts = counts.into_iter().map(|(text, count)| (text.to_string(), count));
    let mut counts: Vec<(String, usize)> = counts.collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    Ok(counts)
}

fn failed(rows: &Rows<'_>) -> Result<Failed, String> {
    let errors = rows.texts("error")?;
    let tasks = rows.texts("task")?;
    let mut reasons: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    let mut count = 0;
    for (row, error) in errors.iter().enumerate() {
        if rows.is_made(row) {
            continue;
        }
        count += 1;
        reasons.entry(error).or_insert((0, &tasks[row])).0 += 1;
    }
    let mut reasons: Vec<(String, usize, String)> = reasons
        .into_iter()
        .map(|(error, (count, task))| (error.to_string(), count, task.to_string()))
        .collect();
    reasons.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
    reasons.truncate(REASONS_MAX);
    Ok(Failed { count, reasons })
}

/// The most reasons that are listed.
const REASONS_MAX: usize = 5;

#[cfg(test)]
mod tests;
