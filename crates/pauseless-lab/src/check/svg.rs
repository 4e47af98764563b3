//! A fabric drawn with the cycle that was found in it, as an SVG document.
//!
//! A badge is an ingress buffer of the cycle and stands where packets arrive; the arrow that
//! leaves its switch leads to the buffer that it waits for. Thin lines are the flows that close
//! the cycle. Below the drawing everything is said again in words, for those who read on paper.

mod cast;
mod label;
mod layout;
mod legend;
mod line;
pub(super) mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use pauseless_core::id::NodeId;
use pauseless_fabric::dependency::{Component, Cycle};

use super::Verdict;
use crate::report::chart::{ALARM, GRID, INK, PALETTE, colour, hex};
use cast::{Cast, Role, Step};
use label::Room;
use layout::{Layout, Place, Point};
use line::Track;
use pauseless_fabric::fabric::Fabric;
use words::{Words, clean, count};

/// The drawing of `fabric` with the shortest cycle of the component at this position of the
/// verdict's list; without any if there is no such component.
pub fn draw(fabric: &Fabric, verdict: &Verdict, component: usize) -> String {
    let found = verdict.components.get(component);
    let cast = Cast::new(fabric, found.map(|found| &found.cycle));
    let layout = Layout::new(&cast);
    let mut below = String::new();
    let foot = legend::write(&mut below, &cast, layout.width);
    let height = HEAD + layout.height + foot;
    let mut text = opening((layout.width, height), headline(verdict));
    head(&mut text, (fabric, verdict), (component, found));
    let _ = writeln!(text, "<g transform=\"translate(0 {HEAD})\">");
    text.push_str(&stage(&cast, &layout));
    text.push_str("</g>\n");
    let foot = HEAD + layout.height;
    let _ = writeln!(text, "<g transform=\"translate(0 {foot:.1})\">");
    text.push_str(&below);
    text.push_str("</g>\n</svg>\n");
    text
}

/// The verdict in a line.
fn headline(verdict: &Verdict) -> &'static str {
    if verdict.is_cyclic() {
        "Cyclic buffer dependency: lossless traffic can deadlock"
    } else {
        "No cyclic buffer dependency: lossless traffic cannot deadlock on these routes"
    }
}

/// White below everything, so that it can be read in a dark window and in print.
fn opening((width, height): (f64, f64), description: &str) -> String {
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
         font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\">\n<defs>\n",
        clean(description)
    );
    let colours = [ALARM].into_iter().chain(PALETTE).enumerate();
    for (number, rgb) in colours {
        // The alarm's arrow is thick and needs a head that is no thicker in proportion.
        let size = if number == 0 { 3.4 } else { 5.0 };
        let _ = writeln!(
            text,
            "<marker id=\"head{number}\" viewBox=\"0 0 10 10\" refX=\"8\" refY=\"5\" \
             markerWidth=\"{size}\" markerHeight=\"{size}\" orient=\"auto\">\
             <path d=\"M0 0L10 5L0 10z\" fill=\"{}\"/></marker>",
            hex(rgb)
        );
    }
    let _ = writeln!(
        text,
        "</defs>\n<rect width=\"{width:.0}\" height=\"{height:.0}\" fill=\"#FFFFFF\"/>"
    );
    text
}

