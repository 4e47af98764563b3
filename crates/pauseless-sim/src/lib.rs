#![doc = include_str!("../README.md")]
//! [`Simulator`] is one thread; [`Parallel`] has several, with the same results.

// The networks of the integration tests serve the unit tests too, under the crate's own name.
#[cfg(test)]
extern crate self as pauseless_sim;
#[cfg(test)]
#[path = "../tests/networks/mod.rs"]
mod networks;

pub mod balance;
pub mod change;
#[cfg(test)]
mod change_tests;
pub mod clock;
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
pub mod reorder;
mod replay;
pub mod served;
mod simulator;
mod spread;
pub mod starvation;
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
