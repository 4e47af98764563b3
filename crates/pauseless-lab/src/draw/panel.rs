//! One panel: axes, ticks, curves, bars and marks.

use super::Plot;
use super::canvas::{Anchor, Canvas, FONT, Point, Words, measure, polyline};
use super::look::Look;
use super::ruler::Tick;
use super::spread;
use super::words::{short, wrap};
use crate::draw::figure::{Drawn, Scale, Series};
use crate::report::chart::{ALARM, hex};
use crate::report::series::{downsample, without_level_runs};

/// Draws a panel whose frame lies at `plot.at`.
pub(super) fn draw(canvas: &mut Canvas, plot: &Plot<'_>, looks: &[Look]) {
    grid(canvas, plot);
    marks(canvas, plot);
    bars(canvas, plot, looks);
    let curves = plot.panel.series.iter();
    let curves = curves.filter(|series| series.mark != Drawn::Bars);
    let curves = curves.filter_map(|series| {
        let look = looks.iter().find(|look| look.is_of(series))?;
        Some((series, look))
    });
    for (series, look) in curves.clone() {
        spread::band(canvas, (plot, look), series);
    }
    for (series, look) in curves {
        spread::whiskers(canvas, (plot, look), series);
        curve(canvas, (plot, look), series);
    }
    axes(canvas, plot);
    if plot.panel.series.iter().all(|it| it.points.is_empty()) {
        let middle = plot.place((0.5, 0.5));
        let mut words = Words::new("nothing was measured", middle, Anchor::Middle);
        words.style = "fill=\"#6E6E6E\"";
        canvas.words(&words);
    }
}

/// Level lines at the ticks, below everything.
fn grid(canvas: &mut Canvas, plot: &Plot<'_>) {
    let shares = plot.y.labels().filter_map(|(at, _)| plot.y.share(at));
    let line = |share| Canvas::segment(plot.place((0.0, share)), plot.place((1.0, share)));
    let path: String = shares.filter(|share| *share > 0.0).map(line).collect();
    canvas.path(&path, "stroke=\"#DDD\" stroke-width=\"0.5\"");
}

/// The frame, its ticks and all words around it.
pub(super) fn axes(canvas: &mut Canvas, plot: &Plot<'_>) {
    let corner = plot.place((0.0, 0.0));
    let mut path = Canvas::segment(plot.place((0.0, 1.0)), corner);
    path += &Canvas::segment(corner, plot.place((1.0, 0.0)));
    let length = |tick: &Tick| if tick.label.is_some() { 3.0 } else { 1.6 };
    for tick in &plot.x.ticks {
        let Some(share) = plot.x.share(tick.at) else {
            continue;
        };
        let at = plot.place((share, 0.0));
        let end = at.y + length(tick);
        path += &Canvas::segment(at, Point { y: end, ..at });
    }
    for tick in &plot.y.ticks {
        let Some(share) = plot.y.share(tick.at) else {
            continue;
        };
        let at = plot.place((0.0, share));
        let end = at.x - length(tick);
        path += &Canvas::segment(at, Point { x: end, ..at });
    }
    canvas.path(&path, "stroke=\"#000\" stroke-width=\"0.7\" fill=\"none\"");
    tick_words(canvas, plot);
    titles(canvas, plot);
}

fn tick_words(canvas: &mut Canvas, plot: &Plot<'_>) {
    for (at, label) in plot.y.labels() {
        let Some(share) = plot.y.share(at) else {
            continue;
        };
        let mut at = plot.place((0.0, share));
        at.x -= 5.0;
        at.y += FONT * 0.36;
        canvas.words(&Words::new(label, at, Anchor::End));
    }
    for (at, label) in plot.x.labels() {
        let Some(share) = plot.x.share(at) else {
            continue;
        };
        let mut at = plot.place((share, 0.0));
        at.y += 3.5 + FONT;
        if plot.is_turned() {
            turned_name(canvas, label, Point::new(at.x + 3.0, at.y - 1.0));
            continue;
        }
        let is_name = matches!(plot.x.scale, Scale::Names(_));
        let lines =
            if is_name { wrap(label, (plot.slot(), FONT)) } else { vec![label.to_string()] };
        for line in &lines {
            canvas.words(&Words::new(line, at, Anchor::Middle));
            at.y += LINE;
        }
    }
}

fn turned_name(canvas: &mut Canvas, label: &str, mut at: Point) {
    let (down, across) = (TURN.to_radians().cos(), TURN.to_radians().sin());
    for line in wrap(label, (TURNED_MAX, FONT)) {
        let mut words = Words::new(&line, at, Anchor::End);
        words.turn = -TURN;
        canvas.words(&words);
        at.x += LINE * across;
        at.y += LINE * down;
    }
}

fn titles(canvas: &mut Canvas, plot: &Plot<'_>) {
    let mut at = plot.place((0.5, 0.0));
    at.y += plot.foot() - 2.5;
    canvas.words(&Words::new(&plot.panel.x.label, at, Anchor::Middle));
    let mut at = plot.place((0.0, 0.5));
    at.x -= plot.axis_width() - FONT;
    let mut words = Words::new(&plot.panel.y.label, at, Anchor::Middle);
    words.turn = -90.0;
    canvas.words(&words);
    let title = plot.title_lines();
    let mut at = plot.place((0.5, 1.0));
    at.y -= plot.head() - FONT;
    for line in &title {
        let mut words = Words::new(line, at, Anchor::Middle);
        words.style = "font-weight=\"bold\"";
        canvas.words(&words);
        at.y += LINE;
    }
}

