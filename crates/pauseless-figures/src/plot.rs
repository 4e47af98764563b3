//! The layout of panels: where everything of a panel stands.

use super::axis::{Ruler, shared, shared_by};
use super::figure::{Drawn, Figure, Level, Mark, Panel, Scale, Series};
use super::svg::{FONT, Point, Size, measure};
use super::words::{SYLLABLES, wrap};
use pauseless_text::quantity::short;

/// A panel with its frame and its axes.
pub(super) struct Plot<'a> {
    pub panel: &'a Panel,
    /// The prefix of the title, `(a)`, where there are several panels.
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
    /// The ends of the range in which its value lies, if that is known.
    pub ends: Option<[f64; 2]>,
    pub left: f64,
    pub width: f64,
}

/// The panels of a figure side by side in so many columns, all at the top; `size` is the width of
/// the figure and the usual height of a frame.
pub(super) fn plots(figure: &Figure, columns: usize, size: Size) -> Vec<Plot<'_>> {
    let all = &figure.panels[..];
    let room = size.width / columns as f64;
    let curves = all.iter().map(|it| it.series.len()).sum::<usize>().max(1);
    let (across, upwards): (Vec<_>, Vec<_>) = all.iter().map(shared_by).unzip();
    let mut plots: Vec<Plot<'_>> = Vec::new();
    for (index, panel) in all.iter().enumerate() {
        // Every name upwards has a line of its own.
        let height = match &panel.y.scale {
            Scale::Names(names) => size.height.max(names.len() as f64 * (LINE + 1.0)),
            _ => size.height,
        };
        plots.push(Plot {
            panel,
            letter: if all.len() > 1 { format!("({}) ", letter(index)) } else { String::new() },
            at: Point::default(),
            width: room,
            height,
            left: 0.0,
            x: Ruler::across(panel, shared(&across, index), (room / 42.0) as usize),
            y: Ruler::upwards(panel, shared(&upwards, index), (height / 22.0) as usize),
            points_max: (POINTS / curves).clamp(60, room as usize * 2),
        });
    }
    let left = plots.iter().map(Plot::axis_width).fold(0.0, f64::max);
    let right = plots.iter().map(Plot::last_overhang).fold(RIGHT, f64::max);
    for plot in &mut plots {
        plot.width = room - left - right;
    }
    let names = plots.iter().map(Plot::name_overhang).fold(0.0, f64::max);
    let left = left.max(names);
    for (index, plot) in plots.iter_mut().enumerate() {
        plot.left = left;
        plot.at.x = room * (index % columns) as f64 + left;
        plot.width = room - left - right;
        plot.leave_headroom();
    }
    plots
}

fn letter(index: usize) -> String {
    let mut letters = b'a'..=b'z';
    match letters.nth(index) {
        Some(letter) => char::from(letter).to_string(),
        None => (index + 1).to_string(),
    }
}

impl<'a> Plot<'a> {
    /// A place in the frame, by its shares of both axes.
    pub(super) fn place(&self, across: f64, up: f64) -> Point {
        Point::new(self.at.x + self.width * across, self.at.y + self.height * (1.0 - up))
    }

    /// The place of a point, if the axes have one.
    pub(super) fn point(&self, x: f64, y: f64) -> Option<Point> {
        Some(self.place(self.x.share(x)?, self.y.share(y)?))
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
        let mut parts = names.iter().flat_map(|name| name.split_inclusive(SYLLABLES));
        let is_wide = parts.any(|part| measure(part.trim_end()) > self.slot());
        is_wide || self.name_rows() > 3
    }

    /// The lines of a label of the axis across.
    pub(super) fn name_lines(&self, label: &str) -> Vec<String> {
        match self.x.scale {
            Scale::Names(_) => wrap(label, SYLLABLES, self.slot(), FONT),
            _ => vec![label.to_string()],
        }
    }

    fn name_rows(&self) -> usize {
        self.x.labels().map(|(_, label)| self.name_lines(label).len()).max().unwrap_or(0)
    }

