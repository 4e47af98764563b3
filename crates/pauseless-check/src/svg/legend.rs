//! What stands below the drawing: the hops and the flows in words.

use pauseless_core::id::{NodeId, PortId};
use pauseless_fabric::dependency::{ClosingFlow, Cycle};

use super::EDGE;
use super::cast::{Cast, FLOWS_MAX, steps};
use pauseless_figures::colour::GREY;
use pauseless_figures::network::{badge, route_style};
use pauseless_figures::svg::{Anchor, Point, Style, Svg, Words};
use pauseless_figures::words::{shorten, width};
use pauseless_text::quantity::counted;

/// The legend of a drawing of this width, and its height.
pub(super) fn draw(cast: &Cast<'_>, width: f64) -> (Svg, f64) {
    let mut legend = Legend { svg: Svg::default(), cast, width, y: 0.0 };
    let hidden = cast.topology().switches().len() - cast.switch_count();
    if hidden > 0 {
        let what = if cast.switch_count() == 0 { "switch" } else { "other switch" };
        let are = if hidden == 1 { "is" } else { "are" };
        legend.remark(&format!("{} {are} not drawn.", counted(hidden, what)));
    }
    if let Some(cycle) = cast.cycle {
        legend.hops(cycle);
        legend.flows(cycle);
    }
    (legend.svg, legend.y + 24.0)
}

struct Legend<'l> {
    svg: Svg,
    cast: &'l Cast<'l>,
    width: f64,
    /// The foot of the last line.
    y: f64,
}

impl Legend<'_> {
    fn hops(&mut self, cycle: &Cycle) {
        self.heading("The cycle: each buffer waits for the next");
        let hops = &cycle.hops;
        for (number, hop) in hops.iter().take(HOPS_MAX).enumerate() {
            let buffer = hop.buffer;
            let far = self.cast.topology().port(buffer.node, buffer.port);
            let line = format!(
                "{}, {} {} (from {}) waits for {}, out of {}",
                self.port(buffer.node, buffer.port),
                self.cast.fabric.medium.class_name(),
                buffer.class.0,
                self.port(far.peer, far.peer_port),
                (number + 1) % hops.len() + 1,
                self.port(buffer.node, hop.egress),
            );
            self.y += LINE;
            let at = Point::new(EDGE + 9.0, self.y - 4.4);
            badge(&mut self.svg, &(number + 1).to_string(), at, 9.0);
            self.line(&line, EDGE + 28.0, Style::new());
        }
        if hops.len() > HOPS_MAX {
            let more = counted(hops.len() - HOPS_MAX, "more hop");
            self.remark(&format!("{more}, as numbered in the drawing."));
        }
    }

    fn flows(&mut self, cycle: &Cycle) {
        let heading = match cycle.flows.len() {
            1 => "A single flow closes it: its packets travel in a circle".to_string(),
            count if cycle.is_fewest => format!("{count} flows close it, and fewer do not"),
            count => format!("{count} flows close it"),
        };
        self.heading(&heading);
        for (number, flow) in self.cast.flows.iter().enumerate() {
            self.y += LINE;
            let line = format!("M{EDGE} {:.1}h34", self.y - 4.4);
            self.svg.path(&line, &route_style(Style::new().fill("none"), number));
            self.flow(flow);
        }
        if cycle.flows.len() > FLOWS_MAX {
            let more = counted(cycle.flows.len() - FLOWS_MAX, "more flow");
            self.remark(&format!("{more} not drawn."));
        }
    }

    /// Writes the path, in names as long as the line allows, and the hops that it makes.
    fn flow(&mut self, flow: &ClosingFlow) {
        let nodes = self.nodes(flow);
        let names = Vec::from_iter(nodes.into_iter().map(|node| self.cast.name(node)));
        let hops = Vec::from_iter(flow.hops.iter().map(|hop| (hop + 1).to_string())).join(", ");
        let word = if flow.hops.len() == 1 { "hop" } else { "hops" };
        let x = EDGE + 46.0;
        let room = self.width - x - EDGE;
        let path = |most: usize| {
            let names = names.iter().map(|name| shorten(name, most));
            format!("{}  ({word} {hops})", Vec::from_iter(names).join(" > "))
        };
        let fits = |most: &usize| width(&path(*most), 13.0) <= room;
        let most = [64, 32, 24, 20, 16, 13, 10, 8].into_iter().find(fits);
        let shown = path(most.unwrap_or(6));
        let mut line = Svg::default();
        let words = Words::new(&shown, Point::new(x, self.y), Anchor::Start);
        line.words(&Words { size: 13.0, room, ..words });
        self.svg.add_with_tooltip(&line, &path(usize::MAX));
    }

    /// The nodes of a path, the target included. Packets that circle never reach it: their path
    /// ends where it has been before.
    fn nodes(&self, flow: &ClosingFlow) -> Vec<NodeId> {
        let target = self.cast.fabric.routes.groups.target(flow.group);
        let steps = steps(self.cast.topology(), flow);
        let is_reached = steps.last().is_some_and(|step| step.to == target);
        let mut nodes = Vec::from_iter(steps.iter().take(1).map(|step| step.from));
        for step in &steps {
            let is_known = nodes.contains(&step.to);
            nodes.push(step.to);
            if is_known && !is_reached {
                break;
            }
        }
        nodes
    }

    fn heading(&mut self, text: &str) {
        self.y += LINE + 10.0;
        self.line(text, EDGE, Style::new().set("font-weight", "bold"));
    }

    fn remark(&mut self, text: &str) {
        self.y += LINE;
        self.line(text, EDGE, Style::new().fill(GREY));
    }

    /// Writes a line of text at the present height.
    fn line(&mut self, text: &str, x: f64, style: Style) {
        let words = Words::new(text, Point::new(x, self.y), Anchor::Start);
        self.svg.words(&Words { size: 13.0, room: self.width - x - EDGE, style, ..words });
    }

    /// The name of a port with that of its switch.
    fn port(&self, node: NodeId, port: PortId) -> String {
        match self.cast.fabric.names.port(node, port) {
            Some(label) => format!("{} {}", self.name(node), shorten(label, 20)),
            None => {
                let name = self.cast.topology().port_name(node, port);
                shorten(&name, 48).into_owned()
            }
        }
    }

    fn name(&self, node: NodeId) -> String {
        shorten(self.cast.name(node), 30).into_owned()
    }
}

const LINE: f64 = 22.0;
/// The most hops that are listed; longer cycles are numbered in the drawing alone.
const HOPS_MAX: usize = 24;
