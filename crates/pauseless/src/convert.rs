//! `pauseless convert`

use std::process::ExitCode;

use pauseless_lab::fabric::ethernet::{Choices, Tunnels};
use pauseless_lab::fabric::{self, graphml, read, shape};

use crate::args::{ConvertArgs, ConvertFormat};
use crate::output;

/// Turns a fabric into another format.
pub fn run(args: &ConvertArgs) -> anyhow::Result<ExitCode> {
    if let Some(file) = &args.out {
        output::check_place(file)?;
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
        ConvertFormat::Graphml => graphml::write(&fabric),
    };
    match &args.out {
        Some(file) => output::write_file(file, &text)?,
        None => output::print(&text)?,
    }
    Ok(ExitCode::SUCCESS)
}
