//! From a cycle to the text of a scenario: flows that close it, and what they pass.

use std::collections::BTreeSet;
use std::fmt::Write;

use pauseless_core::class_map::{Carried, Passage};
use pauseless_core::derive::Latency;
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::switch::Discipline;
use pauseless_core::unit::{Bytes, Rate, Span};
use pauseless_fabric::dependency::{ClosingFlow, Component};
use pauseless_fabric::topology::LinkIndex;

use super::FlowSet;
use super::crowd::Crowd;
use pauseless_fabric::fabric::{Fabric, Medium};
use pauseless_text::unit::Quantity;

/// Which of the runs a text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Case {
    pub discipline: Discipline,
    pub seed: u64,
    /// The pace of all flows; `None` for greedy ones.
    pub rate: Option<Rate>,
    /// The flow that does not send, by its position among those that close the cycle.
    pub left_out: Option<usize>,
}

/// What all texts of one cycle have in common.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub flow_set: FlowSet,
    pub medium: Medium,
    pub duration: Span,
    pub buffer: Bytes,
    /// The slowest link between two buffers of the cycle.
    pub slowest: Rate,
    /// The highest pace that every source can send at.
    pub pace_max: Rate,
    /// `source`, `target` and `path` of each flow, in lines.
    flows: Vec<String>,
    /// The lines that say where this comes from.
    header: String,
    topology: String,
}

impl Plan {
    /// The fewest flows that close the cycle, or why they cannot be simulated.
    pub(super) fn fewest(
        fabric: &Fabric,
        component: &Component,
        duration: Option<Span>,
    ) -> Result<Plan, String> {
        let drawing = Drawing { fabric, component, flows: &component.cycle.flows };
        drawing.check()?;
        Ok(drawing.plan(FlowSet::Fewest, duration))
    }

    /// A flow for each hop of a cycle of which the fewest can be simulated; `None` if they are
    /// not to be found, or are as few.
    pub(super) fn one_per_hop(
        fabric: &Fabric,
        component: &Component,
        duration: Option<Span>,
    ) -> Option<Plan> {
        let cycle = &component.cycle;
        let fewest = Drawing { fabric, component, flows: &cycle.flows };
        let class = cycle.hops[0].buffer.class;
        let is_good = |flow: &ClosingFlow| {
            fewest.check_ends(flow).is_ok() && fewest.check_buffers(flow, class).is_ok()
        };
        let flows = Crowd { fabric, component }.flows(is_good)?;
        let drawing = Drawing { flows: &flows, ..fewest };
        let is_more = flows.len() > cycle.flows.len();
        is_more.then(|| drawing.plan(FlowSet::OnePerHop, duration))
    }

    /// How many flows there are.
    pub(super) fn flow_count(&self) -> usize {
        self.flows.len()
    }

    /// The name of the flow control in scenario files.
    pub(super) fn flow_control(&self) -> &'static str {
        flow_control(self.medium)
    }

    /// The scenario file of one case.
    pub(super) fn text(&self, case: &Case) -> String {
        let mut text = self.header.clone();
        let (mtu, processing) = frames(self.medium);
        let counters = match self.medium {
            Medium::Ethernet => "",
            Medium::InfiniBand => "counters = \"iba\"\n",
        };
        // Everything goes into a string, which takes everything.
        let _ = write!(
            text,
            "seed = {}\nduration = \"{}\"\nmtu = \"{}\"\n{}\n\
             [switch]\ndiscipline = \"{}\"\nbuffer = \"{}\"\nprocessing = \"{}\"\n\n\
             [flow_control]\nkind = \"{}\"\n{counters}\n\
             [timing]\nwire_jitter = \"{}\"\n\n\
             [verdict]\nstop_on_deadlock = true\n",
            case.seed,
            self.duration.exact(),
            mtu.exact(),
            self.topology,
            case.discipline.name(),
            self.buffer.exact(),
            processing.exact(),
            self.flow_control(),
            JITTER.exact(),
        );
        for (number, flow) in self.flows.iter().enumerate() {
            if case.left_out == Some(number) {
                continue;
            }
            let _ = write!(text, "\n[[flow]]\n{flow}");
            if let Some(rate) = case.rate {
                let _ = writeln!(text, "rate = \"{}\"", rate.exact());
            }
        }
        text
    }
}

#[derive(Clone, Copy)]
struct Drawing<'d> {
    fabric: &'d Fabric,
    component: &'d Component,
    flows: &'d [ClosingFlow],
}

