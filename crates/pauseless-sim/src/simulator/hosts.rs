//! The short way of a packet through hosts, for runs that nobody observes packet by packet.
//!
//! As at switches, the events of a host that can be handled in a row are handled in one loop. What is
//! rarer leaves the loop: the first and the last packet of a flow, control frames, losses.

use pauseless_core::congestion::Received;
use pauseless_core::congestion::telemetry::Echo;
use pauseless_core::flow_control::Control;
use pauseless_core::host::{Host, Outgoing};
use pauseless_core::id::{Class, FlowId, NodeId, PortId};
use pauseless_core::port::Overrun;
use pauseless_core::switch::Transmit;
use pauseless_core::transport::Finish;
use pauseless_core::unit::{Bytes, Time};

use super::mitigate::add;
use super::plain::Later;
use super::{Simulator, Stopping, Tally};
use crate::config::{Config, Reaction};
use crate::event::{Due, EventQueue, Kind, Limit, OpenedHost};
use crate::fabric::{End, Fabric, Frame, Node, Packet, Sky, Traffic};
use crate::progress::FlowState;
use crate::served::Served;
use crate::tag::{Answers, Content, Tag, Trails};

/// A host whose events are being handled, and what they need.
pub(super) struct AtHost<'s> {
    now: Time,
    /// The number of its port.
    index: usize,
    pub(super) host: &'s mut Host,
    ends: &'s mut [End],
    sky: &'s mut Sky,
    traffic: &'s mut [Traffic],
    queue: &'s mut EventQueue,
    events: OpenedHost,
    config: &'s Config,
    answers: &'s mut Answers,
    trails: &'s mut Trails,
    flows: &'s mut [FlowState],
    served: &'s mut Served,
    stopping: &'s mut Stopping,
    tally: &'s mut Tally,
    packet_max: Bytes,
    /// Whether any flow obeys congestion control.
    is_controlling: bool,
    /// Whether switches write telemetry into packets.
    is_trailing: bool,
    /// Whether a probe needs the traffic of ports.
    is_counting: bool,
    is_counting_credit: bool,
    /// The events that were handled, the packets that have arrived, and when the last one did.
    handled: u64,
    arrivals: u64,
    last_arrival: Time,
    /// What the rest of the simulator has to do at once.
    later: &'s mut Vec<Later>,
    /// The frames for other parts of the run, and when they arrive there.
    posted: &'s mut Vec<(PortId, Frame, Time)>,
}

/// What a packet that a host has taken out of its buffer leads to, where that is rare.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rare {
    /// The packet may be the first of its flow or the one that completes it: nothing has been done yet.
    Edge(Packet),
    /// The source of a flow has learnt that it is complete.
    Complete(FlowId),
}

/// Why a visit to a host is interrupted.
enum Pause {
    /// Nothing is due any more.
    Done,
    /// The first event takes the long way.
    Other,
    /// The last event has rare consequences.
    Later,
    /// A packet that has just arrived has them.
    Rare(Rare),
    /// A packet that has just arrived does not fit.
    Loss(Packet, Overrun),
}

