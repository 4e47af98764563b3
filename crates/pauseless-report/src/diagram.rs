//! A small network drawn with the cycle of its deadlock.
//!
//! Of a network too large for a page only the switches of the cycle are drawn.

use std::collections::BTreeSet;

use pauseless_core::id::{FlowId, NodeId, PortId};
use pauseless_fabric::trace::trace;
use pauseless_sim::outcome::EgressQueue;

use pauseless_figures::colour::PALETTE;
use pauseless_figures::network::{self, Arrow, Network, Node, Role, Sizes};
use pauseless_figures::svg::{Ground, Sheet, Svg};
use pauseless_run::Run;
use pauseless_run::sample::share::header;
use pauseless_text::quantity;

/// The network of `run` as an SVG element; `None` when it is too large and has no deadlock.
pub fn svg(run: &Run) -> Option<String> {
    let mut cycle = match &run.outcome.deadlock {
        Some(deadlock) => deadlock.cycle.clone(),
        None => Vec::new(),
    };
    // From the lowest switch on, so that one network looks the same in all figures.
    let first = (0..cycle.len()).min_by_key(|index| cycle[*index]);
    cycle.rotate_left(first.unwrap_or(0));
    let network = network(run, &cycle);
    if network.nodes.is_empty() {
        return None;
    }
    let description = if cycle.is_empty() {
        "the network".to_string()
    } else {
        let ports = cycle.iter().map(|at| run.port_name(at.node, at.port));
        format!("the cycle {}", Vec::from_iter(ports).join(", "))
    };
    let drawing = network::draw(&network);
    // Several figures share a page, so each defines the heads of its arrows: all are alike, and
    // whichever of the same name is found is right.
    let mut definitions = Svg::default();
    network::define_heads(&mut definitions);
    let sheet = Sheet {
        size: drawing.size,
        unit: "px",
        title: &description,
        description: "",
        definitions,
        ground: Ground::Page,
    };
    Some(sheet.document(&drawing.svg))
}

/// What is drawn: everything if the network is small, else the switches of the cycle.
fn network(run: &Run, cycle: &[EgressQueue]) -> Network {
    let topology = run.topology();
    let is_small = topology.nodes().len() <= NODES_MAX;
    let in_cycle = BTreeSet::from_iter(cycle.iter().map(|queue| queue.node));
    let all = (0..topology.nodes().len()).map(|id| NodeId(id as u32));
    let shown = Vec::from_iter(all.filter(|node| is_small || in_cycle.contains(node)));
    let position = |wanted: NodeId| shown.iter().position(|node| *node == wanted);
    let both = |a: NodeId, b: NodeId| Some([position(a)?, position(b)?]);
    let nodes = shown.iter().map(|id| {
        let name = topology.node(*id).name.clone();
        let role = if topology.is_host(*id) {
            Role::Host
        } else if in_cycle.contains(id) {
            Role::Cycle
        } else {
            Role::Passed
        };
        let home = topology.ports(*id).first().and_then(|port| position(port.peer));
        Node { tooltip: name.clone(), name, role, layer: None, home, notes: Vec::new() }
    });
    let nodes: Vec<Node> = nodes.collect();
    let links = topology.links().iter().filter_map(|link| both(link.a, link.b));
    let mut ring = Vec::new();
    for node in cycle.iter().filter_map(|queue| position(queue.node)) {
        if !ring.contains(&node) {
            ring.push(node);
        }
    }
    let arrows = cycle.iter().filter_map(|queue| {
        let [from, to] = both(queue.node, topology.port(queue.node, queue.port).peer)?;
        let port = run.port_name(queue.node, queue.port);
        let label = vec![port, flows_through(run, queue)];
        Some(Arrow { from, to, badge: String::new(), label, start: None })
    });
    Network {
        sizes: Sizes::small(&nodes),
        nodes,
        links: links.collect(),
        ring,
        arrows: arrows.collect(),
        routes: routes(run, both),
    }
}

/// The ways of a few flows, which are drawn in the colours of their curves.
fn routes(run: &Run, both: impl Fn(NodeId, NodeId) -> Option<[usize; 2]>) -> Vec<Vec<[usize; 2]>> {
    let count = run.scenario.config.flows.len();
    let shown = if count > PALETTE.len() { 0 } else { count };
    let route = |flow: usize| {
        let path = path(run, FlowId(flow as u32)).into_iter();
        path.filter_map(|(node, port)| both(node, run.topology().port(node, port).peer)).collect()
    };
    (0..shown).map(route).collect()
}

/// The flows of the deadlock that pass this egress.
fn flows_through(run: &Run, queue: &EgressQueue) -> String {
    let deadlock = run.outcome.deadlock.as_ref();
    let flows = deadlock.map_or(&[][..], |deadlock| deadlock.flows.as_slice());
    let passes = |id: &&FlowId| path(run, **id).contains(&(queue.node, queue.port));
    let names = flows.iter();
    let names: Vec<&str> = names.filter(passes).map(|id| run.flow_name(*id)).collect();
    quantity::some(names.into_iter(), NAMES_MAX)
}

/// The egress ports that a flow passes.
fn path(run: &Run, flow: FlowId) -> Vec<(NodeId, PortId)> {
    let config = &run.scenario.config;
    let flow = &config.flows[flow.index()];
    trace(&config.topology, &config.table, header(flow)).unwrap_or_default()
}

/// The most nodes of a network that is drawn whole.
const NODES_MAX: usize = 16;
/// The most names that fit next to an arrow.
const NAMES_MAX: usize = 4;
