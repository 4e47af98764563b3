//! The one place that writes SVG: elements with attributes, text escaped once, numbers to a tenth.

use super::words::{shorten, width};

/// A place on a drawing, from the left and from the top.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// The distance from the left edge.
    pub x: f64,
    /// The distance from the upper edge.
    pub y: f64,
}

impl Point {
    /// The place at these distances.
    pub fn new(x: f64, y: f64) -> Point {
        Point { x, y }
    }

    /// The place so far to the right of this one and below it.
    pub fn moved(self, right: f64, down: f64) -> Point {
        Point::new(self.x + right, self.y + down)
    }
}

/// The width and the height of a box.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Size {
    /// The extent from left to right.
    pub width: f64,
    /// The extent from top to bottom.
    pub height: f64,
}

impl Size {
    /// A size of this width and height.
    pub const fn new(width: f64, height: f64) -> Size {
        Size { width, height }
    }
}

/// Which part of a text stands at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins at its place.
    Start,
    /// The middle of the text is at its place.
    Middle,
    /// The text ends at its place.
    End,
}

/// The attributes of an element, escaped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Style {
    attributes: String,
}

impl Style {
    /// A style without attributes.
    pub fn new() -> Style {
        Style::default()
    }

    /// Adds the colour of the inside.
    pub fn fill(self, colour: &str) -> Style {
        self.set("fill", colour)
    }

    /// Adds the colour and the width of the outline.
    pub fn stroke(self, colour: &str, width: f64) -> Style {
        self.set("stroke", colour).number("stroke-width", width)
    }

    /// Adds lengths of dashes and gaps; an empty text leaves the line whole.
    pub fn dashes(self, lengths: &str) -> Style {
        if lengths.is_empty() { self } else { self.set("stroke-dasharray", lengths) }
    }

    /// Adds an attribute with a text.
    pub fn set(mut self, name: &str, value: &str) -> Style {
        let space = if self.attributes.is_empty() { "" } else { " " };
        self.attributes.push_str(&format!("{space}{name}=\"{}\"", escape(value)));
        self
    }

    /// Adds an attribute with a number.
    pub fn number(self, name: &str, value: f64) -> Style {
        self.set(name, &number(value))
    }

    /// The attributes of this style and then those of another one.
    fn and(mut self, other: &Style) -> Style {
        let is_joined = !self.attributes.is_empty() && !other.attributes.is_empty();
        self.attributes.push_str(if is_joined { " " } else { "" });
        self.attributes.push_str(&other.attributes);
        self
    }
}

/// A text on a drawing.
#[derive(Clone, Debug)]
pub struct Words<'a> {
    /// The text, which is escaped when it is written.
    pub text: &'a str,
    /// The foot of its first, middle or last letter, as `anchor` says.
    pub at: Point,
    /// Which part of it stands at its place.
    pub anchor: Anchor,
    /// The angle by which it is turned clockwise, in degrees.
    pub turn: f64,
    /// The height of its letters.
    pub size: f64,
    /// The room that it may take: what is longer is shortened, with a tooltip that has all of it.
    pub room: f64,
    /// More attributes, such as a colour.
    pub style: Style,
}

