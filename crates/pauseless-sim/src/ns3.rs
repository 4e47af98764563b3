//! The HPCC authors' simulator, event for event.
//!
//! **Models** hosts with queue pairs and switches with shared memory as that simulator has them,
//! with its order of simultaneous events (that of insertion), its whole nanoseconds and its random
//! numbers, so that its files come out byte by byte.
//!
//! **Source** the behaviour of the public simulator, checked against what it wrote.
//!
//! **Deviates** Parallel links, hosts with several links, links that fail and HPCC with PINT are
//! not there. A flow of which two have the same addresses, ports and group is not told apart.
//!
//! **States** those of [`source`] per flow and of [`memory`] per switch.
//!
//! **Not modelled** deadlock detection and everything else that the [`Simulator`] of this crate
//! does: this is for comparison, on one thread.
//!
//! [`Simulator`]: crate::Simulator

pub mod clock;
pub mod engine;
pub mod memory;
pub mod random;
pub mod source;

#[cfg(test)]
mod tests;
