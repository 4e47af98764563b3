//! The PFC watchdog: an egress queue that is paused for too long is dropped, or ceases to obey.
//!
//! **Models** one machine per (egress port, class) with PFC.
//! A queue is in a storm when it is paused, not empty, and has sent nothing for the detection time.
//! It is restored when no PAUSE has come for the restoration time.
//!
//! **Source** SONiC's PFC watchdog as publicly documented: `detection_time`, `restoration_time`,
//! the actions `drop`, `forward` and `alert`, and `POLL_INTERVAL`.
//!
//! **Deviates** Without a poll interval time is continuous, and a storm is seen on the instant.
//! With one, storms begin and end at its multiples, provided that they last until then.
//! SONiC's restoration counts PFC frames of any kind; here a RESUME is none.
//! Dropping in an input-queued switch is limited to heads, see [`Switch::drain`].
//!
//! **States** of one queue:
//! ```text
//!          paused, not empty              detection time over
//!   Calm ------------------> Suspicious ----------------------> Tripped --.  PAUSE: starts anew
//!        <------------------                                              <'
//!          sent, resumed or empty
//!        <-------------------------------------------------------
//!                      no PAUSE for the restoration time
//! ```
//!
//! **Not modelled** PAUSE frames that a tripped switch sends itself, and its packets of its own
//! (QCN), which wait until it is restored.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{Dropped, Switch};
use crate::flow_control::{AnyUpstream, Control, Signal};
use crate::id::{Class, PortId};
use crate::port::Heed;
use crate::unit::{Bytes, Span, Time};

/// What a watchdog does about a storm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It reports the storm and does nothing else.
    Alert,
    /// The queue sends although it is paused; the far end may have no room.
    Forward,
    /// Packets in the queue and those that arrive for it are dropped.
    Drop,
}

impl Action {
    /// Every action, from the mildest to the harshest.
    pub const ALL: [Action; 3] = [Action::Alert, Action::Forward, Action::Drop];

    /// The name in scenario files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Action::Alert => "alert",
            Action::Forward => "forward",
            Action::Drop => "drop",
        }
    }

    fn heed(self) -> Heed {
        match self {
            Action::Alert => Heed::Obey,
            Action::Forward => Heed::Deaf,
            Action::Drop => Heed::Shut,
        }
    }
}

/// How the watchdogs of a switch are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// A queue that is paused and sends nothing for this long is in a storm.
    pub detection: Span,
    /// The storm is over when no PAUSE has come for this long.
    pub restoration: Span,
    /// Both conditions are checked only at multiples of this; [`Span::ZERO`] checks them at every
    /// instant.
    pub poll: Span,
    /// What happens to the queue during a storm.
    pub action: Action,
}

/// The begin or the end of a storm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The egress port of the paused queue.
    pub egress: PortId,
    /// The class of the paused queue.
    pub class: Class,
    /// Whether the storm begins; otherwise it is over.
    pub is_storm: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Calm,
    /// The queue has been paused with packets waiting since then.
    Suspicious {
        since: Time,
    },
    /// No PAUSE has arrived since then.
    Tripped {
        quiet: Time,
    },
}

/// The watchdogs of all queues of a switch.
#[derive(Clone, Debug)]
pub(super) struct Watchdogs {
    config: Config,
    class_count: usize,
    states: Box<[State]>,
    /// The queues whose packets are dropped, in the order in which they tripped.
    dropping: Vec<(PortId, Class)>,
    notices: Vec<Notice>,
}

impl Watchdogs {
    /// When a queue of `port` must be checked next.
    #[cold]
    pub(super) fn due(&self, port: PortId) -> Time {
        let states = &self.states[port.index() * self.class_count..][..self.class_count];
        states.iter().map(|state| self.due_in(*state)).min().unwrap_or(Time::MAX)
    }

    fn due_in(&self, state: State) -> Time {
        let due = match state {
            State::Calm => return Time::MAX,
            State::Suspicious { since } => since.saturating_add(self.config.detection),
            State::Tripped { quiet } => quiet.saturating_add(self.config.restoration),
        };
        match self.config.poll.as_ps() {
            0 => due,
            poll => due.as_ps().checked_next_multiple_of(poll).map_or(Time::MAX, Time::from_ps),
        }
    }
}

impl<P: Copy> Switch<P> {
    /// Sets a watchdog on every egress queue that is paused by PFC.
    pub fn watch(&mut self, config: &Config) {
        assert!(config.detection > Span::ZERO, "the detection time is zero");
        assert!(config.restoration > Span::ZERO, "the restoration time is zero");
        self.watchdogs = Some(Box::new(Watchdogs {
            config: *config,
            class_count: self.class_count,
            states: alloc::vec![State::Calm; self.ports.len() * self.class_count].into(),
            dropping: Vec::new(),
            notices: Vec::new(),
        }));
    }

    /// The next storm that has begun or ended in [`Switch::handle_timeout`].
    pub fn poll_watchdog(&mut self) -> Option<Notice> {
        self.watchdogs.as_mut()?.notices.pop()
    }

