//! Networks: boxes joined by links, the arrows of a cycle, and the routes of flows beside them.

mod circles;
pub mod film;
mod label;
mod layers;
mod layout;
mod line;

use std::collections::BTreeMap;

use self::label::Room;
use self::layout::{Layout, Place};
use self::line::Track;
use super::colour::{ALARM, ALARM_GROUND, GREY, GRID, OUTLINE, PALETTE, WHITE, colour};
use super::svg::{Anchor, Point, Size, Style, Svg, Words, element, empty, segment};
use super::words::width;

/// A network to be drawn. Nodes are known by their positions in the list.
#[derive(Clone, Debug)]
pub struct Network {
    /// The nodes; those of one kind stand in this order.
    pub nodes: Vec<Node>,
    /// The pairs of nodes that are joined, each once.
    pub links: Vec<[usize; 2]>,
    /// The nodes of the cycle in its order, each once.
    pub ring: Vec<usize>,
    /// The arrows of the cycle.
    pub arrows: Vec<Arrow>,
    /// The ways of flows from node to node.
    pub routes: Vec<Vec<[usize; 2]>>,
    /// The lengths of the drawing.
    pub sizes: Sizes,
}

/// A box of a drawing.
#[derive(Clone, Debug)]
pub struct Node {
    /// The name in the box.
    pub name: String,
    /// The text that is shown to whoever points at the box.
    pub tooltip: String,
    /// The part that the node plays.
    pub role: Role,
    /// The row in which it stands, counted from the lowest; `None` where there are no rows.
    pub layer: Option<usize>,
    /// The switch beside which a host stands.
    pub home: Option<usize>,
    /// Texts for a second line, of which the first that fits is written.
    pub notes: Vec<String>,
}

/// The part that a node plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// A switch of the cycle.
    Cycle,
    /// A switch that flows pass on their way.
    Passed,
    /// A switch that has nothing to do with it.
    Idle,
    /// An end of a flow.
    Host,
}

/// An arrow from one node to another.
#[derive(Clone, Debug)]
pub struct Arrow {
    /// The node at which it begins.
    pub from: usize,
    /// The node at which it ends.
    pub to: usize,
    /// The number in a circle near its end; none is drawn if this is empty.
    pub badge: String,
    /// Short lines beside the circle, or else beside the middle of the arrow.
    pub label: Vec<String>,
    /// A short line near its beginning.
    pub start: Option<String>,
}

/// The lengths of a drawing of a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sizes {
    /// The least width of the drawing.
    pub width: f64,
    /// The box of a switch of the cycle.
    pub cycle: Size,
    /// The box of a switch that flows pass.
    pub passed: Size,
    /// The box of any other switch.
    pub idle: Size,
    /// The box of a host.
    pub host: Size,
    /// How far apart boxes stand, as a share of their distance on a sheet.
    pub spread: f64,
    /// The room around everything, for lines and labels that leave the boxes.
    pub margin: f64,
}

impl Sizes {
    /// A sheet of its own, with room for long names.
    pub const SHEET: Sizes = Sizes {
        width: 1000.0,
        cycle: Size::new(124.0, 44.0),
        passed: Size::new(108.0, 40.0),
        idle: Size::new(84.0, 36.0),
        host: Size::new(128.0, 26.0),
        spread: 1.0,
        margin: 30.0,
    };

    /// A small drawing on a page, with boxes as wide as the longest names need.
    pub fn small(nodes: &[Node]) -> Sizes {
        let widest = |is_host: bool| {
            let same = nodes.iter().filter(|node| (node.role == Role::Host) == is_host);
            same.map(|node| width(&node.name, NAME)).fold(0.0, f64::max)
        };
        let switch = Size::new((widest(false) + 20.0).clamp(48.0, 120.0), 30.0);
        Sizes {
            width: 460.0,
            cycle: switch,
            passed: switch,
            idle: switch,
            host: Size::new((widest(true) + 20.0).clamp(36.0, 110.0), 24.0),
            spread: (switch.width / Sizes::SHEET.cycle.width).max(0.45),
            margin: 40.0,
        }
    }

    /// The box of a role where there is room enough.
    fn usual(&self, role: Role) -> Size {
        match role {
            Role::Cycle => self.cycle,
            Role::Passed => self.passed,
            Role::Idle => self.idle,
            Role::Host => self.host,
        }
    }
}

/// The elements of a drawing with their extent.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// The elements, which need the markers that [`define_heads`] defines.
    pub svg: Svg,
    /// The width and the height.
    pub size: Size,
}

