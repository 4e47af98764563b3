//! A network that moves: what its wires and queues did, over and over, without a script.
//!
//! The animation is that of SVG itself, so the file plays wherever pictures are shown, and stands
//! still with its last state where they are not animated.

use std::collections::BTreeMap;

use super::layout::Layout;
use super::line::Track;
use super::{Drawing, NAME, Network, symbol};
use crate::colour::{ALARM, BLACK, GREY, GRID, OUTLINE, PALETTE, WHITE};
use crate::svg::{Anchor, Point, Size, Style, Svg, Words, element, empty, number};

/// What happened in a network, as states at instants in equal steps.
#[derive(Clone, Debug)]
pub struct Film {
    /// The number of instants.
    pub frames: usize,
    /// How long it plays until it begins anew, in seconds.
    pub seconds: f64,
    /// Both directions of every link.
    pub wires: Vec<Wire>,
    /// What is written below the network, each from its instant on until the next one.
    pub captions: Vec<Caption>,
}

/// One direction of a link, with the queue behind its far end.
#[derive(Clone, Debug)]
pub struct Wire {
    /// The node that sends on it.
    pub from: usize,
    /// The node that receives from it.
    pub to: usize,
    /// What it does at each instant.
    pub states: Vec<Motion>,
    /// How full the queue behind it is at each instant, from 0 to 1.
    pub fill: Vec<f64>,
}

/// What a wire does at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// Nothing is sent, and nobody keeps it from being sent.
    Idle,
    /// Something is sent, and nobody slows it down.
    Moving,
    /// The far end has slowed the sender down.
    Slowed,
    /// The far end has stopped the sender.
    Stopped,
    /// The sender can never send again.
    Deadlocked,
}

/// A line of text from an instant on.
#[derive(Clone, Debug)]
pub struct Caption {
    /// The instant at which it appears.
    pub frame: usize,
    /// The words that are shown.
    pub text: String,
    /// Whether it says that something is wrong.
    pub is_alarm: bool,
}

impl Motion {
    fn colour(self) -> &'static str {
        match self {
            Motion::Idle => GRID,
            Motion::Moving => PALETTE[0],
            Motion::Slowed => PALETTE[1],
            Motion::Stopped | Motion::Deadlocked => ALARM,
        }
    }

    fn width(self) -> &'static str {
        match self {
            Motion::Idle => "2",
            Motion::Moving | Motion::Slowed => "4",
            Motion::Stopped => "4",
            Motion::Deadlocked => "7",
        }
    }

    fn is_moving(self) -> bool {
        matches!(self, Motion::Moving | Motion::Slowed)
    }
}

/// Draws the network with its film: wires, queues, boxes, the captions and how far it has played.
pub fn draw(network: &Network, film: &Film) -> Drawing {
    let layout = Layout::new(network);
    let mut svg = Svg::default();
    let tracks = film.wires.iter().filter_map(|wire| {
        let track = layout.track([wire.from, wire.to], WIRE_OFFSET)?;
        Some((wire, track))
    });
    let tracks: Vec<(&Wire, Track)> = tracks.collect();
    for (wire, track) in &tracks {
        draw_wire(&mut svg, film, wire, track);
    }
    for (node, place) in network.nodes.iter().zip(&layout.places) {
        if let Some(place) = place {
            symbol(&mut svg, network, node, place);
        }
    }
    for (wire, track) in &tracks {
        draw_queue(&mut svg, film, wire, track.at(track.before_end(9.0)));
    }
    let foot = draw_foot(&mut svg, film, layout.size);
    Drawing { svg, size: Size::new(layout.size.width, foot) }
}

/// The line in the colour of what it does, and gaps that travel along it while something is sent.
fn draw_wire(svg: &mut Svg, film: &Film, wire: &Wire, track: &Track) {
    let Some(last) = wire.states.last() else { return };
    let data = track.data('M');
    let colours = film.steps("stroke", wire.states.iter().map(|state| state.colour()));
    let widths = film.steps("stroke-width", wire.states.iter().map(|state| state.width()));
    let style = Style::new().set("d", &data).fill("none").set("stroke", last.colour());
    let style = style.set("stroke-width", last.width());
    svg.add(&element("path", &style, &(colours + &widths)));
    if !wire.states.iter().any(|state| state.is_moving()) {
        return;
    }
    let shown = |state: &Motion| if state.is_moving() { "1" } else { "0" };
    let travel = Style::new()
        .set("attributeName", "stroke-dashoffset")
        .set("values", "12;0")
        .set("dur", "0.6s")
        .set("repeatCount", "indefinite");
    let inside = film.steps("opacity", wire.states.iter().map(shown)) + &empty("animate", &travel);
    let style = Style::new().set("d", &data).fill("none").stroke(WHITE, 2.0).dashes("4 8");
    svg.add(&element("path", &style.set("opacity", shown(last)), &inside));
}

/// A ring that fills up from the inside.
fn draw_queue(svg: &mut Svg, film: &Film, wire: &Wire, at: Point) {
    let Some(last) = wire.fill.last() else { return };
    svg.circle(at, QUEUE_RADIUS, &Style::new().fill(WHITE).stroke(OUTLINE, 1.2));
    // The area of the disc is what it shows.
    let radius = |fill: &f64| number((QUEUE_RADIUS - 1.0) * fill.clamp(0.0, 1.0).sqrt());
    let radii = Vec::from_iter(wire.fill.iter().map(radius));
    let place = Style::new().number("cx", at.x).number("cy", at.y).set("r", &radius(last));
    let steps = film.steps("r", radii.iter().map(String::as_str));
    svg.add(&element("circle", &place.fill(BLACK), &steps));
}

