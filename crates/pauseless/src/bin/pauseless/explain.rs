//! The command `pauseless explain`: how the parameters of a scenario are derived.

use std::process::ExitCode;

use pauseless_plan::explain::{explain, paper};
use pauseless_report::derivation;
use pauseless_scenario::{Overrides, Scenario};
use pauseless_text::record::to_text;
use pauseless_text::source::Source;

use crate::args::ExplainArgs;
use crate::output;

/// Prints how parameters are derived.
pub fn run(args: &ExplainArgs) -> anyhow::Result<ExitCode> {
    let Some(file) = &args.file else {
        output::print(&if args.json {
            to_text(&derivation::paper_document())
        } else {
            paper().to_string()
        })?;
        return Ok(ExitCode::SUCCESS);
    };
    let changed = args.set.apply(Source::read(file)?)?;
    let scenario = Scenario::read_source(&changed.source, &Overrides::default());
    let scenario = scenario.map_err(|problems| changed.refuse(problems))?;
    output::warn(&scenario);
    output::print(&if args.json {
        to_text(&derivation::explain_document(&scenario))
    } else {
        explain(&scenario).to_string()
    })?;
    Ok(ExitCode::SUCCESS)
}
