//! Curves over time, or over decades, as SVG, drawn by plotters. Text stays text, so no font is needed here.

use plotters::chart::ChartContext;
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use serde::Serialize;

use super::html::escape;
use super::series::{downsample, without_level_runs};

/// Curves that share their axes.
#[derive(Clone, Debug)]
pub struct Figure {
    /// What it shows, for those who cannot see it.
    pub description: String,
    /// The axis across.
    pub axis: Axis,
    /// The end of the other axis.
    pub value_max: f64,
    /// The curves.
    pub curves: Vec<Curve>,
    /// Level lines, such as thresholds.
    pub levels: Vec<Level>,
    /// Instants to be marked.
    pub instants: Vec<Instant>,
}

impl Figure {
    /// A figure with nothing but curves.
    pub fn new(description: String, axis: Axis, value_max: f64, curves: Vec<Curve>) -> Figure {
        Figure { description, axis, value_max, curves, levels: Vec::new(), instants: Vec::new() }
    }
}

/// The axis across a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Axis {
    /// Time, from zero on.
    Time {
        /// Its end, in milliseconds.
        max_ms: f64,
    },
    /// Any value.
    Values {
        /// The least.
        from: f64,
        /// The greatest.
        to: f64,
    },
    /// Powers of ten; points are given by their logarithms.
    Decades {
        /// The first power.
        from: i32,
        /// The last power.
        to: i32,
    },
}

impl Axis {
    fn range(self) -> (f64, f64) {
        match self {
            Axis::Time { max_ms } if max_ms > 0.0 => (0.0, max_ms),
            Axis::Time { .. } => (0.0, 1.0),
            Axis::Values { from, to } => (from, to),
            Axis::Decades { from, to } => (f64::from(from), f64::from(to.max(from + 1))),
        }
    }

    /// Room for the half of the last label that is beyond the end.
    fn margin(self) -> u32 {
        match self {
            Axis::Time { .. } => 20,
            Axis::Values { .. } => 52,
            Axis::Decades { .. } => 52,
        }
    }

    /// What stands at a tick.
    fn tick(self, value: f64) -> String {
        match self {
            Axis::Time { .. } | Axis::Values { .. } => tick(value),
            // Only whole powers have a label.
            Axis::Decades { .. } if (value - value.round()).abs() > 1e-6 => String::new(),
            Axis::Decades { .. } => tick(10f64.powi(value.round() as i32)),
        }
    }
}

/// A vertical line at an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Instant {
    /// What happened.
    pub label: String,
    /// When, in milliseconds.
    pub at_ms: f64,
    /// Whether it is what is wrong.
    pub weight: Weight,
}

/// How loudly an instant is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// In the colour of the axes.
    Quiet,
    /// In the colour of deadlocks.
    Alarm,
}

/// One curve.
#[derive(Clone, Debug)]
pub struct Curve {
    /// What it shows.
    pub label: String,
    /// The position of its colour in [`PALETTE`].
    pub colour: usize,
    /// Its line.
    pub stroke: Stroke,
    /// The place on the axis, such as milliseconds, and the value; in the order of the axis.
    pub points: Vec<(f64, f64)>,
}

/// The line of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stroke {
    /// What the figure is about.
    Solid,
    /// The same with a dot at every point, where points are few.
    Marked,
    /// What goes with it.
    Dashed,
}

/// A level line across the figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Level {
    /// What stands below it.
    pub label: String,
    /// Where it lies.
    pub value: f64,
    /// The position of its colour in [`PALETTE`], or none for that of the axes.
    pub colour: Option<usize>,
}

/// The colours of curves: those of Okabe and Ito, which the colour-blind can tell apart and which
/// show on white and on black. Vermilion is kept for what is wrong.
pub const PALETTE: [(u8, u8, u8); 5] = [
    (0x00, 0x72, 0xb2),
    (0xe6, 0x9f, 0x00),
    (0x00, 0x9e, 0x73),
    (0xcc, 0x79, 0xa7),
    (0x56, 0xb4, 0xe9),
];

/// The colour of deadlocks.
pub const ALARM: (u8, u8, u8) = (0xd5, 0x5e, 0x00);

/// The colour of axes; the page's style sheet replaces it by the colour of its text.
pub const INK: (u8, u8, u8) = (0x66, 0x66, 0x66);

/// The colour of the grid; the page's style sheet replaces it too.
pub const GRID: (u8, u8, u8) = (0xdd, 0xdd, 0xdd);

/// A colour as HTML writes it.
pub fn hex((red, green, blue): (u8, u8, u8)) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}

/// The colour of the curve at `position`, beginning anew after the last one.
pub fn colour(position: usize) -> (u8, u8, u8) {
    PALETTE[position % PALETTE.len()]
}

