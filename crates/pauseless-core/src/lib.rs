#![doc = include_str!("../README.md")]
//! Inputs are `handle_*`, outputs `poll_*`, hooks of the trait seams `on_*`; [`switch::Switch`] puts
//! all of it together.
#![no_std]

extern crate alloc;

pub mod id;
pub mod unit;

pub mod congestion;
pub mod flow_control;

pub mod arrivals;
pub mod class_map;
pub mod deadlock;
pub mod derive;
pub mod entropy;
pub mod knot;

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
