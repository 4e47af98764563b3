//! Lines between boxes: beside the link that they follow, and around boxes that are in the way.

use super::layout::Place;
use crate::svg::{Point, number};

/// A straight line or a bow, from the edge of one box to the edge of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Track {
    from: Point,
    /// Where the bow would go if it were a corner; on the line if it is straight.
    control: Point,
    to: Point,
}

impl Track {
    /// A line from one box to another, `offset` to the left of the straight line; it bends, by
    /// `strength` times the usual, where `others` are in its way.
    pub(super) fn between(
        [from, to]: [&Place; 2],
        others: &[Place],
        offset: f64,
        strength: f64,
    ) -> Track {
        let is_free = |track: &Track| {
            let mut points = (1..SAMPLES).map(|n| track.at(n as f64 / SAMPLES as f64));
            !points.any(|point| others.iter().any(|place| place.covers(point, 4.0)))
        };
        // Flows bend as the arrow does beside which they run.
        let bends = BENDS.iter().map(|bend| bend * strength);
        let bend = bends.into_iter().find(|bend| is_free(&Track::bent(from, to, 0.0, *bend)));
        Track::bent(from, to, offset, bend.unwrap_or(0.0))
    }

    fn bent(a: &Place, b: &Place, offset: f64, bend: f64) -> Track {
        let (dx, dy) = (b.at.x - a.at.x, b.at.y - a.at.y);
        let length = dx.hypot(dy).max(1.0);
        let beside = |at: Point, by: f64| at.moved(dy / length * by, -dx / length * by);
        let middle = Point::new((a.at.x + b.at.x) / 2.0, (a.at.y + b.at.y) / 2.0);
        let control = beside(middle, offset + bend);
        Track {
            from: leave(a, beside(a.at, offset), control),
            control,
            to: leave(b, beside(b.at, offset), control),
        }
    }

    /// The point after this share of the line.
    pub(super) fn at(&self, share: f64) -> Point {
        let rest = 1.0 - share;
        let mix = |from: f64, control: f64, to: f64| {
            rest * rest * from + 2.0 * rest * share * control + share * share * to
        };
        let (from, control, to) = (self.from, self.control, self.to);
        Point::new(mix(from.x, control.x, to.x), mix(from.y, control.y, to.y))
    }

    /// The share of the line at so many pixels before its end.
    pub(super) fn before_end(&self, distance: f64) -> f64 {
        (1.0 - distance / self.length()).max(0.5)
    }

    /// The share of the line at so many pixels after its beginning.
    pub(super) fn after_start(&self, distance: f64) -> f64 {
        (distance / self.length()).min(0.5)
    }

    fn length(&self) -> f64 {
        let steps = (0..SAMPLES).map(|n| {
            let here = self.at(n as f64 / SAMPLES as f64);
            let next = self.at((n + 1) as f64 / SAMPLES as f64);
            (next.x - here.x).hypot(next.y - here.y)
        });
        steps.sum::<f64>().max(1.0)
    }

    /// Points along the line, for whoever wants to keep off it.
    pub(super) fn points(&self) -> impl Iterator<Item = Point> + '_ {
        (0..=SAMPLES).map(|n| self.at(n as f64 / SAMPLES as f64))
    }

    /// The line as the data of a path, which begins with the command `first`.
    pub(super) fn data(&self, first: char) -> String {
        let points = [self.from, self.control, self.to];
        let [from, control, to] = points.map(|at| format!("{} {}", number(at.x), number(at.y)));
        format!("{first}{from}Q{control} {to}")
    }
}

/// Where the line from `from`, in the box, to `to` leaves the box.
fn leave(place: &Place, from: Point, to: Point) -> Point {
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    // How far the line goes along one axis until it has left the box by a little.
    let share = |distance: f64, edge: f64| {
        let beyond = edge + distance.signum() * 2.0;
        if distance.abs() < 1e-9 { f64::INFINITY } else { beyond / distance }
    };
    let half = |size: f64, distance: f64| distance.signum() * size / 2.0;
    let x = share(dx, place.at.x + half(place.size.width, dx) - from.x);
    let y = share(dy, place.at.y + half(place.size.height, dy) - from.y);
    // A line beside the box does not leave it, and boxes on each other have no line between them.
    let share = x.min(y).clamp(0.0, 1.0);
    from.moved(dx * share, dy * share)
}

/// The bends that are tried to get past boxes, in pixels to the left.
const BENDS: [f64; 7] = [0.0, 90.0, -90.0, 150.0, -150.0, 220.0, -220.0];
/// The number of pieces into which a line is taken apart.
const SAMPLES: usize = 24;
