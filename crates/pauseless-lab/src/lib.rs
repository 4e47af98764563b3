//! Scenarios, reports and everything else that touches files.

pub mod demo;
pub mod explain;
pub mod report;
pub mod scenario;
