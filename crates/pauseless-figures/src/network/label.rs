//! Labels beside lines, where they cover neither boxes nor each other.

use super::layout::Layout;
use super::line::Track;
use crate::svg::{Point, Size};

/// What is on the drawing already.
#[derive(Debug)]
pub(super) struct Room {
    /// The middles and the sizes of boxes.
    boxes: Vec<(Point, Size)>,
    /// Points of lines that labels should not cover.
    ink: Vec<Point>,
    /// The width and the height of the drawing.
    page: Size,
}

impl Room {
    pub(super) fn new(layout: &Layout) -> Room {
        let boxes = layout.places.iter().flatten().map(|place| (place.at, place.size));
        Room { boxes: boxes.collect(), ink: Vec::new(), page: layout.size }
    }

    /// Adds a line that labels should not cover.
    pub(super) fn add_line(&mut self, track: &Track) {
        self.ink.extend(track.points());
    }

    /// Adds a box that labels must not cover.
    pub(super) fn add_box(&mut self, at: Point, size: Size) {
        self.boxes.push((at, size));
    }

    /// The best middle for a label of this size that belongs to this point, and takes it. With
    /// `pull` it is drawn away from the middle of the drawing.
    pub(super) fn take(&mut self, point: Point, size: Size, pull: f64) -> Point {
        let out = point.moved(-self.page.width / 2.0, -self.page.height / 2.0);
        let candidates = SIDES.iter().map(|(x, y)| {
            let far = Size::new(size.width / 2.0 + GAP.width, size.height / 2.0 + GAP.height);
            point.moved(x * far.width, y * far.height)
        });
        let candidates = candidates.enumerate();
        // The first of equals is the one that reads best.
        let costs = candidates.map(|(rank, at)| {
            let (x, y) = (at.x - point.x, at.y - point.y);
            let along = (x * out.x + y * out.y) / (x.hypot(y) * out.x.hypot(out.y)).max(1.0);
            let cost = self.cost(at, size) + rank as f64 * 0.4 + pull * (1.0 - along);
            (at, (cost * 1e3) as u64)
        });
        let best = costs.min_by_key(|(_, cost)| *cost);
        let (at, _) = best.expect("there are candidates");
        self.add_box(at, size);
        at
    }

    fn cost(&self, at: Point, size: Size) -> f64 {
        let overlap = |a: f64, b: f64, sizes: f64| (sizes / 2.0 - (a - b).abs()).max(0.0);
        let covered = self.boxes.iter().map(|(other, other_size)| {
            let x = overlap(at.x, other.x, size.width + other_size.width);
            x * overlap(at.y, other.y, size.height + other_size.height)
        });
        let covered: f64 = covered.sum();
        let half = Size::new(size.width / 2.0, size.height / 2.0);
        let is_hit = |point: &&Point| {
            (point.x - at.x).abs() < half.width && (point.y - at.y).abs() < half.height
        };
        let hits = self.ink.iter().filter(is_hit).count() as f64;
        let outside_x = (half.width - at.x).max(at.x + half.width - self.page.width);
        let outside_y = (half.height - at.y).max(at.y + half.height - self.page.height);
        let outside = outside_x.max(0.0) + outside_y.max(0.0);
        covered * 2.0 + hits * 3.0 + outside * 50.0
    }
}

/// The distance between a point and the nearest edges of its label.
const GAP: Size = Size::new(14.0, 8.0);
/// The places where labels are tried, in their own sizes from the point.
#[rustfmt::skip]
const SIDES: [(f64, f64); 14] = [
    (1.0, 0.0), (-1.0, 0.0), (0.0, -1.2), (0.0, 1.2), (1.0, 0.8), (-1.0, 0.8), (1.0, -0.8),
    (-1.0, -0.8), (1.3, 0.0), (-1.3, 0.0), (1.2, 1.8), (-1.2, 1.8), (1.2, -1.8), (-1.2, -1.8),
];
