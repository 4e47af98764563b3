//! One panel: axes, ticks, curves, bars and marks.

use super::axis::Tick;
use super::colour::{ALARM, BLACK, GREY, GRID, WHITE, colour};
use super::figure::{Drawn, Series};
use super::look::Look;
use super::plot::{BarWords, LINE, Plot, TURN, TURNED_MAX};
use super::spread;
use super::svg::{Anchor, FONT, Point, Style, Svg, Words, polyline, segment};
use super::thin::{downsample, without_level_runs};
use super::words::{SYLLABLES, wrap};
use pauseless_text::quantity::short;

/// Draws a panel whose frame lies at `plot.at`.
pub(super) fn draw(svg: &mut Svg, plot: &Plot<'_>, looks: &[Look]) {
    grid(svg, plot);
    levels(svg, plot);
    marks(svg, plot);
    bars(svg, plot, looks);
    let curves = plot.panel.series.iter().filter(|series| series.mark != Drawn::Bars);
    let curves = curves.filter_map(|series| {
        let look = looks.iter().find(|look| look.is_of(series))?;
        Some((series, look))
    });
    for (series, look) in curves.clone() {
        spread::band(svg, plot, look, series);
    }
    for (series, look) in curves {
        spread::whiskers(svg, plot, look, series);
        curve(svg, plot, look, series);
    }
    level_words(svg, plot);
    axes(svg, plot);
    if plot.panel.series.iter().all(|it| it.points.is_empty()) {
        let middle = plot.place(0.5, 0.5);
        let style = Style::new().fill(GREY);
        svg.words(&Words { style, ..Words::new("nothing was measured", middle, Anchor::Middle) });
    }
}

/// Level lines at the ticks, below everything.
fn grid(svg: &mut Svg, plot: &Plot<'_>) {
    let shares = plot.y.labels().filter_map(|(at, _)| plot.y.share(at));
    let line = |share| segment(plot.place(0.0, share), plot.place(1.0, share));
    let path: String = shares.filter(|share| *share > 0.0).map(line).collect();
    svg.path(&path, &Style::new().stroke(GRID, 0.5));
}

/// The frame, its ticks and all words around it.
pub(super) fn axes(svg: &mut Svg, plot: &Plot<'_>) {
    let corner = plot.place(0.0, 0.0);
    let mut path = segment(plot.place(0.0, 1.0), corner);
    path += &segment(corner, plot.place(1.0, 0.0));
    let length = |tick: &Tick| if tick.label.is_some() { 3.0 } else { 1.6 };
    for tick in &plot.x.ticks {
        let Some(share) = plot.x.share(tick.at) else {
            continue;
        };
        let at = plot.place(share, 0.0);
        path += &segment(at, at.moved(0.0, length(tick)));
    }
    for tick in &plot.y.ticks {
        let Some(share) = plot.y.share(tick.at) else {
            continue;
        };
        let at = plot.place(0.0, share);
        path += &segment(at, at.moved(-length(tick), 0.0));
    }
    svg.path(&path, &Style::new().stroke(BLACK, 0.7).fill("none"));
    tick_words(svg, plot);
    titles(svg, plot);
}

fn tick_words(svg: &mut Svg, plot: &Plot<'_>) {
    for (at, label) in plot.y.labels() {
        let Some(share) = plot.y.share(at) else {
            continue;
        };
        let at = plot.place(0.0, share).moved(-5.0, FONT * 0.36);
        svg.words(&Words::new(label, at, Anchor::End));
    }
    for (at, label) in plot.x.labels() {
        let Some(share) = plot.x.share(at) else {
            continue;
        };
        let mut at = plot.place(share, 0.0).moved(0.0, 3.5 + FONT);
        if plot.is_turned() {
            turned_name(svg, label, at.moved(3.0, -1.0));
            continue;
        }
        for line in &plot.name_lines(label) {
            svg.words(&Words::new(line, at, Anchor::Middle));
            at.y += LINE;
        }
    }
}

fn turned_name(svg: &mut Svg, label: &str, mut at: Point) {
    let (down, across) = (TURN.to_radians().cos(), TURN.to_radians().sin());
    for line in wrap(label, SYLLABLES, TURNED_MAX, FONT) {
        svg.words(&Words { turn: -TURN, ..Words::new(&line, at, Anchor::End) });
        at = at.moved(LINE * across, LINE * down);
    }
}

fn titles(svg: &mut Svg, plot: &Plot<'_>) {
    let at = plot.place(0.5, 0.0).moved(0.0, plot.foot() - 2.5);
    svg.words(&Words::new(&plot.panel.x.label, at, Anchor::Middle));
    let at = plot.place(0.0, 0.5).moved(FONT - plot.axis_width(), 0.0);
    svg.words(&Words { turn: -90.0, ..Words::new(&plot.panel.y.label, at, Anchor::Middle) });
    let mut at = plot.place(0.5, 1.0).moved(0.0, FONT - plot.head());
    for line in &plot.title_lines() {
        let style = Style::new().set("font-weight", "bold");
        svg.words(&Words { style, ..Words::new(line, at, Anchor::Middle) });
        at.y += LINE;
    }
}

