//! How each series looks: colour, dashes, symbol and hatching, so that it reads in grey too.

use super::colour::{BLACK, GREY, PALETTE, WHITE, colour};
use super::figure::{Drawn, Figure, Series, Source};
use super::svg::{Point, Style, Svg, element, empty, number};

/// How a series looks, the same in every panel.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Look {
    pub label: String,
    pub mark: Drawn,
    pub source: Source,
    /// Whether it has a point in any panel.
    pub has_points: bool,
    /// Its place among those that differ.
    place: usize,
    /// Whether dashes tell lines apart; they do not where they mean what goes with a curve.
    is_dashed: bool,
}

/// The looks of the series of a figure, in the order of its legend.
pub(super) fn looks(figure: &Figure) -> Vec<Look> {
    let mut looks: Vec<Look> = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    let all = || figure.panels.iter().flat_map(|panel| &panel.series);
    let is_dashed = all().all(|series| series.source != Source::Companion);
    for series in all() {
        let has_points = !series.points.is_empty();
        if let Some(known) = looks.iter_mut().find(|look| look.is_of(series)) {
            known.has_points |= has_points;
            continue;
        }
        // The paper's curve has the symbol of ours.
        let label = series.label.as_str();
        let name = match label.strip_suffix(", paper").unwrap_or(label) {
            "paper" if series.source == Source::Paper => names.first().copied().unwrap_or(label),
            name => name,
        };
        let place = names.iter().position(|it| *it == name).unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        let (label, mark, source) = (series.label.clone(), series.mark, series.source);
        looks.push(Look { label, mark, source, has_points, place, is_dashed });
    }
    looks
}

impl Look {
    /// Whether this is how `series` looks.
    pub(super) fn is_of(&self, series: &Series) -> bool {
        self.label == series.label && self.source == series.source
    }

    /// The text of the legend, for those that have one.
    pub(super) fn legend(&self) -> Option<String> {
        let is_told = !self.label.is_empty() && self.source != Source::Companion;
        let text = || {
            if self.has_points { self.label.clone() } else { format!("{} (no data)", self.label) }
        };
        is_told.then(text)
    }

    /// The style of its line.
    pub(super) fn line(&self) -> Style {
        let dashes = match self.mark {
            _ if self.source == Source::Companion => "4 3",
            Drawn::Line | Drawn::Steps if self.is_dashed => DASHES[self.place % DASHES.len()],
            // Symbols tell them apart, until colours begin anew.
            Drawn::Marked => DASHES[self.place / PALETTE.len() % DASHES.len()],
            _ => "",
        };
        let width = if self.source == Source::Measured { 1.3 } else { 1.0 };
        let style = Style::new().fill("none").stroke(self.colour(), width);
        style.set("stroke-linejoin", "round").dashes(dashes)
    }

    /// The style of its symbols.
    pub(super) fn fill(&self) -> Style {
        if self.source == Source::Paper {
            Style::new().fill(WHITE).stroke(self.colour(), 1.0)
        } else {
            Style::new().fill(self.colour()).stroke(WHITE, 0.5)
        }
    }

    /// The style of the band along it.
    pub(super) fn band(&self) -> Style {
        Style::new().fill(self.colour()).set("fill-opacity", "0.18")
    }

    /// The style of the bars that say how sure its points are.
    pub(super) fn whisker(&self) -> Style {
        Style::new().fill("none").stroke(self.colour(), 0.9)
    }

    /// Draws one of its bars between two corners.
    pub(super) fn bar(&self, svg: &mut Svg, from: Point, to: Point) {
        let style = if self.source == Source::Paper {
            Style::new().fill(WHITE).stroke(self.colour(), 1.0).dashes("2.5 1.5")
        } else {
            Style::new().fill(self.colour()).stroke(BLACK, 0.6)
        };
        svg.rectangle(from, to, &style);
        if let Some(hatching) = self.hatching() {
            svg.rectangle(from, to, &Style::new().fill(&format!("url(#{hatching})")));
        }
    }

    /// The path of its symbol around a point.
    pub(super) fn symbol(&self, at: Point) -> String {
        let corners: &[(f64, f64)] = match self.place % SYMBOLS {
            0 => {
                let (left, top) = (number(at.x - 2.4), number(at.y));
                return format!("M{left} {top}a2.4 2.4 0 1 0 4.8 0a2.4 2.4 0 1 0-4.8 0z");
            }
            1 => &[(-2.2, -2.2), (2.2, -2.2), (2.2, 2.2), (-2.2, 2.2)],
            2 => &[(0.0, -3.0), (2.8, 2.0), (-2.8, 2.0)],
            3 => &[(0.0, -3.2), (3.2, 0.0), (0.0, 3.2), (-3.2, 0.0)],
            4 => &[(0.0, 3.0), (2.8, -2.0), (-2.8, -2.0)],
            _ => &PLUS,
        };
        let corners = corners.iter().map(|(right, down)| {
            let corner = at.moved(*right, *down);
            format!("{} {}", number(corner.x), number(corner.y))
        });
        format!("M{}z", Vec::from_iter(corners).join("L"))
    }

    /// The name of the white lines over its bars, by which bars differ without their colour.
    fn hatching(&self) -> Option<String> {
        let kind = self.place % HATCHINGS.len();
        let is_hatched = self.mark == Drawn::Bars && self.source != Source::Paper && kind > 0;
        is_hatched.then(|| format!("hatch{kind}"))
    }

    fn colour(&self) -> &'static str {
        if self.source == Source::Paper { GREY } else { colour(self.place) }
    }
}

/// Defines the hatchings of these looks, each once.
pub(super) fn define_hatchings(definitions: &mut Svg, looks: &[Look]) {
    for (kind, path) in HATCHINGS.iter().enumerate() {
        let id = format!("hatch{kind}");
        if looks.iter().any(|look| look.hatching().as_ref() == Some(&id)) {
            let lines = Style::new().set("d", path).stroke(WHITE, 0.8).fill("none");
            definitions.add(&element("pattern", &pattern(&id), &empty("path", &lines)));
        }
    }
}

/// The attributes of a pattern of this name that repeats every four points.
pub(super) fn pattern(id: &str) -> Style {
    let style = Style::new().set("id", id).number("width", 4.0).number("height", 4.0);
    style.set("patternUnits", "userSpaceOnUse")
}

/// The dashes of lines: one more than there are colours, so that no two of thirty series are alike.
const DASHES: [&str; 6] = ["", "5 2", "1.3 1.7", "6 1.8 1.3 1.8", "9 2.5", "3 1.3 3 4"];
const SYMBOLS: usize = 6;
/// The corners of a symbol of the form of a plus.
#[rustfmt::skip]
const PLUS: [(f64, f64); 12] = [
    (-1.0, -3.0), (1.0, -3.0), (1.0, -1.0), (3.0, -1.0), (3.0, 1.0), (1.0, 1.0),
    (1.0, 3.0), (-1.0, 3.0), (-1.0, 1.0), (-3.0, 1.0), (-3.0, -1.0), (-1.0, -1.0),
];
/// The lines over bars; the second is also that of cells without a value.
pub(super) const HATCHINGS: [&str; 6] = [
    "",
    "M-1 1L1-1M0 4L4 0M3 5L5 3",
    "M-1 3L1 5M0 0L4 4M3-1L5 1",
    "M0 2H4",
    "M2 0V4",
    "M0 2H4M2 0V4",
];
