//! A small network drawn with the cycle of its deadlock.
//!
//! Switches stand on a circle, those of the cycle in its order; hosts stand outside, next to
//! their switch. Of a network too large for that, only the switches of the cycle are drawn.

use std::f64::consts::{PI, TAU};
use std::fmt::Write;

use pauseless_core::id::{FlowId, NodeId, PortId};
use pauseless_fabric::topology::NodeKind;
use pauseless_fabric::trace::trace;
use pauseless_sim::outcome::EgressQueue;

use super::chart::{ALARM, INK, PALETTE, colour, hex};
use super::html::escape;
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
    let cycle = cycle.as_slice();
    let places = Places::new(run, cycle);
    if places.nodes.is_empty() {
        return None;
    }
    let mut text = opening(run, cycle, &places);
    for link in run.topology().links() {
        if let (Some(from), Some(to)) = (places.of(link.a), places.of(link.b)) {
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "<line x1=\"{:.0}\" y1=\"{:.0}\" x2=\"{:.0}\" y2=\"{:.0}\" stroke=\"{}\" stroke-width=\"2\" opacity=\"0.5\"/>",
                from.0,
                from.1,
                to.0,
                to.1,
                hex(INK)
            );
        }
    }
    text.push_str(&flow_lines(run, &places));
    for queue in cycle {
        let peer = run.topology().port(queue.node, queue.port).peer;
        if let (Some(from), Some(to)) = (places.of(queue.node), places.of(peer)) {
            text.push_str(&arrow(run, queue, (from, to)));
        }
    }
    for (node, place) in &places.nodes {
        text.push_str(&symbol(run, *node, *place));
    }
    text.push_str("</svg>\n");
    Some(text)
}

type Point = (f64, f64);

/// Where nodes stand.
struct Places {
    nodes: Vec<(NodeId, Point)>,
}

impl Places {
    pub fn new(run: &Run, cycle: &[EgressQueue]) -> Places {
        let topology = run.topology();
        let is_small = topology.nodes().len() <= NODES_MAX;
        let mut switches: Vec<NodeId> = Vec::new();
        for queue in cycle {
            if !switches.contains(&queue.node) {
                switches.push(queue.node);
            }
        }
        if is_small {
            let rest = topology.switches().iter();
            let rest: Vec<NodeId> = rest.filter(|id| !switches.contains(id)).copied().collect();
            switches.extend(rest);
        }
        let mut places = Places { nodes: Vec::new() };
        let radius = match (switches.len(), is_small) {
            (1, _) => 0.0,
            (_, true) => RADIUS,
            (_, false) => RADIUS * 1.5,
        };
        let step = TAU / switches.len().max(1) as f64;
        for (index, switch) in switches.iter().enumerate() {
            // The first stands at the top, or to the left where there are but two.
            let start = if switches.len() == 2 { PI } else { -PI / 2.0 };
            let angle = start + step * index as f64;
            places.nodes.push((*switch, on_circle(angle, radius)));
            if is_small {
                places.add_hosts(run, *switch, (angle, step));
            }
        }
        places
    }

    /// Spreads the hosts of a switch over its part of the outer circle.
    fn add_hosts(&mut self, run: &Run, switch: NodeId, (angle, step): (f64, f64)) {
        let topology = run.topology();
        let neighbours = topology.neighbours(switch).into_iter();
        let hosts: Vec<NodeId> = neighbours.filter(|id| topology.is_host(*id)).collect();
        let gap = (step * 0.8).min(TAU) / hosts.len().max(1) as f64;
        for (index, host) in hosts.iter().enumerate() {
            let offset = (index as f64 - (hosts.len() as f64 - 1.0) / 2.0) * gap;
            self.nodes.push((*host, on_circle(angle + offset, RADIUS_HOSTS)));
        }
    }

    /// The highest and the lowest node.
    fn extent(&self) -> (f64, f64) {
        let heights = self.nodes.iter().map(|(_, place)| place.1);
        let start = (f64::INFINITY, f64::NEG_INFINITY);
        heights.fold(start, |(top, bottom), y| (top.min(y), bottom.max(y)))
    }

    pub fn of(&self, node: NodeId) -> Option<Point> {
        let found = self.nodes.iter().find(|(id, _)| *id == node);
        found.map(|(_, place)| *place)
    }
}

fn on_circle(angle: f64, radius: f64) -> Point {
    // Wider than high, like the cards of the page.
    let (x, y) = (1.3 * radius * angle.cos(), radius * angle.sin());
    (WIDTH / 2.0 + x, HEIGHT / 2.0 + y)
}

fn opening(run: &Run, cycle: &[EgressQueue], places: &Places) -> String {
    let description = match cycle {
        [] => "the network".to_string(),
        _ => {
            let ports = cycle.iter().map(|at| run.port_name(at.node, at.port));
            format!("the cycle {}", Vec::from_iter(ports).join(", "))
        }
    };
    let (top, bottom) = places.extent();
    let (top, height) = (top - MARGIN, bottom - top + 2.0 * MARGIN);
    // Several figures share a page, so the arrow head is a marker of each one's own: all are
    // alike, and whichever of the same name is found is right.
    format!(
        "<svg role=\"img\" aria-label=\"{}\" viewBox=\"0 {top:.0} {WIDTH} {height:.0}\" \
         xmlns=\"http://www.w3.org/2000/svg\">\n\
         <defs><marker id=\"head\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" \
         markerWidth=\"5\" markerHeight=\"5\" orient=\"auto\">\
         <path d=\"M0 0L10 5L0 10z\" fill=\"{}\"/></marker></defs>\n",
        escape(&description),
        hex(ALARM),
    )
}

