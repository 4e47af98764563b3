//! How each series looks: colour, dashes, symbol and hatching, so that it reads in grey too.

use super::canvas::{Canvas, Point};
use crate::draw::figure::{Drawn, Figure, Series};
use crate::report::chart::{PALETTE, colour, hex};

/// How a series looks, the same in every panel.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Look {
    pub label: String,
    pub mark: Drawn,
    pub is_paper: bool,
    /// Whether it has a point anywhere.
    pub has_points: bool,
    /// Its place among those that differ.
    place: usize,
}

/// The looks of the series of a figure, in the order of its legend.
pub(super) fn looks(figure: &Figure) -> Vec<Look> {
    let mut looks: Vec<Look> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for series in figure.panels.iter().flat_map(|panel| &panel.series) {
        let has_points = !series.points.is_empty();
        if let Some(known) = looks.iter_mut().find(|look| look.is_of(series)) {
            known.has_points |= has_points;
            continue;
        }
        // The paper's curve has the symbol of ours.
        let label = &series.label;
        let name = label.strip_suffix(", paper").unwrap_or(label);
        let name = match name {
            "paper" if series.is_paper => names.first().map_or(name, String::as_str).to_string(),
            name => name.to_string(),
        };
        let known = names.iter().position(|it| *it == name);
        let place = known.unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        looks.push(Look {
            label: series.label.clone(),
            mark: series.mark,
            is_paper: series.is_paper,
            has_points,
            place,
        });
    }
    looks
}

impl Look {
    /// Whether this is how `series` looks.
    pub(super) fn is_of(&self, series: &Series) -> bool {
        self.label == series.label && self.is_paper == series.is_paper
    }

    /// What the legend says.
    pub(super) fn legend(&self) -> String {
        if self.has_points { self.label.clone() } else { format!("{} (no data)", self.label) }
    }

    /// The attributes of its line.
    pub(super) fn line(&self) -> String {
        let dashes = match self.mark {
            Drawn::Line | Drawn::Steps => DASHES[self.place % DASHES.len()],
            // Symbols tell them apart, until colours begin anew.
            Drawn::Marked => DASHES[self.place / PALETTE.len() % DASHES.len()],
            _ => "",
        };
        let dashes = match dashes {
            "" => String::new(),
            dashes => format!(" stroke-dasharray=\"{dashes}\""),
        };
        let width = if self.is_paper { 1.0 } else { 1.3 };
        let colour = self.colour();
        format!(
            "fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" \
             stroke-linejoin=\"round\"{dashes}"
        )
    }

    /// The attributes of its symbols.
    pub(super) fn fill(&self) -> String {
        let colour = self.colour();
        if self.is_paper {
            format!("fill=\"#FFF\" stroke=\"{colour}\" stroke-width=\"1\"")
        } else {
            format!("fill=\"{colour}\" stroke=\"#FFF\" stroke-width=\"0.5\"")
        }
    }

    /// The attributes of its bars.
    pub(super) fn bar(&self) -> String {
        let colour = self.colour();
        if self.is_paper {
            format!(
                "fill=\"#FFF\" stroke=\"{colour}\" stroke-width=\"1\" stroke-dasharray=\"2.5 1.5\""
            )
        } else {
            format!("fill=\"{colour}\" stroke=\"#000\" stroke-width=\"0.6\"")
        }
    }

    /// The attributes of the band along it.
    pub(super) fn band(&self) -> String {
        format!("fill=\"{}\" fill-opacity=\"0.18\"", self.colour())
    }

    /// The attributes of the bars that say how sure its points are.
    pub(super) fn whisker(&self) -> String {
        let colour = self.colour();
        format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"0.9\"")
    }

    /// The path of its symbol around a point.
    pub(super) fn symbol(&self, Point { x, y }: Point) -> String {
        let corners: &[(f64, f64)] = match self.place % SYMBOLS {
            0 => {
                let (left, top) = (Canvas::number(x - 2.4), Canvas::number(y));
                return format!("M{left} {top}a2.4 2.4 0 1 0 4.8 0a2.4 2.4 0 1 0-4.8 0z");
            }
            1 => &[(-2.2, -2.2), (2.2, -2.2), (2.2, 2.2), (-2.2, 2.2)],
            2 => &[(0.0, -3.0), (2.8, 2.0), (-2.8, 2.0)],
            3 => &[(0.0, -3.2), (3.2, 0.0), (0.0, 3.2), (-3.2, 0.0)],
            4 => &[(0.0, 3.0), (2.8, -2.0), (-2.8, -2.0)],
            _ => &[
                (-1.0, -3.0),
                (1.0, -3.0),
                (1.0, -1.0),
                (3.0, -1.0),
                (3.0, 1.0),
                (1.0, 1.0),
                (1.0, 3.0),
                (-1.0, 3.0),
                (-1.0, 1.0),
                (-3.0, 1.0),
                (-3.0, -1.0),
                (-1.0, -1.0),
            ],
        };
        let corner = |(across, down): &(f64, f64)| {
            let [x, y] = [x + across, y + down].map(Canvas::number);
            format!("{x} {y}")
        };
        let corners: Vec<String> = corners.iter().map(corner).collect();
        format!("M{}z", corners.join("L"))
    }

    /// White lines over a bar, by which bars differ without their colour.
    pub(super) fn hatching(&self) -> Option<String> {
        let kind = self.place % HATCHINGS.len();
        let is_hatched = self.mark == Drawn::Bars && !self.is_paper && kind > 0;
        is_hatched.then(|| format!("hatch{kind}"))
    }

    /// What its hatching must have been told before.
    pub(super) fn definition(&self) -> Option<String> {
        let id = self.hatching()?;
        let path = HATCHINGS[self.place % HATCHINGS.len()];
        Some(format!(
            "<pattern id=\"{id}\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\">\
             <path d=\"{path}\" stroke=\"#FFF\" stroke-width=\"0.8\" fill=\"none\"/></pattern>\n"
        ))
    }

    fn colour(&self) -> String {
        if self.is_paper { GREY.to_string() } else { hex(colour(self.place)) }
    }
}

/// The paper's numbers.
const GREY: &str = "#6E6E6E";
/// One more than there are colours, so that no two of thirty series are alike.
const DASHES: [&str; 6] = ["", "5 2", "1.3 1.7", "6 1.8 1.3 1.8", "9 2.5", "3 1.3 3 4"];
const SYMBOLS: usize = 6;
const HATCHINGS: [&str; 6] = [
    "",
    "M-1 1L1-1M0 4L4 0M3 5L5 3",
    "M-1 3L1 5M0 0L4 4M3-1L5 1",
    "M0 2H4",
    "M2 0V4",
    "M0 2H4M2 0V4",
];
