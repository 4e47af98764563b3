//! Circles: the switches of the cycle on the inner one in its order, the others around them.

use std::f64::consts::{PI, TAU};

use super::layout::{Layout, Place};
use super::{Network, Role};
use crate::svg::{Point, Size};

/// Puts everybody around the origin.
pub(super) fn stand(layout: &mut Layout, network: &Network) {
    let outside = Vec::from_iter(network.switches().filter(|(_, role)| *role != Role::Cycle));
    let ring = &network.ring;
    let count = ring.len() as f64;
    let spread = |width: f64, height: f64| {
        Size::new(width * network.sizes.spread, height * network.sizes.spread)
    };
    let inner = match (ring.len(), outside.len()) {
        (0 | 1, _) => Size::default(),
        (_, 0) => spread(f64::max(270.0, 36.0 * count), f64::max(170.0, 23.0 * count)),
        _ => spread(f64::max(200.0, 36.0 * count), f64::max(130.0, 23.0 * count)),
    };
    let mut angles = Vec::new();
    for (number, switch) in ring.iter().enumerate() {
        let angle = start(ring.len()) + TAU * number as f64 / count;
        layout.put(*switch, on(inner, angle), Role::Cycle);
        angles.push((*switch, angle));
    }
    let around = spread(255.0, 180.0);
    let outer = if ring.is_empty() {
        let count = outside.len() as f64;
        spread((36.0 * count).clamp(270.0, 400.0), (23.0 * count).clamp(170.0, 260.0))
    } else {
        Size::new(inner.width + around.width, inner.height + around.height)
    };
    angles.extend(stand_outside(layout, network, outside, outer));
    for (switch, angle) in angles {
        stand_hosts(layout, network, switch, angle);
    }
}

/// The angle of the first: at the top; two stand side by side, and four at the corners, where no
/// line is long.
fn start(count: usize) -> f64 {
    match count {
        2 => PI,
        4 => -PI * 0.75,
        _ => -PI / 2.0,
    }
}

fn on(radius: Size, angle: f64) -> Point {
    Point::new(radius.width * angle.cos(), radius.height * angle.sin())
}

/// Puts switches on the outer circle, each near those inside that it is joined to; returns the
/// angle of each.
fn stand_outside(
    layout: &mut Layout,
    network: &Network,
    mut outside: Vec<(usize, Role)>,
    radius: Size,
) -> Vec<(usize, f64)> {
    if let ([(only, role)], true) = (&outside[..], network.ring.is_empty()) {
        layout.put(*only, Point::default(), *role);
        return vec![(*only, PI / 2.0)];
    }
    let towards = |switch: usize| {
        let links = network.links.iter().filter(|link| link.contains(&switch));
        let inside = links.flatten().filter(|node| **node != switch);
        let (mut x, mut y) = (0.0, 0.0);
        for place in inside.filter_map(|node| layout.places[*node]) {
            x += place.at.x / radius.width;
            y += place.at.y / radius.height;
        }
        // From the left end of the circle on; in whole steps, so that ties stay ties.
        ((f64::atan2(y, x) + PI) * 1e6) as u64
    };
    // The sort keeps the order of names among those that have the same neighbours.
    outside.sort_by_cached_key(|(switch, _)| towards(*switch));
    let weight = |role: Role| if role == Role::Idle { 1.0 } else { 1.6 };
    let total: f64 = outside.iter().map(|(_, role)| weight(*role)).sum();
    // Those that surround nothing begin like a cycle.
    let mut angle = -PI;
    if let (Some((_, role)), true) = (outside.first(), network.ring.is_empty()) {
        angle = start(outside.len()) - weight(*role) * PI / total;
    }
    let mut angles = Vec::new();
    for (switch, role) in outside {
        let share = weight(role) * TAU / total;
        // At the top and at the bottom neighbours stand side by side.
        let Size { width, height } = network.sizes.usual(role);
        let size = Size::new(
            width.min((radius.width * share * 0.9).max(14.0)),
            height.min((radius.height * share * 0.9).max(8.0)),
        );
        let at = on(radius, angle + share / 2.0);
        layout.places[switch] = Some(Place { at, size, role });
        angles.push((switch, angle + share / 2.0));
        angle += share;
    }
    angles
}

/// Puts hosts on the far side of their switch, or wherever else beside it there is room.
fn stand_hosts(layout: &mut Layout, network: &Network, switch: usize, angle: f64) {
    let Some(home) = layout.places[switch] else {
        return;
    };
    let hosts = network.hosts_on(switch);
    let size = network.sizes.host;
    let middle = (hosts.len() as f64 - 1.0) / 2.0;
    let (out_x, out_y) = (angle.cos().signum(), angle.sin().signum());
    let beside = |far: f64, nth: f64| {
        let far = home.size.width / 2.0 + far + size.width / 2.0;
        home.at.moved(far * out_x, nth * (size.height + 12.0))
    };
    let above = |far: f64, nth: f64| {
        let far = home.size.height / 2.0 + far + size.height / 2.0;
        home.at.moved(nth * (size.width + 10.0), far * out_y)
    };
    let is_beside = angle.cos().abs() > 0.85;
    for (number, host) in hosts.into_iter().enumerate() {
        let mut places = Vec::new();
        for far in [34.0, 44.0, 80.0] {
            for nth in [number as f64 - middle, 0.0, 1.0, -1.0, 2.0, -2.0] {
                let mut both = [above(far, nth), beside(far, nth)];
                both.rotate_left(usize::from(is_beside));
                places.extend(both);
            }
        }
        let free = places.iter().find(|at| layout.is_free(**at, size));
        layout.put(host, *free.unwrap_or(&places[0]), Role::Host);
    }
}
