#![doc = include_str!("../README.md")]
//! Everything is written by [`mod@svg`], measured by [`axis`] and coloured by [`colour`]. Panels stand in
//! a grid as wide as one or two columns of a paper, text has 8 points, and legends and the texts of
//! marks lie outside the frames, where no curve is.

pub mod axis;
pub mod colour;
pub mod figure;
mod heat;
mod look;
pub mod network;
mod panel;
mod plot;
mod png;
mod spread;
pub mod svg;
pub mod thin;
pub mod words;

use self::figure::{Drawn, Figure, Scale};
use self::look::Look;
use self::plot::{LINE, Plot, plots};
pub use self::png::{PRINT_DPI, png};
use self::svg::{Anchor, FONT, Ground, Point, Sheet, Size, Svg, Words, measure, segment};

/// The figure as an SVG document for print.
pub fn svg(figure: &Figure) -> String {
    on_ground(figure, Ground::Paper)
}

/// The figure as an SVG element of a page, as wide as the page wants it and in its colours.
pub fn inline(figure: &Figure) -> String {
    on_ground(figure, Ground::Page)
}

fn on_ground(figure: &Figure, ground: Ground) -> String {
    let looks = look::looks(figure);
    let columns = columns(figure.panels.len());
    let width = width(figure);
    let mut plots = plots(figure, columns, Size::new(width, frame_height(columns, ground)));
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
    let (mut body, mut definitions) = (Svg::default(), Svg::default());
    let colours = heat::ruler(figure);
    for plot in &plots {
        match (&plot.panel.heat, &colours) {
            (Some(heat), Some(ruler)) => {
                heat::cells(&mut body, plot, heat, ruler);
                panel::axes(&mut body, plot);
            }
            _ => panel::draw(&mut body, plot, &looks),
        }
    }
    if let Some(ruler) = &colours {
        heat::define(&mut definitions);
        down = heat::legend(&mut body, figure, ruler, Point::new(width, down));
    }
    look::define_hatchings(&mut definitions, &looks);
    let height = legend(&mut body, &looks, Point::new(width, down));
    let sheet = Sheet {
        size: Size { width, height },
        unit: "pt",
        title: &figure.caption,
        description: &description(figure),
        definitions,
        ground,
    };
    sheet.document(&body)
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

/// Draws the legend in rows, from the top and with the width of `corner`; returns its lower end.
fn legend(svg: &mut Svg, looks: &[Look], corner: Point) -> f64 {
    let entries = looks.iter().filter_map(|look| Some((look, look.legend()?)));
    let mut rows: Vec<(f64, Vec<(&Look, String)>)> = Vec::new();
    for (look, text) in entries {
        let room = SWATCH + 4.0 + measure(&text) + GAP;
        match rows.last_mut() {
            Some((used, row)) if *used + room <= corner.x => {
                *used += room;
                row.push((look, text));
            }
            _ => rows.push((room, vec![(look, text)])),
        }
    }
    let mut down = corner.y;
    for (used, row) in rows {
        let mut x = ((corner.x - used + GAP) / 2.0).max(2.0);
        for (look, text) in row {
            swatch(svg, look, Point::new(x, down + FONT / 2.0));
            x += SWATCH + 4.0;
            svg.words(&Words::new(&text, Point::new(x, down + FONT * 0.86), Anchor::Start));
            x += measure(&text) + GAP;
        }
        down += LINE + 1.5;
    }
    down + 2.0
}

fn swatch(svg: &mut Svg, look: &Look, at: Point) {
    let end = at.moved(SWATCH, 0.0);
    if look.mark == Drawn::Bars {
        look.bar(svg, end.moved(-12.0, -3.5), end.moved(0.0, 3.5));
        return;
    }
    svg.path(&segment(at, end), &look.line());
    if look.mark == Drawn::Marked {
        svg.path(&look.symbol(at.moved(SWATCH / 2.0, 0.0)), &look.fill());
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

/// The height of the frames, which are flatter on pages: there are many of them.
fn frame_height(columns: usize, ground: Ground) -> f64 {
    match (columns, ground) {
        (1, Ground::Paper) => 130.0,
        (2, Ground::Paper) => 118.0,
        (_, Ground::Paper) => 98.0,
        (_, Ground::Page) => 84.0,
    }
}

/// The width of the figure: one column of a paper, or two.
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
/// The room between the entries of a legend.
const GAP: f64 = 12.0;

#[cfg(test)]
mod tests;
