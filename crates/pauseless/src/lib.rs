#![doc = include_str!("../README.md")]

pub mod schema;

use std::ops::ControlFlow;
use std::path::PathBuf;

pub use pauseless_check::Verdict;
pub use pauseless_fabric::fabric::Fabric;
pub use pauseless_plan::{Plan, PlanError, Request};
pub use pauseless_run::{Run, VERSION};
pub use pauseless_scenario::{Overrides, Scenario, ScenarioFile};
pub use pauseless_text::problem::Problems;
pub use table::Table;

pub use pauseless_check as checks;
pub use pauseless_compat as compat;
pub use pauseless_core as core;
pub use pauseless_dumps as dumps;
pub use pauseless_experiments as experiments;
pub use pauseless_fabric as fabric;
pub use pauseless_figures as figures;
pub use pauseless_lint as lints;
pub use pauseless_plan as plans;
pub use pauseless_report as report;
pub use pauseless_run::{results, table};
pub use pauseless_scenario as scenario;
pub use pauseless_sim as sim;
pub use pauseless_text as text;

/// Reads the files of one fabric: dumps of InfiniBand or Ethernet, or a `fabric.toml`.
///
/// # Errors
/// All problems of all files, each with its line and what to write instead.
pub fn read_fabric(files: &[PathBuf]) -> Result<Fabric, Problems> {
    pauseless_check::read::read(files)
}

/// A fabric of a usual shape, such as `ring:switches=5,hosts_per_switch=1` or `fat-tree:k=8`, as `check --generate`
/// takes it.
///
/// # Errors
/// The part of the text that makes no sense.
pub fn shape(spec: &str) -> Result<Fabric, Problems> {
    pauseless_scenario::shape::parse(spec)
}

/// Whether the buffers of `fabric` can wait for each other in a circle, and what would help. Where
/// they can, trying the proposals takes much longer than the verdict, which [`checks::check`] gives
/// alone.
pub fn check(fabric: &Fabric) -> Verdict {
    let mut verdict = pauseless_check::check(fabric, &[]);
    verdict.take_advice(fabric, &mut |_| {});
    verdict
}

/// Buffers and thresholds of all switches of `fabric`, for every flow control.
///
/// # Errors
/// What the fabric and the request leave open, or contradict.
pub fn plan(fabric: &Fabric, request: &Request) -> Result<Plan, PlanError> {
    pauseless_plan::plan(fabric, request)
}

/// Simulates `scenario` from its first to its last instant.
pub fn run(scenario: Scenario) -> Run {
    Run::execute(scenario, |_| ControlFlow::Continue(()))
}

/// The results of a run as tables: `results` with one row, `flows`, `ports` and, if anything was
/// probed, `series`.
pub fn tables(run: &Run) -> Vec<Table> {
    results::rows::tables(run)
}
