//! The short way through a switch, for most networks: output-queued, packets keep their class, every
//! port has memory of its own, and nothing watches or limits queues.
//!
//! It does what the long way does, in the same order. What is left out is what such a switch never
//! needs, and the list of ports to poll: a frame that may leave is handed over at once. `ONE` says
//! that there is one class only, so that none has to be looked up.

use super::{Fifos, Header, Sending, Switch, SwitchPort, Transmit, Waiting};
use crate::congestion::{Feedback, Joining};
use crate::flow_control::Gate;
use crate::id::{Class, PortId};
use crate::port::Overrun;
use crate::switch::Arrival;
use crate::unit::{Bytes, Time};

/// What drives a switch that is [plain](Switch::is_plain).
pub trait Driver<P> {
    /// Puts a frame on the wire of a port, which is free.
    fn transmit(&mut self, port: PortId, frame: Transmit<P>);
    /// Sees to it that [`Switch::handle_timeout`] is called for a port at `time`, unless it is earlier.
    fn arm(&mut self, port: PortId, time: Time);
    /// A port was asked for a frame, or got one more, while the far end has stopped these classes, in
    /// which packets wait.
    fn stopped(&mut self, port: PortId, classes: u8);
}

impl<P: Copy> Switch<P> {
    /// Whether packets take the short way: [`Switch::arrive`] and [`Switch::depart`] in the place of the
    /// polling.
    pub fn is_plain(&self) -> bool {
        self.kept_in == Fifos::Egress
            && self.leaving_count == 1
            && self.sharing.is_none()
            && self.watchdogs.is_none()
            && self.notices.is_empty()
            && self.ports.iter().all(|state| state.port.is_plain())
    }

    /// As [`Switch::handle_arrival`], with all its consequences.
    #[inline(always)]
    pub fn arrive<const ONE: bool>(
        &mut self,
        now: Time,
        ingress: PortId,
        arrival: Arrival<P>,
        driver: &mut impl Driver<P>,
    ) -> Result<Option<Feedback>, Overrun> {
        let Arrival { size, class, egress, .. } = arrival;
        let class = only::<ONE>(class);
        let charge = self.charge(ingress, class, size);
        let into = &mut self.ports[ingress.index()];
        into.port.enqueue(now, class, charge)?;
        let speaks = into.port.is_talking() && into.is_idle();
        let joining = if ONE && self.may_pass(now, egress, size) {
            self.pass_through(now, ingress, arrival, driver)
        } else {
            let joining = self.join(now, ingress, Arrival { class, ..arrival });
            if self.ports[egress.index()].is_idle() {
                self.serve_plain::<ONE>(now, egress, driver);
            } else {
                self.tell_stopped(egress, driver);
            }
            joining
        };
        if speaks && ingress != egress {
            self.serve_rarely(now, ingress, driver);
        }
        Ok(match joining {
            Joining::Notify(feedback) => Some(feedback),
            Joining::Silent | Joining::Marked => None,
        })
    }

    /// Adds a packet to the queue of its egress.
    #[inline(always)]
    fn join(&mut self, now: Time, ingress: PortId, arrival: Arrival<P>) -> Joining {
        let Arrival { packet, size, class, egress, .. } = arrival;
        let charge = self.charge(ingress, class, size);
        let cell = self.plain_cell(ingress, egress, class);
        self.waiting[cell] += charge.get() as u32;
        self.ports[egress.index()].queues[class.index()].packets += 1;
        let joining = self.look_at_arrival(now, egress, class, size);
        let header = Header::new(size, class, class, joining == Joining::Marked);
        let waiting = Waiting { packet, header, ingress, egress };
        let queue = &mut self.ports[egress.index()].queues[class.index()];
        let is_alone = queue.packets == 1;
        self.pool.push_back(&mut queue.fifo, waiting);
        if self.spends_credit && is_alone {
            // It is not yet known whether there is credit for this packet.
            self.look_at_gate_for_credit(now, egress, class);
        }
        joining
    }

    /// Whether a packet of the only class need not join the queue of its egress, which is empty and
    /// may send.
    #[inline(always)]
    fn may_pass(&mut self, now: Time, egress: PortId, size: Bytes) -> bool {
        let is_careful = self.is_careful();
        let out = &mut self.ports[egress.index()];
        if !out.is_idle() || out.queues[0].packets > 0 || out.port.is_talking() {
            return false;
        }
        out.wake = Time::MAX;
        out.port.gate(now, Class(0), size) == Gate::Open && !is_careful
    }

    /// Whether there is one class only.
    pub fn has_one_class(&self) -> bool {
        self.class_count == 1
    }

    /// Whether what happens to a queue has consequences for its gate or its congestion point that need
    /// every step.
    #[inline(always)]
    fn is_careful(&self) -> bool {
        self.spends_credit || self.watches_release
    }

