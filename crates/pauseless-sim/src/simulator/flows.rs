//! The life of flows: how they start, what arrives of them, and what is said about them.

use pauseless_core::congestion::{AnyReactionPoint, Feedback, Received};
use pauseless_core::host::{Listener, Outgoing, Sender};
use pauseless_core::id::{FlowId, GroupId, NodeId};
use pauseless_core::switch::{Arrival, Transmit};
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_fabric::trace::{Header, trace};

use super::Simulator;
use crate::config::{Config, Flow, Reaction};
use crate::event::{Event, Kind};
use crate::fabric::{Node, Packet};
use crate::tag::{Content, Tag};

/// Which flows wait for others.
#[derive(Clone, Debug)]
pub(crate) struct Followers {
    /// For each flow, how many it waits for and when it may start at the earliest; empty if none
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

    /// Whether a flow waits for no other one.
    pub(crate) fn is_free(&self, flow: u32) -> bool {
        self.waits
            .get(flow as usize)
            .is_none_or(|(count, _)| *count == 0)
    }
}

/// How the packets of a flow are forwarded, and the answers to its source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    pub(super) group: GroupId,
    /// That of its source; of no meaning if nobody answers.
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
        Route {
            group,
            answers,
            hash,
        }
    }
}

/// The largest packet of any flow.
pub(super) fn packet_max(config: &Config) -> Bytes {
    let packets = config.flows.iter().map(|flow| flow.packet);
    packets.max().unwrap_or(Bytes::new(1_500))
}