impl Drawing<'_> {
    fn plan(&self, flow_set: FlowSet, duration: Option<Span>) -> Plan {
        let links = self.links();
        let slowest = self.slowest();
        let sources = self.flows.iter().map(|flow| flow.source);
        let paces = sources.map(|source| self.fabric.topology.ports(source)[0].rate);
        Plan {
            flow_set,
            medium: self.fabric.medium,
            duration: duration.unwrap_or_else(|| slowest.tx_span(CARRIED)),
            buffer: buffer(self.fabric, &links, XOFF),
            slowest,
            pace_max: paces.fold(slowest, Rate::min),
            flows: self.flows(&links),
            header: self.header(flow_set),
            topology: self.topology(&links),
        }
    }

    /// What keeps a scenario from saying what the fabric does.
    fn check(&self) -> Result<(), String> {
        let cycle = &self.component.cycle;
        if cycle.flows.len() < 2 {
            return Err("a single flow closes it: its packets travel in a circle and never \
                        arrive, which is a fault of the routes and needs no simulation"
                .to_string());
        }
        let classes: BTreeSet<Class> = cycle.hops.iter().map(|hop| hop.buffer.class).collect();
        let class = *classes.first().expect("a cycle has at least one hop");
        if classes.len() > 1 {
            let names = classes.iter().map(|class| class.0.to_string());
            return Err(format!(
                "the cycle runs through {} {}, and a confirmation lets packets travel in one only",
                self.fabric.medium.class_name(),
                Vec::from_iter(names).join(", ")
            ));
        }
        for flow in &cycle.flows {
            self.check_ends(flow)?;
            self.check_buffers(flow, class)?;
        }
        Ok(())
    }

    fn check_ends(&self, flow: &ClosingFlow) -> Result<(), String> {
        let topology = &self.fabric.topology;
        let target = self.fabric.routes.groups.target(flow.group);
        let ends = format!("from {} for {}", self.name(flow.source), self.name(target));
        let mut seen = BTreeSet::new();
        if let Some((twice, _)) = flow.path.iter().find(|(node, _)| !seen.insert(*node)) {
            return Err(format!(
                "packets {ends} pass {} twice, and the table of a scenario cannot tell the visits \
                 apart",
                self.name(*twice)
            ));
        }
        let end = flow.path.last().map(|(node, port)| topology.port(*node, *port).peer);
        if end != Some(target) || flow.source == target {
            return Err(format!("packets {ends} do not arrive there"));
        }
        Ok(())
    }

    /// Holds all buffers of a path that face switches against what the simulator does: the same
    /// class everywhere, and nothing is dropped.
    fn check_buffers(&self, flow: &ClosingFlow, class: Class) -> Result<(), String> {
        let topology = &self.fabric.topology;
        let target = self.fabric.routes.groups.target(flow.group);
        let ends = format!("from {} for {}", self.name(flow.source), self.name(target));
        let noun = self.fabric.medium.class_name();
        let mut now = flow.lane.class;
        for (hops, pair) in flow.path.windows(2).enumerate() {
            let [(before, out), (node, egress)] = [pair[0], pair[1]];
            let next = topology.port(node, egress);
            let passage = Passage { node, ingress: topology.port(before, out).peer_port, egress };
            let carried = Carried { label: flow.lane.label, class: now, hops: hops.min(255) as u8 };
            let classes = &self.fabric.classes;
            let then = if topology.is_host(next.peer) {
                classes.last(passage, carried)
            } else {
                classes.next(passage, carried)
            };
            let Some(then) = then else {
                return Err(format!("packets {ends} are dropped at {}", self.name(node)));
            };
            now = then;
            if topology.is_host(next.peer) {
                break;
            }
            let place = format!("from {} to {}", self.name(node), self.name(next.peer));
            if now != class {
                return Err(format!(
                    "packets {ends} travel {place} in {noun} {} but through the cycle in {noun} \
                     {}, and a confirmation lets packets travel in one only",
                    now.0, class.0
                ));
            }
            if self.fabric.lossy.at(next.peer, next.peer_port) & (1 << class.0) != 0 {
                return Err(format!(
                    "packets {ends} travel {place} without flow control, and the simulator has \
                     one everywhere"
                ));
            }
        }
        Ok(())
    }

    /// The links that the flows pass, in order.
    fn links(&self) -> BTreeSet<LinkIndex> {
        let ports = self.flows.iter().flat_map(|flow| &flow.path);
        let port = |(node, port): &_| self.fabric.topology.port(*node, *port).link;
        ports.map(port).collect()
    }

    fn slowest(&self) -> Rate {
        let hops = self.component.cycle.hops.iter();
        let rates = hops.map(|hop| self.fabric.topology.port(hop.buffer.node, hop.egress).rate);
        rates.min().expect("a cycle has at least one hop")
    }

    fn header(&self, flow_set: FlowSet) -> String {
        let cycle = &self.component.cycle;
        let hops = cycle.hops.iter();
        let ports = hops.map(|hop| self.fabric.topology.port_name(hop.buffer.node, hop.egress));
        let ports = Vec::from_iter(ports).join(" > ");
        let class = cycle.hops[0].buffer.class.0;
        // A name of a file may contain anything, a comment may not.
        let name = self.fabric.name.replace(char::is_control, "?");
        format!(
            "# {} a cycle of {name},\n\
             # and the nodes and links that they pass; nobody else sends.\n\
             # Class 0 stands for {} {class}.\n\
             # Written by `pauseless check --confirm`.\n\n\
             title = \"The cycle {ports}\"\n",
            match flow_set {
                FlowSet::Fewest => "The fewest flows that close",
                FlowSet::OnePerHop => "A flow for each hop of",
            },
            self.fabric.medium.class_name(),
        )
    }

    fn topology(&self, links: &BTreeSet<LinkIndex>) -> String {
        let topology = &self.fabric.topology;
        let links = Vec::from_iter(links.iter().map(|link| topology.links()[link.0 as usize]));
        let nodes: BTreeSet<NodeId> = links.iter().flat_map(|link| [link.a, link.b]).collect();
        let mut text = "\n[topology]\nkind = \"custom\"\nnode = [\n".to_string();
        for node in nodes {
            let kind = if topology.is_host(node) { "host" } else { "switch" };
            let name = self.name(node);
            let _ = writeln!(text, "    {{ name = \"{name}\", kind = \"{kind}\" }},");
        }
        text.push_str("]\nlink = [\n");
        for link in links {
            let [a, b] = [link.a, link.b].map(|end| self.name(end));
            let (rate, delay) = (link.rate.exact(), link.delay.exact());
            let _ = writeln!(
                text,
                "    {{ between = [\"{a}\", \"{b}\"], rate = \"{rate}\", delay = \"{delay}\" }},"
            );
        }
        text.push_str("]\n");
        text
    }

    fn flows(&self, links: &BTreeSet<LinkIndex>) -> Vec<String> {
        let written = self.flows.iter().map(|flow| {
            let target = self.fabric.routes.groups.target(flow.group);
            // The last port leads to the target, which need not be written.
            let steps = &flow.path[..flow.path.len() - 1];
            let steps = steps.iter().map(|(node, port)| self.step(*node, *port, links));
            format!(
                "source = \"{}\"\ntarget = \"{}\"\npath = [{}]\n",
                self.name(flow.source),
                self.name(target),
                Vec::from_iter(steps).join(", ")
            )
        });
        written.collect()
    }

    /// The node behind a port, with the number of the link among those that are kept.
    fn step(&self, node: NodeId, port: PortId, links: &BTreeSet<LinkIndex>) -> String {
        let topology = &self.fabric.topology;
        let here = topology.port(node, port);
        let parallel = topology.ports_towards(node, here.peer);
        let parallel = parallel.map(|other| topology.port(node, other).link);
        let before = parallel.filter(|link| *link < here.link && links.contains(link));
        match before.count() {
            0 => format!("\"{}\"", self.name(here.peer)),
            before => format!("\"{}#{}\"", self.name(here.peer), before + 1),
        }
    }

    fn name(&self, node: NodeId) -> &str {
        &self.fabric.topology.node(node).name
    }
}

