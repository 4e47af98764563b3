//! A verdict for programs.

use pauseless_core::id::{NodeId, PortId};
use pauseless_fabric::dependency::{Blame, Buffer, ClosingFlow, Component, Hop};
use pauseless_fabric::reroute::Reroute;
use schemars::JsonSchema;
use serde::Serialize;

use super::Verdict;
use super::confirm::ConfirmationRecord;
use super::sweep::describe;
use super::sweep::json::SweepRecord;
use crate::fabric::{Fabric, Origin};
use crate::report::json::SCHEMA;

/// What `check` prints: one fabric is a document of its own, several are a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Documents {
    /// See [`SCHEMA`].
    pub schema: u32,
    #[serde(flatten)]
    content: Content,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum Content {
    One(Box<CheckRecord>),
    Many { checks: Vec<CheckRecord> },
}

impl Documents {
    /// The document of these checks.
    pub fn new(mut checks: Vec<CheckRecord>) -> Documents {
        let content = match checks.len() {
            1 => Content::One(Box::new(checks.remove(0))),
            _ => Content::Many { checks },
        };
        Documents {
            schema: SCHEMA,
            content,
        }
    }
}

/// Everything that was found in one fabric.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CheckRecord {
    /// The files, or the name of the shape.
    pub fabric: String,
    /// `infiniband` or `ethernet`.
    pub medium: &'static str,
    /// `cyclic` or `cycle-free`.
    pub verdict: &'static str,
    /// Whether buffers can wait for each other in a circle.
    pub cyclic: bool,
    /// How many end nodes there are.
    pub hosts: usize,
    /// How many switches.
    pub switches: usize,
    /// How many links.
    pub links: usize,
    /// Where the routes come from: `tables`, `flows` or `rule`.
    pub routes: &'static str,
    /// The rule in words, if it is one.
    pub rule: Option<&'static str>,
    /// What part of the traffic was looked at; empty for all of it.
    pub scope: Vec<String>,
    /// How many ingress buffers face switches.
    pub buffers: usize,
    /// How many pairs of them have one waiting for the other.
    pub dependencies: usize,
    /// How many groups of buffers can all wait for each other.
    pub component_count: usize,
    /// The largest of them.
    pub components: Vec<ComponentRecord>,
    /// End nodes without which there would be no cycle.
    pub blame: Option<BlameRecord>,
    /// Whether up*/down* routing over the same cables has no cycle; null if it was not tried.
    pub up_down_helps: Option<bool>,
    /// Pairs of end nodes without a route.
    pub unrouted_pairs: u64,
    /// End nodes that were not looked at.
    pub left_out: Vec<String>,
    /// What the reader should know about the input.
    pub notes: Vec<String>,
    /// What came of simulating the cycles, one element per component, where that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub confirmations: Vec<ConfirmationRecord>,
    /// What came of failures, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<SweepRecord>,
}

/// Buffers that can all wait for each other.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ComponentRecord {
    /// How many buffers.
    pub buffers: usize,
    /// How many dependencies between them.
    pub dependencies: usize,
    /// A shortest cycle: each buffer waits for the next, the last for the first.
    pub cycle: Vec<HopRecord>,
    /// A few flows that close it.
    pub flows: Vec<FlowRecord>,
    /// Whether it is certain that fewer flows do not close it.
    pub fewest: bool,
}

/// One buffer of a cycle.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HopRecord {
    /// The buffer.
    #[serde(flatten)]
    pub buffer: BufferRecord,
    /// The port behind which the next buffer lies.
    pub egress: String,
    /// For whom packets go from this buffer to the next.
    pub targets: Vec<String>,
    /// Who sends them.
    pub sources: Vec<String>,
}

/// An ingress buffer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BufferRecord {
    /// The switch.
    pub switch: String,
    /// What the switch calls itself, if that is not its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its GUID, on InfiniBand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guid: Option<String>,
    /// The port at which packets arrive.
    pub port: String,
    /// From which switch they come.
    pub from: String,
    /// Priority or virtual lane.
    pub class: u8,
}

/// A flow that makes a part of a cycle.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FlowRecord {
    /// Who sends.
    pub source: String,
    /// To whom.
    pub target: String,
    /// The service level, on InfiniBand; the priority elsewhere.
    pub label: u8,
    /// The nodes that its packets pass, both ends included.
    pub path: Vec<String>,
    /// The dependencies that it makes, by the position of the buffer in the cycle, from 0.
    pub hops: Vec<usize>,
}