/// Draws links, routes, arrows, boxes and labels, the later ones on top.
pub fn draw(network: &Network) -> Drawing {
    let layout = Layout::new(network);
    let mut svg = Svg::default();
    let mut room = Room::new(&layout);
    links(&mut svg, network, &layout);
    routes(&mut svg, network, &layout, &mut room);
    let tracks = network
        .arrows
        .iter()
        .filter_map(|arrow| Some((arrow, layout.track([arrow.from, arrow.to], ARROW_OFFSET)?)));
    let tracks: Vec<(&Arrow, Track)> = tracks.collect();
    for (_, track) in &tracks {
        room.add_line(track);
        let style = Style::new().fill("none").stroke(ALARM, 5.0);
        svg.path(&track.data('M'), &style.set("marker-end", "url(#head0)"));
    }
    for (node, place) in network.nodes.iter().zip(&layout.places) {
        if let Some(place) = place {
            symbol(&mut svg, network, node, place);
        }
    }
    labels(&mut svg, &tracks, &mut room);
    Drawing { svg, size: layout.size }
}

/// Defines the heads of arrows: one in the colour of alarms, one for each colour of routes.
pub fn define_heads(definitions: &mut Svg) {
    for (number, colour) in [ALARM].into_iter().chain(PALETTE).enumerate() {
        // The alarm's arrow is thick and needs a head that is no thicker in proportion.
        let size = if number == 0 { 3.4 } else { 5.0 };
        let style = Style::new()
            .set("id", &format!("head{number}"))
            .set("viewBox", "0 0 10 10")
            .number("refX", 8.0)
            .number("refY", 5.0)
            .number("markerWidth", size)
            .number("markerHeight", size)
            .set("orient", "auto");
        let tip = Style::new().set("d", "M0 0L10 5L0 10z").fill(colour);
        definitions.add(&element("marker", &style, &empty("path", &tip)));
    }
}

fn links(svg: &mut Svg, network: &Network, layout: &Layout) {
    let drawn = network.links.iter().filter_map(|[a, b]| {
        let (from, to) = (layout.places[*a]?.at, layout.places[*b]?.at);
        Some(segment(from, to))
    });
    let drawn: Vec<String> = drawn.collect();
    // Hundreds of lines would be a grey wall.
    let width = if drawn.len() > 120 { 0.6 } else { 1.2 };
    let colour = if network.ring.is_empty() { "#AAA" } else { GRID };
    svg.path(&drawn.concat(), &Style::new().stroke(colour, width));
}

/// The ways of flows beside the links that they take, none on top of another.
fn routes(svg: &mut Svg, network: &Network, layout: &Layout, room: &mut Room) {
    let mut taken: BTreeMap<[usize; 2], usize> = BTreeMap::new();
    for (number, route) in network.routes.iter().enumerate() {
        let mut data = String::new();
        let mut at = None;
        for step in route {
            let lane = taken.entry(*step).or_insert(0);
            let is_access = step.iter().any(|node| network.nodes[*node].role == Role::Host);
            let offset = if is_access { 3.0 } else { ROUTE_OFFSET } + ROUTE_GAP * *lane as f64;
            *lane += 1;
            if let Some(track) = layout.track(*step, offset) {
                room.add_line(&track);
                // Where a part of the way is not drawn, the line is interrupted.
                data.push_str(&track.data(if at == Some(step[0]) { 'L' } else { 'M' }));
                at = Some(step[1]);
            }
        }
        let style = Style::new().fill("none").set("stroke-linejoin", "round");
        svg.path(&data, &route_style(style, number));
    }
}

/// Adds the line of the route at this position: those beyond the last colour begin anew, dashed.
pub fn route_style(style: Style, number: usize) -> Style {
    let dashes = if number < PALETTE.len() { "" } else { "7 4" };
    let head = format!("url(#head{})", number % PALETTE.len() + 1);
    style.stroke(colour(number), 2.2).set("marker-end", &head).dashes(dashes)
}

