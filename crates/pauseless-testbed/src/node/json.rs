//! The JSON document of a node, both ways: what `--json` prints, and what the testbed reads back from the
//! processes that it has started.

mod value;

use pauseless_dataplane::report::NodeReport;
use serde_json::{Map, Value, json};

use value::Json;

/// The version of the document.
pub const SCHEMA: u64 = 1;

/// All that a node says at its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeDocument {
    /// The role of the node: `switch` or `host`.
    pub kind: String,
    /// The clock, such as `real` or `elastic:20us`.
    pub clock: String,
    /// What carried the frames of each port, such as `packet`.
    pub backends: Vec<String>,
    /// How late feedback was, beside what was planned for.
    pub tau: Tau,
    /// What the node has said while it ran.
    pub messages: Vec<String>,
    /// The counters and samples of the node.
    pub report: NodeReport,
}

/// The feedback latency: from the making of a message to the change of the input rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tau {
    /// The longest that the scenario's parameters were derived for, over all ports.
    pub planned_ps: u64,
    /// The longest that this node has seen; `None` if nothing was measured.
    pub measured_ps: Option<u64>,
}

impl Tau {
    /// Whether what was measured is more than what the parameters were derived for.
    pub fn is_exceeded(self) -> bool {
        self.measured_ps.is_some_and(|it| it > self.planned_ps)
    }
}

impl NodeDocument {
    /// The document as one value.
    pub fn to_json(&self) -> Value {
        let mut document = Map::new();
        document.insert("schema".to_string(), SCHEMA.into());
        for (key, part) in [
            ("kind", self.kind.write()),
            ("clock", self.clock.write()),
            ("backends", self.backends.write()),
            ("tau", self.tau.write()),
            ("messages", self.messages.write()),
        ] {
            document.insert(key.to_string(), part);
        }
        let Value::Object(report) = self.report.write() else {
            unreachable!("a report is an object");
        };
        document.extend(report);
        Value::Object(document)
    }

    /// The document as text, with a line end.
    pub fn to_text(&self) -> String {
        let mut text = self.to_json().to_string();
        text.push('\n');
        text
    }

    /// Reads what [`NodeDocument::to_text`] has written; else says what is wrong with it.
    pub fn from_json(text: &str) -> Result<NodeDocument, String> {
        let document: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match document.get("schema").and_then(Value::as_u64) {
            Some(SCHEMA) => {}
            Some(other) => return Err(format!("schema {other}, but {SCHEMA} is known here")),
            None => return Err("no document of a node: it has no schema".to_string()),
        }
        Ok(NodeDocument {
            kind: value::member(&document, "kind")?,
            clock: value::member(&document, "clock")?,
            backends: value::member(&document, "backends")?,
            tau: value::member(&document, "tau")?,
            messages: value::member(&document, "messages")?,
            report: Json::read(&document)?,
        })
    }
}

/// The JSON Schema of the document: what each part of it means is said of the fields of
/// [`NodeDocument`] and [`NodeReport`].
pub fn schema() -> Value {
    let mut fields = Map::new();
    fields.insert("schema".to_string(), json!({ "const": SCHEMA }));
    for (key, part) in [
        ("kind", String::schema()),
        ("clock", String::schema()),
        ("backends", Vec::<String>::schema()),
        ("tau", Tau::schema()),
        ("messages", Vec::<String>::schema()),
    ] {
        fields.insert(key.to_string(), part);
    }
    let report = NodeReport::schema();
    fields.extend(report["properties"].as_object().cloned().into_iter().flatten());
    let mut schema = value::object_schema(fields);
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = "NodeDocument".into();
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::tests;

    #[test]
    fn what_is_written_is_read_back() {
        let document = NodeDocument {
            kind: "switch".to_string(),
            clock: "real".to_string(),
            backends: vec!["packet".to_string(), "xdp".to_string()],
            tau: Tau { planned_ps: 25, measured_ps: Some(26) },
            messages: vec!["S2: interface eth2 is down".to_string()],
            report: tests::report(),
        };
        let text = document.to_text();
        assert_eq!(NodeDocument::from_json(&text), Ok(document));
        assert!(text.contains("\"time_ps\":2000000000000"), "{text}");
        let unmeasured = NodeDocument::default().to_text();
        assert!(unmeasured.contains("\"measured_ps\":null"), "{unmeasured}");
    }

    /// Every part of a document is in its schema, and nothing else is; `tests/schema.rs` of the crate
    /// `pauseless` has a validator.
    #[test]
    fn the_schema_has_the_members_of_a_document() {
        let members = |value: &Value| {
            let members = value.as_object().into_iter().flatten();
            members.map(|(key, _)| key.clone()).collect::<std::collections::BTreeSet<_>>()
        };
        let document = NodeDocument { report: tests::report(), ..NodeDocument::default() };
        let (document, schema) = (document.to_json(), schema());
        assert_eq!(members(&document), members(&schema["properties"]));
        let (port, ports) = (&document["ports"][0], &schema["properties"]["ports"]["items"]);
        assert_eq!(members(port), members(&ports["properties"]));
        let counter = &ports["properties"]["counters"]["properties"]["line_lost_ps"];
        assert_eq!(counter["type"], "integer");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let document = NodeDocument { report: tests::report(), ..NodeDocument::default() };
        let good = document.to_json();
        let wrong = |pointer: &str, value: Value| {
            let mut document = good.clone();
            *document.pointer_mut(pointer).expect("a member") = value;
            NodeDocument::from_json(&document.to_string()).expect_err("it is wrong")
        };
        let message = wrong("/ports/0/counters/overruns", Value::from("many"));
        assert_eq!(message, "ports[0].counters.overruns: not a count");
        let message = wrong("/receives/0/name", Value::Null);
        assert_eq!(message, "receives[0].name: not a text");
        let message = wrong("/schema", Value::from(9));
        assert_eq!(message, "schema 9, but 1 is known here");
        let message = NodeDocument::from_json("{}").expect_err("it is wrong");
        assert_eq!(message, "no document of a node: it has no schema");
    }
}
