#![doc = include_str!("../README.md")]
//! [`fabric`] is a whole fabric, [`topology`] its graph, [`builder`] makes and checks one, [`generate`]
//! makes the usual shapes, [`name`] gives ports readable names.
//! [`routing`] compiles a graph and explicit paths ([`path`]) to the forwarding table that every
//! reader shares, [`trace`] walks that table, [`audit`] looks for packets that never
//! arrive or lose their class, [`dependency`] looks for cycles of buffers, [`load`] counts the pairs that
//! links carry, and [`fairness`] says what rates a perfectly fair network would give.

pub mod topology;

pub mod audit;
pub mod boundary;
pub mod builder;
pub mod cycle_aware;
pub mod dependency;
pub mod fabric;
pub mod failure;
pub mod fairness;
pub mod generate;
pub mod load;
pub mod name;
pub mod path;
pub mod pattern;
pub mod reroute;
pub mod rng;
pub mod routing;
pub mod trace;
