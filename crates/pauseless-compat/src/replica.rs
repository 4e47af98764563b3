//! A replica of the HPCC authors' ns-3 simulator: its model, event for event.
//!
//! It stands beside the [`Simulator`] of this crate because runs there are chaotic: which of two
//! packets comes first in the same nanosecond, and which random number a packet draws, decides
//! which flow is slowed down. Only the same order of simultaneous events and the same numbers give
//! the same completion times. `docs/hpcc.md` has how far any other order is from it.
//!
//! **Models** hosts with queue pairs and switches with shared memory as that simulator has them,
//! with its order of simultaneous events (that of insertion), its whole nanoseconds, its numbers of
//! 32 bits that wrap around, and its random numbers.
//!
//! **Source** the behaviour of the public simulator, checked against what it wrote.
//!
//! **Deviates** Two flows with the same addresses, ports and group are told apart here. Of hosts
//! with several links only the last is used.
//!
//! **States** those of [`source`] per flow and of [`memory`] per switch.
//!
//! **Not modelled** links that fail, HPCC with PINT, going back to zero; deadlock detection and
//! everything else that the [`Simulator`] does. It runs on one thread.
//!
//! [`Simulator`]: pauseless_sim::Simulator

pub mod clock;
pub mod engine;
pub mod memory;
pub mod random;
mod schedule;
mod slots;
pub mod source;
mod turns;
mod ways;

#[cfg(test)]
mod tests;
