//! What is to be kept of each run, against what runs have.

use std::collections::BTreeMap;

use pauseless_run::results::{Reference, curves};
use pauseless_scenario::Scenario;
use pauseless_text::problem::Sink;
use pauseless_text::reader::At;

/// Numbers and curves as they were written.
pub(super) struct Asked {
    pub keep: Vec<At<String>>,
    pub curves: Vec<At<String>>,
}

/// The numbers and curves that the runs of a scenario do not have, by their places in the lists.
#[derive(Default)]
pub(super) struct Lack {
    numbers: BTreeMap<usize, &'static str>,
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
        self.numbers.retain(|it, _| other.numbers.contains_key(it));
        for (place, wrong) in other.curves {
            self.curves.entry(place).or_insert(wrong);
        }
        self
    }
}

impl Asked {
    /// The numbers and curves that the runs of `scenario` do not have.
    pub(super) fn lack(&self, scenario: &Scenario) -> Lack {
        let config = &scenario.config;
        let numbers = self.keep.iter().enumerate().filter_map(|(place, name)| {
            Some((place, Reference::parse(&name.value).ok()?.check(config).err()?))
        });
        let curves = self.curves.iter().enumerate();
        let curves = curves.filter_map(|(place, name)| {
            let wrong = curves::check(config, &name.value).err()?;
            Some((place, wrong))
        });
        Lack { numbers: numbers.collect(), curves: curves.collect() }
    }

    /// Reports what is missing.
    pub(super) fn report(&self, lack: &Lack, sink: &Sink) {
        for (at, help) in &lack.numbers {
            let At { value, place } = &self.keep[*at];
            sink.push(place.problem(format!("no run has a number {value:?}")).help(*help));
        }
        for (place, wrong) in &lack.curves {
            let problem = self.curves[*place].place.problem(wrong);
            sink.push(problem.help("add it to [probe] of the scenario, or leave it out"));
        }
    }
}
