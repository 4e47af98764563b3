//! Coloured cells, and the bar that says what their colours mean.

use std::fmt::Write;

use super::canvas::{Anchor, Canvas, FONT, Point, Words, measure};
use super::panel::LINE;
use super::plot::Plot;
use super::ruler::{Extent, Ruler};
use super::words::short;
use crate::draw::figure::{Figure, Heat, Scale};

/// What the colours of a figure mean, the same in all of its panels.
pub(super) fn ruler(figure: &Figure) -> Option<(&Heat, Ruler)> {
    let heats = || figure.panels.iter().filter_map(|panel| panel.heat.as_ref());
    let values = heats().flat_map(|heat| heat.cells.iter().flatten().copied());
    let extent = Extent::of(values, &Scale::Linear);
    Some((heats().next()?, Ruler::whole((extent, 5))))
}

/// Draws the cells of a panel.
pub(super) fn cells(canvas: &mut Canvas, plot: &Plot<'_>, (heat, ruler): (&Heat, &Ruler)) {
    let across = plot.x.count();
    let size = Point::new(plot.width / across as f64, plot.height / plot.y.count() as f64);
    let words = heat.cells.iter();
    let words = words.flatten().map(|value| measure(&short(*value)));
    let is_written = words.fold(0.0, f64::max) <= size.x - 2.0 && size.y >= FONT + 1.0;
    for (index, cell) in heat.cells.iter().enumerate() {
        let (column, row) = ((index % across) as f64, (index / across) as f64);
        let from =
            Point::new(plot.at.x + size.x * column, plot.at.y + plot.height - size.y * (row + 1.0));
        let to = Point::new(from.x + size.x, from.y + size.y);
        let Some(value) = cell else {
            canvas.rectangle((from, to), "fill=\"url(#missing)\"");
            continue;
        };
        let share = ruler.share(*value).unwrap_or(0.0);
        let colour = colour(share);
        // The stroke closes the seams between cells.
        let style = format!("fill=\"{colour}\" stroke=\"{colour}\" stroke-width=\"0.3\"");
        canvas.rectangle((from, to), &style);
        if is_written {
            let at = Point::new((from.x + to.x) / 2.0, (from.y + to.y) / 2.0 + FONT * 0.36);
            let text = short(*value);
            let mut words = Words::new(&text, at, Anchor::Middle);
            words.style = if share > 0.6 { "fill=\"#FFF\"" } else { "" };
            canvas.words(&words);
        }
    }
}

/// What the figure's colours and its hatching need to have been told before.
pub(super) fn definitions() -> String {
    let mut text = "<linearGradient id=\"heat\">".to_string();
    for step in 0..=STEPS {
        let share = f64::from(step) / f64::from(STEPS);
        let offset = Canvas::number(share * 100.0);
        let _ = write!(text, "<stop offset=\"{offset}%\" stop-color=\"{}\"/>", colour(share));
    }
    text.push_str(
        "</linearGradient>\n<pattern id=\"missing\" width=\"4\" height=\"4\" \
         patternUnits=\"userSpaceOnUse\"><rect width=\"4\" height=\"4\" fill=\"#EEE\"/>\
         <path d=\"M-1 1L1-1M0 4L4 0M3 5L5 3\" stroke=\"#999\" stroke-width=\"0.6\" \
         fill=\"none\"/></pattern>\n",
    );
    text
}

