//! Read-only queries of a switch, for the deadlock detector and reports.

use super::congestion::Watched;
use super::{Fifo, Fifos, Sending, Switch, SwitchPort, Waiting};
use crate::id::{Class, PortId, QueueId};
use crate::memory::Memory;
use crate::unit::{Bytes, Time};

impl<P: Copy> Switch<P> {
    /// The classes of `egress` that the far end has stopped while packets wait, a bit each.
    #[inline]
    pub fn stopped(&self, egress: PortId) -> u8 {
        let stopped = self.ports[egress.index()].stopped;
        if stopped == 0 {
            return 0;
        }
        let queues = self.ports[egress.index()].queues.iter();
        let waiting = queues.enumerate().filter(|(_, queue)| queue.packets > 0);
        stopped & waiting.fold(0, |bits, (class, _)| bits | 1 << class)
    }

    /// The number of packets that wait for (`egress`, `class`), in whichever FIFO.
    pub fn backlog(&self, egress: PortId, class: Class) -> u32 {
        self.ports[egress.index()].queues[class.index()].packets
    }

    /// The size of the head frame of (`egress`, `class`) if the far end has stopped it.
    ///
    /// In an input-queued switch packets may wait for an egress behind heads that want another one;
    /// the egress then counts as stopped if it would not take the smallest frame.
    pub fn blocked(&self, now: Time, egress: PortId, class: Class) -> Option<Bytes> {
        if self.backlog(egress, class) == 0 {
            return None;
        }
        let size = self.head(egress, class).unwrap_or(Bytes::new(64));
        let port = &self.ports[egress.index()].port;
        port.is_stopped(now, class, size).then_some(size)
    }

    /// The bytes on the ingress counter `from` that wait for the egress queue `to`.
    #[inline]
    pub fn waiting(&self, from: QueueId, to: QueueId) -> Bytes {
        if self.leaving_count == 1 && from.class != to.class {
            return Bytes::ZERO;
        }
        Bytes::new(u64::from(self.waiting[self.cell(from, to)]))
    }

    /// The classes in which packets that arrived in `class` may leave.
    pub fn leaving_classes(&self, class: Class) -> impl DoubleEndedIterator<Item = Class> + use<P> {
        let all = match self.leaving_count {
            1 => class.0..class.0 + 1,
            count => 0..count as u8,
        };
        all.map(Class)
    }

    /// Bytes of all classes that wait for `egress` as the ingress counters count them, without the
    /// frame on the wire.
    pub fn queued(&self, egress: PortId) -> Bytes {
        let leaving = |from: QueueId| self.leaving_classes(from.class).map(move |to| (from, to));
        let pairs = self.all_queues().flat_map(leaving);
        let in_fifos: Bytes =
            pairs.map(|(from, class)| self.waiting(from, QueueId { port: egress, class })).sum();
        let classes = (0..self.class_count as u8).map(Class);
        in_fifos + classes.map(|class| self.in_ring(egress, class)).sum()
    }

    /// Whether a frame is on its way out of `egress`.
    pub fn is_sending(&self, egress: PortId) -> bool {
        !matches!(self.ports[egress.index()].sending, Sending::Nothing)
    }

    /// Every class of every port.
    fn all_queues(&self) -> impl Iterator<Item = QueueId> + use<P> {
        let classes = 0..self.class_count as u8;
        let ports = (0..self.ports.len() as u16).map(PortId);
        ports.flat_map(move |port| {
            classes.clone().map(Class).map(move |class| QueueId { port, class })
        })
    }

