//! A switch that is a program: packets wait where its cores put them.
//!
//! ```text
//!   wire > rx FIFO per ingress > forwarding core > tx ring per egress > tx core > NIC > wire
//! ```
//!
//! **Models** one forwarding core that visits the tx rings one after the other. For a ring with room it
//! takes up to a burst of packets from the head of one rx FIFO, as long as they are for this ring, and the
//! next time begins with the FIFO after that one. A head whose ring is full blocks its FIFO. A packet is
//! charged to its ingress while it is in the FIFO, and no longer. The tx core hands the NIC a burst when
//! the NIC has run empty; what the NIC has, no PAUSE stops. Where a rate limiter paces the egress it
//! hands over one packet at a time, when the last one has left and the countdown is over. The core
//! sleeps when a whole round of visits has moved nothing, until a packet arrives or a ring has room.
//!
//! **Source** gfc19 section 6.1 says that its testbed is a software switch over DPDK, not how it is
//! built; bursts of 32 and rings of 128 packets are what such programs use.
//!
//! **Deadlock** A stuck egress still takes what its ring has room for, so that only what is behind those
//! packets is stuck. Each FIFO is judged as if it had the room for itself, which is
//! exact as soon as the rings of the stuck egresses are full.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{Dropped, Sending, Switch, SwitchConfig, SwitchPort, Taken, Transmit, Waiting};
use crate::congestion::dither::Dither;
use crate::fifo::Fifo;
use crate::flow_control::cbfc;
use crate::id::{Class, PortId, QueueId};
use crate::port::LaneConfig;
use crate::unit::{Bytes, Span, Time};

/// How the cores of a software switch poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polling {
    /// The most packets that are moved at a time, from a FIFO to a ring and from a ring to a NIC.
    pub burst: u16,
    /// The places of a tx ring, in packets.
    pub ring: u16,
    /// The time that a visit of a ring takes; up to half of it is added, at random.
    pub visit: Span,
    /// The time that it takes longer for every packet that is moved.
    pub per_packet: Span,
}

impl Polling {
    /// What programs over DPDK usually do.
    pub const USUAL: Polling =
        Polling { burst: 32, ring: 128, visit: Span::ns(60), per_packet: Span::ns(20) };
}

impl Default for Polling {
    fn default() -> Polling {
        Polling::USUAL
    }
}

/// The cores and NICs of a software switch.
#[derive(Clone, Debug)]
pub(super) struct Software {
    polling: Polling,
    /// When the forwarding core makes its next visit; [`Time::MAX`] while it sleeps.
    due: Time,
    /// The ring that it visits next.
    place: usize,
    /// The number of visits in a row that have moved nothing.
    idle: usize,
    /// Whether a packet has come or a ring has got room since packets were last moved: perhaps for a ring
    /// that this round has visited already.
    is_called: bool,
    dice: Dither,
    /// The number of packets in the ring of each (egress, class).
    rings: Box<[u16]>,
    /// The bytes of each (egress, class) that its NIC has and has not begun to send, in whole blocks of
    /// credits.
    committed: Box<[Bytes]>,
    nics: Box<[Nic]>,
}

/// The NIC of a port.
#[derive(Clone, Copy, Debug)]
struct Nic {
    /// The packets that were handed over and have not started, without their queues.
    fifo: Fifo,
    /// The most packets that are handed over at a time.
    burst: u16,
    /// Whether the tx core looks at it although its wire is busy: its ring or its gate has changed.
    is_asked: bool,
}

/// The free places of tx rings, as one FIFO could use them.
pub(super) struct Rooms {
    /// The free places of each ring; empty where there are no rings.
    left: Vec<u16>,
}

/// A length in whole blocks of credits.
fn in_blocks(size: Bytes) -> Bytes {
    cbfc::BLOCK * cbfc::blocks(size)
}

impl Rooms {
    /// Takes a place in the ring of `queue`; returns whether there was one.
    pub(super) fn take_place(&mut self, queue: usize) -> bool {
        match self.left.get_mut(queue) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        }
    }
}

impl Software {
    /// The port whose timeout is that of the forwarding core as well.
    pub(super) const PORT: PortId = PortId(0);

    pub(super) fn new(config: &SwitchConfig) -> Box<Software> {
        let rings = config.ports.iter().map(|port| port.lanes.len()).sum();
        let nics = config.ports.iter().map(|port| {
            let is_paced = |lane: &LaneConfig| lane.tick > Span::ZERO || lane.egress.has_limiter();
            let is_paced = port.lanes.iter().any(is_paced);
            let burst = if is_paced { 1 } else { config.polling.burst };
            Nic { fifo: Fifo::EMPTY, burst, is_asked: false }
        });
        Box::new(Software {
            polling: config.polling,
            due: Time::MAX,
            place: 0,
            idle: 0,
            is_called: false,
            dice: Dither::new(config.seed ^ 0x50f7_3a4e_9011_b07e),
            rings: alloc::vec![0; rings].into(),
            committed: alloc::vec![Bytes::ZERO; rings].into(),
            nics: nics.collect(),
        })
    }