/// End nodes without which there would be no cycle.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BlameRecord {
    /// What they have in common, if something was known.
    pub kind: Option<String>,
    /// How many.
    pub count: usize,
    /// Who.
    pub hosts: Vec<String>,
    /// Those of them that are enough to leave out; null if that was not looked for.
    pub needed: Option<Vec<String>>,
}

/// The record of one check.
pub fn record(fabric: &Fabric, verdict: &Verdict) -> CheckRecord {
    let namer = Namer { fabric };
    let components = verdict.components.iter();
    CheckRecord {
        fabric: fabric.name.clone(),
        medium: fabric.medium.name(),
        verdict: match verdict.is_cyclic() {
            true => "cyclic",
            false => "cycle-free",
        },
        cyclic: verdict.is_cyclic(),
        hosts: fabric.topology.host_count(),
        switches: fabric.topology.switches().len(),
        links: fabric.topology.links().len(),
        routes: match fabric.origin {
            Origin::Tables => "tables",
            Origin::Flows => "flows",
            Origin::Rule(_) => "rule",
        },
        rule: match fabric.origin {
            Origin::Rule(routing) => Some(describe(Reroute::Rule(routing))),
            Origin::Tables | Origin::Flows => None,
        },
        scope: verdict.scope.clone(),
        buffers: verdict.buffer_count,
        dependencies: verdict.dependency_count,
        component_count: verdict.component_count,
        components: components.map(|one| namer.component(one)).collect(),
        blame: verdict.blame.as_ref().map(|blame| namer.blame(blame)),
        up_down_helps: verdict.up_down_helps,
        unrouted_pairs: verdict.unrouted_pairs,
        left_out: namer.names(&verdict.left_out),
        notes: fabric.notes.clone(),
        confirmations: Vec::new(),
        failures: None,
    }
}

/// The record of one group of buffers.
pub fn component_record(fabric: &Fabric, component: &Component) -> ComponentRecord {
    Namer { fabric }.component(component)
}

struct Namer<'f> {
    fabric: &'f Fabric,
}

impl Namer<'_> {
    fn component(&self, component: &Component) -> ComponentRecord {
        let Component {
            buffers,
            dependency_count,
            cycle,
        } = component;
        ComponentRecord {
            buffers: buffers.len(),
            dependencies: *dependency_count,
            cycle: cycle.hops.iter().map(|hop| self.hop(hop)).collect(),
            flows: cycle.flows.iter().map(|flow| self.flow(flow)).collect(),
            fewest: cycle.is_fewest,
        }
    }

    fn hop(&self, hop: &Hop) -> HopRecord {
        HopRecord {
            buffer: self.buffer(hop.buffer),
            egress: self.port(hop.buffer.node, hop.egress),
            targets: self.names(&hop.targets),
            sources: self.names(&hop.sources),
        }
    }

    fn buffer(&self, buffer: Buffer) -> BufferRecord {
        let Buffer { node, port, class } = buffer;
        let device = self.fabric.names.device(node);
        let name = self.name(node);
        let description = device.map(|device| device.description.clone());
        let from = self.fabric.topology.port(node, port).peer;
        BufferRecord {
            description: description.filter(|text| *text != name),
            guid: device.and_then(|device| device.guid.map(|guid| format!("{guid:#018x}"))),
            switch: name,
            port: self.port(node, port),
            from: self.name(from),
            class: class.0,
        }
    }

    fn flow(&self, flow: &ClosingFlow) -> FlowRecord {
        let target = self.fabric.routes.groups.target(flow.group);
        let mut path = Vec::from_iter(flow.path.iter().map(|(node, _)| self.name(*node)));
        path.push(self.name(target));
        FlowRecord {
            source: self.name(flow.source),
            target: self.name(target),
            label: flow.lane.label,
            path,
            hops: flow.hops.clone(),
        }
    }

    fn blame(&self, blame: &Blame) -> BlameRecord {
        BlameRecord {
            kind: blame.name.clone(),
            count: blame.hosts.len(),
            hosts: self.names(&blame.hosts),
            needed: blame.needed.as_ref().map(|needed| self.names(needed)),
        }
    }

    fn port(&self, node: NodeId, port: PortId) -> String {
        match self.fabric.names.port(node, port) {
            Some(label) => label.to_string(),
            None => self.fabric.topology.port_name(node, port),
        }
    }

    fn name(&self, node: NodeId) -> String {
        self.fabric.topology.node(node).name.clone()
    }

    fn names(&self, nodes: &[NodeId]) -> Vec<String> {
        nodes.iter().map(|node| self.name(*node)).collect()
    }
}
