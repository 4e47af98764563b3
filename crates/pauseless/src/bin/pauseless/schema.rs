//! The command `pauseless schema`: the JSON Schemas of all documents.

use std::process::ExitCode;

use pauseless::schema::Document;
use pauseless_text::record::to_text;

use crate::args::SchemaArgs;
use crate::output;

/// Prints the JSON Schema of a kind of file, or of a document that `--json` prints.
pub fn run(args: &SchemaArgs) -> anyhow::Result<ExitCode> {
    let text = match args.document {
        Some(document) => to_text(&document.schema()),
        None => {
            let line =
                |document: &Document| format!("{:<13} {}\n", document.name(), document.about());
            Document::ALL.iter().map(line).collect()
        }
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
