#![doc = include_str!("../README.md")]
//! [`sweep`] lists tasks, makes runs on one machine or a cluster and keeps them; [`repro`] judges what
//! papers claim; [`threshold`] bisects over seeds, in a crate of its own.

pub mod repro;
pub mod sweep;

pub use pauseless_threshold as threshold;
