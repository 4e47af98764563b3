//! A verdict for code review: SARIF 2.1.0, which forges show beside the change that caused it.
//!
//! A result is one group of buffers that can all wait for each other. Its code flow is the
//! shortest cycle, hop by hop; its related locations are the flows that close it.

mod log;

use std::fmt::Write;

use serde::Serialize;

use super::Verdict;
use super::json::{
    BlameRecord, BufferRecord, CheckRecord, ComponentRecord, FaultRecord, FlowRecord,
    UnroutableRecord,
};
use pauseless_fabric::dependency::PortChoice;
use pauseless_fabric::fabric::Fabric;

use self::log::{
    Artifact, ArtifactLocation, CodeFlow, Configuration, Driver, Invocation, Location, Log,
    LogicalLocation, Message, Notification, PhysicalLocation, Region, ReportingResult,
    ResultProperties, Rule, Run, RunProperties, ThreadFlow, ThreadFlowLocation, Tool,
};

/// The log of one check of the fabric in `files`, as they were named by the user.
pub fn document(fabric: &Fabric, verdict: &Verdict, files: &[String]) -> impl Serialize + use<> {
    let record = CheckRecord::new(fabric, verdict);
    let uris = Vec::from_iter(files.iter().map(|file| uri(file)));
    let writer = Writer {
        class: fabric.medium.class_name(),
        blame: record.blame.as_ref(),
        undecided: record.undecided.as_deref(),
        choice: verdict.rule.choice,
        uris: &uris,
    };
    let components = record.components.iter();
    let run = Run {
        tool: Tool { driver: driver() },
        invocations: vec![invocation(&record)],
        artifacts: uris.iter().map(|uri| artifact(uri)).collect(),
        results: components
            .map(|found| writer.result(found))
            .chain(record.faults.iter().map(|found| writer.fault(found)))
            .chain(record.unroutable.iter().map(|found| writer.unroutable(found)))
            .collect(),
        properties: RunProperties {
            fabric: record.fabric.clone(),
            verdict: record.verdict,
            dependency_rule: record.dependency_rule,
            component_count: record.component_count,
            up_down_helps: record.up_down_helps,
            unrouted_pairs: record.unrouted_pairs,
        },
    };
    Log { schema: SCHEMA_URI, version: "2.1.0", runs: vec![run] }
}

fn driver() -> Driver {
    let rule = |id: &'static str, name: &'static str, texts: [&str; 2]| Rule {
        id,
        // A name that says no more than the identifier is to be left out.
        name: Some(name).filter(|name| *name != id),
        short_description: Message::new(texts[0]),
        full_description: Message::new(texts[1]),
        help: Message::new(texts[1]),
        default_configuration: Configuration { level: "error" },
    };
    Driver {
        name: "pauseless",
        version: env!("CARGO_PKG_VERSION"),
        semantic_version: env!("CARGO_PKG_VERSION"),
        rules: vec![
            rule(DEPENDENCY, "CyclicBufferDependency", DEPENDENCY_TEXTS),
            rule(LOOP, "RoutingLoop", LOOP_TEXTS),
        ]
        .into_iter()
        .chain(FAULTS.map(|(id, word, texts)| rule(id, word, texts)))
        .chain([rule(UNROUTABLE, UNROUTABLE, UNROUTABLE_TEXTS)])
        .collect(),
    }
}

fn invocation(record: &CheckRecord) -> Invocation {
    let mut texts = record.notes.clone();
    let hidden = record.component_count - record.components.len();
    if hidden > 0 {
        texts.push(format!("{hidden} smaller groups of buffers are not shown"));
    }
    if !record.left_out.is_empty() {
        texts.push(format!("left out: {}", record.left_out.join(", ")));
    }
    let notifications =
        texts.into_iter().map(|text| Notification { level: "note", message: Message { text } });
    Invocation { execution_successful: true, tool_execution_notifications: notifications.collect() }
}

fn artifact(uri: &str) -> Artifact {
    Artifact { location: ArtifactLocation { uri: uri.to_string() }, roles: ["analysisTarget"] }
}