/// The buffer of every port, with PFC room for a PAUSE beyond `xoff` on any of these links.
pub(crate) fn buffer(fabric: &Fabric, links: &BTreeSet<LinkIndex>, xoff: Bytes) -> Bytes {
    let (mtu, processing) = frames(fabric.medium);
    let headroom = |link: &LinkIndex| {
        let link = fabric.topology.links()[link.0 as usize];
        let latency = Latency {
            mtu,
            line: link.rate,
            wire: link.delay + JITTER,
            processing,
            classes: 1,
            jitter: JITTER,
            overhead: Bytes::ZERO,
            clock_ppb: 0,
        };
        latency.pfc_headroom()
    };
    match fabric.medium {
        Medium::InfiniBand => CREDITS,
        Medium::Ethernet => {
            let most = links.iter().map(headroom).max().unwrap_or(Bytes::ZERO);
            // A round number reads better.
            xoff + Bytes::kb(most.get().div_ceil(1_000))
        }
    }
}

/// The name in scenario files of the flow control that a medium has.
pub(crate) fn flow_control(medium: Medium) -> &'static str {
    match medium {
        Medium::Ethernet => "pfc",
        Medium::InfiniBand => "cbfc",
    }
}

/// The largest frame of a medium, and t_r.
pub(crate) fn frames(medium: Medium) -> (Bytes, Span) {
    match medium {
        Medium::Ethernet => (Bytes::new(1_500), Span::us(3)),
        Medium::InfiniBand => (Bytes::new(4_096), Span::ns(500)),
    }
}

/// What the slowest link of a cycle can carry while it is simulated: 40 ms at 10 Gb/s, which is
/// many times what it takes to fill every buffer of a cycle.
const CARRIED: Bytes = Bytes::mb(50);

/// The most that InfiniBand's counters of 12 bits can grant.
const CREDITS: Bytes = Bytes::kib(128);

/// The threshold of PFC; about that of GFC Fig. 11.
const XOFF: Bytes = Bytes::kb(300);

/// Without any, equal packets lock into phases that no real network has.
pub(crate) const JITTER: Span = Span::ns(20);
