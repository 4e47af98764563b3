//! Follows all packets of one way and label through the fabric at once.
//!
//! Where a class lasts for several hops the walk tells apart how many of them are over, so that
//! dependencies are exact. A witness is made of dependencies alone: there it may name a source whose
//! packets get to a buffer, but in another phase than those that go on to the next.

use std::ops::Range;

use pauseless_core::class_map::{Carried, ClassMap, Passage};
use pauseless_core::id::{Class, GroupId, NodeId, PortId};
use pauseless_core::table::WayId;

use super::channel::Channels;
use super::{Demand, Lane, Network, Traffic};

/// The observer of a walk.
pub(crate) trait Visitor {
    /// A walk along another stream begins.
    fn begin(&mut self) {}
    /// Packets enter the fabric at `switch` and go to this vertex.
    fn enter(&mut self, switch: NodeId, vertex: u32);
    /// Packets of the stream can lie in `vertex`. Up to the next call of this, all calls are about
    /// where these packets can go from there.
    fn arrive(&mut self, vertex: u32) {
        let _ = vertex;
    }
    /// The packets of the last [`Visitor::arrive`] can also leave the fabric: to a host, or by being
    /// dropped.
    fn leave(&mut self) {}
    /// Packets in one vertex can go on to another.
    fn depend(&mut self, from: u32, to: u32);
    /// Packets in `from`, at `node`, can go on to all of `nexts`. For one stream these are the same
    /// wherever at `node` packets come from.
    fn depend_all(&mut self, from: u32, node: NodeId, nexts: &[u32]) {
        let _ = node;
        for &to in nexts {
            self.depend(from, to);
        }
    }
}

/// Packets that are forwarded alike and carry the same label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stream {
    pub way: WayId,
    pub label: u8,
    pub sources: Sources,
}

/// Which hosts send the packets of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sources {
    /// All hosts that are not left out, in this lane of [`Traffic::AllPairs`].
    All(usize),
    /// The sources of these demands, from the first to before the last.
    Listed(usize, usize),
}

/// The streams of a network, with what is needed to follow them.
#[derive(Clone, Debug)]
pub(crate) struct Streams<'n> {
    network: Network<'n>,
    channels: &'n Channels,
    left_out: &'n [bool],
    /// The demands that are not left out, sorted by group, then by label.
    demands: Vec<Demand>,
    /// The switches that have sending hosts.
    entrances: Vec<NodeId>,
    /// Per lane and port of the fabric, the classes in which entering packets leave by that port.
    entering: Vec<Vec<u16>>,
    /// The groups that each way leads to, as far as any host sends to them.
    groups: Vec<Vec<GroupId>>,
    pub list: Vec<Stream>,
}