/// Writes one result after the other.
struct Writer<'w> {
    /// What a class is called.
    class: &'static str,
    blame: Option<&'w BlameRecord>,
    /// Why the cycles may be none.
    undecided: Option<&'w str>,
    /// When switches choose among several ports.
    choice: PortChoice,
    uris: &'w [String],
}

impl Writer<'_> {
    /// What to say before a cycle that may be none.
    fn doubt(&self) -> String {
        let reason = self.undecided.map(|reason| {
            format!("Cannot tell without service levels ({reason}). If all packets use one lane: ")
        });
        reason.unwrap_or_default()
    }

    fn result(&self, found: &ComponentRecord) -> ReportingResult {
        let is_loop = found.flows.len() == 1;
        let flows = found.flows.iter().enumerate();
        ReportingResult {
            rule_id: if is_loop { LOOP } else { DEPENDENCY },
            rule_index: usize::from(is_loop),
            level: if self.undecided.is_some() { "warning" } else { "error" },
            message: Message { text: self.doubt() + &self.sentence(found) },
            locations: self.locations(found),
            code_flows: vec![self.code_flow(found)],
            related_locations: flows.map(|(at, flow)| self.flow(at, flow)).collect(),
            partial_fingerprints: [("cycle/v1", self.fingerprint(found))].into(),
            properties: ResultProperties {
                buffers: found.buffers,
                dependencies: found.dependencies,
                flows: found.flows.clone(),
                blame: self.blame.cloned(),
            },
        }
    }

    /// A fault of packets on their way, at the line of the route that does it.
    fn fault(&self, found: &FaultRecord) -> ReportingResult {
        let nodes = found.path.iter().map(|name| LogicalLocation {
            name: name.clone(),
            fully_qualified_name: name.clone(),
            kind: "node",
        });
        let location = Location {
            physical_location: match (&found.file, found.line) {
                (Some(file), Some(start_line)) => Some(PhysicalLocation {
                    artifact_location: ArtifactLocation { uri: uri(file) },
                    region: Region { start_line },
                }),
                _ => self.uris.first().map(|uri| physical(uri)),
            },
            logical_locations: nodes.collect(),
            ..Location::default()
        };
        let text = format!("{}. {}.", capital(&found.message), capital(found.fix));
        let rule_id = FAULTS.iter().position(|(_, word, _)| *word == found.kind);
        let print =
            format!("{}: {} {}", found.kind, found.path.join(" > "), found.packets.join(" "));
        ReportingResult {
            rule_id: rule_id.map_or(LOOP, |at| FAULTS[at].0),
            rule_index: rule_id.map_or(1, |at| at + 2),
            level: "error",
            message: Message { text },
            locations: vec![location],
            code_flows: Vec::new(),
            related_locations: Vec::new(),
            partial_fingerprints: [("fault/v1", print)].into(),
            properties: ResultProperties::default(),
        }
    }

    /// Pairs without a route, at the switch where their packets enter.
    fn unroutable(&self, found: &UnroutableRecord) -> ReportingResult {
        let UnroutableRecord { switch, pairs, target_count, targets } = found;
        let text = format!(
            "{pairs} pairs of end nodes have no route from {switch}, to {target_count} end nodes ({}). {}",
            some(targets),
            UNROUTABLE_TEXTS[1]
        );
        let location = Location {
            physical_location: self.uris.first().map(|uri| physical(uri)),
            logical_locations: vec![LogicalLocation {
                name: switch.clone(),
                fully_qualified_name: switch.clone(),
                kind: "node",
            }],
            ..Location::default()
        };
        ReportingResult {
            rule_id: UNROUTABLE,
            rule_index: FAULTS.len() + 2,
            level: "error",
            message: Message { text },
            locations: vec![location],
            code_flows: Vec::new(),
            related_locations: Vec::new(),
            partial_fingerprints: [("unroutable/v1", format!("unroutable: {switch}"))].into(),
            properties: ResultProperties::default(),
        }
    }

    /// The cycle in a sentence.
    fn sentence(&self, found: &ComponentRecord) -> String {
        let buffers = Vec::from_iter(found.cycle.iter().map(|hop| self.buffer(&hop.buffer)));
        let first = buffers.first().map_or("", String::as_str);
        let round = format!("{} > {first}", buffers.join(" > "));
        let mut text = match &found.flows[..] {
            [only] => format!(
                "Routing loop: packets from {} for {} travel in a circle, {round}.",
                only.source, only.target
            ),
            flows => format!(
                "{}: {} buffers wait for each other in a circle, {round}; \
                 {} flows close it, and lossless traffic can deadlock.",
                match self.choice {
                    PortChoice::WhenQueued => "Cyclic buffer dependency",
                    PortChoice::AtHead => "Knot of buffers",
                },
                buffers.len(),
                flows.len()
            ),
        };
        if let Some(blame) = self.blame {
            let who = match &blame.kind {
                Some(kind) => format!("the {} {kind}", blame.count),
                None => some(&blame.hosts),
            };
            // Writing to a string cannot fail.
            let _ = write!(text, " Without {who} the fabric has no cycle.");
        }
        text
    }

    /// One location per file; the first says where in the fabric it is.
    fn locations(&self, found: &ComponentRecord) -> Vec<Location> {
        let hops = found.cycle.iter().map(|hop| self.logical(&hop.buffer));
        let first = Location {
            physical_location: self.uris.first().map(|uri| physical(uri)),
            logical_locations: hops.collect(),
            ..Location::default()
        };
        let rest = self
            .uris
            .iter()
            .skip(1)
            .map(|uri| Location { physical_location: Some(physical(uri)), ..Location::default() });
        [first].into_iter().chain(rest).collect()
    }

    fn code_flow(&self, found: &ComponentRecord) -> CodeFlow {
        let count = found.cycle.len();
        let hops = found.cycle.iter().enumerate().map(|(at, hop)| {
            let text = format!(
                "{} (from {}) waits for hop {}, out of {}, with packets for {} from {}",
                self.buffer(&hop.buffer),
                hop.buffer.from,
                (at + 1) % count + 1,
                hop.egress,
                some(&hop.targets),
                some(&hop.sources),
            );
            ThreadFlowLocation {
                location: Location {
                    message: Some(Message { text }),
                    physical_location: self.uris.first().map(|uri| physical(uri)),
                    logical_locations: vec![self.logical(&hop.buffer)],
                    ..Location::default()
                },
                execution_order: at + 1,
                importance: "essential",
            }
        });
        let message = Message::new("a shortest cycle: each buffer waits for the next");
        CodeFlow { message, thread_flows: vec![ThreadFlow { locations: hops.collect() }] }
    }

    fn flow(&self, at: usize, flow: &FlowRecord) -> Location {
        let hops = flow.hops.iter().map(|hop| (hop + 1).to_string());
        let text = format!(
            "flow {} ({} {})",
            flow.path.join(" > "),
            if flow.hops.len() == 1 { "hop" } else { "hops" },
            Vec::from_iter(hops).join(", ")
        );
        let ends = [&flow.source, &flow.target].map(|name| LogicalLocation {
            name: name.clone(),
            fully_qualified_name: name.clone(),
            kind: "end node",
        });
        Location {
            id: Some(at + 1),
            message: Some(Message { text }),
            physical_location: self.uris.first().map(|uri| physical(uri)),
            logical_locations: ends.into(),
        }
    }

    fn logical(&self, buffer: &BufferRecord) -> LogicalLocation {
        let BufferRecord { switch, port, class, .. } = buffer;
        LogicalLocation {
            name: format!("{} {class}", self.class),
            fully_qualified_name: format!("{switch}/{port}/{} {class}", self.class),
            kind: "buffer",
        }
    }

    fn buffer(&self, buffer: &BufferRecord) -> String {
        let BufferRecord { switch, port, class, .. } = buffer;
        // Ports without names of their own are named after both ends, so the switch is in there.
        if port.contains(':') && port.starts_with(switch) {
            format!("{port} {} {class}", self.class)
        } else {
            format!("{switch} {port} {} {class}", self.class)
        }
    }

    /// The cycle from its first name on, so that it is the same wherever one begins to walk.
    fn fingerprint(&self, found: &ComponentRecord) -> String {
        let hops = found.cycle.iter().map(|hop| self.logical(&hop.buffer));
        let mut hops = Vec::from_iter(hops.map(|hop| hop.fully_qualified_name));
        let first = (0..hops.len()).min_by_key(|at| &hops[*at]);
        hops.rotate_left(first.unwrap_or(0));
        hops.join(" > ")
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// The whole of a file: which of its lines is to blame nobody knows.
fn physical(uri: &str) -> PhysicalLocation {
    PhysicalLocation {
        artifact_location: ArtifactLocation { uri: uri.to_string() },
        region: Region { start_line: 1 },
    }
}

/// A path as a URI: a relative one stays relative, so that a forge finds it in its repository.
fn uri(path: &str) -> String {
    let relative = path.trim_start_matches("./");
    let mut uri = if path.starts_with('/') { "file://".to_string() } else { String::new() };
    for byte in relative.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => uri.push(char::from(byte)),
            b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            other => {
                let _ = write!(uri, "%{other:02X}");
            }
        }
    }
    uri
}

