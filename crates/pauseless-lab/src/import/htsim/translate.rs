//! From what the files say to the text of a scenario.

use std::fmt::Write;

use pauseless_core::unit::{Bytes, Rate, Span};

use super::matrix::{Flow, Matrix};
use super::options::Options;
use super::paths::Hops;
use super::topo::{Link, Tree};
use crate::scenario::file::File;
use crate::scenario::unit::Quantity;

/// What goes into a scenario.
pub(super) struct Parts {
    pub matrix: Matrix,
    pub tree: Tree,
    pub hops: Option<Hops>,
    pub options: Options,
}

/// Bytes that a packet has beside its payload, and an acknowledgement has at all.
const HEADER: Bytes = Bytes::new(64);
/// Packets that fit an ingress, more than PFC ever lets in.
const INGRESS_PACKETS: u64 = 2_000;

impl Parts {
    /// The text of the scenario.
    pub(super) fn write(&self) -> String {
        let Options {
            mtu,
            low,
            high,
            end,
            ..
        } = self.options;
        let mut file = File::default();
        file.line("# Made from files of htsim; docs/htsim.md has what is the same as there.");
        file.text("title", "imported from a traffic matrix of htsim");
        file.quantity("duration", end);
        let packet = mtu + HEADER;
        file.quantity("mtu", packet);
        self.write_tree(&mut file);
        file.section("[routing]");
        file.text("kind", "ecmp");
        file.section("[switch]");
        file.quantity("buffer", mtu * INGRESS_PACKETS);
        file.quantity("processing", Span::ZERO);
        file.text("discipline", "output-queued");
        if self.options.is_compat {
            // Pauses take no place on the wire, and wait for nothing.
            file.quantity("control_frame", Bytes::ZERO);
        }
        file.section("[flow_control]");
        file.text("kind", "pfc");
        file.quantity("xoff", mtu * high);
        file.quantity("xon", mtu * low);
        file.plain("unsafe_parameters", true);
        file.section("[congestion_control]");
        file.text("kind", "none");
        file.text("feedback_class", "data");
        file.plain("ack_every", 1);
        file.section("[transport]");
        file.text("finish", "source");
        file.quantity("ack_size", HEADER);
        file.section("[timing]");
        file.quantity("start_jitter", Span::ZERO);
        if self.options.is_compat {
            file.text("ties", "arrivals-first");
        }
        self.write_flows(&mut file, packet);
        file.text
    }

    fn write_flows(&self, file: &mut File, packet: Bytes) {
        file.section("[[traffic]]");
        file.text("kind", "list");
        file.text("name", "htsim");
        let lower = self.tree.links[0].rate;
        if self.options.rate < lower {
            file.quantity("rate", self.options.rate);
        }
        let mut text = String::from("rows = \"\"\"\nsource target size_bytes start_ps name after");
        if self.hops.is_some() {
            text.push_str(" path return_path");
        }
        let names = names(&self.matrix.flows);
        for (flow, name) in self.matrix.flows.iter().zip(&names) {
            let packets = flow.size.div_ceil(self.options.mtu.get());
            let size = packets * packet.get();
            let start = match self.options.has_starts {
                true => flow.start.unwrap_or(0),
                false => 0,
            };
            let after = match flow.after.is_empty() {
                true => "-".to_string(),
                false => {
                    let after = flow.after.iter().map(|first| names[*first].as_str());
                    Vec::from_iter(after).join(",")
                }
            };
            let Flow { source, target, .. } = flow;
            write!(text, "\nH{source} H{target} {size} {start} {name} {after}").expect("a string");
            if let Some(hops) = &self.hops {
                let id = flow.id.unwrap_or(0);
                let way = |from: u64, to: u64| self.way(hops, id, (from, to));
                let (there, back) = (way(*source, *target), way(*target, *source));
                write!(text, " {there} {back}").expect("a string");
            }
        }
        text.push_str("\n\"\"\"");
        file.line(text);
    }

