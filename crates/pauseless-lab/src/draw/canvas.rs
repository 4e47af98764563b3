//! SVG as text, in points.

use std::fmt::Write;

use super::words::width;
use crate::report::html::escape;

/// A place, from the left and from the top.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub x: f64,
    pub y: f64,
}

impl Point {
    pub fn new(x: f64, y: f64) -> Point {
        Point { x, y }
    }
}

/// Where words stand relative to their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Words on a figure.
#[derive(Clone, Debug)]
pub(super) struct Words<'a> {
    pub text: &'a str,
    pub at: Point,
    pub anchor: Anchor,
    /// Turned clockwise, in degrees.
    pub turn: f64,
    /// More attributes, such as a colour.
    pub style: &'a str,
}

impl<'a> Words<'a> {
    /// Level words in black.
    pub fn new(text: &'a str, at: Point, anchor: Anchor) -> Words<'a> {
        Words { text, at, anchor, turn: 0.0, style: "" }
    }
}

/// What has been drawn.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    pub text: String,
}

impl Canvas {
    /// A number of points, to a tenth.
    pub(super) fn number(value: f64) -> String {
        let text = format!("{value:.1}");
        let text = text.strip_suffix(".0").unwrap_or(&text);
        match text {
            "-0" => "0".to_string(),
            text => text.to_string(),
        }
    }

    /// Words at their place.
    pub(super) fn words(&mut self, words: &Words<'_>) {
        let (x, y) = (Canvas::number(words.at.x), Canvas::number(words.at.y));
        let _ = match words.turn {
            0.0 => write!(self.text, "<text x=\"{x}\" y=\"{y}\""),
            turn => write!(self.text, "<text transform=\"translate({x} {y}) rotate({turn})\""),
        };
        let anchor = match words.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let space = if words.style.is_empty() { "" } else { " " };
        let _ = writeln!(self.text, "{anchor}{space}{}>{}</text>", words.style, escape(words.text));
    }

    /// A path with its attributes.
    pub(super) fn path(&mut self, path: &str, style: &str) {
        if !path.is_empty() {
            let _ = writeln!(self.text, "<path d=\"{path}\" {style}/>");
        }
    }

    /// A straight line, as a part of a path.
    pub(super) fn segment(from: Point, to: Point) -> String {
        let [a, b, c, d] = [from.x, from.y, to.x, to.y].map(Canvas::number);
        format!("M{a} {b}L{c} {d}")
    }

    /// A rectangle between two corners.
    pub(super) fn rectangle(&mut self, (from, to): (Point, Point), style: &str) {
        let (left, top) = (from.x.min(to.x), from.y.min(to.y));
        let (across, down) = ((to.x - from.x).abs(), (to.y - from.y).abs());
        let [x, y, w, h] = [left, top, across, down].map(Canvas::number);
        let _ =
            writeln!(self.text, "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" {style}/>");
    }
}

/// A path from point to point, each told from the one before to save room.
pub(super) fn polyline(points: &[Point]) -> String {
    let mut path = String::new();
    // The tenths that have been written, so that rounding does not add up.
    let mut pen = (0i64, 0i64);
    let tenths = |value: f64| (value * 10.0).round() as i64;
    let write = |tenths: i64| Canvas::number(tenths as f64 / 10.0);
    for (index, point) in points.iter().enumerate() {
        let (x, y) = (tenths(point.x), tenths(point.y));
        let (across, down) = (x - pen.0, y - pen.1);
        let step = match (index, across, down) {
            (0, _, _) => format!("M{} {}", write(x), write(y)),
            (_, 0, 0) => continue,
            (_, _, 0) => format!("h{}", write(across)),
            (_, 0, _) => format!("v{}", write(down)),
            (_, _, down) => {
                let space = if down < 0 { "" } else { " " };
                format!("l{}{space}{}", write(across), write(down))
            }
        };
        path.push_str(&step);
        pen = (x, y);
    }
    path
}

/// The least width that holds `text` at the size of ordinary words.
pub(super) fn measure(text: &str) -> f64 {
    width(text, FONT)
}

/// The size of words, in points: what papers print at the least.
pub(super) const FONT: f64 = 8.0;
