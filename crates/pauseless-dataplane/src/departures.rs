//! When frames should have left, told by the node that sends them to the one that receives them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use pauseless_core::unit::Time;

/// If the far end does not take them, no more than so many are kept.
const KEPT_MAX: usize = 65_536;

/// The instants at which the frames of one direction of a wire should have left, oldest first. Both
/// ends share it, which takes them to be in one process and the wire to lose nothing: after a loss
/// frames are given the instants of earlier ones.
#[derive(Clone, Debug, Default)]
pub struct Departures(Arc<Mutex<VecDeque<Time>>>);

impl Departures {
    pub(crate) fn push(&self, time: Time) {
        let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if times.len() == KEPT_MAX {
            times.pop_front();
        }
        times.push_back(time);
    }

    pub(crate) fn pop(&self) -> Option<Time> {
        let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        times.pop_front()
    }

    /// Whether a frame has left and did not come yet.
    pub fn is_waiting(&self) -> bool {
        self.len() > 0
    }

    /// How many frames have left and did not come yet.
    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Forgets frames that will not come.
    pub(crate) fn clear(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }
}
