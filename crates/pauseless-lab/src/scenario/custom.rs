//! Fabrics that are written node by node, and the rates and delays of all kinds.

use std::collections::BTreeMap;

use pauseless_core::id::NodeId;
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::builder::{TopologyBuilder, TopologyError};
use pauseless_fabric::generate::LinkSpecs;
use pauseless_fabric::topology::{LinkSpec, NodeKind, Topology};

use super::reader::{At, Place, Section, did_you_mean};
use super::topology::{DELAYS, RATES};

/// Rates and delays as far as they were written.
#[derive(Clone, Copy)]
pub(crate) struct Specs {
    rate: Option<Rate>,
    delay: Option<Span>,
    host_rate: Option<Rate>,
    host_delay: Option<Span>,
    is_rate_written: bool,
    is_delay_written: bool,
}

/// Reads the rates and delays of `[topology]`.
pub(crate) fn read_specs(section: &mut Section<'_>) -> Specs {
    let (is_rate_written, is_delay_written) = (section.has("rate"), section.has("delay"));
    let value = |found: Option<At<Rate>>| found.map(|found| found.value);
    let rate = value(section.quantity_within("rate", RATES));
    let host_rate = value(section.quantity_within("host_rate", RATES));
    let value = |found: Option<At<Span>>| found.map(|found| found.value);
    let delay = value(section.quantity_within("delay", DELAYS));
    let host_delay = value(section.quantity_within("host_delay", DELAYS));
    Specs {
        rate,
        delay,
        host_rate,
        host_delay,
        is_rate_written,
        is_delay_written,
    }
}

impl Specs {
    /// Reports what is missing.
    pub(crate) fn complete(self, section: &Section<'_>) -> Option<LinkSpecs> {
        if !self.is_rate_written {
            section.missing("rate", "\"10 Gbps\"");
        }
        if !self.is_delay_written {
            section.missing("delay", "\"1 us\"");
        }
        let (rate, delay) = self.rate.zip(self.delay)?;
        let host = LinkSpec {
            rate: self.host_rate.unwrap_or(rate),
            delay: self.host_delay.unwrap_or(delay),
        };
        let switch = LinkSpec { rate, delay };
        Some(LinkSpecs { host, switch })
    }
}

/// A fabric that is written node by node.
pub(crate) struct Custom {
    builder: TopologyBuilder,
    nodes: BTreeMap<String, (NodeId, NodeKind, Place)>,
    place: Place,
}

impl Custom {
    /// Reads the nodes and links of `[topology]`.
    pub(crate) fn read(section: &mut Section<'_>) -> Option<Topology> {
        let specs = read_specs(section);
        let mut custom = Custom {
            builder: TopologyBuilder::new(),
            nodes: BTreeMap::new(),
            place: section.place.clone(),
        };
        let mut is_good = true;
        for node in section.tables("node") {
            is_good &= custom.add_node(node).is_some();
        }
        let links = section.tables("link");
        for link in links {
            is_good &= custom.add_link(link, specs).is_some();
        }
        if !is_good {
            return None;
        }
        let Custom {
            builder,
            nodes,
            place,
        } = custom;
        match builder.build() {
            Ok(topology) => Some(topology),
            Err(error) => {
                let name = match &error {
                    TopologyError::HostLinkCount { name, .. }
                    | TopologyError::TooManyPorts { name, .. }
                    | TopologyError::BadName { name } => name.as_str(),
                    _ => "",
                };
                let place = nodes.get(name).map_or(&place, |(_, _, place)| place);
                section.report(place.problem(error.to_string()));
                None
            }
        }
    }

    fn add_node(&mut self, mut section: Section<'_>) -> Option<()> {
        let (has_name, has_kind) = (section.has("name"), section.has("kind"));
        let name = section.string("name");
        let kinds = [("switch", NodeKind::Switch), ("host", NodeKind::Host)];
        let kind = section.choice("kind", &kinds);
        if !has_name {
            section.missing("name", "\"S1\"");
        }
        if !has_kind {
            section.missing("kind", "\"switch\" or kind = \"host\"");
        }
        let (At { value: name, place }, kind) = name.zip(kind)?;
        let kind = kind.value;
        if self.nodes.contains_key(&name) {
            section.report(place.problem(format!("two nodes are called {name:?}")));
            return None;
        }
        let id = match kind {
            NodeKind::Switch => self.builder.add_switch(&name),
            NodeKind::Host => self.builder.add_host(&name),
        };
        self.nodes.insert(name, (id, kind, place));
        section.finish();
        Some(())
    }

    fn add_link(&mut self, mut section: Section<'_>, specs: Specs) -> Option<()> {
        let is_given = section.has("between");
        let ends = section.strings("between");
        if !is_given {
            section.missing("between", "[\"S1\", \"H1\"]");
        }
        let own = read_specs_of_link(&mut section);
        let At { value: ends, place } = ends?;
        let [a, b] = &ends[..] else {
            let problem = place.problem(format!("{} names stand here", ends.len()));
            section.report(problem.expected("a list of two node names"));
            return None;
        };
        let first = self.end(&section, a);
        let (first, second) = first.zip(self.end(&section, b))?;
        if first.0 == second.0 {
            section.report(place.problem(format!("a link joins {} to itself", a.value)));
            return None;
        }
        let hosts = [first, second].map(|end| end.1 == NodeKind::Host);
        if hosts == [true, true] {
            let problem = place.problem("a link joins two hosts");
            section.report(problem.help("put a switch between them"));
            return None;
        }
        let is_host = hosts.contains(&true);
        let rate = own.0.or(specs.host_rate.filter(|_| is_host)).or(specs.rate);
        let delay = own
            .1
            .or(specs.host_delay.filter(|_| is_host))
            .or(specs.delay);
        if rate.is_none() && !specs.is_rate_written {
            section.missing("rate", "\"10 Gbps\", or topology.rate for all links");
        }
        if delay.is_none() && !specs.is_delay_written {
            section.missing("delay", "\"1 us\", or topology.delay for all links");
        }
        section.finish();
        let (rate, delay) = rate.zip(delay)?;
        self.builder
            .connect(first.0, second.0, LinkSpec { rate, delay });
        Some(())
    }

    fn end(&self, section: &Section<'_>, name: &At<String>) -> Option<(NodeId, NodeKind)> {
        if let Some((id, kind, _)) = self.nodes.get(&name.value) {
            return Some((*id, *kind));
        }
        let problem = name
            .place
            .problem(format!("there is no node {:?}", name.value));
        let names = self.nodes.keys().map(String::as_str);
        section.report(problem.help(did_you_mean(&name.value, names)));
        None
    }
}

fn read_specs_of_link(section: &mut Section<'_>) -> (Option<Rate>, Option<Span>) {
    let rate = section.quantity_within("rate", RATES);
    let delay = section.quantity_within("delay", DELAYS);
    (rate.map(|rate| rate.value), delay.map(|delay| delay.value))
}
