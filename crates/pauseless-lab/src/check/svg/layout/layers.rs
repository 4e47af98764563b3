//! Layers: those that the generator of the fabric knows, or else by the distance from end nodes.

use std::collections::{BTreeMap, VecDeque};

use pauseless_core::id::NodeId;
use pauseless_fabric::topology::Topology;

use super::{HOST, Layout, MARGIN, Place, WIDTH, usual};
use crate::check::svg::cast::{Cast, Role};

/// The layer of each node, from 1 for switches; `None` if the fabric is not made of layers.
pub(super) fn heights(topology: &Topology) -> Option<Vec<usize>> {
    let known = topology.nodes().iter().map(|node| usize::from(node.layer));
    let known = Vec::from_iter(known);
    let switches = topology.switches();
    let is_known = switches.windows(2).any(|pair| {
        let [a, b] = [pair[0], pair[1]];
        known[a.index()] != known[b.index()]
    });
    let heights = if is_known { known } else { distances(topology)? };
    // Some links within a layer, such as those between a pair of leaves, do no harm.
    let between = |node: &NodeId| !topology.is_host(*node);
    let links = topology.links().iter();
    let links = Vec::from_iter(links.filter(|link| between(&link.a) && between(&link.b)));
    let is_level = |a: NodeId, b: NodeId| heights[a.index()] == heights[b.index()];
    let level = links.iter().filter(|link| is_level(link.a, link.b)).count();
    (level * 10 <= links.len()).then_some(heights)
}

/// How far each switch is from one that has many end nodes; some have a few because that is where
/// the managers are.
fn distances(topology: &Topology) -> Option<Vec<usize>> {
    let host_count = |switch: &NodeId| {
        let peers = topology.ports(*switch).iter().map(|port| port.peer);
        peers.filter(|peer| topology.is_host(*peer)).count()
    };
    let most = topology.switches().iter().map(host_count).max()?;
    let has_many = |switch: &&NodeId| host_count(switch) > most / 4;
    let mut heights = vec![0; topology.nodes().len()];
    let mut queue = VecDeque::new();
    for switch in topology.switches().iter().filter(has_many) {
        heights[switch.index()] = 1;
        queue.push_back(*switch);
    }
    while let Some(switch) = queue.pop_front() {
        for port in topology.ports(switch) {
            let peer = port.peer;
            if !topology.is_host(peer) && heights[peer.index()] == 0 {
                heights[peer.index()] = heights[switch.index()] + 1;
                queue.push_back(peer);
            }
        }
    }
    let highest = heights.iter().max()?;
    (*highest > 1).then_some(heights)
}

/// Rows of switches, the highest layer on top.
pub(super) fn stand(layout: &mut Layout, cast: &Cast<'_>, heights: &[usize]) {
    let mut rows: BTreeMap<usize, Vec<(NodeId, Role)>> = BTreeMap::new();
    for &(switch, role) in &cast.switches {
        let row = rows.entry(heights[switch.index()]).or_default();
        row.push((switch, role));
    }
    let mut y = 0.0;
    for (number, row) in rows.values().rev().enumerate() {
        let mut switches = row.iter();
        let has_hosts = switches.any(|(switch, _)| !cast.hosts_on(*switch).is_empty());
        let is_last = number + 1 == rows.len();
        if has_hosts && !is_last {
            y += HOST_GAP;
        }
        let row = in_order(cast, row);
        stand_in_row(layout, &row, y);
        let side = if is_last { HOST_GAP } else { -HOST_GAP };
        stand_hosts(layout, cast, (&row, y + side));
        y += ROW_GAP;
    }
}

