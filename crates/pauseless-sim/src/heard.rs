//! Records that other simulators write too: every PAUSE and RESUME as it arrives, and the lengths of
//! the queues of switches at regular instants.
//!
//! Neither grows with the length of a run: what was heard is taken away now and then, and lengths are
//! counted by thousands of bytes. A queue costs something when it changes, not at every instant.

use pauseless_core::flow_control::{Control, Signal};
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::unit::{Bytes, Time};

use crate::config::{Probes, QueueWatch};
use crate::fabric::End;

/// The arrival of a PFC frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Heard {
    /// When the frame arrived.
    pub time: Time,
    /// The node that it arrived at.
    pub node: NodeId,
    /// The port that it arrived at.
    pub port: PortId,
    /// The class that it is about.
    pub class: Class,
    /// Whether it is a PAUSE, and not a RESUME.
    pub is_pause: bool,
}

/// How often the queue of an egress had each length, at regular instants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// The switch that it is in.
    pub node: NodeId,
    /// The egress port of the queue.
    pub port: PortId,
    /// How often this many whole kilobytes waited, from 0 on.
    pub counts: Vec<u32>,
}

/// The recorder of PFC frames and queue lengths.
#[derive(Debug)]
pub(crate) struct Listening {
    is_hearing: bool,
    heard: Vec<Heard>,
    watch: Option<QueueWatch>,
    /// The queue of each end; those of hosts stay empty.
    queues: Vec<Queue>,
}

#[derive(Clone, Debug, Default)]
struct Queue {
    bytes: Bytes,
    /// The number of instants counted so far.
    counted: u64,
    counts: Vec<u32>,
}

impl Listening {
    pub(crate) fn new(probes: &Probes, port_count: usize) -> Option<Box<Listening>> {
        let is_wanted = probes.pauses || probes.queues.is_some();
        let queue_count = probes.queues.map_or(0, |_| port_count);
        is_wanted.then(|| {
            Box::new(Listening {
                is_hearing: probes.pauses,
                heard: Vec::new(),
                watch: probes.queues,
                queues: vec![Queue::default(); queue_count],
            })
        })
    }

    /// Records a control frame that has arrived at `end`.
    pub(crate) fn hear(&mut self, time: Time, end: &End, control: Control) {
        if let (true, Signal::Pause { quanta }) = (self.is_hearing, control.signal) {
            self.heard.push(Heard {
                time,
                node: end.node,
                port: end.port,
                class: control.class,
                is_pause: quanta > 0,
            });
        }
    }

    /// Accounts for bytes that have joined the queue of an egress.
    pub(crate) fn join(&mut self, now: Time, end: usize, size: Bytes) {
        if let Some(watch) = &self.watch {
            self.queues[end].count(watch, watch.before(now));
            self.queues[end].bytes += size;
        }
    }

    /// Accounts for bytes that have left the queue of an egress.
    pub(crate) fn leave(&mut self, now: Time, end: usize, size: Bytes) {
        if let Some(watch) = &self.watch {
            self.queues[end].count(watch, watch.before(now));
            self.queues[end].bytes = self.queues[end].bytes.saturating_sub(size);
        }
    }

    /// The frames recorded since the last call.
    pub(crate) fn take(&mut self) -> Vec<Heard> {
        std::mem::take(&mut self.heard)
    }

    /// The lengths of a queue at all instants up to `now`, which is one of them.
    pub(crate) fn lengths(&mut self, now: Time, end: usize) -> Vec<u32> {
        let Some(watch) = &self.watch else {
            return Vec::new();
        };
        let queue = &mut self.queues[end];
        queue.count(watch, watch.through(now));
        queue.counts.clone()
    }
}

impl Queue {
    /// Counts the present length for all instants up to number `until`.
    fn count(&mut self, watch: &QueueWatch, until: u64) {
        let until = until.min(watch.count());
        let Some(more) = until.checked_sub(self.counted).filter(|more| *more > 0) else {
            return;
        };
        self.counted = until;
        let place = (self.bytes.get() / 1_000) as usize;
        if self.counts.len() <= place {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] =
            self.counts[place].saturating_add(more.min(u64::from(u32::MAX)) as u32);
    }
}

impl QueueWatch {
    /// The number of instants before `now`.
    fn before(&self, now: Time) -> u64 {
        match now.as_ps().checked_sub(self.first.as_ps()) {
            None => 0,
            Some(since) => since.div_ceil(self.interval.as_ps()),
        }
    }

    /// The number of instants up to and including `now`.
    fn through(&self, now: Time) -> u64 {
        match now.as_ps().checked_sub(self.first.as_ps()) {
            None => 0,
            Some(since) => since / self.interval.as_ps() + 1,
        }
    }

    /// The number of all instants; there is always a first one.
    fn count(&self) -> u64 {
        self.last.saturating_since(self.first).as_ps().div_ceil(self.interval.as_ps()) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pauseless_core::unit::Span;

    #[test]
    fn a_queue_is_counted_at_every_instant_and_no_other() {
        let at = |ns: u64| Time::ZERO + Span::ns(ns);
        let probes = Probes {
            queues: Some(QueueWatch { first: at(1_000), last: at(2_000), interval: Span::ns(100) }),
            ..Probes::default()
        };
        let mut listening = Listening::new(&probes, 1).unwrap();
        listening.join(at(500), 0, Bytes::new(1_500));
        listening.join(at(1_250), 0, Bytes::new(1_500));
        listening.leave(at(1_400), 0, Bytes::new(3_000));
        // 1000 to 1200 with 1.5 KB; 1300 with 3 KB, and 1400 as well, where the event comes second;
        // 1500 with nothing.
        assert_eq!(listening.lengths(at(1_500), 0), [2, 3, 0, 1]);
        assert_eq!(listening.lengths(at(9_000), 0), [7, 3, 0, 1]);
    }
}