    /// The title with its letter, in lines.
    pub(super) fn title_lines(&self) -> Vec<String> {
        let title = format!("{}{}", self.letter, self.panel.title);
        // Bold words are a little wider.
        wrap(&title, &[' '], self.left * 0.5 + self.width, FONT * 1.12)
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
            let depths = self.x.labels().map(|(_, label)| {
                let turned = turned(label);
                let lines = (turned.height - LINE) * TURN.to_radians().cos();
                turned.width * TURN.to_radians().sin() + lines
            });
            depths.fold(0.0, f64::max) + FONT
        } else {
            LINE * self.name_rows() as f64
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

    /// How far the label at the end of the axis across reaches beyond the frame on its right.
    fn last_overhang(&self) -> f64 {
        let is_named = matches!(self.x.scale, Scale::Names(_) | Scale::Cells(_));
        let ends = self.x.labels().filter(|(at, _)| !is_named && *at >= self.x.high * 0.999);
        ends.last().map_or(0.0, |(_, label)| measure(label) / 2.0)
    }

    /// How far turned names reach beyond the frame on its left.
    fn name_overhang(&self) -> f64 {
        if !self.is_turned() {
            return 0.0;
        }
        let reach = self.x.labels().map(|(at, label)| {
            let middle = self.x.share(at).unwrap_or(0.0) * self.width;
            turned(label).width * TURN.to_radians().cos() - middle
        });
        reach.fold(0.0, f64::max)
    }

    /// Where the words of a mark have their middle: not beyond the frame.
    pub(super) fn mark_middle(&self, mark: &Mark) -> f64 {
        let half = measure(&mark.label) / 2.0;
        let x = self.place(self.x.share(mark.x).unwrap_or(0.0), 0.0).x;
        let (least, most) = (self.at.x + half, self.at.x + self.width + RIGHT - half);
        if least <= most { x.clamp(least, most) } else { (least + most) / 2.0 }
    }

    /// In which row above the frame the words of each mark stand, so that none overlap.
    pub(super) fn mark_rows(&self) -> Vec<usize> {
        let mut rows: Vec<Vec<[f64; 2]>> = Vec::new();
        let place = |mark: &Mark| {
            let half = measure(&mark.label) / 2.0 + 2.0;
            let middle = self.mark_middle(mark);
            let [from, to] = [middle - half, middle + half];
            let is_free = |row: &Vec<[f64; 2]>| row.iter().all(|it| it[1] < from || it[0] > to);
            let row = rows.iter().position(is_free).unwrap_or(rows.len());
            if row == rows.len() {
                rows.push(Vec::new());
            }
            rows[row].push([from, to]);
            row
        };
        self.panel.marks.iter().map(place).collect()
    }

    /// The levels from top to bottom. Those that lie so close together that their texts would
    /// overlap become one, with the texts of both, at the upper of them.
    pub(super) fn levels(&self) -> Vec<Level> {
        let mut levels = self.panel.levels.clone();
        levels.sort_by(|a, b| b.value.total_cmp(&a.value));
        levels.dedup();
        let height = |level: &Level| self.y.share(level.value).unwrap_or(0.0) * self.height;
        let mut merged: Vec<Level> = Vec::new();
        for level in levels {
            match merged.last_mut() {
                Some(upper) if height(upper) - height(&level) < LINE => {
                    upper.label = format!("{}, {}", upper.label, level.label);
                    upper.colour = upper.colour.filter(|it| Some(*it) == level.colour);
                }
                _ => merged.push(level),
            }
        }
        merged
    }

    /// The bars of all series, group by group.
    pub(super) fn bars(&self) -> Vec<Bar<'a>> {
        let series = self.panel.series.iter();
        let series: Vec<&Series> = series.filter(|it| it.mark == Drawn::Bars).collect();
        let bar_width = self.bar_width();
        let mut bars = Vec::new();
        for (at, _) in self.x.labels() {
            let in_group = series.iter().flat_map(|series| {
                let here = series.points.iter().enumerate().filter(move |(_, point)| point.0 == at);
                here.map(move |(n, point)| {
                    let ends = series.spread.ends().get(n).copied();
                    (*series, point.1, ends)
                })
            });
            let in_group: Vec<(&Series, f64, Option<[f64; 2]>)> = in_group.collect();
            let middle = self.place(self.x.share(at).unwrap_or(0.0), 0.0).x;
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

    /// How the numbers of the bars are written, and the width of the widest of them.
    pub(super) fn bar_words(&self) -> (BarWords, f64) {
        let width = self.bar_width();
        let numbers = self.bars().into_iter().map(|bar| measure(&short(bar.value)));
        let widest = numbers.fold(0.0, f64::max);
        let words = if widest <= width + 1.0 {
            BarWords::Level
        } else if width >= FONT * 0.9 {
            BarWords::Turned
        } else {
            BarWords::None
        };
        (words, widest)
    }

    fn bar_width(&self) -> f64 {
        let series = self.panel.series.iter();
        let series: Vec<&Series> = series.filter(|it| it.mark == Drawn::Bars).collect();
        let at_one =
            |at: f64| series.iter().flat_map(|it| &it.points).filter(|point| point.0 == at).count();
        let most = self.x.labels().map(|(at, _)| at_one(at)).max();
        let slot = self.width / (self.x.high - self.x.low);
        (slot * 0.84 / most.unwrap_or(1).max(1) as f64).min(BAR_MAX)
    }

    /// Stretches the axis to make room for the numbers above the highest bar.
    fn leave_headroom(&mut self) {
        if !self.panel.has_bars() {
            return;
        }
        let room = match self.bar_words() {
            (BarWords::None, _) => return,
            (BarWords::Level, _) => FONT + 2.0,
            (BarWords::Turned, widest) => widest + 3.0,
        };
        let share = (room / self.height).min(0.5);
        let stretch = 1.0 / (1.0 - share);
        self.y.high = match self.y.scale {
            Scale::Log => self.y.low * (self.y.high / self.y.low).powf(stretch),
            _ => self.y.low + (self.y.high - self.y.low) * stretch,
        };
    }
}

/// The size of a name before it is turned.
fn turned(name: &str) -> Size {
    let lines = wrap(name, SYLLABLES, TURNED_MAX, FONT);
    let widest = lines.iter().map(|line| measure(line)).fold(0.0, f64::max);
    Size::new(widest, LINE * lines.len().max(1) as f64)
}

/// Whether the number of a bar stands above it, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BarWords {
    Level,
    Turned,
    None,
}

/// The distance from one line of text to the next.
pub(super) const LINE: f64 = 9.6;
/// The angle of names that are too wide to be level, in degrees.
pub(super) const TURN: f64 = 35.0;
/// The greatest width of a line of a turned name.
pub(super) const TURNED_MAX: f64 = 66.0;
/// The most points of all curves of a figure together: it is to stay below 100 KB.
const POINTS: usize = 7_000;
/// The least room right of a frame, for half of the last tick's words.
const RIGHT: f64 = 10.0;
/// The greatest width of a bar: few bars do not take all the room.
const BAR_MAX: f64 = 34.0;