/// Some names and how many there are.
fn some(names: &[String]) -> String {
    const SHOWN: usize = 4;
    match names.len() {
        0..=SHOWN => names.join(", "),
        count => format!("{count} end nodes ({}, ..)", names[..SHOWN].join(", ")),
    }
}

const SCHEMA_URI: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
const DEPENDENCY: &str = "cyclic-buffer-dependency";
const LOOP: &str = "routing-loop";
const DEPENDENCY_TEXTS: [&str; 2] = [
    "Ingress buffers can wait for each other in a circle.",
    "With lossless flow control a buffer that is full stops its sender. On these routes packets \
     can lie in each buffer of the cycle and want to go on to the next one, so that all of them \
     can be full and stopped at once, and then none of them ever drains: a deadlock. Whether it \
     happens depends on rates. Take the flows that close the cycle off these links, give them \
     another class, or use a routing that has no cycle, such as up*/down*.",
];
const LOOP_TEXTS: [&str; 2] = [
    "The packets of a single flow travel in a circle.",
    "The tables of the switches send packets for one target back to where they have been. They \
     never arrive, and with lossless flow control they fill the buffers of the circle, which \
     then never drain. Correct the forwarding entries for this target.",
];

const UNROUTABLE: &str = "unroutable";
const UNROUTABLE_TEXTS: [&str; 2] = [
    "Pairs of end nodes have no route.",
    "The tables of the switches do not lead from the one to the other. On InfiniBand look for \
     entries that opensm left out, as up*/down* does between roots, and for ports that are down; on \
     Ethernet announce the prefix.",
];

