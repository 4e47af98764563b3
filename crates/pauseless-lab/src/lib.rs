//! Scenarios, imports, reports and everything else that touches files.

pub mod assemble;
pub mod capture;
pub mod check;
pub mod declare;
pub mod demo;
pub mod draw;
pub mod explain;
pub mod file;
pub mod foreign;
pub mod hpcc;
pub mod htsim;
pub mod import;
pub mod lex;
pub mod metrics;
mod named;
#[cfg(target_os = "linux")]
pub mod node;
pub mod plan;
pub mod problem;
pub mod quantity;
pub mod reader;
mod record;
pub mod report;
pub mod repro;
pub mod results;
pub mod run;
pub mod sample;
pub mod scenario;
pub mod schema;
pub mod source;
pub mod sweep;
pub mod table;
pub mod terminal;
#[cfg(target_os = "linux")]
pub mod testbed;
pub mod threshold;
pub mod unit;

/// The program's version: that of the package, and behind a `+` a hash of the sources that decide
/// what comes of a run, where they are at hand when it is built.
pub const VERSION: &str = env!("PAUSELESS_VERSION");
