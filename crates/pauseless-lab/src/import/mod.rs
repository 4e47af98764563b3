//! Fabrics from the dumps of other tools, recognised by their content.

pub mod ethernet;
pub mod ib;
pub mod source;
