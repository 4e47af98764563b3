//! Where everything of a panel stands.

use super::canvas::{FONT, Point, measure};
use super::panel::{BarWords, LINE, TURN, TURNED_MAX};
use super::ruler::{self, Extent, Ruler, has_bars};
use super::words::{syllables, width, wrap, wrap_words};
use crate::draw::figure::{Axis, Drawn, Figure, Mark, Panel, Scale, Series};

/// A panel with its frame and its axes.
pub(super) struct Plot<'a> {
    pub panel: &'a Panel,
    /// `(a)`, where there are several.
    letter: String,
    /// The upper left corner of the frame.
    pub at: Point,
    pub width: f64,
    pub height: f64,
    /// The room left of the frame.
    pub left: f64,
    pub x: Ruler,
    pub y: Ruler,
    /// The most points of a curve that are worth their bytes.
    pub points_max: usize,
}

/// A bar with its place.
pub(super) struct Bar<'a> {
    pub series: &'a Series,
    pub value: f64,
    /// From where to where it may be, if that is known.
    pub ends: Option<[f64; 2]>,
    pub left: f64,
    pub width: f64,
}

/// The panels of a figure side by side, all at the top.
pub(super) fn plots(figure: &Figure, (columns, total): (usize, f64)) -> Vec<Plot<'_>> {
    let all = &figure.panels[..];
    let height: f64 = match columns {
        1 => 130.0,
        2 => 118.0,
        _ => 98.0,
    };
    let room = total / columns as f64;
    let curves = all.iter().map(|it| it.series.len()).sum::<usize>().max(1);
    let mut plots: Vec<Plot<'_>> = Vec::new();
    for (index, panel) in all.iter().enumerate() {
        // Every name upwards has a line of its own.
        let height = match &panel.y.scale {
            Scale::Names(names) => height.max(names.len() as f64 * (LINE + 1.0)),
            _ => height,
        };
        let x = shared(all, (panel, |it| &it.x), ruler::across);
        let y = shared(all, (panel, |it| &it.y), ruler::upwards);
        let letter = match all.len() {
            1 => String::new(),
            _ => format!("({}) ", letter(index)),
        };
        plots.push(Plot {
            panel,
            letter,
            at: Point { x: 0.0, y: 0.0 },
            width: room,
            height,
            left: 0.0,
            x: Ruler::across(panel, (x, (room / 42.0) as usize)),
            y: Ruler::upwards(panel, (y, (height / 22.0) as usize)),
            points_max: (POINTS / curves).clamp(60, room as usize * 2),
        });
    }
    let left = plots.iter().map(Plot::axis_width).fold(0.0, f64::max);
    for plot in &mut plots {
        plot.width = room - left - RIGHT;
    }
    let names = plots.iter().map(Plot::name_overhang).fold(0.0, f64::max);
    let left = left.max(names);
    for (index, plot) in plots.iter_mut().enumerate() {
        plot.left = left;
        plot.at.x = room * (index % columns) as f64 + left;
        plot.width = room - left - RIGHT;
        plot.leave_headroom();
    }
    plots
}

fn letter(index: usize) -> String {
    let letters = b'a'..=b'z';
    match letters.clone().nth(index) {
        Some(letter) => char::from(letter).to_string(),
        None => (index + 1).to_string(),
    }
}

/// Panels with the same axis have the same ends, so that they can be compared; but no panel is
/// flattened to nothing by that.
fn shared(
    all: &[Panel],
    (panel, axis): (&Panel, impl Fn(&Panel) -> &Axis),
    extent: impl Fn(&Panel) -> Option<Extent>,
) -> Option<Extent> {
    let own = extent(panel);
    let same = all.iter().filter(|it| axis(it) == axis(panel));
    let whole = same.filter_map(&extent).reduce(Extent::with);
    let (Some(mine), Some(whole)) = (own, whole) else {
        return whole;
    };
    let is_flat = axis(panel).scale == Scale::Linear && mine.high < whole.high / 30.0;
    Some(if is_flat && mine.high > 0.0 { mine } else { whole })
}

