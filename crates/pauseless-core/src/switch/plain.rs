//! The short way through a switch, for most packets in most networks: output-queued or virtual
//! output-queued, packets keep their class, and nothing watches or limits queues.
//!
//! It does what the long way does, in the same order, without questions about what such a switch does
//! not have. A packet that may leave is returned at once; whatever is rarer marks its port as ready,
//! as on the long way, and [`Switch::serve`] does the rest. [`Known`] says what need not be asked.

use super::congestion::Watched;
use super::{Fifos, Header, Sending, Switch, SwitchPort, Transmit, Waiting};
use crate::congestion::Joining;
use crate::flow_control::Gate;
use crate::id::{Class, PortId};
use crate::port::Overrun;
use crate::switch::Arrival;
use crate::unit::{Bytes, Time};

/// The wires of a switch, and the clock that wakes it.
pub trait Driver<P> {
    /// Puts a frame on the wire of a port, which is free.
    fn transmit(&mut self, switch: &Switch<P>, port: PortId, frame: Transmit<P>);
    /// Sees to it that [`Switch::handle_timeout`] is called for a port at `time`, unless it is earlier.
    fn arm(&mut self, port: PortId, time: Time);
    /// A port was asked for a frame, or got one more, while the far end has stopped these classes, in
    /// which packets wait.
    fn stopped(&mut self, port: PortId, classes: u8);
}

/// What is known of a plain switch before it is asked.
pub trait Known {
    /// Whether there is one class only, so that none has to be looked up.
    const HAS_ONE_CLASS: bool;
    /// Whether gates may count credits.
    const MAY_SPEND_CREDIT: bool;
    /// Whether packets wait at their egress, and nothing but ports and their queues counts them: no
    /// congestion points, no shared memory, no blocks of credits.
    const IS_BARE: bool;
}

/// One class of a switch in which nothing but ports and queues counts packets.
#[derive(Debug)]
pub struct OneBareClass;

/// One class, whose gates do not count credits.
#[derive(Debug)]
pub struct OneClass;

/// One class, whose gates may count credits.
#[derive(Debug)]
pub struct OneClassOfCredit;

/// Any number of classes with any gates.
#[derive(Debug)]
pub struct AnyClasses;

impl Known for OneBareClass {
    const HAS_ONE_CLASS: bool = true;
    const MAY_SPEND_CREDIT: bool = false;
    const IS_BARE: bool = true;
}

impl Known for OneClass {
    const HAS_ONE_CLASS: bool = true;
    const MAY_SPEND_CREDIT: bool = false;
    const IS_BARE: bool = false;
}

impl Known for OneClassOfCredit {
    const HAS_ONE_CLASS: bool = true;
    const MAY_SPEND_CREDIT: bool = true;
    const IS_BARE: bool = false;
}

impl Known for AnyClasses {
    const HAS_ONE_CLASS: bool = false;
    const MAY_SPEND_CREDIT: bool = true;
    const IS_BARE: bool = false;
}

/// A data frame that a port has begun to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Started<P> {
    /// The port whose wire it is put on.
    pub port: PortId,
    /// The driver's handle of the packet.
    pub packet: P,
    /// The length of the frame.
    pub size: Bytes,
    /// The class that it travels in.
    pub class: Class,
    /// Whether to set its ECN mark; an earlier mark stays.
    pub is_marked: bool,
}

impl<P: Copy> Switch<P> {
    /// Whether packets take the short way: [`Switch::arrive`] and [`Switch::depart`] instead of
    /// [`Switch::handle_arrival`] and [`Switch::handle_transmitted`].
    pub fn is_plain(&self) -> bool {
        matches!(self.kept_in, Fifos::Egress | Fifos::Pair)
            && self.leaving_count == 1
            && self.watchdogs.is_none()
            && self.notices.is_empty()
            && self.ports.iter().all(|state| state.port.is_plain())
    }

    /// Whether that which `K` says is known of it holds.
    pub fn is_known_as<K: Known>(&self) -> bool {
        (!K::HAS_ONE_CLASS || self.class_count == 1)
            && (K::MAY_SPEND_CREDIT || !self.spends_credit)
            && (!K::IS_BARE || self.is_bare())
    }

    fn is_bare(&self) -> bool {
        self.kept_in == Fifos::Egress
            && self.sharing.is_none()
            && self.points.is_empty()
            && !self.counts_blocks
            && !self.watches_release
    }

    /// Whether [`Switch::poll_ready`] has a port.
    #[inline(always)]
    pub fn is_ready<K: Known>(&self) -> bool {
        self.ready.count > 0
            || !K::IS_BARE && self.sharing.as_ref().is_some_and(|sharing| sharing.has_resumed())
    }

    /// Lets every port that may have something to send send it.
    #[inline(never)]
    pub fn serve(&mut self, now: Time, driver: &mut impl Driver<P>) {
        while let Some(port) = self.poll_ready() {
            if let Some(frame) = self.poll_transmit(now, port) {
                driver.transmit(self, port, frame);
            }
            driver.arm(port, self.poll_timeout(port));
            let classes = self.stopped(port);
            if classes != 0 {
                driver.stopped(port, classes);
            }
        }
    }

