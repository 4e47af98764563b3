//! Scenarios, imports, reports and everything else that touches files.

pub mod repro;
pub mod schema;
pub mod sweep;
pub mod threshold;