/// The propagation there and back of the flow that has the longest way. With very many flows, some
/// of them tell.
pub(super) fn round_trip(config: &Config) -> Span {
    const FLOWS_MAX: usize = 10_000;
    let step = config.flows.len().div_ceil(FLOWS_MAX).max(1);
    let spans = config.flows.iter().step_by(step).map(|flow| {
        let header = Header {
            source: flow.source,
            group: flow.group,
            hash: flow.hash,
        };
        let path = trace(&config.topology, &config.table, header);
        // A flow that circles never comes back.
        let path = path.unwrap_or_default();
        let ports = path
            .iter()
            .map(|(node, port)| config.topology.port(*node, *port));
        ports.fold(Span::ZERO, |sum, port| sum + port.delay * 2)
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
        let id = FlowId(index as u32);
        self.flows[index].start = Some(self.now);
        let mut control = AnyReactionPoint::None { rate: flow.pace };
        if let Reaction::Controlled { initial, .. } = flow.reaction {
            let line = config.topology.ports(flow.source)[0].rate;
            control = config.congestion.control.reaction_point(line, initial);
        }
        let Node::Host(source) = &mut self.fabric.nodes[flow.source.index()] else {
            panic!("flow {} starts at a switch", flow.name);
        };
        source.start(Sender {
            flow: id,
            class: flow.class,
            packet: flow.packet,
            pace: flow.pace,
            size: flow.size,
            start: self.now,
            stop: flow.stop,
            duty: flow.duty,
            control,
        });
        self.drain_host(flow.source);
    }

    /// A host takes a packet out of its ingress buffer.
    #[inline]
    pub(super) fn consume(&mut self, node: NodeId, packet: Packet) {
        let Packet { tag, class, .. } = packet;
        let size = packet.size();
        let (now, flow) = (self.now, tag.flow());
        let Node::Host(host) = &mut self.fabric.nodes[node.index()] else {
            panic!("a receiver is a host");
        };
        host.consume(now, class, size);
        match tag.content() {
            Content::Answer { place } => {
                host.handle_feedback(now, flow, self.answers.remove(place));
                self.tally.answered_bytes += size;
            }
            Content::Data {
                sequence,
                is_marked,
            } => {
                let received = Received {
                    size,
                    sequence,
                    is_marked,
                };
                if self.is_controlling && !host.handle_data(now, flow, received) {
                    self.listen(node, flow, received);
                }
                self.deliver(node, flow, size);
            }
        }
    }

    /// The first packet of a flow has arrived: its target begins to listen, if it is to. Nobody told
    /// it before, since what happens at one host reaches another only on a wire.
    #[cold]
    fn listen(&mut self, node: NodeId, flow: FlowId, received: Received) {
        let Reaction::Controlled { class, .. } = self.config.flows[flow.index()].reaction else {
            return;
        };
        let Node::Host(host) = &mut self.fabric.nodes[node.index()] else {
            panic!("a receiver is a host");
        };
        let congestion = &self.config.congestion;
        host.listen(Listener {
            flow,
            class,
            ack_every: congestion.ack_every,
            point: congestion.control.notification_point(),
        });
        host.handle_data(self.now, flow, received);
    }

    fn deliver(&mut self, node: NodeId, flow: FlowId, size: Bytes) {
        let state = &mut self.flows[flow.index()];
        state.delivered += size;
        self.stopping.gone += size;
        if state.delivered != self.config.flows[flow.index()].size {
            if state.expired > Bytes::ZERO {
                self.settle_expired(flow);
            }
            return;
        }
        state.finish = Some(self.now);
        self.stopping.settle(flow.index());
        if let Node::Host(host) = &mut self.fabric.nodes[node.index()] {
            host.forget(flow);
        }
        self.release_followers(flow);
    }

    /// Starts the flows that have waited for nothing but this one.
    #[cold]
    fn release_followers(&mut self, first: FlowId) {
        let follows = &self.config.follows;
        let begin = follows.partition_point(|follow| follow.first < first);
        let followers = follows[begin..].iter();
        for follow in followers.take_while(|follow| follow.first == first) {
            let (count, earliest) = &mut self.followers.waits[follow.then.index()];
            *count -= 1;
            *earliest = (*earliest).max(self.now + follow.delay);
            if *count == 0 {
                let start = Event::new(*earliest, Kind::FlowStart, follow.then.0);
                self.queue.push(start);
            }
        }
    }

    /// What a host sends, as it travels.
    pub(super) fn tag(&mut self, transmit: Transmit<Outgoing>) -> Transmit<Tag> {
        match transmit {
            Transmit::Control(control) => Transmit::Control(control),
            Transmit::Data {
                packet,
                size,
                class,
                is_marked,
            } => {
                let packet = match packet {
                    Outgoing::Data { flow, sequence } => {
                        self.stopping.sent += size;
                        Tag::data(flow, sequence)
                    }
                    Outgoing::Answer { flow, feedback } => self.answer(flow, feedback),
                };
                Transmit::Data {
                    packet,
                    size,
                    class,
                    is_marked,
                }
            }
        }
    }

    fn answer(&mut self, flow: FlowId, feedback: Feedback) -> Tag {
        self.tally.answers += 1;
        self.tally.acknowledgements += u64::from(matches!(feedback, Feedback::Ack { .. }));
        self.tally.answer_bytes += feedback.size();
        Tag::answer(flow, self.answers.insert(feedback))
    }

    /// A switch tells the source of a packet something, unless that would not listen.
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
        let Some(egress) = self.config.table.next_hop(node, group, hash) else {
            // Scenarios are refused for that; whoever builds a run otherwise gets no message.
            return;
        };
        let size = feedback.size();
        self.tally.notice_bytes += size;
        let packet = self.answer(flow, feedback);
        let Node::Switch(switch) = &mut self.fabric.nodes[node.index()] else {
            unreachable!("asked by the caller");
        };
        switch.notify(Arrival {
            packet,
            size,
            class,
            egress,
            // It starts here as it would at a host.
            leaving: class,
        });
    }

    /// How what is said to the source of `flow` is forwarded.
    #[inline(never)]
    pub(super) fn route_of_answers(&self, flow: FlowId) -> (GroupId, u64) {
        let flow = &self.config.flows[flow.index()];
        match flow.reaction {
            Reaction::Controlled { group, .. } => (group, self.config.table.answer_hash(flow.hash)),
            Reaction::None => unreachable!("nobody answers flow {}", flow.name),
        }
    }
}
