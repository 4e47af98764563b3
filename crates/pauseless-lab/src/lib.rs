//! Scenarios, imports, reports and everything else that touches files.

pub mod check;
pub mod cycle_aware;
pub mod demo;
pub mod draw;
pub mod explain;
pub mod fabric;
pub mod import;
pub mod metrics;
pub mod plan;
pub mod problem;
pub mod report;
pub mod repro;
pub mod sample;
pub mod scenario;
pub mod table;
pub mod threshold;
