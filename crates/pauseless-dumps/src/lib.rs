#![doc = include_str!("../README.md")]
//! [`import`] reads each format to plain data with places, and [`assemble`] puts them together to a
//! [`Fabric`](pauseless_fabric::fabric::Fabric).

pub mod assemble;
pub mod import;
