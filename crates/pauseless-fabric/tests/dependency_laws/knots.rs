//! Knots once more, from the definition: what each packet in each buffer may do, and every set of
//! buffers tried. It shares no code with the analyser beyond the tables that both read.

use std::collections::BTreeSet;

use pauseless_core::class_map::{Carried, ClassMap, Passage};
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_fabric::dependency::{Buffer, Demand, Network};
use pauseless_fabric::routing::Routes;

use crate::oracle;

/// A packet in a buffer that faces a switch, and what it may do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct State {
    pub packet: Demand,
    pub buffer: Buffer,
    /// The switches that it has passed, where its class depends on that.
    pub hops: u8,
    /// The buffers that it may go on to.
    pub nexts: BTreeSet<Buffer>,
    /// Whether it may leave the fabric, or be dropped, instead.
    pub may_leave: bool,
}

/// A class of its own that packets may change to at every switch.
#[derive(Clone, Copy)]
pub struct EscapeClass<'e> {
    pub routes: &'e Routes,
    pub class: Class,
    /// Whether packets may come back from it to their other ports.
    pub may_return: bool,
}

/// Every packet in every buffer that it can get into.
pub fn states(
    network: &Network<'_>,
    left_out: &[bool],
    escape: Option<EscapeClass<'_>>,
) -> BTreeSet<State> {
    let packets = oracle::packets(network, left_out).into_iter();
    packets.flat_map(|packet| follow(network, packet, escape)).collect()
}

/// The buffers into which packets come from their first switch.
pub fn entries(network: &Network<'_>, left_out: &[bool]) -> Vec<(Demand, Buffer)> {
    let packets = oracle::packets(network, left_out).into_iter();
    let entries = packets.flat_map(|packet| {
        let first = first(network, packet);
        let nexts = first.map(|buffer| {
            let nexts = BTreeSet::new();
            let mut state = State { packet, buffer, hops: 0, nexts, may_leave: false };
            step(network, &mut state);
            state.nexts
        });
        nexts.into_iter().flatten().map(move |next| (packet, next))
    });
    entries.collect()
}

/// The buffer, facing its source, in which a packet begins.
fn first(network: &Network<'_>, packet: Demand) -> Option<Buffer> {
    let link = network.topology.ports(packet.source).first()?;
    Some(Buffer { node: link.peer, port: link.peer_port, class: packet.lane.class })
}

fn follow(network: &Network<'_>, packet: Demand, escape: Option<EscapeClass<'_>>) -> Vec<State> {
    let Some(at_first) = first(network, packet) else {
        return Vec::new();
    };
    let mut known = BTreeSet::from([(at_first, 0)]);
    let mut open = vec![(at_first, 0u8)];
    let mut states = Vec::new();
    while let Some((buffer, hops)) = open.pop() {
        let mut state = State { packet, buffer, hops, nexts: BTreeSet::new(), may_leave: false };
        step(network, &mut state);
        if let Some(escape) = escape {
            if buffer.class == escape.class && !escape.may_return {
                state.nexts.clear();
            }
            step_aside(network, &mut state, escape);
        }
        let hops = match network.classes {
            ClassMap::Hops(_) => (hops + 1).min(64),
            _ => 0,
        };
        for next in &state.nexts {
            if known.insert((*next, hops)) {
                open.push((*next, hops));
            }
        }
        // What drops makes nobody wait, neither those before it nor those behind it.
        state.may_leave |= state.nexts.iter().any(|next| oracle::is_lossy(network, *next));
        if buffer != at_first && !oracle::is_lossy(network, buffer) {
            states.push(state);
        }
    }
    states
}

/// Adds what the tables allow.
fn step(network: &Network<'_>, state: &mut State) {
    let State { packet, buffer, hops, .. } = *state;
    let topology = network.topology;
    // An escape class is no class of the map, and a packet that comes back from it is as before.
    let class = if buffer.class == ESCAPE { packet.lane.class } else { buffer.class };
    let egresses = network.routes.table.next_hops(buffer.node, packet.group);
    state.may_leave |= egresses.is_empty();
    for &egress in egresses {
        let passage = Passage { node: buffer.node, ingress: buffer.port, egress };
        let carried = Carried { label: packet.lane.label, class, hops };
        let port = topology.port(buffer.node, egress);
        match network.classes.next(passage, carried) {
            Some(class) if !topology.is_host(port.peer) => {
                let next = Buffer { node: port.peer, port: port.peer_port, class };
                state.nexts.insert(next);
            }
            _ => state.may_leave = true,
        }
    }
}

/// Adds the ways into the escape class, and on in it.
fn step_aside(network: &Network<'_>, state: &mut State, escape: EscapeClass<'_>) {
    let topology = network.topology;
    let target = network.routes.groups.target(state.packet.group);
    let group = escape.routes.groups.of_host(target);
    for &egress in escape.routes.table.next_hops(state.buffer.node, group) {
        let port = topology.port(state.buffer.node, egress);
        if topology.is_host(port.peer) {
            state.may_leave = true;
        } else {
            let class = escape.class;
            state.nexts.insert(Buffer { node: port.peer, port: port.peer_port, class });
        }
    }
}

/// The buffers that are left when those are taken away, again and again, in which no packet is
/// trapped.
pub fn largest(states: &BTreeSet<State>) -> BTreeSet<Buffer> {
    let mut set: BTreeSet<Buffer> = states.iter().map(|state| state.buffer).collect();
    loop {
        let kept: BTreeSet<Buffer> = trapped_in(states, &set).map(|state| state.buffer).collect();
        if kept == set {
            return set;
        }
        set = kept;
    }
}

/// The same by trying every set of buffers; `None` if there are too many.
pub fn largest_of_all(states: &BTreeSet<State>) -> Option<BTreeSet<Buffer>> {
    let buffers: BTreeSet<Buffer> = states.iter().map(|state| state.buffer).collect();
    let buffers = Vec::from_iter(buffers);
    if buffers.len() > 8 {
        return None;
    }
    let mut all = BTreeSet::new();
    for set in 0..1u32 << buffers.len() {
        let members = (0..buffers.len()).filter(|at| set & 1 << at != 0);
        let members: BTreeSet<Buffer> = members.map(|at| buffers[at]).collect();
        let trapped: BTreeSet<Buffer> =
            trapped_in(states, &members).map(|state| state.buffer).collect();
        if trapped == members {
            all.extend(members);
        }
    }
    Some(all)
}

/// The states of `set` that can go nowhere else.
pub fn trapped_in<'s>(
    states: &'s BTreeSet<State>,
    set: &'s BTreeSet<Buffer>,
) -> impl Iterator<Item = &'s State> {
    let is_trapped = |state: &&State| {
        set.contains(&state.buffer) && !state.may_leave && state.nexts.is_subset(set)
    };
    states.iter().filter(is_trapped)
}

/// The class that tests use for escapes: no map of theirs has it.
pub const ESCAPE: Class = Class(15);

/// All ports of all switches by which a packet might go on, for tests that add one.
pub fn trunks(network: &Network<'_>) -> Vec<(NodeId, PortId)> {
    let topology = network.topology;
    let ports = topology.switches().iter().flat_map(|switch| {
        let ports = (0..).map(PortId).zip(topology.ports(*switch));
        let trunks = ports.filter(|(_, port)| !topology.is_host(port.peer));
        trunks.map(|(number, _)| (*switch, number))
    });
    ports.collect()
}
