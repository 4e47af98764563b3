//! Many runs for one question: campaigns, reproductions of papers, and searches for thresholds.
//!
//! In flow campaign files, the claims files of papers and properties to search for; out flow rows of
//! finished runs in one store, and what they say: figures with bands, judged claims, the least
//! value at which a property holds. [`sweep`] lists tasks, makes runs on one machine or a cluster
//! and keeps them; [`repro`] judges what papers claim; [`threshold`] bisects over seeds.
//!
//! This crate may not know how a scenario is simulated, only that a run comes of it.

pub mod repro;
pub mod sweep;
pub mod threshold;
