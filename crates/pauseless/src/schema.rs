//! The JSON Schemas of everything that is read and written: files of ours, and the documents that
//! `--json` prints.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use pauseless_check as check;
use pauseless_experiments::{repro, sweep, threshold};
use pauseless_plan as plan;
use pauseless_report as report;
use pauseless_scenario as scenario;
use pauseless_text::declare::schema::document;

/// A kind of file or document that has a schema.
#[derive(Clone, Copy, Debug)]
pub struct Document {
    name: &'static str,
    about: &'static str,
    schema: fn() -> Value,
}

/// A table of documents: the name, what it is, and its schema.
macro_rules! documents {
    ($($(#[$when:meta])* $name:literal: $about:literal, $schema:expr;)+) => {
        &[$($(#[$when])* Document { name: $name, about: $about, schema: $schema }),+]
    };
}

impl Document {
    /// All of them: files first, then what `--json` prints.
    pub const ALL: &[Document] = documents! {
        "scenario": "a scenario file, which `run` and most others read",
            || document("A scenario of Pauseless", &scenario::describe::info());
        "fabric": "a fabric file, which `check`, `plan` and `convert` read",
            || document("A fabric of Pauseless", &scenario::describe::fabric_info());
        "campaign": "a campaign file, which `sweep` reads",
            || document("A campaign of Pauseless", &sweep::file::info());
        "claims": "a claims file, which `repro` reads",
            || document("Claims of a paper", &repro::file::info());
        "run": "what `run --json` prints", printed::<report::json::RunDocument>;
        "runs": "what `demo --json` prints", printed::<report::json::RunsDocument>;
        "explain": "what `explain FILE --json` prints",
            printed::<report::derivation::ExplainDocument>;
        "explain-paper": "what `explain --paper --json` prints",
            printed::<report::derivation::PaperDocument>;
        "metrics": "what `metrics --json` prints",
            printed::<pauseless_run::results::listing::Listing>;
        "check": "what `check --json` prints", printed::<check::json::Documents>;
        "lint": "what `lint --json` prints", printed::<pauseless_lint::json_report::LintDocument>;
        "lint-rules": "what `lint --rules --json` and `lint --explain RULE --json` print",
            printed::<pauseless_lint::json_report::RulesDocument>;
        "plan": "what `plan --json` prints", printed::<plan::json::PlanDocument>;
        "plan-against": "what `plan --against FILE --json` prints",
            printed::<plan::json::AgainstDocument>;
        "plan-paper": "what `plan --paper --json` prints", printed::<plan::json::PaperDocument>;
        "threshold": "what `threshold --json` prints", printed::<threshold::json::ThresholdRecord>;
        "repro": "what `repro --json` prints", printed::<repro::json::Document<'static>>;
        "repro-list": "what `repro --list --json` prints", printed::<repro::json::ListDocument>;
        "sweep-run": "what `sweep FILE --json` prints", printed::<sweep::json::SweepDocument>;
        "sweep-status": "what `sweep status --json` prints", printed::<sweep::json::StatusDocument>;
        "sweep-merge": "what `sweep merge --json` prints", printed::<sweep::json::MergeDocument>;
        "sweep": "what `sweep report --json` prints",
            printed::<sweep::report::json::Document<'static>>;
        #[cfg(target_os = "linux")]
        "testbed": "what `testbed --json` prints", printed::<pauseless_testbed::json::TestbedDocument>;
        #[cfg(target_os = "linux")]
        "node": "what `switch --json` and `host --json` print",
            pauseless_testbed::node::json::schema;
    };

    /// The document called `name`, if there is one.
    pub fn named(name: &str) -> Option<Document> {
        Document::ALL.iter().find(|document| document.name == name).copied()
    }

    /// The name by which `pauseless schema` prints it.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it is, in a few words.
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// The JSON Schema of the document.
    pub fn schema(&self) -> Value {
        (self.schema)()
    }
}

/// The schema of a document that is printed.
fn printed<T: JsonSchema>() -> Value {
    // What may be left out when it is empty is not required.
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<T>().to_value()
}
