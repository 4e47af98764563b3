//! Figures as print wants them: SVG in points, and PNG.
//!
//! Panels stand in a grid as wide as one or two columns of a paper, words have 8 points, and the
//! legend and the words of marks lie outside the frames, where no curve is. What plotters cannot
//! do (tenths of a point, dashes, hatching, symbols) is most of it, so the SVG is written here.

mod canvas;
pub mod figure;
mod heat;
mod look;
mod panel;
mod plot;
mod png;
mod ruler;
mod spread;
mod words;

use std::fmt::Write;

use self::canvas::{Anchor, Canvas, FONT, Point, Words, measure};
use self::look::Look;
use self::panel::LINE;
use self::plot::{Plot, plots};
pub use self::png::{PRINT_DPI, png};
use crate::draw::figure::{Drawn, Figure, Scale};
use crate::report::html::escape;

/// The figure as an SVG document.
pub fn svg(figure: &Figure) -> String {
    let looks = look::looks(figure);
    let columns = columns(figure.panels.len());
    let width = width(figure);
    let mut plots = plots(figure, (columns, width));
    let mut down = 2.0;
    for row in plots.chunks_mut(columns) {
        let head = row.iter().map(Plot::head).fold(0.0, f64::max);
        let foot = row.iter().map(Plot::foot).fold(0.0, f64::max);
        let mut height: f64 = 0.0;
        for plot in row {
            plot.at.y = down + head;
            height = height.max(plot.height);
        }
        down += head + height + foot + 6.0;
    }
    let mut canvas = Canvas::default();
    let heat = heat::ruler(figure).map(|(_, ruler)| ruler);
    for plot in &plots {
        match (&plot.panel.heat, &heat) {
            (Some(heat), Some(ruler)) => {
                heat::cells(&mut canvas, plot, (heat, ruler));
                panel::axes(&mut canvas, plot);
            }
            _ => panel::draw(&mut canvas, plot, &looks),
        }
    }
    let down = heat::legend(&mut canvas, figure, (width, down));
    let down = legend(&mut canvas, &looks, (width, down));
    let mut text = opening(figure, (width, down));
    let hatchings = looks.iter().filter_map(Look::definition);
    let mut hatchings: std::collections::BTreeSet<String> = hatchings.collect();
    hatchings.extend(heat.map(|_| heat::definitions()));
    if !hatchings.is_empty() {
        let hatchings = String::from_iter(hatchings);
        let _ = writeln!(text, "<defs>\n{hatchings}</defs>");
    }
    text.push_str(&canvas.text);
    text.push_str("</svg>\n");
    text
}

/// White below everything, so that it can be read in a dark window.
fn opening(figure: &Figure, (width, height): (f64, f64)) -> String {
    let (width, height) = (Canvas::number(width), Canvas::number(height.ceil()));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width}pt\" \
         height=\"{height}pt\" viewBox=\"0 0 {width} {height}\" font-size=\"{FONT}\" \
         font-family=\"'DejaVu Sans Condensed', Helvetica, Arial, sans-serif\" \
         font-stretch=\"condensed\">\n\
         <title>{}</title>\n<desc>{}</desc>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#FFF\"/>\n",
        escape(&figure.caption),
        escape(&description(figure)),
    )
}

/// What there is to see, for those who cannot.
fn description(figure: &Figure) -> String {
    let panels = figure.panels.iter().map(|panel| {
        let series: Vec<&str> = panel.series.iter().map(|it| it.label.as_str()).collect();
        let title = match panel.title.as_str() {
            "" => "panel",
            title => title,
        };
        let (x, y) = (&panel.x.label, &panel.y.label);
        if let Some(heat) = &panel.heat {
            return format!("{title}: {} over {x} and {y}.", heat.label);
        }
        format!("{title}: {y} against {x}; {}.", series.join(", "))
    });
    panels.collect::<Vec<_>>().join(" ")
}

/// The legend below the panels, in rows; its lower end.
fn legend(canvas: &mut Canvas, looks: &[Look], (width, top): (f64, f64)) -> f64 {
    let entries = looks.iter().filter(|look| !look.label.is_empty());
    let mut rows: Vec<(f64, Vec<&Look>)> = Vec::new();
    for look in entries {
        let room = SWATCH + 4.0 + measure(&look.legend()) + GAP;
        match rows.last_mut() {
            Some((used, row)) if *used + room <= width => {
                *used += room;
                row.push(look);
            }
            _ => rows.push((room, vec![look])),
        }
    }
    let mut down = top;
    for (used, row) in rows {
        let mut x = ((width - used + GAP) / 2.0).max(2.0);
        for look in row {
            swatch(canvas, look, Point::new(x, down + FONT / 2.0));
            x += SWATCH + 4.0;
            let text = look.legend();
            let at = Point::new(x, down + FONT * 0.86);
            canvas.words(&Words::new(&text, at, Anchor::Start));
            x += measure(&text) + GAP;
        }
        down += LINE + 1.5;
    }
    down + 2.0
}

fn swatch(canvas: &mut Canvas, look: &Look, at: Point) {
    let end = Point { x: at.x + SWATCH, ..at };
    if look.mark == Drawn::Bars {
        let from = Point::new(end.x - 12.0, at.y - 3.5);
        let to = Point { y: at.y + 3.5, ..end };
        canvas.rectangle((from, to), &look.bar());
        if let Some(hatching) = look.hatching() {
            canvas.rectangle((from, to), &format!("fill=\"url(#{hatching})\""));
        }
        return;
    }
    if look.mark != Drawn::Symbols {
        canvas.path(&Canvas::segment(at, end), &look.line());
    }
    if matches!(look.mark, Drawn::Marked | Drawn::Symbols) {
        let middle = Point { x: at.x + SWATCH / 2.0, ..at };
        canvas.path(&look.symbol(middle), &look.fill());
    }
}

/// How many panels stand side by side.
fn columns(panels: usize) -> usize {
    match panels {
        0 | 1 => 1,
        2 | 4 => 2,
        _ => 3,
    }
}

/// One column of a paper, or two.
fn width(figure: &Figure) -> f64 {
    let [panel] = &figure.panels[..] else {
        return TWO_COLUMNS;
    };
    let bars = panel.series.iter().filter(|it| it.mark == Drawn::Bars);
    let bars: usize = bars.map(|it| it.points.len()).sum();
    let names = match &panel.x.scale {
        Scale::Names(names) => names.iter().map(|name| measure(name)).sum(),
        // A cell with three digits in it.
        Scale::Cells(names) => names.len() as f64 * 30.0,
        _ => 0.0,
    };
    if bars > 12 || names > ONE_COLUMN * 1.3 { TWO_COLUMNS } else { ONE_COLUMN }
}

const ONE_COLUMN: f64 = 252.0;
const TWO_COLUMNS: f64 = 504.0;
const SWATCH: f64 = 20.0;
/// Between the entries of a legend.
const GAP: f64 = 12.0;

#[cfg(test)]
mod tests;
