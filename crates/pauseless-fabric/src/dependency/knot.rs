//! Knots: what can deadlock where a switch chooses the port anew whenever it looks at a packet.
//!
//! Such a packet waits for any of its ports, not for one of them. So a cycle alone is no deadlock:
//! a packet on it may leave by a port that the cycle does not use. What can last is a knot, a set
//! of buffers in each of which some packet can lie all of whose ports lead into the set. The
//! largest knot is found by taking away buffers until nothing changes: a buffer goes when every
//! packet that can lie in it can be delivered or dropped, or has a port that leads out of the rest.
//! What is left is empty or a knot, and every knot is a part of it.
//!
//! Which packets can lie in which buffer is what the walk along all ports finds, so the answer is
//! on the safe side: without a knot no choice of ports can deadlock. With one there are packets
//! which, once they fill its buffers, never move again; whether traffic gets there is a matter of
//! rates, as with cycles. A knot contains a cycle, since each of its buffers waits for another.
//!
//! An escape class (Duato 1993, 1995) is the usual way to have no knot: a class of its own whose
//! routes have no cycle, and to which every packet may change at every switch.

use std::collections::BTreeSet;

use pauseless_core::class_map::ClassMap;
use pauseless_core::id::{GroupId, NodeId};

use super::graph::{Checker, Graph};
use super::walk::{Stream, Streams, Visitor, Walker};
use super::{Lane, Lossy, Network, Traffic};
use crate::routing::Routes;

/// When a switch chooses among the ports that a packet may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PortChoice {
    /// When it puts the packet into the queue of an egress, as switches with a shared memory do: the
    /// packet is committed to that egress. Any cycle of dependencies can then last.
    #[default]
    WhenQueued,
    /// Whenever the packet is at the head of its input queue: it goes on as soon as any of its ports
    /// has room. Only a knot can then last.
    AtHead,
}

impl PortChoice {
    /// The word for it on the command line and in documents.
    pub fn word(self) -> &'static str {
        match self {
            PortChoice::WhenQueued => "when-queued",
            PortChoice::AtHead => "at-head",
        }
    }

    /// The rule by which dependencies are judged.
    pub fn rule(self) -> &'static str {
        match self {
            PortChoice::WhenQueued => "union",
            PortChoice::AtHead => "knot",
        }
    }
}

/// The vertices of the largest knot, marked, and the streams of the packets that are trapped in it.
/// `candidates` marks a set that contains it.
pub(crate) fn untangle(
    walker: &mut Walker,
    streams: &Streams<'_>,
    candidates: Vec<bool>,
) -> (Vec<bool>, Vec<Stream>) {
    let mut inside = candidates;
    let mut trapped: Vec<Stream> = streams.list.clone();
    loop {
        let mut kept = vec![false; inside.len()];
        // A set that shrinks never traps a stream again that it has let go.
        trapped.retain(|stream| {
            let mut marks = Kept { marks: &mut kept, is_any: false };
            follow_trapped(walker, streams, *stream, &inside, &mut marks);
            marks.is_any
        });
        if kept == inside {
            return (inside, trapped);
        }
        inside = kept;
    }
}

/// Marks every vertex that a packet is trapped in.
struct Kept<'k> {
    marks: &'k mut [bool],
    is_any: bool,
}

impl Visitor for Kept<'_> {
    fn enter(&mut self, _: NodeId, _: u32) {}

    fn depend(&mut self, from: u32, _: u32) {
        self.marks[from as usize] = true;
        self.is_any = true;
    }
}

/// Follows a stream and tells `visitor` only of the dependencies of packets that are trapped: those
/// that cannot leave the fabric and all of whose ports lead to vertices marked in `inside`.
pub(crate) fn follow_trapped(
    walker: &mut Walker,
    streams: &Streams<'_>,
    stream: Stream,
    inside: &[bool],
    visitor: &mut impl Visitor,
) {
    visitor.begin();
    let mut filter = Trapped { inside, visitor, from: 0, nexts: Vec::new(), state: State::Nothing };
    walker.follow(streams, stream, &mut filter);
    filter.conclude();
}

/// A visitor that passes on what trapped packets do.
struct Trapped<'t, V> {
    inside: &'t [bool],
    visitor: &'t mut V,
    from: u32,
    nexts: Vec<u32>,
    state: State,
}

/// What is known of the packets of the last [`Visitor::arrive`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// There were none yet, or they have been judged.
    Nothing,
    /// All that was heard of leads into the set.
    Trapped,
    /// They can leave the set.
    Free,
}

