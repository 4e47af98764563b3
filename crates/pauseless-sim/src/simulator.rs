//! The event loop: moves frames over wires and calls the core's machines.

use std::collections::VecDeque;

use pauseless_core::flow_control::{Control, Signal};
use pauseless_core::host::Sender;
use pauseless_core::id::{Class, FlowId, NodeId, PortId};
use pauseless_core::port::Overrun;
use pauseless_core::switch::{Arrival, Discipline, Transmit};
use pauseless_core::unit::{Bytes, Span, Time};

use crate::config::Config;
use crate::deadlock::{Detector, may_block};
use crate::event::{Event, EventQueue, Kind};
use crate::fabric::{End, Fabric, Frame, Node};
use crate::outcome::{Deadlock, EgressQueue, Loss, Outcome};
use crate::record::Recorder;

/// A run in progress.
#[derive(Debug)]
pub struct Simulator<'c> {
    pub(crate) config: &'c Config,
    pub(crate) fabric: Fabric,
    queue: EventQueue,
    detector: Detector,
    recorder: Recorder,
    receivers: Vec<ReceiverState>,
    pub(crate) now: Time,
    end: Time,
    pub(crate) flows: Vec<FlowState>,
    pub(crate) tally: Tally,
}

/// What a flow has achieved.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowState {
    pub delivered: Bytes,
    pub finish: Option<Time>,
}

/// Counters and findings of the whole run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub events: u64,
    pub packet_hops: u64,
    pub lost_packets: u64,
    pub lost_bytes: Bytes,
    pub loss: Option<Loss>,
    pub pause_frames: u64,
    pub feedback_frames: u64,
    pub deadlock: Option<Deadlock>,
    pub last_arrival: Time,
}

/// Packets that a slow host has not taken yet.
#[derive(Clone, Debug)]
struct ReceiverState {
    host: NodeId,
    steps: Vec<(Time, Option<pauseless_core::unit::Rate>)>,
    waiting: VecDeque<(Class, FlowId, Bytes)>,
}

