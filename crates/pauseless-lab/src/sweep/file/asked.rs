//! What is to be kept of each run, against what runs have.

use std::collections::{BTreeMap, BTreeSet};

use crate::problem::Sink;
use crate::sample::{curve, names};
use crate::scenario::Scenario;
use crate::scenario::reader::At;

/// Numbers and curves as they were written.
pub(super) struct Asked {
    pub keep: Vec<At<String>>,
    pub curves: Vec<At<String>>,
}

/// What the runs of a scenario do not have, by place in the lists.
#[derive(Default)]
pub(super) struct Lack {
    numbers: BTreeSet<usize>,
    /// With what there is instead.
    curves: BTreeMap<usize, String>,
}

impl Lack {
    pub(super) fn is_empty(&self) -> bool {
        self.numbers.is_empty() && self.curves.is_empty()
    }

    /// Takes another scenario into account. A number that only some runs have is missing in the
    /// rows of the others, but a curve must be there in all.
    pub(super) fn and(mut self, other: Lack) -> Lack {
        self.numbers.retain(|it| other.numbers.contains(it));
        for (place, wrong) in other.curves {
            self.curves.entry(place).or_insert(wrong);
        }
        self
    }
}

impl Asked {
    /// What the runs of `scenario` do not have of it.
    pub(super) fn lack(&self, scenario: &Scenario) -> Lack {
        let config = &scenario.config;
        let numbers = self.keep.iter().enumerate();
        let numbers = numbers.filter(|(_, name)| !names::fits(&name.value, config));
        let curves = self.curves.iter().enumerate();
        let curves = curves.filter_map(|(place, name)| {
            let wrong = curve::check(config, &name.value).err()?;
            Some((place, wrong))
        });
        Lack {
            numbers: numbers.map(|(place, _)| place).collect(),
            curves: curves.collect(),
        }
    }

    /// Reports what is missing.
    pub(super) fn report(&self, lack: &Lack, sink: &Sink) {
        for At { value, place } in lack.numbers.iter().map(|it| &self.keep[*it]) {
            let problem = place.problem(format!("no run has a number {value:?}"));
            sink.push(problem.help(names::help(value)));
        }
        for (place, wrong) in &lack.curves {
            let problem = self.curves[*place].place.problem(wrong);
            sink.push(problem.help("add it to [probe] of the scenario, or leave it out"));
        }
    }
}