impl Simulator<'_> {
    /// Handles the first event of a host before `limit`, and further ones before `end`.
    pub(super) fn visit_host(&mut self, node: NodeId, limit: Limit, end: Limit) {
        let mut limit = limit;
        loop {
            let pause = self.handle_row_of_host(node, limit, end);
            // Before what the long way sends, since wires keep the order of frames.
            self.post_all(node);
            self.attend(node);
            match pause {
                Pause::Done => break,
                Pause::Later => {}
                Pause::Other => {
                    let event = self.queue.first_of(node, Limit::NONE);
                    self.take(node, event.expect("the loop has seen it"));
                }
                Pause::Rare(rare) => {
                    self.accept_rarely(node, rare);
                    self.drain_host(node);
                }
                Pause::Loss(packet, overrun) => {
                    self.lose(self.fabric.end_index(node, PortId(0)), packet, overrun);
                }
            }
            limit = end;
        }
        self.queue.leave(node);
    }

    /// Handles events as long as they take the short way.
    #[inline(never)]
    fn handle_row_of_host(&mut self, node: NodeId, mut limit: Limit, end: Limit) -> Pause {
        let mut at = self.open_host(node);
        let pause = loop {
            let Some((time, due)) = at.events.first(limit) else {
                break Pause::Done;
            };
            limit = end;
            match due {
                Due::Arrival => {
                    let Some(packet) = at.receive(time) else {
                        break Pause::Other;
                    };
                    if let Err(overrun) = at.host.handle_passage(time, packet.class, packet.size())
                    {
                        break Pause::Loss(packet, overrun);
                    }
                    if let Err(rare) = at.accept(packet) {
                        break Pause::Rare(rare);
                    }
                }
                Due::Departure => at.handle_transmitted(time),
                Due::Timeout => at.handle_timeout(time),
                Due::Other => break Pause::Other,
            }
            at.drain();
            if !at.later.is_empty() {
                break Pause::Later;
            }
        };
        self.now = at.close();
        pause
    }

    /// Takes together what a visit to a host needs.
    #[inline(always)]
    pub(super) fn open_host(&mut self, node: NodeId) -> AtHost<'_> {
        let index = self.fabric.end_index(node, PortId(0));
        let Fabric { nodes, ends, sky, traffic, .. } = &mut self.fabric;
        let Node::Host(host) = &mut nodes[node.index()] else {
            unreachable!("asked by the caller");
        };
        AtHost {
            now: self.now,
            index,
            host,
            ends,
            sky,
            traffic,
            events: self.queue.open_host(node),
            queue: &mut self.queue,
            config: self.config,
            answers: &mut self.answers,
            trails: &mut self.trails,
            flows: &mut self.flows,
            served: &mut self.served,
            stopping: &mut self.stopping,
            tally: &mut self.tally,
            packet_max: self.packet_max,
            is_controlling: self.is_controlling,
            is_trailing: self.is_trailing,
            is_counting: self.is_counting,
            is_counting_credit: self.is_counting_credit,
            handled: 0,
            arrivals: 0,
            last_arrival: Time::ZERO,
            later: &mut self.later,
            posted: &mut self.posted,
        }
    }

    /// Does what [`AtHost::accept`] has left undone.
    #[cold]
    pub(super) fn accept_rarely(&mut self, node: NodeId, rare: Rare) {
        match rare {
            Rare::Edge(packet) => self.accept_at_edge(node, packet),
            Rare::Complete(flow) => {
                if self.config.transport.finish == Finish::Source {
                    self.finish_flow(flow);
                }
            }
        }
    }
}

