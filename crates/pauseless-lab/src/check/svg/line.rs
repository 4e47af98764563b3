//! Lines between boxes: beside the link that they follow, and around boxes that are in the way.

use pauseless_core::id::NodeId;

use super::layout::{Layout, Place, Point};

/// A straight line or a bow, from the edge of one box to the edge of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Track {
    from: Point,
    /// Where the bow would go if it were a corner; on the line if it is straight.
    control: Point,
    to: Point,
}

impl Track {
    /// From one node to another, `offset` to the left of the straight line. `None` if one of
    /// them is not drawn.
    pub(super) fn between(layout: &Layout, (a, b): (NodeId, NodeId), offset: f64) -> Option<Track> {
        let (from, to) = (layout.places.get(&a)?, layout.places.get(&b)?);
        let others = layout.places.iter();
        let others = others.filter(|(node, _)| **node != a && **node != b);
        let others = Vec::from_iter(others.map(|(_, place)| place));
        let is_free = |track: &Track| {
            let mut points = (1..SAMPLES).map(|n| track.at(n as f64 / SAMPLES as f64));
            !points.any(|point| others.iter().any(|place| place.covers(point, 4.0)))
        };
        // Flows bend as the arrow does beside which they run.
        let bends = BENDS.iter();
        let bends = bends.map(|bend| (*bend, Track::bent((from, to), 0.0, *bend)));
        let bend = bends.into_iter().find(|(_, track)| is_free(track));
        let bend = bend.map_or(0.0, |(bend, _)| bend);
        Some(Track::bent((from, to), offset, bend))
    }

    fn bent((a, b): (&Place, &Place), offset: f64, bend: f64) -> Track {
        let (dx, dy) = (b.at.0 - a.at.0, b.at.1 - a.at.1);
        let length = dx.hypot(dy).max(1.0);
        let (left_x, left_y) = (dy / length, -dx / length);
        let beside = |(x, y): Point, by: f64| (x + left_x * by, y + left_y * by);
        let middle = ((a.at.0 + b.at.0) / 2.0, (a.at.1 + b.at.1) / 2.0);
        let control = beside(middle, offset + bend);
        Track {
            from: leave(a, beside(a.at, offset), control),
            control,
            to: leave(b, beside(b.at, offset), control),
        }
    }

    /// The point after this share of the way.
    pub(super) fn at(&self, share: f64) -> Point {
        let rest = 1.0 - share;
        let mix = |from: f64, control: f64, to: f64| {
            rest * rest * from + 2.0 * rest * share * control + share * share * to
        };
        (mix(self.from.0, self.control.0, self.to.0), mix(self.from.1, self.control.1, self.to.1))
    }

    /// The share of the way at so many pixels before its end.
    pub(super) fn before_end(&self, distance: f64) -> f64 {
        (1.0 - distance / self.length()).max(0.5)
    }

    /// The share of the way at so many pixels after its beginning.
    pub(super) fn after_start(&self, distance: f64) -> f64 {
        (distance / self.length()).min(0.5)
    }

    fn length(&self) -> f64 {
        let steps = (0..SAMPLES).map(|n| {
            let here = self.at(n as f64 / SAMPLES as f64);
            let next = self.at((n + 1) as f64 / SAMPLES as f64);
            (next.0 - here.0).hypot(next.1 - here.1)
        });
        steps.sum::<f64>().max(1.0)
    }

    /// Points along the way, for whoever wants to keep off it.
    pub(super) fn points(&self) -> impl Iterator<Item = Point> + '_ {
        (0..=SAMPLES).map(|n| self.at(n as f64 / SAMPLES as f64))
    }

    /// The way from its second point on, as the data of a path; `first` begins it.
    pub(super) fn data(&self, first: char) -> String {
        format!(
            "{first}{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}",
            self.from.0, self.from.1, self.control.0, self.control.1, self.to.0, self.to.1
        )
    }
}

/// Where the line from `from`, in the box, to `to` leaves the box.
fn leave(place: &Place, from: Point, to: Point) -> Point {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let share = |d: f64, from: f64, (middle, size): (f64, f64)| {
        if d.abs() < 1e-9 {
            f64::INFINITY
        } else {
            (middle + d.signum() * (size / 2.0 + 2.0) - from) / d
        }
    };
    let x = share(dx, from.0, (place.at.0, place.size.0));
    let y = share(dy, from.1, (place.at.1, place.size.1));
    // A line beside the box does not leave it, and boxes on each other have no line between them.
    let share = x.min(y).clamp(0.0, 1.0);
    (from.0 + dx * share, from.1 + dy * share)
}

/// What is tried to get past boxes, in pixels to the left.
const BENDS: [f64; 7] = [0.0, 90.0, -90.0, 150.0, -150.0, 220.0, -220.0];
/// Into how many pieces a line is taken apart.
const SAMPLES: usize = 24;
