//! The columns of a campaign's results.

use std::collections::BTreeSet;
use std::path::Path;

use super::failure::Failure;
use crate::sweep::campaign::{Axis, Campaign, Label, Point};
use crate::sweep::plan::Task;
use crate::sweep::row::{self, Name, Row};
use pauseless_run::table::{Cells, Column};

/// The columns of a campaign's results. In files they stand in this order: `task`, `scenario`,
/// `version`, `seed`, the axes, the numbers, `ended`, `error`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    /// The axes: which of the campaign's, under which name.
    pub(super) axes: Vec<AxisColumn>,
    /// The numbers that are kept, under the names of their columns.
    pub numbers: Vec<String>,
}

/// The column of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AxisColumn {
    pub place: usize,
    pub name: String,
    pub is_number: bool,
}

impl Columns {
    /// The columns of a campaign, whose results are in `folder`.
    pub fn of(campaign: &Campaign, folder: &Path) -> Result<Columns, Failure> {
        let mut axes = Vec::new();
        for (place, axis) in campaign.axes.iter().enumerate() {
            let name = axis_column(axis);
            // Every task has a seed, whether or not it is varied.
            if name == SEED && axis.points.iter().all(is_seed) {
                continue;
            }
            let mut labels = axis.points.iter().map(|point| &point.label);
            axes.push(AxisColumn {
                place,
                name,
                is_number: labels.all(|label| matches!(label, Label::Number(_))),
            });
        }
        let numbers: Vec<String> = campaign.keep.iter().map(|name| row::column(name)).collect();
        let names = axes.iter().map(|axis| &axis.name).chain(&numbers);
        let mut seen: BTreeSet<&str> = FIXED.into_iter().collect();
        for name in names {
            if !seen.insert(name) {
                let message = format!("would have two columns named {name}");
                let help = "give the axis another name, or do not keep that number twice";
                return Err(Failure::new(folder, message, help));
            }
        }
        Ok(Columns { axes, numbers })
    }

    /// The names of all columns, in order.
    pub fn names(&self) -> Vec<&str> {
        let axes = self.axes.iter().map(|axis| axis.name.as_str());
        let numbers = self.numbers.iter().map(String::as_str);
        let begin = FIXED[..4].iter().copied();
        let end = FIXED[4..].iter().copied();
        begin.chain(axes).chain(numbers).chain(end).collect()
    }

    /// Rows as columns. What the plan says of a task is taken from the plan, so that rows that were
    /// made before an axis was added or given another name are of use.
    pub(crate) fn cells(&self, rows: &[(Identity, Row)]) -> Vec<Column> {
        let texts = |of: &dyn Fn(&Identity, &Row) -> String| {
            Cells::Texts(rows.iter().map(|(task, row)| of(task, row)).collect())
        };
        let seeds = rows.iter().map(|(task, _)| task.seed);
        let mut all = vec![
            Column::new(TASK, texts(&|task, _| task.name.to_string())),
            Column::new(SCENARIO, texts(&|task, _| task.scenario.to_string())),
            Column::new(VERSION, texts(&|_, _| pauseless_run::VERSION.to_string())),
            Column::new(SEED, Cells::Counts(seeds.collect())),
        ];
        for axis in &self.axes {
            let labels = rows.iter().map(|(task, _)| &task.labels[axis.place]);
            let number = |label: &Label| match label {
                Label::Number(number) => Some(*number),
                Label::Text(_) => None,
            };
            all.push(if axis.is_number {
                Column::numbers(&axis.name, labels.map(number))
            } else {
                Column::texts(&axis.name, labels.map(Label::to_string))
            });
        }
        for (place, name) in self.numbers.iter().enumerate() {
            all.push(Column::numbers(name, rows.iter().map(|(_, row)| row.numbers[place])));
        }
        all.push(Column::new(ENDED, texts(&|_, row| row.ended.clone())));
        let errors = rows.iter().map(|(_, row)| row.error.clone());
        all.push(Column::new(ERROR, Cells::Notes(errors.collect())));
        all
    }
}

/// What a row of results takes from its task, without its text, which is large.
pub(crate) struct Identity {
    pub index: usize,
    pub name: Name,
    scenario: Name,
    seed: u64,
    labels: Vec<Label>,
}

impl Identity {
    /// The identity of a task.
    pub(crate) fn of(task: &Task) -> Identity {
        let Task { index, name, scenario, seed, .. } = *task;
        Identity { index, name, scenario, seed, labels: task.labels.clone() }
    }
}

impl AxisColumn {
    /// The cell of the column for the values of a task.
    pub fn cell(&self, labels: &[Label]) -> Label {
        match &labels[self.place] {
            Label::Number(number) if !self.is_number => Label::Text(number.to_string()),
            label => label.clone(),
        }
    }
}

/// Whether the value of an axis is the scenario's seed.
fn is_seed(point: &Point) -> bool {
    let seeds = point.set.iter().filter(|(path, _)| path == SEED);
    let mut seeds = seeds.filter_map(|(_, value)| value.as_integer());
    seeds.any(|seed| point.label == Label::Number(seed as f64))
}

/// The name of an axis's column.
pub fn axis_column(axis: &Axis) -> String {
    row::column(&axis.name)
}

pub(super) const TASK: &str = "task";
pub(super) const SCENARIO: &str = "scenario";
pub(super) const VERSION: &str = "version";
pub(super) const SEED: &str = "seed";
pub(super) const ENDED: &str = "ended";
pub(super) const ERROR: &str = "error";

/// The columns that all campaigns have.
pub(in crate::sweep) const FIXED: [&str; 6] = [TASK, SCENARIO, VERSION, SEED, ENDED, ERROR];
