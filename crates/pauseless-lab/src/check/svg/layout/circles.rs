//! Circles: the switches of the cycle on the inner one in its order, the others around them.

use std::f64::consts::{PI, TAU};

use pauseless_core::id::NodeId;

use super::{HOST, Layout, Place, Point, usual};
use crate::check::svg::cast::{Cast, Role};

/// Everybody around the origin.
pub(super) fn stand(layout: &mut Layout, cast: &Cast<'_>) {
    let is_outside = |(_, role): &&(NodeId, Role)| *role != Role::Cycle;
    let outside = cast.switches.iter().filter(is_outside);
    let outside = Vec::from_iter(outside.copied());
    // Without a cycle there is but one circle.
    let has_both = !cast.ring.is_empty() && !outside.is_empty();
    let count = cast.ring.len() as f64;
    let inner = match (cast.ring.len(), has_both) {
        (0 | 1, _) => (0.0, 0.0),
        (_, true) => (200f64.max(count * 38.0), 130f64.max(count * 26.0)),
        (_, false) => (270f64.max(count * 34.0), 170f64.max(count * 20.0)),
    };
    let mut angles = Vec::new();
    for (number, switch) in cast.ring.iter().enumerate() {
        let angle = start(cast.ring.len()) + TAU * number as f64 / count;
        layout.put(*switch, Place::usual(on(inner, angle), Role::Cycle));
        angles.push((*switch, angle));
    }
    let outer =
        if cast.ring.is_empty() { (400.0, 260.0) } else { (inner.0 + 255.0, inner.1 + 180.0) };
    angles.extend(stand_outside(layout, cast, (outside, outer)));
    for (switch, angle) in angles {
        stand_hosts(layout, (switch, angle), cast.hosts_on(switch));
    }
}

/// The first stands at the top; two stand side by side, and four at the corners, where no line
/// is long.
fn start(count: usize) -> f64 {
    match count {
        2 => PI,
        4 => -PI * 0.75,
        _ => -PI / 2.0,
    }
}

fn on((x, y): (f64, f64), angle: f64) -> Point {
    (x * angle.cos(), y * angle.sin())
}

/// The switches of the outer circle, each near those inside that it is joined to; returns the
/// angle of each.
fn stand_outside(
    layout: &mut Layout,
    cast: &Cast<'_>,
    (mut outside, radius): (Vec<(NodeId, Role)>, (f64, f64)),
) -> Vec<(NodeId, f64)> {
    if let ([(only, role)], true) = (&outside[..], cast.ring.is_empty()) {
        layout.put(*only, Place::usual((0.0, 0.0), *role));
        return vec![(*only, PI / 2.0)];
    }
    let towards = |layout: &Layout, switch: NodeId| {
        let neighbours = cast.topology().neighbours(switch);
        let inside = neighbours.iter().filter_map(|node| layout.places.get(node));
        let (x, y) = inside.fold((0.0, 0.0), |(x, y), place| {
            (x + place.at.0 / radius.0, y + place.at.1 / radius.1)
        });
        // From the left end of the circle on; in whole steps, so that ties stay ties.
        ((f64::atan2(y, x) + PI) * 1e6) as u64
    };
    // The sort keeps the order of names among those that have the same neighbours.
    outside.sort_by_cached_key(|(switch, _)| towards(layout, *switch));
    let weight = |role: Role| if role == Role::Idle { 1.0 } else { 1.6 };
    let total: f64 = outside.iter().map(|(_, role)| weight(*role)).sum();
    let step = TAU / total;
    let mut angle = -PI;
    let mut angles = Vec::new();
    for (switch, role) in outside {
        let share = weight(role) * step;
        let (width, height) = usual(role);
        // At the top and at the bottom neighbours stand side by side.
        let width = width.min((radius.0 * share * 0.9).max(14.0));
        let place = Place {
            at: on(radius, angle + share / 2.0),
            size: (width, height.min((radius.1 * share * 0.9).max(8.0))),
            role,
        };
        layout.put(switch, place);
        angles.push((switch, angle + share / 2.0));
        angle += share;
    }
    angles
}

/// Ends of flows on the far side of their switch, or wherever else beside it there is room.
fn stand_hosts(layout: &mut Layout, (switch, angle): (NodeId, f64), hosts: Vec<NodeId>) {
    let home = layout.places[&switch];
    let middle = (hosts.len() as f64 - 1.0) / 2.0;
    let (out_x, out_y) = (angle.cos().signum(), angle.sin().signum());
    let beside = |far: f64, nth: f64| {
        let far = home.size.0 / 2.0 + far + HOST.0 / 2.0;
        (far * out_x, nth * (HOST.1 + 12.0))
    };
    let above = |far: f64, nth: f64| {
        let far = home.size.1 / 2.0 + far + HOST.1 / 2.0;
        (nth * (HOST.0 + 10.0), far * out_y)
    };
    let is_beside = angle.cos().abs() > 0.85;
    for (number, host) in hosts.into_iter().enumerate() {
        let mut shifts = Vec::new();
        for far in [34.0, 44.0, 80.0] {
            for nth in [number as f64 - middle, 0.0, 1.0, -1.0, 2.0, -2.0] {
                let (first, second) = (beside(far, nth), above(far, nth));
                if is_beside {
                    shifts.extend([first, second])
                } else {
                    shifts.extend([second, first])
                }
            }
        }
        let places = shifts.iter().map(|(dx, dy)| {
            let at = (home.at.0 + dx, home.at.1 + dy);
            Place::usual(at, Role::Host)
        });
        let places = Vec::from_iter(places);
        let free = places.iter().find(|place| layout.is_free(place));
        layout.put(host, *free.unwrap_or(&places[0]));
    }
}
