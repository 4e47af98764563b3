//! The instants at which frames should have left, shared by the sending and the receiving node.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use pauseless_core::unit::Time;

/// The most departures that are kept if the far end does not take them.
const KEPT_MAX: usize = 65_536;

/// The bytes that identify a frame: all headers and the number of a packet.
const TOLD_BY: usize = 96;

/// The instants at which the frames of one direction of a wire should have left, oldest first. Both
/// ends share it, which takes them to be in one process. A frame gets its own instant: one that nobody
/// has sent takes none away, and one that is lost leaves its own.
#[derive(Clone, Debug, Default)]
pub struct Departures(Arc<Mutex<VecDeque<Departure>>>);

#[derive(Clone, Copy, Debug)]
struct Departure {
    time: Time,
    /// The hash that identifies the frame.
    key: u64,
}

impl Departures {
    pub(crate) fn push(&self, time: Time, frame: &[u8]) {
        let key = key(frame);
        let mut sent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if sent.len() == KEPT_MAX {
            sent.pop_front();
        }
        sent.push_back(Departure { time, key });
    }

    /// When `frame` should have left, if it was sent on this wire.
    pub(crate) fn take(&self, frame: &[u8]) -> Option<Time> {
        let key = key(frame);
        let mut sent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The first departure matches, unless a frame was lost.
        let place = sent.iter().position(|departure| departure.key == key)?;
        Some(sent.remove(place)?.time)
    }

    /// Whether a frame has left and not arrived yet.
    pub fn is_waiting(&self) -> bool {
        self.len() > 0
    }

    /// The number of frames that have left and not arrived yet.
    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Forgets the frames that will not arrive.
    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

fn key(frame: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    frame[..frame.len().min(TOLD_BY)].hash(&mut hasher);
    frame.len().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use pauseless_core::unit::Span;

    use super::*;

    #[test]
    fn a_frame_that_nobody_sent_takes_no_instant_and_a_lost_one_leaves_its_own() {
        let departures = Departures::default();
        let at = |us| Time::ZERO + Span::us(us);
        for number in 1..=3 {
            departures.push(at(number), &[number as u8; 100]);
        }
        assert_eq!(departures.take(&[9; 60]), None);
        assert_eq!(departures.take(&[1; 99]), None);
        assert_eq!(departures.take(&[2; 100]), Some(at(2)));
        assert_eq!(departures.take(&[3; 100]), Some(at(3)));
        assert_eq!(departures.len(), 1);
    }
}
