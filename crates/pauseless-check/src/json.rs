//! A verdict for programs.

use pauseless_core::id::{NodeId, PortId};
use pauseless_fabric::audit::Fault;
use pauseless_fabric::dependency::{Blame, Buffer, ClosingFlow, Component, Escape, Hop};
use pauseless_fabric::reroute::Reroute;
use schemars::JsonSchema;
use serde::Serialize;

use super::EscapeClass;
use super::Unroutable;
use super::Verdict;
use super::advice::{Advice, Change, Proposal, words};
use super::confirm::ConfirmationRecord;
use super::fault;
use super::sweep::describe;
use super::sweep::json::SweepRecord;
use pauseless_fabric::fabric::{Fabric, Origin};
use pauseless_text::record::SCHEMA;
use pauseless_text::records;

/// What `check` prints: one fabric is a document of its own, several are a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Documents {
    /// The version of the format of this document; see [`SCHEMA`].
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
        Documents { schema: SCHEMA, content }
    }
}

records! {
    /// Everything that was found in one fabric.
    pub struct CheckRecord(fabric: &Fabric, verdict: &Verdict) after {
        let (routes, rule) = match fabric.origin {
            Origin::Tables => ("tables", None),
            Origin::Flows => ("flows", None),
            Origin::Rule(routing) => ("rule", Some(describe(Reroute::Rule(routing)))),
        };
        let components = verdict.components.iter();
        let judged = &verdict.rule;
        let word = match (verdict.is_cyclic(), &verdict.undecided) {
            (true, Some(_)) => "undecided",
            (true, None) => "cyclic",
            (false, _) if judged.dissolves(verdict.component_count) => "knot-free",
            (false, _) => "cycle-free",
        };
    } {
        /// The files, or the name of the shape.
        fabric: String = fabric.name.clone();
        /// The medium of the links: `infiniband` or `ethernet`.
        medium: &'static str = fabric.medium.name();
        /// The verdict in a word: `cyclic`, `cycle-free`, `undecided`, or `knot-free` where there are
        /// cycles which the knot rule or an escape class dissolves.
        verdict: &'static str = word;
        /// By which rule cycles are judged: `union`, all of them count, or `knot`, only those that
        /// last where ports are chosen at the head of input queues.
        dependency_rule: &'static str = judged.choice.rule();
        /// How many groups of buffers can all wait for each other by the union rule.
        union_component_count: usize = judged.union_count;
        /// The class to which blocked packets may change, where one was named.
        #[serde(skip_serializing_if = "Option::is_none")]
        escape: Option<EscapeRecord> =
            judged.escape.as_ref().map(|escape| EscapeRecord::new(fabric, verdict, escape));
        /// Whether buffers can wait for each other in a circle for ever; null if that is undecided.
        cyclic: Option<bool> = verdict.undecided.is_none().then(|| verdict.is_cyclic());
        /// Why the verdict is undecided: the cycles below are those of a fabric in which all packets
        /// travel on one lane.
        #[serde(skip_serializing_if = "Option::is_none")]
        undecided: Option<String> = verdict.undecided.clone();
        /// How many end nodes there are.
        hosts: usize = fabric.topology.host_count();
        /// How many switches there are.
        switches: usize = fabric.topology.switches().len();
        /// How many links there are.
        links: usize = fabric.topology.links().len();
        /// Where the routes come from: `tables`, `flows` or `rule`.
        routes: &'static str = routes;
        /// The rule in words, if it is one.
        rule: Option<&'static str> = rule;
        /// What part of the traffic was looked at; empty for all of it.
        scope: Vec<String> = verdict.scope.clone();
        /// How many ingress buffers face switches.
        buffers: usize = verdict.buffer_count;
        /// How many pairs of them have one waiting for the other.
        dependencies: usize = verdict.dependency_count;
        /// How many groups of buffers can all wait for each other.
        component_count: usize = verdict.component_count;
        /// The largest of them.
        components: Vec<ComponentRecord> =
            components.map(|one| ComponentRecord::new(fabric, one)).collect();
        /// End nodes without which there would be no cycle.
        blame: Option<BlameRecord> =
            verdict.blame.as_ref().map(|blame| BlameRecord::new(fabric, blame));
        /// What would help, the best first, and what was tried in vain; empty without a cycle.
        advice: Vec<ProposalRecord> = proposals(fabric, verdict);
        /// Whether some up*/down* routing over the same cables has no cycle and loses no pair; null
        /// if it was not tried.
        up_down_helps: Option<bool> = verdict.up_down_helps;
        /// What befalls packets on their way, where the switches' own routes or maps are known.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        faults: Vec<FaultRecord> =
            verdict.faults.iter().map(|fault| FaultRecord::new(fabric, fault)).collect();
        /// Pairs of end nodes without a route.
        unrouted_pairs: u64 = verdict.unrouted_pairs;
        /// The same by the switch at which they enter.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        unroutable: Vec<UnroutableRecord> =
            verdict.unroutable.iter().map(|from| UnroutableRecord::new(fabric, from)).collect();
        /// End nodes that were not looked at.
        left_out: Vec<String> = names(fabric, &verdict.left_out);
        /// What the reader should know about the input.
        notes: Vec<String> = fabric.notes.clone();
        /// What came of simulating the cycles, one element per component, where that was asked for.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        confirmations: Vec<ConfirmationRecord> = Vec::new();
        /// What came of failures, where that was asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        failures: Option<SweepRecord> = None;
    }

    /// A class to which blocked packets may change.
    pub struct EscapeRecord(fabric: &Fabric, verdict: &Verdict, escape: &EscapeClass) {
        /// The rule that routes it.
        rule: &'static str = describe(Reroute::Rule(escape.routing));
        /// Whether it lets every packet out.
        holds: bool = escape.outcome == Escape::Holds;
        /// Why, in a sentence.
        what: String = escape.sentence(fabric, verdict.rule.choice);
    }

    /// A change that was tried.
    pub struct ProposalRecord(
        fabric: &Fabric,
        verdict: &Verdict,
        advice: &Advice,
        proposal: &Proposal
    ) after {
        let outcome = &proposal.outcome;
        let (mut roots, mut nodes) = (Vec::<NodeId>::new(), Vec::new());
        match &proposal.change {
            Change::UpDown { roots: chosen, .. } => roots.extend(chosen),
            Change::Class { lanes } => nodes.clone_from(lanes),
            Change::LeaveOut { nodes: left_out } => nodes.push(left_out.clone()),
            Change::Layers(_) => {}
        }
    } {
        /// The kind of change, as `--fix` calls it: `updn`, `class`, `layers` or `leave-out`.
        kind: &'static str = proposal.change.kind().word();
        /// Whether it removes all cycles and loses no pair.
        helps: bool = proposal.helps;
        /// The change in a sentence.
        what: String = words::what(fabric, verdict.blame.as_ref(), &proposal.change);
        /// What came of it in a sentence.
        tried: String = words::outcome(fabric, advice, proposal);
        /// Pairs of an end node and an address without a route after the change.
        lost_pairs: u64 = outcome.lost;
        /// The same number before the change.
        lost_pairs_now: u64 = advice.now.lost;
        /// Pairs that are given up on purpose, because one of them is left out.
        given_up_pairs: u64 = outcome.given_up;
        /// The largest number of pairs over one direction of a link between switches, after.
        largest_load: f64 = outcome.load;
        /// The same number before the change.
        largest_load_now: f64 = advice.now.largest;
        /// How many classes have a cycle after the change.
        cyclic_classes: u8 = outcome.cyclic_classes;
        /// How many classes, virtual lanes or priorities, the change uses.
        classes: u8 = outcome.classes;
        /// The roots of up*/down* routing.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        roots: Vec<RootRecord> =
            roots.iter().map(|root| RootRecord::new(fabric, *root)).collect();
        /// The end nodes that are kept apart: a list for each further class, or those left out.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        nodes: Vec<Vec<String>> = nodes.iter().map(|nodes| names(fabric, nodes)).collect();
    }

    /// A root of up*/down* routing.
    pub struct RootRecord(fabric: &Fabric, root: NodeId) after {
        let guid = fabric.names.device(root).and_then(|device| device.guid);
    } {
        /// The name of the switch.
        name: String = self::name(fabric, root);
        /// Its GUID, on InfiniBand.
        #[serde(skip_serializing_if = "Option::is_none")]
        guid: Option<String> = guid.map(|guid| format!("{guid:#018x}"));
    }

    /// Pairs without a route that enter at one switch.
    pub struct UnroutableRecord(fabric: &Fabric, from: &Unroutable) {
        /// The switch at which their packets enter.
        switch: String = name(fabric, from.switch);
        /// How many pairs there are.
        pairs: u64 = from.pairs;
        /// How many end nodes they are for.
        target_count: usize = from.target_count;
        /// The first of these end nodes.
        targets: Vec<String> = names(fabric, &from.targets);
    }

    /// Something that befalls packets on their way.
    pub struct FaultRecord(fabric: &Fabric, found: &Fault) after {
        let (file, line) = found.place.clone().unzip();
    } {
        /// What happens: `loop`, `black-hole`, `valley`, `class-change` or `lossy`.
        kind: &'static str = found.kind.word();
        /// The same in a sentence.
        message: String = fault::sentence(fabric, found);
        /// What to do about it.
        fix: &'static str = fault::fix(found.kind);
        /// The prefixes of the packets, or their code points.
        packets: Vec<String> = found.destinations.clone();
        /// The nodes that show it, in the order in which packets pass them.
        path: Vec<String> = names(fabric, &found.path);
        /// The file with the route that does it.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<String> = file;
        /// The line of that route, from 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<u32> = line;
    }

    /// Buffers that can all wait for each other.
    pub struct ComponentRecord(fabric: &Fabric, component: &Component) after {
        let Component { buffers, dependency_count, cycle } = component;
        let (hops, flows) = (cycle.hops.iter(), cycle.flows.iter());
    } {
        /// How many buffers there are in the group.
        buffers: usize = buffers.len();
        /// How many dependencies there are between them.
        dependencies: usize = *dependency_count;
        /// A shortest cycle: each buffer waits for the next, the last for the first.
        cycle: Vec<HopRecord> = hops.map(|hop| HopRecord::new(fabric, hop)).collect();
        /// A few flows that close it.
        flows: Vec<FlowRecord> = flows.map(|flow| FlowRecord::new(fabric, flow)).collect();
        /// Whether it is certain that fewer flows do not close it.
        fewest: bool = cycle.is_fewest;
    }

    /// One buffer of a cycle.
    pub struct HopRecord(fabric: &Fabric, hop: &Hop) {
        /// The ingress buffer that packets wait in.
        #[serde(flatten)]
        buffer: BufferRecord = BufferRecord::new(fabric, hop.buffer);
        /// The port behind which the next buffer lies.
        egress: String = port(fabric, hop.buffer.node, hop.egress);
        /// The end nodes whose packets go from this buffer to the next.
        targets: Vec<String> = names(fabric, &hop.targets);
        /// The end nodes that send these packets.
        sources: Vec<String> = names(fabric, &hop.sources);
    }

    /// An ingress buffer of a switch, by port and class.
    pub struct BufferRecord(fabric: &Fabric, buffer: Buffer) after {
        let device = fabric.names.device(buffer.node);
        let name = name(fabric, buffer.node);
        let description = device.map(|device| device.description.clone());
        let guid = device.and_then(|device| device.guid);
        let from = fabric.topology.port(buffer.node, buffer.port).peer;
    } {
        /// The name of the switch that has the buffer.
        switch: String = name.clone();
        /// What the switch calls itself, if that is not its name.
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String> = description.filter(|text| *text != name);
        /// Its GUID, on InfiniBand.
        #[serde(skip_serializing_if = "Option::is_none")]
        guid: Option<String> = guid.map(|guid| format!("{guid:#018x}"));
        /// The port at which packets arrive.
        port: String = port(fabric, buffer.node, buffer.port);
        /// The switch from which packets come into the buffer.
        from: String = self::name(fabric, from);
        /// Priority or virtual lane.
        class: u8 = buffer.class.0;
    }

    /// A flow that makes a part of a cycle.
    pub struct FlowRecord(fabric: &Fabric, flow: &ClosingFlow) after {
        let target = fabric.routes.groups.target(flow.group);
        let passed = flow.path.iter().map(|(node, _)| *node);
    } {
        /// The host that sends.
        source: String = name(fabric, flow.source);
        /// The host that its packets are for.
        target: String = name(fabric, target);
        /// The service level, on InfiniBand; the priority elsewhere.
        label: u8 = flow.lane.label;
        /// The nodes that its packets pass, both ends included.
        path: Vec<String> = passed.chain([target]).map(|node| name(fabric, node)).collect();
        /// The dependencies that it makes, by the position of the buffer in the cycle, from 0.
        hops: Vec<usize> = flow.hops.clone();
    }

    /// End nodes without which there would be no cycle.
    pub struct BlameRecord(fabric: &Fabric, blame: &Blame) {
        /// What they have in common, if something was known.
        kind: Option<String> = blame.name.clone();
        /// How many end nodes there are of this kind.
        count: usize = blame.hosts.len();
        /// The names of these end nodes.
        hosts: Vec<String> = names(fabric, &blame.hosts);
        /// The hosts of these that are enough to leave out; null if that was not looked for.
        needed: Option<Vec<String>> = blame.needed.as_ref().map(|needed| names(fabric, needed));
    }
}

fn proposals(fabric: &Fabric, verdict: &Verdict) -> Vec<ProposalRecord> {
    let advice = verdict.advice.iter();
    let tried = advice.flat_map(|advice| advice.proposals.iter().map(move |one| (advice, one)));
    tried.map(|(advice, one)| ProposalRecord::new(fabric, verdict, advice, one)).collect()
}

/// What the fabric calls a port, or else a name by both ends.
fn port(fabric: &Fabric, node: NodeId, port: PortId) -> String {
    match fabric.names.port(node, port) {
        Some(label) => label.to_string(),
        None => fabric.topology.port_name(node, port),
    }
}

fn name(fabric: &Fabric, node: NodeId) -> String {
    fabric.topology.node(node).name.clone()
}

fn names(fabric: &Fabric, nodes: &[NodeId]) -> Vec<String> {
    nodes.iter().map(|node| name(fabric, *node)).collect()
}
