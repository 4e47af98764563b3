#![doc = include_str!("../README.md")]
//! [`hpcc`] and [`htsim`] read, and [`replica`] runs.

pub mod hpcc;
pub mod htsim;
pub mod replica;
