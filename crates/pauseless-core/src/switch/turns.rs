//! The FIFOs per ingress that an egress serves round robin, in input-queued and virtual
//! output-queued switches.

use super::{Discipline, Switch, Waiting};
use crate::id::{Class, PortId};
use crate::unit::Time;

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
        match self.discipline {
            Discipline::InputQueued => {
                self.rotation.remove(queue, member);
                self.in_service[fifo] = true;
            }
            Discipline::OutputQueued | Discipline::VirtualOutputQueued => {
                if self.fifos[fifo].is_empty() {
                    self.rotation.remove(queue, member);
                }
            }
        }
        Some(slot)
    }

    /// Makes the next packet of a FIFO its head, after the one before has left.
    pub(super) fn expose_head(&mut self, now: Time, ingress: PortId, class: Class) {
        let fifo = self.queue(ingress, class);
        self.in_service[fifo] = false;
        if let Some(head) = self.pool.front(&self.fifos[fifo]) {
            let (egress, leaving) = (head.egress, head.header.leaving());
            let member = self.member(ingress, class);
            self.rotation.insert(self.queue(egress, leaving), member);
            self.look_at_gate_for_credit(now, egress, leaving);
            self.mark_ready(egress);
        }
    }

    /// The member of the rotation that stands for packets from `ingress` in `class`.
    #[inline]
    pub(super) fn member(&self, ingress: PortId, class: Class) -> PortId {
        if self.leaving_count > 1 && self.discipline == Discipline::InputQueued {
            // Heads of several classes of one ingress may want the same queue.
            PortId(self.queue(ingress, class) as u16)
        } else {
            ingress
        }
    }

    /// The FIFO in which packets of a member of the rotation wait for `egress` in `leaving`.
    #[inline]
    pub(super) fn fifo(&self, member: PortId, egress: PortId, leaving: Class) -> usize {
        match self.discipline {
            Discipline::OutputQueued => {
                unreachable!("its packets wait in the queue of their egress")
            }
            Discipline::VirtualOutputQueued => {
                self.queue(member, leaving) * self.ports.len() + egress.index()
            }
            Discipline::InputQueued if self.leaving_count > 1 => member.index(),
            Discipline::InputQueued => self.queue(member, leaving),
        }
    }
}
