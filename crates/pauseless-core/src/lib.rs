//! The protocols of lossless networks as sans-IO state machines.
//!
//! Every machine is a pure function of (state, now, input): no clock, socket, thread, log or random
//! source inside. Inputs are `handle_*`, outputs `poll_*`, hooks of the trait seams `on_*`.
//! The simulator and a real dataplane drive the same [`switch::Switch`].
#![no_std]

extern crate alloc;

pub mod id;
pub mod unit;
pub mod wire;

pub mod congestion;
pub mod flow_control;

pub mod class_map;
pub mod deadlock;
pub mod derive;

pub mod fifo;
pub mod host;
mod lanes;
pub mod memory;
pub mod outside;
pub mod port;
pub mod schedule;
pub mod switch;
pub mod table;
pub mod transport;
