//! The short way of a packet through switches, for runs that nobody observes packet by packet.
//!
//! All events of a switch that can be handled in a row are handled in one loop, with its wires and its
//! events at hand. What is rarer leaves the loop, and is done as on the long way.

use pauseless_core::congestion::Feedback;
use pauseless_core::flow_control::Control;
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::port::Overrun;
use pauseless_core::switch::{
    AnyClasses, Arrival, Discipline, Driver, Known, OneBareClass, OneClass, OneClassOfCredit,
    Started, Switch, Transmit,
};
use pauseless_core::unit::{Bytes, Span, Time};

use super::flows::{Path, Route};
use super::telemetry::write_hop;
use super::{Simulator, Tally};
use crate::config::Config;
use crate::event::{Event, EventQueue, Kind, Limit, Opened};
use crate::fabric::{End, Fabric, Frame, Node, Packet, Sky, Traffic};
use crate::outcome::EgressQueue;
use crate::tag::{Tag, Trails};

/// The wires of a switch whose events are being handled.
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
    packet_max: Bytes,
    is_counting_credit: bool,
    control_frame: Bytes,
    overhead: Bytes,
    /// Whether a probe needs the traffic of ports.
    is_counting: bool,
    /// Whether packets that end at one instant have consequences after all of them.
    is_settling: bool,
    /// Whether a packet that arrives may be one that others have to wait for.
    grows: bool,
    /// The port and class of a packet that has arrived and is such a one.
    grown: Option<(PortId, Class)>,
    /// The packets that have arrived, when the last one did, and those whose transmission has ended.
    arrivals: u64,
    last_arrival: Time,
    departures: u64,
    /// The telemetry of packets, if switches write any.
    trails: Option<&'s mut Trails>,
    /// Whether deadlocks are looked for later, over all parts of the run, and whether there may be one.
    suspicion: Option<&'s mut bool>,
    /// What the rest of the simulator has to do at once.
    later: &'s mut Vec<Later>,
    /// The frames for other parts of the run, and when they arrive there.
    posted: &'s mut Vec<(PortId, Frame, Time)>,
}

/// What is rare and needs more than the wires.
#[derive(Clone, Copy, Debug)]
pub(super) enum Later {
    /// A port has sent a frame, and has begun or ceased to be held.
    Sent(PortId, Class),
    /// These classes of a port are stopped, and something has changed.
    Stopped(PortId, u8),
    /// A packet has arrived behind others in the FIFO of a port and class, or in a shared memory.
    Grown(PortId, Class),
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

    /// Puts a packet on the wire.
    #[inline(always)]
    fn send<W: Walk>(&mut self, switch: &Switch<Tag>, started: Started<Tag>) {
        let Started { port, packet, size, class, is_marked } = started;
        let index = self.first + port.index();
        if self.ends[index].held != 0 || W::Known::MAY_SPEND_CREDIT && self.is_counting_credit {
            self.look_at_hold(switch, port, class);
        }
        let end = &mut self.ends[index];
        if !W::Known::IS_BARE
            && let Some(trails) = &mut self.trails
        {
            write_hop(trails, switch, self.now, end, packet);
        }
        end.sent += size;
        let mut tag = packet;
        if is_marked {
            tag = packet.marked();
            self.tally.marked += u64::from(tag != packet);
        }
        let left = self.now + end.line.tx_span(size + self.overhead);
        self.queue.set_departure(&mut self.events, port, left);
        let (arrival, packet) = (left + end.delay, Packet::new(tag, size, class));
        if end.away != End::HERE {
            return self.posted.push((port, Frame::Data(packet), arrival));
        }
        let peer = &mut self.ends[end.peer as usize];
        if self.sky.launch_packet(peer, arrival, packet) {
            self.queue.push(peer.place(), Kind::Arrive, arrival);
        }
    }