impl<'c> Simulator<'c> {
    /// A run at time zero.
    pub fn new(config: &'c Config) -> Simulator<'c> {
        let fabric = Fabric::new(config);
        let longest = fabric
            .ends
            .iter()
            .map(|end| end.delay + end.line.tx_span(Bytes::new(1_500)));
        let horizon = longest.max().unwrap_or(Span::us(1));
        let receivers = config.receivers.iter().map(|receiver| ReceiverState {
            host: receiver.host,
            steps: receiver.steps.clone(),
            waiting: VecDeque::new(),
        });
        let mut simulator = Simulator {
            config,
            queue: EventQueue::new(horizon, 2 * fabric.port_count()),
            detector: Detector::new(&fabric),
            recorder: Recorder::new(config),
            receivers: receivers.collect(),
            now: Time::ZERO,
            end: Time::ZERO + config.duration,
            flows: vec![FlowState::default(); config.flows.len()],
            tally: Tally::default(),
            fabric,
        };
        simulator.schedule_start();
        simulator
    }

    fn schedule_start(&mut self) {
        for (index, flow) in self.config.flows.iter().enumerate() {
            self.queue
                .push(Event::new(flow.start, Kind::FlowStart, index as u32));
        }
        for end in 0..self.fabric.port_count() {
            self.arm(end);
        }
        if let Some(first) = self.recorder.next_sample() {
            self.queue.push(Event::new(first, Kind::Sample, 0));
        }
        self.queue
            .push(Event::new(self.recorder.next_tick(), Kind::Tick, 0));
    }

    /// Runs to the end.
    pub fn run(mut self) -> Outcome {
        while self.advance(self.end) {}
        self.finish()
    }

    /// Runs until `until` or the end of the run; whether there is anything left to do.
    pub fn advance(&mut self, until: Time) -> bool {
        let until = until.min(self.end);
        while let Some(event) = self.queue.pop() {
            if event.time() > until {
                self.queue.push(event);
                self.now = until;
                return until < self.end;
            }
            self.now = event.time();
            self.tally.events += 1;
            self.handle(event);
            if self.config.stop_on_deadlock && self.tally.deadlock.is_some() {
                self.end = self.now;
                return false;
            }
        }
        self.now = until;
        false
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

    /// Checks that no byte was made or mislaid, and says what was found.
    pub fn finish(self) -> Outcome {
        self.assert_conserved();
        let recorder = self.recorder.clone();
        recorder.outcome(&self)
    }

    #[inline]
    fn handle(&mut self, event: Event) {
        let index = event.index();
        match event.kind() {
            Kind::Arrive => self.on_arrive(index),
            Kind::Transmitted => self.on_transmitted(index),
            Kind::Timeout => self.on_timeout(index),
            Kind::Signal => self.on_signal(index),
            Kind::Consume => self.on_consume(index),
            Kind::FlowStart => self.on_flow_start(index),
            Kind::Sample => {
                self.recorder.sample(self.now, &self.fabric, &self.flows);
                if let Some(next) = self.recorder.next_sample() {
                    self.queue.push(Event::new(next, Kind::Sample, 0));
                }
            }
            Kind::Tick => {
                self.recorder.tick(&self.flows);
                self.queue
                    .push(Event::new(self.recorder.next_tick(), Kind::Tick, 0));
            }
        }
    }

    fn on_arrive(&mut self, index: usize) {
        let end = &mut self.fabric.ends[index];
        let (time, frame) = end.incoming.pop_front().expect("something arrives");
        debug_assert_eq!(time, self.now);
        if let Some((next, _)) = end.incoming.front() {
            self.queue
                .push(Event::new(*next, Kind::Arrive, index as u32));
        }
        let (node, port) = (end.node, end.port);
        match frame {
            Frame::Control(control) => {
                let jitter = self.config.processing_jitter.as_ps();
                let extra = if jitter == 0 {
                    0
                } else {
                    end.jitter.below(jitter)
                };
                let due = self.now + self.config.processing + Span::ps(extra);
                match &mut self.fabric.nodes[node.index()] {
                    Node::Switch(switch) => switch.handle_control(port, control),
                    Node::Host(host) => host.handle_control(control),
                }
                self.schedule_signal(index, due, control);
            }
            Frame::Data { flow, size, class } => {
                end.received += size;
                self.tally.packet_hops += 1;
                self.tally.last_arrival = self.now;
                match &self.fabric.nodes[node.index()] {
                    Node::Switch(_) => self.on_switch_arrival(index, flow, (size, class)),
                    Node::Host(_) => self.on_host_arrival(index, flow, (size, class)),
                }
            }
        }
    }

    fn on_switch_arrival(&mut self, index: usize, flow: FlowId, (size, class): (Bytes, Class)) {
        let End { node, port, .. } = self.fabric.ends[index];
        let spec = &self.config.flows[flow.index()];
        let egress = self.config.table.next_hop(node, spec.group, spec.hash);
        let egress = egress.expect("routes were checked before the run");
        let Node::Switch(switch) = &mut self.fabric.nodes[node.index()] else {
            unreachable!("asked by the caller");
        };
        let arrival = Arrival {
            packet: flow,
            size,
            class,
            egress,
        };
        if let Err(overrun) = switch.handle_arrival(self.now, port, arrival) {
            self.lose(index, flow, (size, class), overrun);
        }
        self.drain_switch(node);
        if self.config.discipline == Discipline::InputQueued {
            // What stands behind a blocked head blocks the sender, wherever it wants to go.
            let peer = &self.fabric.ends[self.fabric.ends[index].peer as usize];
            let queue = EgressQueue {
                node: peer.node,
                port: peer.port,
                class,
            };
            self.look_for_deadlock(queue);
        }
    }

    fn on_host_arrival(&mut self, index: usize, flow: FlowId, (size, class): (Bytes, Class)) {
        let node = self.fabric.ends[index].node;
        let now = self.now;
        let Node::Host(host) = &mut self.fabric.nodes[node.index()] else {
            unreachable!("asked by the caller");
        };
        if let Err(overrun) = host.handle_arrival(now, class, size) {
            self.lose(index, flow, (size, class), overrun);
            return;
        }
        let slow = self
            .receivers
            .iter_mut()
            .position(|receiver| receiver.host == node);
        match slow {
            None => {
                host.consume(now, class, size);
                self.deliver(flow, size);
            }
            Some(position) => {
                self.receivers[position]
                    .waiting
                    .push_back((class, flow, size));
                if self.receivers[position].waiting.len() == 1 {
                    self.schedule_consumption(position);
                }
            }
        }
        self.drain_host(node);
    }

    fn deliver(&mut self, flow: FlowId, size: Bytes) {
        let state = &mut self.flows[flow.index()];
        state.delivered += size;
        if state.delivered == self.config.flows[flow.index()].size {
            state.finish = Some(self.now);
        }
    }

    fn lose(
        &mut self,
        index: usize,
        flow: FlowId,
        (size, class): (Bytes, Class),
        overrun: Overrun,
    ) {
        let End { node, port, .. } = self.fabric.ends[index];
        self.tally.lost_packets += 1;
        self.tally.lost_bytes += size;
        let Overrun { held, buffer } = overrun;
        let time = self.now;
        let loss = Loss {
            time,
            node,
            port,
            class,
            flow,
            held,
            buffer,
        };
        self.tally.loss.get_or_insert(loss);
    }

    fn on_transmitted(&mut self, index: usize) {
        let End { node, port, .. } = self.fabric.ends[index];
        match &mut self.fabric.nodes[node.index()] {
            Node::Switch(switch) => {
                switch.handle_transmitted(self.now, port);
                self.drain_switch(node);
            }
            Node::Host(host) => {
                host.handle_transmitted();
                self.drain_host(node);
            }
        }
    }

    fn on_timeout(&mut self, index: usize) {
        let end = &mut self.fabric.ends[index];
        if end.armed != self.now {
            return;
        }
        end.armed = Time::MAX;
        let (node, port) = (end.node, end.port);
        match &mut self.fabric.nodes[node.index()] {
            Node::Switch(switch) => {
                switch.handle_timeout(self.now, port);
                self.drain_switch(node);
            }
            Node::Host(host) => {
                host.handle_timeout(self.now);
                self.drain_host(node);
            }
        }
    }

    fn schedule_signal(&mut self, index: usize, due: Time, control: Control) {
        let signals = &mut self.fabric.ends[index].signals;
        // Frames are processed in order, however long each takes.
        let due = signals.back().map_or(due, |(last, _)| due.max(*last));
        signals.push_back((due, control));
        if signals.len() == 1 {
            self.queue.push(Event::new(due, Kind::Signal, index as u32));
        }
    }

    fn on_signal(&mut self, index: usize) {
        let end = &mut self.fabric.ends[index];
        let (node, port) = (end.node, end.port);
        let (_, control) = end.signals.pop_front().expect("a signal is due");
        if let Some((next, _)) = end.signals.front() {
            self.queue
                .push(Event::new(*next, Kind::Signal, index as u32));
        }
        match &mut self.fabric.nodes[node.index()] {
            Node::Switch(switch) => {
                switch.handle_signal(self.now, port, control);
                self.drain_switch(node);
            }
            Node::Host(host) => {
                host.handle_signal(self.now, control);
                self.drain_host(node);
            }
        }
    }

    fn on_flow_start(&mut self, index: usize) {
        let flow = &self.config.flows[index];
        let Node::Host(host) = &mut self.fabric.nodes[flow.source.index()] else {
            panic!("flow {} starts at a switch", flow.name);
        };
        host.start(Sender {
            flow: FlowId(index as u32),
            class: flow.class,
            packet: flow.packet,
            pace: flow.pace,
            left: flow.size,
            next: self.now,
            stop: flow.stop,
        });
        self.drain_host(flow.source);
    }

    fn schedule_consumption(&mut self, position: usize) {
        let receiver = &self.receivers[position];
        let (_, _, size) = receiver.waiting.front().expect("something waits");
        let mut start = self.now;
        loop {
            let later = receiver.steps.iter().position(|(at, _)| *at > start);
            let current = later.unwrap_or(receiver.steps.len()).checked_sub(1);
            let pace = current.and_then(|step| receiver.steps[step].1);
            match (pace, later) {
                (Some(rate), _) => {
                    let due = start + rate.tx_span(*size);
                    self.queue
                        .push(Event::new(due, Kind::Consume, position as u32));
                    return;
                }
                (None, Some(step)) => start = receiver.steps[step].0,
                (None, None) => return,
            }
        }
    }

    fn on_consume(&mut self, position: usize) {
        let receiver = &mut self.receivers[position];
        let node = receiver.host;
        let (class, flow, size) = receiver.waiting.pop_front().expect("something is consumed");
        let is_more = !receiver.waiting.is_empty();
        let Node::Host(host) = &mut self.fabric.nodes[node.index()] else {
            panic!("a receiver is a host");
        };
        host.consume(self.now, class, size);
        self.deliver(flow, size);
        if is_more {
            self.schedule_consumption(position);
        }
        self.drain_host(node);
    }

    /// Lets every port of a switch that may have something to send do so.
    fn drain_switch(&mut self, node: NodeId) {
        loop {
            let Node::Switch(switch) = &mut self.fabric.nodes[node.index()] else {
                unreachable!("asked by the caller");
            };
            let Some(port) = switch.poll_ready() else {
                return;
            };
            let transmit = switch.poll_transmit(self.now, port);
            let out_of_band = switch.poll_out_of_band(self.now, port);
            let index = self.fabric.end_index(node, port);
            if let Some((control, delay)) = out_of_band {
                self.send_out_of_band(index, control, delay);
            }
            match transmit {
                Some(transmit) => self.transmit(index, transmit),
                None => self.look_for_deadlock_at(node, port),
            }
            self.arm(index);
        }
    }

    fn drain_host(&mut self, node: NodeId) {
        let index = self.fabric.end_index(node, PortId(0));
        let Node::Host(host) = &mut self.fabric.nodes[node.index()] else {
            unreachable!("asked by the caller");
        };
        let transmit = host.poll_transmit(self.now);
        let out_of_band = host.poll_out_of_band(self.now);
        if let Some((control, delay)) = out_of_band {
            self.send_out_of_band(index, control, delay);
        }
        if let Some(transmit) = transmit {
            self.transmit(index, transmit);
        }
        self.arm(index);
    }

    /// Puts a frame on the wire.
    fn transmit(&mut self, index: usize, transmit: Transmit<FlowId>) {
        let end = &mut self.fabric.ends[index];
        let (frame, size) = match transmit {
            Transmit::Control(control) => {
                end.control_sent += Control::SIZE;
                self.tally.feedback_frames += 1;
                let is_pause = match control.signal {
                    Signal::Pause { quanta } => quanta > 0,
                    _ => false,
                };
                self.tally.pause_frames += u64::from(is_pause);
                (Frame::Control(control), Control::SIZE)
            }
            Transmit::Data {
                packet,
                size,
                class,
            } => {
                end.sent += size;
                (
                    Frame::Data {
                        flow: packet,
                        size,
                        class,
                    },
                    size,
                )
            }
        };
        let left = self.now + end.line.tx_span(size + self.config.wire_overhead);
        self.queue
            .push(Event::new(left, Kind::Transmitted, index as u32));
        let arrival = left + end.delay;
        let peer = end.peer;
        let incoming = &mut self.fabric.ends[peer as usize].incoming;
        incoming.push_back((arrival, frame));
        if incoming.len() == 1 {
            self.queue.push(Event::new(arrival, Kind::Arrive, peer));
        }
    }

    fn send_out_of_band(&mut self, index: usize, control: Control, delay: Span) {
        let peer = self.fabric.ends[index].peer as usize;
        self.schedule_signal(peer, self.now + delay, control);
    }

    /// Makes sure that a timeout event is pending for when the port wants one.
    #[inline]
    fn arm(&mut self, index: usize) {
        let end = &mut self.fabric.ends[index];
        let wanted = match &self.fabric.nodes[end.node.index()] {
            Node::Switch(switch) => switch.poll_timeout(end.port),
            Node::Host(host) => host.poll_timeout(),
        };
        if wanted < end.armed {
            end.armed = wanted;
            let wanted = wanted.max(self.now);
            self.queue
                .push(Event::new(wanted, Kind::Timeout, index as u32));
        }
    }

    #[inline]
    fn look_for_deadlock_at(&mut self, node: NodeId, port: PortId) {
        for class in 0..self.fabric.class_count() {
            let queue = EgressQueue {
                node,
                port,
                class: Class(class as u8),
            };
            if may_block(&self.fabric, queue) {
                self.look_for_deadlock(queue);
            }
        }
    }

    fn look_for_deadlock(&mut self, queue: EgressQueue) {
        if self.tally.deadlock.is_none() {
            self.tally.deadlock = self.detector.check(self.now, &self.fabric, queue);
        }
    }

    /// Every byte that a host has sent was delivered, was lost, waits in a node or is on a wire.
    fn assert_conserved(&self) {
        let mut sent = Bytes::ZERO;
        let mut in_network = Bytes::ZERO;
        for node in &self.fabric.nodes {
            match node {
                Node::Host(host) => sent += host.sent(),
                Node::Switch(switch) => in_network += switch.inside(),
            }
        }
        for end in &self.fabric.ends {
            for (_, frame) in &end.incoming {
                if let Frame::Data { size, .. } = frame {
                    in_network += *size;
                }
            }
        }
        for receiver in &self.receivers {
            for (_, _, size) in &receiver.waiting {
                in_network += *size;
            }
        }
        let delivered = self
            .flows
            .iter()
            .fold(Bytes::ZERO, |sum, flow| sum + flow.delivered);
        assert_eq!(
            sent,
            delivered + self.tally.lost_bytes + in_network,
            "bytes are conserved"
        );
    }
}
