//! What an experiment yields beside its verdicts: tables and figures, as data.

use std::collections::BTreeMap;

/// Everything that was measured in an experiment.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Numbers that claims refer to by name.
    pub values: Values,
    /// Tables that are written as CSV and Parquet.
    pub tables: Vec<Table>,
    /// Figures that are drawn as SVG and PNG.
    pub figures: Vec<Figure>,
}

/// Numbers by name, such as `PFC/output-queued/deadlock_ms`: one for each seed, or `None` where a
/// run has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(BTreeMap<String, Vec<Option<f64>>>);

impl Values {
    /// Adds the number of one more seed.
    pub fn push(&mut self, name: impl Into<String>, value: f64) {
        self.push_if(name, Some(value));
    }

    /// Adds the number of one more seed, if that run has one.
    pub fn push_if(&mut self, name: impl Into<String>, value: Option<f64>) {
        self.0.entry(name.into()).or_default().push(value);
    }

    /// The numbers of all seeds.
    pub fn get(&self, name: &str) -> Option<&[Option<f64>]> {
        self.0.get(name).map(Vec::as_slice)
    }

    /// All names with their numbers, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[Option<f64>])> {
        self.0.iter().map(|(name, all)| (name.as_str(), &all[..]))
    }
}

/// A table of data, column by column.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The stem of its files, such as `series`.
    pub name: String,
    /// Its columns, all of one length.
    pub columns: Vec<Column>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name with the unit, such as `time_ms`.
    pub name: String,
    /// What stands in it.
    pub cells: Cells,
}

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Numbers; `None` where nothing was measured.
    Numbers(Vec<Option<f64>>),
    /// Names.
    Texts(Vec<String>),
}

impl Cells {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        match self {
            Cells::Numbers(cells) => cells.len(),
            Cells::Texts(cells) => cells.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

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
}

/// An axis of a panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it measures and in which unit.
    pub label: String,
    /// How.
    pub scale: Scale,
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
