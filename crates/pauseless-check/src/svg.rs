//! A fabric drawn with the cycle that was found in it, as an SVG document.
//!
//! A badge is an ingress buffer of the cycle and stands where packets arrive; the arrow that
//! leaves its switch leads to the buffer that it waits for. Thin lines are the flows that close
//! the cycle. Below the drawing everything is said again in words, for those who read on paper.

mod cast;
mod layers;
mod legend;

use pauseless_fabric::dependency::{Component, PortChoice};

use super::Verdict;
use cast::Cast;
use pauseless_fabric::fabric::Fabric;
use pauseless_figures::colour::{ALARM, PALETTE};
use pauseless_figures::network::{self, Sizes};
use pauseless_figures::svg::{Anchor, Ground, Point, Sheet, Size, Style, Svg, Words};
use pauseless_text::quantity::counted;

/// The drawing of `fabric` with the shortest cycle of the component at this position of the
/// verdict's list; without any if there is no such component.
pub fn draw(fabric: &Fabric, verdict: &Verdict, component: usize) -> String {
    let found = verdict.components.get(component);
    let cast = Cast::new(fabric, found.map(|found| &found.cycle));
    let stage = network::draw(&cast.network());
    let (below, foot) = legend::draw(&cast, stage.size.width);
    let mut body = Svg::default();
    head(&mut body, fabric, verdict, &which(verdict, component, found));
    body.add_below(&stage.svg, HEAD);
    body.add_below(&below, HEAD + stage.size.height);
    let mut definitions = Svg::default();
    network::define_heads(&mut definitions);
    let sheet = Sheet {
        size: Size::new(stage.size.width, HEAD + stage.size.height + foot),
        unit: "px",
        title: headline(verdict),
        description: "",
        definitions,
        ground: Ground::Paper,
    };
    sheet.document(&body)
}

/// The verdict in a line.
fn headline(verdict: &Verdict) -> &'static str {
    if verdict.is_cyclic() && verdict.rule.choice == PortChoice::AtHead {
        "Knot of buffers: lossless traffic can deadlock"
    } else if verdict.is_cyclic() {
        "Cyclic buffer dependency: lossless traffic can deadlock"
    } else if verdict.rule.escapes() {
        "Cycles, but an escape class: lossless traffic cannot deadlock on these routes"
    } else if verdict.rule.dissolves(verdict.component_count) {
        "Cycles without a knot: lossless traffic cannot deadlock on these routes"
    } else {
        "No cyclic buffer dependency: lossless traffic cannot deadlock on these routes"
    }
}

/// A sentence that says which cycle is drawn.
fn which(verdict: &Verdict, number: usize, found: Option<&Component>) -> String {
    match found {
        Some(found) => format!(
            "Cycle {} of {}: {} buffers can all wait for each other; drawn is a shortest way \
             round, {}.",
            number + 1,
            verdict.component_count,
            found.buffers.len(),
            counted(found.cycle.hops.len(), "hop"),
        ),
        None if verdict.is_cyclic() => format!("Cycle {} is not drawn.", number + 1),
        None if verdict.rule.dissolves(verdict.component_count) => {
            "No cycle lasts: every packet on it has a way out.".to_string()
        }
        None => "There is no cycle: no buffer can wait for itself.".to_string(),
    }
}

fn head(svg: &mut Svg, fabric: &Fabric, verdict: &Verdict, which: &str) {
    let colour = if verdict.is_cyclic() { ALARM } else { PALETTE[2] };
    let loud = Style::new().set("font-weight", "bold").fill(colour);
    let topology = &fabric.topology;
    let size = format!(
        "{}, {}, {}; {} between switches, {}.",
        counted(topology.host_count(), "end node"),
        counted(topology.switches().len(), "switch"),
        counted(topology.links().len(), "link"),
        counted(verdict.buffer_count, "buffer"),
        counted(verdict.dependency_count, "dependency"),
    );
    let mut line = |text: &str, y: f64, size: f64, style: Style| {
        let words = Words::new(text, Point::new(EDGE, y), Anchor::Start);
        svg.words(&Words { size, room: Sizes::SHEET.width - 2.0 * EDGE, style, ..words });
    };
    line(headline(verdict), 34.0, 21.0, loud);
    line(&fabric.name, 58.0, 14.0, Style::new());
    line(&size, 78.0, 13.0, Style::new());
    line(which, 97.0, 13.0, Style::new());
}

/// The height of what is above the drawing.
const HEAD: f64 = 108.0;
/// The room left and right of text.
const EDGE: f64 = 24.0;
