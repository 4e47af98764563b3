//! How sure points are: bars with ends, and bands along curves.

use super::canvas::{Canvas, Point, polyline};
use super::look::Look;
use super::plot::{Bar, Plot};
use crate::draw::figure::{Series, Spread};

/// The band along a curve, below everything else.
pub(super) fn band(canvas: &mut Canvas, (plot, look): (&Plot<'_>, &Look), series: &Series) {
    let Spread::Band(ends) = &series.spread else {
        return;
    };
    let sides = series.points.iter().zip(ends).map(|((x, _), [low, high])| {
        let side = |value: f64| plot.point((*x, value.max(plot.floor())));
        Some((side(*low)?, side(*high)?))
    });
    let sides: Vec<Option<(Point, Point)>> = sides.collect();
    // Where an axis has no place for a point the band is broken.
    for run in sides.split(Option::is_none) {
        let above = run.iter().flatten().map(|(_, high)| *high);
        let below = run.iter().flatten().map(|(low, _)| *low).rev();
        let around: Vec<Point> = above.chain(below).collect();
        match run.len() {
            0 => {}
            // A band without length is a bar.
            1 => canvas.path(&whisker(around[1], around[0]), &look.whisker()),
            _ => canvas.path(&(polyline(&around) + "z"), &look.band()),
        }
    }
}

/// The bars with ends through the points of a curve.
pub(super) fn whiskers(canvas: &mut Canvas, (plot, look): (&Plot<'_>, &Look), series: &Series) {
    let Spread::Whiskers(ends) = &series.spread else {
        return;
    };
    let paths = series.points.iter().zip(ends).filter_map(|((x, _), [low, high])| {
        let side = |value: f64| plot.point((*x, value.max(plot.floor())));
        Some(whisker(side(*low)?, side(*high)?))
    });
    canvas.path(&String::from_iter(paths), &look.whisker());
}

/// The same on the top of a bar; where it ends.
pub(super) fn on_bar(canvas: &mut Canvas, plot: &Plot<'_>, bar: &Bar<'_>) -> Option<f64> {
    let middle = bar.left + bar.width / 2.0;
    let side = |value: f64| {
        let share = plot.y.share(value.max(plot.floor()))?;
        Some(Point { x: middle, ..plot.place((0.0, share)) })
    };
    let [low, high] = bar.ends?;
    let (low, high) = (side(low)?, side(high)?);
    // White below, so that it is seen on every colour.
    let path = whisker(low, high);
    canvas.path(&path, "fill=\"none\" stroke=\"#FFF\" stroke-width=\"2\"");
    canvas.path(&path, "fill=\"none\" stroke=\"#000\" stroke-width=\"0.8\"");
    Some(high.y)
}

fn whisker(low: Point, high: Point) -> String {
    let end = |at: Point| {
        let [left, right] = [-CAP, CAP].map(|by| Point { x: at.x + by, ..at });
        Canvas::segment(left, right)
    };
    Canvas::segment(low, high) + &end(low) + &end(high)
}

/// Half the width of an end.
const CAP: f64 = 1.8;