    /// As [`Switch::handle_arrival`]; returns the packet if it leaves at once.
    #[inline(always)]
    pub fn arrive<K: Known>(
        &mut self,
        now: Time,
        ingress: PortId,
        arrival: Arrival<P>,
    ) -> Result<Option<Started<P>>, Overrun> {
        let Arrival { packet, size, class, egress, .. } = arrival;
        let class = only::<K>(class);
        let charge = self.plain_charge::<K>(ingress, class, size);
        if !K::IS_BARE && self.sharing.is_some() {
            self.charge_memory(now, ingress, class, charge)?;
        }
        let into = &mut self.ports[ingress.index()];
        into.port.enqueue(now, class, charge)?;
        if into.port.is_talking() && into.is_idle() {
            self.mark_ready(ingress);
        }
        let out = &mut self.ports[egress.index()];
        let is_idle = out.is_idle();
        let may_pass = is_idle && K::HAS_ONE_CLASS && (K::IS_BARE || !self.needs_queue);
        if may_pass && out.lets_pass(now, size) {
            let is_marked = !K::IS_BARE && self.is_marked_in_passing(now, egress, size);
            let out = &mut self.ports[egress.index()];
            out.port.on_transmit(now, class, size);
            out.sending = Sending::data(ingress, class, class, charge);
            if K::MAY_SPEND_CREDIT && self.spends_credit {
                self.look_at_credit(now, egress, class);
            }
            return Ok(Some(Started { port: egress, packet, size, class, is_marked }));
        }
        self.join::<K>(now, ingress, Arrival { class, ..arrival }, charge);
        let out = &self.ports[egress.index()];
        if out.stopped != 0 || is_idle && out.port.is_talking() {
            // The driver wants to know when a stopped queue grows.
            self.mark_ready(egress);
        } else if is_idle {
            return Ok(self.next_rarely::<K>(now, egress));
        }
        Ok(None)
    }

    /// Adds a packet to the queue of its egress.
    #[inline(always)]
    fn join<K: Known>(&mut self, now: Time, ingress: PortId, arrival: Arrival<P>, charge: Bytes) {
        let Arrival { packet, size, class, egress, .. } = arrival;
        let cell = self.plain_cell::<K>(ingress, egress, class);
        self.waiting[cell] += charge.get() as u32;
        self.ports[egress.index()].queues[class.index()].packets += 1;
        let is_marked =
            !K::IS_BARE && self.look_at_arrival(now, egress, class, size) == Joining::Marked;
        let header = Header::new(size, class, class, is_marked);
        let waiting = Waiting { packet, header, ingress, egress };
        let queue = &mut self.ports[egress.index()].queues[class.index()];
        let is_alone = queue.packets == 1;
        let is_exposed = if K::IS_BARE || self.kept_in == Fifos::Egress {
            self.pool.push_back(&mut queue.fifo, waiting);
            false
        } else {
            self.join_turns(waiting)
        };
        if K::MAY_SPEND_CREDIT && self.spends_credit && (is_alone || is_exposed) {
            // It is not yet known whether there is credit for this packet.
            self.look_at_gate_for_credit(now, egress, class);
        }
    }

    /// Whether a packet of the only class that does not join the queue of its idle egress is marked.
    #[inline(always)]
    fn is_marked_in_passing(&mut self, now: Time, egress: PortId, size: Bytes) -> bool {
        let class = Class(0);
        // While nothing waits, its own bytes are all that a congestion point counts.
        let is_watched = |watched: &Watched| watched.is_loud_at(size);
        if !self.points.get(egress.index()).is_some_and(is_watched) {
            return false;
        }
        self.ports[egress.index()].queues[0].packets = 1;
        let joining = self.look_at_arrival(now, egress, class, size);
        self.ports[egress.index()].queues[0].packets = 0;
        self.look_at_departure(now, egress, class, size) || joining == Joining::Marked
    }

    /// Notes whether what a port has just begun to send was the last that it had credit for.
    #[inline(always)]
    fn look_at_credit(&mut self, now: Time, port: PortId, class: Class) {
        self.look_at_gate_for_credit(now, port, class);
        if self.ports[port.index()].stopped != 0 {
            self.mark_ready(port);
        }
    }

    /// As [`Switch::handle_transmitted`]; returns the next packet if it leaves at once.
    #[inline(always)]
    pub fn depart<K: Known>(&mut self, now: Time, port: PortId) -> Option<Started<P>> {
        let state = &mut self.ports[port.index()];
        if let Sending::Data { ingress, class, charge, .. } = state.sending {
            let (class, charge) = (only::<K>(class), Bytes::new(u64::from(charge)));
            let from = &mut self.ports[ingress.index()];
            from.port.dequeue(now, class, charge);
            if from.port.is_talking() && from.is_idle() {
                self.mark_ready(ingress);
            }
            if !K::IS_BARE && self.sharing.is_some() {
                self.free_memory(now, ingress, class, charge);
            }
        }
        let state = &mut self.ports[port.index()];
        state.sending = Sending::Nothing;
        state.wake = Time::MAX;
        if state.port.is_talking() || state.stopped != 0 {
            self.mark_ready(port);
            return None;
        }
        self.next::<K>(now, port)
    }

