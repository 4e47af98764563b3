//! Campaigns: one scenario over many values, thousands of runs that survive a crash and can be
//! spread over machines.
//!
//! A [`campaign::Campaign`] is read from its file, a [`plan::Plan`] lists its tasks, each named by
//! the hash of its scenario and of the program's version, `execute` runs those that the store does
//! not have yet, and the store puts all of them together. `docs/sweep.md` is the reference.

pub mod campaign;
pub mod execute;
pub mod file;
pub mod json;
mod network;
pub mod plan;
pub mod report;
pub mod row;
pub mod screen;
pub mod slurm;
pub mod store;
mod text;