impl<'a> Words<'a> {
    /// A level text of the ordinary size, in black.
    pub fn new(text: &'a str, at: Point, anchor: Anchor) -> Words<'a> {
        let (turn, size, room) = (0.0, FONT, f64::INFINITY);
        Words { text, at, anchor, turn, size, room, style: Style::new() }
    }

    fn element(&self) -> String {
        let [x, y] = [self.at.x, self.at.y].map(number);
        let mut style = if self.turn == 0.0 {
            Style::new().set("x", &x).set("y", &y)
        } else {
            Style::new().set("transform", &format!("translate({x} {y}) rotate({})", self.turn))
        };
        if self.size != FONT {
            style = style.number("font-size", self.size);
        }
        style = match self.anchor {
            Anchor::Start => style,
            Anchor::Middle => style.set("text-anchor", "middle"),
            Anchor::End => style.set("text-anchor", "end"),
        };
        let letters = self.text.chars().count();
        let fits = |most: &usize| width(&shorten(self.text, *most), self.size) <= self.room;
        let most = (2..=letters).rev().find(fits).unwrap_or(2);
        let mut inside = escape(&shorten(self.text, most));
        if most < letters {
            inside.push_str(&element("title", &Style::new(), &escape(self.text)));
        }
        element("text", &style.and(&self.style), &inside)
    }
}

/// The elements of a drawing, the later ones on top.
#[derive(Clone, Debug, Default)]
pub struct Svg {
    text: String,
}

impl Svg {
    /// Adds an element, which is markup.
    pub fn add(&mut self, element: &str) {
        self.text.push_str(element);
        self.text.push('\n');
    }

    /// Adds all elements of another drawing, moved down by so much.
    pub fn add_below(&mut self, other: &Svg, down: f64) {
        let style = Style::new().set("transform", &format!("translate(0 {})", number(down)));
        self.add(&element("g", &style, &format!("\n{}", other.text)));
    }

    /// Adds all elements of another drawing, with a text that is shown to whoever points at them.
    pub fn add_with_tooltip(&mut self, other: &Svg, tooltip: &str) {
        let title = element("title", &Style::new(), &escape(tooltip));
        self.add(&element("g", &Style::new(), &(title + &other.text)));
    }

    /// Adds all elements of another drawing as a group, with `inside` before them, which is markup.
    pub fn add_group(&mut self, style: &Style, inside: &str, other: &Svg) {
        self.add(&element("g", style, &format!("{inside}\n{}", other.text)));
    }

    /// Adds a text at its place.
    pub fn words(&mut self, words: &Words<'_>) {
        self.add(&words.element());
    }

    /// Adds a path, unless it is empty.
    pub fn path(&mut self, data: &str, style: &Style) {
        if !data.is_empty() {
            self.add(&empty("path", &Style::new().set("d", data).and(style)));
        }
    }

    /// Adds a rectangle between two opposite corners.
    pub fn rectangle(&mut self, from: Point, to: Point, style: &Style) {
        let place = Style::new()
            .number("x", from.x.min(to.x))
            .number("y", from.y.min(to.y))
            .number("width", (to.x - from.x).abs())
            .number("height", (to.y - from.y).abs());
        self.add(&empty("rect", &place.and(style)));
    }

    /// Adds a circle around a place.
    pub fn circle(&mut self, at: Point, radius: f64, style: &Style) {
        let place = Style::new().number("cx", at.x).number("cy", at.y).number("r", radius);
        self.add(&empty("circle", &place.and(style)));
    }
}

/// A whole drawing: what stands around its elements.
#[derive(Clone, Debug)]
pub struct Sheet<'a> {
    /// The extent of the drawing, in `unit`.
    pub size: Size,
    /// The unit of lengths: `pt` or `px`.
    pub unit: &'a str,
    /// The name of the drawing.
    pub title: &'a str,
    /// What there is to see, for those who cannot see it.
    pub description: &'a str,
    /// Patterns, gradients and markers that elements refer to.
    pub definitions: Svg,
    /// Whether it is a document of its own or a part of a page.
    pub ground: Ground,
}

/// What a drawing stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// White paper, so that it can be read in a dark window and in print.
    Paper,
    /// The page around it, whose style sheet replaces colours and decides the width.
    Page,
}

