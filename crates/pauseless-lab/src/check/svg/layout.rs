//! Where nodes stand: in layers where the fabric has some, else on circles, with the switches of
//! the cycle on the inner one.

mod circles;
mod layers;

use std::collections::BTreeMap;

use pauseless_core::id::NodeId;

use super::cast::{Cast, Role};

pub(super) type Point = (f64, f64);

/// A node and its box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    /// The middle of the box.
    pub(super) at: Point,
    pub(super) size: (f64, f64),
    pub(super) role: Role,
}

impl Place {
    /// A box of the usual size of its role.
    fn usual(at: Point, role: Role) -> Place {
        let size = usual(role);
        Place { at, size, role }
    }

    /// Whether a point lies in the box or closer to it than `margin`.
    pub(super) fn covers(&self, (x, y): Point, margin: f64) -> bool {
        (x - self.at.0).abs() < self.size.0 / 2.0 + margin
            && (y - self.at.1).abs() < self.size.1 / 2.0 + margin
    }
}

/// All that stand somewhere. The drawing begins at the origin.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) places: BTreeMap<NodeId, Place>,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Layout {
    pub fn new(cast: &Cast<'_>) -> Layout {
        let mut layout = Layout::default();
        match layers::heights(cast.topology()) {
            Some(heights) => layers::stand(&mut layout, cast, &heights),
            None => circles::stand(&mut layout, cast),
        }
        layout.settle();
        layout
    }

    fn put(&mut self, node: NodeId, place: Place) {
        self.places.insert(node, place);
    }

    /// Whether a box touches no other.
    fn is_free(&self, place: &Place) -> bool {
        let touches = |other: &Place| {
            (place.at.0 - other.at.0).abs() < (place.size.0 + other.size.0) / 2.0 + 6.0
                && (place.at.1 - other.at.1).abs() < (place.size.1 + other.size.1) / 2.0 + 6.0
        };
        !self.places.values().any(touches)
    }

    /// Moves everything to where it begins at the origin, in the middle of the page's width.
    fn settle(&mut self) {
        let mut low = (f64::INFINITY, f64::INFINITY);
        let mut high = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        for Place { at, size, .. } in self.places.values() {
            low = (low.0.min(at.0 - size.0 / 2.0), low.1.min(at.1 - size.1 / 2.0));
            high = (high.0.max(at.0 + size.0 / 2.0), high.1.max(at.1 + size.1 / 2.0));
        }
        self.width = WIDTH;
        if self.places.is_empty() {
            return;
        }
        self.width = WIDTH.max(high.0 - low.0 + 2.0 * MARGIN);
        self.height = high.1 - low.1 + 2.0 * MARGIN;
        let right = (self.width - low.0 - high.0) / 2.0;
        for place in self.places.values_mut() {
            place.at = (place.at.0 + right, place.at.1 - low.1 + MARGIN);
        }
    }
}

/// The box of a role where there is room enough.
fn usual(role: Role) -> (f64, f64) {
    match role {
        Role::Cycle => (124.0, 44.0),
        Role::Passed => (108.0, 40.0),
        Role::Idle => (84.0, 36.0),
        Role::Host => HOST,
    }
}

/// The width of a page; wider ones are shown smaller.
pub(super) const WIDTH: f64 = 1000.0;
/// Around everything, for lines and labels that leave the boxes.
const MARGIN: f64 = 30.0;
const HOST: (f64, f64) = (128.0, 26.0);