/// The bar of colours below the panels; its lower end.
pub(super) fn legend(canvas: &mut Canvas, figure: &Figure, (width, top): (f64, f64)) -> f64 {
    let Some((heat, ruler)) = ruler(figure) else {
        return top;
    };
    let heats = figure.panels.iter().filter_map(|panel| panel.heat.as_ref());
    let has_gaps = heats.flat_map(|heat| &heat.cells).any(Option::is_none);
    let missing = "no runs";
    let extra = if has_gaps { GAP * 2.0 + SWATCH + 4.0 + measure(missing) } else { 0.0 };
    let label = measure(&heat.label);
    let left = ((width - label - GAP - BAR.0 - extra) / 2.0).max(2.0);
    let line = top + BAR.1 * 0.5 + FONT * 0.36;
    let at = Point { x: left, y: line };
    canvas.words(&Words::new(&heat.label, at, Anchor::Start));
    let from = Point::new(left + label + GAP, top);
    let to = Point::new(from.x + BAR.0, top + BAR.1);
    let frame = "stroke=\"#000\" stroke-width=\"0.5\"";
    canvas.rectangle((from, to), &format!("fill=\"url(#heat)\" {frame}"));
    for (value, text) in ruler.labels() {
        let x = from.x + BAR.0 * ruler.share(value).unwrap_or(0.0);
        let ends = [to.y, to.y + 2.5].map(|y| Point { x, y });
        canvas.path(&Canvas::segment(ends[0], ends[1]), frame);
        let at = Point::new(x, to.y + 3.0 + FONT);
        canvas.words(&Words::new(text, at, Anchor::Middle));
    }
    if has_gaps {
        let from = Point::new(to.x + GAP * 2.0, top);
        let corner = Point::new(from.x + SWATCH, to.y);
        canvas.rectangle((from, corner), &format!("fill=\"url(#missing)\" {frame}"));
        let at = Point::new(corner.x + 4.0, line);
        canvas.words(&Words::new(missing, at, Anchor::Start));
    }
    to.y + 5.0 + LINE
}

/// The colour of a share: from pale yellow over green-blue to dark blue. Lightness falls evenly,
/// so that equal steps look equal, in grey too, and no two are told apart by red and green alone.
fn colour(share: f64) -> String {
    let share = share.clamp(0.0, 1.0);
    let lightness = 0.97 - 0.67 * share;
    // The path through the plane of hues, in Oklab.
    let hues = [(-0.015, 0.07), (-0.09, 0.03), (-0.075, -0.06), (-0.03, -0.12), (0.0, -0.11)];
    let place = share * (hues.len() - 1) as f64;
    let first = (place as usize).min(hues.len() - 2);
    let part = place - first as f64;
    let between = |a: f64, b: f64| a + (b - a) * part;
    let (a, b) = (hues[first], hues[first + 1]);
    oklab((lightness, between(a.0, b.0), between(a.1, b.1)))
}

/// A colour of Oklab (Ottosson 2020) as a screen shows it.
fn oklab((lightness, a, b): (f64, f64, f64)) -> String {
    let cube = |value: f64| value * value * value;
    let l = cube(lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b);
    let m = cube(lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b);
    let s = cube(lightness - 0.089_484_177_5 * a - 1.291_485_548 * b);
    let linear = [
        4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
        -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
        -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701 * s,
    ];
    let [red, green, blue] = linear.map(|value| {
        let value = value.clamp(0.0, 1.0);
        let shown = if value <= 0.003_130_8 {
            value * 12.92
        } else {
            1.055 * value.powf(1.0 / 2.4) - 0.055
        };
        (shown * 255.0).round() as u8
    });
    crate::report::chart::hex((red, green, blue))
}

/// The size of the bar of colours.
const BAR: (f64, f64) = (120.0, 8.0);
const SWATCH: f64 = 12.0;
const GAP: f64 = 8.0;
const STEPS: u8 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_become_darker_step_by_step() {
        let channel =
            |colour: &str, at: usize| u8::from_str_radix(&colour[at..at + 2], 16).unwrap();
        let grey = |share: f64| {
            let colour = colour(share);
            let [red, green, blue] = [1, 3, 5].map(|at| f64::from(channel(&colour, at)));
            0.2126 * red + 0.7152 * green + 0.0722 * blue
        };
        let greys: Vec<f64> = (0..=20).map(|step| grey(f64::from(step) / 20.0)).collect();
        assert!(greys[0] > 235.0 && greys[20] < 60.0, "{greys:?}");
        for pair in greys.windows(2) {
            let step = pair[0] - pair[1];
            assert!((4.0..18.0).contains(&step), "{greys:?}");
        }
    }
}