fn head(
    text: &mut String,
    (fabric, verdict): (&Fabric, &Verdict),
    (number, found): (usize, Option<&Component>),
) {
    let colour = if verdict.is_cyclic() { hex(ALARM) } else { hex(PALETTE[2]) };
    let manner = format!("font-weight=\"bold\" fill=\"{colour}\"");
    let topology = &fabric.topology;
    let size = format!(
        "{}, {}, {}; {}, {}.",
        count(topology.host_count(), ("end node", "end nodes")),
        count(topology.switches().len(), ("switch", "switches")),
        count(topology.links().len(), ("link", "links")),
        count(verdict.buffer_count, ("buffer between switches", "buffers between switches")),
        count(verdict.dependency_count, ("dependency", "dependencies")),
    );
    let which = match found {
        Some(found) => format!(
            "Cycle {} of {}: {} buffers can all wait for each other; drawn is a shortest way \
             round, {}.",
            number + 1,
            verdict.component_count,
            found.buffers.len(),
            count(found.cycle.hops.len(), ("hop", "hops")),
        ),
        None if verdict.is_cyclic() => format!("Cycle {} is not drawn.", number + 1),
        None => "There is no cycle: no buffer can wait for itself.".to_string(),
    };
    let plain = format!("fill=\"{TEXT}\"");
    let lines: [(&str, f64, f64, &str); 4] = [
        (headline(verdict), 34.0, 21.0, &manner),
        (&fabric.name, 58.0, 14.0, &plain),
        (&size, 78.0, 13.0, &plain),
        (&which, 97.0, 13.0, &plain),
    ];
    for (line, y, size, manner) in lines {
        let words =
            Words { text: line, at: (EDGE, y), size, room: layout::WIDTH - 2.0 * EDGE, manner };
        words.write(text);
    }
}

/// Links, flows, arrows, boxes, badges and labels, the later ones on top.
fn stage(cast: &Cast<'_>, layout: &Layout) -> String {
    let mut text = links(cast, layout);
    let mut room = Room::new(layout);
    let arrows = cast.cycle.map_or(Vec::new(), |cycle| arrows(cast, layout, cycle));
    text.push_str(&flows(cast, layout, &mut room));
    for (_, track) in &arrows {
        room.add_line(track);
        let _ = writeln!(
            text,
            "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"5\" \
             marker-end=\"url(#head0)\"/>",
            track.data('M'),
            hex(ALARM)
        );
    }
    for (node, place) in &layout.places {
        symbol(&mut text, cast, (*node, place));
    }
    if let Some(cycle) = cast.cycle {
        text.push_str(&labels(cast, (cycle, &arrows), &mut room));
    }
    text
}

/// The links between switches that are drawn, one line for parallel ones.
fn links(cast: &Cast<'_>, layout: &Layout) -> String {
    let topology = cast.topology();
    let pairs = topology.links().iter();
    let pairs = pairs.map(|link| (link.a.min(link.b), link.a.max(link.b)));
    let pairs = BTreeSet::from_iter(pairs);
    let drawn = pairs.into_iter().filter_map(|(a, b)| {
        let (from, to) = (layout.places.get(&a)?, layout.places.get(&b)?);
        Some((from.at, to.at))
    });
    let drawn = Vec::from_iter(drawn);
    // Hundreds of lines would be a grey wall.
    let width = if drawn.len() > 120 { 0.6 } else { 1.2 };
    let stroke = match cast.cycle {
        Some(_) => hex(GRID),
        None => "#AAAAAA".to_string(),
    };
    let mut text = format!("<g stroke=\"{stroke}\" stroke-width=\"{width}\">\n");
    for ((x1, y1), (x2, y2)) in drawn {
        let _ =
            writeln!(text, "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>");
    }
    text.push_str("</g>\n");
    text
}

/// One arrow per hop, from its switch to the next.
fn arrows(cast: &Cast<'_>, layout: &Layout, cycle: &Cycle) -> Vec<(Step, Track)> {
    let steps = cycle.hops.iter();
    let steps = steps.map(|hop| Step::new(cast.topology(), (hop.buffer.node, hop.egress)));
    let drawn = steps.filter_map(|step| {
        let track = Track::between(layout, (step.from, step.to), ARROW_OFFSET)?;
        Some((step, track))
    });
    drawn.collect()
}

