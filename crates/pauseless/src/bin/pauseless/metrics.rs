//! The command `pauseless metrics`: the list of all numbers of a run.

use std::process::ExitCode;

use pauseless_run::results::listing::{self, Filter};
use pauseless_text::record::to_text;

use crate::args::MetricsArgs;
use crate::output;

/// Lists the numbers and curves of a run.
pub fn run(args: &MetricsArgs) -> anyhow::Result<ExitCode> {
    let filter = match &args.word {
        Some(word) => Filter::of(word).map_err(anyhow::Error::msg)?,
        None => Filter::default(),
    };
    output::print(&if args.json {
        to_text(&listing::json(&filter))
    } else {
        listing::text(&filter)
    })?;
    Ok(ExitCode::SUCCESS)
}