/// The box of a node with its name and a note.
fn symbol(svg: &mut Svg, network: &Network, node: &Node, place: &Place) {
    let is_faint = place.role == Role::Idle && !network.ring.is_empty();
    let style = match place.role {
        Role::Cycle => Style::new().fill(ALARM_GROUND).stroke(ALARM, 2.5),
        Role::Idle if is_faint => Style::new().fill("#FAFAFA").stroke("#CCC", 1.0),
        Role::Passed | Role::Idle => Style::new().fill(WHITE).stroke(OUTLINE, 1.5),
        Role::Host => Style::new().fill(WHITE).stroke(OUTLINE, 1.0),
    };
    let Size { width: across, height } = place.size;
    let corner = if place.role == Role::Host { height / 2.0 } else { 5.0 };
    let mut outline = Svg::default();
    let from = place.at.moved(-across / 2.0, -height / 2.0);
    outline.rectangle(from, from.moved(across, height), &style.number("rx", corner));
    svg.add_with_tooltip(&outline, &node.tooltip);
    // Where two letters do not fit, the tooltip has the name.
    if across < 26.0 || height < 14.0 {
        return;
    }
    let letters = if place.role == Role::Idle { NOTE } else { NAME };
    let grey = Style::new().fill(GREY);
    let ink = match place.role {
        Role::Cycle => Style::new().set("font-weight", "bold"),
        _ if is_faint => grey.clone(),
        _ => Style::new(),
    };
    let fits = |note: &&String| width(note, NOTE) <= across - 6.0;
    let note = node.notes.iter().find(fits).or(node.notes.last()).filter(|_| height >= 30.0);
    let foot = if note.is_some() { -2.0 } else { letters * 0.36 };
    // Bold letters are wider.
    let edge = match place.role {
        Role::Idle => 6.0,
        Role::Passed | Role::Host => 12.0,
        Role::Cycle => 12.0 + 0.12 * across,
    };
    let name = Words::new(&node.name, place.at.moved(0.0, foot), Anchor::Middle);
    svg.words(&Words { size: letters, room: across - edge, style: ink, ..name });
    if let Some(note) = note {
        let note = Words::new(note, place.at.moved(0.0, 13.0), Anchor::Middle);
        svg.words(&Words { size: NOTE, room: across, style: grey, ..note });
    }
}

/// The badges of arrows, and short lines beside badges, arrows and their beginnings.
fn labels(svg: &mut Svg, tracks: &[(&Arrow, Track)], room: &mut Room) {
    let place = |arrow: &Arrow, track: &Track| {
        track.at(if arrow.badge.is_empty() { 0.5 } else { track.before_end(30.0) })
    };
    for (arrow, track) in tracks.iter().filter(|(arrow, _)| !arrow.badge.is_empty()) {
        room.add_box(place(arrow, track), Size::new(22.0, 22.0));
    }
    for (arrow, track) in tracks {
        let at = place(arrow, track);
        if !arrow.badge.is_empty() {
            badge(svg, &arrow.badge, at, 11.0);
        }
        // What belongs to a whole arrow stands outside of the cycle.
        let pull = if arrow.badge.is_empty() { 12.0 } else { 0.0 };
        label(svg, &arrow.label, room.take(at, label_size(&arrow.label), pull));
        if let Some(start) = &arrow.start {
            let at = track.at(track.after_start(20.0));
            let start = std::slice::from_ref(start);
            label(svg, start, room.take(at, label_size(start), 0.0));
        }
    }
}

/// Draws a number in a circle.
pub fn badge(svg: &mut Svg, number: &str, at: Point, radius: f64) {
    svg.circle(at, radius, &Style::new().fill(ALARM).stroke(WHITE, 1.5));
    let style = Style::new().set("font-weight", "bold").fill(WHITE);
    let size = radius + 2.0;
    let words = Words::new(number, at.moved(0.0, size * 0.36), Anchor::Middle);
    svg.words(&Words { size, style, ..words });
}

/// The room that some short lines need.
fn label_size(lines: &[String]) -> Size {
    // Bold letters are a little wider.
    let widths = lines.iter().map(|line| width(line, LABEL * 1.1));
    let widest = widths.fold(0.0, f64::max).min(LABEL_MAX);
    Size::new(widest + 4.0, LABEL_LINE * lines.len() as f64 + 2.0)
}

/// Writes some short lines around a point.
fn label(svg: &mut Svg, lines: &[String], middle: Point) {
    let height = LABEL_LINE * lines.len() as f64;
    let style = Style::new()
        .set("font-weight", "bold")
        .set("paint-order", "stroke")
        .stroke(WHITE, 4.0)
        .set("stroke-linejoin", "round");
    for (number, line) in lines.iter().enumerate() {
        let at = middle.moved(0.0, 12.0 - height / 2.0 + LABEL_LINE * number as f64);
        let words = Words::new(line, at, Anchor::Middle);
        svg.words(&Words { size: LABEL, room: LABEL_MAX, style: style.clone(), ..words });
    }
}

/// The height of the letters of names.
const NAME: f64 = 14.0;
/// The height of the letters of labels beside arrows.
const LABEL: f64 = 13.0;
/// The distance from one line of a label to the next.
const LABEL_LINE: f64 = 15.0;
/// The greatest width of a label.
const LABEL_MAX: f64 = 150.0;
/// The height of the letters of notes.
const NOTE: f64 = 12.0;
/// Arrows keep to the left, so that the two directions of a link can be told apart.
const ARROW_OFFSET: f64 = 4.0;
const ROUTE_OFFSET: f64 = 11.0;
const ROUTE_GAP: f64 = 4.5;