impl Sheet<'_> {
    /// The element with `body` in it.
    pub fn document(&self, body: &Svg) -> String {
        let [width, height] = [self.size.width, self.size.height.ceil()].map(number);
        let (unit, title, description) = (self.unit, escape(self.title), escape(self.description));
        let mut text = "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" ".to_string();
        match self.ground {
            Ground::Paper => {
                text += &format!("width=\"{width}{unit}\" height=\"{height}{unit}\" ");
            }
            Ground::Page => text += &format!("aria-label=\"{title}\" "),
        }
        text += &format!(
            "viewBox=\"0 0 {width} {height}\" font-size=\"{FONT}\" \
             font-family=\"'DejaVu Sans Condensed', Helvetica, Arial, sans-serif\" \
             font-stretch=\"condensed\">\n"
        );
        if self.ground == Ground::Paper {
            text += &format!("<title>{title}</title>\n");
        }
        if !description.is_empty() {
            text += &format!("<desc>{description}</desc>\n");
        }
        if self.ground == Ground::Paper {
            text += "<rect width=\"100%\" height=\"100%\" fill=\"#FFF\"/>\n";
        }
        if !self.definitions.text.is_empty() {
            text += &format!("<defs>\n{}</defs>\n", self.definitions.text);
        }
        text + &body.text + "</svg>\n"
    }
}

/// One element with something inside, which is markup.
pub fn element(name: &str, style: &Style, inside: &str) -> String {
    let space = if style.attributes.is_empty() { "" } else { " " };
    format!("<{name}{space}{}>{inside}</{name}>", style.attributes)
}

/// One element with nothing inside.
pub fn empty(name: &str, style: &Style) -> String {
    format!("<{name} {}/>", style.attributes)
}

/// `text` with everything that XML and HTML give a meaning to written as a reference, and a mark
/// in place of characters that XML forbids.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' | '\r' => escaped.push(char),
            '\0'..' ' | '\u{7f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

/// A length to a tenth, without digits that say nothing.
pub fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0").unwrap_or(&text) {
        "-0" => "0".to_string(),
        text => text.to_string(),
    }
}

/// A straight line, as a part of a path.
pub fn segment(from: Point, to: Point) -> String {
    let [a, b, c, d] = [from.x, from.y, to.x, to.y].map(number);
    format!("M{a} {b}L{c} {d}")
}

/// A path from point to point. Each is written relative to the one before, which is shorter.
pub fn polyline(points: impl IntoIterator<Item = Point>) -> String {
    let mut path = String::new();
    // The place that has been written, in tenths, so that rounding does not add up.
    let mut pen = [0i64, 0];
    let tenths = |value: f64| (value * 10.0).round() as i64;
    let write = |tenths: i64| number(tenths as f64 / 10.0);
    for point in points {
        let at = [tenths(point.x), tenths(point.y)];
        let (across, down) = (at[0] - pen[0], at[1] - pen[1]);
        let step = match (across, down) {
            _ if path.is_empty() => format!("M{} {}", write(at[0]), write(at[1])),
            (0, 0) => continue,
            (_, 0) => format!("h{}", write(across)),
            (0, _) => format!("v{}", write(down)),
            (_, ..0) => format!("l{}{}", write(across), write(down)),
            _ => format!("l{} {}", write(across), write(down)),
        };
        path.push_str(&step);
        pen = at;
    }
    path
}

/// The least width that holds `text` at the ordinary size.
pub fn measure(text: &str) -> f64 {
    width(text, FONT)
}

/// The ordinary size of text, in points: what papers print at the least.
pub const FONT: f64 = 8.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_never_markup_and_never_what_xml_forbids() {
        let text = "<b onclick='x'>\"&amp;\"</b>";
        let escaped = "&lt;b onclick=&#39;x&#39;&gt;&quot;&amp;amp;&quot;&lt;/b&gt;";
        assert_eq!(escape(text), escaped);
        assert_eq!(escape("a\u{0}<\u{1b}&\n"), "a\u{fffd}&lt;\u{fffd}&amp;\n");
    }

    #[test]
    fn words_without_room_are_shortened_with_a_tooltip() {
        let words = Words::new("B10-P1-IBSPINE-07", Point::default(), Anchor::Start);
        assert!(!words.element().contains("<title>"));
        let element = Words { room: 40.0, ..words }.element();
        assert!(element.contains('…') && element.contains("<title>B10-P1-IBSPINE-07</title>"));
    }
}
