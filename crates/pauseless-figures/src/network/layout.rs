//! Where nodes stand: in rows where they have layers, else on circles, with the switches of the
//! cycle on the inner one.

use super::line::Track;
use super::{Network, Role, Sizes, circles, layers};
use crate::svg::{Point, Size};

/// The box of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    /// The middle of the box.
    pub(super) at: Point,
    pub(super) size: Size,
    pub(super) role: Role,
}

impl Place {
    /// Whether a point lies in the box or closer to it than `margin`.
    pub(super) fn covers(&self, point: Point, margin: f64) -> bool {
        (point.x - self.at.x).abs() < self.size.width / 2.0 + margin
            && (point.y - self.at.y).abs() < self.size.height / 2.0 + margin
    }
}

/// The boxes of all nodes. The drawing begins at the origin.
#[derive(Debug)]
pub(super) struct Layout {
    /// The box of each node; `None` if it is not drawn.
    pub(super) places: Vec<Option<Place>>,
    pub(super) size: Size,
    pub(super) sizes: Sizes,
}

impl Layout {
    pub(super) fn new(network: &Network) -> Layout {
        let places = vec![None; network.nodes.len()];
        let mut layout = Layout { places, size: Size::default(), sizes: network.sizes };
        if network.nodes.iter().any(|node| node.layer.is_some()) {
            layers::stand(&mut layout, network);
        } else {
            circles::stand(&mut layout, network);
        }
        layout.settle();
        layout
    }

    /// Puts a node into a box of the usual size of its role.
    pub(super) fn put(&mut self, node: usize, at: Point, role: Role) {
        self.places[node] = Some(Place { at, size: self.sizes.usual(role), role });
    }

    /// Whether a box of this size touches no other.
    pub(super) fn is_free(&self, at: Point, size: Size) -> bool {
        let touches = |other: &Place| {
            (at.x - other.at.x).abs() < (size.width + other.size.width) / 2.0 + 6.0
                && (at.y - other.at.y).abs() < (size.height + other.size.height) / 2.0 + 6.0
        };
        !self.places.iter().flatten().any(touches)
    }

    /// The line between two nodes, `offset` to its left and around the boxes in its way; `None` if
    /// one of them is not drawn.
    pub(super) fn track(&self, ends: [usize; 2], offset: f64) -> Option<Track> {
        let [from, to] = ends.map(|node| self.places[node]);
        let others = self.places.iter().enumerate().filter(|(node, _)| !ends.contains(node));
        let others = Vec::from_iter(others.filter_map(|(_, place)| *place));
        Some(Track::between([&from?, &to?], &others, offset, self.sizes.spread))
    }

    /// Moves everything to where it begins at the origin, in the middle of the drawing's width.
    fn settle(&mut self) {
        let mut low = Point::new(f64::INFINITY, f64::INFINITY);
        let mut high = Point::new(f64::NEG_INFINITY, f64::NEG_INFINITY);
        for Place { at, size, .. } in self.places.iter().flatten() {
            let half = Size::new(size.width / 2.0, size.height / 2.0);
            low = Point::new(low.x.min(at.x - half.width), low.y.min(at.y - half.height));
            high = Point::new(high.x.max(at.x + half.width), high.y.max(at.y + half.height));
        }
        let margin = self.sizes.margin;
        self.size.width = self.sizes.width;
        if self.places.iter().all(Option::is_none) {
            return;
        }
        self.size.width = self.sizes.width.max(high.x - low.x + 2.0 * margin);
        self.size.height = high.y - low.y + 2.0 * margin;
        let right = (self.size.width - low.x - high.x) / 2.0;
        for place in self.places.iter_mut().flatten() {
            place.at = place.at.moved(right, margin - low.y);
        }
    }
}

impl Network {
    /// The switches with their roles.
    pub(super) fn switches(&self) -> impl Iterator<Item = (usize, Role)> {
        let nodes = self.nodes.iter().enumerate().map(|(index, node)| (index, node.role));
        nodes.filter(|(_, role)| *role != Role::Host)
    }

    /// The hosts whose `home` is this switch.
    pub(super) fn hosts_on(&self, switch: usize) -> Vec<usize> {
        let nodes = self.nodes.iter().enumerate();
        let here = nodes.filter(|(_, node)| node.role == Role::Host && node.home == Some(switch));
        here.map(|(index, _)| index).collect()
    }
}
