//! One node on real frames: its file, its loop, and what it shows while it runs.
//!
//! `pauseless switch` and `pauseless host` are [`file::NodeFile`], [`drive::Node`] and one of the views
//! of a [`NodeReport`]: [`screen`], [`metrics`], [`json`]. docs/switch.md is for their users.
//!
//! [`NodeReport`]: pauseless_dataplane::report::NodeReport

pub mod drive;
pub mod file;
pub mod json;
pub mod metrics;
pub mod screen;
pub mod summary;
#[cfg(test)]
mod tests;
