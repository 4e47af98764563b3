//! The life of flows: how they start, how their packets arrive, and the feedback about them.

use pauseless_core::congestion::telemetry::Echo;
use pauseless_core::congestion::{AnyReactionPoint, Feedback, Received, Source};
use pauseless_core::entropy::Entropy;
use pauseless_core::host::{Listener, Outgoing, Sender, Taken};
use pauseless_core::id::{FlowId, GroupId, NodeId, PortId};
use pauseless_core::switch::{Arrival, Transmit};
use pauseless_core::transport::Transport;
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_fabric::rng::hash_name;
use pauseless_fabric::trace::{Header, follow};

use std::sync::Arc;

use super::Simulator;
use super::hosts::received;
use super::mitigate::add;
use crate::config::{Config, Flow, Reaction};
use crate::event::{Event, Kind};
use crate::fabric::{Node, Packet};
use crate::tag::Tag;

/// The flows that wait for others to finish.
#[derive(Clone, Debug)]
pub(crate) struct Followers {
    /// For each flow, the number of flows that it waits for and its earliest start; empty if none
    /// waits.
    waits: Vec<(u32, Time)>,
}

impl Followers {
    pub(crate) fn new(config: &Config) -> Followers {
        let mut waits = Vec::new();
        if !config.follows.is_empty() {
            assert!(config.follows.is_sorted(), "follows are sorted");
            waits = config.flows.iter().map(|flow| (0, flow.start)).collect();
        }
        for follow in &config.follows {
            waits[follow.then.index()].0 += 1;
        }
        Followers { waits }
    }

    /// Whether a flow waits for no other.
    pub(crate) fn is_free(&self, flow: u32) -> bool {
        self.waits.get(flow as usize).is_none_or(|(count, _)| *count == 0)
    }
}

/// The groups by which the packets of a flow, and feedback to its source, are forwarded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    pub(super) group: GroupId,
    /// The group of its source; meaningless for a flow without feedback.
    pub(super) answers: GroupId,
    pub(super) hash: u64,
}

impl Route {
    pub(super) fn new(flow: &Flow) -> Route {
        let answers = match flow.reaction {
            Reaction::Controlled { group, .. } => group,
            Reaction::None => GroupId(u32::MAX),
        };
        let (group, hash) = (flow.group, flow.hash);
        Route { group, answers, hash }
    }
}

/// The egresses by which packets leave the switches on their way, one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path([PortId; Path::SWITCHES_MAX]);

impl Path {
    const SWITCHES_MAX: usize = 8;
    /// The way is longer, or not known.
    const BEYOND: PortId = PortId(u16::MAX);

    /// The egress at the switch that a packet comes to after `hops` others, if it is known.
    #[inline(always)]
    pub(super) fn egress(&self, hops: u8) -> Option<PortId> {
        self.0.get(usize::from(hops)).copied().filter(|port| *port != Path::BEYOND)
    }

    /// The paths of all flows, and after each that of the feedback to its source.
    pub(super) fn all(config: &Config) -> Arc<[Path]> {
        let both = config.flows.iter().flat_map(|flow| {
            let Route { group, answers, hash } = Route::new(flow);
            let there = Header { source: flow.source, group, hash };
            let back = Header { source: flow.target, group: answers, hash };
            let is_answered = flow.reaction != Reaction::None;
            [Path::new(config, Some(there)), Path::new(config, is_answered.then_some(back))]
        });
        both.collect()
    }

    fn new(config: &Config, header: Option<Header>) -> Path {
        let unknown = Path([Path::BEYOND; Path::SWITCHES_MAX]);
        let Some(header) = header else {
            return unknown;
        };
        let mut path = unknown;
        // The first port is that of the source.
        let mut hops = 0;
        let arrived = follow(&config.topology, &config.table, header, |_, port| {
            if let 1..=Path::SWITCHES_MAX = hops {
                path.0[hops - 1] = port;
            }
            hops += 1;
        });
        // A flow that travels in a circle has no path.
        if arrived.is_ok() { path } else { unknown }
    }
}

/// The largest packet of any flow.
pub(super) fn packet_max(config: &Config) -> Bytes {
    config.flows.iter().map(|flow| flow.packet).max().unwrap_or(Bytes::new(1_500))
}

/// The propagation delay there and back of the flow with the longest path; with very many flows, of
/// a sample of them.
pub(super) fn round_trip(config: &Config) -> Span {
    const FLOWS_MAX: usize = 10_000;
    let step = config.flows.len().div_ceil(FLOWS_MAX).max(1);
    let spans = config.flows.iter().step_by(step).map(|flow| {
        let header = Header { source: flow.source, group: flow.group, hash: flow.hash };
        let mut span = Span::ZERO;
        let arrived = follow(&config.topology, &config.table, header, |node, port| {
            span = span + config.topology.port(node, port).delay * 2;
        });
        // A flow that travels in a circle never comes back.
        if arrived.is_ok() { span } else { Span::ZERO }
    });
    spans.max().unwrap_or(Span::ZERO)
}