/// Vertical lines, with their words above the frame where no curve is.
fn marks(canvas: &mut Canvas, plot: &Plot<'_>) {
    for (mark, row) in plot.panel.marks.iter().zip(plot.mark_rows()) {
        let Some(share) = plot.x.share(mark.x) else {
            continue;
        };
        let colour = if mark.is_alarm { hex(ALARM) } else { "#000000".to_string() };
        let top = plot.place((share, 1.0));
        let line = Canvas::segment(plot.place((share, 0.0)), Point { y: top.y - 2.5, ..top });
        let width = if mark.is_alarm { 1.0 } else { 0.7 };
        let style =
            format!("stroke=\"{colour}\" stroke-width=\"{width}\" stroke-dasharray=\"3 2\"");
        canvas.path(&line, &style);
        let at = Point::new(plot.mark_middle(mark), top.y - 4.0 - LINE * row as f64);
        let style = format!("fill=\"{colour}\"");
        let mut words = Words::new(&mark.label, at, Anchor::Middle);
        words.style = &style;
        canvas.words(&words);
    }
}

fn bars(canvas: &mut Canvas, plot: &Plot<'_>, looks: &[Look]) {
    let zero = plot.y.share(0.0).unwrap_or(0.0);
    for bar in plot.bars() {
        let Some(look) = looks.iter().find(|look| look.is_of(bar.series)) else {
            continue;
        };
        let height = plot.y.share(bar.value).unwrap_or(zero);
        let from = Point { x: bar.left, ..plot.place((0.0, zero)) };
        let to = Point { x: bar.left + bar.width, ..plot.place((0.0, height)) };
        canvas.rectangle((from, to), &look.bar());
        if let Some(hatching) = look.hatching() {
            canvas.rectangle((from, to), &format!("fill=\"url(#{hatching})\""));
        }
        let top = spread::on_bar(canvas, plot, &bar).unwrap_or(from.y.min(to.y));
        // Above the whisker of a bar of nothing the number would seem to be the whisker's.
        if bar.value == 0.0 && bar.ends.is_some() {
            continue;
        }
        let text = short(bar.value);
        let mut at = Point::new(bar.left + bar.width / 2.0, top - 2.0);
        match plot.bar_words() {
            BarWords::Level => canvas.words(&Words::new(&text, at, Anchor::Middle)),
            BarWords::Turned => {
                at.x += FONT * 0.36;
                let mut words = Words::new(&text, at, Anchor::Start);
                words.turn = -90.0;
                canvas.words(&words);
            }
            BarWords::None => {}
        }
    }
}

fn curve(canvas: &mut Canvas, (plot, look): (&Plot<'_>, &Look), series: &Series) {
    let mut symbols = String::new();
    let with_symbols = !matches!(series.mark, Drawn::Line | Drawn::Steps);
    // Where an axis has no place for a point the line is broken.
    for run in series.points.split(|point| plot.point(*point).is_none()) {
        let points = if with_symbols {
            run.to_vec()
        } else {
            without_level_runs(&thinned(run, plot.points_max))
        };
        let points = points.iter();
        let points: Vec<Point> = points.filter_map(|point| plot.point(*point)).collect();
        if with_symbols || points.len() == 1 {
            symbols.extend(points.iter().map(|point| look.symbol(*point)));
        }
        let points = match series.mark {
            Drawn::Steps => stairs(&points),
            _ => points,
        };
        if series.mark != Drawn::Symbols && points.len() > 1 {
            canvas.path(&polyline(&points), &look.line());
        }
    }
    canvas.path(&symbols, &look.fill());
}

/// Few enough points, with both ends.
fn thinned(points: &[(f64, f64)], points_max: usize) -> Vec<(f64, f64)> {
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

fn stairs(points: &[Point]) -> Vec<Point> {
    let mut all = Vec::with_capacity(points.len() * 2);
    for point in points {
        if let Some(before) = all.last().copied() {
            let before: Point = before;
            all.push(Point { x: point.x, ..before });
        }
        all.push(*point);
    }
    all
}

/// Whether the number of a bar stands above it, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BarWords {
    Level,
    Turned,
    None,
}

impl BarWords {
    /// What fits above bars that are so wide.
    pub fn of(values: impl Iterator<Item = f64>, width: f64) -> BarWords {
        let widest = values.map(|value| measure(&short(value))).fold(0.0, f64::max);
        match () {
            _ if widest <= width + 1.0 => BarWords::Level,
            _ if width >= FONT * 0.9 => BarWords::Turned,
            _ => BarWords::None,
        }
    }
}

/// From one line of words to the next.
pub(super) const LINE: f64 = 9.6;
/// By how much names are turned that are too wide, in degrees.
pub(super) const TURN: f64 = 35.0;
/// How wide a line of a turned name may be.
pub(super) const TURNED_MAX: f64 = 66.0;
