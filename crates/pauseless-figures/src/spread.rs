//! How sure points are: bars with ends, and bands along curves.

use super::colour::{BLACK, WHITE};
use super::figure::{Series, Spread};
use super::look::Look;
use super::plot::{Bar, Plot};
use super::svg::{Point, Style, Svg, polyline, segment};

/// Draws the band along a curve, below everything else.
pub(super) fn band(svg: &mut Svg, plot: &Plot<'_>, look: &Look, series: &Series) {
    let Spread::Band(ends) = &series.spread else {
        return;
    };
    let sides: Vec<Option<[Point; 2]>> = sides(plot, series, ends).collect();
    // Where an axis has no place for a point the band is broken.
    for run in sides.split(Option::is_none) {
        let above = run.iter().flatten().map(|[_, high]| *high);
        let below = run.iter().flatten().map(|[low, _]| *low).rev();
        match run {
            [] => {}
            // A band without length is a bar.
            [Some([low, high])] => svg.path(&whisker(*low, *high), &look.whisker()),
            _ => svg.path(&(polyline(above.chain(below)) + "z"), &look.band()),
        }
    }
}

/// Draws the bars with ends through the points of a curve.
pub(super) fn whiskers(svg: &mut Svg, plot: &Plot<'_>, look: &Look, series: &Series) {
    if let Spread::Whiskers(ends) = &series.spread {
        let paths = sides(plot, series, ends).flatten().map(|[low, high]| whisker(low, high));
        svg.path(&String::from_iter(paths), &look.whisker());
    }
}

/// The places of both ends of each point, where the axes have them.
fn sides<'a>(
    plot: &'a Plot<'_>,
    series: &'a Series,
    ends: &'a [[f64; 2]],
) -> impl Iterator<Item = Option<[Point; 2]>> + 'a {
    series.points.iter().zip(ends).map(|((x, _), [low, high])| {
        let side = |value: f64| plot.point(*x, value.max(plot.y.low));
        Some([side(*low)?, side(*high)?])
    })
}

/// Draws the bar with ends on the top of a bar; returns the height at which it ends.
pub(super) fn on_bar(svg: &mut Svg, plot: &Plot<'_>, bar: &Bar<'_>) -> Option<f64> {
    let middle = bar.left + bar.width / 2.0;
    let side = |value: f64| {
        let share = plot.y.share(value.max(plot.y.low))?;
        Some(Point { x: middle, ..plot.place(0.0, share) })
    };
    let [low, high] = bar.ends?;
    let (low, high) = (side(low)?, side(high)?);
    // White below, so that it is seen on every colour.
    let path = whisker(low, high);
    svg.path(&path, &Style::new().fill("none").stroke(WHITE, 2.0));
    svg.path(&path, &Style::new().fill("none").stroke(BLACK, 0.8));
    Some(high.y)
}

fn whisker(low: Point, high: Point) -> String {
    let end = |at: Point| segment(at.moved(-CAP, 0.0), at.moved(CAP, 0.0));
    segment(low, high) + &end(low) + &end(high)
}

/// Half the width of an end.
const CAP: f64 = 1.8;
