//! What dumps say of a fabric, put together to a [`Fabric`](pauseless_fabric::fabric::Fabric) or refused where it does not fit.

pub mod ethernet;
pub mod ib;