impl Simulator<'_> {
    #[cold]
    pub(super) fn on_flow_start(&mut self, index: usize) {
        let config = self.config;
        let flow = &config.flows[index];
        if flow.stop <= self.now {
            return;
        }
        self.flows[index].start = Some(self.now);
        let by_clock = |rate| config.by_clock(flow.source, PortId(0), rate);
        let pace = by_clock(flow.pace);
        let mut sender = Sender {
            flow: FlowId(index as u32),
            class: flow.class,
            packet: flow.packet,
            pace,
            size: flow.size,
            start: self.now,
            stop: flow.stop,
            duty: flow.duty,
            control: AnyReactionPoint::None { rate: pace },
            // A flow without feedback has neither windows nor recovery.
            transport: Transport {
                pacing: config.transport.pacing,
                entropy: config.transport.entropy,
                ..Transport::default()
            },
            window: Bytes::MAX,
        };
        if let Reaction::Controlled { initial, window, round_trip, .. } = flow.reaction {
            let line = config.line(flow.source, PortId(0));
            let initial = by_clock(initial);
            sender.control =
                config.congestion.control.reaction_point(Source { line, initial, round_trip });
            sender.transport = config.transport;
            sender.window = window;
        }
        let entropy = &mut sender.transport.entropy;
        if entropy.is_spraying() {
            entropy.seed = hash_name(&flow.name) ^ Entropy::default().mix(config.seed);
        }
        let Node::Host(source) = &mut self.fabric.nodes[flow.source.index()] else {
            panic!("flow {} starts at a switch", flow.name);
        };
        source.start(sender);
        self.drain_host(flow.source);
    }

    /// A host takes a packet out of its ingress buffer.
    #[inline]
    pub(super) fn consume(&mut self, node: NodeId, packet: Packet) {
        if self.order.is_some() {
            return self.consume_in_any_order(node, packet);
        }
        let mut at = self.open_host(node);
        at.host.consume(at.now(), packet.class, packet.size());
        let accepted = at.accept(packet);
        at.close();
        if let Err(rare) = accepted {
            self.accept_rarely(node, rare);
        }
    }

    /// Handles a packet that may be the first of its flow, or the one that completes it.
    #[cold]
    pub(super) fn accept_at_edge(&mut self, node: NodeId, packet: Packet) {
        let (flow, size) = (packet.tag.flow(), packet.size());
        if !self.is_controlling {
            self.forget_note(packet.tag);
            return self.deliver(node, flow, size);
        }
        let received = received(packet, &self.trails);
        let Node::Host(host) = &mut self.fabric.nodes[node.index()] else {
            panic!("a receiver is a host");
        };
        let taken = match host.handle_data(self.now, flow, received) {
            Some(taken) => taken,
            None => self.listen(node, flow, received),
        };
        if received.echo != Echo::NONE && !taken.is_echoed {
            self.trails.remove(received.echo.0);
        }
        if !taken.is_new {
            return self.refuse(size);
        }
        if let Some(order) = &mut self.order {
            order.on_taken(node, size, taken.delivered);
        }
        if taken.delivered > Bytes::ZERO {
            self.deliver(node, flow, taken.delivered);
        }
    }

    /// Handles a packet of a flow that is not received here yet: its target starts to give
    /// feedback, if it has to. It could not start earlier, since the events of one host reach
    /// another only on a wire.
    #[cold]
    fn listen(&mut self, node: NodeId, flow: FlowId, received: Received) -> Taken {
        let unheard = Taken { is_new: true, is_echoed: false, delivered: received.size };
        let terms = &self.config.flows[flow.index()];
        let Reaction::Controlled { class, .. } = terms.reaction else {
            return unheard;
        };
        let Node::Host(host) = &mut self.fabric.nodes[node.index()] else {
            panic!("a receiver is a host");
        };
        let congestion = &self.config.congestion;
        let listener = Listener {
            flow,
            class,
            ack_every: congestion.ack_every,
            point: congestion.control.notification_point(),
            transport: self.config.transport,
            size: terms.size,
            packet: terms.packet,
        };
        if self.flows[flow.index()].delivered == terms.size {
            // The flow is complete and its target gives no feedback any more: this is a duplicate.
            if let Some(last_ack) = listener.last_ack() {
                host.answer(class, flow, last_ack);
            }
            return Taken { is_new: false, ..unheard };
        }
        host.listen(listener);
        let taken = host.handle_data(self.now, flow, received);
        taken.expect("the flow is received from now on")
    }

    fn deliver(&mut self, node: NodeId, flow: FlowId, size: Bytes) {
        let state = &mut self.flows[flow.index()];
        state.delivered += size;
        self.served.deliver(self.now, flow, size);
        self.stopping.gone += size;
        let terms = &self.config.flows[flow.index()];
        if state.delivered != terms.size {
            if state.expired > Bytes::ZERO {
                self.settle_expired(flow);
            }
            return;
        }
        if let Node::Host(host) = &mut self.fabric.nodes[node.index()] {
            host.forget(flow);
        }
        if self.config.end_of(terms) == node {
            self.finish_flow(flow);
        }
    }

    /// Accounts for a packet that a target discards because it is a duplicate or out of order.
    #[cold]
    fn refuse(&mut self, size: Bytes) {
        self.stopping.gone += size;
        add(&mut self.tally.refused, size);
    }

    pub(super) fn finish_flow(&mut self, flow: FlowId) {
        self.flows[flow.index()].finish = Some(self.now);
        // A stopped flow is settled, perhaps at another node.
        if self.now < self.config.flows[flow.index()].stop || self.away.is_none() {
            self.stopping.settle(flow.index());
        }
        self.release_followers(flow);
    }

    /// Starts the flows that have waited for this one only.
    #[cold]
    fn release_followers(&mut self, first: FlowId) {
        let follows = &self.config.follows;
        let begin = follows.partition_point(|follow| follow.first < first);
        for follow in follows[begin..].iter().take_while(|follow| follow.first == first) {
            let (count, earliest) = &mut self.followers.waits[follow.then.index()];
            *count -= 1;
            *earliest = (*earliest).max(self.now + follow.delay);
            if *count == 0 {
                let start = Event::new(*earliest, Kind::FlowStart, follow.then.0);
                self.queue.push_at(self.config.flows[follow.then.index()].source, start);
            }
        }
    }

    /// Turns a frame of a host into one that travels through the network.
    pub(super) fn tag(&mut self, transmit: Transmit<Outgoing>) -> Transmit<Tag> {
        match transmit {
            Transmit::Control(control) => Transmit::Control(control),
            Transmit::Data { packet, size, class, is_marked } => {
                let packet = match packet {
                    Outgoing::Data { flow, sequence, entropy } => {
                        self.stopping.sent += size;
                        if let Some(order) = &mut self.order {
                            let sending = order.on_send(flow);
                            let place = self.trails.insert_sent(sequence, entropy, sending);
                            Tag::trailed(flow, place)
                        } else if self.is_trailing && self.is_controlled(flow) {
                            Tag::trailed(flow, self.trails.insert(sequence))
                        } else {
                            Tag::data(flow, sequence)
                        }
                    }
                    Outgoing::Answer { flow, feedback } => self.answer(flow, feedback, size),
                };
                Transmit::Data { packet, size, class, is_marked }
            }
        }
    }

    fn is_controlled(&self, flow: FlowId) -> bool {
        self.config.flows[flow.index()].reaction != Reaction::None
    }

    pub(super) fn answer(&mut self, flow: FlowId, feedback: Feedback, size: Bytes) -> Tag {
        self.tally.count_answer(feedback, size);
        Tag::answer(flow, self.answers.insert(feedback))
    }

    /// Sends feedback from a switch to the source of a packet, if that obeys congestion control.
    #[cold]
    pub(super) fn notify(&mut self, node: NodeId, about: Tag, feedback: Feedback) {
        let flow = about.flow();
        let Reaction::Controlled { class, .. } = self.config.flows[flow.index()].reaction else {
            return;
        };
        if about.is_answer() {
            return;
        }
        let (group, hash) = self.route_of_answers(flow);
        let Ok(egress) = self.next_hop(node, group, hash) else {
            // Scenarios without such a route are refused; where routes change, or a run was built
            // otherwise, the message is not sent.
            return;
        };
        let size = self.config.transport.sizes.of(feedback);
        self.tally.notice_bytes += size;
        let packet = self.answer(flow, feedback, size);
        let Node::Switch(switch) = &mut self.fabric.nodes[node.index()] else {
            unreachable!("asked by the caller");
        };
        switch.notify(Arrival {
            packet,
            size,
            class,
            egress,
            // The packet starts here as it would at a host.
            leaving: class,
        });
    }

    /// The group and hash by which feedback to the source of `flow` is forwarded.
    #[inline(never)]
    pub(super) fn route_of_answers(&self, flow: FlowId) -> (GroupId, u64) {
        let flow = &self.config.flows[flow.index()];
        match flow.reaction {
            Reaction::Controlled { group, .. } => (group, flow.hash),
            Reaction::None => unreachable!("nobody answers flow {}", flow.name),
        }
    }
}