    /// Drops a packet of a queue that has tripped, if there is one. The driver calls this after
    /// every input until it returns `None`, before it lets ports send.
    pub fn poll_dropped(&mut self, now: Time) -> Option<Dropped<P>> {
        let dropping = self.watchdogs.as_ref()?.dropping.len();
        (0..dropping).find_map(|index| {
            let (egress, class) = self.watchdogs.as_ref()?.dropping[index];
            self.drain(now, egress, class)
        })
    }

    /// Notes a control frame that is about to take effect.
    #[cold]
    pub(super) fn watch_signal(&mut self, now: Time, port: PortId, control: Control) {
        let Signal::Pause { quanta } = control.signal else {
            return;
        };
        let class = control.class;
        let was_stopped = self.is_stopped(now, port, class);
        let has_backlog = self.backlog(port, class) > 0;
        let state = self.state(port, class);
        *state = match (*state, quanta) {
            (State::Tripped { .. }, 1..) => State::Tripped { quiet: now },
            (State::Tripped { quiet }, 0) => State::Tripped { quiet },
            (State::Suspicious { since }, 1..) if was_stopped => State::Suspicious { since },
            (_, 1..) if has_backlog => State::Suspicious { since: now },
            _ => State::Calm,
        };
    }

    /// Notes a packet that has joined a queue.
    #[cold]
    pub(super) fn watch_arrival(&mut self, now: Time, egress: PortId, class: Class) {
        let is_pfc = matches!(self.ports[egress.index()].port.upstream(class), AnyUpstream::Pfc(_));
        if is_pfc
            && *self.state(egress, class) == State::Calm
            && self.is_stopped(now, egress, class)
        {
            *self.state(egress, class) = State::Suspicious { since: now };
        }
    }

    /// Notes a packet that leaves its queue.
    #[cold]
    pub(super) fn watch_departure(&mut self, egress: PortId, class: Class) {
        let state = self.state(egress, class);
        if let State::Suspicious { .. } = state {
            *state = State::Calm;
        }
    }

    /// Checks the watchdogs of `port` that are due.
    #[cold]
    pub(super) fn watch_timeout(&mut self, now: Time, port: PortId) {
        for class in (0..self.class_count).map(|class| Class(class as u8)) {
            let state = *self.state(port, class);
            let watchdogs =
                self.watchdogs.as_ref().expect("only called if the switch has watchdogs");
            if watchdogs.due_in(state) > now {
                continue;
            }
            match state {
                State::Calm => {}
                State::Suspicious { .. } if self.is_storm(now, port, class) => {
                    self.trip(now, port, class);
                }
                // The pause expired without any event.
                State::Suspicious { .. } => *self.state(port, class) = State::Calm,
                State::Tripped { .. } => self.restore(now, port, class),
            }
        }
    }

    fn trip(&mut self, now: Time, port: PortId, class: Class) {
        let watchdogs = self.watchdogs.as_mut().expect("only called if the switch has watchdogs");
        let action = watchdogs.config.action;
        if action == Action::Drop {
            watchdogs.dropping.push((port, class));
        }
        watchdogs.notices.push(Notice { egress: port, class, is_storm: true });
        *self.state(port, class) = State::Tripped { quiet: now };
        self.heed(now, port, class, action.heed());
    }

    fn restore(&mut self, now: Time, port: PortId, class: Class) {
        let watchdogs = self.watchdogs.as_mut().expect("only called if the switch has watchdogs");
        watchdogs.dropping.retain(|queue| *queue != (port, class));
        watchdogs.notices.push(Notice { egress: port, class, is_storm: false });
        self.heed(now, port, class, Heed::Obey);
        *self.state(port, class) = if self.is_storm(now, port, class) {
            State::Suspicious { since: now }
        } else {
            State::Calm
        };
    }

    /// Ends a storm, because the link that it came by has failed.
    #[cold]
    pub(super) fn calm(&mut self, now: Time, port: PortId, class: Class) {
        if let State::Tripped { .. } = *self.state(port, class) {
            self.restore(now, port, class);
        }
        *self.state(port, class) = State::Calm;
    }

    fn heed(&mut self, now: Time, port: PortId, class: Class, heed: Heed) {
        self.ports[port.index()].port.set_heed(class, heed);
        self.look_at_gate(now, port, class);
        self.look_for_release(now, port, class);
    }

    fn is_storm(&self, now: Time, port: PortId, class: Class) -> bool {
        self.backlog(port, class) > 0 && self.is_stopped(now, port, class)
    }

    /// Whether PFC has stopped the queue, which does not depend on the size of a frame.
    fn is_stopped(&self, now: Time, port: PortId, class: Class) -> bool {
        let port = &self.ports[port.index()].port;
        port.is_stopped(now, class, Bytes::new(64))
    }

    fn state(&mut self, port: PortId, class: Class) -> &mut State {
        let queue = self.queue(port, class);
        let watchdogs = self.watchdogs.as_mut().expect("only called if the switch has watchdogs");
        &mut watchdogs.states[queue]
    }
}