impl<'a> Plot<'a> {
    /// A place in the frame, by its shares of both axes.
    pub(super) fn place(&self, (across, up): (f64, f64)) -> Point {
        Point::new(self.at.x + self.width * across, self.at.y + self.height * (1.0 - up))
    }

    /// The place of a point, if the axes have one.
    pub(super) fn point(&self, (x, y): (f64, f64)) -> Option<Point> {
        Some(self.place((self.x.share(x)?, self.y.share(y)?)))
    }

    /// The lowest value that has a place.
    pub(super) fn floor(&self) -> f64 {
        self.y.low
    }

    /// The width of a name's place on the axis.
    pub(super) fn slot(&self) -> f64 {
        self.width / (self.x.high - self.x.low) - 3.0
    }

    /// Whether the names across are too wide to be level.
    pub(super) fn is_turned(&self) -> bool {
        let Scale::Names(names) = &self.x.scale else {
            return false;
        };
        let mut parts = names.iter().flat_map(|name| syllables(name));
        let is_wide = parts.any(|part| measure(part.trim_end()) > self.slot());
        is_wide || self.name_lines() > 3
    }

    fn name_lines(&self) -> usize {
        let lines = self.x.labels().map(|(_, label)| match self.x.scale {
            Scale::Names(_) => wrap(label, (self.slot(), FONT)).len(),
            _ => 1,
        });
        lines.max().unwrap_or(0)
    }

    /// The title with its letter, in lines.
    pub(super) fn title_lines(&self) -> Vec<String> {
        let title = format!("{}{}", self.letter, self.panel.title);
        // Bold words are a little wider.
        wrap_words(&title, (self.left * 0.5 + self.width, FONT * 1.12))
    }

    /// The room above the frame.
    pub(super) fn head(&self) -> f64 {
        let rows = self.mark_rows().iter().max().map_or(0, |row| row + 1);
        LINE * (self.title_lines().len() + rows) as f64 + 5.0
    }

    /// The room below the frame.
    pub(super) fn foot(&self) -> f64 {
        let label = match self.panel.x.label.as_str() {
            "" => 0.0,
            _ => LINE,
        };
        let names = if self.is_turned() {
            let names = self.x.labels().map(|(_, label)| turned(label));
            let depths = names.map(|(widest, lines)| {
                let lines = LINE * (lines - 1.0) * TURN.to_radians().cos();
                widest * TURN.to_radians().sin() + lines
            });
            depths.fold(0.0, f64::max) + FONT
        } else {
            LINE * self.name_lines() as f64
        };
        names + label + 6.0
    }

    /// The room left of the frame that ticks and label need.
    pub(super) fn axis_width(&self) -> f64 {
        let ticks = self.y.labels().map(|(_, label)| measure(label));
        let label = match self.panel.y.label.as_str() {
            "" => 0.0,
            _ => FONT * 1.4,
        };
        ticks.fold(0.0, f64::max) + 7.0 + label
    }

    /// How far turned names reach beyond the frame on its left.
    fn name_overhang(&self) -> f64 {
        if !self.is_turned() {
            return 0.0;
        }
        let reach = self.x.labels().map(|(at, label)| {
            let middle = self.x.share(at).unwrap_or(0.0) * self.width;
            turned(label).0 * TURN.to_radians().cos() - middle
        });
        reach.fold(0.0, f64::max)
    }

    /// Where the words of a mark have their middle: not beyond the frame.
    pub(super) fn mark_middle(&self, mark: &Mark) -> f64 {
        let half = measure(&mark.label) / 2.0;
        let x = self.place((self.x.share(mark.x).unwrap_or(0.0), 0.0)).x;
        let (least, most) = (self.at.x + half, self.at.x + self.width + RIGHT - half);
        if least <= most { x.clamp(least, most) } else { (least + most) / 2.0 }
    }