    /// The packets that NICs have.
    pub(super) fn nics(&self) -> impl Iterator<Item = &Fifo> {
        self.nics.iter().map(|nic| &nic.fifo)
    }

    /// Plans the visit after one that has moved this many packets.
    fn plan(&mut self, now: Time, moved: u16) {
        self.place = (self.place + 1) % self.rings.len();
        self.idle += 1;
        if moved > 0 || self.idle >= self.rings.len() && self.is_called {
            (self.idle, self.is_called) = (0, false);
        }
        if self.idle >= self.rings.len() {
            self.due = Time::MAX;
            return;
        }
        let Polling { visit, per_packet, .. } = self.polling;
        let extra = self.dice.choice((visit.as_ps() / 2) as u32);
        self.dice.advance();
        self.due = now + visit + Span::ps(u64::from(extra)) + per_packet * u64::from(moved);
    }
}

impl<P: Copy> Switch<P> {
    /// When `port` wants a timeout for the next visit of the forwarding core; [`Time::MAX`] for never.
    pub(super) fn core_due(&self, port: PortId) -> Time {
        match &self.software {
            Some(software) if port == Software::PORT => software.due,
            _ => Time::MAX,
        }
    }

    /// Wakes the forwarding core if it sleeps.
    pub(super) fn wake_core(&mut self, now: Time) {
        let Some(software) = &mut self.software else {
            return;
        };
        if software.due < Time::MAX {
            software.is_called = true;
            return;
        }
        software.due = now + software.polling.visit;
        (software.place, software.idle) = (0, 0);
        self.mark_ready(Software::PORT);
    }

    /// Lets the tx core hand over single packets of `port`, whose egress is paced.
    pub(super) fn pace_nic(&mut self, port: PortId) {
        if let Some(software) = &mut self.software {
            software.nics[port.index()].burst = 1;
        }
    }

    /// The bytes of `egress` that are in its ring of `class`, or that its NIC has of it.
    pub(super) fn in_ring(&self, egress: PortId, class: Class) -> Bytes {
        let Some(software) = &self.software else {
            return Bytes::ZERO;
        };
        let ring = &self.ports[egress.index()].queues[class.index()].fifo;
        let fifos = [ring, &software.nics[egress.index()].fifo];
        let packets = fifos.into_iter().flat_map(|fifo| self.pool.iter(fifo));
        let of_class = packets.filter(|waiting| waiting.header.leaving() == class);
        of_class.map(|waiting| waiting.header.size()).sum()
    }

    /// Lets the forwarding core visit the next ring, if it is time.
    pub(super) fn run_core(&mut self, now: Time) {
        let Some(software) = &self.software else {
            return;
        };
        if now < software.due {
            return;
        }
        let place = software.place;
        let egress = PortId((place / self.class_count) as u16);
        let class = Class((place % self.class_count) as u8);
        let moved = self.fill_ring(now, egress, class);
        if let Some(software) = &mut self.software {
            software.plan(now, moved);
        }
        if moved > 0 {
            self.ask_nic(egress);
            self.mark_ready(egress);
        }
    }

    /// Lets the tx core look at the NIC of `port` although its wire may be busy.
    pub(super) fn ask_nic(&mut self, port: PortId) {
        if let Some(software) = &mut self.software {
            software.nics[port.index()].is_asked = true;
        }
    }

    /// Moves packets from the FIFO whose turn it is to the ring of (`egress`, `class`); returns how
    /// many.
    fn fill_ring(&mut self, now: Time, egress: PortId, class: Class) -> u16 {
        let queue = self.queue(egress, class);
        let Some(software) = &self.software else {
            return 0;
        };
        let room = software.polling.ring - software.rings[queue];
        let most = room.min(software.polling.burst);
        if most == 0 {
            return 0;
        }
        let Some(member) = self.rotation.next(queue) else {
            return 0;
        };
        let fifo = self.fifo(member, egress, class);
        let is_for_this = |it: &Waiting<P>| it.egress == egress && it.header.leaving() == class;
        let mut moved = 0;
        while moved < most
            && self.pool.front(&self.fifos[fifo]).is_some_and(is_for_this)
            && let Some(waiting) = self.pool.pop_front(&mut self.fifos[fifo])
        {
            let from = QueueId { port: waiting.ingress, class: waiting.header.class() };
            let charge = self.charge(from.port, from.class, waiting.header.size());
            let cell = self.cell(from, QueueId { port: egress, class });
            self.waiting[cell] -= charge.get() as u32;
            self.release(now, from.port, from.class, charge);
            let ring = &mut self.ports[egress.index()].queues[class.index()].fifo;
            self.pool.push_back(ring, waiting);
            moved += 1;
        }
        self.rotation.remove(queue, member);
        if let Some(head) = self.pool.front(&self.fifos[fifo]) {
            let wanted = self.queue(head.egress, head.header.leaving());
            self.rotation.insert(wanted, member);
        }
        if let Some(software) = &mut self.software {
            software.rings[queue] += moved;
        }
        self.look_at_gate_for_credit(now, egress, class);
        moved
    }