/// The rules of faults: the identifier, the word, and what it is and why it matters.
const FAULTS: [(&str, &str, [&str; 2]); 5] = [
    (
        "forwarding-loop",
        "loop",
        [
            "The routes of the switches send packets in a circle.",
            "Some prefix is reached over switches that send its packets back to where they have \
             been, often by two defaults that point at each other. Remove one of the routes.",
        ],
    ),
    (
        "black-hole",
        "black-hole",
        [
            "A switch drops packets for hosts, because it has no route to them.",
            "Packets for a prefix of hosts get to a switch that has no route to it, or one that \
             drops. Announce the prefix to the switch, or send it a default.",
        ],
    ),
    (
        "valley-path",
        "valley",
        [
            "Packets come down to a switch and go up again.",
            "A path that goes down and up again makes buffers below wait for those above, which \
             two such paths close to a cycle. Filter routes so that switches below carry nothing \
             between those above (RFC 7938).",
        ],
    ),
    (
        "class-change",
        "class-change",
        [
            "Packets change their lossless class on the way.",
            "Two switches map one DSCP to different priorities, so that back-pressure goes on in \
             another class. Give all switches one map.",
        ],
    ),
    (
        "lossy-hop",
        "lossy",
        [
            "Packets of a lossless class come into a buffer that drops.",
            "A switch on the way has no headroom for the priority of these packets, or the one \
             before it does not obey its PAUSE frames. Give both ends the same priorities, maps \
             and headroom.",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_become_uris() {
        let cases = [
            ("./ring.toml", "ring.toml"),
            ("a b/c:d.lst", "a%20b/c%3Ad.lst"),
            ("/data/x.fdbs", "file:///data/x.fdbs"),
            ("../\u{e9}", "../%C3%A9"),
        ];
        for (path, expected) in cases {
            assert_eq!(uri(path), expected);
        }
    }
}