/// Vertical lines, with their words above the frame where no curve is.
fn marks(svg: &mut Svg, plot: &Plot<'_>) {
    for (mark, row) in plot.panel.marks.iter().zip(plot.mark_rows()) {
        let Some(share) = plot.x.share(mark.x) else {
            continue;
        };
        let (colour, width) = if mark.is_alarm { (ALARM, 1.0) } else { ("#000000", 0.7) };
        let top = plot.place(share, 1.0);
        let line = segment(plot.place(share, 0.0), top.moved(0.0, -2.5));
        svg.path(&line, &Style::new().stroke(colour, width).dashes("3 2"));
        let at = Point::new(plot.mark_middle(mark), top.y - 4.0 - LINE * row as f64);
        let style = Style::new().fill(colour);
        svg.words(&Words { style, ..Words::new(&mark.label, at, Anchor::Middle) });
    }
}

/// Level lines, below the curves.
fn levels(svg: &mut Svg, plot: &Plot<'_>) {
    for level in plot.levels() {
        if let Some(up) = plot.y.share(level.value) {
            let line = segment(plot.place(0.0, up), plot.place(1.0, up));
            let colour = level.colour.map_or(GREY, colour);
            svg.path(&line, &Style::new().stroke(colour, 0.7));
        }
    }
}

/// The words of level lines on top of the curves: below their line, unless the axis is there.
fn level_words(svg: &mut Svg, plot: &Plot<'_>) {
    for level in plot.levels() {
        if let Some(up) = plot.y.share(level.value) {
            let side = if up * plot.height < LINE { -2.5 } else { FONT };
            let at = plot.place(1.0, up).moved(-1.0, side);
            let style = Style::new().stroke(WHITE, 2.0).set("paint-order", "stroke");
            svg.words(&Words { style, ..Words::new(&level.label, at, Anchor::End) });
        }
    }
}

fn bars(svg: &mut Svg, plot: &Plot<'_>, looks: &[Look]) {
    let zero = plot.y.share(0.0).unwrap_or(0.0);
    for bar in plot.bars() {
        let Some(look) = looks.iter().find(|look| look.is_of(bar.series)) else {
            continue;
        };
        let height = plot.y.share(bar.value).unwrap_or(zero);
        let from = Point { x: bar.left, ..plot.place(0.0, zero) };
        let to = Point { x: bar.left + bar.width, ..plot.place(0.0, height) };
        look.bar(svg, from, to);
        let top = spread::on_bar(svg, plot, &bar).unwrap_or(from.y.min(to.y));
        // Above the whisker of a bar of nothing the number would seem to be the whisker's.
        if bar.value == 0.0 && bar.ends.is_some() {
            continue;
        }
        let text = short(bar.value);
        let at = Point::new(bar.left + bar.width / 2.0, top - 2.0);
        match plot.bar_words().0 {
            BarWords::Level => svg.words(&Words::new(&text, at, Anchor::Middle)),
            BarWords::Turned => {
                let at = at.moved(FONT * 0.36, 0.0);
                svg.words(&Words { turn: -90.0, ..Words::new(&text, at, Anchor::Start) });
            }
            BarWords::None => {}
        }
    }
}

fn curve(svg: &mut Svg, plot: &Plot<'_>, look: &Look, series: &Series) {
    let mut symbols = String::new();
    let with_symbols = !matches!(series.mark, Drawn::Line | Drawn::Steps);
    // Where an axis has no place for a point the line is broken.
    for run in series.points.split(|(x, y)| plot.point(*x, *y).is_none()) {
        let points = if with_symbols {
            run.to_vec()
        } else {
            without_level_runs(&with_ends(run, plot.points_max))
        };
        let points: Vec<Point> = points.iter().filter_map(|(x, y)| plot.point(*x, *y)).collect();
        if with_symbols || points.len() == 1 {
            symbols.extend(points.iter().map(|point| look.symbol(*point)));
        }
        let points = if series.mark == Drawn::Steps { stairs(&points) } else { points };
        if points.len() > 1 {
            svg.path(&polyline(points), &look.line());
        }
    }
    svg.path(&symbols, &look.fill());
}

/// Few enough points, with both ends.
fn with_ends(points: &[(f64, f64)], points_max: usize) -> Vec<(f64, f64)> {
    let mut kept = downsample(points, points_max);
    if let (Some(first), Some(last)) = (points.first(), points.last()) {
        if kept.first() != Some(first) {
            kept.insert(0, *first);
        }
        if kept.last() != Some(last) {
            kept.push(*last);
        }
    }
    kept
}

/// The corners of a line that keeps its height until the next point.
fn stairs(points: &[Point]) -> Vec<Point> {
    let corners = points.windows(2).flat_map(|pair| [pair[0], Point { x: pair[1].x, ..pair[0] }]);
    corners.chain(points.last().copied()).collect()
}
