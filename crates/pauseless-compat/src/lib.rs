//! Other simulators' files: read as scenarios, and run as those simulators would.
//!
//! In flow the files of the HPCC authors' ns-3 simulator and its descendants ([`hpcc`]) and of htsim
//! ([`htsim`]); out flow scenarios whose values keep their places in the user's files. [`replica`] is
//! the HPCC simulator as it is, order of events and random numbers included, for whoever wants its
//! bytes.
//!
//! This crate may not know how results are reported, and nothing of it is used by the engine.

pub mod hpcc;
pub mod htsim;
pub mod replica;