impl<'n> Streams<'n> {
    /// The streams between hosts whose mark in `left_out`, by node, is not set.
    pub(crate) fn new(
        network: Network<'n>,
        channels: &'n Channels,
        left_out: &'n [bool],
    ) -> Streams<'n> {
        let mut streams = Streams {
            network,
            channels,
            left_out,
            demands: Vec::new(),
            entrances: Vec::new(),
            entering: Vec::new(),
            groups: vec![Vec::new(); network.routes.table.way_count()],
            list: Vec::new(),
        };
        match network.traffic {
            Traffic::AllPairs(lanes) => streams.take_all(lanes),
            Traffic::Demands(demands) => streams.take_demands(demands),
        }
        streams
    }

    fn take_all(&mut self, lanes: &[Lane]) {
        let Network { topology, routes, .. } = self.network;
        let channels = self.channels;
        let is_source = |host: &NodeId| {
            topology.is_host(*host)
                && !self.left_out[host.index()]
                && !topology.ports(*host).is_empty()
        };
        let switches = topology.switches().iter().copied();
        self.entrances = switches
            .filter(|switch| {
                let peers = topology.ports(*switch).iter();
                peers.into_iter().any(|port| is_source(&port.peer))
            })
            .collect();
        for lane in lanes {
            let mut classes = vec![0; channels.port_count()];
            for &node in &self.entrances {
                let hosts = (0..).map(PortId).zip(topology.ports(node));
                let hosts = Vec::from_iter(hosts.filter(|(_, port)| is_source(&port.peer)));
                for number in 0..topology.ports(node).len() {
                    let egress = PortId(number as u16);
                    for (ingress, _) in &hosts {
                        let passage = Passage { node, ingress: *ingress, egress };
                        let next = self.network.classes.next(passage, at_first(*lane));
                        classes[channels.port_place(node, egress)] |= next.map_or(0, mask);
                        if !matches!(self.network.classes, ClassMap::Table(_)) {
                            // Other maps do not depend on the ingress port.
                            break;
                        }
                    }
                }
            }
            self.entering.push(classes);
        }
        for group in routes.groups.addresses() {
            if !self.left_out[routes.groups.target(group).index()] {
                self.groups[routes.table.way(group).index()].push(group);
            }
        }
        let ways = (0..).map(WayId).zip(&self.groups);
        for (way, _) in ways.filter(|(_, groups)| !groups.is_empty()) {
            let streams = lanes.iter().enumerate().map(|(number, lane)| Stream {
                way,
                label: lane.label,
                sources: Sources::All(number),
            });
            self.list.extend(streams);
        }
    }

    fn take_demands(&mut self, demands: &[Demand]) {
        let groups = &self.network.routes.groups;
        let is_left_out = |node: NodeId| self.left_out[node.index()];
        let wanted = demands.iter().filter(|demand| {
            !is_left_out(demand.source) && !is_left_out(groups.target(demand.group))
        });
        self.demands = wanted.copied().collect();
        // By group and then by label. Groups that share a way are kept apart: not every host that
        // sends to one of them sends to the others.
        self.demands.sort_unstable();
        let key = |demand: &Demand| (demand.group, demand.lane.label);
        let mut start = 0;
        for chunk in self.demands.chunk_by(|a, b| key(a) == key(b)) {
            let end = start + chunk.len();
            let (group, label) = key(&chunk[0]);
            self.list.push(Stream {
                way: self.network.routes.table.way(group),
                label,
                sources: Sources::Listed(start, end),
            });
            start = end;
        }
    }

    /// Lets packets of all streams enter at every switch, in the class of their lane.
    pub(crate) fn enter_everywhere(&mut self) {
        let Traffic::AllPairs(lanes) = self.network.traffic else {
            unreachable!("packets that may enter anywhere are no demands");
        };
        self.entrances = self.network.topology.switches().to_vec();
        for (classes, lane) in self.entering.iter_mut().zip(lanes) {
            classes.fill(mask(lane.class));
        }
    }

    /// The groups that the packets of `stream` belong to, at least one.
    pub(crate) fn groups(&self, stream: Stream) -> &[GroupId] {
        match stream.sources {
            Sources::All(_) => &self.groups[stream.way.index()],
            Sources::Listed(start, _) => std::slice::from_ref(&self.demands[start].group),
        }
    }

    /// The hosts whose packets of `stream` enter at `switch` and go from there to
    /// `vertex`.
    pub(crate) fn sources_at(
        &self,
        stream: Stream,
        switch: NodeId,
        vertex: u32,
    ) -> Vec<(NodeId, Lane)> {
        let Network { topology, .. } = self.network;
        let buffer = self.channels.buffer(vertex);
        let egress = topology.port(buffer.node, buffer.port).peer_port;
        let leads_there = |host: NodeId, lane: Lane| {
            let ingress = topology.ports(host)[0].peer_port;
            let passage = Passage { node: switch, ingress, egress };
            let next = self.network.classes.next(passage, at_first(lane));
            next == Some(buffer.class)
        };
        match (stream.sources, self.network.traffic) {
            (Sources::All(number), Traffic::AllPairs(lanes)) => {
                let hosts = topology.ports(switch).iter().map(|port| port.peer);
                let hosts = hosts.filter(|host| topology.is_host(*host));
                let hosts = hosts.filter(|host| !self.left_out[host.index()]);
                let lane = lanes[number];
                hosts.filter(|host| leads_there(*host, lane)).map(|host| (host, lane)).collect()
            }
            (Sources::Listed(start, end), _) => {
                let here = self.demands[start..end].iter().filter(|demand| {
                    let at = topology.ports(demand.source).first();
                    at.is_some_and(|port| port.peer == switch)
                });
                let here = here.filter(|demand| leads_there(demand.source, demand.lane));
                here.map(|demand| (demand.source, demand.lane)).collect()
            }
            (Sources::All(_), Traffic::Demands(_)) => unreachable!("streams are of their traffic"),
        }
    }
}

