//! One kind of each sort as another crate would bring it.

#[path = "../../examples/own_congestion_control/aimd.rs"]
pub mod congestion;
pub mod flow_control;
pub mod topology;
pub mod traffic;