impl AtHost<'_> {
    /// Takes the packet that has arrived off the wire; `None` if it is a control frame.
    #[inline(always)]
    fn receive(&mut self, time: Time) -> Option<Packet> {
        let (packet, next) = self.sky.land_packet(&mut self.ends[self.index])?;
        self.begin(time);
        self.events.set_arrival(next);
        self.arrivals += 1;
        self.last_arrival = time;
        if self.is_counting {
            self.traffic[self.index].received += packet.size();
        }
        Some(packet)
    }

    /// The instant that is being handled.
    pub(super) fn now(&self) -> Time {
        self.now
    }

    /// Begins to handle the first event.
    #[inline(always)]
    fn begin(&mut self, time: Time) {
        self.now = time;
        self.handled += 1;
    }

    #[inline(always)]
    fn handle_transmitted(&mut self, time: Time) {
        self.begin(time);
        self.events.set_departure(Time::MAX);
        self.host.handle_transmitted(time);
    }

    #[inline(always)]
    fn handle_timeout(&mut self, time: Time) {
        self.begin(time);
        self.events.set_timeout(Time::MAX);
        self.ends[self.index].armed = Time::MAX;
        self.host.handle_timeout(time);
    }

    /// Handles a packet that the host has taken out of its ingress buffer, unless that is rare.
    #[inline(always)]
    pub(super) fn accept(&mut self, packet: Packet) -> Result<(), Rare> {
        let (flow, size) = (packet.tag.flow(), packet.size());
        if let Content::Answer { place } = packet.tag.content() {
            self.tally.answered_bytes += size;
            return self.tell(flow, place);
        }
        let state = &mut self.flows[flow.index()];
        let is_last = state.delivered + size == self.config.flows[flow.index()].size;
        if is_last || state.expired > Bytes::ZERO {
            return Err(Rare::Edge(packet));
        }
        let mut is_new = true;
        if self.is_controlling {
            let received = received(packet, self.trails);
            let taken = self.host.handle_data(self.now, flow, received);
            let taken = taken.ok_or(Rare::Edge(packet))?;
            if received.echo != Echo::NONE && !taken.is_echoed {
                self.trails.remove(received.echo.0);
            }
            is_new = taken.is_new;
        }
        self.stopping.gone += size;
        if is_new {
            state.delivered += size;
            self.served.deliver(self.now, flow, size);
        } else {
            add(&mut self.tally.refused, size);
        }
        Ok(())
    }

    /// Delivers feedback to the source of a flow.
    #[inline(always)]
    fn tell(&mut self, flow: FlowId, place: u32) -> Result<(), Rare> {
        let feedback = self.answers.remove(place);
        let is_complete = match feedback.echo() {
            Echo::NONE => self.host.handle_feedback(self.now, flow, feedback),
            Echo(place) => {
                let hops = self.trails.get(place).hops();
                let is_complete = self.host.handle_telemetry(self.now, flow, feedback, hops);
                self.trails.remove(place);
                is_complete
            }
        };
        if is_complete { Err(Rare::Complete(flow)) } else { Ok(()) }
    }

    /// Lets the host send what it has, and schedules its next timeout.
    #[inline(always)]
    pub(super) fn drain(&mut self) {
        match self.host.poll_transmit(self.now) {
            None => {}
            Some(Transmit::Data { packet, size, class, .. }) => self.send(packet, size, class),
            Some(Transmit::Control(control)) => self.signal(control),
        }
        let wanted = self.host.poll_timeout();
        let end = &mut self.ends[self.index];
        if wanted < end.armed {
            assert!(self.now < wanted, "a timeout that is due was not handled");
            end.armed = wanted;
            self.events.set_timeout(wanted);
        }
    }

    /// Puts a packet on the wire.
    #[inline(always)]
    fn send(&mut self, packet: Outgoing, size: Bytes, class: Class) {
        let tag = self.tag(packet, size);
        let end = &mut self.ends[self.index];
        end.sent += size;
        let left = self.now + end.line.tx_span(size + self.config.wire_overhead);
        let is_held = end.held != 0;
        self.events.set_departure(left);
        let (arrival, packet) = (left + end.delay, Packet::new(tag, size, class));
        if end.away == End::HERE {
            let peer = &mut self.ends[end.peer as usize];
            if self.sky.launch_packet(peer, arrival, packet) {
                self.queue.push(peer.place(), Kind::Arrive, arrival);
            }
        } else {
            self.posted.push((PortId(0), Frame::Data(packet), arrival));
        }
        if is_held || self.is_counting_credit {
            self.look_at_hold(class);
        }
    }

    /// The handle of a packet of the host, which travels through the network from now on.
    #[inline(always)]
    fn tag(&mut self, packet: Outgoing, size: Bytes) -> Tag {
        match packet {
            Outgoing::Answer { flow, feedback } => {
                self.tally.count_answer(feedback, size);
                Tag::answer(flow, self.answers.insert(feedback))
            }
            Outgoing::Data { flow, sequence, .. } => {
                self.stopping.sent += size;
                if self.is_trailing && self.config.flows[flow.index()].reaction != Reaction::None {
                    Tag::trailed(flow, self.trails.insert(sequence))
                } else {
                    Tag::data(flow, sequence)
                }
            }
        }
    }

    /// Puts a control frame on the wire.
    #[inline(never)]
    fn signal(&mut self, control: Control) {
        let size = self.config.hardware.control_frame;
        self.traffic[self.index].control_sent += size;
        self.tally.count(control);
        let end = &mut self.ends[self.index];
        let left = self.now + end.line.tx_span(size + self.config.wire_overhead);
        self.events.set_departure(left);
        let (arrival, frame) = (left + end.delay, Frame::Control(control));
        if end.away != End::HERE {
            return self.posted.push((PortId(0), frame, arrival));
        }
        let peer = &mut self.ends[end.peer as usize];
        if self.sky.launch(peer, arrival, frame) {
            self.queue.push(peer.place(), Kind::Arrive, arrival);
        }
    }

    /// Notes that the port has begun or ceased to be held.
    #[inline(never)]
    fn look_at_hold(&mut self, class: Class) {
        let is_held = self.host.port().is_held(self.now, class, self.packet_max);
        let was_held = self.ends[self.index].held & 1 << class.0 != 0;
        if is_held != was_held {
            self.later.push(Later::Sent(PortId(0), class));
        }
    }

    /// Makes known what has happened, and says until when.
    #[inline(always)]
    pub(super) fn close(self) -> Time {
        let AtHost { now, tally, handled, arrivals, .. } = self;
        tally.events += handled;
        tally.packet_hops += arrivals;
        tally.last_arrival = tally.last_arrival.max(self.last_arrival);
        self.queue.close_host(&self.events);
        now
    }
}

/// A packet of data as the host sees it.
#[inline(always)]
pub(super) fn received(packet: Packet, trails: &Trails) -> Received {
    let size = packet.size();
    match packet.tag.content() {
        Content::Data { sequence, is_marked } => {
            Received { size, sequence, is_marked, echo: Echo::NONE }
        }
        Content::Trailed { place, is_marked } => {
            Received { size, sequence: trails.get(place).sequence, is_marked, echo: Echo(place) }
        }
        Content::Answer { .. } => unreachable!("asked by the caller"),
    }
}