    /// The switches from one host to the other.
    fn way(&self, hops: &Hops, id: u64, (from, to): (u64, u64)) -> String {
        let first = format!("LS{}", from / self.tree.hosts_per_lower);
        match hops.get(&(id, to)) {
            Some(rest) => {
                let rest = rest.iter().filter(|node| !node.starts_with('H'));
                let names = std::iter::once(first.as_str()).chain(rest.map(String::as_str));
                Vec::from_iter(names).join(",")
            }
            None if from / self.tree.hosts_per_lower == to / self.tree.hosts_per_lower => first,
            None => "-".to_string(),
        }
    }

    fn write_tree(&self, file: &mut File) {
        let tree = &self.tree;
        file.section("[topology]");
        file.text("kind", "custom");
        let mut text = String::from("node = [");
        let kinds = [("LS", 1), ("US", 2), ("CS", 3)];
        for host in 0..tree.hosts {
            write!(text, "\n{{ name = \"H{host}\", kind = \"host\" }},").expect("a string");
        }
        for ((kind, layer), count) in kinds.iter().zip(tree.counts) {
            for number in 0..count {
                let node = format!("name = \"{kind}{number}\", kind = \"switch\", layer = {layer}");
                write!(text, "\n{{ {node} }},").expect("a string");
            }
        }
        text.push_str("\n]\nlink = [");
        let mut links = Links { text, tree };
        for host in 0..tree.hosts {
            let lower = host / tree.hosts_per_lower;
            links.join((0, format!("H{host}")), format!("LS{lower}"));
        }
        for lower in 0..tree.counts[0] {
            let pod = lower / tree.lowers_per_pod;
            for upper in pod * tree.uppers_per_pod..(pod + 1) * tree.uppers_per_pod {
                links.join((1, format!("LS{lower}")), format!("US{upper}"));
            }
        }
        for upper in (0..tree.counts[1]).filter(|_| tree.counts[2] > 0) {
            for place in 0..tree.cores_per_upper {
                let core = upper % tree.uppers_per_pod + tree.uppers_per_pod * place;
                links.join((2, format!("US{upper}")), format!("CS{core}"));
            }
        }
        links.text.push_str("\n]");
        file.line(links.text);
    }
}

/// Links in the making.
struct Links<'t> {
    text: String,
    tree: &'t Tree,
}

impl Links<'_> {
    /// Joins a node to one of the tier above, as often as the bundle says.
    fn join(&mut self, (tier, below): (usize, String), above: String) {
        let Link {
            rate,
            delay,
            bundle,
        } = self.tree.links[tier];
        let delay = delay + self.half_latencies(tier);
        let (rate, delay) = (Rate::exact(rate), Span::exact(delay));
        for _ in 0..bundle {
            let between = format!("between = [\"{below}\", \"{above}\"]");
            write!(
                self.text,
                "\n{{ {between}, rate = \"{rate}\", delay = \"{delay}\" }},"
            )
            .expect("a string");
        }
    }

    /// Half of what the switches at both ends of a link add to the way of a packet. Each has two
    /// links on every way, so that it adds all of it.
    fn half_latencies(&self, tier: usize) -> Span {
        let below = match tier {
            0 => Span::ZERO,
            tier => self.tree.latencies[tier - 1],
        };
        (below + self.tree.latencies[tier]) / 2
    }
}

/// The names of flows: their ids if all have one, else their places, with zeros in front so that
/// their order is that of the file.
fn names(flows: &[Flow]) -> Vec<String> {
    let ids = Vec::from_iter(flows.iter().filter_map(|flow| flow.id));
    let numbers = match ids.len() == flows.len() {
        true => ids,
        false => (1..=flows.len() as u64).collect(),
    };
    let width = numbers
        .iter()
        .max()
        .map_or(1, |most| most.to_string().len());
    let names = numbers.iter().map(|number| format!("{number:0width$}"));
    names.collect()
}
