//! What a campaign is, once its file was read.

use std::path::PathBuf;

use toml::{Table, Value};

/// A campaign: a scenario, what is varied, and what is kept of each run.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// The stem of its file, with the size behind it if one was asked for: `table1-quick`.
    pub name: String,
    /// One line that says what it shows.
    pub title: String,
    /// The scenario that all runs begin with.
    pub base: Table,
    /// The folder of the scenario's file, which paths in it are relative to.
    pub folder: PathBuf,
    /// What is varied, the slowest first.
    pub axes: Vec<Axis>,
    /// Which networks are run.
    pub filter: Filter,
    /// The numbers that are kept of each run, by their names in a [`crate::sample::Sample`].
    pub keep: Vec<String>,
    /// The curves that are kept of each run, if any.
    pub curves: Vec<String>,
    /// The `[[report]]` sections as they are written, for [`super::report`].
    pub reports: Vec<Table>,
    /// The `[[claim]]` sections, likewise.
    pub claims: Vec<Table>,
}

/// Something that is varied.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The name of its column.
    pub name: String,
    /// What the numbers of the column are in: `bytes`, `bps`, `s`; empty for plain numbers and texts.
    pub unit: &'static str,
    /// The values, in order.
    pub points: Vec<Point>,
}

/// One value of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// What stands in the column.
    pub label: Label,
    /// What is set in the scenario: values by their paths.
    pub set: Vec<(String, Value)>,
}

/// A value as results have it.
#[derive(Clone, Debug, PartialEq)]
pub enum Label {
    /// A number, in the unit of the axis.
    Number(f64),
    /// A name, such as that of a case.
    Text(String),
}

/// Which networks are run: what does not meet all of these is left out before anything is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only those with a cyclic buffer dependency, or only those without.
    pub cyclic: Option<bool>,
    /// Only those in which every host reaches every other, or only those in which some do not.
    pub connected: Option<bool>,
}
