//! The command `pauseless sweep show`: the scenario of one task.

use std::process::ExitCode;

use super::{Place, find};
use crate::args::ShowArgs;
use crate::output;
use crate::progress::Interrupt;

/// Prints the scenario of one run.
pub fn run(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let place = Place::read(&args.campaign)?;
    // Only now, so that Ctrl-C ends the reading of a large network at once.
    let interrupt = Interrupt::watch()?;
    let Some(plan) = place.plan(&interrupt, true)? else {
        return Ok(ExitCode::from(crate::INTERRUPTED));
    };
    let task = plan.task(find(&plan, &args.task)?);
    let axes = place.campaign.axes.iter().zip(&task.labels);
    let values = axes.map(|(axis, label)| format!("{} {label}", axis.name));
    let mut text = format!(
        "# Run {} of {} of {}, task {}:\n",
        task.index + 1,
        plan.len(),
        place.campaign.name,
        task.name
    );
    for value in values {
        text += &format!("# {value}\n");
    }
    output::print(&format!("{text}\n{}", task.text))?;
    Ok(ExitCode::SUCCESS)
}