/// The captions and a bar that grows; the height of everything.
fn draw_foot(svg: &mut Svg, film: &Film, size: Size) -> f64 {
    let (left, right) = (BAR_MARGIN, size.width - BAR_MARGIN);
    let (words, bar) = (size.height + 12.0, size.height + 26.0);
    for (position, caption) in film.captions.iter().enumerate() {
        let next = film.captions.get(position + 1);
        let until = next.map_or(film.frames, |next| next.frame);
        let shown = |frame| if (caption.frame..until).contains(&frame) { "1" } else { "0" };
        let ink = if caption.is_alarm { ALARM } else { GREY };
        let mut text = Svg::default();
        let style = Style::new().fill(ink).set("font-weight", "bold");
        let middle = Point::new(size.width / 2.0, words);
        let caption = Words::new(&caption.text, middle, Anchor::Middle);
        text.words(&Words { size: NAME, room: right - left, style, ..caption });
        let still = Style::new().set("opacity", if next.is_none() { "1" } else { "0" });
        let steps = film.steps("opacity", (0..film.frames).map(shown));
        svg.add_group(&still, &steps, &text);
    }
    let ground = Style::new().fill(GRID);
    svg.rectangle(Point::new(left, bar), Point::new(right, bar + 4.0), &ground);
    for caption in film.captions.iter().filter(|caption| caption.is_alarm) {
        let share = caption.frame as f64 / film.frames.max(1) as f64;
        let at = Point::new(left + (right - left) * share, bar - 3.0);
        svg.rectangle(at, at.moved(2.0, 10.0), &Style::new().fill(ALARM));
    }
    let grow = Style::new()
        .set("attributeName", "width")
        .set("from", "0")
        .number("to", right - left)
        .set("dur", &format!("{}s", number(film.seconds)))
        .set("repeatCount", "indefinite");
    let bar_style = Style::new().number("x", left).number("y", bar).number("height", 4.0);
    let bar_style = bar_style.number("width", right - left).fill(OUTLINE);
    svg.add(&element("rect", &bar_style, &empty("animate", &grow)));
    bar + 18.0
}

impl Film {
    /// An attribute that takes these values one after the other. Only changes are written.
    fn steps<'v>(&self, attribute: &str, values: impl Iterator<Item = &'v str>) -> String {
        let mut changes: BTreeMap<usize, &str> = BTreeMap::new();
        let mut before = None;
        for (frame, value) in values.enumerate() {
            if before != Some(value) {
                changes.insert(frame, value);
            }
            before = Some(value);
        }
        if changes.len() < 2 {
            return String::new();
        }
        let time = |frame: &usize| format!("{:.4}", *frame as f64 / self.frames as f64);
        let times = Vec::from_iter(changes.keys().map(time)).join(";");
        let values = Vec::from_iter(changes.values().copied()).join(";");
        let style = Style::new()
            .set("attributeName", attribute)
            .set("calcMode", "discrete")
            .set("dur", &format!("{}s", number(self.seconds)))
            .set("repeatCount", "indefinite")
            .set("keyTimes", &times)
            .set("values", &values);
        empty("animate", &style)
    }
}

/// The two directions of a link stand beside each other.
const WIRE_OFFSET: f64 = 7.0;
const QUEUE_RADIUS: f64 = 7.0;
const BAR_MARGIN: f64 = 30.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Node, Role, Sizes};

    fn film(states: &[Motion]) -> String {
        let node = |name: &str| Node {
            name: name.to_string(),
            tooltip: String::new(),
            role: Role::Passed,
            layer: None,
            home: None,
            notes: Vec::new(),
        };
        let nodes = vec![node("A"), node("B")];
        let network = Network {
            sizes: Sizes::small(&nodes),
            nodes,
            links: vec![[0, 1]],
            ring: Vec::new(),
            arrows: Vec::new(),
            routes: Vec::new(),
        };
        let fill = states.iter().enumerate().map(|(frame, _)| frame as f64 / 4.0).collect();
        let wire = Wire { from: 0, to: 1, states: states.to_vec(), fill };
        let caption =
            |frame, text: &str, is_alarm| Caption { frame, text: text.to_string(), is_alarm };
        let captions = vec![caption(0, "<flows>", false), caption(2, "deadlock", true)];
        let film = Film { frames: states.len(), seconds: 8.0, wires: vec![wire], captions };
        let mut sheet = Svg::default();
        sheet.add_below(&draw(&network, &film).svg, 0.0);
        format!("{sheet:?}")
    }

    #[test]
    fn changes_are_written_and_what_stays_is_not() {
        use Motion::{Deadlocked, Moving};
        let drawn = film(&[Moving, Moving, Deadlocked, Deadlocked]).replace('\\', "");
        let colours = format!("keyTimes=\"0.0000;0.5000\" values=\"{};{ALARM}\"", PALETTE[0]);
        assert!(drawn.contains(&colours), "{drawn}");
        // Where it stands still the last state is seen.
        assert!(drawn.contains(&format!("stroke=\"{ALARM}\" stroke-width=\"7\"")), "{drawn}");
        assert!(drawn.contains("&lt;flows&gt;"), "{drawn}");
        let still = film(&[Moving; 4]).replace('\\', "");
        assert!(!still.contains("attributeName=\"stroke\""), "{still}");
    }
}