    /// Puts a control frame on the wire.
    #[inline(never)]
    fn signal(&mut self, port: PortId, control: Control) {
        let index = self.first + port.index();
        let end = &mut self.ends[index];
        self.traffic[index].control_sent += self.control_frame;
        self.tally.count(control);
        let left = self.now + end.line.tx_span(self.control_frame + self.overhead);
        self.queue.set_departure(&mut self.events, port, left);
        let (arrival, frame) = (left + end.delay, Frame::Control(control));
        if end.away != End::HERE {
            return self.posted.push((port, frame, arrival));
        }
        let peer = &mut self.ends[end.peer as usize];
        if self.sky.launch(peer, arrival, frame) {
            self.queue.push(peer.place(), Kind::Arrive, arrival);
        }
    }

    /// Notes that a port which sends a frame has begun or ceased to be held.
    #[inline(never)]
    fn look_at_hold(&mut self, switch: &Switch<Tag>, port: PortId, class: Class) {
        let is_held = switch.port(port).is_held(self.now, class, self.packet_max);
        let was_held = self.ends[self.first + port.index()].held & 1 << class.0 != 0;
        if is_held != was_held {
            self.later.push(Later::Sent(port, class));
        }
    }

    /// Makes known what has happened, and says until when.
    #[inline(always)]
    fn close(self) -> Time {
        let Wires { now, tally, arrivals, departures, .. } = self;
        tally.events += arrivals + departures;
        tally.packet_hops += arrivals;
        tally.last_arrival = tally.last_arrival.max(self.last_arrival);
        self.queue.close(&self.events);
        now
    }

    /// Notes that a packet has arrived that others may have to wait for.
    #[inline(never)]
    fn grow(&mut self, port: PortId, class: Class) {
        match &mut self.suspicion {
            Some(is_suspicious) => **is_suspicious = true,
            None => self.later.push(Later::Grown(port, class)),
        }
    }
}

impl Driver<Tag> for Wires<'_> {
    #[inline]
    fn transmit(&mut self, switch: &Switch<Tag>, port: PortId, frame: Transmit<Tag>) {
        match frame {
            Transmit::Data { packet, size, class, is_marked } => {
                self.send::<Anyhow>(switch, Started { port, packet, size, class, is_marked });
            }
            Transmit::Control(control) => self.signal(port, control),
        }
    }

    #[inline]
    fn arm(&mut self, port: PortId, time: Time) {
        let end = &mut self.ends[self.first + port.index()];
        if time < end.armed {
            assert!(self.now < time, "a timeout that is due was not handled");
            end.armed = time;
            self.queue.set_timeout(&mut self.events, port, time);
        }
    }

    #[inline]
    fn stopped(&mut self, port: PortId, classes: u8) {
        match &mut self.suspicion {
            Some(is_suspicious) => **is_suspicious = true,
            None => self.later.push(Later::Stopped(port, classes)),
        }
    }
}

/// The way that packets take through switches.
pub(super) fn way(simulator: &Simulator<'_>) -> Way {
    if !is_lean(simulator) {
        return Way::Long;
    }
    let are_all = |is_so: fn(&Switch<Tag>) -> bool| {
        simulator.fabric.nodes.iter().all(|node| match node {
            Node::Switch(switch) => is_so(switch),
            Node::Host(_) => true,
        })
    };
    if !are_all(Switch::is_plain) {
        Way::Any
    } else if are_all(Switch::is_known_as::<OneBareClass>)
        && !simulator.is_trailing
        && !simulator.config.ingress.is_sharing()
    {
        Way::Bare
    } else if are_all(Switch::is_known_as::<OneClass>) {
        Way::One
    } else if are_all(Switch::is_known_as::<OneClassOfCredit>) {
        Way::OneOfCredit
    } else {
        Way::Plain
    }
}

