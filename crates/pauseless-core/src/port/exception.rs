//! What overrides the flow control of a class of a port: a rate limit, a rest after every frame, an order
//! of a watchdog, or messages that do not occupy the wire.

use alloc::boxed::Box;

use super::Port;
use crate::flow_control::Gate;
use crate::flow_control::limiter::Limiter;
use crate::id::Class;
use crate::unit::{Bytes, Rate, Span, Time};

/// Whether an egress queue obeys its flow control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Heed {
    /// It stops when the far end says so.
    #[default]
    Obey,
    /// It sends even if the far end has stopped it.
    Deaf,
    /// It sends nothing, because its packets are dropped.
    Shut,
}

/// One element per class. Most ports have no exceptions, so these are boxed.
pub(super) type Exceptions = Option<Box<[Exception; Class::COUNT_MAX]>>;

#[derive(Clone, Debug, Default)]
pub(super) struct Exception {
    shaper: Option<Limiter>,
    rest: Rest,
    heed: Heed,
    /// The delay of a message that does not occupy the wire.
    pub(super) delay: Span,
}

/// The time between two frames of a class in which its egress does not decide what comes next: one
/// tick of a rate limiter's countdown, at the full rate too.
#[derive(Clone, Copy, Debug, Default)]
struct Rest {
    tick: Span,
    /// Whether a frame of the class is being sent, after which the rest begins.
    is_due: bool,
    until: Time,
}

impl Exception {
    /// The gate that results from the gate of the flow control.
    #[cold]
    pub(super) fn gate(&self, now: Time, gate: Gate) -> Gate {
        let shaped = match &self.shaper {
            Some(limiter) if now < limiter.ready() => Gate::At(limiter.ready()),
            _ if now < self.rest.until => Gate::At(self.rest.until),
            _ => Gate::Open,
        };
        match self.heed {
            Heed::Obey => gate.and(shaped),
            Heed::Deaf => shaped,
            Heed::Shut => Gate::Closed,
        }
    }

    #[cold]
    pub(super) fn on_transmit(&mut self, now: Time, size: Bytes) {
        if let Some(limiter) = &mut self.shaper {
            limiter.on_transmit(now, size);
        }
        self.rest.is_due = self.rest.tick > Span::ZERO;
    }

    #[cold]
    pub(super) fn on_transmitted(&mut self, now: Time) {
        if core::mem::take(&mut self.rest.is_due) {
            self.rest.until = now + self.rest.tick;
        }
    }

    /// Whether the queue stops when the far end says so.
    #[cold]
    pub(super) fn obeys(&self) -> bool {
        self.heed == Heed::Obey
    }
}

impl Port {
    /// Limits what leaves in `class` to `rate`. A queue that waits for its limit is not stopped: it
    /// waits for its own pace.
    pub fn limit(&mut self, class: Class, rate: Rate) {
        let mut limiter = Limiter::new(self.line, Rate::bps(1));
        limiter.assign(Time::ZERO, rate);
        self.exception(class).shaper = Some(limiter);
    }

    /// Lets the egress rest for `tick` after every frame of `class` that has left.
    pub(super) fn pace(&mut self, class: Class, tick: Span) {
        self.exception(class).rest.tick = tick;
    }

    /// Sets whether the egress queue of `class` obeys its flow control.
    pub fn set_heed(&mut self, class: Class, heed: Heed) {
        self.exception(class).heed = heed;
    }

    pub(super) fn exception(&mut self, class: Class) -> &mut Exception {
        if self.exceptions.is_none() {
            self.exceptions = Some(Box::default());
            for class in 0..self.lanes.len() {
                self.note_halves(Class(class as u8));
            }
        }
        let all = self.exceptions.get_or_insert_default();
        &mut all[class.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow_control::{Control, FlowControl, Signal, pfc};
    use crate::port::{LaneConfig, PortConfig};
    fn port() -> Port {
        let control = FlowControl::Pfc(pfc::Config {
            xoff: Bytes::kb(10),
            xon: Bytes::kb(8),
            quanta: pfc::QUANTA_MAX,
        });
        let lane = LaneConfig::new(control, Bytes::kb(20));
        Port::new(&PortConfig { line: Rate::gbps(10), lanes: [lane, lane].into() })
    }

    const FRAME: Bytes = Bytes::new(1_000);

    #[test]
    fn a_limit_spaces_the_frames_of_its_class_alone_and_stops_nobody() {
        let mut port = port();
        port.limit(Class(1), Rate::gbps(4));
        let (mut now, start) = (Time::ZERO, Time::ZERO);
        for _ in 0..100 {
            assert_eq!(port.gate(now, Class(1), FRAME), Gate::Open);
            port.on_transmit(now, Class(1), FRAME);
            let Gate::At(next) = port.gate(now, Class(1), FRAME) else {
                panic!("the limiter counts");
            };
            assert!(!port.is_stopped(now, Class(1), FRAME));
            assert_eq!(port.gate(now, Class(0), FRAME), Gate::Open);
            now = next;
        }
        assert_eq!(now - start, Span::us(200), "100 kB at 4 Gb/s");
    }

    #[test]
    fn a_limited_queue_obeys_a_pause_as_well() {
        let mut port = port();
        port.limit(Class(0), Rate::gbps(4));
        let class = Class(0);
        let pause = |quanta| Control { class, signal: Signal::Pause { quanta } };
        port.on_transmit(Time::ZERO, class, FRAME);
        port.handle_signal(Time::ZERO, pause(100));
        let until = Time::ZERO + pfc::pause_span(100, Rate::gbps(10));
        assert_eq!(port.gate(Time::ZERO, class, FRAME), Gate::At(until));
        assert!(port.is_stopped(Time::ZERO, class, FRAME));
        port.handle_signal(Time::ZERO, pause(0));
        let paced = Time::ZERO + Span::us(2);
        assert_eq!(port.gate(Time::ZERO, class, FRAME), Gate::At(paced));
        assert!(!port.is_stopped(Time::ZERO, class, FRAME));
    }

    #[test]
    fn a_deaf_queue_sends_while_paused_and_a_shut_one_never() {
        let (mut port, class) = (port(), Class(0));
        let signal = Signal::Pause { quanta: 100 };
        port.handle_signal(Time::ZERO, Control { class, signal });
        port.set_heed(class, Heed::Deaf);
        assert_eq!(port.gate(Time::ZERO, class, FRAME), Gate::Open);
        assert!(!port.is_stopped(Time::ZERO, class, FRAME));
        port.set_heed(class, Heed::Shut);
        assert_eq!(port.gate(Time::ZERO, class, FRAME), Gate::Closed);
        assert!(!port.is_stopped(Time::ZERO, class, FRAME), "what is dropped waits for nobody");
        port.set_heed(class, Heed::Obey);
        assert!(port.is_stopped(Time::ZERO, class, FRAME));
    }
}
