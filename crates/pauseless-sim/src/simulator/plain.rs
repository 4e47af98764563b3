//! The short way of a packet, for runs of plain switches that nobody observes packet by packet.

use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::port::Overrun;
use pauseless_core::switch::{Arrival, Discipline, Driver, Transmit};
use pauseless_core::unit::{Bytes, Span, Time};

use super::flows::Route;
use super::{Simulator, Tally};
use crate::config::Config;
use crate::event::{Event, EventQueue, Kind, Limit, Opened};
use crate::fabric::{End, Fabric, Frame, Node, Packet, Sky, Traffic};
use crate::tag::Tag;

/// The wires of a switch whose packets take the short way.
struct Wires<'s> {
    now: Time,
    /// The number of its first port.
    first: usize,
    ends: &'s mut [End],
    sky: &'s mut Sky,
    traffic: &'s mut [Traffic],
    queue: &'s mut EventQueue,
    /// The events of the switch.
    events: Opened,
    tally: &'s mut Tally,
    held: &'s [u8],
    is_counting_credit: bool,
    control_frame: Bytes,
    overhead: Bytes,
    /// What the rest of the simulator has to look at afterwards.
    later: &'s mut Vec<Later>,
}

/// What is rare and needs more than the wires.
#[derive(Clone, Copy, Debug)]
pub(super) enum Later {
    /// A port has sent a frame, so that it may not be held any more.
    Sent(PortId, Class),
    /// A frame goes to another part of the run, where it arrives at this instant.
    Away(PortId, Frame, Time),
    /// These classes of a port are stopped, and something has changed.
    Stopped(PortId, u8),
}

impl Wires<'_> {
    /// Takes the packet that has arrived at a port of this switch; `None` if it is a control frame.
    #[inline(always)]
    fn receive(&mut self, port: PortId) -> Option<Packet> {
        let end = &mut self.ends[self.first + port.index()];
        let (packet, next) = self.sky.land_packet(end)?;
        self.queue.set_arrival(&mut self.events, port, next);
        Some(packet)
    }
}

impl Driver<Tag> for Wires<'_> {
    #[inline(always)]
    fn transmit(&mut self, port: PortId, transmit: Transmit<Tag>) {
        let index = self.first + port.index();
        let end = &mut self.ends[index];
        let (frame, size) = match transmit {
            Transmit::Data { packet, size, class, is_marked } => {
                end.sent += size;
                let tag = if is_marked { packet.marked() } else { packet };
                self.tally.marked += u64::from(tag != packet);
                if self.held[index] != 0 || self.is_counting_credit {
                    self.later.push(Later::Sent(port, class));
                }
                (Frame::Data(Packet::new(tag, size, class)), size)
            }
            Transmit::Control(control) => {
                self.traffic[index].control_sent += self.control_frame;
                self.tally.count(control);
                (Frame::Control(control), self.control_frame)
            }
        };
        let left = self.now + end.tx_span(size + self.overhead);
        self.queue.set_departure(&mut self.events, port, left);
        let arrival = left + end.delay;
        if end.away != End::HERE {
            return self.later.push(Later::Away(port, frame, arrival));
        }
        let peer = &mut self.ends[end.peer as usize];
        if self.sky.launch(peer, arrival, frame) {
            self.queue.push(peer.place(), Kind::Arrive, arrival);
        }
    }

    #[inline(always)]
    fn arm(&mut self, port: PortId, time: Time) {
        let end = &mut self.ends[self.first + port.index()];
        if time < end.armed {
            assert!(self.now < time, "a timeout that is due was not handled");
            end.armed = time;
            self.queue.push_here(end.place(), Kind::Timeout, time);
        }
    }

    #[inline(always)]
    fn stopped(&mut self, port: PortId, classes: u8) {
        self.later.push(Later::Stopped(port, classes));
    }
}

/// Whether packets take the short way through switches.
pub(super) fn is_lean(simulator: &Simulator<'_>) -> bool {
    let config = simulator.config;
    let is_plain = |node: &Node| match node {
        Node::Switch(switch) => switch.is_plain(),
        Node::Host(_) => true,
    };
    config.discipline == Discipline::OutputQueued
        && simulator.is_plain
        && !simulator.is_trailing
        && !simulator.is_out_of_band
        && !simulator.wire_losses.is_any()
        && !simulator.mitigating.is_watching
        && !simulator.mitigating.is_breaking
        && simulator.tracer.is_none()
        && simulator.listening.is_none()
        && config.wire_jitter == Span::ZERO
        && config.hardware.line_jitter == Span::ZERO
        && simulator.fabric.nodes.iter().all(is_plain)
}

