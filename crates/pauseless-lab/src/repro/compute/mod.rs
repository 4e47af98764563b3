//! What claims files cannot say: numbers that need a program. One file per function or family.

mod formulas;
pub(crate) mod gfc_scale;
mod loops;
mod pcn;
mod workload;

use super::scope::{Failure, Scope};
use crate::repro::data::Measured;
use crate::results::{Facts, Reference};
use crate::run::Run;
use crate::sample::Add;
use crate::words;

/// Measures what cases alone cannot.
pub type Compute = fn(&Scope<'_>, &mut Measured) -> Result<(), Failure>;

/// Adds metrics of one run.
pub type PerRun = fn(&Run, Add<'_>);

/// A function that `compute` or `per_run` names in a claims file.
#[derive(Clone, Copy, Debug)]
pub struct Function<F> {
    /// Its name in files.
    pub name: &'static str,
    /// What it does.
    pub call: F,
}

impl<F> PartialEq for Function<F> {
    fn eq(&self, other: &Function<F>) -> bool {
        self.name == other.name
    }
}

words!(Function<Compute>, COMPUTE.map(|(name, call)| (name, Function { name, call })));
words!(Function<PerRun>, PER_RUN.map(|(name, call)| (name, Function { name, call })));

/// `per_run = "gfc-shares"`: what flows got of what was fair.
fn shares(run: &Run, add: Add<'_>) {
    let facts = Facts::of(run);
    for name in ["share_mean", "share_min"] {
        let number = Reference::parse(name).expect("an entry of the registry");
        if let Some(value) = number.value(&facts) {
            add(name.to_string(), value);
        }
    }
}

const COMPUTE: [(&str, Compute); 13] = [
    ("gfc-parameters", formulas::gfc_parameters),
    ("gfc-stages", formulas::gfc_stages),
    ("hotnets-fig2", loops::fig2),
    ("hotnets-loop", loops::many),
    ("pcn-fig10", pcn::climb),
    ("pcn-fig19", pcn::parking_lot),
    ("pcn-table1", pcn::shares),
    ("ttl-sizes", formulas::ttl_sizes),
    ("gfc-exposure", gfc_scale::exposure),
    ("gfc-overlap", gfc_scale::overlap),
    ("gfc-servers", gfc_scale::compare),
    ("gfc-evolution", gfc_scale::evolution),
    ("gfc-feedback", gfc_scale::feedback),
];

const PER_RUN: [(&str, PerRun); 6] = [
    ("gfc-servers", gfc_scale::servers),
    ("gfc-feedback", gfc_scale::feedback_bins),
    ("gfc-shares", shares),
    ("pcn-burst", pcn::burst),
    ("pcn-settle", pcn::settle),
    ("workload", workload::workload),
];
