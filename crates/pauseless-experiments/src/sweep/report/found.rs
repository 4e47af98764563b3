//! What was found over all runs, whatever the sections of a report ask for.

use super::super::campaign::Campaign;
use super::alike;
use super::file::FINDINGS;
use super::rows::Rows;
use pauseless_text::quantity::{count, plural};

/// How many runs have found what.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Runs with a deadlock.
    pub deadlock: usize,
    /// Runs in which a flow starves.
    pub starved: usize,
    /// Runs that were too short to tell whether a flow starves.
    pub undecided: usize,
    /// Runs in which packets were lost.
    pub lost: usize,
    /// Runs whose scenario has warnings.
    pub warned: usize,
    /// Runs with the same times of flows as one that differs from them by the seed alone.
    pub alike: usize,
    /// The first task with a warning, if any has one.
    pub first_warned: Option<String>,
}

impl Found {
    /// Counts the findings of all runs that could be made.
    pub fn of(campaign: &Campaign, rows: &Rows<'_>) -> Result<Found, String> {
        let [deadlock, starved, lost] = FINDINGS.map(|name| above(rows, name));
        let warned = above(rows, WARNINGS)?;
        let tasks = rows.texts("task")?;
        Ok(Found {
            deadlock: deadlock?.len(),
            starved: starved?.len(),
            undecided: above(rows, UNDECIDED)?.len(),
            lost: lost?.len(),
            warned: warned.len(),
            alike: alike::count(campaign, rows)?,
            first_warned: warned.first().map(|row| tasks[*row].to_string()),
        })
    }

    /// What was found, in sentences.
    pub(super) fn lines(&self) -> Vec<String> {
        let [deadlock, starved, lost] = [self.deadlock, self.starved, self.lost];
        let runs = |runs: usize| match runs {
            0 => "none".to_string(),
            runs => count(runs as u64),
        };
        let first = match deadlock {
            0 => "no run".to_string(),
            _ => plural(deadlock as u64, "run"),
        };
        let mut lines = vec![format!(
            "Found: {first} with a deadlock, {} with a starved flow, {} with losses.",
            runs(starved),
            runs(lost)
        )];
        if self.undecided > 0 {
            let runs = plural(self.undecided as u64, "run");
            lines.push(format!("{runs} too short to tell whether a flow starves."));
        }
        if self.alike > 0 {
            let (runs, repeat) = match self.alike {
                1 => ("1 run".to_string(), "repeats"),
                runs => (plural(runs as u64, "run"), "repeat"),
            };
            lines.push(format!(
                "{runs} {repeat} the run of another seed in every time that was kept: bands over seeds \
                 are too narrow there. A `jitter` of an incast, or `timing.start_jitter` of other \
                 traffic, makes seeds differ."
            ));
        }
        lines.extend(self.first_warned.as_ref().map(|task| {
            let (runs, were) = match self.warned {
                1 => ("1 run".to_string(), "was"),
                runs => (plural(runs as u64, "run"), "were"),
            };
            format!(
                "{runs} {were} made with warnings, such as task {task}; `pauseless sweep show FILE \
                 TASK` gives its scenario, `pauseless run` the warning."
            )
        }));
        lines
    }
}

/// The runs in which a number is above zero; none if it was not kept.
fn above(rows: &Rows<'_>, name: &str) -> Result<Vec<usize>, String> {
    if !rows.has(name) {
        return Ok(Vec::new());
    }
    let numbers = rows.numbers(name)?;
    let is_above = |row: &usize| rows.is_made(*row) && numbers[*row].is_some_and(|it| it > 0.0);
    Ok((0..rows.len()).filter(is_above).collect())
}

/// Whether a run was too short to tell whether a flow starves.
pub(super) const UNDECIDED: &str = "undecided";

/// How many warnings the scenario of a run has.
pub(super) const WARNINGS: &str = "warnings";
