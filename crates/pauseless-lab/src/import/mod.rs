//! Fabrics from the dumps of other tools and scenarios from their files, recognised by their content.

pub mod ethernet;
pub mod hpcc;
pub mod htsim;
pub mod ib;
pub mod source;
