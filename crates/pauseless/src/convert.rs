//! `pauseless convert`

use std::process::ExitCode;

use pauseless_lab::fabric::ethernet::{Choices, Tunnels};
use pauseless_lab::fabric::{self, graphml, read, shape};
use pauseless_lab::import::hpcc::{self, Compat};

use crate::args::{ConvertArgs, ConvertFormat};
use crate::output;

/// Turns a fabric into another format.
pub fn run(args: &ConvertArgs) -> anyhow::Result<ExitCode> {
    if let Some(file) = &args.out {
        output::check_place(file)?;
    }
    let compat = match args.to {
        ConvertFormat::Scenario => Some(Compat::None),
        ConvertFormat::CompatScenario => Some(Compat::Hpcc),
        ConvertFormat::Fabric | ConvertFormat::Graphml => None,
    };
    if let Some(compat) = compat {
        return scenario(args, compat);
    }
    let fabric = match &args.generate {
        Some(spec) => shape::parse(spec)?,
        None => {
            let routing = args.routing.and_then(|rule| rule.routing(1));
            let tunnels = Tunnels::LeftOut;
            read::read_with(&args.files, Choices { routing, tunnels })?
        }
    };
    for note in &fabric.notes {
        output::complain(&format!("pauseless: note: {note}"));
    }
    let text = match args.to {
        ConvertFormat::Fabric => fabric::toml::write(&fabric),
        _ => graphml::write(&fabric),
    };
    put(args, &text)
}

/// Turns the files of another simulator into a scenario.
fn scenario(args: &ConvertArgs, compat: Compat) -> anyhow::Result<ExitCode> {
    let [file] = &args.files[..] else {
        anyhow::bail!("--to scenario takes one file, the config.txt of an ns-3 simulator");
    };
    let case = hpcc::read(file, compat)?;
    for note in &case.notes {
        output::complain(&format!("pauseless: note: {note}"));
    }
    put(args, &case.scenario)
}

fn put(args: &ConvertArgs, text: &str) -> anyhow::Result<ExitCode> {
    match &args.out {
        Some(file) => output::write_file(file, text)?,
        None => output::print(text)?,
    }
    Ok(ExitCode::SUCCESS)
}
