//! A link of a switch that goes down, with what waits to go out there, and comes up again.

use super::{Dropped, Fifos, Switch, Waiting};
use crate::fifo::Fifo;
use crate::flow_control::Signal;
use crate::id::{Class, PortId, QueueId};
use crate::port::PortConfig;
use crate::unit::Time;

impl<P: Copy> Switch<P> {
    /// Handles the failure of the link of `port`: nothing leaves by it, and nothing holds it back, until
    /// [`Switch::restore_link`]. The driver then drops what waits with [`Switch::drop_waiting`], and no
    /// packet may join the queues of `port`. A frame that is being sent ends when it would have.
    pub fn fail_link(&mut self, now: Time, port: PortId) {
        for class in self.classes() {
            if self.watchdogs.is_some() {
                self.calm(now, port, class);
            }
        }
        self.ports[port.index()].port.fail();
        for class in self.classes() {
            let queue = self.queue(port, class);
            self.rotation.unpin(queue);
            self.look_at_gate(now, port, class);
            self.look_for_release(now, port, class);
        }
        self.ports[port.index()].wake = Time::MAX;
        self.mark_ready(port);
    }

    /// Drops a packet that waits to leave by `egress`, wherever in the switch it does; `None` when there
    /// is none. The counter of its ingress is released as if it had left. The ports say what they have to
    /// say after each packet.
    pub fn drop_waiting(&mut self, now: Time, egress: PortId) -> Option<Dropped<P>> {
        for class in self.classes() {
            if let Some(dropped) = self.drop_notice(egress, class) {
                return Some(dropped);
            }
            if self.kept_in != Fifos::Ingress
                && let Some(dropped) = self.drain(now, egress, class)
            {
                return Some(dropped);
            }
        }
        match self.kept_in {
            Fifos::Egress | Fifos::Pair => None,
            Fifos::Ingress => self.drop_behind_heads(now, egress),
            Fifos::Software => {
                self.drop_in_nic(egress).or_else(|| self.drop_behind_heads(now, egress))
            }
        }
    }

    /// Handles the return of the link of `port`, which is built like `config`.
    pub fn restore_link(&mut self, now: Time, port: PortId, config: &PortConfig) {
        self.ports[port.index()].port.restore(now, config);
        for class in self.classes() {
            let mut paused = self.memory().into_iter().flat_map(|memory| memory.paused());
            let is_paused = paused.any(|lane| lane == (port, class));
            drop(paused);
            if self.sharing.is_some() {
                self.ports[port.index()].port.set_pausing(now, class, is_paused);
            }
            self.look_at_gate(now, port, class);
            self.look_for_release(now, port, class);
        }
        self.ask_nic(port);
        self.mark_ready(port);
    }

    /// What `port` tells the far end while the link comes up, see [`crate::port::Port::introduce`].
    pub fn introduce(&mut self, now: Time, port: PortId, class: Class) -> Option<Signal> {
        self.ports[port.index()].port.introduce(now, class)
    }

    fn classes(&self) -> impl Iterator<Item = Class> + use<P> {
        (0..self.class_count as u8).map(Class)
    }

    /// Drops a notification of the switch itself.
    fn drop_notice(&mut self, egress: PortId, class: Class) -> Option<Dropped<P>> {
        let queue = self.queue(egress, class);
        let notice = self.pool.pop_front(self.notices.get_mut(queue)?)?;
        Some(Dropped {
            packet: notice.packet,
            size: notice.header.size(),
            ingress: egress,
            egress,
            class,
        })
    }

    /// Drops a packet from a FIFO of ingresses, where packets for other egresses may be before it.
    fn drop_behind_heads(&mut self, now: Time, egress: PortId) -> Option<Dropped<P>> {
        let wanted = |waiting: &Waiting<P>| waiting.egress == egress;
        let place_in = |fifo: &Fifo| self.pool.iter(fifo).position(wanted);
        let mut places =
            (0..self.fifos.len()).map(|number| (number, place_in(&self.fifos[number])));
        let (number, place) = places.find_map(|(number, place)| Some((number, place?)))?;
        drop(places);
        let slot = self.remove_from(number, place);
        let (size, came_in, leaving) =
            (slot.header.size(), slot.header.class(), slot.header.leaving());
        let charge = self.charge(slot.ingress, came_in, size);
        let cell = self.cell(
            QueueId { port: slot.ingress, class: came_in },
            QueueId { port: egress, class: leaving },
        );
        self.waiting[cell] -= charge.get() as u32;
        self.ports[egress.index()].queues[leaving.index()].packets -= 1;
        if self.kept_in == Fifos::Ingress {
            self.look_at_departure(now, egress, leaving, size);
        }
        self.release(now, slot.ingress, came_in, charge);
        let is_sent = self.in_service.get(number).is_some_and(|is_sent| *is_sent);
        if place == 0 && !is_sent {
            let member = self.member(slot.ingress, came_in);
            let queue = self.queue(egress, leaving);
            self.rotation.remove(queue, member);
            if self.kept_in == Fifos::Ingress {
                self.expose_head(now, slot.ingress, came_in);
            } else if let Some(head) = self.pool.front(&self.fifos[number]) {
                let queue = self.queue(head.egress, head.header.leaving());
                self.rotation.insert(queue, member);
            }
        }
        if self.kept_in == Fifos::Software {
            self.wake_core(now);
        }
        Some(Dropped { packet: slot.packet, size, ingress: slot.ingress, egress, class: leaving })
    }

    /// Removes the packet at this place of a FIFO of ingresses.
    fn remove_from(&mut self, number: usize, place: usize) -> Waiting<P> {
        let fifo = &mut self.fifos[number];
        let count = self.pool.iter(fifo).count();
        let mut removed = None;
        for at in 0..count {
            let waiting = self.pool.pop_front(fifo).expect("it was counted");
            if at == place {
                removed = Some(waiting);
            } else {
                self.pool.push_back(fifo, waiting);
            }
        }
        removed.expect("the place is in the FIFO")
    }
}
