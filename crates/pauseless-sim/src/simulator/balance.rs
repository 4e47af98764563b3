//! Load balancing: by which next hop a switch sends each packet, where its flow's hash does not say.

use pauseless_core::id::{Class, GroupId, NodeId, PortId};
use pauseless_core::switch::Switch;
use pauseless_core::unit::{Bytes, Rate, Time};

use super::Simulator;
use super::changes::NoWay;
use crate::balance::{Backlog, Balancer, Choosing, Egresses, Rule};
use crate::config::Config;
use crate::fabric::{End, Fabric, Node, Packet};
use crate::rng::{Purpose, Stream};
use crate::tag::Tag;

/// The state of all rules.
#[derive(Clone, Debug)]
pub(crate) struct Balancing {
    class_count: usize,
    /// The position in `balancers` for each (node, class).
    places: Vec<Option<u32>>,
    balancers: Vec<Balancer>,
    /// Frames below this length go by the hash of their flow, for each balancer.
    hash_below: Vec<Bytes>,
    /// The frames for which each end was chosen.
    frames: Vec<u64>,
}

impl Balancing {
    /// The state before the first packet; `None` if all packets go by the hash of their flow.
    pub(super) fn new(config: &Config, port_count: usize) -> Option<Box<Balancing>> {
        let rules = &config.load_balancing;
        if config.is_by_flow_hash() {
            return None;
        }
        let class_count = config.ingress.class_count();
        let mut balancing = Balancing {
            class_count,
            places: vec![None; config.topology.nodes().len() * class_count],
            balancers: Vec::with_capacity(rules.len()),
            hash_below: Vec::with_capacity(rules.len()),
            frames: vec![0; port_count],
        };
        for it in rules.iter().filter(|it| it.rule != Rule::FlowHash) {
            let place = balancing.place(it.node, it.class);
            let entity = u64::from(it.node.0) << 8 | u64::from(it.class.0);
            let seed = Stream::new(config.seed, Purpose::LoadBalancing, entity).next_u64();
            balancing.places[place] = Some(balancing.balancers.len() as u32);
            balancing.balancers.push(Balancer::new(it.rule, seed));
            balancing.hash_below.push(it.hash_below);
        }
        Some(Box::new(balancing))
    }

    /// The frames for which each end was chosen, in the order of ends.
    pub(crate) fn frames(&self) -> &[u64] {
        &self.frames
    }

    /// Adds the frames of another part of the run.
    pub(crate) fn add(&mut self, part: &Balancing) {
        for (sum, frames) in self.frames.iter_mut().zip(&part.frames) {
            *sum += frames;
        }
    }

    fn place(&self, node: NodeId, class: Class) -> usize {
        node.index() * self.class_count + class.index()
    }
}

/// The egresses of a switch, as a packet of a class finds them.
struct Seen<'s> {
    now: Time,
    switch: &'s Switch<Tag>,
    /// The ends of its ports.
    ends: &'s [End],
    class: Class,
    size: Bytes,
}

impl Egresses for Seen<'_> {
    fn backlog(&self, port: PortId) -> Backlog {
        let Seen { switch, .. } = self;
        Backlog { waiting: switch.queued(port), is_sending: switch.is_sending(port) }
    }

    fn is_stopped(&self, port: PortId) -> bool {
        self.switch.port(port).is_stopped(self.now, self.class, self.size)
    }

    fn sent(&self, port: PortId) -> Bytes {
        self.ends[port.index()].sent
    }

    fn line(&self, port: PortId) -> Rate {
        self.ends[port.index()].line.rate()
    }
}

impl Simulator<'_> {
    /// The egress of a packet that has arrived at a switch and is forwarded by `group`.
    #[inline]
    pub(super) fn egress_of(
        &mut self,
        node: NodeId,
        group: GroupId,
        hash: u64,
        packet: Packet,
    ) -> Result<PortId, NoWay> {
        if self.balancing.is_some() {
            return self.balance(node, group, hash, packet);
        }
        self.next_hop(node, group, hash)
    }

    /// As [`Simulator::egress_of`], where some switch does not go by the hash of flows.
    #[inline(never)]
    fn balance(
        &mut self,
        node: NodeId,
        group: GroupId,
        hash: u64,
        packet: Packet,
    ) -> Result<PortId, NoWay> {
        let Packet { tag, class, .. } = packet;
        let size = packet.size();
        let table = self.table_now(node).ok_or(NoWay::NoRoute)?;
        let ports = table.next_hops(node, group);
        let ends = self.fabric.ends_of(node);
        let Simulator { now, fabric: Fabric { nodes, ends: all, .. }, balancing, .. } = self;
        let (Some(balancing), Node::Switch(switch)) = (balancing, &nodes[node.index()]) else {
            unreachable!("asked by the caller");
        };
        let place = balancing.place(node, class);
        let chosen = match balancing.places[place].map(|place| place as usize) {
            Some(place) if size >= balancing.hash_below[place] => {
                let packet = Choosing { group, flow: tag.flow(), is_answer: tag.is_answer() };
                let first = ends.start;
                let seen = Seen { now: *now, switch, ends: &all[ends], class, size };
                let chosen = balancing.balancers[place].choose(*now, packet, ports, &seen);
                if let (Some(port), [_, _, ..]) = (chosen, ports) {
                    balancing.frames[first + port.index()] += 1;
                }
                chosen
            }
            _ => None,
        };
        match chosen {
            Some(egress) => self.check_link(node, egress),
            None => self.next_hop(node, group, hash),
        }
    }
}