    /// Removes the next packet of a ring, which must not be empty.
    pub(super) fn take_from_ring(&mut self, now: Time, egress: PortId, class: Class) -> Taken<P> {
        let queue = self.queue(egress, class);
        let ring = &mut self.ports[egress.index()].queues[class.index()].fifo;
        let slot = self.pool.pop_front(ring).expect("the ring has a head");
        if let Some(software) = &mut self.software {
            software.rings[queue] -= 1;
        }
        let is_marked = self.look_at_departure(now, egress, class, slot.header.size());
        let is_marked = is_marked || slot.header.is_marked();
        Taken { slot, charge: Bytes::ZERO, is_marked }
    }

    /// The next frame on the wire of `port`: what the NIC has, after it was given more if it is empty.
    pub(super) fn transmit_by_nic(&mut self, now: Time, port: PortId) -> Option<Transmit<P>> {
        let SwitchPort { port: end, sending, .. } = &mut self.ports[port.index()];
        let is_busy = !matches!(sending, Sending::Nothing);
        if !is_busy && let Some(control) = end.poll_signal(now) {
            *sending = Sending::Control;
            return Some(Transmit::Control(control));
        }
        let mut wake = Time::MAX;
        if !is_busy && !self.notices.is_empty() {
            match self.next_notice(now, port) {
                Ok(class) => return Some(self.send_notice(now, port, class)),
                Err(time) => wake = time,
            }
        }
        let nic = &mut self.software.as_mut()?.nics[port.index()];
        let is_asked = core::mem::take(&mut nic.is_asked);
        if nic.fifo.is_empty() && (!is_busy || is_asked && nic.burst > 1) {
            let burst = nic.burst;
            self.hand_over(now, port, burst);
        }
        let state = &mut self.ports[port.index()];
        state.wake = state.wake.min(wake);
        if is_busy {
            return None;
        }
        let nic = &mut self.software.as_mut()?.nics[port.index()];
        let slot = self.pool.pop_front(&mut nic.fifo)?;
        let (size, class) = (slot.header.size(), slot.header.leaving());
        let queue = self.queue(port, class);
        self.software.as_mut()?.committed[queue] -= in_blocks(size);
        self.ports[port.index()].port.on_transmit(now, class, size);
        self.look_at_gate_for_credit(now, port, class);
        let (ingress, came_in) = (slot.ingress, slot.header.class());
        self.ports[port.index()].sending = Sending::data(ingress, came_in, class, Bytes::ZERO);
        let is_marked = slot.header.is_marked();
        Some(Transmit::Data { packet: slot.packet, size, class, is_marked })
    }

    /// Hands the NIC of `port` up to `burst` packets that may be sent now.
    fn hand_over(&mut self, now: Time, port: PortId, burst: u16) {
        self.ports[port.index()].wake = Time::MAX;
        for _ in 0..burst {
            // What the NIC has promised to send is counted by no gate.
            let first = self.queue(port, Class(0));
            let mut ahead = [Bytes::ZERO; Class::COUNT_MAX];
            if let Some(software) = &self.software {
                let committed = &software.committed[first..first + self.class_count];
                ahead[..committed.len()].copy_from_slice(committed);
            }
            let Some(class) = self.choose_class(now, port, |class| ahead[class.index()]) else {
                break;
            };
            self.look_for_release(now, port, class);
            let Taken { mut slot, is_marked, .. } = self.take(now, port, class);
            if is_marked {
                slot.header = slot.header.marked();
            }
            if self.watchdogs.is_some() {
                self.watch_departure(port, class);
            }
            let (size, queue) = (slot.header.size(), self.queue(port, class));
            self.scheduler.on_transmit(port, class, size);
            if let Some(software) = &mut self.software {
                self.pool.push_back(&mut software.nics[port.index()].fifo, slot);
                software.committed[queue] += in_blocks(size);
            }
        }
        let nic = self.software.as_ref().map(|software| software.nics[port.index()].fifo);
        if nic.is_some_and(|nic| !nic.is_empty()) {
            // The ring has room again.
            self.wake_core(now);
        }
    }

    /// Drops a packet that the NIC of `port` has and has not begun to send.
    pub(super) fn drop_in_nic(&mut self, port: PortId) -> Option<Dropped<P>> {
        let nic = &mut self.software.as_mut()?.nics[port.index()];
        let slot = self.pool.pop_front(&mut nic.fifo)?;
        let (size, class) = (slot.header.size(), slot.header.leaving());
        let queue = self.queue(port, class);
        self.software.as_mut()?.committed[queue] -= in_blocks(size);
        Some(Dropped { packet: slot.packet, size, ingress: slot.ingress, egress: port, class })
    }

    /// The free places of all rings, as one FIFO could use them.
    pub(super) fn rooms(&self) -> Rooms {
        let left = self
            .software
            .iter()
            .flat_map(|software| software.rings.iter().map(|used| software.polling.ring - used));
        Rooms { left: left.collect() }
    }
}
