//! Scenarios, imports, reports and everything else that touches files.

#[cfg(target_os = "linux")]
pub mod node;
pub mod repro;
pub mod schema;
pub mod sweep;
#[cfg(target_os = "linux")]
pub mod testbed;
pub mod threshold;
