//! The workbench for lossless networks, as a library.
//!
//! Can this fabric deadlock, and because of whom?
//!
//! ```
//! let fabric = pauseless::shape("ring:switches=4")?;
//! let verdict = pauseless::check(&fabric);
//! assert!(verdict.is_cyclic());
//! assert_eq!(verdict.components[0].cycle.hops.len(), 4);
//! # Ok::<(), pauseless::Problems>(())
//! ```
//!
//! What happens in it, packet by packet?
//!
//! ```
//! use pauseless::{Overrides, Scenario};
//!
//! let text = r#"
//!     duration = "2 ms"
//!     [topology]
//!     kind = "star"
//!     hosts = 3
//!     rate = "10 Gbps"
//!     delay = "1 us"
//!     [flow_control]
//!     kind = "pfc"
//!     [[flow]]
//!     name = "F1"
//!     source = "H1"
//!     target = "H3"
//!     [[flow]]
//!     name = "F2"
//!     source = "H2"
//!     target = "H3"
//! "#;
//! let scenario = Scenario::parse("incast", text, &Overrides::default())?;
//! let run = pauseless::run(scenario);
//! assert!(run.outcome.deadlock.is_none() && run.outcome.loss.is_none());
//! let flows = &pauseless::tables(&run)[1];
//! assert_eq!(flows.name, "flows");
//! # Ok::<(), pauseless::Problems>(())
//! ```
//!
//! How large must its buffers be? [`plan`] says, with [`Request`] for what the fabric does not.
//!
//! In flow scenarios and fabrics, from files or built in code; out flow verdicts, plans, runs and
//! tables. The crates below have the details and are reachable from here by their names:
//! [`core`] has the protocols, [`fabric`] graphs and routes, [`sim`] time, [`scenario`] files,
//! [`results`] every number of a run, [`report`] what people read. What is public here and there is
//! meant to be; it follows semantic versioning, with the public interface stored in `docs/api/`.
//!
//! The command line stands on this library; `default-features = false` leaves it and its
//! dependencies out.

pub mod schema;

use std::ops::ControlFlow;
use std::path::PathBuf;

pub use pauseless_check::Verdict;
pub use pauseless_fabric::fabric::Fabric;
pub use pauseless_plan::{Plan, PlanError, Request};
pub use pauseless_run::table::Table;
pub use pauseless_run::{Run, VERSION};
pub use pauseless_scenario::{Overrides, Scenario};
pub use pauseless_text::problem::Problems;

pub use pauseless_check as checks;
pub use pauseless_compat as compat;
pub use pauseless_core as core;
pub use pauseless_dumps as dumps;
pub use pauseless_experiments as experiments;
pub use pauseless_fabric as fabric;
pub use pauseless_figures as figures;
pub use pauseless_plan as plans;
pub use pauseless_report as report;
pub use pauseless_run::results;
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

/// A fabric of a usual shape, such as `ring:switches=4` or `fat-tree:k=8`, as `check --generate`
/// takes it.
///
/// # Errors
/// The part of the text that makes no sense.
pub fn shape(spec: &str) -> Result<Fabric, Problems> {
    pauseless_scenario::shape::parse(spec)
}

/// Whether the buffers of `fabric` can wait for each other in a circle, and what would help.
pub fn check(fabric: &Fabric) -> Verdict {
    pauseless_check::check(fabric, &[])
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