/// The paths of the flows beside the links that they take, none on top of another.
fn flows(cast: &Cast<'_>, layout: &Layout, room: &mut Room) -> String {
    let mut text = String::new();
    let mut taken: BTreeMap<(NodeId, NodeId), usize> = BTreeMap::new();
    for (number, flow) in cast.flows.iter().enumerate() {
        let mut data = String::new();
        for step in cast::steps(cast.topology(), flow) {
            let lane = taken.entry((step.from, step.to)).or_insert(0);
            let is_access = cast.topology().is_host(step.from) || cast.topology().is_host(step.to);
            let first = if is_access { 3.0 } else { FLOW_OFFSET };
            let offset = first + FLOW_GAP * *lane as f64;
            *lane += 1;
            if let Some(track) = Track::between(layout, (step.from, step.to), offset) {
                room.add_line(&track);
                data.push_str(&track.data(if data.is_empty() { 'M' } else { 'L' }));
            }
        }
        let _ = writeln!(
            text,
            "<path d=\"{data}\" fill=\"none\" stroke-linejoin=\"round\" {}/>",
            manner_of_flow(number)
        );
    }
    text
}

/// Flows beyond the last colour begin anew with dashes.
fn manner_of_flow(number: usize) -> String {
    let dashes = match number / PALETTE.len() {
        0 => "",
        _ => " stroke-dasharray=\"7 4\"",
    };
    format!(
        "stroke=\"{}\" stroke-width=\"2.2\" marker-end=\"url(#head{})\"{dashes}",
        hex(colour(number)),
        number % PALETTE.len() + 1
    )
}

/// The box of a node with its name, and how many end nodes of a switch are not drawn.
fn symbol(text: &mut String, cast: &Cast<'_>, (node, place): (NodeId, &Place)) {
    let (fill, stroke, width, ink) = match place.role {
        Role::Cycle => ("#FFF4EC", hex(ALARM), 2.5, TEXT),
        Role::Passed => ("#FFFFFF", hex(INK), 1.5, TEXT),
        // Without a cycle nothing has to step back.
        Role::Idle if cast.cycle.is_none() => ("#FFFFFF", hex(INK), 1.2, TEXT),
        Role::Idle => ("#FAFAFA", FAINT.to_string(), 1.0, FAINT_TEXT),
        Role::Host => ("#FFFFFF", hex(INK), 1.0, TEXT),
    };
    let ((x, y), size) = (place.at, place.size);
    let corner = if place.role == Role::Host { size.1 / 2.0 } else { 5.0 };
    let others = match place.role {
        Role::Host => 0,
        _ => cast.others_on(node),
    };
    let _ = writeln!(
        text,
        "<g><title>{}</title><rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" \
         rx=\"{corner}\" fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"{width}\"/></g>",
        clean(&tooltip(cast, node)),
        x - size.0 / 2.0,
        y - size.1 / 2.0,
        size.0,
        size.1,
    );
    // Where two letters do not fit, the tooltip has the name.
    if size.0 < 26.0 || size.1 < 14.0 {
        return;
    }
    let has_two = others > 0 && size.1 >= 30.0;
    let letters = if place.role == Role::Idle { 12.0 } else { 14.0 };
    let bold = if place.role == Role::Cycle { " font-weight=\"bold\"" } else { "" };
    let name = Words {
        text: cast.name(node),
        at: (x, y + if has_two { -2.0 } else { letters * 0.36 }),
        size: letters,
        room: size.0 - if place.role == Role::Idle { 6.0 } else { 16.0 },
        manner: &format!("text-anchor=\"middle\" fill=\"{ink}\"{bold}"),
    };
    name.write(text);
    if has_two {
        others_of(text, (others, (x, y + 13.0)), size.0);
    }
}

fn others_of(text: &mut String, (others, at): (usize, Point), room: f64) {
    let long = format!("+ {}", count(others, ("end node", "end nodes")));
    let short = format!("+{others}");
    let is_long = words::width(&long, 12.0) <= room - 6.0;
    let words = Words {
        text: if is_long { &long } else { &short },
        at,
        size: 12.0,
        room,
        manner: &format!("text-anchor=\"middle\" fill=\"{FAINT_TEXT}\""),
    };
    words.write(text);
}

