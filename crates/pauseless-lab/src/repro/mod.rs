//! The papers' experiments: scenarios and claims as data, run and judged.

pub mod data;
