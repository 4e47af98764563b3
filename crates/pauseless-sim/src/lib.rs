//! A deterministic packet-level simulator of lossless networks.
//!
//! It drives the machines of `pauseless-core` over wires with serialisation and propagation, and
//! decides deadlock exactly. No files, no clock, threads only in [`parallel`]: a [`Config`] goes in,
//! an [`Outcome`] comes out, the same on every machine and for every number of threads.

// The networks of the integration tests serve the unit tests too, under the crate's own name.
#[cfg(test)]
extern crate self as pauseless_sim;
#[cfg(test)]
#[path = "../tests/networks/mod.rs"]
mod networks;

pub mod config;
#[cfg(test)]
mod deadlock_tests;
mod event;
mod fabric;
pub mod heard;
pub mod ideal;
pub mod outcome;
pub mod parallel;
pub mod progress;
mod provenance;
mod receiver;
mod record;
mod replay;
mod simulator;
mod spread;
mod steady;
mod tag;
pub mod tap;

pub use config::Config;
pub use fabric::{port_config, switch_config};
pub use outcome::Outcome;
pub use parallel::Parallel;
pub use pauseless_fabric::rng;
pub use simulator::Simulator;

/// Runs `config` to its end.
pub fn run(config: &Config) -> Outcome {
    Simulator::new(config).run()
}