/// The state of a packet at its first switch.
fn at_first(lane: Lane) -> Carried {
    Carried { label: lane.label, class: lane.class, hops: 0 }
}

fn mask(class: Class) -> u16 {
    1 << class.0
}

/// Follows streams through the fabric. It keeps its vectors from one to the next.
#[derive(Clone, Debug)]
pub(crate) struct Walker {
    /// Per channel and phase, the classes in which the stream was found.
    seen: Vec<u16>,
    touched: Vec<u32>,
    stack: Vec<Visit>,
    /// The number of phases: where a class lasts for several hops, the next class depends on how
    /// many of them are over.
    phases: u8,
    /// Where classes stay the same, the next vertices of each switch, per stream.
    fans: Fans,
}

/// Packets of the present stream in the buffer at the end of a channel.
#[derive(Clone, Copy, Debug)]
struct Visit {
    channel: u32,
    class: Class,
    /// The number of hops so far, modulo the number of phases.
    phase: u8,
}

impl Walker {
    pub(crate) fn new(channels: &Channels) -> Walker {
        Walker {
            seen: vec![0; channels.channel_count()],
            touched: Vec::new(),
            stack: Vec::new(),
            phases: 1,
            fans: Fans::default(),
        }
    }

    /// Reports to `visitor` every buffer that a packet of `stream` can be in.
    pub(crate) fn follow(
        &mut self,
        streams: &Streams<'_>,
        stream: Stream,
        visitor: &mut impl Visitor,
    ) {
        visitor.begin();
        self.phases = match streams.network.classes {
            ClassMap::Hops(hops) => hops.width,
            _ => 1,
        };
        let places = streams.channels.channel_count() * usize::from(self.phases);
        if self.seen.len() < places {
            self.seen.resize(places, 0);
        }
        match stream.sources {
            Sources::All(lane) => self.enter_all(streams, stream, lane, visitor),
            Sources::Listed(start, end) => {
                for demand in &streams.demands[start..end] {
                    self.enter_one(streams, *demand, visitor);
                }
            }
        }
        match streams.network.classes {
            ClassMap::Same => self.spread_plainly(streams, stream, visitor),
            _ => self.spread(streams, stream, visitor),
        }
        for place in self.touched.drain(..) {
            self.seen[place as usize] = 0;
        }
    }

    /// Follows packets from where they have entered to wherever they can go.
    fn spread(&mut self, streams: &Streams<'_>, stream: Stream, visitor: &mut impl Visitor) {
        let Network { routes, classes, .. } = streams.network;
        let channels = streams.channels;
        while let Some(met) = self.stack.pop() {
            let (node, ingress) = channels.end(met.channel);
            let from = channels.vertex(met.channel, met.class);
            let carried = Carried { label: stream.label, class: met.class, hops: met.phase };
            visitor.arrive(from);
            let egresses = routes.table.next_hops_of_way(node, stream.way);
            if egresses.is_empty() {
                visitor.leave();
            }
            for &egress in egresses {
                let next = channels.leaving(node, egress);
                let passage = Passage { node, ingress, egress };
                let class = next.and_then(|_| classes.next(passage, carried));
                let (Some(next), Some(class)) = (next, class) else {
                    visitor.leave();
                    continue;
                };
                visitor.depend(from, channels.vertex(next, class));
                self.visit_after(met.phase, next, class);
            }
        }
    }

    /// As `spread`, where classes stay the same: the next vertices of a switch then do not depend
    /// on the ingress, so they are looked up once, which matters where there are many equal paths.
    fn spread_plainly(
        &mut self,
        streams: &Streams<'_>,
        stream: Stream,
        visitor: &mut impl Visitor,
    ) {
        let channels = streams.channels;
        let table = &streams.network.routes.table;
        self.fans.clear(streams.network.topology.nodes().len());
        while let Some(Visit { channel, class, .. }) = self.stack.pop() {
            let (node, _) = channels.end(channel);
            let from = channels.vertex(channel, class);
            visitor.arrive(from);
            let egresses = table.next_hops_of_way(node, stream.way);
            if let [egress] = egresses {
                if let Some(next) = channels.leaving(node, *egress) {
                    visitor.depend(from, channels.vertex(next, class));
                    self.visit(next, class);
                } else {
                    visitor.leave();
                }
                continue;
            }
            let mut is_new = false;
            let fan = match self.fans.get(node, class) {
                Some(fan) => fan,
                None => {
                    is_new = true;
                    let ports = egresses.iter();
                    let nexts = ports.filter_map(|egress| channels.leaving(node, *egress));
                    let vertices = nexts.map(|next| channels.vertex(next, class));
                    self.fans.add(node, class, vertices)
                }
            };
            if fan.is_empty() || fan.len() < egresses.len() {
                visitor.leave();
            }
            visitor.depend_all(from, node, &self.fans.vertices[fan.clone()]);
            if is_new {
                for at in fan {
                    self.visit(channels.channel(self.fans.vertices[at]), class);
                }
            }
        }
    }

