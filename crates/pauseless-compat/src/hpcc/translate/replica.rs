//! What the replica of that simulator is made of.

use std::collections::BTreeMap;

use crate::replica::clock;
use crate::replica::engine::{Entry, Flow, Marking, Node, Port, Setup};
use crate::replica::memory::{Memory, PortLimits};
use crate::replica::random::Streams;
use crate::replica::source::{Scheme, Terms};

use super::super::Monitor;
use super::super::topology::{Link, Topology};
use super::keys::{Control, Dcqcn, Hpcc, Settings, Timely, Window};
use super::{Parts, memory};

/// Everything that the replica needs.
pub(super) fn setup(from: &Parts<'_>, monitor: Option<&Monitor>) -> Setup {
    let (topology, settings) = (from.topology, from.settings);
    let (ports, of_nodes) = ports(topology, settings);
    let limits = |port: u32| {
        let port: &Port = &ports[port as usize];
        let memory = memory::memory(port.rate, port.delay, nic_rate(topology));
        PortLimits { headroom: memory.headroom as u32, shift: memory.shift }
    };
    let neighbours = neighbours(topology);
    let (entries, edges) = entries(topology);
    let mut nodes = Vec::new();
    for (number, ports) in of_nodes.into_iter().enumerate() {
        let limits = || ports.iter().copied().map(limits).collect();
        let memory =
            topology.is_switch[number].then(|| Memory::new(settings.buffer as u32, limits()));
        let routes = match memory {
            Some(_) => vec![Vec::new(); edges.len()],
            None => Vec::new(),
        };
        nodes.push(Node { ports, memory, routes });
    }
    find_routes(&mut nodes, &neighbours, &edges);
    let own = topology.wired.iter().filter(|link| link.loss > 0.0);
    let own = Vec::from_iter(own.map(|link| link.loss));
    // Nodes and models of errors take streams before the first packet.
    let streams = Streams::new(2 + 6 * topology.is_switch.len() as u64 + 2 * own.len() as u64);
    let losses = std::iter::once(settings.usual_loss).chain(own);
    let losses = losses.map(|share| (share, streams.open(LOSSES)));
    Setup {
        losses: losses.collect(),
        nodes,
        ports,
        entries,
        flows: flows(from),
        terms: terms(settings),
        marks: !settings.marking.is_empty(),
        stop: settings.stop,
        ack_interval: settings.ack_interval as u32,
        answers_first: settings.acks_first,
        streams,
        monitor: monitor.map_or((u64::MAX, 0), |monitor| (monitor.start, monitor.end)),
    }
}

/// The stream that losses are drawn from.
const LOSSES: u64 = (1 << 63) + 50;

/// The rate of the first interface of the first host.
fn nic_rate(topology: &Topology) -> u64 {
    let host = topology.is_switch.iter().position(|is_switch| !is_switch);
    let of_host = |link: &&Link| host.is_some_and(|host| link.ends.contains(&host));
    let link = topology.wired.iter().find(of_host);
    link.map_or(u64::MAX, |link| link.rate.as_bps())
}

/// All ends of all links, and those of each node.
pub fn ports(topology: &Topology, settings: &Settings) -> (Vec<Port>, Vec<Vec<u32>>) {
    let mut ports = Vec::new();
    let mut of_nodes = vec![Vec::new(); topology.is_switch.len()];
    let mut own_losses = 0;
    for link in &topology.wired {
        let loss = if link.loss > 0.0 {
            own_losses += 1;
            Some(own_losses)
        } else {
            (settings.usual_loss > 0.0).then_some(0)
        };
        let rate = link.rate.as_bps();
        let marking = settings.marking.get(&rate).copied();
        let first = ports.len() as u32;
        for side in [0, 1] {
            let (node, interface) = (link.ends[side], link.interfaces[side]);
            let place = first + side as u32;
            let delay = link.delay.as_ps() / 1_000;
            let mut port = Port::new(node as u32, interface, rate, delay);
            port.peer = first + 1 - side as u32;
            port.loss = loss;
            port.marking = marking.map_or(Marking::default(), |at| Marking {
                kmin: at.kmin as u32,
                kmax: at.kmax as u32,
                pmax: at.pmax,
            });
            ports.push(port);
            of_nodes[node].push(place);
        }
    }
    (ports, of_nodes)
}

/// For each switch the switches next to it, the highest number first, and the interfaces there.
fn neighbours(topology: &Topology) -> Vec<Vec<(usize, u32)>> {
    let mut neighbours = vec![BTreeMap::new(); topology.is_switch.len()];
    for link in &topology.links {
        let [a, b] = link.ends;
        if topology.is_switch[a] && topology.is_switch[b] {
            neighbours[a].insert(b, link.interfaces[1]);
            neighbours[b].insert(a, link.interfaces[0]);
        }
    }
    neighbours.into_iter().map(|list| list.into_iter().rev().collect()).collect()
}

