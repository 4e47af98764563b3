//! What claims files cannot say: numbers that need a program. One file per function or family.

mod formulas;
pub(crate) mod gfc_scale;
mod loops;
mod pcn;
mod workload;

use super::scope::{Failure, Scope};
use crate::repro::data::Measured;
use pauseless_run::Run;
use pauseless_run::sample::Add;
use pauseless_text::words;

/// Measures what cases alone cannot.
pub type Compute = fn(&Scope<'_>, &mut Measured) -> Result<(), Failure>;

/// Adds metrics of one run.
pub type PerRun = fn(&Run, Add<'_>);

/// A function that `compute` or `per_run` names in a claims file.
#[derive(Clone, Copy, Debug)]
pub struct Function<F> {
    /// The name of the function in claims files.
    pub name: &'static str,
    /// The function that is called.
    pub call: F,
}

impl<F> PartialEq for Function<F> {
    fn eq(&self, other: &Function<F>) -> bool {
        self.name == other.name
    }
}

words!(Function<Compute>, COMPUTE.map(|(name, call)| (name, Function { name, call })));
words!(Function<PerRun>, PER_RUN.map(|(name, call)| (name, Function { name, call })));

const COMPUTE: [(&str, Compute); 12] = [
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
    ("gfc-evolution", gfc_scale::evolution),
    ("gfc-feedback", gfc_scale::feedback),
];

const PER_RUN: [(&str, PerRun); 5] = [
    ("gfc-servers", gfc_scale::servers),
    ("gfc-feedback", gfc_scale::feedback_bins),
    ("pcn-burst", pcn::burst),
    ("pcn-settle", pcn::settle),
    ("workload", workload::workload),
];
