//! The pending tasks of a node: per port the end of the frame on its line and a timeout.

use pauseless_core::id::PortId;
use pauseless_core::unit::{Span, Time};

/// The tasks of a node. At equal times they are done in this order, as in the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Task {
    /// The last bit of the frame on the line of a port has left.
    Left(PortId),
    /// A port has a timeout.
    Timeout(PortId),
    /// A flow starts to send.
    Start,
    /// A sample is to be taken.
    Sample,
}

/// After how long a port whose link has refused a frame is tried again.
const RETRY: Span = Span::us(50);

/// The pending tasks of a node. It has few ports, so all are searched.
#[derive(Clone, Debug)]
pub(crate) struct Agenda {
    ports: Vec<Pending>,
    pub start: Time,
    pub sample: Time,
    /// The time of the last task: nothing happens before it.
    now: Time,
    has_begun: bool,
    /// When links were last offered what they had refused.
    tried: Time,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    left: Time,
    timeout: Time,
    /// Whether its link did not take the frame that has left the line.
    is_refused: bool,
    /// Whether its link has queued frames that the kernel does not take.
    is_stuck: bool,
}

impl Pending {
    const NONE: Pending =
        Pending { left: Time::MAX, timeout: Time::MAX, is_refused: false, is_stuck: false };

    /// When the next frame leaves the line, if its link can take it.
    fn leaves(&self) -> Time {
        if self.is_refused || self.is_stuck { Time::MAX } else { self.left }
    }
}

impl Agenda {
    pub(crate) fn new(port_count: usize) -> Agenda {
        Agenda {
            ports: vec![Pending::NONE; port_count],
            start: Time::MAX,
            sample: Time::MAX,
            now: Time::ZERO,
            has_begun: false,
            tried: Time::ZERO,
        }
    }

    /// Sets the instant at which the frame on the line of `port` has left; [`Time::MAX`] when the
    /// line is free.
    pub(crate) fn set_left(&mut self, port: PortId, left: Time) {
        self.ports[port.index()].left = left;
    }

    pub(crate) fn set_timeout(&mut self, port: PortId, timeout: Time) {
        self.ports[port.index()].timeout = timeout;
    }

    /// Lets links be offered again, at `now`, what they have refused.
    pub(crate) fn retry(&mut self, now: Time) {
        self.tried = now;
        for port in &mut self.ports {
            port.is_refused = false;
        }
    }

    /// Records that the link of `port` did not take a frame; it is offered again after
    /// [`Agenda::retry`].
    pub(crate) fn refuse(&mut self, port: PortId) {
        self.ports[port.index()].is_refused = true;
    }

    /// Whether the link of `port` waits for the kernel.
    pub(crate) fn set_stuck(&mut self, port: PortId, is_stuck: bool) {
        self.ports[port.index()].is_stuck = is_stuck;
    }

    pub(crate) fn is_stuck(&self, port: PortId) -> bool {
        self.ports[port.index()].is_stuck
    }

    /// The next task and its time.
    fn first(&self) -> (Time, Task) {
        // In the order of tasks, so that at equal times the first one wins. Two variables, since
        // the processor stalls on a pair that is compared as one.
        let (mut first, mut next) = (Time::MAX, Task::Sample);
        let ports = || (0..).map(PortId).zip(&self.ports);
        for (port, pending) in ports() {
            if pending.leaves() < first {
                (first, next) = (pending.leaves(), Task::Left(port));
            }
        }
        for (port, pending) in ports() {
            if pending.timeout < first {
                (first, next) = (pending.timeout, Task::Timeout(port));
            }
        }
        for (time, task) in [(self.start, Task::Start), (self.sample, Task::Sample)] {
            if time < first {
                (first, next) = (time, task);
            }
        }
        (first, next)
    }

    /// Whether the next task is that a frame leaves at `time`.
    pub(crate) fn is_leaving(&self, time: Time) -> bool {
        matches!(self.first(), (first, Task::Left(_)) if first == time)
    }

