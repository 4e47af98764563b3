//! Labels beside lines, where they cover neither boxes nor each other.

use super::layout::{Layout, Place, Point};
use super::line::Track;

/// What is on the page already.
#[derive(Debug)]
pub(super) struct Room {
    boxes: Vec<(Point, (f64, f64))>,
    ink: Vec<Point>,
    /// The width and the height of the page.
    page: (f64, f64),
}

impl Room {
    pub fn new(layout: &Layout) -> Room {
        let of = |place: &Place| (place.at, place.size);
        Room {
            boxes: layout.places.values().map(of).collect(),
            ink: Vec::new(),
            page: (layout.width, layout.height),
        }
    }

    /// A line that labels should not cover.
    pub(super) fn add_line(&mut self, track: &Track) {
        self.ink.extend(track.points());
    }

    /// Something that labels must not cover.
    pub(super) fn add_box(&mut self, at: Point, size: (f64, f64)) {
        self.boxes.push((at, size));
    }

    /// The best middle for a label of this size that belongs to this point, and takes it.
    pub(super) fn take(&mut self, point: Point, size: (f64, f64)) -> Point {
        let side = |x: f64, y: f64| {
            let far = (size.0 / 2.0 + RING.0, size.1 / 2.0 + RING.1);
            (point.0 + x * far.0, point.1 + y * far.1)
        };
        let candidates = SIDES.iter().map(|(x, y)| side(*x, *y)).enumerate();
        // The first of equals is the one that reads best.
        let costs = candidates.map(|(rank, at)| {
            let cost = self.cost(at, size) + rank as f64 * 0.4;
            (at, (cost * 1e3) as u64)
        });
        let best = costs.min_by_key(|(_, cost)| *cost);
        let (at, _) = best.expect("there are candidates");
        self.add_box(at, size);
        at
    }

    fn cost(&self, at: Point, size: (f64, f64)) -> f64 {
        let overlap = |a: f64, b: f64, sizes: f64| (sizes / 2.0 - (a - b).abs()).max(0.0);
        let covered = self.boxes.iter().map(|(other, other_size)| {
            let x = overlap(at.0, other.0, size.0 + other_size.0);
            x * overlap(at.1, other.1, size.1 + other_size.1)
        });
        let covered: f64 = covered.sum();
        let is_hit = |point: &&Point| {
            (point.0 - at.0).abs() < size.0 / 2.0 && (point.1 - at.1).abs() < size.1 / 2.0
        };
        let hits = self.ink.iter().filter(is_hit).count() as f64;
        let outside_x = (size.0 / 2.0 - at.0).max(at.0 + size.0 / 2.0 - self.page.0);
        let outside_y = (size.1 / 2.0 - at.1).max(at.1 + size.1 / 2.0 - self.page.1);
        let outside = outside_x.max(0.0) + outside_y.max(0.0);
        covered * 2.0 + hits * 3.0 + outside * 50.0
    }
}

/// How far the nearest edge of a label is from its point.
const RING: (f64, f64) = (14.0, 8.0);
/// Where labels are tried, in their own sizes from the point.
const SIDES: [(f64, f64); 14] = [
    (1.0, 0.0),
    (-1.0, 0.0),
    (0.0, -1.2),
    (0.0, 1.2),
    (1.0, 0.8),
    (-1.0, 0.8),
    (1.0, -0.8),
    (-1.0, -0.8),
    (1.3, 0.0),
    (-1.3, 0.0),
    (1.2, 1.8),
    (-1.2, 1.8),
    (1.2, -1.8),
    (-1.2, -1.8),
];