/// An egress queue of the cycle: an arrow along its link, with its name and its flows.
fn arrow(run: &Run, queue: &EgressQueue, (from, to): (Point, Point)) -> String {
    let length = ((to.0 - from.0).powi(2) + (to.1 - from.1).powi(2)).sqrt();
    let along = |distance: f64| {
        let share = distance / length.max(1.0);
        (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share)
    };
    let (start, end) = (along(BOX.0 / 2.0), along(length - BOX.0 * 0.62));
    let label = label_place(along(length / 2.0));
    let alarm = hex(ALARM);
    let anchor = match label.0 - WIDTH / 2.0 {
        x if x > 20.0 => "start",
        x if x < -20.0 => "end",
        _ => "middle",
    };
    format!(
        "<line x1=\"{:.0}\" y1=\"{:.0}\" x2=\"{:.0}\" y2=\"{:.0}\" stroke=\"{alarm}\" \
         stroke-width=\"5\" marker-end=\"url(#head)\"/>\n\
         <text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"{anchor}\" font-size=\"15\" \
         class=\"alarm\">{}</text>\n\
         <text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"{anchor}\" font-size=\"13\">{}</text>\n",
        start.0,
        start.1,
        end.0,
        end.1,
        label.0,
        label.1 - 2.0,
        escape(&run.port_name(queue.node, queue.port)),
        label.0,
        label.1 + 14.0,
        escape(&flows_through(run, queue)),
    )
}

/// Outside of the cycle, next to the middle of the arrow.
fn label_place((x, y): Point) -> Point {
    let (dx, dy) = (x - WIDTH / 2.0, y - HEIGHT / 2.0);
    let distance = (dx.powi(2) + dy.powi(2)).sqrt().max(1.0);
    let out = 34.0;
    (x + dx / distance * out, y + dy / distance * out)
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

/// The paths of a few flows, in the colours of their curves, beside the links that they take.
fn flow_lines(run: &Run, places: &Places) -> String {
    let count = run.scenario.config.flows.len();
    let mut text = String::new();
    if count > PALETTE.len() {
        return text;
    }
    for flow in 0..count {
        let offset = 7.0 + 4.0 * flow as f64;
        let mut steps = String::new();
        let mut at = None;
        for (node, port) in path(run, FlowId(flow as u32)) {
            let peer = run.topology().port(node, port).peer;
            if let (Some(from), Some(to)) = (places.of(node), places.of(peer)) {
                let (from, to) = beside((from, to), offset);
                // Where a part of the path is not drawn, the line is interrupted.
                let step = if at == Some(node) { 'L' } else { 'M' };
                let _ = write!(steps, "{step}{:.0} {:.0}", from.0, from.1);
                let _ = write!(steps, "L{:.0} {:.0}", to.0, to.1);
                at = Some(peer);
            }
        }
        let _ = writeln!(
            text,
            "<path d=\"{steps}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>",
            hex(colour(flow)),
        );
    }
    text
}

/// The line from one point to another, moved to its left and a little shorter.
fn beside((from, to): (Point, Point), offset: f64) -> (Point, Point) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = (dx.powi(2) + dy.powi(2)).sqrt().max(1.0);
    let (x, y) = (dx / length, dy / length);
    let moved = |at: Point, along: f64| {
        let along = along * offset;
        (at.0 + y * offset + x * along, at.1 - x * offset + y * along)
    };
    (moved(from, 0.6), moved(to, -0.6))
}

fn symbol(run: &Run, node: NodeId, (x, y): Point) -> String {
    let node = run.topology().node(node);
    let (class, (width, height), corner) = match node.kind {
        NodeKind::Switch => ("switch", BOX, 6),
        NodeKind::Host => ("host", (BOX.0 * 0.75, BOX.1 * 0.8), 14),
    };
    // Long names shrink into their box instead of leaving it.
    let letters = node.name.chars().count().max(1) as f64;
    let size = (width / letters * 1.5).min(16.0);
    format!(
        "<rect class=\"{class}\" x=\"{:.0}\" y=\"{:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" rx=\"{corner}\"/>\n\
         <text x=\"{x:.0}\" y=\"{:.0}\" text-anchor=\"middle\" font-size=\"{size:.0}\">{}</text>\n",
        x - width / 2.0,
        y - height / 2.0,
        y + 5.0,
        escape(&node.name),
    )
}

/// Larger networks are not drawn whole.
const NODES_MAX: usize = 16;
/// More names than this do not fit next to an arrow.
const NAMES_MAX: usize = 4;
const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 300.0;
/// Around the nodes, for their boxes and for labels.
const MARGIN: f64 = 26.0;
const RADIUS: f64 = 72.0;
const RADIUS_HOSTS: f64 = 132.0;
/// Width and height of a switch.
const BOX: (f64, f64) = (48.0, 30.0);
