//! Rows of switches by their layers, with hosts next to them.

use std::collections::BTreeMap;

use super::layout::{Layout, Place};
use super::{Network, Role};
use crate::svg::{Point, Size};

/// Puts switches into rows, the highest layer on top.
pub(super) fn stand(layout: &mut Layout, network: &Network) {
    let mut rows: BTreeMap<Option<usize>, Vec<(usize, Role)>> = BTreeMap::new();
    for (switch, role) in network.switches() {
        rows.entry(network.nodes[switch].layer).or_default().push((switch, role));
    }
    let mut y = 0.0;
    for (number, row) in rows.values().rev().enumerate() {
        let has_hosts = row.iter().any(|(switch, _)| !network.hosts_on(*switch).is_empty());
        let is_last = number + 1 == rows.len();
        if has_hosts && !is_last {
            y += HOST_GAP;
        }
        let row = in_order(network, row);
        stand_in_row(layout, &row, y);
        let side = if is_last { HOST_GAP } else { -HOST_GAP };
        stand_hosts(layout, network, &row, y + side);
        y += ROW_GAP;
    }
}

/// The order in a row: that of names, which is that of pods and racks. In long rows those that
/// matter are spread over the page, so that the cycle between them has room.
fn in_order(network: &Network, row: &[(usize, Role)]) -> Vec<(usize, Role)> {
    if row.len() <= SHORT {
        return row.to_vec();
    }
    let of = |wanted: Role| row.iter().filter(move |(_, role)| *role == wanted).copied();
    let mut ring = Vec::from_iter(of(Role::Cycle));
    ring.sort_by_key(|(switch, _)| network.ring.iter().position(|node| node == switch));
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

fn stand_in_row(layout: &mut Layout, row: &[(usize, Role)], y: f64) {
    let usual = |role: Role| layout.sizes.usual(role);
    let room = layout.sizes.width - 2.0 * layout.sizes.margin;
    let loud = row.iter().filter(|(_, role)| *role != Role::Idle);
    let loud = Vec::from_iter(loud.map(|(_, role)| usual(*role).width + GAP));
    let idle_count = (row.len() - loud.len()).max(1) as f64;
    let taken: f64 = loud.iter().sum();
    let idle = (room - taken) / idle_count * 0.85;
    let idle = idle.clamp(IDLE_MIN, usual(Role::Idle).width);
    // Where even the narrowest do not fit, the switches of the cycle become narrower too.
    let left = room - idle_count.min((row.len() - loud.len()) as f64) * (idle + 2.0);
    let shrink = (left / taken.max(1.0)).clamp(0.7, 1.0);
    let size = |role: Role| {
        let Size { width, height } = usual(role);
        Size::new(if role == Role::Idle { idle } else { width * shrink }, height)
    };
    let sizes = Vec::from_iter(row.iter().map(|(_, role)| size(*role)));
    let widths: f64 = sizes.iter().map(|size| size.width).sum();
    let gap = (room - widths) / row.len() as f64;
    // A few switches stand together rather than at the far ends of the page.
    let gap = gap.clamp(2.0, GAP_MAX);
    let mut x = -(widths + gap * row.len() as f64) / 2.0;
    for ((switch, role), size) in row.iter().zip(sizes) {
        let at = Point::new(x + (size.width + gap) / 2.0, y);
        layout.places[*switch] = Some(Place { at, size, role: *role });
        x += size.width + gap;
    }
}

/// Puts hosts next to their switches, and not on each other.
fn stand_hosts(layout: &mut Layout, network: &Network, row: &[(usize, Role)], y: f64) {
    let pitch = network.sizes.host.width + 10.0;
    let mut wanted = Vec::new();
    for (switch, _) in row {
        let hosts = network.hosts_on(*switch);
        let middle = layout.places[*switch].map_or(0.0, |place| place.at.x);
        let first = middle - pitch * (hosts.len() as f64 - 1.0) / 2.0;
        let hosts = hosts.into_iter().enumerate();
        wanted.extend(hosts.map(|(number, host)| (host, first + pitch * number as f64)));
    }
    let mut free = f64::NEG_INFINITY;
    for (_, x) in &mut wanted {
        *x = x.max(free);
        free = *x + pitch;
    }
    // Whoever was pushed beyond the right end pushes back.
    let edge = network.sizes.width / 2.0 - network.sizes.margin - network.sizes.host.width / 2.0;
    let mut limit = edge.max(pitch * wanted.len() as f64 / 2.0);
    for (host, x) in wanted.into_iter().rev() {
        let x = x.min(limit);
        limit = x - pitch;
        layout.put(host, Point::new(x, y), Role::Host);
    }
}

/// The number of switches of a row that can be told apart in any order.
const SHORT: usize = 8;
const ROW_GAP: f64 = 210.0;
const HOST_GAP: f64 = 92.0;
const GAP: f64 = 18.0;
const GAP_MAX: f64 = 150.0;
/// The least width of a box.
const IDLE_MIN: f64 = 10.0;
