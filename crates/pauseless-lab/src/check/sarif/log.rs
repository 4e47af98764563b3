//! The parts of SARIF 2.1.0 that are used here, under its own names.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::check::json::{BlameRecord, FlowRecord};

/// A whole document.
#[derive(Clone, Debug, Serialize)]
pub struct Log {
    /// Where the schema lies.
    #[serde(rename = "$schema")]
    pub schema: &'static str,
    /// That of SARIF.
    pub version: &'static str,
    /// One per check.
    pub runs: Vec<Run>,
}

/// One check.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// What checked.
    pub tool: Tool,
    /// How it went.
    pub invocations: Vec<Invocation>,
    /// The files that it looked at.
    pub artifacts: Vec<Artifact>,
    /// What it found; empty if nothing.
    pub results: Vec<ReportingResult>,
    /// What SARIF has no place for.
    pub properties: RunProperties,
}

/// What checked.
#[derive(Clone, Debug, Serialize)]
pub struct Tool {
    /// The program itself.
    pub driver: Driver,
}

/// A program with its rules.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Driver {
    /// `pauseless`.
    pub name: &'static str,
    /// That of this crate.
    pub version: &'static str,
    /// The same, which readers may compare.
    pub semantic_version: &'static str,
    /// What it looks for.
    pub rules: Vec<Rule>,
}

/// Something that a program looks for.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// Stable from version to version.
    pub id: &'static str,
    /// For people.
    pub name: &'static str,
    /// In a sentence.
    pub short_description: Message,
    /// Why it matters and what to do.
    pub help: Message,
    /// How bad it is.
    pub default_configuration: Configuration,
}

/// How bad something is.
#[derive(Clone, Debug, Serialize)]
pub struct Configuration {
    /// `error`.
    pub level: &'static str,
}

/// Plain text.
#[derive(Clone, Debug, Serialize)]
pub struct Message {
    /// The text.
    pub text: String,
}

impl Message {
    /// A message that says this.
    pub fn new(text: &str) -> Message {
        Message {
            text: text.to_string(),
        }
    }
}

/// How a check went.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Invocation {
    /// Whether it came to its end.
    pub execution_successful: bool,
    /// What the reader should know about it.
    pub tool_execution_notifications: Vec<Notification>,
}

/// Something that the reader should know.
#[derive(Clone, Debug, Serialize)]
pub struct Notification {
    /// `note`.
    pub level: &'static str,
    /// The text.
    pub message: Message,
}

/// A file that was looked at.
#[derive(Clone, Debug, Serialize)]
pub struct Artifact {
    /// Where it lies.
    pub location: ArtifactLocation,
    /// `analysisTarget`.
    pub roles: [&'static str; 1],
}

/// Where a file lies.
#[derive(Clone, Debug, Serialize)]
pub struct ArtifactLocation {
    /// Relative unless its path is absolute.
    pub uri: String,
}

/// Something that was found.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportingResult {
    /// See [`Rule::id`].
    pub rule_id: &'static str,
    /// Its position in [`Driver::rules`].
    pub rule_index: usize,
    /// `error`.
    pub level: &'static str,
    /// The finding in a sentence.
    pub message: Message,
    /// One per file.
    pub locations: Vec<Location>,
    /// The cycle.
    pub code_flows: Vec<CodeFlow>,
    /// The flows that close it.
    pub related_locations: Vec<Location>,
    /// What stays the same from check to check.
    pub partial_fingerprints: BTreeMap<&'static str, String>,
    /// What SARIF has no place for.
    pub properties: ResultProperties,
}

/// A place in a file and in the fabric.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Location {
    /// Its number, if something refers to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<usize>,
    /// What is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    /// In a file, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub physical_location: Option<PhysicalLocation>,
    /// In the fabric.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub logical_locations: Vec<LogicalLocation>,
}

/// A place in a file.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PhysicalLocation {
    /// The file.
    pub artifact_location: ArtifactLocation,
    /// Where in it.
    pub region: Region,
}

/// A part of a file.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Region {
    /// From 1.
    pub start_line: u32,
}

/// A place in the fabric.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogicalLocation {
    /// The last part of the whole name.
    pub name: String,
    /// Switch, port and class.
    pub fully_qualified_name: String,
    /// `buffer` or `end node`.
    pub kind: &'static str,
}

/// A cycle.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CodeFlow {
    /// What it is.
    pub message: Message,
    /// One.
    pub thread_flows: Vec<ThreadFlow>,
}

/// The hops of a cycle, in order.
#[derive(Clone, Debug, Serialize)]
pub struct ThreadFlow {
    /// One per hop.
    pub locations: Vec<ThreadFlowLocation>,
}

/// A hop of a cycle.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadFlowLocation {
    /// Which buffer, and for what it waits.
    pub location: Location,
    /// From 1.
    pub execution_order: usize,
    /// `essential`.
    pub importance: &'static str,
}

/// What SARIF has no place for in a run.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunProperties {
    /// The files, or the name of the shape.
    pub fabric: String,
    /// `cyclic` or `cycle-free`.
    pub verdict: &'static str,
    /// How many groups of buffers there are, those without a result included.
    pub component_count: usize,
    /// Whether up*/down* routing has no cycle; null if it was not tried.
    pub up_down_helps: Option<bool>,
    /// Pairs of end nodes without a route.
    pub unrouted_pairs: u64,
}

/// What SARIF has no place for in a result.
#[derive(Clone, Debug, Serialize)]
pub struct ResultProperties {
    /// How many buffers can all wait for each other.
    pub buffers: usize,
    /// How many dependencies there are between them.
    pub dependencies: usize,
    /// The fewest flows that close the cycle.
    pub flows: Vec<FlowRecord>,
    /// End nodes without which there would be no cycle in the whole fabric.
    pub blame: Option<BlameRecord>,
}