/// Why a visit to a switch is interrupted.
enum Pause {
    /// Nothing is due any more.
    Done,
    /// The event takes the long way.
    Other(Event),
    /// The last event has rare consequences.
    Later,
    /// A packet that has just arrived at a port does not fit.
    Loss(PortId, Packet, Overrun),
}

impl Simulator<'_> {
    /// Handles the first event of a switch before `limit`, and further ones before `end`.
    pub(super) fn visit(&mut self, node: NodeId, limit: Limit, end: Limit) {
        let mut limit = limit;
        loop {
            let pause = if self.config.ingress.class_count() == 1 {
                self.visit_plainly::<true>(node, limit, end)
            } else {
                self.visit_plainly::<false>(node, limit, end)
            };
            match pause {
                Pause::Done => break,
                Pause::Other(event) => self.take(node, event),
                Pause::Later => self.attend(node),
                Pause::Loss(port, packet, overrun) => {
                    self.lose(self.fabric.end_index(node, port), packet, overrun);
                }
            }
            limit = end;
        }
        self.queue.leave(node);
    }

    /// Handles events as long as they take the short way.
    #[inline(never)]
    fn visit_plainly<const ONE: bool>(
        &mut self,
        node: NodeId,
        mut limit: Limit,
        end: Limit,
    ) -> Pause {
        let first = self.fabric.end_index(node, PortId(0));
        let Fabric { nodes, ends, sky, traffic, .. } = &mut self.fabric;
        let Node::Switch(switch) = &mut nodes[node.index()] else {
            unreachable!("only switches are visited");
        };
        let mut wires = Wires {
            now: self.now,
            first,
            ends,
            sky,
            traffic,
            events: self.queue.open(node),
            queue: &mut self.queue,
            tally: &mut self.tally,
            held: &self.held,
            is_counting_credit: self.is_counting_credit,
            control_frame: self.config.hardware.control_frame,
            overhead: self.config.wire_overhead,
            later: &mut self.later,
        };
        let (paths, is_counting) = (&*self.paths, self.is_counting);
        let mut hops = 0;
        let mut last_arrival = wires.tally.last_arrival;
        let pause = loop {
            let Some((now, kind, port)) = wires.queue.first(&wires.events, limit) else {
                break Pause::Done;
            };
            limit = end;
            wires.now = now;
            if kind == Kind::Transmitted {
                wires.tally.events += 1;
                if !switch.depart::<ONE>(now, port, &mut wires) {
                    wires.queue.set_departure(&mut wires.events, port, Time::MAX);
                }
            } else if kind == Kind::Arrive {
                let Some(packet) = wires.receive(port) else {
                    break Pause::Other(Event::new(now, kind, (first + port.index()) as u32));
                };
                hops += 1;
                last_arrival = last_arrival.max(now);
                if is_counting {
                    wires.traffic[first + port.index()].received += packet.size();
                }
                let Packet { tag, class, .. } = packet;
                let path = &paths[2 * tag.flow().index() + usize::from(tag.is_answer())];
                let egress = match path.egress(tag.hops()) {
                    Some(egress) => egress,
                    None => egress_by_table(self.config, &self.routes, node, tag),
                };
                let (size, passed) = (packet.size(), tag.passed());
                let arrival = Arrival { packet: passed, size, class, egress, leaving: class };
                if let Err(overrun) = switch.arrive::<ONE>(now, port, arrival, &mut wires) {
                    break Pause::Loss(port, packet, overrun);
                }
            } else {
                break Pause::Other(Event::new(now, kind, (first + port.index()) as u32));
            }
            if !wires.later.is_empty() {
                break Pause::Later;
            }
        };
        wires.tally.events += hops;
        wires.tally.packet_hops += hops;
        wires.tally.last_arrival = last_arrival;
        wires.queue.close(&wires.events);
        self.now = wires.now;
        pause
    }

    /// Does what is left of an event.
    #[inline(never)]
    fn attend(&mut self, node: NodeId) {
        let first = self.fabric.end_index(node, PortId(0));
        let mut later = std::mem::take(&mut self.later);
        for what in later.drain(..) {
            match what {
                Later::Sent(port, class) => self.look_at_spread(first + port.index(), class),
                Later::Away(port, frame, time) => self.post(first + port.index(), time, frame),
                Later::Stopped(port, classes) => self.look_for_deadlock_at(node, port, classes),
            }
        }
        self.later = later;
    }
}

/// The egress of a packet whose path is too long to be known beforehand.
#[inline(never)]
fn egress_by_table(config: &Config, routes: &[Route], node: NodeId, tag: Tag) -> PortId {
    let route = &routes[tag.flow().index()];
    let group = if tag.is_answer() { route.answers } else { route.group };
    let egress = config.table.next_hop(node, group, route.hash);
    egress.expect("routes were checked before the run")
}