impl<V: Visitor> Trapped<'_, V> {
    fn conclude(&mut self) {
        if self.state == State::Trapped {
            for &next in &self.nexts {
                self.visitor.depend(self.from, next);
            }
        }
        self.nexts.clear();
        self.state = State::Nothing;
    }
}

impl<V: Visitor> Visitor for Trapped<'_, V> {
    fn enter(&mut self, switch: NodeId, vertex: u32) {
        self.visitor.enter(switch, vertex);
    }

    fn arrive(&mut self, vertex: u32) {
        self.conclude();
        self.from = vertex;
        self.state = if self.inside[vertex as usize] { State::Trapped } else { State::Free };
    }

    fn leave(&mut self) {
        self.state = State::Free;
    }

    fn depend(&mut self, _: u32, to: u32) {
        if !self.inside[to as usize] {
            self.state = State::Free;
        }
        if self.state == State::Trapped {
            self.nexts.push(to);
        }
    }
}

/// What became of an escape class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Escape {
    /// Every packet finds a way out by it at every switch, and it has no cycle: no deadlock.
    Holds,
    /// Its own routes have this many buffers in cycles.
    Cyclic(usize),
    /// At these switches it has no route to these hosts, though packets for them get there; the first
    /// of them.
    Unconnected(Vec<(NodeId, NodeId)>),
}

impl Checker {
    /// Whether a class of its own, routed by `escape`, is one to which every packet of `network` may
    /// change for good or for a while, at whichever switch it is.
    ///
    /// Packets may come back from it to their other ports: in networks whose buffers hold whole
    /// packets only the dependencies from one buffer of the class to the next count (Duato 1995), and
    /// since packets may enter it at every switch, these are the same with and without coming back.
    pub fn escape(&mut self, network: Network<'_>, escape: &Routes) -> Escape {
        let unconnected = unconnected(network, escape);
        if !unconnected.is_empty() {
            return Escape::Unconnected(unconnected);
        }
        let class = Network {
            routes: escape,
            classes: &ClassMap::Same,
            traffic: &Traffic::AllPairs(vec![Lane::ONLY]),
            lossy: &Lossy::nothing(),
            ..network
        };
        let graph = self.graph_from_everywhere(class);
        match graph.components().iter().map(Vec::len).sum() {
            0 => Escape::Holds,
            buffers => Escape::Cyclic(buffers),
        }
    }

    fn graph_from_everywhere(&mut self, network: Network<'_>) -> Graph {
        let channels = self.shared_channels();
        let nobody = vec![false; network.topology.nodes().len()];
        let mut streams = Streams::new(network, &channels, &nobody);
        streams.enter_everywhere();
        self.union(&network, &streams)
    }
}

/// Switches and hosts where `network` brings packets for the host to the switch, or `escape` does so
/// after a change to it, and `escape` goes no further.
fn unconnected(network: Network<'_>, escape: &Routes) -> Vec<(NodeId, NodeId)> {
    let Network { topology, routes, .. } = network;
    let groups: BTreeSet<GroupId> = match network.traffic {
        Traffic::AllPairs(_) => routes.groups.addresses().collect(),
        Traffic::Demands(demands) => demands.iter().map(|demand| demand.group).collect(),
    };
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    for group in groups {
        let target = routes.groups.target(group);
        let Some(edge) = topology.ports(target).first().map(|port| port.peer) else {
            continue;
        };
        let escaping = escape.groups.of_host(target);
        // The hosts of a switch that are reached alike are looked at once.
        if !known.insert((routes.table.way(group), escape.table.way(escaping), edge)) {
            continue;
        }
        let leads_on =
            |switch: NodeId| switch == edge || !escape.table.next_hops(switch, escaping).is_empty();
        for &switch in topology.switches() {
            let nexts = escape.table.next_hops(switch, escaping).iter();
            let mut peers = nexts.map(|port| topology.port(switch, *port).peer);
            let is_met = !routes.table.next_hops(switch, group).is_empty();
            let is_lost = is_met && !leads_on(switch)
                || peers.any(|peer| !topology.is_host(peer) && !leads_on(peer));
            if is_lost {
                found.push((switch, target));
            }
        }
        if found.len() >= UNCONNECTED_MAX {
            break;
        }
    }
    found.truncate(UNCONNECTED_MAX);
    found
}

/// The most places without an escape that are named.
const UNCONNECTED_MAX: usize = 8;