    fn enter_all(
        &mut self,
        streams: &Streams<'_>,
        stream: Stream,
        lane: usize,
        visitor: &mut impl Visitor,
    ) {
        let Network { routes, .. } = streams.network;
        let channels = streams.channels;
        let entering = &streams.entering[lane];
        for &switch in &streams.entrances {
            for &egress in routes.table.next_hops_of_way(switch, stream.way) {
                let Some(channel) = channels.leaving(switch, egress) else {
                    continue;
                };
                let mut classes = entering[channels.port_place(switch, egress)];
                while classes != 0 {
                    let class = Class(classes.trailing_zeros() as u8);
                    classes &= classes - 1;
                    visitor.enter(switch, channels.vertex(channel, class));
                    self.visit(channel, class);
                }
            }
        }
    }

    fn enter_one(&mut self, streams: &Streams<'_>, demand: Demand, visitor: &mut impl Visitor) {
        let Network { topology, routes, classes, .. } = streams.network;
        let channels = streams.channels;
        let Some(link) = topology.ports(demand.source).first() else {
            return;
        };
        let switch = link.peer;
        for &egress in routes.table.next_hops(switch, demand.group) {
            let Some(channel) = channels.leaving(switch, egress) else {
                continue;
            };
            let passage = Passage { node: switch, ingress: link.peer_port, egress };
            if let Some(class) = classes.next(passage, at_first(demand.lane)) {
                visitor.enter(switch, channels.vertex(channel, class));
                self.visit(channel, class);
            }
        }
    }

    /// Visits the channel that packets take from their first switch.
    #[inline]
    fn visit(&mut self, channel: u32, class: Class) {
        self.visit_after(0, channel, class);
    }

    /// Visits the channel that packets take from a switch at which they were in `phase`.
    #[inline]
    fn visit_after(&mut self, phase: u8, channel: u32, class: Class) {
        let (mut phase, mut place) = (phase, channel);
        if self.phases > 1 {
            phase = (phase + 1) % self.phases;
            place = channel * u32::from(self.phases) + u32::from(phase);
        }
        let seen = &mut self.seen[place as usize];
        if *seen & mask(class) != 0 {
            return;
        }
        if *seen == 0 {
            self.touched.push(place);
        }
        *seen |= mask(class);
        self.stack.push(Visit { channel, class, phase });
    }
}

/// The vertices to which packets of the present stream can go from each switch. A stream of demands
/// may have several classes; each has its own.
#[derive(Clone, Debug, Default)]
struct Fans {
    /// Per node, the class and the stream that `bounds` belong to.
    owners: Vec<(Class, u32)>,
    bounds: Vec<(u32, u32)>,
    vertices: Vec<u32>,
    /// The number of the present stream.
    stream: u32,
}

impl Fans {
    fn clear(&mut self, node_count: usize) {
        self.owners.resize(node_count, (Class(0), 0));
        self.bounds.resize(node_count, (0, 0));
        self.vertices.clear();
        self.stream += 1;
    }

    #[inline]
    fn get(&self, node: NodeId, class: Class) -> Option<Range<usize>> {
        let (start, end) = self.bounds[node.index()];
        let is_known = self.owners[node.index()] == (class, self.stream);
        is_known.then_some(start as usize..end as usize)
    }

    fn add(
        &mut self,
        node: NodeId,
        class: Class,
        vertices: impl Iterator<Item = u32>,
    ) -> Range<usize> {
        let start = self.vertices.len();
        self.vertices.extend(vertices);
        let fan = start..self.vertices.len();
        self.owners[node.index()] = (class, self.stream);
        self.bounds[node.index()] = (fan.start as u32, fan.end as u32);
        fan
    }
}
