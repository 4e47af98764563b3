//! Scenarios, imports, reports and everything else that touches files.

pub mod capture;
pub mod check;
pub mod demo;
pub mod draw;
pub mod explain;
pub mod hpcc;
pub mod htsim;
pub mod metrics;
#[cfg(target_os = "linux")]
pub mod node;
pub mod plan;
pub mod report;
pub mod repro;
pub mod results;
pub mod run;
pub mod sample;
pub mod schema;
pub mod sweep;
pub mod table;
#[cfg(target_os = "linux")]
pub mod testbed;
pub mod threshold;

/// The program's version: that of the package, and behind a `+` a hash of the sources that decide
/// what comes of a run, where they are at hand when it is built.
pub const VERSION: &str = env!("PAUSELESS_VERSION");
