#![doc = include_str!("../README.md")]
//! A [`link::Link`] takes frames from an interface and gives frames to it. A node is a switch or a host
//! of the core with a link per port: [`switch::SwitchNode`], [`host::HostNode`]. Whoever drives a node
//! owns the clock:
//!
//! ```text
//!   loop {
//!       now = clock.now()
//!       node.advance(now)     what is due up to now: frames leave at the emulated line rate
//!       node.flush()          they are handed to the kernel
//!       node.receive(now)     what has come in since arrives now
//!   }
//! ```

mod agenda;
pub mod bed;
pub mod clock;
pub mod config;
mod control;
pub mod departures;
mod forwarding;
pub mod histogram;
pub mod host;
pub mod link;
pub mod net;
mod record;
pub mod report;
mod station;
pub mod store;
pub mod switch;
pub mod tap;
pub mod track;
