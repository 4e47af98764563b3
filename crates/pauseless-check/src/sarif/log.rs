//! The parts of SARIF 2.1.0 that are used here, under its own names, which its standard explains.

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::json::{BlameRecord, FlowRecord};

/// Declares objects of SARIF, whose keys are in camel case.
macro_rules! objects {
    ($($(#[$about:meta])* $name:ident { $($(#[$of:meta])* $field:ident: $type:ty),+ $(,)? })+) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, Serialize)]
        #[serde(rename_all = "camelCase")]
        pub(super) struct $name {
            $($(#[$of])* pub $field: $type),+
        }
    )+};
}

objects! {
    /// A whole document; its runs are one per check.
    Log { #[serde(rename = "$schema")] schema: &'static str, version: &'static str, runs: Vec<Run> }

    /// One check: what checked, how it went, the files that it looked at, and what it found.
    Run {
        tool: Tool,
        invocations: Vec<Invocation>,
        artifacts: Vec<Artifact>,
        results: Vec<ReportingResult>,
        properties: RunProperties,
    }

    /// The program that has checked.
    Tool { driver: Driver }

    /// A program with what it looks for.
    Driver {
        name: &'static str,
        version: &'static str,
        semantic_version: &'static str,
        rules: Vec<Rule>,
    }

    /// Something that a program looks for.
    Rule {
        /// Stable from version to version.
        id: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<&'static str>,
        short_description: Message,
        /// The same as the help, without which GitHub does not take a rule.
        full_description: Message,
        /// Why it matters and what to do.
        help: Message,
        default_configuration: Configuration,
    }

    /// How bad something is: `error`.
    Configuration { level: &'static str }

    /// A message as plain text.
    Message { text: String }

    /// How a check went.
    Invocation { execution_successful: bool, tool_execution_notifications: Vec<Notification> }

    /// Something that the reader should know: a `note`.
    Notification { level: &'static str, message: Message }

    /// A file that was looked at: an `analysisTarget`.
    Artifact { location: ArtifactLocation, roles: [&'static str; 1] }

    /// Where a file lies; relative unless its path is absolute.
    ArtifactLocation { uri: String }

    /// Something that was found.
    ReportingResult {
        /// The identifier of the rule; see [`Rule::id`].
        rule_id: &'static str,
        /// The position of the rule in [`Driver::rules`].
        rule_index: usize,
        level: &'static str,
        message: Message,
        /// One location per file that the finding is in.
        locations: Vec<Location>,
        /// The cycle, hop by hop.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        code_flows: Vec<CodeFlow>,
        /// The flows that close it.
        related_locations: Vec<Location>,
        /// What stays the same from check to check.
        partial_fingerprints: BTreeMap<&'static str, String>,
        properties: ResultProperties,
    }

    /// A place in a file and in the fabric, with a number if something refers to it.
    #[derive(Default)]
    Location {
        #[serde(skip_serializing_if = "Option::is_none")] id: Option<usize>,
        #[serde(skip_serializing_if = "Option::is_none")] message: Option<Message>,
        #[serde(skip_serializing_if = "Option::is_none")] physical_location: Option<PhysicalLocation>,
        #[serde(skip_serializing_if = "Vec::is_empty")] logical_locations: Vec<LogicalLocation>,
    }

    /// A place in a file.
    PhysicalLocation { artifact_location: ArtifactLocation, region: Region }

    /// A part of a file, by its first line from 1 on.
    Region { start_line: u32 }

    /// A place in the fabric: a `buffer` by switch, port and class, or an `end node`.
    LogicalLocation { name: String, fully_qualified_name: String, kind: &'static str }

    /// A cycle with its message.
    CodeFlow { message: Message, thread_flows: Vec<ThreadFlow> }

    /// The hops of a cycle, in order.
    ThreadFlow { locations: Vec<ThreadFlowLocation> }

    /// A hop of a cycle: which buffer, for what it waits, and its number from 1 on.
    ThreadFlowLocation { location: Location, execution_order: usize, importance: &'static str }

    /// What SARIF has no place for in a run; see `check --json` for what each is.
    RunProperties {
        fabric: String,
        verdict: &'static str,
        dependency_rule: &'static str,
        component_count: usize,
        up_down_helps: Option<bool>,
        unrouted_pairs: u64,
    }

    /// What SARIF has no place for in a result.
    #[derive(Default)]
    ResultProperties {
        buffers: usize,
        dependencies: usize,
        flows: Vec<FlowRecord>,
        /// End nodes without which there would be no cycle in the whole fabric.
        blame: Option<BlameRecord>,
    }
}

impl Message {
    /// A message that says this.
    pub fn new(text: &str) -> Message {
        let text = text.to_string();
        Message { text }
    }
}
