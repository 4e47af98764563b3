//! Charts as data: figures of panels, panels of axes and series.

use super::axis::Extent;

/// A figure as papers print them: panels with axes of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The stem of the names of its files, such as `queue`.
    pub name: String,
    /// The sentence that says what it shows.
    pub caption: String,
    /// The panels from left to right, then from top to bottom.
    pub panels: Vec<Panel>,
}

impl Figure {
    /// A figure of these panels.
    pub fn new(name: &str, caption: impl Into<String>, panels: Vec<Panel>) -> Figure {
        let (name, caption) = (name.to_string(), caption.into());
        Figure { name, caption, panels }
    }
}

/// One pair of axes and what is drawn between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// The text that stands above it.
    pub title: String,
    /// The axis from left to right.
    pub x: Axis,
    /// The axis from bottom to top.
    pub y: Axis,
    /// The curves and bars.
    pub series: Vec<Series>,
    /// Vertical lines, such as the instant of a deadlock.
    pub marks: Vec<Mark>,
    /// Level lines, such as thresholds.
    pub levels: Vec<Level>,
    /// Coloured cells instead of curves.
    pub heat: Option<Heat>,
}

impl Panel {
    /// A panel with these curves or bars.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis, series: Vec<Series>) -> Panel {
        let (marks, levels) = (Vec::new(), Vec::new());
        Panel { title: title.into(), x, y, series, marks, levels, heat: None }
    }
}

/// An axis of a panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The text that says what it measures and in which unit.
    pub label: String,
    /// How places follow from values.
    pub scale: Scale,
    /// Values that have a place on it even if no series has them.
    pub ends: Option<Extent>,
}

impl Axis {
    /// An axis with an even scale.
    pub fn linear(label: impl Into<String>) -> Axis {
        Axis::new(label, Scale::Linear)
    }

    /// An axis with any scale.
    pub fn new(label: impl Into<String>, scale: Scale) -> Axis {
        let label = label.into();
        Axis { label, scale, ends: None }
    }

    /// The same axis with room for everything from `low` to `high`.
    pub fn covering(self, low: f64, high: f64) -> Axis {
        Axis { ends: Some(Extent { low, high }), ..self }
    }
}

/// How an axis measures. Linear axes of values begin at zero.
#[derive(Clone, Debug, PartialEq)]
pub enum Scale {
    /// Equal distances are equal differences.
    Linear,
    /// Equal distances are equal ratios; what is not above zero has no place.
    Log,
    /// Names, at 0, 1, 2 and so on: the places of groups of bars.
    Names(Vec<String>),
    /// The same for numbers: where they are many, not all are written.
    Cells(Vec<String>),
}

impl Scale {
    /// Powers of ten where a file asks for them, else an even scale.
    pub fn log_if(is_log: bool) -> Scale {
        if is_log { Scale::Log } else { Scale::Linear }
    }
}

/// One curve, or one bar of every group.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The text of the legend.
    pub label: String,
    /// How it is drawn.
    pub mark: Drawn,
    /// Whose numbers it has, which decides how loudly it is drawn.
    pub source: Source,
    /// The places on both axes, in the order of the axis across.
    pub points: Vec<(f64, f64)>,
    /// How sure each point is.
    pub spread: Spread,
}

impl Series {
    /// What was measured here, with nothing said about how sure it is.
    pub fn new(label: impl Into<String>, mark: Drawn, points: Vec<(f64, f64)>) -> Series {
        let source = Source::Measured;
        Series { label: label.into(), mark, source, points, spread: Spread::None }
    }

    /// The same series with numbers of another source.
    pub fn from_source(self, source: Source) -> Series {
        Series { source, ..self }
    }
}

/// Whose numbers a series has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// What was measured here.
    Measured,
    /// The numbers of a paper: drawn in grey and hollow, with the symbol of ours.
    Paper,
    /// What goes with the measured series of the same label: thin and dashed in its colour, and
    /// not in the legend.
    Companion,
}

/// How far the points of a series may be off: from where to where, for each of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Spread {
    /// Nothing is said about it.
    #[default]
    None,
    /// A bar with ends through each point.
    Whiskers(Vec<[f64; 2]>),
    /// A shaded band along the curve.
    Band(Vec<[f64; 2]>),
}

impl Spread {
    /// From where to where, for each point; empty if nothing is said.
    pub fn ends(&self) -> &[[f64; 2]] {
        match self {
            Spread::None => &[],
            Spread::Whiskers(ends) | Spread::Band(ends) => ends,
        }
    }
}

/// Coloured cells over two axes of names.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// The text that says what the colours measure.
    pub label: String,
    /// A value for each cell, row by row from the bottom; `None` where nothing was measured.
    pub cells: Vec<Option<f64>>,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// A line from point to point.
    Line,
    /// A line that keeps its height until the next point.
    Steps,
    /// A line with a symbol at each of few points.
    Marked,
    /// Bars beside those of the other series.
    Bars,
}

/// A vertical line with a text above it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The text above it.
    pub label: String,
    /// Where it stands on the axis across.
    pub x: f64,
    /// Whether it is what is wrong, such as a deadlock.
    pub is_alarm: bool,
}

impl Mark {
    /// A line at `x` for what is as it should be.
    pub fn quiet(label: impl Into<String>, x: f64) -> Mark {
        Mark { label: label.into(), x, is_alarm: false }
    }

    /// A line at `x` for what is wrong.
    pub fn alarm(label: impl Into<String>, x: f64) -> Mark {
        Mark { label: label.into(), x, is_alarm: true }
    }
}

/// A level line across a panel with a text below it.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// The text below it.
    pub label: String,
    /// Where it lies on the axis upwards.
    pub value: f64,
    /// The position of its colour in the palette; `None` for that of the axes.
    pub colour: Option<usize>,
}
