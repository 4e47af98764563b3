//! What a campaign is, once its file was read.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use toml::{Table, Value};

use super::report::file::{Claim, Wanted};
use super::row::Name;
use super::text::root;
use pauseless_scenario::patch;

/// A campaign: a scenario, what is varied, and what is kept of each run.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// The stem of its file, with the size behind it if one was asked for: `table1-quick`.
    pub name: String,
    /// The title of the campaign, one line that says what it shows.
    pub title: String,
    /// How this size differs from the file as it is written; empty without a size.
    pub note: String,
    /// The scenario that all runs begin with.
    pub base: Table,
    /// The folder of the scenario's file, which paths in it are relative to.
    pub folder: PathBuf,
    /// The axes along which the scenario is varied, the slowest first.
    pub axes: Vec<Axis>,
    /// The filter that decides which networks are run.
    pub filter: Filter,
    /// The numbers that are kept of each run, by their names in a [`pauseless_run::sample::Sample`].
    pub keep: Vec<String>,
    /// Whether a row is kept for each flow of each run.
    pub keeps_flows: bool,
    /// The curves that are kept of each run, if any.
    pub curves: Vec<String>,
    /// Distributions of flow sizes by the names of their files, so that a task needs no file but its
    /// own, and its name covers what it draws from.
    pub distributions: BTreeMap<String, Value>,
    /// The tables and figures of its report; the usual ones if there are none.
    pub reports: Vec<Wanted>,
    /// The claims that the report judges.
    pub claims: Vec<Claim>,
}

impl Campaign {
    /// The scenario with these values, which are places in the axes from the first on. What cannot be
    /// set is told to `flaw`, with the place of its axis.
    pub(super) fn scenario(&self, points: &[usize], flaw: impl FnMut(usize, String)) -> Table {
        let mut table = self.base.clone();
        self.put(&mut table, points, |_| true, flaw);
        table
    }

    /// One section of the scenario with these values.
    pub(super) fn section(&self, section: &str, points: &[usize]) -> Table {
        let base = self.base.get_key_value(section).into_iter();
        let mut table = Table::from_iter(base.map(|(key, value)| (key.clone(), value.clone())));
        self.put(&mut table, points, |path| root(path) == section, |_, _| {});
        table
    }

    /// Sets the values of the points in a scenario, for the paths that `is_meant` accepts.
    fn put(
        &self,
        table: &mut Table,
        points: &[usize],
        is_meant: impl Fn(&str) -> bool,
        mut flaw: impl FnMut(usize, String),
    ) {
        for (number, (axis, point)) in self.axes.iter().zip(points).enumerate() {
            for (path, value) in axis.points[*point].set.iter().filter(|(path, _)| is_meant(path)) {
                if let Err(wrong) = patch::put(table, path, value) {
                    flaw(number, wrong);
                    // As a key that nobody knows, so that whoever reads the scenario refuses it.
                    table.insert(path.clone(), value.clone());
                }
            }
        }
        self.inline(table);
    }

    /// Differs if the runs or what is kept of them do. What is shown of them does not matter.
    pub fn digest(&self) -> String {
        let (base, axes) = (self.base.to_string(), format!("{:?}", self.axes));
        let filter = format!("{:?}", self.filter);
        let distributions = format!("{:?}", self.distributions);
        let mut keep = format!("{:?}", self.keep);
        if self.keeps_flows {
            keep += FLOWS;
        }
        Name::of(&[&base, &axes, &filter, &distributions, &keep]).to_string()
    }

    /// Puts distributions of flow sizes and lists of flows in the place of the names of their files.
    pub fn inline(&self, table: &mut Table) {
        if self.distributions.is_empty() {
            return;
        }
        let sections = match table.get_mut("traffic") {
            Some(Value::Array(list)) => &mut list[..],
            Some(one) => std::slice::from_mut(one),
            None => return,
        };
        for section in sections.iter_mut().filter_map(Value::as_table_mut) {
            for (key, inline) in [("sizes", "cdf"), ("file", "rows")] {
                let file = section.get(key).and_then(Value::as_str);
                let content = file.and_then(|file| self.distributions.get(file));
                if let Some(content) = content.filter(|it| it.is_str() == (key == "file")) {
                    section.remove(key);
                    section.insert(inline.to_string(), content.clone());
                }
            }
        }
    }
}

/// Something that is varied.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The name of its column, with the unit: `xoff_bytes`.
    pub name: String,
    /// What the numbers of the column are in: `bytes`, `bps`, `s`; empty for plain numbers and texts.
    pub unit: &'static str,
    /// The values, in order.
    pub points: Vec<Point>,
}

/// One value of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The label of the value in the results.
    pub label: Label,
    /// The values that are set in the scenario, by their paths.
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

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Label::Number(number) => number.fmt(f),
            Label::Text(text) => text.fmt(f),
        }
    }
}

/// Conditions on networks: a network that does not meet all of them is not run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only those with a cyclic buffer dependency, or only those without.
    pub cyclic: Option<bool>,
    /// Only those in which every host reaches every other, or only those in which some do not.
    pub connected: Option<bool>,
}

impl Filter {
    /// Whether it lets everything through.
    pub fn is_open(&self) -> bool {
        *self == Filter::default()
    }
}

/// What `keep` of a campaign's file has if a row is kept for each flow.
pub(super) const FLOWS: &str = "flows";