    /// The next task that is due by `now`. It happens no earlier than `horizon`.
    pub(crate) fn next(&mut self, now: Time, horizon: Time) -> Option<Due> {
        let (due, task) = self.first();
        if due > now || due == Time::MAX {
            return None;
        }
        let floor = due.max(horizon.min(now));
        let time = self.now.max(floor);
        // A sample changes nothing.
        if task != Task::Sample {
            self.now = time;
        }
        Some(Due { task, due, floor, time, now })
    }

    /// Starts the node at `now`: it does not catch up with tasks that were due before.
    pub(crate) fn begin(&mut self, now: Time) {
        if !self.has_begun {
            self.has_begun = true;
            self.now = self.now.max(now);
        }
    }

    /// The instant at which a frame that has come in at `now` is handled.
    pub(crate) fn arrive(&mut self, now: Time) -> Time {
        self.now = self.now.max(now);
        self.now
    }

    /// When the next task is due; [`Time::MAX`] for never.
    pub(crate) fn poll_timeout(&self) -> Time {
        let is_held_up = |port: &Pending| port.is_stuck || port.is_refused;
        let (first, _) = self.first();
        if self.ports.iter().any(is_held_up) {
            first.min(self.tried.saturating_add(RETRY))
        } else {
            first
        }
    }
}

/// A task that is due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    pub task: Task,
    /// When it should have happened.
    pub due: Time,
    /// When it could have happened at the earliest, after everything before it.
    pub floor: Time,
    /// When the node handles it, by its clock.
    pub time: Time,
    /// When the node gets to it, by the time of the round.
    pub now: Time,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::us(us)
    }

    #[test]
    fn tasks_come_in_the_order_of_their_times_and_time_never_goes_back() {
        let mut agenda = Agenda::new(2);
        agenda.set_left(PortId(1), at(30));
        agenda.set_timeout(PortId(0), at(10));
        agenda.sample = at(30);
        let mut take = |now, horizon| {
            let due = agenda.next(now, horizon)?;
            match due.task {
                Task::Left(port) => agenda.set_left(port, Time::MAX),
                Task::Timeout(port) => agenda.set_timeout(port, Time::MAX),
                Task::Start => agenda.start = Time::MAX,
                Task::Sample => agenda.sample = Time::MAX,
            }
            Some((due.task, due.time, due.due))
        };
        let (early, late) = (Task::Timeout(PortId(0)), Task::Left(PortId(1)));
        assert_eq!(take(at(9), Time::ZERO), None);
        assert_eq!(take(at(40), at(15)), Some((early, at(15), at(10))));
        assert_eq!(take(at(40), at(15)), Some((late, at(30), at(30))));
        assert_eq!(take(at(40), at(15)), Some((Task::Sample, at(30), at(30))));
        assert_eq!(take(at(40), at(15)), None);
    }

    #[test]
    fn a_refused_frame_waits_for_the_next_try_and_is_not_forgotten() {
        let mut agenda = Agenda::new(1);
        agenda.set_left(PortId(0), at(5));
        assert!(agenda.next(at(6), Time::ZERO).is_some());
        agenda.refuse(PortId(0));
        assert!(agenda.next(at(6), Time::ZERO).is_none());
        assert_eq!(agenda.poll_timeout(), Time::ZERO + RETRY);
        agenda.retry(at(7));
        let again = agenda.next(at(7), Time::ZERO).expect("it is still there");
        assert_eq!((again.task, again.time), (Task::Left(PortId(0)), at(5)));
        // Also when only the link has something left.
        agenda.set_left(PortId(0), Time::MAX);
        assert_eq!(agenda.poll_timeout(), Time::MAX);
        agenda.set_stuck(PortId(0), true);
        assert_eq!(agenda.poll_timeout(), at(7) + RETRY);
    }
}
