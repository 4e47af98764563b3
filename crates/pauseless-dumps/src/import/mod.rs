//! The dumps of other tools, recognised by their content, from text to plain data.

pub mod ethernet;
pub mod ib;
