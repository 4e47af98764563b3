//! `pauseless check`

use std::process::ExitCode;

use pauseless_lab::check::{self, json, text};
use pauseless_lab::fabric::read;
use pauseless_lab::report;

use crate::FINDING;
use crate::args::CheckArgs;
use crate::output::{self, Terminal};

/// Checks a fabric and reports.
pub fn run(args: &CheckArgs, terminal: Terminal) -> anyhow::Result<ExitCode> {
    let fabric = read::read(&args.files)?;
    let verdict = check::check(&fabric, &[]);
    let printed = match (args.json, args.quiet) {
        (true, _) => report::json::to_text(&json::document(&fabric, &verdict)),
        (false, true) => text::headline(&fabric, &verdict, terminal.paint()),
        (false, false) => text::report(&fabric, &verdict, terminal.paint()),
    };
    output::print(&printed)?;
    Ok(match verdict.is_cyclic() {
        true => ExitCode::from(FINDING),
        false => ExitCode::SUCCESS,
    })
}