    /// The egress queues that packets which arrived in `class` may wait in.
    pub fn queues_after(
        &self,
        class: Class,
    ) -> impl DoubleEndedIterator<Item = QueueId> + use<'_, P> {
        let ports = (0..self.ports.len() as u16).map(PortId);
        let queues = |port| move |class| QueueId { port, class };
        ports.flat_map(move |port| self.leaving_classes(class).map(queues(port)))
    }

    /// The bytes on the counter of (`ingress`, `class`) that never leave if the queues in `stuck`
    /// never send again and all others drain.
    pub fn kept(
        &self,
        ingress: PortId,
        class: Class,
        stuck: impl Fn(PortId, Class) -> bool,
    ) -> Bytes {
        if !self.discipline.blocks_heads() {
            let from = QueueId { port: ingress, class };
            let held = self.queues_after(class).filter(|to| stuck(to.port, to.class));
            return held.map(|to| self.waiting(from, to)).sum();
        }
        // In a FIFO, everything behind the first stuck packet is stuck as well.
        let fifo = &self.fifos[self.queue(ingress, class)];
        let mut rooms = self.rooms();
        let behind = self.pool.iter(fifo).skip_while(|waiting| {
            let (egress, leaving) = (waiting.egress, waiting.header.leaving());
            !stuck(egress, leaving) || rooms.take_place(self.queue(egress, leaving))
        });
        let port = &self.ports[ingress.index()].port;
        behind.map(|waiting| port.charge(class, waiting.header.size())).sum()
    }

    /// Calls `visit` with every packet that waits: the queue by which it came, the one by which it
    /// goes, and its handle.
    pub fn for_each_waiting(&self, mut visit: impl FnMut(QueueId, QueueId, &P)) {
        for waiting in self.all_fifos().flat_map(|fifo| self.pool.iter(fifo)) {
            let from = QueueId { port: waiting.ingress, class: waiting.header.class() };
            let to = QueueId { port: waiting.egress, class: waiting.header.leaving() };
            visit(from, to, &waiting.packet);
        }
    }

    /// Calls `visit` with every packet that waits for (`egress`, `class`), in whichever FIFO.
    pub fn for_each_waiting_for(&self, egress: PortId, class: Class, mut visit: impl FnMut(&P)) {
        let of_one = |fifo: &Fifo, visit: &mut dyn FnMut(&P)| {
            let waiting = self.pool.iter(fifo);
            let to = |waiting: &&Waiting<P>| (waiting.egress, waiting.header.leaving());
            for waiting in waiting.filter(|waiting| to(waiting) == (egress, class)) {
                visit(&waiting.packet);
            }
        };
        match self.kept_in {
            Fifos::Egress => {}
            Fifos::Pair | Fifos::Ingress | Fifos::Software => {
                self.fifos.iter().for_each(|fifo| of_one(fifo, &mut visit));
            }
        }
        of_one(&self.ports[egress.index()].queues[class.index()].fifo, &mut visit);
    }

    /// The egress queue that holds most of what is on the counter of (`ingress`, `class`), the
    /// lowest of several; `None` if nothing is.
    pub fn holder(&self, ingress: PortId, class: Class) -> Option<QueueId> {
        let from = QueueId { port: ingress, class };
        let waiting = |to: &QueueId| self.waiting(from, *to);
        let most = self.queues_after(class).rev().max_by_key(waiting)?;
        if waiting(&most) > Bytes::ZERO {
            return Some(most);
        }
        // All of it is on the wire of one egress.
        let mut ports = (0..self.ports.len() as u16).map(PortId);
        ports.find_map(|egress| match self.ports[egress.index()].sending {
            Sending::Data { ingress: from, class: of, leaving, .. }
                if (from, of) == (ingress, class) =>
            {
                Some(QueueId { port: egress, class: leaving })
            }
            _ => None,
        })
    }

    /// The bytes that wait for (`egress`, `class`), from all ingresses.
    pub fn queued_in(&self, egress: PortId, class: Class) -> Bytes {
        let to = QueueId { port: egress, class };
        let in_fifos: Bytes = self.all_queues().map(|from| self.waiting(from, to)).sum();
        in_fifos + self.in_ring(egress, class)
    }

    /// The frame bytes that wait in the switch; a frame that is being sent counts as on its wire.
    pub fn inside(&self) -> Bytes {
        let nics = self.software.iter().flat_map(|software| software.nics());
        let all =
            self.all_fifos().chain(&self.notices).chain(nics).flat_map(|fifo| self.pool.iter(fifo));
        all.map(|waiting| waiting.header.size()).sum()
    }

    /// The FIFOs that data waits in, in the order of their numbers.
    fn all_fifos(&self) -> impl Iterator<Item = &Fifo> {
        let queues = self.ports.iter().flat_map(|port| port.queues.iter());
        queues.map(|queue| &queue.fifo).chain(&self.fifos)
    }

    /// Bytes of heap memory in use.
    pub fn heap_bytes(&self) -> usize {
        self.ports.len() * size_of::<SwitchPort>()
            + self
                .ports
                .iter()
                .map(|port| port.port.heap_bytes() + port.queues.heap_bytes())
                .sum::<usize>()
            + self.fifos.len() * size_of::<Fifo>()
            + self.pool.heap_bytes()
            + self.waiting.len() * size_of::<u32>()
            + self.points.len() * size_of::<Watched>()
            + self.memory().map_or(0, Memory::heap_bytes)
    }
}