/// Whether packets take the short way.
fn is_lean(simulator: &Simulator<'_>) -> bool {
    let config = simulator.config;
    config.discipline != Discipline::Software
        && !simulator.queue.is_long()
        && simulator.is_plain
        && !simulator.is_out_of_band
        && !simulator.wire_losses.is_any()
        && simulator.balancing.is_none()
        && simulator.config.changes.is_empty()
        && !simulator.mitigating.is_watching
        && !simulator.mitigating.is_breaking
        && simulator.tracer.is_none()
        && simulator.listening.is_none()
        && simulator.order.is_none()
        && config.wire_jitter == Span::ZERO
        && config.hardware.line_jitter == Span::ZERO
}

/// How the events of switches are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// In a row, by plain switches with one class, in which only ports and queues count packets.
    Bare,
    /// In a row, by plain switches with one class and without credits.
    One,
    /// In a row, by plain switches with one class.
    OneOfCredit,
    /// In a row, by plain switches.
    Plain,
    /// In a row, by any switches.
    Any,
    /// One by one, with all that can be asked about a packet.
    Long,
}

/// How one event after the other is handled, which is known when the loop over them is compiled.
trait Walk {
    /// Whether switches are plain.
    const IS_PLAIN: bool;
    /// What else is known of them.
    type Known: Known;
}

/// By plain switches of which this is known.
struct Plainly<K>(std::marker::PhantomData<K>);

/// By switches of which nothing is known.
struct Anyhow;

impl<K: Known> Walk for Plainly<K> {
    const IS_PLAIN: bool = true;
    type Known = K;
}

impl Walk for Anyhow {
    const IS_PLAIN: bool = false;
    type Known = AnyClasses;
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
    /// The switch wants to tell the source of a packet, which has just arrived at a port, of its
    /// congestion.
    Notify(PortId, Packet, Feedback),
}

