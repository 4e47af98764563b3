//! ECN marking.
use super::{CongestionPoint, Feedback, QueueState};
use crate::unit::{Bytes, Rate, Time};

/// When to mark, for an egress of the reference speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Nothing is marked up to this queue.
    pub kmin: Bytes,
    /// Everything is marked above this queue. Equal to `kmin` for a step.
    pub kmax: Bytes,
    /// The probability just below `kmax`.
    pub pmax: f64,
    /// The speed that `kmin` and `kmax` are for, if they are to be scaled with the egress' own.
    pub reference: Option<Rate>,
    /// Mark on a virtual queue that drains at this share of the line instead of the real one.
    pub phantom: Option<f64>,
}

/// Marks packets that leave.
#[derive(Clone, Debug)]
pub struct Marker;

impl Marker {
    /// For an egress of rate `line`.
    pub fn new(_config: &Config, _line: Rate, _seed: u64) -> Marker {
        Marker
    }
}

impl CongestionPoint for Marker {
    fn on_enqueue(&mut self, _: Time, _: Bytes, _: QueueState) -> Option<Feedback> {
        None
    }
    fn on_dequeue(&mut self, _: Time, _: Bytes, _: QueueState) -> bool {
        false
    }
    fn on_release(&mut self, _: Time, _: QueueState) {}
}