/// For each host where it is, and the switches that have hosts.
fn entries(topology: &Topology) -> (Vec<Entry>, Vec<usize>) {
    let mut entries = vec![Entry::default(); topology.is_switch.len()];
    let mut edges = Vec::new();
    let ends = topology.links.iter().flat_map(|link| {
        let ([a, b], [at_a, at_b]) = (link.ends, link.interfaces);
        [(a, b, at_b), (b, a, at_a)]
    });
    for (host, switch, interface) in ends.filter(|(node, ..)| !topology.is_switch[*node]) {
        entries[host].switch = switch as u32;
        entries[host].interface = interface;
        edges.push(switch);
    }
    edges.sort_unstable();
    edges.dedup();
    for entry in &mut entries {
        let place = edges.binary_search(&(entry.switch as usize));
        entry.edge = place.unwrap_or(0) as u32;
    }
    (entries, edges)
}

/// From every switch that has hosts the switches are searched; who is one step further away goes
/// through all that are one step nearer, in the order in which they were found.
fn find_routes(nodes: &mut [Node], neighbours: &[Vec<(usize, u32)>], edges: &[usize]) {
    for (place, &edge) in edges.iter().enumerate() {
        let mut distance = vec![usize::MAX; nodes.len()];
        distance[edge] = 0;
        let mut queue = vec![edge];
        let mut next = 0;
        while let Some(&at) = queue.get(next) {
            next += 1;
            for &(peer, interface) in &neighbours[at] {
                if distance[peer] == usize::MAX {
                    distance[peer] = distance[at] + 1;
                    queue.push(peer);
                }
                if distance[peer] == distance[at] + 1 {
                    nodes[peer].routes[place].push(interface);
                }
            }
        }
    }
}

fn flows(from: &Parts<'_>) -> Vec<Flow> {
    let (longest, largest) = from.ways.largest();
    let flows = from.flows.iter().map(|flow| {
        let way = from.ways.get(flow.source, flow.target);
        let own = way.map_or((0, 0), |way| (way.round_trip(), way.product()));
        let (base_rtt, window) = match from.settings.window {
            Window::None => (longest, 0),
            Window::Product { is_global: true, .. } => (longest, largest),
            Window::Product { .. } => own,
        };
        Flow {
            source: flow.source as u32,
            target: flow.target as u32,
            ports: [flow.source_port, flow.target_port],
            group: flow.group,
            size: flow.size,
            start: flow.start,
            window,
            base_rtt,
        }
    });
    flows.collect()
}

fn terms(settings: &Settings) -> Terms {
    let follows_rate = match settings.window {
        Window::None => false,
        Window::Product { follows_rate, .. } => follows_rate,
    };
    let common = Terms {
        payload: settings.payload as u32,
        follows_rate,
        is_paced: settings.is_rate_bound,
        ..Terms::default()
    };
    match &settings.control {
        Control::None => common,
        Control::Dcqcn(dcqcn) => dcqcn_terms(dcqcn, common),
        Control::Hpcc(hpcc) => hpcc_terms(hpcc, common),
        Control::Timely(Timely { rate_ai, rate_hai, rate_min }) => Terms {
            scheme: Scheme::Timely,
            rate_min: rate_min.as_bps(),
            rate_ai: rate_ai.as_bps(),
            rate_hai: rate_hai.as_bps(),
            ..common
        },
    }
}

fn dcqcn_terms(dcqcn: &Dcqcn, common: Terms) -> Terms {
    let nanoseconds = |microseconds: f64| clock::scaled(microseconds.floor(), 1_000);
    Terms {
        scheme: Scheme::Dcqcn,
        rate_min: dcqcn.rate_min.as_bps(),
        rate_ai: dcqcn.rate_ai.as_bps(),
        rate_hai: dcqcn.rate_hai.as_bps(),
        gain: dcqcn.gain,
        stages: dcqcn.stages as u32,
        clamps: dcqcn.clamps,
        alpha_ns: nanoseconds(dcqcn.alpha_us),
        look_ns: nanoseconds(dcqcn.decrease_us),
        raise_ns: nanoseconds(dcqcn.increase_us),
        ..common
    }
}

fn hpcc_terms(hpcc: &Hpcc, common: Terms) -> Terms {
    Terms {
        scheme: Scheme::Hpcc,
        rate_min: hpcc.rate_min.as_bps(),
        rate_ai: hpcc.rate_ai.as_bps(),
        target: hpcc.target,
        steps_max: hpcc.stages as u32,
        multiple: hpcc.multiple,
        is_fast: hpcc.is_fast,
        is_per_hop: hpcc.is_per_hop,
        is_sampling: hpcc.is_sampling,
        ..common
    }
}