    /// In which row above the frame the words of each mark stand, so that none overlap.
    pub(super) fn mark_rows(&self) -> Vec<usize> {
        let mut rows: Vec<Vec<(f64, f64)>> = Vec::new();
        let marks = self.panel.marks.iter();
        let place = |mark: &Mark| {
            let half = measure(&mark.label) / 2.0 + 2.0;
            let middle = self.mark_middle(mark);
            let span = (middle - half, middle + half);
            let is_free =
                |row: &Vec<(f64, f64)>| row.iter().all(|it| it.1 < span.0 || it.0 > span.1);
            let row = rows.iter().position(is_free).unwrap_or(rows.len());
            if row == rows.len() {
                rows.push(Vec::new());
            }
            rows[row].push(span);
            row
        };
        marks.map(place).collect()
    }

    /// All bars, group by group.
    pub(super) fn bars(&self) -> Vec<Bar<'a>> {
        let series = self.panel.series.iter();
        let series: Vec<&Series> = series.filter(|it| it.mark == Drawn::Bars).collect();
        let bar_width = self.bar_width();
        let mut bars = Vec::new();
        for (at, _) in self.x.labels() {
            let in_group = series.iter().flat_map(|series| {
                let points = series.points.iter().enumerate();
                let here = points.filter(move |(_, point)| point.0 == at);
                here.map(move |(n, point)| {
                    let ends = series.spread.ends().get(n).copied();
                    (*series, point.1, ends)
                })
            });
            let in_group: Vec<(&Series, f64, Option<[f64; 2]>)> = in_group.collect();
            let middle = self.place((self.x.share(at).unwrap_or(0.0), 0.0)).x;
            let left = middle - bar_width * in_group.len() as f64 / 2.0;
            bars.extend(in_group.into_iter().enumerate().map(|(n, (series, value, ends))| Bar {
                series,
                value,
                ends,
                left: left + bar_width * n as f64 + 0.5,
                width: bar_width - 1.0,
            }));
        }
        bars
    }

    /// How the numbers of the bars are written.
    pub(super) fn bar_words(&self) -> BarWords {
        let values = self.bars();
        BarWords::of(values.iter().map(|bar| bar.value), self.bar_width())
    }

    fn bar_width(&self) -> f64 {
        let series = self.panel.series.iter();
        let series: Vec<&Series> = series.filter(|it| it.mark == Drawn::Bars).collect();
        let at_one = |at: f64| {
            let points = series.iter().flat_map(|it| &it.points);
            points.filter(|point| point.0 == at).count()
        };
        let most = self.x.labels().map(|(at, _)| at_one(at)).max();
        let slot = self.width / (self.x.high - self.x.low);
        (slot * 0.84 / most.unwrap_or(1).max(1) as f64).min(BAR_MAX)
    }

    /// Room for the numbers above the highest bar.
    fn leave_headroom(&mut self) {
        if !has_bars(self.panel) {
            return;
        }
        let words = self.panel.series.iter().flat_map(|it| &it.points);
        let widest = words.map(|point| width(&super::words::short(point.1), FONT));
        let room = match self.bar_words() {
            BarWords::None => return,
            BarWords::Level => FONT + 2.0,
            BarWords::Turned => widest.fold(0.0, f64::max) + 3.0,
        };
        let share = (room / self.height).min(0.5);
        let stretch = 1.0 / (1.0 - share);
        self.y.high = match self.y.scale {
            Scale::Log => self.y.low * (self.y.high / self.y.low).powf(stretch),
            _ => self.y.low + (self.y.high - self.y.low) * stretch,
        };
    }
}

/// The width of a turned name, and its lines.
fn turned(name: &str) -> (f64, f64) {
    let lines = wrap(name, (TURNED_MAX, FONT));
    let widest = lines.iter().map(|line| measure(line)).fold(0.0, f64::max);
    (widest, lines.len().max(1) as f64)
}

/// All points of a figure together: it is to stay below 100 KB.
const POINTS: usize = 7_000;
/// The room right of a frame, for half of the last tick's words.
const RIGHT: f64 = 10.0;
/// Few bars are not as wide as there is room.
const BAR_MAX: f64 = 34.0;