    /// As [`Switch::next`], for a packet that has just joined the queue of an idle port.
    #[inline(never)]
    fn next_rarely<K: Known>(&mut self, now: Time, port: PortId) -> Option<Started<P>> {
        self.ports[port.index()].wake = Time::MAX;
        self.next::<K>(now, port)
    }

    /// The packet that leaves an idle port next, if one may. The port has no message to send, and the
    /// far end has not stopped it.
    #[inline(always)]
    fn next<K: Known>(&mut self, now: Time, port: PortId) -> Option<Started<P>> {
        let class = if K::HAS_ONE_CLASS {
            let size = if K::IS_BARE || self.kept_in == Fifos::Egress {
                self.pool.front(&self.ports[port.index()].queues[0].fifo)?.header.size()
            } else {
                self.head(port, Class(0))?
            };
            if self.ports[port.index()].port.gate(now, Class(0), size) != Gate::Open {
                self.mark_ready(port);
                return None;
            }
            Class(0)
        } else {
            let class = if self.scheduler.is_strict() {
                self.choose_highest(now, port)
            } else {
                self.choose_class(now, port, |_| Bytes::ZERO)
            };
            if self.ports[port.index()].wake != Time::MAX && class.is_none() {
                self.mark_ready(port);
            }
            class?
        };
        Some(self.start::<K>(now, port, class))
    }

    /// As [`Switch::choose_class`], for a switch that serves the highest class first, and a port that
    /// sends the packet at once.
    #[inline(always)]
    fn choose_highest(&mut self, now: Time, port: PortId) -> Option<Class> {
        let mut wake = Time::MAX;
        for class in (0..self.class_count as u8).rev().map(Class) {
            let SwitchPort { port: end, queues, .. } = &self.ports[port.index()];
            if queues[class.index()].packets == 0 {
                continue;
            }
            if end.is_open(now, class) {
                return Some(class);
            }
            let Some(size) = self.head(port, class) else {
                continue;
            };
            match end.gate(now, class, size) {
                Gate::Open => return Some(class),
                Gate::At(time) => wake = wake.min(time),
                Gate::Closed => {}
            }
        }
        self.ports[port.index()].wake = wake;
        None
    }

    /// Sends the first packet of a queue, whose gate is open.
    #[inline(always)]
    fn start<K: Known>(&mut self, now: Time, port: PortId, class: Class) -> Started<P> {
        if !K::IS_BARE {
            self.look_for_release(now, port, class);
        }
        let queue = &mut self.ports[port.index()].queues[class.index()];
        queue.packets -= 1;
        let next = if K::IS_BARE || self.kept_in == Fifos::Egress {
            self.pool.pop_front(&mut queue.fifo)
        } else {
            self.pop_in_turn(port, class)
        };
        let slot = next.expect("the queue has a head");
        let (ingress, size) = (slot.ingress, slot.header.size());
        let charge = self.plain_charge::<K>(ingress, class, size);
        let cell = self.plain_cell::<K>(ingress, port, class);
        self.waiting[cell] -= charge.get() as u32;
        let is_marked = !K::IS_BARE
            && (self.look_at_departure(now, port, class, size) || slot.header.is_marked());
        let state = &mut self.ports[port.index()];
        state.port.on_transmit(now, class, size);
        state.sending = Sending::data(ingress, class, class, charge);
        if K::MAY_SPEND_CREDIT && self.spends_credit {
            self.look_at_credit(now, port, class);
        }
        if !K::HAS_ONE_CLASS {
            self.scheduler.on_transmit(port, class, size);
        }
        Started { port, packet: slot.packet, size, class, is_marked }
    }

    /// The bytes that a packet takes of its ingress buffer.
    #[inline(always)]
    fn plain_charge<K: Known>(&self, ingress: PortId, class: Class, size: Bytes) -> Bytes {
        if K::IS_BARE { size } else { self.charge(ingress, class, size) }
    }

    /// The cell of packets that keep their class.
    #[inline(always)]
    fn plain_cell<K: Known>(&self, ingress: PortId, egress: PortId, class: Class) -> usize {
        let from = if K::HAS_ONE_CLASS { ingress.index() } else { self.queue(ingress, class) };
        from * self.ports.len() + egress.index()
    }
}

/// The class, which is known if there is only one.
#[inline(always)]
fn only<K: Known>(class: Class) -> Class {
    if K::HAS_ONE_CLASS { Class(0) } else { class }
}

impl SwitchPort {
    #[inline(always)]
    fn is_idle(&self) -> bool {
        matches!(self.sending, Sending::Nothing)
    }

    /// Whether a packet of the only class need not join the queue of this idle egress, since nothing is
    /// before it and it may leave.
    #[inline(always)]
    fn lets_pass(&self, now: Time, size: Bytes) -> bool {
        self.queues[0].packets == 0
            && !self.port.is_talking()
            && self.port.gate(now, Class(0), size) == Gate::Open
    }
}
