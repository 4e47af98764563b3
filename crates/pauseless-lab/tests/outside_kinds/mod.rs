//! One kind of each sort as another crate would bring it.

pub mod congestion;
pub mod flow_control;
pub mod topology;
pub mod traffic;