    /// Sends a packet of the only class that [may pass](Switch::may_pass).
    #[inline(always)]
    fn pass_through(
        &mut self,
        now: Time,
        ingress: PortId,
        arrival: Arrival<P>,
        driver: &mut impl Driver<P>,
    ) -> Joining {
        let (class, Arrival { packet, size, egress, .. }) = (Class(0), arrival);
        let mut joining = Joining::Silent;
        let mut is_marked = false;
        if !self.points.is_empty() {
            self.ports[egress.index()].queues[0].packets = 1;
            joining = self.look_at_arrival(now, egress, class, size);
            self.ports[egress.index()].queues[0].packets = 0;
            is_marked = self.look_at_departure(now, egress, class, size);
            is_marked |= joining == Joining::Marked;
        }
        let charge = self.charge(ingress, class, size);
        let out = &mut self.ports[egress.index()];
        out.port.on_transmit(now, class, size);
        out.sending = Sending::Data { ingress, class, leaving: class, charge };
        let timer = out.port.poll_timeout();
        driver.transmit(egress, Transmit::Data { packet, size, class, is_marked });
        driver.arm(egress, timer);
        joining
    }

    /// As [`Switch::handle_transmitted`], with all its consequences; whether the port sends again.
    #[inline(always)]
    pub fn depart<const ONE: bool>(
        &mut self,
        now: Time,
        port: PortId,
        driver: &mut impl Driver<P>,
    ) -> bool {
        let state = &mut self.ports[port.index()];
        let sent = core::mem::replace(&mut state.sending, Sending::Nothing);
        let mut speaker = None;
        if let Sending::Data { ingress, class, charge, .. } = sent {
            let from = &mut self.ports[ingress.index()];
            from.port.dequeue(now, only::<ONE>(class), charge);
            let speaks = from.port.is_talking() && from.is_idle() && ingress != port;
            speaker = speaks.then_some(ingress);
        }
        let is_sending = self.serve_plain::<ONE>(now, port, driver);
        if let Some(ingress) = speaker {
            self.serve_rarely(now, ingress, driver);
        }
        is_sending
    }

    /// Lets a port send what it has, if its wire is free, as polling it does; whether it is sending
    /// then.
    #[inline(always)]
    fn serve_plain<const ONE: bool>(
        &mut self,
        now: Time,
        port: PortId,
        driver: &mut impl Driver<P>,
    ) -> bool {
        if let Some(frame) = self.next_frame::<ONE>(now, port) {
            driver.transmit(port, frame);
        }
        let state = &self.ports[port.index()];
        let (timer, is_idle) = (state.port.poll_timeout(), state.is_idle());
        driver.arm(port, if is_idle { timer.min(state.wake) } else { timer });
        self.tell_stopped(port, driver);
        !is_idle
    }

    /// As [`Switch::serve_plain`], for a port that has a message to send, which is rare.
    #[inline(never)]
    fn serve_rarely(&mut self, now: Time, port: PortId, driver: &mut impl Driver<P>) {
        self.serve_plain::<false>(now, port, driver);
    }

    #[inline(always)]
    fn tell_stopped(&self, port: PortId, driver: &mut impl Driver<P>) {
        let classes = self.stopped(port);
        if classes != 0 {
            driver.stopped(port, classes);
        }
    }

    #[inline(always)]
    fn next_frame<const ONE: bool>(&mut self, now: Time, port: PortId) -> Option<Transmit<P>> {
        let state = &mut self.ports[port.index()];
        if !state.is_idle() {
            return None;
        }
        if let Some(control) = state.port.poll_signal(now) {
            state.sending = Sending::Control;
            return Some(Transmit::Control(control));
        }
        state.wake = Time::MAX;
        let class = if ONE {
            let head = self.pool.front(&state.queues[0].fifo)?;
            match state.port.gate(now, Class(0), head.header.size()) {
                Gate::Open => Class(0),
                Gate::At(time) => {
                    state.wake = time;
                    return None;
                }
                Gate::Closed => return None,
            }
        } else {
            self.choose_class(now, port, |_| Bytes::ZERO)?
        };
        self.look_for_release(now, port, class);
        let queue = &mut self.ports[port.index()].queues[class.index()];
        queue.packets -= 1;
        let slot = self.pool.pop_front(&mut queue.fifo)?;
        let (ingress, size) = (slot.ingress, slot.header.size());
        let charge = self.charge(ingress, class, size);
        let cell = self.plain_cell(ingress, port, class);
        self.waiting[cell] -= charge.get() as u32;
        let is_marked = self.look_at_departure(now, port, class, size) || slot.header.is_marked();
        let state = &mut self.ports[port.index()];
        state.port.on_transmit(now, class, size);
        state.sending = Sending::Data { ingress, class, leaving: class, charge };
        if self.spends_credit {
            self.look_at_gate_for_credit(now, port, class);
        }
        self.scheduler.on_transmit(port, class, size);
        Some(Transmit::Data { packet: slot.packet, size, class, is_marked })
    }

    /// The cell of packets that keep their class.
    #[inline(always)]
    fn plain_cell(&self, ingress: PortId, egress: PortId, class: Class) -> usize {
        self.queue(ingress, class) * self.ports.len() + egress.index()
    }
}

/// The class, which is known if there is only one.
#[inline(always)]
fn only<const ONE: bool>(class: Class) -> Class {
    if ONE { Class(0) } else { class }
}

impl SwitchPort {
    #[inline(always)]
    fn is_idle(&self) -> bool {
        matches!(self.sending, Sending::Nothing)
    }
}
