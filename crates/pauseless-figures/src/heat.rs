//! Coloured cells, and the bar that says what their colours mean.

use super::axis::{Extent, Ruler};
use super::colour::{BLACK, WHITE, heat as colour};
use super::figure::{Figure, Heat, Scale};
use super::look::{HATCHINGS, pattern};
use super::plot::{LINE, Plot};
use super::svg::{
    Anchor, FONT, Point, Size, Style, Svg, Words, element, empty, measure, number, segment,
};
use pauseless_text::quantity::short;

/// The scale of the colours of a figure, the same in all of its panels.
pub(super) fn ruler(figure: &Figure) -> Option<Ruler> {
    let mut heats = heats(figure).peekable();
    heats.peek()?;
    let values = heats.flat_map(|heat| heat.cells.iter().flatten().copied());
    Some(Ruler::whole(Extent::of(values, &Scale::Linear), 5))
}

fn heats(figure: &Figure) -> impl Iterator<Item = &Heat> {
    figure.panels.iter().filter_map(|panel| panel.heat.as_ref())
}

/// Draws the cells of a panel.
pub(super) fn cells(svg: &mut Svg, plot: &Plot<'_>, heat: &Heat, ruler: &Ruler) {
    let across = plot.x.count();
    let size = Size::new(plot.width / across as f64, plot.height / plot.y.count() as f64);
    let words = heat.cells.iter().flatten().map(|value| measure(&short(*value)));
    let is_written = words.fold(0.0, f64::max) <= size.width - 2.0 && size.height >= FONT + 1.0;
    for (index, cell) in heat.cells.iter().enumerate() {
        let (column, row) = ((index % across) as f64, (index / across) as f64);
        let from = plot.at.moved(size.width * column, plot.height - size.height * (row + 1.0));
        let to = from.moved(size.width, size.height);
        let Some(value) = cell else {
            svg.rectangle(from, to, &Style::new().fill("url(#missing)"));
            continue;
        };
        let share = ruler.share(*value).unwrap_or(0.0);
        let colour = colour(share);
        // The stroke closes the seams between cells.
        svg.rectangle(from, to, &Style::new().fill(&colour).stroke(&colour, 0.3));
        if is_written {
            let at = Point::new((from.x + to.x) / 2.0, (from.y + to.y) / 2.0 + FONT * 0.36);
            let style = if share > 0.6 { Style::new().fill(WHITE) } else { Style::new() };
            svg.words(&Words { style, ..Words::new(&short(*value), at, Anchor::Middle) });
        }
    }
}

/// Defines the colours of the bar and the hatching of cells without a value.
pub(super) fn define(definitions: &mut Svg) {
    let stops = (0..=STEPS).map(|step| {
        let share = f64::from(step) / f64::from(STEPS);
        let offset = format!("{}%", number(share * 100.0));
        empty("stop", &Style::new().set("offset", &offset).set("stop-color", &colour(share)))
    });
    let gradient = Style::new().set("id", "heat");
    definitions.add(&element("linearGradient", &gradient, &String::from_iter(stops)));
    let ground = Style::new().number("width", 4.0).number("height", 4.0).fill("#EEE");
    let lines = Style::new().set("d", HATCHINGS[1]).stroke("#999", 0.6).fill("none");
    let inside = empty("rect", &ground) + &empty("path", &lines);
    definitions.add(&element("pattern", &pattern("missing"), &inside));
}

/// Draws the bar of colours, from the top and with the width of `corner`; returns its lower end.
pub(super) fn legend(svg: &mut Svg, figure: &Figure, ruler: &Ruler, corner: Point) -> f64 {
    let name = heats(figure).next().map_or("", |heat| &heat.label);
    let has_gaps = heats(figure).flat_map(|heat| &heat.cells).any(Option::is_none);
    let missing = "no runs";
    let extra = if has_gaps { GAP * 2.0 + SWATCH + 4.0 + measure(missing) } else { 0.0 };
    let label = measure(name);
    let left = ((corner.x - label - GAP - BAR.width - extra) / 2.0).max(2.0);
    let line = corner.y + BAR.height * 0.5 + FONT * 0.36;
    svg.words(&Words::new(name, Point::new(left, line), Anchor::Start));
    let from = Point::new(left + label + GAP, corner.y);
    let to = from.moved(BAR.width, BAR.height);
    svg.rectangle(from, to, &Style::new().fill("url(#heat)").stroke(BLACK, 0.5));
    for (value, text) in ruler.labels() {
        let at = Point::new(from.x + BAR.width * ruler.share(value).unwrap_or(0.0), to.y);
        svg.path(&segment(at, at.moved(0.0, 2.5)), &Style::new().stroke(BLACK, 0.5));
        svg.words(&Words::new(text, at.moved(0.0, 3.0 + FONT), Anchor::Middle));
    }
    if has_gaps {
        let from = Point::new(to.x + GAP * 2.0, corner.y);
        let end = Point::new(from.x + SWATCH, to.y);
        svg.rectangle(from, end, &Style::new().fill("url(#missing)").stroke(BLACK, 0.5));
        svg.words(&Words::new(missing, Point::new(end.x + 4.0, line), Anchor::Start));
    }
    to.y + 5.0 + LINE
}

/// The size of the bar of colours.
const BAR: Size = Size::new(120.0, 8.0);
const SWATCH: f64 = 12.0;
const GAP: f64 = 8.0;
const STEPS: u8 = 16;
