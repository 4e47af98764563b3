//! What stands below the drawing: the hops and the flows in words.

use std::fmt::Write;

use pauseless_core::id::{NodeId, PortId};
use pauseless_fabric::dependency::{ClosingFlow, Cycle};

use super::cast::{Cast, FLOWS_MAX};
use super::words::{Words, count, shorten, width};
use super::{EDGE, FAINT_TEXT, TEXT, manner_of_flow};
use crate::report::chart::{ALARM, hex};

/// Writes the legend for a page of this width, and returns its height.
pub(super) fn write(out: &mut String, cast: &Cast<'_>, width: f64) -> f64 {
    let mut legend = Legend { cast, width, y: 0.0 };
    let hidden = cast.hidden();
    if hidden > 0 {
        let other = if cast.switches.is_empty() {
            count(hidden, ("switch", "switches"))
        } else {
            count(hidden, ("other switch", "other switches"))
        };
        let are = if hidden == 1 { "is" } else { "are" };
        legend.remark(out, &format!("{other} {are} not drawn."));
    }
    if let Some(cycle) = cast.cycle {
        legend.hops(out, cycle);
        legend.flows(out, cycle);
    }
    legend.y + 24.0
}

struct Legend<'l> {
    cast: &'l Cast<'l>,
    width: f64,
    /// The foot of the last line.
    y: f64,
}

impl Legend<'_> {
    fn hops(&mut self, out: &mut String, cycle: &Cycle) {
        self.heading(out, "The cycle: each buffer waits for the next");
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
            let alarm = hex(ALARM);
            let (x, y) = (EDGE + 9.0, self.y);
            let _ = writeln!(
                out,
                "<circle cx=\"{x}\" cy=\"{:.1}\" r=\"9\" fill=\"{alarm}\"/>\n\
                 <text x=\"{x}\" y=\"{y:.1}\" font-size=\"12\" font-weight=\"bold\" \
                 text-anchor=\"middle\" fill=\"#FFFFFF\">{}</text>",
                y - 4.4,
                number + 1
            );
            self.words(out, (&line, TEXT), EDGE + 28.0);
        }
        if hops.len() > HOPS_MAX {
            let more = count(hops.len() - HOPS_MAX, ("more hop", "more hops"));
            self.remark(out, &format!("{more}, as numbered in the drawing."));
        }
    }

    fn flows(&mut self, out: &mut String, cycle: &Cycle) {
        let heading = match cycle.flows.len() {
            1 => "A single flow closes it: its packets travel in a circle".to_string(),
            count if cycle.is_fewest => format!("{count} flows close it, and fewer do not"),
            count => format!("{count} flows close it"),
        };
        self.heading(out, &heading);
        for (number, flow) in self.cast.flows.iter().enumerate() {
            self.y += LINE;
            let y = self.y - 4.4;
            let _ = writeln!(
                out,
                "<path d=\"M{EDGE} {y:.1}h34\" fill=\"none\" {}/>",
                manner_of_flow(number)
            );
            self.flow(out, flow);
        }
        if cycle.flows.len() > FLOWS_MAX {
            let more = count(cycle.flows.len() - FLOWS_MAX, ("more flow", "more flows"));
            self.remark(out, &format!("{more} not drawn."));
        }
    }

    /// The path, in names as long as the line allows, and the hops that it makes.
    fn flow(&self, out: &mut String, flow: &ClosingFlow) {
        let nodes = self.nodes(flow);
        let names = Vec::from_iter(nodes.into_iter().map(|node| self.cast.name(node)));
        let hops = flow.hops.iter().map(|hop| hop + 1);
        let hops = Vec::from_iter(hops.map(|hop| hop.to_string())).join(", ");
        let word = if flow.hops.len() == 1 { "hop" } else { "hops" };
        let x = EDGE + 46.0;
        let room = self.width - x - EDGE;
        let path = |most: usize| {
            let names = names.iter().map(|name| shorten(name, most));
            format!("{}  ({word} {hops})", Vec::from_iter(names).join(" > "))
        };
        let fits = |most: &usize| width(&path(*most), 13.0) <= room;
        let most = [64, 32, 24, 20, 16, 13, 10, 8].into_iter().find(fits);
        let _ = writeln!(out, "<g><title>{}</title>", super::clean(&path(usize::MAX)));
        self.words(out, (&path(most.unwrap_or(6)), TEXT), x);
        out.push_str("</g>\n");
    }

    /// The nodes of a path, the target included. Packets that circle never reach it: their path
    /// ends where it has been before.
    fn nodes(&self, flow: &ClosingFlow) -> Vec<NodeId> {
        let target = self.cast.fabric.routes.groups.target(flow.group);
        let steps = super::cast::steps(self.cast.topology(), flow);
        let is_reached = steps.last().is_some_and(|step| step.to == target);
        let first = steps.iter().take(1).map(|step| step.from);
        let mut nodes = Vec::from_iter(first);
        for step in &steps {
            let is_known = nodes.contains(&step.to);
            nodes.push(step.to);
            if is_known && !is_reached {
                break;
            }
        }
        nodes
    }

    fn heading(&mut self, out: &mut String, text: &str) {
        self.y += LINE + 10.0;
        let words = Words {
            text,
            at: (EDGE, self.y),
            size: 14.0,
            room: self.width - 2.0 * EDGE,
            manner: &format!("font-weight=\"bold\" fill=\"{TEXT}\""),
        };
        words.write(out);
    }

    fn remark(&mut self, out: &mut String, text: &str) {
        self.y += LINE;
        self.words(out, (text, FAINT_TEXT), EDGE);
    }

    /// A line of text at the present height.
    fn words(&self, out: &mut String, (text, ink): (&str, &str), x: f64) {
        let words = Words {
            text,
            at: (x, self.y),
            size: 13.0,
            room: self.width - x - EDGE,
            manner: &format!("fill=\"{ink}\""),
        };
        words.write(out);
    }

    /// A port with its switch.
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
/// Longer cycles are numbered in the drawing alone.
const HOPS_MAX: usize = 24;
