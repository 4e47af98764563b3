//! The FIFOs per ingress that an egress serves round robin, in input-queued and virtual
//! output-queued switches.

use alloc::vec::Vec;

use super::{Arbiter, Discipline, Fifos, Switch, Waiting};
use crate::id::{Class, PortId, QueueId};
use crate::unit::Time;

/// What is left to do when all packets that end at one instant have been handled. Both lists are
/// empty between instants.
#[derive(Clone, Debug, Default)]
pub(super) struct Ended {
    /// The FIFOs that show their next packet.
    hidden: Vec<QueueId>,
    /// The egresses that decide.
    undecided: Vec<PortId>,
}

impl<P: Copy> Switch<P> {
    /// Appends a packet to the FIFO of its ingress; returns whether it has become the head.
    pub(super) fn join_turns(&mut self, waiting: Waiting<P>) -> bool {
        let (class, leaving) = (waiting.header.class(), waiting.header.leaving());
        let member = self.member(waiting.ingress, class);
        let fifo = self.fifo(member, waiting.egress, leaving);
        let was_empty = self.pool.push_back(&mut self.fifos[fifo], waiting);
        let is_exposed = was_empty && !self.in_service.get(fifo).is_some_and(|is_sent| *is_sent);
        if is_exposed {
            let queue = self.queue(waiting.egress, leaving);
            self.rotation.insert(queue, member);
        }
        is_exposed
    }

    /// Removes the packet whose turn it is at (`egress`, `class`) from its FIFO.
    pub(super) fn pop_in_turn(&mut self, egress: PortId, class: Class) -> Option<Waiting<P>> {
        let queue = self.queue(egress, class);
        let member = self.rotation.next(queue)?;
        let fifo = self.fifo(member, egress, class);
        let slot = self.pool.pop_front(&mut self.fifos[fifo])?;
        let member = self.member(slot.ingress, slot.header.class());
        match self.kept_in {
            Fifos::Ingress => {
                self.rotation.remove(queue, member);
                self.in_service[fifo] = true;
            }
            Fifos::Egress | Fifos::Pair | Fifos::Software => {
                if self.fifos[fifo].is_empty() {
                    self.rotation.remove(queue, member);
                }
            }
        }
        Some(slot)
    }

    /// Handles the end of a packet of `fifo` at `egress`, in the order of the arbiter.
    pub(super) fn end(&mut self, now: Time, egress: PortId, fifo: QueueId) {
        let Discipline::InputQueued(arbiter) = self.discipline else {
            unreachable!("asked by the caller");
        };
        let is_own = self.next_egress(fifo) == Some(egress);
        match arbiter {
            // The egress that it has just served sees the next packet before the others do.
            Arbiter::EgressFirst if is_own => self.ended.hidden.insert(0, fifo),
            Arbiter::FifoFirst if is_own => self.expose_head(now, fifo.port, fifo.class),
            _ => self.ended.hidden.push(fifo),
        }
        self.decide(egress);
    }

    /// Lets an egress that has become free decide, at once or with all others in its slot.
    pub(super) fn decide(&mut self, egress: PortId) {
        if self.discipline == Discipline::InputQueued(Arbiter::Slotted) {
            self.ended.undecided.push(egress);
        } else {
            self.mark_ready(egress);
        }
    }

    /// Does the next of what is left of this instant, after which the ports that are ready are to be
    /// polled; returns whether there was anything. The driver calls it until there is not, after all
    /// packets that end at one instant.
    #[inline]
    pub fn poll_ended(&mut self, now: Time) -> bool {
        if self.ended.hidden.is_empty() && self.ended.undecided.is_empty() {
            return false;
        }
        self.settle(now);
        true
    }

    fn settle(&mut self, now: Time) {
        if self.discipline != Discipline::InputQueued(Arbiter::Slotted) {
            let fifo = self.ended.hidden.remove(0);
            return self.expose_head(now, fifo.port, fifo.class);
        }
        for at in 0..self.ended.hidden.len() {
            let fifo = self.ended.hidden[at];
            let egress = self.show_head(now, fifo.port, fifo.class);
            self.ended.undecided.extend(egress);
        }
        self.ended.hidden.clear();
        let egress = self.ended.undecided.remove(0);
        self.mark_ready(egress);
    }

    /// The egress that the next packet of a FIFO wants.
    fn next_egress(&self, fifo: QueueId) -> Option<PortId> {
        let head = self.pool.front(&self.fifos[self.queue(fifo.port, fifo.class)]);
        head.map(|head| head.egress)
    }

    /// Makes the next packet of a FIFO its head, after the one before has left, and lets its egress
    /// decide.
    pub(super) fn expose_head(&mut self, now: Time, ingress: PortId, class: Class) {
        if let Some(egress) = self.show_head(now, ingress, class) {
            self.mark_ready(egress);
        }
    }

    /// Makes the next packet of a FIFO its head; returns the egress that it wants.
    fn show_head(&mut self, now: Time, ingress: PortId, class: Class) -> Option<PortId> {
        let fifo = self.queue(ingress, class);
        self.in_service[fifo] = false;
        let head = self.pool.front(&self.fifos[fifo])?;
        let (egress, leaving) = (head.egress, head.header.leaving());
        let member = self.member(ingress, class);
        self.rotation.insert(self.queue(egress, leaving), member);
        self.look_at_gate_for_credit(now, egress, leaving);
        Some(egress)
    }

    /// Gives the turn of an input-queued egress without credit to whom it belongs now, unless that
    /// packet is smaller than the one that lacks credit.
    pub(super) fn reconsider_turn(&mut self, egress: PortId, class: Class) {
        if self.kept_in != Fifos::Ingress {
            return;
        }
        let queue = self.queue(egress, class);
        let Some(pinned) = self.rotation.unpin(queue) else {
            return;
        };
        let size = |member| {
            let fifo = &self.fifos[self.fifo(member, egress, class)];
            self.pool.front(fifo).map(|waiting| waiting.header.size())
        };
        let next = self.rotation.peek(queue);
        if next.is_some_and(|next| size(next) < size(pinned)) {
            self.rotation.pin_to(queue, pinned);
        }
    }

    /// The member of the rotation that stands for packets from `ingress` in `class`.
    #[inline]
    pub(super) fn member(&self, ingress: PortId, class: Class) -> PortId {
        if self.leaving_count > 1 && self.discipline.blocks_heads() {
            // Heads of several classes of one ingress may want the same queue.
            PortId(self.queue(ingress, class) as u16)
        } else {
            ingress
        }
    }

    /// The FIFO in which packets of a member of the rotation wait for `egress` in `leaving`.
    #[inline]
    pub(super) fn fifo(&self, member: PortId, egress: PortId, leaving: Class) -> usize {
        match self.kept_in {
            Fifos::Egress => {
                unreachable!("its packets wait in the queue of their egress")
            }
            Fifos::Pair => self.queue(member, leaving) * self.ports.len() + egress.index(),
            Fifos::Ingress | Fifos::Software if self.leaving_count > 1 => member.index(),
            Fifos::Ingress | Fifos::Software => self.queue(member, leaving),
        }
    }
}
