//! The report for a terminal.

use std::fmt::Write;

use super::claim::Judged;
use super::{Cell, Part, Report, Share, Shown};
use crate::repro::claim::Verdict;
use pauseless_text::quantity::{count, percents, plural};
use pauseless_text::terminal::{Mood, Paint, Table};

/// The report as text: claims first, then the tables.
pub fn text(report: &Report, paint: Paint) -> String {
    let name = paint.paint(Mood::Strong, &report.name);
    let mut text = match report.title.as_str() {
        "" => format!("{name}\n"),
        title => format!("{name}: {title}\n"),
    };
    for line in lines(report) {
        let _ = writeln!(text, "{line}");
    }
    if !report.claims.is_empty() {
        text.push('\n');
    }
    for judged in &report.claims {
        text.push_str(&claim(judged, paint));
    }
    for part in &report.parts {
        text.push_str(&one(part, paint));
    }
    text
}

/// How many runs there are, how they ended, and what is missing.
pub(super) fn lines(report: &Report) -> Vec<String> {
    let runs = report.runs + report.failed.count;
    let all = match report.context.missing {
        0 => plural(runs as u64, "run"),
        missing => {
            let all = plural((runs + missing) as u64, "run");
            format!("{} of {all}", count(runs as u64))
        }
    };
    let mut lines = vec![format!("{all}, made by pauseless {}", report.version)];
    if !report.context.command.is_empty() {
        lines[0] += &format!(" with: {}", report.context.command);
    }
    if !report.note.is_empty() {
        lines.push(format!("{}.", report.note));
    }
    if let Some(screened) = &report.context.screened {
        lines.push(format!("{}.", screened.trim_end_matches('.')));
    }
    let ended = report.ended.iter().map(|(why, runs)| {
        let why = match why.as_str() {
            "deadlock" => "found a deadlock",
            "done" => "had all flows done",
            "steady" => "were steady",
            "duration" => "lasted their whole duration",
            other => other,
        };
        format!("{} {why}", count(*runs as u64))
    });
    let ended: Vec<String> = ended.collect();
    if !ended.is_empty() {
        lines.push(format!("How the runs ended: {}.", ended.join(", ")));
    }
    if report.runs > 0 {
        lines.extend(report.found.lines());
    }
    lines.extend(missing(report));
    let failed = &report.failed;
    if failed.count > 0 {
        let runs = plural(failed.count as u64, "run");
        lines.push(format!("{runs} could not be made and are in no table:"));
    }
    for (reason, runs, task) in &failed.reasons {
        let reason = reason.lines().next().unwrap_or_default();
        let runs = plural(*runs as u64, "run");
        lines.push(format!("  {runs}: {reason} (task {task})"));
    }
    lines
}

fn missing(report: &Report) -> Vec<String> {
    let context = &report.context;
    if context.missing == 0 {
        return Vec::new();
    }
    let runs = plural(context.missing as u64, "run");
    let mut lines = vec![format!("{runs} missing; the command above makes them.")];
    for (task, values) in &report.missing {
        lines.push(format!("  task {task}: {values}"));
    }
    let more = context.missing.saturating_sub(report.missing.len());
    if more > 0 && !report.missing.is_empty() {
        lines.push(format!("  .. and {} more", count(more as u64)));
    }
    lines
}

fn claim(judged: &Judged, paint: Paint) -> String {
    let mood = match judged.verdict {
        Verdict::Met if judged.is_whole() => Mood::Good,
        Verdict::Broken => Mood::Bad,
        Verdict::OtherScale => Mood::Strong,
        _ => Mood::Poor,
    };
    let verdict = format!("{:<13}", judged.word());
    let mut text = format!("  {} {}\n", paint.paint(mood, &verdict), judged.claim.text);
    if judged.verdict == Verdict::OtherScale {
        let sizes = judged.claim.sizes.join(", ");
        let _ = writeln!(text, "{INDENT}judged with --size {sizes} only");
        return text;
    }
    let _ = writeln!(text, "{INDENT}asked for: {}", judged.asked());
    let _ = writeln!(text, "{INDENT}measured: {}", judged.measured());
    if let Some(other) = judged.against() {
        let _ = writeln!(text, "{INDENT}against: {other}");
    }
    for note in &judged.notes {
        let _ = writeln!(text, "{INDENT}{note}");
    }
    if !judged.claim.reason.is_empty() {
        let _ = writeln!(text, "{INDENT}why: {}", judged.claim.reason);
    }
    text
}

fn one(part: &Part, paint: Paint) -> String {
    let mut text = format!("\n{}\n", paint.paint(Mood::Strong, &part.title));
    if !part.shown.rows.is_empty() {
        text.push_str(&table(&part.shown, paint));
    }
    let more = part.shown.rows.len().saturating_sub(ROWS_MAX);
    if more > 0 {
        let more = count(more as u64);
        let name = &part.name;
        let _ = writeln!(text, "  .. and {more} more; {name}.csv has all of them");
    }
    if let Some(doubt) = &part.doubt {
        let mood = if doubt.mark.is_some() { Mood::Poor } else { Mood::Strong };
        let _ = writeln!(text, "  {}", paint.paint(mood, &doubt.text()));
    }
    for note in &part.notes {
        let _ = writeln!(text, "  {note}");
    }
    text
}

fn table(shown: &Shown, paint: Paint) -> String {
    let heads = shown.heads.iter();
    let mut table = Table::with(heads.map(|it| (it.text.clone(), it.is_number)).collect());
    let rows = &shown.rows[..shown.rows.len().min(ROWS_MAX)];
    let widths: Vec<[usize; 3]> =
        (0..shown.heads.len()).map(|column| widths(rows, column)).collect();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, widths)| match cell {
            Cell::Text(text) => text.clone(),
            Cell::Share(share) => {
                let [count, percent, interval] = parts(*share);
                let [a, b, c] = *widths;
                format!("{count:>a$} {percent:>b$} {interval:<c$}")
            }
        });
        table.push(cells.collect());
    }
    table.render(|row, column, text| {
        let mood = match (&rows[row][column], shown.heads[column].finding) {
            (Cell::Share(share), Some(finding)) if share.total > 0 => match finding {
                _ if share.count == 0 => Mood::Good,
                "starved" => Mood::Poor,
                _ => Mood::Bad,
            },
            _ => return text.to_string(),
        };
        paint.paint(mood, text)
    })
}

/// The widths of the parts of a column's shares.
fn widths(rows: &[Vec<Cell>], column: usize) -> [usize; 3] {
    let mut widths = [0; 3];
    for row in rows {
        if let Cell::Share(share) = &row[column] {
            for (width, part) in widths.iter_mut().zip(parts(*share)) {
                *width = part.chars().count().max(*width);
            }
        }
    }
    widths
}

/// A share as `12/50`, `24.0 %`, `(14.3 to 37.4)`.
fn parts(share: Share) -> [String; 3] {
    let Some(value) = share.value() else {
        return ["-".to_string(), String::new(), String::new()];
    };
    let [low, high] = share.interval().map(percents);
    [
        format!("{}/{}", share.count, share.total),
        format!("{} %", percents(value)),
        format!("({low} to {high})"),
    ]
}

const INDENT: &str = "                ";
/// A longer table is a file, not a report.
const ROWS_MAX: usize = 100;