/// The whole name, and what the device calls itself if that is something else.
fn tooltip(cast: &Cast<'_>, node: NodeId) -> String {
    let name = cast.name(node);
    let device = cast.fabric.names.device(node);
    let description = device.map(|device| device.description.as_str());
    match description.filter(|text| !text.is_empty() && *text != name) {
        Some(description) => format!("{name} ({description})"),
        None => name.to_string(),
    }
}

/// A badge where each buffer is, its port and class beside it, and the port behind which the next
/// one lies.
fn labels(cast: &Cast<'_>, (cycle, arrows): (&Cycle, &[(Step, Track)]), room: &mut Room) -> String {
    let mut text = String::new();
    let alarm = hex(ALARM);
    let count = cycle.hops.len();
    let badges = arrows.iter();
    let badges = badges.map(|(_, track)| track.at(track.before_end(30.0)));
    let badges = Vec::from_iter(badges);
    for badge in &badges {
        room.add_box(*badge, (22.0, 22.0));
    }
    for (number, (badge, (step, track))) in badges.iter().zip(arrows).enumerate() {
        let next = (number + 1) % count;
        let buffer = cycle.hops[next].buffer;
        let _ = writeln!(
            text,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"11\" fill=\"{alarm}\" stroke=\"#FFFFFF\" \
             stroke-width=\"1.5\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" font-size=\"13\" font-weight=\"bold\" \
             text-anchor=\"middle\" fill=\"#FFFFFF\">{}</text>",
            badge.0,
            badge.1,
            badge.0,
            badge.1 + 4.6,
            next + 1,
        );
        let class = cast.fabric.medium.class_name();
        let names = &cast.fabric.names;
        let ingress = match names.port(buffer.node, buffer.port) {
            Some(port) => port.to_string(),
            None => cast.topology().port_name(buffer.node, buffer.port),
        };
        let class = format!("{class} {}", buffer.class.0);
        let lines = [format!("in {ingress}"), class];
        label(&mut text, (&lines, *badge), room);
        // A port that is named after its peer says nothing that the arrow does not.
        if let Some(egress) = names.port(step.from, step.port) {
            let point = track.at(track.after_start(20.0));
            // The number says which arrow is meant where there is room only beside another cable.
            let line = format!("to {}: out {egress}", next + 1);
            label(&mut text, (&[line], point), room);
        }
    }
    text
}

/// Some short lines where there is room for them, near a point.
fn label(text: &mut String, (lines, point): (&[String], Point), room: &mut Room) {
    const SIZE: f64 = 13.0;
    const LINE: f64 = 15.0;
    const WIDTH_MAX: f64 = 150.0;
    let widths = lines.iter().map(|line| words::width(line, SIZE));
    let width = widths.fold(0.0, f64::max).min(WIDTH_MAX);
    let height = LINE * lines.len() as f64;
    let (x, y) = room.take(point, (width + 4.0, height + 2.0));
    let manner = format!(
        "text-anchor=\"middle\" fill=\"{TEXT}\" font-weight=\"bold\" paint-order=\"stroke\" \
         stroke=\"#FFFFFF\" stroke-width=\"4\" stroke-linejoin=\"round\""
    );
    for (number, line) in lines.iter().enumerate() {
        let top = y - height / 2.0 + LINE * number as f64;
        let words =
            Words { text: line, at: (x, top + 12.0), size: SIZE, room: WIDTH_MAX, manner: &manner };
        words.write(text);
    }
}

/// What is above the drawing.
const HEAD: f64 = 108.0;
/// Left and right of text.
const EDGE: f64 = 24.0;
const TEXT: &str = "#222222";
const FAINT: &str = "#CCCCCC";
/// Faint and yet legible on paper.
const FAINT_TEXT: &str = "#6E6E6E";
/// Arrows keep to the left, so that the two directions of a link can be told apart.
const ARROW_OFFSET: f64 = 4.0;
const FLOW_OFFSET: f64 = 11.0;
const FLOW_GAP: f64 = 4.5;