/// The order in a row: that of names, which is that of pods and racks. In long rows those that
/// matter are spread over the page, so that the cycle between them has room.
fn in_order(cast: &Cast<'_>, row: &[(NodeId, Role)]) -> Vec<(NodeId, Role)> {
    if row.len() <= SHORT {
        return row.to_vec();
    }
    let of = |wanted: Role| {
        let these = row.iter().filter(move |(_, role)| *role == wanted);
        these.copied()
    };
    let mut ring = Vec::from_iter(of(Role::Cycle));
    ring.sort_by_key(|(switch, _)| cast.ring.iter().position(|node| node == switch));
    let passed = Vec::from_iter(of(Role::Passed));
    let (left, right) = passed.split_at(passed.len() / 2);
    let loud = Vec::from_iter(left.iter().chain(&ring).chain(right).copied());
    let idle = Vec::from_iter(of(Role::Idle));
    let groups = loud.len() + 1;
    let cut = |group: usize| idle.len() * group / groups;
    let mut order = Vec::with_capacity(row.len());
    for group in 0..groups {
        order.extend(&idle[cut(group)..cut(group + 1)]);
        order.extend(loud.get(group));
    }
    order
}

fn stand_in_row(layout: &mut Layout, row: &[(NodeId, Role)], y: f64) {
    let room = WIDTH - 2.0 * MARGIN;
    let loud = row.iter().filter(|(_, role)| *role != Role::Idle);
    let loud = Vec::from_iter(loud.map(|(_, role)| usual(*role).0 + GAP));
    let idle_count = (row.len() - loud.len()).max(1) as f64;
    let taken: f64 = loud.iter().sum();
    let idle = (room - taken) / idle_count * 0.85;
    let idle = idle.clamp(IDLE_MIN, usual(Role::Idle).0);
    // Where even the narrowest do not fit, the switches of the cycle become narrower too.
    let left = room - idle_count.min((row.len() - loud.len()) as f64) * (idle + 2.0);
    let shrink = (left / taken.max(1.0)).clamp(0.7, 1.0);
    let size = |role: Role| match role {
        Role::Idle => (idle, usual(role).1),
        _ => (usual(role).0 * shrink, usual(role).1),
    };
    let widths: f64 = row.iter().map(|(_, role)| size(*role).0).sum();
    let gap = (room - widths) / row.len() as f64;
    // A few switches stand together rather than at the far ends of the page.
    let gap = gap.clamp(2.0, GAP_MAX);
    let mut x = -(widths + gap * row.len() as f64) / 2.0;
    for &(switch, role) in row {
        let size = size(role);
        let at = (x + (size.0 + gap) / 2.0, y);
        layout.put(switch, Place { at, size, role });
        x += size.0 + gap;
    }
}

/// Ends of flows next to their switches, and not on each other.
fn stand_hosts(layout: &mut Layout, cast: &Cast<'_>, (row, y): (&[(NodeId, Role)], f64)) {
    let pitch = HOST.0 + 10.0;
    let mut wanted = Vec::new();
    for (switch, _) in row {
        let hosts = cast.hosts_on(*switch);
        let first = layout.places[switch].at.0 - pitch * (hosts.len() as f64 - 1.0) / 2.0;
        let hosts = hosts.into_iter().enumerate();
        wanted.extend(hosts.map(|(number, host)| (host, first + pitch * number as f64)));
    }
    let mut free = f64::NEG_INFINITY;
    for (_, x) in &mut wanted {
        *x = x.max(free);
        free = *x + pitch;
    }
    // Whoever was pushed beyond the right end pushes back.
    let mut limit = (WIDTH / 2.0 - MARGIN - HOST.0 / 2.0).max(pitch * wanted.len() as f64 / 2.0);
    for (host, x) in wanted.into_iter().rev() {
        let x = x.min(limit);
        limit = x - pitch;
        layout.put(host, Place::usual((x, y), Role::Host));
    }
}

/// So many switches of a row can be told apart in any order.
const SHORT: usize = 8;
const ROW_GAP: f64 = 210.0;
const HOST_GAP: f64 = 92.0;
const GAP: f64 = 18.0;
const GAP_MAX: f64 = 150.0;
/// Narrower boxes are no boxes.
const IDLE_MIN: f64 = 10.0;
