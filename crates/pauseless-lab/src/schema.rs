//! The JSON Schemas of everything that is read and written: files of ours, and the documents that
//! `--json` prints.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::declare::schema::document;
use crate::{check, plan, report, repro, scenario, sweep, threshold};

/// A kind of file or document that has a schema.
#[derive(Clone, Copy, Debug)]
pub struct Document {
    name: &'static str,
    about: &'static str,
    schema: fn() -> Value,
}

impl Document {
    /// All of them: files first, then what `--json` prints.
    pub const ALL: &[Document] = &[
        Document {
            name: "scenario",
            about: "a scenario file, which `run` and most others read",
            schema: || document("A scenario of Pauseless", &scenario::describe::info()),
        },
        Document {
            name: "fabric",
            about: "a fabric file, which `check`, `plan` and `convert` read",
            schema: || document("A fabric of Pauseless", &scenario::describe::fabric_info()),
        },
        Document {
            name: "campaign",
            about: "a campaign file, which `sweep` reads",
            schema: || document("A campaign of Pauseless", &sweep::file::info()),
        },
        Document {
            name: "claims",
            about: "a claims file, which `repro` reads",
            schema: || document("Claims of a paper", &repro::file::info()),
        },
        Document {
            name: "run",
            about: "what `run --json` prints",
            schema: printed::<report::json::RunDocument>,
        },
        Document {
            name: "runs",
            about: "what `demo --json` prints",
            schema: printed::<report::json::RunsDocument>,
        },
        Document {
            name: "explain",
            about: "what `explain FILE --json` prints",
            schema: printed::<report::derivation::ExplainDocument>,
        },
        Document {
            name: "check",
            about: "what `check --json` prints",
            schema: printed::<check::json::Documents>,
        },
        Document {
            name: "plan",
            about: "what `plan --json` prints",
            schema: printed::<plan::json::PlanDocument>,
        },
        Document {
            name: "plan-against",
            about: "what `plan --against FILE --json` prints",
            schema: printed::<plan::json::AgainstDocument>,
        },
        Document {
            name: "threshold",
            about: "what `threshold --json` prints",
            schema: printed::<threshold::json::ThresholdRecord>,
        },
        Document {
            name: "repro",
            about: "what `repro --json` prints",
            schema: printed::<repro::json::Document<'static>>,
        },
        Document {
            name: "sweep",
            about: "what `sweep report --json` prints",
            schema: printed::<sweep::report::json::Document<'static>>,
        },
        #[cfg(target_os = "linux")]
        Document {
            name: "testbed",
            about: "what `testbed --json` prints",
            schema: printed::<crate::testbed::json::TestbedDocument>,
        },
    ];

    /// The one called `name`.
    pub fn named(name: &str) -> Option<Document> {
        let mut all = Document::ALL.iter();
        all.find(|document| document.name == name).copied()
    }

    /// What `pauseless schema` calls it.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it is, in a few words.
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// Its JSON Schema.
    pub fn schema(&self) -> Value {
        (self.schema)()
    }
}

/// The schema of a document that is printed.
fn printed<T: JsonSchema>() -> Value {
    // What may be left out when it is empty is not required.
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}
