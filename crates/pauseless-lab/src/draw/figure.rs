//! Figures, as data.

/// A figure as the papers print them: panels with axes of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The stem of its files, such as `queue`.
    pub name: String,
    /// What it shows.
    pub caption: String,
    /// From left to right, then from top to bottom.
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
    /// What stands above it.
    pub title: String,
    /// From left to right.
    pub x: Axis,
    /// From bottom to top.
    pub y: Axis,
    /// What is drawn.
    pub series: Vec<Series>,
    /// Vertical lines, such as the instant of a deadlock.
    pub marks: Vec<Mark>,
    /// Coloured cells instead of curves.
    pub heat: Option<Heat>,
}

impl Panel {
    /// A panel with these curves or bars.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis, series: Vec<Series>) -> Panel {
        Panel { title: title.into(), x, y, series, marks: Vec::new(), heat: None }
    }
}

/// An axis of a panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it measures and in which unit.
    pub label: String,
    /// How.
    pub scale: Scale,
}

impl Axis {
    /// An axis with an even scale.
    pub fn linear(label: impl Into<String>) -> Axis {
        Axis::new(label, Scale::Linear)
    }

    /// An axis with any scale.
    pub fn new(label: impl Into<String>, scale: Scale) -> Axis {
        let label = label.into();
        Axis { label, scale }
    }
}

/// How an axis measures. Linear axes of values begin at zero.
#[derive(Clone, Debug, PartialEq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By powers of ten; what is not above zero has no place.
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
    /// What the legend says.
    pub label: String,
    /// How it is drawn.
    pub mark: Drawn,
    /// Whether the numbers are the paper's: drawn in grey and hollow.
    pub is_paper: bool,
    /// Places, in the order of the axis.
    pub points: Vec<(f64, f64)>,
    /// How sure each point is.
    pub spread: Spread,
}

impl Series {
    /// What was measured here, with nothing said about how sure it is.
    pub fn new(label: impl Into<String>, mark: Drawn, points: Vec<(f64, f64)>) -> Series {
        Series { label: label.into(), mark, is_paper: false, points, spread: Spread::None }
    }
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
    /// What the colours measure.
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
    /// Symbols alone.
    Symbols,
    /// Bars beside those of the other series.
    Bars,
}

/// A vertical line with a word to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The word.
    pub label: String,
    /// Where, on the horizontal axis.
    pub x: f64,
    /// Whether it is what is wrong, such as a deadlock.
    pub is_alarm: bool,
}