/// The figure as an SVG element.
pub fn svg(figure: &Figure) -> String {
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, (WIDTH, HEIGHT)).into_drawing_area();
    draw(figure, &area).expect("drawing into a string has no way to fail");
    drop(area);
    let label = escape(&figure.description);
    // What precedes the element is a document's business.
    let start = text.find("<svg ").expect("the backend writes an svg element");
    let attributes = format!("<svg role=\"img\" aria-label=\"{label}\" ");
    let text = text[start..].replacen("<svg ", &attributes, 1);
    // The backend knows no dashes but as so many short lines.
    let mark = format!("opacity=\"{DASHED_OPACITY}\"");
    text.replace(&mark, "opacity=\"1\" stroke-dasharray=\"9 7\"")
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

fn draw(figure: &Figure, area: &Area<'_>) -> Drawn {
    let (start, end) = figure.axis.range();
    let value_max = if figure.value_max > 0.0 { figure.value_max } else { 1.0 };
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .margin_right(figure.axis.margin())
        .x_label_area_size(36)
        .y_label_area_size(64)
        .build_cartesian_2d(start..end, 0.0..value_max)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(rgb(GRID))
        .axis_style(rgb(INK))
        .x_labels(8)
        .y_labels(5)
        .x_label_formatter(&|value| figure.axis.tick(*value))
        .y_label_formatter(&|value| tick(*value))
        .label_style(font(FONT_SIZE).color(&rgb(INK)))
        .draw()?;
    draw_levels(figure, &mut chart, value_max)?;
    for curve in &figure.curves {
        let points = downsample(&curve.points, POINTS_MAX);
        // The end of the axis is the same for all figures of a page; no curve leaves the figure.
        let points = points.into_iter();
        let points = points.map(|(at, value)| (at, value.min(value_max)));
        let points = without_level_runs(&Vec::from_iter(points));
        let colour = rgb(colour(curve.colour));
        let style = match curve.stroke {
            Stroke::Solid | Stroke::Marked => colour.stroke_width(3),
            Stroke::Dashed => colour.mix(DASHED_OPACITY).stroke_width(2),
        };
        chart.draw_series([PathElement::new(points, style)])?;
        if curve.stroke == Stroke::Marked {
            let dot = |at: &(f64, f64)| Circle::new(*at, DOT_RADIUS, colour.filled());
            chart.draw_series(curve.points.iter().map(dot))?;
        }
    }
    for (row, instant) in figure.instants.iter().enumerate() {
        // Labels stand one below the other, so that near instants do not overwrite each other.
        let label = value_max * (1.0 - LABEL_SHARE * row as f64);
        let line = vec![(instant.at_ms, 0.0), (instant.at_ms, value_max)];
        draw_instant(instant, &mut chart, (line, label))?;
    }
    area.present()?;
    Ok(())
}

fn draw_instant(
    instant: &Instant,
    chart: &mut Chart<'_, '_>,
    (line, label): (Vec<(f64, f64)>, f64),
) -> Drawn {
    let across = chart.x_range();
    let extent = across.end - across.start;
    let (colour, width) = match instant.weight {
        Weight::Quiet => (rgb(INK), 1),
        Weight::Alarm => (rgb(ALARM), 3),
    };
    let at = instant.at_ms;
    chart.draw_series([PathElement::new(line, colour.stroke_width(width))])?;
    // The label stands on the side that has room for it.
    let (side, gap) = if at > across.start + extent * 0.6 {
        (HPos::Right, -0.01 * extent)
    } else {
        (HPos::Left, 0.01 * extent)
    };
    let style = font(FONT_SIZE).color(&colour);
    let style = style.pos(Pos::new(side, VPos::Top));
    let place = (at + gap, label);
    chart.draw_series([Text::new(instant.label.clone(), place, style)])?;
    Ok(())
}

fn draw_levels(figure: &Figure, chart: &mut Chart<'_, '_>, value_max: f64) -> Drawn {
    let (start, end) = figure.axis.range();
    for level in merge_levels(&figure.levels, value_max * LABEL_SHARE) {
        let colour = rgb(level.colour.map_or(INK, colour));
        let line = vec![(start, level.value), (end, level.value)];
        let style = colour.mix(0.6).stroke_width(1);
        chart.draw_series([PathElement::new(line, style)])?;
        let ink = rgb(INK);
        let style = font(FONT_SIZE).color(&ink);
        // Below its line, unless the axis is there.
        let side = if level.value < value_max * LABEL_SHARE { VPos::Bottom } else { VPos::Top };
        let style = style.pos(Pos::new(HPos::Right, side));
        let place = (end - (end - start) * 0.005, level.value);
        chart.draw_series([Text::new(level.label, place, style)])?;
    }
    Ok(())
}

/// Levels that lie so close together that their labels would overlap become one, with both names,
/// at the upper of them.
fn merge_levels(levels: &[Level], gap: f64) -> Vec<Level> {
    let mut sorted = levels.to_vec();
    sorted.sort_by(|a, b| b.value.total_cmp(&a.value));
    sorted.dedup();
    let mut merged: Vec<Level> = Vec::new();
    for level in sorted {
        match merged.last_mut() {
            Some(upper) if upper.value - level.value < gap => {
                upper.label = format!("{}, {}", upper.label, level.label);
                if upper.colour != level.colour {
                    upper.colour = None;
                }
            }
            _ => merged.push(level),
        }
    }
    merged
}

