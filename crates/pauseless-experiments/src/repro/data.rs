//! What an experiment yields beside its verdicts: numbers, tables and figures, as data.

use std::collections::BTreeMap;

use pauseless_figures::figure::Figure;
use pauseless_run::metrics::bias::Case;
use pauseless_run::sample::Sample;
use pauseless_run::table::Table;

/// Everything that was measured in an experiment.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Numbers that claims refer to by name.
    pub values: Values,
    /// Tables that are written as CSV and Parquet.
    pub tables: Vec<Table>,
    /// Figures that are drawn as SVG and PNG.
    pub figures: Vec<Figure>,
    /// The runs of campaigns that keep curves, by how the names of their values begin.
    pub curves: Vec<(String, Sample)>,
}

/// Numbers by name, such as `PFC/output-queued/deadlock_ms`: one for each seed, or `None` where a
/// run has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    numbers: BTreeMap<String, Vec<Option<f64>>>,
    /// What unfinished flows leave open of numbers that only finished ones have, for each seed.
    cases: BTreeMap<String, Vec<Case>>,
}

impl Values {
    /// Adds the number of one more seed.
    pub fn push(&mut self, name: impl Into<String>, value: f64) {
        self.push_if(name, Some(value));
    }

    /// Adds the number of one more seed, if that run has one.
    pub fn push_if(&mut self, name: impl Into<String>, value: Option<f64>) {
        self.numbers.entry(name.into()).or_default().push(value);
    }

    /// Adds what the flows of one more seed leave open of a number.
    pub(super) fn push_case(&mut self, name: String, case: Option<Case>) {
        self.cases.entry(name).or_default().extend(case);
    }

    /// What the flows of each seed leave open of a number; empty if it does not depend on them.
    pub(super) fn cases(&self, name: &str) -> &[Case] {
        self.cases.get(name).map_or(&[], Vec::as_slice)
    }

    /// Leaves out the numbers whose names are not wanted.
    pub(super) fn retain(&mut self, is_wanted: impl Fn(&str) -> bool) {
        self.numbers.retain(|name, _| is_wanted(name));
        self.cases.retain(|name, _| is_wanted(name));
    }

    /// Adds names that are not there yet, with the numbers of all seeds.
    pub(super) fn extend(&mut self, others: Values) {
        self.numbers.extend(others.numbers);
        self.cases.extend(others.cases);
    }

    /// The numbers of all seeds.
    pub fn get(&self, name: &str) -> Option<&[Option<f64>]> {
        self.numbers.get(name).map(Vec::as_slice)
    }

    /// All names with their numbers, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[Option<f64>])> {
        self.numbers.iter().map(|(name, all)| (name.as_str(), &all[..]))
    }
}
