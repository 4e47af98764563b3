#![doc = include_str!("../README.md")]
//! [`sweep`] lists tasks, makes runs on one machine or a cluster and keeps them; [`repro`] judges what
//! papers claim; [`threshold`] bisects over seeds.

pub mod repro;
pub mod sweep;
pub mod threshold;
