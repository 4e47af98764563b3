//! The event loop: moves frames over wires and calls the core's machines.

mod away;
mod balance;
mod changes;
mod conserve;
mod flows;
mod hearing;
mod hosts;
mod mitigate;
mod order;
mod overtaking;
mod passage;
mod plain;
mod sharing;
mod signals;
mod stop;
mod tally;
mod tapping;
mod telemetry;
mod wire;

use std::sync::Arc;

pub(crate) use away::{Away, Message};
pub(crate) use balance::Balancing;
use changes::Changing;
use flows::{Followers, Path, Route};
pub(crate) use mitigate::Mitigating;
pub(crate) use stop::Stopping;
pub(crate) use tally::Tally;
pub(crate) use wire::WireLosses;

use pauseless_core::deadlock::{Detector, Network};
use pauseless_core::flow_control::{FlowControl, Signal, Upstream};
use pauseless_core::host::Outgoing;
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::switch::{Discipline, Transmit};
use pauseless_core::unit::{Bytes, Span, Time};

use crate::config::{Config, Reaction};
use crate::event::{Event, EventQueue, Kind, Place, Where};
use crate::fabric::{End, Fabric, Frame, Node, Packet};
use crate::heard::Listening;
use crate::outcome::{Deadlock, Outcome};
use crate::progress::FlowState;
use crate::provenance::{Seen, Tracer};
use crate::receiver::Receivers;
use crate::record::{self, Recorder};
use crate::reorder::Order;
use crate::replay::Recording;
use crate::rng::Stream;
use crate::served::Served;
use crate::spread::Spread;
use crate::tag::{Answers, Tag, Trails};
use crate::tap::{Direction, Tapped};

/// A run in progress.
#[derive(Debug)]
pub struct Simulator<'c> {
    pub(crate) config: &'c Config,
    pub(crate) fabric: Fabric,
    pub(crate) queue: EventQueue,
    /// For so long a node cannot notice what the others do; zero if all events need one order.
    pub(crate) window: Span,
    pub(crate) detector: Detector,
    pub(crate) recorder: Recorder,
    pub(crate) receivers: Receivers,
    pub(crate) now: Time,
    pub(crate) end: Time,
    pub(crate) flows: Vec<FlowState>,
    pub(crate) served: Served,
    /// The routes of all flows, close together for the packet path.
    routes: Arc<[Route]>,
    /// The paths of the packets of all flows, for those that take the short way.
    paths: Arc<[Path]>,
    followers: Followers,
    answers: Answers,
    trails: Trails,
    /// How far packets overtake each other, where they may take several paths.
    pub(crate) order: Option<Box<Order>>,
    /// The losses on wires.
    wire_losses: WireLosses,
    /// Whether switches write telemetry into packets.
    is_trailing: bool,
    pub(crate) spread: Spread,
    /// The largest packet of any flow.
    pub(crate) packet_max: Bytes,
    /// Whether packets keep their class and have no TTL.
    is_plain: bool,
    /// Whether a probe needs the traffic of ports.
    is_counting: bool,
    /// Whether any flow obeys congestion control.
    is_controlling: bool,
    /// Whether any sender spends credits.
    is_counting_credit: bool,
    /// Whether any port sends control frames outside its wire.
    is_out_of_band: bool,
    /// Whether packets that end at one instant have consequences after all of them, in input queues.
    is_settling: bool,
    /// Whether a blocked head blocks what is behind it.
    blocks_heads: bool,
    /// The way that packets take through switches.
    way: plain::Way,
    /// What is left of the event that is being handled.
    later: Vec<plain::Later>,
    /// The frames for other parts of the run that the switch which is being visited has sent.
    posted: Vec<(PortId, Frame, Time)>,
    pub(crate) mitigating: Mitigating,
    /// The rules by which switches choose among next hops, if not all packets go by their flow's hash.
    pub(crate) balancing: Option<Box<Balancing>>,
    /// What has happened to the network, where something does.
    changing: Option<Box<Changing>>,
    /// What ends the run before its duration is over.
    pub(crate) stopping: Stopping,
    /// The recorder of where pauses come from, if asked for.
    pub(crate) tracer: Option<Box<Tracer>>,
    /// The recorder of the state of all ports, if asked for.
    pub(crate) replay: Option<Box<Recording>>,
    /// The capture of all frames, if asked for.
    tapped: Tapped<'c>,
    /// The recorder of PFC frames and queue lengths, if asked for.
    listening: Option<Box<Listening>>,
    /// The frames for other parts, if this is one part of a run.
    pub(crate) away: Option<Box<Away>>,
    pub(crate) tally: Tally,
}