impl Simulator<'_> {
    /// Handles the first event of a switch before `limit`, and further ones before `end`.
    pub(super) fn visit(&mut self, node: NodeId, limit: Limit, end: Limit) {
        let mut limit = limit;
        loop {
            let pause = match self.way {
                Way::Bare => self.handle_row::<Plainly<OneBareClass>>(node, limit, end),
                Way::One => self.handle_row::<Plainly<OneClass>>(node, limit, end),
                Way::OneOfCredit => self.handle_row::<Plainly<OneClassOfCredit>>(node, limit, end),
                Way::Plain => self.handle_row::<Plainly<AnyClasses>>(node, limit, end),
                Way::Any | Way::Long => self.handle_row::<Anyhow>(node, limit, end),
            };
            // Before what the long way sends, since wires keep the order of frames.
            self.post_all(node);
            match pause {
                Pause::Done => break,
                Pause::Other(event) => self.take(node, event),
                Pause::Later => {}
                Pause::Loss(port, packet, overrun) => {
                    let index = self.fabric.end_index(node, port);
                    self.lose(index, packet, overrun);
                    self.look_behind(index, packet.class);
                }
                Pause::Notify(port, packet, feedback) => {
                    self.notify(node, packet.tag, feedback);
                    self.drain_switch(node);
                    self.look_behind(self.fabric.end_index(node, port), packet.class);
                }
            }
            self.attend(node);
            limit = end;
        }
        self.queue.leave(node);
    }

    /// Handles events as long as they take the short way.
    #[inline(never)]
    fn handle_row<W: Walk>(&mut self, node: NodeId, mut limit: Limit, end: Limit) -> Pause {
        let Visit { switch, mut wires, ways } = self.open(node);
        let pause = loop {
            let Some(next) = wires.events.first(limit) else {
                break Pause::Done;
            };
            limit = end;
            let port = next.port;
            wires.now = next.time;
            let started = if next.is(Kind::Transmitted) {
                depart::<W>(switch, port, &mut wires)
            } else if next.is(Kind::Arrive)
                && let Some(packet) = wires.receive(port)
            {
                let egress = ways.egress::<W>(packet.tag);
                match arrive::<W>(switch, port, packet, egress, &mut wires) {
                    Ok(started) => started,
                    Err(pause) => break pause,
                }
            } else {
                break Pause::Other(next.at(wires.first + port.index()));
            };
            if let Some(started) = started {
                wires.send::<W>(switch, started);
            }
            if switch.is_ready::<W::Known>() {
                switch.serve(wires.now, &mut wires);
            }
            if !W::Known::IS_BARE
                && let Some((port, class)) = wires.grown.take()
            {
                wires.grow(port, class);
            }
            if !wires.later.is_empty() {
                break Pause::Later;
            }
        };
        self.now = wires.close();
        pause
    }

    /// Takes together what a visit to a switch needs.
    #[inline(always)]
    fn open(&mut self, node: NodeId) -> Visit<'_> {
        let config = self.config;
        let first = self.fabric.end_index(node, PortId(0));
        let Fabric { nodes, ends, sky, traffic, .. } = &mut self.fabric;
        let Node::Switch(switch) = &mut nodes[node.index()] else {
            unreachable!("only switches are visited");
        };
        let wires = Wires {
            now: self.now,
            first,
            ends,
            sky,
            traffic,
            events: self.queue.open(node),
            queue: &mut self.queue,
            tally: &mut self.tally,
            packet_max: self.packet_max,
            is_counting_credit: self.is_counting_credit,
            control_frame: config.hardware.control_frame,
            overhead: config.wire_overhead,
            is_counting: self.is_counting,
            is_settling: self.is_settling,
            grows: config.ingress.is_sharing() || self.blocks_heads,
            grown: None,
            arrivals: 0,
            last_arrival: Time::ZERO,
            departures: 0,
            trails: self.is_trailing.then_some(&mut self.trails),
            suspicion: self.away.as_mut().map(|away| &mut away.is_suspicious),
            later: &mut self.later,
            posted: &mut self.posted,
        };
        let is_notifying = config.congestion.control.notifies();
        let ways = Ways { node, config, paths: &self.paths, routes: &self.routes, is_notifying };
        Visit { switch, wires, ways }
    }

    /// Does what is left of an event.
    #[inline(always)]
    pub(super) fn attend(&mut self, node: NodeId) {
        if !self.later.is_empty() {
            self.attend_now(node);
        }
    }

    #[inline(never)]
    fn attend_now(&mut self, node: NodeId) {
        let first = self.fabric.end_index(node, PortId(0));
        let mut later = std::mem::take(&mut self.later);
        for what in later.drain(..) {
            match what {
                Later::Sent(port, class) => self.look_at_spread(first + port.index(), class),
                Later::Stopped(port, classes) => self.look_for_deadlock_at(node, port, classes),
                Later::Grown(port, class) => self.look_behind(first + port.index(), class),
            }
        }
        self.later = later;
    }

    /// Looks for a deadlock after a packet has arrived where others may have to wait for it.
    pub(super) fn look_behind(&mut self, index: usize, class: Class) {
        let End { node, peer, .. } = self.fabric.ends[index];
        if self.config.ingress.is_sharing() {
            self.look_for_deadlock_around(node);
        }
        if self.blocks_heads {
            // Packets behind a blocked head block the sender, wherever they go.
            let End { node, port, .. } = self.fabric.ends[peer as usize];
            self.look_for_deadlock(EgressQueue { node, port, class });
        }
    }

    /// Hands over the frames that leave for other parts of the run.
    #[inline(always)]
    pub(super) fn post_all(&mut self, node: NodeId) {
        if !self.posted.is_empty() {
            self.post_now(node);
        }
    }

    #[inline(never)]
    fn post_now(&mut self, node: NodeId) {
        let first = self.fabric.end_index(node, PortId(0));
        let mut posted = std::mem::take(&mut self.posted);
        for (port, frame, time) in posted.drain(..) {
            self.post(first + port.index(), time, frame);
        }
        self.posted = posted;
    }
}

