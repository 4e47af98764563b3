//! Scenarios, imports, reports and everything else that touches files.

pub mod check;
pub mod demo;
pub mod draw;
pub mod explain;
#[cfg(target_os = "linux")]
pub mod node;
pub mod plan;
pub mod report;
pub mod repro;
pub mod schema;
pub mod sweep;
#[cfg(target_os = "linux")]
pub mod testbed;
pub mod threshold;