/// A number on an axis, without digits that say nothing.
fn tick(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn font(size: u32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().into()
}

fn rgb((red, green, blue): (u8, u8, u8)) -> RGBColor {
    RGBColor(red, green, blue)
}

/// Marks what is to be dashed; nothing else is drawn with it.
const DASHED_OPACITY: f64 = 0.875;
/// About twice the size at which it is shown, since plotters rounds to whole units.
const WIDTH: u32 = 760;
const HEIGHT: u32 = 300;
const FONT_SIZE: u32 = 26;
const DOT_RADIUS: u32 = 6;
/// More points than this do not show.
const POINTS_MAX: usize = 1_000;
/// The height of a label, as a share of the axis.
const LABEL_SHARE: f64 = 0.11;

#[cfg(test)]
mod tests {
    use super::*;

    fn figure() -> Figure {
        Figure {
            description: "queue <of> \"S1:H1\"".to_string(),
            axis: Axis::Time { max_ms: 10.0 },
            value_max: 100.0,
            curves: vec![Curve {
                label: "S1:H1".to_string(),
                colour: 0,
                stroke: Stroke::Solid,
                points: vec![(0.0, 0.0), (5.0, 50.0), (10.0, 20.0)],
            }],
            levels: Vec::new(),
            instants: Vec::new(),
        }
    }

    #[test]
    fn a_figure_is_one_svg_element_with_its_curve() {
        let svg = svg(&figure());
        assert!(
            svg.starts_with("<svg role=\"img\" aria-label=\"queue &lt;of&gt; &quot;S1:H1&quot;\"")
        );
        assert!(svg.trim_end().ends_with("</svg>"));
        assert_eq!(svg.matches("<svg").count(), 1);
        assert_eq!(svg.matches(&format!("stroke=\"{}\"", hex(PALETTE[0]))).count(), 1);
        assert!(svg.contains("<text"), "labels stay text");
        assert!(!svg.contains(&hex(ALARM)));
    }

    #[test]
    fn names_in_labels_are_escaped() {
        let mut figure = figure();
        figure.instants =
            vec![Instant { label: "<script>".to_string(), at_ms: 3.0, weight: Weight::Alarm }];
        figure.levels = vec![Level { label: "a & <b>".to_string(), value: 50.0, colour: None }];
        let svg = svg(&figure);
        assert!(svg.contains(&hex(ALARM)));
        assert!(!svg.contains("<script>") && svg.contains("&lt;script&gt;"));
        assert!(!svg.contains("<b>") && svg.contains("a &amp; &lt;b&gt;"));
    }

    #[test]
    fn long_curves_make_short_figures() {
        let mut figure = figure();
        let points = (0..200_000).map(|n| (n as f64 / 2e4, f64::from(n % 100)));
        figure.curves[0].points = points.collect();
        assert!(svg(&figure).len() < 20_000);
    }

    #[test]
    fn an_empty_run_still_has_axes() {
        let mut figure = figure();
        (figure.axis, figure.value_max) = (Axis::Time { max_ms: 0.0 }, 0.0);
        figure.curves.clear();
        assert!(svg(&figure).contains("<text"));
    }

    #[test]
    fn what_goes_with_a_curve_is_dashed() {
        let mut figure = figure();
        assert!(!svg(&figure).contains("dasharray"));
        figure.curves.push(Curve { stroke: Stroke::Dashed, ..figure.curves[0].clone() });
        assert_eq!(svg(&figure).matches("stroke-dasharray").count(), 1);
    }

    #[test]
    fn marked_curves_have_a_dot_at_every_point() {
        let mut figure = figure();
        assert!(!svg(&figure).contains("<circle"));
        figure.curves[0].stroke = Stroke::Marked;
        assert_eq!(svg(&figure).matches("<circle").count(), 3);
    }

    #[test]
    fn decades_are_labelled_by_their_powers() {
        let axis = Axis::Decades { from: -1, to: 2 };
        let labels = [-1.0, 0.5, 0.0, 2.0].map(|value| axis.tick(value));
        assert_eq!(labels, ["0.1", "", "1", "100"]);
        assert_eq!(axis.range(), (-1.0, 2.0));
        let mut figure = figure();
        figure.axis = axis;
        figure.curves[0].points = vec![(-0.5, 10.0), (1.5, 90.0)];
        assert!(svg(&figure).contains(&hex(PALETTE[0])));
    }

    #[test]
    fn close_levels_share_a_label() {
        let level = |label: &str, value| Level { label: label.to_string(), value, colour: None };
        let levels = [level("XON", 797.0), level("XOFF", 800.0), level("B", 500.0)];
        let merged = merge_levels(&levels, 50.0);
        let labels: Vec<&str> = merged.iter().map(|level| level.label.as_str()).collect();
        assert_eq!(labels, ["XOFF, XON", "B"]);
        assert_eq!(merge_levels(&levels, 1.0).len(), 3);
    }

    #[test]
    fn ticks_have_no_idle_digits() {
        assert_eq!(tick(150.0), "150");
        assert_eq!(tick(2.5), "2.5");
        assert_eq!(tick(0.0), "0");
    }
}