/// What a visit to a switch needs.
struct Visit<'s> {
    switch: &'s mut Switch<Tag>,
    wires: Wires<'s>,
    ways: Ways<'s>,
}

/// The ways of packets through a switch.
struct Ways<'s> {
    node: NodeId,
    config: &'s Config,
    paths: &'s [Path],
    routes: &'s [Route],
    /// Whether feedback may come from a switch in the middle of a path.
    is_notifying: bool,
}

impl Ways<'_> {
    /// The egress of a packet.
    #[inline(always)]
    fn egress<W: Walk>(&self, tag: Tag) -> PortId {
        let path = &self.paths[2 * tag.flow().index() + usize::from(tag.is_answer())];
        let is_known = W::IS_PLAIN || !self.is_notifying || !tag.is_answer();
        match path.egress(tag.hops()) {
            Some(egress) if is_known => egress,
            _ => self.look_up(tag),
        }
    }

    /// The egress of a packet whose path is too long to be known beforehand, or begins at a switch.
    #[inline(never)]
    fn look_up(&self, tag: Tag) -> PortId {
        let route = &self.routes[tag.flow().index()];
        let group = if tag.is_answer() { route.answers } else { route.group };
        let egress = self.config.table.next_hop(self.node, group, route.hash);
        egress.expect("routes were checked before the run")
    }
}

/// Handles the arrival of a packet; returns the packet that leaves at once.
#[inline(always)]
fn arrive<W: Walk>(
    switch: &mut Switch<Tag>,
    port: PortId,
    packet: Packet,
    egress: PortId,
    wires: &mut Wires<'_>,
) -> Result<Option<Started<Tag>>, Pause> {
    let (now, class, size) = (wires.now, packet.class, packet.size());
    wires.arrivals += 1;
    wires.last_arrival = now;
    if wires.is_counting {
        wires.traffic[wires.first + port.index()].received += size;
    }
    let arrival = Arrival { packet: packet.tag.passed(), size, class, egress, leaving: class };
    let arrived = if W::IS_PLAIN {
        switch.arrive::<W::Known>(now, port, arrival)
    } else {
        match switch.handle_arrival(now, port, arrival) {
            Ok(Some(feedback)) => return Err(Pause::Notify(port, packet, feedback)),
            Ok(None) => Ok(None),
            Err(overrun) => Err(overrun),
        }
    };
    if !W::Known::IS_BARE && wires.grows {
        wires.grown = Some((port, class));
    }
    arrived.map_err(|overrun| Pause::Loss(port, packet, overrun))
}

/// Handles the end of a transmission; returns the packet that leaves next.
#[inline(always)]
fn depart<W: Walk>(
    switch: &mut Switch<Tag>,
    port: PortId,
    wires: &mut Wires<'_>,
) -> Option<Started<Tag>> {
    let now = wires.now;
    wires.departures += 1;
    if !W::IS_PLAIN {
        switch.handle_transmitted(now, port);
        switch.serve(now, wires);
        wires.queue.retire_departure(&mut wires.events, port, now);
        if wires.is_settling {
            settle(switch, wires);
        }
        return None;
    }
    let started = switch.depart::<W::Known>(now, port);
    if started.is_none() {
        wires.queue.set_departure(&mut wires.events, port, Time::MAX);
    }
    started
}

/// Lets an input-queued switch do what is left of this instant, after the last packet that ends in it.
#[inline(never)]
fn settle(switch: &mut Switch<Tag>, wires: &mut Wires<'_>) {
    let now = wires.now;
    let limit = wires.queue.before(Event::first_at(now.saturating_add(Span::ps(1))));
    if wires.events.first(limit).is_some_and(|next| next.is(Kind::Transmitted)) {
        return;
    }
    while switch.poll_ended(now) {
        switch.serve(now, wires);
    }
}