impl<'c> Simulator<'c> {
    /// A run at time zero.
    pub fn new(config: &'c Config) -> Simulator<'c> {
        let fabric = Fabric::new(config);
        assert!(fabric.port_count() < Event::INDEX_MAX, "too many ports");
        assert!(config.flows.len() < Event::INDEX_MAX, "too many flows");
        let mut simulator = Simulator {
            config,
            queue: event_queue(config, |_| Where::Here),
            window: Span::ZERO,
            detector: Detector::new(&fabric),
            recorder: Recorder::new(config),
            receivers: Receivers::new(&config.receivers),
            now: Time::ZERO,
            end: Time::ZERO + config.duration,
            flows: vec![FlowState::default(); config.flows.len()],
            served: Served::new(config),
            routes: config.flows.iter().map(Route::new).collect(),
            paths: Arc::default(),
            followers: Followers::new(config),
            answers: Answers::default(),
            trails: Trails::default(),
            order: Order::new(config),
            wire_losses: WireLosses::new(config, &fabric),
            is_trailing: config.congestion.control.has_telemetry(),
            spread: Spread::new(fabric.port_count(), flows::round_trip(config)),
            packet_max: flows::packet_max(config),
            is_plain: passage::is_plain(config),
            is_counting: config.probes.resolution > Span::ZERO,
            is_controlling: config.flows.iter().any(|flow| flow.reaction != Reaction::None),
            is_counting_credit: fabric.may_spend_credit(),
            is_out_of_band: config.hardware.is_out_of_band()
                || config.ingress.any(|control| matches!(control, FlowControl::GfcConceptual(_))),
            is_settling: matches!(config.discipline, Discipline::InputQueued(_)),
            blocks_heads: config.discipline.blocks_heads(),
            way: plain::Way::Long,
            later: Vec::new(),
            posted: Vec::new(),
            mitigating: Mitigating::new(config),
            balancing: Balancing::new(config, fabric.port_count()),
            changing: Changing::new(config, &fabric),
            stopping: Stopping::new(config),
            tracer: config.is_tracing.then(|| Box::new(Tracer::new(config, fabric.port_count()))),
            replay: Recording::new(config, fabric.port_count()).map(Box::new),
            tapped: Tapped::default(),
            listening: Listening::new(&config.probes, fabric.port_count()),
            away: None,
            tally: Tally::default(),
            fabric,
        };
        simulator.way = plain::way(&simulator);
        if simulator.way != plain::Way::Long {
            simulator.paths = Path::all(config);
        }
        simulator.schedule_start();
        simulator
    }

    fn schedule_start(&mut self) {
        for (index, flow) in self.config.flows.iter().enumerate() {
            let index = index as u32;
            if self.followers.is_free(index) {
                self.queue.push_at(flow.source, Event::new(flow.start, Kind::FlowStart, index));
            }
            if flow.stop < self.end {
                self.queue.push_at(flow.target, Event::new(flow.stop, Kind::FlowStop, index));
            }
        }
        for index in 0..self.fabric.port_count() {
            let End { node, port, .. } = self.fabric.ends[index];
            let wanted = match &self.fabric.nodes[node.index()] {
                Node::Switch(switch) => switch.poll_timeout(port),
                Node::Host(host) => host.poll_timeout(),
            };
            self.arm(index, wanted);
        }
        if let Some(first) = self.recorder.next_sample() {
            self.queue.push_whole(Event::new(first, Kind::Sample, 0));
        }
        if self.replay.is_some() {
            self.queue.push_whole(Event::new(self.now, Kind::Snapshot, 0));
        }
        self.schedule_look();
        self.schedule_changes();
    }

    /// Runs to the end.
    pub fn run(mut self) -> Outcome {
        while self.advance(self.end) {}
        self.finish()
    }

    /// Simulated time so far.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The deadlock that was found, as soon as it was.
    pub fn deadlock(&self) -> Option<&Deadlock> {
        self.tally.deadlock.as_ref()
    }

    /// An estimate of the heap memory in use, for benchmarks.
    pub fn heap_bytes(&self) -> usize {
        self.fabric.heap_bytes()
    }

    /// Checks that no byte is unaccounted for, and returns what was found.
    pub fn finish(self) -> Outcome {
        self.assert_conserved();
        record::outcome(self)
    }

    fn on_arrive(&mut self, index: usize) {
        let end = &mut self.fabric.ends[index];
        let landed = self.fabric.sky.land(end);
        let (frame, next) = landed.expect("an arrival event has a frame on the wire");
        let (node, port) = (end.node, end.port);
        self.queue.push_here(Place { node, port }, Kind::Arrive, next);
        if self.tapped.0.is_some() {
            self.show(index, Direction::In, frame);
        }
        match frame {
            Frame::Control(control) => {
                if self.wire_losses.loses_control(index) {
                    self.tally.lost_control_frames += 1;
                    return;
                }
                if let Some(listening) = &mut self.listening {
                    listening.hear(self.now, &self.fabric.ends[index], control);
                }
                let stream = &mut self.fabric.jitters[index].processing;
                let extra = draw(stream, self.config.processing_jitter);
                let due = self.now + self.config.processing + extra;
                match &mut self.fabric.nodes[node.index()] {
                    Node::Switch(switch) => switch.handle_control(port, control),
                    Node::Host(host) => host.handle_control(control),
                }
                self.schedule_signal(index, due, control);
            }
            Frame::Data(packet) => {
                if self.wire_losses.is_any() && self.wire_losses.loses(index, packet.size()) {
                    return self.lose_on_wire(index, packet);
                }
                if self.is_counting {
                    self.fabric.traffic[index].received += packet.size();
                }
                self.tally.packet_hops += 1;
                self.tally.last_arrival = self.tally.last_arrival.max(self.now);
                match &self.fabric.nodes[node.index()] {
                    Node::Switch(_) => self.on_switch_arrival(index, packet),
                    Node::Host(_) => self.on_host_arrival(index, packet),
                }
            }
        }
    }

    fn on_host_arrival(&mut self, index: usize, packet: Packet) {
        let (size, class) = (packet.size(), packet.class);
        let node = self.fabric.ends[index].node;
        let now = self.now;
        let Node::Host(host) = &mut self.fabric.nodes[node.index()] else {
            unreachable!("asked by the caller");
        };
        if let Err(overrun) = host.handle_arrival(now, class, size) {
            self.lose(index, packet, overrun);
            return;
        }
        match self.receivers.of(node) {
            None => self.consume(node, packet),
            Some(position) => {
                if self.receivers.push(position, packet) {
                    self.schedule_consumption(position);
                }
            }
        }
        self.drain_host(node);
    }

    fn on_transmitted(&mut self, index: usize, event: Event) {
        let End { node, port, .. } = self.fabric.ends[index];
        match &mut self.fabric.nodes[node.index()] {
            Node::Switch(switch) => {
                switch.handle_transmitted(self.now, port);
                self.drain_switch(node);
                if self.is_settling {
                    self.queue.retire(node, event);
                    self.settle(node);
                }
            }
            Node::Host(host) => {
                host.handle_transmitted(self.now);
                self.drain_host(node);
            }
        }
    }

    /// Lets an input-queued switch do what is left of this instant, after the last packet that ends in it.
    fn settle(&mut self, node: NodeId) {
        let later = Event::first_at(self.now.saturating_add(Span::ps(1)));
        let next = self.queue.first_of(node, self.queue.before(later));
        if next.is_some_and(|event| event.kind() == Kind::Transmitted) {
            return;
        }
        loop {
            let Node::Switch(switch) = &mut self.fabric.nodes[node.index()] else {
                unreachable!("asked by the caller");
            };
            if !switch.poll_ended(self.now) {
                return;
            }
            self.drain_switch(node);
        }
    }

    fn on_timeout(&mut self, index: usize) {
        let end = &mut self.fabric.ends[index];
        end.armed = Time::MAX;
        let (node, port) = (end.node, end.port);
        match &mut self.fabric.nodes[node.index()] {
            Node::Switch(switch) => {
                switch.handle_timeout(self.now, port);
                if self.mitigating.is_watching {
                    self.note_trips(node);
                }
                self.drain_switch(node);
                if matches!(self.config.discipline, Discipline::Software) {
                    self.look_for_deadlock_above(node);
                }
            }
            Node::Host(host) => {
                host.handle_timeout(self.now);
                self.drain_host(node);
            }
        }
    }

    fn on_signal(&mut self, index: usize) {
        let end = &mut self.fabric.ends[index];
        let (node, port) = (end.node, end.port);
        let controls = &mut self.fabric.controls;
        let (_, control) =
            controls.pop_front(&mut end.signals).expect("a signal event has a control frame");
        let kind = self.config.hardware.ties.signal();
        match controls.front(&end.signals) {
            Some((next, _)) => self.queue.push(Place { node, port }, kind, *next),
            None => self.queue.clear(Place { node, port }, kind),
        }
        let is_gfc =
            matches!(control.signal, Signal::Stage(_) | Signal::Free(_) | Signal::Level(_));
        let was_held = is_gfc && self.is_held(node, port, control.class);
        if matches!(control.signal, Signal::Pause { quanta } if quanta > 0)
            && self.fabric.ends[index].held & 1 << control.class.0 == 0
        {
            self.spread.on_pause(index);
        }
        match &mut self.fabric.nodes[node.index()] {
            Node::Switch(switch) => switch.handle_signal(self.now, port, control),
            Node::Host(host) => host.handle_signal(self.now, control),
        }
        if self.tracer.is_some() && matches!(control.signal, Signal::Pause { quanta: 0 }) {
            self.trace(|tracer, seen| tracer.handle_release(seen, index, control.class));
        }
        let is_held = is_gfc && self.is_held(node, port, control.class);
        self.tally.gfc_holds += u64::from(is_held && !was_held);
        self.look_at_spread(index, control.class);
        self.drain(node);
    }

    /// Records whether the sender at an end starts or ceases to be stopped or slowed down.
    #[inline(never)]
    fn look_at_spread(&mut self, index: usize, class: Class) {
        let End { node, port, .. } = self.fabric.ends[index];
        let port = match &self.fabric.nodes[node.index()] {
            Node::Switch(switch) => switch.port(port),
            Node::Host(host) => host.port(),
        };
        let is_held = port.is_held(self.now, class, self.packet_max);
        let bit = 1 << class.0;
        let held = &mut self.fabric.ends[index].held;
        if is_held != (*held & bit != 0) {
            *held ^= bit;
            self.spread.on_change(self.now, index, is_held);
        }
    }

    /// Whether a sender is stopped.
    fn is_held(&self, node: NodeId, port: PortId, class: Class) -> bool {
        let port = match &self.fabric.nodes[node.index()] {
            Node::Switch(switch) => switch.port(port),
            Node::Host(host) => host.port(),
        };
        port.upstream(class).rate(self.now).is_none()
    }

    fn drain(&mut self, node: NodeId) {
        match &self.fabric.nodes[node.index()] {
            Node::Switch(_) => self.drain_switch(node),
            Node::Host(_) => self.drain_host(node),
        }
    }

    fn schedule_consumption(&mut self, position: usize) {
        if let Some(due) = self.receivers.due(position, self.now) {
            let node = self.config.receivers[position].host;
            self.queue.push_at(node, Event::new(due, Kind::Consume, position as u32));
        }
    }

    fn on_consume(&mut self, position: usize) {
        let (node, packet) = self.receivers.pop(position);
        self.consume(node, packet);
        self.schedule_consumption(position);
        self.drain_host(node);
    }

    /// Lets every port of a switch that may have something to send send it.
    #[inline(always)]
    fn drain_switch(&mut self, node: NodeId) {
        if self.mitigating.is_watching {
            self.drop_tripped(node);
        }
        self.serve_switch(node);
    }

    fn serve_switch(&mut self, node: NodeId) {
        let now = self.now;
        let first = self.fabric.end_index(node, PortId(0));
        loop {
            let Node::Switch(switch) = &mut self.fabric.nodes[node.index()] else {
                unreachable!("asked by the caller");
            };
            let Some(port) = switch.poll_ready() else {
                return;
            };
            let index = first + port.index();
            let transmit = switch.poll_transmit(now, port);
            let stopped = switch.stopped(port);
            let wanted = switch.poll_timeout(port);
            if let Some(transmit) = transmit {
                if self.is_trailing {
                    self.write_hop(index, transmit);
                }
                self.transmit(index, transmit);
                self.look_at_sent(index, transmit);
                if self.mitigating.open > 0 {
                    self.note_movement(index, transmit);
                }
            }
            self.arm(index, wanted);
            if self.is_out_of_band {
                self.send_out_of_band(index);
            }
            if stopped != 0 {
                self.look_for_deadlock_at(node, port, stopped);
            }
        }
    }

    fn drain_host(&mut self, node: NodeId) {
        if self.way != plain::Way::Long {
            let mut at = self.open_host(node);
            at.drain();
            at.close();
            self.post_all(node);
            return self.attend(node);
        }
        let index = self.fabric.end_index(node, PortId(0));
        let Node::Host(host) = &mut self.fabric.nodes[node.index()] else {
            unreachable!("asked by the caller");
        };
        let transmit = host.poll_transmit(self.now);
        let wanted = host.poll_timeout();
        if let Some(transmit) = transmit {
            self.send(index, transmit);
        }
        self.arm(index, wanted);
        if self.is_out_of_band {
            self.send_out_of_band(index);
        }
    }

    /// Puts a frame of a host on the wire.
    #[inline(never)]
    fn send(&mut self, index: usize, transmit: Transmit<Outgoing>) {
        let transmit = self.tag(transmit);
        self.transmit(index, transmit);
        self.look_at_sent(index, transmit);
    }

    /// Handles a frame that has started: it may show that a pause has expired, use up the last
    /// credit, or be a pause.
    #[inline]
    fn look_at_sent(&mut self, index: usize, transmit: Transmit<Tag>) {
        match transmit {
            Transmit::Data { class, .. } => {
                if self.fabric.ends[index].held != 0 || self.is_counting_credit {
                    self.look_at_spread(index, class);
                }
            }
            Transmit::Control(control) => {
                if self.tracer.is_some() {
                    self.trace(|tracer, seen| tracer.handle_control(seen, index, control));
                }
            }
        }
    }

    /// Calls the tracer, if there is one.
    #[cold]
    fn trace(&mut self, tell: impl FnOnce(&mut Tracer, Seen<'_>)) {
        if let Some(tracer) = &mut self.tracer {
            let seen = Seen {
                now: self.now,
                config: self.config,
                fabric: &self.fabric,
                flows: &self.flows,
            };
            tell(tracer, seen);
        }
    }

    /// Puts a frame on the wire.
    #[inline(always)]
    fn transmit(&mut self, index: usize, transmit: Transmit<Tag>) {
        let Fabric { ends, sky, jitters, traffic, .. } = &mut self.fabric;
        let end = &mut ends[index];
        let (frame, size) = match transmit {
            Transmit::Data { packet, size, class, is_marked } => {
                end.sent += size;
                if let Some(listening) = &mut self.listening {
                    listening.leave(self.now, index, size);
                }
                let tag = if is_marked { packet.marked() } else { packet };
                self.tally.marked += u64::from(tag != packet);
                (Frame::Data(Packet::new(tag, size, class)), size)
            }
            Transmit::Control(control) => {
                traffic[index].control_sent += self.config.hardware.control_frame;
                self.tally.count(control);
                (Frame::Control(control), self.config.hardware.control_frame)
            }
        };
        let size = size + self.config.wire_overhead;
        let longer = draw(&mut jitters[index].line, self.config.hardware.line_jitter);
        let left = self.now + end.line.tx_span(size) + longer;
        self.queue.push_here(end.place(), Kind::Transmitted, left);
        let mut arrival = left + end.delay;
        if self.config.wire_jitter > Span::ZERO {
            let jitter = &mut jitters[index];
            // A wire keeps the order of its frames.
            arrival = arrival + draw(&mut jitter.wire, self.config.wire_jitter);
            arrival = arrival.max(jitter.last_arrival);
            jitter.last_arrival = arrival;
        }
        let peer = end.peer;
        if end.away != End::HERE {
            return self.post(index, arrival, frame);
        }
        let peer = &mut ends[peer as usize];
        if sky.launch(peer, arrival, frame) {
            self.queue.push(peer.place(), Kind::Arrive, arrival);
        }
        if self.tapped.0.is_some() {
            self.show(index, Direction::Out, frame);
        }
    }

    /// Schedules a timeout event for when the port wants one, unless it is pending already.
    #[inline(always)]
    fn arm(&mut self, index: usize, wanted: Time) {
        if wanted < self.fabric.ends[index].armed {
            self.rearm(index, wanted);
        }
    }

    #[inline(never)]
    fn rearm(&mut self, index: usize, wanted: Time) {
        assert!(self.now < wanted, "a timeout that is due was not handled");
        let end = &mut self.fabric.ends[index];
        end.armed = wanted;
        self.queue.push(end.place(), Kind::Timeout, wanted);
    }
}

/// A queue for the events of the nodes that are here.
pub(crate) fn event_queue(config: &Config, place: impl Fn(NodeId) -> Where) -> EventQueue {
    let nodes = (0..config.topology.nodes().len()).map(|node| NodeId(node as u32));
    let nodes = nodes.map(|node| (config.topology.ports(node).len(), place(node)));
    EventQueue::new(nodes, Time::ZERO + config.duration)
}

/// A random span below `bound`; draws nothing if that is zero.
#[inline]
fn draw(stream: &mut Stream, bound: Span) -> Span {
    if bound == Span::ZERO {
        return Span::ZERO;
    }
    Span::ps(stream.below(bound.as_ps()))
}
