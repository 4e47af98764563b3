//! The testbed: a scenario on real frames, beside the same scenario in the simulator.

pub mod outcome;
pub mod plan;
