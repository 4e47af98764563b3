//! How packets leave their queues: to be sent, or to be dropped so that others can move.

use super::{Fifos, Switch, Waiting};
use crate::id::{Class, PortId, QueueId};
use crate::unit::{Bytes, Time};

/// A packet that was dropped on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped<P> {
    /// The driver's handle of the packet.
    pub packet: P,
    /// The length of the frame.
    pub size: Bytes,
    /// The ingress port by which it arrived.
    pub ingress: PortId,
    /// The egress port that it waited for.
    pub egress: PortId,
    /// The class that it waited in.
    pub class: Class,
}

/// A packet that is no longer in its queue, but still on its ingress counter.
pub(super) struct Taken<P> {
    pub(super) slot: Waiting<P>,
    pub(super) charge: Bytes,
    pub(super) is_marked: bool,
}

impl<P: Copy> Switch<P> {
    /// Takes a packet off its ingress counter.
    #[inline]
    pub(super) fn release(&mut self, now: Time, ingress: PortId, class: Class, charge: Bytes) {
        let arrived_at = &mut self.ports[ingress.index()].port;
        arrived_at.dequeue(now, class, charge);
        if arrived_at.is_talking() {
            self.mark_talking(ingress);
        }
        if self.sharing.is_some() {
            self.free_memory(now, ingress, class, charge);
        }
    }

    /// Drops the packet that (`egress`, `class`) would send next, `None` when there is none: to
    /// drain the queue, call it until then, and let the ports send what they have to say after
    /// each packet. The counter of its ingress is released as if it had left, so that
    /// upstream hears a RESUME or has its credit back.
    ///
    /// In an input-queued switch only a head can be dropped: what wants `egress` behind the head of
    /// another one stays.
    pub fn drain(&mut self, now: Time, egress: PortId, class: Class) -> Option<Dropped<P>> {
        self.head(egress, class)?;
        let Taken { slot, charge, .. } = self.take(now, egress, class);
        let (ingress, came_in) = (slot.ingress, slot.header.class());
        match self.kept_in {
            // It was taken off the counter when it came into the ring, which now has room.
            Fifos::Software => self.wake_core(now),
            Fifos::Ingress => {
                self.release(now, ingress, came_in, charge);
                self.expose_head(now, ingress, came_in);
            }
            _ => self.release(now, ingress, came_in, charge),
        }
        // The new head may be of another size, which its credit must be enough for.
        self.look_at_gate(now, egress, class);
        if self.watchdogs.is_some() {
            self.watch_departure(egress, class);
        }
        self.mark_ready(egress);
        Some(Dropped { packet: slot.packet, size: slot.header.size(), ingress, egress, class })
    }

    /// The bytes that a packet takes of its ingress buffer. Only credits count in whole blocks; for
    /// other schemes the port, whose memory may not be in the cache, is not read.
    #[inline]
    pub(super) fn charge(&self, ingress: PortId, class: Class, size: Bytes) -> Bytes {
        if self.counts_blocks { self.ports[ingress.index()].port.charge(class, size) } else { size }
    }

    /// Removes the next packet of (`egress`, `class`) from its queue, which must not be empty.
    #[inline(always)]
    pub(super) fn take(&mut self, now: Time, egress: PortId, class: Class) -> Taken<P> {
        let queue = &mut self.ports[egress.index()].queues[class.index()];
        queue.packets -= 1;
        let next = match self.kept_in {
            Fifos::Egress => self.pool.pop_front(&mut queue.fifo),
            Fifos::Pair | Fifos::Ingress => self.pop_in_turn(egress, class),
            Fifos::Software => return self.take_from_ring(now, egress, class),
        };
        let slot = next.expect("the queue has a head");
        let (size, came_in) = (slot.header.size(), slot.header.class());
        let charge = self.charge(slot.ingress, came_in, size);
        let from = QueueId { port: slot.ingress, class: came_in };
        let cell = self.cell(from, QueueId { port: egress, class });
        self.waiting[cell] -= charge.get() as u32;
        let is_marked = self.look_at_departure(now, egress, class, size);
        Taken { slot, charge, is_marked: is_marked || slot.header.is_marked() }
    }
}
